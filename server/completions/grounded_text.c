#include "server/completions/grounded_text.h"

#include <stdlib.h>
#include <string.h>

#include "data/chunk/chunk.h"
#include "kernels/utf8.h"
#include "retrieval/generator/prompt_templates.h"
#include "retrieval/pipeline/claims.h"
#include "server/completions/json_values.h"
#include "server/routes/query_json.h"

/* ---- the documents --------------------------------------------------------------------------- */

int grounded_text_find(grounded_text *g, openai_reply *p, app *a, fo_err *err) {
    *g = (grounded_text){.call = p->call, .app = a};
    int rc = openai_grounded_ask(&g->question, &g->turns, p, err);
    if (rc) return rc;
    query_request q = g->question;
    q.answer_by = ANSWER_BY_EXTRACTION;
    q.n_stop = 0; /* they end what the model writes */
    rc = service_query(a->service, &q, NULL, &g->found, err);
    app_charge(p->r, g->found.rewriting_tokens);
    if (rc) return rc;
    const query_result *r = &g->found;
    p->timings.retrieval_ms =
        r->ms.embed + r->ms.dense + r->ms.sparse + r->ms.fuse + r->ms.rerank + r->ms.decode;
    const generator_info *info = generator_get_info(service_generator(a->service));
    /* JSON puts several things together, so it gets a second context even where a sentence has one. */
    const size_t most = prompt_template_for(info->n_parameters)->max_contexts, least = 2;
    g->most_contexts = most > least ? most : least;
    if (g->most_contexts > r->n_contexts) g->most_contexts = r->n_contexts;
    /* Passages that do not answer keep a small model from calling the function that can. */
    if (r->status != QUERY_ANSWERED) g->most_contexts = 0;
    return FO_OK;
}

void grounded_text_deinit(grounded_text *g) {
    query_result_deinit(&g->found);
    free(g->turns);
    *g = (grounded_text){0};
}

/* ---- the prompt ------------------------------------------------------------------------------ */

static bool is_quoted(const query_result *r, size_t context) {
    for (size_t i = 0; i < r->n_citations; i++)
        if (r->citations[i].context == context) return true;
    return false;
}

/* The best n: those that the extractive answer quotes, then the others in their order. */
static void write_contexts(const query_result *r, size_t n, fo_buf *out) {
    if (n) fo_buf_str(out, "Passages:\n\n");
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; n && i < r->n_contexts; i++) {
            const store_chunk *k = &r->contexts[i].chunk;
            if (is_quoted(r, i) != (pass == 0)) continue;
            n--;
            if (k->title && *k->title) fo_buf_printf(out, "%s: ", k->title);
            fo_buf_add(out, k->text, k->text_len);
            fo_buf_str(out, "\n\n");
        }
}

static void write_question(const grounded_text *g, size_t n, fo_buf *out) {
    enum { LONGEST_SCHEMA = 16 << 10 };
    write_contexts(&g->found, n, out);
    fo_buf_printf(out, n ? "Question: %s" : "%s", g->question.query);
    if (!g->call->json) return;
    char *schema = g->call->schema ? json_tree_text(g->call->schema) : NULL;
    if (schema && strlen(schema) <= LONGEST_SCHEMA)
        fo_buf_printf(out, "\n\nAnswer with JSON alone, under this schema:\n%s", schema);
    else
        fo_buf_str(out, "\n\nAnswer with a JSON object alone.");
    free(schema);
}

/* Do the messages end with what a function gave? */
static bool tools_gave(const openai_call *c) {
    const cJSON *last = cJSON_GetArrayItem(c->messages, cJSON_GetArraySize(c->messages) - 1);
    return !strcmp(openai_text_of(last, "role"), "tool");
}

