#!/bin/sh
# Help goes to stdout and is a success; what it says is golden.
# shellcheck source=/dev/null
. "$TOOLS"
"$SPRY" --version
"$SPRY" --help || fail "--help"
commands=$("$SPRY" --help | sed -n 's/^  \([a-z]*\) .*/\1/p')
for command in $commands; do
    expect 0 "$SPRY" "$command" --help
    has "^usage: spry $command" out
    has "  --json " out
    [ -s err ] && fail "$command --help speaks on stderr"
    "$SPRY" help "$command" | cmp -s - out || fail "help $command"
done
"$SPRY" net tune --help >out
"$SPRY" help net tune | cmp -s - out || fail "help net tune"
"$SPRY" help net run net:resnet50 | grep -q 'MODEL.onnx' || fail "help of graphs"
echo
"$SPRY" tune --help
