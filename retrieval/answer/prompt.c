/* The fixed parts of a prompt are cut out of one rendering of the chat template:
 *
 *   [fixed 0] contexts [fixed 1] turn [fixed 2] ... turn [fixed n] question [fixed n+1]
 *
 * They depend on the roles of the turns alone, so those of prompts without turns are kept; others
 * are rendered when asked for (a fraction of a millisecond beside a prefill). */
#include "retrieval/answer/prompt.h"

#include <cjson/cJSON.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/chat/chat_template.h"

enum { DEFAULT_ANSWER = 256, MAX_TURNS = 64 };
#define SENTINEL                                                                                   \
    "\x02"                                                                                         \
    "forage:%zu:6b1d"                                                                              \
    "\x03"

typedef struct token_list {
    int32_t *v;
    size_t n, cap;
} token_list;

struct prompt_builder {
    const tokenizer *tokenizer;
    chat_template *wrapping; /* NULL: ChatML */
    const prompt_template *text;
    size_t window, max_contexts;
    unsigned char fingerprint[32];
    token_list plain[3]; /* fixed parts of a prompt without turns */
};

/* ---- tokens ------------------------------------------------------------------------------ */

static int append_tokens(token_list *l, const int32_t *v, size_t n, fo_err *err) {
    if (n > SIZE_MAX / 8 - l->n) return fo_fail(err, FO_ELIMIT, "the prompt is too long");
    if (l->n + n > l->cap) {
        size_t cap = (l->n + n) * 2 + 64;
        int32_t *more = realloc(l->v, cap * sizeof *more);
        if (!more) return fo_fail(err, FO_ENOMEM, "out of memory for a prompt");
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

/* Slot 0 is the contexts, 1 .. n the turns, n + 1 the question. The contexts stand at the head of
 * the first user message: templates without a system role keep the order too. */
static cJSON *sentinel_messages(const prompt_template *t, const prompt_turn *turns, size_t n) {
    cJSON *list = cJSON_CreateArray();
    bool ok = list && add_message(list, "system", t->system);
    for (size_t i = 0; ok && i <= n; i++) {
        char slot[48];
        fo_buf b = {0};
        if (i == 0) {
            snprintf(slot, sizeof slot, SENTINEL, (size_t)0);
            fo_buf_str(&b, t->before_contexts);
            fo_buf_str(&b, slot);
            fo_buf_str(&b, t->after_contexts);
        }
        snprintf(slot, sizeof slot, SENTINEL, i + 1);
        if (i == n) fo_buf_str(&b, t->before_question);
        fo_buf_str(&b, slot);
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

static const char *special_text(const tokenizer *t, tokenizer_special which, char out[64]) {
    int32_t id = tokenizer_special_id(t, which);
    tokenizer_string s = id >= 0 ? tokenizer_piece(t, id) : (tokenizer_string){0};
    size_t n = s.len < 63 ? s.len : 63;
    if (n) memcpy(out, s.data, n);
    out[n] = 0;
    return out;
}

static int render(const prompt_builder *b, const chat_template *wrapping, const prompt_turn *turns,
                  size_t n, fo_buf *out, fo_err *err) {
    cJSON *messages = sentinel_messages(b->text, turns, n);
    if (!messages) return fo_fail(err, FO_ENOMEM, "out of memory for a prompt");
    char bos[64], eos[64];
    time_t now = time(NULL);
    struct tm day;
    gmtime_r(&now, &day);
    chat_template_input in = {.messages = messages,
                              .add_generation_prompt = true,
                              .bos = special_text(b->tokenizer, TOKENIZER_BOS, bos),
                              .eos = special_text(b->tokenizer, TOKENIZER_EOS, eos),
                              .year = day.tm_year + 1900,
                              .month = day.tm_mon + 1,
                              .day = day.tm_mday};
    bool fell_back = false;
    int rc = chat_template_render_or_chatml(wrapping, &in, out, &fell_back, NULL, err);
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

static int tokenize_fixed(const prompt_builder *b, char **parts, size_t n, token_list *lists,
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
static int fixed_parts(const prompt_builder *b, const prompt_turn *turns, size_t n,
                       token_list *lists, fo_err *err) {
    char *parts[MAX_TURNS + 3];
    fo_buf text = {0};
    int rc = render(b, b->wrapping, turns, n, &text, err);
    if (!rc && !cut(text.data, n + 2, parts)) {
        fo_buf_clear(&text);
        rc = render(b, NULL, turns, n, &text, err);
        if (!rc && !cut(text.data, n + 2, parts))
            rc = fo_fail(err, FO_EINVAL, "the prompt could not be laid out");
    }
    if (!rc) rc = tokenize_fixed(b, parts, n + 3, lists, err);
    fo_buf_free(&text);
    return rc;
}

/* ---- builder ----------------------------------------------------------------------------- */

static int take_fingerprint(prompt_builder *b, const prompt_model *m, fo_err *err) {
    EVP_MD_CTX *c = EVP_MD_CTX_new();
    const prompt_template *t = b->text;
    const char *texts[] = {t->name,           t->system,          t->before_contexts,
                           t->after_contexts, t->before_question, t->after_question};
    bool ok = c && EVP_DigestInit_ex(c, EVP_sha256(), NULL);
    for (size_t i = 0; ok && i < sizeof texts / sizeof *texts; i++)
        ok = EVP_DigestUpdate(c, texts[i], strlen(texts[i]) + 1);
    ok = ok && (!m->chat_template || EVP_DigestUpdate(c, m->chat_template, m->n_chat_template)) &&
         EVP_DigestFinal_ex(c, b->fingerprint, NULL);
    EVP_MD_CTX_free(c);
    return ok ? FO_OK : fo_no_memory(err);
}

int prompt_builder_create(prompt_builder **out, const prompt_model *m, fo_err *err) {
    prompt_builder *b = calloc(1, sizeof *b);
    if (!b) return fo_no_memory(err);
    b->tokenizer = m->tokenizer;
    b->text = prompt_template_for(m->n_parameters);
    b->window = m->window;
    b->max_contexts = m->max_contexts ? m->max_contexts : b->text->max_contexts;
    fo_err why = {0};
    if (m->chat_template &&
        chat_template_parse(&b->wrapping, m->chat_template, m->n_chat_template, &why) != FO_OK)
        b->wrapping = NULL;
    int rc = take_fingerprint(b, m, err);
    if (!rc) rc = fixed_parts(b, NULL, 0, b->plain, err);
    if (rc) {
        prompt_builder_free(b);
        return rc;
    }
    *out = b;
    return FO_OK;
}

void prompt_builder_free(prompt_builder *b) {
    if (!b) return;
    for (size_t i = 0; i < 3; i++) free(b->plain[i].v);
    chat_template_free(b->wrapping);
    free(b);
}

const prompt_template *prompt_builder_template(const prompt_builder *b) {
    return b->text;
}
const unsigned char *prompt_builder_fingerprint(const prompt_builder *b) {
    return b->fingerprint;
}

/* ---- labels ------------------------------------------------------------------------------ */

void prompt_label(char out[PROMPT_LABEL_BYTES], const prompt_context *c) {
    unsigned char h[32] = {0};
    EVP_Digest(c->text, c->len, h, NULL, EVP_sha256(), NULL);
    snprintf(out, PROMPT_LABEL_BYTES, "p%02x%02x%x", h[0], h[1], h[2] & 15);
}

ptrdiff_t prompt_label_find(const prompt_context *c, size_t n, const char *label, size_t len) {
    if (len != 6 || label[0] != 'p') return -1;
    for (size_t i = 0; i < n; i++) {
        char mine[PROMPT_LABEL_BYTES];
        prompt_label(mine, &c[i]);
        if (memcmp(mine, label, len) == 0) return (ptrdiff_t)i;
    }
    return -1;
}

static int context_tokens(const prompt_builder *b, const prompt_context *c, token_list *out,
                          fo_err *err) {
    fo_buf text = {0};
    if (b->text->labels) {
        char label[PROMPT_LABEL_BYTES];
        prompt_label(label, c);
        fo_buf_printf(&text, "[%s] ", label);
    }
    if (c->title && *c->title) fo_buf_printf(&text, "%s: ", c->title);
    size_t a = 0, z = c->len;
    while (a < z && strchr(" \t\r\n", c->text[a]) && c->text[a]) a++;
    while (z > a && strchr(" \t\r\n", c->text[z - 1]) && c->text[z - 1]) z--;
    fo_buf_add(&text, c->text + a, z - a);
    fo_buf_str(&text, "\n\n");
    int rc = text.failed ? fo_fail(err, FO_ENOMEM, "out of memory for a prompt")
                         : append_text(out, b->tokenizer, text.data, text.len, 0, err);
    fo_buf_free(&text);
    return rc;
}

/* ---- assembly ---------------------------------------------------------------------------- */

typedef struct assembly {
    prompt_builder *b;
    const prompt_input *in;
    token_list *contexts; /* [n_contexts]: of those that are tried */
    token_list *turns;    /* [n_turns], from the first that is kept */
    size_t n_turns;
    token_list fixed[MAX_TURNS + 3];
    token_list question;
} assembly;

/* The latest turns that fit a quarter of the budget, beginning with one of the user's and ending
 * with one of the assistant's (templates insist on taking turns); what breaks that is left out. */
static int choose_turns(assembly *a, size_t budget, size_t *first, fo_err *err) {
    const prompt_input *in = a->in;
    size_t used = 0, n = in->n_turns, from = n;
    bool assistant = true;
    for (size_t i = n; i-- > 0 && n - i <= MAX_TURNS;) {
        token_list t = {0};
        if (in->turns[i].assistant != assistant) break;
        int rc =
            append_text(&t, a->b->tokenizer, in->turns[i].text, strlen(in->turns[i].text), 0, err);
        used += t.n + 8;
        a->turns[i] = t;
        if (rc) return rc;
        if (used > budget / 4) break;
        if (!in->turns[i].assistant) from = i;
        assistant = !assistant;
    }
    *first = from;
    a->n_turns = n - from;
    return FO_OK;
}

static int choose_contexts(assembly *a, size_t room, prompt *out, fo_err *err) {
    const prompt_input *in = a->in;
    size_t most = a->b->max_contexts, used = 0;
    for (size_t i = 0; i < in->n_contexts && out->n_used < most; i++) {
        token_list *t = &a->contexts[i];
        int rc = context_tokens(a->b, &in->contexts[i], t, err);
        if (rc) return rc;
        if (used + t->n > room) {
            if (out->n_used > 0 || room < 32) continue; /* a shorter one may still fit */
            t->n = room;
            out->cut = true;
        }
        used += t->n;
        out->order[out->n_used++] = i;
    }
    out->n_dropped = in->n_contexts - out->n_used;
    return FO_OK;
}

/* Take next the context that makes the longest cached prefix longer; by score where none does. */
static int order_by_cache(assembly *a, prompt *out, fo_err *err) {
    token_list prefix = {0};
    int rc = append_tokens(&prefix, a->fixed[0].v, a->fixed[0].n, err);
    int held = 0;
    for (size_t k = 0; !rc && k + 1 < out->n_used; k++) {
        size_t best = k, before = prefix.n;
        for (size_t i = k; !rc && i < out->n_used; i++) {
            const token_list *t = &a->contexts[out->order[i]];
            rc = append_tokens(&prefix, t->v, t->n, err);
            if (rc) break;
            int n = a->in->probe(a->in->probe_ctx, prefix.v, (int)prefix.n);
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

static void end_piece(prompt *out, enum generation_piece_kind kind, const token_list *all) {
    generation_piece *last = out->n_pieces ? &out->pieces[out->n_pieces - 1] : NULL;
    size_t start = last ? last->start + last->n : 0;
    out->pieces[out->n_pieces++] = (generation_piece){start, all->n - start, kind};
}

static int join(assembly *a, size_t first_turn, prompt *out, fo_err *err) {
    token_list all = {0};
    out->pieces = calloc(out->n_used + 2, sizeof *out->pieces);
    if (!out->pieces) return fo_fail(err, FO_ENOMEM, "out of memory for a prompt");
    int rc = append_tokens(&all, a->fixed[0].v, a->fixed[0].n, err);
    if (!rc) end_piece(out, PIECE_PREFIX, &all);
    for (size_t i = 0; !rc && i < out->n_used; i++) {
        const token_list *t = &a->contexts[out->order[i]];
        rc = append_tokens(&all, t->v, t->n, err);
        if (!rc) end_piece(out, PIECE_CHUNK, &all);
    }
    for (size_t i = 0; !rc && i <= a->n_turns; i++) {
        const token_list *t = i < a->n_turns ? &a->turns[first_turn + i] : &a->question;
        rc = append_tokens(&all, a->fixed[i + 1].v, a->fixed[i + 1].n, err);
        if (!rc) rc = append_tokens(&all, t->v, t->n, err);
    }
    const token_list *tail = &a->fixed[a->n_turns + 2];
    if (!rc) rc = append_tokens(&all, tail->v, tail->n, err);
    if (!rc) end_piece(out, PIECE_TAIL, &all);
    out->tokens = all.v;
    out->n_tokens = all.n;
    return rc;
}

static int assemble(assembly *a, prompt *out, fo_err *err) {
    const prompt_input *in = a->in;
    size_t answer = in->max_tokens ? in->max_tokens : DEFAULT_ANSWER;
    size_t budget = in->budget ? in->budget : a->b->text->prompt_tokens, first = 0, fixed = 0;
    size_t free_window = a->b->window > answer ? a->b->window - answer : 0;
    if (budget > free_window) budget = free_window;
    int rc = choose_turns(a, budget, &first, err);
    out->n_turns_dropped = first;
    if (!rc) {
        if (a->n_turns) {
            rc = fixed_parts(a->b, in->turns + first, a->n_turns, a->fixed, err);
        } else {
            for (size_t i = 0; !rc && i < 3; i++)
                rc = append_tokens(&a->fixed[i], a->b->plain[i].v, a->b->plain[i].n, err);
        }
    }
    if (!rc)
        rc = append_text(&a->question, a->b->tokenizer, in->question, strlen(in->question), 0, err);
    if (rc) return rc;
    for (size_t i = 0; i < a->n_turns + 3; i++) fixed += a->fixed[i].n;
    for (size_t i = 0; i < a->n_turns; i++) fixed += a->turns[first + i].n;
    fixed += a->question.n;
    if (fixed > budget)
        return fo_fail_field(err, FO_ELIMIT, "query",
                             "the question takes %zu tokens with its instructions, %zu are free "
                             "beside an answer of %zu",
                             fixed, budget, answer);
    rc = choose_contexts(a, budget - fixed, out, err);
    if (!rc && in->probe && out->n_used > 1) rc = order_by_cache(a, out, err);
    return !rc ? join(a, first, out, err) : rc;
}

int prompt_build(prompt_builder *b, const prompt_input *in, prompt *out, fo_err *err) {
    *out = (prompt){0};
    assembly *a = calloc(1, sizeof *a);
    int rc = FO_OK;
    if (a) {
        a->b = b;
        a->in = in;
        a->contexts = calloc(in->n_contexts + 1, sizeof *a->contexts);
        a->turns = calloc(in->n_turns + 1, sizeof *a->turns);
        out->order = calloc(in->n_contexts + 1, sizeof *out->order);
    }
    if (!a || !a->contexts || !a->turns || !out->order)
        rc = fo_fail(err, FO_ENOMEM, "out of memory for a prompt");
    if (!rc) rc = assemble(a, out, err);
    if (a) {
        for (size_t i = 0; a->contexts && i < in->n_contexts; i++) free(a->contexts[i].v);
        for (size_t i = 0; a->turns && i < in->n_turns; i++) free(a->turns[i].v);
        for (size_t i = 0; i < MAX_TURNS + 3; i++) free(a->fixed[i].v);
        free(a->question.v);
        free(a->contexts);
        free(a->turns);
        free(a);
    }
    if (rc) prompt_deinit(out);
    return rc;
}

void prompt_deinit(prompt *p) {
    free(p->tokens);
    free(p->pieces);
    free(p->order);
    *p = (prompt){0};
}
