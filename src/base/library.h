/* library.h - other people's libraries, opened when they are needed. */
#ifndef SP_LIBRARY_H
#define SP_LIBRARY_H

/* The file to open: what the variable of the environment names, else the
 * usual one; NULL when the variable is "none". */
const char *sp_library_file(const char *variable, const char *usual);

/* Put the library's function of this name into *function, a pointer to a
 * function pointer; 0 when it has none. */
int sp_library_function(void *function, void *library, const char *name);

#endif
