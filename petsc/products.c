/* products.c - the plans of a matrix: made, refilled, measured, forgotten. */
#include <string.h>

#include <petsc/private/petscimpl.h>

#include "internal.h"

/* What the options say. */
static struct {
    PetscBool paid; /* predict first, measure when that has been paid for */
    spry_effort effort;
    PetscReal seconds;
    PetscInt threads, least;
    char store[PETSC_MAX_PATH_LEN];
} option = {PETSC_TRUE, SPRY_PREDICT, 1, 1, 2000, ""};

static PetscErrorCode read_effort(void)
{
    static const char *const name[] = {"paid",    "lookup",  "predict",
                                       "measure", "patient", NULL};
    static const spry_effort effort[] = {
        SPRY_PREDICT, SPRY_LOOKUP, SPRY_PREDICT, SPRY_MEASURE, SPRY_PATIENT};
    PetscInt which = 0;

    PetscFunctionBegin;
    PetscCall(PetscOptionsGetEList(NULL, NULL, "-spry_effort", name, 5, &which,
                                   NULL));
    option.paid = which == 0 ? PETSC_TRUE : PETSC_FALSE;
    option.effort = effort[which];
    PetscFunctionReturn(0);
}

/* Ranks of a node share its cores. */
static PetscErrorCode share_cores(void)
{
    spry_machine m;
    MPI_Comm node;
    PetscMPIInt ranks = 1;

    PetscFunctionBegin;
    PetscCallMPI(MPI_Comm_split_type(PETSC_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0,
                                     MPI_INFO_NULL, &node));
    PetscCallMPI(MPI_Comm_size(node, &ranks));
    PetscCallMPI(MPI_Comm_free(&node));
    if (spry_machine_detect(&m) == SPRY_OK && m.cores > ranks)
        option.threads = m.cores / ranks;
    /* A rank that is bound to fewer cores may use only those. */
    if (option.threads > m.threads)
        option.threads = m.threads;
    PetscFunctionReturn(0);
}

PetscErrorCode read_options(void)
{
    PetscBool set;

    PetscFunctionBegin;
    PetscCall(read_effort());
    PetscCall(
        PetscOptionsGetReal(NULL, NULL, "-spry_budget", &option.seconds, NULL));
    PetscCall(
        PetscOptionsGetInt(NULL, NULL, "-spry_least", &option.least, NULL));
    PetscCall(PetscOptionsGetString(NULL, NULL, "-spry_store", option.store,
                                    sizeof option.store, NULL));
    PetscCall(
        PetscOptionsGetInt(NULL, NULL, "-spry_threads", &option.threads, &set));
    if (!set || option.threads < 1)
        PetscCall(share_cores());
    PetscFunctionReturn(0);
}

static void drop(product *p)
{
    spry_plan_free(p->plan);
    spry_problem_free(p->problem);
    memset(p, 0, sizeof *p);
}

void forget(products *of)
{
    for (int i = 0; i < PRODUCTS; i++)
        drop(&of->each[i]);
    spry_matrix_free(of->A);
    of->A = NULL;
}

void refuse(Mat M, product *p)
{
    product_kind kind = p->kind;
    PetscInt cols = p->cols;

    (void)PetscInfo(M, "spry leaves this product to AIJ: %s\n", spry_message());
    drop(p);
    p->kind = kind;
    p->cols = cols;
    p->refused = PETSC_TRUE;
}

static spry_status plan(Mat M, product *p, spry_effort effort)
{
    spry_tune_options o = SPRY_TUNE_DEFAULTS;
    spry_plan *made;
    spry_status s;

    o.effort = effort;
    o.seconds = option.seconds;
    o.threads = (int)option.threads;
    o.store = option.store[0] ? option.store : NULL;
    s = spry_tune(&made, p->problem, &o);
    if (s != SPRY_OK)
        return s;
    spry_plan_free(p->plan);
    p->plan = made;
    (void)PetscInfo(M, "spry multiplies by %s\n", spry_plan_text(made));
    return SPRY_OK;
}

