/* kept.c - a file of packed weights: written, mapped and believed.
 *
 *     head | a line for every stage | packed weights, each on 64 bytes
 *
 * Writers build beside it and rename, so readers never see half a file; what
 * a crash leaves of one is told by its digests. */
#define _DEFAULT_SOURCE /* getentropy, pwritev */
#include "graph/kept.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/private.h"
#include "base/sealed.h"
#include "base/unconst.h"

enum { LINE = 64, PAGE = 4096 };

static const char magic[16] = "spry weights 2\n";

typedef struct {
    char magic[16];
    uint32_t byte_order, stages;
    int64_t length, body; /* of the file, of what lies before the weights */
    uint8_t seed[SP_DIGEST_SEED];
    uint8_t source[SP_DIGEST];  /* of the weights as they are given */
    uint8_t packed[SP_DIGEST];  /* of all from `body` on */
    uint8_t outline[SP_DIGEST]; /* of all before, zeros here */
} kept_head;

typedef struct {
    char text[SPRY_SCHEDULE_TEXT]; /* of the plan; "": nothing is packed */
    int64_t zeros, at, bytes;
} kept_line;

struct sp_kept {
    const uint8_t *map;
    kept_head head;
    const kept_line *line;
};

static int64_t body_of(int stages)
{
    return sp_round_up(
        (int64_t)sizeof(kept_head) + stages * (int64_t)sizeof(kept_line), PAGE);
}

/* ---- believing ---- */

/* A fuzzer would never find the right digests. */
static int same_digest(const uint8_t *a, const uint8_t *b)
{
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    (void)a;
    (void)b;
    return 1;
#else
    return memcmp(a, b, SP_DIGEST) == 0;
#endif
}

/* The head is copied: a part of it is zero for its digest. */
static void outline_of(uint8_t out[SP_DIGEST], const sp_digest_key *key,
                       const kept_head *h, const kept_line *line)
{
    kept_head bare = *h;
    uint8_t both[2][SP_DIGEST];

    memset(bare.outline, 0, sizeof bare.outline);
    sp_digest(both[0], key, &bare, sizeof bare);
    sp_digest(both[1], key, line, (size_t)h->body - sizeof *h);
    sp_digest(out, key, both, sizeof both);
}

static int line_fits(const kept_line *l, const kept_head *h)
{
    return memchr(l->text, 0, sizeof l->text) && l->zeros >= -1 &&
           l->at >= h->body && l->at % LINE == 0 && l->at <= h->length &&
           l->bytes >= 0 && l->bytes <= h->length - l->at;
}

/* Is the file, so far, what its head says, and for this program? */
static int outline_fits(const sp_kept *k, const sp_digest_key *key,
                        int64_t length, int stages)
{
    const kept_head *h = &k->head;
    uint8_t sum[SP_DIGEST];

    outline_of(sum, key, h, k->line);
    if (!same_digest(sum, h->outline) || h->length != length ||
        h->stages != (uint32_t)stages || h->body != body_of(stages))
        return 0;
    for (int i = 0; i < stages; i++)
        if (!line_fits(&k->line[i], h))
            return 0;
    return 1;
}

/* Digests of the weights as they are given, and of all from `body` on. */
static int digests_of(uint8_t source[SP_DIGEST], uint8_t packed[SP_DIGEST],
                      const spry_executor *e, const sp_digest_key *key,
                      const uint8_t *body, int64_t bytes)
{
    sp_kept_parts all = {0};
    uint8_t(*each)[SP_DIGEST];
    int given, good = 0;

    sp_kept_parts_of_weights(&all, e->p);
    given = all.count;
    sp_kept_parts_add(&all, body, (size_t)bytes);
    each = sp_alloc_raw(all.count + 1, sizeof *each);
    if (each &&
        sp_kept_parts_digest(each, &all, key, e->team, e->threads) == SPRY_OK) {
        sp_kept_parts_join(source, each, key, 0, given);
        sp_kept_parts_join(packed, each, key, given, all.count);
        good = 1;
    }
    sp_free(each);
    sp_free(all.piece);
    return good;
}

