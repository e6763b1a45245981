#!/bin/sh
# places.sh - what is kept is the user's alone, whatever the umask, and nothing
# is written outside of the folders that are named for it.
# shellcheck source=/dev/null
. "$TOOLS"
dir=$PWD
written=$(dirname "$TOOLS")/written.py
usual_tmp=${TMPDIR:-/tmp}
mkdir home tmp named
: >said
unset SPRY_HOME XDG_DATA_HOME XDG_CACHE_HOME XDG_CONFIG_HOME
export HOME="$dir/home" TMPDIR="$dir/tmp" SPRY_SITE_STORE='' SPRY_LOCK=''
small='--schedules 8 --from families --clock processor --threads 1'

# all_private WHERE...: folders are 0700, files 0600.
all_private() {
    bad=$(find "$@" \( -type d ! -perm 700 -o -type f ! -perm 600 \) \
        -printf '%m %p\n')
    [ -z "$bad" ] || fail "umask $mask: $bad"
}

# Below a home, and in a folder whose parents are yet to be made; a store that
# is named, too.
for mask in 000 077 277; do
    (umask $mask && "$SPRY" tune gen:uniform,rows=2000,nnz=20$mask \
        --effort patient --budget 2s) >said 2>&1 ||
        fail "umask $mask: $(cat said)"
    # shellcheck disable=SC2086  # words
    (umask $mask && SPRY_HOME="$dir/home/new/deep" "$SPRY" collect --ops spmv \
        $small gen:banded,rows=300,band=3 --store "$dir/named/$mask.db") \
        >said 2>&1 || fail "umask $mask: $(cat said)"
    # Folders of the home are in it, whatever their names begin with.
    all_private home -mindepth 1
    all_private "named/$mask.db"*
    rm -rf home && mkdir home
done
[ -z "$(ls tmp)" ] || fail "left behind: $(ls tmp)"

strace -o /dev/null true 2>/dev/null ||
    skip "strace is not there or may not be used: writes were not watched"
# Leaks cannot be looked for by a sanitizer beside strace.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"

# traced COMMAND...: with its calls in ./trace.*
traced() {
    rm -f trace.*
    strace -ff -y -qq -o trace \
        -e trace=%file,socket,connect,fchmod,fchown,fchdir "$@"
}

# outside: the calls of the last one that changed something elsewhere. A
# library of OpenMP writes its address into /dev/shm.
outside() {
    python3 "$written" "$dir" home tmp named said /dev/null /dev/shm \
        /proc/self -- trace.*
}

# ---- who watches sees all ----
mkdir elsewhere named/a
python3 - <<'END' || exit 1
import os
for n in range(20):
    open(f"elsewhere/{n}", "w").close()
    open(f"named/a/{n}", "w").close()
END
python=$(python3 -c 'import sys; print(sys.executable)')
for deed in 'os.rename("named/a/1", "elsewhere/to")' \
    'os.rename("elsewhere/2", "named/a/from")' \
    'os.link("named/a/3", "elsewhere/link")' \
    'os.symlink("named", "elsewhere/symlink")' \
    'os.chmod("elsewhere/4", 0o600)' \
    'os.chmod(os.open("elsewhere/4", os.O_RDONLY), 0o600)' \
    'os.unlink("elsewhere/5")' \
    'os.mkdir("elsewhere/folder")' 'os.rmdir("elsewhere/folder")' \
    'os.utime("elsewhere/6")' 'os.truncate("elsewhere/7", 3)' \
    'os.mkfifo("elsewhere/pipe")' 'os.chdir("elsewhere")' \
    'open("elsewhere/8", "a")' 'open("elsewhere/new", "x")' \
    'open("named/../elsewhere/9", "w")' \
    'os.open("9", os.O_RDWR, dir_fd=os.open("elsewhere", os.O_RDONLY))' \
    'os.rename("10", "11", src_dir_fd=os.open("elsewhere", os.O_RDONLY),
        dst_dir_fd=os.open("elsewhere", os.O_RDONLY))' \
    'os.symlink("../elsewhere/12", "named/way"); open("named/way", "w")' \
    'import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM)'; do
    traced "$python" -B -c "import os; $deed" || fail "not done: $deed"
    outside >found && fail "not seen: $deed"
    grep -q 'elsewhere\|network' found || fail "something else: $(cat found)"
done
traced "$python" -B -c 'import os, socket
os.rename("named/a/13", "named/a/to")
os.symlink("/etc/passwd", "named/a/link")
os.open("14", os.O_RDWR, dir_fd=os.open("named/a", os.O_RDONLY))
open("/etc/passwd"); open("/dev/null", "w")
socket.socket(socket.AF_UNIX)' || fail "not done"
outside >found || fail "nothing was wrong: $(cat found)"
rm -rf named elsewhere home && mkdir named home

# ---- what spry does ----
umask 000

# watch COMMAND...: spry writes to its folders and to ./named, and connects to
# nobody.
watch() {
    traced "$SPRY" "$@" --progress none >said 2>&1 ||
        fail "$*: $(cat said)"
    outside >found || fail "written outside by $*: $(cat found)"
    echo "$1: $(cat trace.* | wc -l) calls watched"
}

matrix=gen:uniform,rows=2000,nnz=21000
cp "$(dirname "$TOOLS")/../fuzz/corpus/onnx/conv" named/conv.onnx
# shellcheck disable=SC2086  # words
{
    watch tune $matrix --budget 2s --effort patient
    watch collect gen:banded,rows=400,band=3 gen:banded,rows=400,band=4 \
        gen:uniform,rows=500,nnz=4000 gen:stencil5,nx=20 gen:arrow,rows=500 \
        gen:banded,rows=400,band=8 --ops spmm --widths 8 $small
    watch train --op spmm --rounds 3 --out "$dir/named/m.spry"
    on=$("$SPRY" records export - | sed -n \
        's/.*"about":"spmm.*"machine":"\([0-9a-f]*\)".*/\1/p' | tail -n 1)
    watch adapt named/m.spry --op spmm --on "$on"
    watch export $matrix --schedule tuned --out "$dir/named/new"
    watch freeze --out "$dir/named/spry.lock"
    watch run $matrix --lock "$dir/named/spry.lock"
    watch net generate gen:random width=64 depth=3 --out "$dir/named/a.spnet"
    watch net tune "$dir/named/a.spnet" --budget 1s
    watch net tune named/conv.onnx --budget 60s
    watch net run named/conv.onnx --runs 1 --out "$dir/named/y.npy"
    watch report --out "$dir/named/r.html"
}
[ -n "$(find home -path '*/w/*')" ] || fail "no packed weights were kept"

# Work for a fleet, whose server has a folder and a user of its own.
server=$(dirname "$TOOLS")/../../tools/postgres.sh
folder=$(mktemp -d "$usual_tmp/spry-places.XXXXXX")
if uri=$(TMPDIR=$usual_tmp "$server" start "$folder"); then
    trap '"$server" stop "$folder"' EXIT
    watch fleet init --store "$uri"
    watch probe --write "$dir/named/here"
    watch fleet submit gen:banded,rows=300,band=4 --ops spmv --widths 8 \
        --schedules 3 --budget 20s --store "$uri"
    watch fleet work --idle-exit --machine "$dir/named/here" --store "$uri"
    watch fleet status --store "$uri"
    watch fleet push named/m.spry --store "$uri"
    watch fleet pull --op spmm --store "$uri" --out "$dir/named/pulled.spry"
else
    echo "fleets were not watched: $uri"
fi
mask=000
all_private home -mindepth 1
[ -z "$(ls tmp)" ] || fail "left behind: $(ls tmp)"
exit 0
