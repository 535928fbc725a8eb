/* Where a sentence ends. Rules and word lists are ours, made for English encyclopaedic and
 * technical prose; scripts with stops of their own (CJK, Devanagari, Arabic, Ethiopic) end there. Short
 * forms of other languages stand beside the English ones where they are no words there: nobody has to
 * say which language a text is in. */
#include <stdio.h>
#include <string.h>
#include <utf8proc.h>

#include "data/chunk/chunk.h"
#include "data/chunk/leaders.h"
#include "data/chunk/line_break.h"
#include "kernels/utf8.h"

enum { MAX_WORD = 32 }; /* bytes of the longest abbreviation looked at */

/* Never the end of a sentence: something must follow. */
static const char *const binding[] = {
    "mr",   "mrs",  "ms",    "dr",  "prof",  "st",   "mt",   "rev",    "gen", "col",  "capt",
    "cpt",  "cmdr", "lt",    "sgt", "maj",   "gov",  "sen",  "rep",    "hon", "pres", "fr",
    "msgr", "mme",  "mlle",  "vs",  "cf",    "viz",  "ca",   "approx", "fig", "figs", "eq",
    "eqs",  "vol",  "vols",  "pp",  "ed",    "eds",  "ch",   "chap",   "sec", "sect", "art",
    "op",   "e.g",  "i.e",   "eg",  "ie",    "resp", "incl", "esp",    "ft",  "nr",   "par",
    "ref",  "refs", "tab",   "var", "subsp", "ssp",  "spp",  "gen",    "adm", "supt", "messrs",
    "al",   "lit",  "trans", "tel", "bros",  "dept",
};
/* clang-format off */
/* The same in other languages; in capitals they are names of something else. */
static const char *const foreign[] = {
    /* German */
    "abb", "bd", "bspw", "bzgl", "bzw", "ebd", "ehem", "engl", "evtl", "geb", "gegr", "ggf", "griech", "hrsg",
    "inkl", "jh", "jhd", "kap", "mio", "mrd", "sog", "std", "vgl", "zzgl", "dipl",
    /* Spanish, Portuguese, Italian, French, Dutch */
    "sra", "sras", "srs", "drs", "dras", "exmo", "exma", "av", "trav", "séc", "cód", "srta", "dra", "ud", "uds", "pág", "págs", "núm", "aprox", "dott", "sig", "pag", "env", "bijv",
    /* Russian: named after, street, page, figure, saint, for example, professor, thousand, million ... */
    "им", "ул", "стр", "рис", "св", "напр", "проф", "акад", "тыс", "млн", "млрд", "см", "ср",
    /* settlement, building, telephone, extension, room, office, avenue, region, embankment, flat, table, section, house ... */
    "пос", "корп", "тел", "доб", "каб", "оф", "просп", "пер", "обл", "наб", "кв", "табл", "разд", "гл", "ст", "пом",
    "Ул", "Стр", "Рис", "Пос", "Корп", "Тел", "Каб", "Просп", "Пер", "Наб", "Кв", "Табл", "Разд", "Гл", "Ст", "Пом", "Им", "См",
    "Проф", "Акад",
    /* Hindi: doctor, Mr, Mrs, Miss, professor, engineer, number, telephone, for example, page */
    "डॉ", "डा", "श्री", "श्रीमती", "सुश्री", "प्रो", "प्रा", "इंजी", "पं", "स्व", "नं", "क्र", "क्रं", "टे", "फ़ो", "दू", "मो", "उदा", "पृ", "सं", "कृ",
};
/* Behind a figure they are what is counted and may end a sentence: roubles, minutes, metres, a year. */
static const char *const russian_measures[] = {
    "руб", "коп", "мин", "сек", "ч", "см", "мм", "км", "кг", "л", "шт", "чел", "экз", "г", "м", "тыс", "млн", "млрд",
};
/* Behind a figure Hindi ends a sentence with them; before one, "रु. 18,000", it goes on. */
static const char *const hindi_measures[] = {
    "रु", "रू", "किमी", "कि", "मी", "सेमी", "मिमी", "किग्रा", "ग्रा", "मिली", "ली", "मि", "घं",
    "लि",
};
/* Before a name and not behind a figure: town, village, house, settlement, metro station. */
static const char *const russian_places[] = {"г", "д", "с", "п", "м", "р", "Г", "Д"};
/* Short forms of two words, "z. B.": a stop after the first of them. */
static const char *const pairs[] = {
    "z b", "d h", "u a", "u u", "i d", "d r", "o g", "u g", "s o", "s u", "v chr", "n chr", "p ej", "p ex",
    "e v", "e k", "j c", "ee uu", "s a", "s l", "s p", "p a", "s r", "r l", "т е", "т д", "т п", "т к", "т н", "н э",
};
/* What a company is behind its name, "S. A.", "S. L.", "S. p. A.", "e. K.": the last two letters of it. */
static const char *const companies[] = {"s a", "s l", "p a", "r l", "e k", "e v"};
/* Behind it and other short forms these begin a sentence: Spanish, Italian, Portuguese, French. */
static const char *const romance_starters[] = {
    "el", "los", "las", "se", "en", "no", "si", "al", "del", "il", "lo", "gli", "le", "les", "os", "um", "uma", "un", "una",
    "une", "para", "por", "con", "per", "desde", "esta", "este", "su", "sus", "cada", "si", "il", "elle", "nous", "vous",
};
/* What an ordinal counts in German, "am 3. Oktober", "im 19. Jahrhundert": nouns, and written with a capital. */
static const char *const counted[] = {
    "januar", "februar", "märz", "april", "mai", "juni", "juli", "august", "september", "oktober", "november",
    "dezember", "jahrhundert", "jahrhunderts", "jahrhunderten", "jahrtausend", "jahrtausends", "jahrgang",
    "lebensjahr", "geburtstag", "weltkrieg", "weltkriegs", "auflage", "kapitel", "spieltag", "platz", "etage",
    "klasse", "klassen", "semester", "quartal", "jh", "stock", "stufe", "werktag", "woche", "stunde", "reihe", "person", "kind",
};
/* Before a number they make it an ordinal, "die 4. Gruppe", and behind it these begin a sentence all the same. */
static const char *const ordered[] = {
    "der", "die", "das", "den", "dem", "des", "zum", "zur", "jede", "jeder", "jedes", "jedem", "jeden", "unsere", "ihre",
};
static const char *const german_starters[] = {
    "der", "die", "das", "den", "dem", "des", "ein", "eine", "einen", "einem", "einer", "er", "sie", "es", "wir", "ihr", "ich",
    "wer", "was", "wenn", "bei", "im", "am", "an", "auf", "aus", "mit", "von", "zu", "zum", "zur", "danach", "dann", "bitte",
    "für", "nach", "vor", "wie", "bis", "ab", "alle", "nur", "auch", "und", "oder", "aber", "ist", "sind", "kein", "keine",
};
/* clang-format on */
/* Either: the end if what follows begins a sentence. */
static const char *const either[] = {
    "inc", "ltd", "co",   "corp", "jr",   "sr",   "jan", "feb",  "mar", "apr", "jun", "jul",
    "aug", "sep", "sept", "oct",  "nov",  "dec",  "ave", "blvd", "rd",  "mon", "tue", "wed",
    "thu", "fri", "sat",  "sun",  "univ", "assn", "est", "min",  "max", "sq",
};
/* Only before a number. */
static const char *const counting[] = {"no", "nos", "p", "pg", "art", "c",  "n",
                                       "v",  "д",   "п", "с",  "ч",   "эт", "под"};
