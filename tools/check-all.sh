#!/bin/sh
# check-all.sh - everything that can be checked on this machine, and a line of
# each suite at the end.
#
#   tools/check-all.sh [SUITE]...    of: lint gcc clang asan tsan
#
# JOBS says how many files are compiled at once. What a suite printed is in
# build/check-all/SUITE.log. A suite whose tools are not there says so.
set -u
cd "$(dirname "$0")/.." || exit 1
jobs=${JOBS:-$(nproc)}
logs=build/check-all
mkdir -p "$logs"
[ $# -gt 0 ] || set -- lint gcc clang asan tsan

built()
{
    [ -e "build/$1/build.ninja" ] || cmake --preset "$1" || return 1
    cmake --build --preset "$1" -j "$jobs"
}

run()
{
    case $1 in
    lint) built release && tools/lint.sh ;;
    gcc) built release && tools/test.sh release ;;
    asan) built asan && tools/test.sh asan ;;
    clang) tools/clang-suite.sh clang "$jobs" ;;
    tsan) tools/clang-suite.sh tsan "$jobs" -L threads ;;
    *) echo "$1 is no suite: lint gcc clang asan tsan" >&2; return 2 ;;
    esac
}

# What the suite says of itself: its tally, or the tools it went without.
outcome()
{
    grep -E '^[0-9]+ passed, ' "$1" | tail -n 1
    sed -n 's/^\(.*\): \(not installed\|skipped\), .*/without \1/p' "$1"
}

failed=0
: >"$logs/summary"
for suite; do
    echo "== $suite" >&2
    begun=$(date +%s)
    if run "$suite" >"$logs/$suite.log" 2>&1; then
        verdict=ok
    else
        verdict=FAILED
        failed=1
        grep -vE '(Passed|Start) ' "$logs/$suite.log" | tail -n 40
    fi
    printf '%-6s %-6s %4d s  %s\n' "$suite" "$verdict" \
        $(($(date +%s) - begun)) \
        "$(outcome "$logs/$suite.log" | paste -sd, - | sed 's/,/, /g')" \
        >>"$logs/summary"
    sed -n "s/^skipped /       skipped /p" "$logs/$suite.log" >>"$logs/summary"
done
cat "$logs/summary"
exit $failed
