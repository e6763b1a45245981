"""Networks as modules, against what they should compute."""

import copy
import os
import pickle

import pytest

torch = pytest.importorskip("torch")

import spry  # noqa: E402
import spry.torch as st  # noqa: E402

COPIES = [copy.deepcopy, lambda net: pickle.loads(pickle.dumps(net))]


def test_sparse_network():
    net = st.Network("gen:random,width=64,depth=3", batch=8,
                     effort="lookup", store=":memory:")
    inputs = net._layers.inputs
    x = torch.rand(5, inputs)
    y = net(x)
    assert y.shape == (5, net._layers.outputs) and not y.requires_grad
    assert torch.allclose(net(x[3]), y[3], atol=1e-6)
    assert net(x[:0]).shape[0] == 0
    with pytest.raises(ValueError, match="inputs"):
        net(torch.rand(2, inputs + 1))
    assert "gen:" in repr(net)


@pytest.mark.parametrize("copied", COPIES)
def test_copies_of_a_sparse_network(copied, monkeypatch):
    net = st.Network("gen:random,width=64,depth=3", batch=8,
                     effort="lookup", store=":memory:").eval()
    x = torch.rand(5, net._layers.inputs)
    monkeypatch.setattr(st.lib, "spry_tune", None)
    other = copied(torch.nn.Sequential(net))[0]
    assert torch.equal(other(x), net(x)) and repr(other) == repr(net)
    assert not other.training


def test_exported_by_torch(tmp_path):
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, padding=1),
                                torch.nn.ReLU(), torch.nn.Flatten(),
                                torch.nn.Linear(8 * 36, 5)).eval()
    path = os.fspath(tmp_path / "small.onnx")
    x = torch.randn(2, 3, 6, 6)
    torch.onnx.export(model, x, path, opset_version=13,
                      input_names=["x"], output_names=["y"],
                      dynamic_axes={"x": {0: "n"}, "y": {0: "n"}})
    net = torch.nn.Sequential(st.Network(path, 2, store=":memory:"),
                              torch.nn.Softmax(1))
    for n in (2, 7, 2, 1):
        x = torch.randn(n, 3, 6, 6)
        with torch.no_grad():
            want = torch.softmax(model(x), 1)
        assert torch.allclose(net(x), want, atol=1e-4)
    with pytest.raises(ValueError, match="takes x"):
        net(torch.randn(2, 3, 5, 5))
    for copied in COPIES:
        assert torch.equal(copied(net)(x), net(x))
    net[0]._how = ("measure", 0, 1, ":memory:")  # as if it had been tuned
    for copied in COPIES:
        with pytest.raises(TypeError, match="store"):
            copied(net)


def test_refusals():
    with pytest.raises(spry.Error):
        st.Network("/no/such.spnet")
    with pytest.raises(spry.Error):
        st.Network("/no/such.onnx")
    with pytest.raises(ValueError):
        st.Network("net:resnet50", effort="patient")
