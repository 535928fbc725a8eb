#include "retrieval/units/unit_headings.h"

#include <string.h>
#include <utf8proc.h>

#include "data/chunk/chunk.h"
#include "kernels/utf8.h"
#include "kernels/words.h"
#include "retrieval/text/dates.h"
#include "retrieval/units/unit_code.h"
#include "retrieval/units/units.h"

/* Does it end with a stop or a comma, of any script: "泳池每天九点开放。" says something, and heads nothing? */
static bool ends_with_a_stop(const char *s, size_t n) {
    static const char *const stops[] = {".",  "!",  "?",  ":",  ";",  ",", "。", "！",
                                        "？", "；", "：", "，", "、", "।", "؟"};
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
        const size_t k = strlen(stops[i]);
        if (n >= k && !memcmp(s + n - k, stops[i], k)) return true;
    }
    return false;
}

/* Is the line before or behind i, blank ones aside, a numbered item too, or is there none behind it? */
static bool is_beside_items(const unit_lines *lines, size_t i) {
    size_t before = i, next = i + 1;
    while (before > 0 && lines->v[before - 1].class == LINE_BLANK) before--;
    while (next < lines->n && lines->v[next].class == LINE_BLANK) next++;
    const text_line *l = before > 0 ? &lines->v[before - 1] : NULL;
    return next >= lines->n || (l && l->class == LINE_ITEM && fo_is_digit(lines->text[l->start])) ||
           (lines->v[next].class == LINE_ITEM && fo_is_digit(lines->text[lines->v[next].start]));
}

/* The last line of the text, behind a blank one: what it heads is in the next passage. It has no figure but its number and says
 * nothing behind a colon; the last of several steps between blank lines is none. */
static bool is_last_heading(const unit_lines *lines, size_t i) {
    size_t n, before = i;
    const char *s = unit_lines_text(lines, i, &n);
    const size_t mark = text_item_mark(s, n);
    while (before > 0 && lines->v[before - 1].class == LINE_BLANK) before--;
    if (before == 0 || before == i || unit_lines_skip_blank(lines, i + 1) < lines->n) return false;
    if (lines->v[before - 1].class == LINE_ITEM &&
        fo_is_digit(lines->text[lines->v[before - 1].start]))
        return false;
    const bool small = s[mark] >= 'a' && s[mark] <= 'z';
    return !small && !fo_has_digit(s + mark, n - mark) && !memmem(s, n, ": ", 2);
}

/* "5. Cleaning" behind a blank line, right above points, and no further number among them. */
static bool is_above_points(const unit_lines *lines, size_t i) {
    if (i + 1 >= lines->n || !strchr("-*+", lines->text[lines->v[i + 1].start])) return false;
    for (size_t k = i + 1; k < lines->n && lines->v[k].class != LINE_BLANK; k++)
        if (lines->v[k].class == LINE_ITEM && fo_is_digit(lines->text[lines->v[k].start]))
            return false;
    return true;
}

bool unit_is_numbered_heading(const unit_lines *lines, size_t i) {
    const text_line *l = &lines->v[i];
    const char *s = lines->text + l->start;
    const size_t n = l->end - l->start;
    if (l->class != LINE_ITEM || !fo_is_digit(s[0]) || n > UNIT_HEADING_BYTES ||
        ends_with_a_stop(s, n))
        return false;
    if (i > 0 ? lines->v[i - 1].class != LINE_BLANK : lines->goes_on) return false;
    if (is_last_heading(lines, i)) return true;
    if (i + 1 >= lines->n) return false;
    if (l[1].class == LINE_BLANK) return !is_beside_items(lines, i);
    if (l[1].class == LINE_ITEM) /* "6. Dates" above dates */
        return unit_is_led(lines, i + 1) || is_above_points(lines, i);
    const text_line *next = l + 1, *last = &lines->v[unit_paragraph_end(lines, i + 1) - 1];
    const char first = lines->text[next->start];
    return next->class == LINE_TEXT && !(first >= 'a' && first <= 'z') &&
           next->end - next->start > n && unit_breaks_on_purpose(lines, i) &&
           unit_ends_sentence(lines->text + last->start, last->end - last->start);
}

/* Bytes of "E. ", "IV) " before the name of a section; 0: none. */
static size_t section_mark(const char *s, size_t n) {
    enum { LONGEST = 5 };
    size_t i = 0;
    while (i < n && i < LONGEST && s[i] && strchr("IVXLC", s[i])) i++;
    if (i == 0 && n && s[0] >= 'A' && s[0] <= 'Z') i = 1;
    return i && i + 2 < n && (s[i] == '.' || s[i] == ')') && s[i + 1] == ' ' ? i + 2 : 0;
}

