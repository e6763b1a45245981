#!/bin/sh
# aims.sh - pass on what make prove and the like print, and fail if an aim among
# it is short or was not measured, or if there is none.
#
#   COMMAND | tools/aims.sh
#
# Let through is what a shared machine or a short run cannot hold: budgets,
# waits, how often intervals cover and tunes lose, ten million executions of
# every reader.
awk '
{ print; fflush() }
$1 != "aim" { next }
{ aims++ }
$NF == "met" { next }
$2 ~ /^(budget_|coverage_|false_wins_|slower_share_)/ { next }
$2 ~ /^(hostile_seconds_late|writers_longest_wait_seconds)$/ { next }
$2 == "fuzz_executions_of_each_reader" { next }
{ missed = missed "\n" $0 }
END {
    if (!aims)
        missed = "\nthere is none"
    if (missed)
        print "aims that are missed:" missed
    exit missed != ""
}'
