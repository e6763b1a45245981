#!/bin/sh
# readme.sh - the C that README.md shows compiles, without a warning.
set -eu
cd "$(dirname "$0")/../.."
# shellcheck disable=SC2016  # the quotes hold sed's backquotes
code=$(sed -n '/^```c$/,/^```$/p' README.md | grep -v '^```')
[ -n "$code" ] || { echo "README.md shows no C"; exit 1; }
printf '%s\n' "$code" |
    "$CC" -x c -std=c11 -Wall -Wextra -Wpedantic -Werror -Iinclude \
        -fsyntax-only -
# A status that nobody looks at: a call that is a whole statement.
if printf '%s\n' "$code" |
    grep -nE '^ *spry_[a-z_]+\(' | grep -vE '_(free|close)\('; then
    echo "README.md ignores a status"
    exit 1
fi
