#!/bin/sh
# Many schedules of many problems: kept, resumed, shared; records of others.
# shellcheck source=/dev/null
. "$TOOLS"
few="--schedules 8 --from families --ops spmv,spmm --widths 8"
mkdir folder
expect 0 "$SPRY" generate uniform rows=200 nnz=900 --out folder/a.mtx
# shellcheck disable=SC2086
expect 0 "$SPRY" collect folder gen:banded,rows=300,band=4 $few --json
document spry.collect/1
holds "d['problems'] == 4 and d['done'] == 4 and d['trials'] >= 32"
holds "sum(d['verdicts'].values()) == d['trials']"
# Doubtful ratios, which a busy machine makes, are not kept.
trials=$(get "d['trials']") doubtful=$(get "d['verdicts'].get('doubtful', 0)")
# shellcheck disable=SC2086
expect 0 "$SPRY" collect folder gen:banded,rows=300,band=4 $few --json
holds "d['known'] == $trials - $doubtful and d['trials'] <= 3 * $doubtful"

# a tune tells where its matrix is, too
expect 0 "$SPRY" tune gen:arrow,rows=500
expect 0 "$SPRY" records export all.jsonl
grep -q '"kind":"problem".*"source":"gen:arrow,rows=500#1"' all.jsonl ||
    fail "no origin of the tuned matrix"
grep -q "\"source\":\"$PWD/folder/a.mtx\",\"base\":\"a\"" all.jsonl ||
    fail "no origin of the file"

# A budget that leaves no time for a first probe is refused.
refuse 6 'spry probe' "$SPRY" collect gen:arrow --budget 3s --store b.db

# two at once share the work
expect 0 "$SPRY" probe --store b.db
# shellcheck disable=SC2086
"$SPRY" collect --suite small --budget 3s --store b.db $few --json \
    >one 2>err1 &
# shellcheck disable=SC2086
"$SPRY" collect --suite small --budget 3s --store b.db $few --json \
    >two 2>err2
wait $! || fail "the first: $(cat err1)"
cat err2 >&2
expect 0 "$SPRY" records check --store b.db

# a bad matrix does not stop the others
echo 'no matrix' >folder/b.mtx
# shellcheck disable=SC2086
expect 3 "$SPRY" collect folder $few --json
holds "d['failed_sources'] == 1"
holds "d['problems'] == 4 and d['done'] == 2"
has 'b.mtx' err
# nor is work done that the store does not take
cp "$SPRY_HOME/data/records.db" full.db
python3 -c "import sqlite3
sqlite3.connect('full.db').execute('CREATE TRIGGER full BEFORE INSERT ON '
    'problem BEGIN SELECT RAISE(FAIL, \"full\"); END')"
"$SPRY" collect gen:tridiagonal,rows=300 --store full.db --json >out 2>err &&
    fail "a store that takes nothing"
holds "d['problems'] > 1 and d['done'] == 0 and d['trials'] == 0"
refuse 3 'nowhere' "$SPRY" collect nowhere.mtx
refuse 2 'suite' "$SPRY" collect --suite huge
refuse 2 'matrices' "$SPRY" collect
refuse 2 'spmx' "$SPRY" collect gen:arrow --ops spmv,spmx
refuse 2 'widths' "$SPRY" collect gen:arrow --widths 0

# records of others
printf '1 64 k1 i1 i0 k0 0 0 0 1 i1 48 2 = 5.655\n' >SpMV__x.txt
expect 0 "$SPRY" records import SpMV__x.txt --format waco --json
holds "d['added'] == 1 and d['in_our_words'] == 1"
printf 'nonsense\n' >SpMV__y.txt
refuse 3 'SpMV__y.txt' "$SPRY" records import SpMV__y.txt --format waco
