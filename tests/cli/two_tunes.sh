#!/bin/bash
# two_tunes.sh - two tunes at once on one new store: both succeed, and the
# store holds the records of both.
#   SPRY the command (build/release/spry)
set -euo pipefail
spry=${SPRY:-build/release/spry}
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
export SPRY_HOME=$here/home
store=$here/records.db

fail() {
    echo "$*" >&2
    exit 1
}

tune() {
    "$spry" tune "gen:uniform,rows=2000,nnz=$((20000 + $1))" --op spmm \
        --cols 32 --store "$store" --json \
        >"$here/out$1" 2>"$here/err$1"
}

tune 1 &
first=$!
tune 2 &
second=$!
wait "$first" || fail "the first: $(cat "$here/err1")"
wait "$second" || fail "the second: $(cat "$here/err2")"
"$spry" records check --store "$store" >/dev/null || fail "no sound store"
"$spry" records export "$here/all.jsonl" --store "$store"

# The key of each tune's problem is in its answer and in the store's records.
for n in 1 2; do
    key=$(grep -o '"key": *"[^"]*"' "$here/out$n" | head -1 |
        sed 's/.*: *"\(.*\)"/\1/')
    [ -n "$key" ] || fail "tune $n names no problem"
    grep -q "\"kind\":\"record\".*\"$key\"" "$here/all.jsonl" ||
        fail "no record of tune $n"
done
echo "both tunes are in the store"
