#!/bin/sh
# names.sh - every type that rooms share is defined once.
#
# Prints the names beginning with sp_ or spry_ that are defined twice, with
# their places, then how many there are; fails unless it is none.
set -eu
cd "${1:-$(dirname "$0")/..}"
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
    name = $NF
    sub(/;$/, "", name)
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
}'
