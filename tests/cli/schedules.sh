#!/bin/sh
# Points of WACO's space: counted, listed, drawn, read back, run.
# shellcheck source=/dev/null
. "$TOOLS"
m=gen:uniform,rows=64,cols=64,nnz=300
expect 0 "$SPRY" schedules $m --op spmm --cols 8 --threads 2 --count
has '^457 236 points' out
expect 0 "$SPRY" schedules $m --op sddmm --cols 8 --sample 30 --json
document spry.schedules/1
holds "len(d['schedules']) == 30 and d['feasible'] + d['infeasible'] == 30"

expect 0 "$SPRY" schedules $m --op spmm --cols 8 --sample 40 --from waco \
    --format waco
[ "$(wc -l <out)" = 40 ] || fail "not 40 lines"
[ "$(awk '{print NF}' out | sort -u)" = 16 ] || fail "not 16 words"
cp out lines.txt
expect 0 "$SPRY" schedules $m --op spmm --cols 8 --check lines.txt --json
holds "len(d['schedules']) == 40"
x=$(get "d['schedules'][0]['schedule']")
expect 0 "$SPRY" verify $m --op spmm --cols 8 --schedule "$x; fixed-csr"
has '^2 right' out

echo '1 2 3' >>lines.txt
refuse 3 'lines.txt:41:' "$SPRY" schedules $m --op spmm --check lines.txt
refuse 2 'fixed-cs' "$SPRY" verify $m --schedule fixed-cs
exit 0
