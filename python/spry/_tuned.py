"""A matrix with plans: SciPy's LinearOperator over the library."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from ctypes import byref
from typing import Any, Callable

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from . import _library as c
from ._arrays import TYPES, Source, check_lengths, dense, real
from ._library import lib
from ._plan import Plan, columns_of, options_of, tune_options

_PLANS = 8  # other widths and types that are kept


class Product(LinearOperator):
    """What a matrix and its transpose have in common: `_multiply` computes,
    `_plan` is the plan of the width that was tuned."""

    __array_ufunc__ = None  # an array's `@` leaves the product to us

    # ---- what was found ----

    @property
    def story(self) -> dict:
        """How the tune went: the document of `spry tune --json`."""
        return self._plan.story()

    @property
    def schedule(self) -> str:
        """The way that won, as text."""
        return self._plan.text()

    @property
    def speedup(self) -> float:
        """Over the plain loop, as measured in the tune."""
        return self.story["best"]["speedup"] or 1.0

    @property
    def packed_bytes(self) -> float:
        """What the plan keeps in memory."""
        return lib.spry_plan_bytes(self._plan.pointer)

    def __repr__(self) -> str:
        rows, cols = self.shape
        width = "vectors" if self.cols is None else f"{self.cols} columns"
        return (f"<spry.{type(self).__name__} {rows}x{cols}, {self.nnz} "
                f"entries, {self.dtype}, for {width}: {self.schedule}>")

    def _repr_html_(self) -> str:
        from ._show import page

        return page(self)

    # ---- multiplying ----

    def dot(self, x: Any, out: np.ndarray | None = None) -> Any:
        """The product with a vector, a matrix or another operator; arrays
        are neither copied nor converted when their type is the matrix's."""
        if isinstance(x, LinearOperator) or np.isscalar(x):
            return super().dot(x)
        return self._multiply(x, False, out)

    def __matmul__(self, x: Any) -> Any:
        if np.isscalar(x):
            raise ValueError("Scalar operands are not allowed, use '*'")
        return self.dot(x)

    def __call__(self, x: Any) -> Any:
        return self.dot(x)

    def __rmatmul__(self, x: Any) -> Any:
        return self._multiply(_numbers(x).T, True).T

    def matvec(self, x: Any) -> Any:
        """A x, as `LinearOperator.matvec` shapes it."""
        x = np.asanyarray(x)
        if x.shape != (self.shape[1],) and x.shape != (self.shape[1], 1):
            raise ValueError("dimension mismatch")
        return self._multiply(x)

    def _matvec(self, x: np.ndarray) -> np.ndarray:
        return self._multiply(x)

    def _rmatvec(self, x: np.ndarray) -> np.ndarray:
        return self._multiply(x, True)

    _matmat, _rmatmat = _matvec, _rmatvec

    @property
    def T(self) -> "Product":
        """The transpose; it shares everything with the matrix."""
        return self._transpose()

    H = T

    def _adjoint(self) -> "Product":
        return self._transpose()


def _numbers(x: Any) -> np.ndarray:
    """An operand as an array."""
    if sparse.issparse(x):
        raise TypeError("spry multiplies with dense operands: use toarray() "
                        "of this one, or SciPy's product of both matrices")
    x = np.asarray(x)
    if x.dtype.kind not in "biufc":
        raise TypeError(f"spry multiplies numbers, not arrays of {x.dtype}")
    return x


