/* sharing.c - what ranks of a node tell each other while they tune.
 *
 * Products are measured while all ranks run, since memory that others use is
 * slower: the first rank whose products have paid for it says at which product
 * all will measure, and who is done goes on multiplying until all are. Ranks
 * with equal problems measure once: one does, the others multiply beside it
 * and take its answer.
 *
 * Blocks are local matrices, and nobody knows which ranks will multiply by
 * theirs, so nothing here is collective: ranks look at a board in memory that
 * they share, and whoever finds nothing there goes on by itself. */
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include <petsctime.h>

#include "internal.h"

enum { NOTES = 256, DATES = 1024, NOTE_KEY = 320 };

enum { NOTE_EMPTY, NOTE_OPEN, NOTE_DONE, NOTE_FAILED };

/* A problem that a rank measures or has measured. */
typedef struct {
    atomic_int state;
    int rank;
    char key[NOTE_KEY];
    char text[SPRY_SCHEDULE_TEXT];
} note;

typedef struct {
    atomic_flag taken; /* who looks for a note or adds one has it */
    atomic_int active; /* ranks that measure now */
    note notes[NOTES];
    /* At which of its products a matrix is measured: 32 bits that stand for
     * the matrix, 32 for the product; 0: none. */
    atomic_uint_fast64_t dates[DATES];
} bulletin;

static bulletin *board; /* NULL: there is none, or nobody to share with */
static MPI_Win window = MPI_WIN_NULL;
static MPI_Comm node = MPI_COMM_NULL;
static PetscMPIInt me;

/* ---- the board ---- */

static PetscErrorCode close_board(void)
{
    PetscFunctionBegin;
    board = NULL;
    if (window != MPI_WIN_NULL)
        PetscCallMPI(MPI_Win_free(&window));
    if (node != MPI_COMM_NULL)
        PetscCallMPI(MPI_Comm_free(&node));
    PetscFunctionReturn(0);
}

PetscErrorCode open_board(MPI_Comm ranks)
{
    PetscMPIInt size, unit;
    MPI_Aint bytes = 0;
    int made, all;
    void *mine, *shared = NULL;

    PetscFunctionBegin;
    PetscCallMPI(MPI_Comm_dup(ranks, &node));
    PetscCallMPI(MPI_Comm_size(node, &size));
    PetscCallMPI(MPI_Comm_rank(node, &me));
    PetscCall(PetscRegisterFinalize(close_board));
    if (size < 2)
        PetscFunctionReturn(0);
    PetscCallMPI(MPI_Comm_set_errhandler(node, MPI_ERRORS_RETURN));
    if (me == 0)
        bytes = (MPI_Aint)sizeof *board;
    made = MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, node, &mine,
                                   &window) == MPI_SUCCESS &&
           MPI_Win_shared_query(window, 0, &bytes, &unit, &shared) ==
               MPI_SUCCESS &&
           shared;
    PetscCallMPI(MPI_Allreduce(&made, &all, 1, MPI_INT, MPI_MIN, node));
    if (all && me == 0)
        memset(shared, 0, sizeof *board);
    PetscCallMPI(MPI_Barrier(node));
    if (all)
        board = shared;
    else
        PetscCall(PetscInfo(NULL, "spry: ranks share no memory, and each "
                                  "measures for itself\n"));
    PetscFunctionReturn(0);
}

PetscBool is_shared(void)
{
    return board ? PETSC_TRUE : PETSC_FALSE;
}

/* ---- when ---- */

/* So many products ahead that no rank is there already. */
enum { AHEAD = 2 };

/* The product at which a matrix is measured; 0: nobody has said so. A rank
 * whose products have paid for it says: two products ahead. A matrix has one
 * place, and who comes later takes it: by then the date has passed, and if
 * not, a rank only measures by itself. */
static long date_of(long matrix, long runs, PetscBool paid)
{
    const uint64_t mixed = (uint64_t)matrix * UINT64_C(0x9e3779b97f4a7c15);
    const uint64_t low = 0x7fffffff;
    const uint64_t mine = (mixed & ~low) | (low + 1); /* never 0 */
    atomic_uint_fast64_t *place = &board->dates[mixed >> 21 & (DATES - 1)];
    uint_fast64_t found = atomic_load(place);
    uint64_t new = mine | ((uint64_t)(runs + AHEAD) & low);

    if (paid && (found & ~low) != mine &&
        atomic_compare_exchange_strong(place, &found, new))
        found = new;
    return (found & ~low) == mine ? (long)(found & low) : 0;
}

PetscBool is_time(long matrix, long runs, PetscBool paid, PetscBool nearly)
{
    long at;

    if (!board || !nearly)
        return paid;
    at = date_of(matrix, runs, paid);
    return at > 0 && runs >= at ? PETSC_TRUE : PETSC_FALSE;
}

