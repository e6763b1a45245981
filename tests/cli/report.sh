#!/bin/sh
# A page about a tune and about a store; where Chromium is, it is opened:
# nothing may go wrong in its script, and the CSV it makes is the store.
# shellcheck source=/dev/null
. "$TOOLS"
m=gen:banded,rows=2000,band=20
refuse 3 'nothing is recorded' "$SPRY" report
[ -e report.html ] && fail "a page about nothing"
expect 0 "$SPRY" tune $m --report one.html
for part in '<!DOCTYPE html>' 'Content-Security-Policy' 'data:image/png' \
    'Roofline' 'The search' 'trials' 'verified'; do
    has "$part" one.html
done
grep -Eq 'src="?http|href="?http|@import|url\(' one.html &&
    fail "the page asks for something"
expect 0 "$SPRY" bench $m --schedules 'csr; sell' --pairs 3 --budget 1s \
    --report race.html
has 'A race' race.html
has 'sell' race.html
expect 0 "$SPRY" report --out all.html --title 'a <b> title'
has 'a &lt;b&gt; title' all.html
expect 0 "$SPRY" report --out again.html --title 'a <b> title'
cmp all.html again.html || fail "the same store, another page"
expect 0 "$SPRY" report --out - --title 'a <b> title'
cmp all.html out || fail "another page on stdout"
expect 0 "$SPRY" report --out again.html --json
document spry.report/1
holds "d['out'] == 'again.html' and d['bytes'] == $(wc -c <again.html)"
has 'predicted ms' all.html
# A probe that there was no time for: the page says what it lacks, and how to
# have it; the machine is named all the same.
expect 0 "$SPRY" tune $m --store short.db --budget 0.9s --report short.html
has 'spry probe --store short.db does it once' err
expect 0 "$SPRY" report short.db --out stored.html
for page in short.html stored.html; do
    has 'there is no probe of this machine' $page
    has '<code>spry probe --store short.db</code>' $page
    grep -Eq 'machine [0-9a-f]{16}' $page && fail "no name in $page"
done
cp short.db also.db
expect 0 "$SPRY" probe --store short.db
expect 0 "$SPRY" predict $m --store also.db # probes, too, and keeps it
for store in short also; do
    expect 0 "$SPRY" report $store.db --out stored.html
    has 'L1</text>' stored.html
    grep -q 'no probe' stored.html && fail "$store.db was probed"
done
cat >peers.csv <<'END'
operation,library,times,low,high,problems,machine
spmv,eigen,1.9,1.7,2.2,30,"a CPU, 2 threads"
END
expect 0 "$SPRY" report --out peers.html --peers peers.csv
has 'eigen</text>' peers.html
refuse 3 'PEERS_CSV' "$SPRY" report --out no.html --peers all.html
refuse 3 'nothing is recorded' "$SPRY" report --problem nosuch
refuse 3 'no such store' "$SPRY" report missing.db
refuse 7 'nosuch' "$SPRY" report --out nosuch/report.html

browser=$(command -v chromium || command -v chromium-headless-shell) || {
    echo "no Chromium here: the page's script was not run"
    exit 0
}
"$browser" --headless --no-sandbox --disable-gpu --no-first-run \
    --disable-background-networking --disable-component-update \
    --disable-sync --user-data-dir="$PWD/profile" --enable-logging=stderr \
    --virtual-time-budget=20000 --dump-dom "file://$PWD/all.html#csv" >dom.html 2>log
grep -E 'CONSOLE.*(Uncaught|Refused|Error)' log && fail "the script failed"
has 'save all trials as CSV' dom.html
expect 0 "$SPRY" records list --json --limit 0
python3 - <<'END' || fail "the CSV is not the store"
import csv, html, io, json, re, sys
page = open("dom.html", encoding="utf-8").read()
text = html.unescape(re.search(r'<pre id="csv">(.*?)</pre>', page, re.S)[1])
rows = list(csv.DictReader(io.StringIO(text)))
records = json.load(open("out"))["records"]
numbers = "seconds speedup pack_seconds bytes".split()
def line(r):
    return ([r["problem"], r["machine"], r["schedule"], r["verdict"]]
            + [float(r[k]) for k in numbers])
sys.exit(sorted(map(line, rows)) != sorted(map(line, records)))
END
exit 0