static spry_status begin(Mat M, product *p, const spry_matrix *A)
{
    spry_problem *given = NULL;
    spry_status s;

    if (p->cols == 0)
        s = spry_problem_spmv(&p->problem, A, SPRY_F64);
    else
        s = spry_problem_spmm(&p->problem, A, p->cols, SPRY_F64);
    if (s == SPRY_OK && p->kind == BY_COLUMNS)
        spry_problem_set_layout(p->problem, SPRY_COL_MAJOR);
    if (s == SPRY_OK && p->kind == TURNED) {
        given = p->problem;
        p->problem = NULL;
        s = spry_problem_transpose(&p->problem, given);
        spry_problem_free(given);
    }
    if (s == SPRY_OK)
        s = plan(M, p, option.effort);
    p->measured = option.paid ? PETSC_FALSE : PETSC_TRUE;
    return s;
}

/* Called by every rank at about the same product, so that what is measured
 * is measured while the others use the memory, too. */
void ran(Mat M, product *p, PetscLogDouble seconds)
{
    p->spent += seconds;
    if (p->measured || p->spent < option.seconds)
        return;
    p->measured = PETSC_TRUE;
    if (plan(M, p, SPRY_MEASURE) != SPRY_OK)
        (void)PetscInfo(M, "spry keeps its prediction: %s\n", spry_message());
}

static product *find(products *of, product_kind kind, PetscInt cols)
{
    product *p = &of->each[kind];

    if (kind == VECTOR || kind == TURNED) {
        p->kind = kind;
        return p;
    }
    for (int i = BY_COLUMNS; i < PRODUCTS; i++)
        if (of->each[i].kind == kind && of->each[i].cols == cols)
            return &of->each[i];
    p = &of->each[BY_COLUMNS + of->next++ % (PRODUCTS - BY_COLUMNS)];
    drop(p);
    p->kind = kind;
    p->cols = cols;
    return p;
}

/* The matrix as it is now; plans of another pattern are forgotten. */
static PetscErrorCode look(Mat M, products *of)
{
    PetscObjectState pattern;
    const PetscInt *i, *j;
    PetscScalar *a;
    PetscInt rows, cols;

    PetscFunctionBegin;
    PetscCall(MatGetNonzeroState(M, &pattern));
    if (of->A && of->pattern == pattern)
        PetscFunctionReturn(0);
    forget(of);
    of->pattern = pattern;
    PetscCall(MatGetSize(M, &rows, &cols));
    PetscCall(MatSeqAIJGetCSRAndMemType(M, &i, &j, &a, NULL));
    if (spry_matrix_csr(&of->A, rows, cols, i, j, a,
                        sizeof(PetscInt) == 4 ? SPRY_I32 : SPRY_I64, SPRY_F64,
                        SPRY_BORROW) != SPRY_OK)
        PetscCall(
            PetscInfo(M, "spry cannot take this matrix: %s\n", spry_message()));
    PetscFunctionReturn(0);
}

/* Bring the plan's values up to date; a palette may not hold the new ones. */
static spry_status refill(Mat M, product *p)
{
    PetscScalar *a = NULL;

    if (MatSeqAIJGetCSRAndMemType(M, NULL, NULL, &a, NULL))
        return SPRY_FAIL;
    if (spry_plan_refill(p->plan, a) == SPRY_OK)
        return SPRY_OK;
    return plan(M, p, option.effort);
}

PetscErrorCode ready(Mat M, products *of, product_kind kind, PetscInt cols,
                     product **out)
{
    PetscObjectState values;
    product *p;
    spry_status s = SPRY_OK;

    PetscFunctionBegin;
    *out = NULL;
    PetscCall(look(M, of));
    if (!of->A || of->A->nnz < option.least)
        PetscFunctionReturn(0);
    p = find(of, kind, cols);
    if (p->refused)
        PetscFunctionReturn(0);
    PetscCall(PetscObjectStateGet((PetscObject)M, &values));
    if (!p->plan)
        s = begin(M, p, of->A);
    else if (p->values != values)
        s = refill(M, p);
    p->values = values;
    if (s != SPRY_OK)
        refuse(M, p);
    else
        *out = p;
    PetscFunctionReturn(0);
}
