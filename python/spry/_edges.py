"""Message passing in the words of PyG and DGL, on spry's products.

A graph has an edge from a source node to a target node; a target gets the sum
over its edges of what the sources have. That is the product with a matrix of
one row per target and one column per source, which PyG calls `adj_t`.
"""

from __future__ import annotations

from typing import Any, Sequence

import torch

from .torch import Matrix, sddmm, spmm


class Graph:
    """Edges bound to tuned products; weights come in the order of the edges."""

    def __init__(self, source: torch.Tensor, target: torch.Tensor,
                 size: tuple[int, int], cols: int | Sequence[int],
                 weight: torch.Tensor | None = None,
                 dtype: torch.dtype | None = None, **options: Any) -> None:
        sources, targets = size
        if source.shape != target.shape or source.dim() != 1:
            raise ValueError("an edge has one source and one target")
        for name, ends, limit in (("source", source, sources),
                                  ("target", target, targets)):
            if ends.numel() and not (0 <= int(ends.min())
                                     and int(ends.max()) < limit):
                raise ValueError(f"there is no such {name} node among {limit}")
        # Edges that are there twice share an entry, which has their sum.
        place = target.long() * sources + source.long()
        place, self.entry = torch.unique(place, return_inverse=True)
        self.edges = source.numel()
        self.alone = place.numel() == self.edges
        if self.alone:
            self.order = torch.empty_like(self.entry)
            self.order[self.entry] = torch.arange(self.edges)
        row = torch.div(place, max(sources, 1), rounding_mode="floor")
        start = torch.zeros(targets + 1, dtype=torch.int64)
        start[1:] = torch.bincount(row, minlength=targets).cumsum(0)
        if weight is not None:
            dtype = dtype or weight.dtype
        dtype = dtype or torch.get_default_dtype()
        ones = torch.ones(self.edges, dtype=dtype)
        A = torch.sparse_csr_tensor(
            start, place - row * sources,
            self.values(ones if weight is None else weight.detach()),
            (targets, sources))
        self.matrix = Matrix(A, cols, **options)
        self.degree = torch.zeros(targets, dtype=dtype).index_add_(
            0, target.long(), ones)

    @property
    def shape(self) -> torch.Size:
        """Target nodes, source nodes."""
        return self.matrix.shape

    def values(self, weight: torch.Tensor) -> torch.Tensor:
        """A weight of every edge as values of the matrix; differentiable."""
        weight = weight.reshape(-1)
        if weight.numel() != self.edges:
            raise ValueError(f"there are {self.edges} edges, not "
                             f"{weight.numel()}")
        if self.alone:
            return weight[self.order]
        out = torch.zeros(int(self.entry.max()) + 1, dtype=weight.dtype)
        return out.index_add(0, self.entry, weight)

    def __repr__(self) -> str:
        return (f"<spry.torch.Graph {self.shape[1]} -> {self.shape[0]} nodes, "
                f"{self.edges} edges: {self.matrix.tuned.schedule}>")


def graph(edges: Any, cols: int | Sequence[int], *,
          num_nodes: int | tuple[int, int] | None = None,
          weight: torch.Tensor | None = None, **options: Any) -> Graph:
    """Tune the products of a graph with `cols` features (or several widths).

    edges: PyG's `edge_index`, a tensor of two rows, sources over targets; a
    tuple (rowptr, col[, value]) or an object whose `csr()` returns it, as
    torch_sparse's SparseTensor `adj_t`: a row per target; or a graph of DGL,
    anything whose `edges()` returns sources and targets. num_nodes: of both
    kinds, or (sources, targets), where edges do not tell. options: those of
    `spry.tune`.
    """
    if isinstance(edges, torch.Tensor):
        if edges.dim() != 2 or edges.shape[0] != 2:
            raise ValueError("edge_index has two rows: sources and targets")
        source, target = edges
    elif hasattr(edges, "csr") or isinstance(edges, tuple):
        rowptr, col, *value = edges if isinstance(edges, tuple) else edges.csr()
        rows = rowptr.numel() - 1
        source = col
        target = torch.repeat_interleave(torch.arange(rows),
                                         rowptr[1:] - rowptr[:-1])
        if value and value[0] is not None and weight is None:
            weight = value[0]
        if num_nodes is None:
            sizes = getattr(edges, "sparse_sizes", None)
            num_nodes = (sizes()[1] if sizes else max(rows, _most(col)), rows)
    elif hasattr(edges, "edges"):
        source, target = edges.edges()[:2]
        if num_nodes is None and hasattr(edges, "num_src_nodes"):
            num_nodes = (edges.num_src_nodes(), edges.num_dst_nodes())
    else:
        raise TypeError("edges are an edge_index, (rowptr, col), a "
                        "SparseTensor or a graph with edges()")
    if num_nodes is None:
        num_nodes = max(_most(source), _most(target))
    if isinstance(num_nodes, int):
        num_nodes = (num_nodes, num_nodes)
    return Graph(source, target, num_nodes, cols, weight, **options)


def _most(ends: torch.Tensor) -> int:
    return int(ends.max()) + 1 if ends.numel() else 0


