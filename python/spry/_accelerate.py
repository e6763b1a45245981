"""SciPy's own products through spry's kernels.

SciPy looks its compiled products up by name at every call, in the module
`scipy.sparse._sparsetools`. Here the names of the products of compressed rows
and columns get functions that read the same arrays in place, so nothing is
kept between calls and nothing can be stale. Whatever is not plain (small
matrices, complex or integer numbers, mixed types, arrays with gaps) goes to
SciPy's function as before.
"""

from __future__ import annotations

import ctypes
from typing import Any, Callable

import numpy as np

from . import _library as c
from ._library import lib

_SIZE = ctypes.sizeof(c.Compressed)
_TYPES = {np.dtype("f4"): c.F32, np.dtype("f8"): c.F64}
_INDICES = {np.dtype("i4"): c.I32, np.dtype("i8"): c.I64}
_NAMES = ("csr_matvec", "csr_matvecs", "csc_matvec", "csc_matvecs")
_SMALL = 20000  # products: below, a call costs more than it saves

_original: dict[str, Callable] = {}


class Accelerated:
    """What `accelerate_scipy` returns: leave a `with` to end it."""

    def __enter__(self) -> "Accelerated":
        return self

    def __exit__(self, *_: Any) -> None:
        restore_scipy()


def _plain(arrays: tuple, values: tuple) -> bool:
    """Are all of them what a kernel takes as it is?"""
    indptr, indices = arrays
    data = values[0]
    if (indptr.dtype not in _INDICES or indices.dtype is not indptr.dtype
            and indices.dtype != indptr.dtype or data.dtype not in _TYPES):
        return False
    for a in values[1:]:
        if a.dtype != data.dtype:
            return False
    for a in (*arrays, *values):
        if not (a.flags.c_contiguous and a.flags.aligned):
            return False
    return values[-1].flags.writeable


def _product(name: str, original: Callable, threads: int) -> Callable:
    function = (lib.spry_csr_multiply if name.startswith("csr")
                else lib.spry_csc_multiply)
    vector = name.endswith("vec")
    by_columns = name == "csc_matvec"

    def multiply(rows, cols, n, indptr, indices, data, x, y):
        try:
            fits = (indices.size * n >= _SMALL and not by_columns
                    and _plain((indptr, indices), (data, x, y))
                    and len(indptr) > (rows if name[1] == "s" and
                                       name[2] == "r" else cols)
                    and x.size >= cols * n and y.size >= rows * n)
        except AttributeError:  # no arrays of NumPy: not ours to judge
            fits = False
        if not fits:
            return False
        A = c.Compressed(_SIZE, rows, cols, _at(indptr), _at(indices),
                         _at(data), _INDICES[indptr.dtype],
                         _TYPES[data.dtype])
        return function(ctypes.byref(A), n, _at(x), _at(y), threads) == 0

    if vector:
        def replaced(rows, cols, indptr, indices, data, x, y):
            if not multiply(rows, cols, 1, indptr, indices, data, x, y):
                original(rows, cols, indptr, indices, data, x, y)
    else:
        def replaced(rows, cols, n, indptr, indices, data, x, y):
            if not multiply(rows, cols, n, indptr, indices, data, x, y):
                original(rows, cols, n, indptr, indices, data, x, y)
    replaced.__name__ = replaced.__qualname__ = name
    replaced.__doc__ = original.__doc__
    return replaced


def _at(a: np.ndarray) -> int:
    return a.__array_interface__["data"][0]


def accelerate_scipy(threads: int = 0) -> Accelerated:
    """Let `A @ x`, `cg`, `eigsh` and whatever else multiplies SciPy's sparse
    matrices use spry's kernels, on `threads` threads (0: all).

    Results are SciPy's but for the order of summation. Calling it again
    changes the threads. Ends with `restore_scipy()`, or with the `with` it is
    used in.
    """
    from scipy.sparse import _sparsetools

    restore_scipy()
    for name in _NAMES:
        _original[name] = getattr(_sparsetools, name)
        setattr(_sparsetools, name, _product(name, _original[name], threads))
    return Accelerated()


def restore_scipy() -> None:
    """SciPy computes by itself again."""
    if not _original:
        return
    from scipy.sparse import _sparsetools

    for name, function in _original.items():
        setattr(_sparsetools, name, function)
    _original.clear()
