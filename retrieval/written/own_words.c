#include "retrieval/written/own_words.h"

#include <string.h>
#include <strings.h>

#include "retrieval/text/facts.h"
#include "kernels/utf8.h"

enum {
    MOST_WORDS = 12,  /* of what is no sentence of its own yet */
    MOST_BESIDE = 3,  /* words that may stand between those of the answer */
    MOST_ASIDE = 40,  /* bytes of an amount in brackets */
    MOST_FOLLOW = 32, /* bytes of the one word more that a genitive needs */
    MOST_LIMIT = 10,  /* words of what limits an amount */
};

static bool has_content(const fact_text *t, uint64_t id) {
    for (size_t i = 0; i < t->n_words; i++)
        if (t->words[i].id == id && fact_is_content(&t->words[i])) return true;
    return false;
}

static bool denies(const fact_text *t, size_t first, size_t end) {
    for (size_t i = first; i < end; i++)
        if (t->words[i].flags & WORD_NEGATION) return true;
    return false;
}

static bool is_article(const fact_text *t, size_t i) {
    static const char *const articles[] = {"the", "a", "an"};
    const fact_word *w = &t->words[i];
    for (size_t k = 0; k < sizeof articles / sizeof *articles; k++)
        if (w->end - w->start == strlen(articles[k]) &&
            !strncasecmp(t->text + w->start, articles[k], w->end - w->start))
            return true;
    return false;
}

/* The content words of the answer, each once. 0: it is none to look for, a sentence, which says words of the question
 * again and has a grammar of its own. */
static size_t words_of(const fact_text *answer, const fact_text *question,
                       uint64_t ids[MOST_WORDS]) {
    size_t n = 0;
    if (!answer->n_words || answer->n_words > MOST_WORDS || answer->n_sentences > 1) return 0;
    if (!fact_is_content(&answer->words[0]) && !is_article(answer, 0))
        return 0; /* "It eats fish." */
    for (size_t i = 0; i < answer->n_words; i++) {
        const fact_word *w = &answer->words[i];
        if (!fact_is_content(w)) continue;
        if (has_content(question, w->id)) return 0;
        bool known = false;
        for (size_t k = 0; k < n && !known; k++) known = ids[k] == w->id;
        if (!known) ids[n++] = w->id;
    }
    return n;
}

/* The fewest neighbouring words of the span that hold all of ids: [*first, *end). */
static bool find_window(const fact_text *span, const uint64_t *ids, size_t n, size_t *first,
                        size_t *end) {
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < span->n_words; i++) {
        size_t met = 0;
        bool have[MOST_WORDS] = {false};
        for (size_t j = i; j < span->n_words && j - i + 1 < best; j++) {
            bool wanted = false;
            for (size_t k = 0; k < n; k++) {
                if (have[k] || span->words[j].id != ids[k]) continue;
                have[k] = wanted = true;
                met++;
            }
            if (j == i && !wanted) break;
            if (met < n) continue;
            best = j - i + 1;
            *first = i;
            *end = j + 1;
        }
    }
    return best != SIZE_MAX;
}

/* "Philip's" is nobody's answer, "Philip's forces" is. */
static bool is_genitive(const fact_text *t, const fact_word *w) {
    const char *s = t->text + w->start, *rest = t->text + w->end;
    size_t n = w->end - w->start, left = t->len - w->end;
    return (n > 2 && (!memcmp(s + n - 2, "'s", 2) || !memcmp(s + n - 2, "s'", 2))) ||
           (left > 2 && !memcmp(rest, "'s", 2)) ||
           (left > 4 && !memcmp(rest, "\xE2\x80\x99s", 4)) ||
           (n > 4 && !memcmp(s + n - 4, "\xE2\x80\x99s", 4));
}

/* The answer's last words may be no content, or said before: "from 1:00 a.m. to 6:00 a.m." */
static size_t with_its_end(const fact_text *span, size_t end, const fact_text *answer) {
    size_t at = answer->n_words;
    while (at > 0 && answer->words[at - 1].id != span->words[end - 1].id) at--;
    while (at > 0 && at < answer->n_words && end < span->n_words &&
           span->words[end].id == answer->words[at].id) {
        at++;
        end++;
    }
    return end;
}

