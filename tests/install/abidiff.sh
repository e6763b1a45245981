#!/bin/sh
# abidiff.sh - have types the layout that programs were compiled with?
# tools/abi.sh compares the text of headers, abidiff what a compiler makes of
# it: the length of an array that a constant gives shows here only.
#
#   abidiff.sh CC HEADERS         compare with tests/install/abi.xml.gz
#   abidiff.sh CC HEADERS keep    write that anew, for a new version
set -eu
cc=$1 headers=$2
cd "$(dirname "$0")"
command -v abidiff >/dev/null || {
    echo "SKIPPED: there is no abidiff (make deps-all)"
    exit 77
}
dir=$(mktemp -d "${TMPDIR:-/tmp}/spry-test-XXXXXX")
trap 'rm -rf "$dir"' EXIT

# The interface that the headers in $1 declare, as a library of pointers.
compile() {
    {
        echo '#include <spry.h>'
        ../../tools/abi.sh list |
            awk '$1 == "function" {print "__typeof__(" $2 ") *p_" $2 ";"}'
    } >"$dir/probe.c"
    # shellcheck disable=SC2086 # a compiler and its words
    $cc -g -shared -fPIC -I"$1" "$dir/probe.c" -o "$dir/probe.so"
}

# What abidiff says, if that is more than structs that have grown at their ends;
# tools/abi.sh says which of them may.
differs() {
    compile "$1"
    abidiff --no-added-syms "$dir/abi.xml" "$dir/probe.so" >"$dir/said" || true
    ! awk '
        /type size changed from [0-9]+ to/ { before = $5 }
        / at offset [0-9]+ \(in bits\)/ && !/ changed / {
            sub(/.* at offset /, "")
            bad += $1 < before
        }
        / Removed,/ { bad += $4 > 0 }
        /(change|deletion)s?:$/ && !/sub-type changes:$/ { bad++ }
        /(return|parameter [0-9]+ of) type.* changed/ { bad++ }
        / changed from / && !/(type size|^architecture) changed from/ { bad++ }
        END { exit bad > 0 }' "$dir/said"
}

# Are headers in which this edit was made noticed?
edited() {
    rm -rf "$dir/headers"
    cp -r "$headers" "$dir/headers"
    sed -i "$2" "$dir/headers/spry/$1"
    ! cmp -s "$dir/headers/spry/$1" "$headers/spry/$1" || {
        echo "the edit $2 changes nothing"
        exit 1
    }
    differs "$dir/headers"
}

if [ "${3:-}" = keep ]; then
    compile "$headers"
    abidw --no-show-locs --no-corpus-path --no-comp-dir-path "$dir/probe.so" |
        gzip -9n >abi.xml.gz
    exit
fi
gzip -dc abi.xml.gz >"$dir/abi.xml"
! differs "$headers" || {
    cat "$dir/said"
    exit 1
}
edited operator.h 's/SPRY_STEPS = 6/SPRY_STEPS = 8/' || {
    echo "a longer array in a struct is let pass"
    exit 1
}
edited problem.h 's/^spry_status spry_problem_spmm(/int64_t spry_problem_spmm(/' || {
    echo "another result of a function is let pass"
    exit 1
}
edited space.h 's/^    int levels;/    int before, levels;/' || {
    echo "a member in the middle is let pass"
    exit 1
}
! edited space.h 's/^    double bytes;/    double bytes, behind;/' || {
    echo "a member at the end is refused"
    cat "$dir/said"
    exit 1
}
