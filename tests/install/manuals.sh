#!/bin/sh
# manuals.sh - every function that the library exports has a manual page, made
# from the headers, and groff has nothing to say about any of them.
#
#   manuals.sh LIBRARY
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$top/tools/man3.sh" "$top/include" "$work/man3" 0
nm -D --defined-only "$1" | sed -n 's/.* T \(spry_[a-z0-9_]*\).*/\1/p' >"$work/names"
[ -s "$work/names" ] || exit 1
while read -r name; do
    [ -s "$work/man3/$name.3" ] || echo "no page about $name"
done <"$work/names" >"$work/missing"
cat "$work/missing"
[ ! -s "$work/missing" ] || exit 1
echo "$(wc -l <"$work/names") functions have pages"
if command -v groff >/dev/null; then
    groff -man -ww -z "$work"/man3/spry-*.3 2>"$work/said"
    groff -mdoc -ww -z "$top/docs/spry.1" 2>>"$work/said"
    cat "$work/said"
    [ ! -s "$work/said" ] || exit 1
fi
