#include "engine/generate/chunk_task.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum stage {
    STAGE_OUT,
    STAGE_EXACT,
    STAGE_LEAD,
    STAGE_ALONE,
    STAGE_HEAD,
    STAGE_PLACE,
    STAGE_ASK,
    STAGE_ANSWER,
    STAGE_WARM
};

enum { STEP_WORTH_TOKENS = 32 }; /* what a further step costs beside its rows */

typedef struct chunk {
    kv_chunk_range at;
    unsigned char key[32];
    int lead;           /* tokens of the lead that its KV is computed behind */
    bool known;         /* on admission */
    bool from_disk;     /* its KV was read from there for this task */
    kv_store_ref ref;   /* its KV while it waits to be placed: the store's, */
    unsigned char *own; /* or computed by this task; both NULL: not there */
} chunk;

struct chunk_task {
    chunk_world *w;
    /* immutable after creation */
    int n_prefix, n_body, n_prompt, n_chunks;
    double share, expected_uses;
    bool warm, keep_blocks, drops;
    chunk *chunks;
    int32_t *body; /* [n_body]: the prompt without its tail */
    /* the state */
    enum stage stage;
    chunk_stream whole; /* prompt and answer so far, while the stream is another */
    int32_t *alone;     /* [n_alone]: prefix, lead, room for the longest chunk */
    int n_alone;
    int current;         /* chunk that is computed alone */
    int n_own;           /* of prefix and lead: its blocks, or some of them, are this task's */
    int n_before;        /* of the prompt, as the scheduler told kv (kv_seq_return) */
    bool decided, moves; /* once decided, it stays so: an answer must not change in the middle */
    int first;           /* chunk that is placed, and all after it */
    uint64_t *attention; /* [n_body] */
    bool chosen;
    int32_t *rows; /* [n_rows], n_done of them are computed */
    int n_rows, n_done;
    const char *note;
};

static int end_of(const chunk *c) {
    return c->at.start + c->at.n;
}

static size_t bytes_of(const chunk_task *t, const chunk *c) {
    return (size_t)c->at.n * kv_layout_token_bytes(&t->w->layout);
}

int chunk_task_create(chunk_task **out, chunk_world *w, const chunk_task_options *o, fo_err *err) {
    chunk_task *t = calloc(1, sizeof *t);
    if (!t) return fo_no_memory(err);
    int longest = 0;
    for (int i = 0; i < o->n_chunks; i++)
        if (o->chunks[i].n > longest) longest = o->chunks[i].n;
    const kv_chunk_range *last = &o->chunks[o->n_chunks - 1];
    t->w = w;
    t->n_prefix = o->n_prefix;
    t->n_body = last->start + last->n;
    t->n_prompt = o->n_prompt;
    t->n_chunks = o->n_chunks;
    t->share = o->share;
    t->expected_uses = o->expected_uses;
    t->warm = o->warm;
    t->keep_blocks = o->keep_blocks;
    t->drops = o->drops;
    t->note = "";
    size_t n = (size_t)t->n_body;
    t->chunks = calloc((size_t)o->n_chunks, sizeof *t->chunks);
    t->body = malloc(n * sizeof *t->body);
    t->rows = malloc(n * sizeof *t->rows);
    t->attention = calloc(n, sizeof *t->attention);
    t->n_alone = o->n_prefix + w->n_lead + longest;
    t->alone = malloc((size_t)t->n_alone * sizeof *t->alone);
    int rc =
        t->chunks && t->body && t->rows && t->attention && t->alone ? FO_OK : fo_no_memory(err);
    if (!rc) { /* a name is made of what stands before the chunk, too */
        memcpy(t->alone, o->prompt, (size_t)o->n_prefix * sizeof *t->alone);
        memcpy(t->alone + o->n_prefix, w->lead, (size_t)w->n_lead * sizeof *t->alone);
    }
    for (int i = 0; i < o->n_chunks && !rc; i++) {
        chunk *c = &t->chunks[i];
        c->at = o->chunks[i];
        c->lead = chunk_lead_of(w->n_lead, o->n_prefix, c->at.n, w->capacity);
        kv_chunk_key(c->key, model_get_info(w->model)->fingerprint, &w->layout, o->salt, t->alone,
                     (size_t)(o->n_prefix + c->lead), o->prompt + c->at.start, (size_t)c->at.n);
    }
    if (rc) {
        chunk_task_free(t);
        return rc;
    }
    memcpy(t->body, o->prompt, n * sizeof *t->body);
    *out = t;
    return FO_OK;
}

