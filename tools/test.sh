#!/bin/sh
# test.sh - the tests of a preset, and at the end what was skipped and why.
#
#   tools/test.sh PRESET [an option of ctest]...
set -u
cd "$(dirname "$0")/.." || exit 1
preset=$1
shift
results=$PWD/build/$preset/tests.xml

rm -f "$results"
ctest --preset "$preset" --output-junit "$results" \
    --test-output-size-passed 1000000 "$@"
ended=$?
tools/tally.py "$results" || exit 1
exit $ended