/* A few words without an end: "J. S. Bach" is no section, and "E. Gorse" may be a name. */
static bool names_section(const char *s, size_t n, size_t mark) {
    enum { WIDEST = 60, MOST_WORDS = 6 };
    size_t words = 1;
    if (!mark || n > WIDEST || !fo_is_upper(s[mark]) || ends_with_a_stop(s, n)) return false;
    for (size_t k = mark; k < n; k++) {
        if (strchr("|[]_", s[k]) || (s[k] == '.' && k + 1 < n && s[k + 1] == ' ')) return false;
        words += s[k] == ' ';
    }
    return words <= MOST_WORDS && (words > 1 || mark > 3);
}

static bool has_mark(const unit_lines *l, size_t i) {
    size_t n;
    const char *s = unit_lines_text(l, i, &n);
    return section_mark(s, n) > 0;
}

/* Bytes of one of the words, parted by blanks, that s begins with; 0: it begins with none. */
static size_t begins_with(const char *words, const char *s, size_t n) {
    for (size_t k = 0; *words; words += k + (words[k] == ' ')) {
        k = strcspn(words, " ");
        if (k <= n && memcmp(words, s, k) == 0) return k;
    }
    return 0;
}

/* "第三条 宠物" (article 3: pets), "五、其他" (5, others), as contracts and rules of Chinese and Japanese number their parts, on a
 * line of their own; with a comma or a stop it says something. */
static bool is_chinese_section(const char *s, size_t n) {
    static const char digits[] = "一 二 三 四 五 六 七 八 九 十 百 零 〇 0 1 2 3 4 5 6 7 8 9";
    enum { WIDEST = 40 };
    const size_t from = begins_with("第", s, n);
    size_t at = from, k;
    if (fo_utf8_count(s, n) > WIDEST) return false;
    while ((k = begins_with(digits, s + at, n - at))) at += k;
    if (at == from || !(k = begins_with(from ? "条 條 章 节 節" : "、", s + at, n - at)))
        return false;
    if (!from && fo_is_digit(s[0])) return false;
    for (at += k, k = at; at < n; at++)
        if (begins_with("。 ， ； ？ ！", s + at, n - at)) return false;
    return k < n;
}

/* "٣. العناية", "5- سوق الحي", "مادة ٢: الاشتراك", as texts in Arabic number their sections; with a comma or a stop it says something.
 * Bytes of the mark; 0: it is none. */
static size_t arabic_section_mark(const char *s, size_t n) {
    static const char digits[] = "٠ ١ ٢ ٣ ٤ ٥ ٦ ٧ ٨ ٩ 0 1 2 3 4 5 6 7 8 9";
    enum { WIDEST = 60, MOST_DIGITS = 3 };
    const size_t named = begins_with("المادة مادة البند بند الفصل الباب القسم", s, n);
    size_t at = named, k, count = 0;
    if (fo_utf8_count(s, n) > WIDEST || ends_with_a_stop(s, n) || memmem(s, n, "،", 2)) return 0;
    if (named && (at >= n || s[at++] != ' ')) return 0;
    for (; (k = begins_with(digits, s + at, n - at)) > 0; at += k) count++;
    if (!count || count > MOST_DIGITS) return 0;
    k = begins_with(named ? ": . - – )" : ". - – )", s + at, n - at);
    at += k;
    return k && at + 2 < n && s[at] == ' ' && (unsigned char)s[at + 1] >= 0xD8 &&
                   (unsigned char)s[at + 1] <= 0xDB
               ? at + 1
               : 0;
}

static bool has_arabic_mark(const unit_lines *l, size_t i) {
    size_t n;
    const char *s = unit_lines_text(l, i, &n);
    return arabic_section_mark(s, n) > 0;
}

/* None of a list: neither the line before nor the one behind it is numbered, blank ones aside. */
static bool is_arabic_section(const unit_lines *l, size_t i) {
    size_t before = i;
    const size_t next = unit_lines_skip_blank(l, i + 1);
    while (before > 0 && l->v[before - 1].class == LINE_BLANK) before--;
    return has_arabic_mark(l, i) && next < l->n && !has_arabic_mark(l, next) &&
           !(before > 0 && has_arabic_mark(l, before - 1));
}

