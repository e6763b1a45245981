/* fuzz_smtx.c - a Deep Learning Matrix Collection file from any bytes. */
#include "fuzz.h"

FUZZ_READER(sp_smtx_parse, "fuzz.smtx")
