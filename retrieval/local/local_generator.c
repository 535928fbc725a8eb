#include "retrieval/local/local_generator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/chat/chat_prompt.h"
#include "retrieval/local/local_prompt.h"
#include "kernels/sha256.h"

_Static_assert((int)REUSE_EXACT == KV_REUSE_EXACT && (int)REUSE_CHUNK == KV_REUSE_CHUNK &&
                   (int)REUSE_OFF == KV_REUSE_OFF,
               "both count alike");

typedef struct local {
    generator base;
    engine *engine;
    local_prompts *prompts;
} local;

typedef struct local_stream {
    generator_stream base;
    generation *generation;
} local_stream;

/* ---- prompts ------------------------------------------------------------------------------- */

static int probe(void *ctx, const unsigned char salt[32], const int32_t *tokens, int n) {
    return engine_probe(ctx, salt, tokens, n);
}

static int lay_out(generator *g, const generator_prompt *p, generator_layout **out, fo_err *err) {
    local *own = (local *)g;
    local_layout *l = NULL;
    int rc = local_prompts_lay_out(own->prompts, p, probe, own->engine, &l, err);
    if (rc) return rc;
    l->base.generator = g;
    *out = &l->base;
    return FO_OK;
}

static void layout_free(generator_layout *l) {
    local_layout_free((local_layout *)l);
}

/* ---- text ---------------------------------------------------------------------------------- */

static sampler_params sampling_of(const generator_options *o) {
    sampler_params p = sampler_params_default();
    p.temperature = (float)o->temperature;
    p.top_p = o->top_p > 0 ? (float)o->top_p : 1;
    p.top_k = o->top_k;
    p.min_p = (float)o->min_p;
    p.presence = (float)o->presence_penalty;
    p.frequency = (float)o->frequency_penalty;
    if (o->repetition_penalty > 0) p.repetition = (float)o->repetition_penalty;
    p.seed = o->seed;
    return p;
}

const diffusion_params *local_diffusion(const generator_diffusion *d, diffusion_params *room) {
    if (!d->asked) return NULL;
    *room = diffusion_params_default();
    room->steps = d->steps;
    room->block_length = d->block_length;
    room->remasking = d->remasking;
    room->eps = (float)d->eps;
    room->guidance = (float)d->guidance;
    room->threshold = (float)d->threshold;
    room->verify = d->verify;
    room->kv = d->kv;
    room->refresh = d->refresh;
    return room;
}

const sparse_params *local_sparse(const generator_sparse *s, sparse_params *room) {
    if (!s->asked) return NULL;
    *room = (sparse_params){.retention = (float)s->retention,
                            .delay = s->delay,
                            .block = s->block,
                            .sink = s->sink,
                            .window = s->window,
                            .refresh = s->refresh};
    return room;
}

generator_held local_held(const generation_event *ev) {
    return (generator_held){(double)ev->retention, ev->kv_peak_tokens, ev->kv_end_tokens};
}

static int start(generator *g, const generator_layout *layout, const generator_options *o,
                 generator_stream **out, int64_t *retry_after_ms, fo_err *err) {
    const local_layout *l = (const local_layout *)layout;
    diffusion_params diffusion;
    sparse_params sparse;
    generation_request r = {.prompt = l->tokens,
                            .n_prompt = layout->n_tokens,
                            .max_tokens = o->max_tokens,
                            .sampling = sampling_of(o),
                            .stop = o->stop,
                            .n_stop = o->n_stop,
                            .priority = o->priority,
                            .deadline_ms = o->deadline_ms,
                            .kv_reuse = (enum kv_reuse)o->reuse,
                            .pieces = l->pieces,
                            .n_pieces = l->n_pieces,
                            .background = o->background,
                            .prefill_only = o->prefill_only,
                            .no_lookup = o->no_lookup,
                            .expected_uses = o->expected_uses,
                            .drop_kv = o->drop_kv,
                            .diffusion = local_diffusion(&o->diffusion, &diffusion),
                            .sparse = local_sparse(&o->sparse, &sparse),
                            .n_logprobs = -1};
    if (o->background) { /* all but the tail */
        r.n_prompt = layout->head_tokens + layout->context_tokens;
        r.n_pieces--;
    }
    memcpy(r.salt, l->salt, sizeof r.salt);
    local_stream *s = calloc(1, sizeof *s);
    if (!s) return fo_no_memory(err);
    s->base.generator = g;
    int rc = engine_submit(((local *)g)->engine, &r, &s->generation, retry_after_ms, err);
    if (rc)
        free(s);
    else
        *out = &s->base;
    return rc;
}

