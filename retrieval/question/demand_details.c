#include "retrieval/question/demand_details.h"

#include <string.h>
#include <strings.h>

#include "kernels/utf8.h"
#include "kernels/words.h"
#include "retrieval/question/demand_days.h"
#include "retrieval/text/word_tokens.h"

/* ---- the question ------------------------------------------------------------------------ */

/* Where a machine listens or writes, which names and numbers of many kinds tell. */
static bool asks_of_a_machine(const char *question, size_t len) {
    return word_tokens_say("listen listens listening bind binds bound ip memory loopback", question,
                           len);
}

/* "What is", "What's", "Which are" begin it; what an address or a number is for is another question. */
static bool asks_what_it_is(const char *question, size_t len) {
    size_t at = 0;
    word_token t = word_token_next(question, len, &at);
    if (!word_token_in("what which", &t)) return word_token_in("whats", &t);
    t = word_token_next(question, len, &at);
    return word_token_in("is are was", &t) || word_token_is(&t, "'") ||
           word_token_is(&t, "\xE2\x80\x99");
}

static enum demand_detail detail_at(const word_token *before, const word_token *t) {
    if (word_token_in("address", t)) {
        if (word_token_in("mail email", before)) return DETAIL_MAIL;
        if (word_token_in("web internet", before)) return DETAIL_WEB;
        return word_token_in("the s his her their your our postal street home full", before)
                   ? DETAIL_ADDRESS
                   : DETAIL_NONE;
    }
    if (word_token_in("number", t))
        return word_token_in("phone telephone mobile fax cell extension", before) ? DETAIL_PHONE
                                                                                  : DETAIL_NONE;
    if (word_token_in("extension", t)) /* Rohan's, hers: not that of a file */
        return word_token_in("s his her their your whose", before) ? DETAIL_PHONE : DETAIL_NONE;
    if (word_token_in("email", t)) /* "what's her email" */
        return word_token_in("s his her their your whose", before) ? DETAIL_MAIL : DETAIL_NONE;
    return word_token_in("website url homepage", t) ? DETAIL_WEB : DETAIL_NONE;
}

/* "When", "where" or "in what year" begin it, and it speaks of a birth, a wedding or a death. */
static enum demand_detail life_of(const char *question, size_t len) {
    size_t at = 0;
    word_token t = word_token_next(question, len, &at);
    while (word_token_in("and in on at", &t)) t = word_token_next(question, len, &at);
    const bool what = word_token_in("what which", &t);
    if (!what && !word_token_in("when where", &t)) return DETAIL_NONE;
    if (word_tokens_say("born", question + at, len - at)) return DETAIL_BIRTH;
    if (!what && word_tokens_say("marry married", question + at, len - at)) return DETAIL_MARRIAGE;
    const word_token next = word_token_next(question, len, &at); /* "What is the die made of?" */
    return (!what || word_token_in("year month day date", &next)) &&
                   word_tokens_say("die", question + at, len - at)
               ? DETAIL_DEATH
               : DETAIL_NONE;
}

/* "When does it close in the evening?": the day is said, and the hour is asked for. */
static bool asks_for_the_hour(const char *question, size_t len) {
    size_t at = 0;
    word_token t = word_token_next(question, len, &at), before = {0}, earlier = {0};
    bool opens = false;
    if (!word_token_in("when", &t)) return false;
    for (;; earlier = before, before = t) {
        t = word_token_next(question, len, &at);
        if (!t.n) return false;
        opens |= word_token_in("open opens close closes shut shuts", &t);
        if (opens && word_token_in("morning afternoon evening night", &t) &&
            (word_token_in("at", &before) ||
             (word_token_in("the", &before) && word_token_in("in", &earlier))))
            return true;
    }
}

/* "Which file lists them?", "In what files are they kept?": not which type of file, nor which file system. */
static bool asks_for_a_file(const char *question, size_t len) {
    static const char *const others =
        "type types format formats name names size sizes system systems extension extensions mode "
        "permission permissions descriptor server sharing manager browser kind kinds count";
    size_t at = 0;
    word_token t = word_token_next(question, len, &at);
    while (word_token_in("and in to from", &t)) t = word_token_next(question, len, &at);
    if (!word_token_in("which what", &t)) return false;
    t = word_token_next(question, len, &at);
    if (word_token_in("config configuration settings log text", &t))
        t = word_token_next(question, len, &at);
    if (!word_token_in("file files", &t)) return false;
    t = word_token_next(question, len, &at);
    return t.letters && !word_token_in(others, &t);
}

