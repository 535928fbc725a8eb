/* Words are found by a table for ASCII and by utf8proc's categories beyond it. Folding and
 * stemming of a word cost ten times what finding it does, so a direct-mapped cache keyed by the
 * word's bytes stands before them: text repeats its words. It is half a megabyte, so only analyzers
 * that read more than questions have one. */
#include "index/sparse/analyze.h"

#include <libstemmer.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>
#include "index/sparse/devanagari.h"
#include "index/sparse/language.h"
#include "index/sparse/stopwords.h"
#include "index/format/term_hash.h"
#include "kernels/utf8.h"

const analysis_change analysis_changes[] = {
    {1, "\xD8", "\xDC"},         /* Arabic: ends of words that are written in two ways */
    {1, "\xE0\xA4", "\xE0\xA6"}, /* Devanagari: the dot below, the moon-dot, figures */
    {0, NULL, NULL},
};

enum {
    TERM_MAX = 255,
    CACHE_SLOTS = 1 << 13,
    CACHE_WORD = 30,
    CACHE_FROM = 4096, /* bytes read */
    STOP_SLOTS = 512,
};

typedef struct cached_word {
    uint8_t word_len, stem_len;
    bool stop;
    char word[CACHE_WORD], stem[CACHE_WORD + 1];
} cached_word;

struct analyzer {
    struct sb_stemmer *stemmer;   /* NULL: terms are the folded words */
    bool possessive;              /* English: 's is dropped */
    bool apostrophe_divides;      /* elisions (l'homme) are words of their own */
    bool strip_accents;           /* Latin accents: kept where the stemmer needs them */
    bool arabic;                  /* ends of words are written in two ways */
    bool devanagari;              /* its spellings of one word are folded */
    const char *stop[STOP_SLOTS]; /* hash set of pointers into the list, each ending at a space */
    int32_t *points;              /* scratch of the folding, 4 * n_points bytes */
    size_t n_points;
    char folded[TERM_MAX + 1];
    size_t n_read;
    cached_word *cache;             /* [CACHE_SLOTS] or NULL */
    const char *language;           /* NULL: "none", or a name that language.h does not know */
    analyzer *others[LANGUAGE_MAX]; /* by number, made when first asked for */
};

enum { SEPARATOR = 0, LOWER = 1, UPPER = 2, DIGIT = 4, ALNUM = LOWER | UPPER | DIGIT };
#define ROW10(x) x, x, x, x, x, x, x, x, x, x
#define ROW26(x) ROW10(x), ROW10(x), x, x, x, x, x, x
static const uint8_t ascii_class[128] = {
    [0] = SEPARATOR, [48] = ROW10(DIGIT), [65] = ROW26(UPPER), [97] = ROW26(LOWER)};

static bool is_stop(const analyzer *a, const char *word, size_t len) {
    for (uint32_t h = term_hash(word, len);; h++) {
        const char *s = a->stop[h % STOP_SLOTS];
        if (!s) return false;
        if (strncmp(s, word, len) == 0 && (s[len] == ' ' || s[len] == 0)) return true;
    }
}

