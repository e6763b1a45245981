#!/bin/sh
# Measure a little, learn from it, look at the model; bad files are refused.
# shellcheck source=/dev/null
. "$TOOLS"
export SPRY_MODELS="$PWD/none"
expect 0 "$SPRY" model list --json
document spry.model/1
holds "{'spry', 'waconet', 'mlp', 'gbdt', 'gbdt-leaf', 'sequence', \
    'sequence-rank', 'analytic'} == \
    {k['kind'] for k in d['kinds']}"
refuse 3 'no such store' "$SPRY" train --store r.db
refuse 3 'no such store' "$SPRY" evaluate --store r.db --turns analytic
test ! -e r.db
expect 2 "$SPRY" train --store :memory:
has 'too few to learn' err
# Where the model cannot go is said before anything is read or learned.
for place in nodir/m.spry . /dev/full; do
    [ $place != /dev/full ] || [ -c $place ] || continue
    refuse 7 "$place: cannot be written" "$SPRY" train --store :memory: \
        --out $place
done
echo old >m.spry
expect 2 "$SPRY" train --store :memory: --out m.spry
[ "$(cat m.spry)" = old ] || fail "asking changed what was there"
for n in 3 4 5 6 7 8; do
    expect 0 "$SPRY" collect --store r.db --ops spmm --widths 8 --limits 1 \
        --schedules 8 --from families --clock processor \
        "gen:banded,rows=400,band=$n"
done
expect 0 "$SPRY" train --store r.db --kind mlp --rounds 3 --out m.spry --json
document spry.train/1
rounds=$(get "d['rounds']")
holds "d['records'] > 20 and d['held_out']['problems'] >= 1"
expect 0 "$SPRY" records curves --store r.db --json
document spry.curves/1
holds "[c['kind'] for c in d['curves']] == ['mlp']"
holds "[r['round'] for r in d['curves'][0]['rounds']] \
    == list(range(1, $rounds + 1))"
expect 0 "$SPRY" records curves --store r.db
has ' mlp ' out
expect 0 "$SPRY" model info m.spry --json
holds "d['models'][0]['kind'] == 'mlp' and d['models'][0]['records'] > 20"
expect 0 "$SPRY" model compare m.spry m.spry
expect 0 "$SPRY" evaluate --store r.db --turns --json analytic m.spry
document spry.evaluate/1
holds "[m['model'] for m in d['models']] == ['analytic', 'm.spry', 'random']"
holds "d['models'][0]['problems'] == $(graded r.db)"
# The page has each of them, nothing that a name could smuggle in, and is the
# same the next time; one that cannot be written is a failure.
cp m.spry 'a<b>.spry'
expect 0 "$SPRY" evaluate --store r.db --turns --report page.html analytic \
    'a<b>.spry'
expect 0 "$SPRY" evaluate --store r.db --turns --report again.html analytic \
    'a<b>.spry'
cmp page.html again.html || fail "the same records, another page"
for part in 'Content-Security-Policy' 'Regret' 'Speed-ups of first choices' \
    'Predicted and measured: analytic' 'a&lt;b&gt;.spry' \
    'gen:banded,rows=400,band=3' 'random'; do
    has "$part" page.html
done
grep -q '<b>' page.html && fail "a name became markup"
grep -Eq 'src="?http|href="?http|@import|url\(' page.html &&
    fail "the page asks for something"
expect 7 "$SPRY" evaluate --store r.db --turns --report nosuch/x.html analytic
expect 2 "$SPRY" train --store r.db --kind oracle
expect 7 env SPRY_XGBOOST=none "$SPRY" train --store r.db --out x.spry
has 'XGBoost' err
[ -e x.spry ] && fail "a model that could not be made"

# Asked to stop it stops: no model, no part of one, and the store is whole.
for signal in INT:130 TERM:143; do
    : >err
    "$SPRY" train --store r.db --kind sequence --rounds 1000000 --out s.spry \
        --progress plain >out 2>err &
    pid=$!
    wait_for grep round err
    kill -s ${signal%:*} $pid
    wait $pid
    got=$?
    [ $got = ${signal#*:} ] || fail "exit $got after $signal: $(cat err)"
    [ -z "$(find . -name '*s.spry*')" ] || fail "a model that was not learned"
done
: >err
"$SPRY" evaluate sequence --store r.db --rounds 1000000 --progress plain \
    >out 2>err &
pid=$!
wait_for grep round err
kill -s INT $pid
wait $pid
got=$?
[ $got = 130 ] || fail "evaluate: exit $got after a signal: $(cat err)"
[ ! -s out ] || fail "grades of what was not learned: $(cat out)"
expect 0 "$SPRY" records check --store r.db

# Truncated, flipped, of a later version, none at all.
head -c 1000 m.spry >bad.spry
expect 3 "$SPRY" model info bad.spry
has 'bad.spry: ' err
python3 - <<'END'
data = bytearray(open("m.spry", "rb").read())
data[len(data) // 2] ^= 8
open("flipped.spry", "wb").write(data)
data = bytearray(open("m.spry", "rb").read())
data[12] = 9
open("future.spry", "wb").write(data)
END
expect 3 "$SPRY" model info flipped.spry
has 'checksum' err
expect 3 "$SPRY" model info future.spry
has 'version 9' err
expect 3 "$SPRY" evaluate --store r.db ./nowhere.spry
exit 0
