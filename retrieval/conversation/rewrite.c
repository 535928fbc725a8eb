#include "retrieval/conversation/rewrite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/utf8.h"
#include "kernels/words.h"
#include "retrieval/conversation/courtesy.h"
#include "retrieval/text/facts.h"
#include "retrieval/conversation/follow_up.h"
#include "retrieval/question/question.h"

enum {
    MAX_ADDED = 64,
    TURNS_BACK = 2,     /* of the user's, */
    MOST_LOOKED_AT = 6, /* or so many until one of them names a thing */
    FRAMES = 4,         /* as well */
    TURN_BYTES = 4096,
};
static const double earlier = 0.6; /* of a turn before the last one */

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

static bool is_one_of(const char *words, const fact_text *t, size_t i) {
    const fact_word *w = &t->words[i];
    const char *s = t->text + w->start;
    size_t n = 0;
    while (n < w->end - w->start && fo_is_letter(s[n])) n++; /* "it's" is "it" */
    return fo_words_have_any_case(words, s, n);
}

/* "Is there a lift?" points to nothing, "How do I get there?" does. */
static bool is_existential(const fact_text *t, size_t i) {
    static const char be[] = "is are was were isn aren wasn be been";
    return is_one_of("there", t, i) && ((i > 0 && is_one_of("is are was were", t, i - 1)) ||
                                        (i + 1 < t->n_words && is_one_of(be, t, i + 1)));
}

static size_t content_words(const fact_text *t) {
    size_t n = 0;
    for (size_t i = 0; i < t->n_words; i++) n += fact_is_content(&t->words[i]);
    return n;
}

/* "How many are there?" counts what was said before. */
static bool counts_what_was_said(const fact_text *t) {
    static const char verbs[] = "are were is was do did have has can could will would";
    for (size_t i = 1; i + 1 < t->n_words; i++)
        if (is_one_of("many", t, i) && is_one_of("how", t, i - 1) && is_one_of(verbs, t, i + 1))
            return content_words(t) == 0;
    return false;
}

static bool refers_back(const fact_text *t) {
    static const char words[] =
        "it its they them their this that these those he she him her his one "
        "ones there such same else other also more";
    for (size_t i = 0; i < t->n_words; i++) {
        const bool last = i + 1 == t->n_words;
        if (is_one_of(words, t, i) && !is_existential(t, i)) return true;
        if (last && is_one_of("then", t, i)) return true;
    }
    return counts_what_was_said(t);
}

/* "We'd", "it's", "where's": no word of anything. */
static bool is_contraction(const fact_text *t, const fact_word *w) {
    static const char heads[] = "i you we they he she it that there here what who where when how "
                                "why isn aren wasn don doesn didn can couldn won wouldn shouldn";
    const char *s = t->text + w->start;
    size_t n = 0;
    while (n < w->end - w->start && fo_is_letter(s[n])) n++;
    return n < w->end - w->start && (s[n] == '\'' || (unsigned char)s[n] == 0xE2) &&
           fo_words_have_any_case(heads, s, n);
}

/* What a question is about is a thing: behind an article or the like, a name, a number. */
static bool is_thing(const fact_text *t, size_t i) {
    const fact_word *w = &t->words[i];
    return (w->flags & WORD_DIGIT) || ((w->flags & WORD_CAPITAL) && !(w->flags & WORD_INITIAL)) ||
           question_names_thing(t, i);
}

/* What is done with a thing, and how, is asked of it alone. */
static double weight_of(const lexicon *lx, const fact_text *t, size_t i) {
    static const double no_thing = 0.4;
    return (double)fact_word_idf(lx, t, &t->words[i]) * (is_thing(t, i) ? 1 : no_thing);
}

static void collect(added_word *list, size_t *n, const lexicon *lx, const fact_text *t,
                    const fact_text *asked, double factor, size_t order) {
    for (size_t i = 0; i < t->n_words && *n < MAX_ADDED; i++) {
        const fact_word *w = &t->words[i];
        if (!fact_is_content(w) || is_contraction(t, w)) continue;
        bool known = false;
        for (size_t k = 0; k < asked->n_words && !known; k++) known = asked->words[k].id == w->id;
        for (size_t k = 0; k < *n && !known; k++) known = list[k].id == w->id;
        if (known) continue;
        list[(*n)++] = (added_word){w->id, factor * weight_of(lx, t, i), t->text + w->start,
                                    w->end - w->start, order + i};
    }
}

/* "And the second?" */
static bool is_half(const char *turn) {
    return follow_up_goes_on(turn) && !follow_up_is_whole(turn);
}

