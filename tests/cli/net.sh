#!/bin/sh
# Networks: made, shown, ordered, run; every way gives the same answer.
# shellcheck source=/dev/null
. "$TOOLS"
expect 0 "$SPRY" net --help
has '^usage: spry net' out
for action in generate inspect compile order simulate tune run export; do
    expect 0 "$SPRY" net "$action" --help
    has "^usage: spry net $action" out
done

expect 0 "$SPRY" net generate --list
kinds=$(sed -n 's/^\([a-z][a-z0-9]*\) .*/\1/p' out)
[ "$(echo "$kinds" | wc -l)" -ge 6 ] || fail "only: $kinds"
expect 0 "$SPRY" net generate --list --json
document spry.net.generators/1
expect 0 "$SPRY" net order --list
has '^blocked' out

# The official network: its counters, known from others' programs.
expect 0 "$SPRY" net inspect gen:radix --counters --json
document spry.net.inspect/1
holds "d['edges'] == 3932160 and d['layers'] == 120 and d['chained']"
holds "[d[k] for k in ('buffers', 'map', 'warpnz', 'weightsizemax')] \
    == [960, 491520, 163152, 50176]"

# A file is the network it was made from.
expect 0 "$SPRY" net generate gen:random width=64 depth=3 density=0.2 \
    bias=-0.1 --seed 5 --out a.spnet
expect 0 "$SPRY" net inspect a.spnet --json
key=$(get "d['key']")
expect 0 "$SPRY" net inspect gen:random,width=64,depth=3,density=0.2,bias=-0.1 \
    --seed 5 --json
[ "$(get "d['key']")" = "$key" ] || fail "another network came back"
expect 0 "$SPRY" net inspect a.spnet --layers
has '^ *3 ' out

# Every mode and order agrees with the reference.
expect 0 "$SPRY" net run a.spnet --batch 40 --mode reference --out right.npy
for how in "--mode auto" "--mode edge" "--mode edge --order source" \
    "--mode layers" "--mode edge --passes merge,dead" "--passes none" \
    "--isa portable" "--way rows --isa portable" \
    "--mode edge --order blocked --block 8" "--mode edge --order clustered" \
    "--mode edge --order ego --window 9" "--mode edge --order go" \
    "--mode edge --order anneal --memory 16 --seconds 0.2" \
    "--stream"; do
    # shellcheck disable=SC2086
    expect 0 "$SPRY" net run a.spnet --batch 40 $how --out got.npy
    python3 - <<'END' || fail "$how differs"