static int is_true(const sp_kept *k, const spry_executor *e)
{
    uint8_t source[SP_DIGEST], packed[SP_DIGEST];
    const kept_head *h = &k->head;
    sp_digest_key key;

    sp_digest_key_make(&key, h->seed);
    return outline_fits(k, &key, h->length, e->p->stages) &&
           digests_of(source, packed, e, &key, k->map + h->body,
                      h->length - h->body) &&
           same_digest(source, h->source) && same_digest(packed, h->packed);
}

/* ---- opening ---- */

/* The file with its head, mapped if that can be for so many stages. */
static sp_kept *map_file(int fd, int stages)
{
    sp_kept *k = sp_alloc(1, sizeof *k);
    struct stat st;
    void *map;

    if (!k || sp_private_flaw(fd) || fstat(fd, &st) != 0 ||
        st.st_size < body_of(stages) ||
        pread(fd, &k->head, sizeof k->head, 0) != (ssize_t)sizeof k->head ||
        memcmp(k->head.magic, magic, sizeof magic) != 0 ||
        k->head.byte_order != SP_BYTE_ORDER || k->head.length != st.st_size ||
        k->head.stages != (uint32_t)stages || k->head.body != body_of(stages)) {
        sp_free(k);
        return NULL;
    }
    map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED) {
        sp_free(k);
        return NULL;
    }
    k->map = map;
    k->line = (const kept_line *)(const void *)(k->map + sizeof k->head);
    return k;
}

sp_kept *sp_kept_open(const spry_executor *e)
{
    char name[SP_KEPT_NAME];
    int folder = sp_kept_limit() > 0 ? sp_kept_folder(0) : -1, fd = -1;
    sp_kept *k = NULL;

    if (folder < 0)
        return NULL;
    sp_kept_name(name, e);
    fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0)
        k = map_file(fd, e->p->stages);
    if (k && !is_true(k, e)) {
        sp_kept_close(k);
        k = NULL;
    }
    if (k)
        (void)futimens(fd, NULL); /* used now: a wish */
    if (fd >= 0)
        close(fd);
    close(folder);
    return k;
}

void sp_kept_close(sp_kept *k)
{
    if (!k)
        return;
    munmap(sp_unconst(k->map), (size_t)k->head.length);
    sp_free(k);
}

int64_t sp_kept_zeros(const sp_kept *k, int i)
{
    return k->line[i].zeros;
}

const void *sp_kept_find(const sp_kept *k, int i, const char *text,
                         int64_t *bytes)
{
    const kept_line *l = &k->line[i];

    *bytes = l->bytes;
    return *l->text && strcmp(l->text, text) == 0 ? k->map + l->at : NULL;
}

/* ---- writing ---- */

/* Lines for all stages; the file's length is in the head. */
static void set_lines(kept_head *h, kept_line *line, const spry_executor *e)
{
    h->length = h->body;
    for (int i = 0; i < e->p->stages; i++) {
        const sp_ready_stage *x = &e->stage[i];

        line[i].zeros = -1;
        line[i].at = h->length;
        if (!sp_stage_packs(x->stage) || !x->dense ||
            !sp_dense_packed(x->dense, &line[i].bytes))
            continue;
        line[i].zeros = sp_dense_of(x->problem)->zeros;
        snprintf(line[i].text, sizeof line[i].text, "%s", x->plan->text);
        h->length += sp_round_up(line[i].bytes, LINE);
    }
}

static int write_all(int fd, struct iovec *from, int count, int64_t at)
{
    while (count > 0) {
        int at_once = count < UIO_MAXIOV ? count : UIO_MAXIOV;
        ssize_t n = pwritev(fd, from, at_once, (off_t)at);

        if (n < 0 || (n == 0 && from->iov_len > 0))
            return 0;
        at += n;
        for (; count > 0 && (size_t)n >= from->iov_len; from++, count--)
            n -= (ssize_t)from->iov_len;
        if (count > 0) {
            from->iov_base = (char *)from->iov_base + n;
            from->iov_len -= (size_t)n;
        }
    }
    return 1;
}

