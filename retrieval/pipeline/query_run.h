/* query_run.h - what the stages of one question hand on: pipeline.c finds, answer.c answers. */
#ifndef FORAGE_RETRIEVAL_QUERY_RUN_H
#define FORAGE_RETRIEVAL_QUERY_RUN_H

#include "retrieval/answer/reading.h"
#include "retrieval/pipeline/leading.h"
#include "retrieval/pipeline/lists.h"
#include "retrieval/pipeline/query_memory.h"
#include "retrieval/pipeline/titled.h"
#include "retrieval/pipeline/whole_passages.h"

typedef struct run {
    service *s;
    const query_request *q;
    const query_sink *sink;
    query_result *out;
    fo_err *err;
    collection *c;
    search_filter *filter; /* the question's and what the asker sees; NULL: all documents */
    search_snapshot *snapshot;
    double started;
    size_t n_wanted; /* contexts that the caller gets */
    size_t top_k;    /* contexts gathered: more than wanted where a reranker chooses */
    size_t depth;
    double alpha;
    bool
        strange_script; /* of the question: the embedder has not learnt it, its vectors tell little */
    bool reads;         /* the reader orders the contexts */
    reader *reader;     /* of answers; NULL: none, or not asked for yet; owned: reader_close */
    found_lists lists;
    sought_words words;
    float *vector; /* of what is sought, by c's embedder; NULL: not embedded yet */
    titled_documents titled;
    fused_hit *fused; /* [2 * depth] */
    size_t n_fused;
    store_chunk *read; /* [n_fused]: chunks of the first n_read of fused (run_read_fused) */
    size_t n_read;
    double tail; /* cosine of the last of the dense list, NAN: none; what support is measured by */
    query_lookup lookup;
    fo_buf plain;     /* the question as plain_words.h puts it; no data: as it is */
    fo_buf spelt;     /* the question with its misspelt words mended; no data: it has none */
    char *rewritten;  /* the question with words of the turns before it; NULL: there are none */
    bool whole_again; /* ... and it stands alone */
    size_t
        n_asked; /* ... else, of it, bytes that the last turn is, before words of the others; 0: not so */
    size_t rewriting_tokens; /* that the model took for it */
    char *
        spoken_of; /* id of the document that the turns before were answered from; NULL: none is known */
    int64_t best_alone;   /* the chunk that is first but for that; 0: not known */
    const char *asked;    /* without greetings and thanks, made whole; "" where there is no more */
    const char *sought;   /* what is searched for: that, or the question */
    bool asks_command;    /* a command could be the answer, and none is named: meant_commands.h */
    leading leading;      /* chunks that belong before those with better scores */
    whole_passage *whole; /* [n_contexts]: the contexts as they are answered from */
    size_t *n_own;        /* [n_contexts]: extractive_input */
    float *meant;         /* [n_contexts]: extractive_input */
    float *near_titles;   /* [n_contexts]: extractive_input's titled */
} run;

/* The reader for this asker, r->reader: NULL where the service has none, or none that reads the language of
 * the contexts, which are there by now. */
int run_take_reader(run *r);
double run_time_left_ms(const run *r);
/* FO_ECANCELLED where the client has left, FO_ETIMEOUT where the question's time is over; into r->err. */
int run_check_alive(run *r);
/* Chunks that are only looked at, chunks[n], zeroed before. One that is damaged has id 0, as one that is gone: a question fails
 * only where such a one is among its contexts. */
int run_read_chunks(run *r, const int64_t *ids, size_t n, store_chunk *chunks);
/* The first n of r->fused, or all where they are fewer, so, into r->read: what becomes a context is not read again. */
int run_read_fused(run *r, size_t n);
void run_drop_read(run *r); /* before r->fused becomes another list */
/* A context as the makers of answers see it; pointers are the context's. */
/* Its cosine is not known where the embedder has not learnt the script of the question. */
passage run_passage(const run *r, const query_context *c);
/* idf of a snapshot, for a lexicon. */
float run_idf(void *snapshot, const char *term, size_t len);

/* Contexts to an answer: fills answer, citations, status and usage, and tells the sink. */
int run_answer(run *r);
/* Tell the sink of an answer that is there already. */
int run_emit_answer(run *r);

#endif