/* Written without spaces: its terms are characters and pairs of them. */
static bool is_stemless(int language) {
    static const char *const names[] = {"chinese", "japanese", "korean", "thai"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (language >= 0 && language == language_number(names[i])) return true;
    return false;
}

int analyzer_create(analyzer **out, const char *language, fo_err *err) {
    analyzer *a = calloc(1, sizeof *a);
    if (!a) return fo_fail(err, FO_ENOMEM, "out of memory for the text analyser");
    int number = language_number(language);
    bool english = strcmp(language, "english") == 0, none = strcmp(language, "none") == 0;
    bool stemless = none || is_stemless(number);
    a->language = language_name(number);
    if (!stemless) {
        a->stemmer = sb_stemmer_new(english ? "porter" : language, "UTF_8");
        if (!a->stemmer) {
            free(a);
            return fo_fail(err, FO_EINVAL, "no stemmer for the language '%.40s'", language);
        }
    }
    a->possessive = english;
    a->apostrophe_divides = !english && !stemless;
    a->strip_accents = english || stemless;
    a->arabic = strcmp(language, "arabic") == 0;
    a->devanagari = strcmp(language, "hindi") == 0;
    for (const char *s = stopwords_of(language); *s;) {
        size_t n = strcspn(s, " ");
        uint32_t h = term_hash(s, n);
        while (a->stop[h % STOP_SLOTS]) h++;
        a->stop[h % STOP_SLOTS] = s;
        s += n + (s[n] == ' ');
    }
    *out = a;
    return FO_OK;
}

void analyzer_free(analyzer *a) {
    if (!a) return;
    if (a->stemmer) sb_stemmer_delete(a->stemmer);
    for (size_t i = 0; i < LANGUAGE_MAX; i++) analyzer_free(a->others[i]);
    free(a->points);
    free(a->cache);
    free(a);
}

analyzer *analyzer_in(analyzer *a, int language) {
    const char *name = language_name(language);
    if (!name || (a->language && strcmp(a->language, name) == 0)) return a;
    if (!a->others[language]) analyzer_create(&a->others[language], name, NULL);
    return a->others[language] ? a->others[language] : a;
}

int analyzer_language(const analyzer *a) {
    return a->language && strcmp(a->language, "english") != 0 ? language_number(a->language) : -1;
}

analyzer *analyzer_for_text(analyzer *a, const char *text, size_t len, int *language) {
    int told = a->language ? language_of(text, len, a->language) : -1;
    analyzer *own = analyzer_in(a, told);
    if (language) *language = own == a ? -1 : told;
    return own;
}

analyzer *analyzer_for_answer(analyzer *a, const char *text, size_t len, const char *question) {
    analyzer *own = analyzer_for_text(a, text, len, NULL);
    if (own != a || !a->language) return own;
    const size_t n = strlen(question);
    const int asked = language_across(question, n, a->language);
    if (asked < 0) return a;
    const int told = language_of_question(text, len, a->language, UINT64_C(1) << asked);
    return told == asked || told == LANGUAGE_UNTOLD ? analyzer_in(a, asked) : a;
}

bool analyze_is_unspaced(int32_t cp) {
    return (cp >= 0x0E00 && cp <= 0x0EFF) || /* Thai, Lao */
           (cp >= 0x1000 && cp <= 0x109F) || /* Myanmar */
           (cp >= 0x1100 && cp <= 0x11FF) || /* Hangul Jamo */
           (cp >= 0x1780 && cp <= 0x17FF) || /* Khmer */
           (cp >= 0x3005 && cp <= 0x3007) || /* iteration marks */
           (cp >= 0x3041 && cp <= 0x30FF) || /* Hiragana, Katakana */
           (cp >= 0x3130 && cp <= 0x318F) || /* Hangul compatibility Jamo */
           (cp >= 0x31F0 && cp <= 0x31FF) || /* Katakana extensions */
           (cp >= 0x3400 && cp <= 0x4DBF) || /* CJK extension A */
           (cp >= 0x4E00 && cp <= 0x9FFF) || /* CJK */
           (cp >= 0xAC00 && cp <= 0xD7FF) || /* Hangul syllables */
           (cp >= 0xF900 && cp <= 0xFAFF) || /* compatibility ideographs */
           (cp >= 0xFF66 && cp <= 0xFF9F) || /* half-width Katakana */
           (cp >= 0x20000 && cp <= 0x3FFFF); /* CJK extensions */
}

typedef enum point_kind { POINT_OTHER, POINT_WORD, POINT_MARK, POINT_UNSPACED } point_kind;

static bool is_word_kind(utf8proc_category_t kind) {
    switch (kind) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
        return true;
    default:
        return false;
    }
}

bool analyze_is_of_word(int32_t cp) {
    return cp >= 0 && is_word_kind(utf8proc_category(cp));
}

