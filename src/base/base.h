/* base.h - what every room uses: memory, errors, text, files, random numbers.
 *
 * It includes no other room, and has no state but each thread's last error
 * message and the counter of allocations for the tests. */
#ifndef SP_BASE_H
#define SP_BASE_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "spry/status.h"

#if defined(__GNUC__)
#define SP_PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))
#else
#define SP_PRINTF_LIKE(f, a)
#endif

/* ---- failure (fail.c) ---- */

/* Set this thread's error message (spry_message) and return s. */
spry_status sp_fail(spry_status s, const char *fmt, ...) SP_PRINTF_LIKE(2, 3);
/* The same, with strerror(errno) appended: "<message>: <strerror>". */
spry_status sp_fail_errno(spry_status s, const char *fmt, ...)
    SP_PRINTF_LIKE(2, 3);
/* If s is SPRY_INPUT, prefix the message with the input's name: "<name>:
 * <message>". Returns s. */
spry_status sp_fail_in(spry_status s, const char *name);
/* SPRY_SYSTEM, "not enough memory for N bytes". */
spry_status sp_fail_memory(size_t bytes);
void sp_message_clear(void);

/* For what only a bug of spry itself can break. It aborts where NDEBUG is not
 * set (debug, sanitizers, coverage) and costs nothing where it is. What a
 * caller or a file can get wrong is refused with a status instead. */
#ifdef NDEBUG
#define SP_ASSERT(holds) ((void)(0 && (holds)))
#else
#define SP_ASSERT(holds) assert(holds)
#endif

/* ---- arguments of public functions (argument.c) ---- */

/* The first thing that a public function does: refuse NULL with SPRY_USAGE and
 * "spry_tune: p is NULL". */
#define SP_NEED(...)                                                      \
    do {                                                                  \
        const void *const sp_given[] = {__VA_ARGS__};                     \
        int sp_given_count = (int)(sizeof sp_given / sizeof sp_given[0]); \
                                                                          \
        if (sp_null_among(sp_given, sp_given_count))                      \
            return sp_fail_null(__func__, #__VA_ARGS__, sp_given,         \
                                sp_given_count);                          \
    } while (0)

/* The same for a function whose first argument receives a new object: *out is
 * NULL unless the function succeeds. */
#define SP_NEED_NEW(...)                        \
    do {                                        \
        if (SP_FIRST(__VA_ARGS__, 0))           \
            *(SP_FIRST(__VA_ARGS__, 0)) = NULL; \
        SP_NEED(__VA_ARGS__);                   \
    } while (0)
#define SP_FIRST(first, ...) first

/* The same for a function that returns no status: it returns `otherwise`. */
#define SP_NEED_OR(otherwise, ...)                                        \
    do {                                                                  \
        const void *const sp_given[] = {__VA_ARGS__};                     \
        int sp_given_count = (int)(sizeof sp_given / sizeof sp_given[0]); \
                                                                          \
        if (sp_null_among(sp_given, sp_given_count)) {                    \
            (void)sp_fail_null(__func__, #__VA_ARGS__, sp_given,          \
                               sp_given_count);                           \
            return otherwise;                                             \
        }                                                                 \
    } while (0)

/* Any other invalid argument: SP_REFUSE(n < 0, "%d columns", n). */
#define SP_REFUSE(bad, ...)                          \
    do {                                             \
        if (bad)                                     \
            return sp_fail(SPRY_USAGE, __VA_ARGS__); \
    } while (0)

/* Copy the caller's options over the defaults. Theirs may be of an older header
 * and so shorter; given NULL: keep the defaults. */
#define SP_TAKE_OPTIONS(options, given) \
    sp_take_options(options, sizeof *(options), given)

/* A struct that the library fills in begins with its size, too: one of an
 * older header is shorter. SP_ROOM returns SPRY_USAGE from the function when
 * the size is impossible, and clears the members after it; SP_GIVE copies as
 * much of *whole, of the same type, as *out has room for. */
#define SP_ROOM(out)                                          \
    do {                                                      \
        if (sp_room(__func__, out, sizeof *(out)) != SPRY_OK) \
            return SPRY_USAGE;                                \
    } while (0)
#define SP_GIVE(out, whole) sp_give(out, whole, sizeof *(whole))

static inline int sp_null_among(const void *const *given, int count)
{
    int found = 0;

    for (int i = 0; i < count; i++)
        found |= !given[i];
    return found;
}
spry_status sp_fail_null(const char *function, const char *names,
                         const void *const *given, int count);
spry_status sp_take_options(void *options, size_t most, const void *given);
spry_status sp_room(const char *function, void *out, size_t most);
void sp_give(void *out, const void *whole, size_t most);
/* Do two ranges of memory share a byte? */
int sp_overlap(const void *a, size_t a_bytes, const void *b, size_t b_bytes);

/* ---- memory (alloc.c) ---- */

/* Zeroed arrays, aligned to 64 bytes; from 2 MB on, on huge pages if possible.
 * NULL when count * size overflows or memory is short. Free with sp_free. */
