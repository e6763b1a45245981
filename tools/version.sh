#!/bin/sh
# version.sh - all files that say spry's version say the same.
#
#   tools/version.sh [VERSION]    and this one
set -eu
cd "$(dirname "$0")/.."
version=$(sed -n 's/^project(spry VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
wanted=${1:-$version}

# says FILE VERSION
says()
{
    [ "$2" = "$wanted" ] && return
    echo "version.sh: $1 says version '$2', not '$wanted'" >&2
    exit 1
}
says CMakeLists.txt "$version"
says debian/changelog "$(sed -n '1s/.*(\(.*\)).*/\1/p' debian/changelog)"
says CITATION.cff "$(sed -n 's/^version: *//p' CITATION.cff)"
says CHANGELOG.md "$(sed -n 's/^## \([0-9.]*\).*/\1/p' CHANGELOG.md |
    head -n 1)"
