#!/bin/sh
# Operator graphs: options are honoured or refused, never ignored.
# shellcheck source=/dev/null
. "$TOOLS"
net=net:mobilenetv3,size=75
for count in 0 0.5 1e15; do
    refuse 2 'runs takes a whole number' "$SPRY" net run $net --runs $count
    refuse 2 'runs takes a whole number' "$SPRY" net explain $net --runs $count
    refuse 2 'dim takes a whole number' "$SPRY" net inspect $net --dim $count
done
refuse 2 'without --runs' "$SPRY" net run $net --reference --runs 3
for option in "--reference" "--out y.npy"; do
    # shellcheck disable=SC2086
    refuse 2 'no option' "$SPRY" net explain $net $option
done
for action in run explain tune export; do
    refuse 2 'threads asked for' "$SPRY" net $action $net --threads 4000
    refuse 2 'mmx' "$SPRY" net $action $net --isa mmx
done

# Another instruction set computes the same in another way.
expect 0 "$SPRY" probe --write card.json
if grep -q '"isa": *"avx' card.json; then
    expect 0 "$SPRY" net run $net --untuned --runs 1 --out usual.npy
    expect 0 "$SPRY" net run $net --untuned --runs 1 --out short.npy --isa sse2
    python3 - <<'END' || fail "--isa is ignored, or changes the results"
import struct
def read(path):
    data = open(path, 'rb').read()
    head = struct.unpack('<H', data[8:10])[0] + 10
    return struct.unpack('<%df' % ((len(data) - head) // 4), data[head:])
a, b = read('usual.npy'), read('short.npy')
assert len(a) == len(b) == 1000 and a != b
assert max(abs(x - y) for x, y in zip(a, b)) <= 1e-4 * max(map(abs, a))
END
fi

# What is for another machine can be exported, and is not run.
if grep -q '"isa": *"avx2"' card.json; then
    sed 's/"isa": *"avx2"/"isa": "avx512"/' card.json >wide.json
    refuse 2 'avx512 cannot run on this machine' \
        "$SPRY" net run $net --untuned --runs 1 --machine wide.json
    expect 0 "$SPRY" net export $net --untuned --machine wide.json --out wide
    has 'for avx512' wide/kernels/tile.c
fi

# Whole inputs keep all of their digits; what no whole number can be is refused.
printf '\010\007B\004\012\000\020\015:4\012\020\012\001x\022\001y"\010IdentityZ\017\012\001x\022\012\012\010\010\007\022\004\012\002\010\002b\017\012\001y\022\012\012\010\010\007\022\004\012\002\010\002' \
    >whole.onnx
npy '<i8' '(2,)' 1.1 -7.3 >digits.npy # their bits, as whole numbers
expect 0 "$SPRY" net run whole.onnx --runs 1 --input digits.npy --out same.npy
[ "$(tail -c 16 digits.npy | od -tx1)" = "$(tail -c 16 same.npy | od -tx1)" ] ||
    fail "whole numbers lost digits"
for number in 1e300 nan -inf 9223372036854775808; do
    npy '<f8' '(2,)' 1 $number >none.npy
    refuse 3 'number 2' "$SPRY" net run whole.onnx --runs 1 --input none.npy
done

# A run that is stopped says what it has.
: >err
"$SPRY" net run $net --untuned --runs 1e9 --json --progress plain >out 2>err &
pid=$!
wait_for grep running err
kill -s INT $pid
wait $pid
got=$?
[ $got = 130 ] || fail "exit $got after a signal: $(cat err)"
document spry.net.graph.run/1
holds "0 < d['seconds'] < 60"
exit 0