bool unit_is_section(const unit_lines *l, size_t i) {
    size_t n, n_before;
    const char *s = unit_lines_text(l, i, &n);
    const uint8_t class = l->v[i].class;
    if ((class == LINE_TEXT && is_chinese_section(s, n)) ||
        ((class == LINE_TEXT || class == LINE_ITEM) && is_arabic_section(l, i))) {
        const bool goes_on = i == 0 && l->goes_on;
        const char *before = i > 0 ? unit_lines_text(l, i - 1, &n_before) : "";
        return !goes_on &&
               (i == 0 || l->v[i - 1].class != LINE_TEXT || sentence_is_whole(before, n_before));
    }
    if ((class != LINE_TEXT && class != LINE_ITEM) || !names_section(s, n, section_mark(s, n)))
        return false;
    size_t before = i;
    const size_t next = unit_lines_skip_blank(l, i + 1);
    while (before > 0 && l->v[before - 1].class == LINE_BLANK) before--;
    if (next >= l->n || has_mark(l, next) || (before > 0 && has_mark(l, before - 1))) return false;
    if (next == i + 1 && l->v[next].class == LINE_TEXT && !unit_breaks_on_purpose(l, i))
        return false;
    if (i == 0 || before < i) return !(i == 0 && l->goes_on);
    const char *above = unit_lines_text(l, i - 1, &n_before); /* a line that goes on here? */
    return l->v[i - 1].class != LINE_TEXT || unit_ends_sentence(above, n_before);
}

bool unit_is_drawn(const char *s, size_t n) {
    if (n < 3 || !strchr("-=~*_", s[0])) return false;
    for (size_t i = 1; i < n; i++)
        if (s[i] != s[0]) return false;
    return true;
}

bool unit_is_underlined(const unit_lines *l, size_t i) {
    size_t n, n_below;
    const char *s = unit_lines_text(l, i, &n);
    if (i + 1 >= l->n || n > UNIT_HEADING_BYTES) return false;
    if (i > 0 ? l->v[i - 1].class != LINE_BLANK : l->goes_on) return false;
    const char *below = unit_lines_text(l, i + 1, &n_below);
    const bool named = l->v[i].class == LINE_TEXT || unit_is_numbered_heading(l, i) ||
                       (l->v[i].class == LINE_ITEM && fo_is_digit(s[0]));
    return named && unit_is_drawn(below, n_below) && !memmem(s, n, "  ", 2) &&
           !memchr(s, '\t', n) && !unit_is_drawn(s, n);
}

static bool is_drawn_line(const unit_lines *l, size_t i) {
    size_t n;
    const char *s = unit_lines_text(l, i, &n);
    return unit_is_drawn(s, n);
}

/* A line that may be one of a heading's: short, no item, without a stop. */
static bool may_head(const unit_lines *l, size_t i) {
    size_t n;
    const char *s = unit_lines_text(l, i, &n);
    return l->v[i].class == LINE_TEXT && n <= UNIT_HEADING_BYTES && !unit_is_drawn(s, n) &&
           !ends_with_a_stop(s, n) && !memmem(s, n, "  ", 2) && !memchr(s, '\t', n);
}

size_t unit_ruled_heading(const unit_lines *l, size_t i, bool *below) {
    enum { LINES = 2 };
    size_t end = i + 1, n;
    *below = false;
    if (!is_drawn_line(l, i) || (i > 0 ? l->v[i - 1].class != LINE_BLANK : l->goes_on)) return 0;
    while (end < l->n && end <= i + LINES && may_head(l, end)) end++;
    if (end == i + 1 || end >= l->n) return 0;
    *below = is_drawn_line(l, end);
    const char *last = unit_lines_text(l, end - 1, &n);
    if (*below) return end;
    const size_t next = unit_lines_skip_blank(l, end);
    const bool heads = next > end && next < l->n && !is_drawn_line(l, next);
    return heads && !memmem(last, n, ": ", 2) ? end : 0;
}

bool unit_is_rule_between(const unit_lines *l, size_t i) {
    size_t n;
    const char *s = unit_lines_text(l, i, &n);
    return unit_is_drawn(s, n) && (i == 0 ? !l->goes_on : l->v[i - 1].class == LINE_BLANK) &&
           (i + 1 == l->n || l->v[i + 1].class == LINE_BLANK);
}

