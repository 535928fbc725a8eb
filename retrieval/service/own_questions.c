#include "retrieval/service/own_questions.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "kernels/clock.h"
#include "kernels/splitmix.h"
#include "kernels/utf8.h"
#include "retrieval/collections/catalog.h"
#include "retrieval/collections/service_internal.h"

enum {
    PAGE = 500, /* documents listed at a time */
    PASSAGE_BYTES = 1200,
    TITLE_BYTES = 200,   /* of up to 4,096: the prompt has room for no more */
    LEAST_LETTERS = 100, /* of a passage: less hardly answers anything */
    TRIES = 3,           /* places of a document, until one has them */
    QUESTION_TOKENS = 48,
    QUESTION_BYTES = 400,
    QUESTION_MS = 120000,
    PROMPT_TOKENS = 800,
    POLL_MS = 50,
};

/* Of what was tried the plainest: told whom to write for, a small model asks about that person. */
static const prompt_instructions instructions = {
    .system = "You write questions for a quiz.",
    .before_contexts = "",
    .after_contexts = "",
    .before_question = "That was from \"",
    .after_question =
        "\". Write one short question that it answers. Name the thing that you ask about.",
};

/* ---- what is a question ---------------------------------------------------------------------- */

static size_t count_words(const char *s, size_t len) {
    size_t n = 0;
    for (size_t i = 0; i < len; i++)
        n += !isspace((unsigned char)s[i]) && (i == 0 || isspace((unsigned char)s[i - 1]));
    return n;
}

/* It could not be asked by somebody who has not the text before him. */
static bool points_at_text(const char *s) {
    static const char *const marks[] = {"passage",       "the text",      "this text",
                                        "the document",  "this document", "above",
                                        "the following", "excerpt",       "the author"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (strcasestr(s, marks[i])) return true;
    return false;
}

bool own_question_of(const char *written, size_t len, char *out, size_t cap) {
    static const char *const labels[] = {"question:", "q:", "-", "*"};
    while (len && isspace((unsigned char)*written)) written++, len--;
    const char *nl = memchr(written, '\n', len);
    if (nl) len = (size_t)(nl - written);
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++) {
        const size_t n = strlen(labels[i]);
        if (len > n && !strncasecmp(written, labels[i], n)) written += n, len -= n;
    }
    size_t digits = 0;
    while (digits < len && isdigit((unsigned char)written[digits])) digits++;
    if (digits && digits + 1 < len && strchr(".)", written[digits]) &&
        isspace((unsigned char)written[digits + 1])) /* not of 3.5 */
        written += digits + 1, len -= digits + 1;
    while (len && strchr(" \t\r\"'*", *written)) written++, len--;
    while (len && strchr(" \t\r\"'*", written[len - 1])) len--;
    if (len < 2 || len >= cap || written[len - 1] != '?') return false;
    const size_t words = count_words(written, len);
    if (words < 4 || words > 32) return false;
    memcpy(out, written, len);
    out[len] = 0;
    return !points_at_text(out);
}

/* ---- what is asked about --------------------------------------------------------------------- */

static bool begins_sentence(const char *s, size_t at) {
    if (at == 0 || s[at - 1] == '\n') return true;
    return at > 1 && isspace((unsigned char)s[at - 1]) && strchr(".!?", s[at - 2]);
}

void own_question_passage(const char *text, size_t len, size_t at, size_t *start, size_t *end) {
    size_t a = at < len ? at : len;
    const size_t least = a > PASSAGE_BYTES / 2 ? a - PASSAGE_BYTES / 2 : 0;
    while (a > least && !begins_sentence(text, a)) a--;
    while (a < len && !fo_utf8_boundary(text[a])) a++;
    size_t b = a + PASSAGE_BYTES < len ? a + PASSAGE_BYTES : len;
    if (b < len) {
        size_t c = b;
        while (c > a + PASSAGE_BYTES / 2 && !begins_sentence(text, c)) c--;
        if (c > a + PASSAGE_BYTES / 2) b = c;
        while (b > a && !fo_utf8_boundary(text[b])) b--;
    }
    *start = a;
    *end = b;
}

