#!/bin/sh
# Dense operators are measured and learned from, and the next tune asks what was
# learned; files of others are refused.
# shellcheck source=/dev/null
. "$TOOLS"
export SPRY_MODELS="$PWD/models"
mkdir models
expect 2 "$SPRY" train --operators matmul --store :memory:
has 'too few to learn' err
refuse 2 'conv2d, depthwise and matmul' \
    "$SPRY" train --operators pool --store :memory:

expect 2 "$SPRY" collect op:nonsense,h=3 --store r.db
list=
for n in 8 16 24 32 40 48 56 64 72 80 88 96; do
    list="$list op:matmul,m=$n,n=24,k=$((2 * n))"
done
# shellcheck disable=SC2086
expect 0 "$SPRY" collect $list --store r.db --limits 1 --schedules 10 --json
document spry.collect/1
holds "d['problems'] == 12 and d['done'] == 12 and d['trials'] >= 100"
trials=$(get "d['trials']") doubtful=$(get "d['verdicts'].get('doubtful', 0)")
# shellcheck disable=SC2086
expect 0 "$SPRY" collect $list --store r.db --limits 1 --schedules 10 --json
holds "d['trials'] < $trials and d['known'] == $trials - $doubtful"

# arithmetic ranks as long as there is no model
expect 0 "$SPRY" predict op:matmul,m=50,n=24,k=90 --threads 1 --store :memory:
expect 0 "$SPRY" tune op:matmul,m=50,n=24,k=90 --threads 1 --store t.db --json
holds "d['model'] == 'analytic'"
refuse 2 'one kind of model' \
    "$SPRY" train --operators matmul --kind mlp --store r.db --out x.spry
refuse 2 'one kind of model' "$SPRY" train --operators matmul \
    --split by_machine --store r.db --out x.spry
expect 7 env SPRY_XGBOOST=none "$SPRY" train --operators matmul --store r.db \
    --out x.spry
has 'XGBoost' err
test ! -e x.spry
expect 0 "$SPRY" train --operators matmul --store r.db --rounds 20 --whole \
    --out models/cost-matmul.spry --json
document spry.train/1
holds "d['kind'] == 'operators' and d['records'] >= 60"
holds "d['held_out']['problems'] >= 1"
cp models/cost-matmul.spry once
expect 0 "$SPRY" train --operators matmul --store r.db --rounds 20 --whole \
    --out models/cost-matmul.spry
cmp -s once models/cost-matmul.spry || fail "the same records, other bytes"
expect 0 "$SPRY" model info --json
holds "[m['op'] for m in d['models']] == ['matmul']"
expect 0 "$SPRY" evaluate --operators matmul --store r.db --turns --json \
    models/cost-matmul.spry analytic
document spry.evaluate/1
holds "d['op'] == 'matmul'"
holds "[m['model'] for m in d['models']] == \
    ['models/cost-matmul.spry', 'analytic', 'random']"
expect 2 "$SPRY" evaluate --operators conv2d --store r.db models/cost-matmul.spry
expect 0 "$SPRY" tune op:matmul,m=51,n=24,k=90 --threads 1 --store t.db --json
holds "d['model'] == 'trees and networks'"

# bytes that are no model, or one of something else, are not used
head -c 4000 once >models/cost-matmul.spry
expect 3 "$SPRY" model info models/cost-matmul.spry
expect 0 "$SPRY" tune op:matmul,m=52,n=24,k=90 --threads 1 --store t.db --json
holds "d['model'] == 'analytic'"
cp once models/cost-conv2d.spry
expect 0 "$SPRY" tune op:conv2d,h=9,w=9,c=8,k=8 --threads 1 --store t.db --json
holds "d['model'] == 'analytic'"
