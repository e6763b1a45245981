"""Message passing against sums over edges, one by one."""

import copy
import pickle

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


@pytest.mark.parametrize("twice", [True, False])
def test_weights_of_the_graph(twice):
    e = edges(2, twice=twice)
    x = torch.randn(30, 4, dtype=torch.float64)
    w = torch.rand(e.shape[1], dtype=torch.float64, requires_grad=True)
    g = st.graph(e, 4, num_nodes=30, weight=w, **QUICK)
    assert torch.allclose(st.propagate(g, x), plainly(e, x, w, 30))
    assert torch.autograd.gradcheck(lambda _: st.propagate(g, x), (w,))
    with torch.no_grad():
        w *= 2
    for _ in range(2):
        assert torch.allclose(st.propagate(g, x), plainly(e, x, w, 30))
        assert torch.allclose(st.copy_u_sum(g, x), plainly(e, x, None, 30))
        count = torch.bincount(e[1], minlength=30).clamp(min=1).unsqueeze(1)
        assert torch.allclose(st.copy_u_mean(g, x),
                              plainly(e, x, None, 30) / count)


def wide(a, shape):
    """Features as NumPy and DGL repeat them."""
    return a.reshape(len(a), *[1] * (len(shape) - a.dim() + 1),
                     *a.shape[1:]).expand(-1, *shape)


@pytest.fixture(scope="module")
def of_heads():
    e = edges(4)
    return e, st.graph(e, 5, num_nodes=30, dtype=torch.float64, **QUICK)


@pytest.mark.parametrize("x, e", [
    ((3, 5), (3, 1)), ((3, 5), (1,)), ((3, 5), ()), ((5,), (3, 1)),
    ((1, 5), (3, 1)), ((3, 5), (3, 5)), ((5,), (5,)), ((), ()), ((), (1,)),
    ((), (4,)), ((2, 3, 5), (2, 3, 1)), ((2, 3, 5), (3, 1))])
def test_heads(x, e, of_heads):
    ends, g = of_heads
    x = torch.randn(30, *x, dtype=torch.float64, requires_grad=True)
    e = torch.randn(200, *e, dtype=torch.float64, requires_grad=True)
    shape = torch.broadcast_shapes(x.shape[1:], e.shape[1:])
    want = torch.zeros(30, *shape, dtype=torch.float64).index_add(
        0, ends[1], wide(x, shape)[ends[0]] * wide(e, shape))
    got = st.u_mul_e_sum(g, x, e)
    assert got.shape == want.shape and torch.allclose(got, want)
    grad = torch.randn_like(want)
    for a, b in zip(torch.autograd.grad(got, (x, e), grad),
                    torch.autograd.grad(want, (x, e), grad)):
        assert torch.allclose(a, b)


@pytest.mark.parametrize("x, y", [
    ((3, 5), (3, 5)), ((3, 5), (5,)), ((5,), (5,)), ((), ()),
    ((2, 3, 5), (2, 3, 5))])
def test_products_of_ends_with_heads(x, y, of_heads):
    e, g = of_heads
    x = torch.randn(30, *x, dtype=torch.float64, requires_grad=True)
    y = torch.randn(30, *y, dtype=torch.float64, requires_grad=True)
    shape = torch.broadcast_shapes(x.shape[1:], y.shape[1:]) or (1,)
    want = (wide(x, shape)[e[0]] * wide(y, shape)[e[1]]).sum(-1, keepdim=True)
    got = st.u_dot_v(g, x, y)
    assert got.shape == want.shape and torch.allclose(got, want)
    grad = torch.randn_like(want)
    for a, b in zip(torch.autograd.grad(got, (x, y), grad),
                    torch.autograd.grad(want, (x, y), grad)):
        assert torch.allclose(a, b)


def convolved(conv, x, e, w, loop=1.0):
    """PyG's layer, with dense matrices."""
    n, own = x.shape[0], {}
    A = torch.zeros(n, n, dtype=x.dtype)
    w = torch.ones(e.shape[1], dtype=x.dtype) if w is None else w
    for k, (s, t) in enumerate(e.T.tolist()):
        if conv.add_self_loops and s == t:
            own[s] = w[k]
        else:
            A = A.index_put((torch.tensor(t), torch.tensor(s)), w[k],
                            accumulate=True)
    if conv.add_self_loops:
        A = A + torch.diag(torch.stack([
            own.get(i, torch.tensor(loop, dtype=x.dtype)) for i in range(n)]))
    if conv.normalize:
        d = A.sum(1)
        d = torch.where(d == 0, torch.inf, d).pow(-0.5)
        A = d[:, None] * A * d
    out = A @ (x @ conv.lin.weight.T)
    return out if conv.bias is None else out + conv.bias


LAYERS = [{}, {"improved": True}, {"add_self_loops": False}, {"bias": False},
          {"normalize": False}, {"normalize": False, "add_self_loops": False}]


@pytest.mark.parametrize("given, how", [("edges", how) for how in LAYERS] + [
    ("graph", {}), ("weighted graph", {"improved": True})])
