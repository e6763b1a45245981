#!/bin/sh
# sysroot.sh - the libraries of another architecture, in a folder.
#
#   tools/sysroot.sh ARCHITECTURE FOLDER    such as arm64 build/sysroot-arm64
#
# Debian's packages are fetched by an apt with a state of its own and unpacked,
# not installed: the system stays as it is, and nobody need be root. Done once;
# a change of this file does it again.
set -eu
architecture=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd)
packages='libc6-dev libgomp1 libhwloc-dev libsqlite3-dev zlib1g-dev
    libcmocka-dev libopenblas0 libarpack2 libxgboost0'

mark=$folder/made-by
cmp -s "$0" "$mark" && exit 0

state=$(mktemp -d "${TMPDIR:-/tmp}/spry-sysroot.XXXXXX")
trap 'rm -rf "$state"' EXIT
mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
: >"$state/status"

fetch()
{
    apt-get -q -o APT::Architecture="$architecture" \
        -o APT::Architectures="$architecture" -o APT::Sandbox::User= \
        -o Dir::State="$state" -o Dir::State::status="$state/status" \
        -o Dir::Cache="$state/cache" "$@" >"$state/log" 2>&1 && return 0
    cat "$state/log" >&2
    return 1
}

echo "fetching libraries for $architecture" >&2
fetch update
# shellcheck disable=SC2086  # a list of words
fetch -y --no-install-recommends --download-only install $packages

# Programs are left out: an emulator that looks here first would take them for
# those of this machine.
rm -rf "$folder"
mkdir -p "$folder"
for package in "$state"/cache/archives/*lib*.deb; do
    dpkg-deb -x "$package" "$folder"
done
for left_out in bin sbin etc var usr/bin usr/sbin usr/share; do
    rm -rf "${folder:?}/$left_out"
done

# Links that begin at the root of that system begin at the folder.
find "$folder" -lname '/*' | while read -r link; do
    ln -sfn "$folder$(readlink "$link")" "$link"
done

# What installing would have chosen among implementations.
for blas in "$folder"/usr/lib/*/openblas-pthread; do
    ln -sf openblas-pthread/libopenblas.so.0 "${blas%/*}/libopenblas.so.0"
    for name in libblas.so.3 liblapack.so.3; do
        ln -sf "openblas-pthread/$name" "${blas%/*}/$name"
    done
done
cp "$0" "$mark"
