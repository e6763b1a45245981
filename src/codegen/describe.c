/* describe.c - what a schedule needs from its kernel. */
#include "codegen/codegen.h"

#include "schedule/super.h"

/* Results that every thread may have a copy of, on its stack. */
enum { OWN_BYTES = 1 << 16 };

/* What a nest's kernel knows beyond the nest. Copies of all results are made
 * and added up once per parallel loop, so that must be the outermost. */
static void describe_super(sp_spec *k, const spry_schedule *x,
                           const sp_sparse *p)
{
    const spry_super *s = &x->super;
    int64_t bytes = sp_sparse_output_size(p) * (int64_t)p->type;
    int dense = sp_operation_of(p->op)->dense;
    sp_levels v;

    k->super = *s;
    k->n = p->n;
    k->dynamic = x->chunk > 0;
    k->own =
        s->parallel && s->order[0] == s->parallel - 1 && bytes <= OWN_BYTES;
    if (sp_levels_of(&v, x, p) == SPRY_OK)
        for (int i = 0; i < SPRY_INDICES; i++)
            k->size[i] = v.size[i];
    if (dense >= 0 && p->n > 0) {
        int64_t split = INT64_C(1) << s->split[dense];

        k->size[dense] = split < p->n ? split : p->n;
    }
}

sp_spec sp_codegen_spec(const spry_schedule *x, const sp_sparse *p,
                        spry_isa isa, int32_t index)
{
    /* A dcsr kernel is a csr kernel that is handed a list of rows. */
    sp_spec k = {
        .op = p->op,
        .type = p->type,
        .isa = isa,
        .format = sp_format_of(x)->listed ? SPRY_CSR : x->format,
        .plain = sp_schedule_plain(x),
        .scatter = sp_schedule_innermost(x) == 2,
        .tile = x->tile,
        .unroll = x->unroll,
        .r = x->r,
        .c = x->c,
        .slice = x->slice,
        .symmetric = x->symmetric,
        .gather = x->gather && index != 64,
        .index = index,
        .palette = x->palette,
        .prefetch = x->prefetch > 0,
        .n = !x->fixed ? 0
             : x->copy ? x->pass
                       : p->n,
    };

    if (x->format == SPRY_SUPER)
        describe_super(&k, x, p);
    return k;
}
