/* internal.h - the store from inside: an engine, and rows with a shape.
 *
 * The engine is SQLite for a file (store.c) and PostgreSQL for a URI
 * (server.c): both run the same statements.
 *
 * Records, answers, problems and machines are rows of tables that differ
 * only in their shape. Walking, adding, checking, importing and merging know shapes,
 * never a particular table. A row's id follows from its contents, so adding
 * is idempotent, merging is set union, and damage shows. */
#ifndef SP_RECORDS_INTERNAL_H
#define SP_RECORDS_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "base/cell.h"
#include "spry/records.h"

/* What engines are asked; the texts are in statements.c. */
typedef enum {
    SP_ADD_RECORD,
    SP_ADD_ANSWER,
    SP_ADD_MACHINE,
    SP_ADD_ORIGIN,
    SP_ADD_CURVE,
    SP_ADD_PROBE,
    SP_ALL_RECORDS,
    SP_ALL_ANSWERS,
    SP_ALL_MACHINES,
    SP_ALL_ORIGINS,
    SP_ALL_CURVES,
    SP_ALL_PROBES,
    SP_SOME_RECORDS,   /* ?1 <= problem < ?2, machine ?3 or NULL */
    SP_ANSWERS_FOR,    /* problem ?1, machine ?2, effort >= ?3 */
    SP_FROZEN_ANSWERS, /* by problem and machine, the newest first */
    SP_ONE_MACHINE,    /* fingerprint ?1 */
    SP_ONE_PROBE,      /* id ?1 */
    SP_REPLACE_MACHINE,
    SP_DROP_FAILURES, /* older than ?1 */
    SP_COUNTS,        /* records, answers, machines */
    SP_CLAIM,         /* work ?1, owner ?2, now ?3, for ?4 s, ?5: gone */
    SP_CLAIM_OF,      /* work ?1: its owner and until when */
    SP_STATEMENTS
} sp_statement;

struct spry_records {
    const struct sp_engine *engine;
    void *connection; /* the engine's own */
    int version;      /* of the schema; 0: an empty file, not to be touched */
    int batch;        /* between spry_records_batch and _commit */
    char *texts;      /* of the answer found last */
    /* The machine put last, and the id of its card. */
    char machine[32], probe[33];
    double *sample;
    int64_t sample_room; /* the samples of the row at hand */
    uint8_t *bytes;      /* the same as they are stored */
    size_t bytes_room;
    char path[4096];
};

/* ---- engines (store.c, server.c) ---- */

typedef enum { SP_MUST_EXIST, SP_MAY_CREATE, SP_ONLY_READ } sp_open_mode;
typedef enum { SP_TO_READ, SP_TO_WRITE } sp_access;

typedef struct sp_engine {
    /* Fills *db for db->path; close is due even after a failure. */
    spry_status (*open)(spry_records *db, const char *path, sp_open_mode mode);
    void (*close)(spry_records *db);
    spry_status (*begin)(spry_records *db, sp_access how);
    spry_status (*end)(spry_records *db, spry_status s);
    spry_status (*ask)(spry_records *db, sp_statement which, const sp_cell *arg,
                       int args, sp_cells_visit *visit, void *payload,
                       int64_t *changes);
    /* What is damaged beside rows: *bad counts, why is about the first. */
    spry_status (*check)(spry_records *db, int64_t *bad, char *why,
                         size_t size);
    spry_status (*compact)(spry_records *db);
} sp_engine;

extern const sp_engine sp_file_engine, sp_server_engine;

/* Choose the engine that the path names, and open. */
spry_status sp_store_open(spry_records *db, const char *path,
                          sp_open_mode mode);
void sp_store_close(spry_records *db);
/* One statement; visit and changes may be NULL. */
spry_status sp_store_ask(spry_records *db, sp_statement which,
                         const sp_cell *arg, int args, sp_cells_visit *visit,
                         void *payload, int64_t *changes);
/* One write transaction; end commits when s is SPRY_OK, else takes all back
 * and returns s. Not inside a batch. */
spry_status sp_store_begin(spry_records *db);
spry_status sp_store_end(spry_records *db, spry_status s);

/* The text of a statement for a store of this version; tables have `schema`
 * before their names. SPRY_SYSTEM when memory is short. */
spry_status sp_statement_text(sp_buf *out, sp_statement which, int version,
                              const char *schema);
enum { SP_SCHEMA = 5 };

/* The place of the user's own store; makes its directory. */
spry_status sp_store_place(char *out, size_t size);
/* Whether the file is on a file system where WAL's shared memory fails. */
int sp_store_on_network(const char *path);

/* ---- rows (row.c) ---- */

typedef enum {
    SP_COLUMN_TEXT,    /* const char * */
    SP_COLUMN_NEEDED,  /* the same, never "" */
    SP_COLUMN_LATER,   /* the same, which rows of older stores do not have:
                          "" is neither hashed nor written as JSON */
    SP_COLUMN_REAL,    /* double, finite, not negative */
    SP_COLUMN_COUNT,   /* int64_t, not negative */
    SP_COLUMN_SMALL,   /* int, not negative */
    SP_COLUMN_VERDICT, /* spry_verdict, stored by name */
    SP_COLUMN_NOISE,   /* char, stored as text */
    SP_COLUMN_SAMPLES  /* samples and sample of a spry_record */
} sp_column_kind;

