#!/bin/sh
# names.sh - names that a reader can find.
#
# Every type that rooms share (sp_, spry_) is defined once, and no name of the
# code is `is`, `some` or one of the pictures that once stood for nouns of the
# field. Prints what is not so, then the count of types; fails unless all is.
set -eu
cd "${1:-$(dirname "$0")/..}"
bad=0

# shellcheck disable=SC2016  # the single quotes hold awk, not shell
find src include cli -name '*.[ch]' | sort | xargs awk '
function define(name) {
    if (name !~ /^(sp|spry)_/ || last[name] == FILENAME ":" begin)
        return
    last[name] = FILENAME ":" begin
    where[name] = where[name] " " FILENAME ":" begin
    times[name]++
}
FNR == 1 { inside = 0 }
/^(typedef )?(struct|union|enum)( [a-z_0-9]+)? \{/ {
    begin = FNR
    inside = 1
    split($0, word, /[ {]+/)
    define(word[1] == "typedef" ? word[3] : word[2])
}
inside && match($0, /^\}|\} [a-z_0-9]+;$/) {
    inside = 0
    name = $0
    sub(/;.*/, "", name) # a comment may follow
    sub(/.* /, "", name)
    define(name)
}
/^typedef / && !/\{/ && match($0, /[a-z_0-9]+\)?\(/) {
    begin = FNR
    name = substr($0, RSTART, RLENGTH)
    gsub(/[()]/, "", name)
    define(name)
}
END {
    for (name in times)
        if (times[name] > 1) {
            print name ":" where[name]
            twice++
        } else
            once++
    printf "%d types, %d defined twice\n", once + twice, twice
    exit twice > 0
}' || bad=1

# Comments and texts are prose: they may say what they like.
# shellcheck disable=SC2016
find src include cli bench tests -name '*.[ch]' | sort | xargs awk '
FNR == 1 { comment = 0 }
{
    line = $0
    gsub(/\\./, "", line)
    gsub(/"[^"]*"/, "", line)
    if (comment) {
        if (!match(line, /\*\//)) next
        line = substr(line, RSTART + 2)
        comment = 0
    }
    while (match(line, /\/\*/)) {
        before = substr(line, 1, RSTART - 1)
        line = substr(line, RSTART + 2)
        if (!match(line, /\*\//)) {
            line = before
            comment = 1
            break
        }
        line = before " " substr(line, RSTART + 2)
    }
    n = split(line, name, /[^A-Za-z_0-9]+/)
    for (i = 1; i <= n; i++)
        if (name[i] ~ /^(is|some)$/ ||
            name[i] ~ /(^|_)(raft|crew|sight|lesson|living|wheels)s?(_|$)/) {
            print FILENAME ":" FNR ": " name[i] " says too little"
            bad = 1
        }
}
END { exit bad }' || bad=1
exit $bad
