#include "retrieval/text/exact_names.h"

#include <string.h>
#include <strings.h>

#include "kernels/utf8.h"
#include "kernels/words.h"
#include "retrieval/text/path_names.h"
#include "retrieval/text/word_tokens.h"

/* Bytes of the version number that text[at..len) begins with: 2 for 42, 5 for 10.21; dots: how many
 * stand inside. */
static size_t number_at(const char *text, size_t at, size_t len, size_t *dots) {
    size_t i = at;
    *dots = 0;
    while (i < len &&
           (fo_is_digit(text[i]) || (text[i] == '.' && i > at && i + 1 < len &&
                                     fo_is_digit(text[i - 1]) && fo_is_digit(text[i + 1])))) {
        *dots += text[i] == '.';
        i++;
    }
    return i - at;
}

/* Bytes of the option that begins at text[at]: one or two dashes, which follow nothing that a word
 * or path is made of, and a name that begins with a letter: -5 is a number. 0: none. */
static size_t option_at(const char *text, size_t at, size_t len) {
    if (text[at] != '-') return 0;
    if (at > 0) {
        char before = text[at - 1];
        bool apart = strchr(" \t\r\n\"'`([{|,/=*_", before) && before;
        if (!apart && (unsigned char)before < 0x80) return 0;
    }
    size_t i = at + 1;
    if (i < len && text[i] == '-') i++;
    if (i >= len || !fo_is_letter(text[i])) return 0;
    while (i < len && (fo_is_letter(text[i]) || fo_is_digit(text[i]) ||
                       ((text[i] == '-' || text[i] == '_') && i + 1 < len &&
                        (fo_is_letter(text[i + 1]) || fo_is_digit(text[i + 1])))))
        i++;
    return i - at;
}

bool exact_names_is_code(const char *word, size_t n) {
    bool digit = false, letter = false;
    for (size_t i = 0; i < n; i++) {
        digit |= fo_is_digit(word[i]);
        letter |= fo_is_letter(word[i]);
    }
    return digit && letter && !fo_is_digit(word[0]);
}

/* Bytes of the word of ASCII letters and digits that begins at text[at]; 0: inside one, or none. */
static size_t word_at(const char *text, size_t at, size_t len) {
    size_t i = at;
    if (at > 0 && (fo_is_letter(text[at - 1]) || fo_is_digit(text[at - 1]))) return 0;
    while (i < len && (fo_is_letter(text[i]) || fo_is_digit(text[i]))) i++;
    return i - at;
}

/* ---- numbered things ------------------------------------------------------------------------- */

/* Words before a number that say how much, when or where it is, or join: no names of what is numbered. */
static const char *const no_names =
    "the a an of to in on at by for from with and or than least most about over under until since "
    "around after before between within per is are was were be has have had does do did january "
    "february march april may june july august september october november december only up every "
    "all these those next last first past exactly nearly some weigh cost costs not what which that "
    "get give take takes make into plus minus times above below equals number no can could might "
    "must shall should will would borrow bring carry carries need needs want wants arrive hire "
    "stay "
    "you they them us your our their";

/* Words behind which capitals are a name: "size XL", "zone B". */
static const char lettered[] =
    "size class group type grade category zone level platform gate room hall terminal lot block "
    "building wing section tier team line exit track appendix annex schedule part form tariff plan "
    "model option variant version vitamin hepatitis series";

/* Words that are always names of what is numbered, whatever follows: "How much are zone 3 tickets?" */
static const char placed[] = "week day room page chapter bus train flight bay desk lane step";

static bool is_placed(const char *word, size_t n) {
    return fo_words_have_any_case(lettered, word, n) || fo_words_have_any_case(placed, word, n);
}

/* Several of something, or a unit: "books", "people", not "leaves" of a bus. */
static bool is_counted(const char *word, size_t n) {
    static const char units[] = "people children men women feet teeth km cm mm kg ml gb mb tb kwh "
                                "euro eur usd percent hour minute night month year";
    static const char no_plurals[] =
        "always sometimes this does goes plus versus perhaps besides "
        "towards afterwards costs opens closes leaves starts begins ends stops runs comes arrives "
        "departs means needs includes gets takes lies shows works serves belongs";
    enum { FEWEST = 4 };
    if (fo_words_have_any_case(units, word, n)) return true;
    return n >= FEWEST && word[n - 1] == 's' && word[n - 2] != 's' &&
           !fo_words_have_any_case(no_plurals, word, n);
}

