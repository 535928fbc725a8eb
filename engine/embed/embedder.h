/* embedder.h - the one interface behind which every text embedder stands.
 *
 *     embedder *e;
 *     if (embedder_open(&e, "data/models/forage-embed-256.gguf", &err)) ...
 *     float *v = malloc(n * embedder_dim(e) * sizeof *v);
 *     embedder_embed(e, EMBED_QUERY, texts, lens, n, v, &err);
 *     embedder_close(e);
 *
 * Kinds of model: static tables (embed_static.c: a GGUF of architecture "forage-static", or a
 * model2vec folder) and encoders (embed_encoder.c: a GGUF of architecture bert, nomic-bert). Which
 * one a path holds is decided by what the file says, not by its name. An open embedder is immutable
 * from outside: any number of threads may use it at once. */
#ifndef FORAGE_ENGINE_EMBEDDER_H
#define FORAGE_ENGINE_EMBEDDER_H

#include <stdbool.h>
#include <stddef.h>
#include "kernels/error.h"
#include "kernels/pool.h"

typedef struct embedder embedder;

/* What the text is: some models put another prefix before questions than before passages. */
enum embed_kind { EMBED_PASSAGE, EMBED_QUERY };

/* Names, in place of a path, of what the binary holds: a static table, which embeds a hundred times as fast, and
 * an encoder (all-MiniLM-L6-v2), which knows better what is meant. */
#define EMBEDDER_TABLE   "builtin"
#define EMBEDDER_ENCODER "builtin-encoder"

/* Open `path`: NULL, "" or EMBEDDER_TABLE for the table inside the binary, EMBEDDER_ENCODER for the encoder; a
 * .gguf file; or a folder with model.safetensors + tokenizer.json + config.json (model2vec). On error *out is
 * untouched. FO_EIO, FO_ECORRUPT, FO_EUNSUPPORTED, FO_ENOMEM. */
int embedder_open(embedder **out, const char *path, fo_err *err);

/* How an encoder runs; a static table has no use for any of it. */
typedef struct embedder_options {
    fo_pool *pool; /* shared, outlives the embedder; NULL: a pool of its own, a thread a core */
    fo_pool *passage_pool; /* runs passages, so that questions do not wait for them; NULL: `pool` */
    bool exact;            /* F32 arithmetic instead of the serving path */
    const char *query_prefix, *passage_prefix; /* NULL: what the file says, else none */
} embedder_options;

int embedder_open_with(embedder **out, const char *path, const embedder_options *options,
                       fo_err *err);
/* What embedder_fingerprint will say of EMBEDDER_ENCODER, without the time and memory that opening it takes. */
void embedder_encoder_fingerprint(char hex[65]);

void embedder_close(embedder *e); /* NULL is fine; no call may be running */

const char *embedder_name(const embedder *e);        /* for people; valid until close */
const char *embedder_fingerprint(const embedder *e); /* 64 hex digits: SHA-256 over all that
                                                        decides the vectors; valid until close */
size_t embedder_dim(const embedder *e);              /* floats in a vector */

/* How it splits text; valid until close. */
const struct tokenizer *embedder_tokenizer(const embedder *e);
/* Its weights, immutable and valid until close, for others that run them; NULL: a table has none. */
struct model *embedder_model(const embedder *e);

/* Has it learnt many languages? An encoder with a unigram vocabulary has (XLM-RoBERTa, multilingual e5). */
bool embedder_has_languages(const embedder *e);

/* Has it learnt to read such text? A WordPiece vocabulary has pieces of several letters of it, not letters alone, and, of Chinese
 * and Japanese, the characters; the others are taken to have. Of what is longer some hundred bytes are looked at; true for what has
 * no letters. */
bool embedder_has_learnt(const embedder *e, const char *text, size_t len);

/* The dense side's weight in score fusion, in [0, 1]: stored with the model where it was
 * measured, else the measured default of its kind. */
float embedder_alpha(const embedder *e);

enum { EMBEDDER_NO_LIMIT = 1000000 };
/* The longest text, in tokens, that is taken whole, behind the longer of the model's prefixes; longer ones are cut at
 * their end. EMBEDDER_NO_LIMIT: none is cut, however long. */
size_t embedder_max_tokens(const embedder *e);

/* out[n_texts, dim], row-major float32. A vector has unit length, or is all zero where its text
 * has no piece (for a static table: none but [UNK]). texts[i] is lens[i] bytes of UTF-8, not
 * NUL-terminated; ill-formed bytes are taken as U+FFFD. A vector depends on its text and kind
 * alone, never on the company it is embedded in. */
int embedder_embed(embedder *e, enum embed_kind kind, const char *const *texts, const size_t *lens,
                   size_t n_texts, float *out, fo_err *err);

/* Was all that was read of its file until now given by the disk (gguf_intact)? Where it was not, every text is refused
 * with this error, FO_EIO, which names the file. Any thread. */
int embedder_intact(const embedder *e, fo_err *err);

/* Tokens of a text as the model counts them, markers such as [CLS] not included. The first
 * parameter is an embedder; it is void * so that this function serves as a counting callback.
 * Thread-safe. */
size_t embedder_count_tokens(void *e, const char *text, size_t len);

#endif
