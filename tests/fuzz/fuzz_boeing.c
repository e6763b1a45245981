/* fuzz_boeing.c - Rutherford-Boeing from any bytes. */
#include "fuzz.h"

FUZZ_READER(sp_boeing_parse, "fuzz.rua")