/* Does text[i..len), behind the digits, say what they count: " books", " \xE2\x82\xAC", "%", "-day"? */
static bool counts_something(const char *text, size_t i, size_t len) {
    const bool hyphen = i < len && text[i] == '-';
    if (hyphen && i + 1 < len) return fo_is_letter(text[i + 1]);
    while (i < len && text[i] == ' ') i++;
    if (i < len && text[i] == '%') return true;
    if (i + 1 < len && (!memcmp(text + i, "\xC2\xA3", 2) || !memcmp(text + i, "\xC2\xB0", 2)))
        return true;
    if (i + 2 < len && !memcmp(text + i, "\xE2\x82\xAC", 3)) return true;
    const size_t n = i < len ? word_at(text, i, len) : 0;
    return n && is_counted(text + i, n);
}

/* Whoever does something stands before a verb: "may I park 3 cars" names no park. */
static bool is_done_by_somebody(const char *text, size_t at) {
    size_t end = at, start;
    while (end > 0 && text[end - 1] == ' ') end--;
    for (start = end; start > 0 && fo_is_letter(text[start - 1]);) start--;
    return end < at &&
           fo_words_have_any_case("i we you he she they who", text + start, end - start);
}

/* Bytes of the one to four capitals that text[at] begins with, a word of its own; 0: none. */
static size_t capitals_at(const char *text, size_t at, size_t len) {
    enum { MOST = 4 };
    const size_t n = word_at(text, at, len);
    for (size_t i = at; i < at + n; i++)
        if (text[i] < 'A' || text[i] > 'Z') return 0;
    return n <= MOST ? n : 0;
}

/* Bytes of "HX5-10" that begins at text[at], a model of HX5: its number stands behind a hyphen. 0: none. A year is none. */
static size_t model_at(const char *text, size_t at, size_t len, size_t *digits) {
    enum { MOST_DIGITS = 3 };
    const size_t n = word_at(text, at, len);
    size_t i = at + n, k = 0;
    if (!exact_names_is_code(text + at, n) || i + 1 >= len || text[i] != '-') return 0;
    *digits = ++i;
    while (i + k < len && fo_is_digit(text[i + k])) k++;
    const char behind = i + k < len ? text[i + k] : 0;
    return k && k <= MOST_DIGITS && !fo_is_letter(behind) && behind != '-' ? i + k - at : 0;
}

/* Bytes of "week 40", "size XL" or "HX5-10" that begins at text[at]; *digits: where its number begins. 0: none begins there. */
static size_t numbered_at(const char *text, size_t at, size_t len, size_t *digits) {
    enum { FEWEST = 3, MOST_DIGITS = 4 };
    const size_t n = word_at(text, at, len);
    size_t i = at + n, k = 0;
    const size_t model = model_at(text, at, len, digits);
    if (model) return model;
    if (n < FEWEST || fo_words_have_any_case(no_names, text + at, n)) return 0;
    for (size_t j = at; j < at + n; j++)
        if (fo_is_digit(text[j])) return 0;
    if (i + 1 < len && text[i] == ':') i++;
    if (i + 1 >= len || text[i] != ' ') return 0;
    *digits = ++i;
    const size_t capitals = capitals_at(text, i, len);
    if (capitals && fo_words_have_any_case(lettered, text + at, n)) return i + capitals - at;
    while (i + k < len && fo_is_digit(text[i + k])) k++;
    const char behind = i + k < len ? text[i + k] : 0;
    const bool goes_on =
        fo_is_letter(behind) || ((behind == '.' || behind == ',' || behind == ':') &&
                                 i + k + 1 < len && fo_is_digit(text[i + k + 1]));
    return k && k <= MOST_DIGITS && !goes_on ? i + k - at : 0;
}

/* Bytes of "Breeze M" that begins at text[at], a name in one capital more; 0: none. "Anna I" is none, nor what a sentence begins
 * with. */
