#!/bin/sh
# coverage.sh - lines the tests reached, by room, from a coverage build.
#
#   tools/coverage.sh build/coverage
set -eu
build=$(cd "$1" && pwd)
source=$(cd "$(dirname "$0")/.." && pwd)

# gcov says "File 'src/base/buf.c'" and then "Lines executed:97.50% of 40".
find "$build/CMakeFiles/spry_rooms.dir" -name '*.gcda' -print0 |
    xargs -0 gcov -n -r -s "$source" | awk -F"[':% ]+" '
/^File .src\// { split($2, part, "/"); room = part[2]; next }
/^Lines executed/ && room != "" {
    total[room] += $5
    reached[room] += $3 * $5 / 100
    room = ""
}
/^File/ { room = "" }
END {
    for (room in total) {
        printf "%-10s %5.1f %% of %5d lines\n", room,
            100 * reached[room] / total[room], total[room] | "sort"
        all += total[room]; hit += reached[room]
    }
    close("sort")
    if (all) printf "%-10s %5.1f %% of %5d lines\n", "all", 100 * hit / all, all
}'