import struct
def read(path):
    data = open(path, 'rb').read()
    head = struct.unpack('<H', data[8:10])[0] + 10
    return struct.unpack('<%df' % ((len(data) - head) // 4), data[head:])
a, b = read('right.npy'), read('got.npy')
assert len(a) == len(b) == 40 * 64
assert all(abs(x - y) <= 1e-4 * (1 + abs(x)) for x, y in zip(a, b))
END
done

# Outputs are inputs again; categories count from 1 and can be insisted on.
expect 0 "$SPRY" net run a.spnet --input right.npy --json
document spry.net.run/1
holds "d['inputs'] == 40 and d['nominal_edges'] == d['edges'] * 40"
get "'\n'.join(map(str, d['categories']))" >categories
expect 0 "$SPRY" net run a.spnet --input right.npy --expect categories
cmp -s out categories || fail "categories differ"
echo 41 >>categories
expect 4 "$SPRY" net run a.spnet --input right.npy --expect categories
echo one >words
expect 3 "$SPRY" net run a.spnet --input right.npy --expect words
has 'words:1: ' err

# Official layers as files, run one at a time.
expect 0 "$SPRY" net generate radix depth=4 --out neuron1024
refuse 2 'another network' "$SPRY" net generate radix depth=2 --out neuron1024
expect 0 "$SPRY" net generate radix depth=4 --out neuron1024
refuse 2 'needs .spnet' "$SPRY" net generate random width=16 depth=2 \
    --out other
[ ! -e other ] || fail "a folder without layers is left"
expect 0 "$SPRY" net run neuron1024 --stream --batch 20
cp out streamed
expect 0 "$SPRY" net run gen:radix,depth=4 --batch 20 --mode reference
cmp -s out streamed || fail "streamed categories differ"
printf '1\t1\t1\n2\t3\t1\n' >images.tsv
expect 0 "$SPRY" net run gen:radix,depth=1 --input images.tsv
expect 0 "$SPRY" net run gen:radix,width=4096,depth=1 --input images.tsv \
    --enlarge
expect 0 "$SPRY" net order gen:skip,width=8,depth=2,degree=2 --order source \
    --out -
[ "$(wc -l <out)" = 32 ] || fail "32 edges, not $(wc -l <out)"

# Made smaller, the same comes out; every pass can be switched off.
expect 0 "$SPRY" net compile --list
has '^merge' out
expect 0 "$SPRY" net compile gen:radix --json
document spry.net.compile/1
holds "d['nominal_edges'] == 3932160 and d['executed_edges'] < 120000"
holds "d['executed_edges'] == d['nominal_edges'] \
    - sum(p['edges_removed'] for p in d['passes'])"
holds "d['zero_rests_from'] == 1 and d['full_rests_from'] < 3"
expect 0 "$SPRY" net compile gen:radix,depth=4 --out small.spnet
has 'nominal 131 072, executed' out
expect 0 "$SPRY" net run small.spnet --batch 20 --mode reference
cmp -s out streamed || fail "the smaller network has other categories"
expect 0 "$SPRY" net compile gen:skip --passes none --json
holds "d['executed_edges'] == d['nominal_edges'] == 32768"
expect 0 "$SPRY" net compile gen:skip --passes merge,dead
has '^merge' out
refuse 2 'magic' "$SPRY" net compile gen:skip --passes merge,magic
refuse 2 'needs' "$SPRY" net compile

# Any way to run; the fastest is found, remembered and used.
for way in "plain" "rows tile=16 threads=1" "passes=all gather threads=1" \
    "passes=all rows"; do
    expect 0 "$SPRY" net run gen:radix,depth=4 --batch 20 --way "$way"
    cmp -s out streamed || fail "$way gives other categories"
done
expect 0 "$SPRY" net tune gen:radix,depth=4 --batch 20 --json
document spry.tune/1
holds "d['measured'] and not d['looked_up'] and len(d['trials']) > 0"
holds "all(t['verdict'] in ('ok', 'doubtful') for t in d['trials'])"
holds "not d['changed'] or d['best']['speedup_low'] > 1.02"
holds "d['problem']['op'] == 'network' and d['verified']"
way=$(get "d['best']['schedule']")
expect 0 "$SPRY" net tune gen:radix,depth=4 --batch 20 --json
holds "d['looked_up'] and d['best']['schedule'] == '$way'"
expect 0 "$SPRY" net run gen:radix,depth=4 --batch 20 --json
holds "d['way'] == '$way' and d['nominal_edges'] == 20 * 131072"
# What is frozen runs the same way, and nothing else does.
expect 0 "$SPRY" freeze --out net.lock
for action in run tune explain; do
    expect 0 "$SPRY" net $action gen:radix,depth=4 --batch 20 --json \
        --store :memory: --lock net.lock
    has "$way" out
    refuse 8 'has no answer' "$SPRY" net $action gen:radix,depth=4 \
        --batch 21 --store :memory: --lock net.lock
done
expect 0 "$SPRY" net tune gen:radix,depth=4 --batch 7 --effort predict
has 'nothing was measured' out
expect 0 "$SPRY" net tune a.spnet --batch 3 --input right.npy \
    --passes none --store :memory: --threads 1
has '^verified ' out
expect 0 "$SPRY" records list
has 'network of 4 layers' out
: >none.spnet
refuse 3 'none.spnet: is no network of spry' "$SPRY" net run none.spnet
refuse 2 'sorcery' "$SPRY" net run a.spnet --way "sorcery tile=8"
refuse 2 'auto' "$SPRY" net run a.spnet --way plain --mode layers
# Options that others leave nothing to say.
refuse 2 'names its passes itself' "$SPRY" net run a.spnet --way rows \
    --passes all
refuse 2 'layer by layer' "$SPRY" net run a.spnet --stream --mode edge
refuse 2 'without --passes' "$SPRY" net run a.spnet --stream --passes all
refuse 2 'goes with mode auto' "$SPRY" net run a.spnet --way rows \
    --lock net.lock
for option in "--activation tanh" "--activation relu" "--limit 6" "--bias 0" \
    --rows-are-outputs --seeded-weights; do
    # shellcheck disable=SC2086
    refuse 2 'net generate --list' "$SPRY" net run gen:random,width=16 $option
    # shellcheck disable=SC2086
    refuse 2 'a.spnet has its own' "$SPRY" net inspect a.spnet $option
done
refuse 2 'another activation' "$SPRY" net run neuron1024 --activation tanh
refuse 2 'bias of -0.3' "$SPRY" net run neuron1024 --bias 1
expect 0 "$SPRY" net run neuron1024 --activation clamp --batch 20
cmp -s out streamed || fail "its own activation changes the categories"
for batch in 0 0.5 1e15; do
    refuse 2 'batch takes a whole number' "$SPRY" net run a.spnet --batch $batch
    refuse 2 'batch takes a whole number' "$SPRY" net tune a.spnet --batch $batch
done
# Ways on more threads than --threads allows, or than can be started.
for action in "run --way" "explain --way" "bench --ways" "verify --ways" \
    "predict --ways"; do
    # shellcheck disable=SC2086
    refuse 2 'on 2 threads, more than --threads 1 allows' "$SPRY" net \
        ${action% *} a.spnet --threads 1 ${action#* } "passes=all rows threads=2"
done
refuse 2 'threads asked for' "$SPRY" net run a.spnet --mode layers \
    --threads 4000
refuse 2 'so many threads' "$SPRY" net run a.spnet --way "rows threads=4096"
refuse 2 'magic' "$SPRY" net tune a.spnet --passes magic

# Ways raced against each other.
expect 0 "$SPRY" net bench gen:radix,depth=3 --batch 9 --budget 0.3 --json
document spry.net.bench/1
holds "all(r['seconds'] > 0 for r in d['results'])"
holds "len({r['way'].split()[0] for r in d['results']}) > 3"
expect 0 "$SPRY" net bench a.spnet --budget 0.2 --batch 3 --input right.npy \
    --ways "edges order=ego; rows tile=8"
has '^rows tile=8' out
refuse 2 'sorcery' "$SPRY" net bench a.spnet --ways "rows; sorcery"
expect 0 "$SPRY" net bench a.spnet --budget 0.2 \
    --ways "passes=all rows; passes=merge rows"
expect 0 "$SPRY" net verify gen:radix,depth=3 --batch 200 --json
document spry.net.verify/1
holds "len(d['results']) > 8 and all(r['right'] for r in d['results'])"
refuse 2 'sorcery' "$SPRY" net verify a.spnet --ways sorcery
expect 0 "$SPRY" net predict gen:radix,depth=3 --batch 64 --json
document spry.predict/1
holds "len(d['predictions']) > 4 and d['model'] == 'analytic'"
holds "all(p['seconds'] > 0 for p in d['predictions'])"
expect 0 "$SPRY" net explain gen:radix,depth=4 --batch 20 --json
document spry.net.explain/1
holds "d['winner']['schedule'] == '$way' and d['winner']['seconds'] > 0"
holds "d['executed_edges'] <= d['edges'] and d['baseline']['bound']"
expect 0 "$SPRY" net explain a.spnet --batch 64 --way "rows tile=16"
has '^rows tile=16 .*bound by' out
has 'many inputs side by side' out
refuse 2 'sorcery' "$SPRY" net explain a.spnet --way sorcery
refuse 2 'exhaustive' "$SPRY" net tune a.spnet --search graph --store :memory:

# As C that stands alone.
expect 0 "$SPRY" net export gen:radix,depth=4 --out exported --name digits
has 'digits.c$' out
grep -q '#include "spry' exported/digits.c && fail "it needs spry"
refuse 2 'identifier' "$SPRY" net export a.spnet --name '9 lives'
expect 0 "$SPRY" net export a.spnet --name mine --passes none --json
document spry.net.export/1
holds "d['executed_edges'] == d['nominal_edges'] and len(d['files']) == 2"

# Edges that skip layers: compiled and exported from a file, too.
expect 0 "$SPRY" net generate skip width=64 depth=3 degree=3 --out skip.spnet
expect 0 "$SPRY" net compile skip.spnet --out skip2.spnet --json
holds "d['nominal_edges'] == 576 and d['executed_is_upper_bound']"
expect 0 "$SPRY" net export skip.spnet --name skipping --json
holds "d['nominal_edges'] == 576"
expect 0 "$SPRY" net run skip.spnet --batch 9 --mode reference
cp out whole
expect 0 "$SPRY" net run skip2.spnet --batch 9 --mode reference
cmp -s out whole || fail "skip edges compile to another network"

# NaN goes where its edges lead; biases lie beside their layers.
mkdir layers
python3 - <<'END'
import struct
def save(path, shape, values, kind='f'):
    head = "{'descr': '<%s', 'fortran_order': False, 'shape': %s, }" \
        % ({'f': 'f4', 'd': 'f8'}[kind], shape)
    head = head.ljust(117) + '\n'
    with open(path, 'wb') as f:
        f.write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)))
        f.write(head.encode() + struct.pack('<%d%s' % (len(values), kind),
                                            *values))