static size_t named_at(const char *text, size_t at, size_t len, size_t *capital) {
    enum { FEWEST = 3 };
    const size_t n = word_at(text, at, len);
    if (n < FEWEST || at < 2 || !fo_is_upper(text[at]) || strchr(".?!", text[at - 2]) ||
        fo_words_have_any_case(no_names, text + at, n) || at + n + 1 >= len || text[at + n] != ' ')
        return 0;
    *capital = at + n + 1;
    const size_t one = capitals_at(text, *capital, len);
    const bool ends = *capital + 1 >= len || !strchr("'.-", text[*capital + 1]);
    return one == 1 && text[*capital] != 'I' && ends ? n + 2 : 0;
}

/* ... in a question, where the number is no amount: "Can I borrow 10 books?" names none. */
static size_t asked_at(const char *question, size_t at, size_t len, size_t *digits) {
    const size_t n = numbered_at(question, at, len, digits);
    if (!n) return named_at(question, at, len, digits);
    if (question[*digits - 2] == ':') return 0;
    const bool placed_so = is_placed(question + at, word_at(question, at, len));
    return placed_so ||
                   !(is_done_by_somebody(question, at) || counts_something(question, at + n, len))
               ? n
               : 0;
}

/* The word of the name, and its number. */
static exact_name word_of(const exact_name *x, exact_name *number) {
    const size_t word = word_at(x->s, 0, x->n); /* a blank or a hyphen stands behind it */
    *number = (exact_name){x->s + word + 1, x->n - word - 1};
    return (exact_name){x->s, word};
}

static bool is_same(const exact_name *x, const char *s, size_t n) {
    return x->n == n && strncasecmp(x->s, s, n) == 0;
}

/* 3.2 is 3.2.0, but not 3.2.1; 40 is not 40.0. */
static bool is_version(const exact_name *asked, const char *s, size_t n) {
    if (n < asked->n || memcmp(s, asked->s, asked->n) != 0) return false;
    if (n > asked->n && !memchr(asked->s, '.', asked->n)) return false;
    for (size_t i = asked->n; i < n; i++)
        if (s[i] != '.' && s[i] != '0') return false;
    return n == asked->n || s[asked->n] == '.';
}

/* Does the text say the number, or the version, and not a longer one that holds it? */
static bool holds_number(const char *text, size_t len, const exact_name *number) {
    for (size_t i = 0, n, dots; text && i < len; i += n ? n : 1) {
        n = fo_is_digit(number->s[0]) ? number_at(text, i, len, &dots) : word_at(text, i, len);
        if (n && is_version(number, text + i, n)) return true;
    }
    return false;
}

/* ---- ranges of numbers ----------------------------------------------------------------------- */

enum { NO_VALUE = -1, MOST_FIGURES = 6 };

/* What a number of a name is compared by: its value, or the place of its one capital. */
static int value_of(const exact_name *number) {
    int v = 0;
    if (number->n == 1 && fo_is_letter(*number->s)) return *number->s;
    for (size_t i = 0; i < number->n; i++) {
        if (!fo_is_digit(number->s[i]) || i == MOST_FIGURES) return NO_VALUE;
        v = 10 * v + (number->s[i] - '0');
    }
    return number->n ? v : NO_VALUE;
}

/* The end of a range whose sign was read: a number, perhaps behind the same word. */
static int end_of_range(const char *text, size_t len, size_t at, const exact_name *word) {
    word_token t = word_token_next(text, len, &at);
    if (is_same(word, t.s, t.n)) t = word_token_next(text, len, &at);
    const bool capital = t.letters && t.n == 1 && *t.s >= 'A' && *t.s <= 'Z';
    return t.digits || capital ? value_of(&(exact_name){t.s, t.n}) : NO_VALUE;
}

/* "and above", "or younger" behind a number: 1, -1; 0: neither. */
static int open_end(const char *text, size_t len, size_t at) {
    const word_token joins = word_token_next(text, len, &at);
    if (word_token_is(&joins, "+")) return 1;
    if (!word_token_in("and or", &joins)) return 0;
    const word_token way = word_token_next(text, len, &at);
    if (word_token_in("above up upwards over more older higher later onwards", &way)) return 1;
    return word_token_in("below under down less younger lower earlier", &way) ? -1 : 0;
}