static point_kind kind_of(int32_t cp) {
    if (cp < 0) return POINT_OTHER;
    const utf8proc_category_t kind = utf8proc_category(cp);
    if (is_word_kind(kind)) return analyze_is_unspaced(cp) ? POINT_UNSPACED : POINT_WORD;
    switch (kind) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
        return POINT_MARK;
    default: /* soft hyphen and zero-width joiners live inside words; folding removes them */
        return cp == 0xAD || cp == 0x200C || cp == 0x200D || cp == 0x2060 ? POINT_MARK
                                                                          : POINT_OTHER;
    }
}

/* Points are decomposed before. Returns how many are left. */
static utf8proc_ssize_t fold_devanagari(int32_t *p, utf8proc_ssize_t n) {
    utf8proc_ssize_t m = 0;
    for (utf8proc_ssize_t i = 0; i < n; i++) {
        const int32_t cp = devanagari_fold(p[i], m > 0 ? p[m - 1] : 0);
        if (cp) p[m++] = cp;
    }
    return m;
}

/* NFKC case folding of valid UTF-8 into a->folded; returns the length, 0 when nothing is left. */
static size_t fold(analyzer *a, const char *s, size_t len) {
    if (len > 4 * TERM_MAX) { /* bounded work; the term is cut anyway */
        len = 4 * TERM_MAX;
        while (!fo_utf8_boundary(s[len])) len--;
    }
    const utf8proc_option_t how = UTF8PROC_STABLE | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD |
                                  UTF8PROC_IGNORE | UTF8PROC_DECOMPOSE;
    utf8proc_ssize_t n;
    for (;;) {
        n = utf8proc_decompose((const utf8proc_uint8_t *)s, (utf8proc_ssize_t)len, a->points,
                               (utf8proc_ssize_t)a->n_points, how);
        if (n < 0) return 0;
        /* reencode turns the array into text in place and writes a NUL behind it */
        if ((size_t)n < a->n_points) break;
        size_t want = (size_t)n + 64;
        int32_t *p = realloc(a->points, (want + 1) * sizeof *p);
        if (!p) return 0;
        a->points = p;
        a->n_points = want;
    }
    for (utf8proc_ssize_t i = 0; i < n; i++)
        if (a->points[i] == 0x2019) a->points[i] = '\'';
    if (a->strip_accents) {
        utf8proc_ssize_t m = 0;
        for (utf8proc_ssize_t i = 0; i < n; i++)
            if (a->points[i] < 0x300 || a->points[i] > 0x36F) a->points[m++] = a->points[i];
        n = m;
    }
    if (a->devanagari) n = fold_devanagari(a->points, n);
    n = utf8proc_reencode(a->points, n, UTF8PROC_STABLE | UTF8PROC_COMPOSE);
    if (n <= 0) return 0;
    size_t size = (size_t)n;
    const char *text = (const char *)a->points;
    if (size > TERM_MAX) {
        size = TERM_MAX;
        while (!fo_utf8_boundary(text[size])) size--;
    }
    memcpy(a->folded, text, size);
    return size;
}

static size_t drop_possessive(const char *s, size_t n) {
    return n > 2 && s[n - 1] == 's' && s[n - 2] == '\'' ? n - 2 : n;
}

/* "المكتبه" as "المكتبة" and "مستشفى" as "مستشفي", whose ends the stemmer takes off; what ends in a pronoun, "كتابه", loses that so, too. */
static void end_as_usual(char *word, size_t n) {
    enum { LETTER = 2, LEAST = 4 * LETTER };
    static const struct { const char *end, *usual; } ends[] = {{"ه", "ة"}, {"ى", "ي"}};
    for (size_t i = 0; n >= LEAST && i < sizeof ends / sizeof *ends; i++)
        if (!memcmp(word + n - LETTER, ends[i].end, LETTER))
            memcpy(word + n - LETTER, ends[i].usual, LETTER);
}

