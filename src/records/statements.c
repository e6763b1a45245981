/* statements.c - what is asked of a store, in words that both engines know.
 *
 * A table's name has an @ before it, where the server's schema goes. Arguments
 * are $1, $2 ... in order of their first use, which is how SQLite numbers
 * them. */
#include <string.h>

#include "records/internal.h"

#define RECORD                                                         \
    "id, problem, about, schedule, machine, compiler, verdict, noise," \
    " seconds, speedup, low, high, pack_seconds, bytes, at, samples, "
#define SOME_RECORDS                                     \
    " FROM @record WHERE problem >= $1 AND problem < $2" \
    " AND ($3 IS NULL OR machine = $3) ORDER BY at, id"
#define ANSWER                                                             \
    "id, problem, machine, baseline, schedule, baseline_seconds, seconds," \
    " speedup, low, high, pack_seconds, tuning_seconds, calls, effort, at, "
#define SOME_ANSWERS                                    \
    " FROM @answer WHERE problem = $1 AND machine = $2" \
    " AND effort >= $3 ORDER BY at DESC, rowid DESC"
#define FROZEN_ANSWERS \
    " FROM @answer ORDER BY problem, machine, at DESC, rowid DESC"

#define CURVE  "id, run, kind, op, round, loss, tested, regret, seconds, at"
#define ORIGIN "id, problem, source, base, op, type, n, rows, cols, nnz"

#define TEN         "$1,$2,$3,$4,$5,$6,$7,$8,$9,$10"
#define FIFTEEN     TEN ",$11,$12,$13,$14,$15"
#define UNLESS_HERE ") ON CONFLICT DO NOTHING"

static const char *const statements[SP_STATEMENTS] = {
    [SP_ADD_RECORD] = "INSERT INTO @record(" RECORD "probe) VALUES (" FIFTEEN
                      ",$16,$17" UNLESS_HERE,
    [SP_ADD_ANSWER] = "INSERT INTO @answer(" ANSWER "kernel) VALUES (" FIFTEEN
                      ",$16" UNLESS_HERE,
    [SP_ADD_MACHINE] =
        "INSERT INTO @machine(fingerprint, text) VALUES ($1,$2" UNLESS_HERE,
    [SP_ADD_ORIGIN] =
        "INSERT INTO @problem(" ORIGIN ") VALUES (" TEN UNLESS_HERE,
    [SP_ADD_CURVE] = "INSERT INTO @curve(" CURVE ") VALUES (" TEN UNLESS_HERE,
    [SP_ALL_CURVES] = "SELECT " CURVE " FROM @curve ORDER BY at, run, round",
    [SP_ADD_PROBE] = "INSERT INTO @probe(id, text) VALUES ($1,$2" UNLESS_HERE,
    [SP_ALL_PROBES] = "SELECT id, text FROM @probe ORDER BY id",
    [SP_ALL_RECORDS] = "SELECT " RECORD "probe FROM @record ORDER BY at, id",
    [SP_ALL_ANSWERS] = "SELECT " ANSWER "kernel FROM @answer ORDER BY at, id",
    [SP_ALL_MACHINES] =
        "SELECT fingerprint, text FROM @machine ORDER BY fingerprint",
    [SP_ALL_ORIGINS] = "SELECT " ORIGIN " FROM @problem ORDER BY problem, id",
    [SP_SOME_RECORDS] = "SELECT " RECORD "probe" SOME_RECORDS,
    [SP_ANSWERS_FOR] = "SELECT " ANSWER "kernel" SOME_ANSWERS,
    [SP_FROZEN_ANSWERS] = "SELECT " ANSWER "kernel" FROZEN_ANSWERS,
    [SP_ONE_MACHINE] =
        "SELECT fingerprint, text FROM @machine WHERE fingerprint = $1",
    [SP_ONE_PROBE] = "SELECT id, text FROM @probe WHERE id = $1",
    [SP_REPLACE_MACHINE] =
        "INSERT INTO @machine(fingerprint, text) VALUES ($1,$2)"
        " ON CONFLICT(fingerprint) DO UPDATE SET text = excluded.text",
    [SP_DROP_FAILURES] = "DELETE FROM @record WHERE at < $1 AND verdict IN"
                         " ('wrong', 'crash', 'timeout', 'infeasible')",
    [SP_COUNTS] = "SELECT (SELECT count(*) FROM @record),"
                  " (SELECT count(*) FROM @answer),"
                  " (SELECT count(*) FROM @machine)",
    [SP_CLAIM] =
        "INSERT INTO @claim AS c (work, owner, until) VALUES ($1, $2, $3 + $4)"
        " ON CONFLICT(work) DO UPDATE SET owner = excluded.owner,"
        " until = excluded.until"
        " WHERE c.owner = $2 OR c.until <= $3 OR $5 = 1",
    [SP_CLAIM_OF] = "SELECT owner, until FROM @claim WHERE work = $1",
};

/* For a store from before records kept their probe, which is only read. */
static const char *const before_probes[SP_STATEMENTS] = {
    [SP_ALL_RECORDS] = "SELECT " RECORD "'' FROM @record ORDER BY at, id",
    [SP_SOME_RECORDS] = "SELECT " RECORD "''" SOME_RECORDS,
};

/* The same from before answers named their kernel. */
enum { KERNELS_SINCE = 5 };
static const char *const before_kernels[SP_STATEMENTS] = {
    [SP_ALL_ANSWERS] = "SELECT " ANSWER "'' FROM @answer ORDER BY at, id",
    [SP_ANSWERS_FOR] = "SELECT " ANSWER "''" SOME_ANSWERS,
    [SP_FROZEN_ANSWERS] = "SELECT " ANSWER "''" FROZEN_ANSWERS,
};

spry_status sp_statement_text(sp_buf *out, sp_statement which, int version,
                              const char *schema)
{
    const char *text = statements[which];

    if (version < sp_probe_shape->since && before_probes[which])
        text = before_probes[which];
    if (version < KERNELS_SINCE && before_kernels[which])
        text = before_kernels[which];
    while (*text) {
        size_t n = strcspn(text, "@");

        sp_buf_bytes(out, text, n);
        text += n;
        if (*text == '@') {
            sp_buf_add(out, schema);
            text++;
        }
    }
    return out->failed ? sp_fail_memory(out->cap) : SPRY_OK;
}
