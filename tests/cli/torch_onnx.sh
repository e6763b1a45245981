#!/bin/sh
# Models that PyTorch writes compute what PyTorch computes.
# shellcheck source=/dev/null
. "$TOOLS"

python=
for p in python3 /usr/bin/python3; do
    if "$p" -c 'import torch, numpy' 2>/dev/null; then
        python=$p
        break
    fi
done
[ -n "$python" ] || skip "there is no PyTorch for Python"

cat >make.py <<'END'
import warnings
warnings.filterwarnings("ignore")
import numpy, torch
from torch import nn

torch.manual_seed(1)
torch.set_num_threads(1)


class Gate(nn.Module):
    """Squeeze and excite, as MobileNet has it."""
    def __init__(self, c):
        super().__init__()
        self.a, self.b = nn.Conv2d(c, 4, 1), nn.Conv2d(4, c, 1)

    def forward(self, x):
        y = nn.functional.adaptive_avg_pool2d(x, 1)
        y = nn.functional.hardsigmoid(self.b(torch.relu(self.a(y))))
        return x * y


class Images(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 12, 3, 2, 1, bias=False),
                                  nn.BatchNorm2d(12), nn.Hardswish())
        self.deep = nn.Sequential(nn.Conv2d(12, 12, 5, 1, 2, groups=12),
                                  nn.BatchNorm2d(12), nn.SiLU(), Gate(12))
        self.side = nn.Conv2d(12, 8, (1, 3), 1, (0, 1), groups=2)
        self.pool = nn.MaxPool2d(3, 2, ceil_mode=True)
        self.mean = nn.AvgPool2d(3, 1, 1)
        self.end = nn.Linear(20, 7)

    def forward(self, x):
        x = self.stem(x)
        x = x + self.deep(x)
        x = torch.cat([self.mean(x), nn.functional.leaky_relu(self.side(x))],
                      1)
        return self.end(torch.flatten(self.pool(x).mean([2, 3]), 1))


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.last = nn.LayerNorm(24), nn.LayerNorm(24)
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)
        self.up, self.down = nn.Linear(24, 48), nn.Linear(48, 24)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(self.norm(x)).chunk(3, -1)
        q, k, v = (a.reshape(b, t, 3, 8).transpose(1, 2) for a in (q, k, v))
        y = torch.softmax(q @ k.transpose(-1, -2) / 8 ** 0.5, -1) @ v
        x = x + self.out(y.transpose(1, 2).reshape(b, t, c))
        return x + self.down(nn.functional.gelu(self.up(self.last(x))))


class Pruned(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(3, 32, 3, 2, 1), nn.ReLU(),
            nn.Conv2d(32, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64),
            nn.ReLU(), nn.Conv2d(64, 128, 1), nn.ReLU(),
            nn.Conv2d(128, 70, 3, 2, 2, dilation=2), nn.Hardswish(),
            nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(70, 50))
        for m in self.net[1:]:
            if isinstance(m, (nn.Conv2d, nn.Linear)):
                w = m.weight.data
                w[w.abs() < torch.quantile(w.abs().flatten()[:99999], 0.9)] = 0

    def forward(self, x):
        return self.net(x)


class Rounded(nn.Module):
    """Whole numbers come out."""
    def forward(self, x):
        return (x * 40).to(torch.int64)


def write(name, net, x, opset):
    net.eval()
    for m in net.modules():
        if isinstance(m, nn.BatchNorm2d):
            m.running_mean.uniform_(-1, 1)
            m.running_var.uniform_(0.5, 2)
    torch.onnx.export(net, x, name + ".onnx", opset_version=opset)
    y = net(x).detach().numpy()
    numpy.save(name + "_x.npy", x.numpy())
    numpy.save(name + "_y.npy", y)


for opset in 9, 11, 13:
    write("images%d" % opset, Images(), torch.randn(1, 3, 37, 41), opset)
    write("words%d" % opset, Words(), torch.randn(1, 11, 24), opset)
write("words2", Words(), torch.randn(2, 5, 24), 13)
write("pruned", Pruned(), torch.randn(1, 3, 61, 57), 13)
write("rounded", Rounded(), torch.randn(2, 3, 5), 13)
write("pruned2", Pruned(), torch.randn(2, 3, 40, 40), 11)
END
"$python" make.py >made 2>&1 || skip "this PyTorch writes no ONNX: $(tail -1 made)"

cat >same.py <<'END'
import sys, numpy
a, b = (numpy.load(f) for f in sys.argv[1:3])
off = abs(a - b).max() / abs(b).max()
assert a.shape == b.shape and off < 1e-4, (a.shape, b.shape, off)
assert a.dtype == b.dtype, (a.dtype, b.dtype)
END

for x in *_x.npy; do
    name=${x%_x.npy}
    for how in "--untuned" "--reference"; do
        # shellcheck disable=SC2086
        expect 0 "$SPRY" net run "$name.onnx" --input "$x" --out got.npy $how
        "$python" same.py got.npy "${name}_y.npy" ||
            fail "$name $how is not what PyTorch computes"
    done
done

# Where nine of ten weights are 0, only the tenth is multiplied.
expect 0 "$SPRY" net explain pruned.onnx --untuned --runs 1 --json
grep -q '"computed": *"sparse"' out || fail "no pruned layer is sparse"
expect 0 "$SPRY" net inspect pruned.onnx
grep -q '90[.]0 %' out || fail "zeros are not shown"
