#!/bin/sh
# train.sh - the models that spry ships, from nothing: models/cost-OP.spry.
#
#   tools/train.sh build/release/spry [BUDGET [STORE]]
#
# Measure schedules of the default suite for BUDGET (4h), then learn and
# grade a model of each operation. A store that is there already is gone on
# with, so a run that was stopped loses nothing; BUDGET 0 only learns. STORES
# names further stores, of other machines, that are merged in first. The
# machine should have nothing else to do. The same store, seed and number of
# threads give the same files, byte for byte; their cards have its hash.
set -eu
spry=$1
budget=${2:-4h}
store=${3:-build/train.db}
mkdir -p models

if [ "$budget" != 0 ]; then
    "$spry" collect --store "$store" --suite default --widths 32,128 \
        --budget "$budget"
fi
for other in ${STORES:-}; do
    "$spry" records merge --store "$store" "$other"
done
for op in spmv spmm sddmm; do
    "$spry" train --store "$store" --op "$op" --kind spry --whole --seed 1 \
        --threads 2 \
        --out "models/cost-$op.spry"
done
"$spry" model compare models/cost-*.spry
