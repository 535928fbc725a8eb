/* chunk_lead.h - what stands between prefix and chunk while a chunk's KV is computed for any place.
 *
 * A chunk that is met again stands behind others nearly always. Behind the prefix alone its first
 * tokens find nothing to look at but instructions, and look at those; behind any text at all their
 * keys and values come far nearer to what the chunk's later company would have made of them, and
 * it hardly matters which text (docs/measurements/kv.md has the figures). The lead is forgotten: only the
 * chunk's KV is kept, under a name that includes it (kv_chunk_key's prefix). */
#ifndef FORAGE_ENGINE_CHUNK_LEAD_H
#define FORAGE_ENGINE_CHUNK_LEAD_H

#include <stdint.h>
#include "engine/tokenizer/tokenizer.h"

/* No more tokens than this: a vocabulary that spells everything out would make it long. */
enum { CHUNK_LEAD_TOKENS = 128 };

/* The tokens of the lead: how many. 0 where the tokenizer cannot write it. */
int chunk_lead_tokens(const tokenizer *t, int n_vocab, int32_t out[CHUNK_LEAD_TOKENS]);

/* How much of a lead of n_lead tokens a chunk gets: all, or nothing where the three together would
 * be longer than a sequence may be. */
int chunk_lead_of(int n_lead, int n_prefix, int n_chunk, int capacity);

#endif
