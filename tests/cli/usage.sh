#!/bin/sh
# Words that make no sense: exit 2, one sentence, the nearest right word.
# shellcheck source=/dev/null
. "$TOOLS"
try() {
    echo "\$ spry $*" >&2
    "$SPRY" "$@"
    echo "= $?" >&2
}
expect 2 "$SPRY"
has '^usage: spry' err
try tone
try xyzzy
try help tone
try tune
try tune a b
try tune a --buget 3
try tune a --budget
try tune a --budget=soon
try tune a --budget=-1
try tune a --budget 0
try collect a --budget 0s
try train --budget 0ms
try net tune a --budget 0
try tune a --calls 1e
try tune a --effort much
try tune a --threads 1.5
try tune a --threads=0x2
try tune a --seed x
try tune a --json=yes
try tune a --qqqqqqqqqq
try tune a -v
try tune a --op spmw
try tune a --mode 3
try tune a --search foo
try records
try records lst
try records list extra
try records show
try cache tidy
try generate
try generate banded
try tune gen:banded,rows=30 --op spmv --cols 4
try tune gen:banded,rows=30 --cols 1.5
try run gen:banded,rows=30 --x a.npy --random

# The library's own words for what it does not know.
refuse 2 'is a network' "$SPRY" tune net:resnet50
refuse 2 bandit "$SPRY" generate bandit --out x.mtx
refuse 2 bandit "$SPRY" tune gen:bandit
refuse 2 'gen:fibers,i=100 is a tensor, for --op mttkrp' \
    "$SPRY" tune gen:fibers,i=100 --op spmm
refuse 2 'of tensors' "$SPRY" tune gen:banded,rows=30 --mode 1
printf '%%%%MatrixMarket matrix coordinate real general
1 9000000000000000000 0\n' >wide.mtx
refuse 2 'operand of 9000000000000000000 x 1 numbers' "$SPRY" tune wide.mtx
# Checked also where it is not needed.
refuse 2 "'foo'" "$SPRY" net run gen:radix,depth=4 --order foo
refuse 2 '3 or more' "$SPRY" net run gen:radix,depth=4 --memory 0
refuse 2 '1 or more' "$SPRY" net order gen:radix,depth=4 --order anneal --moves 0
for bias in nan abc; do
    refuse 2 "$bias" "$SPRY" net run gen:radix,depth=4 --bias $bias
done
refuse 2 avx3 "$SPRY" tune gen:banded,rows=30 --isa avx3
refuse 2 "no parameter 'til'; csr has tile" \
    "$SPRY" predict gen:banded,rows=30 --schedule "csr til=4"
refuse 2 "no format 'zsr'; there are csr, bcsr, .*super, fixed-csr" \
    "$SPRY" predict gen:banded,rows=30 --schedule zsr
for texts in "zsr; csr" "csr; zsr"; do
    refuse 2 zsr "$SPRY" verify gen:banded,rows=30 --schedule "$texts"
done
refuse 2 'no schedule is named' "$SPRY" verify gen:banded,rows=30 \
    --schedule ' ; '
refuse 2 'no way is named' "$SPRY" verify op:matmul,m=4,n=4,k=4 --schedule ' ; '
refuse 2 'no way is named' "$SPRY" net predict gen:radix,depth=2 --ways ' ; '
exit 0
