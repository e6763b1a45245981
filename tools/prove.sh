#!/bin/bash
# prove.sh - the promises of docs/reliability.md, tried hard to be broken; one
# line "aim NAME VALUE TARGET met|short" for each. Exits 0 either way.
#
#   tools/prove.sh BUILD [part]...   parts: kills, full, fuzz, unset, inside,
#                                    budget, mutants; all if none is named,
#                                    here or in PROVE_PARTS
#   QUICK=1       a few of each, in three minutes; else about an hour
#   SEED          of the moments of kills (1)
#   FUZZ_SECONDS  of each reader (60); executions of one and the same program
#                 are added up in build/prove, so that it can be done in pieces
#   READERS       only these ("job lines")
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
export SPRY_HOME=$here/home SPRY_LOCK='' SPRY_SITE_STORE='' NO_COLOR=1
store=$here/records.db
server=''
trap '[ -z "$server" ] || "$top/tools/postgres.sh" stop "$server"; rm -rf "$here"' EXIT
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

# How many records the store $1 has.
records()
{
    "$spry" records export - --store "$1" 2>/dev/null |
        grep -c '"kind":"record"' || true
}

# A server for the fleet in `uri`, or why there is none.
start_server()
{
    server=$(mktemp -d) # of its own: another user's, where we are root
    uri=$("$top/tools/postgres.sh" start "$server" 2>"$here/log") &&
        "$spry" fleet init --lease 1s --tries 100 --store "$uri" \
            >"$here/log" 2>&1 &&
        "$spry" probe --threads 1 --write "$here/card" >"$here/log" 2>&1 &&
        return
    echo "fleet work is left out: ${uri:-$(tail -n 1 "$here/log")}"
    "$top/tools/postgres.sh" stop "$server" >/dev/null 2>&1
    rm -rf "$server"
    server=''
}

# The command of round $1, as words in `words`, its store in `at`.
choose_words()
{
    local n=$(($1 % kinds))
    words=("$spry")
    at=$store
    case $n in
    0) words+=(tune "gen:uniform,rows=2000,nnz=$((20000 + $1))" --op spmm
        --cols 32 --budget 2s) ;;
    1) words+=(collect "gen:uniform,rows=900,nnz=$((9000 + $1))"
        "${collecting[@]}") ;;
    2) words+=(train --kind mlp --rounds 60 --out "$here/model.spry") ;;
    3) words+=(adapt --op spmm --on "$fingerprint") ;;
    4) words+=(net tune "$here/net.spnet" --budget 2s) ;;
    5)
        at=$uri
        "$spry" fleet submit "gen:uniform,rows=200,nnz=$((2000 + $1))" \
            --ops spmm --widths 8 --schedules 4 --from families --budget 20s \
            --store "$uri" >"$here/log" 2>&1
        jobs=$((jobs + 1))
        words+=(fleet work --idle-exit --machine "$here/card")
        ;;
    esac
    words+=(--store "$at" --progress none)
}

# What is kept is sound, or the name of what is not.
unsound()
{
    "$spry" records check --store "$at" >/dev/null 2>&1 || echo store
    "$spry" cache verify >/dev/null 2>&1 || echo kernels
    for f in "$here"/*.spry "$SPRY_HOME"/data/models/*.spry; do
        [ ! -e "$f" ] || "$spry" model info "$f" >/dev/null 2>&1 || echo "${f##*/}"
    done
}

# A network to tune, records to learn from, a server if there is one.
prepare_kills()
{
    "$spry" net generate random width=128 depth=4 --out "$here/net.spnet" \
        >"$here/log" 2>&1
    "$spry" collect gen:uniform,rows=500,nnz=4000 gen:banded,rows=400,band=3 \
        gen:stencil5,nx=20 gen:arrow,rows=500 gen:banded,rows=400,band=5 \
        gen:uniform,rows=600,nnz=3000 "${collecting[@]}" --store "$store" \
        --progress none >>"$here/log" 2>&1
    fingerprint=$("$spry" records export - --store "$store" 2>/dev/null |
        sed -n 's/.*"kind":"record".*"machine":"\([0-9a-f]*\)".*/\1/p' |
        head -n 1)
    start_server
    kinds=5
    [ -z "$server" ] || kinds=6
}

# Every job of the fleet is done, once, by whoever comes last.
finish_fleet()
{
    local done_jobs
    [ -n "$server" ] || return
    "$spry" fleet work --idle-exit --machine "$here/card" --store "$uri" \
        --progress none >"$here/log" 2>&1
    done_jobs=$("$spry" fleet status --store "$uri" --json 2>/dev/null |
        sed -n 's/^ *"done": \([0-9]*\),.*/\1/p' | head -n 1)
    aim fleet_jobs_not_done_after_kills $((jobs - ${done_jobs:-0})) 0
}

