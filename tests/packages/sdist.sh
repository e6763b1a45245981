#!/bin/sh
# sdist.sh CMAKE LIBRARY - a source archive for Python has all that the library
# is built from, and a wheel what it needs.
set -eu
cmake=$1
top=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail()
{
    printf '%s\n' "$*"
    exit 1
}

for python in /usr/bin/python3 python3 none; do
    "$python" -c 'import setuptools
assert int(setuptools.__version__.split(".")[0]) >= 61' 2>/dev/null && break
done
[ "$python" != none ] || {
    echo "SKIPPED: there is no setuptools of version 61 or newer"
    exit 77
}

# setup.py writes beside itself.
mkdir "$work/tree" "$work/out"
tar -C "$top" --exclude=./build --exclude=./.git --exclude=__pycache__ \
    --exclude='*.egg-info' -cf - . | tar -x -C "$work/tree"
(cd "$work/tree" && "$python" setup.py -q sdist --formats=tar -d "$work/dist") \
    >"$work/log" 2>&1 || fail "no source archive: $(cat "$work/log")"
tar -x -C "$work/out" -f "$work"/dist/spry-*.tar
out=$(echo "$work"/out/spry-*)

for part in CMakeLists.txt LICENSE cli cmake debian include models packaging \
    petsc src tools; do
    diff -rq -x 'local-*.spry' "$work/tree/$part" "$out/$part" ||
        fail "$part is another in the archive"
done
said=$(cd "$out" && "$python" setup.py --version 2>/dev/null) ||
    fail "its setup.py fails"
[ "$out" = "$work/out/spry-$said" ] || fail "$out says version $said"
"$cmake" -S "$out" -B "$work/build" -DBUILD_TESTING=OFF -DSPRY_BENCH=OFF \
    >"$work/log" 2>&1 || fail "not to be configured: $(tail "$work/log")"

# A wheel has package, library and models in one folder, for any Python 3.
"$python" -c 'import wheel' 2>/dev/null || {
    echo "SKIPPED: there is no wheel: only the source archive was tried"
    exit 77
}
(cd "$out" && SPRY_LIBRARY=$2 "$python" setup.py -q bdist_wheel -d "$work") \
    >"$work/log" 2>&1 || fail "no wheel: $(tail "$work/log")"
"$python" -m zipfile -l "$work"/spry-*-py3-none-*.whl >"$work/names"
for file in __init__.py libspry.so models/cost-spmm.spry; do
    grep -q "^spry/$file " "$work/names" || fail "no spry/$file in the wheel"
done