static bool next(generator_stream *s, int timeout_ms, generator_event *ev, fo_buf *text) {
    generation_event e = {0};
    bool news = generation_next(((local_stream *)s)->generation, timeout_ms, &e, text) > 0;
    *ev = (generator_event){.done = e.done,
                            .error = e.error,
                            .finish_reason = e.finish_reason,
                            .stop_index = e.stop_index,
                            .usage = {.prompt_tokens = e.prompt_tokens,
                                      .completion_tokens = e.completion_tokens,
                                      .cached_tokens = e.cached_tokens,
                                      .prefix_tokens = e.prefix_tokens,
                                      .chunk_tokens = e.chunk_tokens,
                                      .recomputed_tokens = e.recomputed_tokens,
                                      .disk_tokens = e.disk_tokens,
                                      .disk_asked = e.disk_asked,
                                      .kv_note = e.kv_note,
                                      .held = local_held(&e),
                                      .passes = (size_t)e.passes},
                            .queue_ms = e.queue_ms,
                            .prefill_ms = e.prefill_ms,
                            .decode_ms = e.decode_ms,
                            .first_token_ms = e.first_token_ms};
    _Static_assert(sizeof ev->message == sizeof e.message, "a sentence has room");
    memcpy(ev->message, e.message, sizeof ev->message);
    return news;
}

static void cancel(generator_stream *s) {
    generation_cancel(((local_stream *)s)->generation);
}

static void stream_free(generator_stream *s) {
    generation_free(((local_stream *)s)->generation);
    free(s);
}

/* ---- the generator ------------------------------------------------------------------------- */

static void get_kept(generator *g, generator_kept *out) {
    engine_stats st;
    engine_get_stats(((local *)g)->engine, &st);
    uint64_t ram = st.store.ram.budget_bytes, disk = st.store.disk.budget_bytes;
    *out = (generator_kept){.budget_bytes = disk > ram ? disk : ram,
                            .page_bytes = st.kv.page_bytes,
                            .page_tokens = (size_t)st.kv.page_tokens};
}

static int intact(const generator *g, fo_err *err) {
    return engine_intact(((const local *)g)->engine, err);
}

static void close_local(generator *g) {
    local *own = (local *)g;
    local_prompts_free(own->prompts);
    engine_close(own->engine);
    free(own);
}

static const generator_methods methods = {.lay_out = lay_out,
                                          .layout_free = layout_free,
                                          .start = start,
                                          .next = next,
                                          .cancel = cancel,
                                          .stream_free = stream_free,
                                          .intact = intact,
                                          .get_kept = get_kept,
                                          .close = close_local};

/* Of the weights and the chat template. */
static void take_fingerprint(generator_info *out, const model_info *info, gguf_str chat) {
    fo_sha256 h;
    fo_sha256_begin(&h);
    fo_sha256_add(&h, info->fingerprint, sizeof info->fingerprint);
    fo_sha256_add(&h, chat.ptr, chat.len);
    fo_sha256_end(&h, out->fingerprint);
}

static int describe(local *own, fo_err *err) {
    const model_info *info = engine_model(own->engine);
    gguf_str chat; /* empty: ChatML */
    own->base.info = (generator_info){
        .name = info->name, .n_parameters = info->n_parameters, .window = (size_t)info->n_context};
    int rc = chat_prompt_source(engine_gguf(own->engine), &chat, err);
    if (rc) return rc;
    take_fingerprint(&own->base.info, info, chat);
    local_prompt_model p = {.tokenizer = engine_tokenizer(own->engine),
                            .chat_template = chat.len ? chat.ptr : NULL,
                            .n_chat_template = chat.len,
                            .window = (size_t)info->n_context};
    return local_prompts_create(&own->prompts, &p, err);
}

static int open_local(generator **out, const void *options, const generator_place *at,
                      fo_err *err) {
    engine_options m = *(const engine_options *)options;
    m.n_threads = at->n_threads;
    m.reserved_bytes = at->reserved_bytes;
    m.notices = at->notices;
    m.kv_dir = NULL;
    local *own = calloc(1, sizeof *own);
    if (!own) return fo_no_memory(err);
    own->base.methods = &methods;
    char *kv = NULL;
    int rc = FO_OK;
    if (m.kv_disk && at->home) {
        if (asprintf(&kv, "%s/kv", at->home) < 0) {
            kv = NULL;
            rc = fo_no_memory(err);
        }
        m.kv_dir = kv;
    }
    if (!rc) rc = engine_open(&own->engine, &m, err);
    if (!rc) rc = describe(own, err);
    free(kv);
    if (rc)
        close_local(&own->base);
    else
        *out = &own->base;
    return rc;
}

generator_source local_generator(const engine_options *opt) {
    if (!opt || !opt->model) return (generator_source){0};
    return (generator_source){open_local, opt};
}

engine *local_generator_engine(generator *g) {
    return g && g->methods == &methods ? ((local *)g)->engine : NULL;
}

const char *local_generator_chatml(generator *g) {
    return local_generator_engine(g) ? local_prompts_chatml(((local *)g)->prompts) : NULL;
}
