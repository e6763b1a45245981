#!/bin/sh
# aims.sh - tools/aims.sh fails when an aim is missed that does not depend on
# time, and shows what it read.
set -eu
aims=$(cd "$(dirname "$0")/../.." && pwd)/tools/aims.sh

# ends WITH LINES: reading LINES
ends()
{
    got=0
    said=$(printf '%s\n' "$2" | "$aims") || got=$?
    case $got:$said in
    "$1:$2"*) return ;;
    esac
    printf 'exit %s, not %s:\n%s\n' "$got" "$1" "$said"
    exit 1
}

ends 0 'aim attacks_that_run 0 0 met'
ends 1 'aim attacks_that_run 1 0 short'
ends 1 'aim attacks_that_run - 0 not measured: there is no compiler'
ends 0 'aim budget_refused 0.5 0.25 short
aim attacks_that_run 0 0 met'
ends 1 'aim readers_that_fail 1 0 short
aim coverage_idle 0.9 0.95 short'
ends 1 'the program crashed'
ends 1 ''
