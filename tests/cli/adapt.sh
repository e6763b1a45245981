#!/bin/sh
# A model learns on a machine beside its own file, and can forget it.
# shellcheck source=/dev/null
. "$TOOLS"
refuse 3 'no such store' "$SPRY" adapt --store none.db
collect() {
    expect 0 "$SPRY" collect --store r.db --ops spmm --widths 8 --limits 1 \
        --schedules 8 --from families --clock processor "$1"
}
collect gen:banded,rows=400,band=3
fp=$(python3 -c "import sqlite3
print(sqlite3.connect('r.db').execute('select machine from record').fetchone()[0])")
expect 2 "$SPRY" adapt --store r.db --op spmm --on nobody
has 'no records of spmm on the machine nobody' err
has "$fp" err
expect 2 "$SPRY" adapt --store r.db --op spmm --on "$fp"
has 'all of one matrix' err
collect gen:uniform,rows=500,nnz=4000
collect gen:stencil5,nx=20
expect 2 "$SPRY" adapt --store r.db --op spmm --on "$fp" --method magic
has 'no way of adapting' err
# Of all operations, those without records are passed over, if there are others.
expect 0 "$SPRY" adapt --store r.db --on "$fp" --json
holds "[a['op'] for a in d['adapted']] == ['spmm']"
has 'note: spmv: the store has no records' err
expect 2 "$SPRY" adapt --store r.db --on nobody
has 'nothing to adapt' err
expect 0 "$SPRY" adapt --store r.db --op spmm --on "$fp" --json
document spry.adapt/1
holds "d['adapted'][0]['machine'] == '$fp' and d['adapted'][0]['problems'] == 3"
# On a busy machine too few records may be clear enough to judge by. A correction
# of times (bayes) may cost some order, not much; all others gain order.
holds "(lambda a: a['wrong_after'] is None or a['wrong_after'] <=
    a['wrong_before'] + 0.05 * (a['method'] == 'bayes'))(d['adapted'][0])"
file=$(get "d['adapted'][0]['file']")
test -e "$file" || fail "no file $file"
expect 0 "$SPRY" model info --on "$fp"
has 'learned   of spmm' out
expect 0 "$SPRY" model info "$file" --json
document spry.model/1
holds "d['models'][0]['kind'] == 'local' and d['models'][0]['op'] == 'spmm'"
holds "d['models'][0]['machine'] == '$fp' and d['models'][0]['problems'] == 3"
# What to measure next is chosen, and is as many as were asked for.
expect 0 "$SPRY" collect --store c.db --ops spmm --widths 8 --limits 1 \
    --schedules 6 --from families --clock processor --choose --json \
    gen:powerlaw,rows=300,nnz=3000
document spry.collect/1
holds "6 <= d['trials'] <= 9"
kept=$(get "d['trials'] - d['verdicts'].get('doubtful', 0)")
records=$(python3 -c "import sqlite3
print(sqlite3.connect('c.db').execute('select count(*) from record').fetchone()[0])")
test "$records" = "$kept" || fail "$records records of $kept trials"
SPRY_MODELS=$PWD/nowhere expect 2 "$SPRY" collect --store c.db --ops spmm \
    --widths 4 --limits 1 --schedules 2 --clock processor --choose \
    gen:powerlaw,rows=300,nnz=3000
has 'no model of spmm' err
# What is damaged is said so, and the model speaks without it.
head -c 300 "$file" >part.spry && cp part.spry "$file"
expect 0 "$SPRY" model info --on "$fp"
has 'cut short\|damaged\|checksum\|bytes' err
expect 3 "$SPRY" model info "$file"
expect 0 "$SPRY" model forget --on "$fp" --json
holds "d['forgotten'] == 1"
test ! -e "$file" || fail "$file is still there"
expect 0 "$SPRY" model forget --on "$fp"
has '0 models' out
exit 0
