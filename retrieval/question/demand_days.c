#include "retrieval/question/demand_days.h"

#include <string.h>

#include "kernels/utf8.h"
#include "kernels/words.h"
#include "retrieval/text/dates.h"

/* ---- days -------------------------------------------------------------------------------- */

enum { WORKING_DAYS = 0x1F, WEEKEND = 0x60, NO_DAY = -1, DAYS = 7 };
static const char *const long_days[DAYS] = {
    "monday mondays", "tuesday tuesdays",   "wednesday wednesdays", "thursday thursdays",
    "friday fridays", "saturday saturdays", "sunday sundays"};
static const char *const short_days[DAYS] = {"Mon", "Tue Tues", "Wed", "Thu Thur Thurs",
                                             "Fri", "Sat",      "Sun"};

static int long_day(const word_token *t) {
    for (int d = 0; t->letters && d < DAYS; d++)
        if (word_token_in(long_days[d], t)) return d;
    return NO_DAY;
}

/* A short form has a capital and a sign behind it, ends a range or stands behind "on" ("Mon-Fri", "Sat:"): the sun and what
 * sat down are none. */
static int short_day(const word_token *t, const word_token *before, bool marked, bool ends_range) {
    const bool sign = marked || ends_range || word_token_in("on every each next last this", before);
    for (int d = 0; sign && t->letters && d < DAYS; d++)
        if (fo_words_have(short_days[d], t->s, t->n)) return d;
    return NO_DAY;
}

bool demand_day_named(const char *word, size_t n) {
    for (int d = 0; d < DAYS; d++)
        if (fo_words_have_any_case(long_days[d], word, n) ||
            fo_words_have_any_case(short_days[d], word, n))
            return true;
    return fo_words_have_any_case("daily weekday weekdays weekend weekends", word, n);
}

/* Days a to b, over the end of the week where b comes before a. */
static uint8_t range(int a, int b) {
    uint8_t days = 0;
    for (int d = a;; d = (d + 1) % 7) {
        days |= (uint8_t)(1 << d);
        if (d == b) return days;
    }
}

static bool is_range_sign(const word_token *t) {
    return word_token_in("to until till through", t) || word_token_is_dash(t) ||
           word_token_is(t, "\xE2\x80\x94");
}

/* Does a line begin with the word, and is it a column of its own: two blanks, a tab or the line's end behind it ("Sun    closed")? */
static bool is_first_column(const char *text, size_t len, const word_token *t, size_t at) {
    const char *from = t->s;
    while (from > text && (from[-1] == ' ' || from[-1] == '\t')) from--;
    if (from > text && from[-1] != '\n') return false;
    if (at == len || (fo_is_blank(text[at]) && text[at] != ' ')) return true;
    return text[at] == ' ' && (at + 1 == len || fo_is_blank(text[at + 1]));
}

/* Does the word end a line behind a bar, two blanks or a tab ("Mon | Tue | Sat"), as the last column does? */
static bool is_last_column(const char *text, size_t len, const word_token *t, size_t at) {
    const char *from = t->s;
    while (from > text && from[-1] == ' ') from--;
    const bool parted =
        from > text && (strchr("|\t", from[-1]) || t->s - from > 1) && from[-1] != '\n' && from[-1];
    while (at < len && text[at] == ' ') at++;
    return parted && (at == len || text[at] == '\n' || text[at] == '\r');
}

/* Is there a sign behind the word that ends at byte `at`: one that touches it, a figure, a dash or a bar behind blanks ("Fri
 * 7.30", "Mon - Thu"), or the next column? The last one has none. */
static bool is_marked(const char *text, size_t len, const word_token *t, size_t at) {
    size_t i = at;
    while (i < len && text[i] == ' ') i++;
    if (is_first_column(text, len, t, at) || is_last_column(text, len, t, at)) return true;
    if (i == len) return false;
    const bool sign = i == at || fo_is_digit(text[i]) || strchr("|-\xE2", text[i]);
    return sign && !word_token_letter(text[i]) && !fo_is_blank(text[i]);
}

/* What may begin or end a time without its other end: "from June on", "until Friday". */
static bool leaves_open(const word_token *t) {
    return word_token_in("from since after starting until till", t);
}

static bool is_ordinal(const word_token *t) {
    return word_token_in("st nd rd th first second third fourth last next following early late mid",
                         t);
}

