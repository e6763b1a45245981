#!/bin/sh
# abi.sh - is a program that was compiled with older headers still served?
#
#   abi.sh list            structs, enums and functions of the headers, a line
#                          each
#   abi.sh check [FILE]    compare with a list that was kept
#
# New lines are fine, and so are members behind the last of a struct that
# begins with its size, and names behind the last of an enum. All else breaks
# programs: it needs another version (SOVERSION), or to be taken back.
set -eu
cd "$(dirname "$0")/.."
kept=${2:-tests/install/abi.txt}

# Comments, preprocessor lines and line ends go; braces are counted.
list() {
    cat include/spry/*.h | awk '
    { sub(/\r$/, "") }
    /^#/ { hash = /\\$/; next }
    hash { hash = /\\$/; next }
    { text = text $0 "\n" }
    END {
        while (match(text, /\/\*([^*]|\*+[^*\/])*\*+\//))
            text = substr(text, 1, RSTART - 1) " " \
                   substr(text, RSTART + RLENGTH)
        gsub(/extern "C" \{/, "", text)
        gsub(/[ \n\t]+/, " ", text)
        for (i = 1; i <= length(text); i++) {
            c = substr(text, i, 1)
            item = item c
            depth += (c == "{") - (c == "}")
            if (depth < 0) { depth = 0; item = "" }
            if (c == ";" && depth == 0) { put(item); item = "" }
        }
    }
    function put(item,    name) {
        sub(/^ +/, "", item)
        gsub(/ *, */, ", ", item)
        if (item ~ /^typedef (struct|enum)[^{]*\{/) {
            name = item
            sub(/^.*\} */, "", name)
            sub(/;$/, "", name)
            kind = item ~ /^typedef struct/ ? "struct" : "enum"
            sub(/^[^{]*\{ */, "", item)
            sub(/ *\}[^}]*$/, "", item)
            print kind " " name " { " item " }"
        } else if (item ~ /spry_[a-z0-9_]+\(/ && item !~ /^typedef/) {
            name = item
            sub(/\(.*/, "", name)
            sub(/.*[ *]/, "", name)
            print "function " name " : " item
        } else if (item ~ /^(typedef|enum)/) {
            name = item
            gsub(/[^a-zA-Z0-9_]+/, "_", name)
            print "type " name " : " item
        }
    }' | LC_ALL=C sort
}

check() {
    list | awk -v kept="$kept" '
    { now[$1 " " $2] = $0 }
    END {
        while ((getline line <kept) > 0) {
            split(line, word, " ")
            id = word[1] " " word[2]
            known++
            if (!(id in now)) {
                print "gone:    " line
                bad++
            } else if (now[id] != line && !grew(line, now[id], word[1])) {
                print "was:     " line
                print "is now:  " now[id]
                bad++
            }
        }
        if (!known) {
            print kept " has no lines"
            exit 1
        }
        if (bad) {
            print bad " of " known " lines break programs compiled before;" \
                " with a new version, tools/abi.sh list >" kept
            exit 1
        }
        print known " lines are as they were, or grew"
    }
    function grew(old, new, kind) {
        sub(/ \}$/, "", old)
        sub(/,$/, "", old)
        if (kind == "struct" && old !~ /\{ size_t size;/)
            return 0
        return (kind == "struct" || kind == "enum") && index(new, old) == 1
    }'
}

case ${1:-} in
list) list ;;
check) check ;;
*)
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
    exit 2
    ;;
esac
