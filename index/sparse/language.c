#include "index/sparse/language.h"

#include <libexttextcat/textcat.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <utf8proc.h>
#include "index/format/term_hash.h"
#include "index/sparse/stopwords.h"
#include "kernels/utf8.h"

enum {
    READ_BYTES = 4096, /* of a text: a chunk holds no more */
    CLASSIFY_BYTES = 1024,
    MAX_WORD = 24,
    SLOTS = 4096,
    /* A text is in another language than expected if it has so many of its function words, and twice as
     * many as of the expected one; measured on the English sets, of which no chunk is told wrongly. */
    LEAST_WORDS = 4,
    LEAST_DIFFERENT = 3,
    MANY_WORDS = 8,   /* enough to go by alone */
    LEAST_SHARE = 10, /* one word in so many */
};

/* Names, and those of libexttextcat's fingerprints. Numbers are stored in indexes: append. */
static const struct {
    const char *name, *print;
} languages[] = {
    {"english", "en"},    {"german", "de"},     {"french", "fr"},     {"spanish", "es"},
    {"italian", "it"},    {"portuguese", "pt"}, {"dutch", "nl"},      {"swedish", "sv"},
    {"danish", "da"},     {"norwegian", "nb"},  {"finnish", "fi"},    {"russian", "ru"},
    {"arabic", "ar"},     {"hindi", "hi"},      {"chinese", NULL},    {"japanese", NULL},
    {"korean", NULL},     {"thai", NULL},       {"greek", "el"},      {"tamil", "ta"},
    {"armenian", "hy"},   {"hungarian", "hu"},  {"romanian", "ro"},   {"turkish", "tr"},
    {"catalan", "ca"},    {"basque", "eu"},     {"indonesian", "id"}, {"irish", "ga"},
    {"lithuanian", "lt"},
};
enum { N_LANGUAGES = sizeof languages / sizeof *languages };
_Static_assert((int)N_LANGUAGES <= (int)LANGUAGE_MAX, "bits of a word");

int language_number(const char *name) {
    for (int i = 0; i < N_LANGUAGES; i++)
        if (!strcmp(languages[i].name, name)) return i;
    return -1;
}

const char *language_name(int number) {
    return number >= 0 && number < N_LANGUAGES ? languages[number].name : NULL;
}

bool language_is(int number, const char *name) {
    const char *own = language_name(number);
    return own && !strcmp(own, name);
}

const void *language_row(const void *rows, size_t n, size_t row_bytes, int number) {
    for (size_t i = 0; i < n; i++) {
        const char *const *row = (const void *)((const char *)rows + i * row_bytes);
        if (language_is(number, *row)) return row;
    }
    return NULL;
}

#define IS_OF(names, number) is_of(names, sizeof(names) / sizeof *(names), number)
static bool is_of(const char *const *names, size_t n, int number) {
    for (size_t i = 0; i < n; i++)
        if (language_is(number, names[i])) return true;
    return false;
}

bool language_has_other_script(int number) {
    static const char *const names[] = {"russian", "arabic", "hindi", "chinese", "japanese",
                                        "korean",  "thai",   "greek", "tamil",   "armenian"};
    return IS_OF(names, number);
}

bool language_capitalises_nouns(int number) {
    return language_is(number, "german");
}

bool language_joins_words(int number) {
    static const char *const names[] = {"german", "dutch", "swedish", "danish", "norwegian"};
    return IS_OF(names, number);
}

/* --- function words --- */
/* All lists in one hash set: a word, and in which of the lists it stands; of questions there are further ones. Made once. */
static struct function_words {
    pthread_once_t once;
    struct slot {
        const char *word; /* ends at a space */
        uint32_t len;
        uint64_t lists;  /* bits by language */
        uint64_t asks;   /* the same of those of questions */
        uint64_t begins; /* of those, the ones that questions begin with: which, how many, may */
    } slots[SLOTS];      /* immutable after that */
} function_words = {.once = PTHREAD_ONCE_INIT};

static struct slot *slot_of(const char *word, size_t len) {
    for (uint32_t h = term_hash(word, len);; h++) {
        struct slot *s = &function_words.slots[h % SLOTS];
        if (!s->word || (s->len == len && !memcmp(s->word, word, len))) return s;
    }
}

static void gather_words(const char *words, uint64_t lists, uint64_t asks, uint64_t begins) {
    for (const char *s = words; *s;) {
        size_t n = strcspn(s, " ");
        struct slot *at = slot_of(s, n);
        *at =
            (struct slot){s, (uint32_t)n, at->lists | lists, at->asks | asks, at->begins | begins};
        s += n + (s[n] == ' ');
    }
}

static void gather_function_words(void) {
    for (int i = 0; i < N_LANGUAGES; i++) {
        gather_words(stopwords_of(languages[i].name), 1ull << i, 1ull << i, 0);
        gather_words(asking_words_of(languages[i].name, false), 0, 1ull << i, 1ull << i);
        gather_words(asking_words_of(languages[i].name, true), 0, 1ull << i, 0);
    }
}