void *sp_alloc(int64_t count, size_t size);
/* The same, not zeroed. */
void *sp_alloc_raw(int64_t count, size_t size);
/* Grow to hold `count`; the old block stays valid on failure (NULL). The
 * first old_count elements are kept. */
void *sp_grow(void *old, int64_t old_count, int64_t count, size_t size);
void sp_free(void *p);

/* A malloc'd copy, to be freed with free(): for the public interface. */
char *sp_strdup(const char *text);

/* For tests: refuse the n-th allocation from now (1 = the next), and every
 * one after when `on` is nonzero; n = 0 switches it off. */
void sp_alloc_refuse(int64_t n, int on);
/* Count them in `count`, which may lie in memory shared with children: then
 * theirs are of the same row. NULL: each process counts for itself. */
void sp_alloc_count_in(_Atomic(long long) *count);
int64_t sp_alloc_live(void); /* blocks not yet freed */

/* The least multiple of `to` that is not below n. */
static inline int64_t sp_round_up(int64_t n, int64_t to)
{
    return (n + to - 1) / to * to;
}

/* ---- pages of the caller's memory (pages.c) ---- */

/* 1 if a large block has pages that were never touched. */
int sp_pages_lack(const void *data, size_t bytes);
/* Fault them in, as huge pages where possible; contents do not change. */
void sp_pages_bring(void *data, size_t bytes);

/* ---- forks (fork.c) ---- */

/* From now on forked children may use OpenMP. sp_alloc calls this, so it holds
 * for whoever has arrays to loop over. */
void sp_fork_watch(void);

/* ---- growing text (buf.c) ---- */

typedef struct {
    char *data; /* zero-terminated, NULL while empty */
    size_t len, cap;
    int failed; /* memory ran out; later writes do nothing */
} sp_buf;

void sp_buf_add(sp_buf *b, const char *text);
void sp_buf_bytes(sp_buf *b, const void *data, size_t n);
void sp_buf_printf(sp_buf *b, const char *fmt, ...) SP_PRINTF_LIKE(2, 3);
void sp_buf_free(sp_buf *b);
/* Hand the text over to free(); "" when empty; NULL when it failed. */
char *sp_buf_steal(sp_buf *b);

/* ---- JSON (json.c, json_read.c) ---- */

/* A writer over sp_buf that puts commas where they belong. */
typedef struct {
    sp_buf *out;
    int depth;
    int first;  /* nothing written yet at this depth */
    int spaced; /* for people to read: a value per line, indented */
} sp_json;

void sp_json_open(sp_json *j, const char *key, char bracket); /* { or [ */
void sp_json_close(sp_json *j, char bracket);
void sp_json_text(sp_json *j, const char *key, const char *value);
void sp_json_number(sp_json *j, const char *key, double value); /* %.17g short
                                              form; null when not finite */
void sp_json_integer(sp_json *j, const char *key, int64_t value);
void sp_json_bool(sp_json *j, const char *key, int value);

/* A reader: the document becomes one array of values, in document order. */
typedef enum {
    SP_JSON_NULL,
    SP_JSON_FALSE,
    SP_JSON_TRUE,
    SP_JSON_NUMBER,
    SP_JSON_STRING,
    SP_JSON_ARRAY,
    SP_JSON_OBJECT
} sp_json_kind;
typedef struct sp_json_value {
    sp_json_kind kind;
    const char *key;  /* inside an object */
    const char *text; /* string, unescaped */
    double number;
    int count; /* members of an array or object */
    int next;  /* index of the value after this one's subtree */
} sp_json_value;
typedef struct {
    sp_json_value *value; /* [count], value[0] is the root */
    int count;
    char *strings;
} sp_json_doc;

/* Depth at most 32. SPRY_INPUT names the offset; *out is then empty. */
spry_status sp_json_parse(sp_json_doc *out, const char *text, size_t len);
void sp_json_free(sp_json_doc *doc);
/* The member `key` of object v, or NULL. */
const sp_json_value *sp_json_get(const sp_json_doc *doc, const sp_json_value *v,
                                 const char *key);
const char *sp_json_get_text(const sp_json_doc *doc, const sp_json_value *v,
                             const char *key, const char *otherwise);
double sp_json_get_number(const sp_json_doc *doc, const sp_json_value *v,
                          const char *key, double otherwise);

/* ---- hashes (hash.c, sha256.c) ---- */

/* Fast, 128 bits, streaming; not safe against deliberate collisions. */
typedef struct {
    uint64_t a, b, len;
} sp_hash;
sp_hash sp_hash_begin(void);
void sp_hash_add(sp_hash *h, const void *data, size_t n);
void sp_hash_hex(char out[33], sp_hash h);

/* Which build this is: 16 hexadecimal digits, equal where the kernels of
 * dense operators and networks have the same texts, compiler and flags
 * (identity.c). */
const char *sp_build_identity(void);

