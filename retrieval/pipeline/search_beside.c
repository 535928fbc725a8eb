#include "retrieval/pipeline/search_beside.h"

#include <string.h>

#include "index/sparse/language.h"
#include "retrieval/question/compounds.h"
#include "retrieval/question/same_words.h"
#include "retrieval/text/facts.h"

enum {
    LETTERS = SEARCH_BESIDE_MOST * 48, /* taken ahead: terms point into them */
    MOST_SCANNED =
        1
        << 16, /* terms of a snapshot that are held against the question one by one: some two milliseconds */
    MOST_MADE = 24, /* compounds of one word */
    COMPOUND = 9,   /* bytes of a word of the question that is cut */
    PART = 4        /* ... of each of its parts */
};
static const double same = 0.8, part = 0.8, made = 0.5; /* of a word of the question */

typedef struct gathering {
    search_beside *out;
    search_snapshot *s;
    analyzer *own; /* of the question's language */
    const fact_text *t;
    size_t n_made[64]; /* by word */
} gathering;

static void add(gathering *g, const char *term, size_t len, double weight) {
    search_beside *b = g->out;
    for (size_t i = 0; i < b->n; i++)
        if (b->terms[i].len == len && !memcmp(b->terms[i].term, term, len)) {
            if (b->terms[i].weight < weight) b->terms[i].weight = weight;
            return;
        }
    if (b->n == SEARCH_BESIDE_MOST || b->letters.len + len > LETTERS) return;
    fo_buf_add(&b->letters, term, len);
    b->terms[b->n++] = (search_term){b->letters.data + b->letters.len - len, len, weight};
}

static int add_same(void *ctx, const analyzed_term *t) {
    if (!t->stop) add(ctx, t->term, t->len, same);
    return 0;
}

static void add_group(gathering *g, size_t i) {
    const same_words_group words = same_words_group_of(g->t, i);
    for (const char *s = words.stems; *s;) {
        const size_t n = strcspn(s, " ");
        add(g, s, n, same);
        s += n + (s[n] == ' ');
    }
    analyze(g->own, words.written, strlen(words.written), add_same, g);
}

static bool is_letter_start(const char *word, size_t i) {
    return ((unsigned char)word[i] & 0xC0) != 0x80;
}

static int add_part(void *ctx, const analyzed_term *t) {
    add(ctx, t->term, t->len, part);
    return 0;
}

static int is_term(void *ctx, const analyzed_term *t) {
    return !t->stop && search_has_term(((gathering *)ctx)->s, t->term, t->len);
}

/* Where a compound of the question is cut in two words of the documents: "Kühlschrankreparatur", with or without what links them. */
static bool cut(gathering *g, const char *word, size_t n) {
    static const char *const links[] = {"", "s", "es", "n", "en", "er", "e"};
    for (size_t at = PART; at + PART <= n; at++) {
        if (!is_letter_start(word, at) || !analyze(g->own, word + at, n - at, is_term, g)) continue;
        for (size_t k = 0; k < sizeof links / sizeof *links; k++) {
            const size_t link = strlen(links[k]);
            if (at < PART + link || memcmp(word + at - link, links[k], link)) continue;
            if (!analyze(g->own, word, at - link, is_term, g)) continue;
            analyze(g->own, word, at - link, add_part, g);
            analyze(g->own, word + at, n - at, add_part, g);
            return true;
        }
    }
    return false;
}

static bool is_searched(const fact_text *t, size_t i) {
    const fact_word *w = &t->words[i];
    return fact_is_content(w) && !(w->flags & (WORD_DIGIT | WORD_ASKS));
}

/* A term of the documents that is made with a word of the question. */
static void add_made(void *ctx, const char *term, size_t len) {
    gathering *g = ctx;
    for (size_t i = 0; i < g->t->n_words && i < 64; i++) {
        const fact_word *w = &g->t->words[i];
        if (g->n_made[i] == MOST_MADE || !is_searched(g->t, i) ||
            !compound_has_part(term, len, g->t->stems.data + w->stem_at, w->stem_len))
            continue;
        g->n_made[i]++;
        add(g, term, len, made);
    }
}

static void gather(gathering *g) {
    const fact_text *t = g->t;
    const bool joins = language_joins_words(t->language);
    for (size_t i = 0; i < t->n_words; i++) {
        if (!is_searched(t, i)) continue;
        const size_t n = t->words[i].end - t->words[i].start;
        add_group(g, i);
        if (joins && n >= COMPOUND) cut(g, t->text + t->words[i].start, n);
    }
    if (joins) search_each_term(g->s, MOST_SCANNED, add_made, g);
}

int search_beside_read(search_beside *out, search_snapshot *s, analyzer *a, const char *asked,
                       fo_err *err) {
    const int language = search_query_language(s, asked);
    if (language < 0) return FO_OK;
    fact_text t = {0};
    gathering g = {.out = out, .s = s, .own = analyzer_in(a, language), .t = &t};
    int rc = fact_text_read(&t, g.own, asked, strlen(asked), err);
    fo_buf_reserve(&out->letters, LETTERS);
    if (!rc && out->letters.failed) rc = fo_no_memory(err);
    if (!rc) gather(&g);
    fact_text_deinit(&t);
    return rc;
}

void search_beside_deinit(search_beside *b) {
    fo_buf_free(&b->letters);
}