typedef struct counts {
    bool asked; /* of a question */
    size_t n_words, of[N_LANGUAGES], different[N_LANGUAGES];
    uint64_t begins;           /* languages in which questions begin with the first word */
    uint64_t seen[SLOTS / 64]; /* words of the set */
    size_t letters, han, kana, hangul, thai, devanagari, arabic, persian, cyrillic, not_russian,
        greek, tamil, armenian, latin, beyond_ascii;
} counts;

static void count_letter(counts *c, int32_t cp) {
    c->letters++;
    if (cp < 0x250) {
        c->latin++;
        c->beyond_ascii += cp >= 0x80;
    } else if (cp >= 0x370 && cp < 0x400) {
        c->greek++;
    } else if (cp >= 0x400 && cp < 0x530) {
        c->cyrillic++;
        /* letters of Ukrainian, Serbian, Macedonian, Belarusian and the languages of Asia */
        c->not_russian +=
            (cp >= 0x402 && cp <= 0x40F) || (cp >= 0x452 && cp <= 0x45F) || cp >= 0x460;
    } else if (cp >= 0x530 && cp < 0x590) {
        c->armenian++;
    } else if (cp >= 0x600 && cp < 0x780) {
        c->arabic++;
        c->persian += cp == 0x67E || cp == 0x686 || cp == 0x698 || cp == 0x6A9 || cp == 0x6AF ||
                      cp == 0x6CC || cp == 0x679 || cp == 0x6D2;
    } else if (cp >= 0x900 && cp < 0x980) {
        c->devanagari++;
    } else if (cp >= 0xB80 && cp < 0xC00) {
        c->tamil++;
    } else if (cp >= 0xE00 && cp < 0xE80) {
        c->thai++;
    } else if (cp >= 0x3040 && cp < 0x3100) {
        c->kana++;
    } else if (cp >= 0xAC00 && cp < 0xD7B0) {
        c->hangul++;
    } else if ((cp >= 0x3400 && cp < 0xA000) || (cp >= 0x20000 && cp < 0x40000)) {
        c->han++;
    }
}

static void count_word(counts *c, const char *word, size_t len) {
    c->n_words++;
    if (len < 2 || len > MAX_WORD) return; /* single letters are initials and variables as well */
    const struct slot *s = slot_of(word, len);
    if (!s->word) return;
    if (c->n_words == 1) c->begins = s->begins;
    size_t at = (size_t)(s - function_words.slots);
    bool first = !(c->seen[at / 64] >> at % 64 & 1);
    c->seen[at / 64] |= 1ull << at % 64;
    for (uint64_t bits = c->asked ? s->asks : s->lists; bits; bits &= bits - 1) {
        int i = __builtin_ctzll(bits);
        c->of[i]++;
        c->different[i] += first;
    }
}