/* For data that an adversary may choose. */
enum { SP_SHA256 = 32 };
void sp_sha256(uint8_t out[SP_SHA256], const void *data, size_t n);
void sp_hmac_sha256(uint8_t out[SP_SHA256], const void *key, size_t key_len,
                    const void *data, size_t n);
void sp_hex(char *out, const uint8_t *data, size_t n); /* 2 n + 1 chars */

/* ---- random numbers (rng.c) ---- */

/* xoshiro256**: same seed, same numbers, everywhere. */
typedef struct {
    uint64_t s[4];
} sp_rng;
sp_rng sp_rng_seed(uint64_t seed);
uint64_t sp_rng_next(sp_rng *r);
uint64_t sp_rng_below(sp_rng *r, uint64_t n); /* 0 .. n-1, unbiased; n > 0 */
double sp_rng_unit(sp_rng *r);                /* [0, 1) */
double sp_rng_normal(sp_rng *r);

/* ---- text and files (text.c, utf8.c, file.c) ---- */

/* Bytes of the UTF-8 character at p (p < end), 0 when it is not one: no
 * overlong forms, no surrogates, nothing above U+10FFFF. */
size_t sp_utf8_length(const unsigned char *p, const unsigned char *end);

/* Parse a number at *at, before end, in any locale; blanks are not skipped.
 * Moves *at past it; 0 when there is none or it does not fit. Reals are rounded
 * correctly; inf, nan and Fortran's 1D5 are reals, too. */
int sp_scan_int(const char **at, const char *end, int64_t *out);
int sp_scan_real(const char **at, const char *end, double *out);

/* The shortest of %.15g .. %.17g (%.6g .. %.9g for SPRY_F32) that reads back
 * as v, with a point in every locale; returns its length. */
enum { SP_REAL = 32 };
int sp_print_real(char out[SP_REAL], double v, spry_type type);

/* An identifier of C and C++, of at most 63 characters. */
int sp_is_identifier(const char *name);

/* "1.5k", "2M", "1e6", "10": counts as people write them. */
int sp_parse_count(const char *text, double *out);

/* A whole file in memory, with a zero byte after it; gzip is unpacked. `limit`
 * bounds the unpacked size, and so does sp_unpack_limit: a gzip bomb fails with
 * SPRY_INPUT. So do directories, devices and missing files. */
typedef struct {
    char *data;
    size_t len;
} sp_file;
spry_status sp_file_read(sp_file *out, const char *path, size_t limit);
void sp_file_free(sp_file *f);

/* Unpack gzip members or one raw deflate stream into *out, a zero byte
 * behind it. SPRY_INPUT when damaged, cut short or larger than `limit`. */
typedef enum { SP_GZIP, SP_DEFLATE } sp_packing;
spry_status sp_unpack(sp_file *out, const void *packed, size_t n,
                      sp_packing packing, size_t limit);
/* What n packed bytes may become: 128 n + 64 MB. */
size_t sp_unpack_limit(size_t n);

/* Write whole or not at all: a temporary beside it, fsync, rename. What is
 * not a regular file (a terminal, /dev/null) is written to directly, and so is
 * "-", standard output. */
spry_status sp_file_write(const char *path, const void *data, size_t n);
/* The same in pieces. */
typedef struct {
    FILE *f;
    char path[4096], temp[4096 + 24];
} sp_writer;
spry_status sp_writer_open(sp_writer *w, const char *path);
spry_status sp_writer_close(sp_writer *w, int keep);
/* Check, before work that takes long, whether path can be written, as far as
 * that can be known. A file that is there is not changed. */
spry_status sp_writer_try(const char *path);

/* mkdir -p with `mode`, less the umask: 0700 for folders that spry keeps for
 * the user, 0777 for those that the user named. */
spry_status sp_make_dirs(const char *path, unsigned mode);
/* SPRY_USAGE unless there is such a folder. */
spry_status sp_need_folder(const char *path);
/* The same, for C that is written there under `name`, an identifier. */
spry_status sp_need_export(const char *dir, const char *name);

/* One of the user's directories, by SPRY_HOME, else by XDG: kind is "data",
 * "cache" or "config". 0 when there is none. */
int sp_user_dir(char *out, size_t size, const char *kind);

/* The path of the trained model `name`: in SPRY_MODELS when that is set, else
 * in the user's data directory, else in the package, prefix or source tree that
 * the library or program belongs to. 0 when there is none. (models.c) */
int sp_model_path(char *out, size_t size, const char *name);

/* ---- sorting (radix.c) ---- */

typedef struct {
    uint64_t key;
    int64_t at;
} sp_keyed;

/* Ascending by key, whose highest bits beyond `bits` are 0; equal keys stay
 * in their order. Returns a or room[n], whichever holds the result. */
sp_keyed *sp_radix_sort(sp_keyed *a, sp_keyed *room, int64_t n, int bits);

/* ---- time (clock.c) ---- */
double sp_seconds(void); /* monotonic */

#endif
