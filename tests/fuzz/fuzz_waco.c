/* fuzz_waco.c - WACO's .csr from any bytes. */
#include "fuzz.h"

FUZZ_READER(sp_waco_parse, "fuzz.csr")
