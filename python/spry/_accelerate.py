"""SciPy's own products through spry's kernels.

SciPy looks its compiled products up by name at every call, in the module
`scipy.sparse._sparsetools` (those of blocks in the module of blocks). Here the
names of the products of compressed rows, columns and blocks get functions that
read the same arrays in place, so nothing is kept between calls and nothing can
be stale. Whatever is not plain (small matrices, complex or integer numbers,
mixed types, arrays with gaps) goes to SciPy's function as before.
"""

from __future__ import annotations

import ctypes
from numbers import Integral
from typing import Any, Callable

from . import _library as c
from ._arrays import INDICES as _INDICES
from ._arrays import TYPES as _TYPES
from ._arrays import address as _at
from ._library import lib

_SIZE = ctypes.sizeof(c.Compressed)
_SMALL = 20000  # products: below, a call costs more than it saves
_LONG = 8  # entries of a row, from which threads of columns pay
_VECTORS = 128  # entries of a row, from which vectors along it always pay

_original: list[tuple[Any, str, Callable]] = []
_threads: int | None = None  # of the products now; None: SciPy's own


class Accelerated:
    """What `accelerate_scipy` returns: leave a `with` to go back to what was
    before."""

    def __init__(self, before: int | None) -> None:
        self._before = before

    def __enter__(self) -> "Accelerated":
        return self

    def __exit__(self, *_: Any) -> None:
        restore_scipy()
        if self._before is not None:
            accelerate_scipy(self._before)


def _plain(indptr: Any, indices: Any, data: Any, x: Any, y: Any) -> bool:
    """Are all of them what a kernel takes as it is?"""
    if (indptr.dtype not in _INDICES or indices.dtype != indptr.dtype
            or data.dtype not in _TYPES or x.dtype != data.dtype
            or y.dtype != data.dtype):
        return False
    for a in (indptr, indices, data, x, y):
        if not (a.flags.c_contiguous and a.flags.aligned):
            return False
    return y.flags.writeable


def _product(function: Callable, rows: int, cols: int, starts: int, n: int,
             arrays: tuple, extra: tuple, threads: int) -> bool:
    """Did the library compute it? `starts`: what indptr must have at least."""
    try:
        indptr, indices, data, x, y = arrays
        if (data.size * n < _SMALL or not _plain(*arrays)
                or indptr.size <= starts or x.size < cols * n
                or y.size < rows * n):
            return False
    except AttributeError:  # no arrays of NumPy: not ours to judge
        return False
    A = c.Compressed(_SIZE, rows, cols, _at(indptr), _at(indices), _at(data),
                     _INDICES[indptr.dtype], _TYPES[data.dtype])
    return function(ctypes.byref(A), *extra, n, _at(x), _at(y), threads) == 0


# Each takes SciPy's function and the threads and returns what replaces it.

def _csr_matvec(original: Callable, threads: int) -> Callable:
    def replaced(rows, cols, *arrays):
        # One thread gains nothing on short rows: of each, vectors leave a
        # rest, whose end is one more that is not foreseen.
        if (threads == 1 and len(arrays[1]) < _VECTORS * rows) or not _product(
                lib.spry_csr_multiply, rows, cols, rows, 1, arrays, (),
                threads):
            original(rows, cols, *arrays)

    return replaced


def _csr_matvecs(original: Callable, threads: int) -> Callable:
    def replaced(rows, cols, n, *arrays):
        if not _product(lib.spry_csr_multiply, rows, cols, rows, n, arrays, (),
                        threads):
            original(rows, cols, n, *arrays)

    return replaced


def _csc_matvec(original: Callable, threads: int) -> Callable:
    def replaced(rows, cols, *arrays):
        # One thread has nothing to gain over SciPy's loop.
        if threads == 1 or len(arrays[1]) < _LONG * rows or not _product(
                lib.spry_csc_multiply, rows, cols, cols, 1, arrays, (),
                threads):
            original(rows, cols, *arrays)

    return replaced


def _csc_matvecs(original: Callable, threads: int) -> Callable:
    def replaced(rows, cols, n, *arrays):
        if not _product(lib.spry_csc_multiply, rows, cols, cols, n, arrays, (),
                        threads):
            original(rows, cols, n, *arrays)

    return replaced


def _bsr_matvec(original: Callable, threads: int) -> Callable:
    def replaced(rows, cols, r, w, *arrays):
        if not _product(lib.spry_bsr_multiply, rows * r, cols * w, rows, 1,
                        arrays, (r, w), threads):
            original(rows, cols, r, w, *arrays)

    return replaced


def _bsr_matvecs(original: Callable, threads: int) -> Callable:
    def replaced(rows, cols, n, r, w, *arrays):
        if not _product(lib.spry_bsr_multiply, rows * r, cols * w, rows, n,
                        arrays, (r, w), threads):
            original(rows, cols, n, r, w, *arrays)

    return replaced


_PRODUCTS = {f.__name__[1:]: f for f in (
    _csr_matvec, _csr_matvecs, _csc_matvec, _csc_matvecs, _bsr_matvec,
    _bsr_matvecs)}


def accelerate_scipy(threads: int = 0) -> Accelerated:
    """Let `A @ x`, `cg`, `eigsh` and whatever else multiplies SciPy's sparse
    matrices use spry's kernels, on `threads` threads (0: all).

    Results are SciPy's but for the order of summation. Calling it again
    changes the threads. Ends with `restore_scipy()`, or with the `with` it is
    used in, which goes back to what was before it.
    """
    global _threads
    from scipy.sparse import _bsr, _sparsetools

    if not isinstance(threads, Integral) or threads < 0:
        raise ValueError(f"threads is a number, 0 for all, not {threads!r}")
    before = _threads
    restore_scipy()
    _threads = threads = int(threads)
    for name, make in _PRODUCTS.items():
        original = getattr(_sparsetools, name)
        replaced = make(original, threads)
        replaced.__name__ = replaced.__qualname__ = name
        replaced.__doc__ = original.__doc__
        for module in (_sparsetools, _bsr):  # blocks import theirs by name
            if getattr(module, name, None) is original:
                _original.append((module, name, original))
                setattr(module, name, replaced)
    return Accelerated(before)


def restore_scipy() -> None:
    """SciPy computes by itself again."""
    global _threads
    _threads = None
    for module, name, function in _original:
        setattr(module, name, function)
    _original.clear()
