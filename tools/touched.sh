#!/bin/sh
# How many files know an operation, a format, an instruction set by its name:
# what a new one has to look at. Fields of its row, asked for by everybody
# else, are not counted; tables with a place for each are.
#   tools/touched.sh          the counts
#   tools/touched.sh --list   and the files
set -eu
cd "$(dirname "$0")/.."

count() { # what pattern
    files=$(grep -rlE "$2" src include cli --include='*.c' --include='*.h' \
        --include='*.def' | sort)
    printf '%-16s %3d files\n' "$1" "$(printf '%s\n' "$files" | wc -l)"
    if [ "${list:-}" ]; then
        printf '%s\n' "$files" | sed 's/^/    /'
    fi
}

[ "${1:-}" != --list ] || list=1
count operation 'SPRY_(SPMV|SPMM|SDDMM|MTTKRP)\b|\[SPRY_OPS\] = \{|\]\[SPRY_OPS\]'
for format in BCSR SELL DCSR DIA CSF; do
    count "format $format" "SPRY_$format\b"
done
count "instruction set" 'SPRY_(SSE2|AVX2|AVX512|NEON|PORTABLE)\b'
