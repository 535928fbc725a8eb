#include "retrieval/answer/span_reading.h"

#include <math.h>
#include <string.h>

#include "engine/embed/reader_spans.h"
#include "index/sparse/language.h"
#include "retrieval/answer/cross_reading.h"
#include "retrieval/answer/facts.h"
#include "retrieval/answer/own_words.h"
#include "retrieval/answer/units.h"

/* How far what was written may be behind the best span. */
static const float most_behind = 2;

/* How far the best span must be ahead of "it is not here" to be shown as the answer. */
static const float sure = 3;

enum {
    SHORT = 120,  /* bytes of a short answer */
    WINDOW = 700, /* bytes that are read: the support and what stands around it */
    ROOM = 6,     /* words that may stand between those of the answer */
};

static bool is_blank(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* What is read around bytes [start, end) of a passage: [from, to). More than that is read from its beginning. */
static void window_of(const passage *p, size_t start, size_t end, size_t *from, size_t *to) {
    const size_t n = end - start, beside = n < WINDOW ? (WINDOW - n) / 2 : 0;
    *from = start > beside ? start - beside : 0;
    *to = p->len - end > beside ? end + beside : p->len;
    while (*from > 0 && *from < start && !is_blank(p->text[*from - 1])) ++*from;
    while (*to<p->len && * to> end && !is_blank(p->text[*to])) --*to;
}

static bool says(const fact_text *t, size_t first, size_t end, uint64_t id) {
    for (size_t i = first; i < end; i++)
        if (t->words[i].id == id) return true;
    return false;
}

static bool counts(const fact_word *w) {
    return !(w->flags & (WORD_STOP | WORD_PART));
}

/* Bytes [from, to) of the support with the fewest words that say most of what the answer says beyond the question, or
 * at all where it says nothing beyond it. */
static bool find(const fact_text *support, const fact_text *answer, const fact_text *asked,
                 size_t *from, size_t *to) {
    bool beyond = false;
    for (size_t i = 0; i < answer->n_words; i++)
        beyond |= counts(&answer->words[i]) &&
                  !says(asked, 0, asked->n_words, answer->words[i].id) &&
                  says(support, 0, support->n_words, answer->words[i].id);
    size_t most = 0, shortest = SIZE_MAX;
    for (size_t i = 0; i < support->n_words; i++) {
        for (size_t k = i + 1; k <= support->n_words && k - i <= answer->n_words + ROOM; k++) {
            size_t said = 0;
            for (size_t w = 0; w < answer->n_words; w++) {
                const fact_word *word = &answer->words[w];
                if (counts(word) && says(support, i, k, word->id) &&
                    !(beyond && says(asked, 0, asked->n_words, word->id)))
                    said++;
            }
            if (said < most || (said == most && k - i >= shortest) || !said) continue;
            most = said;
            shortest = k - i;
            *from = support->words[i].start;
            *to = support->words[k - 1].end;
        }
    }
    return most > 0;
}

static int read_all(const span_reading_input *in, fact_text *support, fact_text *answer,
                    fact_text *asked, fo_err *err) {
    analyzer *a = in->lx->analyzer;
    int rc = fact_text_read(support, a, in->passage->text + in->start, in->end - in->start, err);
    if (!rc) rc = fact_text_read(answer, a, in->answer, in->n_answer, err);
    if (!rc) rc = fact_text_read(asked, a, in->question, strlen(in->question), err);
    return rc;
}

static int read_window(const span_reading_input *in, const passage *p, size_t begin, size_t end,
                       reader_ends *ends, fo_err *err) {
    return reader_spans(in->reader, in->question, p->title, p->text + begin, end - begin, ends,
                        err);
}

/* The written words are bytes [from, to) of the passage. */
static int hold_against(bool *holds, const span_reading_input *in, size_t from, size_t to,
                        fo_err *err) {
    size_t begin, end;
    reader_ends ends;
    window_of(in->passage, in->start, in->end, &begin, &end);
    int rc = read_window(in, in->passage, begin, end, &ends, err);
    if (rc) return rc;
    const uint32_t a = (uint32_t)(from - begin), b = (uint32_t)(to - begin);
    const reader_answer best = reader_ends_best(&ends, 0, (uint32_t)(end - begin)),
                        own = reader_ends_best(&ends, a, b);
    *holds = (best.begin < b && best.end > a) || !isfinite(own.score) ||
             own.score >= best.score - most_behind;
    const bool seen =
        !in->lead || (in->lead == in->passage && in->lead_start < end && in->lead_end > begin);
    if (seen || !*holds) return FO_OK;
    const float said = own.score - ends.none;
    window_of(in->lead, in->lead_start, in->lead_end, &begin, &end);
    rc = read_window(in, in->lead, begin, end, &ends, err);
    if (rc) return rc;
    const reader_answer other = reader_ends_best(&ends, 0, (uint32_t)(end - begin));
    *holds = said >= other.score - ends.none - most_behind;
    return FO_OK;
}

static bool can_tell(const span_reading_input *in) {
    return in->reader && reader_has_spans(in->reader) &&
           cross_reading_is_english(in->passage, in->lx->analyzer);
}

int span_reading_holds(bool *holds, const span_reading_input *in, fo_err *err) {
    *holds = true;
    if (!can_tell(in)) return FO_OK;
    fact_text support = {0}, answer = {0}, asked = {0};
    size_t from = 0, to = 0;
    int rc = read_all(in, &support, &answer, &asked, err);
    if (!rc && find(&support, &answer, &asked, &from, &to))
        rc = hold_against(holds, in, in->start + from, in->start + to, err);
    fact_text_deinit(&support);
    fact_text_deinit(&answer);
    fact_text_deinit(&asked);
    return rc;
}

/* ---- short answers -------------------------------------------------------------------------- */

/* Where s says words [0, n), white space apart, from its beginning on; 0: it does not. */
static size_t says_here(const char *s, size_t len, const char *words, size_t n) {
    size_t i = 0, k = 0;
    while (k < n) {
        if (is_blank(words[k])) {
            if (i == len || !is_blank(s[i])) return 0;
            while (k < n && is_blank(words[k])) k++;
            while (i < len && is_blank(s[i])) i++;
        } else if (i == len || s[i++] != words[k++]) {
            return 0;
        }
    }
    return i;
}

/* Bytes [*from, *to) of the answer that say the words, on one line. */
static bool find_said(const span_reading_input *in, const char *words, size_t n, size_t *from,
                      size_t *to) {
    for (size_t i = 0; n && i < in->n_answer; i++) {
        const size_t said = says_here(in->answer + i, in->n_answer - i, words, n);
        if (!said) continue;
        if (memchr(in->answer + i, '\n', said)) return false;
        *from = i;
        *to = i + said;
        return true;
    }
    return false;
}

/* A list is an answer as a whole. */
static bool is_list(const char *s, size_t n) {
    size_t items = 0, room;
    for (const char *line = s, *end = s + n; line < end; line += room) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        room = stop ? (size_t)(stop - line) + 1 : (size_t)(end - line);
        items += text_item_mark(line, room) > 0;
    }
    return items > 1;
}

