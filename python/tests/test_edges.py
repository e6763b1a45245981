"""Message passing against sums over edges, one by one."""

import pytest

torch = pytest.importorskip("torch")

import spry.torch as st  # noqa: E402

QUICK = {"effort": "lookup", "store": ":memory:"}


def edges(seed, nodes=30, count=200, twice=True):
    torch.manual_seed(seed)
    e = torch.randint(0, nodes, (2, count))
    return e if twice else torch.unique(e, dim=1)


def plainly(e, x, w, targets):
    messages = x[e[0]] if w is None else x[e[0]] * w.unsqueeze(1)
    return torch.zeros(targets, x.shape[1], dtype=x.dtype).index_add(
        0, e[1], messages)


class Sparse:
    """What torch_sparse's SparseTensor shows of itself."""

    def __init__(self, A):
        self.A = A

    def csr(self):
        return self.A.crow_indices(), self.A.col_indices(), self.A.values()

    def sparse_sizes(self):
        return tuple(self.A.shape)


class Drawn:
    """What DGL's graph shows of itself."""

    def __init__(self, e, sources, targets):
        self.e, self.sources, self.targets = e, sources, targets

    def edges(self):
        return self.e[0], self.e[1]

    def num_src_nodes(self):
        return self.sources

    def num_dst_nodes(self):
        return self.targets


@pytest.mark.parametrize("twice", [True, False])
def test_pyg(twice):
    e = edges(1, twice=twice)
    g = st.graph(e, 4, num_nodes=30, dtype=torch.float64, **QUICK)
    x = torch.randn(30, 4, dtype=torch.float64, requires_grad=True)
    w = torch.randn(e.shape[1], dtype=torch.float64, requires_grad=True)
    assert torch.allclose(st.propagate(g, x), plainly(e, x, None, 30))
    assert torch.allclose(st.propagate(g, x, w), plainly(e, x, w, 30))
    mean = plainly(e, x, None, 30) / torch.bincount(
        e[1], minlength=30).clamp(min=1).unsqueeze(1)
    assert torch.allclose(st.matmul(g, x, "mean"), mean)
    assert torch.autograd.gradcheck(lambda x, w: st.propagate(g, x, w), (x, w))
    with pytest.raises(ValueError, match="max"):
        st.propagate(g, x, reduce="max")


def test_rows_and_columns():
    A = torch.randn(20, 30, dtype=torch.float64)
    A[torch.rand(20, 30) < 0.7] = 0
    S = A.to_sparse_csr()
    x = torch.randn(30, 5, dtype=torch.float64)
    for given, n in ((Sparse(S), None), (Sparse(S).csr(), (30, 20))):
        g = st.graph(given, 5, num_nodes=n, **QUICK)
        assert tuple(g.shape) == (20, 30)
        assert torch.allclose(st.matmul(g, x), A @ x)


def test_dgl():
    e = torch.stack([torch.randint(0, 25, (90,)), torch.randint(0, 12, (90,))])
    g = st.graph(Drawn(e, 25, 12), 3, dtype=torch.float64, **QUICK)
    x = torch.randn(25, 3, dtype=torch.float64, requires_grad=True)
    y = torch.randn(12, 3, dtype=torch.float64, requires_grad=True)
    w = torch.randn(90, 1, dtype=torch.float64)
    assert torch.allclose(st.copy_u_sum(g, x), plainly(e, x, None, 12))
    assert torch.allclose(st.u_mul_e_sum(g, x, w),
                          plainly(e, x, w.reshape(-1), 12))
    dots = (x[e[0]] * y[e[1]]).sum(1, keepdim=True)
    assert torch.allclose(st.u_dot_v(g, x, y), dots)
    assert torch.autograd.gradcheck(lambda x, y: st.u_dot_v(g, x, y), (x, y))


def test_refusals():
    with pytest.raises(ValueError, match="two rows"):
        st.graph(torch.zeros(3, 4, dtype=torch.int64), 2, **QUICK)
    with pytest.raises(ValueError, match="node"):
        st.graph(torch.tensor([[5], [0]]), 2, num_nodes=3, **QUICK)
    with pytest.raises(TypeError):
        st.graph("edges", 2, **QUICK)
    g = st.graph(torch.tensor([[0], [1]]), 2, **QUICK)
    with pytest.raises(ValueError, match="1 edges"):
        st.propagate(g, torch.ones(2, 2), torch.ones(3))


def test_no_edges():
    g = st.graph(torch.zeros(2, 0, dtype=torch.int64), 2, num_nodes=4, **QUICK)
    assert torch.equal(st.propagate(g, torch.ones(4, 2)), torch.zeros(4, 2))


def test_gcn_layer():
    e = edges(3)
    conv = st.GCNConv(6, 4, **QUICK)
    x = torch.randn(30, 6)
    A = torch.zeros(30, 30).index_put_((e[1], e[0]), torch.ones(e.shape[1]),
                                       accumulate=True)
    # A node that is its own neighbour keeps that one edge as its loop.
    A.fill_diagonal_(1)
    d = A.sum(1).pow(-0.5)
    want = (d[:, None] * A * d) @ x @ conv.lin.weight.T + conv.bias
    assert torch.allclose(conv(x, e), want, atol=1e-5)
    kept = conv._kept
    conv(x, e).sum().backward()
    assert conv._kept is kept and conv.lin.weight.grad is not None
    e[0, 0] = (e[0, 0] + 1) % 30
    conv(x, e)
    assert conv._kept is not kept
