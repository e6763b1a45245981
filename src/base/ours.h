/* ours.h - what is kept for later is believed only where nobody else could
 * have written it. */
#ifndef SP_OURS_H
#define SP_OURS_H

/* Open folder `path`; -1 unless it is a real one, ours, and nobody else may
 * write to it. *why is then a static string. */
int sp_ours_open(const char *path, const char **why);

/* What is wrong with an open file before a byte of it is read, a static
 * string; NULL: it is ours, has one name, and nobody else may write to it. */
const char *sp_ours_flaw(int fd);

#endif
