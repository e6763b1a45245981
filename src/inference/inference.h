/* inference.h - the family of networks: a batch of inputs through one. */
#ifndef SP_INFERENCE_H
#define SP_INFERENCE_H

#include "family/family.h"
#include "spry/inference.h"

extern const sp_family sp_family_inference;

#endif
