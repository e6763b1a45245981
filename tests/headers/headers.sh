#!/bin/sh
# headers.sh - each header of include/ compiles alone, and twice in a row.
#
#   CC=cc CXX=c++ headers.sh c11|c++17
set -eu
cd "$(dirname "$0")/../../include"

case $1 in
c11) compiler=$CC language=c ;;
c++17) compiler=$CXX language=c++ ;;
*) echo "usage: headers.sh c11|c++17" >&2; exit 2 ;;
esac
if ! command -v "$compiler" >/dev/null; then
    echo "SKIPPED: there is no compiler for $1"
    exit 77
fi

failed=0
for header in spry.h spry/*.h; do
    printf '#include "%s"\n#include "%s"\n' "$header" "$header" |
        "$compiler" -x "$language" -std="$1" -Wall -Wextra -Wpedantic -Werror \
            -I. -fsyntax-only - || { echo "$header: not alone as $1"; failed=1; }
done
exit $failed
