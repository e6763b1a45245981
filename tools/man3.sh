#!/bin/sh
# man3.sh - manual pages of section 3 from the headers: a page for each header,
# and for each function one that leads to it.
#
#   man3.sh INCLUDE OUT VERSION
set -eu
include=$1 out=$2 version=$3
mkdir -p "$out"
rm -f "$out"/*.3
for header in "$include"/spry/*.h; do
    room=$(basename "$header" .h)
    awk -v room="$room" -v out="$out" -v version="$version" '
function plain(text) {  # what roff would read as a command
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    if (text ~ /^[.\047]/)
        text = "\\&" text
    return text
}
function say(text) { body = body text "\n" }
function set_in(on) {   # lines as they stand, or filled
    if (on != kept)
        say(on ? ".PP\n.nf" : ".fi")
    kept = on
}
function prose(line) {  # of a comment
    sub(/^\/\* ?/, "", line)
    sub(/^ \* ?/, "", line)
    sub(/ *\*\/$/, "", line)
    if (line ~ /^   / || (kept && line ~ /^ /))
        set_in(1)
    else if (kept)
        set_in(0)
    if (line == "")
        say(kept ? "" : ".PP")
    else
        say(plain(line))
}
function heading(line) {
    gsub(/^\/\* *(====|----) *| *(====|----) *\*?\/?$/, "", line)
    return toupper(line)
}
function declared(line) {
    if (line !~ /^[a-z]/ || line ~ /^(typedef|enum|struct)/)
        return
    if (match(line, /spry_[a-z0-9_]+\(/))
        names[++count] = substr(line, RSTART, RLENGTH - 1)
}
NR == 1 {
    about = $0
    sub(/^\/\* [a-z]+\.h - /, "", about)
    ended = sub(/ *\*\/$/, "", about)
    sub(/\.$/, "", about)
    if (!ended) {
        top = inside = 1
    }
    next
}
/^#(ifndef|define) SPRY_[A-Z]+_H$/ || /^#include/ { next }
/^#ifdef __cplusplus/ { skip = 1 }
skip { if (/^#endif/) skip = 0; next }
/^#endif$/ { next }
inside {
    prose($0)
    if (/\*\/$/) {
        inside = 0
        if (top) { lead = body; body = ""; top = 0 }
        set_in(0)
    }
    next
}
/^\/\* ==== / { set_in(0); say(".SH " heading($0)); next }
/^\/\* ---- / {
    set_in(0)
    say(".SS " heading($0))
    if (!/\*\/$/) inside = 1
    next
}
/^\/\*/ {
    set_in(0)
    say(".PP")
    prose($0)
    if (!/\*\/$/) inside = 1
    else set_in(0)
    next
}
/^$/ { if (kept) say(""); next }
{
    declared($0)
    set_in(1)
    say(plain($0))
}
END {
    set_in(0)
    page = out "/spry-" room ".3"
    printf ".TH SPRY\\-%s 3 \"\" \"spry %s\" \"spry %s\"\n", toupper(room),
        version, "library" >page
    printf ".SH NAME\nspry\\-%s", room >page
    for (i = 1; i <= count; i++)
        printf ", %s", names[i] >page
    printf " \\- %s\n.SH SYNOPSIS\n.nf\n#include <spry.h>\n", plain(about) >page
    printf "cc ... $(pkg\\-config \\-\\-cflags \\-\\-libs spry)\n.fi\n" >page
    if (lead)
        printf ".SH DESCRIPTION\n%s", lead >page
    printf "%s", body >page
    printf ".SH SEE ALSO\n.BR spry (1)\n" >page
    close(page)
    for (i = 1; i <= count; i++) {
        link = out "/" names[i] ".3"
        printf ".so man3/spry-%s.3\n", room >link
        close(link)
    }
}' "$header"
done
