#!/bin/sh
# Many workers, one PostgreSQL: every job once, whoever is killed; jobs that
# are no jobs; who may do what.
# shellcheck source=/dev/null
. "$TOOLS"
[ -z "${SPRY_EMULATOR:-}" ] || skip "workers are not emulated"
export SPRY_PROBE=quick
refuse 7 'libpq' env SPRY_LIBPQ=none "$SPRY" fleet status \
    --store postgresql://nowhere/x
refuse 2 'postgresql://' "$SPRY" fleet status --store records.db
refuse 2 'init' "$SPRY" fleet innit --store postgresql://nowhere/x

server=$(dirname "$TOOLS")/../../tools/postgres.sh
folder=$(mktemp -d "${TMPDIR:-/tmp}/spry-fleet.XXXXXX")
uri=$("$server" start "$folder" fsync=off) || skip "$uri"
trap '"$server" stop "$folder"' EXIT
q() { psql -XAtq -v ON_ERROR_STOP=1 "$uri" -c "$1"; }

# ---- passwords stay where they are ----
expect 8 "$SPRY" records list --store \
    "postgresql://u:hunter2@%2Fnowhere/x?sslpassword=hunter3"
grep -q hunter out err && fail "a password is told: $(cat err)"
expect 8 "$SPRY" records list --store "postgresql://u:hunter2@h/x?%zz=hunter3"
grep -q hunter out err && fail "a password is told: $(cat err)"
# A % alone, an @ or a / too many, no @ at all: libpq would quote the rest.
for written in 'u:hunter2%zz@h/x' 'u:hun@hunter2@127.0.0.1:1/x' \
    'u:7/hunter2@h/x' 'u:hunter2/x' 'h/x?user=u@hunter2' 'h:1/x?passwd=hunter2' \
    'u:hunter?hunter2@h/x' 'u:7#hunter2@h/x' 'h/x?hunter2'; do
    for command in 'records list' 'fleet status' 'tune gen:banded,rows=9'; do
        # shellcheck disable=SC2086 # words
        expect 8 "$SPRY" $command --store "postgresql://$written"
        sed '/a password on the command line/d' err | grep -q hunter &&
            fail "a password is told: $(cat err)"
    done
done
# Nearly a URI: neither that nor a file, and not shown.
for written in 'Postgresql://u:hunter2@h/x' 'postgresql:u:hunter2@h/x' \
    'postgresql+psycopg://u:hunter2@h/x' 'host=h password = hunter2 dbname=x' \
    'mysql://u:hunter2@h/x'; do
    for command in 'records list' 'fleet status' 'tune gen:banded,rows=9' \
        'collect gen:banded,rows=9'; do
        # shellcheck disable=SC2086 # words
        expect 2 "$SPRY" $command --store "$written"
        grep -q hunter out err && fail "a password is told: $(cat err)"
        [ -z "$(find . -name '*hunter*')" ] || fail "a file of that name"
    done
done
refuse 8 'fleet init' "$SPRY" records list --store "$uri"

# ---- one store, two engines ----
expect 0 "$SPRY" fleet init --store "$uri" --lease 1s --tries 50 --json
document spry.fleet/1
expect 0 "$SPRY" fleet init --store "$uri" --json # an update keeps them
holds "d['lease'] == 1 and d['tries'] == 50"
expect 0 "$SPRY" probe --write here.machine
here="--machine here.machine --threads 1"
# shellcheck disable=SC2086
expect 0 "$SPRY" collect gen:banded,rows=300,band=4 --schedules 6 --ops spmv \
    --from families --store local.db $here
expect 0 "$SPRY" records merge local.db --store "$uri"
expect 0 "$SPRY" records merge local.db --store "$uri" --json
holds "d['added'] == 0"
expect 0 "$SPRY" records check --store "$uri"
expect 0 "$SPRY" records export one.jsonl --store local.db
expect 0 "$SPRY" records export two.jsonl --store "$uri"
cmp one.jsonl two.jsonl || fail "rows changed on the way"
expect 0 "$SPRY" records merge "$uri" --store back.db
expect 0 "$SPRY" records export three.jsonl --store back.db
cmp one.jsonl three.jsonl || fail "rows changed on the way back"
# shellcheck disable=SC2086
expect 0 "$SPRY" collect gen:banded,rows=300,band=4 --schedules 6 --ops spmv \
    --from families --store "$uri" --json $here