/* Fold, look for stop words and stem one word; fills t->term, len and stop. False: nothing left. */
static bool reduce(analyzer *a, const char *word, size_t len, bool ascii, analyzed_term *t) {
    char lower[CACHE_WORD] = "";
    cached_word *slot = NULL;
    if (len <= CACHE_WORD) {
        if (ascii) {
            for (size_t i = 0; i < len; i++)
                lower[i] = (char)(word[i] | (ascii_class[(unsigned char)word[i]] & UPPER) << 4);
            word = lower;
        }
        if (a->cache) slot = &a->cache[term_hash(word, len) % CACHE_SLOTS];
        if (slot && slot->word_len == len && memcmp(slot->word, word, len) == 0) goto cached;
    }
    size_t n;
    if (ascii) {
        n = len < TERM_MAX ? len : TERM_MAX;
        for (size_t i = 0; i < n; i++)
            a->folded[i] = (char)(word[i] | (ascii_class[(unsigned char)word[i]] & UPPER) << 4);
    } else {
        n = fold(a, word, len);
    }
    if (a->possessive) n = drop_possessive(a->folded, n);
    if (n == 0) return false;
    bool stop = is_stop(a, a->folded, n);
    const char *stem = a->folded;
    if (a->arabic && !stop) end_as_usual(a->folded, n);
    if (a->stemmer) {
        const sb_symbol *s = sb_stemmer_stem(a->stemmer, (const sb_symbol *)stem, (int)n);
        int m = s ? sb_stemmer_length(a->stemmer) : 0;
        if (m > 0 && m <= TERM_MAX) {
            stem = (const char *)s;
            n = (size_t)m;
        }
    }
    if (!slot || n > sizeof slot->stem) {
        t->term = stem;
        t->len = n;
        t->stop = stop;
        return true;
    }
    slot->word_len = (uint8_t)len;
    memcpy(slot->word, word, len);
    slot->stem_len = (uint8_t)n;
    memcpy(slot->stem, stem, n);
    slot->stop = stop;
cached:
    t->term = slot->stem;
    t->len = slot->stem_len;
    t->stop = slot->stop;
    return true;
}

typedef struct scan {
    analyzer *a;
    const char *text;
    size_t len;
    analyze_fn *fn;
    void *ctx;
    size_t position;
} scan;

static int emit(scan *s, size_t start, size_t end, bool ascii, bool part) {
    analyzed_term t = {.start = start, .end = end, .position = s->position, .part = part};
    if (!reduce(s->a, s->text + start, end - start, ascii, &t)) return 0;
    return s->fn(s->ctx, &t);
}

static size_t character_at(const scan *s, size_t i, int32_t *cp) {
    return fo_utf8_decode(s->text + i, s->len - i, cp);
}

/* One character of an unspaced script with the marks that follow it. */
static size_t cluster_end(const scan *s, size_t i) {
    int32_t cp;
    i += character_at(s, i, &cp);
    while (i < s->len && (unsigned char)s->text[i] >= 0x80) {
        size_t n = character_at(s, i, &cp);
        if (kind_of(cp) != POINT_MARK) break;
        i += n;
    }
    return i;
}

static int scan_unspaced(scan *s, size_t *at) {
    size_t previous = SIZE_MAX, i = *at;
    while (i < s->len) {
        int32_t cp;
        character_at(s, i, &cp);
        if (kind_of(cp) != POINT_UNSPACED) break;
        size_t end = cluster_end(s, i);
        int rc = emit(s, i, end, false, false);
        if (rc == 0 && previous != SIZE_MAX) rc = emit(s, previous, end, false, true);
        if (rc != 0) return rc;
        s->position++;
        previous = i;
        i = end;
    }
    *at = i;
    return 0;
}

static uint8_t class_at(const scan *s, size_t i) {
    unsigned char c = (unsigned char)s->text[i];
    return c < 0x80 ? ascii_class[c] : LOWER;
}

