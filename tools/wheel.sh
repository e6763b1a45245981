#!/bin/sh
# wheel.sh - source archive and wheel of the committed state for Python, in
# build/dist, the wheel built from the archive and tried.
#
#   tools/wheel.sh
#
# Needs setuptools and wheel; SPRY_LIBRARY names a library that is built
# already. The wheel has the library for this kind of
# machine, which takes SQLite, hwloc and zlib from the system.
set -eu
cd "$(dirname "$0")/.."
out=$PWD/build/dist
python=${PYTHON:-/usr/bin/python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
rm -rf "$out"
mkdir -p "$out" "$work/tree" "$work/wheel"

git archive HEAD | tar -x -C "$work/tree"
(cd "$work/tree" && "$python" setup.py -q sdist -d "$out") 2>"$work/log" || {
    cat "$work/log" >&2
    exit 1
}
tar -x -C "$work" -f "$out"/spry-*.tar.gz
(cd "$work"/spry-* && "$python" setup.py -q bdist_wheel -d "$out") \
    >"$work/log" 2>&1 || {
    tail -n 40 "$work/log" >&2
    exit 1
}

"$python" -m zipfile -e "$out"/spry-*.whl "$work/wheel"
cd "$work"
HOME=$work PYTHONPATH=$work/wheel env -u SPRY_LIBRARY "$python" - <<'END'
from importlib.metadata import version

import numpy as np
import scipy.sparse as sp
import spry

A = sp.random(200, 200, 0.1, "csr")
B = np.ones((200, 4))
assert np.allclose(spry.tune(A, cols=4) @ B, A @ B)
assert version("spry") == spry.__version__, version("spry")
END
ls "$out"/*
