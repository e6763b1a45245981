/* choose.h - how the fastest way to run a network is found.
 *
 * choose.c is the whole story; choose_ways.c names ways and guesses their
 * time, choose_race.c checks and races them, choose_store.c remembers. */
#ifndef SP_FORM_CHOOSE_H
#define SP_FORM_CHOOSE_H

#include "form/internal.h"

enum { SP_BASELINES_MOST = 2 };

typedef struct {
    const spry_network *n;
    spry_choose_options o;
    unsigned passes;       /* that may be used */
    spry_network *smaller; /* what they leave of n; NULL until it is known */
    double compile_seconds;
    char key[64]; /* of network and batch */
    spry_records *db;
    spry_choice *out;
    double begun;
    float *x, *y;     /* [out->raced] inputs and outputs; x may be ours */
    float *own_x;     /* to free */
    double *right;    /* [checked][outputs] */
    int64_t checked;  /* inputs */
    double deviation; /* of the plain loop from `right`, relatively */
    spry_ready *ready[SPRY_WAYS_MOST]; /* of the trials */
} sp_chooser;

/* A network already made smaller by w->passes (ways.c). */
spry_status sp_ready_of(spry_ready **out, const spry_network *compiled,
                        const spry_way *w);

/* The trials: plain ways first, then the best by prediction. */
void sp_choose_list(sp_chooser *c);
/* Of out->trial[SP_BASELINES_MOST ..], the best by prediction. */
const spry_way_trial *sp_choose_guess(const sp_chooser *c);

/* c->x, drawn by the seed (choose_inputs.c). */
spry_status sp_choose_inputs(sp_chooser *c);

/* Make, check and race all trials; the better of the plain ways comes first
 * then, and is what they are compared with. */
spry_status sp_choose_race(sp_chooser *c);
/* The same in their order, compared with the first. */
spry_status sp_choose_compare(sp_chooser *c);

/* The store: open it, look there, tell it. Without one all still works. */
void sp_choose_open(sp_chooser *c);
int sp_choose_lookup(sp_chooser *c);
void sp_choose_remember(sp_chooser *c);

#endif
