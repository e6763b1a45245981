#!/bin/sh
# A healthy place, and places where something is missing.
# shellcheck source=/dev/null
. "$TOOLS"
expect 0 "$SPRY" doctor --json
document spry.doctor/1
holds "d['ok'] and len(d['checks']) >= 6"
holds "all(c['remedy'] for c in d['checks'] if c['health'] == 'broken')"
expect 0 "$SPRY" doctor
has '^ok *kernels' out
expect 0 env PATH=/nowhere SPRY_CC= CC= "$SPRY" doctor
has '^problem *compiler' out
expect 0 env SPRY_BLAS=none "$SPRY" doctor
has '^problem *blas *own loops' out
expect 0 env TMPDIR=/nowhere "$SPRY" doctor
has '^problem *temporary' out
mkdir file
expect 0 "$SPRY" doctor --store file
has '^problem *store' out
exit 0
