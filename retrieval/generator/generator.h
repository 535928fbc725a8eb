/* generator.h - a language model as retrieval sees it: pieces of a prompt go in, text comes out.
 *
 *     generator_layout *l;
 *     generator_stream *s;
 *     generator_lay_out(g, &prompt, &l, &err);         // which contexts fit, and in which order
 *     generator_start(g, l, &(generator_options){.max_tokens = 256}, &s, NULL, &err);
 *     generator_event ev;
 *     do {
 *         generator_next(s, -1, &ev, &text);           // appends what is new to text
 *     } while (!ev.done);
 *     generator_stream_free(s);                        // cancels what still runs
 *     generator_layout_free(l);
 *
 * What a token is, how a prompt is wrapped for a model and what is kept of it for later prompts is
 * behind this; here tokens are counted, no more. The model of this process is one implementation
 * (retrieval/local); docs/adding-a-generator.md says how to write another. */
#ifndef FORAGE_RETRIEVAL_GENERATOR_H
#define FORAGE_RETRIEVAL_GENERATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "kernels/buf.h"
#include "kernels/error.h"
#include "kernels/notice.h"

typedef struct generator generator;               /* any thread */
typedef struct generator_layout generator_layout; /* immutable */
typedef struct generator_stream generator_stream; /* one consumer; cancel from any thread */

/* ---- which --------------------------------------------------------------------------------- */

typedef struct generator_info {
    const char *name;              /* as answers name it; the generator's */
    unsigned char fingerprint[32]; /* of all that decides what it writes: part of caches' keys */
    uint64_t n_parameters;         /* chooses the instructions */
    size_t window;                 /* tokens of prompt and answer together */
} generator_info;

/* What the service tells a generator that is being opened. */
typedef struct generator_place {
    const char *home;        /* a folder to keep files in, below a name of its own; NULL: none */
    int n_threads;           /* < 1: as many as it likes */
    uint64_t reserved_bytes; /* what stands beside it: counted when memory is */
    fo_notices notices;      /* of what is gone on from; until it is closed */
} generator_place;

/* What the service is to open: made by an implementation, such as local_generator(). {0}: none. */
typedef struct generator_source {
    int (*open)(generator **out, const void *options, const generator_place *at, fo_err *err);
    const void *options; /* the implementation's; must live until it is opened */
} generator_source;

/* ---- a prompt ------------------------------------------------------------------------------ */

/* The words around contexts and question. A generator may keep what it makes of them under their
 * address: they are constants of the program. */
typedef struct prompt_instructions {
    const char *system;
    const char *before_contexts, *after_contexts; /* at the head of the user's first message */
    const char *before_question, *after_question; /* in the user's last message */
} prompt_instructions;

typedef struct prompt_text {
    const char *text; /* may hold anything: it is never searched for control tokens */
    size_t len;
} prompt_text;

typedef struct prompt_turn {
    bool assistant; /* else the user's */
    const char *text;
} prompt_turn;

/* In the order in which a model reads it. Everything is the caller's and read in
 * generator_lay_out alone. */
typedef struct generator_prompt {
    const prompt_instructions *instructions;
    /* Best first. Each is read by itself and may be met again in other prompts, at another place
     * and in other company: what was computed of it can be used again. */
    const prompt_text *contexts;
    size_t n_contexts;
    const prompt_turn *turns; /* earlier ones, oldest first */
    size_t n_turns;
    /* Turns stand before the contexts, not behind them: so what was computed of them serves the next
     * turn, whatever it is about. */
    bool turns_first;
    const char *question;
    size_t max_contexts;    /* of them in the prompt */
    size_t max_tokens;      /* of the answer: room kept free */
    size_t budget;          /* tokens of the prompt at most */
    bool cached_first;      /* order contexts by what is kept of them, where that is known */
    unsigned char salt[32]; /* of the tenant: nothing is shared but where it is equal */
} generator_prompt;

/* What of a prompt fits, made by prompt_fit.h. */
struct generator_layout {
    generator *generator;
    size_t *order; /* [n_used]: contexts in the order of the prompt, as indices into the prompt's */
    size_t n_used;
    size_t n_dropped;                   /* contexts left out for want of room */
    size_t n_turns_dropped;             /* turns left out, the oldest */
    bool cut;                           /* the first context alone was too long and lost its end */
    size_t n_tokens;                    /* of the whole prompt */
    size_t head_tokens, context_tokens; /* of it: before the contexts; of all contexts */
};

/* FO_ELIMIT where not even the question fits. FO_ENOMEM. Nothing is asked of a model or a network
 * yet. */
int generator_lay_out(generator *g, const generator_prompt *p, generator_layout **out, fo_err *err);
void generator_layout_free(generator_layout *l); /* NULL is fine */

/* ---- text ---------------------------------------------------------------------------------- */

/* What a prompt may take of what others computed, and leave to others. Numbers are stored. */
enum generator_reuse {
    REUSE_EXACT, /* whatever changes no bit of the answer */
    REUSE_CHUNK, /* the same, and contexts met at another place, which is close and not exact */
    REUSE_OFF,   /* neither take nor leave anything */
};
extern const char *const generator_reuse_names[]; /* by generator_reuse; NULL ends them */

/* How a diffusion model writes: docs/diffusion.md. */
typedef struct generator_diffusion {
    bool
        asked; /* false: the model's own choice of everything, and the rest counts for nothing. True: a
                   model that writes token by token refuses it */
    /* negative: the model's own */
    int steps, block_length, refresh;
    int remasking, kv; /* indices into the names below */
    int verify;        /* 0 or 1 */
    double eps, guidance, threshold;
} generator_diffusion;
extern const char *const generator_remasking_names[]; /* NULL ends them */
extern const char *const generator_diffusion_kv_names[];

