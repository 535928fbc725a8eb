#include "retrieval/text/own_names.h"

#include <string.h>
#include <strings.h>

#include "kernels/paths.h"
#include "kernels/utf8.h"
#include "kernels/words.h"

enum { SHORTEST = 3, LINES = 3 };

typedef struct word {
    const char *s;
    size_t n;
} word;

/* The word at or behind *at of s[n]; .n = 0: there is none. */
static word next_word(const char *s, size_t n, size_t *at) {
    size_t i = *at;
    while (i < n && !fo_is_of_word(s[i])) i++;
    const size_t start = i;
    while (i < n && fo_is_of_word(s[i])) i++;
    *at = i;
    return (word){s + start, i - start};
}

/* Does s[n] say the word, as a name or, in a path, in any letters? */
static bool says(const char *s, size_t n, const word *w, bool as_name) {
    size_t at = 0;
    for (word x; (x = next_word(s, n, &at)).n;)
        if (x.n == w->n && !strncasecmp(x.s, w->s, x.n) && (!as_name || fo_is_upper(x.s[0])))
            return true;
    return false;
}

/* The next name of the question: a word with a capital that begins no sentence. *asked_at: it stands behind "at" or "with",
 * alone or behind another name that does. */
typedef struct names {
    size_t at;
    word before;
    bool asked_at;
} names;
static word next_name(names *it, const char *question, size_t n) {
    for (word w; (w = next_word(question, n, &it->at)).n;) {
        bool first = !it->before.n; /* then there is no place behind it to look from */
        if (!first)
            for (const char *s = it->before.s + it->before.n; !first && s < w.s; s++)
                first = strchr(".!?:\"", *s) != NULL;
        const bool capital = fo_is_upper(w.s[0]) && w.n >= SHORTEST;
        const bool behind = it->before.n && fo_is_upper(it->before.s[0]);
        if (it->before.n && !(behind && capital))
            it->asked_at = fo_words_have_any_case("at with", it->before.s, it->before.n);
        it->before = w;
        if (capital && !first) return w;
    }
    return (word){0};
}

bool own_names_any(const char *question) {
    return next_name(&(names){0}, question, strlen(question)).n > 0;
}

/* Does the line say more than whose the document is: a cell, an item, a question, a figure that is no year's? */
static bool says_more(const char *s, size_t n) {
    bool figure = false, year = false;
    for (size_t i = 0, digits = 0; i <= n; i++) {
        if (i < n && fo_is_digit(s[i])) {
            digits++;
            continue;
        }
        figure |= digits > 0;
        year |= digits == 4;
        digits = 0;
        if (i < n && strchr("|\t?", s[i])) return true;
    }
    return (figure && !year) || (n > 1 && strchr("-*+", s[0]) && s[1] == ' ');
}

/* Bytes of s[n] up to a blank line. */
static size_t block_of(const char *s, size_t n) {
    bool blank = false;
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '\n' && blank) return i;
        if (s[i] == '\n')
            blank = true;
        else if (!fo_is_blank(s[i]))
            blank = false;
    }
    return n;
}

/* Sentences speak of this and that; whose a document is stands in lines that are none. What does not end within what was read
 * of it goes on as prose does. */
static bool is_prose(const char *s, size_t n) {
    enum { LONGEST = 240 };
    size_t end = n;
    while (end > 0 && (fo_is_blank(s[end - 1]) || s[end - 1] == '\n')) end--;
    if (end > LONGEST || (end > 0 && strchr(".!", s[end - 1]))) return true;
    for (size_t i = 0; i + 2 < end; i++)
        if (s[i] == '.' && (s[i + 1] == ' ' || s[i + 1] == '\n') && fo_is_upper(s[i + 2]))
            return true;
    return false;
}

/* Bytes of the lines that say whose the document is: the first few, up to one that says more. */
static size_t first_lines(const char *s, size_t n) {
    size_t end = 0;
    for (size_t lines = 0, block = 0; end < n && lines < LINES;) {
        if (end >= block) {
            block = end + block_of(s + end, n - end);
            if (is_prose(s + end, block - end)) break;
        }
        const char *newline = memchr(s + end, '\n', n - end);
        const size_t stop = newline ? (size_t)(newline - s) : n;
        size_t i = end;
        while (i < stop && fo_is_blank(s[i])) i++;
        if (says_more(s + i, stop - i)) break;
        lines += i < stop;
        end = stop < n ? stop + 1 : n;
    }
    return end;
}

/* Days and months tell what a document says apart, and may be said in other ways, "daily". */
static bool is_of_calendar(const word *w) {
    return fo_words_have_any_case(
        "january february march april may june july august september october november december "
        "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays "
        "thursdays fridays saturdays sundays christmas easter",
        w->s, w->n);
}

/* ---- in small letters ---------------------------------------------------------------------- */

