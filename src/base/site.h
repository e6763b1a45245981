/* site.h - what is the site's, and what nobody but the user may read. */
#ifndef SP_SITE_H
#define SP_SITE_H

#include <stddef.h>

/* What the site's administrators say: the variable's value when it is set, else
 * the path behind `key` in site.conf. 0 when there is none. (site.c) */
int sp_site_path(char *out, size_t size, const char *key, const char *variable);

/* What stands behind `key` in the text of such a file: a path from the root or
 * a server's URI, nothing that depends on where one stands. (site.c) */
int sp_site_line(char *out, size_t size, const char *text, const char *key);

/* Does it lie in one of the user's directories? Then nobody else may read it,
 * whatever the umask says. (dirs.c) */
int sp_is_users_own(const char *path);

#endif