/* Words behind the window that belong to it: what a genitive is of, and what the question calls it by. */
static size_t with_what_follows(const fact_text *span, size_t end, const fact_text *question) {
    while (end < span->n_words) {
        const fact_word *last = &span->words[end - 1], *next = &span->words[end];
        if (next->flags & WORD_PART) {
            end++;
            continue;
        }
        bool beside = next->start > last->end && next->start - last->end <= 4 &&
                      !(next->flags & (WORD_CLAUSE | WORD_INITIAL));
        bool genitive = is_genitive(span, last) && next->end - next->start < MOST_FOLLOW;
        bool asked = next->start - last->end == 1 && fact_is_content(next) &&
                     has_content(question, next->id);
        if (!beside || !(genitive || asked)) break;
        end++;
    }
    return end;
}

/* Words i - 1 and i stand beside each other, with a blank between them. */
static bool is_beside(const fact_text *t, size_t i) {
    return t->words[i].start == t->words[i - 1].end + 1 && !(t->words[i].flags & WORD_CLAUSE);
}

static bool has_number(const fact_text *t, size_t first, size_t end) {
    for (size_t i = first; i < end; i++)
        if (t->words[i].flags & (WORD_DIGIT | WORD_NUMERAL)) return true;
    return false;
}

/* "24 euros" is half an answer where it is "24 euros a year", as is "24 hours" for "24 hours before departure": what
 * limits an amount goes with it, to the end of its clause. */
static size_t with_its_limit(const fact_text *span, size_t first, size_t end) {
    static const char limits[] =
        "before after until till unless except without within from between if when per each";
    if (!has_number(span, first, end) || end >= span->n_words || !is_beside(span, end)) return end;
    if (fact_word_in(span, end, "a an every"))
        return end + 1 < span->n_words && is_beside(span, end + 1) ? end + 2 : end;
    if (fact_word_in(span, end, "of")) { /* "litres of diesel an hour" */
        const size_t rate = end + 2;
        const bool has = rate + 1 < span->n_words && fact_word_in(span, rate, "a an per every") &&
                         is_beside(span, rate) && is_beside(span, rate + 1);
        return has ? rate + 2 : end;
    }
    if (!fact_word_in(span, end, limits)) return end;
    size_t to = end + 1;
    while (to < span->n_words && to - end < MOST_LIMIT &&
           !(span->words[to].flags & (WORD_CLAUSE | WORD_INITIAL)))
        to++;
    return to - end < MOST_LIMIT ? to : end;
}

/* "At least", "not more than", "only" before an amount. */
static size_t with_its_bound(const fact_text *span, size_t first, size_t end) {
    static const char before[] =
        "only least most than about around approximately nearly almost minus";
    if (!has_number(span, first, end)) return first;
    while (first > 0 && is_beside(span, first) &&
           (fact_word_in(span, first - 1, before) ||
            (fact_word_in(span, first - 1, "at more less fewer not no") &&
             fact_word_in(span, first, "least most than more less fewer"))))
        first--;
    return first;
}

/* An amount in another unit stands in brackets behind it: "−2.8 °C (27.0 °F)". */
static size_t with_amount_aside(const fact_text *span, size_t from, size_t at) {
    bool digits = false;
    for (size_t i = from; i < at && !digits; i++)
        digits = span->text[i] >= '0' && span->text[i] <= '9';
    if (!digits || at + 3 > span->len || memcmp(span->text + at, " (", 2) != 0) return at;
    const char *close = memchr(span->text + at, ')', span->len - at);
    if (!close || (size_t)(close - span->text) - at > MOST_ASIDE) return at;
    const char *inner = span->text + at + 2;
    if (!(*inner >= '0' && *inner <= '9') && *inner != '-' && (unsigned char)*inner < 0x80)
        return at;
    return (size_t)(close - span->text) + 1;
}

