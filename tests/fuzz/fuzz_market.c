/* fuzz_market.c - Matrix Market from any bytes. */
#include "fuzz.h"

FUZZ_READER(sp_market_parse, "fuzz.mtx")