/* A question that a mail quotes above its answer: "> Can we bring guests?" */
static bool is_quoted_question(const unit_lines *lines, size_t i) {
    const text_line *l = &lines->v[i];
    return lines->text[l->start] == '>' && l[1].class == LINE_TEXT &&
           lines->text[l[1].start] != '>';
}

static bool ends_with_a_question_mark(const char *s, size_t n) {
    static const char wide[] = "？", arabic[] = "؟";
    const size_t w = strlen(wide), a = strlen(arabic);
    return (n && s[n - 1] == '?') || (n >= w && !memcmp(s + n - w, wide, w)) ||
           (n >= a && !memcmp(s + n - a, arabic, a));
}

bool unit_is_asked(const unit_lines *lines, size_t i) {
    const text_line *l = &lines->v[i];
    if (l->class != LINE_TEXT || l->end - l->start > UNIT_QUESTION_BYTES ||
        (i == 0 && lines->goes_on))
        return false;
    if (!ends_with_a_question_mark(lines->text + l->start, l->end - l->start) || i + 1 >= lines->n)
        return false;
    if (is_quoted_question(lines, i)) return true;
    const text_line *before = i > 0 ? l - 1 : NULL;
    if (before && before->class == LINE_TEXT &&
        !(unit_ends_sentence(lines->text + before->start, before->end - before->start) &&
          unit_breaks_on_purpose(lines, i - 1)))
        return false;
    const uint8_t next = lines->v[i + 1].class;
    return next == LINE_TEXT ? unit_breaks_on_purpose(lines, i)
                             : next == LINE_BLANK && i + 2 < lines->n;
}

bool unit_is_in_capitals(const char *s, size_t n) {
    size_t bytes;
    bool letters = false;
    for (size_t k = 0; k < n; k += bytes) {
        int32_t cp;
        bytes = fo_utf8_decode(s + k, n - k, &cp);
        const utf8proc_category_t c = cp > 0 ? utf8proc_category(cp) : UTF8PROC_CATEGORY_CN;
        if (c == UTF8PROC_CATEGORY_LL) return false;
        letters |= c == UTF8PROC_CATEGORY_LU || c == UTF8PROC_CATEGORY_LO;
    }
    return letters && n > 2;
}

bool unit_is_shouted(const unit_lines *lines, size_t i) {
    size_t n;
    const char *s = unit_lines_text(lines, i, &n);
    return unit_is_in_capitals(s, n);
}

/* Has it a capital? What is in capitals throughout is no line of Chinese then. */
static bool has_capital(const char *s, size_t n) {
    for (size_t k = 0, bytes; k < n; k += bytes) {
        int32_t cp;
        bytes = fo_utf8_decode(s + k, n - k, &cp);
        if (cp > 0 && utf8proc_category(cp) == UTF8PROC_CATEGORY_LU) return true;
    }
    return false;
}

/* "Do not take it if", "Please tell us when you": the items behind it end the sentence. */
bool unit_is_open(const unit_lines *lines, size_t i) {
    const text_line *l = &lines->v[i];
    const size_t next = unit_lines_skip_blank(lines, i + 1);
    if (l->class != LINE_TEXT || next >= lines->n || next > i + 2 ||
        lines->v[next].class != LINE_ITEM)
        return false;
    uint32_t at = l->end;
    while (at > l->start && lines->text[at - 1] != ' ') at--;
    return at > l->start &&
           fo_words_have_any_case(
               "if when unless whether that you to the a an and or must may can should "
               "wenn falls dass sie si vous se usted que",
               lines->text + at, l->end - at);
}

/* Of a script that has no capitals every line begins as a heading may. */
static bool is_arabic(const char *s) {
    return (unsigned char)s[0] >= 0xD8 && (unsigned char)s[0] <= 0xDB;
}

