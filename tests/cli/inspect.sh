#!/bin/sh
# Numbers of a matrix that can be counted by hand, and its pictures.
# shellcheck source=/dev/null
. "$TOOLS"
small >small.mtx
"$SPRY" inspect small.mtx || fail inspect
expect 0 "$SPRY" inspect small.mtx --json --spy spy.png
document spry.inspect/1
holds "(d['rows'], d['cols'], d['nnz']) == (3, 4, 4)"
holds "d['empty_rows'] == 1 and d['row_max'] == 2 and d['empty_cols'] == 0"
holds "[f['blocks'] for f in d['fill'] if f['r'] == 4 and f['c'] == 4] == [1]"
[ "$(head -c 4 spy.png | tail -c 3)" = PNG ] || fail "no PNG"
expect 0 "$SPRY" inspect gen:rmat,scale=8 --spy spy.svg
has '<svg' spy.svg
refuse 2 'is a dense operator' "$SPRY" inspect op:matmul,m=4,n=4,k=4
refuse 2 'spy.bmp' "$SPRY" inspect small.mtx --spy spy.bmp
exit 0
