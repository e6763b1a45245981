/* unconst.h - an address without its const: of what the owner fills in when it
 * is asked for the first time, or of what somebody else's prototype promises
 * in prose only. */
#ifndef SP_BASE_UNCONST_H
#define SP_BASE_UNCONST_H

static inline void *sp_unconst(const void *p)
{
    union {
        const void *given;
        void *same;
    } u = {p};

    return u.same;
}

#endif
