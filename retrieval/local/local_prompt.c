/* The fixed parts of a prompt are cut out of one rendering of the chat template:
 *
 *   [fixed 0] contexts [fixed 1] turn [fixed 2] ... turn [fixed n] question [fixed n+1]
 *
 * They depend on the instructions, the roles of the turns and, where a template says it, the date, so those of
 * prompts without turns are kept for the day; others are rendered when asked for (a fraction of a millisecond beside a
 * prefill). */
#include "retrieval/local/local_prompt.h"

#include <cjson/cJSON.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/chat/chat_prompt.h"
#include "retrieval/generator/prompt_fit.h"

#define SENTINEL                                                                                   \
    "\x02"                                                                                         \
    "forage:%zu:6b1d"                                                                              \
    "\x03"

typedef struct token_list {
    int32_t *v;
    size_t n, cap;
} token_list;

/* The fixed parts of a prompt without turns, as they are on one day. */
typedef struct plain_parts {
    /* immutable once others see it */
    const prompt_instructions *of;
    long day; /* since 1970 */
    token_list parts[3];
    /* guarded by mu */
    size_t n_users; /* and one more while it is kept: the last one frees it */
} plain_parts;

struct local_prompts {
    /* immutable */
    const tokenizer *tokenizer;
    chat_template *wrapping; /* NULL: ChatML */
    char *bos, *eos;         /* what it may call these tokens */
    fo_err chatml;           /* code 0: prompts are the template's */
    size_t window;
    pthread_mutex_t mu;
    /* guarded by mu: of the instructions that were asked for first, which are those of all as a rule */
    plain_parts *plain;
};

/* ---- tokens ------------------------------------------------------------------------------ */

static int append_tokens(token_list *l, const int32_t *v, size_t n, fo_err *err) {
    if (n > SIZE_MAX / 8 - l->n) return fo_fail(err, FO_ELIMIT, "the prompt is too long");
    if (l->n + n > l->cap) {
        size_t cap = (l->n + n) * 2 + 64;
        int32_t *more = realloc(l->v, cap * sizeof *more);
        if (!more) return fo_no_memory(err);
        l->v = more;
        l->cap = cap;
    }
    if (n) memcpy(l->v + l->n, v, n * sizeof *v);
    l->n += n;
    return FO_OK;
}

static int append_text(token_list *l, const tokenizer *t, const char *s, size_t len, unsigned flags,
                       fo_err *err) {
    int32_t *ids = NULL;
    size_t n = 0;
    if (len == 0) return FO_OK;
    int rc = tokenizer_encode_alloc(t, s, len, flags, &ids, &n, err);
    if (!rc) rc = append_tokens(l, ids, n, err);
    free(ids);
    return rc;
}

/* ---- the wrapping ------------------------------------------------------------------------ */

static bool add_message(cJSON *list, const char *role, const char *content) {
    cJSON *m = cJSON_CreateObject();
    bool ok = m && cJSON_AddStringToObject(m, "role", role) &&
              cJSON_AddStringToObject(m, "content", content);
    if (!ok || !cJSON_AddItemToArray(list, m)) return cJSON_Delete(m), false;
    return true;
}

/* A place for text; slots are counted in the order in which they are read. */
static void add_slot(fo_buf *b, size_t *slot) {
    fo_buf_printf(b, SENTINEL, (*slot)++);
}

/* Slots: the contexts, n turns and the question, or (turns_first) turns, contexts, question. The
 * contexts stand at the head of a message of the user's, the first or the last: templates without a
 * system role keep the order too. */
static cJSON *sentinel_messages(const prompt_instructions *t, const prompt_turn *turns, size_t n,
                                bool turns_first) {
    cJSON *list = cJSON_CreateArray();
    bool ok = list && add_message(list, "system", t->system);
    size_t slot = 0;
    for (size_t i = 0; ok && i <= n; i++) {
        fo_buf b = {0};
        if (i == (turns_first ? n : 0)) {
            fo_buf_str(&b, t->before_contexts);
            add_slot(&b, &slot);
            fo_buf_str(&b, t->after_contexts);
        }
        if (i == n) fo_buf_str(&b, t->before_question);
        add_slot(&b, &slot);
        if (i == n) fo_buf_str(&b, t->after_question);
        ok = !b.failed &&
             add_message(list, i < n && turns[i].assistant ? "assistant" : "user", b.data);
        fo_buf_free(&b);
    }
    if (!ok) {
        cJSON_Delete(list);
        return NULL;
    }
    return list;
}

