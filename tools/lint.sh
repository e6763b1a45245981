#!/bin/sh
# lint.sh - what the tools have to say; nothing is the right answer.
#
# Format, cppcheck and shellcheck look at everything, clang-tidy (slow) at
# what differs from main, or at everything with LINT_ALL=1. A tool that is
# not installed is named and passed over.
set -eu
cd "$(dirname "$0")/.."
status=0
batch=1000

sources()
{
    find . -path ./build -prune -o -name '*.[ch]' -print | sed 's|^\./||'
}

scripts()
{
    grep -rlE '^#!/bin/(ba)?sh' .ci tools tests
}

changed()
{
    [ -z "${LINT_ALL-}" ] || { sources; return; }
    git diff --name-only --diff-filter=d main...
    git diff --name-only --diff-filter=d HEAD
    git ls-files --others --exclude-standard
}

# Library and programs: what compile_commands.json always knows.
compiled()
{
    sort -u | grep -E '^(src|cli|bench|examples)/.*\.c$' || true
}

# Run a tool over the file names on stdin, if there are any.
over()
{
    if ! command -v "$1" >/dev/null; then
        echo "$1: not installed, passed over (make deps-all)" >&2
        return 0
    fi
    echo "$1" >&2
    xargs -r -n "$batch" -P "$(nproc)" "$@"
}

sources | over clang-format --dry-run -Werror || status=1
scripts | over shellcheck || status=1
# What cppcheck found of a file is kept for as long as the file is the same. It
# takes what a function fills in for what it reads, across files: ctuuninitvar.
mkdir -p build/cppcheck
sources | compiled | over cppcheck --std=c11 --quiet -j "$(nproc)" \
    --cppcheck-build-dir=build/cppcheck --suppress=ctuuninitvar \
    --enable=warning,performance,portability --inline-suppr \
    --error-exitcode=1 -Iinclude -Isrc -Ibuild/release/kernels || status=1
batch=1 # clang-tidy 14 sees va_list troubles from the second file on
changed | compiled | over clang-tidy --quiet -p build/release || status=1
exit $status
