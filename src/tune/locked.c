/* locked.c - answers that were frozen: the same schedule and the same kernel,
 * or a sentence that says why not. */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/site.h"
#include "records/records.h"
#include "spry/jit.h"
#include "tune/internal.h"

#ifndef __VERSION__
#define __VERSION__ "?"
#endif

/* Kernels of sparse problems are text, which says more than its name. Those of
 * networks and dense operators are built in: the name says which of a build's
 * they are, and the build's identity which build. */
void sp_kernel_mark(char out[SP_KERNEL_MARK], const spry_plan *plan)
{
    uint8_t digest[SP_SHA256];
    char hex[33], *source = NULL;
    const char *build = "";
    const char *text = spry_plan_kernel(plan);

    if (!spry_plan_schedule(plan))
        build = sp_build_identity();
    else if (spry_plan_source(&source, plan) == SPRY_OK)
        text = source;
    text = text ? text : spry_plan_text(plan);
    sp_sha256(digest, text, strlen(text));
    sp_hex(hex, digest, 16);
    if (spry_plan_builtin(plan))
        snprintf(out, SP_KERNEL_MARK, "%s built-in %s %s%s%.60s", hex,
                 spry_version(), build, *build ? " " : "", __VERSION__);
    else
        snprintf(out, SP_KERNEL_MARK, "%s %.120s", hex, spry_jit_compiler());
    free(source);
}

int sp_tune_lock(char *out, size_t size, const sp_tuner *t)
{
    int n;

    if (!t->opt.lock)
        return sp_site_path(out, size, "lock", "SPRY_LOCK");
    n = snprintf(out, size, "%s", t->opt.lock);
    return n > 0 && (size_t)n < size;
}

static void say_unknown(const sp_tuner *t, const sp_locked *x, const char *path)
{
    if (x->elsewhere)
        sp_fail(SPRY_STORE,
                "%s: knows %s on %d other machines, not on this one (%s)", path,
                t->p->key, x->elsewhere, t->m.fingerprint);
    else
        sp_fail(SPRY_STORE,
                "%s: has no answer for %s; tune it and freeze again", path,
                t->p->key);
}

static spry_status same_kernel(const spry_plan *plan, const sp_locked *x,
                               const char *path)
{
    char mark[SP_KERNEL_MARK];

    sp_kernel_mark(mark, plan);
    if (!*x->answer.kernel || strcmp(mark, x->answer.kernel) == 0)
        return SPRY_OK;
    return sp_fail(SPRY_STORE,
                   "%s: the kernel of %s was frozen as %s, here it is %s: its "
                   "results could differ in the last bits",
                   path, spry_plan_text(plan), x->answer.kernel, mark);
}

spry_status sp_tune_locked(spry_plan **out, sp_tuner *t, const char *path)
{
    sp_locked x;
    char note[300];
    spry_status s =
        sp_lock_find(&x, path, t->p->key, t->m.fingerprint, t->opt.calls);

    if (s != SPRY_OK)
        return s;
    snprintf(note, sizeof note, "as frozen in %.250s", path);
    if (x.found) {
        sp_tuner_note(t, note);
        s = sp_tune_answered(out, t, &x.answer);
    } else {
        say_unknown(t, &x, path);
    }
    if (*out)
        s = same_kernel(*out, &x, path);
    if (s != SPRY_OK) {
        spry_plan_free(*out);
        *out = NULL;
    }
    sp_locked_free(&x);
    return s;
}