static void write_system(const grounded_text *g, fo_buf *out) {
    const cJSON *m;
    fo_buf_str(out, "You answer questions from the passages that the user gives, and from nothing "
                    "else.");
    if (g->call->json) fo_buf_str(out, " You write down what they say, in their own words.");
    const bool gave = tools_gave(g->call);
    if (!g->most_contexts) fo_buf_clear(out); /* there are no passages to speak of */
    if (gave && g->most_contexts)
        fo_buf_str(out, " A function gave a result: answer from that and the passages.");
    else if (g->call->tools.list && g->most_contexts)
        fo_buf_str(out, " Where the passages do not answer and a function can, call it.");
    cJSON_ArrayForEach(m, g->call->messages) if (!strcmp(openai_text_of(m, "role"), "system"))
        fo_buf_printf(out, out->len ? "\n\n%s" : "%s", openai_text_of(m, "content"));
}

static bool add_message(cJSON *list, const char *role, fo_buf *text) {
    cJSON *m = cJSON_CreateObject();
    bool ok = m && !text->failed && cJSON_AddStringToObject(m, "role", role) &&
              cJSON_AddStringToObject(m, "content", text->data ? text->data : "");
    fo_buf_free(text);
    return cJSON_AddItemToArray(list, m) && ok;
}

cJSON *grounded_text_messages(const grounded_text *g, size_t n, fo_err *err) {
    cJSON *list = cJSON_CreateArray();
    const cJSON *m;
    fo_buf text = {0};
    write_system(g, &text);
    bool ok = list && (!text.len || add_message(list, "system", &text));
    cJSON_ArrayForEach(m, g->call->messages) {
        if (!ok || !strcmp(openai_text_of(m, "role"), "system")) continue;
        if (openai_text_of(m, "content") == g->question.query) {
            write_question(g, n, &text);
            ok = add_message(list, "user", &text);
        } else {
            ok = cJSON_AddItemToArray(list, cJSON_Duplicate(m, true));
        }
    }
    fo_buf_free(&text);
    if (ok) return list;
    cJSON_Delete(list);
    fo_no_memory(err);
    return NULL;
}

/* ---- what was written ------------------------------------------------------------------------ */

/* One thing that the text says. */
typedef struct statement {
    const char *path; /* of a value; NULL: a sentence */
    size_t start, end;
    bool judged; /* not to be found in a text: a truth value, one of those that the schema lists */
} statement;

typedef struct statements {
    statement *list;
    service_claim *claims;
    size_t n, cap;
    json_values values;
    bool more; /* the text says more than is looked at */
    bool failed;
} statements;

static void add_statement(statements *s, statement one, service_claim claim) {
    if (s->n == s->cap) {
        size_t cap = s->cap ? 2 * s->cap : 32;
        statement *list = realloc(s->list, cap * sizeof *list);
        if (list) s->list = list;
        service_claim *claims = realloc(s->claims, cap * sizeof *claims);
        if (claims) s->claims = claims;
        if (!list || !claims) {
            s->failed = true;
            return;
        }
        s->cap = cap;
    }
    s->list[s->n] = one;
    s->claims[s->n++] = claim;
}

/* Does a schema list the text as a value, anywhere? */
static bool lists(const cJSON *schema, const char *text) {
    const cJSON *item, *value;
    cJSON_ArrayForEach(item, schema) {
        bool list = item->string && !strcmp(item->string, "enum");
        bool one = item->string && !strcmp(item->string, "const");
        const char *s = cJSON_GetStringValue(item);
        if (one && s && !strcmp(s, text)) return true;
        cJSON_ArrayForEach(value, item) {
            s = list ? cJSON_GetStringValue(value) : NULL;
            if (s && !strcmp(s, text)) return true;
        }
        if (lists(item, text)) return true;
    }
    return false;
}

