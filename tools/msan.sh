#!/bin/sh
# msan.sh - does a reader look at memory that nobody has set? By clang's memory
# sanitizer, which readers: see tests/fuzz/CMakeLists.txt.
#
#   tools/msan.sh [RUNS]    of each, files of its corpus changed at random
set -eu
cd "$(dirname "$0")/.."
runs=${1:-20000}
if ! command -v clang >/dev/null; then
    echo "msan: skipped, no clang (make deps-all)" >&2
    exit 0
fi
[ -e build/clang/build.ninja ] || cmake --preset clang >/dev/null
cmake --build build/clang --target memory -j "${JOBS:-2}" >build/clang/msan.log || {
    tail -n 30 build/clang/msan.log
    exit 1
}
found=0 all=0
for target in build/clang/tests/fuzz/memory_*; do
    [ -x "$target" ] || continue
    name=${target##*memory_}
    all=$((all + 1))
    if OMP_NUM_THREADS=1 "$target" "tests/fuzz/corpus/$name" "$runs" \
        >build/clang/msan.log 2>&1; then
        printf '%-10s %s\n' "$name" "$(tail -n 1 build/clang/msan.log)"
    else
        found=$((found + 1))
        echo "$name: $(grep -m 1 -A 4 WARNING build/clang/msan.log)"
    fi
done
echo "$all readers under the memory sanitizer"
echo "aim readers_of_unset_memory_msan $found 0" \
    "$([ "$found" = 0 ] && echo met || echo short)"
[ "$found" = 0 ] && [ "$all" -gt 0 ]
