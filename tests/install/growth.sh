#!/bin/sh
# growth.sh - tools/abi.sh lets structs grow where that breaks nobody, and
# nowhere else.
set -eu
cd "$(dirname "$0")/../.."
dir=$(mktemp -d "${TMPDIR:-/tmp}/spry-test-XXXXXX")
trap 'rm -rf "$dir"' EXIT
kept=tests/install/abi.txt

# Was the list that this edit makes of the kept one served by today's headers?
served() {
    sed "$1" "$kept" >"$dir/kept.txt"
    if cmp -s "$dir/kept.txt" "$kept"; then
        echo "the edit $1 changes nothing"
        exit 1
    fi
    tools/abi.sh check "$dir/kept.txt" >"$dir/said" 2>&1
}

must() {
    served "$1" || {
        echo "refused: $1"
        cat "$dir/said"
        exit 1
    }
}

must_not() {
    if served "$1"; then
        echo "let pass: $1"
        exit 1
    fi
}

# A member more at the end: of one that begins with its size, of one that is
# handed out, of one whose reserved room it takes.
must '/^struct spry_storage /s/ double bytes; }/ }/'
must '/^struct spry_progress /s/ const char \*best; }/ }/'
must '/^struct spry_likeness /s/ double rank; double reserved\[2\]/ double reserved[3]/'
# In the middle, and of a value that callers fill.
must_not '/^struct spry_storage /s/ int index;//'
must_not '/^struct spry_dense /s/ spry_layout layout; }/ }/'
must_not '/^struct spry_likeness /s/ int64_t problems, schedules;//'
# Another type, and one that is gone.
must_not '/^struct spry_storage /s/double bytes/float bytes/'
# shellcheck disable=SC2016 # sed's, not the shell's
must_not '$a struct spry_gone { size_t size; int x; }'
