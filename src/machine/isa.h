/* isa.h - what an instruction set is, for everyone who has to know.
 *
 * isas.def has one row per set. Nobody else compares names of sets: who wants
 * to know asks the row. */
#ifndef SP_ISA_H
#define SP_ISA_H

#include "spry/machine.h"

enum { SP_ISA_FLAGS = 8 };

typedef struct {
    const char *name;
    const char *arch; /* "any", "x86_64" ... */
    int bytes;        /* of a vector register */
    int registers;    /* vector registers */
    int fused;        /* a multiply-add is one instruction */
    int gathers;      /* one instruction loads lanes from anywhere */
    int permutes;     /* lanes are picked from 64 bytes in registers */
    int packs_words;  /* several small numbers are best loaded as one word,
                         the first of them low */
    int streams;      /* stores can pass the cache by */
    int pairs_lines;  /* its CPUs fetch the neighbour of a line along with it:
                         to ask for both is a load too many */
    int (*runs_here)(void);
    const char *flags[SP_ISA_FLAGS]; /* for the compiler, NULL-terminated */
} sp_isa;

extern const sp_isa sp_isas[];
extern const int sp_isa_count;

/* The row of isa; that of SPRY_PORTABLE for what is none. */
const sp_isa *sp_isa_of(spry_isa isa);

/* Does a CPU with `have` run code made for `want`? */
int sp_isa_includes(spry_isa have, spry_isa want);

/* Does this CPU run code for isa? A described machine may be wider. */
int sp_isa_runs_here(spry_isa isa);

/* The widest that this CPU and its system allow. */
spry_isa sp_isa_here(void);

#endif
