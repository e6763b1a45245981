/* graph_hostile.h - models that are refused, in a folder of their own. */
#ifndef SPRY_GRAPH_HOSTILE_H
#define SPRY_GRAPH_HOSTILE_H

#include "check.h"
#include "in_folder.h"
#include "onnx_bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "spry/graph.h"

static const int64_t four[] = {1, 4};
static const float numbers[] = {1, 2, 3, 4};

static inline void save(const char *path, const void *data, size_t n)
{
    FILE *f = fopen(path, "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static int refused; /* so far */

/* The model in b, which is freed, is refused with words in the sentence. */
static inline void refuse(sp_buf *b, const char *words)
{
    spry_graph *g = NULL;
    int64_t live = sp_alloc_live();
    spry_status s;

    assert_false(b->failed);
    save("m.onnx", b->data ? b->data : "", b->len);
    sp_buf_free(b);
    *b = (sp_buf){0};
    live = sp_alloc_live();
    s = spry_graph_read(&g, "m.onnx", NULL);
    if (s != SPRY_INPUT || g || !strstr(spry_message(), words))
        fail_msg("'%s' was met with %d, %s", words, s, spry_message());
    assert_non_null(strstr(spry_message(), "m.onnx"));
    assert_int_equal(sp_alloc_live(), live);
    refused++;
}

/* x -> Relu -> y, with `graph` put before it. */
static inline void whole(sp_buf *out, sp_buf *graph)
{
    pb_info(graph, 11, "x", 1, 2, four);
    pb_node(graph, "Relu", "x", "y", NULL);
    pb_info(graph, 12, "y", 1, 2, four);
    pb_model(out, graph, 13);
}

#endif
