#!/bin/sh
# A tune says all it must; the next one is a lookup; nothing is overpromised.
# shellcheck source=/dev/null
. "$TOOLS"
m=gen:banded,rows=2000,band=20
expect 0 "$SPRY" tune $m --op spmm --cols 8 --type f32 --json
document spry.tune/1
holds "d['problem']['op'] == 'spmm' and d['problem']['dense_cols'] == 8"
holds "d['problem']['type'] == 'f32' and d['problem']['rows'] == 2000"
holds "d['problem']['key'] and d['machine']['fingerprint']"
holds "d['machine']['threads'] >= 1 and d['machine']['isa']"
holds "d['baseline']['schedule'] and d['baseline']['seconds'] > 0"
holds "d['best']['seconds'] > 0 and d['verified']"
holds "d['best']['speedup_low'] <= d['best']['speedup']"
holds "d['best']['speedup'] <= d['best']['speedup_high']"
holds "d['best']['speedup_low'] > 1.02 if d['changed'] else \
    d['best']['schedule'] == d['baseline']['schedule']"
holds "d['trials'] and not d['looked_up'] and 'break_even_calls' in d"
holds "all(t['schedule'] and t['verdict'] for t in d['trials'])"
best=$(get "d['best']['schedule']")

expect 0 "$SPRY" tune $m --op spmm --cols 8 --type f32 --json
holds "d['looked_up']"
[ "$(get "d['best']['schedule']")" = "$best" ] || fail "another answer"
expect 0 "$SPRY" tune $m --op spmm --cols 8 --type f32 --effort lookup
has "$best" out
expect 0 "$SPRY" tune $m --op spmm --cols 9 --type f32 --effort lookup
has 'no store has an answer' err

expect 0 "$SPRY" tune $m --store :memory: --threads 1 --json
holds "d['machine']['threads'] == 1 and not d['looked_up']"
holds "'threads' not in d['best']['schedule']"

# A guess does not pass for a measurement.
expect 0 "$SPRY" tune gen:uniform,rows=20k --effort predict --json
holds "not d['measured'] and d['verified'] and d['trials'] == []"
expect 0 "$SPRY" tune gen:uniform,rows=20k --effort predict
! grep -q interval out || fail "an interval of nothing: $(cat out)"

# A search by its name.
expect 0 "$SPRY" tune gen:uniform,rows=2000 --search graph \
    --store :memory: --json
holds "d['verified'] and d['trials']"
expect 0 "$SPRY" predict gen:uniform,rows=2000 --search graph --json
holds "len(d['predictions']) > 3"
holds "d['predictions'][0]['seconds'] <= d['predictions'][-1]['seconds']"
expect 2 "$SPRY" predict gen:uniform,rows=2000 --search luck
has "no search 'luck'; there are exhaustive" err
expect 2 "$SPRY" predict gen:uniform,rows=200 --search graph --schedule csr

# An empty matrix leaves nothing to gain, and is computed in no time.
printf '%%%%MatrixMarket matrix coordinate real general\n0 5 0\n' >empty.mtx
expect 0 "$SPRY" tune empty.mtx --budget 1s
has ' to convert; ' out
expect 0 "$SPRY" tune gen:uniform,rows=1,nnz=1 --json
changed=$(get "d['changed']")
"$SPRY" tune gen:uniform,rows=1,nnz=1 --require-speedup >out 2>err
got=$?
[ "$changed" = True ] && [ $got != 0 ] && fail "gain, but exit $got"
[ "$changed" = False ] && [ $got != 5 ] && fail "no gain, but exit $got"
exit 0
