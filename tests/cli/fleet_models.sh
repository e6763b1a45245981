#!/bin/sh
# Two machines fill one PostgreSQL; train, evaluate and adapt read it, and a
# machine that is new pulls the model that fits it best.
# shellcheck source=/dev/null
. "$TOOLS"
[ -z "${SPRY_EMULATOR:-}" ] || skip "workers are not emulated"
export SPRY_PROBE=quick SPRY_MODELS="$PWD/none"
server=$(dirname "$TOOLS")/../../tools/postgres.sh
folder=$(mktemp -d "${TMPDIR:-/tmp}/spry-fleet.XXXXXX")
uri=$("$server" start "$folder" fsync=off) || skip "$uri"
trap '"$server" stop "$folder"' EXIT
q() { psql -XAtq -v ON_ERROR_STOP=1 "$uri" -c "$1"; }
as() { printf %s "$uri" | sed "s|spry@|$1@|"; }

# ---- two machines, and two that are like them ----
# card NAME TIMES: this machine by another name, with so many times its caches
# and bandwidth.
expect 0 "$SPRY" probe --threads 1 --write here.machine
card() {
    awk -v name="$1" -v by="$2" '
        $1 == "name" { print "name", name; next }
        $1 == "read" || $1 == "cache_bytes" || $1 == "cache_measured" {
            for (i = 2; i <= NF; i++) $i = sprintf("%.0f", $i * by) }
        { print }' here.machine >"$1.machine"
    expect 0 "$SPRY" probe --machine "$1.machine" --json
    eval "$1=$(get "d['machine']['fingerprint']")"
}
card near 1
card far 16
card like_near 1
card like_far 16
[ "${near:?}" != "${far:?}" ] || fail "near and far are one machine"
[ "$near" != "${like_near:?}" ] || fail "near and like_near are one machine"

expect 0 "$SPRY" fleet init --store "$uri"
q "CREATE ROLE w LOGIN IN ROLE spry_worker; CREATE ROLE r LOGIN IN ROLE
   spry_reader; CREATE ROLE s LOGIN IN ROLE spry_submitter"
refuse 2 'too few to learn' "$SPRY" train --store "$(as r)" --progress none
for on in "$near" "$far"; do
    expect 0 "$SPRY" fleet submit gen:banded,rows=300,band=3 \
        gen:banded,rows=300,band=5 gen:uniform,rows=300,nnz=2000 \
        gen:arrow,rows=300 gen:stencil5,nx=15 gen:uniform,rows=200,nnz=2500 \
        --ops spmm --widths 8 --schedules 6 --from families --budget 30s \
        --on "$on" --store "$(as s)"
done
for name in near far; do
    expect 0 "$SPRY" fleet work --idle-exit --machine $name.machine \
        --store "$(as w)" --progress none --json
    holds "d['done'] == 6 and d['failed'] == 0"
done

# ---- learning from the server is learning from a file ----
learn="--kind mlp --rounds 4 --progress none --threads 1"
# shellcheck disable=SC2086
expect 0 "$SPRY" train $learn --store "$(as r)" --out both.spry --json
document spry.train/1
holds "d['machines'] == 2 and d['records'] > 20"
expect 0 "$SPRY" records merge "$(as r)" --store copy.db
# shellcheck disable=SC2086
expect 0 "$SPRY" train $learn --store copy.db --out copy.spry
for file in both copy; do
    expect 0 "$SPRY" model info $file.spry --json
    get "{k: v for k, v in d['models'][0].items() if k not in
        ('file', 'seconds')}" >$file.facts
done
cmp both.facts copy.facts || fail "a copy teaches something else"
for name in near:$near far:$far; do
    # shellcheck disable=SC2086
    expect 0 "$SPRY" train $learn --store "$uri" --on "${name#*:}" \
        --out "${name%:*}.spry" --json
    holds "d['machines'] == 1"
done
expect 0 "$SPRY" records curves --store "$uri" --json
holds "len(d['curves']) == 2" # who may only read leaves none
expect 0 "$SPRY" evaluate --store "$(as r)" --turns --json analytic ./near.spry
holds "d['models'][0]['problems'] == $(graded copy.db)"