class Tuned(Product):
    """A sparse matrix bound to the fastest kernel that was found for it.

    It is a SciPy `LinearOperator`: use it in `@`, `cg`, `eigsh`. Operands are
    read and results written in place; the GIL is released meanwhile, and any
    number of threads may multiply at once. Nothing is ever tuned inside `@`:
    a product of another width or type gets the plan that the store names, or
    the same schedule, and the last few of these are kept.

    The values are those of the time of tuning; `refill` brings new ones. A
    product of a width that has no plan yet needs the matrix as it was, or a
    refill: it raises ValueError where values were changed in place.
    """

    def __init__(self, A: Any, cols: int | None = None, *,
                 options: c.Options, threads: int = 0,
                 store: str | None = None, transpose: bool = False,
                 made: dict | None = None) -> None:
        self._source = Source(A)
        m = self._source.matrix
        dtype = np.dtype("f4" if m.type == c.F32 else "f8")
        super().__init__(dtype, (m.rows, m.cols))
        self.nnz = m.nnz
        self.cols = cols
        self._threads, self._store = threads, store
        self._lock = threading.Lock()
        self._plans: OrderedDict[tuple, Plan] = OrderedDict()
        self._values: np.ndarray | None = None  # of the last refill
        self._mark = self._source.mark()
        keys = [(cols, dtype, turned) for turned in (False, True)]
        known = made or dict.fromkeys(keys if transpose else keys[:1])
        self._tuned = {key: Plan(self._source, *key, options, made=known[key])
                       for key in known}

    @property
    def _plan(self) -> Plan:
        return self._tuned[self.cols, self.dtype, False]

    def _made(self) -> dict:
        """What makes the same plans again, without a tune."""
        return {key: (plan.text(), plan.story())
                for key, plan in self._tuned.items()}

    def __reduce__(self) -> tuple:
        return _again, (self._source.copy(self._current()),
                        self._source.borrowed, self.cols, self._threads,
                        self._store, self._made())

    def add(self, cols: int | None = None, *, transpose: bool = False,
            **options: Any) -> "Tuned":
        """Tune for one more width, or with `transpose` for the transpose's
        products of it; options are those of `tune`."""
        given, failed = tune_options(
            **{"threads": self._threads, "store": self._store, **options})
        n = columns_of(cols)
        plan = Plan(self._source, n, self.dtype, transpose, given)
        if failed:
            raise failed[0]
        with self._lock:
            self._give_values(plan)
            self._tuned[n, self.dtype, transpose] = plan
        return self

    def _current(self) -> np.ndarray | None:
        """The values that all plans compute with, those of the last refill;
        None: those of the tune, which the matrix has still."""
        if self._values is None and self._source.mark() != self._mark:
            raise ValueError("the matrix was changed since it was tuned: call "
                             "refill() to go on with its new values")
        return self._values

    def _give_values(self, plan: Plan) -> None:
        values = self._current()
        if values is not None:
            plan.refill(values)

    # ---- what was found ----

    def check(self, seed: int = 1) -> None:
        """Compare the plan with the exact reference; raises `Error`."""
        c.check(lib.spry_plan_check(self._plan.pointer, seed))

    def export(self, folder: str | os.PathLike = ".",
               name: str = "kernel") -> list[str]:
        """Write NAME.c, NAME.h and NAME.bin, to compile anywhere without
        spry; returns their paths."""
        folder = os.fspath(folder)
        c.check(lib.spry_plan_export(self._plan.pointer, os.fsencode(folder),
                                     name.encode()))
        return [os.path.join(folder, name + end)
                for end in (".c", ".h", ".bin")]

    def report(self, path: str | os.PathLike) -> None:
        """Write a page of HTML about the tune."""
        c.check(lib.spry_report_plan(os.fsencode(path), self._plan.pointer,
                                     None, None))

    def refill(self, values: Any = None) -> "Tuned":
        """Go on with other values on the same pattern.

        `values`: an array in the order of the matrix's `data`; or a sparse
        matrix with the same pattern; or nothing, to read again the arrays that
        this was made from, after they were changed in place. No other thread
        may multiply meanwhile.
        """
        array = self._new_values(values)
        with self._lock:
            for plan in (*self._tuned.values(), *self._plans.values()):
                plan.refill(array)
            if self._values is None:
                self._values = array.copy()
            else:
                self._values[:] = array
        return self

    def _new_values(self, values: Any) -> np.ndarray:
        m = self._source.matrix
        if sparse.issparse(values):
            values = self._same_pattern(values)
        elif not self._source.borrowed:
            raise ValueError(
                "entries were put in order when this was made: refill "
                "with a sparse matrix of the same pattern")
        elif values is None:
            values = self._source.data
            if values is None:
                raise ValueError("this was made from a copy: refill with the "
                                 "new values")
        array = np.ascontiguousarray(real(np.asarray(values)), self.dtype)
        if array.shape != (m.nnz,):
            raise ValueError(f"there are {m.nnz} values, not {array.shape}")
        return array

    def _same_pattern(self, A: Any) -> np.ndarray:
        if A.format in ("csr", "csc", "bsr", "coo"):
            check_lengths(A)
        A = A.tocsr(copy=True)
        A.sum_duplicates()
        start, col, _ = self._source.arrays()
        if (A.shape != self.shape or A.nnz != self.nnz
                or not np.array_equal(A.indices, col)
                or not np.array_equal(A.indptr, start)):
            raise ValueError("the pattern is another one: tune anew")
        return A.data

    # ---- multiplying ----

    def _plan_for(self, n: int | None, dtype: np.dtype, turned: bool) -> Plan:
        key = (n, dtype, turned)
        if key in self._tuned:
            return self._tuned[key]
        with self._lock:
            plan = self._plans.get(key)
            if plan:
                self._plans.move_to_end(key)
                return plan
            plan = Plan(self._source, n, dtype, turned,
                        options_of("lookup", threads=self._threads,
                                   store=self._store), like=self._plan)
            self._give_values(plan)
            self._plans[key] = plan
            while len(self._plans) > _PLANS:
                self._plans.popitem(last=False)
            return plan

    def _multiply(self, B: Any, turned: bool = False,
                  out: np.ndarray | None = None) -> np.ndarray:
        B = _numbers(B)
        rows, cols = self.shape[::-1] if turned else self.shape
        if B.ndim not in (1, 2) or B.shape[0] != cols:
            raise ValueError(
                f"dimension mismatch: {rows} x {cols} times {B.shape}")
        if B.dtype.kind == "c":
            both = (self._multiply(B.real, turned)
                    + 1j * self._multiply(B.imag, turned))
            if out is None:
                return both
            if out.shape != both.shape or out.dtype != both.dtype:
                raise ValueError(f"out must be {both.shape} of {both.dtype}")
            out[...] = both
            return out
        dtype = np.result_type(B.dtype, self.dtype)
        if dtype not in TYPES:
            dtype = np.dtype("f8")
        B = B.astype(dtype, copy=False)
        b = dense(B)
        if b is None:
            B = np.ascontiguousarray(B)
            b = dense(B)
        # Not a column of one: a vector's kernels serve it better.
        n = None if B.ndim == 1 or B.shape[1] == 1 else B.shape[1]
        shape = (rows,) if B.ndim == 1 else (rows, B.shape[1])
        if out is None:
            out = np.empty(shape, dtype)
        elif out.shape != shape or out.dtype != dtype or not dense(out):
            raise ValueError(f"out must be {shape} of {dtype}")
        elif not out.flags.writeable:
            raise ValueError("out cannot be written")
        elif np.may_share_memory(B, out):
            B = B.copy()
            b = dense(B)
        if out.size == 0:
            return out
        plan = self._plan_for(n, dtype, turned)
        c.check(lib.spry_run_dense(plan.pointer, 1.0, byref(b), None, 0.0,
                                   byref(dense(out))))
        return out

    def _transpose(self) -> "Turned":
        return Turned(self)


