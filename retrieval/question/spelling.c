#include "retrieval/question/spelling.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "kernels/utf8.h"
#include "kernels/words.h"

/* Letters of a word that is looked at; of one that may have another letter ("padel" is no slip of "panel"); and where no document has
 * what is meant ("scooter" is none of "shooter"). Names have a capital within the sentence: Hansen is not Hanson. */
enum {
    SHORTEST = 5,
    SHORTEST_OTHER = 6,
    SHORTEST_ALONE = 8,
    SHORTEST_FOREIGN = 7, /* of a language whose words are not known */
    SHORTEST_FOREIGN_OTHER = 9,
    SHORTEST_NAME = 6, /* two letters in the wrong order */
    SHORTEST_NAME_NUMBER = 7,
    SHORTEST_NAME_OTHER = 9,
    PART = 4, /* of a word that is made of others */
    LONGEST = 40,
};
enum {
    LATIN_TO_CYRILLIC = 0x590, /* scripts behind it are left: their words change within */
    MOST_WORDS = 8,            /* of a question, that are looked for: each may take some 30 ms */
    MOST_TRIED = 4,            /* candidates of a word, the most frequent first */
};

/* ---- two words --------------------------------------------------------------------------- */

typedef struct letters {
    int32_t cp[LONGEST];
    size_t n; /* 0: too long, or no UTF-8 */
} letters;

static letters letters_of(const char *s, size_t len) {
    letters l = {.n = 0};
    for (size_t at = 0; at < len;) {
        int32_t cp;
        at += fo_utf8_decode(s + at, len - at, &cp);
        if (cp < 0 || cp >= LATIN_TO_CYRILLIC || l.n == LONGEST) return (letters){.n = 0};
        l.cp[l.n++] = cp;
    }
    return l;
}

static bool ends_alike(const letters *a, size_t i, const letters *b, size_t j) {
    return a->n - i == b->n - j && !memcmp(a->cp + i, b->cp + j, (a->n - i) * sizeof *a->cp);
}

enum slip { SLIP_NONE, SLIP_ORDER, SLIP_NUMBER, SLIP_OTHER };

/* By its last letter it may be another form, or another word: "warranty" and "warrant". That of a stem may be hit: last_too. */
static enum slip slip_between(const letters *a, const letters *b, bool last_too) {
    size_t i = 0;
    if (!a->n || !b->n || a->cp[0] != b->cp[0]) return SLIP_NONE; /* the first letter is hit */
    while (i < a->n && i < b->n && a->cp[i] == b->cp[i]) i++;
    if (i == a->n && i == b->n) return SLIP_NONE;
    if (i + 1 < a->n && i + 1 < b->n && a->cp[i] == b->cp[i + 1] && a->cp[i + 1] == b->cp[i] &&
        ends_alike(a, i + 2, b, i + 2))
        return SLIP_ORDER;
    const bool last = a->cp[a->n - 1] == b->cp[b->n - 1];
    if (!last && (!last_too || a->n != b->n)) return SLIP_NONE;
    if ((i < a->n && ends_alike(a, i + 1, b, i)) || (i < b->n && ends_alike(a, i, b, i + 1)))
        return SLIP_NUMBER;
    return i < a->n && i < b->n && ends_alike(a, i + 1, b, i + 1) ? SLIP_OTHER : SLIP_NONE;
}

bool spelling_is_slip(const char *a, size_t n_a, const char *b, size_t n_b) {
    const letters x = letters_of(a, n_a), y = letters_of(b, n_b);
    return slip_between(&x, &y, false) != SLIP_NONE;
}

/* ---- one word of the question ------------------------------------------------------------- */

typedef struct candidate_word {
    char term[256];
    size_t n_term;
    char word[4 * LONGEST + 2]; /* "": it is the documents' that becomes the term */
    int rank;
    double idf;
} candidate_word;

typedef struct search {
    const spelling_source *s;
    letters asked, stem;
    letters one;                 /* the word without the s of a plural; n 0: it has none */
    bool name;                   /* the word is one, by its capital */
    bool compound;               /* ... may be made of two */
    char other[4 * LONGEST + 2]; /* what it may be of the language, and the documents have not */
    size_t n_others;
    candidate_word best[MOST_TRIED]; /* the most frequent first */
    size_t n;
} search;

