/* builtin_changes.h - other encoders out of the reader's weights: the binary holds the reader once, and for each
 * model that was trained from it (or that it was trained from) only what differs.
 *
 * A file of changes is a GGUF file. "NAME.lora_a" [rank][columns] and "NAME.lora_b" [rows][rank] are added to the
 * reader's matrix NAME as b a (low-rank adaptation: Hu and others, LoRA, 2021); any other tensor whose name and
 * size are the reader's takes that one's place; the rest is for whoever reads the file. */
#ifndef FORAGE_ENGINE_BUILTIN_CHANGES_H
#define FORAGE_ENGINE_BUILTIN_CHANGES_H

#include <stddef.h>

#include "engine/gguf/gguf.h"
#include "kernels/error.h"
#include "kernels/pool.h"

/* *out: the reader's GGUF file with all n sets of changes, one upon the other, *size bytes, 64-aligned, the caller's to free. Matrices are
 * packed again in the reader's own types. A few hundredths of a second on `pool`. FO_ECORRUPT (changes of what
 * the reader has not, or that do not fit it), FO_ENOMEM. */
int builtin_changed(void **out, size_t *size, const gguf *const *changes, size_t n, fo_pool *pool,
                    fo_err *err);

#endif
