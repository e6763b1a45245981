#!/bin/sh
# deps.sh - see that what spry is built from is there; install it if not.
#
#   tools/deps.sh        what building and testing needs
#   tools/deps.sh all    also what the sanitizers, linters and benches need
#   tools/deps.sh arm    also what make check-arm needs; so for avx512
#
# A row is a Debian package and a command that succeeds when it is there,
# however it got there. When nothing is missing, nothing is asked or fetched.
set -eu

needed='
cmake           cmake --version
ninja-build     ninja --version
gcc             cc --version
pkg-config      pkg-config --version
libhwloc-dev    pkg-config --exists hwloc
libsqlite3-dev  pkg-config --exists sqlite3
zlib1g-dev      pkg-config --exists zlib
libopenblas0    /sbin/ldconfig -p | grep -q libopenblas.so.0
libxgboost0     /sbin/ldconfig -p | grep -q libxgboost.so.0
libcmocka-dev   pkg-config --exists cmocka
python3         python3 --version
'
optional='
g++                 c++ --version
clang               clang --version
libomp-dev          ls /usr/lib/llvm-*/lib/libomp.so
libclang-rt-14-dev  ls /usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.*
clang-format        clang-format --version
clang-tidy          clang-tidy --version
cppcheck            cppcheck --version
shellcheck          shellcheck --version
libarpack2          /sbin/ldconfig -p | grep -q libarpack.so.2
python3-scipy       /usr/bin/python3 -c "import scipy"
python3-torch       /usr/bin/python3 -c "import torch"
python3-torchvision /usr/bin/python3 -c "import torchvision"
python3-onnx        /usr/bin/python3 -c "import onnx"
python3-pytest      /usr/bin/python3 -c "import pytest"
libeigen3-dev       pkg-config --exists eigen3
librsb-dev          ls /usr/include/rsb.h
libgraphblas-dev    ls /usr/include/GraphBLAS.h
petsc-dev           pkg-config --exists petsc
python3-petsc4py    /usr/bin/python3 -c "import petsc4py"
abigail-tools       abidiff --version
libdnnl-dev         ls /usr/include/dnnl.h
python3-opencv      /usr/bin/python3 -c "import cv2"
libpq-dev           pkg-config --exists libpq
postgresql          ls /usr/lib/postgresql/*/bin/initdb
debhelper           dh --version
dh-python           dh_python3 --version
python3-setuptools  /usr/bin/python3 -c "import setuptools"
python3-wheel       /usr/bin/python3 -c "import wheel"
lintian             lintian --version
debootstrap         debootstrap --version
strace              strace --version
tcl                 tclsh </dev/null
'
avx512='
libsimde-dev  ls /usr/include/simde/x86/avx512.h
'
arm='
gcc-aarch64-linux-gnu  aarch64-linux-gnu-gcc --version
qemu-user-static       qemu-aarch64-static --version
'

# The packages of the rows on stdin whose command fails.
missing()
{
    while read -r package probe; do
        [ -n "$package" ] || continue
        sh -c "$probe" >/dev/null 2>&1 || printf ' %s' "$package"
    done
}

as_root()
{
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    else
        sudo "$@"
    fi
}

# Install what rows are missing.
install_missing()
{
    packages=$(printf '%s' "$1" | missing)
    [ -n "$packages" ] || return 0

    if ! command -v apt-get >/dev/null; then
        echo "spry needs these; Debian calls them:$packages" >&2
        echo "Install what your system calls them, then try again." >&2
        exit 1
    fi
    if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
        echo "As root, please: apt-get install$packages" >&2
        exit 1
    fi

    echo "installing$packages" >&2
    export DEBIAN_FRONTEND=noninteractive
    as_root apt-get update -q || echo "going on with the lists at hand" >&2
    # shellcheck disable=SC2086  # a list of words
    as_root apt-get install -q -y --no-install-recommends $packages
}

case ${1-} in
'') install_missing "$needed" ;;
all) install_missing "$needed$optional" ;;
avx512) install_missing "$needed$avx512" ;;
arm)
    install_missing "$needed$arm"
    cd "$(dirname "$0")/.."
    tools/sysroot.sh arm64 build/sysroot-arm64
    ;;
*) echo "usage: tools/deps.sh [all|arm|avx512]" >&2; exit 2 ;;
esac