static bool is_alnum(char c) {
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

/* The unit of a number, "°C" or "%", is no word, nor is what stands behind a mark within one, "6:00", "-b/c": up to the
 * next blank, or a mark with a blank behind it. */
static size_t with_signs(const fact_text *span, size_t at) {
    size_t end = at;
    while (end < span->len && !fo_is_blank(span->text[end])) {
        char c = span->text[end];
        bool within = strchr(",;:", c) && end + 1 < span->len && is_alnum(span->text[end + 1]);
        if (strchr(",;:()[]\"", c) && !within) break;
        end++;
    }
    while (end > at && strchr(".!?'", span->text[end - 1])) end--;
    return end;
}

static void say(fo_buf *out, const char *s, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (!fo_is_blank(s[i]))
            fo_buf_char(out, s[i]);
        else if (out->len && out->data[out->len - 1] != ' ')
            fo_buf_char(out, ' ');
    }
}

static bool is_full_stop(const char *s, size_t n) {
    return n && s[n - 1] == '.';
}

static bool is_doubled_blank(const char *s, size_t i) {
    return fo_is_blank(s[i]) && (i == 0 || fo_is_blank(s[i - 1]));
}

/* All but marks and doubled blanks, in order and without case. */
static bool says_the_same(const char *a, size_t n, const char *b, size_t m) {
    size_t i = 0, j = 0;
    for (;;) {
        while (i < n && (strchr(".,;:", a[i]) || is_doubled_blank(a, i))) i++;
        while (j < m && (strchr(".,;:", b[j]) || is_doubled_blank(b, j))) j++;
        if (i == n || j == m) return i == n && j == m;
        const bool blanks = fo_is_blank(a[i]) && fo_is_blank(b[j]);
        if (!blanks && strncasecmp(&a[i], &b[j], 1) != 0) return false;
        i++;
        j++;
    }
}

static void find(fo_buf *out, const own_words_input *in, const fact_text *answer,
                 const fact_text *span, const fact_text *question) {
    uint64_t ids[MOST_WORDS];
    size_t n = words_of(answer, question, ids), first = 0, end = 0;
    if (n == 0 || !find_window(span, ids, n, &first, &end)) return;
    if (end - first > answer->n_words + MOST_BESIDE) return;
    if (is_article(answer, 0) && first > 0 && is_article(span, first - 1)) first--;
    end = with_what_follows(span, with_its_end(span, end, answer), question);
    if (denies(span, first, end) != denies(answer, 0, answer->n_words)) return;
    first = with_its_bound(span, first, end);
    end = with_its_limit(span, first, end);
    size_t from = span->words[first].start, to = with_signs(span, span->words[end - 1].end);
    while (from > 0 && !fo_is_blank(span->text[from - 1]) &&
           !strchr(",;:()[]\"'", span->text[from - 1]))
        from--; /* a minus, a currency */
    to = with_amount_aside(span, from, to);
    if (says_the_same(span->text + from, to - from, in->answer, in->n_answer)) return;
    size_t start = out->len;
    say(out, span->text + from, to - from);
    bool capital = in->answer[0] >= 'A' && in->answer[0] <= 'Z';
    if (capital && !out->failed && out->data[start] >= 'a' && out->data[start] <= 'z')
        out->data[start] -= 'a' - 'A';
    if (is_full_stop(in->answer, in->n_answer) && !is_full_stop(out->data, out->len))
        fo_buf_char(out, '.');
}

int own_words(fo_buf *out, const own_words_input *in, fo_err *err) {
    fact_text answer = {0}, span = {0}, question = {0};
    int rc = fact_text_read(&answer, in->analyzer, in->answer, in->n_answer, err);
    if (!rc) rc = fact_text_read(&span, in->analyzer, in->span, in->n_span, err);
    if (!rc) rc = fact_text_read(&question, in->analyzer, in->question, strlen(in->question), err);
    if (!rc) find(out, in, &answer, &span, &question);
    if (!rc && out->failed) rc = fo_no_memory(err);
    fact_text_deinit(&answer);
    fact_text_deinit(&span);
    fact_text_deinit(&question);
    return rc;
}
