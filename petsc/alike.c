/* alike.c - products and conversions that PETSc finds by the types' names.
 *
 * What knows a SeqAIJ matrix is asked for by that name, and what it does is
 * right for ours, which is one but for its name. Without it a product is
 * refused, and a conversion is by single entries, which MATIS does not take. */
#include <petsc/private/matimpl.h>

#include "internal.h"

/* Where PETSc knows a product of SeqAIJ with another type, but that with dense
 * matrices to its right, which is ours (dense.c). */
static const char *const products_known[] = {
    "MatProductSetFromOptions_seqdense_seqaijspry_C",
    "MatProductSetFromOptions_is_seqaijspry_C",
    "MatProductSetFromOptions_seqaijspry_seqmaij_C",
    "MatProductSetFromOptions_seqaijspry_hypre_C",
    "MatProductSetFromOptions_transpose_seqaijspry_seqaijspry_C"};

/* Types that are made anew of an AIJ matrix; those that only add to one are
 * not, since we have done so already. */
static const char *const made_of_aij[] = {"seqsbaij",  "seqbaij",  "seqdense",
                                          "seqsell",   "is",       "hypre",
                                          "elemental", "scalapack"};

static PetscErrorCode add_type(char *name, size_t size, Mat M)
{
    const char *type = ((PetscObject)M)->type_name;
    PetscBool ours;

    PetscFunctionBegin;
    PetscCall(PetscStrcmp(type, MATSEQAIJSPRY, &ours));
    PetscCall(PetscStrlcat(name, "_", size));
    PetscCall(PetscStrlcat(name, ours ? MATSEQAIJ : type, size));
    PetscFunctionReturn(0);
}

/* The product as if our matrices were AIJ's; where nobody knows one it is not
 * set, and PETSc looks on. */
PetscErrorCode set_as_aij(Mat C)
{
    Mat_Product *what = C->product;
    Mat M[3] = {what->A, what->B,
                what->type == MATPRODUCT_ABC ? what->C : NULL};
    PetscErrorCode (*set)(Mat) = NULL;
    char name[256] = "MatProductSetFromOptions";

    PetscFunctionBegin;
    for (int i = 0; i < 3 && M[i]; i++)
        PetscCall(add_type(name, sizeof name, M[i]));
    PetscCall(PetscStrlcat(name, "_C", sizeof name));
    for (int i = 0; i < 3 && M[i] && !set; i++)
        PetscCall(PetscObjectQueryFunction((PetscObject)M[i], name, &set));
    if (set)
        PetscCall((*set)(C));
    PetscFunctionReturn(0);
}

static PetscErrorCode compose_conversion(Mat M, const char *type)
{
    void (*convert)(void) = NULL;
    char aij[64], ours[64];

    PetscFunctionBegin;
    PetscCall(PetscSNPrintf(aij, sizeof aij, "MatConvert_seqaij_%s_C", type));
    PetscCall(
        PetscSNPrintf(ours, sizeof ours, "MatConvert_seqaijspry_%s_C", type));
    PetscCall(PetscObjectQueryFunction((PetscObject)M, aij, &convert));
    PetscCall(PetscObjectComposeFunction((PetscObject)M, ours, convert));
    PetscFunctionReturn(0);
}

PetscErrorCode compose_alike(Mat M)
{
    enum {
        PRODUCTS_KNOWN = sizeof products_known / sizeof *products_known,
        TYPES = sizeof made_of_aij / sizeof *made_of_aij
    };

    PetscFunctionBegin;
    for (int i = 0; i < PRODUCTS_KNOWN; i++)
        PetscCall(PetscObjectComposeFunction((PetscObject)M, products_known[i],
                                             set_as_aij));
    for (int i = 0; i < TYPES; i++)
        PetscCall(compose_conversion(M, made_of_aij[i]));
    PetscFunctionReturn(0);
}
