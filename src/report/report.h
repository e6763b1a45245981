/* report.h - what a page is made from: machines, and problems tuned on them.
 *
 * Two makers fill it: a store (cases.c) and the story of one tune
 * (story.c). page.c writes it down; it asks nobody else. */
#ifndef SP_REPORT_H
#define SP_REPORT_H

#include "base/base.h"
#include "problem/problem.h"
#include "spry/machine.h"
#include "spry/problem.h"
#include "spry/records.h"
#include "spry/report.h"
#include "spry/tune.h"

/* So many cases are shown with charts; of all others there is a row. */
enum { SP_REPORT_SHOWN = 6 };

/* One measured schedule; text is an index into the report's texts. */
typedef struct {
    int schedule, compiler;
    spry_verdict verdict;
    char noise;
    double predicted; /* seconds; 0: not known */
    double seconds, speedup, low, high, pack_seconds, bytes;
    int64_t when;
} sp_report_trial;

typedef struct {
    int baseline, schedule; /* texts */
    double baseline_seconds, seconds, speedup, low, high;
    double pack_seconds, tuning_seconds;
} sp_report_answer;

/* A problem on a machine. */
typedef struct {
    int problem, about, source; /* texts; source "" when not known */
    int op, type;               /* texts; "" when not known */
    int64_t n, rows, cols, nnz; /* 0 when not known */
    double flops, moved;  /* operations and bytes of a dense operator; else 0 */
    int machine;          /* its fingerprint, a text */
    const char *key, *on; /* both as text, once finished */
    sp_report_trial *trial; /* [trials], in order of measuring */
    int trials, room;
    int answered;
    int verified; /* 1: the plan was checked; 0: not told */
    int told;     /* 1: by a tune that has just ended (story.c) */
    int recalled; /* 1: predictions were made for this page (recall.c) */
    int model;    /* a text: who made them; "" when nobody did */
    const char *unpredicted; /* a sentence: why there are none; or NULL */
    sp_report_answer answer;
    sp_buf picture; /* PNG of the pattern; empty: none */
} sp_report_case;

/* How long a library took over spry: a line of bench-peers. */
typedef struct {
    int operation, library, machine; /* texts */
    double times, low, high;         /* low and high 0: not known */
    int64_t problems;
} sp_report_peer;

typedef struct {
    char **text; /* [texts] each once */
    int texts, text_room;
    int *slot; /* open hashing into text, -1: free */
    int slots;
    spry_machine *machine; /* [machines] those that are known */
    int machines;
    sp_report_case *one; /* [cases], in order of their keys */
    int cases, case_room;
    sp_report_peer *peer; /* [peers], in the order of the file */
    int peers;
    const char *store;  /* borrowed: where a probe belongs; NULL: the user's */
    spry_status status; /* the first failure; later calls do nothing */
} sp_report;

void sp_report_free(sp_report *r);

/* The number of a text; NULL is "". */
int sp_report_text(sp_report *r, const char *text);
/* The case of this problem on this machine, made when missing; NULL when
 * memory is short. Valid until the next call. */
sp_report_case *sp_report_case_of(sp_report *r, const char *problem,
                                  const char *machine);
void sp_report_add_trial(sp_report *r, sp_report_case *c,
                         const sp_report_trial *t);
void sp_report_add_machine(sp_report *r, const spry_machine *m);
const spry_machine *sp_report_machine(const sp_report *r,
                                      const sp_report_case *c);
int sp_report_is_probed(const sp_report *r, const sp_report_case *c);
/* Cases in order; of the first few what can be had again. */
void sp_report_finish(sp_report *r);
/* What a dense operator does; nothing else has to be told. */
void sp_report_count(sp_report_case *c, const spry_problem *p);
/* Where the problem came from says what its pattern looks like, and what the
 * model predicts of its schedules; else c->unpredicted says why not. */
void sp_report_recall(sp_report *r, sp_report_case *c);

/* All of a store whose problems begin with `problem`. */
void sp_report_read(sp_report *r, spry_records *db, const char *problem);

/* The file that bench-peers wrote; NULL: none (peers.c). */
void sp_report_read_peers(sp_report *r, const char *path);
/* Its text, which is cut up in place. */
void sp_report_parse_peers(sp_report *r, char *text, const char *path);

/* The tune that made this plan (story.c). */
void sp_report_tell(sp_report *r, const spry_plan *plan, const char *source);

/* The command that probes a machine for this store, as markup. */
void sp_report_how_to_probe(sp_buf *out, const sp_report *r);

/* The page as text; every trial of it, in an element for the script (data.c). */
void sp_report_page(sp_buf *out, const sp_report *r, const char *title);
void sp_report_data(sp_buf *out, const sp_report *r);

#endif