typedef struct one_term {
    char term[256];
    size_t n;
    size_t words;
} one_term;

static int take_term(void *ctx, const analyzed_term *t) {
    one_term *o = ctx;
    if (t->part) return 0;
    o->words += t->stop ? 2 : 1;
    o->n = t->len < sizeof o->term ? t->len : 0;
    memcpy(o->term, t->term, o->n);
    return 0;
}

/* The term that a word becomes; n 0: it becomes several or none, or is a stop word. */
static one_term term_of(analyzer *a, const char *word, size_t n) {
    one_term o = {.n = 0};
    if (analyze(a, word, n, take_term, &o) || o.words != 1) o.n = 0;
    return o;
}

/* A slip of a whole word comes before one of a stem ("listne" is "listen", though "listn" is next to "list"), another letter behind
 * both, and of the same kind the more frequent first. */
static void offer(search *f, enum slip slip, const char *term, size_t n_term, const char *word,
                  size_t n_word) {
    const double idf = f->s->idf(f->s->ctx, term, n_term);
    const int rank = (n_word ? 0 : 2) + (slip == SLIP_OTHER);
    size_t at = f->n;
    for (size_t i = 0; i < f->n; i++)
        if (f->best[i].n_term == n_term && !memcmp(f->best[i].term, term, n_term) &&
            f->best[i].rank <= rank)
            return;
    while (at > 0 && (f->best[at - 1].rank > rank ||
                      (f->best[at - 1].rank == rank && f->best[at - 1].idf > idf)))
        at--;
    if (at == MOST_TRIED || n_term > sizeof f->best->term) return;
    if (f->n < MOST_TRIED) f->n++;
    memmove(&f->best[at + 1], &f->best[at], (f->n - at - 1) * sizeof *f->best);
    candidate_word *c = &f->best[at];
    *c = (candidate_word){.n_term = n_term, .rank = rank, .idf = idf};
    memcpy(c->term, term, n_term);
    memcpy(c->word, word, n_word);
}

/* Does such a slip tell so much of the word that is asked? listed: what it may be is a word of the language. */
static bool tells(const search *f, enum slip slip, bool listed) {
    const size_t n = f->asked.n;
    switch (slip) {
    case SLIP_NONE:
        return false;
    case SLIP_ORDER:
        return !f->name || n >= SHORTEST_NAME;
    case SLIP_NUMBER:
        return !f->name || n >= SHORTEST_NAME_NUMBER;
    case SLIP_OTHER:
        if (f->compound) return false;
        if (f->name) return listed && n >= SHORTEST_NAME_OTHER;
        return n >= (size_t)(f->s->english ? SHORTEST_OTHER : SHORTEST_FOREIGN_OTHER);
    }
    return false;
}

static bool is_of_calendar(const char *word, size_t n) {
    return fo_words_have_any_case(
        "monday tuesday wednesday thursday friday saturday sunday january "
        "february march april june july august september october "
        "november december christmas easter",
        word, n);
}

/* A word of the language, whose letters are l, or its plural, asked for in one. */
static void try_form(search *f, const letters *asked, const letters *l, const char *word,
                     size_t len, const char *ending) {
    char form[4 * LONGEST + 2];
    if (len + strlen(ending) >= sizeof form - 1) return;
    const enum slip slip = slip_between(asked, l, false);
    if (slip == SLIP_NONE || !(tells(f, slip, true) || is_of_calendar(word, len))) return;
    const size_t n = (size_t)snprintf(form, sizeof form, "%.*s%s", (int)len, word, ending);
    const one_term t = term_of(f->s->words, form, n);
    if (t.n && f->s->has_term(f->s->ctx, t.term, t.n))
        offer(f, slip, t.term, t.n, form, n);
    else if (!f->compound && (slip != SLIP_OTHER || f->asked.n >= SHORTEST_ALONE) &&
             f->n_others++ == 0)
        memcpy(f->other, form, n + 1);
}