static void count_all(counts *c, const char *text, size_t len) {
    char word[MAX_WORD + 4];
    size_t n = 0; /* bytes of the word so far; MAX_WORD + 1: too long to be one of ours */
    pthread_once(&function_words.once, gather_function_words);
    for (size_t i = 0; i <= len;) {
        unsigned char byte = i < len ? (unsigned char)text[i] : 0;
        bool letter = (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z';
        if (letter) { /* most of most texts */
            i++;
            c->letters++;
            c->latin++;
            if (n <= MAX_WORD) word[n++] = (char)(byte | 0x20);
            continue;
        }
        int32_t cp = -1;
        if (byte >= 0x80) {
            i += fo_utf8_decode(text + i, len - i, &cp);
            letter = cp >= 0 && utf8proc_category(cp) <= UTF8PROC_CATEGORY_LO &&
                     utf8proc_category(cp) >= UTF8PROC_CATEGORY_LU;
        } else {
            i++;
        }
        if (letter) {
            count_letter(c, cp);
            if (n <= MAX_WORD) n += fo_utf8_encode(utf8proc_tolower(cp), word + n);
            continue;
        }
        if (n) count_word(c, word, n);
        n = 0;
    }
}

/* --- scripts --- */
static int by_name(const char *name) {
    return language_number(name);
}

/* The language that the script of most letters says; -2 where it says none, -1 where it says that the
 * text is in a language that we do not know. */
static int of_script(const counts *c) {
    size_t cjk = c->han + c->kana;
    if (cjk * 2 > c->letters) return by_name(c->kana * 20 > cjk ? "japanese" : "chinese");
    if (c->hangul * 2 > c->letters) return by_name("korean");
    if (c->thai * 2 > c->letters) return by_name("thai");
    if (c->devanagari * 2 > c->letters) return by_name("hindi");
    if (c->greek * 2 > c->letters) return by_name("greek");
    if (c->tamil * 2 > c->letters) return by_name("tamil");
    if (c->armenian * 2 > c->letters) return by_name("armenian");
    if (c->arabic * 2 > c->letters) return c->persian * 50 > c->arabic ? -1 : by_name("arabic");
    if (c->cyrillic * 2 > c->letters)
        return c->not_russian * 100 > c->cyrillic ? -1 : by_name("russian");
    return c->latin * 2 > c->letters ? -2 : -1;
}

/* --- fingerprints --- */
static struct fingerprints {
    pthread_mutex_t mu;
    bool tried;
    void *
        handle; /* guarded by mu; NULL where the data is not installed. Kept until the process ends */
} fingerprints = {.mu = PTHREAD_MUTEX_INITIALIZER};

/* Languages, as bits, that the fingerprints hold for likely; 0: none of ours, ~0: they cannot say. */
static uint64_t of_fingerprint(const char *text, size_t len) {
    uint64_t found = 0;
    pthread_mutex_lock(&fingerprints.mu);
    if (!fingerprints.tried)
        fingerprints.handle =
            special_textcat_Init("/usr/share/libexttextcat/fpdb.conf", "/usr/share/libexttextcat/");
    fingerprints.tried = true;
    const char *said = fingerprints.handle
                           ? textcat_Classify(fingerprints.handle, text,
                                              len < CLASSIFY_BYTES ? len : CLASSIFY_BYTES)
                           : NULL;
    if (!said || !strcmp(said, TEXTCAT_RESULT_SHORT_STR)) found = ~0ull;
    for (int i = 0; said && i < N_LANGUAGES; i++) {
        char name[16];
        if (!languages[i].print) continue;
        snprintf(name, sizeof name, "[%s--utf8]", languages[i].print);
        if (strstr(said, name)) found |= 1ull << i;
    }
    pthread_mutex_unlock(&fingerprints.mu);
    return found;
}

/* --- deciding --- */
static int most_words(const counts *c, uint64_t among, int not_this) {
    int best = -1;
    for (int i = 0; i < N_LANGUAGES; i++)
        if (i != not_this && among >> i & 1 && (best < 0 || c->of[i] > c->of[best])) best = i;
    return best;
}

int language_of(const char *text, size_t len, const char *expected) {
    counts c = {0};
    int home = language_number(expected);
    if (len > READ_BYTES) {
        len = READ_BYTES;
        while (len && !fo_utf8_boundary(text[len])) len--;
    }
    count_all(&c, text, len);
    if (c.letters < 12) return -1;
    int told = of_script(&c);
    if (told != -2) return told == home ? -1 : told;
    size_t of_home = home >= 0 ? c.of[home] : 0;
    int best = most_words(&c, ~0ull, home);
    bool words = c.of[best] >= LEAST_WORDS && c.different[best] >= LEAST_DIFFERENT &&
                 c.of[best] * LEAST_SHARE >= c.n_words && c.of[best] >= 2 * of_home + 2;
    /* Languages without a list of ours have letters that English has not. */
    bool foreign = !words && c.letters > 100 && c.beyond_ascii * 50 > c.letters &&
                   of_home * 20 < c.n_words && c.of[best] * LEAST_SHARE < c.n_words;
    if (!words && !foreign) return -1;
    /* Fingerprints cost a hundred times what counting does: they part neighbours (Danish, Norwegian). */
    uint64_t others = ~(1ull << best);
    if (words && c.of[best] >= MANY_WORDS &&
        c.of[best] * 2 >= 3 * c.of[most_words(&c, others, home)])
        return best;
    uint64_t likely = of_fingerprint(text, len);
    if (words) {
        if (likely == ~0ull) return best;
        int both = most_words(&c, likely, home);
        return both >= 0 && c.of[both] * 3 >= c.of[best] * 2 ? both : -1;
    }
    for (int i = 0; i < N_LANGUAGES; i++) /* one alone, and none that we have a list of */
        if (likely == 1ull << i && !*stopwords_of(languages[i].name)) return i == home ? -1 : i;
    return -1;
}

int language_of_question(const char *text, size_t len, const char *expected, uint64_t among) {
    counts c = {.asked = true};
    int home = language_number(expected);
    count_all(&c, text, len < READ_BYTES ? len : READ_BYTES);
    if (memmem(text, len, "\xC2\xBF", 2)) c.of[by_name("spanish")] += 2; /* no other has it */
    int told = c.letters ? of_script(&c) : -1;
    if (told >= 0) return told != home && among >> told & 1 ? told : -1;
    int best = most_words(&c, among, home);
    size_t of_home = home >= 0 ? c.of[home] : 0;
    if (best >= 0 && c.of[best] > of_home) return best;
    return of_home ? -1 : LANGUAGE_UNTOLD;
}

int language_across(const char *question, size_t len, const char *of_texts) {
    enum { PLAINLY = 2 };
    counts c = {.asked = true};
    const int home = language_number(of_texts);
    count_all(&c, question, len < READ_BYTES ? len : READ_BYTES);
    const int told = c.letters ? of_script(&c) : -1;
    if (told >= 0) return told != home ? told : -1;
    const int best = most_words(&c, ~0ull, home);
    const size_t of_home = home >= 0 ? c.of[home] : 0;
    if (best < 0 || !c.of[best]) return -1;
    /* "Welcher Tierarzt operiert Katzen?" begins with a word that asks, and no word is of the home's language */
    const bool begins_so = !of_home && c.begins >> best & 1 && memchr(question, '?', len);
    return c.of[best] >= of_home + PLAINLY || begins_so ? best : -1;
}
