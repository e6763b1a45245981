#!/bin/sh
# deb.sh - Debian packages of the committed state, and what can be said of them.
#
#   tools/deb.sh          build them into build/deb, run lintian
#   tools/deb.sh lint     run lintian only
#   tools/deb.sh twice    build them twice, the second time in another folder,
#                         time zone, locale and umask: are they the same bytes?
#   tools/deb.sh install  into a chroot, test, run, purge: is anything left?
#
# What is asked of packages is asked of the committed state: they are built
# anew when they are of another.
# JOBS says how many processes build. A fresh root for `install` is made by
# debootstrap, from MIRROR if that is set, else from where debootstrap fetches.
# shellcheck disable=SC2129,SC2030,SC2031
set -eu
cd "$(dirname "$0")/.."
out=$PWD/build/deb
commit=$(git rev-parse HEAD 2>/dev/null || true) # whatever comes meanwhile
version=$(sed -n '1s/.*(\(.*\)).*/\1/p' debian/changelog)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct "$commit" 2>/dev/null || date +%s)
export SOURCE_DATE_EPOCH

need()
{
    command -v "$1" >/dev/null && return
    echo "deb.sh: $1 is missing: apt-get install $2" >&2
    exit 1
}

# Build the commit $commit in the folder $1.
build_in()
{
    need dpkg-buildpackage dpkg-dev
    need dh debhelper
    profile=
    pkg-config --exists PETSc || profile=-Ppkg.spry.nopetsc
    rm -rf "$1"
    mkdir -p "$1/spry-$version"
    git archive "$commit" | tar -x -C "$1/spry-$version"
    "$1/spry-$version/tools/symbols.sh"
    (
        cd "$1/spry-$version"
        export DEB_BUILD_OPTIONS="parallel=${JOBS:-2} ${DEB_BUILD_OPTIONS-}"
        # shellcheck disable=SC2086  # a word or none
        dpkg-buildpackage -us -uc -b $profile >../build.log 2>&1
    ) || {
        tail -n 40 "$1/build.log" >&2
        exit 1
    }
}

# aim NAME VALUE: none is wanted.
aim()
{
    echo "aim $1 $2 0 $([ "$2" = 0 ] && echo met || echo short)"
}

unknown()
{
    echo "aim $1 - 0 not measured: $2"
}

count()
{
    grep -c "^$1:" "$out/lintian.log" || true
}

# lintian ends with 0, or 2 if there are errors; all else is its own failure.
lint()
{
    rc=0
    if ! command -v lintian >/dev/null; then
        unknown lintian_errors "lintian is not installed"
        unknown lintian_warnings "lintian is not installed"
        return
    fi
    (cd "$out" && lintian --allow-root -I ./*.changes) \
        >"$out/lintian.log" 2>&1 || rc=$?
    grep '^[EW]:' "$out/lintian.log" || true
    if [ "$rc" != 0 ] && [ "$rc" != 2 ]; then
        tail -n 3 "$out/lintian.log"
        unknown lintian_errors "lintian failed, exit $rc"
        unknown lintian_warnings "lintian failed, exit $rc"
        return
    fi
    aim lintian_errors "$(count E)"
    aim lintian_warnings "$(count W)"
}

build()
{
    build_in "$out"
    echo "$commit" >"$out/commit"
    ls "$out"/*.deb
}

# The packages of this commit, built if they are not there.
need_packages()
{
    [ "$(cat "$out/commit" 2>/dev/null)" = "$commit" ] || build
}

twice()
{
    (
        umask 022
        export TZ=UTC LC_ALL=C
        build
    )
    other=$(mktemp -d)/another/folder
    (
        umask 002
        export TZ=Pacific/Kiritimati LC_ALL=C.UTF-8
        build_in "$other"
    )
    differ=0
    all=0
    for f in "$out"/*.deb; do
        all=$((all + 1))
        cmp -s "$f" "$other/${f##*/}" || {
            differ=$((differ + 1))
            echo "differs: ${f##*/}"
        }
    done
    [ "$differ" = 0 ] && rm -rf "${other%/another/folder}"
    echo "$all packages built twice"
    aim packages_that_differ "$differ"
}