static void try_word(void *ctx, const char *word, size_t len) {
    search *f = ctx;
    const letters l = letters_of(word, len);
    if (l.n < SHORTEST - 1) return;
    try_form(f, &f->asked, &l, word, len, "");
    if (f->one.n) try_form(f, &f->one, &l, word, len, "s");
}

/* A term of the documents, that of a name or a word of their own. */
static void try_term(void *ctx, const char *term, size_t len) {
    search *f = ctx;
    const letters l = letters_of(term, len);
    const bool stripped = f->stem.n < f->asked.n; /* its last letter is one within the word */
    const enum slip slip = slip_between(&f->stem, &l, stripped);
    if (l.n < SHORTEST - 1 || !tells(f, slip, false)) return;
    for (size_t i = 0; i < len; i++)
        if (!fo_is_letter(term[i]) && (unsigned char)term[i] < 0x80) return;
    offer(f, slip, term, len, "", 0);
}

/* A word of the language, or a form of one: "padlocks", "refunded", "warranty". */
static bool is_inflected(const spelling_source *s, const char *word, size_t n) {
    static const char *const endings[] = {"",    "s",  "es",   "d",    "ed",   "ing", "ly", "er",
                                          "ers", "'s", "able", "ness", "less", "ful", "y",  "ment"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const size_t e = strlen(endings[i]);
        if (n < e + 3 || memcmp(word + n - e, endings[i], e) != 0) continue;
        char stem[4 * LONGEST + 2];
        const size_t m = n - e;
        if (m + 1 >= sizeof stem) return true;
        memcpy(stem, word, m);
        stem[m] = 'e'; /* "cycling" */
        if (s->is_word(s->ctx, stem, m) || (e && s->is_word(s->ctx, stem, m + 1))) return true;
        if (e && m > 3 && stem[m - 1] == stem[m - 2] && s->is_word(s->ctx, stem, m - 1))
            return true; /* "stopped" */
        if (e && stem[m - 1] == 'i') {
            stem[m - 1] = 'y'; /* "carried" */
            if (s->is_word(s->ctx, stem, m)) return true;
        }
    }
    return false;
}

/* ... or one with something before it: "unsaved". */
static bool is_known(const spelling_source *s, const char *word, size_t n) {
    static const char *const prefixes[] = {"un", "re", "non", "pre", "dis", "mis", "over"};
    if (is_inflected(s, word, n)) return true;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        const size_t m = strlen(prefixes[i]);
        if (n >= m + PART && !memcmp(word, prefixes[i], m) && is_inflected(s, word + m, n - m))
            return true;
    }
    return false;
}

/* May it be made of two words: "boardwalk", but "diretory", too? */
static bool is_compound(const spelling_source *s, const char *word, size_t n) {
    for (size_t at = PART; at + PART <= n; at++)
        if (s->is_word(s->ctx, word, at) && is_inflected(s, word + at, n - at)) return true;
    return false;
}

/* Does the documents' word end as the one that is asked does, behind its stem: "allotment" for "alloxment", not "profound" for
 * "propounded"? */
static bool ends_as_asked(const char *word, size_t n, size_t n_stem, const fo_buf *found) {
    enum { SHORT = 2 }; /* bytes of an ending that tells nothing */
    size_t m = n > n_stem ? n - n_stem : 0, k = found->len;
    if (m && word[n - 1] == 's') m--, n--;
    if (k && (found->data[k - 1] | 0x20) == 's' && (!n || word[n - 1] != 's')) k--;
    return m < SHORT || (k >= m && !strncasecmp(found->data + k - m, word + n - m, m));
}

