#!/bin/bash
# prove.sh - the promises of docs/reliability.md, tried hard to be broken; one
# line "aim NAME VALUE TARGET met|short" for each. Exits 0 either way.
#
#   tools/prove.sh BUILD [part]...   parts: kills, full, fuzz, inside, budget,
#                                    mutants; all if none is named
#   QUICK=1  a few of each, in three minutes; else about an hour
#   SEED     of the moments of kills (1)
# shellcheck disable=SC2317,SC2054,SC2015  # parts are called by their names
set -uo pipefail
build=${1:?the folder of a build}
shift
build=$(cd "$build" && pwd)
top=$(cd "$(dirname "$0")/.." && pwd)
spry=$build/spry
quick=${QUICK:-}
RANDOM=${SEED:-1}
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
export SPRY_HOME=$here/home SPRY_LOCK='' SPRY_SITE_STORE='' NO_COLOR=1
store=$here/records.db
collecting=(--ops spmm --widths 8 --limits 1 --schedules 8 --from families
    --clock processor)

number()
{
    if [ -n "$quick" ]; then echo "$1"; else echo "$2"; fi
}

# aim NAME VALUE MOST
aim()
{
    local how=short
    [ "$(echo "$2 $3" | awk '{print ($1 <= $2)}')" = 1 ] && how=met
    echo "aim $1 $2 $3 $how"
}

# at_least NAME VALUE LEAST
at_least()
{
    local how=short
    [ "$(echo "$2 $3" | awk '{print ($1 >= $2)}')" = 1 ] && how=met
    echo "aim $1 $2 $3 $how"
}

unknown()
{
    echo "aim $1 - $2 not measured: $3"
}

# ---- SIGKILL at any moment ----

records()
{
    "$spry" records export - --store "$store" 2>/dev/null |
        grep -c '"kind":"record"' || true
}

# The command of round $1, as words in `words`.
choose_words()
{
    local n=$(($1 % 5))
    words=("$spry")
    case $n in
    0) words+=(tune "gen:uniform,rows=2000,nnz=$((20000 + $1))" --op spmm
        --cols 32 --budget 2s) ;;
    1) words+=(collect "gen:uniform,rows=900,nnz=$((9000 + $1))"
        "${collecting[@]}") ;;
    2) words+=(train --kind mlp --rounds 60 --out "$here/model.spry") ;;
    3) words+=(adapt --op spmm --on "$fingerprint") ;;
    4) words+=(net tune "$here/net.spnet" --budget 2s) ;;
    esac
    words+=(--store "$store" --progress none)
}

# What is kept is sound, or the name of what is not.
unsound()
{
    "$spry" records check --store "$store" >/dev/null 2>&1 || echo store
    "$spry" cache verify >/dev/null 2>&1 || echo kernels
    for f in "$here"/*.spry "$SPRY_HOME"/data/models/*.spry; do
        [ ! -e "$f" ] || "$spry" model info "$f" >/dev/null 2>&1 || echo "${f##*/}"
    done
}

prove_kills()
{
    local rounds have=0 now killed=0 broken=0 lost=0 what of=(0 0 0 0 0)
    rounds=$(number 25 1000)
    "$spry" net generate random width=128 depth=4 --out "$here/net.spnet" \
        >"$here/log" 2>&1
    "$spry" collect gen:uniform,rows=500,nnz=4000 gen:banded,rows=400,band=3 \
        gen:stencil5,nx=20 gen:arrow,rows=500 gen:banded,rows=400,band=5 \
        gen:uniform,rows=600,nnz=3000 "${collecting[@]}" --store "$store" \
        --progress none >>"$here/log" 2>&1
    fingerprint=$("$spry" records export - --store "$store" 2>/dev/null |
        sed -n 's/.*"kind":"record".*"machine":"\([0-9a-f]*\)".*/\1/p' |
        head -n 1)
    have=$(records)
    for ((round = 0; round < rounds; round++)); do
        choose_words "$round"
        "${words[@]}" >/dev/null 2>&1 &
        pid=$!
        sleep "$(printf '0.%03d' $((RANDOM % 600 + 20)))"
        if kill -9 "$pid" 2>/dev/null; then
            killed=$((killed + 1))
            of[round % 5]=$((of[round % 5] + 1))
        fi
        wait "$pid" 2>/dev/null
        what=$(unsound)
        [ -z "$what" ] || {
            broken=$((broken + 1))
            echo "round $round, ${words[1]}: not sound: $what"
        }
        now=$(records)
        [ "$now" -ge "$have" ] || lost=$((lost + have - now))
        have=$now
    done
    echo "$killed of $rounds killed: ${of[0]} tune, ${of[1]} collect," \
        "${of[2]} train, ${of[3]} adapt, ${of[4]} net tune; the others had" \
        "ended; $have records kept"
    aim kills_after_which_something_is_unsound "$broken" 0
    aim records_lost_by_kills "$lost" 0
}

