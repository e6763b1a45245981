#!/bin/sh
# modulefile.sh - the module file that is installed names what is installed.
#
#   modulefile.sh BUILD_DIR
set -eu
build=$1
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT

fail()
{
    echo "$*" >&2
    exit 1
}

for words in /usr/lib/*/modulecmd.tcl /usr/share/modules/libexec/modulecmd.tcl \
    modulecmd; do
    modulecmd=$(command -v "$words") && break
done
[ -n "$modulecmd" ] || command -v tclsh >/dev/null || {
    echo "SKIPPED: there is neither environment-modules nor tclsh"
    exit 77
}

# What the module file of $1 does, as shell commands.
load()
{
    if [ -n "$modulecmd" ]; then
        env -i PATH=/usr/bin:/bin MODULERCFILE=/dev/null \
            "$modulecmd" sh load "$1" 2>&1
        return
    fi
    tclsh <<END
proc module-whatis {text} {}
proc conflict {name} {}
proc prepend-path {name path} { puts "\$name=\$path; export \$name;" }
source $1
END
}

# installed PREFIX: the module file of what is installed there.
installed()
{
    rm -rf "${stage:?}"/*
    DESTDIR=$stage cmake --install "$build" --prefix "$1" >/dev/null
    find "$stage$1" -path '*/modulefiles/spry/*' -type f
}

file=$(installed /opt/spry)
[ -n "$file" ] || fail "no module file is installed"
version=$(sed -n 's/^Version: //p' \
    "$(find "$stage" -name spry.pc)")
[ "${file##*/}" = "$version" ] || fail "$file is not of spry $version"
grep -q "spry $version:" "$file" || fail "the module file says another version"
load "$file" >"$stage/said"

# Every folder that it names is there, and what is looked for in it.
while read -r name there; do
    path=$(tr ';' '\n' <"$stage/said" |
        sed -n "s|^ *$name=['\"]*\(/opt/spry[^:'\"]*\).*|\1|p")
    [ -n "$path" ] || fail "$name is not set: $(cat "$stage/said")"
    [ -e "$stage$path/$there" ] || fail "$name: no $there in $path"
done <<'END'
PATH spry
LD_LIBRARY_PATH libspry.so
LIBRARY_PATH libspry.so
CPATH spry.h
PKG_CONFIG_PATH spry.pc
CMAKE_PREFIX_PATH include/spry.h
MANPATH man1/spry.1
END

# In the system's own folders nothing has to be set.
load "$(installed /usr)" >"$stage/said"
! grep -E '(^|[; ])[A-Z_]*PATH=' "$stage/said" | grep -q /usr/include ||
    fail "/usr/include comes before what else is there: $(cat "$stage/said")"