/* Is the asked number one of those that text[at..) names from `word` and its number on, whose digits end at `end`: "age 6 to
 * 15", "room 10 - room 19", "level 5 and above", "between week 3 and week 7"? A range that ends below where it begins goes
 * over the year's end. */
static bool range_holds(const char *text, size_t len, size_t at, const exact_name *word, int from,
                        size_t end, int asked) {
    if (from == NO_VALUE || asked == NO_VALUE) return false;
    const int open = open_end(text, len, end);
    if (open) return open > 0 ? asked >= from : asked <= from;
    size_t behind = end, before = at;
    const word_token sign = word_token_next(text, len, &behind);
    while (before > 0 && text[before - 1] == ' ') before--;
    const bool between = before >= 7 && fo_words_have_any_case("between", text + before - 7, 7);
    if (!word_token_in("to through until till", &sign) && !word_token_is_dash(&sign) &&
        !(between && word_token_in("and", &sign)))
        return false;
    const int to = end_of_range(text, len, behind, word);
    if (to == NO_VALUE) return fo_has_digit(word->s, word->n); /* "HX5-3 to HX5-8" */
    return from <= to ? asked >= from && asked <= to : asked >= from || asked <= to;
}

/* Bytes of the word at text[at] with one capital behind it; 0: it is not that word. */
static size_t lettered_at(const char *text, size_t at, size_t len, const exact_name *word,
                          size_t *capital) {
    const size_t n = word_at(text, at, len);
    if (!is_same(word, text + at, n) || at + n + 1 >= len || text[at + n] != ' ') return 0;
    *capital = at + n + 1;
    return capitals_at(text, *capital, len) == 1 ? n + 2 : 0;
}

/* bare: the number alone, whatever it counts, is the one that is asked about. */
static bool other_number(const exact_names *x, const char *text, size_t len, bool bare) {
    for (size_t k = 0; k < x->n_numbered; k++) {
        exact_name number, word = word_of(&x->numbered[k], &number);
        if (bare && holds_number(text, len, &number)) continue;
        bool other = false, within = false;
        for (size_t i = 0, n, digits; i < len && !within; i += n ? n : 1) {
            n = numbered_at(text, i, len, &digits);
            if (!n) n = lettered_at(text, i, len, &word, &digits);
            if (!n || !is_same(&word, text + i, word_at(text, i, len))) continue;
            other = true;
            within |= is_same(&number, text + digits, i + n - digits);
            const int from = value_of(&(exact_name){text + digits, i + n - digits});
            within |= range_holds(text, len, i, &word, from, i + n, value_of(&number));
        }
        if (other && !within) return true;
    }
    return false;
}

bool exact_names_other_number(const exact_names *x, const char *text, size_t len) {
    return other_number(x, text, len, true);
}

bool exact_names_other_letter(const exact_names *x, const char *text, size_t len) {
    exact_names lettered_only = {0}; /* "Monday 3" is a date */
    for (size_t k = 0; k < x->n_numbered; k++) {
        exact_name number;
        (void)word_of(&x->numbered[k], &number);
        if (fo_is_letter(*number.s))
            lettered_only.numbered[lettered_only.n_numbered++] = x->numbered[k];
    }
    return other_number(&lettered_only, text, len, true);
}

bool exact_names_other_number_before(const exact_names *x, const char *text, size_t len,
                                     size_t before) {
    for (size_t k = 0; k < x->n_numbered; k++) {
        exact_name number;
        (void)word_of(&x->numbered[k], &number);
        if (holds_number(text + before, len - before, &number)) return false;
    }
    return other_number(x, text, len, false);
}

bool exact_names_other_value(const exact_names *x, const char *column, size_t n_column,
                             const char *value, size_t n_value) {
    for (size_t k = 0; k < x->n_numbered; k++) {
        exact_name number, word = word_of(&x->numbered[k], &number);
        size_t dots;
        const bool one = number_at(value, 0, n_value, &dots) == n_value ||
                         capitals_at(value, 0, n_value) == n_value;
        if (is_same(&word, column, n_column) && n_value && one && !is_same(&number, value, n_value))
            return true;
    }
    return false;
}

