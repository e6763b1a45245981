"""The C library: found, opened, its functions declared."""

from __future__ import annotations

import ctypes
import os
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_char_p,
    c_double,
    c_int,
    c_int64,
    c_size_t,
    c_uint64,
    c_void_p,
)
from pathlib import Path

USAGE = 2
F32, F64 = 4, 8
I32, I64 = 4, 8
ROW_MAJOR, COL_MAJOR = 0, 1
BORROW = 1
EFFORTS = ("lookup", "predict", "measure", "patient")


class Error(RuntimeError):
    """The library refused; `status` is its number, the text its sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class Options(Structure):
    """spry_tune_options: its size first, so the library may know more."""

    _fields_ = [
        ("size", c_size_t),
        ("seconds", c_double),
        ("calls", c_double),
        ("threads", c_int),
        ("effort", c_int),
        ("again", c_int),
        ("seed", c_uint64),
        ("store", c_char_p),
        ("machine", c_void_p),
        ("progress", c_void_p),
        ("payload", c_void_p),
        ("source", c_char_p),
        ("search", c_char_p),
    ]


class Progress(Structure):
    """spry_progress"""

    _fields_ = [
        ("elapsed", c_double),
        ("budget", c_double),
        ("trials", c_int),
        ("planned", c_int),
        ("best_speedup", c_double),
        ("best", c_char_p),
    ]


class Matrix(Structure):
    """spry_matrix"""

    _fields_ = [
        ("rows", c_int64),
        ("cols", c_int64),
        ("nnz", c_int64),
        ("index", c_int),
        ("type", c_int),
        ("start", c_void_p),
        ("col", c_void_p),
        ("val", c_void_p),
    ]


class Dense(Structure):
    """spry_dense"""

    _fields_ = [("data", c_void_p), ("ld", c_int64), ("layout", c_int)]


class Compressed(Structure):
    """spry_compressed"""

    _fields_ = [
        ("size", c_size_t),
        ("rows", c_int64),
        ("cols", c_int64),
        ("indptr", c_void_p),
        ("indices", c_void_p),
        ("values", c_void_p),
        ("index", c_int),
        ("type", c_int),
    ]


ON_PROGRESS = CFUNCTYPE(c_int, POINTER(Progress), c_void_p)

# name: result, arguments. A status is the result of whatever can fail.
_FUNCTIONS = {
    "spry_version": (c_char_p, []),
    "spry_message": (c_char_p, []),
    "spry_matrix_csr": (
        c_int,
        [c_void_p, c_int64, c_int64, *3 * [c_void_p], c_int, c_int, c_int],
    ),
    "spry_matrix_csc": (
        c_int,
        [c_void_p, c_int64, c_int64, *3 * [c_void_p], c_int, c_int],
    ),
    "spry_matrix_bsr": (
        c_int,
        [c_void_p, *4 * [c_int64], *3 * [c_void_p], c_int, c_int],
    ),
    "spry_matrix_coo": (
        c_int,
        [c_void_p, *3 * [c_int64], *3 * [c_void_p], c_int, c_int],
    ),
    "spry_matrix_read": (c_int, [c_void_p, c_char_p]),
    "spry_matrix_free": (None, [c_void_p]),
    "spry_matrix_spy": (c_int, [c_void_p, c_char_p]),
    "spry_problem_spmv": (c_int, [c_void_p, c_void_p, c_int]),
    "spry_problem_spmm": (c_int, [c_void_p, c_void_p, c_int64, c_int]),
    "spry_problem_sddmm": (c_int, [c_void_p, c_void_p, c_int64, c_int]),
    "spry_problem_transpose": (c_int, [c_void_p, c_void_p]),
    "spry_problem_stats": (c_void_p, [c_void_p]),
    "spry_problem_key": (c_char_p, [c_void_p]),
    "spry_problem_free": (None, [c_void_p]),
    "spry_machine_detect": (c_int, [c_void_p]),
    "spry_plan_from": (c_int, [c_void_p, c_void_p, c_char_p, c_void_p]),
    "spry_tune": (c_int, [c_void_p, c_void_p, c_void_p]),
    "spry_plan_story": (c_int, [c_void_p, c_void_p, c_char_p]),
    "spry_plan_text": (c_char_p, [c_void_p]),
    "spry_plan_bytes": (c_double, [c_void_p]),
    "spry_plan_refill": (c_int, [c_void_p, c_void_p]),
    "spry_plan_check": (c_int, [c_void_p, c_uint64]),
    "spry_plan_export": (c_int, [c_void_p, c_char_p, c_char_p]),
    "spry_plan_free": (None, [c_void_p]),
    "spry_report_plan": (c_int, [c_void_p, c_void_p, c_char_p, c_void_p]),
    "spry_run_scaled": (
        c_int,
        [c_void_p, c_double, c_void_p, c_void_p, c_double, c_void_p],
    ),
    "spry_run_dense": (
        c_int,
        [c_void_p, c_double, c_void_p, c_void_p, c_double, c_void_p],
    ),
    "spry_csr_multiply": (
        c_int,
        [c_void_p, c_int64, c_void_p, c_void_p, c_int],
    ),
    "spry_csc_multiply": (
        c_int,
        [c_void_p, c_int64, c_void_p, c_void_p, c_int],
    ),
    "spry_network_read": (c_int, [c_void_p, c_char_p, c_void_p]),
    "spry_network_free": (None, [c_void_p]),
    "spry_problem_network": (c_int, [c_void_p, c_void_p, c_int64]),
    "spry_run_inputs": (c_int, [c_void_p, c_void_p, c_void_p, c_int64]),
    "spry_graph_read": (c_int, [c_void_p, c_char_p, c_void_p]),
    "spry_graph_free": (None, [c_void_p]),
    "spry_graph_inputs": (c_int, [c_void_p]),
    "spry_graph_outputs": (c_int, [c_void_p]),
    "spry_graph_input": (c_int, [c_void_p, c_int, c_void_p]),
    "spry_graph_output": (c_int, [c_void_p, c_int, c_void_p]),
    "spry_executor_make": (c_int, [c_void_p, c_void_p, c_void_p]),
    "spry_executor_run": (c_int, [c_void_p, c_void_p, c_void_p]),
    "spry_executor_free": (None, [c_void_p]),
    "spry_bsr_multiply": (
        c_int,
        [c_void_p, *3 * [c_int64], c_void_p, c_void_p, c_int],
    ),
}


def _candidates() -> list[str]:
    here = Path(__file__).resolve().parent
    named = os.environ.get("SPRY_LIBRARY")
    if named:
        return [named]
    return [
        str(here / "libspry.so"),
        str(here.parents[1] / "build" / "release" / "libspry.so"),
        "libspry.so.0",
    ]


def _open() -> tuple[ctypes.CDLL, str]:
    tried = []
    for path in _candidates():
        if "/" in path and not os.path.exists(path):
            continue
        try:
            return ctypes.CDLL(path), path
        except OSError as problem:
            tried.append(str(problem))
    named = os.environ.get("SPRY_LIBRARY")
    raise ImportError(
        (f"{named}, which SPRY_LIBRARY names, cannot be opened" if named else
         "libspry.so was not found: install it, or name it in SPRY_LIBRARY")
        + "".join("\n  " + line for line in tried)
    )


lib, _path = _open()
for _name, (_result, _arguments) in _FUNCTIONS.items():
    _function = getattr(lib, _name)
    _function.restype, _function.argtypes = _result, _arguments
_libc = ctypes.CDLL(None)
_libc.free.argtypes = [c_void_p]
_libc.memcmp.argtypes = [c_void_p, c_void_p, c_size_t]


def check(status: int) -> None:
    """Raise the library's sentence unless all went well."""
    if status == 0:
        return
    sentence = lib.spry_message().decode("utf-8", "replace")
    if status == 7 and "memory" in sentence:
        raise MemoryError(sentence)
    raise Error(status, sentence)


def same_bytes(a: int, b: int, n: int) -> bool:
    """Are the n bytes at both addresses the same?"""
    return _libc.memcmp(a, b, n) == 0


def text_of(function, *arguments) -> str:
    """The text that a function allocates."""
    out = c_void_p()
    check(function(ctypes.byref(out), *arguments))
    assert out.value is not None
    try:
        return ctypes.string_at(out.value).decode("utf-8")
    finally:
        _libc.free(out)


_machine: ctypes.Array | None = None


def machine() -> ctypes.Array:
    """This machine as the library describes it, asked once. Only the library
    looks inside; the room is far more than it needs."""
    global _machine
    if _machine is None:
        room = ctypes.create_string_buffer(1 << 16)
        check(lib.spry_machine_detect(room))
        _machine = room
    return _machine


def version() -> str:
    """The library's version, as "0.1.0"."""
    return lib.spry_version().decode()


def library_path() -> str:
    """The file that the library was loaded from."""
    return _path
