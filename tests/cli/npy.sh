#!/bin/sh
# Arrays that are not what they claim: exit 3 and one sentence.
# shellcheck source=/dev/null
. "$TOOLS"
small >small.mtx
npy '<f8' '(4,)' 1 2 3 4 >good.npy
expect 0 "$SPRY" run small.mtx --x good.npy

: >empty.npy
head -c 9 good.npy >magic.npy
head -c 60 good.npy >header.npy
head -c 140 good.npy >short.npy
{ cat good.npy; echo; } >long.npy
npy '<f8' '(3,)' 1 2 3 >shape.npy
npy '<f8' '(2, 2, 1)' 1 2 3 4 >deep.npy
npy '<f8' '(99999999999999999999,)' 1 >huge.npy
npy '<f8' '(4611686018427387904, 4)' 1 >overflow.npy
npy '<f8' '(-4,)' 1 >negative.npy
npy '<f8' '(4' 1 2 3 4 >open.npy
npy '<f8' '4' 1 2 3 4 >bare.npy
npy '>f8' '(4,)' 1 2 3 4 >big.npy
npy '<i8' '(4,)' 1 2 3 4 >integer.npy
npy '|O' '(4,)' 1 2 3 4 >object.npy
npy '<f8' 'F(9223372036854775807, 0)' >many.npy
mkdir folder.npy
for file in empty magic header short long shape deep huge overflow negative \
    open bare big integer object many folder missing; do
    refuse 3 "$file.npy" "$SPRY" run small.mtx --x $file.npy
done

# Pipes are read to their end.
mkfifo pipe.npy
cat good.npy >pipe.npy &
expect 0 "$SPRY" run small.mtx --x pipe.npy
for file in short long; do
    cat $file.npy >pipe.npy &
    refuse 3 'header says' "$SPRY" run small.mtx --x pipe.npy
done
exit 0