/* ---- the question ---------------------------------------------------------------------------- */

/* Is the number of n bytes at question[at], with a dot, an amount: "2.5 mm", "2.20 high", "it shows 0.9"? */
static bool is_amount(const char *question, size_t at, size_t n, size_t len) {
    static const char units[] =
        "mm cm m km in ft mi h hr hrs hour hours min minutes s sec seconds day days week weeks "
        "month months year years kg g mg lb lbs t ton "
        "tons tonne tonnes l ml litre litres liter liters bar psi v volt volts a amp amps w kw kwh "
        "kb mb gb tb hz khz mhz ghz "
        "metre metres meter meters inch inches foot feet mile miles percent million billion euro "
        "euros eur dollar dollars usd "
        "pound pounds gbp francs chf high wide long deep tall thick heavy times";
    static const char shows[] =
        "shows show showed reads reaches reached says weighs measures costs";
    size_t behind = at + n;
    while (behind < len && question[behind] == ' ') behind++;
    if (behind < len && question[behind] == '%') return true;
    const size_t unit = behind < len ? word_at(question, behind, len) : 0;
    if (unit && fo_words_have_any_case(units, question + behind, unit)) return true;
    size_t end = at, start;
    while (end > 0 && question[end - 1] == ' ') end--;
    for (start = end; start > 0 && fo_is_letter(question[start - 1]);) start--;
    return fo_words_have_any_case(shows, question + start, end - start);
}

void exact_names_read(exact_names *out, const char *question, size_t len) {
    *out = (exact_names){0};
    for (size_t i = 0, n, digits; i < len; i += n ? n : 1) {
        n = asked_at(question, i, len, &digits);
        if (n && out->n_numbered < EXACT_NAMES_MAX)
            out->numbered[out->n_numbered++] = (exact_name){question + i, n};
    }
    for (size_t i = 0, n, dots; i < len; i += n ? n : 1) {
        n = number_at(question, i, len, &dots);
        if (n && dots && out->n_versions < EXACT_NAMES_MAX &&
            (dots > 1 || !is_amount(question, i, n, len)))
            out->versions[out->n_versions++] = (exact_name){question + i, n};
        if (n) continue;
        n = option_at(question, i, len);
        if (n && out->n_options < EXACT_NAMES_MAX)
            out->options[out->n_options++] = (exact_name){question + i, n};
        if (n) continue;
        n = word_at(question, i, len);
        if (n && out->n_codes < EXACT_NAMES_MAX && exact_names_is_code(question + i, n))
            out->codes[out->n_codes++] = (exact_name){question + i, n};
    }
}

bool exact_names_versions_in(const exact_names *x, const char *text, size_t len,
                             const char *title) {
    for (size_t i = 0; i < x->n_versions; i++)
        if (!holds_number(text, len, &x->versions[i]) &&
            !holds_number(title, title ? strlen(title) : 0, &x->versions[i]))
            return false;
    return true;
}

bool exact_names_version_bound_in(const char *text, size_t len) {
    static const char before[] =
        "least than until before after since from to under over below above "
        "between through minimum";
    static const char behind[] =
        "later newer older earlier above below higher lower up upwards oldest newest";
    word_token last = {0};
    for (size_t at = 0;;) {
        const word_token t = word_token_next(text, len, &at);
        if (!t.n) return false;
        size_t next_at = at;
        word_token next = word_token_next(text, len, &next_at);
        const bool series =
            t.digits && word_token_is(&next, ".") && next_at < len && text[next_at] == 'x';
        if (series || (t.digits && memchr(t.s, '.', t.n))) {
            if (series || word_token_is(&next, "+") || word_token_in(before, &last)) return true;
            for (int k = 0; k < 3 && next.letters; k++) { /* "1.4 or older", "1.21 is the oldest" */
                if (word_token_in(behind, &next)) return true;
                next = word_token_next(text, len, &next_at);
            }
        }
        last = t;
    }
}

bool exact_names_other_version(const exact_names *x, const char *text, size_t len) {
    bool other = false;
    for (size_t i = 0, n, dots; x->n_versions && i < len; i += n ? n : 1) {
        n = number_at(text, i, len, &dots);
        if (!n || !dots) continue;
        for (size_t k = 0; k < x->n_versions; k++)
            if (is_version(&x->versions[k], text + i, n)) return false;
        other = true;
    }
    return other;
}

