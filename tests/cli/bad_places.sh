#!/bin/sh
# bad_places.sh - a tuned, verified result where something is missing, and
# one clear sentence about it.
set -eu
: "${SPRY:?path of the spry command}"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
matrix=gen:uniform,rows=2000,nnz=20000
unset SPRY_HOME XDG_DATA_HOME XDG_CACHE_HOME XDG_CONFIG_HOME || true

# tune NAME SENTENCE COMMAND...: run it; the note must match SENTENCE
tune() {
    name=$1 sentence=$2
    shift 2
    if ! "$@" tune "$matrix" --op spmm --cols 32 --json \
        >"$dir/out" 2>"$dir/err"; then
        echo "$name: failed: $(cat "$dir/err")"
        exit 1
    fi
    grep -q '"verified": *true' "$dir/out" || {
        echo "$name: not verified"
        exit 1
    }
    grep -q "\"note\": *\".*$sentence" "$dir/out" || {
        echo "$name: no sentence about it: $(grep '"note"' "$dir/out")"
        exit 1
    }
    echo "$name: ok"
}

mkdir -p "$dir/home"
tune "no compiler" compiler \
    env HOME="$dir/home" PATH=/nonexistent "$SPRY"
tune "home that cannot be written" remembered \
    env HOME=/proc/nowhere "$SPRY"
tune "temporary directory that is not there" "" \
    env HOME="$dir/home" TMPDIR=/nonexistent "$SPRY"
if command -v taskset >/dev/null; then
    tune "one CPU" "" env HOME="$dir/one" taskset -c 0 "$SPRY"
fi

# A home that can only be read: what only reads does, and doctor says so.
if unshare -m true 2>/dev/null; then
    mkdir "$dir/kept"
    export SPRY_HOME="$dir/kept"
    "$SPRY" tune "$matrix" --effort patient --budget 2s >/dev/null 2>&1
    cat >"$dir/only_read" <<'EOF'
mount --bind "$SPRY_HOME" "$SPRY_HOME" &&
    mount -o remount,ro,bind "$SPRY_HOME" || exit 99
exec "$@"
EOF
    for action in list verify; do
        unshare -m sh "$dir/only_read" "$SPRY" cache $action >"$dir/out" 2>&1 ||
            { echo "cache $action: $(cat "$dir/out")"; exit 1; }
    done
    if unshare -m sh "$dir/only_read" "$SPRY" cache clear >"$dir/out" 2>&1; then
        echo "cache clear of what can only be read"
        exit 1
    fi
    unshare -m sh "$dir/only_read" "$SPRY" doctor >"$dir/out" 2>&1
    grep -q '^problem *store ' "$dir/out" ||
        { echo "doctor: $(cat "$dir/out")"; exit 1; }
    unset SPRY_HOME
    echo "a home that can only be read: ok"
fi

# A temporary and a home directory from which nothing may be executed: needs
# the right to mount, in a name space of our own.
if unshare -m true 2>/dev/null; then
    mkdir "$dir/noexec"
    cat >"$dir/inside" <<'EOF'
mount -t tmpfs -o noexec tmpfs "$1" || exit 99
shift
exec "$@"
EOF
    tune "nothing can be executed" "" env HOME="$dir/noexec" \
        TMPDIR="$dir/noexec" unshare -m sh "$dir/inside" "$dir/noexec" "$SPRY"
else
    echo "nothing can be executed: skipped, no right to mount"
fi
