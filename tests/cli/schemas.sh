#!/bin/sh
# Every document of --json is as its schema in docs/schemas says.
# shellcheck source=/dev/null
. "$TOOLS"
python=$(command -v python3) || skip "there is no python3 to read JSON with"
top=$(cd "$(dirname "$0")/../.." && pwd)
count=0
# Commands may fail: a document is judged, not what it says.
keep() {
    count=$((count + 1))
    "$SPRY" "$@" --json --progress none >"doc$count.json" 2>err || :
    [ -s "doc$count.json" ] || fail "no document of: $* ($(cat err))"
}
m=gen:banded,rows=400,band=6
t=gen:uniform,i=40,nnz=300
n=gen:random,width=64,depth=3
export SPRY_PROBE=quick
keep probe
keep generate --list
keep generate banded rows=50 band=3 --out a.mtx
keep generate fibers i=60 k=40 l=50 length=8 nnz=2k --out a.tns
keep inspect a.mtx
keep inspect a.tns
keep tune $m --budget 1s
keep tune $m
keep tune $m --op spmm --cols 8 --budget 1s --calls 5
keep tune op:matmul,m=32,n=32,k=32 --budget 1s
keep predict $m
keep predict $m --schedule 'csr; sell'
keep predict $t --op mttkrp
keep run a.mtx --random
keep bench $m --schedules csr --pairs 3 --budget 1s
keep verify $m
keep verify $m --schedule csr
keep explain $m
keep explain $m --schedule csr
keep export $m --schedule csr --out kernel
keep schedules $m --limit 3
keep schedules $m --count
keep schedules $m --sample 2
keep records list --limit 5
keep records check
keep records gc
id=$(sed -n 's/.*"id": "\([0-9a-f]*\)".*/\1/p' "doc$((count - 2)).json" |
    head -n1)
keep records show "$id"
keep freeze --out lock.json
keep report
keep completion table
keep cache list
keep cache verify
keep model list
keep model info
keep machine compare
keep doctor
keep net generate --list
keep net generate random width=64 depth=3 --out a.spnet
keep net inspect a.spnet --layers
keep net inspect a.spnet
keep net compile a.spnet --out b.spnet
keep net compile --list
keep net order $n --order blocked
keep net order --list
keep net simulate $n --order blocked --memory 16
keep net tune $n --batch 8 --budget 1s
keep net predict $n --batch 8
keep net explain $n --batch 8
keep net bench $n --batch 8 --budget 1s
keep net verify $n --batch 4
keep net run $n --batch 4
keep net export $n --out net
keep net inspect net:resnet50,size=80
keep net run net:mobilenetv3,size=80 --runs 1 --untuned
keep net explain net:mobilenetv3,size=80 --runs 1 --untuned
# A busy machine refuses so small a budget: no document, nothing to judge.
"$SPRY" net tune net:mobilenetv3,size=80 --budget 3s --json --progress none \
    >doctuned.json 2>err || :
[ -s doctuned.json ] || rm doctuned.json
keep net train-order gen:skip,width=12,depth=3,degree=4 --memory 5 \
    --seconds 1 --out one.nn
export SPRY_XGBOOST=none
for band in 3 4 5 6 7 8; do
    keep collect --store r.db --ops spmm --widths 8 --limits 1 \
        --schedules 8 --from families "gen:banded,rows=400,band=$band"
done
keep train --store r.db --kind mlp --rounds 3 --out m.spry
keep records curves --store r.db
keep model info m.spry
keep model compare m.spry m.spry
keep evaluate --store r.db --turns analytic m.spry
fp=$("$python" -c "import sqlite3
print(sqlite3.connect('r.db').execute('select machine from record')
      .fetchone()[0])")
keep records sample --store r.db --op spmm sampled.db
keep adapt --store r.db --op spmm --on "$fp"
keep model forget
"$python" "$top/tools/schema.py" "${MODE:-check}" "$top/docs/schemas" doc*.json ||
    fail "a document is unlike its schema"
# No command writes a document that has none.
grep -rhoE '(json_begin|net_print_names)\("spry[^"]*"' "$top/cli" |
    sed 's/.*("//; s/"$//; s,/,-,' | sort -u | while read -r name; do
    [ -f "$top/docs/schemas/$name.json" ] || echo "$name"
done >missing
[ ! -s missing ] || fail "no schema: $(tr '\n' ' ' <missing)"
