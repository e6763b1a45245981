#!/bin/sh
# predict, explain and bench: what they say about schedules hangs together.
# shellcheck source=/dev/null
. "$TOOLS"
m=gen:banded,rows=3000,band=20
expect 0 "$SPRY" predict $m --cols 16 --json
document spry.predict/1
holds "len(d['predictions']) > 5"
holds "d['model']"
holds "sorted(p['seconds'] for p in d['predictions']) == \
    [p['seconds'] for p in d['predictions']]"
holds "all(p['bytes'] > 0 and p['bound'] for p in d['predictions'])"
expect 0 "$SPRY" predict $m --schedule "csr; csr unroll=4"
[ "$(wc -l <out)" = 4 ] || fail "two schedules, title, model: $(cat out)"
# What a matrix cannot be stored as is left out, unless it was asked for.
wide=gen:uniform,rows=300,cols=90000,nnz=5000
expect 0 "$SPRY" predict $wide --json
holds "len(d['predictions']) > 5"
refuse 2 'square' "$SPRY" predict $wide --schedule "csr unroll=4 order=rcm"

expect 0 "$SPRY" explain $m --schedule "csr unroll=4" --json
document spry.explain/1
holds "d['baseline']['bound'] and d['winner']['schedule'] == 'csr unroll=4'"
holds "any('4 entries at a time' in c for c in d['changes'])"
expect 0 "$SPRY" explain $m
has 'bound by' out

expect 0 "$SPRY" bench $m --schedules "csr unroll=4;csr" --pairs 5 \
    --budget 2s --json
document spry.bench/1
holds "d['results'][0]['schedule'] == d['baseline']"
holds "len({r['schedule'] for r in d['results']}) == len(d['results'])"
holds "all(r['speedup_low'] <= r['speedup'] <= r['speedup_high'] \
    for r in d['results'])"
holds "'csr unroll=4' in [r['schedule'] for r in d['results']]"
exit 0
