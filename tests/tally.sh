#!/bin/sh
# What is counted at the end of `make check`: passes, failures and skips, each
# skip with its reason; one that gives none is an error.
set -u
tally=$(cd "$(dirname "$0")/.." && pwd)/tools/tally.py
file=$(mktemp)
trap 'rm -f "$file"' EXIT

fail()
{
    printf '%s\n' "$*"
    exit 1
}

results()
{
    cat >"$file" <<END
<testsuite>
<testcase name="good" status="run"><system-out>SKIPPED: no x
SKIPPED: no y</system-out></testcase>
<testcase name="bad" status="fail"><system-out>SKIPPED: z</system-out></testcase>
<testcase name="left" status="notrun"><system-out>$1</system-out></testcase>
</testsuite>
END
}

results 'SKIPPED: no &lt;compiler&gt;'
said=$("$tally" "$file") || fail "refused: $said"
[ "$said" = "
skipped good: no x
skipped good: no y
skipped left: no <compiler>
1 passed, 1 failed, 3 skipped" ] || fail "said: $said"
results 'nothing'
said=$("$tally" "$file") && fail "a silent skip is accepted: $said"
exit 0
