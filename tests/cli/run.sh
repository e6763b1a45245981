#!/bin/sh
# Results that can be computed by hand, through .npy files.
# shellcheck source=/dev/null
. "$TOOLS"
small >small.mtx
is() {
    got=$(numbers y.npy) || fail "y.npy"
    [ "$got" = "$1" ] || fail "$got, not $1"
}
npy '<f8' '(4,)' 1 2 3 4 >x.npy
expect 0 "$SPRY" run small.mtx --x x.npy --out y.npy
is '<f8 (3,) 7 0 22'
expect 0 "$SPRY" run small.mtx --x x.npy --out y.npy --type f32 --schedule csr
is '<f4 (3,) 7 0 22'
npy '<f4' '(4, 2)' 1 2 3 4 5 6 7 8 >b.npy
expect 0 "$SPRY" run small.mtx --x b.npy --out y.npy --json
document spry.run/1
is '<f4 (3, 2) 11 14 0 0 37 44'
npy '<f4' 'F(4, 2)' 1 3 5 7 2 4 6 8 >b.npy
expect 0 "$SPRY" run small.mtx --x b.npy --out y.npy --calls 3
is '<f4 (3, 2) 11 14 0 0 37 44'
npy '<f8' '(3, 1)' 1 2 3 >b.npy
npy '<f8' '(4, 1)' 1 2 3 4 >d.npy
expect 0 "$SPRY" run small.mtx --op sddmm --x b.npy --y d.npy --out y.npy
is '<f8 (4,) 1 6 18 48'

"$SPRY" run small.mtx --seed 5 --out - 2>err >a.npy || fail "to stdout"
"$SPRY" run small.mtx --random --seed 5 --out b.npy >out || fail "to a file"
cmp -s a.npy b.npy || fail "- and a file differ"
expect 0 "$SPRY" run small.mtx --out /dev/null

refuse 7 'missing/y.npy' "$SPRY" run small.mtx --out missing/y.npy
[ -z "$(find . -name 'y.npy.*')" ] || fail "a temporary file stays"
refuse 2 'calls' "$SPRY" run small.mtx --calls 0 --out y.npy
refuse 2 'sddmm' "$SPRY" run small.mtx --x x.npy --y d.npy
exit 0
