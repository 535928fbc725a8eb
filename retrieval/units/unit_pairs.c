#include "retrieval/units/unit_pairs.h"

#include <string.h>

#include "kernels/utf8.h"

/* English, Italian, Spanish and Portuguese, German, French, Russian, Chinese and Japanese. */
static const struct pair {
    const char *question, *answer;
} pairs[] = {
    {"Q", "A"},
    {"Question", "Answer"},
    {"D", "R"},
    {"Domanda", "Risposta"},
    {"P", "R"},
    {"Pregunta", "Respuesta"},
    {"Pergunta", "Resposta"},
    {"F", "A"},
    {"Frage", "Antwort"},
    {"Q", "R"},
    {"Question", "R\xC3\xA9ponse"},
    {"\xD0\x92", "\xD0\x9E"},
    {"\xD0\x92\xD0\xBE\xD0\xBF\xD1\x80\xD0\xBE\xD1\x81",
     "\xD0\x9E\xD1\x82\xD0\xB2\xD0\xB5\xD1\x82"},
    {"\xE9\x97\xAE", "\xE7\xAD\x94"},
    {"\xE5\x95\x8F", "\xE7\xAD\x94"},
};
enum { PAIRS = sizeof pairs / sizeof *pairs, MOST_LINES = 4 /* of a question */ };

/* U+3000, which stands behind 問 and 答 in place of a colon. */
static bool is_wide_blank(const char *s, size_t n) {
    return n >= 3 && memcmp(s, "\xE3\x80\x80", 3) == 0;
}

/* Bytes of the word, a colon and blanks that n bytes at s begin with, bold or not: n where nothing follows, 0: they do not. */
static size_t mark_of(const char *s, size_t n, const char *word) {
    const size_t k = strlen(word);
    size_t at = 0;
    while (at < n && s[at] == '*') at++;
    if (n - at < k || memcmp(s + at, word, k) != 0) return 0;
    at += k;
    while (at < n && s[at] == '*') at++;
    if (n - at >= 3 && (memcmp(s + at, "\xEF\xBC\x9A", 3) == 0 ||
                        ((unsigned char)word[0] >= 0xE3 && is_wide_blank(s + at, n - at)))) {
        at += 3;
    } else {
        while (at < n && s[at] == ' ') at++;
        if (at >= n || s[at] != ':' || (at + 1 < n && !strchr(" *\n", s[at + 1]))) return 0;
        at++;
    }
    for (;;)
        if (at < n && strchr(" *\n", s[at]))
            at++;
        else if (is_wide_blank(s + at, n - at))
            at += 3;
        else
            return at;
}

static bool has_question_mark(const char *s, size_t n) {
    while (n && strchr("* ", s[n - 1])) n--;
    return n && (s[n - 1] == '?' || (n >= 3 && memcmp(s + n - 3, "\xEF\xBC\x9F", 3) == 0));
}

bool unit_pairs_is_question(const char *s, size_t n) {
    for (size_t p = 0; p < PAIRS; p++)
        if (mark_of(s, n, pairs[p].question)) return true;
    return false;
}

static size_t marked(const unit_lines *l, size_t i, const char *word) {
    size_t n;
    const char *s = unit_lines_text(l, i, &n);
    const bool may = l->v[i].class == LINE_TEXT || l->v[i].class == LINE_HEADING;
    return may && !(i == 0 && l->goes_on) ? mark_of(s, n, word) : 0;
}

/* The line of the answer to the question that line i begins, 0: none follows. *last: the question's last line. */
static size_t answer_of(const unit_lines *l, size_t i, const struct pair *p, size_t *last) {
    if (!marked(l, i, p->question)) return 0;
    *last = i;
    for (size_t k = i + 1; k < l->n && k <= i + MOST_LINES; k++) {
        if (marked(l, k, p->answer)) return k;
        if (l->v[k].class == LINE_BLANK && k + 1 < l->n)
            return marked(l, k + 1, p->answer) ? k + 1 : 0;
        if (l->v[k].class != LINE_TEXT || marked(l, k, p->question)) return 0;
        *last = k;
    }
    return 0;
}

static void take(unit_lines *l, size_t i, size_t last, size_t answer, size_t mark) {
    l->v[i].class = LINE_HEADING;
    l->v[i].end = l->v[last].end;
    for (size_t k = i + 1; k < answer; k++) {
        l->v[k].class = LINE_BLANK;
        l->v[k].start = l->v[k].end;
    }
    l->v[answer].start += (uint32_t)mark;
    if (l->v[answer].start == l->v[answer].end) l->v[answer].class = LINE_BLANK; /* "A:" alone */
}

void unit_pairs_find(unit_lines *l) {
    for (size_t p = 0; p < PAIRS; p++) {
        size_t n = 0, last = 0;
        for (size_t i = 0; i < l->n && n < 2; i++) n += answer_of(l, i, &pairs[p], &last) > 0;
        for (size_t i = 0; n && i < l->n; i++) {
            const size_t answer = answer_of(l, i, &pairs[p], &last);
            const char *s = l->text + l->v[i].start;
            if (!answer || (n < 2 && !has_question_mark(s, l->v[last].end - l->v[i].start)))
                continue;
            take(l, i, last, answer, marked(l, answer, pairs[p].answer));
        }
    }
}
