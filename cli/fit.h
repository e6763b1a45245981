/* fit.h - what spry train and spry evaluate ask alike. */
#ifndef CLI_FIT_H
#define CLI_FIT_H

#include "cli.h"

/* Which records, what is held out, how long. */
extern const opt fit_options[];
/* What the command line says of them, for the library. */
spry_train_options fit_asked(void);
/* The operation or the operators that were asked for. */
const char *fit_subject(const spry_train_options *o);

#endif
