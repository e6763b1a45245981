/* fuzz_npz.c - SciPy's .npz from any bytes. */
#include "fuzz.h"

FUZZ_READER(sp_npz_parse, "fuzz.npz")
