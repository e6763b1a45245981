#!/bin/sh
# Headers of all that is exported, a matrix, a sparse network, a dense operator
# and an operator graph, together in one file of C++: no warnings, names of C.
# shellcheck source=/dev/null
. "$TOOLS"
command -v c++ >/dev/null || skip "there is no C++ compiler"
small >small.mtx
expect 0 "$SPRY" export small.mtx --schedule "csr unroll=4" --name tiny
expect 0 "$SPRY" net export gen:random,width=16,depth=2 --name sparse
expect 0 "$SPRY" export op:conv2d,h=6,w=6,c=8,k=8,r=3,pad=1 \
    --schedule "direct tile=2x1" --out op --name layer
expect 0 "$SPRY" net export net:mobilenetv3,size=75 --untuned --out graph \
    --name model
cat >use.cc <<'END'
#include "graph/model.h"
#include "op/layer.h"
#include "sparse.h"
#include "tiny.h"

#include "graph/model.h"
#include "op/layer.h"
#include "sparse.h"
#include "tiny.h"

int main()
{
    float y[sparse_OUTPUTS], x[sparse_INPUTS] = {0}, room[sparse_ROOM];

    sparse_run(y, x, 1, room);
    tiny_free(tiny_load(""));
    layer_free(layer_load(""));
    model_free(model_load(""));
    return layer_MEMORY && model_MEMORY ? 0 : 1;
}
END
for standard in c++11 c++17; do
    expect 0 c++ -std=$standard -Wall -Wextra -Wpedantic -Werror -c use.cc
done
command -v nm >/dev/null || exit 0
for name in sparse_run tiny_load tiny_free layer_load model_load; do
    nm use.o | grep -q " U $name\$" || fail "$name is no name of C"
done
exit 0
