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

# The blocks of a structural problem: three unknowns at every node.
matrix=gen:blocks,rows=30000,r=3,c=3,degree=16

show probe
show inspect "$matrix"
show tune "$matrix" --op spmm --cols 128 --budget 15s
# Asked again, it remembers.
show tune "$matrix" --op spmm --cols 128
