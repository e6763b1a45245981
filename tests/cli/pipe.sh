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
if [ -c /dev/full ]; then
    "$SPRY" generate --list >/dev/full 2>err
    [ $? = 7 ] || fail "a full disk went unnoticed"
    has 'could not be written' err
fi
exit 0
