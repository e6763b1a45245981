/* ask.c - a statement and its arguments to rows of cells.
 *
 * Numbers travel as their bytes, so none changes on the way. Rows come one at
 * a time: a result may be larger than the memory. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "postgres/internal.h"

/* Types, as PostgreSQL numbers them. */
enum {
    TYPE_BOOL = 16,
    TYPE_BYTEA = 17,
    TYPE_INT8 = 20,
    TYPE_INT4 = 23,
    TYPE_TEXT = 25,
    TYPE_FLOAT8 = 701
};
enum { ARGUMENTS = 24, COLUMNS = 24 };

/* ---- arguments ---- */

typedef struct {
    Oid type[ARGUMENTS];
    const char *value[ARGUMENTS];
    int length[ARGUMENTS], binary[ARGUMENTS];
    char number[ARGUMENTS][8];
} arguments;

/* Highest byte first. */
static void put_word(char out[8], const void *word)
{
    uint64_t bits;

    memcpy(&bits, word, sizeof bits);
    for (int i = 0; i < 8; i++)
        out[i] = (char)(bits >> 8 * (7 - i));
}

static void put_argument(arguments *a, int i, const sp_cell *v)
{
    static const Oid types[] = {[SP_CELL_NULL] = TYPE_TEXT,
                                [SP_CELL_TEXT] = TYPE_TEXT,
                                [SP_CELL_REAL] = TYPE_FLOAT8,
                                [SP_CELL_INTEGER] = TYPE_INT8,
                                [SP_CELL_BYTES] = TYPE_BYTEA};

    a->type[i] = types[v->type];
    a->binary[i] = v->type != SP_CELL_TEXT;
    a->value[i] = a->number[i];
    a->length[i] = 8;
    if (v->type == SP_CELL_REAL)
        put_word(a->number[i], &v->real);
    else if (v->type == SP_CELL_INTEGER)
        put_word(a->number[i], &v->integer);
    else {
        a->value[i] = v->type == SP_CELL_NULL ? NULL : v->data ? v->data : "";
        a->length[i] = (int)v->length;
    }
}

/* ---- results ---- */

static uint64_t get_word(const char *bytes, int n)
{
    uint64_t bits = 0;

    for (int i = 0; i < n; i++)
        bits = bits << 8 | (unsigned char)bytes[i];
    return bits;
}

static sp_cell get_cell(const sp_libpq *pq, const PGresult *r, int row, int i)
{
    const char *data = pq->PQgetvalue(r, row, i);
    int n = pq->PQgetlength(r, row, i);
    sp_cell c = {.type = SP_CELL_TEXT, .data = data, .length = (size_t)n};
    uint64_t bits;

    if (pq->PQgetisnull(r, row, i))
        return (sp_cell){.type = SP_CELL_NULL};
    switch (pq->PQftype(r, i)) {
    case TYPE_BOOL:
    case TYPE_INT4:
    case TYPE_INT8:
        bits = n <= 8 ? get_word(data, n) : 0;
        if (n == 4)
            bits = (uint64_t)(int64_t)(int32_t)(uint32_t)bits;
        return sp_cell_integer((int64_t)bits);
    case TYPE_FLOAT8:
        bits = n == 8 ? get_word(data, n) : 0;
        c.type = SP_CELL_REAL;
        memcpy(&c.real, &bits, sizeof bits);
        return c;
    case TYPE_BYTEA: c.type = SP_CELL_BYTES; return c;
    default: return c;
    }
}

static spry_status visit_rows(const sp_libpq *pq, const PGresult *r,
                              sp_cells_visit *visit, void *payload)
{
    sp_cell cell[COLUMNS];
    int columns = pq->PQnfields(r);
    spry_status s = SPRY_OK;

    columns = columns < COLUMNS ? columns : COLUMNS;
    for (int row = 0; s == SPRY_OK && row < pq->PQntuples(r); row++) {
        for (int i = 0; i < columns; i++)
            cell[i] = get_cell(pq, r, row, i);
        s = visit(cell, columns, payload);
    }
    return s;
}

/* ---- failures ---- */

/* By the beginning of the five letters. */
static const struct {
    const char *state;
    spry_status status;
    const char *means;
} failures[] = {
    {"42501", SPRY_SYSTEM, "this role may not do that"},
    {"3F000", SPRY_STORE, "there is no spry in it; spry fleet init makes it"},
    {"42P01", SPRY_STORE, "there is no spry in it; spry fleet init makes it"},
    {"42883", SPRY_STORE, "its spry is another version; spry fleet init"},
    {"25006", SPRY_SYSTEM, "it may only be read"},
    {"53", SPRY_SYSTEM, "the server has no room left"},
};

static spry_status say_failure(sp_postgres *c, const PGresult *r)
{
    const char *text = r ? c->pq->PQresultErrorField(r, 'M') : NULL;
    const char *state = r ? c->pq->PQresultErrorField(r, 'C') : NULL;

    snprintf(c->state, sizeof c->state, "%s", state ? state : "");
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++)
        if (strncmp(c->state, failures[i].state, strlen(failures[i].state)) ==
            0)
            return sp_fail(failures[i].status, "%s: %s (%s)", c->name,
                           failures[i].means, text ? text : "");
    return sp_fail(SPRY_STORE, "%s: %s", c->name,
                   text ? text : "the connection was lost");
}

/* ---- one try ---- */

