#!/bin/sh
# layers.sh - hold every #include in src/ and include/ to src/LAYERS, and
# those of cli/ to the public doors and the two formats that it writes as the
# library does.
set -eu
cd "$(dirname "$0")/.."
# shellcheck disable=SC2016  # the single quotes hold awk, not shell
find src include/spry cli -name '*.[ch]' | sort | xargs awk '
function say(what) { print FILENAME ":" FNR ": " what; bad = 1 }
# src/plan/run.c -> plan; include/spry/plan.h -> plan
function room_of(path,  part) {
    split(path, part, "/")
    return part[1] == "src" ? part[2] \
                            : home(substr(part[3], 1, length(part[3]) - 2))
}
# A room has one public door, but matrix and dense have two.
function home(door) {
    return door == "tensor" ? "matrix" : door == "operator" ? "dense" : door
}
BEGIN {
    while ((getline line < "src/LAYERS") > 0) {
        if (line ~ /^(#|$)/) continue
        n = split(line, word, /[: ]+/)
        may[word[1], word[1]] = 1
        for (i = 2; i <= n; i++) {
            if (word[i] == "") continue
            if (!((word[i], word[i]) in may)) {
                print "src/LAYERS: " word[1] " names " word[i] " too early"
                bad = 1
            }
            may[word[1], word[i]] = 1
        }
    }
}
/^#include "/ && FILENAME ~ /^cli/ {
    split($0, quoted, "\""); inc = quoted[2]
    if (inc ~ /\// && inc !~ /^(spry\/[a-z]+|base\/(json|npy))\.h$/)
        say("cli may not include " inc)
    next
}
/^#include "/ {
    split($0, quoted, "\""); inc = quoted[2]; me = room_of(FILENAME)
    if (inc == "spry/status.h") next
    door = inc ~ /^spry\//
    to = door ? home(substr(inc, 6, length(inc) - 7)) \
              : substr(inc, 1, index(inc, "/") - 1)
    if (!((me, to) in may)) say(me " may not include " inc)
    if (inc ~ /internal\.h$/ && to != me) say(inc " is private to " to)
    if (!door && FILENAME ~ /^include/) say("a public header includes " inc)
}
END { exit bad }'