/* "Where does it keep its log?", "Where is the state saved?": what programs write and read. */
static bool asks_where_kept(const char *question, size_t len) {
    size_t at = 0;
    word_token t = word_token_next(question, len, &at);
    while (word_token_in("and in on", &t)) t = word_token_next(question, len, &at);
    return word_token_in("where", &t) &&
           word_tokens_say("keep keeps kept store stores stored save saves saved write writes "
                           "written look looks put puts located live lives",
                           question + at, len - at) &&
           word_tokens_say("log logs config configuration settings state cache database history "
                           "session sessions socket lock track plugins modules defaults cookies",
                           question + at, len - at);
}

size_t demand_letters_of(const char *question, size_t len, const char **letters) {
    enum { FEWEST = 2, MOST = 8 };
    size_t at = 0;
    word_token before = word_token_next(question, len, &at), t;
    if (!word_token_in("what", &before)) return 0;
    before = word_token_next(question, len, &at);
    if (!word_token_in("does do is", &before)) return 0;
    for (t = word_token_next(question, len, &at); t.n; t = word_token_next(question, len, &at)) {
        const bool behind = word_token_in("stand", &t) || word_token_in("short", &t);
        if (behind) break;
        if (!word_token_in("the abbreviation acronym letters", &t)) before = t;
    }
    const word_token last = t.n ? word_token_next(question, len, &at) : t;
    if (!word_token_in("for", &last) || before.n < FEWEST || before.n > MOST) return 0;
    for (size_t i = 0; i < before.n; i++)
        if (!fo_is_upper(before.s[i])) return 0;
    *letters = before.s;
    return before.n;
}

enum demand_detail demand_detail_of(const char *question, size_t len) {
    const char *letters;
    if (demand_letters_of(question, len, &letters)) return DETAIL_LETTERS;
    if (asks_where_kept(question, len)) return DETAIL_KEPT;
    const bool what = asks_what_it_is(question, len);
    word_token before = {0};
    if (asks_for_the_hour(question, len)) return DETAIL_CLOCK;
    if (asks_for_a_file(question, len)) return DETAIL_FILE;
    for (size_t at = 0;;) {
        const word_token t = word_token_next(question, len, &at);
        if (!t.n) return life_of(question, len);
        if (word_token_in("time hour", &t) && word_token_in("what which", &before)) {
            const word_token next = word_token_next(question, len, &at),
                             last = word_token_next(question, len, &at);
            const bool other = word_token_in("zone zones range frame span period limit", &next) ||
                               (word_token_in("of", &next) && !word_token_in("day", &last));
            return other ? DETAIL_NONE : DETAIL_CLOCK;
        }
        if (word_token_in("colour color colours colors", &t) &&
            word_token_in("what which", &before))
            return DETAIL_COLOUR;
        if (word_token_in("status code codes value", &t) &&
            word_token_in("exit return returned", &before))
            return DETAIL_EXIT;
        if (what && word_token_in("password passphrase", &t)) { /* not its rules, nor its file */
            size_t further = at;
            const word_token next = word_token_next(question, len, &further);
            return !next.letters || word_token_in("of for to on in", &next) ? DETAIL_PASSWORD
                                                                            : DETAIL_NONE;
        }
        enum demand_detail d = what ? detail_at(&before, &t) : DETAIL_NONE;
        if (d == DETAIL_ADDRESS && asks_of_a_machine(question, len)) d = DETAIL_NONE;
        if (d != DETAIL_NONE) return d;
        before = t;
    }
}

/* ---- the text ---------------------------------------------------------------------------- */

/* Three digits or more, with blanks and marks between them at most: "86 55 01 20", "ext. 4410". */
static bool has_phone(const char *text, size_t len) {
    enum { FEWEST = 3 };
    size_t digits = 0, apart = 0;
    for (size_t i = 0; i < len; i++) {
        if (fo_is_digit(text[i])) {
            digits = apart > 1 ? 1 : digits + 1;
            apart = 0;
            if (digits >= FEWEST) return true;
        } else if (fo_is_blank(text[i]) || text[i] == '/' || text[i] == '-' || text[i] == ')') {
            apart++;
        } else {
            digits = 0;
        }
    }
    return false;
}

/* The names of the lines that a mail begins with. */
static bool heads_mail(const char *text, size_t len) {
    size_t at = 0;
    const word_token name = word_token_next(text, len, &at),
                     colon = word_token_next(text, len, &at);
    return word_token_in("from to cc bcc", &name) && word_token_is(&colon, ":");
}

