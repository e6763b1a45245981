#!/bin/sh
# What shells complete comes from the tables of options; the manual knows all
# of them.
# shellcheck source=/dev/null
. "$TOOLS"
refuse 2 'bash, zsh, fish' "$SPRY" completion tcsh
refuse 2 'table has --json' "$SPRY" completion bash --json
expect 0 "$SPRY" completion table --json
document spry.completion/1
get "len(d['options'])" >rows
expect 0 "$SPRY" completion table
cp out table.txt
[ "$(wc -l <table.txt)" = "$(cat rows)" ] || fail "two tables of options"
grep -q "^tune	--budget	TIME	" table.txt || fail "tune has no --budget"
grep -q "^net tune	--batch	" table.txt || fail "net tune has no --batch"
grep -q "^records import	--format	" table.txt || fail "no records import"
# --lock belongs to those that look answers up.
for name in tune run 'net run' 'net explain'; do
    grep -q "^$name	--lock	" table.txt || fail "$name has no --lock"
done
grep -Eq '^(records|schedules).*	--lock	' table.txt && fail "a lock of what?"

for shell in bash zsh fish; do
    expect 0 "$SPRY" completion $shell
    cp out "spry.$shell"
    ! command -v $shell >/dev/null || $shell -n "spry.$shell" ||
        fail "$shell does not read it"
done

# As bash asks: the words so far, the last one to be completed.
if command -v bash >/dev/null; then
    complete_words() {
        bash -c '. ./spry.bash; COMP_WORDS=("$@")
            COMP_CWORD=$(($# - 1)); _spry; echo "${COMPREPLY[*]}"' - "$@"
    }
    [ "$(complete_words spry ins)" = inspect ] || fail "spry ins"
    [ "$(complete_words spry tune m.mtx --bud)" = --budget ] || fail "--bud"
    [ "$(complete_words spry tune m.mtx --op sp)" = "spmv spmm" ] ||
        fail "--op sp"
    [ "$(complete_words spry net tu)" = tune ] || fail "net tu"
    [ "$(complete_words spry net tune --bat)" = --batch ] || fail "net --bat"
    [ -z "$(complete_words spry tune m)" ] || fail "files are bash's business"
fi

# Every command and option is in the manual, in the words of its tables.
manual=$(dirname "$0")/../../docs/spry.1
cut -f1 table.txt | cut -d' ' -f1 | sort -u | while read -r name; do
    grep -Eq "^\.It (Xo )?Cm $name( |\$)" "$manual" || echo "$name"
done >missing
cut -f2 table.txt | sort -u | while read -r name; do
    grep -Eq -e "Fl $(echo "$name" | cut -c2-)( |\$|,)" "$manual" ||
        echo "$name"
done >>missing
[ ! -s missing ] || fail "the manual lacks: $(tr '\n' ' ' <missing)"
# And it names none that is not there.
grep -Eo 'Fl -[a-z][a-z-]*' "$manual" | cut -c5- | sort -u |
    while read -r name; do
        case $name in help | version) continue ;; esac
        cut -f2 table.txt | grep -qx -e "--$name" || echo "--$name"
    done >unknown
[ ! -s unknown ] || fail "the manual invents: $(tr '\n' ' ' <unknown)"