static int render(const local_prompts *b, const chat_template *wrapping,
                  const prompt_instructions *says, const prompt_turn *turns, size_t n,
                  bool turns_first, time_t now, fo_buf *out, fo_err *why, fo_err *err) {
    cJSON *messages = sentinel_messages(says, turns, n, turns_first);
    if (!messages) return fo_no_memory(err);
    chat_template_input in = {
        .messages = messages, .add_generation_prompt = true, .bos = b->bos, .eos = b->eos};
    chat_prompt_date(&in, now);
    bool fell_back = false;
    int rc = chat_template_render_or_chatml(wrapping, &in, out, &fell_back, why, err);
    cJSON_Delete(messages);
    return rc;
}

/* Cut a rendering at its n + 2 sentinels; false where the template lost, doubled or moved one, or
 * said nothing at all (text is NULL then). */
static bool cut(char *text, size_t n_slots, char **parts) {
    if (!text) return false;
    parts[0] = text;
    for (size_t i = 0; i < n_slots; i++) {
        char slot[48];
        int len = snprintf(slot, sizeof slot, SENTINEL, i);
        char *at = strstr(parts[i], slot);
        if (!at) return false;
        *at = 0;
        if (strstr(parts[i], "forage:") && strchr(parts[i], 2)) return false;
        parts[i + 1] = at + len;
    }
    return !strchr(parts[n_slots], 2);
}

static int tokenize_fixed(const local_prompts *b, char **parts, size_t n, token_list *lists,
                          fo_err *err) {
    int rc = FO_OK;
    for (size_t i = 0; !rc && i < n; i++)
        rc = append_text(&lists[i], b->tokenizer, parts[i], strlen(parts[i]),
                         TOKENIZER_PARSE_SPECIAL, err);
    int32_t bos = tokenizer_special_id(b->tokenizer, TOKENIZER_BOS);
    if (rc || bos < 0 || !tokenizer_adds_bos(b->tokenizer) || (lists[0].n && lists[0].v[0] == bos))
        return rc;
    rc = append_tokens(&lists[0], &bos, 1, err);
    if (rc) return rc;
    memmove(lists[0].v + 1, lists[0].v, (lists[0].n - 1) * sizeof bos);
    lists[0].v[0] = bos;
    return FO_OK;
}

/* lists[n_turns + 3], zeroed; the caller frees them. */
static int fixed_parts(const local_prompts *b, const prompt_instructions *says,
                       const prompt_turn *turns, size_t n, bool turns_first, time_t now,
                       token_list *lists, fo_err *err) {
    char *parts[PROMPT_MAX_TURNS + 3];
    fo_buf text = {0};
    int rc = render(b, b->wrapping, says, turns, n, turns_first, now, &text, NULL, err);
    if (!rc && !cut(text.data, n + 2, parts)) {
        fo_buf_clear(&text);
        rc = render(b, NULL, says, turns, n, turns_first, now, &text, NULL, err);
        if (!rc && !cut(text.data, n + 2, parts))
            rc = fo_fail(err, FO_EINVAL, "the prompt could not be laid out");
    }
    if (!rc) rc = tokenize_fixed(b, parts, n + 3, lists, err);
    fo_buf_free(&text);
    return rc;
}

/* Of a template that was parsed: does it lay out the simplest prompt? Said in b->chatml where not. */
static int try_template(local_prompts *b, fo_err *err) {
    static const prompt_instructions says = {"Answer.", "", "", "", ""};
    const prompt_turn none = {0};
    char *parts[3];
    fo_buf text = {0};
    int rc = render(b, b->wrapping, &says, &none, 0, false, time(NULL), &text, &b->chatml, err);
    if (!rc && !b->chatml.code && !cut(text.data, 2, parts))
        fo_fail(&b->chatml, FO_EUNSUPPORTED,
                "the model's chat template leaves out what a message holds, or says it twice");
    fo_buf_free(&text);
    return rc;
}

