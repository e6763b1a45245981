"""The differentiable product, against torch's own and against differences."""

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


def test_what_makes_no_sense_is_refused():
    A = tensor(3)
    G = st.matrix(A, 2, **QUICK)
    with pytest.raises(TypeError):
        st.matrix(A.to_dense(), 2)
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
