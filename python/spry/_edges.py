"""Message passing in the words of PyG and DGL, on spry's products.

A graph has an edge from a source node to a target node; a target gets the sum
over its edges of what the sources have. That is the product with a matrix of
one row per target and one column per source, which PyG calls `adj_t`.
"""

from __future__ import annotations

from typing import Any, Sequence

import torch

from ._arrays import same
from ._plan import options_of
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
        # Copies: who changes the edges later has another graph.
        self.source, self.target = source.long().clone(), target.long().clone()
        # Edges that are there twice share an entry, which has their sum.
        place = self.target * sources + self.source
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
        self.weight = None if weight is None else weight.to(dtype)
        ones = torch.ones(self.edges, dtype=dtype)
        self._entries = place.numel()
        self.norms: dict = {}  # what layers make of edges without weights
        values = self.values(ones if weight is None else self.weight.detach())
        A = torch.sparse_csr_tensor(start, place - row * sources, values,
                                    (targets, sources))
        self.matrix = Matrix(A, cols, **options)
        self.degree = torch.zeros(targets, dtype=dtype).index_add_(
            0, self.target, ones)

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
        out = torch.zeros(self._entries, dtype=weight.dtype)
        return out.index_add(0, self.entry, weight)

    def __repr__(self) -> str:
        return (f"<spry.torch.Graph {self.shape[1]} -> {self.shape[0]} nodes, "
                f"{self.edges} edges: {self.matrix.tuned.schedule}>")


def _read(edges: Any) -> tuple[torch.Tensor, torch.Tensor, Any, bool]:
    """Sources and targets, or, with True, rowptr and col of a row per target;
    weights between them and that, or None."""
    if isinstance(edges, torch.Tensor) and edges.layout is torch.sparse_csr:
        if edges.requires_grad:
            raise TypeError("a sparse_csr tensor that requires grad has no "
                            "gradients here: give edge_index and edge_weight")
        return (edges.crow_indices(), edges.col_indices(), edges.values(),
                True)
    if isinstance(edges, torch.Tensor) and edges.layout is torch.sparse_coo:
        edges = edges.coalesce()
        target, source = edges.indices()
        return source, target, edges.values(), False
    if isinstance(edges, torch.Tensor):
        if edges.dim() != 2 or edges.shape[0] != 2:
            raise ValueError("edge_index has two rows: sources and targets")
        return edges[0], edges[1], None, False
    if hasattr(edges, "csr") or isinstance(edges, tuple):
        if not isinstance(edges, tuple):
            edges = edges.csr()
        rowptr, col, weight = (*edges, None)[:3]
        return rowptr, col, weight, True
    if hasattr(edges, "edges"):
        return (*edges.edges()[:2], None, False)
    raise TypeError("edges are an edge_index, an adj_t, (rowptr, col) or a "
                    "graph with edges()")


def _ends(a: torch.Tensor, b: torch.Tensor, by_rows: bool) -> tuple:
    """Sources and targets of what `_read` found."""
    if not by_rows:
        return a, b
    return b, torch.repeat_interleave(torch.arange(a.numel() - 1), a.diff())


def _counts(edges: Any) -> tuple[int, int] | None:
    """Sources and targets, where an object tells their numbers."""
    if isinstance(edges, torch.Tensor) and edges.layout is not torch.strided:
        return edges.shape[1], edges.shape[0]
    if hasattr(edges, "sparse_sizes"):
        return edges.sparse_sizes()[::-1]
    if hasattr(edges, "num_src_nodes"):
        return edges.num_src_nodes(), edges.num_dst_nodes()
    return None


def graph(edges: Any, cols: int | Sequence[int], *,
          num_nodes: int | tuple[int, int] | None = None,
          weight: torch.Tensor | None = None, **options: Any) -> Graph:
    """Tune the products of a graph with `cols` features (or several widths).

    edges: PyG's `edge_index`, a tensor of two rows, sources over targets; an
    `adj_t` with a row per target: a sparse tensor, a tuple (rowptr, col[,
    value]) or an object whose `csr()` returns it, as torch_sparse's
    SparseTensor; or a graph of DGL, anything whose `edges()` returns sources
    and targets. num_nodes: of both kinds, or (sources, targets), where edges do
    not tell. weight: of every edge, what products take unless they are given
    others; may require grad. options: those of `spry.tune`.
    """
    *places, own, by_rows = _read(edges)
    source, target = _ends(*places, by_rows)
    if num_nodes is None:
        num_nodes = _counts(edges)
    if num_nodes is None:
        rows = places[0].numel() - 1 if by_rows else _most(target)
        num_nodes = max(_most(source), rows)
        if by_rows:
            num_nodes = (num_nodes, rows)
    if isinstance(num_nodes, int):
        num_nodes = (num_nodes, num_nodes)
    return Graph(source, target, num_nodes, cols,
                 own if weight is None else weight, **options)


def _most(ends: torch.Tensor) -> int:
    return int(ends.max()) + 1 if ends.numel() else 0


