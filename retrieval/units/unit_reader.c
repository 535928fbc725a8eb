#include "retrieval/units/unit_reader.h"

#include <stdlib.h>
#include <string.h>

#include "data/chunk/chunk.h"
#include "data/chunk/line_break.h"
#include "kernels/buf.h"
#include "kernels/utf8.h"
#include "kernels/words.h"

int unit_reader_add(unit_reader *r, uint32_t start, uint32_t end, uint8_t kind, uint32_t head_start,
                    uint32_t head_end, uint8_t head_kind) {
    text_units *u = r->out;
    if (start >= end) return FO_OK;
    if (u->n == u->cap) {
        size_t cap = u->cap ? 2 * u->cap : 32, bytes;
        text_unit *p = fo_mul_size(cap, sizeof *p, &bytes) ? realloc(u->v, bytes) : NULL;
        if (!p) return fo_fail(r->err, FO_ENOMEM, "out of memory for the units of a text");
        u->v = p;
        u->cap = cap;
    }
    u->v[u->n++] = (text_unit){.start = start,
                               .end = end,
                               .head_start = head_start,
                               .head_end = head_end,
                               .body = start,
                               .kind = kind,
                               .head_kind = head_kind};
    return FO_OK;
}

size_t unit_reader_stop(const unit_reader *r, size_t end, size_t at) {
    return sentence_end(r->in.text - r->in.before, r->in.before + end, r->in.before + at) -
           r->in.before;
}

bool unit_reader_ends_line(const unit_reader *r, size_t i) {
    size_t newline = r->in.v[i].end;
    while (newline < r->in.len && r->in.text[newline] != '\n') newline++;
    return line_break_ends(r->in.text - r->in.before, r->in.before + r->in.len,
                           r->in.before + r->in.v[i].start, r->in.before + newline);
}

/* [*a, *b) without the white space at its ends. */
static void trim(const unit_reader *r, uint32_t *a, uint32_t *b) {
    while (*a < *b && fo_is_blank(r->in.text[*a])) ++*a;
    while (*b > *a && fo_is_blank(r->in.text[*b - 1])) --*b;
}

/* "No. Below 20 euros we charge for handling.": one word says too little by itself. A sentence of Chinese has no blanks, either. */
static bool is_one_word(const char *s, size_t n) {
    enum { UNSPACED = 5 }; /* characters of such a word at most, with its stop */
    size_t unspaced = 0;
    for (size_t i = 0, bytes; i < n; i += bytes) {
        int32_t cp;
        if (fo_is_blank(s[i]) || fo_is_digit(s[i])) return false;
        bytes = fo_utf8_decode(s + i, n - i, &cp);
        if (fo_utf8_is_unspaced(cp) && ++unspaced > UNSPACED) return false;
    }
    return n > 1;
}

/* "Cats, no.": a few words of which the last denies. They take something of the sentence before, and say nothing alone. */
static bool only_denies(const char *s, size_t n) {
    enum { MOST_WORDS = 4 };
    size_t words = 0, last = 0, end = n;
    bool comma = false; /* before the last word: "It is not." is a sentence */
    while (end > 0 && strchr(".!", s[end - 1])) end--;
    for (size_t i = 0; i < end; i++) {
        const bool blank = fo_is_blank(s[i]);
        if (blank || (i > 0 && !fo_is_blank(s[i - 1]))) continue;
        words++;
        last = i;
        comma = i > 1 && s[i - 2] == ',';
    }
    return end < n && words > 1 && words <= MOST_WORDS && (comma || words == 2) &&
           fo_words_have_any_case("no not n\xC3\xA3o nein nicht non pas", s + last, end - last);
}

uint32_t unit_reader_denial_end(const unit_reader *r, uint32_t end, uint32_t at) {
    if (at >= end) return at;
    size_t stop = unit_reader_stop(r, end, at);
    if (stop <= at || stop > end) stop = end;
    uint32_t a = at, b = (uint32_t)stop;
    trim(r, &a, &b);
    return only_denies(r->in.text + a, b - a) ? b : at;
}

int unit_reader_add_sentences(unit_reader *r, uint32_t start, uint32_t end, uint8_t kind,
                              uint32_t head_start, uint32_t head_end, uint8_t head_kind) {
    int rc = FO_OK;
    for (uint32_t at = start; !rc && at < end;) {
        size_t stop = unit_reader_stop(r, end, at);
        if (stop <= at || stop > end) stop = end;
        uint32_t a = at, b = (uint32_t)stop;
        trim(r, &a, &b);
        if (stop < end && is_one_word(r->in.text + a, b - a)) {
            stop = unit_reader_stop(r, end, stop);
            if (stop <= b || stop > end) stop = end;
            b = (uint32_t)stop;
            trim(r, &a, &b);
        }
        at = (uint32_t)stop;
        for (uint32_t over; (over = unit_reader_denial_end(r, end, at)) > at;) at = b = over;
        rc = unit_reader_add(r, a, b, kind, head_start, head_end, head_kind);
    }
    return rc;
}

uint32_t unit_reader_last_sentence(const unit_reader *r, uint32_t start, uint32_t stop) {
    uint32_t last = start;
    for (uint32_t at = start; at < stop;) {
        const size_t end = unit_reader_stop(r, stop, at);
        if (end <= at || end >= stop) break;
        at = (uint32_t)end;
        while (at < stop && fo_is_blank(r->in.text[at])) at++;
        last = at;
    }
    return last;
}
