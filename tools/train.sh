#!/bin/sh
# train.sh - the models that spry ships, from nothing: models/cost-OP.spry.
#
#   tools/train.sh build/release/spry [BUDGET [STORE]]
#
# Measure schedules of the default suite for BUDGET (4h): as it comes, and fewer
# of them on one thread: with narrower vectors, in double, of few columns. What
# no record tells of, a model gets wrong. Then learn and grade a model of each
# operation. A store that is there already is gone on with, so a run that was
# stopped loses nothing; BUDGET 0 only learns. STORES names further stores, of
# other machines, that are merged in first, and exported records (*.jsonl,
# *.jsonl.gz), that are imported. The machine should have nothing else to do.
#
# DATA is the folder that matrices of records are named from (here), OUT where
# the models go (models), OPS those that are made (spmv spmm sddmm) and OPERATORS
# those of dense ones (conv2d depthwise matmul). Models learn on one thread: the
# same store gives the same files, byte for byte, on any number of cores; their
# cards have its hash. 15 % of the groups stop the fit and 15 % are held out;
# the card's grades are of these, and in the end they teach, too.
set -eu
spry=$(realpath "$1")
budget=${2:-4h}
store=$(realpath -m "${3:-build/train.db}")
out=$(realpath -m "${OUT:-models}")
mkdir -p "$out" "$(dirname "$store")"

if [ "$budget" != 0 ]; then
    alone='--limits 1 --clock processor --schedules 12'
    "$spry" collect --store "$store" --suite default --budget "$budget"
    # shellcheck disable=SC2086  # a list of words
    for more in "--isa avx2" "--types f64 --widths 32" \
        "--ops spmm,sddmm --widths 8,32"; do
        case $more in # where the machine has such vectors
        --isa*) "$spry" verify gen:banded,rows=100 $more >/dev/null 2>&1 ||
            continue ;;
        esac
        "$spry" collect --store "$store" --suite default $alone $more \
            --budget "$budget"
    done
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
        --threads 1 --whole --out "$out/cost-$op.spry"
done
for kind in ${OPERATORS-conv2d depthwise matmul}; do
    "$spry" train --store "$store" --operators "$kind" --seed 1 \
        --threads 1 --whole --out "$out/cost-$kind.spry"
done
"$spry" model compare "$out"/cost-*.spry
