/* Any question over any passages, answered without a model: what is read of texts from anybody, their units, rows, dates and
 * demands. An answer quotes what stands there, and every quote ends between code points.
 *
 * The first byte says the language, the second how the text is cut into passages; then the question, a line, and the turn
 * before it, another; the rest is the document. */
#include <math.h>
#include <string.h>

#include "kernels/utf8.h"
#include "retrieval/answer/extractive.h"
#include "retrieval/conversation/rewrite.h"
#include "retrieval/question/relative_days.h"
#include "tests/fuzz/fuzz.h"

enum { PASSAGES = 6, MOST = 1 << 16, A_TUESDAY = 20529 }; /* 17 March 2026 */

static analyzer *of_language(unsigned k) {
    static analyzer *made[8];
    static const char *const names[8] = {"english", "german",  "french",  "spanish",
                                         "italian", "russian", "chinese", "japanese"};
    if (!made[k % 8]) FUZZ_CHECK(analyzer_create(&made[k % 8], names[k % 8], NULL) == FO_OK);
    return made[k % 8];
}

/* Valid UTF-8 without zeros, as stored text is. */
static char *text_of(const uint8_t *data, size_t n) {
    char *s = malloc(n + 1);
    FUZZ_CHECK(s);
    if (n) memcpy(s, data, n);
    s[n] = 0;
    for (size_t at = 0; at < n;) {
        int32_t cp;
        const size_t bytes = fo_utf8_decode(s + at, n - at, &cp);
        if (cp <= 0) memset(s + at, '?', bytes);
        at += bytes;
    }
    return s;
}

/* The line at *s, ended there; *s goes on behind it. */
static char *line_of(char **s) {
    char *line = *s, *end = strchr(line, '\n');
    *s = end ? end + 1 : line + strlen(line);
    if (end) *end = 0;
    return line;
}

static size_t cut(passage *p, const char *text, unsigned how) {
    const size_t len = strlen(text), wanted = 1 + how % PASSAGES;
    size_t n = 0;
    for (size_t from = 0; n < wanted && from < len; n++) {
        size_t to = n + 1 == wanted ? len : from + (len - from) / (wanted - n);
        while (to < len && !fo_utf8_boundary(text[to])) to++;
        p[n] = (passage){.text = text + from,
                         .len = to - from,
                         .before = how & 64 ? from : 0,
                         .title = !(how & 32) ? NULL
                                  : how & 4   ? "Rent a boat"
                                              : "Rules of the boat house",
                         .heading = how & 16 ? "Fees" : "",
                         .document = how & 8 ? "rules.txt"
                                     : n % 2 ? "a.txt"
                                             : "b.txt",
                         .open_start = from > 0,
                         .open_end = to < len,
                         .score = 1 / (float)(n + 1),
                         .dense = NAN,
                         .sparse = 10 / (float)(n + 1)};
        from = to;
    }
    return n;
}

static void check(const extractive_answer *a, const passage *p, size_t n) {
    size_t last = 0, bad;
    FUZZ_CHECK(fo_utf8_valid(a->text, strlen(a->text), &bad));
    FUZZ_CHECK(a->support >= 0 && a->support <= 1);
    for (size_t i = 0; i < a->n_citations; i++) {
        const answer_citation *c = &a->citations[i];
        FUZZ_CHECK(c->passage < n && c->start < c->end && c->end <= p[c->passage].len);
        FUZZ_CHECK(fo_utf8_boundary(p[c->passage].text[c->start]));
        FUZZ_CHECK(c->end == p[c->passage].len || fo_utf8_boundary(p[c->passage].text[c->end]));
        FUZZ_CHECK(c->answer_start >= last && c->answer_start < c->answer_end);
        FUZZ_CHECK(c->answer_end <= strlen(a->text));
        last = c->answer_end;
    }
    for (size_t i = 0; i < a->n_ranked; i++)
        FUZZ_CHECK(a->ranked[i].passage < n && a->ranked[i].end <= p[a->ranked[i].passage].len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 4 || size > MOST) return 0;
    const lexicon lx = {.analyzer = of_language(data[0])};
    char *whole = text_of(data + 2, size - 2), *rest = whole, *rewritten = NULL;
    const char *question = line_of(&rest), *before = line_of(&rest);
    passage p[PASSAGES];
    fo_err err = {0};
    fo_buf resolved = {0};
    bool alone = false;
    const size_t n = cut(p, rest, data[1]);
    const prompt_turn turn = {.text = before};
    FUZZ_CHECK(query_rewrite(&rewritten, &alone, &lx, &turn, 1, question, &err) == FO_OK);
    relative_days_resolve(&resolved, question, A_TUESDAY, p, n);
    fo_buf_free(&resolved);
    float titled[PASSAGES];
    for (size_t i = 0; i < n; i++) titled[i] = (float)((data[1] + 3 * i) % 10) / 10;
    for (int k = 0; k < 2; k++) {
        extractive_answer a;
        const extractive_input in = {.question = k ? rewritten : question,
                                     .follow_up = k,
                                     .passages = p,
                                     .n_passages = n,
                                     .titled = titled,
                                     .lx = &lx,
                                     .min_support = data[1] & 128 ? -1 : 0};
        FUZZ_CHECK(extractive_answer_make(&a, &in, &err) == FO_OK);
        check(&a, p, n);
        extractive_answer_deinit(&a);
    }
    free(rewritten);
    free(whole);
    return 0;
}
