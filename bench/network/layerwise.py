"""layerwise.py LIBRARY FOLDER BATCH - a network, layer by layer, in Python.

FOLDER holds layers (a line each: inputs outputs edges limit), and as raw
arrays start, source, weight, bias of all layers, one after the other, and x.
The first line out names the library; then each line in is answered:

    run TIMES   ok
    sum         the sum of all outputs of the last run
    layers      a line for each layer: of the first input, the sum of values,
                neuron j's 1 + j % 7 times
"""
import sys

import numpy as np


def layers(folder):
    start = np.fromfile(folder + "/start", np.int64)
    source = np.fromfile(folder + "/source", np.int32)
    weight = np.fromfile(folder + "/weight", np.float32)
    bias = np.fromfile(folder + "/bias", np.float32)
    row = edge = 0
    for line in open(folder + "/layers"):
        inputs, outputs, edges, limit = line.split()
        outputs, edges = int(outputs), int(edges)
        yield (int(inputs), outputs, start[row:row + outputs + 1] - edge,
               source[edge:edge + edges], weight[edge:edge + edges],
               bias[row:row + outputs], float(limit))
        row += outputs
        edge += edges


def scipy_run(net, x):
    import scipy
    from scipy.sparse import csr_matrix
    net = [(csr_matrix((w, s, p), shape=(o, i)), b[:, None] if x.ndim > 1
            else b, limit) for i, o, p, s, w, b, limit in net]

    def run(see=None):
        y = x
        for matrix, bias, limit in net:
            y = matrix @ y
            y += bias
            np.clip(y, 0, limit, out=y)
            if see:
                see(y)
        return y
    return "SciPy " + scipy.__version__, run


def torch_run(net, x):
    import torch
    torch.set_num_threads(1)
    x = torch.from_numpy(x if x.ndim > 1 else x[:, None])
    net = [(torch.sparse_csr_tensor(torch.from_numpy(p),
                                    torch.from_numpy(s.astype(np.int64)),
                                    torch.from_numpy(w), (o, i)),
            torch.from_numpy(b[:, None]), limit)
           for i, o, p, s, w, b, limit in net]

    def run(see=None):
        y = x
        with torch.no_grad():
            for matrix, bias, limit in net:
                y = matrix @ y
                y += bias
                y.clamp_(0, limit)
                if see:
                    see(y.numpy())
        return y.numpy()
    return "PyTorch " + torch.__version__, run


def print_layer(y):
    first = y.reshape(len(y), -1)[:, 0].astype(np.float64)
    print(float(first @ (1 + np.arange(len(y)) % 7)))


def main():
    library, folder, batch = sys.argv[1], sys.argv[2], int(sys.argv[3])
    x = np.fromfile(folder + "/x", np.float32)
    if batch > 1:
        x = np.ascontiguousarray(x.reshape(batch, -1).T)
    ways = {"scipy": scipy_run, "torch": torch_run}
    name, run = ways[library](layers(folder), x)
    y = run()
    print(name, flush=True)
    for line in sys.stdin:
        word = line.split()
        if word[0] == "run":
            for _ in range(int(word[1])):
                y = run()
            print("ok", flush=True)
        elif word[0] == "layers":
            run(print_layer)
            sys.stdout.flush()
        else:
            print(float(np.sum(y, dtype=np.float64)), flush=True)


if __name__ == "__main__":
    main()
