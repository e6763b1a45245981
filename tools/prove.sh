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
#
# Where there is clang, whole runs build what fuzzes and what watches memory.
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

# Returns when a core has nothing to do of what was begun with &.
wait_for_core()
{
    while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n; done
}

# ---- SIGKILL at any moment ----

# How many records the store $1 has.
records()
{
    "$spry" records list --limit 1 --json --store "$1" 2>/dev/null |
        awk '/^ *"count":/ {n = $2 + 0} END {print n + 0}'
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
    local f why
    "$spry" records check --store "$at" >/dev/null 2>&1 || echo store
    "$spry" cache verify >/dev/null 2>&1 || echo kernels
    for f in "$here"/*.spry "$SPRY_HOME"/data/models/*.spry; do
        [ ! -e "$f" ] || why=$("$spry" model info "$f" 2>&1) ||
            echo "${f##*/}: $why"
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
    local done_jobs missed=fleet_jobs_not_done_after_kills
    [ -n "$server" ] || {
        unknown "$missed" 0 "there is no PostgreSQL"
        return
    }
    "$spry" fleet work --idle-exit --machine "$here/card" --store "$uri" \
        --progress none >"$here/log" 2>&1
    done_jobs=$("$spry" fleet status --store "$uri" --json 2>/dev/null |
        sed -n 's/^ *"done": \([0-9]*\),.*/\1/p' | head -n 1)
    done_jobs=$((jobs - ${done_jobs:-0}))
    aim "$missed" "${done_jobs#-}" 0
}

# One round: a command, killed within 0.4 s; then what it left is looked at.
kill_one()
{
    local pid what now
    choose_words "$1"
    "${words[@]}" >/dev/null 2>&1 &
    pid=$!
    sleep "$(printf '0.%03d' $((RANDOM % 400 + 10)))"
    if kill -9 "$pid" 2>/dev/null; then
        killed=$((killed + 1))
        of[$1 % kinds]=$((of[$1 % kinds] + 1))
    fi
    wait "$pid" 2>/dev/null
    what=$(unsound)
    [ -z "$what" ] || {
        broken=$((broken + 1))
        echo "round $1, ${words[1]}: not sound: $what"
    }
    now=$(records "$at")
    [ "$now" -ge "${have[$at]:-0}" ] || lost=$((lost + have[$at] - now))
    have[$at]=$now
}

prove_kills()
{
    local killed=0 broken=0 lost=0 round=0 wanted of=(0 0 0 0 0 0) least
    local -A have
    jobs=0
    wanted=$(number 30 1000)
    prepare_kills
    have[$store]=$(records "$store")
    while [ "$killed" -lt "$wanted" ] && [ "$round" -lt $((2 * wanted)) ]; do
        kill_one "$round"
        round=$((round + 1))
    done
    echo "$killed of $round killed: ${of[0]} tune, ${of[1]} collect," \
        "${of[2]} train, ${of[3]} adapt, ${of[4]} net tune, ${of[5]} fleet" \
        "work; the others had ended; ${have[$store]} records kept"
    least=$(printf '%s\n' "${of[@]:0:kinds}" | sort -n | head -n 1)
    at_least kills "$killed" "$wanted"
    at_least kills_of_each_command "$least" $((wanted / 20))
    aim kills_after_which_something_is_unsound "$broken" 0
    aim records_lost_by_kills "$lost" 0
    finish_fleet
}

# ---- no space left, at every write ----

# What a tune writes, from nothing: its store, its kernels, their seal.
full_words()
{
    export SPRY_HOME=$1/home
    words=("$spry" tune gen:uniform,rows=1000,nnz=9000 --budget 800ms
        --store "$1/full.db" --progress none)
}