static void free_plain(plain_parts *p) {
    for (size_t i = 0; p && i < 3; i++) free(p->parts[i].v);
    free(p);
}

static void give_plain_back(local_prompts *b, plain_parts *p) {
    if (!p) return;
    pthread_mutex_lock(&b->mu);
    const bool last = --p->n_users == 0;
    pthread_mutex_unlock(&b->mu);
    if (last) free_plain(p);
}

static plain_parts *find_plain(local_prompts *b, const prompt_instructions *says, long day) {
    pthread_mutex_lock(&b->mu);
    plain_parts *kept = b->plain;
    if (kept && (kept->of != says || kept->day != day)) kept = NULL;
    if (kept) kept->n_users++;
    pthread_mutex_unlock(&b->mu);
    return kept;
}

/* Where none are kept, or another day's: those go with the last prompt that is still made of them. */
static void keep_plain(local_prompts *b, plain_parts *fresh) {
    pthread_mutex_lock(&b->mu);
    plain_parts *old = b->plain;
    if (!old || (old->of == fresh->of && old->day != fresh->day)) {
        b->plain = fresh;
        fresh->n_users++;
    } else {
        old = NULL;
    }
    pthread_mutex_unlock(&b->mu);
    give_plain_back(b, old);
}

/* Those of a prompt without turns, which the caller gives back. */
static int take_plain(local_prompts *b, const prompt_instructions *says, plain_parts **out,
                      fo_err *err) {
    const time_t now = time(NULL);
    const long day = (long)(now / (24 * 60 * 60));
    if ((*out = find_plain(b, says, day))) return FO_OK;
    plain_parts *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return fo_no_memory(err);
    fresh->of = says;
    fresh->day = day;
    fresh->n_users = 1;
    *out = fresh;
    int rc = fixed_parts(b, says, NULL, 0, false, now, fresh->parts, err);
    if (!rc) keep_plain(b, fresh);
    return rc;
}

int local_prompts_create(local_prompts **out, const local_prompt_model *m, fo_err *err) {
    local_prompts *b = calloc(1, sizeof *b);
    if (!b) return fo_no_memory(err);
    pthread_mutex_init(&b->mu, NULL);
    b->tokenizer = m->tokenizer;
    b->window = m->window;
    b->bos = tokenizer_special_text(m->tokenizer, TOKENIZER_BOS);
    b->eos = tokenizer_special_text(m->tokenizer, TOKENIZER_EOS);
    int rc = b->bos && b->eos ? FO_OK : fo_no_memory(err);
    if (!m->chat_template)
        fo_fail(&b->chatml, FO_ENOTFOUND, "the model has no chat template");
    else if (!rc && chat_template_parse(&b->wrapping, m->chat_template, m->n_chat_template,
                                        &b->chatml) != FO_OK)
        b->wrapping = NULL;
    if (!rc && b->wrapping) rc = try_template(b, err);
    if (rc)
        local_prompts_free(b);
    else
        *out = b;
    return rc;
}

const char *local_prompts_chatml(const local_prompts *b) {
    return b->chatml.code ? b->chatml.msg : NULL;
}

void local_prompts_free(local_prompts *b) {
    if (!b) return;
    free_plain(b->plain);
    pthread_mutex_destroy(&b->mu);
    chat_template_free(b->wrapping);
    free(b->bos);
    free(b->eos);
    free(b);
}

/* ---- assembly ---------------------------------------------------------------------------- */

typedef struct assembly {
    local_prompts *b;
    const generator_prompt *in;
    local_layout *out;
    local_probe_fn *probe;
    void *probe_ctx;
    token_list *contexts; /* [n_contexts]: of those that are tried */
    token_list *turns;    /* [n_turns], from the first that is kept */
    size_t n_turns;       /* that are kept */
    token_list own[PROMPT_MAX_TURNS + 3];
    plain_parts *plain;      /* to give back; NULL: own are made */
    const token_list *fixed; /* [n_turns + 3]: own, or those of plain */
    token_list question;
} assembly;

