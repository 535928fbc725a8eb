/* weight_changes.h - other encoders out of one whose weights are there already: of each model that was trained from it, only what
 * differs is kept.
 *
 *     gguf *file;
 *     weights_changed(&file, model_gguf(encoder), &changes, 1, pool, &err);
 *     model_open_gguf(&other, file, "the cross-encoder", &options, &err);     // the file is the model's now
 *
 * A file of changes is a GGUF file. "NAME.lora_a" [rank][columns] and "NAME.lora_b" [rows][rank] are added to the
 * matrix NAME as b a (low-rank adaptation: Hu and others, LoRA, 2021); any other tensor whose name and size are the
 * encoder's takes that one's place; the rest is for whoever reads the file. */
#ifndef FORAGE_ENGINE_WEIGHT_CHANGES_H
#define FORAGE_ENGINE_WEIGHT_CHANGES_H

#include "engine/gguf/gguf.h"
#include "kernels/error.h"
#include "kernels/pool.h"

/* *out: `base` with all n sets of changes, one upon the other; it shares with base what none of them changes, and ends before it.
 * Matrices are packed again in their own types, those of fewer than eight bits a value as Q8_0: a change is smaller than a
 * step of four bits. A few hundredths of a second on `pool`. FO_ECORRUPT (changes of what base has not, or that do not fit it),
 * FO_ENOMEM. */
int weights_changed(gguf **out, const gguf *base, const gguf *const *changes, size_t n,
                    fo_pool *pool, fo_err *err);

#endif
