/* absent.c - there is no oneDNN to compare with. */
#include "peer.h"

#include <stddef.h>

dense_peer *dense_peer_open(const spry_operator *op, const spry_tensors *t,
                            dense_layout layout, int threads)
{
    (void)op;
    (void)t;
    (void)layout;
    (void)threads;
    return NULL;
}

void dense_peer_run(void *peer)
{
    (void)peer;
}

const char *dense_peer_about(const dense_peer *peer)
{
    (void)peer;
    return "";
}

double dense_peer_difference(const dense_peer *peer, const float *out,
                             int64_t count)
{
    (void)peer;
    (void)out;
    (void)count;
    return -1;
}

void dense_peer_close(dense_peer *peer)
{
    (void)peer;
}

const char *dense_peer_name(void)
{
    return "oneDNN 2 is not installed (libdnnl-dev)";
}
