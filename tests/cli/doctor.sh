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
expect 0 env OPENBLAS_CORETYPE=Nehalem "$SPRY" doctor
if grep -q 'blas *OpenBLAS' out && ! grep -q 'machine .* neon' out; then
    has 'blas *OpenBLAS .*kernels for Nehalem, at [0-9]* % of the peak' out
    expect 0 env -u OPENBLAS_CORETYPE "$SPRY" doctor
    if grep -q ' avx' out; then
        grep -q 'kernels for Prescott' out && fail "kernels of 2004"
    fi
fi
expect 0 env TMPDIR=/nowhere "$SPRY" doctor
has '^problem *temporary' out
mkdir file
expect 0 "$SPRY" doctor --store file
has '^problem *store' out
exit 0