holds "d['known'] > 0"

# ---- all jobs, once ----
jobs=120
i=0
set --
while [ $i -lt $jobs ]; do
    i=$((i + 1))
    set -- "$@" "gen:uniform,rows=50,nnz=$((100 + i))"
done
expect 0 "$SPRY" fleet submit "$@" --kind survey --ops spmv --store "$uri"
expect 0 "$SPRY" fleet submit "$@" --kind survey --ops spmv --store "$uri" \
    --json
holds "d['jobs'] == $jobs and d['added'] == 0"
small >a.mtx
expect 0 "$SPRY" fleet submit a.mtx gen:arrow,rows=400 --ops spmm --widths 4 \
    --schedules 3 --from families --budget 5s --store "$uri"
# shellcheck disable=SC2317 # wait_for calls it
enrolled() { # at least so many workers
    [ "$(q "SELECT count(*) FROM spry.worker")" -ge "$1" ]
}
work() {
    # shellcheck disable=SC2086
    exec "$SPRY" fleet work --store "$uri" --idle-exit $here --progress none
}
for n in 1 2 3 4; do
    (work) >"w$n" 2>&1 &
    eval "w$n=$!"
done
pid=$$ # whatever is waited for, this script is there
for n in 1 2; do
    wait_for enrolled $((3 + n))
    sleep 0.5
    eval "kill -9 \$w$n" 2>/dev/null
    (work) >"x$n" 2>&1 &
    eval "w$n=$!"
done
wait_for enrolled 6
"$server" kill "$folder"
sleep 0.5
"$server" again "$folder"
for n in 1 2 3 4; do
    eval "wait \$w$n" || fail "a worker: $(cat w* x*)"
done
expect 0 "$SPRY" fleet status --store "$uri" --json
document spry.fleet/1
holds "d['done'] == $jobs + 2 and d['failed'] == d['ready'] == d['leased'] == 0"
holds "len(d['workers']) == 6"
[ "$(q "SELECT count(*) FROM spry.problem WHERE source LIKE 'gen:uniform%'")" \
    = $jobs ] || fail "problems were lost"
expect 0 "$SPRY" records check --store "$uri"
q "SELECT 1 FROM spry.record WHERE about LIKE 'spmm 4 f32 3x4%'" | grep -q 1 ||
    fail "no record of the matrix in the store"

"$SPRY" fleet work --machine here.machine \
    --store "$(printf %s "$uri" | sed 's|spry@|spry:hunter2@|')" >seen 2>&1 &
pid=$!
wait_for enrolled 7
tr '\0' ' ' <"/proc/$pid/cmdline" >>seen
kill $pid && wait $pid
grep -q hunter2 seen && fail "a password is in the process list"

# ---- a late result is refused with all its records ----
expect 0 "$SPRY" fleet submit gen:arrow,rows=77 --kind survey --ops spmv \
    --store "$uri"
# enroll NAME MACHINE: "NUMBER, 'KEY'" of a new worker.
enroll() {
    q "SELECT format('%s, %L', worker, key) FROM spry.enroll('$1', '$2', '')"
}
slow=$(enroll slow 0123456789abcdef)
first=$(q "SELECT fence FROM spry.take($slow, '0123456789abcdef')")
sleep 1.6
second=$(q "SELECT fence FROM spry.take($slow, '0123456789abcdef')")
job=$(q "SELECT id FROM spry.queue WHERE state = 1")
[ "$second" -gt "$first" ] || fail "tokens $first, $second"
rows='{"machine": [{"fingerprint": "late", "text": "late"}]}'
[ "$(q "SELECT ours FROM spry.finish($slow, $job, $first, '$rows', 1)")" = f ] ||
    fail "a late result was taken"
[ "$(q "SELECT count(*) FROM spry.machine WHERE fingerprint = 'late'")" = 0 ] ||
    fail "a late result left rows"
