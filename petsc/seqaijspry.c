/* seqaijspry.c - the matrix type: SeqAIJ with other products. */
#include <petsc/private/petscimpl.h>
#include <petsctime.h>
#include <stddef.h>
#include <string.h>

#include "internal.h"
#include "spry_petsc.h"

static const char key[] = "spry_products";
static const char retrieve_hook[] = "MatRetrieveValues_C";

PetscErrorCode products_of(Mat M, products **out)
{
    PetscContainer box;

    PetscFunctionBegin;
    *out = NULL;
    PetscCall(PetscObjectQuery((PetscObject)M, key, (PetscObject *)&box));
    if (box)
        PetscCall(PetscContainerGetPointer(box, (void **)out));
    PetscFunctionReturn(0);
}

static PetscErrorCode free_products(void *payload)
{
    products *of = payload;

    PetscFunctionBegin;
    forget(of);
    PetscCall(PetscFree(of));
    PetscFunctionReturn(0);
}

/* y = A x + beta y, or with A'; *done is false when it was AIJ's turn. */
static PetscErrorCode multiply(Mat M, products *of, product_kind kind, Vec x,
                               PetscReal beta, Vec y, PetscBool *done)
{
    product *p;
    const PetscScalar *in;
    PetscScalar *out;
    PetscLogDouble before, after;
    spry_status s;

    PetscFunctionBegin;
    *done = PETSC_FALSE;
    PetscCall(ready(M, of, kind, 0, &p));
    if (!p)
        PetscFunctionReturn(0);
    PetscCall(VecGetArrayRead(x, &in));
    PetscCall(VecGetArray(y, &out));
    PetscCall(PetscTime(&before));
    s = spry_run_scaled(p->plan, 1, in, NULL, beta, out);
    PetscCall(PetscTime(&after));
    PetscCall(VecRestoreArray(y, &out));
    PetscCall(VecRestoreArrayRead(x, &in));
    if (s != SPRY_OK) {
        refuse(M, p);
        PetscFunctionReturn(0);
    }
    PetscCall(log_flops(M, 1));
    ran(M, p, after - before);
    *done = PETSC_TRUE;
    PetscFunctionReturn(0);
}

/* z = y + A x, or with A'; y NULL: without it. */
static PetscErrorCode ours_or_aijs(Mat M, product_kind kind, Vec x, Vec y,
                                   Vec z)
{
    products *of;
    PetscBool done;

    PetscFunctionBegin;
    PetscCall(products_of(M, &of));
    if (y && y != z)
        PetscCall(VecCopy(y, z));
    PetscCall(multiply(M, of, kind, x, y ? 1 : 0, z, &done));
    if (!done && y)
        PetscCall((kind == VECTOR ? of->mult_add : of->turned_add)(M, x, z, z));
    else if (!done)
        PetscCall((kind == VECTOR ? of->mult : of->turned)(M, x, z));
    PetscFunctionReturn(0);
}

static PetscErrorCode mult(Mat M, Vec x, Vec y)
{
    return ours_or_aijs(M, VECTOR, x, NULL, y);
}

static PetscErrorCode mult_add(Mat M, Vec x, Vec y, Vec z)
{
    return ours_or_aijs(M, VECTOR, x, y, z);
}

static PetscErrorCode turned(Mat M, Vec x, Vec y)
{
    return ours_or_aijs(M, TURNED, x, NULL, y);
}

static PetscErrorCode turned_add(Mat M, Vec x, Vec y, Vec z)
{
    return ours_or_aijs(M, TURNED, x, y, z);
}

/* What is replaced, and where AIJ's own is kept. */
typedef struct {
    MatOperation which;
    void (*ours)(void);
    size_t at;
} replacement;

static const replacement replaced[] = {
    {MATOP_MULT, (void (*)(void))mult, offsetof(products, mult)},
    {MATOP_MULT_ADD, (void (*)(void))mult_add, offsetof(products, mult_add)},
    {MATOP_MULT_TRANSPOSE, (void (*)(void))turned, offsetof(products, turned)},
    {MATOP_MULT_TRANSPOSE_ADD, (void (*)(void))turned_add,
     offsetof(products, turned_add)}};
enum { REPLACED = sizeof replaced / sizeof *replaced };

/* AIJ's own copies values back and does not say that they have changed. */
static PetscErrorCode retrieve(Mat M)
{
    products *of;

    PetscFunctionBegin;
    PetscCall(products_of(M, &of));
    PetscCall((*of->retrieve)(M));
    PetscCall(PetscObjectStateIncrease((PetscObject)M));
    PetscFunctionReturn(0);
}

