#include "engine/tokenizer/pretokenize.h"

#include <stdint.h>
#include <string.h>

#include "engine/tokenizer/unicode.h"
#include "kernels/utf8.h"

/* A character and where the next one begins. What is not UTF-8 is a character without a class. */
typedef struct glyph {
    int32_t cp;
    unsigned flags;
    size_t end;
} glyph;

static inline glyph look(const char *s, size_t n, size_t at) {
    unsigned char c = (unsigned char)s[at];
    if (c < 128) return (glyph){c, unicode_ascii[c], at + 1};
    glyph g;
    g.end = at + fo_utf8_decode(s + at, n - at, &g.cp);
    g.flags = unicode_flags_other(g.cp);
    return g;
}

enum { LN = UNICODE_LETTER | UNICODE_NUMBER, SLN = LN | UNICODE_SPACE };

/* The end of the run of characters with any bit of `in` and none of `out`; in = 0: any. */
static inline size_t run(const char *s, size_t n, size_t at, unsigned in, unsigned out) {
    while (at < n) {
        glyph g = look(s, n, at);
        if ((in && !(g.flags & in)) || (g.flags & out)) break;
        at = g.end;
    }
    return at;
}

static inline bool is_newline(char c) {
    return c == '\n' || c == '\r';
}

static size_t newlines(const char *s, size_t n, size_t at) {
    while (at < n && is_newline(s[at])) at++;
    return at;
}