/* A range of days or months that is being read, "from Monday 8:00 to Friday 17:00". */
typedef struct span {
    int last;     /* what stands before a sign; -1: nothing */
    bool ranges;  /* since then there was a sign of a range, and nothing that is of none */
    bool between; /* "between" stands before it: "and" is a sign */
    bool opens;   /* "from" or "until" stands before what comes */
    bool opened;  /* ... and before `last` */
    bool open;    /* a time was said of which one end was not */
} span;

static bool span_sign(const span *x, const word_token *t) {
    return is_range_sign(t) || (x->between && word_token_in("and", t));
}

/* What is read is of no range any more. */
static void span_break(span *x) {
    x->open |= x->opened;
    *x = (span){.last = -1, .open = x->open};
}

/* A day or a month. True: it ends the range that x->last began. */
static bool span_name(span *x, int name, int *first) {
    const bool ends = x->ranges && x->last >= 0;
    *first = ends ? x->last : name;
    x->open |= x->opened && !ends;
    const bool on = x->opens || (x->between && !ends);
    *x = (span){
        .last = name, .between = x->between && !ends, .opened = on && !ends, .open = x->open};
    return ends;
}

/* A token that is none, and the one before it. `within`: it may stand beside a name. */
static void span_token(span *x, const word_token *t, const word_token *before, bool within) {
    if (x->last >= 0 && !x->ranges && span_sign(x, t)) {
        x->ranges = true;
    } else if (word_token_in("onward onwards", t) && x->last >= 0) {
        x->open = true;
    } else if (leaves_open(t) && !before->digits) { /* not "9 until 12 May" */
        span_break(x);
        x->opens = true;
    } else if (word_token_in("between", t)) {
        span_break(x);
        x->between = true;
    } else if (!within) {
        span_break(x);
    }
}

/* "Friday evening until Monday morning", "Monday 8:00 to Friday 17:00": a number behind the sign ends a time of one day. */
static bool is_beside_day(const span *x, const word_token *t) {
    static const char parts[] = "morning evening noon afternoon night midnight at am pm";
    if (is_ordinal(t) || word_token_in("the", t)) return true;
    if (x->last < 0 || x->ranges) return false;
    return t->digits || word_token_is(t, ":") || word_token_in(parts, t) ||
           date_month_named_in_english(t);
}

static uint8_t read_days(const char *text, size_t len, bool *open) {
    uint8_t days = 0;
    word_token before = {0};
    span x = {.last = NO_DAY};
    for (size_t at = 0;;) {
        word_token t = word_token_next(text, len, &at);
        if (!t.n) break;
        int day = long_day(&t), first;
        if (day == NO_DAY) day = short_day(&t, &before, is_marked(text, len, &t, at), x.ranges);
        if (day != NO_DAY) {
            (void)span_name(&x, day, &first);
            days |= range(first, day);
        } else {
            span_token(&x, &t, &before, is_beside_day(&x, &t));
        }
        if (word_token_in("daily", &t) ||
            (word_token_in("every each", &before) && word_token_in("day", &t)))
            days |= DEMAND_EVERY_DAY;
        if (word_token_in("weekdays", &t)) days |= WORKING_DAYS;
        if (word_token_in("weekend weekends", &t)) days |= WEEKEND;
        before = t;
    }
    span_break(&x);
    *open = x.open;
    return days;
}

uint8_t demand_days_in(const char *text, size_t len) {
    bool open;
    return read_days(text, len, &open);
}

bool demand_days_open(const char *text, size_t len) {
    bool open;
    (void)read_days(text, len, &open);
    return open;
}

/* How the text first writes the day; *is_short: in short. Nothing: it does not name it. */
static word_token day_in(const char *text, size_t len, int day, bool *is_short) {
    word_token before = {0};
    for (size_t at = 0;;) {
        const word_token t = word_token_next(text, len, &at);
        *is_short = short_day(&t, &before, is_marked(text, len, &t, at), false) == day;
        if (!t.n || *is_short || long_day(&t) == day) return t;
        before = t;
    }
}

