#!/bin/sh
# install.sh - install below a temporary DESTDIR, then be a stranger: build
# the examples against it by pkg-config and by CMake.
#
#   CC=cc CFLAGS=... install.sh BUILD_DIR
set -eu
build=$1
here=$(cd "$(dirname "$0")" && pwd)
examples=$here/../../examples
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
prefix=$stage/opt/spry

fail()
{
    echo "$*" >&2
    exit 1
}

# $CFLAGS and what pkg-config prints are lists of words.
# shellcheck disable=SC2086,SC2046
compile()
{
    "$CC" -std=c11 -D_POSIX_C_SOURCE=200809L ${CFLAGS-} -o "$1" "$2" $3
}

# Says the version it was told at run time; must be the package's own.
agree()
{
    # shellcheck disable=SC2086  # words
    said=$(${SPRY_EMULATOR-} "$1")
    [ "$said" = "$version" ] || fail "$1 says '$said', spry.pc '$version'"
}

DESTDIR=$stage cmake --install "$build" --prefix /opt/spry >/dev/null

PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name spry.pc)")
export PKG_CONFIG_PATH
version=$(pkg-config --modversion spry)
LD_LIBRARY_PATH=$(pkg-config --variable=libdir spry)
export LD_LIBRARY_PATH
[ -e "$LD_LIBRARY_PATH/libspry.so" ] || fail "no libspry.so"

shared=$(pkg-config --cflags --libs spry)
compile "$stage/shared" "$here/consumer/version.c" "$shared"
agree "$stage/shared"
case $(pkg-config --libs --static spry) in
*-lhwloc*) ;;
*) fail "pkg-config --static does not name what libspry.a needs" ;;
esac
for source in "$examples"/*.c; do
    [ ! -e "$source" ] || compile "$stage/example" "$source" "$shared -lm"
done

build_by_cmake()
{
    cmake -S "$here/consumer" -B "$stage/cmake" -G Ninja \
        -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$CC" \
        -DCMAKE_C_FLAGS="${CFLAGS-}" -DEXAMPLES="$examples" &&
        cmake --build "$stage/cmake"
}
if ! build_by_cmake >"$stage/log" 2>&1; then
    cat "$stage/log"
    fail "find_package(spry) did not lead to a program"
fi
agree "$stage/cmake/shared"
LD_LIBRARY_PATH='' agree "$stage/cmake/static"

for file in man/man1/spry.1 man/man3/spry_tune.3 man/man3/spry-tune.3 \
    bash-completion/completions/spry zsh/site-functions/_spry \
    fish/vendor_completions.d/spry.fish spry/schemas/spry.tune-1.json; do
    [ -s "$prefix/share/$file" ] || fail "share/$file is missing"
done

# Assertions and what sanitizers report name their files, and so do clang's
# parallel loops.
is_without_paths()
{
    grep -q '^CMAKE_BUILD_TYPE:.*=Release$' "$build/CMakeCache.txt" &&
        ! "$CC" --version | grep -q clang
}

# Two builds in different folders are the same: no path of theirs is inside.
source=$(cd "$here/../.." && pwd)
if is_without_paths; then
    for file in "$LD_LIBRARY_PATH/libspry.so" "$prefix/bin/spry"; do
        strip -o "$stage/bare" "$file" 2>/dev/null || continue # of another CPU
        ! grep -qF "$source" "$stage/bare" || fail "$file names $source"
    done
fi

# The library's file names lead nowhere back into the build tree.
! grep -rqF "$build" "$prefix"/lib*/pkgconfig "$prefix"/lib*/cmake ||
    fail "an installed file names the build directory"
