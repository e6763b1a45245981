#!/bin/sh
# The identity of a build: equal in any folder, another one when a kernel, the
# compiler or its flags are others. identity.sh CMAKE
set -eu
cmake=$1
top=$(cd "$(dirname "$0")/.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

fail()
{
    printf '%s\n' "$*"
    exit 1
}

# identity TREE COMPILER
identity()
{
    "$cmake" "-DTOP=$1" "-DOUT=$dir/identity.h" "-DWITH=$2" \
        -P "$1/cmake/identity.cmake"
    sed -n 's/#define SP_IDENTITY "\([0-9a-f]\{16\}\)"$/\1/p' "$dir/identity.h"
}

mkdir -p "$dir/tree/src/machine"
cp "$top/CMakeLists.txt" "$dir/tree"
cp -r "$top/cmake" "$dir/tree"
cp "$top/src/machine/isas.def" "$dir/tree/src/machine"
for room in dense form inference; do
    cp -r "$top/src/$room" "$dir/tree/src"
done
here=$(identity "$top" 'GNU 12.2.0 -O2')
[ -n "$here" ] || fail 'there is none'
[ "$(identity "$dir/tree" 'GNU 12.2.0 -O2')" = "$here" ] ||
    fail 'it depends on the folder'
[ "$(identity "$dir/tree" 'GNU 12.2.0 -O3')" != "$here" ] ||
    fail 'other flags go unnoticed'
printf '\n' >>"$dir/tree/src/dense/tile_body.h"
[ "$(identity "$dir/tree" 'GNU 12.2.0 -O2')" != "$here" ] ||
    fail 'another kernel goes unnoticed'
