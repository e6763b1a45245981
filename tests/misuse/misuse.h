/* misuse.h - calls that must be refused; misuse.py writes them. */
#ifndef MISUSE_H
#define MISUSE_H

#include <spry.h>

typedef struct {
    const char *function, *what;
    void (*call)(int *status);
    int refuses; /* returns a status, which must be SPRY_USAGE */
    int makes;   /* its first argument receives something: NULL then */
} misuse;

extern const misuse misuses[]; /* up to one without a function */

/* The i-th of some memory that is zero, one page or more from the others. */
void *sample(int i);
/* Options whose size is 0, 13 or 1e9. */
void *sized(int which);
/* Read a text to its end, if there is one. */
void look_at(const char *text);
/* For callbacks; never called. */
void visited(void);

#endif