prove_kills()
{
    local rounds now killed=0 broken=0 lost=0 what of=(0 0 0 0 0 0)
    local -A have
    jobs=0
    rounds=$(number 30 1000)
    prepare_kills
    have[$store]=$(records "$store")
    for ((round = 0; round < rounds; round++)); do
        choose_words "$round"
        "${words[@]}" >/dev/null 2>&1 &
        pid=$!
        sleep "$(printf '0.%03d' $((RANDOM % 600 + 20)))"
        if kill -9 "$pid" 2>/dev/null; then
            killed=$((killed + 1))
            of[round % kinds]=$((of[round % kinds] + 1))
        fi
        wait "$pid" 2>/dev/null
        what=$(unsound)
        [ -z "$what" ] || {
            broken=$((broken + 1))
            echo "round $round, ${words[1]}: not sound: $what"
        }
        now=$(records "$at")
        [ "$now" -ge "${have[$at]:-0}" ] || lost=$((lost + have[$at] - now))
        have[$at]=$now
    done
    echo "$killed of $rounds killed: ${of[0]} tune, ${of[1]} collect," \
        "${of[2]} train, ${of[3]} adapt, ${of[4]} net tune, ${of[5]} fleet" \
        "work; the others had ended; ${have[$store]} records kept"
    aim kills_after_which_something_is_unsound "$broken" 0
    aim records_lost_by_kills "$lost" 0
    finish_fleet
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

# Is this reader asked for?
asked_for()
{
    [ -z "${READERS:-}" ] || [[ " $READERS " = *" $1 "* ]]
}

# fuzz_one NAME: with libFuzzer and sanitizers where they were built (make
# fuzz), else the corpus, changed at random, through the released code. What
# the same program did before counts. Its line is put into $here/fuzz_NAME,
# beside it what it said if it failed.
fuzz_one()
{
    local target=$fuzzers/fuzz_$1 state=$top/build/prove/$1 begun sum how=0
    local runs dict=() log=$here/fuzz_$1.log
    [ ! -e "$top/tests/fuzz/dict/$1.dict" ] ||
        dict=(-dict="$top/tests/fuzz/dict/$1.dict")
    [ -x "$target" ] || target=$build/tests/fuzz/replay_$1
    mkdir -p "$state/corpus"
    sum=$(sha256sum <"$target")
    [ "$(cat "$state/program" 2>/dev/null)" = "$sum" ] || echo 0 >"$state/runs"
    echo "$sum" >"$state/program"
    begun=$(date +%s.%N)
    if [ "$target" = "$fuzzers/fuzz_$1" ]; then
        "$target" -max_total_time="$(number 2 "${FUZZ_SECONDS:-60}")" \
            -runs=10000000 -print_final_stats=1 -artifact_prefix="$state/" \
            "${dict[@]}" "$state/corpus" "$folder/$1" >"$log" 2>&1 || how=$?
        runs=$(awk '/number_of_executed_units/ {print $2}' "$log")
    else
        "$target" "$folder/$1" "$(number 3000 10000000)" >"$log" 2>&1 || how=$?
        runs=$(awk '/executions/ {print $1}' "$log")
    fi
    runs=${runs:-0}
    speed=$(echo "$runs $begun $(date +%s.%N)" |
        awk '{printf "%.0f", $1 / ($3 - $2)}')
    runs=$((runs + $(cat "$state/runs")))
    echo "$runs" >"$state/runs"
    [ "$how" != 0 ] || rm -f "$log"
    printf '%-10s %10s executions, %8s a second\n' "$1" "$runs" "$speed" \
        >"$here/fuzz_$1"
}

# As many readers at a time as there are cores.
prove_fuzz()
{
    local least='' found=0 runs speed name names=() target plain=0
    local folder=$top/tests/fuzz/corpus fuzzers=$top/build/fuzz/tests/fuzz
    for target in "$build"/tests/fuzz/replay_*; do
        name=${target##*replay_}
        [ -x "$target" ] && asked_for "$name" || continue
        names+=("$name")
        [ -x "$fuzzers/fuzz_$name" ] || plain=$((plain + 1))
        while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n; done
        fuzz_one "$name" &
    done
    wait
    [ "${#names[@]}" -gt 0 ] || {
        unknown readers_that_fail 0 "the tests are not built"
        return
    }
    for name in "${names[@]}"; do
        cat "$here/fuzz_$name"
        runs=$(awk '{print $2}' "$here/fuzz_$name")
        [ -n "$least" ] && [ "$least" -le "$runs" ] || least=$runs
        [ ! -e "$here/fuzz_$name.log" ] || {
            found=$((found + 1))
            tail -n 3 "$here/fuzz_$name.log"
            echo "$name: failed, see build/prove/$name"
        }
    done
    echo "${#names[@]} readers fuzzed, $plain of them without sanitizers" \
        "(make fuzz)"
    aim readers_that_fail "$found" 0
    at_least fuzz_executions_of_each_reader "${least:-0}" 10000000
}

# Does a reader look at memory that nobody has set? By valgrind: SQLite and
# zlib, which some of them call, know no memory sanitizer; and those that call
# neither by that, too, where it was built (make msan).
prove_unset()
{
    local found=0 all=0 name target
    command -v valgrind >/dev/null || {
        unknown readers_of_unset_memory 0 "there is no valgrind"
        return
    }
    for target in "$build"/tests/fuzz/replay_*; do
        name=${target##*replay_}
        [ -x "$target" ] && asked_for "$name" || continue
        all=$((all + 1))
        valgrind -q --error-exitcode=9 "$target" "$top/tests/fuzz/corpus/$name" \
            "$(number 20 2000)" >"$here/log" 2>&1 || {
            found=$((found + 1))
            echo "$name: $(grep -m 1 == "$here/log")"
        }
    done
    echo "$all readers under valgrind"
    aim readers_of_unset_memory "$found" 0
    [ ! -x "$top/build/clang/tests/fuzz/memory_market" ] ||
        "$top/tools/msan.sh" "$(number 2000 1000000)"
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
[ $# -gt 0 ] || read -r -a parts <<<"${PROVE_PARTS:-}"
[ "${#parts[@]}" -gt 0 ] ||
    parts=(kills full fuzz unset inside budget mutants)
for part in "${parts[@]}"; do
    declare -F "prove_$part" >/dev/null || {
        echo "prove.sh: there is no part '$part'" >&2
        exit 2
    }
done
for part in "${parts[@]}"; do
    begun=$SECONDS
    "prove_$part"
    echo "($part: $((SECONDS - begun)) s)"
done
exit 0