[ "$(q "SELECT spry.beat($slow, $job, $first)")" = f ] || fail "a late beat"
other=$(enroll other fedcba9876543210)
for asked in "spry.beat($other, $job, $second)" \
    "spry.give_back($other, $job, $second, '', true)" \
    "ours FROM spry.finish($other, $job, $second, NULL, 1)"; do
    [ "$(q "SELECT $asked")" = f ] || fail "another worker's job: $asked"
done
guessed="${slow%%,*}, ${other#*, }" # a number is not enough
for asked in "spry.beat($guessed, $job, $second)" \
    "spry.give_back($guessed, $job, $second, '', true)" \
    "spry.finish($guessed, $job, $second, NULL, 1)"; do
    q "SELECT $asked" >seen 2>&1 && fail "a guessed worker: $asked"
    has 'this number and this key' seen
done
for again in 1 2; do # the answer may get lost: asking again changes nothing
    [ "$(q "SELECT ours FROM spry.finish($slow, $job, $second, NULL, 1)")" = t ] ||
        fail "the lease's holder was refused ($again)"
done

# ---- a server that dies does not use a tune's budget up ----
# shellcheck disable=SC2317 # wait_for calls it
measured() { # something was stored
    [ "$(q "SELECT count(*) FROM spry.record WHERE about LIKE 'spmm 8 f64 \
3000x3000%'")" -gt 0 ]
}
begun_at=$(date +%s)
# shellcheck disable=SC2086
"$SPRY" tune gen:uniform,rows=3000,nnz=200000 --op spmm --cols 8 \
    --effort patient --budget 8s --store "$uri" --json $here >out 2>err &
pid=$!
wait_for measured
"$server" kill "$folder"
wait "$pid" || fail "a tune needs its server: $(cat err)"
took=$(($(date +%s) - begun_at))
[ $took -le 16 ] || fail "8 s took $took s after the server had gone"
holds "d['schema'] == 'spry.tune/1' and 'could not be stored' in str(d)"
"$server" again "$folder"

# ---- a worker that is asked to stop has not tried ----
expect 0 "$SPRY" fleet submit gen:uniform,rows=20000,nnz=900000 --kind tune \
    --ops spmm --widths 64 --budget 600s --store "$uri"
mkdir tmp
# shellcheck disable=SC2317 # wait_for calls it
begun() { [ -e "$(echo tmp/*/job.db)" ]; }
(TMPDIR=$PWD/tmp && export TMPDIR && work) >w6 2>&1 &
pid=$!
wait_for begun
kill $pid
wait $pid
[ -z "$(ls tmp)" ] || fail "a job left $(echo tmp/*)"
long=$(q "SELECT max(id) FROM spry.queue")
now=$(q "SELECT state, tries FROM spry.queue WHERE id = $long")
[ "$now" = '0|0' ] || fail "stopped, and the job is $now: $(cat w6)"
q "DELETE FROM spry.queue WHERE id = $long; DELETE FROM spry.job WHERE id = $long"

