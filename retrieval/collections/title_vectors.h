/* title_vectors.h - what a collection's documents are about, as the encoder in the binary sees their titles.
 *
 *     title_vectors *t;
 *     if (!title_vectors_take(s, c, &t, &err) && t) {
 *         float *cosine = malloc(title_vectors_count(t) * sizeof *cosine);
 *         title_vectors_compare(t, question, cosine, &err);
 *         title_vectors_drop(t);
 *     }
 *
 * A manual page is called "uniq - report or omit repeated lines", and none of its chunks says "count how many times each
 * line occurs". An encoder sees that the two belong together, and a title is ten words where a page is thousands:
 * all titles of two thousand pages are embedded within seconds, all of their chunks within minutes (refine.h). So questions
 * meet the titles through the encoder from the first minute on, whatever embeds the chunks.
 *
 * The vectors lie in the store (store_each_title_vector) and, once a question was asked, in memory: a byte a value, 384 a
 * title. Collections of more than TITLE_VECTORS_MOST documents have none. */
#ifndef FORAGE_RETRIEVAL_TITLE_VECTORS_H
#define FORAGE_RETRIEVAL_TITLE_VECTORS_H

#include "retrieval/collections/service_internal.h"

enum { TITLE_VECTORS_MOST = 100000 };

/* Immutable (but for what has left) and counted: whoever takes it may use it from any thread until it is dropped. */
typedef struct title_vectors title_vectors;

/* Those of a collection; the first to ask reads them from the store. *out NULL: it has none, or the service has not the
 * encoder. FO_ENOMEM, the store's errors. */
int title_vectors_take(service *s, collection *c, title_vectors **out, fo_err *err);
void title_vectors_drop(title_vectors *t); /* NULL is fine */

size_t title_vectors_count(const title_vectors *t); /* NULL: 0 */
/* Another number for each set that was ever read, 0 for NULL: part of what is kept under the question. */
uint64_t title_vectors_serial(const title_vectors *t);
int64_t title_vectors_document(const title_vectors *t, size_t i); /* i < count; ascending */
/* The place of a document's title; count: it has none. */
size_t title_vectors_find(const title_vectors *t, int64_t document);

/* cosines[count], of the question with each title, to some .002; NAN of one that has left. false in *known: the question has no word that the encoder
 * has learnt, and cosines are not filled. FO_ENOMEM. */
int title_vectors_compare(const title_vectors *t, const char *question, float *cosines, bool *known,
                          fo_err *err);

/* What its vectors are of; the service's. NULL: t is, or has none. */
struct embedder *title_vectors_encoder(const title_vectors *t);

/* Embeds the titles of the collection of this row that have no vector yet, a few at a time; before each goes_on(ctx) is
 * asked, and FO_ECANCELLED returned where it says no. What is embedded is in the store, and where the collection
 * is open its next question sees it. *n: how many. FO_EUNSUPPORTED: no encoder, or a store that keeps none. */
int title_vectors_embed(service *s, const store_collection *row, bool (*goes_on)(void *ctx),
                        void *ctx, size_t *n, fo_err *err);
/* The document has another title by now, or none: its vector compares with no question that comes from here on. Any thread. */
void title_vectors_leave(service *s, collection *c, int64_t document);
/* No question of it is under way. */
void title_vectors_forget(collection *c);

#endif
