#!/bin/sh
# A signal once: the best so far, whole. Twice: at once. The store survives.
# shellcheck source=/dev/null
. "$TOOLS"
m=gen:uniform,rows=20000,nnz=200000
start() {
    : >err
    "$SPRY" tune $m --op spmm --cols 17 --effort patient --budget 900s \
        --again --progress plain --json >out 2>err &
    pid=$!
    wait_for grep trials err
}
# Patience compiles dozens of kernels: no tune is over when the signal comes.
# A shell starts background jobs deaf to SIGINT, so spry must listen itself.
for signal in INT:130 TERM:143; do
    start
    kill -s ${signal%:*} $pid
    wait $pid
    got=$?
    [ $got = ${signal#*:} ] || fail "exit $got after $signal: $(cat err)"
    document spry.tune/1
    holds "d['stopped'] and d['verified'] and d['best']['schedule']"
done
start
kill -s INT $pid
kill -s TERM $pid
wait $pid
got=$?
[ $got = 130 ] || [ $got = 143 ] || fail "exit $got after two signals"
expect 0 "$SPRY" records check
# What stores nothing ends within a second, in the middle of its race or of a
# simulation; what was simulated before is shown.
interrupt() {
    code=$1 from=$2
    shift 2
    : >err
    "$@" --progress plain --json >out 2>err &
    pid=$!
    wait_for grep "$from" err
    sleep 1 # it is at the race by then; if not, it ends before
    begun=$(date +%s)
    kill -s INT $pid
    wait $pid
    got=$?
    [ $got = "$code" ] || fail "exit $got, not $code: $*: $(cat err)"
    [ $(($(date +%s) - begun)) -le 20 ] || fail "it went on: $*"
}
interrupt 130 '1 of' "$SPRY" bench gen:uniform,rows=100k,nnz=2M --op spmm \
    --cols 64 --schedules csr --pairs 101 --budget 900s
[ ! -s out ] || fail "a race that was not run: $(cat out)"
interrupt 130 '1 of 2' "$SPRY" net bench gen:radix --batch 1000 --budget 900s \
    --ways "plain threads=1; edges threads=1"
[ ! -s out ] || fail "a race of networks that was not run: $(cat out)"
interrupt 130 anneal "$SPRY" net simulate gen:radix,depth=4 --seconds 900 \
    --order anneal,source
# Before the first call there is no time to tell: it waits for the matrix when
# the signal comes.
[ -d /proc/self/fd ] || exit 0
mkfifo m.mtx
{
    while [ ! -e held ]; do sleep 0.1; done
    exec "$SPRY" run m.mtx --calls 9
} >out 2>err &
pid=$!
exec 3<>m.mtx # after the fork: nobody but spry is seen to have it open
: >held
wait_for sh -c "ls -l /proc/$pid/fd | grep m.mtx"
kill -s INT $pid
small >&3
exec 3>&-
wait $pid
got=$?
[ $got = 130 ] || fail "exit $got before the first call: $(cat err)"
has 'before the first call' err
[ ! -s out ] || fail "a time of no call: $(cat out)"
exit 0