static size_t count_letters(const char *s, size_t len) {
    size_t n = 0;
    for (size_t i = 0; i < len; i++)
        n += isalpha((unsigned char)s[i]) || (unsigned char)s[i] >= 0xC3;
    return n;
}

/* Ids of at most `most` documents, each as likely as any other; *n of them. */
static int draw_documents(service *s, const own_question_request *q, uint64_t *random, char ***out,
                          size_t *n, fo_err *err) {
    char **ids = calloc(q->n, sizeof *ids), *after = NULL;
    uint64_t seen = 0;
    bool more = true;
    int rc = ids ? FO_OK : fo_no_memory(err);
    *n = 0;
    while (!rc && more) {
        store_document *docs = NULL;
        size_t k = 0;
        rc = catalog_list_documents(service_catalog(s), q->tenant, q->collection, after, PAGE,
                                    &docs, &k, &more, err);
        free(after);
        after = NULL;
        for (size_t i = 0; i < k; i++) {
            const uint64_t at = seen < q->n ? seen : fo_splitmix(random) % (seen + 1);
            seen++;
            if (i + 1 == k && more && !rc && !(after = strdup(docs[i].id))) rc = fo_no_memory(err);
            if (at < q->n) {
                free(ids[at]);
                ids[at] = docs[i].id;
                docs[i].id = NULL;
                if (at == *n) ++*n;
            }
            store_document_deinit(&docs[i]);
        }
        free(docs);
        more = more && k > 0;
    }
    free(after);
    *out = ids;
    return rc;
}

/* ---- the model ------------------------------------------------------------------------------- */

static int write_line(service *s, const own_question_request *q, const generator_layout *l,
                      uint64_t seed, fo_buf *line, fo_err *err) {
    static const char *const stop[] = {"\n"};
    generator_options o = {.max_tokens = QUESTION_TOKENS,
                           .temperature = .7,
                           .top_p = .95,
                           .seed = seed,
                           .stop = stop,
                           .n_stop = 1,
                           .deadline_ms = QUESTION_MS};
    generator_stream *stream = NULL;
    generator_event ev = {0};
    int rc = generator_start(s->generator, l, &o, &stream, NULL, err);
    while (!rc && !ev.done) {
        generator_next(stream, POLL_MS, &ev, line);
        if (q->cancel && atomic_load(q->cancel))
            rc = fo_fail(err, FO_ECANCELLED, "writing questions was cancelled");
    }
    if (!rc && ev.error) rc = fo_fail(err, ev.error, "%s", ev.message);
    if (!rc && line->failed) rc = fo_no_memory(err);
    generator_stream_free(stream);
    return rc;
}

/* Nothing is written where the prompt has no room: it may have room for the next one. */
static int write_about(service *s, const own_question_request *q, const prompt_text *passage,
                       const char *name, uint64_t *random, fo_buf *line, fo_err *err) {
    char title[TITLE_BYTES + 1];
    fo_err why = {0};
    generator_layout *l = NULL;
    generator_prompt p = {.instructions = &instructions,
                          .contexts = passage,
                          .n_contexts = 1,
                          .question = title,
                          .max_contexts = 1,
                          .max_tokens = QUESTION_TOKENS,
                          .budget = PROMPT_TOKENS};
    const size_t n = fo_utf8_cut(name, strlen(name), TITLE_BYTES);
    memcpy(title, name, n);
    title[n] = 0;
    service_kv_salt(q->tenant, NULL, p.salt);
    int rc = generator_lay_out(s->generator, &p, &l, &why);
    if (rc == FO_ELIMIT) return FO_OK;
    if (rc && err) *err = why;
    if (!rc) rc = write_line(s, q, l, fo_splitmix(random), line, err);
    generator_layout_free(l);
    return rc;
}