# From the $2-th call of $1 on there is no space left, in each process. Then
# what is left must be sound and of use. Says ok, or what was wrong.
full_one()
{
    local at=$here/full/$1-$2 rc words
    mkdir -p "$at"
    full_words "$at"
    strace -f -qq -o "$at/trace" -e trace="$1" \
        -e "inject=$1:error=ENOSPC:when=$2+" "${words[@]}" >"$at/log" 2>&1
    rc=$?
    {
        if ! grep -q INJECTED "$at/trace"; then
            echo untried
        elif [ "$rc" -ge 128 ]; then
            echo "crashed, $rc"
        elif [ "$rc" != 0 ] && [ "$1" != write ] && [ ! -s "$at/log" ]; then
            echo "failed without a sentence, $rc" # which takes a write
        elif [ -e "$at/full.db" ] &&
            ! "$spry" records check --store "$at/full.db"; then
            echo "left an unsound store"
        elif ! "$spry" cache verify; then
            echo "left unsound kernels"
        elif ! "${words[@]}" --effort predict; then
            echo "left what the next tune cannot use"
        else
            echo ok
        fi
    } 2>/dev/null | tail -n 1 >"$here/full-$1-$2"
    rm -rf "$at"
}

# How often the process that does so most calls $1.
calls_of()
{
    awk -v call="$1(" 'index($0, call) {n[$1]++}
        END {for (p in n) if (n[p] > most) most = n[p]; print most + 0}' \
        "$here/full/trace"
}

prove_full()
{
    local call n most step tried wrong words
    local calls=(write pwrite64 ftruncate fallocate)
    if ! command -v strace >/dev/null ||
        ! strace -o /dev/null -e inject=write:error=ENOSPC:when=9999 true \
            2>/dev/null; then
        unknown writes_without_space_not_survived 0 "strace cannot inject here"
        return
    fi
    mkdir -p "$here/full/warm"
    (
        full_words "$here/full/warm"
        strace -f -qq -e trace="$(IFS=, && echo "${calls[*]}")" \
            -o "$here/full/trace" "${words[@]}" >/dev/null 2>&1
    )
    for call in "${calls[@]}"; do
        most=$(calls_of "$call")
        step=$(number $((most / 4 + 1)) 1)
        echo "a tune from nothing calls $call $most times"
        for ((n = 1; n <= most; n += step)); do
            wait_for_core
            full_one "$call" "$n" &
        done
    done
    wait
    grep -v -x -e ok -e untried "$here"/full-* | sed 's/.*full-//'
    tried=$(cat "$here"/full-* | grep -c -v -x untried)
    wrong=$(cat "$here"/full-* | grep -c -v -x -e ok -e untried)
    echo "$tried moments from which on there was no space left"
    at_least writes_without_space "$tried" "$(number 4 100)"
    aim writes_without_space_not_survived "$wrong" 0
}

# ---- readers ----

# Is this reader asked for?
asked_for()
{
    [ -z "${READERS:-}" ] || [[ " $READERS " = *" $1 "* ]]
}

# What was found once fails until it is mended: run it first.
fuzz_again()
{
    local kept
    for kept in "$2"/crash-* "$2"/leak-* "$2"/timeout-* "$2"/oom-*; do
        [ ! -e "$kept" ] || "$1" "$kept" >"$3" 2>&1 || return 1
    done
}

# fuzz_one NAME: with libFuzzer and sanitizers where they are, else the corpus,
# changed at random, through the released code. What the same program did
# before counts, and only what is left is done. Its line is put into
# $here/fuzz_NAME, beside it what it said if it failed.
fuzz_one()
{
    local target=$fuzzers/fuzz_$1 state=$top/build/prove/$1 begun sum how=0
    local runs=0 speed options=(-rss_limit_mb=512 -malloc_limit_mb=256)
    local log=$here/fuzz_$1.log left
    [ ! -e "$top/tests/fuzz/dict/$1.dict" ] ||
        options+=(-dict="$top/tests/fuzz/dict/$1.dict")
    [ "$1" != import ] || options+=(-max_len=1024) # a few lines
    [ -x "$target" ] || target=$build/tests/fuzz/replay_$1
    mkdir -p "$state/corpus"
    sum=$(sha256sum <"$target")
    [ "$(cat "$state/program" 2>/dev/null)" = "$sum" ] || echo 0 >"$state/runs"
    echo "$sum" >"$state/program"
    left=$((enough - $(cat "$state/runs")))
    [ "$left" -ge 1000 ] || left=1000
    begun=$(date +%s.%N)
    if [ "$target" != "$fuzzers/fuzz_$1" ]; then
        "$target" "$folder/$1" "$(number 3000 100000)" >"$log" 2>&1 || how=$?
        runs=$(awk '/executions/ {print $1}' "$log")
    elif fuzz_again "$target" "$state" "$log"; then
        "$target" -max_total_time="$(number 2 "${FUZZ_SECONDS:-60}")" \
            -runs="$left" -print_final_stats=1 "${options[@]}" \
            -artifact_prefix="$state/" "$state/corpus" "$folder/$1" \
            >"$log" 2>&1 || how=$?
        runs=$(awk '/number_of_executed_units/ {print $2}' "$log")
    else
        how=1
    fi
    speed=$(echo "${runs:-0} $begun $(date +%s.%N)" |
        awk '{printf "%.0f", $1 / ($3 - $2)}')
    runs=$((${runs:-0} + $(cat "$state/runs")))
    echo "$runs" >"$state/runs"
    [ "$how" != 0 ] || rm -f "$log"
    printf '%-10s %10s executions, %8s a second\n' "$1" "$runs" "$speed" \
        >"$here/fuzz_$1"
}

