#!/bin/sh
# Against the real thing, where it lies beside the project: the layers' bytes
# and the categories of the 1200 images. Skipped when they are not there.
# shellcheck source=/dev/null
. "$TOOLS"
data=$(dirname "$TOOLS")/../../../shared/data/networks/graphchallenge
data=${SPRY_CHALLENGE:-$data}
[ -f "$data/n1024-l1.tsv.gz" ] ||
    skip "the Graph Challenge's files are not there (SPRY_CHALLENGE)"

expect 0 "$SPRY" net generate radix --out made
for file in "$data"/n1024-l*.tsv.gz; do
    name=$(basename "$file" .gz)
    gzip -dc "$file" | cmp -s - "made/$name" || fail "$name differs"
done

images=$data/sparse-images-1024_subset.mtx
right=$data/neuron1024-l120-categories_subset.mtx
[ -f "$images" ] || skip "the Graph Challenge's images are not there"
for how in "--mode edge" "--mode edge --order source" "--mode edge \
    --order clustered" "--mode layers" "--stream" "--mode auto" "--passes none" \
    "--mode edge --passes merge" "--mode layers --passes factor" \
    "--mode reference --passes all"; do
    # shellcheck disable=SC2086
    expect 0 "$SPRY" net run gen:radix --input "$images" $how --expect "$right"
    [ "$(wc -l <out)" = 19 ] || fail "$how: not 19 categories"
done
for way in "plain" "passes=all plain" "passes=all gather threads=1" \
    "rows tile=8" "passes=rest rows tile=8" "passes=all rows tile=16" \
    "passes=merge rows tile=32" "passes=factor,merge rows tile=64"; do
    expect 0 "$SPRY" net run gen:radix --input "$images" --way "$way" \
        --expect "$right"
done
expect 0 "$SPRY" net run gen:radix,depth=1920 --input "$images" \
    --expect "$right"
expect 0 "$SPRY" net run "$data" --input "$images" --expect "$right"
exit 0