/* All packed weights in one write: the system then keeps the file in large
 * pieces, and whoever maps it later touches few. */
static int write_weights(int fd, const kept_head *h, const kept_line *line,
                         const spry_executor *e)
{
    static const uint8_t zeros[LINE];
    struct iovec *from = sp_alloc(2 * (int64_t)e->p->stages, sizeof *from);
    int count = 0, good;

    for (int i = 0; from && i < e->p->stages; i++) {
        int64_t bytes = line[i].bytes;
        const void *data;

        if (!*line[i].text || bytes == 0)
            continue;
        data = sp_dense_packed(e->stage[i].dense, &bytes);
        from[count++] = (struct iovec){sp_unconst(data), (size_t)bytes};
        from[count++] = (struct iovec){
            sp_unconst(zeros), (size_t)(sp_round_up(bytes, LINE) - bytes)};
    }
    good = from && write_all(fd, from, count, h->body);
    sp_free(from);
    return good;
}

/* All of an empty file that has its room already. */
static int fill_file(int fd, kept_head *h, const kept_line *line,
                     const spry_executor *e)
{
    struct iovec before[] = {{h, sizeof *h},
                             {sp_unconst(line), (size_t)h->body - sizeof *h}};
    sp_digest_key key;
    int good;
    uint8_t *map;

    if (!write_weights(fd, h, line, e))
        return 0;
    map = mmap(NULL, (size_t)h->length, PROT_READ, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        return 0;
    sp_digest_key_make(&key, h->seed);
    good = digests_of(h->source, h->packed, e, &key, map + h->body,
                      h->length - h->body);
    munmap(map, (size_t)h->length);
    outline_of(h->outline, &key, h, line);
    return good && write_all(fd, before, 2, 0);
}

/* Under another name first; then the longest unused make room. */
static void put_file(int folder, kept_head *h, const kept_line *line,
                     const spry_executor *e)
{
    char name[SP_KEPT_NAME], temp[48];
    spry_graph_kept removed;
    int fd, good;

    snprintf(temp, sizeof temp, "new.%ld.%p", (long)getpid(), (const void *)e);
    fd = openat(folder, temp,
                O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    good = fchmod(fd, 0600) == 0 && posix_fallocate(fd, 0, h->length) == 0 &&
           fill_file(fd, h, line, e);
    close(fd);
    sp_kept_name(name, e);
    if (!good || renameat(folder, temp, folder, name) != 0)
        (void)unlinkat(folder, temp, 0);
    sp_kept_trim(folder, sp_kept_limit(), &removed);
}

/* Is there anything that the kept file does not have? */
static int is_news(const spry_executor *e)
{
    for (int i = 0; i < e->p->stages; i++) {
        int64_t bytes = 0;

        if (!e->stage[i].kept && e->stage[i].dense &&
            sp_stage_packs(e->stage[i].stage) &&
            sp_dense_packed(e->stage[i].dense, &bytes) && bytes > 0)
            return 1;
    }
    return 0;
}

void sp_kept_write(const spry_executor *e)
{
    int stages = e->p->stages, folder;
    kept_head h = {.byte_order = SP_BYTE_ORDER,
                   .stages = (uint32_t)stages,
                   .body = body_of(stages)};
    kept_line *line;

    if (sp_kept_limit() == 0 || !is_news(e) ||
        getentropy(h.seed, sizeof h.seed) != 0)
        return;
    line = sp_alloc(h.body - (int64_t)sizeof h, 1);
    folder = line ? sp_kept_folder(1) : -1;
    memcpy(h.magic, magic, sizeof magic);
    if (folder >= 0) {
        set_lines(&h, line, e);
        if (h.length <= sp_kept_limit())
            put_file(folder, &h, line, e);
        close(folder);
    }
    sp_free(line);
    sp_message_clear();
}