/* Words that begin a sentence far more often than they go on with a name. */
static const char *const starters[] = {
    "the",    "a",      "an",   "it",   "its",   "he",     "she",   "his",     "her",      "they",
    "their",  "we",     "our",  "you",  "your",  "i",      "this",  "that",    "these",    "those",
    "there",  "in",     "on",   "at",   "by",    "for",    "from",  "with",    "when",     "while",
    "after",  "before", "as",   "if",   "but",   "and",    "or",    "however", "although", "since",
    "during", "some",   "many", "most", "all",   "both",   "each",  "other",   "others",   "one",
    "two",    "to",     "not",  "no",   "what",  "who",    "where", "why",     "how",      "also",
    "then",   "thus",   "such", "it's", "under", "over",   "until", "once",    "because",  "unlike",
    "use",    "see",    "do",   "keep", "never", "always",
};

#define HAS(list, word) has(list, sizeof(list) / sizeof *(list), word)
static bool has(const char *const *list, size_t n, const char *word) {
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i], word) == 0) return true;
    return false;
}

static int32_t cp_at(const char *s, size_t len, size_t at, size_t *n) {
    int32_t cp;
    *n = fo_utf8_decode(s + at, len - at, &cp);
    return *n ? cp : 0;
}

static bool is_lower(int32_t cp) {
    return cp > 0 && utf8proc_category(cp) == UTF8PROC_CATEGORY_LL;
}

