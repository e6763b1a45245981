/* fuzz_layer.c - challenge layers from any bytes. */
#include "network/read.h"

#include "fuzz.h"

static spry_status parse(spry_matrix **out, const sp_text *t)
{
    sp_edge_list list = {.inputs = 8, .outputs = 8, .base = 1};

    return sp_edge_list_parse(out, t, &list);
}

FUZZ_READER(parse, "n8-l1.tsv")