bool unit_is_right_above(const unit_lines *lines, size_t i) {
    enum { WIDEST = 48, MOST_WORDS = 6 };
    const text_line *l = &lines->v[i], *next = l + 1;
    const char *s = lines->text + l->start;
    const size_t n = l->end - l->start;
    const bool arabic = n && is_arabic(s);
    size_t words = 1;
    if ((arabic ? fo_utf8_count(s, n) : n) > WIDEST || l->class != LINE_TEXT || i + 1 >= lines->n)
        return false;
    if (i > 0 ? l[-1].class != LINE_BLANK : lines->goes_on) return false;
    if (ends_with_a_stop(s, n)) return false;
    if (!arabic && (!fo_is_upper(s[0]) || unit_is_shouted(lines, i))) return false;
    for (size_t k = 0; k < n; k++) {
        if (strchr("[]{}<>%$=/\\|@_\"", s[k])) return false;
        words += s[k] == ' ';
    }
    if (words > MOST_WORDS) return false;
    if (next->class == LINE_ITEM) return !unit_is_open(lines, i);
    if (next->class == LINE_ROW) return true;
    if (words == 1 || next->class != LINE_TEXT) return false;
    const char first = lines->text[next->start];
    const bool begins = fo_is_upper(first) || fo_is_digit(first) ||
                        (arabic && is_arabic(lines->text + next->start));
    if (!begins || next->end - next->start <= n || !unit_breaks_on_purpose(lines, i) ||
        (!arabic && unit_is_shouted(lines, i + 1)))
        return false;
    const text_line *last = &lines->v[unit_paragraph_end(lines, i + 1) - 1];
    return unit_ends_sentence(lines->text + last->start, last->end - last->start);
}

/* "2 June", "Monday, 2 June 2026" right above a text, as a diary heads its entries. */
static bool is_date_above(const unit_lines *lines, size_t i) {
    const text_line *l = &lines->v[i], *next = l + 1;
    const char *s = lines->text + l->start;
    size_t n = l->end - l->start;
    date_said date;
    const char *comma = memchr(s, ',', n);
    if (next->class != LINE_TEXT ||
        (lines->text[next->start] >= 'a' && lines->text[next->start] <= 'z'))
        return false;
    if (comma && comma > s && !fo_has_digit(s, (size_t)(comma - s)) &&
        !memchr(s, ' ', (size_t)(comma - s))) {
        n -= (size_t)(comma + 1 - s);
        s = comma + 1;
        while (n && *s == ' ') s++, n--;
    }
    return n && date_at(s, n, &date) == n && date.day && !date.digits && !date.doubtful;
}

/* "Your house manager Ulla Stern" above the last line of a notice, "LINDEN HOUSE": who signs it heads nothing. The name behind has
 * a capital, so "Your room" is a heading still. */
static bool is_signature(const unit_lines *lines, size_t i) {
    size_t n, k = 0;
    const char *s = unit_lines_text(lines, i, &n);
    const size_t next = unit_lines_skip_blank(lines, i + 1);
    if (i == 0 || next + 1 != lines->n || lines->followed || !unit_is_shouted(lines, next))
        return false;
    while (k < n && s[k] != ' ') k++;
    if (!fo_words_have_any_case("your yours ihr ihre euer eure votre vos su vuestro", s, k))
        return false;
    while (n && s[n - 1] != ' ') n--;
    return n > k + 1 && fo_is_upper(s[n]);
}

/* "(or", "(see below)", "en | fr", "+": nothing that a section is called. */
static bool is_no_name(const char *s, size_t n) {
    if (s[0] == '(' && (s[n - 1] == ')' || !memchr(s, ')', n))) return true;
    if (memmem(s, n, " | ", 3)) return true;
    for (size_t k = 0; k < n; k++)
        if (fo_is_of_word(s[k])) return false;
    return true;
}

/* "Type: number", "Default: 10": what manuals say first of a setting, and no more than that. */
static bool is_said_of_setting(const char *s, size_t n) {
    const char *colon = memchr(s, ':', n);
    return colon && colon + 1 < s + n && colon[1] == ' ' && !memmem(s, n, ". ", 2) &&
           fo_words_have_any_case("type default defaults syntax context", s, (size_t)(colon - s));
}

bool unit_is_setting_name(const unit_lines *lines, size_t i) {
    enum { WIDEST = 48 };
    size_t n, m;
    const char *s = unit_lines_text(lines, i, &n), *below;
    if (lines->v[i].class != LINE_TEXT || n > WIDEST || !fo_is_letter(s[0]) ||
        (i == 0 && lines->goes_on) || i + 2 >= lines->n || lines->v[i + 1].class != LINE_BLANK)
        return false;
    for (size_t k = 0; k < n; k++)
        if (!fo_is_letter(s[k]) && !fo_is_digit(s[k]) && (!strchr("_-.", s[k]) || k + 1 == n))
            return false;
    if (i > 0 && lines->v[i - 1].class == LINE_TEXT && !unit_breaks_on_purpose(lines, i - 1)) {
        below = unit_lines_text(lines, i - 1, &m);
        if (!unit_ends_sentence(below, m)) return false;
    }
    const size_t end = unit_paragraph_end(lines, i + 2);
    for (size_t k = i + 2; k < end; k++) {
        below = unit_lines_text(lines, k, &m);
        if (!is_said_of_setting(below, m)) return false;
    }
    return end > i + 2;
}