static bool is_letter(int32_t cp) {
    if (cp <= 0) return false;
    utf8proc_category_t c = utf8proc_category(cp);
    return c >= UTF8PROC_CATEGORY_LU && c <= UTF8PROC_CATEGORY_LO;
}

/* Stops after which no space is needed. */
static bool is_full_stop(int32_t cp) {
    switch (cp) {
    case 0x3002: /* ideographic full stop */
    case 0xFF01:
    case 0xFF1F:
    case 0xFF61:
    case 0x0964: /* danda */
    case 0x0965:
    case 0x061F: /* Arabic question mark */
    case 0x06D4:
    case 0x1362: /* Ethiopic full stop */
        return true;
    default:
        return false;
    }
}

/* Stops after which there must be a space, or the end. */
static bool is_plain_stop(int32_t cp) {
    return cp == '.' || cp == '!' || cp == '?' || cp == 0x2026;
}

static bool is_closer(int32_t cp) {
    switch (cp) {
    case '"':
    case '\'':
    case ')':
    case ']':
    case '}':
    case 0x2019:
    case 0x201D:
    case 0x203A:
    case 0x00BB:
    case 0x300D:
    case 0x300F:
    case 0x3011:
    case 0xFF09:
        return true;
    default:
        return false;
    }
}

static bool is_opener(char c) {
    return c == '(' || c == '[' || c == '{' || c == '"' || c == '\'' || c == '*' || c == '_';
}

/* Past stops, closing quotes and brackets, and reference marks such as [12]. */
static size_t skip_closers(const char *s, size_t len, size_t at) {
    for (;;) {
        size_t n;
        int32_t cp = cp_at(s, len, at, &n);
        if (n && (is_closer(cp) || is_full_stop(cp) || is_plain_stop(cp))) {
            at += n;
            continue;
        }
        if (cp == '[') {
            size_t k = at + 1;
            while (k < len && k - at < 12 && s[k] >= '0' && s[k] <= '9') k++;
            if (k > at + 1 && k < len && s[k] == ']') {
                at = k + 1;
                continue;
            }
        }
        return at;
    }
}

/* ---- words -------------------------------------------------------------------------------- */

/* The word that begins at `at`, letters beyond ASCII too, lower-cased ASCII; "" when it is too long. */
static void next_letters(const char *s, size_t len, size_t at, char out[MAX_WORD]) {
    size_t n = 0;
    for (; at < len && n < MAX_WORD - 1; at++) {
        char c = s[at];
        if (c >= 'A' && c <= 'Z') c = (char)(c + 32);
        if (!((c >= 'a' && c <= 'z') || (unsigned char)c >= 0x80)) break;
        out[n++] = c;
    }
    out[n < MAX_WORD - 1 ? n : 0] = 0;
}

/* Is `word`, before a stop, the first of a short form whose second stands at `next`, with its stop? */
static bool is_pair(const char *word, const char *s, size_t len, size_t next) {
    char second[MAX_WORD], both[2 * MAX_WORD];
    next_letters(s, len, next, second);
    size_t end = next + strlen(second);
    if (!second[0] || end >= len || s[end] != '.') return false;
    snprintf(both, sizeof both, "%s %s", word, second);
    return HAS(pairs, both);
}

/* "S." before "A.", "L." or "p. A.": both letters with their stops, of a company's name. */
static bool is_company(const char *word, const char *s, size_t len, size_t next) {
    return word[0] == 's' && !word[1] && is_pair(word, s, len, next);
}

/* The word that begins at `at`, lower-cased ASCII; "" when it is none or too long. */
static void next_word(const char *s, size_t len, size_t at, char out[MAX_WORD]) {
    size_t n = 0;
    for (; at < len && n < MAX_WORD - 1; at++) {
        char c = s[at];
        if (c >= 'A' && c <= 'Z') c = (char)(c + 32);
        if (!((c >= 'a' && c <= 'z') || c == '\'')) break;
        out[n++] = c;
    }
    out[n] = 0;
}

