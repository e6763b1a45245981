"""Sparse matrices times dense ones in PyTorch, differentiable.

    G = spry.torch.matrix(A, cols=64)     # A: a sparse_csr tensor
    Y = G @ X                             # dX = A' dY
    Y = spry.torch.spmm(G, X, values)     # dvalues = (dY X') on A's pattern

The product with the transpose is tuned as well and kept. Values may change
from call to call, as weights of a graph do, those given and those of A: plans
are refilled, nothing is tuned again. Only CPU tensors of float32 or float64.

`graph` and what takes one speak of edges as PyG and DGL do; `Network` runs a
sparse network or an ONNX file as a module.
"""

from __future__ import annotations

import ctypes
import threading
from typing import Any, Sequence

import numpy as np
import torch

from . import _library as c
from ._arrays import TYPES, Source, address, csr, same
from ._library import lib
from ._plan import Plan, columns_of, options_of
from ._tuned import remake, tune

__all__ = ["GCNConv", "Graph", "Matrix", "Network", "copy_u_mean",
           "copy_u_sum", "gcn_norm", "graph", "matmul", "matrix", "propagate",
           "sddmm", "spmm", "u_dot_v", "u_mul_e_sum"]


class _Sampled(Plan):
    """(B D') at the entries of a pattern: the slope of a product's values."""

    def __init__(self, source: Any, n: int, dtype: np.dtype,
                 options: c.Options) -> None:
        import weakref

        self.source, self.dtype = source, dtype
        problem, plan = ctypes.c_void_p(), ctypes.c_void_p()
        c.check(lib.spry_problem_sddmm(ctypes.byref(problem), source.pointer,
                                       n, TYPES[dtype]))
        self.problem = problem
        weakref.finalize(self, lib.spry_problem_free,
                         ctypes.c_void_p(problem.value))
        c.check(lib.spry_tune(ctypes.byref(plan), problem,
                              ctypes.byref(options)))
        self.pointer = plan
        weakref.finalize(self, lib.spry_plan_free,
                         ctypes.c_void_p(plan.value))


class Matrix:
    """A sparse matrix with its transpose and its sampled product. It always
    computes with the tensor's values as they are now."""

    def __init__(self, A: torch.Tensor, cols: int | Sequence[int],
                 made: dict | None = None, **options: Any) -> None:
        """made: plans of another one that is copied; nothing is tuned."""
        widths = [cols] if isinstance(cols, int) else list(cols)
        if A.layout is not torch.sparse_csr or A.dim() != 2:
            raise TypeError("a matrix is a sparse_csr tensor of two dimensions")
        if A.device.type != "cpu":
            raise TypeError("spry computes on the CPU")
        if A.requires_grad:
            raise TypeError("a matrix that requires grad has no gradients "
                            "here: train its values, as in spmm(G, X, values)")
        values = A.values().detach()
        if values.dtype not in (torch.float32, torch.float64):
            raise TypeError("values are float32 or float64")
        self.shape = torch.Size(A.shape)
        self.dtype = values.dtype
        self._held = (A.crow_indices(), A.col_indices(), values)
        self._given = csr(*(t.numpy() for t in self._held), tuple(A.shape))
        if not self._given.has_canonical_format:
            raise ValueError("columns must ascend in every row, without "
                             "repeats: coalesce() first")
        self._lock = threading.Lock()
        self._threads = options.get("threads", 0)
        self._store = options.get("store")
        self.cols = widths[0]
        now = self._given.data.copy()
        if made:
            self.tuned = remake(self._given, columns_of(widths[0]),
                                self._threads, self._store, made)
        else:
            self.tuned = tune(self._given, widths[0], transpose=True,
                              **options)
            for n in widths[1:]:
                self.tuned.add(n, **options)
                self.tuned.add(n, transpose=True, **options)
        self.tuned._values = now
        self._sampled: dict[int, _Sampled] = {}

    def __reduce__(self) -> tuple:
        return _again, (*self._held, self.shape, self.cols, self._threads,
                        self._store, self.tuned._made())

    @property
    def nnz(self) -> int:
        return self._given.nnz

    def values(self) -> torch.Tensor:
        """The values of the tensor that it was made with."""
        return self._held[2]

    def _bring(self, values: torch.Tensor) -> None:
        """All plans compute with these values; comparing them with those of
        the last product costs less than a product."""
        array = values.detach().numpy()
        if not same(array, self.tuned._values):
            self.tuned.refill(array)

    def _product(self, X: torch.Tensor, values: torch.Tensor,
                 turned: bool) -> torch.Tensor:
        with self._lock:  # values may change between two products
            self._bring(values)
            return torch.from_numpy(
                self.tuned._multiply(X.detach().numpy(), turned))

    def _slope(self, grad: torch.Tensor, X: torch.Tensor) -> torch.Tensor:
        n = X.shape[1]
        g = np.ascontiguousarray(grad.detach().numpy())
        x = np.ascontiguousarray(X.detach().numpy())
        out = np.empty(self.nnz, g.dtype)
        with self._lock:
            plan = self._sampled.get(n)
            if plan is None:
                plan = _Sampled(self._pattern(), n, self._given.dtype,
                                options_of("predict", threads=self._threads,
                                           store=self._store))
                self._sampled[n] = plan
        c.check(lib.spry_run_scaled(plan.pointer, 1.0, address(g),
                                    address(x), 0.0, address(out)))
        return torch.from_numpy(out)

    def _pattern(self) -> Any:
        """The same pattern with ones for values."""
        if not hasattr(self, "_pattern_source"):
            self._pattern_source = Source(
                csr(self._given.indptr, self._given.indices,
                     np.ones(self.nnz, self._given.dtype), self._given.shape))
        return self._pattern_source

    def __matmul__(self, X: torch.Tensor) -> torch.Tensor:
        return spmm(self, X)

    def __repr__(self) -> str:
        return (f"<spry.torch.Matrix {tuple(self.shape)}, {self.nnz} entries, "
                f"{self.dtype}: {self.tuned.schedule}>")


