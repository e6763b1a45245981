#!/bin/sh
# A reader that leaves early is no failure; a full disk is.
# shellcheck source=/dev/null
. "$TOOLS"
code() {
    { "$@" 2>err; echo $? >code; } | head -n 1 >out
}
code "$SPRY" inspect gen:banded --json
[ "$(cat code)" = 0 ] || fail "exit $(cat code) into head"
[ -s err ] && fail "head made it speak: $(cat err)"
code "$SPRY" generate --list
[ "$(cat code)" = 0 ] || fail "exit $(cat code) into head"
# Also of what the library writes; and a closed output is noticed there.
expect 0 "$SPRY" tune gen:banded,rows=300,band=4 --effort predict
# A second is enough, but where every instruction is emulated.
for budget in 1s 8s 60s; do
    expect 0 "$SPRY" tune gen:banded,rows=400,band=4 --budget $budget
    "$SPRY" report --out page.html 2>/dev/null && break
done
for action in 'records export -' 'freeze --out -' 'report --out -' \
    'generate --list'; do
    # shellcheck disable=SC2086  # words
    {
        python3 -c 'import os, subprocess, sys
r, w = os.pipe()
os.close(r)
sys.exit(subprocess.call(sys.argv[1:], stdout=w))' "$SPRY" $action ||
            fail "$action: exit $? where nobody reads"
        "$SPRY" $action 2>err >&-
        [ $? = 7 ] || fail "$action: a closed output went unnoticed"
        has 'written' err
        # What was there before stays.
        { echo before; "$SPRY" $action; } >out 2>err
        [ "$(head -n 1 out)" = before ] || fail "$action cut its output"
        [ "$(wc -l <out)" -gt 1 ] || fail "$action wrote nothing"
    }
done
[ ! -e ./- ] || fail "a file called -"
if [ -c /dev/full ]; then
    "$SPRY" generate --list >/dev/full 2>err
    [ $? = 7 ] || fail "a full disk went unnoticed"
    has 'could not be written' err
fi
exit 0
