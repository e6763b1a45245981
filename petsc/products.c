/* products.c - the plans of a matrix: made, refilled, measured, forgotten. */
#include <string.h>

#include <petsc/private/petscimpl.h>

#include "internal.h"

typedef struct {
    PetscBool paid; /* predict first, measure when that has been paid for */
    spry_effort effort;
    PetscReal seconds, after; /* to measure in; of products, to pay for it */
    PetscInt threads, least;  /* threads 0: the node's cores over its ranks */
    char store[PETSC_MAX_PATH_LEN];
} choices;

static const choices defaults = {PETSC_TRUE, SPRY_PREDICT, 1, 1, 0, 2000, ""};

static choices option;       /* what the options say */
static spry_machine machine; /* as a rank has it */

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
static void share_cores(PetscMPIInt ranks)
{
    option.threads = machine.cores > ranks ? machine.cores / ranks : 1;
    /* A rank that is bound to fewer cores may use only those. */
    if (option.threads > machine.threads)
        option.threads = machine.threads;
}

/* The machine, and who else is on it. */
static PetscErrorCode look_around(void)
{
    PetscMPIInt ranks = 1;
    MPI_Comm node;

    PetscFunctionBegin;
    PetscCallMPI(MPI_Comm_split_type(PETSC_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0,
                                     MPI_INFO_NULL, &node));
    PetscCallMPI(MPI_Comm_size(node, &ranks));
    if (spry_machine_detect(&machine) != SPRY_OK)
        machine.threads = 1; /* whoever tunes says why */
    if (option.threads == 0)
        share_cores(ranks);
    PetscCall(
        PetscInfo(NULL, "spry: %d threads a rank\n", (int)option.threads));
    (void)spry_machine_limit(&machine, (int)option.threads, machine.isa);
    PetscCall(open_board(node));
    PetscCallMPI(MPI_Comm_free(&node));
    PetscFunctionReturn(0);
}

PetscErrorCode read_options(void)
{
    PetscFunctionBegin;
    option = defaults;
    PetscCall(read_effort());
    PetscCall(
        PetscOptionsGetReal(NULL, NULL, "-spry_budget", &option.seconds, NULL));
    option.after = option.seconds;
    PetscCall(
        PetscOptionsGetReal(NULL, NULL, "-spry_after", &option.after, NULL));
    PetscCall(
        PetscOptionsGetInt(NULL, NULL, "-spry_least", &option.least, NULL));
    PetscCall(PetscOptionsGetString(NULL, NULL, "-spry_store", option.store,
                                    sizeof option.store, NULL));
    PetscCall(
        PetscOptionsGetInt(NULL, NULL, "-spry_threads", &option.threads, NULL));
    PetscCheck(option.threads >= 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
               "-spry_threads %d is less than 0", (int)option.threads);
    PetscCall(look_around());
    PetscFunctionReturn(0);
}

PetscErrorCode log_flops(Mat M, PetscInt cols)
{
    MatInfo info;

    PetscFunctionBegin;
    PetscCall(MatGetInfo(M, MAT_LOCAL, &info));
    PetscCall(PetscLogFlops(2 * info.nz_used * (PetscLogDouble)cols));
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

static spry_status tune(Mat M, product *p, spry_effort effort, const char *how)
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
    if (spry_plan_tuning(made)->looked_up)
        how = "looked up";
    (void)PetscInfo(M, "spry multiplies by %s, %s at product %ld\n",
                    spry_plan_text(made), how, p->runs);
    return SPRY_OK;
}

static spry_effort thorough(void)
{
    return option.effort == SPRY_PATIENT ? SPRY_PATIENT : SPRY_MEASURE;
}

static spry_status measure(Mat M, product *p)
{
    return tune(M, p, thorough(), "measured");
}

/* While others measure for us, there must be something to multiply by. */
static spry_status choose(Mat M, product *p, spry_effort effort)
{
    spry_status s = SPRY_OK;

    if (effort < SPRY_MEASURE)
        return tune(M, p, effort, "predicted");
    if (!p->plan && is_shared())
        s = tune(M, p, SPRY_PREDICT, "predicted");
    return s == SPRY_OK ? measure_once(M, p, &machine, (int)effort,
                                       100 + 10 * option.seconds, measure)
                        : s;
}

static spry_status pose(spry_problem **out, const product *p)
{
    spry_problem *given = NULL;
    spry_status s;

    if (p->cols == 0)
        s = spry_problem_spmv(&given, p->A, SPRY_F64);
    else
        s = spry_problem_spmm(&given, p->A, p->cols, SPRY_F64);
    if (s == SPRY_OK && p->kind == BY_COLUMNS)
        spry_problem_set_layout(given, SPRY_COL_MAJOR);
    if (s != SPRY_OK || p->kind != TURNED) {
        *out = given;
        return s;
    }
    s = spry_problem_transpose(out, given);
    spry_problem_free(given);
    return s;
}

/* A problem holds on to what its values were: those of a transpose are copies,
 * and what has been counted is not counted again. So other values are another
 * problem; the plan before, and its problem, last until there is a new one,
 * for others to multiply by while they wait. */
static spry_status plan(Mat M, product *p, spry_effort effort)
{
    const spry_plan *old = p->plan;
    spry_problem *before = p->problem, *now = NULL;
    spry_status s;

    if (before && p->posed == p->values)
        return choose(M, p, effort);
    s = pose(&now, p);
    if (s != SPRY_OK)
        return s;
    p->problem = now;
    s = choose(M, p, effort);
    if (p->plan == old) {
        p->problem = before;
        spry_problem_free(now);
        return s;
    }
    spry_problem_free(before);
    p->posed = p->values;
    return s;
}