static bool holds_option(const char *text, size_t len, const exact_name *option) {
    const char *at = memchr(text, '-', len);
    while (at) {
        size_t i = (size_t)(at - text), n = option_at(text, i, len);
        if (n == option->n && memcmp(at, option->s, n) == 0) return true;
        i += n ? n : 1;
        at = memchr(text + i, '-', len - i);
    }
    return false;
}

size_t exact_names_options_in(const exact_names *x, const char *text, size_t len) {
    size_t found = 0;
    for (size_t i = 0; i < x->n_options; i++) found += holds_option(text, len, &x->options[i]);
    return found;
}

/* "v3" in words: "version 3", "Release 3". */
static bool holds_in_words(const char *text, size_t len, const exact_name *code) {
    if (code->n < 2 || (code->s[0] != 'v' && code->s[0] != 'V')) return false;
    for (size_t i = 1; i < code->n; i++)
        if (!fo_is_digit(code->s[i])) return false;
    const exact_name number = {code->s + 1, code->n - 1};
    for (size_t i = 0, n; i < len; i += n ? n : 1) {
        n = word_at(text, i, len);
        const bool named = n && fo_words_have_any_case("version release", text + i, n);
        if (named && i + n + 1 < len && text[i + n] == ' ' &&
            word_at(text, i + n + 1, len) == number.n &&
            memcmp(text + i + n + 1, number.s, number.n) == 0)
            return true;
    }
    return false;
}

static bool holds_code(const char *text, size_t len, const exact_name *code) {
    if (holds_in_words(text, len, code)) return true;
    for (size_t i = 0, n; i < len; i += n ? n : 1) {
        n = word_at(text, i, len);
        if (n == code->n && strncasecmp(text + i, code->s, n) == 0) return true;
    }
    return false;
}

bool exact_names_lacking(const exact_names *x, const char *text, size_t len, const char *title) {
    bool code = x->n_codes == 0;
    for (size_t i = 0; i < x->n_codes && !code; i++)
        code = holds_code(text, len, &x->codes[i]) ||
               (title && holds_code(title, strlen(title), &x->codes[i]));
    return !code || (x->n_options && exact_names_options_in(x, text, len) == 0);
}

size_t exact_names_of_command(const char *title) {
    static const char *const dashes[] = {" - ", " -- ", " \xE2\x80\x93 ", " \xE2\x80\x94 "};
    const char *dash = NULL;
    for (size_t i = 0; i < sizeof dashes / sizeof *dashes; i++) {
        const char *at = strstr(title, dashes[i]);
        if (at && (!dash || at < dash)) dash = at;
    }
    if (!dash || dash == title) return 0;
    for (const char *p = title; p < dash; p++)
        if (*p == ' ' && (p == title || p[-1] != ',')) return 0;
    return (size_t)(dash - title);
}

static bool in_name(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '_' || (unsigned char)c >= 0x80;
}

/* "curl's default". */
static bool owns(const char *text, size_t len, size_t end) {
    const size_t rest = len - end;
    return (rest > 1 && !memcmp(text + end, "'s", 2)) ||
           (rest > 3 && !memcmp(text + end, "\xE2\x80\x99s", 4));
}

/* Where text says the name from byte `from` on, as a word of its own; len: nowhere. */
static size_t find_name(const char *text, size_t len, size_t from, const char *name, size_t n) {
    for (size_t i = from; n && i + n <= len; i++)
        if (memcmp(text + i, name, n) == 0 && (i == 0 || !in_name(text[i - 1])) &&
            (i + n == len || !in_name(text[i + n]) || owns(text, len, i + n)))
            return i;
    return len;
}

/* Commands that are words of English, too: "find all files", "in time", "for free" name none. */
static bool is_english(const char *name, size_t n) {
    return fo_words_have_any_case("as at batch cat clear column cut date dig edit expand factor "
                                  "file find fold free groups halt head host install "
                                  "join kill last less link login look mail make man more mount "
                                  "nice open pass paste patch pick print reset "
                                  "screen script service show shutdown size sleep sort split strip "
                                  "sync tail test time timeout top touch tree "
                                  "true truncate users view wait wall watch who write yes",
                                  name, n);
}

