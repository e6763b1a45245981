"""NumPy's and SciPy's arrays as the library takes them, in place."""

from __future__ import annotations

import os
import weakref
import zlib
from ctypes import byref, c_char, c_void_p
from typing import Any

import numpy as np
from scipy import sparse

from . import _library as c
from ._library import lib

TYPES = {np.dtype("f4"): c.F32, np.dtype("f8"): c.F64}
INDICES = {np.dtype("i4"): c.I32, np.dtype("i8"): c.I64}


def address(a: np.ndarray) -> int:
    return a.__array_interface__["data"][0]


def same(a: np.ndarray, b: np.ndarray) -> bool:
    """Are these equal, bit for bit? Reads them no further than that."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    return c.same_bytes(address(a), address(b), a.nbytes)


def real(values: np.ndarray) -> np.ndarray:
    """Values as the library takes them: in place when they are f4 or f8."""
    if values.dtype in TYPES:
        return np.ascontiguousarray(values)
    if values.dtype.kind in "biu":
        return _whole(values)
    if values.dtype.kind == "f":
        return values.astype("f4" if values.dtype.itemsize < 4 else "f8")
    raise TypeError(f"spry multiplies real matrices, not {values.dtype}")


def _whole(values: np.ndarray) -> np.ndarray:
    """Whole numbers as f8, which holds those of 8 bytes only up to 2^53 and
    some beyond."""
    out = values.astype("f8")
    if values.dtype.itemsize == 8 and values.size:
        above = float(np.iinfo(values.dtype).max)  # rounded up: too large
        if out.max() >= above or (out.astype(values.dtype) != values).any():
            raise ValueError(
                f"some of these {values.dtype} values have no exact float64, "
                "with which spry computes: round them first, with "
                "astype(float)")
    return out


def csr(indptr: np.ndarray, indices: np.ndarray, data: np.ndarray,
        shape: tuple) -> Any:
    """SciPy's matrix over these arrays; its constructor would copy indices
    that could be narrower."""
    A = sparse.csr_matrix(shape, dtype=data.dtype)
    A.indptr, A.indices, A.data = indptr, indices, data
    return A


def check_lengths(A: Any) -> None:
    """Refuse a matrix whose arrays do not fit each other: nobody else would
    notice before reading behind their ends."""
    if A.format == "coo":
        good = (A.data.ndim == 1
                and A.row.shape == A.col.shape == A.data.shape)
    else:
        blocks = A.format == "bsr"
        lines = A.shape[A.format == "csc"]
        if blocks and A.data.ndim == 3:
            lines //= max(A.data.shape[1], 1)
        good = (A.data.ndim == (3 if blocks else 1)
                and A.indptr.shape == (lines + 1,)
                and A.indices.shape == A.data.shape[:1]
                and A.indptr[-1] <= A.indices.size)
    if not good:
        raise ValueError(f"this {A.format} matrix is damaged: the lengths of "
                         "its arrays do not fit each other and its shape")


def _indices(*arrays: np.ndarray) -> list[np.ndarray]:
    """Index arrays of one width, in place when they have it already."""
    width = np.result_type(*arrays)
    if width.kind not in "iu":
        raise TypeError(f"indices are whole numbers, not {width}")
    if width not in INDICES:
        width = np.dtype("i8")
    return [np.ascontiguousarray(a, dtype=width) for a in arrays]


class Source:
    """The library's matrix, and the arrays that it borrows."""

    def __init__(self, A: Any) -> None:
        out = c_void_p()
        self.held: tuple[np.ndarray, ...] = ()
        self.data: np.ndarray | None = None  # the caller's, as it is given
        if isinstance(A, (str, os.PathLike)):
            c.check(lib.spry_matrix_read(byref(out), os.fsencode(A)))
        else:
            self._enter(out, A)
        self.pointer = out
        weakref.finalize(self, lib.spry_matrix_free, c_void_p(out.value))
        self.matrix = c.Matrix.from_address(out.value)
        # Refilled by arrays in the caller's order only if that is ours.
        self.borrowed = bool(self.held) and (
            self.matrix.col == address(self.held[1]) or self.matrix.nnz == 0
        )

    def mark(self) -> int:
        """Another one when borrowed values were changed in place."""
        return zlib.crc32(self.held[2]) if self.held else 0

    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The library's own: starts, columns, values."""
        m = self.matrix

        def view(where: int, n: int, kind: str) -> np.ndarray:
            if n == 0:
                return np.zeros(0, kind)
            room = (c_char * (n * np.dtype(kind).itemsize)).from_address(where)
            return np.frombuffer(room, kind)

        return (view(m.start, m.rows + 1, "i8"),
                view(m.col, m.nnz, f"i{m.index}"),
                view(m.val, m.nnz, f"f{m.type}"))

    def copy(self, values: np.ndarray | None) -> Any:
        """SciPy's matrix with arrays of its own, and with other values."""
        start, col, val = self.arrays()
        if self.matrix.nnz < 2**31:  # of one width, as SciPy's are
            start = start.astype(col.dtype)
        return csr(start.copy(), col.copy(),
                   (val if values is None else values).copy(),
                   (self.matrix.rows, self.matrix.cols))

    def _enter(self, out: c_void_p, given: Any) -> None:
        A = given
        if not sparse.issparse(A):
            A = sparse.csr_matrix(np.atleast_2d(np.asarray(A)))
        if A.format not in ("csr", "csc", "bsr", "coo"):
            A = A.tocsr()
        check_lengths(A)
        rows, cols = A.shape
        if A.format == "coo":
            row, col = _indices(A.row, A.col)
            data = real(A.data)
            c.check(lib.spry_matrix_coo(
                byref(out), rows, cols, len(data), address(row),
                address(col), address(data), INDICES[row.dtype],
                TYPES[data.dtype]))
            return
        start, index = _indices(A.indptr, A.indices)
        held = A.data if A.format == "bsr" else A.data[:A.indptr[-1]]
        data = real(held)
        where = (address(start), address(index), address(data),
                 INDICES[start.dtype], TYPES[data.dtype])
        if A.format == "csr":
            self.held = (start, index, data)
            self.data = held if A is given else None
            c.check(lib.spry_matrix_csr(byref(out), rows, cols, *where,
                                        c.BORROW))
        elif A.format == "csc":
            c.check(lib.spry_matrix_csc(byref(out), rows, cols, *where))
        else:
            r, w = A.blocksize
            c.check(lib.spry_matrix_bsr(byref(out), rows, cols, r, w, *where))


def dense(a: np.ndarray) -> c.Dense | None:
    """An array as it lies in memory; None when it must be copied."""
    size = a.dtype.itemsize
    if a.ndim == 1:
        step = a.strides[0]
        if a.size <= 1:
            return c.Dense(address(a), 0, c.ROW_MAJOR)
        if step <= 0 or step % size:
            return None
        return c.Dense(address(a), step // size, c.ROW_MAJOR)
    rows, cols = a.shape
    down, right = a.strides
    if a.size == 0:
        return c.Dense(address(a), 0, c.ROW_MAJOR)
    if (right == size or cols == 1) and (
        rows == 1 or (down % size == 0 and down >= cols * size)
    ):
        return c.Dense(address(a), 0 if rows == 1 else down // size,
                       c.ROW_MAJOR)
    if (down == size or rows == 1) and (
        cols == 1 or (right % size == 0 and right >= rows * size)
    ):
        return c.Dense(address(a), 0 if cols == 1 else right // size,
                       c.COL_MAJOR)
    return None
