#!/bin/sh
# python.sh - the tests of the Python package, where Python has what they need.
#
#   SPRY_LIBRARY=libspry.so [PRELOAD=none|LIBRARY:...] python.sh FILE
#
# PRELOAD: runtimes of the sanitizer that the library was made with.
set -eu
here=$(cd "$(dirname "$0")/../.." && pwd)
python=/usr/bin/python3
[ -x $python ] || python=$(command -v python3 || true)
if [ -z "$python" ]; then
    echo "SKIPPED: there is no python3"
    exit 77
fi
if [ "${PRELOAD-}" = none ]; then
    echo "SKIPPED: Python cannot load a library with clang's sanitizer"
    exit 77
fi
case $1 in
test_torch.py | test_edges.py | test_network.py) needed="numpy scipy pytest torch" ;;
*) needed="numpy scipy pytest" ;;
esac
for module in $needed; do
    if ! "$python" -c "import $module" 2>/dev/null; then
        echo "SKIPPED: $python has no $module; apt-get install python3-$module"
        exit 77
    fi
done
SPRY_HOME=$(mktemp -d)
export SPRY_HOME OMP_WAIT_POLICY=passive
trap 'rm -rf "$SPRY_HOME"' EXIT
if [ -n "${PRELOAD-}" ]; then # what Python itself never frees is not ours
    export LD_PRELOAD="$PRELOAD"
    export ASAN_OPTIONS="detect_leaks=0:${ASAN_OPTIONS-}"
fi
"$python" -m pytest -q -p no:cacheprovider "$here/python/tests/$1"