/* ---- meanwhile ---- */

static PetscErrorCode operands(Mat M, const product *p, PetscScalar **in,
                               PetscScalar **out)
{
    PetscInt rows, cols, wide = p->cols > 0 ? p->cols : 1;

    PetscFunctionBegin;
    PetscCall(MatGetSize(M, &rows, &cols));
    if (p->kind == TURNED)
        PetscCall(PetscCalloc2(rows * wide, in, cols * wide, out));
    else
        PetscCall(PetscCalloc2(cols * wide, in, rows * wide, out));
    PetscFunctionReturn(0);
}

static PetscBool is_over(const note *of)
{
    return (of ? atomic_load(&of->state) != NOTE_OPEN
               : atomic_load(&board->active) <= 0)
               ? PETSC_TRUE
               : PETSC_FALSE;
}

/* Multiply, as the program would, until the note is written or, without one,
 * until nobody measures. Whoever measures never waits for us. */
static PetscErrorCode multiply_until(Mat M, const product *p, const note *of,
                                     PetscLogDouble most)
{
    PetscScalar *in = NULL, *out = NULL;
    PetscLogDouble begun, now;

    PetscFunctionBegin;
    PetscCall(operands(M, p, &in, &out));
    PetscCall(PetscTime(&begun));
    do {
        if (!p->plan || spry_run(p->plan, in, out) != SPRY_OK)
            sched_yield();
        PetscCall(PetscTime(&now));
    } while (!is_over(of) && now - begun < most);
    PetscCall(PetscFree2(in, out));
    PetscFunctionReturn(0);
}

/* Without the memory for it, we do not wait. */
static void wait_busily(Mat M, const product *p, const note *of,
                        PetscLogDouble most)
{
    if (!is_over(of) && multiply_until(M, p, of, most))
        (void)PetscInfo(M, "spry does not wait while others measure\n");
}

/* ---- who ---- */

static void take_board(void)
{
    while (atomic_flag_test_and_set(&board->taken))
        sched_yield();
}

/* The note of this key; a new one is ours to write. NULL: there is no room. */
static note *find_note(const char *key, PetscBool *ours)
{
    note *found = NULL;

    *ours = PETSC_FALSE;
    take_board();
    for (int i = 0; i < NOTES && !found; i++) {
        note *n = &board->notes[i];

        if (atomic_load(&n->state) == NOTE_EMPTY) {
            *ours = PETSC_TRUE;
            n->rank = me;
            snprintf(n->key, sizeof n->key, "%s", key);
            atomic_store(&n->state, NOTE_OPEN);
        }
        if (strcmp(n->key, key) == 0)
            found = n;
    }
    atomic_flag_clear(&board->taken);
    return found;
}

/* Another's answer, if it is right here, too. */
static spry_status take_answer(product *p, const note *n, const spry_machine *m)
{
    spry_plan *plan = NULL;
    spry_status s = spry_plan_from(&plan, p->problem, n->text, m);

    if (s == SPRY_OK)
        s = spry_plan_check(plan, 1);
    if (s != SPRY_OK) {
        spry_plan_free(plan);
        return s;
    }
    spry_plan_free(p->plan);
    p->plan = plan;
    return SPRY_OK;
}

/* Measure it ourselves, among the others who do. */
static spry_status measure_here(Mat M, product *p, tuner *tune, note *n,
                                PetscLogDouble most)
{
    spry_status s;

    atomic_fetch_add(&board->active, 1);
    s = tune(M, p);
    if (n && s == SPRY_OK)
        snprintf(n->text, sizeof n->text, "%s", spry_plan_text(p->plan));
    if (n)
        atomic_store(&n->state, s == SPRY_OK ? NOTE_DONE : NOTE_FAILED);
    atomic_fetch_sub(&board->active, 1);
    if (s == SPRY_OK)
        wait_busily(M, p, NULL, most);
    return s;
}

spry_status measure_once(Mat M, product *p, const spry_machine *m, int effort,
                         PetscLogDouble most, tuner *tune)
{
    char key[NOTE_KEY];
    PetscBool ours;
    note *n;

    if (!board)
        return tune(M, p);
    if (snprintf(key, sizeof key, "%d %s %s", effort, m->fingerprint,
                 spry_problem_key(p->problem)) >= (int)sizeof key)
        return measure_here(M, p, tune, NULL, most);
    n = find_note(key, &ours);
    if (!n || ours)
        return measure_here(M, p, tune, n, most);
    wait_busily(M, p, n, most);
    if (atomic_load(&n->state) != NOTE_DONE || take_answer(p, n, m) != SPRY_OK)
        return measure_here(M, p, tune, NULL, most);
    (void)PetscInfo(M, "spry multiplies by %s, as rank %d measured\n",
                    spry_plan_text(p->plan), n->rank);
    return SPRY_OK;
}
