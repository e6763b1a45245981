#!/bin/sh
# The same words and seed make the same file; every kind can be made.
# shellcheck source=/dev/null
. "$TOOLS"
expect 0 "$SPRY" generate --list
kinds=$(sed -n 's/^\([a-z][a-z0-9]*\) .*/\1/p' out)
[ "$(echo "$kinds" | wc -l)" -ge 12 ] || fail "only: $kinds"
expect 0 "$SPRY" generate --list --json
document spry.generators/1
holds "len(d['generators']) >= 12"

for kind in $kinds; do
    expect 0 "$SPRY" generate "$kind" --out "$kind.csr" --json
    document spry.generate/1
    holds "d['nnz'] > 0 and d['rows'] > 0"
done

"$SPRY" generate uniform rows=50 nnz=200 --seed 7 --out a.mtx >out || fail a
"$SPRY" generate gen:uniform,rows=50,nnz=200 --seed=7 --out b.mtx >out || fail b
"$SPRY" generate uniform rows=50 nnz=200 --seed 8 --out c.mtx >out || fail c
cmp -s a.mtx b.mtx || fail "same seed, another matrix"
cmp -s a.mtx c.mtx && fail "another seed, same matrix"

refuse 7 'missing/a.mtx' "$SPRY" generate uniform rows=9 --out missing/a.mtx
refuse 2 'a.xyz' "$SPRY" generate uniform rows=9 --out a.xyz
exit 0