bool exact_names_is_capital(const char *title) {
    return *title >= 'A' && *title <= 'Z';
}

/* "ls", "cmp": no word of English can be meant. */
static bool is_unspeakable(const char *name, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (name[i] < 'a' || name[i] > 'z' || strchr("aeiouy", name[i])) return false;
    return n > 1;
}

/* "tail -f", "the exit status of timeout": only a command has those. */
static bool is_used_as_command(const char *text, size_t len, size_t i, size_t n) {
    static const char *const owned[] = {"exit status of ",  "exit code of ",  "exit codes of ",
                                        "return value of ", "exit value of ", "return code of ",
                                        "manual page of ",  "man page of "};
    const size_t end = i + n;
    if (end + 2 < len && text[end] == ' ' && text[end + 1] == '-' &&
        (fo_is_letter(text[end + 2]) || text[end + 2] == '-'))
        return true;
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) {
        const size_t bytes = strlen(owned[k]);
        if (i >= bytes && strncasecmp(text + i - bytes, owned[k], bytes) == 0) return true;
    }
    return false;
}

/* Is it the last part of a path, "/etc/shadow", "~/.ssh/known_hosts"? Not of an address. */
static bool ends_path(const char *text, size_t len, size_t i, size_t n) {
    if (i == 0 || text[i - 1] != '/') return false;
    const size_t from = path_name_start(text, i);
    return from + path_name_at(text, len, from) == i + n;
}

/* Is what stands at byte i, n bytes long, the means, or who does it? "With sort", "cut: the third field", "du without other
 * disks", "the exit status of cmp". surely: nothing that is no command would stand there, as "from Paris" and "for rent" do. */
static bool is_means(const char *text, size_t len, size_t i, size_t n, bool surely) {
    size_t end = i;
    while (end > 0 && text[end - 1] == ' ') end--;
    size_t start = end;
    while (start > 0 && in_name(text[start - 1])) start--;
    if (surely && exact_names_is_capital(text + i))
        return end < i && start < end &&
               fo_words_have_any_case("with using use make let", text + start, end - start);
    if (i + n < len && text[i + n] == ':') return true;
    if (is_used_as_command(text, len, i, n) || ends_path(text, len, i, n)) return true;
    if (is_unspeakable(text + i, n) && (start < end || i + n < len)) return true;
    if (owns(text, len, i + n) && !is_english(text + i, n)) return true;
    if (end < i && start < end &&
        fo_words_have_any_case("with using use make makes let lets tell tells have has via does",
                               text + start, end - start))
        return true;
    const bool begins = end == 0 && i + n < len;
    const bool behind =
        end < i && start < end &&
        fo_words_have_any_case(
            surely ? "can could will should stop keep prevent get force teach"
                   : "for of in from to by can could will should stop keep prevent get force "
                     "teach when if wrote writes maintains invented maintained",
            text + start, end - start);
    return (begins || behind) && !is_english(text + i, n);
}

/* family: "git" stands for "git-branch" as well, where it is surely a command. */
static bool is_said(const char *question, size_t len, const char *title, bool as_means,
                    bool family) {
    size_t names = exact_names_of_command(title);
    for (size_t i = 0; i < names;) {
        size_t n = 0, at = 0;
        while (i + n < names && title[i + n] != ',') n++;
        for (; (at = find_name(question, len, at, title + i, n)) < len; at++)
            if (!as_means || is_means(question, len, at, n, family)) return true;
        size_t first = 0;
        while (first < n && title[i + first] != '-') first++;
        for (at = 0;
             family && first < n && (at = find_name(question, len, at, title + i, first)) < len;
             at++)
            if (!as_means || is_means(question, len, at, first, true)) return true;
        i += n;
        while (i < names && strchr(", ", title[i])) i++;
    }
    return false;
}

bool exact_names_command_said(const char *question, size_t len, const char *title) {
    return is_said(question, len, title, false, false);
}

bool exact_names_command_asked(const char *question, size_t len, const char *title) {
    return is_said(question, len, title, true, false);
}

