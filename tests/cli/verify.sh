#!/bin/sh
# Every family is right, on shapes that hurt.
# shellcheck source=/dev/null
. "$TOOLS"
small >small.mtx
for m in small.mtx gen:arrow,rows=60; do
    for op in "spmv" "spmm --cols 1" "spmm --cols 37" "sddmm --cols 13"; do
        # shellcheck disable=SC2086  # op is several words
        expect 0 "$SPRY" verify $m --op $op --type f32 --json
        document spry.verify/1
        holds "d['wrong'] == 0 and d['right'] >= 1"
    done
done
expect 0 "$SPRY" verify small.mtx --schedule "csr; csr unroll=4"
has '^2 right, 0 wrong' out
refuse 2 'tile' "$SPRY" verify small.mtx --schedule "csr tile=4"
exit 0
