/* chunk_task.h - the way of a request through the scheduler whose prompt is put together from the
 * KV of chunks (kv_chunk.h): what it computes next, and where the rest comes from.
 *
 * The scheduler asks after every commit. Between stages the task's stream of tokens changes:
 *
 *                 nothing known behind what is attached, or no gain
 *     (admitted) ----------------------------------------------------> EXACT: the prompt, as any
 *         |                                                              other request
 *         | chunks known
 *         v
 *     LEAD: prefix and lead (chunk_lead.h), exact; where they are not attached
 *         v
 *     ALONE: behind these one unknown chunk; its KV goes into the store (once for each)
 *         v
 *     HEAD: the prompt up to the first chunk to be placed, exact
 *         v
 *     PLACE: chunks' KV is copied behind it and shifted; from here on nothing is exact or shared
 *         v
 *     ASK: the tail over the stale cache; chooses the rows that it attends to most, is forgotten
 *         v
 *     ANSWER: those rows again, in order, the tail again, and the answer
 *
 * A request to warm goes through ALONE for each unknown chunk and ends with WARM: its prompt as any
 * other request would compute it, or the prefix alone where no blocks are to be kept. Preempted, a
 * task forgets where it stood, but not which chunks it placed and which rows it chose.
 *
 * Threads: the engine's; creation and freeing: any. */
#ifndef FORAGE_ENGINE_CHUNK_TASK_H
#define FORAGE_ENGINE_CHUNK_TASK_H

#include "engine/generate/chunk_lead.h"
#include "engine/kv/kv_cache.h"
#include "engine/kv/kv_chunk.h"
#include "engine/kv/kv_store.h"
#include "engine/model/model.h"

typedef struct chunk_task chunk_task;

/* What all chunk tasks of an engine work with. */
typedef struct chunk_world {
    const model *model;
    kv_cache *cache;
    kv_layout layout;
    kv_store *store;
    int32_t lead[CHUNK_LEAD_TOKENS];
    int n_lead;
    int capacity;           /* tokens that one sequence may have */
    uint64_t lookups, hits; /* of chunks, on admission */
} chunk_world;

typedef struct chunk_task_options {
    const int32_t *prompt; /* read at creation alone */
    int n_prompt;
    int n_prefix;
    const kv_chunk_range *chunks; /* behind the prefix, without gaps */
    int n_chunks;
    unsigned char salt[32];
    double share;         /* of the moved tokens, computed again */
    double expected_uses; /* of the chunks by later requests */
    bool warm;            /* compute and store the chunks, answer nothing */
    bool keep_blocks;     /* the prompt as it is stays findable in pages, too */
    bool drops;           /* no block that it computes stays findable: chunk_task_forget */
} chunk_task_options;

/* w must outlive it. FO_ENOMEM. */
int chunk_task_create(chunk_task **out, chunk_world *w, const chunk_task_options *o, fo_err *err);
void chunk_task_free(chunk_task *t); /* NULL is fine */
/* What it computes before chunks stays for later tasks, though it drops the rest. */
void chunk_task_keep_lead(chunk_task *t);
/* It has ended, in whatever way, and its pages are given back: the blocks of prefix and lead that it computed before
 * chunks are findable no more, if it drops and nobody else has met them. */
void chunk_task_forget(chunk_task *t, const unsigned char salt[32]);

/* The names ([max][32]) of its chunks that the store has: how many. Any thread, until it is in the
 * scheduler's hands. */
int chunk_task_stored(const chunk_task *t, unsigned char *names, int max);

/* The stream that a task computes: the scheduler's task fields. */
typedef struct chunk_stream {
    int32_t *tokens;
    int n_tokens;
} chunk_stream;

/* The longest stream it may have beside prompt and answer. */
int chunk_task_longest(const chunk_task *t);

/* How long prompt and answer are so far, whatever stream (of n_tokens) it computes now. */
int chunk_task_tokens(const chunk_task *t, int n_tokens);

/* The task came into work: kv has attached *n_attached tokens of the stream. Sets the stream, and
 * lowers *n_attached to what of them is used. */
int chunk_task_admit(chunk_task *t, kv_seq *kv, chunk_stream *s, int *n_attached, fo_err *err);
/* It goes out of work, whatever its stage: the stream is prompt and answer so far again. */
void chunk_task_leave(chunk_task *t, chunk_stream *s);

/* Tokens to reserve room for and to place now; 0: none. */
int chunk_task_places(const chunk_task *t);
int chunk_task_place(chunk_task *t, kv_seq *kv, chunk_stream *s, fo_err *err);

/* Rows that stand before the end of the sequence and are to be computed again. */
int chunk_task_again(const chunk_task *t);

/* Make a sequence for model_forward out of a planned part whose stream is in s already: with the
 * next n_again rows in front (room and room + n_again + s->n_tokens: for tokens and positions), and
 * with attention added up in the ASK stage. */
void chunk_task_sequence(chunk_task *t, int n_again, int32_t *room, model_sequence *s);

/* A part was computed and committed, n_again rows of it from the list. *changed: the stream is
 * another now. */
int chunk_task_commit(chunk_task *t, kv_seq *kv, int n_again, chunk_stream *s, bool *changed,
                      fo_err *err);

/* Of one that warms: is the chunk that it computes alone known by now? Then it goes on with the
 * next one: *changed. */
int chunk_task_refresh(chunk_task *t, kv_seq *kv, chunk_stream *s, bool *changed, fo_err *err);

/* Its stream is exact: blocks may be shared with others, and others waited for. */
bool chunk_task_is_exact(const chunk_task *t);
/* Its stream is the prompt (what it attaches counts as saved). */
bool chunk_task_in_prompt(const chunk_task *t);
/* The end of its stream is to be answered (or, when it warms, the end). */
bool chunk_task_is_final(const chunk_task *t);
typedef struct chunk_task_outcome {
    bool moved;       /* chunks were placed; false: served as exact */
    int n_placed;     /* tokens whose KV came from the store */
    int n_again;      /* of these, computed again */
    int n_from_disk;  /* of these, read from disk */
    int n_unknown;    /* chunks that the store does not have */
    const char *note; /* static: why nothing was moved; "" */
} chunk_task_outcome;
chunk_task_outcome chunk_task_result(const chunk_task *t);

#endif