/* The word before the stop at `dot`, inner dots kept; false when it is too long for a short one. */
static bool word_before(const char *s, size_t start, size_t dot, char out[MAX_WORD], size_t *from) {
    size_t at = dot;
    while (at > start && !fo_is_blank(s[at - 1]) && !is_opener(s[at - 1]) && dot - at < MAX_WORD)
        at--;
    *from = at;
    if (dot - at >= MAX_WORD) return false;
    for (size_t i = at; i < dot; i++) {
        char c = s[i];
        out[i - at] = c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
    }
    out[dot - at] = 0;
    return true;
}

/* The short form of two words of which `word`, which begins at `from`, is the second; "": it is of none. */
static void pair_of(const char *word, const char *s, size_t start, size_t from,
                    char both[2 * MAX_WORD]) {
    char first[MAX_WORD];
    size_t at = from, begin;
    both[0] = 0;
    while (at > start && fo_is_blank(s[at - 1])) at--;
    if (at == from || at <= start || s[at - 1] != '.') return;
    if (!word_before(s, start, at - 1, first, &begin)) return;
    snprintf(both, 2 * MAX_WORD, "%s %s", first, word);
}

/* Is `word`, which begins at `from`, the second of one behind which something must follow? */
static bool ends_pair(const char *word, const char *s, size_t start, size_t from) {
    static const char *const open[] = {"z b",  "d h",  "i d", "o g", "s o", "s u",
                                       "p ej", "p ex", "т е", "т к", "т н"};
    char both[2 * MAX_WORD];
    pair_of(word, s, start, from, both);
    return HAS(open, both);
}

/* "AUTOBUSES DEL VALLE, S. A." with the stop at `dot`, and what follows at `next` begins a sentence, or on a line that was
 * broken on purpose: it is over, as behind no initial. */
static bool ends_company(const char *s, size_t len, size_t start, size_t dot, size_t next,
                         bool broken) {
    char word[MAX_WORD], both[2 * MAX_WORD], follows[MAX_WORD];
    size_t from;
    if (next >= len || !word_before(s, start, dot, word, &from)) return false;
    pair_of(word, s, start, from, both);
    if (!HAS(companies, both)) return false;
    next_word(s, len, next, follows);
    const bool capital = s[next] >= 'A' && s[next] <= 'Z';
    return broken || (capital && (HAS(romance_starters, follows) || HAS(german_starters, follows)));
}

static bool all_digits(const char *s) {
    if (!*s) return false;
    for (; *s; s++)
        if (*s < '0' || *s > '9') return false;
    return true;
}

/* Is the number that begins at `from`, before a stop, an ordinal of the word that begins at `next`, as German writes it? */
static bool is_ordinal(const char *s, size_t len, size_t start, size_t from, size_t next) {
    char noun[MAX_WORD], before[MAX_WORD] = "";
    size_t at = from, begin;
    next_letters(s, len, next, noun);
    if (HAS(counted, noun)) return true;
    while (at > start && fo_is_blank(s[at - 1])) at--;
    return noun[0] && at > start && at < from && word_before(s, start, at, before, &begin) &&
           HAS(ordered, before) && !HAS(german_starters, noun);
}

/* "01.11. - 31.03.", "bis 31.08. 112 EUR": a day and a month as German writes them, and what follows goes on. Before a figure
 * both have two digits: "The ratio was 1.5. 20 patients were treated." */
static bool is_day_within(const char *s, size_t len, size_t start, size_t dot, size_t next) {
    static const char *const dashes[] = {"-", "\xE2\x80\x93", "\xE2\x80\x94"};
    char word[MAX_WORD];
    size_t from;
    int day = 0, month = 0, n = 0;
    if (next >= len || !word_before(s, start, dot, word, &from)) return false;
    if (sscanf(word, "%2d.%2d%n", &day, &month, &n) != 2 || word[n]) return false;
    if (!fo_is_digit(word[0]) || day < 1 || day > 31 || month < 1 || month > 12) return false;
    for (size_t i = 0; i < sizeof dashes / sizeof *dashes; i++) {
        const size_t k = strlen(dashes[i]);
        if (len - next >= k && memcmp(s + next, dashes[i], k) == 0) return true;
    }
    return n == 5 && word[2] == '.' && fo_is_digit(s[next]);
}