/* Appends what the word, in small letters, is taken for; false: it is left. *searched counts those that were looked for. */
static bool mend_word(fo_buf *out, const char *word, size_t n, bool name, const spelling_source *s,
                      size_t *searched) {
    search f = {.s = s, .name = name, .asked = letters_of(word, n)};
    if (f.asked.n < (size_t)(s->english ? SHORTEST : SHORTEST_FOREIGN)) return false;
    const one_term t = term_of(s->words, word, n);
    if (!t.n || s->has_term(s->ctx, t.term, t.n)) return false;
    if (s->english && is_known(s, word, n)) return false;
    f.compound = s->english && is_compound(s, word, n);
    if (++*searched > MOST_WORDS) return false;
    f.stem = letters_of(t.term, t.n);
    if (f.asked.n > SHORTEST && word[n - 1] == 's') {
        f.one = f.asked;
        f.one.n--;
    }
    if (s->english) s->each_word(s->ctx, try_word, &f);
    if (f.stem.n >= SHORTEST - 1) s->each_term(s->ctx, try_term, &f);
    for (size_t i = 0; i < f.n; i++) {
        const candidate_word *c = &f.best[i];
        fo_buf found = {0};
        const bool there = s->word_of(s->ctx, c->term, c->n_term, &found) && found.len &&
                           (c->word[0] || ends_as_asked(word, n, t.n, &found));
        if (there && c->word[0])
            fo_buf_str(out, c->word);
        else if (there)
            fo_buf_add(out, found.data, found.len);
        if (found.failed) out->failed = true;
        fo_buf_free(&found);
        if (there || out->failed) return there;
    }
    /* No word of the documents: the only one of the language, "dentist" where they speak of dental care. */
    if (f.n == 0 && f.n_others == 1) fo_buf_str(out, f.other);
    return f.n == 0 && f.n_others == 1;
}

/* ---- the question ------------------------------------------------------------------------ */

static bool is_letter_byte(char c) {
    return fo_is_letter(c) || (unsigned char)c >= 0x80;
}

/* May a word stand between these: "(libary?", not "no_cache", "a.conf", "--libary", "'libary'"? */
static bool stands_free(const char *text, size_t len, size_t start, size_t end) {
    if (end + 1 < len && text[end] == '\'' && (text[end + 1] == 's' || fo_is_blank(text[end + 1])))
        end += text[end + 1] == 's' ? 2 : 1; /* "libary's", "keepers'" */
    const char before = start ? text[start - 1] : ' ', behind = end < len ? text[end] : ' ',
               next = end + 1 < len ? text[end + 1] : ' ';
    return (fo_is_blank(before) || before == '(') &&
           (fo_is_blank(behind) ||
            (strchr("?!.,;:)", behind) && (fo_is_blank(next) || next == '?' || next == ')')));
}

/* Is it written as a word of a sentence or as a name: no "iPhone", no "NASA"? small gets it in small letters. */
static bool is_plain(const char *text, size_t start, size_t end, char *small) {
    const size_t n = end - start;
    if (n > 4 * LONGEST) return false;
    for (size_t i = 0; i < n; i++) {
        const char c = text[start + i];
        if (fo_is_upper(c) && i > 0) return false;
        small[i] = fo_is_upper(c) ? (char)(c | 0x20) : c;
    }
    return true;
}

/* As it was written: with a capital at its beginning. */
static void add_as(fo_buf *out, const char *word, size_t n, bool capital) {
    const size_t from = out->len;
    fo_buf_add(out, word, n);
    if (capital && !out->failed && n && out->data[from] >= 'a' && out->data[from] <= 'z')
        out->data[from] = (char)(out->data[from] & ~0x20);
}

bool spelling_mend(fo_buf *out, const char *question, const spelling_source *s) {
    const size_t len = strlen(question);
    fo_buf mended = {0}, word = {0};
    char small[4 * LONGEST + 1];
    size_t kept = 0, searched = 0;
    bool any = false, first = true;
    for (size_t at = 0; at < len && searched < MOST_WORDS;) {
        if (!is_letter_byte(question[at])) {
            at++;
            continue;
        }
        const size_t start = at;
        while (at < len && is_letter_byte(question[at])) at++;
        if (stands_free(question, len, start, at) && is_plain(question, start, at, small)) {
            const bool name = fo_is_upper(question[start]) && !first;
            word.len = 0;
            if (mend_word(&word, small, at - start, name, s, &searched)) {
                fo_buf_add(&mended, question + kept, start - kept);
                add_as(&mended, word.data, word.len, fo_is_upper(question[start]));
                kept = at;
                any = true;
            }
        }
        first = false;
    }
    if (any) {
        fo_buf_str(&mended, question + kept);
        fo_buf_add(out, mended.data, mended.len);
    }
    if (mended.failed || word.failed) out->failed = true;
    fo_buf_free(&mended);
    fo_buf_free(&word);
    return any && !out->failed;
}
