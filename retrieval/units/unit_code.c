#include "retrieval/units/unit_code.h"

#include <string.h>

#include "kernels/utf8.h"
#include "kernels/words.h"
#include "retrieval/units/unit_headings.h"

static bool has(const char *s, size_t n, const char *what) {
    return memmem(s, n, what, strlen(what)) != NULL;
}

static bool begins(const char *s, size_t n, const char *what) {
    const size_t k = strlen(what);
    return n >= k && memcmp(s, what, k) == 0;
}

/* Bytes of the word that s begins with. */
static size_t word_bytes(const char *s, size_t n) {
    size_t k = 0;
    while (k < n && !fo_is_blank(s[k])) k++;
    return k;
}

static bool is_one_word(const char *s, size_t n) {
    return word_bytes(s, n) == n;
}

/* "$ ", "% " before what is typed behind it */
static bool has_prompt(const char *s, size_t n) {
    return n > 2 && strchr("$%", s[0]) && s[1] == ' ' &&
           (fo_is_letter(s[2]) || strchr("./~\"", s[2]));
}

/* "</Directory>", "<!-- ... -->", "<VirtualHost *:80>": a tag that ends something or says more than a name. */
static bool is_tag(const char *s, size_t n) {
    if (n < 3 || s[0] != '<' || s[n - 1] != '>') return false;
    return strchr("/!?", s[1]) || memchr(s, ' ', n) || memchr(s, '"', n);
}

/* A word in quotation marks that is no word of a language, of several: "^/(.+)$". */
static bool quotes_syntax(const char *s, size_t n) {
    for (size_t i = 1; i + 1 < n; i++) {
        if (!strchr("\"'", s[i]) || !(fo_is_blank(s[i - 1]) || s[i - 1] == '=')) continue;
        const char *end = memchr(s + i + 1, s[i], n - i - 1);
        if (!end) continue;
        if (!fo_is_letter(s[i + 1])) return true;
        for (const char *at = s + i + 1; at < end; at++)
            if (strchr("/\\$%^{}=", *at)) return true;
    }
    return false;
}

/* "SSLVerifierFile /etc/passwd.srpv", "RewriteEngine On": a name with a capital inside, and what it is set to. */
static bool sets_directive(const char *s, size_t n) {
    const size_t k = word_bytes(s, n);
    bool inside = false;
    for (size_t i = 0; i < k; i++) {
        if (!fo_is_letter(s[i])) return false;
        inside |= i > 0 && fo_is_upper(s[i]) && !fo_is_upper(s[i - 1]);
    }
    if (!inside || k + 2 >= n) return false;
    return s[k + 1] == '/' || fo_words_have("On Off", s + k + 1, n - k - 1);
}

bool unit_code_is_typed(const char *s, size_t n) {
    if (n < 3 || is_one_word(s, n)) return is_tag(s, n) && (s[1] == '/' || s[1] == '!');
    if (has_prompt(s, n) || is_tag(s, n) || begins(s, n, "#!/")) return true;
    if (begins(s, n, "((") || begins(s, n, "[[ ") || begins(s, n, "[ ") || begins(s, n, "./"))
        return true;
    if (begins(s, n, "/") && !memchr(s, ',', n) && s[word_bytes(s, n) - 1] != ':' && n > 2 &&
        fo_is_letter(s[1]))
        return true;
    return s[n - 1] == '\\' || s[n - 1] == '{' || sets_directive(s, n) ||
           (quotes_syntax(s, n) && !unit_ends_sentence(s, n));
}

/* "[TIME]", "<file>", "PATTERN...": how something is written, not something that is. */
static bool has_placeholder(const char *s, size_t n) {
    for (size_t i = 0; i + 2 < n; i++)
        if ((s[i] == '[' || s[i] == '<') && (fo_is_letter(s[i + 1]) || strchr("-=<+,|:", s[i + 1])))
            return true;
    return has(s, n, "...");
}

/* "curl --retry 5 https://...", "mount /tmp/disk.img /mnt -o loop": an option, a path or an address among what follows a first
 * word; "Apache > Documentation", "en | fr", "Ulla <ulla@example.org>" as what stands around a text. */