/* Does the word that begins at `from` stand behind a figure? */
static bool is_behind_figure(const char *s, size_t start, size_t from) {
    while (from > start && (fo_is_blank(s[from - 1]) || (unsigned char)s[from - 1] == 0xA0)) {
        from--;
        if ((unsigned char)s[from] == 0xA0 && from > start && (unsigned char)s[from - 1] == 0xC2)
            from--;
    }
    return from > start && fo_is_digit(s[from - 1]);
}

/* Russian short forms that depend on what stands before them, "2026 г." and "г. Тверь": 1: the sentence goes on, 0: it may be over,
 * -1: `word` is none. */
static int russian_goes_on(const char *word, const char *s, size_t len, size_t start, size_t from,
                           size_t next) {
    char both[2 * MAX_WORD];
    size_t n;
    const int32_t after = cp_at(s, len, next, &n);
    pair_of(word, s, start, from, both);
    if (both[0] && HAS(pairs, both)) return -1;
    if (!is_behind_figure(s, start, from)) return HAS(russian_places, word) ? 1 : -1;
    if (!HAS(russian_measures, word)) return -1;
    return (after >= '0' && after <= '9') || after == '-' || after == 0x2013 || after == 0x2014;
}

/* "600 रु. प्रति माह", "रु. १८,००० है": what follows a measure of Hindi begins in no capital that tells. It goes on before a figure
 * and before the words that stand behind one. */
static bool hindi_measure_goes_on(const char *s, size_t len, size_t next) {
    static const char *const on[] = {
        "प्रति", "है",     "हैं",      "था",     "थी",    "थे",    "का",      "की",     "के",   "को",
        "में",    "से",     "तक",     "पर",     "या",    "और",   "व",       "तथा",    "देना", "देने",
        "देकर",  "लगेगा",  "लगेंगे",    "लगते",    "होगा",  "होगी", "होंगे",     "जुर्माना", "शुल्क", "किराया",
        "जमा",  "मासिक", "वार्षिक", "सालाना", "रोज़",   "रोज",  "अतिरिक्त", "नकद",    "नक़द", "मात्र",
        "लिया", "लिए",   "मिलता",  "मिलते",   "मिलेगा", "मिलेंगे", "प्रतिदिन", "हर",     "एवं",  "वापस",
        "काटे",  "की",    "वाला",   "वाले",    "तय",    "ली",   "मी",      "ग्रा",    "घं",
    };
    size_t n;
    const int32_t after = cp_at(s, len, next, &n);
    char follows[MAX_WORD];
    if ((after >= '0' && after <= '9') || (after >= 0x966 && after <= 0x96F) || after == '-' ||
        after == 0x2013 || after == 0x2014)
        return true;
    next_letters(s, len, next, follows);
    /* the stop of Hindi is of other bytes than its letters, but not told from them there */
    char *stop = strstr(follows, "\xE0\xA5\xA4");
    if (stop) *stop = 0;
    return HAS(on, follows);
}

