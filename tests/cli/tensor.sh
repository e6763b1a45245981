#!/bin/sh
# A tensor is made, looked at, tuned, run, verified, predicted and exported.
# shellcheck source=/dev/null
. "$TOOLS"
expect 0 "$SPRY" generate fibers i=60 k=40 l=50 length=8 nnz=2k --out t.tns
has '60 x 40 x 50' out
expect 0 "$SPRY" generate zipf i=60 --out z.tns.gz --json
document spry.generate/1
holds "d['dims'] == [60, 60, 60] and d['nnz'] > 0"
expect 0 "$SPRY" generate --list --json
holds "len(d['tensors']) >= 4"

expect 0 "$SPRY" inspect t.tns
has 'mode 2 ' out
expect 0 "$SPRY" inspect t.tns --json
document spry.inspect_tensor/1
holds "[m['size'] for m in d['modes']] == [60, 40, 50]"
holds "d['modes'][0]['fibers'] < d['modes'][2]['fibers']"

# A recipe that is none of a matrix is a tensor, as its file is.
expect 0 "$SPRY" inspect gen:fibers,i=60,k=40,l=50,length=8,nnz=2k --json
document spry.inspect_tensor/1
key=$(get "d['key']")
expect 0 "$SPRY" inspect t.tns --json
holds "d['key'] == '$key'"
expect 0 "$SPRY" inspect gen:uniform,i=50,nnz=100
has '^tensor  *50 x 50 x 50, 100 entries' out
expect 0 "$SPRY" inspect gen:uniform,rows=50
has '^shape  *50 x 50' out
expect 0 "$SPRY" predict gen:zipf,i=60 --cols 16 --json
has 'mttkrp' out
refuse 2 'not tensors' "$SPRY" inspect t.tns --spy t.png
expect 2 "$SPRY" collect t.tns --ops spmm # perhaps with a note on the machine
has 'a tensor takes mttkrp' err

expect 0 "$SPRY" tune t.tns --cols 16 --store :memory:
has 'mttkrp' out
expect 0 "$SPRY" tune t.tns --op mttkrp --mode 1 --json
document spry.tune/1
expect 0 "$SPRY" tune gen:uniform,i=50 --op mttkrp
expect 0 "$SPRY" verify t.tns --cols 16
has ' 0 wrong' out
expect 0 "$SPRY" predict t.tns --cols 16
expect 0 "$SPRY" run t.tns --cols 4 --type f32 --schedule 'csf tile=1' \
    --out a.npy
expect 0 "$SPRY" run t.tns --cols 4 --type f32 --schedule csr --out b.npy
[ "$(wc -c <a.npy)" -eq $((128 + 60 * 4 * 4)) ] || fail 'shape of a.npy'
[ "$(wc -c <b.npy)" -eq "$(wc -c <a.npy)" ] || fail 'shape of b.npy'

expect 0 "$SPRY" export t.tns --cols 4 --schedule 'csf tile=1 modes=kli' \
    --name contract
has 'SWAPPED = 0' contract.c

printf '1 1 1 1\n1 x 1 1\n' >bad.tns
refuse 3 'bad.tns:2:' "$SPRY" inspect bad.tns
printf '1 1 1 1 1\n' >four.tns
refuse 3 'order 4' "$SPRY" tune four.tns
refuse 2 'takes --op mttkrp' "$SPRY" tune t.tns --op spmm
"$SPRY" generate uniform rows=9 --out m.mtx >out || fail m
refuse 2 'takes a tensor' "$SPRY" tune m.mtx --op mttkrp
refuse 2 '0|1|2' "$SPRY" tune t.tns --mode 3
exit 0
