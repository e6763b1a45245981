#!/bin/sh
# places.sh - what is kept is the user's alone, whatever the umask, and nothing
# is written outside of the folders that are named for it.
set -eu
: "${SPRY:?path of the spry command}"
dir=$PWD
mkdir home tmp
unset SPRY_HOME XDG_DATA_HOME XDG_CACHE_HOME XDG_CONFIG_HOME || true
export HOME="$dir/home" TMPDIR="$dir/tmp" SPRY_SITE_STORE='' SPRY_LOCK=''
how='--budget 2s --progress none --json'

for mask in 000 077; do
    # shellcheck disable=SC2086  # words
    (umask $mask && "$SPRY" tune gen:uniform,rows=2000,nnz=2$mask $how) \
        >/dev/null 2>&1
    bad=$(find home -mindepth 1 \( -type d ! -perm 700 \
        -o -type f ! -perm 600 \) -printf '%m %p\n')
    [ -z "$bad" ] || { echo "umask $mask: $bad"; exit 1; }
    rm -rf home
    mkdir home
done
[ -z "$(ls tmp)" ] || { echo "left behind: $(ls tmp)"; exit 1; }

if ! command -v strace >/dev/null || ! strace -o /dev/null true 2>/dev/null
then
    echo "no strace: writes were not watched"
    exit 0
fi
# Leaks cannot be looked for by a sanitizer beside strace.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
mkdir named
umask 000

# watch COMMAND...: spry writes to its folders and to ./named, and connects to
# nobody.
watch()
{
    strace -f -qq -o trace -e trace=%file,connect,socket "$SPRY" "$@" \
        --progress none >said 2>&1 || { cat said; echo "fails: $*"; exit 1; }
    outside=$(grep -E 'O_WRONLY|O_RDWR|O_CREAT|mkdir|rename|unlink|truncate' \
        trace | grep -vE '= -1 E|readlink|at2?\([0-9]+, "[^/]' |
        sed -n 's/^[^"]*"\([^"]*\)".*/\1/p' |
        grep -vE "^($dir/(home|tmp|named)(/|$)|/dev/null|/dev/shm/|/proc/)" ||
        true)
    [ -z "$outside" ] || { echo "written outside by $*: $outside"; exit 1; }
    net=$(grep -E 'connect\(.*AF_INET' trace || true)
    [ -z "$net" ] || { echo "$* connects: $net"; exit 1; }
    echo "$1: $(wc -l <trace) calls watched"
}

small='--schedules 8 --from families --clock processor --threads 1'
# shellcheck disable=SC2086  # words
{
    watch tune gen:uniform,rows=2000,nnz=21000 --budget 2s --effort patient
    watch collect gen:banded,rows=400,band=3 gen:banded,rows=400,band=4 \
        gen:banded,rows=400,band=5 gen:banded,rows=400,band=6 \
        gen:banded,rows=400,band=7 gen:banded,rows=400,band=8 \
        --ops spmm --widths 8 $small
    watch train --op spmm --kind mlp --rounds 3 --out "$dir/named/m.spry"
    watch net generate gen:random width=64 depth=3 --out "$dir/named/a.spnet"
    watch net tune "$dir/named/a.spnet" --budget 1s
    watch report --out "$dir/named/r.html"
}
[ -z "$(ls tmp)" ] || { echo "left behind: $(ls tmp)"; exit 1; }
bad=$(find home -mindepth 1 \( -type d ! -perm 700 -o -type f ! -perm 600 \) \
    -printf '%m %p\n')
[ -z "$bad" ] || { echo "umask 000: $bad"; exit 1; }