# ---- adapting ----
shipped=$(dirname "$TOOLS")/../../models/cost-spmm.spry
refuse 2 'it has those of' "$SPRY" adapt \
    "$shipped" --on "$like_near" --store "$(as r)" --progress none
expect 0 "$SPRY" adapt "$shipped" --on "$near" --store "$(as r)" \
    --json
document spry.adapt/1
holds "d['adapted'][0]['problems'] == 6"
holds "d['adapted'][0]['machine'] == '$near'"

# ---- a machine that is new takes the nearest one's model ----
expect 0 "$SPRY" fleet push near.spry --store "$(as s)"
expect 0 "$SPRY" fleet push far.spry --store "$(as s)"
expect 0 "$SPRY" fleet push far.spry --store "$(as s)" # once more is no more
refuse 7 'role may not' "$SPRY" fleet push both.spry --store "$(as r)"
refuse 3 'copy.db' "$SPRY" fleet push copy.db --store "$(as s)"
# What is of use to others: not the dense operators', nor what one learned.
refuse 3 'dense operators' "$SPRY" fleet push "${shipped%/*}/cost-conv2d.spry" \
    --store "$(as s)"
for name in near far; do
    expect 0 "$SPRY" fleet pull --machine like_$name.machine \
        --store "$(as r)" --out got.spry --op spmm --json
    document spry.fleet/1
    holds "d['pulled'][0]['models'] == 2"
    holds "d['pulled'][0]['problems'] == 0 and d['pulled'][0]['distance'] == 0"
    cmp got.spry $name.spry || fail "like $name pulled another's model"
done

# ---- one that was measured takes what is best on its own records ----
expect 0 "$SPRY" evaluate --store "$(as r)" --on "$near" --turns \
    --json ./near.spry ./far.spry
best=$(get "max(d['models'][:2], key=lambda m: m['pairwise'])['model']")
equal=$(get "d['models'][0]['pairwise'] == d['models'][1]['pairwise']")
expect 0 "$SPRY" fleet pull --machine near.machine --store "$(as r)" \
    --op spmm --json
holds "d['pulled'][0]['problems'] == $(graded copy.db "$near")"
place=$(get "d['pulled'][0]['file']")
[ "$equal" = True ] || cmp "$place" "$best" || fail "not the best one, $best"
# It lies where tunes look.
expect 0 env -u SPRY_MODELS "$SPRY" model info --json
grep -q "$place" out || fail "no tune finds $place: $(cat out)"

# ---- a model that is not what it is said to be keeps no other away ----
before=$(q "SELECT count(*) FROM spry.model WHERE op = 'spmm'")
q "INSERT INTO spry.model(hash, op, kind, date, machines, bytes) SELECT
   'sha256:' || repeat('0', 64), op, kind, date, machines, bytes FROM spry.model
   LIMIT 1"
q "INSERT INTO spry.model(hash, op, kind, date, machines, bytes) SELECT
   'sha256:' || encode(sha256(x), 'hex'), 'spmm', '', '', '$like_near', x FROM
   (SELECT 'junk'::bytea) AS t(x)"
for name in near like_near like_far; do
    expect 0 "$SPRY" fleet pull --machine $name.machine --store "$(as r)" \
        --out got.spry --op spmm --json
    holds "d['pulled'][0]['models'] == $before + 2"
    has 'left out .* of .* models' err
    cmp got.spry near.spry || cmp got.spry far.spry || fail "$name pulled junk"
done
cmp got.spry far.spry || fail "like_far pulled another's model"
q "DELETE FROM spry.model WHERE kind = '' OR hash LIKE '%000000000000'"

# ---- and is not installed ----
q "UPDATE spry.model SET bytes = set_byte(bytes, 200, 7)"
before=$(cksum "$place")
expect 3 "$SPRY" fleet pull --machine like_near.machine --store "$(as r)" \
    --op spmm
has 'not what it should be' err
[ "$(cksum "$place")" = "$before" ] || fail "a changed model was installed"
exit 0