save('nan.npy', (2, 2), [float('nan'), 2, 3, 4])
save('layers/fc1.bias.npy', (3,), [0.5, -9, 1], 'd')
save('layers/fc2.bias.npy', (2,), [10, 20])
open('layers/fc1.weight.mtx', 'w').write(
    '%%MatrixMarket matrix coordinate real general\n'
    '2 3 4\n1 1 1\n2 2 1\n1 3 -1\n2 3 1\n')
open('layers/fc2.weight.mtx', 'w').write(
    '%%MatrixMarket matrix coordinate real general\n'
    '3 2 3\n1 1 1\n2 2 1\n2 1 1\n')
END
for how in "--mode auto" "--mode edge" "--mode layers" "--mode reference" \
    "--way plain" "--way gather" "--way rows" "--stream"; do
    # shellcheck disable=SC2086
    expect 0 "$SPRY" net run layers --input nan.npy $how --out got.npy
    # Input 1: (NaN, relu(2 - 9), NaN), then (NaN + 10, 20); 2: (3.5, 0, 2).
    python3 - <<'END' || fail "$how: NaN or a bias is lost"
import math, struct
y = struct.unpack('<4f', open('got.npy', 'rb').read()[-16:])
assert math.isnan(y[0]) and y[1:] == (20, 13.5, 20), y
END
done
expect 0 "$SPRY" net run layers --input nan.npy
has '^1$' out
has 'not finite' err
refuse 2 'biases of its own' "$SPRY" net inspect layers --bias 1
cp nan.npy layers/fc2.bias.npy
refuse 3 'fc2.bias.npy: is not 2 numbers' "$SPRY" net inspect layers
echo junk >layers/fc2.bias.npy
refuse 3 'fc2.bias.npy: is no NumPy array' "$SPRY" net inspect layers
rm layers/fc2.bias.npy
refuse 3 '2 layers but biases (fc1.bias.npy...) of 1' "$SPRY" net inspect layers

