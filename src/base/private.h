/* private.h - folders and files that only this user can have written: nothing
 * else that was kept is believed. */
#ifndef SP_PRIVATE_H
#define SP_PRIVATE_H

/* Open folder `path`; -1, and *why a static string, unless it is a folder, no
 * link, owned by this user, and nobody else may write to it. */
int sp_private_open(const char *path, const char **why);

/* What is wrong with an open file before a byte of it is read, a static
 * string; NULL: this user owns it, it has one name, and nobody else may write
 * to it. */
const char *sp_private_flaw(int fd);

#endif
