#!/bin/sh
# Small operator graphs, by hand: outputs keep their shape, empty ones are
# none, an instruction set that is named is used, and a store that cannot be
# written costs no answer.
# shellcheck source=/dev/null
. "$TOOLS"

model() { # FILE DIMENSION...: y = relu(x), z = -x
    python3 - "$@" <<'END'
import sys


def field(number, data):
    return bytes([number << 3 | 2, len(data)]) + data


def info(number, name):
    dims = b"".join(field(1, bytes([8, int(d)])) for d in sys.argv[2:])
    tensor = b"\x08\x01" + field(2, dims)
    return field(number, field(1, name) + field(2, field(1, tensor)))


def node(output, kind):
    return field(1, field(1, b"x") + field(2, output) + field(4, kind))


graph = (node(b"y", b"Relu") + node(b"z", b"Neg") + info(11, b"x") +
         info(12, b"y") + info(12, b"z"))
with open(sys.argv[1], "wb") as f:
    f.write(b"\x08\x07" + field(8, b"\x0a\x00\x10\x0d") + field(7, graph))
END
}

# ---- shapes ----
model four.onnx 1 2 3 1
expect 0 "$SPRY" net run four.onnx --untuned --out y.npy
grep -aq "'shape': (1, 2, 3, 1)" y.npy || fail "another shape: $(head -1 y.npy)"
expect 0 "$SPRY" net run four.onnx --untuned --input y.npy --out z.npy
cmp -s y.npy z.npy || fail "relu of relu is another"
expect 0 "$SPRY" net run four.onnx --untuned --out y.npy,z.npy
expect 0 "$SPRY" net run four.onnx --untuned --input z.npy --out back.npy,x.npy
expect 0 "$SPRY" net run four.onnx --untuned --input x.npy --out same.npy
cmp -s y.npy same.npy || fail "the second output is not the second"
rm same.npy
refuse 2 '3 files, but there are 2 outputs' "$SPRY" net run four.onnx --untuned \
    --out same.npy,z.npy,x.npy
[ ! -e same.npy ] || fail "an output is written before the list is looked at"
refuse 2 '2 files, but there are 1 inputs' "$SPRY" net run four.onnx --untuned \
    --input y.npy,z.npy
model none.onnx 0 5
expect 0 "$SPRY" net run none.onnx --untuned --out y.npy --json
holds "d['largest'] == -1 and d['value'] is None"
grep -aq "'shape': (0, 5)" y.npy || fail "another shape: $(head -1 y.npy)"

# ---- instruction sets ----
refuse 2 'nonsense' "$SPRY" net run four.onnx --isa nonsense
[ -z "${SPRY_EMULATOR:-}" ] || exit 0
if [ "$(uname -m)" = x86_64 ]; then
    expect 0 "$SPRY" net export four.onnx --untuned --isa sse2 --out here
    grep -rq 'for sse2' here/kernels || fail "--isa was not heard"
fi

# ---- no place for a store ----
export SPRY_HOME=/dev/null/nowhere
expect 0 "$SPRY" net tune four.onnx --budget 4s --progress none
has 'nothing is remembered' err
exit 0