/* out[0] stays 0 where the document has no passage to ask about, or nothing came of it. */
static int ask_about(service *s, const own_question_request *q, const char *id, uint64_t *random,
                     char out[QUESTION_BYTES], fo_err *err) {
    store_document d = {0};
    fo_err why = {0};
    out[0] = 0;
    int rc = catalog_get_document(service_catalog(s), q->tenant, q->collection, id, NULL, true, &d,
                                  &why);
    if (rc) return rc == FO_ENOMEM ? fo_no_memory(err) : FO_OK; /* damaged, or gone meanwhile */
    size_t a = 0, b = 0;
    bool enough = false;
    for (int k = 0; k < TRIES && !enough && d.text_bytes; k++) {
        own_question_passage(d.text, d.text_bytes, (size_t)(fo_splitmix(random) % d.text_bytes), &a,
                             &b);
        enough = count_letters(d.text + a, b - a) >= LEAST_LETTERS;
    }
    if (enough) {
        const prompt_text passage = {d.text + a, b - a};
        fo_buf line = {0};
        rc = write_about(s, q, &passage, d.title && d.title[0] ? d.title : id, random, &line, err);
        if (!rc && line.len && !own_question_of(line.data, line.len, out, QUESTION_BYTES))
            out[0] = 0;
        fo_buf_free(&line);
    }
    store_document_deinit(&d);
    return rc;
}

static bool is_new(const own_question *list, size_t n, const char *text) {
    for (size_t i = 0; i < n; i++)
        if (!strcasecmp(list[i].text, text)) return false;
    return true;
}

static int add(own_question *list, size_t *n, const char *text, const char *document, fo_err *err) {
    own_question *x = &list[*n];
    x->text = strdup(text);
    x->document = strdup(document);
    if (x->text && x->document) return ++*n, FO_OK;
    free(x->text);
    free(x->document);
    return fo_no_memory(err);
}

int service_write_questions(service *s, const own_question_request *q, own_question **out,
                            size_t *n, fo_err *err) {
    *out = NULL;
    *n = 0;
    if (!s->generator)
        return fo_fail(err, FO_EUNSUPPORTED,
                       "questions are written by a language model: name one (--model)");
    if (q->n < 1 || q->n > OWN_QUESTIONS_MOST)
        return fo_fail(err, FO_EINVAL, "questions may be asked of 1 to %d passages, not %zu",
                       OWN_QUESTIONS_MOST, q->n);
    char **ids = NULL, text[QUESTION_BYTES];
    size_t n_ids = 0;
    uint64_t random = q->seed;
    int rc = draw_documents(s, q, &random, &ids, &n_ids, err);
    own_question *list = rc ? NULL : calloc(q->n, sizeof *list);
    if (!rc && !list) rc = fo_no_memory(err);
    if (!rc && !n_ids)
        rc = fo_fail(err, FO_EINVAL, "collection '%s' has no documents", q->collection);
    for (size_t i = 0; !rc && i < q->n; i++) {
        const char *id = ids[i % n_ids];
        rc = ask_about(s, q, id, &random, text, err);
        if (!rc && text[0] && is_new(list, *n, text)) rc = add(list, n, text, id, err);
        if (!rc && q->progress) q->progress(q->ctx, i + 1, q->n);
    }
    if (!rc && !*n)
        rc = fo_fail(err, FO_EIO, "of %zu passages the model wrote no question that can be used",
                     q->n);
    for (size_t i = 0; i < q->n && ids; i++) free(ids[i]);
    free(ids);
    if (rc) {
        own_questions_free(list, *n);
        *n = 0;
        return rc;
    }
    *out = list;
    return FO_OK;
}

void own_questions_free(own_question *list, size_t n) {
    for (size_t i = 0; i < n; i++) {
        free(list[i].text);
        free(list[i].document);
    }
    free(list);
}