/* A number beside a word with a capital, "14 Mill Lane", "Ringstr. 3"; months, classes and rooms have numbers of another kind. */
static bool has_house_number(const char *text, size_t len) {
    enum { MOST_DIGITS = 5 };
    static const char *const others = "year class room cabin page no number office day week group "
                                      "level chapter version part ext extension tel phone fax";
    word_token before = {0};
    for (size_t at = 0;;) {
        const word_token t = word_token_next(text, len, &at);
        if (!t.n) return false;
        const bool pair = (t.digits && t.n <= MOST_DIGITS && before.letters) ||
                          (t.letters && before.digits && before.n <= MOST_DIGITS);
        const word_token *word = t.letters ? &t : &before;
        if (pair && fo_is_upper(word->s[0]) && !word_token_in(others, word) &&
            demand_month_named(word) < 0)
            return true;
        if (!word_token_is(&t, ".")) before = t;
    }
}

/* "www.example.org", "https://...", "example.org/help" */
static bool has_web(const char *text, size_t len) {
    for (size_t i = 1; i + 2 < len; i++) {
        if (text[i] == '.' && fo_is_letter(text[i - 1]) && fo_is_letter(text[i + 1]) &&
            fo_is_letter(text[i + 2]))
            return true;
        if (text[i] == ':' && text[i + 1] == '/' && text[i + 2] == '/') return true;
    }
    return false;
}

/* Where post is sent, or else what is reached at an address: a street, a house number, behind "in", "at" and the like a name, a mail
 * address that is none of those in the lines a mail begins with, a name ("db.gull", "localhost") or number of a machine. */
static bool has_address(const char *text, size_t len) {
    static const char *const streets = "street st road rd lane avenue ave drive square place court "
                                       "row quay bank hill way close terrace crescent "
                                       "strasse str weg platz gasse allee rue calle via viale "
                                       "piazza avenida plaza rua address box postcode zip";
    word_token before = {0};
    if (!len || heads_mail(text, len)) return false;
    if (memchr(text, '@', len) || has_web(text, len) || word_tokens_say("localhost", text, len) ||
        memmem(text, len, "://", 3) || memchr(text, '|', len) ||
        word_tokens_say(streets, text, len) || has_house_number(text, len))
        return true;
    for (size_t at = 0;;) {
        const word_token t = word_token_next(text, len, &at);
        if (!t.n) return false;
        if (word_token_in("in at near opposite behind on", &before) && fo_is_upper(t.s[0]) &&
            demand_month_named(&t) < 0)
            return true;
        if (t.digits && memchr(t.s, '.', t.n)) return true; /* 10.0.0.1 */
        before = t;
    }
}

/* "2026-10-03", "03/04/2026": is the number at t part of a date in digits? */
static bool is_of_a_date(const char *text, size_t len, const word_token *t) {
    const size_t from = (size_t)(t->s - text);
    const char *end = t->s + t->n, *stop = text + len;
    const bool behind = end + 1 < stop && (*end == '-' || *end == '/') && fo_is_digit(end[1]),
               before = from > 1 && (t->s[-1] == '-' || t->s[-1] == '/') && fo_is_digit(t->s[-2]);
    if (t->n == 4)
        return word_token_year(t) && ((behind && end + 3 < stop && (end[3] == *end)) ||
                                      (before && from > 5 && t->s[-4] == t->s[-1]));
    if (t->n != 2) return false;
    const bool last = before && from > 4 && t->s[-4] == t->s[-1],
               midst = before && ((behind && *end == t->s[-1]) ||
                                  (from > 4 && fo_is_digit(t->s[-4]) && fo_is_digit(t->s[-5]))),
               first = behind && end + 3 < stop && end[3] == *end;
    return last || midst || first;
}