static void let_go(chunk_task *t, chunk *c) {
    if (c->ref.data) kv_store_release(t->w->store, &c->ref);
    c->ref = (kv_store_ref){0};
    free(c->own);
    c->own = NULL;
}

static void let_all_go(chunk_task *t) {
    for (int i = 0; i < t->n_chunks; i++) let_go(t, &t->chunks[i]);
}

void chunk_task_free(chunk_task *t) {
    if (!t) return;
    if (t->chunks) let_all_go(t);
    free(t->chunks);
    free(t->body);
    free(t->rows);
    free(t->attention);
    free(t->alone);
    free(t);
}

void chunk_task_keep_lead(chunk_task *t) {
    t->drops = false;
}

void chunk_task_forget(chunk_task *t, const unsigned char salt[32]) {
    if (!t->drops || !t->n_own) return;
    memcpy(t->alone + t->n_prefix, t->w->lead, (size_t)t->w->n_lead * sizeof *t->alone);
    kv_cache_forget(t->w->cache, salt, t->alone, t->n_own);
}

/* ---- the store ------------------------------------------------------------------------------ */

int chunk_task_stored(const chunk_task *t, unsigned char *names, int max) {
    int n = 0;
    for (int i = 0; i < t->n_chunks && n < max && !t->warm; i++)
        if (kv_store_contains(t->w->store, t->chunks[i].key))
            memcpy(names + 32 * n++, t->chunks[i].key, 32);
    return n;
}

/* Into the store, where it may be declined: then next time again. */
static void put(chunk_task *t, const chunk *c, const void *bytes, bool ram_only) {
    kv_store_item item = {.key = c->key,
                          .kind = KV_STORE_CHUNK,
                          .n_tokens = c->at.n,
                          .reuse = t->expected_uses,
                          .ram_only = ram_only};
    (void)kv_store_put(t->w->store, &item, bytes, bytes_of(t, c), NULL);
}

/* A record that does not fit what its name says is dropped like one that is not there. */
static bool fetch(chunk_task *t, chunk *c) {
    kv_store *store = t->w->store;
    if (kv_store_get(store, KV_STORE_CHUNK, c->key, &c->ref, NULL) != FO_OK) {
        c->ref = (kv_store_ref){0};
        return false;
    }
    if (c->ref.n_bytes == bytes_of(t, c) && c->ref.n_tokens == c->at.n) {
        c->from_disk = c->from_disk || c->ref.from_disk;
        put(t, c, c->ref.data, false); /* used twice: worth a write, if it is not on disk */
        return true;
    }
    kv_store_release(store, &c->ref);
    c->ref = (kv_store_ref){0};
    kv_store_drop(store, c->key);
    return false;
}

/* Where a chunk's KV stands that was computed alone. */
static int alone_at(const chunk_task *t, const chunk *c) {
    return t->n_prefix + c->lead;
}

/* The chunk was computed alone: into the store, and (keep) into the task's hands. Written is what
 * was computed before, or is expected to be asked for. */
static int give(chunk_task *t, chunk *c, const kv_seq *kv, bool keep, fo_err *err) {
    unsigned char *bytes = malloc(bytes_of(t, c));
    if (!bytes) return fo_no_memory(err);
    int unused;
    kv_chunk_take(kv_cache_pages(t->w->cache), kv_seq_pages(kv, &unused), alone_at(t, c), c->at.n,
                  bytes);
    bool again = kv_cache_met(t->w->cache, c->key);
    put(t, c, bytes, !again && !t->keep_blocks && t->expected_uses <= 1);
    if (keep)
        c->own = bytes;
    else
        free(bytes);
    return FO_OK;
}

/* ---- stages --------------------------------------------------------------------------------- */

static int head_end(const chunk_task *t) {
    return t->chunks[t->first].at.start;
}