/* "Thanks!", "and what do they cost?", "and in winter?": it leans on turns before it and names no thing itself, so those say what is spoken of. */
static bool names_nothing(const fact_text *t) {
    if (is_half(t->text) && follow_up_adds_a_circumstance(t->text)) return true;
    for (size_t i = 0; i < t->n_words; i++)
        if (fact_is_content(&t->words[i]) && is_thing(t, i)) return false;
    return refers_back(t) || is_half(t->text) || content_words(t) == 0;
}

/* How many words a turn is given: many where it points back or has none of its own, none where it stands alone. Of which document
 * that is asked, the last answer tells (retrieval/pipeline/spoken_of.h): words of another question lead to where they were met. */
static size_t words_wanted(const fact_text *asked) {
    size_t n = content_words(asked);
    const bool half = is_half(asked->text);
    if (refers_back(asked) || half) return n <= 2 ? 8 : 6;
    return n <= 1 && !follow_up_asks_alone(asked->text) ? 8 : 0;
}

int query_rewrite_wants(size_t *out, const lexicon *lx, const char *asked, fo_err *err) {
    fact_text q = {0};
    int rc = fact_text_read(&q, lx->analyzer, asked, strlen(asked), err);
    *out = rc ? 0 : words_wanted(&q);
    fact_text_deinit(&q);
    return rc;
}

/* The question put into the user's one before it, which may itself have gone on from one before; *n_before: how many turns
 * came before the first of them. False: it is none such. */
static bool by_frame(fo_buf *out, const prompt_turn *turns, size_t n_turns, const char *asked,
                     size_t *n_before) {
    fo_buf whole = {0}, older = {0};
    size_t first = n_turns, n_older = 0;
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
            if (whole.data && is_half(turn) && !older.data) {
                older =
                    whole; /* half a question without a place: what comes may have one where it had none */
                n_older = *n_before;
                whole = (fo_buf){0};
            } else if (!is_half(turn)) {
                fo_buf_free(&older);
                older = (fo_buf){0};
            }
            *n_before = i;
        }
        fo_buf_free(&whole);
        whole = next;
    }
    bool made = whole.data && follow_up_make(out, whole.data, asked);
    if (!made && older.data && (made = follow_up_make(out, older.data, asked))) *n_before = n_older;
    out->failed |= whole.failed | older.failed;
    fo_buf_free(&whole);
    fo_buf_free(&older);
    return made;
}

int query_rewrite(char **out, bool *whole, const lexicon *lx, const prompt_turn *turns,
                  size_t n_turns, const char *asked, fo_err *err) {
    fact_text q = {0}, t[MOST_LOOKED_AT] = {0};
    added_word list[MAX_ADDED];
    size_t n = 0, looked = 0, n_before = 0;
    bool named = false; /* one of the turns says what is spoken of */
    fo_buf b = {0};
    *whole = by_frame(&b, turns, n_turns, asked, &n_before);
    if (*whole)
        n_turns = n_before; /* what it lacks, it has of them */
    else
        fo_buf_str(&b, asked);
    int rc = b.failed ? fo_no_memory(err) : fact_text_read(&q, lx->analyzer, b.data, b.len, err);
    size_t want = !rc ? words_wanted(&q) : 0;
    const bool corrects = follow_up_corrects(asked);
    /* "What about the boats?" names its thing, and goes on from what was asked last. */
    const bool looks_on = !rc && (refers_back(&q) || content_words(&q) == 0);
    for (size_t i = n_turns; !rc && want && i-- > 0 && looked < MOST_LOOKED_AT;) {
        if (turns[i].assistant) continue;
        if (looked >= TURNS_BACK && (named || !looks_on)) break;
        const char *turn = question_behind_courtesy(turns[i].text);
        if (corrects && is_half(turn)) continue; /* it named what is put right now */
        fact_text *told = &t[looked++];
        rc = fact_text_read(told, lx->analyzer, turn, strnlen(turn, TURN_BYTES), err);
        if (rc) break;
        const bool nothing = names_nothing(told);
        /* Of those that are passed over, what was asked says nothing of the thing. */
        if (looked <= TURNS_BACK || !nothing)
            collect(list, &n, lx, told, &q, looked > 1 && looked <= TURNS_BACK ? earlier : 1,
                    (MOST_LOOKED_AT - looked) * (size_t)100000);
        named |= !nothing;
    }
    qsort(list, n, sizeof *list, by_weight);
    if (n > want) n = want;
    *whole &= n == 0;
    qsort(list, n, sizeof *list, by_order);
    for (size_t i = 0; i < n; i++) {
        fo_buf_char(&b, ' ');
        fo_buf_add(&b, list[i].text, list[i].len);
    }
    for (size_t i = 0; i < MOST_LOOKED_AT; i++) fact_text_deinit(&t[i]);
    fact_text_deinit(&q);
    *out = fo_buf_take(&b, NULL);
    if (!rc && !*out) rc = fo_no_memory(err);
    return rc;
}