# The readers' programs with sanitizers, if there is clang and time.
build_fuzzers()
{
    local libraries
    [ -z "$quick" ] && command -v clang >/dev/null || return
    libraries=$(dirname "$(readlink -f "$(command -v clang)")")/../lib
    [ -e "$libraries/libomp.so" ] || return
    {
        [ -e "$top/build/fuzz/build.ninja" ] ||
            (cd "$top" && cmake --preset fuzz)
        (cd "$top/tests/fuzz" && printf '%s\n' fuzz_*.c) | sed 's/\.c$//' |
            xargs cmake --build "$top/build/fuzz" -j "$(nproc)" --target
    } >"$here/log" 2>&1 || tail -n 20 "$here/log"
}

# The lines of `names`, what failed, and the least executions, in `least`.
tell_fuzz()
{
    local name runs
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
}

# As many readers at a time as there are cores.
prove_fuzz()
{
    local least='' found=0 name names=() target plain=0
    local folder=$top/tests/fuzz/corpus fuzzers=$top/build/fuzz/tests/fuzz
    local whose=each_reader enough=10000000
    build_fuzzers
    for target in "$build"/tests/fuzz/replay_*; do
        name=${target##*replay_}
        [ -x "$target" ] && asked_for "$name" || continue
        names+=("$name")
        [ -x "$fuzzers/fuzz_$name" ] || plain=$((plain + 1))
        wait_for_core
        fuzz_one "$name" &
    done
    wait
    [ "${#names[@]}" -gt 0 ] || {
        unknown readers_that_fail 0 "the tests are not built"
        return
    }
    tell_fuzz
    [ -z "${READERS:-}" ] || whose=${READERS// /_}
    echo "${#names[@]} readers fuzzed"
    aim readers_that_fail "$found" 0
    if [ "$plain" = 0 ]; then
        at_least "fuzz_executions_of_$whose" "$least" "$enough"
    else
        unknown "fuzz_executions_of_$whose" "$enough" \
            "$plain readers have no sanitizers (make fuzz)"
    fi
}

# Does a reader look at memory that nobody has set? By valgrind: SQLite and
# zlib, which some of them call, know no memory sanitizer; and those that call
# neither by that, too, in whole runs.
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
        wait_for_core
        valgrind -q --error-exitcode=9 "$target" "$top/tests/fuzz/corpus/$name" \
            "$(number 20 2000)" >"$here/unset_$name" 2>&1 &&
            rm "$here/unset_$name" &
    done
    wait
    for name in "$here"/unset_*; do
        [ -e "$name" ] || continue
        found=$((found + 1))
        echo "${name##*unset_}: $(grep -m 1 == "$name")"
    done
    echo "$all readers under valgrind"
    aim readers_of_unset_memory "$found" 0
    if [ -n "$quick" ]; then
        unknown readers_of_unset_memory_msan 0 "QUICK"
    elif ! command -v clang >/dev/null; then
        unknown readers_of_unset_memory_msan 0 "there is no clang"
    else
        "$top/tools/msan.sh" 1000000
    fi
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
    if [ -n "$quick" ]; then
        unknown mutants_killed 0.99 "QUICK"
    else
        run_bench mutants
    fi
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