def propagate(g: Graph, x: torch.Tensor,
              edge_weight: torch.Tensor | None = None,
              reduce: str = "sum") -> torch.Tensor:
    """What every target gets: the sum or mean of x over its edges, times the
    edges' weights. PyG's `propagate` with `aggr`, and its `spmm`."""
    if reduce not in ("sum", "add", "mean"):
        raise ValueError(f"spry reduces by sum or mean, not {reduce!r}")
    values = None if edge_weight is None else g.values(edge_weight)
    flat = x.reshape(x.shape[0], -1)
    out = spmm(g.matrix, flat, values)
    if reduce == "mean":
        out = out / g.degree.clamp(min=1).unsqueeze(1)
    return out.reshape(out.shape[0], *x.shape[1:])


def matmul(g: Graph, x: torch.Tensor, reduce: str = "sum") -> torch.Tensor:
    """torch_sparse's `matmul(adj_t, x, reduce)`."""
    return propagate(g, x, None, reduce)


# DGL's names: u is a source's feature, v a target's, e an edge's.

def copy_u_sum(g: Graph, x: torch.Tensor) -> torch.Tensor:
    """dgl.ops.copy_u_sum, on a graph made without weights."""
    return propagate(g, x)


def copy_u_mean(g: Graph, x: torch.Tensor) -> torch.Tensor:
    """dgl.ops.copy_u_mean, on a graph made without weights."""
    return propagate(g, x, None, "mean")


def u_mul_e_sum(g: Graph, x: torch.Tensor, e: torch.Tensor) -> torch.Tensor:
    """dgl.ops.u_mul_e_sum, of one weight for every edge."""
    return propagate(g, x, e)


def u_dot_v(g: Graph, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """dgl.ops.u_dot_v: for every edge the product of its source's x and its
    target's y, as a column."""
    return sddmm(g.matrix, y, x)[g.entry].unsqueeze(1)


def gcn_norm(edge_index: torch.Tensor,
             edge_weight: torch.Tensor | None = None,
             num_nodes: int | None = None, add_self_loops: bool = True,
             dtype: torch.dtype | None = None) -> tuple:
    """Weights D^-1/2 (A + I) D^-1/2, as PyG's `gcn_norm`: edges with a loop at
    every node, and their weights. Loops that are there keep their weight."""
    n = max(_most(edge_index[0]), _most(edge_index[1])) \
        if num_nodes is None else num_nodes
    if edge_weight is None:
        edge_weight = torch.ones(edge_index.shape[1],
                                 dtype=dtype or torch.get_default_dtype())
    if add_self_loops:
        loop = edge_index[0] == edge_index[1]
        own = torch.ones(n, dtype=edge_weight.dtype)
        own[edge_index[0][loop]] = edge_weight[loop]
        every = torch.arange(n).expand(2, n)
        edge_index = torch.cat([edge_index[:, ~loop], every], 1)
        edge_weight = torch.cat([edge_weight[~loop], own])
    source, target = edge_index
    degree = torch.zeros(n, dtype=edge_weight.dtype).index_add(
        0, target, edge_weight)
    scale = degree.pow(-0.5)
    scale = scale.masked_fill(scale == float("inf"), 0)
    return edge_index, scale[source] * edge_weight * scale[target]


class GCNConv(torch.nn.Module):
    """PyG's layer of that name: the same weights (`lin.weight`, `bias`), the
    same result. The graph is tuned for at the first call and kept as long as
    it is the same tensor, unchanged (PyG's `cached`)."""

    def __init__(self, in_channels: int, out_channels: int,
                 add_self_loops: bool = True, normalize: bool = True,
                 bias: bool = True, **options: Any) -> None:
        super().__init__()
        self.in_channels, self.out_channels = in_channels, out_channels
        self.add_self_loops, self.normalize = add_self_loops, normalize
        self.options = options
        self.lin = torch.nn.Linear(in_channels, out_channels, bias=False)
        self.bias = (torch.nn.Parameter(torch.zeros(out_channels)) if bias
                     else None)
        torch.nn.init.xavier_uniform_(self.lin.weight)
        self._kept: tuple | None = None

    def _graph(self, x: torch.Tensor, edge_index: torch.Tensor,
               edge_weight: torch.Tensor | None) -> Graph:
        now = (edge_index, edge_index._version, edge_weight,
               None if edge_weight is None else edge_weight._version,
               x.shape[0])
        kept = self._kept
        if kept is None or any(a is not b and not (isinstance(a, int)
                                                   and a == b)
                               for a, b in zip(now, kept[0])):
            edges, weight = edge_index, edge_weight
            if self.normalize:
                edges, weight = gcn_norm(edges, weight, x.shape[0],
                                         self.add_self_loops, x.dtype)
            g = graph(edges, self.out_channels, num_nodes=x.shape[0],
                      weight=weight, dtype=x.dtype, **self.options)
            self._kept = kept = (now, g)
        return kept[1]

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor,
                edge_weight: torch.Tensor | None = None) -> torch.Tensor:
        """x: a row per node; edge_index: sources over targets."""
        out = propagate(self._graph(x, edge_index, edge_weight), self.lin(x))
        return out if self.bias is None else out + self.bias
