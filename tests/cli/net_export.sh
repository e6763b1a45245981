#!/bin/sh
# An operator graph as C: nothing of spry beside it, no warnings, the same
# numbers, no names that others could have.
# shellcheck source=/dev/null
. "$TOOLS"
net=net:mobilenetv3,size=75
expect 0 "$SPRY" net export $net --out dir --name mine --untuned
has 'dir/mine.c$' out
for file in mine.c mine.h mine.bin example.c CMakeLists.txt kernels/tile.c; do
    [ -f dir/$file ] || fail "no $file"
done
grep -rq '#include "[a-z]*/[a-z]*/' dir && fail "it includes what is not there"
expect 0 "$SPRY" net export $net --out dir --name mine --untuned --json
document spry.net.graph.export/1
holds "len(d['files']) == 3"
expect 0 "$SPRY" net export $net --out copy.onnx
expect 0 "$SPRY" net inspect copy.onnx
refuse 2 '9 lives' "$SPRY" net export $net --out dir --name '9 lives'
refuse 7 'copy.onnx/deep' "$SPRY" net export $net --out copy.onnx/deep

python3 - <<'END'
import struct
data = struct.pack('<16875f', *((i * 7919 % 1000) / 500 - 1 for i in range(16875)))
head = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3, 75, 75), }"
head += ' ' * (63 - (len(head) + 10) % 64) + '\n'
open('x.npy', 'wb').write(b'\x93NUMPY\1\0' + struct.pack('<H', len(head)) +
                          head.encode() + data)
END
expect 0 "$SPRY" net run $net --input x.npy --out y.npy --untuned --runs 1

command -v cc >/dev/null || skip "there is no C compiler"
flags=$(sed -n 's/.*-Wno-psabi\([^"]*\)")$/\1/p' dir/CMakeLists.txt | head -1 |
    tr ';' ' ')
strict="-std=c11 -Wall -Wextra -Wpedantic -Werror -Wno-psabi"
if command -v clang >/dev/null && [ -z "${SPRY_EMULATOR-}" ]; then
    # shellcheck disable=SC2086
    expect 0 clang $strict $flags -fsyntax-only dir/mine.c dir/kernels/*.c \
        dir/example.c
fi
# shellcheck disable=SC2086
expect 0 cc $strict -O1 -ffp-contract=fast $flags -fopenmp -fPIC -c \
    dir/mine.c dir/kernels/*.c
expect 0 cc -fopenmp -Idir dir/example.c ./*.o -lm -o mine
# shellcheck disable=SC2086
expect 0 ${SPRY_EMULATOR-} ./mine dir/mine.bin x.npy
has '^output 0:' out
python3 - <<'END' || fail "it computes something else"
import struct
y = open('y.npy', 'rb').read()
y = y[10 + struct.unpack('<H', y[8:10])[0]:]
z = open('output0.raw', 'rb').read()
y, z = (struct.unpack('<%df' % (len(b) // 4), b) for b in (y, z))
assert len(y) == len(z) == 1000
assert max(abs(a - b) for a, b in zip(y, z)) <= 1e-5 * max(map(abs, y))
END

# Weights of another export, cut ones, none: no model.
cp dir/mine.bin cut.bin && printf x >>cut.bin
# shellcheck disable=SC2086
expect 1 ${SPRY_EMULATOR-} ./mine cut.bin
# shellcheck disable=SC2086
expect 1 ${SPRY_EMULATOR-} ./mine x.npy
# shellcheck disable=SC2086
expect 1 ${SPRY_EMULATOR-} ./mine nowhere

# Names begin with its own; a shared library shows what the header has.
command -v nm >/dev/null || exit 0
nm --defined-only ./*.o | grep ' [A-Z] ' | grep -v ' mine_' && fail "whose?"
expect 0 cc -shared -fopenmp ./*.o -lm -o mine.so
nm -D --defined-only mine.so | sed 's/.* //' | sort >names
printf '%s\n' mine_free mine_from mine_load mine_run | cmp -s - names ||
    fail "it shows $(cat names)"
exit 0