# A fresh root in $root.
make_root()
{
    rm -rf "$root"
    mkdir -p "$root"
    if command -v debootstrap >/dev/null &&
        debootstrap --variant=minbase "$(sed -n \
            's/^VERSION_CODENAME=//p' /etc/os-release)" "$root" \
            ${MIRROR:+"$MIRROR"} >"$out/debootstrap.log" 2>&1; then
        echo "root: debootstrap"
        cp /etc/apt/sources.list "$root/etc/apt/" 2>/dev/null || true
        cp /etc/apt/sources.list.d/* "$root/etc/apt/sources.list.d/" \
            2>/dev/null || true
        cp /etc/resolv.conf "$root/etc/" 2>/dev/null || true
        return
    fi
    echo "root: debootstrap could not make one ($out/debootstrap.log)"
    exit 77
}

files()
{
    (cd "$root" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./dev \
        -o -path ./tmp -o -path ./var/lib/dpkg -o -path ./var/lib/apt \
        -o -path ./var/cache -o -path ./var/log -o -path ./root \) -prune -o \
        -print | LC_ALL=C sort)
}

in_root()
{
    chroot "$root" /usr/bin/env DEBIAN_FRONTEND=noninteractive HOME=/root \
        PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

# The tests of debian/tests, as autopkgtest would run them.
try_tests()
{
    mkdir -p "$root/tmp/source"
    git archive "$commit" README.md debian/tests | tar -x -C "$root/tmp/source"
    sed -n 's/^Tests: //p' debian/tests/control | while read -r test; do
        # shellcheck disable=SC2016  # the inner shell's
        in_root sh -ec 'cd /tmp/source && AUTOPKGTEST_TMP=$(mktemp -d) &&
            export AUTOPKGTEST_TMP && "debian/tests/$1"' sh "$test" \
            </dev/null >>"$out/install.log" 2>&1 || {
            tail -n 5 "$out/install.log" >&2
            echo "deb.sh: debian/tests/$test fails ($out/install.log)" >&2
            exit 1
        }
        echo "debian/tests/$test passes"
    done
}

# A program that knows nothing of spry, on the library that pkg-config names.
try_petsc()
{
    cp petsc/examples/solve.c "$root/tmp/solve.c"
    # shellcheck disable=SC2016  # the inner shell's
    in_root sh -ec 'cd /tmp
        mpicc solve.c -o solve $(pkg-config --cflags --libs PETSc) -lm
        plugin=$(pkg-config --variable=plugin spry_petsc)
        ./solve -n 8 -dll_append "$plugin" -mat_seqaij_type seqaijspry \
            -spry_least 0 -info :mat 2>&1 | grep "spry multiplies"' \
        >>"$out/install.log" 2>&1 || {
        echo "deb.sh: PETSc does not multiply by spry ($out/install.log)" >&2
        exit 1
    }
}

install_and_purge()
{
    [ "$(id -u)" = 0 ] || { echo "deb.sh install: as root, please" >&2; exit 1; }
    need_packages
    root=$out/root
    make_root
    mkdir -p "$root/packages"
    cp "$out"/*.deb "$root/packages"
    in_root apt-get update -q >"$out/install.log" 2>&1
    names='libspry0 libspry-dev spry spry-models python3-spry'
    petsc=$(cd "$out" && echo libspry-petsc_*.deb)
    [ -e "$out/$petsc" ] && petsc=libspry-petsc || petsc=
    names="$names $petsc"
    # What they need first, so that only our own files are new.
    in_root apt-get install -q -y --no-install-recommends gcc libc6-dev \
        libhwloc-dev libsqlite3-dev zlib1g-dev libgomp1 python3-scipy \
        pkg-config ${petsc:+petsc-dev} >>"$out/install.log" 2>&1
    files >"$out/before.list"
    # shellcheck disable=SC2016,SC2086  # the inner shell's; lists of words
    in_root sh -c 'cd /packages && for n; do echo "$n"_*.deb; done |
        xargs dpkg -i' sh $names >>"$out/install.log" 2>&1
    try_tests
    [ -z "$petsc" ] || try_petsc
    # shellcheck disable=SC2086
    in_root dpkg --purge $names >>"$out/install.log" 2>&1
    files >"$out/after.list"
    left=$(diff "$out/before.list" "$out/after.list" | grep -c '^>' || true)
    diff "$out/before.list" "$out/after.list" | grep '^>' || true
    aim files_left_by_purge "$left"
    rm -rf "$root"
}

case ${1-build} in
build)
    build
    lint
    ;;
lint) lint ;;
twice) twice ;;
install) install_and_purge ;;
*) echo "usage: tools/deb.sh [lint|twice|install]" >&2; exit 2 ;;
esac
