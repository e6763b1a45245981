/* table.c - the list of peers; CMake sets BENCH_HAS_<PEER> to 0 or 1. */
#include "peers.h"

#include "../contest/figures.h"

#define IN_0(peer)    NULL
#define IN_1(peer)    &peer
#define GLUE(a, b)    a##b
#define IN(has, peer) GLUE(IN_, has)(peer)

const bench_known bench_peers[] = {
    {"eigen", IN(BENCH_HAS_EIGEN, bench_eigen),
     "libeigen3-dev and a C++ compiler"},
    {"librsb", IN(BENCH_HAS_RSB, bench_rsb), "librsb-dev"},
    {"graphblas", IN(BENCH_HAS_GRAPHBLAS, bench_graphblas), "libgraphblas-dev"},
    {"petsc", IN(BENCH_HAS_PETSC, bench_petsc),
     "petsc-dev with real double scalars"},
    {"mkl", IN(BENCH_HAS_MKL, bench_mkl),
     "mkl_spblas.h and libmkl_rt; MKLROOT says where"},
    {"aocl", IN(BENCH_HAS_AOCL, bench_aocl),
     "aoclsparse.h and libaoclsparse; AOCL_ROOT says where"},
    {"taco", &bench_taco, ""},
    {"taco-native", &bench_taco_native, ""},
    {"scipy", IN(BENCH_HAS_SCIPY, bench_scipy), "python3-scipy"},
    {"torch", IN(BENCH_HAS_TORCH, bench_torch), "python3-torch"},
};

const int bench_peer_count = sizeof bench_peers / sizeof bench_peers[0];

int bench_peer_wanted(const bench_peer *peer)
{
    return bench_listed("PEERS", peer->name);
}

int bench_peer_can(const bench_peer *peer, const bench_case *c)
{
    return peer->ops >> c->op & 1 && (peer->types & (unsigned)c->type);
}