# ---- no space left, at every write ----

prove_full()
{
    local n most step crashed=0 broken=0 asked=0 s=$here/full.db rc
    if ! command -v strace >/dev/null ||
        ! strace -o /dev/null -e inject=write:error=ENOSPC:when=9999 true \
            2>/dev/null; then
        unknown writes_without_space_not_survived 0 "strace cannot inject here"
        return
    fi
    local calls=write,pwrite64,ftruncate,fallocate
    local words=("$spry" tune gen:uniform,rows=1000,nnz=9000 --budget 800ms
        --store "$s" --progress none --again)
    "${words[@]}" >/dev/null 2>&1
    strace -f -qq -e trace="$calls" -o "$here/trace" "${words[@]}" >/dev/null 2>&1
    most=$(awk '{print $1}' "$here/trace" | sort | uniq -c | sort -rn |
        awk 'NR == 1 {print $1}')
    step=$(number $((most / 8 + 1)) $((most / 300 + 1)))
    for ((n = 1; n <= most; n += step)); do
        strace -f -qq -o /dev/null -e trace="$calls" \
            -e "inject=$calls:error=ENOSPC:when=$n+" "${words[@]}" \
            >/dev/null 2>&1
        rc=$?
        asked=$((asked + 1))
        [ "$rc" -lt 128 ] || crashed=$((crashed + 1))
        "$spry" records check --store "$s" >/dev/null 2>&1 || {
            broken=$((broken + 1))
            echo "write $n: the store is not sound"
        }
    done
    "${words[@]}" >/dev/null 2>&1 || broken=$((broken + 1))
    echo "$asked of $most writes had no space left: $crashed crashes," \
        "$broken stores broken"
    aim writes_without_space_not_survived $((crashed + broken)) 0
}

# ---- readers ----

# With libFuzzer and sanitizers where they were built (make fuzz), else the
# corpus, changed at random, through the released code.
prove_fuzz()
{
    local least='' found=0 runs name all=0 target folder=$top/tests/fuzz/corpus
    local fuzzers=$top/build/fuzz/tests/fuzz
    for target in "$build"/tests/fuzz/replay_*; do
        [ -x "$target" ] || continue
        name=${target##*replay_}
        all=$((all + 1))
        if [ -x "$fuzzers/fuzz_$name" ]; then
            mkdir -p "$here/corpus"
            "$fuzzers/fuzz_$name" -max_total_time="$(number 2 60)" \
                -print_final_stats=1 -artifact_prefix="$here/" \
                "$here/corpus" "$folder/$name" >"$here/log" 2>&1 ||
                found=$((found + 1))
            runs=$(awk '/number_of_executed_units/ {print $2}' "$here/log")
            rm -rf "$here/corpus"
        else
            "$target" "$folder/$name" "$(number 3000 300000)" \
                >"$here/log" 2>&1 || {
                found=$((found + 1))
                echo "$name: $(tail -n 1 "$here/log")"
            }
            runs=$(awk '/executions/ {print $1}' "$here/log")
        fi
        runs=${runs:-0}
        [ -n "$least" ] && [ "$least" -le "$runs" ] || least=$runs
    done
    [ "$all" -gt 0 ] || {
        unknown readers_that_fail 0 "the tests are not built"
        return
    }
    echo "$all readers fuzzed"
    aim readers_that_fail "$found" 0
    at_least fuzz_executions_of_each_reader "${least:-0}" 10000000
}

# ---- what has programs of its own ----

run_bench()
{
    if [ -x "$build/bench/bench-$1" ]; then
        "$build/bench/bench-$1" "${@:2}"
    else
        unknown "$1" 0 "bench-$1 is not built"
    fi
}

prove_inside()
{
    run_bench prove
}
prove_budget()
{
    run_bench budget
}
prove_mutants()
{
    [ -n "$quick" ] || run_bench mutants
}

parts=("$@")
[ $# -gt 0 ] || parts=(kills full fuzz inside budget mutants)
for part in "${parts[@]}"; do
    begun=$SECONDS
    "prove_$part"
    echo "($part: $((SECONDS - begun)) s)"
done
exit 0
