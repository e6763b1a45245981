#!/bin/sh
# A card that is written can be read; limits are obeyed and checked.
# shellcheck source=/dev/null
. "$TOOLS"
expect 0 "$SPRY" probe --write card.txt --json
document spry.probe/1
holds "d['machine'] and d['grade'] in 'ABCD'"
expect 0 "$SPRY" probe
has 'fingerprint' out
expect 0 "$SPRY" probe --machine card.txt
has 'fingerprint' out
expect 0 "$SPRY" probe --machine card.txt --write -
cmp card.txt out || fail "another card on stdout"
expect 0 "$SPRY" probe --threads 1 --isa portable
has '^1 of' out
has 'portable' out
refuse 2 'thread' "$SPRY" probe --threads 100000
refuse 2 'avx3' "$SPRY" probe --isa avx3
refuse 3 'missing.txt' "$SPRY" probe --machine missing.txt
echo 'cores many' >bad.txt
refuse 3 'bad.txt' "$SPRY" probe --machine bad.txt
expect 0 "$SPRY" predict gen:banded,rows=500 --machine card.txt
exit 0