def test_gcn_trains_edge_weights(given, how):
    e = edges(5, 12, 60)
    conv = st.GCNConv(3, 2, **how, **QUICK).double()
    x = torch.randn(12, 3, dtype=torch.float64, requires_grad=True)
    w = (torch.rand(60, dtype=torch.float64) + 0.5).requires_grad_()
    for weight in (None, 2 * w):
        g, more = e, (weight,)
        if given != "edges":
            own = weight if given == "weighted graph" else None
            g = st.graph(e, 2, num_nodes=12, weight=own, dtype=torch.float64,
                         **QUICK)
            more = () if own is not None else more
        got = conv(x, g, *more)
        want = convolved(conv, x, e, weight, 2.0 if conv.improved else 1.0)
        assert torch.allclose(got, want)
        inputs = [x, conv.lin.weight] + ([] if weight is None else [w])
        grad = torch.randn_like(want)
        for a, b in zip(torch.autograd.grad(got, inputs, grad, True),
                        torch.autograd.grad(want, inputs, grad)):
            assert torch.allclose(a, b)


def test_gcn_takes_adjacency():
    e = edges(6, twice=False)
    w = torch.rand(e.shape[1])
    coo = torch.sparse_coo_tensor(e.flip(0), w, (30, 30)).coalesce()
    csr = coo.to_dense().to_sparse_csr()
    conv, x = st.GCNConv(4, 3, **QUICK), torch.randn(30, 4)
    want = conv(x, e, w)
    for adj in (coo, csr, Sparse(csr), Sparse(csr).csr()):
        assert torch.allclose(conv(x, adj), want, atol=1e-5)
    bare = (csr.crow_indices(), csr.col_indices())
    assert torch.allclose(conv(x, bare), conv(x, e), atol=1e-5)
    assert torch.allclose(conv(x, Drawn(e, 30, 30)), conv(x, e), atol=1e-5)
    train = coo.requires_grad_()
    conv(x, train).sum().backward()
    assert train.grad is not None
    with pytest.raises(TypeError, match="grad"):
        conv(x, csr.requires_grad_())


def test_gcn_cached():
    e, other = edges(7), edges(8)
    conv, x = st.GCNConv(4, 3, cached=True, **QUICK), torch.randn(30, 4)
    w = torch.rand(200)
    want = conv(x, e, w)
    assert torch.equal(conv(x, other), want)
    assert torch.equal(copy.deepcopy(conv)(x, other), want)
    conv.reset_parameters()
    conv(x, other)
    conv = st.GCNConv(4, 3, cached=True, **QUICK)
    with pytest.raises(ValueError, match="trained"):
        conv(x, e, w.requires_grad_())


def test_gcn_does_not_tune_unless_asked(monkeypatch):
    efforts = []
    tune = st.tune

    def watched(A, cols, effort="measure", **options):
        efforts.append(effort)
        return tune(A, cols, effort="lookup", **options)

    monkeypatch.setattr(st, "tune", watched)
    x = torch.randn(30, 4)
    conv = st.GCNConv(4, 3, store=":memory:")
    for k in range(3):
        conv(x, edges(k))
        conv(x, edges(k))
    assert efforts == ["lookup"] * 3
    g = st.graph(edges(1), 3, num_nodes=30, store=":memory:")
    conv(x, g)
    assert efforts.pop() == "measure" and len(efforts) == 3
    st.GCNConv(4, 3, store=":memory:", effort="measure")(x, edges(1))
    assert efforts.pop() == "measure"


@pytest.mark.parametrize("wrong", [
    {"flow": "target_to_source"}, {"effort": "luck"}, {"seconds": 1},
    {"normalize": False, "add_self_loops": True}])
def test_gcn_refuses_at_construction(wrong):
    with pytest.raises((TypeError, ValueError)):
        st.GCNConv(4, 3, **wrong)


def test_gcn_norm():
    e, w = edges(9, 12, 60), torch.rand(60, dtype=torch.float64)
    conv = st.GCNConv(3, 2).double()
    x = torch.eye(12, 3, dtype=torch.float64)
    for improved in (False, True):
        ends, weight = st.gcn_norm(e, w, 12, improved)
        got = plainly(ends, x @ conv.lin.weight.T, weight, 12)
        assert torch.allclose(got + conv.bias, convolved(
            conv, x, e, w, 1.0 + improved))
    w.requires_grad_()
    assert torch.autograd.gradcheck(lambda w: st.gcn_norm(e, w, 12)[1], (w,))
    ends, weight = st.gcn_norm(e, w, 15, add_self_loops=False)
    assert ends is e and weight.isfinite().all()
    weight.sum().backward()
    assert w.grad.isfinite().all()


def test_gcn_after_inference():
    e, x, w = edges(3), torch.randn(30, 6), torch.rand(200)
    for weight in (None, w):
        conv = st.GCNConv(6, 4, **QUICK)
        with torch.inference_mode():
            want = conv(x, e.clone(), weight)
        got = conv(x, e, weight)
        got.sum().backward()
        assert torch.equal(got, want)


@pytest.mark.parametrize("copied", [
    copy.deepcopy, lambda a: pickle.loads(pickle.dumps(a))])
def test_copies(copied):
    e, x = edges(3), torch.randn(30, 6)
    conv = st.GCNConv(6, 4, **QUICK)
    g = st.graph(e, 4, num_nodes=30, weight=torch.rand(200), **QUICK)
    for edge in (e, g):
        want = conv(x, edge)
        assert torch.equal(copied(conv)(x, copied(edge)), want)
    h = copied(g)
    h.weight.zero_()
    assert torch.equal(st.propagate(h, x), torch.zeros(30, 6))
    assert torch.equal(conv(x, g), want)