def propagate(g: Graph, x: torch.Tensor,
              edge_weight: torch.Tensor | None = None,
              reduce: str = "sum") -> torch.Tensor:
    """What every target gets: the sum or mean of x over its edges, times the
    edges' weights, those given or the graph's. PyG's `propagate` with `aggr`,
    and its `spmm`."""
    if reduce not in ("sum", "add", "mean"):
        raise ValueError(f"spry reduces by sum or mean, not {reduce!r}")
    if edge_weight is None:
        edge_weight = g.weight
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

def _ones(g: Graph) -> torch.Tensor | None:
    return None if g.weight is None else torch.ones_like(g.weight)


def copy_u_sum(g: Graph, x: torch.Tensor) -> torch.Tensor:
    """dgl.ops.copy_u_sum; weights that the graph has do not count."""
    return propagate(g, x, _ones(g))


def copy_u_mean(g: Graph, x: torch.Tensor) -> torch.Tensor:
    """dgl.ops.copy_u_mean; weights that the graph has do not count."""
    return propagate(g, x, _ones(g), "mean")


def _heads(x: torch.Tensor, shape: Sequence[int]) -> torch.Tensor:
    """Features of this shape, x's or one that it is repeated to, as a matrix
    for every head."""
    heads = torch.Size(shape[:-1]).numel()
    x = x.reshape(len(x), *[1] * (len(shape) - x.dim() + 1), *x.shape[1:])
    return x.expand(-1, *shape).reshape(len(x), heads, shape[-1])


def u_mul_e_sum(g: Graph, x: torch.Tensor, e: torch.Tensor) -> torch.Tensor:
    """dgl.ops.u_mul_e_sum: x [nodes, ...] and e [edges, ...], a weight for
    every edge or, as [edges, heads, 1], for every head of it."""
    if e.dim() <= x.dim() and e.shape[1:].numel() == 1:
        return propagate(g, x, e)
    if e.shape[-1] != 1 or e.dim() == 1:  # every feature is a head
        return u_mul_e_sum(g, x.unsqueeze(-1), e.unsqueeze(-1)).squeeze(-1)
    shape = torch.broadcast_shapes(x.shape[1:], e.shape[1:])
    x, e = _heads(x, shape), _heads(e, (*shape[:-1], 1))
    out = torch.stack([propagate(g, x[:, h], e[:, h])
                       for h in range(x.shape[1])], 1)
    return out.reshape(len(out), *shape)