/* A word of the question that begins with a small letter and is one of the file's name; .n = 0: there is none further on. */
static word next_filed(const char *question, size_t n, const char *file, size_t *at) {
    enum { SHORTEST_FILED = 4 };
    word w;
    while ((w = next_word(question, n, at)).n)
        if (w.n >= SHORTEST_FILED && fo_is_letter(w.s[0]) && !fo_is_upper(w.s[0]) &&
            !is_of_calendar(&w) && says(file, strlen(file), &w, false))
            return w;
    return w;
}

bool own_names_filed(const char *question, const char *document) {
    size_t at = 0;
    return document && next_filed(question, strlen(question), fo_base_name(document), &at).n > 0;
}

/* "The Choir": what is called so is of a kind, and a name has no article. */
static bool is_article(const word *w) {
    return fo_words_have_any_case("the a an our your my their its this that these", w->s, w->n);
}

/* Does the text write it with a capital behind a word in small letters that is no article, "changes of Quillbox"? */
static bool is_written_as_name(const char *s, size_t n, const word *w) {
    word before = {0};
    size_t at = 0;
    for (word x; (x = next_word(s, n, &at)).n; before = x) {
        if (x.n != w->n || strncasecmp(x.s, w->s, x.n) != 0 || !fo_is_upper(x.s[0])) continue;
        bool within = before.n && !fo_is_upper(before.s[0]) && !is_article(&before);
        for (const char *c = before.s + before.n; within && c < x.s; c++)
            within = !strchr(".!?:\n", *c);
        if (within) return true;
    }
    return false;
}

/* A word of the question in small letters that says where, when or on what it is asked, "in leeds": what stands right behind a
 * preposition. .n = 0: there is none further on. */
static word next_bound(const char *question, size_t n, size_t *at, word *before) {
    for (word w; (w = next_word(question, n, at)).n; *before = w)
        if (w.n > SHORTEST && before->n &&
            fo_words_have_any_case("in at on for from near with under", before->s, before->n)) {
            *before = w;
            return w;
        }
    return (word){0};
}

/* Does s[n] say the word, or its plural or singular? */
static bool says_any_number(const char *s, size_t n, const word *w) {
    const size_t stem = w->n - (w->s[w->n - 1] == 's');
    size_t at = 0;
    for (word x; (x = next_word(s, n, &at)).n;)
        if (x.n >= stem && x.n <= stem + 2 && !strncasecmp(x.s, w->s, stem)) return true;
    return false;
}

/* "... in leeds": is what is asked about bound to something that is said nowhere? */
static bool is_bound_elsewhere(const fo_buf *title, const char *question, const char *document,
                               const char *beginning, size_t n, const char *text, size_t n_text) {
    word before = {0};
    size_t at = 0;
    for (word w; (w = next_bound(question, strlen(question), &at, &before)).n;)
        if (!(title->len && says_any_number(title->data, title->len, &w)) &&
            !says_any_number(document, strlen(document), &w) &&
            !says_any_number(beginning, n, &w) && !says_any_number(text, n_text, &w) &&
            !fo_words_have_any_case("this that these those your their which what case general "
                                    "default total advance time order",
                                    w.s, w.n))
            return true;
    return false;
}

/* "what port does quillbox use": the file's name, which the document begins with as a name. */
static void add_filed(fo_buf *title, const char *question, const char *document,
                      const char *beginning, size_t n) {
    size_t at = 0;
    const char *file = fo_base_name(document);
    for (word w; (w = next_filed(question, strlen(question), file, &at)).n;) {
        if ((title->len && says(title->data, title->len, &w, false)) ||
            !is_written_as_name(beginning, n, &w))
            continue;
        if (title->len) fo_buf_char(title, ' ');
        fo_buf_add(title, w.s, w.n);
    }
}

void own_names_add(fo_buf *title, const char *question, const char *document, const char *beginning,
                   size_t n, const char *text, size_t n_text) {
    const size_t n_question = strlen(question), n_lines = first_lines(beginning, n),
                 n_title = title->len;
    names it = {0};
    /* the passage may begin with those lines, which say nothing else of it */
    if (n_text >= n_lines && n_lines && !memcmp(text, beginning, n_lines)) {
        text += n_lines;
        n_text -= n_lines;
    }
    for (word w; (w = next_name(&it, question, n_question)).n;) {
        if (n_title && says(title->data, n_title, &w, false)) continue;
        const bool own = (document && says(document, strlen(document), &w, false)) ||
                         says(beginning, n_lines, &w, true),
                   said = says(text, n_text, &w, true);
        if (is_of_calendar(&w)) continue;
        if (!own && !said) {
            title->len = n_title; /* it speaks of somebody else, or it would say so */
            if (title->data) title->data[n_title] = 0;
            return;
        }
        if (!own || (said && !it.asked_at)) continue;
        if (title->len) fo_buf_char(title, ' ');
        fo_buf_add(title, w.s, w.n);
    }
    if (document && !is_bound_elsewhere(title, question, document, beginning, n, text, n_text))
        add_filed(title, question, document, beginning, n);
}
