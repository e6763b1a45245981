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


class Written(torch.autograd.Function):
    """f(x), which the file calls by the name of an operator of ONNX."""
    @staticmethod
    def forward(ctx, x, f, op, attributes):
        return f(x)

    @staticmethod
    def symbolic(g, x, f, op, attributes):
        attributes = dict(attributes)
        return g.op(op, *([x] * attributes.pop("times", 1)), **attributes)


class Apply(nn.Module):
    """Functions one after the other; triples are operators of ONNX."""
    def __init__(self, *steps):
        super().__init__()
        self.steps = steps
        self.inside = nn.ModuleList(
            s for s in steps if isinstance(s, nn.Module))

    def forward(self, x):
        for s in self.steps:
            x = Written.apply(x, *s) if isinstance(s, tuple) else s(x)
        return x


def resize(**how):
    return lambda x: nn.functional.interpolate(x, **how)


def squares(x):
    """Channels to space, depth first."""
    n, c, h, w = x.shape
    x = x.reshape(n, 2, 2, c // 4, h, w).permute(0, 3, 4, 1, 5, 2)
    return x.reshape(n, c // 4, 2 * h, 2 * w)


def elements(x):
    f = nn.functional
    y = f.elu(x, 0.5) + f.selu(x) + f.softplus(x) + f.softsign(x)
    y = y + f.gelu(x, approximate="tanh") + torch.sin(x) * torch.cos(x)
    z = torch.where((x > 0.1) & (x <= 1) | (x < -1), y, torch.sign(x))
    return torch.max(torch.max(y, z), -y)


def sums(x):
    return (x.amin(1) + x.norm(dim=1) + x.abs().sum(1) +
            torch.logsumexp(x, 1) + x[:, :2].prod(1))


def parts(x):
    x = torch.cat([x[:, 1:9:2, 1:-1], x[:, 1:, 2:].flip(2)], 1)
    return nn.functional.pad(x, (1, 0, 2, 3), value=0.5).repeat(2, 1, 1, 2)


def seldom():
    """Operators that are others put together, and those that are computed
    plainly: name, network, the first opset that has them."""
    band = nn.LocalResponseNorm(5, 0.3, 0.75, 2.0)
    yield "twice", Apply(resize(scale_factor=2.0), nn.Conv2d(12, 4, 3)), 9
    yield "picked", Apply(resize(size=(13, 20))), 9
    yield "linear", Apply(resize(scale_factor=2.0, mode="bilinear")), 11
    yield "corners", Apply(resize(size=(17, 5), mode="bilinear",
                                  align_corners=True)), 11
    yield "cubic", Apply(resize(size=(17, 31), mode="bicubic")), 11
    yield "back", nn.Sequential(
        nn.ConvTranspose2d(12, 8, 3, 2, 1, output_padding=1),
        nn.BatchNorm2d(8), nn.ReLU(), nn.ConvTranspose2d(8, 6, 2, 2)), 9
    yield "back_groups", nn.ConvTranspose2d(
        12, 8, (4, 3), (1, 3), (1, 0), groups=4, dilation=(2, 1)), 9
    yield "back_cropped", nn.ConvTranspose2d(12, 8, 3, 2, 4), 9
    yield "norms", nn.Sequential(
        nn.Conv2d(12, 12, 3), nn.InstanceNorm2d(12, affine=True), nn.GroupNorm(4, 12),
        nn.PReLU(12), nn.PReLU(), nn.LogSoftmax(1)), 9
    yield "band", Apply(torch.abs, (band, "LRN", dict(
        size_i=5, alpha_f=0.3, beta_f=0.75, bias_f=2.0))), 9
    yield "sum", Apply((lambda x: 3 * x, "Sum", dict(times=3)),
                       (lambda x: x, "Mean", dict(times=3)),
                       (lambda x: x, "Max", dict(times=1))), 9
    yield "celu", Apply((nn.CELU(0.7), "Celu", dict(alpha_f=0.7))), 12
    yield "shuffled", Apply(nn.PixelShuffle(2), nn.ReLU()), 9
    yield "squares", Apply((squares, "DepthToSpace", dict(blocksize_i=2))), 9
    yield "elements", Apply(elements), 9
    yield "sums", Apply(sums), 9
    yield "first", Apply(lambda x: x.argmax(1)), 9
    yield "parts", Apply(parts), 10
    yield "mirrored", nn.Sequential(nn.ReflectionPad2d(2),
                                    nn.ReplicationPad2d((1, 2, 3, 0)),
                                    nn.Conv2d(12, 4, 3)), 9


def write(name, net, x, opset, **how):
    net.eval()
    for m in net.modules():
        if isinstance(m, nn.BatchNorm2d):
            m.running_mean.uniform_(-1, 1)
            m.running_var.uniform_(0.5, 2)
    torch.onnx.export(net, x, name + ".onnx", opset_version=opset, **how)
    y = net(x).detach().numpy()
    numpy.save(name + "_x.npy", x.numpy())
    numpy.save(name + "_y.npy", y)


for opset in 9, 11, 13:
    write("images%d" % opset, Images(), torch.randn(1, 3, 37, 41), opset)
    write("words%d" % opset, Words(), torch.randn(1, 11, 24), opset)
write("words2", Words(), torch.randn(2, 5, 24), 13)
write("pruned", Pruned(), torch.randn(1, 3, 61, 57), 13)
write("rounded", Rounded(), torch.randn(2, 3, 5), 13)
for name, net, opset in seldom():
    write(name, net, torch.randn(2, 12, 9, 11), opset)
    write(name + "_13", net, torch.randn(1, 12, 8, 6), 13)
write("line", nn.Sequential(nn.Conv1d(12, 16, 5, 2, 1), nn.BatchNorm1d(16),
                            nn.ReLU(), nn.MaxPool1d(3, 2), nn.AvgPool1d(2)),
      torch.randn(2, 12, 57), 11)
open_sizes = nn.Sequential(nn.Conv2d(12, 5, 3), nn.ReLU())
write("open", open_sizes, torch.randn(3, 12, 7, 9), 13, input_names=["x"],
      dynamic_axes={"x": {0: "batch", 2: "height", 3: "width"}})
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

# Written again, they are valid by the rules of ONNX itself.
if "$python" -c 'import onnx' 2>/dev/null; then
    cat >valid.py <<'END'
import sys
import onnx

for name in sys.argv[1:]:
    onnx.checker.check_model(name, full_check=True)
END
    mkdir back
    for x in *_x.npy; do
        name=${x%_x.npy}
        [ "$name" = open ] && continue # asks for --dim
        expect 0 "$SPRY" net export "$name.onnx" --out "back/$name.onnx"
    done
    "$python" valid.py back/*.onnx || fail "invalid ONNX is written"
fi

# Where nine of ten weights are 0, only the tenth is multiplied.
expect 0 "$SPRY" net explain pruned.onnx --untuned --runs 1 --json
grep -q '"computed": *"sparse"' out || fail "no pruned layer is sparse"
expect 0 "$SPRY" net inspect pruned.onnx
grep -q '90[.]0 %' out || fail "zeros are not shown"

# Sizes that the file leaves open are the array's, or said.
refuse 3 'takes 5x12x5x5' "$SPRY" net run open.onnx --input open_x.npy --dim 5
expect 0 "$SPRY" net inspect open.onnx --dim 2x12x20x30
has '2 x 12 x 20 x 30' out
expect 0 "$SPRY" net explain open.onnx --untuned --runs 1 --input open_x.npy
