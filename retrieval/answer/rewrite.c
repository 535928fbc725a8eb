#include "retrieval/answer/rewrite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "retrieval/answer/facts.h"
#include "retrieval/answer/follow_up.h"
#include "retrieval/answer/courtesy.h"

enum {
    MAX_ADDED = 64,
    TURNS_BACK = 2, /* of the user's */
    FRAMES = 4,     /* as well */
    TURN_BYTES = 4096,
};

typedef struct added_word {
    uint64_t id;
    double weight;
    const char *text;
    size_t len, order;
} added_word;

static int by_weight(const void *a, const void *b) {
    const added_word *x = a, *y = b;
    if (x->weight != y->weight) return x->weight < y->weight ? 1 : -1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static int by_order(const void *a, const void *b) {
    const added_word *x = a, *y = b;
    return x->order < y->order ? -1 : x->order > y->order;
}

static bool refers_back(const fact_text *t) {
    static const char *const words[] = {"it",   "its",   "they",  "them", "their", "this",
                                        "that", "these", "those", "he",   "she",   "him",
                                        "her",  "his",   "one",   "ones", "there", "such",
                                        "same", "else",  "other", "also", "more"};
    for (size_t i = 0; i < t->n_words; i++) {
        const fact_word *w = &t->words[i];
        for (size_t k = 0; k < sizeof words / sizeof *words; k++)
            if (strlen(words[k]) == w->end - w->start &&
                strncasecmp(words[k], t->text + w->start, w->end - w->start) == 0)
                return true;
    }
    return false;
}

static size_t content_words(const fact_text *t) {
    size_t n = 0;
    for (size_t i = 0; i < t->n_words; i++) n += fact_is_content(&t->words[i]);
    return n;
}

static void collect(added_word *list, size_t *n, const lexicon *lx, const fact_text *t,
                    const fact_text *question, double factor, size_t order) {
    for (size_t i = 0; i < t->n_words && *n < MAX_ADDED; i++) {
        const fact_word *w = &t->words[i];
        if (!fact_is_content(w)) continue;
        bool known = false;
        for (size_t k = 0; k < question->n_words && !known; k++)
            known = question->words[k].id == w->id;
        for (size_t k = 0; k < *n && !known; k++) known = list[k].id == w->id;
        if (known) continue;
        list[(*n)++] = (added_word){w->id, factor * fact_word_idf(lx, t, w), t->text + w->start,
                                    w->end - w->start, order + i};
    }
}

/* How many words a turn is given: many where it points back, few where it stands alone. */
static size_t words_wanted(const fact_text *question) {
    size_t n = content_words(question);
    const bool half = follow_up_goes_on(question->text) && !follow_up_is_whole(question->text);
    if (n <= 1 || refers_back(question) || half) return n <= 2 ? 8 : 6;
    return n <= 4 ? 2 : 0;
}

int query_rewrite_wants(size_t *out, const lexicon *lx, const char *question, fo_err *err) {
    fact_text q = {0};
    int rc = fact_text_read(&q, lx->analyzer, question, strlen(question), err);
    *out = rc ? 0 : words_wanted(&q);
    fact_text_deinit(&q);
    return rc;
}

/* The question put into the user's one before it, which may itself have gone on from one before; *n_before: how many turns
 * came before the first of them. False: it is none such. */
static bool by_frame(fo_buf *out, const prompt_turn *turns, size_t n_turns, const char *question,
                     size_t *n_before) {
    fo_buf whole = {0};
    size_t first = n_turns;
    for (size_t i = n_turns, users = 0; i-- > 0 && users < FRAMES;)
        if (!turns[i].assistant) {
            first = i;
            users++;
        }
    for (size_t i = first; i < n_turns; i++) {
        if (turns[i].assistant || strnlen(turns[i].text, TURN_BYTES) == TURN_BYTES) continue;
        const char *turn = question_behind_courtesy(turns[i].text);
        fo_buf next = {0};
        if (!whole.data || !follow_up_make(&next, whole.data, turn)) {
            fo_buf_str(&next, turn);
            *n_before = i;
        }
        fo_buf_free(&whole);
        whole = next;
    }
    bool made = whole.data && follow_up_make(out, whole.data, question);
    out->failed |= whole.failed;
    fo_buf_free(&whole);
    return made;
}

int query_rewrite(char **out, bool *whole, const lexicon *lx, const prompt_turn *turns,
                  size_t n_turns, const char *question, fo_err *err) {
    fact_text q = {0}, t[TURNS_BACK] = {0};
    added_word list[MAX_ADDED];
    size_t n = 0, back = 0, n_before = 0;
    fo_buf b = {0};
    *whole = by_frame(&b, turns, n_turns, question, &n_before);
    if (*whole)
        n_turns = n_before; /* what it lacks, it has of them */
    else
        fo_buf_str(&b, question);
    int rc = b.failed ? fo_no_memory(err) : fact_text_read(&q, lx->analyzer, b.data, b.len, err);
    size_t want = !rc ? words_wanted(&q) : 0;
    for (size_t i = n_turns; !rc && want && i-- > 0 && back < TURNS_BACK;) {
        if (turns[i].assistant) continue;
        size_t len = strnlen(turns[i].text, TURN_BYTES);
        rc = fact_text_read(&t[back], lx->analyzer, turns[i].text, len, err);
        if (!rc) collect(list, &n, lx, &t[back], &q, back ? 0.6 : 1, (TURNS_BACK - back) * 100000);
        back++;
    }
    qsort(list, n, sizeof *list, by_weight);
    if (n > want) n = want;
    *whole &= n == 0;
    qsort(list, n, sizeof *list, by_order);
    for (size_t i = 0; i < n; i++) {
        fo_buf_char(&b, ' ');
        fo_buf_add(&b, list[i].text, list[i].len);
    }
    for (size_t i = 0; i < TURNS_BACK; i++) fact_text_deinit(&t[i]);
    fact_text_deinit(&q);
    *out = fo_buf_take(&b, NULL);
    if (!rc && !*out) rc = fo_no_memory(err);
    return rc;
}
