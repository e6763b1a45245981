/* recipe.h - "KIND,key=value ...": what a generator is asked to make.
 *
 * The parameters of a kind are a text of the same form, "width=1024
 * depth=120": it names all there are and gives their defaults. */
#ifndef SP_RECIPE_H
#define SP_RECIPE_H

#include "base/base.h"

enum { SP_RECIPE_PARAMS = 24, SP_RECIPE_NAME = 16, SP_RECIPE_VALUE = 64 };

typedef struct {
    const char *kind, *params;
    int count;
    struct {
        char name[SP_RECIPE_NAME], value[SP_RECIPE_VALUE];
        int given; /* else the default */
    } param[SP_RECIPE_PARAMS];
} sp_recipe;

/* Which of the `count` kinds text begins with; *rest is the text behind it.
 * SPRY_USAGE, "no <what> '...'; there are ...", when it is none of them. */
spry_status sp_recipe_kind(int *out, const char **rest, const char *text,
                           const char *what, const char *const *kind,
                           int count);
/* The defaults in params, then what text says. */
spry_status sp_recipe_parse(sp_recipe *out, const char *kind,
                            const char *params, const char *text);
/* Where the parameter is in r->param, or -1. */
int sp_recipe_find(const sp_recipe *r, const char *name);
const char *sp_recipe_text(const sp_recipe *r, const char *name);
/* SPRY_USAGE: the text is no value for this parameter. */
spry_status sp_recipe_refuse(const sp_recipe *r, const char *name);
/* SPRY_USAGE unless low <= value <= high; a count must be whole, too. */
spry_status sp_recipe_real(double *out, const sp_recipe *r, const char *name,
                           double low, double high);
spry_status sp_recipe_count(int64_t *out, const sp_recipe *r, const char *name,
                            int64_t low, int64_t high);
/* "2x3x4" into out[most], its length. */
spry_status sp_recipe_list(int64_t *out, int *count, int most,
                           const sp_recipe *r, const char *name);

#endif
