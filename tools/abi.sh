#!/bin/sh
# abi.sh - is a program that was compiled with older headers still served?
#
#   abi.sh list            structs, enums and functions of the headers, a line
#                          each
#   abi.sh check [FILE]    compare with a list that was kept
#
# New lines are fine, and so are names behind the last of an enum and members
# behind the last of a struct that begins with its size, or is handed out. In
# one that ends with `reserved`, members take its place; its size stays, which
# tests/unit/test_growth.c looks at. All else breaks programs: it needs another version
# (SOVERSION), or to be taken back. Each struct is of a kind that can grow, or
# of those that are values for good.
set -eu
cd "$(dirname "$0")/.."
kept=${2:-tests/install/abi.txt}
# Made by the library and read through a pointer to one.
handed="spry_matrix spry_tensor spry_layer spry_tuning spry_progress spry_lap
spry_eon_progress spry_fleet_failure spry_fleet_worker spry_jit_entries
spry_waco_list spry_judged"
values="spry_activation spry_cache spry_dense spry_imagined spry_space spry_step
spry_super spry_tensors spry_waco_entry"

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
    list | awk -v kept="$kept" -v handed="$handed" -v values="$values" '
    BEGIN {
        count = split(handed, word)
        for (i = 1; i <= count; i++)
            is_handed[word[i]] = 1
        count = split(values, word)
        for (i = 1; i <= count; i++)
            is_value[word[i]] = 1
    }
    { now[$1 " " $2] = $0 }
    $1 == "struct" && !sized($0) && !roomy($0) && !($2 in is_handed) &&
    !($2 in is_value) {
        print "cannot grow: " $2 "; begin it with size_t size, end it with" \
            " reserved, or name it in " \
            "tools/abi.sh"
        bad++
    }
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
            print bad " lines, beside " known " kept ones, break programs compiled before;" \
                " with a new version, tools/abi.sh list >" kept
            exit 1
        }
        print known " lines are as they were, or grew"
    }
    function grew(old, new, kind) {
        if (kind == "struct" && roomy(old))
            sub(/ [a-z0-9_]+ reserved\[[0-9]+\]; \}$/, "", old)
        else if (kind == "struct" && !sized(old) &&
                 !(substr(old, 8, index(old, " {") - 8) in is_handed))
            return 0
        sub(/ \}$/, "", old)
        sub(/,$/, "", old)
        return (kind == "struct" || kind == "enum") && index(new, old) == 1
    }
    function sized(line) { return line ~ /\{ size_t size;/ }
    function roomy(line) { return line ~ / reserved\[[0-9]+\]; \}$/ }'
}

case ${1:-} in
list) list ;;
check) check ;;
*)
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
    exit 2
    ;;
esac
