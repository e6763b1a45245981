#!/bin/sh
# A file that is not what it claims: exit 3, one sentence with its name.
# shellcheck source=/dev/null
. "$TOOLS"
market() {
    printf '%%%%MatrixMarket matrix coordinate real general\n'
    printf '%b' "$1"
}
mkdir folder.mtx
: >empty.mtx
head -c 4096 /dev/urandom >garbage.mtx
market '3 3' >short.mtx
market '3 3 1\n0 1 1\n' >zero.mtx
market '3 3 1\n1 4 1\n' >beyond.mtx
market '3 3 2\n1 1 1\n' >fewer.mtx
market '3 3 1\n1 1 1\n2 2 1\n' >more.mtx
market '3 3 1000000000000000000\n1 1 1\n' >huge.mtx
market '99999999999999999999 3 1\n1 1 1\n' >overflow.mtx
market '3 3 1\n1 1 one\n' >word.mtx
for file in missing folder empty garbage short zero beyond fewer more huge \
    overflow word; do
    refuse 3 "$file.mtx" "$SPRY" inspect $file.mtx
    refuse 3 "$file.mtx" "$SPRY" tune $file.mtx --json
done
refuse 3 'zero.mtx:3:' "$SPRY" inspect zero.mtx
refuse 3 'beyond.mtx:3:' "$SPRY" inspect beyond.mtx
printf 'name\twith\nlines' >"$(printf 'odd\nname.mtx')"
expect 3 "$SPRY" inspect "$(printf 'odd\nname.mtx')"
[ "$(wc -l <err)" = 1 ] || fail "a file name broke the sentence"

# A file that is no store is left alone, and the sentence says what to do.
echo "my thesis" >thesis
for command in "tune gen:uniform,rows=50,nnz=200 --effort predict" \
    "net run gen:radix,depth=1 --batch 1" "probe" "records list" \
    "predict gen:uniform,rows=50,nnz=200" "net tune gen:radix,depth=1"; do
    # shellcheck disable=SC2086
    refuse 8 'move it aside' "$SPRY" $command --store thesis
done
[ "$(cat thesis)" = "my thesis" ] || fail "a thesis was written over"
exit 0
