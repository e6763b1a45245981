#!/bin/sh
# demo.sh - what spry does, in under a minute, leaving nothing behind.
#
#   tools/demo.sh build/release/spry
set -eu
spry=$1
SPRY_HOME=$(mktemp -d)
export SPRY_HOME
trap 'rm -rf "$SPRY_HOME"' EXIT

show()
{
    printf '\n$ spry %s\n' "$*"
    "$spry" "$@"
}

# As of a coupled problem: four unknowns at every node.
matrix=gen:blocks,rows=30k,r=4,c=4,nnz=1.5M

show probe
show inspect "$matrix"
show tune "$matrix" --op spmm --cols 128 --budget 15s
# Asked again, it remembers.
show tune "$matrix" --op spmm --cols 128