typedef struct {
    const char *name; /* column and JSON member */
    sp_column_kind kind;
    size_t offset;
} sp_table_column;

typedef struct {
    const char *text; /* text form */
} sp_machine_row;

typedef union {
    spry_record record;
    spry_answer answer;
    sp_machine_row machine;
    spry_origin origin;
    spry_round curve;
} sp_stored_row;

enum { SP_ID = 33 };

typedef struct sp_table_shape {
    const char *table, *id_name;
    const sp_table_column *field;
    int fields;
    sp_statement add, all; /* columns: id, then the fields in order */
    int since;             /* the schema that brought the table */
    /* The id that a valid row must have. */
    spry_status (*identify)(char id[SP_ID], const struct sp_table_shape *shape,
                            const sp_stored_row *row);
} sp_table_shape;

enum { SP_SHAPES = 6 };
extern const sp_table_shape sp_shapes[SP_SHAPES];
extern const sp_table_shape *const sp_record_shape,
    *const sp_answer_shape, *const sp_machine_shape,
                                *const sp_origin_shape,
                                    *const sp_curve_shape,
                                        *const sp_probe_shape;

/* A field as one of the four things that SQL, JSON and the hash know. */
typedef enum {
    SP_VALUE_TEXT,
    SP_VALUE_REAL,
    SP_VALUE_INTEGER,
    SP_VALUE_REALS
} sp_value_type;
typedef struct {
    sp_value_type type;
    const char *text; /* NULL: not a possible value */
    double real;
    int64_t integer;
    const double *reals; /* [count] */
    int count;
} sp_value;

sp_value_type sp_column_type(const sp_table_column *f);
sp_value sp_column_get(const sp_table_column *f, const sp_stored_row *row);
/* 0 when a name means nothing to us. */
int sp_column_set(const sp_table_column *f, sp_stored_row *row,
                  const sp_value *v);

/* SPRY_USAGE names the first field that cannot be stored. */
spry_status sp_row_valid(const sp_table_shape *shape, const sp_stored_row *row);

/* ---- rows in and out (walk.c) ---- */

/* Validate, identify, insert; *added is 0 when it was known. id may be NULL;
 * if not, it must be the row's. */
spry_status sp_row_add(spry_records *db, const sp_table_shape *shape,
                       const sp_stored_row *row, const char *id, int *added);

/* The last step of it: by one of the statements that insert. */
spry_status sp_row_insert(spry_records *db, const sp_table_shape *shape,
                          sp_statement how, const sp_stored_row *row,
                          const char *id, int *added);

/* A row as a JSON object, and back; samples are kept in db (lines.c). */
void sp_row_to_json(sp_buf *out, const sp_table_shape *shape,
                    const sp_stored_row *row, const char *id);
spry_status sp_row_from_json(sp_stored_row *row, spry_records *db,
                             const sp_table_shape *shape,
                             const sp_json_doc *doc);

/* Workloads within a factor of two of each other share an answer: which of
 * these classes is it? -1: unlimited. */
int sp_calls_class(double calls);

/* A row as cells: its id, then its fields; samples live in db until the next
 * row. */
enum { SP_CELLS = 18 };
spry_status sp_row_cells(sp_cell cell[SP_CELLS], spry_records *db,
                         const sp_table_shape *shape, const sp_stored_row *row,
                         const char *id);

/* Eight bytes, lowest first. */
void sp_little_endian(uint8_t out[8], const void *word);

/* Room for n samples in db->sample; what was there is forgotten. */
spry_status sp_sample_room(spry_records *db, int64_t n);

/* Anything but SPRY_OK ends the walk and is its status. Texts and samples
 * live until the next row. */
typedef spry_status sp_row_visit(const sp_table_shape *shape,
                                 const sp_stored_row *row, const char *id,
                                 void *payload);

typedef struct {
    int64_t bad;
    char why[512]; /* about the first */
} sp_damage;

/* Every row that a statement finds. Rows whose contents do not give their id
 * are skipped and counted. */
typedef struct {
    sp_statement which;
    const sp_cell *arg; /* [args] */
    int args;
} sp_question;
spry_status sp_walk(spry_records *db, const sp_table_shape *shape,
                    const sp_question *q, sp_row_visit *visit, void *payload,
                    sp_damage *damage);
/* The same; what was skipped is told in spry_message(). */
spry_status sp_walk_told(spry_records *db, const sp_table_shape *shape,
                         const sp_question *q, sp_row_visit *visit,
                         void *payload);
/* All rows of a table, told likewise; a visitor that stops ends it well. */
spry_status sp_walk_table(spry_records *db, const sp_table_shape *shape,
                          sp_row_visit *visit, void *payload);
/* All rows of all tables. */
spry_status sp_walk_all(spry_records *db, sp_row_visit *visit, void *payload,
                        sp_damage *damage);
/* Leave "<path>: <n> damaged rows skipped, the first: <why>" behind. */
void sp_damage_say(const sp_damage *damage, const char *path);

#endif