bool demand_days_as_written(fo_buf *out, const char *question, const passage *passages, size_t n) {
    const size_t len = strlen(question);
    size_t copied = 0;
    for (size_t at = 0;;) {
        const word_token t = word_token_next(question, len, &at);
        const int day = long_day(&t);
        if (!t.n) break;
        if (day == NO_DAY) continue;
        bool is_short = false;
        word_token written = {0};
        for (size_t i = 0; i < n && !written.n; i++) /* the first to name it decides */
            written = day_in(passages[i].text, passages[i].len, day, &is_short);
        if (!written.n || !is_short) continue;
        fo_buf_add(out, question + copied, (size_t)(t.s - question) - copied);
        fo_buf_add(out, written.s, written.n);
        copied = at;
    }
    if (copied) fo_buf_str(out, question + copied);
    return copied > 0;
}

/* ---- months ------------------------------------------------------------------------------ */

enum { NO_MONTH = -1, MONTHS = 12, SHORT = 4 };

int demand_month_named(const word_token *t) {
    return date_month_named_in_english(t) - 1;
}

/* "may" is a month beside a number, behind a word of time or another month ("April, May and June"), and so are "march" and what
 * is short. */
static int month_of(const word_token *t, const word_token *before, bool number_behind,
                    bool listed) {
    const int m = demand_month_named(t);
    if (m == NO_MONTH) return m;
    const bool beside = before->digits || number_behind || listed ||
                        word_token_in("in from to until till of by since early late mid during "
                                      "before after and or through next last each every "
                                      "between",
                                      before);
    const bool is_short = t->n <= SHORT && !word_token_in("july", t); /* nobody is called so */
    return (m == 2 || m == 4 || is_short) && !beside ? NO_MONTH : m;
}

static bool parts_a_list(const word_token *t) {
    return word_token_is(t, ",") || word_token_is(t, "/") || word_token_is(t, "&") ||
           word_token_in("and or", t);
}

/* Feasts at the end of a range: of some it is known in which month they are. */
enum { FEAST_MOVES = MONTHS };
static int feast_of(const word_token *before, const word_token *t) {
    if (word_token_in("christmas", t)) return 11;
    if (word_token_in("year", t) && word_token_in("new", before)) return 11;
    return word_token_in("easter pentecost whitsun ramadan thanksgiving", t) ? FEAST_MOVES
                                                                             : NO_MONTH;
}

/* "the first Sunday in", "the end of", "1st", "31"; a comma before a year. */
static bool is_beside_month(const span *x, const word_token *t, const word_token *before,
                            const word_token *next) {
    const bool begins = x->ranges || x->opens || x->between;
    if (t->digits || (word_token_in("st nd rd th", t) && before->digits)) return true;
    if (word_token_is(t, ",")) return before->digits && word_token_year(next);
    if (word_token_in("of in", t))
        return begins && !before->digits && !is_range_sign(before) && !leaves_open(before);
    return begins && (is_ordinal(t) || long_day(t) != NO_DAY ||
                      word_token_in("the end middle beginning start new", t));
}

static uint16_t months_from(int a, int b) {
    uint16_t months = 0;
    for (int m = a;; m = (m + 1) % MONTHS) {
        months |= (uint16_t)(1 << m);
        if (m == b) return months;
    }
}

static uint16_t read_months(const char *text, size_t len, bool *open) {
    uint16_t months = 0;
    word_token before = {0};
    span x = {.last = NO_MONTH};
    bool listed = false; /* since the last month nothing stood but what parts those of a list */
    for (size_t at = 0;;) {
        word_token t = word_token_next(text, len, &at);
        if (!t.n) break;
        size_t behind = at;
        const word_token next = word_token_next(text, len, &behind);
        const int month = month_of(&t, &before, next.digits, listed), feast = feast_of(&before, &t);
        int first;
        if (month != NO_MONTH) {
            (void)span_name(&x, month, &first);
            months |= months_from(first, month);
        } else if (feast != NO_MONTH && x.ranges) {
            if (feast == FEAST_MOVES)
                x.open = true;
            else if (span_name(&x, feast, &first))
                months |= months_from(first, feast);
            span_break(&x);
        } else if (feast != NO_MONTH && (x.opens || x.between)) { /* "from Easter to October" */
            x.opens = true;
        } else if (x.opens && span_sign(&x, &t) && before.digits) { /* "from 9 to 12 May" */
            span_break(&x);
        } else if (!(x.opens && x.last == NO_MONTH && span_sign(&x, &t))) {
            span_token(&x, &t, &before, is_beside_month(&x, &t, &before, &next));
        }
        listed = month != NO_MONTH || (listed && parts_a_list(&t));
        before = t;
    }
    span_break(&x);
    *open = x.open;
    return months;
}