static spry_status begin(Mat M, product *p)
{
    spry_status s = plan(M, p, option.effort);

    p->measured = option.paid ? PETSC_FALSE : PETSC_TRUE;
    return s;
}

/* Ranks measure at the same product, so that what is measured is measured
 * while the others use the memory, too. */
void ran(Mat M, product *p, PetscLogDouble seconds)
{
    static const PetscReal NEARLY = 0.125;
    PetscBool paid, nearly;

    p->runs++;
    p->spent += seconds;
    paid = p->spent >= option.after ? PETSC_TRUE : PETSC_FALSE;
    nearly = p->spent >= NEARLY * option.after ? PETSC_TRUE : PETSC_FALSE;
    if (p->measured || !is_time(p->matrix, p->runs, paid, nearly))
        return;
    p->measured = PETSC_TRUE;
    if (plan(M, p, SPRY_MEASURE) != SPRY_OK)
        (void)PetscInfo(M, "spry keeps its prediction: %s\n", spry_message());
}

/* Whichever is missed least: one that has no plan, or was not used for long. */
static product *least_used(products *of)
{
    product *least = &of->each[BY_COLUMNS];

    for (int i = BY_COLUMNS + 1; i < PRODUCTS; i++) {
        product *p = &of->each[i];

        if (!p->plan != !least->plan ? !p->plan : p->used < least->used)
            least = p;
    }
    return least;
}

static product *find(products *of, product_kind kind, PetscInt cols)
{
    product *p = NULL;

    if (kind == VECTOR || kind == TURNED)
        p = &of->each[kind];
    for (int i = BY_COLUMNS; !p && i < PRODUCTS; i++)
        if (of->each[i].kind == kind && of->each[i].cols == cols)
            p = &of->each[i];
    if (!p) {
        p = least_used(of);
        drop(p);
    }
    p->kind = kind;
    p->cols = cols;
    p->used = ++of->uses;
    return p;
}

/* Values are handed over in PETSc's order, which is spry's only where each
 * row's columns stand from left to right, each once. */
static PetscBool in_order(PetscInt rows, const PetscInt *start,
                          const PetscInt *col)
{
    for (PetscInt i = 0; i < rows; i++)
        for (PetscInt k = start[i] + 1; k < start[i + 1]; k++)
            if (col[k] <= col[k - 1])
                return PETSC_FALSE;
    return PETSC_TRUE;
}

static PetscErrorCode take(Mat M, products *of)
{
    PetscInt rows, cols;

    PetscFunctionBegin;
    PetscCall(MatGetSize(M, &rows, &cols));
    if (!in_order(rows, of->start, of->col))
        PetscCall(PetscInfo(M, "spry leaves this matrix to AIJ: columns are "
                               "not in order in every row\n"));
    else if (spry_matrix_csr(&of->A, rows, cols, of->start, of->col, of->val,
                             sizeof(PetscInt) == 4 ? SPRY_I32 : SPRY_I64,
                             SPRY_F64, SPRY_BORROW) != SPRY_OK)
        PetscCall(PetscInfo(M, "spry leaves this matrix to AIJ: %s\n",
                            spry_message()));
    PetscFunctionReturn(0);
}

/* The matrix as it is now; plans of another pattern, or of memory that was
 * given back, are forgotten. One that cannot be taken is not tried again. */
static PetscErrorCode look(Mat M, products *of)
{
    PetscObjectState pattern;
    const PetscInt *i, *j;
    PetscScalar *a;

    PetscFunctionBegin;
    PetscCall(MatGetNonzeroState(M, &pattern));
    PetscCall(MatSeqAIJGetCSRAndMemType(M, &i, &j, &a, NULL));
    if (of->looked && of->pattern == pattern && of->start == i &&
        of->col == j && of->val == a)
        PetscFunctionReturn(0);
    forget(of);
    of->looked = PETSC_TRUE;
    of->pattern = pattern;
    of->start = i;
    of->col = j;
    of->val = a;
    PetscCall(take(M, of));
    PetscFunctionReturn(0);
}

/* Bring the plan's values up to date; a palette may not hold the new ones. */
static spry_status refill(Mat M, product *p)
{
    if (spry_plan_refill(p->plan, p->A->val) == SPRY_OK)
        return SPRY_OK;
    return plan(M, p, option.effort);
}

PetscErrorCode ready(Mat M, products *of, product_kind kind, PetscInt cols,
                     product **out)
{
    PetscObjectState values;
    PetscBool stale;
    product *p;
    spry_status s = SPRY_OK;

    PetscFunctionBegin;
    *out = NULL;
    PetscCall(look(M, of));
    if (!of->A || of->A->nnz < option.least)
        PetscFunctionReturn(0);
    p = find(of, kind, cols);
    if (p->refused || (cols > 0 && p->seen++ == 0))
        PetscFunctionReturn(0);
    PetscCall(PetscObjectStateGet((PetscObject)M, &values));
    stale = p->values != values ? PETSC_TRUE : PETSC_FALSE;
    p->values = values;
    p->A = of->A;
    if (!p->plan) {
        /* a number that ranks agree on, as long as they do the same */
        p->matrix = of->number << 20 | (++of->begun & 0xfffff);
        s = begin(M, p);
    } else if (stale)
        s = refill(M, p);
    if (s != SPRY_OK)
        refuse(M, p);
    else
        *out = p;
    PetscFunctionReturn(0);
}
