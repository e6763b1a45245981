#!/bin/bash
# kill_tune.sh - kill -9 a tune at random moments, ROUNDS times.
#
# After every kill the store opens and checks, no record that was there is
# gone, and at the end a tune on the same store runs through.
#   SPRY   the command (build/release/spry)
#   ROUNDS how many kills (100)
#   SEED   of the moments (1)
set -euo pipefail
spry=${SPRY:-build/release/spry}
rounds=${ROUNDS:-100}
RANDOM=${SEED:-1}
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
export SPRY_HOME=$here/home
store=$here/records.db

fail() {
    echo "round $round: $*" >&2
    exit 1
}

# A matrix of its own for every round, so that no tune is a mere lookup.
matrix() {
    echo "gen:uniform,rows=2000,nnz=$((20000 + $1))"
}
how=(--op spmm --cols 32 --store "$store" --json)

count() {
    "$spry" records export - --store "$store" | grep -c '"kind":"record"' ||
        true
}

# One whole tune first: a kill may come before the store is made, and there
# must be records to lose.
round=first
"$spry" tune "$(matrix 0)" "${how[@]}" >/dev/null 2>"$here/err" ||
    fail "$(cat "$here/err")"
have=$(count)
killed=0
for ((round = 1; round <= rounds; round++)); do
    # No function here: the process to be killed must be spry itself.
    "$spry" tune "$(matrix "$round")" "${how[@]}" >/dev/null 2>&1 &
    pid=$!
    sleep "$(printf '0.%03d' $((RANDOM % 1000)))"
    if kill -9 "$pid" 2>/dev/null; then
        killed=$((killed + 1))
    fi
    wait "$pid" 2>/dev/null || true
    "$spry" records check --store "$store" >/dev/null ||
        fail "the store does not check"
    now=$(count)
    [ "$now" -ge "$have" ] || fail "$have records became $now"
    have=$now
done

round=last
[ "$killed" -gt 0 ] || fail "no tune lived long enough to be killed"
"$spry" tune "$(matrix $((rounds + 1)))" "${how[@]}" >"$here/out" 2>"$here/err" ||
    fail "$(cat "$here/err")"
grep -q '"verified": *true' "$here/out" || fail "the last tune is unverified"
[ "$(count)" -gt "$have" ] || fail "the last tune left no record"
echo "$killed of $rounds tunes killed, $(count) records kept"