static spry_status take_result(sp_postgres *c, PGresult *r,
                               sp_cells_visit *visit, void *payload,
                               int64_t *changes)
{
    ExecStatusType what = c->pq->PQresultStatus(r);

    if (what == PGRES_SINGLE_TUPLE || what == PGRES_TUPLES_OK)
        return visit ? visit_rows(c->pq, r, visit, payload) : SPRY_OK;
    if (what != PGRES_COMMAND_OK)
        return say_failure(c, r);
    if (changes)
        *changes = strtoll(c->pq->PQcmdTuples(r), NULL, 10);
    return SPRY_OK;
}

/* *begun: rows were handed out, so it cannot be asked again. */
static spry_status try_once(sp_postgres *c, const char *sql, const arguments *a,
                            int args, sp_cells_visit *visit, void *payload,
                            int64_t *changes, int *begun)
{
    const sp_libpq *pq = c->pq;
    spry_status s = SPRY_OK, one;
    PGresult *r;

    if (!pq->PQsendQueryParams(c->connection, sql, args, a->type, a->value,
                               a->length, a->binary, 1))
        return say_failure(c, NULL);
    pq->PQsetSingleRowMode(c->connection);
    while ((r = pq->PQgetResult(c->connection))) {
        if (s == SPRY_OK) {
            *begun |= pq->PQresultStatus(r) == PGRES_SINGLE_TUPLE;
            one = take_result(c, r, visit, payload, changes);
            s = one;
        }
        pq->PQclear(r);
    }
    return s;
}

/* ---- as often as it takes ---- */

static void rest(double seconds)
{
    struct timespec t = {(time_t)seconds,
                         (long)(1e9 * (seconds - (double)(time_t)seconds))};

    nanosleep(&t, NULL);
}

/* Connect again, each time after a longer and less certain while. */
static spry_status connect_again(sp_postgres *c)
{
    double until = sp_seconds() + sp_postgres_patient(c), pause = 0.05;
    sp_rng rng = sp_rng_seed((uint64_t)(1e9 * sp_seconds()));
    spry_status s;

    if (c->given_up)
        return sp_fail(SPRY_STORE, "%s: the connection was lost", c->name);
    s = sp_postgres_connect(c);
    while (s == SPRY_STORE && sp_seconds() < until &&
           !(c->stop && c->stop(c->payload))) {
        rest(pause * (0.5 + sp_rng_unit(&rng)));
        pause = pause < 2 ? 1.6 * pause : pause;
        s = sp_postgres_connect(c);
    }
    c->given_up = s != SPRY_OK && c->until > 0;
    return s;
}

/* Two transactions stood in each other's way and this one was taken back: it
 * may be asked again. */
static int stood_in_the_way(const sp_postgres *c)
{
    return !strcmp(c->state, "40001") || !strcmp(c->state, "40P01");
}

spry_status sp_postgres_ask(sp_postgres *c, const char *sql, const sp_cell *arg,
                            int args, sp_cells_visit *visit, void *payload,
                            int64_t *changes)
{
    arguments a;
    spry_status s = SPRY_OK;
    int begun = 0, inside = c->inside;

    if (args > ARGUMENTS)
        return sp_fail(SPRY_USAGE, "%d arguments are too many", args);
    for (int i = 0; i < args; i++)
        put_argument(&a, i, &arg[i]);
    if (changes)
        *changes = 0;
    for (int tries = 0; tries < 5; tries++) {
        *c->state = 0;
        if (sp_postgres_lost(c)) {
            s = inside ? sp_fail(SPRY_STORE, "%s: the connection was lost",
                                 c->name)
                       : connect_again(c);
            if (s != SPRY_OK)
                return s;
        }
        s = try_once(c, sql, &a, args, visit, payload, changes, &begun);
        if (s == SPRY_OK || begun || inside ||
            !(sp_postgres_lost(c) || stood_in_the_way(c)))
            return s;
    }
    return s;
}

spry_status sp_postgres_run(sp_postgres *c, const char *sql)
{
    spry_status s;
    PGresult *r;

    if (sp_postgres_lost(c)) {
        s = c->inside
                ? sp_fail(SPRY_STORE, "%s: the connection was lost", c->name)
                : connect_again(c);
        if (s != SPRY_OK)
            return s;
    }
    *c->state = 0;
    r = c->pq->PQexec(c->connection, sql);
    s = r ? take_result(c, r, NULL, NULL, NULL) : say_failure(c, NULL);
    c->pq->PQclear(r);
    return s;
}

spry_status sp_postgres_begin(sp_postgres *c, const char *sql)
{
    spry_status s = sp_postgres_run(c, sql);

    if (s != SPRY_OK && sp_postgres_lost(c))
        s = sp_postgres_run(c, sql); /* the server was restarted */
    c->inside = s == SPRY_OK;
    return s;
}

spry_status sp_postgres_end(sp_postgres *c, spry_status s)
{
    int begun = c->inside;

    if (s == SPRY_OK && sp_postgres_lost(c))
        s = sp_fail(SPRY_STORE, "%s: the connection was lost", c->name);
    if (s == SPRY_OK &&
        c->pq->PQtransactionStatus(c->connection) == PQTRANS_INERROR)
        s = sp_fail(SPRY_STORE, "%s: the batch had failed before", c->name);
    if (begun && !sp_postgres_lost(c)) {
        char why[512];

        snprintf(why, sizeof why, "%s", spry_message());
        if (s == SPRY_OK)
            s = sp_postgres_run(c, "COMMIT");
        else {
            (void)sp_postgres_run(c, "ROLLBACK");
            sp_fail(s, "%s", why);
        }
    }
    c->inside = 0;
    return s;
}
