#!/bin/sh
# workflows.sh - workflows may read only unless a job says more, take actions
# by their commits, and call what there is; versions agree.
set -eu
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
flows=.github/workflows
[ -d $flows ] || {
    echo "SKIPPED: the workflows are not in this archive"
    exit 77
}

# none WHAT: lines on stdin say what is wrong.
none()
{
    sed "s/^/$1: /" >"$work/bad"
    cat "$work/bad"
    [ ! -s "$work/bad" ]
}

grep -n 'uses:' $flows/* | grep -vE '@[0-9a-f]{40} # v[0-9.]+$' |
    none 'not a commit'
for flow in "$flows"/*.yml; do
    sed -n '/^permissions:/,/^[a-oq-z]/p' "$flow" | sed -n 2,3p | tr -d '\n' |
        grep -qE '^  contents: read(defaults|jobs):' ||
        echo "$flow may write in all jobs"
done | none 'permissions'
MAKEFLAGS='' make -npq 2>/dev/null >"$work/targets" || true
cat "$flows"/*.yml >"$work/all"
{
    sed -n 's/.*run: \(QUICK=1 \)\{0,1\}make \([a-z ]*\).*/\2/p' "$work/all"
    sed -n 's/.*target: \[\(.*\)\]/\1/p' "$work/all" | tr -d ,
} | tr ' ' '\n' | sort -u | while read -r target; do
    [ -z "$target" ] || grep -q "^$target:" "$work/targets" || echo "$target"
done | none 'no target of make'
grep -oE 'tools/[a-z]+\.(sh|py)' "$work/all" | sort -u | while read -r tool; do
    [ -x "$tool" ] || echo "$tool"
done | none 'no tool'
sed -n 's/.*part: \[\(.*\)\]/\1/p' "$work/all" | tr -d , | tr ' ' '\n' |
    while read -r part; do
        grep -q "^prove_$part()" tools/prove.sh || echo "$part"
    done | none 'no part of prove.sh'

tools/version.sh
! tools/version.sh 99.9 2>"$work/said" || exit 1
grep -q "CMakeLists.txt says" "$work/said"