/* Back to SeqAIJ. */
static PetscErrorCode to_aij(Mat M, MatType type, MatReuse reuse, Mat *out)
{
    Mat B = M;
    products *of;

    PetscFunctionBegin;
    (void)type;
    if (reuse == MAT_REUSE_MATRIX) {
        PetscCall(MatCopy(M, *out, SAME_NONZERO_PATTERN));
        PetscFunctionReturn(0);
    }
    if (reuse == MAT_INITIAL_MATRIX)
        PetscCall(MatDuplicate(M, MAT_COPY_VALUES, &B));
    PetscCall(products_of(B, &of));
    for (int i = 0; i < REPLACED; i++) {
        void (*aij)(void);

        memcpy(&aij, (char *)of + replaced[i].at, sizeof aij);
        PetscCall(MatSetOperation(B, replaced[i].which, aij));
    }
    PetscCall(PetscObjectComposeFunction((PetscObject)B, retrieve_hook,
                                         of->retrieve));
    PetscCall(PetscObjectCompose((PetscObject)B, key, NULL));
    PetscCall(PetscObjectChangeTypeName((PetscObject)B, MATSEQAIJ));
    *out = B;
    PetscFunctionReturn(0);
}

static PetscErrorCode attach(Mat B)
{
    static long matrices;
    products *of;
    PetscContainer box;

    PetscFunctionBegin;
    PetscCall(PetscNew(&of));
    of->number = ++matrices;
    for (int i = 0; i < REPLACED; i++) {
        void (*aij)(void);

        PetscCall(MatGetOperation(B, replaced[i].which, &aij));
        memcpy((char *)of + replaced[i].at, &aij, sizeof aij);
        PetscCall(MatSetOperation(B, replaced[i].which, replaced[i].ours));
    }
    PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &box));
    PetscCall(PetscContainerSetPointer(box, of));
    PetscCall(PetscContainerSetUserDestroy(box, free_products));
    PetscCall(PetscObjectCompose((PetscObject)B, key, (PetscObject)box));
    PetscCall(PetscContainerDestroy(&box));
    PetscCall(PetscObjectComposeFunction(
        (PetscObject)B, "MatConvert_seqaijspry_seqaij_C", to_aij));
    PetscCall(
        PetscObjectQueryFunction((PetscObject)B, retrieve_hook, &of->retrieve));
    PetscCall(PetscObjectComposeFunction((PetscObject)B, retrieve_hook,
                                         of->retrieve ? retrieve : NULL));
    PetscCall(compose_alike(B));
    PetscCall(compose_dense(B));
    PetscCall(PetscObjectChangeTypeName((PetscObject)B, MATSEQAIJSPRY));
    PetscFunctionReturn(0);
}

static PetscErrorCode from_aij(Mat M, MatType type, MatReuse reuse, Mat *out)
{
    Mat B = M;
    products *of;

    PetscFunctionBegin;
    (void)type;
    if (reuse == MAT_INITIAL_MATRIX)
        PetscCall(MatDuplicate(M, MAT_COPY_VALUES, &B));
    else if (reuse == MAT_REUSE_MATRIX) {
        B = *out;
        PetscCall(MatCopy(M, B, SAME_NONZERO_PATTERN));
    }
    PetscCall(products_of(B, &of));
    if (!of)
        PetscCall(attach(B));
    *out = B;
    PetscFunctionReturn(0);
}

static PetscErrorCode create(Mat B)
{
    PetscFunctionBegin;
    PetscCall(MatSetType(B, MATSEQAIJ));
    PetscCall(from_aij(B, MATSEQAIJSPRY, MAT_INPLACE_MATRIX, &B));
    PetscFunctionReturn(0);
}

static PetscBool known = PETSC_FALSE;

static PetscErrorCode leave(void)
{
    PetscFunctionBegin;
    known = PETSC_FALSE;
    PetscFunctionReturn(0);
}

/* A program may begin again after PetscFinalize, which forgets all types. */
PetscErrorCode PetscDLLibraryRegister_spry_petsc(void)
{
    PetscFunctionBegin;
    if (known)
        PetscFunctionReturn(0);
    known = PETSC_TRUE;
    PetscCall(PetscRegisterFinalize(leave));
    PetscCall(read_options());
    PetscCall(MatSeqAIJRegister(MATSEQAIJSPRY, from_aij));
    PetscCall(MatRegister(MATSEQAIJSPRY, create));
    /* Over ranks it is MPIAIJ, whose blocks the option makes ours again. The
     * name leads back to this type, else PETSc makes a matrix anew that it has
     * in its hands (MatSetPreallocationCOO). */
    PetscCall(MatRegisterRootName("aijspry", MATSEQAIJSPRY, MATMPIAIJ));
    PetscCall(register_mpiaij());
    PetscCall(register_mpidense());
    PetscFunctionReturn(0);
}
