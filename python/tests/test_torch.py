"""The differentiable product, against torch's own and against differences."""

import copy
import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from cases import integers, operand  # noqa: E402

import spry.torch as st  # noqa: E402

QUICK = {"effort": "lookup", "store": ":memory:"}


def tensor(seed, dtype=torch.float64):
    A = integers(seed)
    A.sum_duplicates()
    return torch.sparse_csr_tensor(
        torch.from_numpy(A.indptr.astype(np.int64)),
        torch.from_numpy(A.indices.astype(np.int64)),
        torch.from_numpy(A.data).to(dtype), A.shape)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_equals_torch(dtype):
    for seed in range(10):
        A = tensor(seed, dtype)
        G = st.matrix(A, 5, **QUICK)
        for n in (5, 1, 8):
            X = torch.from_numpy(operand(seed, A.shape[1], n)).to(dtype)
            assert torch.equal(G @ X, A.to_dense() @ X)
        assert G.tuned._source.matrix.col == A.col_indices().data_ptr()


def test_slopes_are_those_of_differences():
    for seed in (2, 5, 9):
        A = tensor(seed)
        G = st.matrix(A, 3, **QUICK)
        X = torch.randn(A.shape[1], 3, dtype=torch.float64,
                        requires_grad=True)
        v = torch.randn(G.nnz, dtype=torch.float64, requires_grad=True)
        assert torch.autograd.gradcheck(lambda x: st.spmm(G, x), (X,))
        assert torch.autograd.gradcheck(
            lambda x, w: st.spmm(G, x, w), (X, v))


def test_values_of_their_own_do_not_stay():
    A = tensor(4)
    G = st.matrix(A, 4, **QUICK)
    X = torch.from_numpy(operand(1, A.shape[1], 4))
    want = A.to_dense() @ X
    other = torch.from_numpy(operand(2, G.nnz))
    B = torch.sparse_csr_tensor(A.crow_indices(), A.col_indices(), other,
                                A.shape)
    for _ in range(3):
        assert torch.equal(G @ X, want)
        assert torch.equal(st.spmm(G, X, other), B.to_dense() @ X)
    other += 1  # in place
    assert torch.equal(st.spmm(G, X, other), B.to_dense() @ X)


def write(values, how):
    if how == "counted":
        values.mul_(3)
    elif how == "not counted":
        values.data.mul_(3)
    else:
        values.numpy()[:] *= 3


@pytest.mark.parametrize("how", ["counted", "not counted", "by NumPy"])
@pytest.mark.parametrize("before", ["nothing", "product", "other values",
                                    "other width"])
def test_follows_the_values_of_the_tensor(how, before):
    A = tensor(6)
    G = st.matrix(A, 3, **QUICK)
    X = torch.from_numpy(operand(1, A.shape[1], 3))
    want = 3 * (A.to_dense() @ X)
    if before == "product":
        G @ X
    write(A.values(), how)
    if before == "other values":
        st.spmm(G, X, torch.ones(G.nnz, dtype=torch.float64))
    if before == "other width":
        G @ X[:, :2]
    for _ in range(2):
        assert torch.equal(G @ X, want)
        assert torch.equal(G @ X[:, :2], want[:, :2])


def test_values_in_the_same_place_are_not_taken_for_others():
    A = tensor(6)
    G = st.matrix(A, 3, **QUICK)
    X = torch.ones(A.shape[1], 3, dtype=torch.float64)
    for k in range(20):  # freed memory is used again, versions begin at 0
        got = st.spmm(G, X, torch.full((G.nnz,), k, dtype=torch.float64))
        count = A.crow_indices().diff().double().unsqueeze(1)
        assert torch.equal(got, k * count.expand(-1, 3))


def test_values_that_change_before_their_slopes_are_refused():
    A = tensor(6)
    G = st.matrix(A, 3, **QUICK)
    X = torch.ones(A.shape[1], 3, dtype=torch.float64, requires_grad=True)
    Y = (G @ X).sum()
    A.values().mul_(2)
    with pytest.raises(RuntimeError, match="inplace"):
        Y.backward()


def test_vectors():
    A = tensor(7)
    G = st.matrix(A, 3, **QUICK)
    x = torch.from_numpy(operand(1, A.shape[1])).requires_grad_()
    v = torch.ones(G.nnz, dtype=torch.float64, requires_grad=True)
    assert torch.equal(G @ x, A.to_dense() @ x)
    assert torch.autograd.gradcheck(lambda x, v: st.spmm(G, x, v), (x, v))


@pytest.mark.parametrize("copied", [
    copy.deepcopy, lambda G: pickle.loads(pickle.dumps(G))])
def test_copies(copied, monkeypatch):
    A = tensor(6)
    G = st.matrix(A, (3, 1), **QUICK)
    A.values().mul_(2)
    X = torch.ones(A.shape[1], 3, dtype=torch.float64)
    st.spmm(G, X, torch.ones(G.nnz, dtype=torch.float64))
    monkeypatch.setattr(st.lib, "spry_tune", None)
    H = copied(G)
    assert H.cols == 3 and H.tuned.schedule == G.tuned.schedule
    assert torch.equal(H @ X, A.to_dense() @ X)
    H.values().zero_()
    assert torch.equal(H @ X[:, 0], torch.zeros(A.shape[0]).double())
    assert torch.equal(G @ X, A.to_dense() @ X)


def test_what_makes_no_sense_is_refused():
    A = tensor(3)
    G = st.matrix(A, 2, **QUICK)
    with pytest.raises(TypeError):
        st.matrix(A.to_dense(), 2)
    with pytest.raises(TypeError, match="grad"):
        st.matrix(A.requires_grad_(), 2)
    with pytest.raises(ValueError):
        G @ torch.zeros(A.shape[1] + 1, 2, dtype=torch.float64)
    with pytest.raises(TypeError):
        G @ torch.zeros(A.shape[1], 2, dtype=torch.float32)
    with pytest.raises(ValueError):
        st.spmm(G, torch.zeros(A.shape[1], 2, dtype=torch.float64),
                torch.zeros(G.nnz + 1, dtype=torch.float64))


def test_a_graph_network_learns_as_with_torch():
    import sys
    from pathlib import Path

    sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
    import gcn

    graph = gcn.make_graph(600, 8, 24, 4, seed=1)
    own = gcn.train(graph, gcn.product_of_spry(graph, 16, **QUICK), epochs=15)
    other = gcn.train(graph, gcn.product_of_torch(graph), epochs=15)
    assert own.losses[-1] < 0.8 * own.losses[0]
    assert np.allclose(own.losses, other.losses, atol=1e-5)