# Simulated I/O: bounds, and counts that another program found.
expect 0 "$SPRY" net simulate gen:radix,depth=16 --memory 32,512 --json
document spry.net.simulate/1
holds "[r['memory'] for r in d['runs']] == [32, 512]"
holds "[round(r['reads'] / 1000) for r in d['runs']] == [530, 337]"
holds "d['runs'][0]['least_reads'] == 17408"
holds "d['runs'][0]['least_writes'] == 1024"
expect 0 "$SPRY" net simulate a.spnet --order source,ego --policy min --line 4
has '^ego ' out
expect 0 "$SPRY" net simulate a.spnet --order all --moves 100 --policy rr
has '^blocked ' out
refuse 2 'memory' "$SPRY" net simulate a.spnet --memory 32,
refuse 2 'memory' "$SPRY" net simulate a.spnet --memory 2
refuse 2 'two lines' "$SPRY" net simulate a.spnet --memory 8 --line 5
refuse 2 'sorcery' "$SPRY" net simulate a.spnet --order sorcery

# The same seed and moves, the same order; annealing lowers the I/O.
for name in one two; do
    expect 0 "$SPRY" net order a.spnet --order anneal --moves 3000 --seed 4 \
        --memory 16 --out $name.tsv
done
cmp -s one.tsv two.tsv || fail "the same seed makes another order"
expect 0 "$SPRY" net simulate a.spnet --order blocked,anneal --memory 16 \
    --moves 3000 --json
holds "sum(d['runs'][1][k] for k in ('reads', 'writes')) \
    < sum(d['runs'][0][k] for k in ('reads', 'writes'))"

# What is wrong is named, with file and line.
printf '1\t1\t1\n1\t2000\t1\n' >neuron1024/n1024-l2.tsv
refuse 3 'n1024-l2.tsv:2: ' "$SPRY" net inspect neuron1024
refuse 3 'n1024-l2.tsv:2: ' "$SPRY" net run neuron1024 --stream
refuse 3 'n1024-l2.tsv:2: ' "$SPRY" net compile neuron1024
rm neuron1024/n1024-l2.tsv
refuse 3 'n1024-l2.tsv: is missing' "$SPRY" net inspect neuron1024
printf '0 1 1\n1 2 1\n2 1 1\n' >loop.txt
refuse 3 'loop.txt:[23]: .*cycle' "$SPRY" net inspect loop.txt
printf '0 1 1\n1 2 nan\n' >nan.txt
refuse 3 'nan.txt:2: ' "$SPRY" net inspect nan.txt
head -c 200 a.spnet >cut.spnet
refuse 3 'cut.spnet' "$SPRY" net inspect cut.spnet
refuse 3 'nowhere' "$SPRY" net inspect nowhere
refuse 2 'skip' "$SPRY" net run gen:skip --stream
refuse 2 'radiks' "$SPRY" net inspect gen:radiks
refuse 2 "is it 'run'" "$SPRY" net rum
refuse 2 'needs' "$SPRY" net run
refuse 2 'sorcery' "$SPRY" net order gen:skip --order sorcery
refuse 2 'bias' "$SPRY" net inspect gen:skip --bias x
exit 0
