"""Two layers of graph convolution, trained with spry and with torch's own
sparse product: the same losses, less time.

    python3 gcn.py [--nodes N] [--epochs N] [--edges FILE]

FILE has an edge "i j" per line; without it a graph with communities is made.
"""

import argparse
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import torch
from scipy import sparse

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


def normalise(A):
    """D^-1/2 (A + I) D^-1/2, as in Kipf and Welling."""
    A = (A + sparse.eye(A.shape[0])).tocsr()
    A.data[:] = 1
    scale = sparse.diags(1 / np.sqrt(np.asarray(A.sum(1)).ravel()))
    A = (scale @ A @ scale).tocsr().astype(np.float32)
    A.sort_indices()
    return torch.sparse_csr_tensor(
        torch.from_numpy(A.indptr.astype(np.int64)),
        torch.from_numpy(A.indices.astype(np.int64)),
        torch.from_numpy(A.data), A.shape)


def make_graph(nodes, degree, features, classes, seed=1, edges=None):
    """Nodes of a class are more often neighbours, and their features point the
    same way, under much noise."""
    r = np.random.default_rng(seed)
    label = r.integers(0, classes, nodes)
    if edges is None:
        order = np.argsort(label, kind="stable")
        place = np.empty(nodes, np.int64)
        place[order] = np.arange(nodes)
        i = r.integers(0, nodes, nodes * degree // 2)
        near = place[i] + r.integers(-nodes // (2 * classes),
                                     nodes // (2 * classes), len(i))
        j = np.where(r.random(len(i)) < 0.8, order[near % nodes],
                     r.integers(0, nodes, len(i)))
    else:
        i, j = edges
    A = sparse.coo_matrix((np.ones(len(i)), (i, j)), (nodes, nodes))
    X = r.normal(size=(nodes, features))
    X += 0.7 * r.normal(size=(classes, features))[label]
    return SimpleNamespace(A=normalise(A + A.T), classes=classes,
                           X=torch.from_numpy(X.astype(np.float32)),
                           y=torch.from_numpy(label))


def product_of_spry(graph, width, **options):
    import spry.torch

    G = spry.torch.matrix(graph.A, (width, graph.classes), **options)
    return lambda H: G @ H


class CachedTranspose(torch.autograd.Function):
    """torch's product with the transpose made once, as PyG does it."""

    @staticmethod
    def forward(ctx, A, T, H):
        ctx.T = T
        return A @ H

    @staticmethod
    def backward(ctx, grad):
        return None, None, ctx.T @ grad


def product_of_torch(graph):
    A = graph.A
    S = sparse.csr_matrix((A.values().numpy(), A.col_indices().numpy(),
                           A.crow_indices().numpy()), A.shape).T.tocsr()
    T = torch.sparse_csr_tensor(
        torch.from_numpy(S.indptr.astype(np.int64)),
        torch.from_numpy(S.indices.astype(np.int64)),
        torch.from_numpy(S.data), S.shape)
    return lambda H: CachedTranspose.apply(A, T, H)


def train(graph, product, epochs=50, hidden=16, seed=1):
    """Losses and the seconds of every epoch."""
    torch.manual_seed(seed)
    first = torch.nn.Linear(graph.X.shape[1], hidden)
    last = torch.nn.Linear(hidden, graph.classes)
    weights = [*first.parameters(), *last.parameters()]
    step = torch.optim.Adam(weights, lr=0.01)
    losses, seconds = [], []
    for _ in range(epochs):
        begun = time.perf_counter()
        step.zero_grad()
        H = torch.relu(product(first(graph.X)))
        loss = torch.nn.functional.cross_entropy(product(last(H)), graph.y)
        loss.backward()
        step.step()
        losses.append(loss.item())
        seconds.append(time.perf_counter() - begun)
    return SimpleNamespace(losses=losses, seconds=seconds)


def main():
    parse = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parse.add_argument("--nodes", type=int, default=50000)
    parse.add_argument("--degree", type=int, default=30)
    parse.add_argument("--hidden", type=int, default=64)
    parse.add_argument("--epochs", type=int, default=50)
    parse.add_argument("--seconds", type=float, default=5)
    parse.add_argument("--edges")
    args = parse.parse_args()
    edges = None
    if args.edges:
        edges = np.loadtxt(args.edges, dtype=np.int64, usecols=(0, 1)).T
        args.nodes = int(edges.max()) + 1
    graph = make_graph(args.nodes, args.degree, 64, 16, edges=edges)
    own = train(graph, product_of_spry(graph, args.hidden,
                                       seconds=args.seconds),
                args.epochs, args.hidden)
    other = train(graph, product_of_torch(graph), args.epochs, args.hidden)
    apart = max(abs(a - b) for a, b in zip(own.losses, other.losses))
    print(f"loss       {own.losses[0]:.4f} -> {own.losses[-1]:.4f}, at most "
          f"{apart:.1e} from torch's")
    print(f"per epoch  {1e3 * np.median(own.seconds):.1f} ms with spry, "
          f"{1e3 * np.median(other.seconds):.1f} ms with torch")


if __name__ == "__main__":
    main()
