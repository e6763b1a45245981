#!/bin/sh
# lint.sh - tools/deb.sh says what lintian said, and nothing for it.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/tree/tools" "$work/tree/debian" "$work/tree/build/deb" "$work/bin"
cp "$top/tools/deb.sh" "$work/tree/tools"
cp "$top/debian/changelog" "$work/tree/debian"

# lintian EXIT WORDS: what it does when it is called.
lintian()
{
    printf '#!/bin/sh\nprintf "%%s\\n" "%s"\nexit %s\n' "$2" "$1" \
        >"$work/bin/lintian"
    chmod +x "$work/bin/lintian"
}

# says LINE: among what deb.sh prints.
says()
{
    PATH="$work/bin:$PATH" "$work/tree/tools/deb.sh" lint >"$work/said"
    grep -qx "$1" "$work/said" && return
    printf 'no line "%s":\n%s\n' "$1" "$(cat "$work/said")"
    exit 1
}

lintian 0 'W: spry: one'
says 'aim lintian_errors 0 0 met'
says 'aim lintian_warnings 1 0 short'
lintian 2 'E: spry: one'
says 'aim lintian_errors 1 0 short'
says 'aim lintian_warnings 0 0 met'
lintian 1 'cannot open a file'
says 'aim lintian_errors - 0 not measured: lintian failed, exit 1'
lintian 127 ''
says 'aim lintian_warnings - 0 not measured: lintian failed, exit 127'
