#!/bin/sh
# train_eon.sh - learn the model that `--order eon` uses: models/eon.nn.
#
#   tools/train_eon.sh build/release/spry [EPISODES]
#
# Small networks of every kind, each for four sizes of memory, from near the
# blocked order on. The same seed, episodes and build give the same model.
set -eu
spry=$1
cd "$(dirname "$0")/.."
exec "$spry" net train-order --out models/eon.nn --seed 1 \
    --episodes "${2:-130000}" --memory 8,16,32,64 --threads 1 \
    gen:random,width=64,depth=2,density=0.1 \
    gen:random,width=96,depth=2,density=0.05 \
    gen:random,width=40,depth=2,density=0.3 \
    gen:random,width=128,depth=1,density=0.08 \
    gen:random,width=48,depth=2,density=0.6 \
    gen:random,width=256,depth=1,density=0.05 \
    gen:random,width=128,depth=1,density=0.4 \
    gen:smallworld,width=64,depth=2,degree=6 \
    gen:smallworld,width=48,depth=2,degree=12,rewire=0.3 \
    gen:smallworld,width=256,depth=1,degree=16 \
    gen:smallworld,width=192,depth=2,degree=10,rewire=0.4 \
    gen:mixed,radices=2x2x2,copies=4 \
    gen:mixed,radices=3x4,copies=4 \
    gen:mixed,radices=2x2x2x2,copies=8 \
    gen:pruned,widths=64x48x16,sparsity=0.8 \
    gen:pruned,widths=128x64x10,sparsity=0.9 \
    gen:skip,width=24,depth=4,degree=6 \
    gen:skip,width=48,depth=3,degree=8,skip=0.4
