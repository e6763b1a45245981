#!/bin/sh
# What is measured can be listed, shown, moved, merged and checked.
# shellcheck source=/dev/null
. "$TOOLS"
m=gen:banded,rows=2000,band=20
expect 0 "$SPRY" records list --json
document spry.records/1
holds "d['count'] == 0 and d['records'] == []"
expect 0 "$SPRY" tune $m
expect 0 "$SPRY" records list --json --limit 0
holds "d['count'] > 0 and d['answers'] == 1"
holds "len(d['records']) == d['count']"
count=$(get "d['count']")
id=$(get "d['records'][0]['id']")
store=$(get "d['store']")
expect 0 "$SPRY" records list --limit 1
[ "$(wc -l <out)" = 2 ] || fail "a title and one record: $(cat out)"
expect 0 "$SPRY" records show "$(echo "$id" | cut -c 1-10)" --json
document spry.record/1
holds "d['id'] == '$id' and isinstance(d['samples'], list)"
expect 0 "$SPRY" records show "$id"
has "$id" out
[ ! -s err ] || fail "one record, and words about it: $(cat err)"
expect 0 "$SPRY" records show ''
has 'note: other records' err
refuse 2 'zzz' "$SPRY" records show zzz

expect 0 "$SPRY" records export all.jsonl --json
document spry.records/1
holds "d['exported'] > $count"
holds "d['exported'] == $(wc -l <all.jsonl)"
mkfifo all.pipe # cannot be read again: the writer counts
cat all.pipe >piped.jsonl &
expect 0 "$SPRY" records export all.pipe --json
holds "d['exported'] == $(wc -l <all.jsonl)"
wait $!
cmp all.jsonl piped.jsonl || fail 'a pipe got something else than a file'
lines=$(wc -l <all.jsonl) # records, an answer and a machine
[ "$lines" -gt "$count" ] || fail "$lines lines for $count records"
expect 0 "$SPRY" records import all.jsonl --store other.db
has "^$lines rows added" out
expect 0 "$SPRY" records import all.jsonl --store other.db
has '^0 rows added' out
expect 0 "$SPRY" records merge other.db --json
holds "d['added'] == 0"
expect 0 "$SPRY" records merge "$store" --store third.db
has "^$lines rows added" out
echo 'not json' >>all.jsonl
expect 0 "$SPRY" records import all.jsonl --store other.db
has '1 damaged' err
printf 'not json\n\n{"kind":"recipe"}\n' >none.jsonl
refuse 3 'none.jsonl:1: ' "$SPRY" records import none.jsonl
refuse 3 'missing.jsonl' "$SPRY" records import missing.jsonl
# Lines of others that are none: the file, the line and why, and nothing added.
printf 'nonsense\n' >epyc7543__spmv.tsv
refuse 3 'epyc7543__spmv.tsv:1: ' "$SPRY" records import \
    --format autosparse epyc7543__spmv.tsv
refuse 3 'epyc7543__spmv.tsv:1: ' "$SPRY" records import \
    --format ansor epyc7543__spmv.tsv
printf 'matrix\tformat\ttime_s\nA\tcsr\t1e-5\nB\tcsr\nC\tcoo\tx\n' >A100_cuda.tsv
cp A100_cuda.tsv nobody.tsv
refuse 2 'nobody.tsv: its name' "$SPRY" records import --format ginkgo nobody.tsv
expect 0 "$SPRY" records import --format ginkgo A100_cuda.tsv --store gpu.db
has '^1 records added' out
has '2 damaged lines skipped: A100_cuda.tsv:3: ' err
expect 0 "$SPRY" records check
expect 0 "$SPRY" records gc --days 0
echo 'this is no database, and long enough to be sure of it' >bad.db
refuse 8 'bad.db' "$SPRY" records list --store bad.db
exit 0