static bool has_arguments(const char *s, size_t n) {
    static const char *const signs[] = {" --", " /",  " ~/", " ./", "://",  " | ", " > ",
                                        " &&", " ||", "$(",  "={",  " -> ", "@",   " <<"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (has(s, n, signs[i])) return true;
    for (size_t i = 0; i + 2 < n; i++)
        if (s[i] == ' ' && s[i + 1] == '-' && fo_is_letter(s[i + 2])) return true;
    return false;
}

/* "'", '"' or "`" beside a blank or behind an equals sign; not the apostrophe of "doesn't". */
static bool has_quotes(const char *s, size_t n) {
    for (size_t i = 1; i < n; i++)
        if (strchr("\"'`", s[i]) && strchr(" =(", s[i - 1])) return true;
    return s[0] == '"' || s[0] == '\'';
}

/* "DELETE /labels/{id}": the name of what an interface does, said below it. */
static bool is_route(const char *s, size_t n) {
    const size_t k = word_bytes(s, n);
    return k + 1 < n && strchr("/{h", s[k + 1]) &&
           fo_words_have("GET POST PUT PATCH DELETE HEAD OPTIONS", s, k);
}

/* The last line before i that is not blank. */
static const char *line_above(const unit_lines *l, size_t i, size_t *n) {
    while (i > 0 && l->v[i - 1].class == LINE_BLANK) i--;
    return i > 0 ? unit_lines_text(l, i - 1, n) : unit_lines_above(l, n);
}

/* Does line i begin as the rest of a sentence does? */
static bool goes_on(const unit_lines *l, size_t i) {
    size_t n;
    const char *s = unit_lines_text(l, i, &n);
    if (n && strchr(",;)", s[0])) return true;
    return n && s[0] >= 'a' && s[0] <= 'z' &&
           fo_words_have("and or but to in into from with will would which that is are was gives "
                         "produces prints shows matches means where when while because so then "
                         "if as at by on does can could may might should must instead",
                         s, word_bytes(s, n));
}

/* ... at all, in small letters. */
static bool is_small(const unit_lines *l, size_t i) {
    const char c = l->text[l->v[i].start];
    return c >= 'a' && c <= 'z';
}

/* Is line `next` typed, too, or does it begin with the same word, and end as no sentence does? */
static bool is_beside_another(const unit_lines *l, size_t i, size_t next) {
    size_t n, m;
    const char *s = unit_lines_text(l, i, &n), *t = unit_lines_text(l, next, &m);
    if (m > UNIT_HEADING_BYTES || unit_ends_sentence(t, m)) return false;
    const size_t k = word_bytes(s, n);
    return unit_code_is_typed(t, m) || (k < n && word_bytes(t, m) == k && memcmp(s, t, k) == 0);
}

bool unit_code_is_example(const unit_lines *l, size_t i) {
    size_t n, n_above = 0;
    const char *s = unit_lines_text(l, i, &n), *above = line_above(l, i, &n_above);
    const size_t next = unit_lines_skip_blank(l, i + 1);
    if (unit_code_is_typed(s, n) || (next < l->n && is_beside_another(l, i, next))) return true;
    if (next == i + 1 || next >= l->n) return false; /* right above a text it is said of */
    const bool led_in = n_above && above[n_above - 1] == ':';
    if (is_one_word(s, n)) return goes_on(l, next) && led_in;
    if (is_route(s, n) && !is_small(l, next)) return false;
    if (has_placeholder(s, n) && !has_quotes(s, n)) return false;
    return led_in || is_small(l, next) || has_quotes(s, n) || has_arguments(s, n);
}

bool unit_code_is_aside(const unit_lines *l, size_t i) {
    enum { WIDEST = 64 };
    size_t n;
    const char *s = unit_lines_text(l, i, &n);
    if (l->v[i].class != LINE_TEXT || n < 3 || n > WIDEST || s[0] != '(' || s[n - 1] != ')' ||
        memchr(s + 1, '(', n - 1))
        return false;
    if (i > 0 && l->v[i - 1].class == LINE_OPTION)
        return i + 1 < l->n && l->v[i + 1].class == LINE_TEXT;
    return (i > 0 ? l->v[i - 1].class == LINE_BLANK : !l->goes_on) && i + 1 < l->n &&
           l->v[i + 1].class == LINE_BLANK;
}

bool unit_code_is_comment(const unit_lines *l, size_t i) {
    size_t n, m;
    const char *s = unit_lines_text(l, i, &n), *t;
    if (n < 2 || s[0] != '#' || s[1] != ' ') return false;
    if (strchr(".,:;", s[n - 1])) return true;
    if (i > 0 && l->v[i - 1].class == LINE_TEXT) {
        t = unit_lines_text(l, i - 1, &m);
        if (!unit_ends_sentence(t, m)) return true;
    }
    if (i + 1 >= l->n || l->v[i + 1].class != LINE_TEXT) return false;
    t = unit_lines_text(l, i + 1, &m);
    return (m > 1 && t[0] == '#' && t[1] == ' ') || unit_code_is_typed(t, m);
}

bool unit_code_is_led_in(const unit_lines *l, size_t i) {
    size_t n, m;
    const char *s = unit_lines_text(l, i, &n);
    const size_t next = unit_lines_skip_blank(l, i + 1);
    if (l->v[i].class != LINE_TEXT || next >= l->n || next > i + 2) return false;
    if (l->v[next].class != LINE_TEXT) return false;
    size_t at = n;
    while (at > 0 && !fo_is_blank(s[at - 1])) at--;
    const char *t = unit_lines_text(l, next, &m);
    return at > 0 && unit_code_is_typed(t, m) &&
           fo_words_have("is are be by with use using run running do enter type try command "
                         "commands like as form following",
                         s + at, n - at);
}

size_t unit_code_amidst(const unit_lines *l, size_t i) {
    enum { LINES = 4 };
    size_t n;
    const char *s = unit_lines_text(l, i, &n);
    const size_t next = i + 2;
    if (l->v[i].class != LINE_TEXT || next >= l->n || l->v[i + 1].class != LINE_BLANK) return 0;
    if (strchr(".!?;:", s[n - 1])) return 0;
    const size_t end = unit_paragraph_end(l, next);
    if (end == next || end > next + LINES || end + 1 >= l->n || l->v[end].class != LINE_BLANK)
        return 0;
    if (l->v[end + 1].class != LINE_TEXT || !goes_on(l, end + 1)) return 0;
    const char *last = unit_lines_text(l, end - 1, &n);
    if (unit_ends_sentence(last, n)) return 0;
    bool signs = false;
    for (size_t k = l->v[next].start; k < l->v[end - 1].end; k++)
        signs |= strchr("[]{}<>%$=/\\|@_\"-", l->text[k]) != NULL;
    return signs ? end + 1 : 0;
}