uint16_t demand_months_in(const char *text, size_t len) {
    bool open;
    return read_months(text, len, &open);
}

bool demand_months_open(const char *text, size_t len) {
    bool open;
    (void)read_months(text, len, &open);
    return open;
}

/* ---- dates ------------------------------------------------------------------------------- */

enum { A_MONTH = 32, MOST_TOKENS = 64 };

static bool bounds_time(const word_token *t) {
    return is_range_sign(t) ||
           word_token_in("by before after from since between through and or earlier later", t);
}

/* The day that begins at token t[i] of n; *last: its last token. 0: none, one without a day, or one of two. */
static uint16_t date_from(const word_token *t, size_t n, size_t i, const char *end, size_t *last) {
    date_said d;
    const size_t used = date_at(t[i].s, (size_t)(end - t[i].s), &d);
    if (!used || !d.day || d.order == DATE_ORDER_OPEN) return 0;
    *last = i;
    while (*last + 1 < n && t[*last + 1].s < t[i].s + used) ++*last;
    return (uint16_t)(A_MONTH * d.month + d.day);
}

uint16_t demand_date_in(const char *text, size_t len) {
    word_token t[MOST_TOKENS];
    size_t n = 0, at = 0;
    uint16_t found = 0;
    while (n < MOST_TOKENS && (t[n] = word_token_next(text, len, &at)).n) n++;
    for (size_t i = 0; i < n; i++) {
        const size_t first = i;
        const uint16_t date = date_from(t, n, first, text + len, &i);
        if (!date) continue;
        if ((found && found != date) || (first > 0 && bounds_time(&t[first - 1])) ||
            (i + 1 < n && bounds_time(&t[i + 1])))
            return 0;
        found = date;
    }
    return found;
}

/* ---- years ------------------------------------------------------------------------------- */

uint16_t demand_year_of(const char *question, size_t len) {
    word_token before = {0};
    for (size_t at = 0;;) {
        const word_token t = word_token_next(question, len, &at);
        if (!t.n) return 0;
        const uint16_t year = (uint16_t)word_token_year(&t);
        const bool ends = at == len || !word_token_letter(question[at]); /* the 1840s */
        if (year && ends &&
            word_token_in("in of for season spring summer autumn winter during year", &before))
            return year;
        before = t;
    }
}

/* "before 1 July 2011": a day or a month may stand between the year and what makes a bound of it. */
static bool is_of_a_date(const word_token *t) {
    return (t->digits && t->n <= 2) || word_token_in("st nd rd th of", t) ||
           date_month_named_in_english(t) > 0;
}

enum demand_year demand_year_in(uint16_t year, const char *text, size_t len) {
    bool others = false, open = false;
    word_token before = {0}; /* the last one that is of no date */
    for (size_t at = 0; year;) {
        const word_token t = word_token_next(text, len, &at);
        if (!t.n) break;
        const int y = word_token_year(&t);
        if (y == year) return YEAR_MET;
        if (y) {
            size_t behind = at;
            const word_token next = word_token_next(text, len, &behind),
                             last = word_token_next(text, len, &behind);
            others = true;
            open |= word_token_in("since from until till before after by to between", &before) ||
                    (is_range_sign(&next) &&
                     (last.digits || word_token_in("today now present", &last)));
        }
        if (!is_of_a_date(&t)) before = t;
    }
    return others && !open ? YEAR_OTHER : YEAR_NOT_SAID;
}

bool demand_year_is_bounded(uint16_t year, const char *text, size_t len) {
    bool within = false;
    word_token before = {0}; /* the last one that is of no date */
    for (size_t at = 0; year;) {
        const word_token t = word_token_next(text, len, &at);
        if (!t.n) break;
        const int y = word_token_year(&t);
        const bool ends = word_token_in("before until till", &before),
                   begins = word_token_in("since after", &before);
        if (y && (ends || begins)) {
            if (ends ? year >= y : year <= y) return false;
            within = true;
        }
        if (!is_of_a_date(&t)) before = t;
    }
    return within;
}