/* Digits that may be a time, words for one, or what happens then. */
static bool has_clock(const char *text, size_t len) {
    static const char *const times =
        "noon midnight midday dawn dusk sunrise sunset dark darkness half quarter morning mornings "
        "afternoon afternoons lunchtime hour hours minute minutes clock anytime before after when "
        "until while during once time times "
        "early late am pm h hrs";
    /* When they are said of a day, and are not what takes place then: "parents' evening", "the school lunch". */
    static const char *const parts = "evening evenings night nights lunch breakfast dinner";
    static const char *const of_a_day =
        "the in at every each this that by until before after from to during late early mid of all "
        "a one next same monday tuesday "
        "wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays "
        "saturdays sundays";
    static const char *const behind =
        "at from until till by before after to since around about between and open opens close "
        "closes start starts begin begins end ends";
    static const char *const numerals = "one two three four five six seven eight nine ten eleven "
                                        "twelve";
    word_token before = {0};
    for (size_t at = 0;;) {
        const word_token t = word_token_next(text, len, &at);
        if (!t.n) return false;
        const bool label = word_token_in("when", &t) && at < len && text[at] == ':';
        if ((word_token_in(times, &t) && !label) || word_token_in(numerals, &t)) return true;
        if (word_token_in(parts, &t) && (!before.n || word_token_in(of_a_day, &before)))
            return true;
        if (t.digits) {
            const char *end = t.s + t.n, *stop = text + len;
            const bool marked =
                end + 1 < stop && (*end == ':' || *end == 'h') && fo_is_digit(end[1]);
            const bool point = memchr(t.s, '.', t.n) != NULL;
            size_t next_at = at;
            const word_token next = word_token_next(text, len, &next_at);
            const bool date = demand_month_named(&next) >= 0; /* "21 and 22 October" */
            const bool year = word_token_year(&t) && word_token_in("in since of", &before);
            if (!date && !year && !is_of_a_date(text, len, &t) &&
                (marked || point || t.n == 3 || t.n == 4 || word_token_in(behind, &before) ||
                 word_token_is(&before, "-") || word_token_is(&before, "\xE2\x80\x93")))
                return true;
        }
        before = t;
    }
}

static bool has_colour(const char *text, size_t len) {
    return word_tokens_say(
        "red blue green yellow white black grey gray brown orange pink purple violet silver gold "
        "golden beige turquoise cream colour color colours colors coloured colored dark pale "
        "transparent amber ivory bronze navy lilac copper ochre rust scarlet crimson khaki "
        "magenta cyan maroon olive teal indigo reddish bluish greenish yellowish whitish brownish "
        "greyish",
        text, len);
}

/* "(1845-1919)", "(* 1923)": a year behind a bracket. */
static bool has_years_of_life(const char *text, size_t len) {
    word_token before = {0};
    for (size_t at = 0;;) {
        const word_token t = word_token_next(text, len, &at);
        if (!t.n) return false;
        if (word_token_year(&t) && (word_token_is(&before, "(") || word_token_is(&before, "*") ||
                                    word_token_in("b", &before)))
            return true;
        before = t;
    }
}

static bool has_birth(const char *text, size_t len) {
    return has_years_of_life(text, len) ||
           word_tokens_say(
               "born birth births birthday birthplace natal nee native natives baptised "
               "baptized christened hails hailed child son daughter delivered",
               text, len);
}

bool demand_phone_is_another(const char *question, size_t n, const char *text, size_t len) {
    static const char *const kinds[] = {"mobile cell cellphone", "work office business",
                                        "home private", "fax"};
    size_t asked = 0, said = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (word_tokens_say(kinds[i], question, n)) asked |= (size_t)1 << i;
        if (word_tokens_say(kinds[i], text, len)) said |= (size_t)1 << i;
    }
    return asked && said && !(asked & said);
}

static bool has_death(const char *text, size_t len) {
    return has_years_of_life(text, len) ||
           word_tokens_say("die dies died death deaths dead deceased late killed murdered "
                           "assassinated executed hanged "
                           "beheaded shot fell fallen perished drowned suicide succumbed buried "
                           "funeral passed passing "
                           "lost survived survivor widow widower posthumously until end ended",
                           text, len);
}

/* "/etc/hosts", "~/.netrc", "hosts.allow", "muttrc"; not "registry1.com", nor "and/or". */
static bool has_path(const char *text, size_t len) {
    static const char domains[] = "com org net edu gov io g e";
    for (size_t i = 0; i + 1 < len; i++) {
        const bool begins = i == 0 || fo_is_blank(text[i - 1]) || strchr("\"'`(<=:,", text[i - 1]);
        if (begins && strchr("/~$", text[i]) &&
            (memchr("/.~{", text[i + 1], 4) || (text[i] == '/' && fo_is_letter(text[i + 1]))))
            return true;
        if (text[i] == '.' && fo_is_letter(text[i + 1]) &&
            (begins || (i && fo_is_of_word(text[i - 1])))) {
            size_t n = 0;
            while (i + 1 + n < len && fo_is_letter(text[i + 1 + n])) n++;
            if (!fo_words_have_any_case(domains, text + i + 1, n)) return true;
        }
        if (text[i] == 'r' && text[i + 1] == 'c' && i > 1 && fo_is_letter(text[i - 1]) &&
            (i + 2 == len || !fo_is_of_word(text[i + 2])))
            return true;
    }
    return false;
}

