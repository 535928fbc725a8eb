/* A sentence; a zero byte; the passage that it is said to come from: markers of citations made harmless or taken
 * out, and the check and the search of citations. Promises: text never grows, no marker is left, what is UTF-8
 * stays it; a quote that does not stand where it is said to is not verified; a sentence that is the quote is;
 * what a search finds lies within the passage, between whole characters, and is verified by the check if
 * it says so. */
#include <ctype.h>
#include <string.h>

#include "kernels/utf8.h"
#include "retrieval/claims/citations.h"
#include "retrieval/text/foreign_marks.h"
#include "tests/fuzz/fuzz.h"

enum { TEXT_MOST = 4000 };

static lexicon lx;

/* "[12]" in plain ASCII. */
static bool has_marker(const char *s, size_t n) {
    for (size_t i = 0; i < n; i++) {
        size_t k = i + 1;
        if (s[i] != '[') continue;
        while (k < n && isdigit((unsigned char)s[k])) k++;
        if (k > i + 1 && k < n && s[k] == ']') return true;
    }
    return false;
}

static void marks(const char *text, size_t n) {
    size_t bad, (*const ways[])(char *, size_t) = {foreign_marks_disarm, foreign_marks_drop};
    bool valid = fo_utf8_valid(text, n, &bad);
    char *copy = malloc(n + 1);
    FUZZ_CHECK(copy);
    for (int way = 0; way < 2; way++) {
        memcpy(copy, text, n);
        size_t len = ways[way](copy, n);
        FUZZ_CHECK(len <= n && !has_marker(copy, len));
        FUZZ_CHECK(!valid || fo_utf8_valid(copy, len, &bad));
        FUZZ_CHECK(ways[way](copy, len) <= len);
    }
    free(copy);
}

static bool starts_character(const char *s, size_t n, size_t at) {
    return at >= n || ((unsigned char)s[at] & 0xc0) != 0x80;
}

static void citations(const char *sentence, size_t n, const char *passage, size_t n_passage) {
    support_check c;
    fo_err err = {0};
    size_t start = 0, end = 0, bad;
    if (!fo_utf8_valid(sentence, n, &bad) || !fo_utf8_valid(passage, n_passage, &bad)) return;
    citation_claim own = {.sentence = passage,
                          .sentence_len = n_passage,
                          .quote = passage,
                          .quote_len = n_passage,
                          .stored = passage,
                          .stored_len = n_passage,
                          .end = n_passage};
    FUZZ_CHECK(citation_check(&c, &lx, &own, &err) == FO_OK);
    FUZZ_CHECK(c.verified == !c.reason[0] && c.coverage >= 0 && c.coverage <= 1.000001);
    FUZZ_CHECK(c.verified || !strcmp(c.reason, "empty"));
    citation_search search = {
        .sentence = sentence, .sentence_len = n, .passage = passage, .passage_len = n_passage};
    FUZZ_CHECK(citation_find(&start, &end, &c, &lx, &search, &err) == FO_OK);
    FUZZ_CHECK(start <= end && end <= n_passage);
    FUZZ_CHECK(starts_character(passage, n_passage, start) &&
               starts_character(passage, n_passage, end));
    if (!c.verified) return;
    FUZZ_CHECK(start < end);
    citation_claim found = {.sentence = sentence,
                            .sentence_len = n,
                            .quote = passage + start,
                            .quote_len = end - start,
                            .stored = passage,
                            .stored_len = n_passage,
                            .start = start,
                            .end = end};
    FUZZ_CHECK(citation_check(&c, &lx, &found, &err) == FO_OK && c.verified);
    found.end++; /* one byte off */
    FUZZ_CHECK(citation_check(&c, &lx, &found, &err) == FO_OK && !c.verified);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > TEXT_MOST) return 0;
    if (!lx.analyzer) FUZZ_CHECK(analyzer_create(&lx.analyzer, "english", NULL) == FO_OK);
    const uint8_t *zero = memchr(data, 0, size);
    size_t n = zero ? (size_t)(zero - data) : size;
    marks((const char *)data, size);
    if (zero) citations((const char *)data, n, (const char *)zero + 1, size - n - 1);
    return 0;
}
