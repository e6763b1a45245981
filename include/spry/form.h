/* form.h - the forms in which a network can run, and its export as C. */
#ifndef SPRY_FORM_H
#define SPRY_FORM_H

#include "spry/matrix.h"
#include "spry/network.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== advanced ==== */

/* The i-th form's name and one line about it, or NULL past the last. With its
 * parameters a form is one line of text (inference.h). */
const char *spry_form_name(int i);
const char *spry_form_help(int i);

/* Write DIR/NAME.c and NAME.h: the network with its weights as C that needs
 * nothing but the C library. SPRY_USAGE when NAME is not an identifier or the
 * network has more edges than a compiler can handle. */
spry_status spry_network_export(const spry_network *n, const char *dir,
                                const char *name);

#ifdef __cplusplus
}
#endif
#endif