/* ... or one that files are known by ("LICENSE", "Makefile"), or a name behind "file" ("the file fstab"). Not any word in capitals: so
 * headings are written. */
static bool has_file(const char *text, size_t len) {
    word_token before = {0};
    if (has_path(text, len)) return true;
    for (size_t at = 0;;) {
        const word_token t = word_token_next(text, len, &at);
        if (!t.n) return false;
        if (word_token_in("readme license licence copying changelog news authors todo", &t) ||
            (t.n > strlen("file") && !strncasecmp(t.s + t.n - 4, "file", 4) &&
             !word_token_in("profile", &t)))
            return true;
        if (t.letters && word_token_in("file", &before) &&
            !word_token_in("is was has and or in of that which to with for on by system systems "
                           "size name type format at from as can may will must does contains",
                           &t))
            return true;
        before = t;
    }
}

/* ... or where there is no file: a stream, a log of the system, a variable that says it, a place that is told without its path. */
static bool has_place_of_files(const char *text, size_t len) {
    if (has_path(text, len) ||
        word_tokens_say("stdout stderr syslog journal journald memory registry standard", text,
                        len))
        return true;
    for (size_t i = 0; i + 1 < len; i++)
        if (text[i] == '$' && fo_is_upper(text[i + 1])) return true;
    word_token before = {0};
    for (size_t at = 0;;) {
        const word_token t = word_token_next(text, len, &at);
        if (!t.n) return false;
        if (word_token_in("directory folder", &t) && word_token_in("current working same", &before))
            return true;
        before = t;
    }
}

bool demand_letters_in(const char *letters, size_t n, const char *text, size_t len) {
    size_t met = 0;
    bool said = false, spelt = false;
    for (size_t at = 0;;) {
        const word_token t = word_token_next(text, len, &at);
        if (!t.n) break;
        if (t.n == n && memcmp(t.s, letters, n) == 0) {
            said = true;
            met = 0; /* "manage MD devices" */
            continue;
        }
        if (!t.letters || word_token_in("of and for the to in", &t)) continue;
        if ((t.s[0] & ~0x20) == letters[met])
            met++;
        else
            met = (t.s[0] & ~0x20) == letters[0];
        if (met == n) spelt = true, met = 0;
    }
    if (spelt && (said || n > 2)) return true; /* any two words may begin so */
    return said &&
           word_tokens_say("stands stand abbreviation abbreviated abbreviates acronym short "
                           "initials",
                           text, len);
}

bool demand_detail_may_be(enum demand_detail detail, const char *text, size_t len) {
    return detail == DETAIL_PASSWORD &&
           !word_tokens_say("username usernames user users login", text, len);
}

bool demand_detail_in(enum demand_detail detail, const char *text, size_t len) {
    switch (detail) {
    case DETAIL_NONE:
    case DETAIL_WHEN:
    case DETAIL_CASE:
    case DETAIL_PERSON:
    case DETAIL_LETTERS:
        return true;
    case DETAIL_KEPT:
        return has_place_of_files(text, len);
    case DETAIL_MAIL:
        return memchr(text, '@', len) != NULL;
    case DETAIL_ADDRESS:
        return has_address(text, len);
    case DETAIL_PHONE:
        return has_phone(text, len);
    case DETAIL_WEB:
        return has_web(text, len);
    case DETAIL_CLOCK:
        return has_clock(text, len);
    case DETAIL_COLOUR:
        return has_colour(text, len);
    case DETAIL_BIRTH:
        return has_birth(text, len);
    case DETAIL_DEATH:
        return has_death(text, len);
    case DETAIL_MARRIAGE:
        return word_tokens_say(
            "marry marries married marriage wed weds wedding wedded wife husband "
            "spouse bride bridegroom groom widow widower",
            text, len);
    case DETAIL_PASSWORD:
        return word_tokens_say("password passwords passphrase passwd passcode pass pw pwd pin key "
                               "secret credentials",
                               text, len);
    case DETAIL_FILE:
        return has_file(text, len);
    case DETAIL_EXIT:
        return word_tokens_say("exit exits exited return returns returned status", text, len);
    }
    return true;
}