/* "Telephone (mobile): +44 7700 900131", "Total: £163.00, no VAT": a sum or a number to call has its name before it, and heads
 * nothing. */
static bool is_value(const char *s, size_t n) {
    enum { FEWEST = 6 /* digits of a number that stands alone */ };
    const char *colon = memmem(s, n, ": ", 2), *end = s + n;
    size_t digits = 0;
    if (!colon || colon + 2 == end) return false;
    const char *v = colon + 2;
    if (*v == '$' || (end - v > 2 && !memcmp(v, "\xC2\xA3", 2)) ||
        (end - v > 3 && !memcmp(v, "\xE2\x82\xAC", 3)))
        return true;
    for (; v < end; v++) {
        if (!fo_is_digit(*v) && !strchr("+-/() ", *v)) return false;
        digits += fo_is_digit(*v);
    }
    return digits >= FEWEST;
}

/* Of other words in capitals nobody knows: "ATM" above what it is explains a term. */
bool unit_is_section_of_manual(const unit_lines *lines, size_t i) {
    static const char sections[] =
        "NAME SYNOPSIS USAGE DESCRIPTION OPTIONS COMMANDS ARGUMENTS EXAMPLE EXAMPLES FILES METHODS "
        "FUNCTIONS ENVIRONMENT CONFIGURATION INSTALLATION DIAGNOSTICS ERRORS NOTES CAVEATS BUGS "
        "LIMITATIONS SECURITY HISTORY STANDARDS SUPPORT AUTHOR AUTHORS COPYRIGHT LICENSE";
    enum { DEEPER = 2 };
    size_t n, n_below, blanks = 0;
    const char *s = unit_lines_indented(lines, i, &n), *below;
    if (i + 1 >= lines->n || s != lines->text + lines->v[i].start || !unit_is_shouted(lines, i) ||
        !fo_words_have(sections, s, n))
        return false;
    below = unit_lines_indented(lines, i + 1, &n_below);
    while (blanks < n_below && fo_is_blank(below[blanks])) blanks++;
    const uint8_t next = lines->v[i + 1].class;
    return (blanks >= DEEPER || below[0] == '\t') && (next == LINE_TEXT || next == LINE_OPTION);
}

bool unit_stands_as_heading(const unit_lines *lines, size_t i) {
    const text_line *l = &lines->v[i];
    size_t n = l->end - l->start;
    const char *s = lines->text + l->start;
    if (unit_is_asked(lines, i)) return true;
    if (n > UNIT_HEADING_BYTES || l->class != LINE_TEXT || (i == 0 && lines->goes_on)) return false;
    if (unit_code_is_typed(s, n) || unit_code_is_comment(lines, i)) return false;
    if (s[0] == '#') return n > 1;
    if (s[0] >= 'a' && s[0] <= 'z') return false;
    if (is_no_name(s, n)) return false;
    if ((i > 0 && lines->v[i - 1].class != LINE_BLANK) || ends_with_a_stop(s, n)) return false;
    if (i + 1 >= lines->n) /* what it heads is in the next passage; "NO DOGS" may end a notice */
        return lines->followed && unit_is_shouted(lines, i) && has_capital(s, n) &&
               is_last_heading(lines, i);
    const uint8_t next = lines->v[i + 1].class;
    if (next == LINE_BLANK && is_signature(lines, i)) return false;
    if (next == LINE_BLANK)
        return !unit_is_open(lines, i) && !unit_code_is_led_in(lines, i) &&
               !unit_code_amidst(lines, i);
    /* else "PROGRAMS" above rows, "BEFORE FIRST USE" above a text */
    const bool several = memchr(s, ' ', n) != NULL;
    if (unit_is_right_above(lines, i) || is_date_above(lines, i)) return true;
    return unit_is_shouted(lines, i) &&
           (next == LINE_ITEM || next == LINE_ROW || unit_is_section_of_manual(lines, i) ||
            (next == LINE_TEXT && several && !unit_is_shouted(lines, i + 1)));
}

bool unit_is_heading(const unit_lines *lines, size_t i) {
    size_t n;
    const char *s = unit_lines_text(lines, i, &n);
    return unit_stands_as_heading(lines, i) && !is_value(s, n);
}
