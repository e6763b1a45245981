/* tune.c - read a matrix, find the fastest kernel, multiply.
 *
 *   example-tune cant.mtx            or   example-tune gen:rmat,scale=14 */
#include <stdio.h>
#include <stdlib.h>

#include <spry.h>

enum { COLUMNS = 32 };

int main(int argc, char **argv)
{
    spry_matrix *A = NULL;
    spry_problem *p = NULL;
    spry_plan *plan = NULL;
    float *B = NULL, *C = NULL;
    spry_status s;

    s = spry_matrix_read(&A, argc > 1 ? argv[1] : "gen:rmat,scale=12");
    if (s == SPRY_OK)
        s = spry_problem_spmm(&p, A, COLUMNS, SPRY_F32);
    if (s == SPRY_OK)
        s = spry_tune(&plan, p, NULL);
    if (s == SPRY_OK) {
        B = calloc((size_t)A->cols * COLUMNS, sizeof *B);
        C = calloc((size_t)A->rows * COLUMNS, sizeof *C);
        s = B && C ? spry_run(plan, B, C) : SPRY_SYSTEM; /* C = A B */
    }
    if (s == SPRY_OK)
        printf("%s, %.2f times the plain loop\n", spry_plan_text(plan),
               spry_plan_tuning(plan)->speedup);
    else
        fprintf(stderr, "%s\n", spry_message());
    free(B);
    free(C);
    spry_plan_free(plan);
    spry_problem_free(p);
    spry_matrix_free(A);
    return (int)s;
}
