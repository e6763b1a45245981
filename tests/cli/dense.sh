#!/bin/sh
# Dense operators take the place of a matrix: op:KIND,...
# shellcheck source=/dev/null
. "$TOOLS"
op=op:conv2d,h=10,w=10,c=16,k=24,r=3,pad=1,bias=1,act=relu
expect 0 "$SPRY" tune $op --json
document spry.tune/1
holds "d['verified'] and d['problem']['key'].startswith('conv2d')"
holds "d['baseline']['schedule'].startswith('plain')"
holds "d['trials'] and not d['looked_up']"
best=$(get "d['best']['schedule']")
expect 0 "$SPRY" tune $op --json
holds "d['looked_up']"
[ "$(get "d['best']['schedule']")" = "$best" ] || fail "another answer"
expect 0 "$SPRY" tune $op --effort predict --store :memory:
has conv2d out

expect 0 "$SPRY" predict $op --json
document spry.predict/1
holds "len(d['predictions']) > 3"
expect 0 "$SPRY" predict $op --schedule "plain; direct tile=2x2"
has "direct tile=2x2" out
expect 0 "$SPRY" verify $op --json
document spry.verify/1
holds "d['right'] > 3 and d['wrong'] == 0"
expect 0 "$SPRY" explain $op --json
document spry.explain/1
holds "d['winner_seconds'] > 0"
expect 0 "$SPRY" bench $op --schedules "direct tile=4x1" --budget 300ms
has "direct tile=4x1" out
expect 0 "$SPRY" run $op --schedule "direct tile=4x1" --out y.npy
[ -s y.npy ] || fail "no result"

for bad in op: op:conv op:conv2d,h=0 op:conv2d,r=9 op:conv2d,h=1e12 op:pool,x=1
do
    expect 2 "$SPRY" tune $bad
done
expect 2 "$SPRY" run $op --schedule "direct tile=99x9"
expect 2 "$SPRY" run $op --schedule "csr tile=4"
# Ways on more threads than --threads allows, as schedules of a matrix.
for action in "run --schedule" "explain --schedule" "verify --schedule" \
    "predict --schedule" "bench --schedules"; do
    # shellcheck disable=SC2086
    refuse 2 'on 2 threads, more than --threads 1 allows' "$SPRY" \
        ${action% *} $op --threads 1 ${action#* } "plain threads=2"
done
refuse 2 'fewer threads' "$SPRY" run $op --schedule "plain threads=4096"
ways=$(printf 'plain;%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 \
    21 22 23 24 25)
refuse 2 'at most 24 ways' "$SPRY" predict $op --schedule "$ways"
exit 0