static int count_turn(void *ctx, size_t i, size_t *n, fo_err *err) {
    assembly *a = ctx;
    const char *text = a->in->turns[i].text;
    int rc = append_text(&a->turns[i], a->b->tokenizer, text, strlen(text), 0, err);
    *n = a->turns[i].n;
    return rc;
}

static void forget_rest(assembly *a) {
    for (size_t i = 0; i < PROMPT_MAX_TURNS + 3; i++) a->own[i].n = 0;
    give_plain_back(a->b, a->plain);
    a->plain = NULL;
    a->question.n = 0;
}

static int count_rest(void *ctx, size_t first_turn, size_t *n, fo_err *err) {
    assembly *a = ctx;
    const generator_prompt *in = a->in;
    forget_rest(a);
    a->n_turns = in->n_turns - first_turn;
    int rc;
    if (a->n_turns) {
        rc = fixed_parts(a->b, in->instructions, in->turns + first_turn, a->n_turns,
                         in->turns_first, time(NULL), a->own, err);
        a->fixed = a->own;
    } else {
        rc = take_plain(a->b, in->instructions, &a->plain, err);
        if (!rc) a->fixed = a->plain->parts;
    }
    if (!rc)
        rc = append_text(&a->question, a->b->tokenizer, in->question, strlen(in->question), 0, err);
    if (rc) return rc;
    *n = a->question.n;
    for (size_t i = 0; i < a->n_turns + 3; i++) *n += a->fixed[i].n;
    for (size_t i = 0; i < a->n_turns; i++) *n += a->turns[first_turn + i].n;
    return FO_OK;
}

static int count_context(void *ctx, size_t i, size_t *n, fo_err *err) {
    assembly *a = ctx;
    const prompt_text *t = &a->in->contexts[i];
    int rc = append_text(&a->contexts[i], a->b->tokenizer, t->text, t->len, 0, err);
    *n = a->contexts[i].n;
    return rc;
}

static bool turns_first(const assembly *a) {
    return a->in->turns_first && a->n_turns;
}

/* Turns with what stands before each of them. */
static int append_turns(const assembly *a, token_list *all, const token_list *fixed, fo_err *err) {
    const token_list *turns = a->turns + (a->in->n_turns - a->n_turns);
    int rc = FO_OK;
    for (size_t i = 0; !rc && i < a->n_turns; i++) {
        rc = append_tokens(all, fixed[i].v, fixed[i].n, err);
        if (!rc) rc = append_tokens(all, turns[i].v, turns[i].n, err);
    }
    return rc;
}

/* All that stands before the contexts. */
static int append_head(const assembly *a, token_list *all, fo_err *err) {
    const token_list *last = turns_first(a) ? &a->fixed[a->n_turns] : a->fixed;
    int rc = turns_first(a) ? append_turns(a, all, a->fixed, err) : FO_OK;
    return rc ? rc : append_tokens(all, last->v, last->n, err);
}

/* Take next the context that makes the longest cached prefix longer; by score where none does. */
static int order_by_cache(assembly *a, fo_err *err) {
    generator_layout *out = &a->out->base;
    token_list prefix = {0};
    int rc = append_head(a, &prefix, err);
    int held = 0;
    for (size_t k = 0; !rc && k + 1 < out->n_used; k++) {
        size_t best = k, before = prefix.n;
        for (size_t i = k; !rc && i < out->n_used; i++) {
            const token_list *t = &a->contexts[out->order[i]];
            rc = append_tokens(&prefix, t->v, t->n, err);
            if (rc) break;
            int n = a->probe(a->probe_ctx, a->in->salt, prefix.v, (int)prefix.n);
            prefix.n = before;
            if (n <= held) continue;
            held = n;
            best = i;
        }
        if (rc || held <= (int)before) break; /* nothing beyond the prefix is held */
        size_t taken = out->order[best];
        memmove(out->order + k + 1, out->order + k, (best - k) * sizeof *out->order);
        out->order[k] = taken;
        rc = append_tokens(&prefix, a->contexts[taken].v, a->contexts[taken].n, err);
    }
    free(prefix.v);
    return rc;
}

