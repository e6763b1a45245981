#!/bin/sh
# What is exported compiles with nothing of spry's beside it.
# shellcheck source=/dev/null
. "$TOOLS"
small >small.mtx
expect 0 "$SPRY" export small.mtx --schedule "csr unroll=4" --out . --name tiny
has 'tiny.c$' out
for file in tiny.c tiny.h tiny.bin; do
    [ -f $file ] || fail "no $file"
done
grep -q '#include "spry' tiny.c tiny.h && fail "it needs spry"
expect 0 "$SPRY" export small.mtx --schedule csr --name plain --json
document spry.export/1
holds "len(d['files']) == 3"
refuse 7 'small.mtx/deep' "$SPRY" export small.mtx --schedule csr \
    --out small.mtx/deep
refuse 2 '9 lives' "$SPRY" export small.mtx --schedule csr --name '9 lives'
refuse 2 '"int"' "$SPRY" export small.mtx --schedule csr --name int
# A new folder is as open as the user's umask says.
(umask 027 && expect 0 "$SPRY" export small.mtx --schedule csr --out new/deep)
case $(ls -ld new/deep) in
drwxr-x---*) ;;
*) fail "not what the umask says: $(ls -ld new/deep)" ;;
esac
command -v cc >/dev/null || exit 0
native=-march=native
[ -z "${SPRY_EMULATOR-}" ] || native= # the compiler runs elsewhere
expect 0 cc -std=c11 -Wall -O2 $native -c tiny.c
exit 0
