#!/bin/sh
# clang-suite.sh - the test suite under a preset that clang builds.
#
#   tools/clang-suite.sh clang|tsan|fuzz [jobs [an option of ctest]...]
#
# Without clang and its OpenMP there is nothing to run, and it says so.
set -eu
cd "$(dirname "$0")/.."
preset=$1
jobs=${2:-2}
shift $(($# < 2 ? $# : 2))

clang=$(readlink -f "$(command -v clang || echo clang)")
libraries=$(dirname "$clang")/../lib
for needed in "$clang" "$libraries/libomp.so" "$libraries/libarcher.so"; do
    if [ ! -e "$needed" ]; then
        echo "$preset: skipped, no ${needed##*/} (make deps-all)" >&2
        exit 0
    fi
done

# Archer tells the thread sanitizer about OpenMP's own synchronisation; what
# is not instrumented (SQLite, hwloc) is not ours to judge; children that were
# forked beside threads are to live, since they are what is tested.
export OMP_TOOL_LIBRARIES="$libraries/libarcher.so"
export TSAN_OPTIONS="ignore_noninstrumented_modules=1 die_after_fork=0 ${TSAN_OPTIONS-}"

[ -e "build/$preset/build.ninja" ] || cmake --preset "$preset"
cmake --build --preset "$preset" -j "$jobs"
tools/test.sh "$preset" "$@"
