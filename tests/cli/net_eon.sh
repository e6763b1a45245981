#!/bin/sh
# Orders that are learned: trained, kept, used, refused.
# shellcheck source=/dev/null
. "$TOOLS"
net=gen:random,width=24,depth=2,density=0.3

expect 0 "$SPRY" net train-order --help
has '^usage: spry net train-order' out

# Moves: learned on two networks and memories, better than at the beginning.
expect 0 "$SPRY" net train-order $net gen:skip,width=12,depth=3,degree=4 \
    --memory 6,12 --episodes 2000 --out moves.nn --json
document spry.net.train-order/1
holds "d['networks'] == 2 and d['memories'] == 2 and d['form'] == 'moves'"
holds "d['curve'][0]['episodes'] == 0 and d['curve'][-1]['episodes'] >= 2000"
holds "d['curve'][-1]['best'] < d['curve'][0]['share']"
points=$(get "len(d['curve'])")
[ "$(wc -l <moves.nn.tsv)" = $((points + 1)) ] || fail "the curve is not whole"
expect 0 "$SPRY" net order $net --order eon --model moves.nn --memory 6 \
    --out edges.tsv
has 'eon: .*valid' err
refuse 7 'nodir/x.nn: cannot be written' "$SPRY" net train-order $net \
    --memory 6 --seconds 1h --out nodir/x.nn
expect 0 "$SPRY" net simulate $net --order blocked,eon --memory 6,12 \
    --model moves.nn --json
holds "sum(r['reads'] + r['writes'] for r in d['runs'] if r['order'] == 'eon') \
    < sum(r['reads'] + r['writes'] for r in d['runs'] if r['order'] != 'eon')"

# Attention, with both embeddings; the same seed learns the same.
small=gen:random,width=6,depth=2,density=0.5
for embedding in laplacian sage; do
    for name in one two; do
        expect 0 "$SPRY" net train-order $small --form attention --memory 5 \
            --embedding $embedding --episodes 8 --seed 3 --out $name.nn --json
    done
    holds "d['embedding'] == '$embedding' and len(d['curve']) == 3"
    cmp -s one.nn two.nn || fail "the same seed learns something else"
    expect 0 "$SPRY" net order $small --order eon --model one.nn --memory 5
done
SPRY_ARPACK=none expect 0 "$SPRY" net train-order $small --form attention \
    --memory 5 --episodes 4 --out own.nn
has 'ARPACK .* not there' err

# The shipped model orders what it has not seen, and says when it is missing.
expect 0 "$SPRY" net order gen:smallworld,width=128,degree=8 --order eon
has 'eon: .*valid' err
SPRY_MODELS=$PWD/nothing refuse 3 'eon.nn' "$SPRY" net order $net --order eon

# Ctrl-C keeps the best so far.
: >err
"$SPRY" net train-order $net --seconds 900 --out stopped.nn \
    --progress plain 2>err &
pid=$!
wait_for grep orders err
kill -s INT $pid
wait $pid
got=$?
[ $got = 130 ] || fail "exit $got after a signal: $(cat err)"
expect 0 "$SPRY" net order $net --order eon --model stopped.nn

# What is wrong is said.
head -c 500 moves.nn >cut.nn
refuse 3 'cut.nn' "$SPRY" net order $net --order eon --model cut.nn
refuse 3 'nowhere.nn' "$SPRY" net order $net --order eon --model nowhere.nn
refuse 3 'cut.nn' "$SPRY" net train-order $net --from cut.nn
refuse 2 'attention' "$SPRY" net train-order $net --from one.nn
refuse 2 'memory' "$SPRY" net train-order $net --memory 2
SPRY_ARPACK=none refuse 2 '65536' "$SPRY" net train-order gen:random \
    --form attention
refuse 2 'without edges' "$SPRY" net train-order \
    gen:random,width=4,depth=1,density=0
refuse 2 'needs NETWORK' "$SPRY" net train-order
exit 0