int span_reading_short(size_t *from, size_t *to, const span_reading_input *in, fo_err *err) {
    *from = *to = 0;
    if (!can_tell(in) || is_list(in->answer, in->n_answer)) return FO_OK;
    size_t begin, end;
    reader_ends ends;
    window_of(in->passage, in->start, in->end, &begin, &end);
    int rc = read_window(in, in->passage, begin, end, &ends, err);
    if (rc) return rc;
    const reader_answer best =
        reader_ends_best(&ends, (uint32_t)(in->start - begin), (uint32_t)(in->end - begin));
    const size_t n = best.end - best.begin;
    if (!n || n > SHORT || best.score - ends.none < sure) return FO_OK;
    const char *words = in->passage->text + begin + best.begin;
    fo_buf own = {0}; /* with what limits an amount */
    rc = own_words(&own,
                   &(own_words_input){.analyzer = in->lx->analyzer,
                                      .answer = words,
                                      .n_answer = n,
                                      .span = in->passage->text + in->start,
                                      .n_span = in->end - in->start,
                                      .question = in->question},
                   err);
    if (!rc && !(own.len <= SHORT && find_said(in, own.data, own.len, from, to)))
        (void)find_said(in, words, n, from, to);
    fo_buf_free(&own);
    return rc;
}
