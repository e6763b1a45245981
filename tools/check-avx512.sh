#!/bin/sh
# check-avx512.sh - the tests with AVX-512 as the machine's instruction set.
#
#   tools/check-avx512.sh [an option of ctest]...
#
# Natively where the CPU has it. Elsewhere the same text is compiled for AVX2:
# vectors of 64 bytes lowered by the compiler, intrinsics by SIMDe and
# tests/avx512, whose place its flags name, so that nothing is installed.
set -eu
cd "$(dirname "$0")/.."
jobs=${JOBS:-$(nproc)}
preset=release
[ "$(uname -m)" = x86_64 ] || { echo "AVX-512 is for x86" >&2; exit 1; }

for feature in avx512f avx512vl avx512dq avx512bw fma; do
    grep -qw "$feature" /proc/cpuinfo || preset=avx512
done
if [ $preset = release ]; then
    tools/deps.sh
    how="natively: this CPU has it"
else
    tools/deps.sh avx512
    how="lowered to AVX2: this CPU lacks it"
fi
echo "AVX-512 $how"

[ -e build/$preset/build.ninja ] || cmake --preset $preset
cmake --build --preset $preset -j "$jobs"
tools/test.sh $preset "$@" || status=$?
echo "AVX-512 $how"
exit "${status:-0}"
