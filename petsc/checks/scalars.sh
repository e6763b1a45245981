#!/bin/sh
# scalars.sh SOURCE CC - a PETSc for complex or single numbers is left out.
set -eu
source=$1
compiler=$2
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT

printf '%s\n' "Name: PETSc" "Description: another one" "Version: 3.20" \
    "Cflags: -I$here" >"$here/PETSc.pc"
for scalars in "PETSC_USE_REAL_SINGLE 1" \
    "PETSC_USE_REAL_DOUBLE 1
#define PETSC_USE_COMPLEX 1"; do
    echo "#define $scalars" >"$here/petscconf.h"
    rm -rf "$here/build"
    PKG_CONFIG_PATH=$here cmake -S "$source" -B "$here/build" \
        -DCMAKE_C_COMPILER="$compiler" -DBUILD_TESTING=OFF >"$here/out" 2>&1 ||
        { cat "$here/out" && exit 1; }
    grep -q "PETSc: built for complex or not double" "$here/out" ||
        { cat "$here/out" && exit 1; }
done
echo "other scalars are left out"
