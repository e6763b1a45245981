#!/bin/sh
# exports.sh - libspry.so shows names that begin with spry_, and no others.
#
#   exports.sh libspry.so
set -eu
# SPRY_0, of type A, is the version itself.
names=$(nm -D --defined-only "$1" | awk '$2 != "A" { print $3 }')
strangers=$(printf '%s\n' "$names" | grep -v '^spry_' || true)

if [ -n "$strangers" ]; then
    echo "exported without the prefix:"
    printf '%s\n' "$strangers"
    exit 1
fi
printf '%s\n' "$names" | grep -q '^spry_version' || {
    echo "spry_version is not exported"
    exit 1
}