/* Moved tokens, none of which saw what stands before it now. */
static int ranges(const chunk_task *t, kv_chunk_range *out) {
    for (int i = t->first; i < t->n_chunks; i++) out[i - t->first] = t->chunks[i].at;
    return t->n_chunks - t->first;
}

static int enter_head(chunk_task *t, kv_seq *kv, chunk_stream *s, fo_err *err);

/* What stands before the chunk is there. Its blocks are this task's own: the record is enough. */
static void enter_chunk(chunk_task *t, kv_seq *kv, chunk_stream *s) {
    const chunk *c = &t->chunks[t->current];
    t->stage = STAGE_ALONE;
    *s = (chunk_stream){t->alone, alone_at(t, c) + c->at.n};
    kv_seq_diverge(kv);
}

/* The next chunk that has to be computed alone, or what comes after. */
static int enter_alone(chunk_task *t, kv_seq *kv, chunk_stream *s, fo_err *err) {
    int i = t->warm ? t->current + 1 : t->first, attached;
    while (i < t->n_chunks && (t->warm ? kv_store_contains(t->w->store, t->chunks[i].key)
                                       : t->chunks[i].ref.data || t->chunks[i].own))
        i++;
    if (i >= t->n_chunks) return enter_head(t, kv, s, err);
    const chunk *c = &t->chunks[i];
    const int start = alone_at(t, c), page_tokens = t->w->layout.page_tokens;
    t->current = i;
    memcpy(t->alone + t->n_prefix, t->w->lead, (size_t)c->lead * sizeof *t->alone);
    memcpy(t->alone + start, t->body + c->at.start, (size_t)c->at.n * sizeof *t->alone);
    *s = (chunk_stream){t->alone, start + c->at.n};
    kv_seq_truncate(kv, 0);
    if (t->drops) kv_seq_return(kv, t->n_own);
    int rc = kv_seq_attach(kv, s->tokens, start + 1, &attached, err);
    if (rc) return rc;
    if (start - attached < page_tokens) return enter_chunk(t, kv, s), FO_OK;
    t->stage = STAGE_LEAD; /* its full blocks are for the other chunks, too */
    if (start > t->n_own) t->n_own = start;
    s->n_tokens = start;
    return FO_OK;
}

static int enter_head(chunk_task *t, kv_seq *kv, chunk_stream *s, fo_err *err) {
    int end = t->warm ? (t->keep_blocks ? t->n_prompt : t->n_prefix) : head_end(t), attached;
    bool was_alone = t->stage == STAGE_ALONE;
    t->stage = t->warm ? STAGE_WARM : STAGE_HEAD;
    *s = (chunk_stream){t->whole.tokens, end};
    if (was_alone || t->warm) {
        const int own = t->n_own < t->n_prefix ? t->n_own : t->n_prefix;
        if (t->drops) kv_seq_return(kv, own > t->n_before ? own : t->n_before);
        kv_seq_truncate(kv, 0); /* a head may be attached whole; of what is warmed, all but one */
        int rc = kv_seq_attach(kv, s->tokens, end + !t->warm, &attached, err);
        if (rc) return rc;
    } else if (kv_seq_tokens(kv) > end) {
        kv_seq_truncate(kv, end);
    }
    if (!t->warm && kv_seq_tokens(kv) == end) {
        t->stage = STAGE_PLACE;
        *s = t->whole;
    }
    return FO_OK;
}

/* Does it pay to put the prompt together? Counted in rows to compute. */
static bool pays(chunk_task *t, int had) {
    int n_known = 0, unknown = 0, moved = 0, exact = t->n_body - had;
    for (int i = t->first; i < t->n_chunks; i++) {
        const chunk *c = &t->chunks[i];
        n_known += c->known;
        if (!c->known) unknown += c->at.n;
        moved += c->at.n;
    }
    if (n_known == 0) {
        t->note = "its chunks are not known yet";
        return false;
    }
    if (t->share >= 1) return true; /* asked for to see that it is exact then */
    double again =
        t->share > 0 ? t->share * moved + STEP_WORTH_TOKENS + (t->n_prompt - t->n_body) : 0;
    bool gain = unknown + again < exact;
    if (!gain) t->note = "computing the rest in order costs no more than moving chunks";
    return gain;
}