class Turned(Product):
    """The transpose of a `Tuned`, on plans of its own."""

    def __init__(self, given: Tuned) -> None:
        super().__init__(given.dtype, given.shape[::-1])
        self._given, self.nnz, self.cols = given, given.nnz, given.cols

    @property
    def _plan(self) -> Plan:
        return self._given._plan_for(self.cols, self.dtype, True)

    def _multiply(self, B: Any, turned: bool = False,
                  out: np.ndarray | None = None) -> np.ndarray:
        return self._given._multiply(B, not turned, out)

    def _transpose(self) -> Tuned:
        return self._given


def remake(A: Any, cols: int | None, threads: int, store: str | None,
           made: dict) -> Tuned:
    """A Tuned by the schedules of another one."""
    options, _ = tune_options("lookup", threads=threads, store=store)
    return Tuned(A, cols, options=options, threads=threads, store=store,
                 made=made)


def _again(A: Any, borrowed: bool, *how: Any) -> Tuned:
    """A pickled one: its arrays are no longer those of the caller."""
    out = remake(A, *how)
    out._source.data, out._source.borrowed = None, borrowed
    return out


def tune(A: Any, cols: int | None = None, *, effort: str = "measure",
         seconds: float = 0, calls: float = 0, threads: int = 0,
         again: bool = False, seed: int = 1,
         store: str | os.PathLike | None = None, source: str | None = None,
         search: str | None = None, transpose: bool = False,
         progress: Callable[[dict], Any] | None = None) -> Tuned:
    """Find the fastest way to multiply A with a vector, or with `cols` dense
    columns.

    A: any SciPy sparse matrix or array (CSR is used in place), a dense array,
    or the path of a matrix file. effort: "lookup", "predict", "measure" or
    "patient". seconds: the budget, 0 for the default. calls: how often it will
    run; with few, converting must pay. threads: 0 for all. store: where what
    was measured is kept, ":memory:" for nowhere. transpose: tune the product
    with the transpose as well, for programs that need both. progress: called
    now and then with a dict; true stops the tune with the best so far.
    """
    options, failed = tune_options(
        effort, seconds=seconds, calls=calls, threads=threads, again=again,
        seed=seed, store=store, source=source, search=search,
        progress=progress)
    out = Tuned(A, columns_of(cols), options=options, threads=threads,
                store=None if store is None else os.fspath(store),
                transpose=transpose)
    if failed:
        raise failed[0]
    return out
