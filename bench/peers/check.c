/* check.c - every peer of this build, held against the reference on a small
 * matrix with empty rows, and told one that is wrong. No clock decides. */
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "peers.h"

static int failures;

static void expect(int good, const char *what, const bench_case *c)
{
    if (good)
        return;
    fprintf(stderr, "%s, %s %lld %s on %d: %s\n", what, spry_op_name(c->op),
            (long long)c->n, spry_type_name(c->type), c->threads,
            spry_message());
    failures++;
}

static void check_peer(const bench_peer *peer, bench_operands *o)
{
    size_t bytes = (size_t)spry_problem_output_size(o->p) * o->c.type;
    char why[BENCH_WHY] = "";
    void *handle = peer->open(o, why);

    if (!handle) {
        (void)sp_fail(SPRY_SYSTEM, "%s", why);
        expect(0, peer->name, &o->c);
        return;
    }
    for (int run = 0; run < 2; run++) {
        memset(o->C, 0xff, bytes);
        peer->run(handle);
        if (peer->fetch)
            peer->fetch(handle, o->C);
        expect(bench_verify(o, o->C) == SPRY_OK, peer->name, &o->c);
    }
    peer->close(handle);
}

/* A single wrong result must be seen. */
static void check_verify(bench_operands *o)
{
    double wrong = 1e3;

    (void)spry_problem_reference(o->p, 1, o->B, o->D, 0, o->C);
    expect(bench_verify(o, o->C) == SPRY_OK, "the reference", &o->c);
    memcpy(o->C, &wrong, o->c.type);
    expect(bench_verify(o, o->C) == SPRY_WRONG, "a wrong result", &o->c);
}

static void check_case(const spry_matrix *A, const bench_case *c)
{
    spry_problem *p;
    bench_operands o;

    if (bench_problem(&p, A, c) != SPRY_OK ||
        bench_operands_make(&o, p, c->threads) != SPRY_OK) {
        expect(0, "operands", c);
        return;
    }
    omp_set_num_threads(c->threads);
    check_verify(&o);
    for (int i = 0; i < bench_peer_count; i++) {
        const bench_peer *peer = bench_peers[i].peer;

        if (peer && bench_peer_wanted(peer) && bench_peer_can(peer, c))
            check_peer(peer, &o);
    }
    bench_operands_free(&o);
    spry_problem_free(p);
}

int main(void)
{
    static const bench_case cases[] = {
        {SPRY_SPMV, 1, SPRY_F32, 1},  {SPRY_SPMV, 1, SPRY_F64, 2},
        {SPRY_SPMM, 5, SPRY_F64, 1},  {SPRY_SPMM, 32, SPRY_F32, 2},
        {SPRY_SDDMM, 5, SPRY_F32, 1}, {SPRY_SDDMM, 32, SPRY_F64, 2}};
    spry_matrix *A;

    if (spry_matrix_generate(&A, "uniform rows=300 cols=257 nnz=600", 7) !=
        SPRY_OK) {
        fprintf(stderr, "%s\n", spry_message());
        return 1;
    }
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_case(A, &cases[i]);
    spry_matrix_free(A);
    return failures != 0;
}