/* Look the chunks up that are not attached whole. */
static void look_up(chunk_task *t, int had) {
    if (!t->decided) {
        t->first = 0;
        while (t->first < t->n_chunks && end_of(&t->chunks[t->first]) <= had) t->first++;
    }
    for (int i = t->first; i < t->n_chunks; i++) {
        bool known = fetch(t, &t->chunks[i]);
        if (t->decided) continue;
        t->chunks[i].known = known;
        t->w->lookups++;
        t->w->hits += known;
    }
}

int chunk_task_longest(const chunk_task *t) {
    return t->n_alone < t->w->capacity ? t->n_alone : t->w->capacity;
}

/* Does it compute something else than prompt and answer? Then they are in t->whole. */
static bool elsewhere(const chunk_task *t) {
    return t->stage == STAGE_LEAD || t->stage == STAGE_ALONE || t->stage == STAGE_HEAD ||
           t->stage == STAGE_ASK || t->stage == STAGE_WARM;
}

int chunk_task_tokens(const chunk_task *t, int n_tokens) {
    return elsewhere(t) ? t->whole.n_tokens : n_tokens;
}

int chunk_task_admit(chunk_task *t, kv_seq *kv, chunk_stream *s, int *n_attached, fo_err *err) {
    assert(t->stage == STAGE_OUT);
    t->whole = *s;
    t->n_done = 0;
    t->current = -1;
    t->n_before = kv_seq_returned(kv);
    if (t->warm) {
        int rc = enter_alone(t, kv, s, err);
        /* A chunk alone stands behind the prefix and a lead, which is no part of the prompt. */
        *n_attached = kv_seq_tokens(kv);
        if (t->stage != STAGE_WARM && *n_attached > t->n_prefix) *n_attached = t->n_prefix;
        return rc;
    }
    if (!t->decided || t->moves) look_up(t, kv_seq_tokens(kv));
    if (!t->decided) {
        if (t->first == t->n_chunks)
            t->note = "all of it is there as it would be computed";
        else
            t->moves = pays(t, kv_seq_tokens(kv));
        /* A first chunk that nobody knows is computed in its place: that is alone, too. */
        if (t->moves && t->first == 0 && !t->chunks[0].known) t->first = 1;
        t->decided = true;
    }
    if (t->moves) {
        if (*n_attached > head_end(t)) *n_attached = head_end(t);
        return enter_alone(t, kv, s, err);
    }
    let_all_go(t);
    t->stage = STAGE_EXACT;
    return FO_OK;
}

void chunk_task_leave(chunk_task *t, chunk_stream *s) {
    if (elsewhere(t)) *s = t->whole;
    t->stage = STAGE_OUT;
    let_all_go(t);
}

int chunk_task_places(const chunk_task *t) {
    return t->stage == STAGE_PLACE ? t->n_body - head_end(t) : 0;
}

static void enter_answer(chunk_task *t, chunk_stream *s) {
    t->stage = STAGE_ANSWER;
    *s = t->whole;
}

int chunk_task_place(chunk_task *t, kv_seq *kv, chunk_stream *s, fo_err *err) {
    int n_pages;
    const int32_t *table = kv_seq_pages(kv, &n_pages);
    kv_seq_diverge(kv);
    for (int i = t->first; i < t->n_chunks; i++) {
        chunk *c = &t->chunks[i];
        int rc = kv_chunk_place(t->w->model, kv_cache_pages(t->w->cache), table, c->at.start,
                                c->at.n, c->own ? c->own : c->ref.data, alone_at(t, c), err);
        if (rc) return rc;
        kv_seq_commit(kv, t->body + c->at.start, c->at.n);
        let_go(t, c);
    }
    if (t->chosen || t->share <= 0) {
        enter_answer(t, s);
        return FO_OK;
    }
    t->stage = STAGE_ASK;
    memset(t->attention, 0, (size_t)t->n_body * sizeof *t->attention);
    s->n_tokens = t->n_prompt;
    return FO_OK;
}