bool exact_names_family_asked(const char *question, size_t len, const char *title) {
    return is_said(question, len, title, true, true);
}

/* Bytes of the name at title[i], of those that the first `names` bytes list with commas; 0: a comma or blank stands there. */
static size_t name_at(const char *title, size_t names, size_t i) {
    const size_t n = strcspn(title + i, " ,");
    return i + n > names ? names - i : n;
}

bool exact_names_task_begins(const char *question, size_t len, const char *title) {
    const size_t names = exact_names_of_command(title);
    size_t at = 0;
    word_token t = word_token_next(question, len, &at);
    while (word_token_in("how do does can could to i you we please", &t))
        t = word_token_next(question, len, &at);
    for (size_t i = 0, n; t.letters && i < names; i += n + 1) {
        n = name_at(title, names, i);
        if (n == t.n && !strncasecmp(t.s, title + i, n) && !exact_names_is_capital(title + i))
            return true;
    }
    return false;
}

bool exact_names_are_family(const char *title, const char *other) {
    enum { LEAST = 3 }; /* "ls" and "lsof" have nothing to do with each other */
    const size_t n = strcspn(title, " ,");
    return n >= LEAST && !exact_names_is_capital(title) && exact_names_of_command(title) &&
           exact_names_of_command(other) && strncmp(title, other, n) == 0;
}

bool exact_names_are_settings(const char *title, const char *other) {
    static const char *const ends[] = {"_config", ".conf", "_conf", "rc",
                                       ".ini",    ".cfg",  ".toml", ".yaml"};
    if (!exact_names_are_family(title, other)) return false;
    const size_t n = strcspn(title, " ,"), all = strcspn(other, " ,(");
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++)
        if (all == n + strlen(ends[k]) && strncmp(other + n, ends[k], all - n) == 0) return true;
    return false;
}

bool exact_names_lie_together(const char *title, const char *document) {
    enum { LEAST = 3 };
    const size_t n = strcspn(title, " ,");
    if (n < LEAST || !exact_names_of_command(title)) return false;
    for (const char *at = document, *end; (end = strchr(at, '/')); at = end + 1)
        if ((size_t)(end - at) >= n && strncasecmp(at, title, n) == 0 &&
            !(fo_is_letter(at[n]) || fo_is_digit(at[n])))
            return true;
    return false;
}

size_t exact_names_used_with_option(const char *question, size_t len, const char **name) {
    for (size_t i = 1; i + 2 < len; i++) {
        if (question[i] != ' ' || question[i + 1] != '-' ||
            !(fo_is_letter(question[i + 2]) || question[i + 2] == '-'))
            continue;
        size_t from = i, before;
        while (from > 0 && in_name(question[from - 1])) from--;
        for (before = from; before > 0 && question[before - 1] == ' ';) before--;
        size_t word = before;
        while (word > 0 && fo_is_letter(question[word - 1])) word--;
        if (from < i && before < from && fo_is_letter(question[from]) &&
            fo_words_have_any_case("does is of do explain", question + word, before - word) &&
            !fo_words_have_any_case("the option flag switch parameter argument a an using use "
                                    "with its this that it each",
                                    question + from, i - from)) {
            *name = question + from;
            return i - from;
        }
    }
    return 0;
}

bool exact_names_command_is(const char *title, const char *name, size_t n) {
    const size_t names = exact_names_of_command(title);
    for (size_t at = 0; (at = find_name(title, names, at, name, n)) < names; at++)
        if ((at == 0 || strchr(" ,", title[at - 1])) && strchr(" ,", title[at + n])) return true;
    const size_t ends = strcspn(title, " ,"); /* "commit" of "git-commit" */
    return names && ends > n && title[ends - n - 1] == '-' && !memcmp(title + ends - n, name, n);
}

bool exact_names_begins_a_word(const char *question, size_t len, const char *title) {
    enum { LEAST = 4 };
    const size_t names = exact_names_of_command(title);
    for (size_t i = 0, n; i < names; i += n + 1) {
        n = name_at(title, names, i);
        for (size_t at = 0; n >= LEAST && at + n <= len; at++)
            if (!(at && in_name(question[at - 1])) && !strncasecmp(question + at, title + i, n))
                return true;
    }
    return false;
}
