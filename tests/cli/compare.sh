#!/bin/sh
# Machines are compared by the order they give to the same schedules.
# shellcheck source=/dev/null
. "$TOOLS"
refuse 3 'no such store' "$SPRY" machine compare --store none.db
refuse 3 'no such store' "$SPRY" machine compare none.db
[ ! -e none.db ] || fail "a slip made a store"
expect 2 "$SPRY" machine
expect 2 "$SPRY" machine split
for n in 3 9; do
    expect 0 "$SPRY" collect --store a.db --ops spmm --widths 8 --limits 1 \
        --schedules 12 --from families --clock processor \
        "gen:banded,rows=400,band=$n"
done
# The same twice as slow; and another for which everything is the other way.
expect 0 "$SPRY" records export all.jsonl --store a.db
python3 - <<'END'
import json

lines = [json.loads(line) for line in open("all.jsonl")]
for name in "bc":
    with open(name + ".jsonl", "w") as out:
        for d in lines:
            d = dict(d)
            if d["kind"] == "record":
                del d["id"]
                if name == "b":
                    d["seconds"] *= 2
                else:
                    d["seconds"] = 1e-9 / d["seconds"]
                    d["speedup"] = 1 / d["speedup"]
            print(json.dumps(d), file=out)
END
for name in b c; do
    expect 0 "$SPRY" records import $name.jsonl --store $name.db
done
expect 0 "$SPRY" machine compare b.db c.db --store a.db --op spmm --json
document spry.machine/1
holds "len(d['tasks']) == 3"
holds "all(t['problems'] == 2 and t['kind'] for t in d['tasks'])"
holds "abs(d['tasks'][0]['rank'][1] - 1) < 1e-9"
holds "abs(d['tasks'][0]['rank'][2] + 1) < 1e-9"
holds "d['tasks'][1]['rank'][2] == d['tasks'][2]['rank'][1]"
expect 0 "$SPRY" machine compare b.db c.db --store a.db --op spmm
has 'A and B order schedules alike: one task' out
grep -q 'A and C order' out && fail "A and C are alike"
# A machine that is simulated changes the order; a factor for all does not.
expect 0 "$SPRY" machine compare --store a.db --op spmm --simulate
has 'simulated' out
has 're-rank 0 pairs' out
expect 0 "$SPRY" machine compare --store a.db --op sddmm
has 'no records of sddmm' err
echo 'this is no database, and long enough to be sure of it' >bad.db
refuse 8 'bad.db' "$SPRY" machine compare bad.db --store a.db
exit 0
