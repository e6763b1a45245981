#!/bin/sh
# Every document of --json is as its schema in docs/schemas says.
# shellcheck source=/dev/null
. "$TOOLS"
python=$(command -v python3) || skip "there is no python3 to read JSON with"
top=$(cd "$(dirname "$0")/../.." && pwd)
count=0
# Commands may fail: a document is judged, not what it says.
document() {
    count=$((count + 1))
    "$SPRY" "$@" --json --progress none >"doc$count.json" 2>err || :
    [ -s "doc$count.json" ] || fail "no document of: $* ($(cat err))"
}
m=gen:banded,rows=400,band=6
t=gen:uniform,dims=20x20x20,nnz=300
n=gen:random,width=64,depth=3
export SPRY_PROBE=quick
document probe
document generate --list
document generate banded rows=50 band=3 --out a.mtx
document generate --op mttkrp --list
document generate uniform dims=9x9x9 nnz=40 --op mttkrp --out a.tns
document inspect a.mtx
document inspect a.tns
document tune $m --budget 1s
document tune $m
document tune $m --op spmm --cols 8 --budget 1s --calls 5
document tune op:dense,m=32,n=32,k=32 --budget 1s
document predict $m
document predict $m --schedule 'csr; sell'
document predict $t --op mttkrp
document run a.mtx --random
document bench $m --schedules csr --pairs 3 --budget 1s
document verify $m
document verify $m --schedule csr
document explain $m
document explain $m --schedule csr
document export $m --schedule csr --out kernel
document schedules $m --limit 3
document schedules $m --count
document schedules $m --sample 2
document records list --limit 5
document records check
document records gc
id=$(sed -n 's/.*"id": "\([0-9a-f]*\)".*/\1/p' "doc$((count - 2)).json" |
    head -n1)
document records show "$id"
document cache list
document cache verify
document model list
document model info
document machine compare
document doctor
document net generate --list
document net generate random width=64 depth=3 --out a.spnet
document net inspect a.spnet --layers
document net inspect a.spnet
document net compile a.spnet --out b.spnet
document net compile --list
document net order $n --order blocked
document net order --list
document net simulate $n --order blocked --memory 16
document net tune $n --batch 8 --budget 1s
document net predict $n --batch 8
document net bench $n --batch 8 --budget 1s
document net verify $n --batch 4
document net run $n --batch 4
document net export $n --out net
document net inspect net:resnet50,size=32
document net run net:mobilenetv3,size=32 --runs 1 --untuned
document net explain net:mobilenetv3,size=32 --runs 1 --untuned
document net tune net:mobilenetv3,size=32 --budget 2s
document collect a.mtx --schedules 2 --budget 3s
"$python" "$top/tools/schema.py" "${MODE:-check}" "$top/docs/schemas" doc*.json ||
    fail "a document is unlike its schema"
# No command writes a document that has none.
grep -rhoE '(json_begin|net_print_names)\("spry[^"]*"' "$top/cli" |
    sed 's/.*("//; s/"$//; s,/,-,' | sort -u | while read -r name; do
    [ -f "$top/docs/schemas/$name.json" ] || echo "$name"
done >missing
[ ! -s missing ] || fail "no schema: $(tr '\n' ' ' <missing)"