class _Spmm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, G, X, values):
        ctx.G = G
        ctx.save_for_backward(X, values)
        return G._product(X, values, False)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad):
        X, values = ctx.saved_tensors
        dX = dvalues = None
        if ctx.needs_input_grad[1]:
            dX = ctx.G._product(grad, values, True)
        if ctx.needs_input_grad[2]:
            dvalues = ctx.G._slope(grad, X)
        return None, dX, dvalues


def spmm(G: Matrix, X: torch.Tensor,
         values: torch.Tensor | None = None) -> torch.Tensor:
    """G X, with `values` in place of G's own when they are given, in the order
    of the tensor's `values()`. Differentiable in X and in the values."""
    if X.dim() == 1:
        return spmm(G, X.unsqueeze(1), values).squeeze(1)
    if values is None:
        values = G.values()
    if X.dim() != 2 or X.shape[0] != G.shape[1]:
        raise ValueError(f"{tuple(G.shape)} times {tuple(X.shape)}")
    if X.dtype != G.dtype:
        raise TypeError(f"the matrix has {G.dtype}, the operand {X.dtype}")
    if values.shape != (G.nnz,) or values.dtype != G.dtype:
        raise ValueError(f"there are {G.nnz} values of {G.dtype}")
    return _Spmm.apply(G, X, values)


class _Sddmm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, G, Y, X):
        ctx.G = G
        ctx.save_for_backward(Y, X)
        return G._slope(Y, X)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad):
        Y, X = ctx.saved_tensors
        dY = dX = None
        if ctx.needs_input_grad[1]:
            dY = ctx.G._product(X, grad.contiguous(), False)
        if ctx.needs_input_grad[2]:
            dX = ctx.G._product(Y, grad.contiguous(), True)
        return None, dY, dX


def sddmm(G: Matrix, Y: torch.Tensor, X: torch.Tensor) -> torch.Tensor:
    """Y X' at the entries of G's pattern, in the order of the tensor's
    `values()`; G's own values do not matter. Differentiable in both."""
    if (Y.dim() != 2 or X.dim() != 2 or Y.shape[1] != X.shape[1]
            or (Y.shape[0], X.shape[0]) != tuple(G.shape)):
        raise ValueError(f"{tuple(Y.shape)} and {tuple(X.shape)} on "
                         f"{tuple(G.shape)}")
    if X.dtype != G.dtype or Y.dtype != G.dtype:
        raise TypeError(f"the matrix has {G.dtype}")
    return _Sddmm.apply(G, Y, X)


def _again(crow: torch.Tensor, col: torch.Tensor, values: torch.Tensor,
           shape: torch.Size, cols: int, threads: int, store: str | None,
           made: dict) -> Matrix:
    return Matrix(torch.sparse_csr_tensor(crow, col, values, shape), cols,
                  made, threads=threads, store=store)


def matrix(A: torch.Tensor, cols: int | Sequence[int],
           **options: Any) -> Matrix:
    """Tune a sparse_csr tensor and its transpose for `cols` dense columns, or
    for several such widths; options are those of `spry.tune`."""
    return Matrix(A, cols, **options)


from ._edges import (GCNConv, Graph, copy_u_mean, copy_u_sum,  # noqa: E402
                     gcn_norm, graph, matmul, propagate, u_dot_v, u_mul_e_sum)
from ._network import Network  # noqa: E402
