#!/bin/sh
# train.sh - the models that spry ships, from nothing: models/cost-OP.spry.
#
#   tools/train.sh build/release/spry [BUDGET [STORE]]
#
# Measure schedules of the default suite for BUDGET (4h), then learn and
# grade a model of each operation. A store that is there already is gone on
# with, so a run that was stopped loses nothing; BUDGET 0 only learns. STORES
# names further stores, of other machines, that are merged in first, and
# exported records (*.jsonl, *.jsonl.gz), that are imported. The machine should
# have nothing else to do.
#
# DATA is the folder that matrices of records are named from (here), OUT where
# the models go (models), OPS those that are made (spmv spmm sddmm) and OPERATORS
# those of dense ones (conv2d depthwise matmul). Models
# learn on one thread: the same store gives the same files, byte for byte, on
# any number of cores; their cards have its hash. 15 % of the groups stop the
# fit and 15 % are never learned from; the card's grades are of these.
set -eu
spry=$(realpath "$1")
budget=${2:-4h}
store=$(realpath -m "${3:-build/train.db}")
out=$(realpath -m "${OUT:-models}")
mkdir -p "$out" "$(dirname "$store")"

if [ "$budget" != 0 ]; then
    "$spry" collect --store "$store" --suite default --widths 32,128 \
        --budget "$budget"
    "$spry" collect --store "$store" --suite operators --limits 1,2 \
        --schedules 50 --budget "$budget"
fi
for other in ${STORES:-}; do
    case $other in
    *.jsonl | *.jsonl.gz) "$spry" records import "$other" --store "$store" ;;
    *) "$spry" records merge "$other" --store "$store" ;;
    esac
done
cd "${DATA:-.}"
for op in ${OPS:-spmv spmm sddmm}; do
    "$spry" train --store "$store" --op "$op" --kind spry --seed 1 \
        --threads 1 --out "$out/cost-$op.spry"
done
for kind in ${OPERATORS-conv2d depthwise matmul}; do
    "$spry" train --store "$store" --operators "$kind" --seed 1 \
        --threads 1 --whole --out "$out/cost-$kind.spry"
done
"$spry" model compare "$out"/cost-*.spry