/* The parts of an identifier: cut at underscores, at aB, and at the last capital of ABc. */
static int emit_parts(scan *s, size_t start, size_t end) {
    size_t begin = start;
    for (size_t i = start; i <= end; i++) {
        bool under = i < end && s->text[i] == '_';
        bool cut = i == end || under;
        if (!cut && i > begin && class_at(s, i) == UPPER) {
            uint8_t before = class_at(s, i - 1);
            cut = (before & (LOWER | DIGIT)) ||
                  (before == UPPER && i + 1 < end && class_at(s, i + 1) == LOWER);
        }
        if (!cut) continue;
        if (i - begin > 1) {
            bool ascii = true;
            for (size_t j = begin; j < i; j++) ascii &= (unsigned char)s->text[j] < 0x80;
            int rc = emit(s, begin, i, ascii, true);
            if (rc != 0) return rc;
        }
        begin = i + under;
    }
    return 0;
}

/* True when a word goes on at byte i: the character there is no separator. */
static bool word_at(const scan *s, size_t i) {
    if (i >= s->len) return false;
    if ((unsigned char)s->text[i] < 0x80) return ascii_class[(unsigned char)s->text[i]] != 0;
    int32_t cp;
    character_at(s, i, &cp);
    return kind_of(cp) == POINT_WORD;
}

static int scan_word(scan *s, size_t *at) {
    const char *text = s->text;
    size_t start = *at, i = start;
    bool ascii = true, compound = false;
    uint8_t before = 0;
    size_t n_upper = 0; /* capitals just before: HTTPServer is a compound too */
    while (i < s->len) {
        unsigned char c = (unsigned char)text[i];
        if (c < 0x80) {
            uint8_t k = ascii_class[c];
            if (k) {
                compound |= (k == UPPER && before == LOWER) || (k == LOWER && n_upper > 1);
                n_upper = k == UPPER ? n_upper + 1 : 0;
                before = k;
                i++;
            } else if (c == '_') {
                size_t j = i + 1;
                while (j < s->len && text[j] == '_') j++;
                if (!word_at(s, j)) break;
                compound = true;
                before = 0;
                i = j;
            } else if (c == '\'' && !s->a->apostrophe_divides && word_at(s, i + 1)) {
                before = 0;
                i++;
            } else {
                break;
            }
            continue;
        }
        int32_t cp;
        size_t n = character_at(s, i, &cp);
        point_kind k = kind_of(cp);
        if (cp == 0x2019 && !s->a->apostrophe_divides && word_at(s, i + n)) k = POINT_MARK;
        if (k != POINT_WORD && k != POINT_MARK) break;
        ascii = false;
        before = cp == 0x2019 ? 0 : LOWER;
        n_upper = 0;
        i += n;
    }
    *at = i;
    int rc = emit(s, start, i, ascii, false);
    if (rc == 0 && compound) rc = emit_parts(s, start, i);
    s->position++;
    return rc;
}

int analyze(analyzer *a, const char *text, size_t len, analyze_fn *fn, void *ctx) {
    scan s = {.a = a, .text = text, .len = len, .fn = fn, .ctx = ctx};
    if (!a->cache && len >= CACHE_FROM - a->n_read)
        a->cache = calloc(CACHE_SLOTS, sizeof *a->cache); /* none: slower, and the same */
    else if (!a->cache)
        a->n_read += len;
    for (size_t i = 0; i < len;) {
        unsigned char c = (unsigned char)text[i];
        int rc = 0;
        if (c < 0x80) {
            if (!ascii_class[c]) {
                i++;
                continue;
            }
            rc = scan_word(&s, &i);
        } else {
            int32_t cp;
            size_t n = character_at(&s, i, &cp);
            point_kind k = kind_of(cp);
            if (k == POINT_UNSPACED) {
                rc = scan_unspaced(&s, &i);
            } else if (k == POINT_WORD) {
                rc = scan_word(&s, &i);
            } else {
                i += n;
            }
        }
        if (rc != 0) return rc;
    }
    return 0;
}