static char fold(char c, bool any_case) {
    return any_case && c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

/* 's 't 're 've 'm 'll 'd; in any case, U+017F (long s) is an s too */
static size_t contraction(const char *s, size_t n, size_t at, bool any_case) {
    if (s[at] != '\'' || at + 1 >= n) return at;
    if (any_case && n - at > 2 && memcmp(s + at + 1, "\xC5\xBF", 2) == 0) return at + 3;
    char a = fold(s[at + 1], any_case);
    if (a == 's' || a == 't' || a == 'm' || a == 'd') return at + 2;
    if (at + 2 >= n) return at;
    char b = fold(s[at + 2], any_case);
    if (((a == 'r' || a == 'v') && b == 'e') || (a == 'l' && b == 'l')) return at + 3;
    return at;
}

/* \s+(?!\S)|\s+ : a run of white space, without its last character where a word follows. */
static size_t blanks(const char *s, size_t n, size_t at) {
    size_t last = at, end = at;
    while (end < n) {
        glyph g = look(s, n, end);
        if (!(g.flags & UNICODE_SPACE)) break;
        last = end;
        end = g.end;
    }
    return end < n && last > at ? last : end;
}

/* \s*[\r\n]+|\s+(?!\S)|\s+ */
static size_t lines_or_blanks(const char *s, size_t n, size_t at) {
    size_t end = at, after_newline = at;
    while (end < n) {
        glyph g = look(s, n, end);
        if (!(g.flags & UNICODE_SPACE)) break;
        end = g.end;
        if (is_newline((char)g.cp) && g.cp < 128) after_newline = end;
    }
    return after_newline > at ? after_newline : blanks(s, n, at);
}

/* \p{N}{1,3} */
static size_t up_to_3_digits(const char *s, size_t n, size_t at) {
    for (int k = 0; k < 3 && at < n; k++) {
        glyph g = look(s, n, at);
        if (!(g.flags & UNICODE_NUMBER)) break;
        at = g.end;
    }
    return at;
}

/* 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+ */
static size_t match_gpt2(const char *s, size_t n, size_t at) {
    size_t end = contraction(s, n, at, false);
    if (end > at) return end;
    size_t from = at + (s[at] == ' ' && at + 1 < n);
    glyph g = look(s, n, from);
    if (g.flags & UNICODE_LETTER) return run(s, n, g.end, UNICODE_LETTER, 0);
    if (g.flags & UNICODE_NUMBER) return run(s, n, g.end, UNICODE_NUMBER, 0);
    if (!(g.flags & UNICODE_SPACE)) return run(s, n, g.end, 0, SLN);
    return blanks(s, n, at);
}

/* The body that llama-3 and its children share:
 * (?i:contraction)|[^\r\n\p{L}\p{N}]?W+|\p{N}{1,D}| ?[^\s W \p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
 * where W is \p{L}, or \p{L}\p{M}. */
static inline size_t match_words(const char *s, size_t n, size_t at, bool single_digits,
                                 unsigned word) {
    size_t end = contraction(s, n, at, true);
    if (end > at) return end;
    glyph g = look(s, n, at);
    if (g.flags & word) return run(s, n, g.end, word, 0);
    if (!(g.flags & LN) && !is_newline(s[at]) && g.end < n) {
        glyph next = look(s, n, g.end);
        if (next.flags & word) return run(s, n, next.end, word, 0);
    }
    if (g.flags & UNICODE_NUMBER) return single_digits ? g.end : up_to_3_digits(s, n, at);
    if (s[at] == ' ' && at + 1 < n) g = look(s, n, at + 1);
    if (!(g.flags & (SLN | word))) return newlines(s, n, run(s, n, g.end, 0, SLN | word));
    return lines_or_blanks(s, n, at);
}

static size_t match_llama3(const char *s, size_t n, size_t at) {
    return match_words(s, n, at, false, UNICODE_LETTER);
}

static size_t match_qwen2(const char *s, size_t n, size_t at) {
    return match_words(s, n, at, true, UNICODE_LETTER);
}

static size_t match_qwen35(const char *s, size_t n, size_t at) {
    return match_words(s, n, at, true, UNICODE_LETTER | UNICODE_MARK);
}

/* Upper = [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}], Lower = [\p{Ll}\p{Lm}\p{Lo}\p{M}]. */
static bool in_upper(unsigned f) {
    return (f & UNICODE_MARK) || ((f & UNICODE_LETTER) && !(f & UNICODE_LOWER));
}

static bool in_lower(unsigned f) {
    return (f & UNICODE_MARK) || ((f & UNICODE_LETTER) && !(f & UNICODE_UPPER));
}

/* Upper*Lower+ (need_lower) or Upper+Lower*, from `at`; `at` where there is no match. */
static size_t cased_word(const char *s, size_t n, size_t at, bool need_lower) {
    size_t end = at, after_both = at; /* behind the last character that is in both classes */
    while (end < n) {
        glyph g = look(s, n, end);
        if (!in_upper(g.flags)) break;
        end = g.end;
        if (in_lower(g.flags)) after_both = end;
    }
    size_t upper_end = end;
    while (end < n) {
        glyph g = look(s, n, end);
        if (!in_lower(g.flags)) break;
        end = g.end;
    }
    if (!need_lower) return upper_end > at ? end : at;
    return end > upper_end ? end : after_both;
}

/* A word with one capital run in front, and at most one other character before it. */
static size_t camel_word(const char *s, size_t n, size_t at) {
    glyph g = look(s, n, at);
    bool prefix = !(g.flags & LN) && !is_newline(s[at]) && g.end < n;
    for (int need_lower = 1; need_lower >= 0; need_lower--) {
        size_t end = prefix ? cased_word(s, n, g.end, need_lower) : g.end;
        if (end > g.end) return end;
        end = cased_word(s, n, at, need_lower);
        if (end > at) return end;
    }
    return at;
}

/* |\p{N}{1,D}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+ */
static size_t camel_rest(const char *s, size_t n, size_t at, bool single_digits) {
    glyph g = look(s, n, at);
    if (g.flags & UNICODE_NUMBER) return single_digits ? g.end : up_to_3_digits(s, n, at);
    if (s[at] == ' ' && at + 1 < n) g = look(s, n, at + 1);
    if (!(g.flags & SLN)) {
        size_t end = run(s, n, g.end, 0, SLN);
        while (end < n && (is_newline(s[end]) || s[end] == '/')) end++;
        return end;
    }
    return lines_or_blanks(s, n, at);
}

static size_t match_tekken(const char *s, size_t n, size_t at) {
    size_t end = camel_word(s, n, at);
    return end > at ? end : camel_rest(s, n, at, true);
}

static size_t match_gpt4o(const char *s, size_t n, size_t at) {
    size_t end = camel_word(s, n, at);
    if (end > at) return end < n ? contraction(s, n, end, true) : end;
    return camel_rest(s, n, at, false);
}

/* \p{N} */
static size_t match_digit(const char *s, size_t n, size_t at) {
    glyph g = look(s, n, at);
    return g.flags & UNICODE_NUMBER ? g.end : at;
}

/* \p{N}+ */
static size_t match_digits(const char *s, size_t n, size_t at) {
    return run(s, n, at, UNICODE_NUMBER, 0);
}

/* [0-9][0-9][0-9] */
static size_t match_3_digits(const char *s, size_t n, size_t at) {
    if (n - at < 3) return at;
    for (size_t i = at; i < at + 3; i++)
        if (s[i] < '0' || s[i] > '9') return at;
    return at + 3;
}

/* [\p{P}\$\+<=>\^~\|`]+ : punctuation and the ASCII symbols */
static size_t match_punctuation(const char *s, size_t n, size_t at) {
    while (at < n) {
        glyph g = look(s, n, at);
        if (!(g.flags & UNICODE_PUNCT) && !(g.cp >= 0 && g.cp < 128 && (g.flags & UNICODE_SYMBOL)))
            break;
        at = g.end;
    }
    return at;
}

/* [\r\n] */
static size_t match_newline(const char *s, size_t n, size_t at) {
    (void)n;
    return at + is_newline(s[at]);
}

/* \s?C+ for a class C */
static size_t with_blank(const char *s, size_t n, size_t at, unsigned class) {
    glyph g = look(s, n, at);
    size_t from = g.flags & UNICODE_SPACE ? g.end : at;
    size_t end = run(s, n, from, class, 0);
    return end > from ? end : at;
}

static size_t match_blank_letters(const char *s, size_t n, size_t at) {
    return with_blank(s, n, at, UNICODE_LETTER);
}

static size_t match_blank_punctuation(const char *s, size_t n, size_t at) {
    return with_blank(s, n, at, UNICODE_PUNCT);
}

/* \s?[cased letters]+ : the expression lists the ranges; mathematical alphabets are not among them
 */
static size_t match_blank_cased(const char *s, size_t n, size_t at) {
    glyph g = look(s, n, at);
    size_t from = g.flags & UNICODE_SPACE ? g.end : at, end = from;
    while (end < n) {
        g = look(s, n, end);
        if (!(g.flags & (UNICODE_UPPER | UNICODE_LOWER))) break;
        if (g.cp >= 0x1D400 && g.cp <= 0x1D7FF) break;
        end = g.end;
    }
    return end > from ? end : at;
}

/* [!-/:-~！-／：-～‘-‟　-。]: ASCII letters are in it, so that one behind a foreign letter begins a
 * piece */
static bool is_mark(int32_t cp) {
    return (cp >= 0x21 && cp <= 0x2F) || (cp >= 0x3A && cp <= 0x7E) ||
           (cp >= 0xFF01 && cp <= 0xFF0F) || (cp >= 0xFF1A && cp <= 0xFF5E) ||
           (cp >= 0x2018 && cp <= 0x201F) || (cp >= 0x3000 && cp <= 0x3002);
}

/* \s?[marks]+ ; U+3000 is blank and mark */
static size_t match_blank_marks(const char *s, size_t n, size_t at) {
    glyph g = look(s, n, at);
    size_t end = g.flags & UNICODE_SPACE ? g.end : at;
    while (end < n) {
        glyph next = look(s, n, end);
        if (!is_mark(next.cp)) break;
        g = next;
        end = g.end;
    }
    return is_mark(g.cp) ? end : at;
}

/* \s+$ ; a run is followed to its end from its first character only, so that time stays linear */
static size_t match_last_blanks(const char *s, size_t n, size_t at) {
    for (size_t back = 1; back <= 3 && back <= at; back++) {
        glyph g = look(s, n, at - back);
        if (g.end == at && (g.flags & UNICODE_SPACE)) return at;
    }
    size_t end = run(s, n, at, UNICODE_SPACE, 0);
    return end == n ? end : at;
}

/* [一-龥ࠀ-一가-퟿]+ : U+0800 to U+9FA5 in effect, and Hangul */
static size_t match_east_asian(const char *s, size_t n, size_t at) {
    while (at < n) {
        glyph g = look(s, n, at);
        if (!((g.cp >= 0x800 && g.cp <= 0x9FA5) || (g.cp >= 0xAC00 && g.cp <= 0xD7FF))) break;
        at = g.end;
    }
    return at;
}

/* [一-龥぀-ゟ゠-ヿ]+ */
static size_t match_han_kana(const char *s, size_t n, size_t at) {
    while (at < n) {
        glyph g = look(s, n, at);
        if (!((g.cp >= 0x4E00 && g.cp <= 0x9FA5) || (g.cp >= 0x3040 && g.cp <= 0x30FF))) break;
        at = g.end;
    }
    return at;
}

static bool ascii_mark(int32_t cp) { /* [!-/:-~] without letters and digits */
    return cp > 32 && cp < 127 && !(unicode_ascii[cp] & LN);
}

static bool ascii_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* [!"#...~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|
 * \s+(?!\S)|\s+ */
static size_t match_deepseek3(const char *s, size_t n, size_t at) {
    enum { PS = UNICODE_PUNCT | UNICODE_SYMBOL, LM = UNICODE_LETTER | UNICODE_MARK };
    glyph g = look(s, n, at);
    if (ascii_mark(g.cp) && g.end < n && ascii_letter(s[g.end])) {
        size_t end = g.end;
        while (end < n && ascii_letter(s[end])) end++;
        return end;
    }
    if (!(g.flags & (UNICODE_LETTER | PS)) && !is_newline(s[at])) {
        size_t end = run(s, n, g.end, LM, 0);
        if (end > g.end) return end;
    }
    if (g.flags & LM) return run(s, n, at, LM, 0);
    size_t from = at + (s[at] == ' ' && at + 1 < n);
    size_t end = run(s, n, from, PS, 0);
    if (end > from) return newlines(s, n, end);
    return g.flags & UNICODE_SPACE ? lines_or_blanks(s, n, at) : at;
}

static size_t match_3_numbers(const char *s, size_t n, size_t at) {
    return up_to_3_digits(s, n, at);
}

/*  ?[^(\s|.,!?…。，、।۔،)]+ */
static size_t match_bloom(const char *s, size_t n, size_t at) {
    static const int32_t stops[] = {'(',    '|',    '.',    ',',    '!',   '?',   ')',
                                    0x2026, 0x3002, 0xFF0C, 0x3001, 0x964, 0x6D4, 0x60C};
    size_t from = at + (s[at] == ' '), end = from;
    while (end < n) {
        glyph g = look(s, n, end);
        bool stop = g.flags & UNICODE_SPACE;
        for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) stop |= g.cp == stops[i];
        if (stop) break;
        end = g.end;
    }
    return end > from ? end : at;
}

static const pretokenizer gpt2 = {.stages = {match_gpt2}};
static const pretokenizer llama3 = {.stages = {match_llama3}, .whole_words = true, .add_bos = true};
static const pretokenizer llama3_plain = {.stages = {match_llama3}};
static const pretokenizer qwen2 = {.stages = {match_qwen2}};
static const pretokenizer qwen35 = {.stages = {match_qwen35}};
static const pretokenizer starcoder = {.stages = {match_digit, match_gpt2}};
static const pretokenizer falcon = {.stages = {match_punctuation, match_gpt2, match_3_digits}};
static const pretokenizer plain = {
    .stages = {match_punctuation, match_gpt2, match_digits, match_3_digits}};
static const pretokenizer deepseek_coder = {.stages = {match_newline, match_blank_letters,
                                                       match_blank_punctuation, match_east_asian,
                                                       match_digit}};
static const pretokenizer deepseek_llm = {.stages = {match_newline, match_blank_cased,
                                                     match_blank_marks, match_last_blanks,
                                                     match_east_asian, match_digits}};
static const pretokenizer deepseek3 = {
    .stages = {match_3_numbers, match_han_kana, match_deepseek3}};
static const pretokenizer tekken = {.stages = {match_tekken}, .whole_words = true, .add_bos = true};
static const pretokenizer gpt4o = {.stages = {match_gpt4o}};
static const pretokenizer bloom = {.stages = {match_bloom}};
static const pretokenizer viking = {.stages = {match_bloom, match_digit}};

static const struct {
    const char *name;
    const pretokenizer *p;
} known[] = {
    {"default", &plain},
    {"gpt-2", &gpt2},
    {"phi-2", &gpt2},
    {"mpt", &gpt2},
    {"olmo", &gpt2},
    {"jais", &gpt2},
    {"roberta-bpe", &gpt2},
    {"jina-v1-en", &gpt2},
    {"jina-v2-code", &gpt2},
    {"jina-v2-de", &gpt2},
    {"jina-v2-es", &gpt2},
    {"llama-bpe", &llama3},
    {"llama3", &llama3},
    {"llama-v3", &llama3},
    {"falcon3", &llama3},
    {"falcon-h1", &llama3},
    {"pixtral", &llama3},
    {"lfm2", &llama3},
    {"dbrx", &llama3_plain},
    {"smaug-bpe", &llama3_plain},
    {"chatglm-bpe", &llama3_plain},
    {"glm4", &llama3_plain},
    {"qwen2", &qwen2},
    {"stablelm2", &qwen2},
    {"deepseek-r1-qwen", &qwen2},
    {"hunyuan", &qwen2},
    {"megrez", &qwen2},
    /* One newline at the end of \s*[\r\n] instead of several: the run before it takes the others. */
    {"bailingmoe", &qwen2},
    {"bailingmoe2", &qwen2},
    {"llada-moe", &qwen2},
    {"qwen35", &qwen35},
    {"starcoder", &starcoder},
    {"refact", &starcoder},
    {"command-r", &starcoder},
    {"smollm", &starcoder},
    {"codeshell", &starcoder},
    {"exaone", &starcoder},
    {"minerva-7b", &starcoder},
    {"falcon", &falcon},
    {"deepseek-llm", &deepseek_llm},
    {"deepseek-coder", &deepseek_coder},
    {"deepseek-v3", &deepseek3},
    {"tekken", &tekken},
    {"gpt-4o", &gpt4o},
    {"llama4", &gpt4o},
    {"bloom", &bloom},
    {"poro-chat", &bloom},
    {"gpt3-finnish", &bloom},
    {"viking", &viking},
};

const pretokenizer *pretokenizer_find(const char *name) {
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, name) == 0) return known[i].p;
    return NULL;
}

static int split(const pretokenizer *p, int stage, const char *s, size_t n, pretokenize_fn *fn,
                 void *arg) {
    if (stage == PRETOKENIZE_MAX_STAGES || !p->stages[stage]) return fn(arg, s, n);
    pretokenize_matcher *match = p->stages[stage];
    size_t at = 0, gap = 0;
    int rc = 0;
    while (at < n && !rc) {
        size_t end = match(s, n, at);
        if (end == at) { /* part of the gap before the next match */
            int32_t cp;
            at += fo_utf8_decode(s + at, n - at, &cp);
            continue;
        }
        if (gap < at) rc = split(p, stage + 1, s + gap, at - gap, fn, arg);
        if (!rc) rc = split(p, stage + 1, s + at, end - at, fn, arg);
        at = gap = end;
    }
    if (!rc && gap < n) rc = split(p, stage + 1, s + gap, n - gap, fn, arg);
    return rc;
}

int pretokenize(const pretokenizer *p, const char *s, size_t n, pretokenize_fn *fn, void *arg) {
    return split(p, 0, s, n, fn, arg);
}