/* The tail was computed over the stale cache: now it is known what matters to it. */
static int choose(chunk_task *t, kv_seq *kv, chunk_stream *s, fo_err *err) {
    kv_chunk_range *r = malloc((size_t)t->n_chunks * sizeof *r);
    if (!r) return fo_no_memory(err);
    int n = ranges(t, r);
    kv_chunk_weigh(t->attention, r, n);
    t->n_rows = kv_chunk_select(t->attention, r, n, t->share, t->rows);
    free(r);
    t->chosen = true;
    kv_seq_truncate(kv, t->n_body);
    enter_answer(t, s);
    return FO_OK;
}

int chunk_task_again(const chunk_task *t) {
    return t->stage == STAGE_ANSWER ? t->n_rows - t->n_done : 0;
}

void chunk_task_sequence(chunk_task *t, int n_again, int32_t *room, model_sequence *s) {
    if (t->stage == STAGE_ASK) {
        s->attention = t->attention;
        s->n_attention = t->n_body;
        kv_chunk_layers(t->w->layout.n_layers, s->attention_layers);
        s->layers = s->attention_layers[1];
    }
    if (n_again == 0) return;
    int n = n_again + s->n_tokens;
    int32_t *positions = room + n;
    for (int i = 0; i < n_again; i++) {
        positions[i] = t->rows[t->n_done + i];
        room[i] = t->body[positions[i]];
    }
    for (int i = 0; i < s->n_tokens; i++) {
        positions[n_again + i] = s->start + i;
        room[n_again + i] = s->tokens[i];
    }
    s->tokens = room;
    s->positions = positions;
    s->n_tokens = n;
}

int chunk_task_commit(chunk_task *t, kv_seq *kv, int n_again, chunk_stream *s, bool *changed,
                      fo_err *err) {
    enum stage before = t->stage;
    int rc = FO_OK;
    *changed = false;
    t->n_done += n_again;
    if (kv_seq_tokens(kv) < s->n_tokens) return FO_OK;
    if (before == STAGE_LEAD) {
        *changed = true;
        enter_chunk(t, kv, s);
    } else if (before == STAGE_ALONE) {
        *changed = true;
        rc = give(t, &t->chunks[t->current], kv, !t->warm, err);
        if (!rc) rc = enter_alone(t, kv, s, err);
    } else if (before == STAGE_HEAD) {
        *changed = true;
        t->stage = STAGE_PLACE;
        *s = t->whole;
    } else if (before == STAGE_ASK) {
        *changed = true;
        rc = choose(t, kv, s, err);
    }
    return rc;
}

int chunk_task_refresh(chunk_task *t, kv_seq *kv, chunk_stream *s, bool *changed, fo_err *err) {
    *changed = t->warm && (t->stage == STAGE_LEAD || t->stage == STAGE_ALONE) &&
               kv_store_contains(t->w->store, t->chunks[t->current].key);
    return *changed ? enter_alone(t, kv, s, err) : FO_OK;
}

bool chunk_task_is_exact(const chunk_task *t) {
    return t->stage == STAGE_EXACT || t->stage == STAGE_LEAD || t->stage == STAGE_HEAD ||
           t->stage == STAGE_WARM;
}

bool chunk_task_in_prompt(const chunk_task *t) {
    return t->stage == STAGE_EXACT || t->stage == STAGE_HEAD;
}

bool chunk_task_is_final(const chunk_task *t) {
    return t->stage == STAGE_EXACT || t->stage == STAGE_ANSWER || t->stage == STAGE_WARM;
}

chunk_task_outcome chunk_task_result(const chunk_task *t) {
    chunk_task_outcome o = {.moved = t->moves, .note = t->note};
    for (int i = 0; i < t->n_chunks; i++) {
        const chunk *c = &t->chunks[i];
        o.n_unknown += !kv_store_contains(t->w->store, c->key);
        if (t->moves && i >= t->first && c->known) {
            o.n_placed += c->at.n;
            if (c->from_disk) o.n_from_disk += c->at.n;
        }
        for (int r = 0; r < t->n_rows && c->known; r++)
            o.n_again += t->rows[r] >= c->at.start && t->rows[r] < end_of(c);
    }
    return o;
}