/* Which share of its KV a written answer keeps: docs/sparse.md. */
typedef struct generator_sparse {
    bool asked; /* false: the model's own choice of everything, and the rest counts for nothing */
    /* negative: the model's own */
    double retention;
    int delay, block, sink, window, refresh;
} generator_sparse;

/* What an answer held of KV, in tokens; retention 0 or 1: all of it. */
typedef struct generator_held {
    double retention;
    size_t peak_tokens, end_tokens;
} generator_held;

typedef struct generator_options {
    size_t max_tokens; /* of the answer */
    double temperature;
    double top_p; /* 0: 1 */
    int top_k;    /* 0: all */
    double min_p; /* 0: all */
    double presence_penalty, frequency_penalty;
    double repetition_penalty; /* 0: 1, which is none */
    uint64_t seed;
    const char *const *stop; /* strings that end it (stop_match_check); no part of the text */
    size_t n_stop;
    int priority;        /* -100 .. 100; higher is sooner */
    int64_t deadline_ms; /* from now, by which it should be done; 0: none */
    enum generator_reuse reuse;
    double expected_uses; /* of its prompt by later ones (a sketch's estimate) */
    bool no_lookup;       /* guess nothing ahead; the text is the same */
    bool drop_kv;         /* keep nothing of it for later prompts */
    generator_diffusion diffusion;
    generator_sparse sparse;
    bool prefill_only; /* read the prompt, to have it at hand later; write nothing */
    /* With prefill_only: read to the end of the contexts alone, only while there is nothing else
     * to do. */
    bool background;
} generator_options;

typedef struct generator_usage {
    size_t prompt_tokens, completion_tokens;
    /* Of the prompt: not computed because it was kept = prefix_tokens (bit for bit) + chunk_tokens
     * (contexts moved to their place) - recomputed_tokens (of chunk_tokens, computed again). */
    size_t cached_tokens;
    size_t prefix_tokens, chunk_tokens, recomputed_tokens;
    size_t disk_tokens;  /* of prefix_tokens and chunk_tokens: read back from disk */
    bool disk_asked;     /* something was looked for on disk */
    const char *kv_note; /* static: why REUSE_CHUNK was served as REUSE_EXACT, or what of the KV is
                           approximate; NULL or "": none */
    generator_held held;
    size_t passes; /* of a diffusion model over its canvas; 0: written token by token */
} generator_usage;

typedef struct generator_event {
    bool done;
    int error; /* FO_*; 0: none */
    char message[200];
    const char *finish_reason; /* static, once done: "stop", "stop_sequence", "length", "cancelled",
                                  "timeout", "error" */
    int stop_index;            /* of the stop string that ended it, -1 */
    generator_usage usage;     /* so far */
    double queue_ms, prefill_ms, decode_ms, first_token_ms; /* first_token: since the start */
} generator_event;

/* The layout may be freed once this returns. FO_EINVAL (names the field), FO_ELIMIT (does not fit),
 * FO_EBUSY with *retry_after_ms (may be NULL) where it refuses for load. */
int generator_start(generator *g, const generator_layout *l, const generator_options *o,
                    generator_stream **out, int64_t *retry_after_ms, fo_err *err);
/* Wait for news at most timeout_ms (< 0: for ever, 0: look). Appends new text, whole code points
 * with nothing of a stop string, to *text (NULL: thrown away). True when there was news. */
bool generator_next(generator_stream *s, int timeout_ms, generator_event *ev, fo_buf *text);
/* It ends soon, and *ev says "cancelled" then, or what ended it before. */
void generator_cancel(generator_stream *s);
void generator_stream_free(generator_stream *s); /* cancels first; NULL is fine */

/* ---- the generator ------------------------------------------------------------------------- */

const generator_info *generator_get_info(const generator *g);
/* Can it be asked now? Where not, documents answer for themselves. */
bool generator_ready(const generator *g);

/* Can it still be asked? FO_EIO where what it was made of was lost under it, such as the file of its model: err names that,
 * and it refuses everything until it is opened anew. Any thread. */
int generator_intact(const generator *g, fo_err *err);

/* What is kept of contexts that were read, in pages. */
typedef struct generator_kept {
    uint64_t budget_bytes; /* of the tier that holds them longest */
    uint64_t page_bytes;
    size_t page_tokens; /* at least 1 */
} generator_kept;
/* False: it keeps nothing, and reading ahead is of no use. */
bool generator_get_kept(generator *g, generator_kept *out);

/* Every layout and stream must have been freed before. NULL is fine. */
void generator_close(generator *g);

/* ---- for implementations ------------------------------------------------------------------- */

/* An implementation's own structures begin with these; what the functions above promise, its
 * functions keep. */
typedef struct generator_methods {
    int (*lay_out)(generator *g, const generator_prompt *p, generator_layout **out, fo_err *err);
    void (*layout_free)(generator_layout *l); /* all of it, its order[] too */
    int (*start)(generator *g, const generator_layout *l, const generator_options *o,
                 generator_stream **out, int64_t *retry_after_ms, fo_err *err);
    bool (*next)(generator_stream *s, int timeout_ms, generator_event *ev, fo_buf *text);
    void (*cancel)(generator_stream *s);
    void (*stream_free)(generator_stream *s);
    bool (*ready)(const generator *g);                   /* NULL: always */
    int (*intact)(const generator *g, fo_err *err);      /* NULL: always */
    void (*get_kept)(generator *g, generator_kept *out); /* NULL: it keeps nothing */
    void (*close)(generator *g);
} generator_methods;

struct generator {
    const generator_methods *methods;
    generator_info info;
};

struct generator_stream {
    generator *generator;
};

#endif