# ---- a matrix that takes longer than a lease to come, for two jobs ----
python3 -c '
print("%%MatrixMarket matrix coordinate real general\n2000 2000 150000")
for i in range(150000):
    print(i // 75 + 1, i * 7919 % 2000 + 1, "0.5%05d" % (i % 9973))' >big.mtx
expect 0 "$SPRY" fleet submit big.mtx --kind survey --ops spmv,spmm \
    --widths 4 --store "$uri"
q "CREATE TABLE public.fetched(start bigint, until timestamptz);
   ALTER FUNCTION spry.fetch RENAME TO fetch_at_once;
   CREATE FUNCTION spry.fetch(content text, start bigint, OUT ending text,
       OUT size bigint, OUT bytes bytea) LANGUAGE plpgsql AS \$\$ BEGIN
       PERFORM pg_sleep(0.5);
       INSERT INTO public.fetched SELECT \$2, q.until FROM spry.queue q
           WHERE q.state = 1;
       SELECT * INTO ending, size, bytes FROM spry.fetch_at_once(content,
           \$2); END \$\$"
(work) >w7 2>&1 || fail "a slow matrix ended a worker: $(cat w7)"
has '2 jobs done' w7
[ "$(q "SELECT count(*) FILTER (WHERE start = 0), count(*) > 2,
    count(DISTINCT until) > 2 FROM public.fetched")" = '1|t|t' ] ||
    fail "pieces and signs of life: $(q "SELECT * FROM public.fetched")"
q "DROP FUNCTION spry.fetch; ALTER FUNCTION spry.fetch_at_once RENAME TO fetch"

# ---- hostile jobs, put past all that looks at them ----
"$(dirname "$TOOLS")/hostile_jobs" | while IFS= read -r line; do
    printf '%s\n' "$line" | sed "s/'/''/g; s/.*/INSERT INTO spry.job(work, \
machine) VALUES (E'&', '');/"
done >hostile.sql
hostile=$(wc -l <hostile.sql)
[ "$hostile" -ge 50 ] || fail "only $hostile hostile jobs"
psql -XAtq -v ON_ERROR_STOP=1 "$uri" -f hostile.sql || fail "no hostile jobs"
q "INSERT INTO spry.queue(id, machine, priority) SELECT id, '', 0 FROM spry.job
   WHERE id NOT IN (SELECT id FROM spry.queue)"
(work) >w5 2>&1 || fail "hostile jobs ended a worker: $(cat w5)"
[ "$(q "SELECT count(*) FROM spry.outcome WHERE NOT done AND reason <> ''")" \
    = "$hostile" ] || fail "some were not refused: $(q "SELECT work FROM
    spry.job j JOIN spry.outcome o ON o.job = j.id WHERE done ORDER BY id DESC
    LIMIT 3")"
[ "$(q "SELECT max(tries) FROM spry.queue q JOIN spry.outcome o ON o.job = q.id
    WHERE NOT done")" = 1 ] || fail "a hostile job was tried again"

# ---- who may do what ----
q "CREATE ROLE w LOGIN IN ROLE spry_worker; CREATE ROLE r LOGIN IN ROLE
   spry_reader; CREATE ROLE s LOGIN IN ROLE spry_submitter"
as() { printf %s "$uri" | sed "s|spry@|$1@|"; }
for table in $(q "SELECT tablename FROM pg_tables WHERE schemaname = 'spry'"); do
    psql -XAtq "$(as w)" -c "SELECT * FROM spry.$table" >seen 2>&1 &&
        fail "a worker reads $table"
    has 'permission denied' seen
    psql -XAtq "$(as r)" -c "DELETE FROM spry.$table" >/dev/null 2>&1 &&
        fail "a reader empties $table"
done
refuse 7 'role may not' "$SPRY" records list --store "$(as w)"
refuse 7 'role may not' "$SPRY" fleet submit gen:arrow,rows=78 --ops spmv \
    --store "$(as r)"
expect 0 "$SPRY" fleet submit gen:arrow,rows=78 --kind survey --ops spmv \
    --store "$(as s)"
# shellcheck disable=SC2086
expect 0 "$SPRY" fleet work --idle-exit --store "$(as w)" --json $here
holds "d['done'] == 1"
set -- # of an array job, say
for n in 0 1 2 3 4 5 6 7 8 9 10; do
    set -- "$@" local.db
done
expect 0 "$SPRY" fleet upload "$@" --store "$(as w)" --json
holds "d['added'] == 0"
expect 0 "$SPRY" records list --store "$(as r)" --json
holds "d['count'] > 0"

# ---- models ----
models=$(dirname "$TOOLS")/../../models
expect 0 "$SPRY" fleet push "$models/cost-spmm.spry" --store "$(as s)"
# shellcheck disable=SC2086
expect 0 "$SPRY" fleet pull --op spmm --store "$(as r)" --out got.spry --json \
    $here
document spry.fleet/1
cmp got.spry "$models/cost-spmm.spry" || fail "a model changed on the way"
refuse 3 'no model of spmv' "$SPRY" fleet pull --op spmv --store "$(as r)" \
    --machine here.machine
exit 0
