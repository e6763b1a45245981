#!/bin/sh
# What tune --json prints is the library's document, whatever the family: the
# fields that test_story finds in it (tests/data/story.txt), in their order.
# shellcheck source=/dev/null
. "$TOOLS"
fields=$(dirname "$TOOLS")/../data/story.txt
same() { # FAMILY
    document spry.tune/1
    holds "list(d) == open('$fields').readline().split()[1:]"
    holds "list(d['problem']) == [l.split()[1:] for l in open('$fields') \
        if l.startswith('$1 ')][0]"
    holds "d['problem']['type'] == 'f32' and d['problem']['key']"
}
expect 0 "$SPRY" tune gen:uniform,rows=60,nnz=300 --cols 8 --type f32 \
    --effort predict --store :memory: --json
same sparse
expect 0 "$SPRY" net tune gen:random,width=32,depth=3,density=0.3 --batch 20 \
    --effort predict --store :memory: --json
same network
expect 0 "$SPRY" tune op:conv2d,h=8,w=8,c=4,k=8,r=3,pad=1 \
    --effort predict --store :memory: --json
same dense