def u_dot_v(g: Graph, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """dgl.ops.u_dot_v: for every edge the product of its source's x and its
    target's y, a number for every head: [edges, ..., 1]."""
    shape = torch.broadcast_shapes(x.shape[1:], y.shape[1:]) or (1,)
    x, y = _heads(x, shape), _heads(y, shape)
    dots = [sddmm(g.matrix, y[:, h], x[:, h])[g.entry]
            for h in range(x.shape[1])]
    return torch.stack(dots, 1).reshape(g.edges, *shape[:-1], 1)


def _normal(source: torch.Tensor, target: torch.Tensor,
            weight: torch.Tensor, n: int, loop: float | None) -> tuple:
    """Weights D^-1/2 (A + I) D^-1/2 of the edges and of a loop at every node.
    A loop that is there keeps its weight, the last if there are several; it
    moves from the edges, where 0 is left, to the nodes. loop: the weight of
    others; None: A as it is, and None for the nodes."""
    own = None
    if loop is not None:
        at = (source == target).nonzero().squeeze(1)
        last = torch.full((n,), -1)
        last.numpy()[source[at].numpy()] = at.numpy()  # the last one stays
        own = torch.cat([weight, weight.new_tensor([loop])])[last]
        weight = weight.index_fill(0, at, 0)
    degree = weight.new_zeros(n).index_add(0, target, weight)
    degree = degree if own is None else degree + own
    # Infinite where there is no edge: of 0 the slope were none.
    scale = degree.masked_fill(degree == 0, float("inf")).pow(-0.5)
    return (scale[source] * weight * scale[target],
            None if own is None else scale * own * scale)


def gcn_norm(edge_index: torch.Tensor,
             edge_weight: torch.Tensor | None = None,
             num_nodes: int | None = None, improved: bool = False,
             add_self_loops: bool = True,
             dtype: torch.dtype | None = None) -> tuple:
    """Weights D^-1/2 (A + I) D^-1/2, as PyG's `gcn_norm`: edges with a loop at
    every node, and their weights, differentiable. Loops that are there keep
    their weight; `improved` gives others 2, not 1."""
    source, target = edge_index
    n = max(_most(source), _most(target)) if num_nodes is None else num_nodes
    if edge_weight is None:
        edge_weight = torch.ones(len(source),
                                 dtype=dtype or torch.get_default_dtype())
    loop = (2 if improved else 1) if add_self_loops else None
    weight, own = _normal(source, target, edge_weight, n, loop)
    if own is None:
        return edge_index, weight
    others = source != target
    return (torch.cat([edge_index[:, others], torch.arange(n).expand(2, n)],
                      1), torch.cat([weight[others], own]))


class GCNConv(torch.nn.Module):
    """PyG's layer of that name: the same keywords and weights (`lin.weight`,
    `bias`), the same result, gradients of edge weights too.

    It takes a `Graph`, which is tuned already, or whatever `graph` takes. That
    is not tuned: effort="lookup" multiplies by what an earlier tune found, and
    else by the plain loop. Other efforts, with `seconds`, tune in `forward`
    where the edges are others than those before.
    """

    def __init__(self, in_channels: int, out_channels: int,
                 improved: bool = False, cached: bool = False,
                 add_self_loops: bool | None = None, normalize: bool = True,
                 bias: bool = True, *, effort: str = "lookup",
                 seconds: float = 0, threads: int = 0,
                 store: str | None = None) -> None:
        """cached: weights and edges of the first call are those of all."""
        super().__init__()
        if add_self_loops is None:
            add_self_loops = normalize
        if add_self_loops and not normalize:
            raise ValueError("loops are added only where weights are "
                             "normalised: add them to the edges")
        if seconds and effort in ("lookup", "predict"):
            raise ValueError(f"seconds are for a tune; {effort!r} is none")
        self.in_channels, self.out_channels = in_channels, out_channels
        self.improved, self.cached = improved, cached
        self.add_self_loops, self.normalize = add_self_loops, normalize
        self.options = {"effort": effort, "seconds": seconds,
                        "threads": threads, "store": store}
        options_of(**self.options)  # refuses what is wrong here, not later
        self.lin = torch.nn.Linear(in_channels, out_channels, bias=False)
        self.bias = (torch.nn.Parameter(torch.empty(out_channels)) if bias
                     else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        torch.nn.init.xavier_uniform_(self.lin.weight)
        if self.bias is not None:
            torch.nn.init.zeros_(self.bias)
        self._kept: tuple | None = None  # edges and the graph made of them
        self._first: tuple | None = None  # what is cached

    def __getstate__(self) -> dict:
        return {**self.__dict__, "_kept": None}  # made again from its edges

    def _weights(self, source: torch.Tensor, target: torch.Tensor, n: int,
                 weight: torch.Tensor) -> tuple:
        """Weights of edges, and of loops at nodes or None."""
        if not self.normalize:
            return weight, None
        loop = (2 if self.improved else 1) if self.add_self_loops else None
        return _normal(source, target, weight.reshape(-1), n, loop)

    def _graph(self, edges: tuple, weight: torch.Tensor | None, n: int,
               dtype: torch.dtype) -> Graph:
        """The graph of before if the edges are the same."""
        *places, by_rows = edges
        now = (n, dtype, by_rows)
        if self._kept and self._kept[0] == now and all(
                same(a.numpy(), b.numpy())
                for a, b in zip(places, self._kept[1])):
            return self._kept[2]
        with torch.inference_mode(False), torch.no_grad():
            source, target = _ends(*edges)
            if weight is None:
                weight = torch.ones(len(source), dtype=dtype)
            weight, _ = self._weights(source, target, n, weight)
            rows = places[0].numel() - 1 if by_rows else n
            g = Graph(source, target, (n, rows), self.out_channels,
                      weight, dtype, **self.options)
        self._kept = (now, [a.clone() for a in places], g)
        return g

    def _weighted(self, edges: Any, weight: torch.Tensor | None, n: int,
                  dtype: torch.dtype) -> tuple:
        """A graph, weights of its edges and of loops at its nodes."""
        if self._first:
            return self._first
        if isinstance(edges, Graph):
            g, own = edges, edges.weight
        else:
            *edges, own, by_rows = _read(edges)
            g = self._graph((*edges, by_rows), own if weight is None
                            else weight, n, dtype)
        if self.normalize and g.shape != (n, n):
            raise ValueError(f"the graph is {tuple(g.shape)}, but x has {n} "
                             "nodes")
        weight = own if weight is None else weight
        how = (self.normalize, self.add_self_loops, self.improved)
        if weight is None and how not in g.norms:
            with torch.inference_mode(False), torch.no_grad():
                ones = torch.ones(g.edges, dtype=g.matrix.dtype)
                g.norms[how] = self._weights(g.source, g.target, n, ones)
        out = (g, *(g.norms[how] if weight is None else
                    self._weights(g.source, g.target, n, weight)))
        if self.cached:
            if weight is not None and weight.requires_grad:
                raise ValueError("weights that are cached cannot be trained")
            self._first = out
        return out

    def forward(self, x: torch.Tensor, edge_index: Any,
                edge_weight: torch.Tensor | None = None) -> torch.Tensor:
        """x: a row per node; edge_index: sources over targets, or what else
        `graph` takes, or a Graph."""
        x = self.lin(x)
        g, weight, own = self._weighted(edge_index, edge_weight, x.shape[0],
                                        x.dtype)
        out = propagate(g, x, weight)
        if own is not None:
            out = out + own.unsqueeze(1) * x
        return out if self.bias is None else out + self.bias
