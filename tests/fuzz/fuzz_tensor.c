/* fuzz_tensor.c - FROSTT's .tns from any bytes. */
#include "fuzz.h"

/* The unfolded matrix is what there is to check. */
static spry_status parse(spry_matrix **out, const sp_text *t)
{
    spry_tensor *made;
    spry_status s = sp_tensor_parse(&made, t);

    *out = NULL;
    if (s != SPRY_OK)
        return s;
    if (made->unfolded->rows != made->dim[0] ||
        made->unfolded->cols != made->dim[1] * made->dim[2])
        abort();
    *out = made->unfolded;
    made->unfolded = NULL;
    spry_tensor_free(made);
    return SPRY_OK;
}

FUZZ_READER(parse, "fuzz.tns")
