"""A graph convolution in the words of PyG and of DGL, on spry's products.

    python3 edges.py [NODES [EDGES]]
"""

import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import spry.torch as st  # noqa: E402


def main():
    nodes = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 10 * nodes
    torch.manual_seed(1)
    edge_index = torch.randint(0, nodes, (2, count))
    x = torch.randn(nodes, 32)

    # PyG: a layer, and the sum over neighbours that layers are made of.
    g = st.graph(edge_index, (32, 16), num_nodes=nodes, seconds=1)
    conv = st.GCNConv(32, 16)
    print("GCNConv      ", tuple(conv(x, g).shape))
    weight = torch.rand(count, requires_grad=True)
    out = st.propagate(g, x, weight)
    out.sum().backward()
    print("propagate    ", tuple(out.shape), "slopes of", weight.grad.numel(),
          "weights")

    # DGL: attention as a product of both ends of an edge, then a sum.
    score = st.u_dot_v(g, x, x).sigmoid()
    print("u_mul_e_sum  ", tuple(st.u_mul_e_sum(g, x, score).shape))
    print(g)


if __name__ == "__main__":
    main()
