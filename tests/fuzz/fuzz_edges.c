/* fuzz_edges.c - edge lists and triples from any bytes. */
#include "fuzz.h"

FUZZ_READER(sp_edges_parse, "fuzz.tsv")
