"""PyTorch, in the fastest of its modes: torch_peer.py NET THREADS. Prints a
line of JSON when ready, then runs once for each line."""

import json
import sys
import time

import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(768, 768)
                                          for _ in range(4))
        self.up, self.down = nn.Linear(768, 3072), nn.Linear(3072, 768)
        self.one, self.two = (nn.LayerNorm(768, 1e-12) for _ in range(2))

    def forward(self, x):
        q, k, v = (f(x).reshape(1, -1, 12, 64).transpose(1, 2)
                   for f in (self.q, self.k, self.v))
        y = torch.softmax(q @ k.transpose(-1, -2) / 8.0, -1) @ v
        x = self.one(x + self.o(y.transpose(1, 2).reshape(x.shape)))
        return self.two(x + self.down(nn.functional.gelu(self.up(x))))


class Bert(nn.Module):
    def __init__(self):
        super().__init__()
        self.word = nn.Embedding(30522, 768)
        self.place = nn.Parameter(torch.randn(1, 128, 768))
        self.norm = nn.LayerNorm(768, 1e-12)
        self.layers = nn.Sequential(*(Layer() for _ in range(12)))
        self.pool = nn.Linear(768, 768)

    def forward(self, x):
        x = self.layers(self.norm(self.word(x) + self.place))
        return torch.tanh(self.pool(x[:, 0]))


def make(net):
    if net == "bert":
        return Bert(), torch.randint(0, 30522, (1, 128))
    import torchvision.models as models
    if net == "inceptionv3":
        model = models.inception_v3(weights=None, init_weights=False)
        model.aux_logits, model.AuxLogits = False, None
        return model, torch.randn(1, 3, 299, 299)
    name = {"resnet50": "resnet50", "mobilenetv3": "mobilenet_v3_large"}[net]
    return getattr(models, name)(), torch.randn(1, 3, 224, 224)


def modes(model, x):
    yield "eager", model, x
    if x.dim() == 4:
        near = x.to(memory_format=torch.channels_last)
        yield ("channels last",
               model.to(memory_format=torch.channels_last), near)
    traced = torch.jit.freeze(torch.jit.trace(model, x))
    yield "frozen", traced, x
    try:
        yield "for inference", torch.jit.optimize_for_inference(traced), x
    except RuntimeError:
        pass


def seconds(model, x, runs):
    best = 1e9
    for _ in range(runs):
        begun = time.perf_counter()
        model(x)
        best = min(best, time.perf_counter() - begun)
    return best


def main():
    torch.set_num_threads(int(sys.argv[2]))
    with torch.inference_mode():
        model, x = make(sys.argv[1])
        model.eval()
        _, mode, model, x = min(
            ((seconds(m, y, 4), name, m, y) for name, m, y in modes(model, x)),
            key=lambda t: t[0])
        print(json.dumps({"mode": mode, "version": torch.__version__}),
              flush=True)
        for _ in sys.stdin:
            print(seconds(model, x, 1), flush=True)


main()
