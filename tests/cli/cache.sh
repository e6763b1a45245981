#!/bin/sh
# Compiled kernels are listed, verified and removed.
# shellcheck source=/dev/null
. "$TOOLS"
expect 0 "$SPRY" cache list --json
document spry.cache/1
holds "d['count'] == 0 and d['kernels'] == []"
expect 0 "$SPRY" cache verify
expect 0 "$SPRY" cache gc --keep 1M --json
holds "d['removed'] == 0"
# Packed weights of a network stay until all is cleared, unless none may.
SPRY_WEIGHTS=0 expect 0 "$SPRY" net run net:mobilenetv3,size=75 --json
expect 0 "$SPRY" cache list --json
holds "d['networks'] == 0 and d['weights_bytes'] == 0"
expect 0 "$SPRY" net run net:mobilenetv3,size=75 --json
expect 0 "$SPRY" cache list --json
holds "d['networks'] == 1 and d['weights_bytes'] > 20e6"
expect 0 "$SPRY" cache list
has 'packed weights of 1 networks' out
expect 0 "$SPRY" cache clear --json
holds "d['removed_networks'] == 1 and d['removed_weights_bytes'] > 20e6"
expect 0 "$SPRY" verify gen:banded,rows=64 --cols 24 --json \
    --schedule "csr tile=1 fixed=1"
expect 0 "$SPRY" cache list --json
[ "$(get "d['count']")" -ge 1 ] || skip "there is no compiler"
expect 0 "$SPRY" cache verify
has 'good' out
file=$(find "$SPRY_HOME" -type f -size +4k -name '*[0-9a-f][0-9a-f]*' \
    ! -name '*.db*' | head -n 1)
printf 'x' | dd of="$file" bs=1 seek=2000 conv=notrunc 2>/dev/null
expect 1 "$SPRY" cache verify --json
holds "d['flawed'] == 1"
expect 0 "$SPRY" cache gc
expect 0 "$SPRY" cache verify
expect 0 "$SPRY" cache clear
expect 0 "$SPRY" cache list --json
holds "d['count'] == 0"
exit 0