/* Does the single stop at `dot` end the sentence, when `next` is what follows after the space? */
static bool dot_ends(const char *s, size_t len, size_t start, size_t dot, size_t next) {
    char word[MAX_WORD], follows[MAX_WORD];
    size_t from, n;
    if (!word_before(s, start, dot, word, &from) || !word[0]) return true;
    int32_t after = cp_at(s, len, next, &n);
    bool digit_next = after >= '0' && after <= '9';
    next_word(s, len, next, follows);
    bool starter = HAS(starters, follows);

    /* "1. Open the lid" and "a. ...": the mark of an item, not a sentence. */
    if (from == start && (all_digits(word) || strlen(word) == 1)) return false;
    if (HAS(counting, word) && digit_next) return false;
    if (!strcmp(word, "v") && s[from] == 'v') return starter; /* Everson v. Board of Education */
    if (all_digits(word) && strlen(word) <= 2 && is_ordinal(s, len, start, from, next))
        return false;
    size_t letter_len;
    int32_t first = cp_at(s, dot, from, &letter_len);
    bool initial = from + letter_len == dot && is_letter(first) && !is_lower(first);
    if (ends_pair(word, s, start, from) || (!initial && is_pair(word, s, len, next))) return false;
    if (initial && is_company(word, s, len, next)) return false;
    if (initial) return starter && first != 'I'; /* an initial, unless "vitamin C. The" */
    if (strcmp(word, "e.g") == 0 || strcmp(word, "i.e") == 0) return false;
    bool dotted = strchr(word, '.') != NULL;
    if (dotted) { /* "U.S.", "a.m.", "Ph.D.": letters between dots; else a number or a name */
        bool abbreviation = true;
        size_t run = 0;
        for (const char *p = word; *p; p++) {
            run = *p == '.' ? 0 : run + 1;
            if (run > 2 || (*p != '.' && !((*p >= 'a' && *p <= 'z') || (*p & 0x80))))
                abbreviation = false;
        }
        return !abbreviation || starter;
    }
    const int russian = russian_goes_on(word, s, len, start, from, next);
    if (russian >= 0) return !russian;
    if (HAS(hindi_measures, word)) return !hindi_measure_goes_on(s, len, next);
    if (HAS(binding, word)) return strcmp(word, "al") == 0 && starter;
    bool shouted = from + 1 < dot && s[from + 1] >= 'A' && s[from + 1] <= 'Z';
    if (!shouted && HAS(foreign, word)) return false;
    if (!strcmp(word, "sr") && is_lower(first))
        return false; /* "o sr. Pimenta", no "John Doe Sr." */
    /* "sun", "sat", "max" are words too: as short forms they are written with a capital. */
    if (HAS(either, word)) return is_lower(first) || starter;
    return true;
}

size_t sentence_end(const char *text, size_t len, size_t start) {
    size_t at = start;
    while (at < len && fo_is_blank(text[at])) at++;
    if (at >= len) return len;
    const size_t first = at;
    size_t short_end = SIZE_MAX; /* behind the latest short form: something must follow */
    while (at < len) {
        unsigned char c = (unsigned char)text[at];
        if (c == '\n') {
            bool over = at == short_end ? line_break_ends_block(text, len, at)
                                        : at > first && line_break_ends(text, len, first, at);
            if (over) {
                while (at > first && fo_is_blank(text[at - 1])) at--;
                return at;
            }
            at++;
            continue;
        }
        size_t n = 1;
        int32_t cp = c;
        if (c >= 0x80) cp = cp_at(text, len, at, &n);
        bool plain = is_plain_stop(cp);
        if (!plain && !is_full_stop(cp)) {
            at += n;
            continue;
        }
        const size_t led = plain ? leaders_end(text, len, at) : 0;
        if (led) {
            at = led;
            continue;
        }
        size_t end = skip_closers(text, len, at + n);
        if (!plain) return end;
        if (end >= len) return len;
        if (!fo_is_blank(text[end])) { /* "3.14", "a.out", "?query": but CJK may follow at once */
            size_t k;
            int32_t next = cp_at(text, len, end, &k);
            if (next >= 0x3000 && cp != '.') return end;
            at = end;
            continue;
        }
        size_t next = end;
        bool broken = false, block = false;
        for (; next < len && fo_is_blank(text[next]); next++) {
            if (text[next] != '\n' || block) continue;
            block = line_break_ends_block(text, len, next);
            broken = broken || block || line_break_ends(text, len, first, next);
        }
        if (next >= len || block) return end;
        size_t k, word = next;
        while (word < len && is_opener(text[word])) word++;
        const bool single = cp == '.' && end == at + 1;
        if (single && ends_company(text, len, first, at, word, broken)) return end;
        bool short_form = single && !dot_ends(text, len, first, at, word);
        const bool day = single && !broken && is_day_within(text, len, first, at, word);
        if (short_form || day || (!broken && is_lower(cp_at(text, len, word, &k)))) {
            at = end;
            while (short_form && at < next && text[at] != '\n') at++;
            if (short_form) short_end = at;
            continue;
        }
        return end;
    }
    while (at > first && fo_is_blank(text[at - 1])) at--;
    return at > start ? at : len;
}

bool sentence_is_whole(const char *text, size_t len) {
    while (len > 0) {
        size_t at = len - 1, n;
        while (at > 0 && !fo_utf8_boundary(text[at])) at--;
        const int32_t cp = cp_at(text, len, at, &n);
        if (is_plain_stop(cp) || is_full_stop(cp)) return true;
        if (!is_closer(cp) && cp != '*') return false;
        len = at;
    }
    return false;
}