static void end_piece(local_layout *out, enum generation_piece_kind kind, const token_list *all) {
    generation_piece *last = out->n_pieces ? &out->pieces[out->n_pieces - 1] : NULL;
    size_t start = last ? last->start + last->n : 0;
    out->pieces[out->n_pieces++] = (generation_piece){start, all->n - start, kind};
}

static int join(assembly *a, fo_err *err) {
    token_list all = {0};
    local_layout *out = a->out;
    out->pieces = calloc(out->base.n_used + 2, sizeof *out->pieces);
    if (!out->pieces) return fo_no_memory(err);
    int rc = append_head(a, &all, err);
    out->base.head_tokens = all.n;
    if (!rc) end_piece(out, PIECE_PREFIX, &all);
    for (size_t i = 0; !rc && i < out->base.n_used; i++) {
        const token_list *t = &a->contexts[out->base.order[i]];
        rc = append_tokens(&all, t->v, t->n, err);
        if (!rc) end_piece(out, PIECE_CHUNK, &all);
    }
    const token_list *before = &a->fixed[a->n_turns + 1], *q = &a->question;
    if (!rc && !turns_first(a)) rc = append_turns(a, &all, a->fixed + 1, err);
    if (!rc) rc = append_tokens(&all, before->v, before->n, err);
    if (!rc) rc = append_tokens(&all, q->v, q->n, err);
    const token_list *tail = &a->fixed[a->n_turns + 2];
    if (!rc) rc = append_tokens(&all, tail->v, tail->n, err);
    if (!rc) end_piece(out, PIECE_TAIL, &all);
    out->tokens = all.v;
    out->base.n_tokens = all.n;
    return rc;
}

static int assemble(assembly *a, fo_err *err) {
    generator_layout *out = &a->out->base;
    const prompt_counter count = {a, count_turn, count_rest, count_context};
    int rc = prompt_fit(out, a->in, a->b->window, &count, err);
    if (rc) return rc;
    if (out->cut) a->contexts[out->order[0]].n = out->context_tokens;
    if (a->probe && a->in->cached_first && out->n_used > 1) rc = order_by_cache(a, err);
    return rc ? rc : join(a, err);
}

static void free_assembly(assembly *a) {
    if (!a) return;
    for (size_t i = 0; a->contexts && i < a->in->n_contexts; i++) free(a->contexts[i].v);
    for (size_t i = 0; a->turns && i < a->in->n_turns; i++) free(a->turns[i].v);
    for (size_t i = 0; i < PROMPT_MAX_TURNS + 3; i++) free(a->own[i].v);
    give_plain_back(a->b, a->plain);
    free(a->question.v);
    free(a->contexts);
    free(a->turns);
    free(a);
}

int local_prompts_lay_out(local_prompts *b, const generator_prompt *p, local_probe_fn *probe,
                          void *probe_ctx, local_layout **out, fo_err *err) {
    local_layout *l = calloc(1, sizeof *l);
    assembly *a = calloc(1, sizeof *a);
    int rc = FO_OK;
    if (a) {
        a->b = b;
        a->in = p;
        a->out = l;
        a->probe = probe;
        a->probe_ctx = probe_ctx;
        a->contexts = calloc(p->n_contexts + 1, sizeof *a->contexts);
        a->turns = calloc(p->n_turns + 1, sizeof *a->turns);
    }
    if (!l || !a || !a->contexts || !a->turns) rc = fo_no_memory(err);
    if (!rc) {
        memcpy(l->salt, p->salt, sizeof l->salt);
        rc = assemble(a, err);
    }
    free_assembly(a);
    if (rc)
        local_layout_free(l);
    else
        *out = l;
    return rc;
}

void local_layout_free(local_layout *l) {
    if (!l) return;
    free(l->base.order);
    free(l->tokens);
    free(l->pieces);
    free(l);
}