static int read_values(statements *s, const cJSON *schema, const char *text, size_t len,
                       fo_err *err) {
    int rc = json_values_read(&s->values, text, len, err);
    s->more = s->values.more;
    for (size_t i = 0; !rc && i < s->values.n; i++) {
        const json_value *v = &s->values.list[i];
        bool nothing = v->kind == JSON_VALUE_WORD || !v->text[strspn(v->text, " \t\r\n")];
        bool judged = nothing || lists(schema, v->text);
        size_t n = nothing ? 0 : strlen(v->text);
        add_statement(s, (statement){v->path, v->start, v->end, judged},
                      (service_claim){v->text, n, v->kind == JSON_VALUE_NUMBER});
    }
    return rc;
}

static void read_sentences(statements *s, const char *text, size_t len) {
    for (size_t at = 0; at < len;) {
        at += strspn(text + at, " \t\r\n");
        size_t end = at < len ? sentence_end(text, len, at) : at;
        if (end <= at) break;
        if (s->n == GROUNDED_MAX_SENTENCES) {
            s->more = true;
            break;
        }
        add_statement(s, (statement){NULL, at, end, false},
                      (service_claim){text + at, end - at, false});
        at = end;
    }
}

static void write_span(json_out *o, const char *text, const statement *one) {
    json_out_open(o, NULL, '{');
    json_out_int(o, "start", (int64_t)fo_utf8_count(text, one->start));
    json_out_int(o, "end", (int64_t)fo_utf8_count(text, one->end));
    json_out_close(o, '}');
}

static void write_those(json_out *o, const char *key, const statements *s,
                        const query_citation *found, const char *text, bool judged) {
    json_out_open(o, key, '[');
    for (size_t i = 0; i < s->n; i++) {
        const statement *one = &s->list[i];
        if (found[i].quote || one->judged != judged) continue;
        if (one->path)
            json_out_string(o, NULL, one->path);
        else
            write_span(o, text, one);
    }
    json_out_close(o, ']');
}

static void write_checked(const statements *s, const query_citation *found, const char *text,
                          bool json, fo_buf *out) {
    json_out o = {out, false};
    size_t verified = 0;
    for (size_t i = 0; i < s->n; i++) verified += found[i].quote != NULL;
    json_out_open(&o, NULL, '{');
    json_out_string(&o, "unit", json ? "values" : "sentences");
    json_out_int(&o, "verified", (int64_t)verified);
    write_those(&o, "unverified", s, found, text, false);
    write_those(&o, "unchecked", s, found, text, true);
    if (s->more) json_out_bool(&o, "more", true);
    json_out_close(&o, '}');
}

static void write_found(const grounded_text *g, const statements *s, query_citation *found,
                        const char *text, fo_buf *out) {
    int index = 0;
    fo_buf_char(out, '[');
    for (size_t i = 0; i < s->n; i++) {
        if (!found[i].quote) continue;
        found[i].index = ++index;
        found[i].answer_start = fo_utf8_count(text, s->list[i].start);
        found[i].answer_end = fo_utf8_count(text, s->list[i].end);
        if (index > 1) fo_buf_char(out, ',');
        query_json_write_citation(out, &g->found, &found[i], s->list[i].path);
    }
    fo_buf_char(out, ']');
}

int grounded_text_check(const grounded_text *g, const char *text, size_t len, fo_buf *citations,
                        fo_buf *checked, fo_err *err) {
    statements s = {0};
    int rc = FO_OK;
    if (g->call->json)
        rc = read_values(&s, g->call->schema, text, len, err);
    else
        read_sentences(&s, text, len);
    query_citation *found = calloc(s.n + 1, sizeof *found);
    if (!rc && (s.failed || !found)) rc = fo_no_memory(err);
    if (!rc)
        rc = service_check_claims(g->app->service, &g->question, &g->found, s.claims, s.n, found,
                                  err);
    if (!rc) {
        write_checked(&s, found, text, g->call->json, checked);
        write_found(g, &s, found, text, citations);
        if (citations->failed || checked->failed) rc = fo_no_memory(err);
    }
    for (size_t i = 0; found && i < s.n; i++) free(found[i].quote);
    free(found);
    free(s.list);
    free(s.claims);
    json_values_deinit(&s.values);
    return rc;
}
