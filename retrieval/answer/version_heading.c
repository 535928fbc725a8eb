#include "retrieval/answer/version_heading.h"

#include "kernels/utf8.h"
#include "retrieval/answer/candidates.h"
#include "retrieval/text/word_tokens.h"

enum { PARTS = 4, PART_BITS = 16, MOST_DIGITS = 4 };

/* The first number with a dot in s[n], its parts from the highest bits down; 0: there is none. */
static uint64_t number_in(const char *s, size_t n) {
    for (size_t i = 0; i < n;) {
        uint64_t number = 0, part = 0;
        size_t parts = 0, digits = 0;
        if (!fo_is_digit(s[i])) {
            i++;
            continue;
        }
        for (; i <= n && parts < PARTS; i++) {
            if (i < n && fo_is_digit(s[i]) && digits < MOST_DIGITS) {
                part = part * 10 + (uint64_t)(s[i] - '0');
                digits++;
                continue;
            }
            number |= part << (PART_BITS * (PARTS - 1 - parts++));
            part = digits = 0;
            if (i + 1 >= n || s[i] != '.' || !fo_is_digit(s[i + 1])) break;
        }
        if (parts > 1) return number;
    }
    return 0;
}

/* Does the question ask what is so in its version, and not what became so with it, or was so until it? */
static bool asks_what_holds(const question *q) {
    static const char others[] =
        "new added add adds changed change changes removed remove dropped fixed fix fixes "
        "introduced "
        "deprecated released release came brings bring improved happened different difference when "
        "before until till older below earlier between from version versions upgrade upgrading "
        "update updated updating migrate downgrade affected vulnerable";
    return q->exact.n_versions == 1 && q->text.language < 0 &&
           !word_tokens_say(others, q->text.text, q->text.len);
}

version_heading version_heading_of(const question *q, const char *s, size_t n) {
    const exact_names *x = &q->exact;
    size_t i = 0;
    while (i < n && (s[i] == '#' || s[i] == ' ')) i++;
    const size_t start = i;
    while (i < n && (fo_is_digit(s[i]) || s[i] == '.')) i++;
    const bool numbered = i > start && i + 1 < n && s[i] == ' ' && fo_is_letter(s[i + 1]);
    if (!x->n_versions || numbered) return (version_heading){VERSION_NOT_SAID, 0};
    if (exact_names_versions_in(x, s, n, NULL)) return (version_heading){VERSION_ASKED, 0};
    if (!exact_names_other_version(x, s, n)) return (version_heading){VERSION_NOT_SAID, 0};
    const uint64_t its = number_in(s, n), asked = number_in(x->versions[0].s, x->versions[0].n);
    const bool holds = its && its < asked && asks_what_holds(q);
    return (version_heading){holds ? VERSION_HOLDS : VERSION_OTHER, holds ? its : 0};
}

version_heading version_heading_before(const question *q, const char *text, size_t before) {
    enum { FARTHEST = 1 << 16 }; /* bytes: a heading farther off is not looked for */
    const char *end = text, *from = end - (before < FARTHEST ? before : FARTHEST);
    version_heading v = {VERSION_NOT_SAID, 0};
    while (q->exact.n_versions && end > from && v.is == VERSION_NOT_SAID) {
        const char *line = end - 1;
        while (line > from && line[-1] != '\n') line--;
        if (line[0] == '#') v = version_heading_of(q, line, (size_t)(end - line));
        end = line;
    }
    return v;
}

void version_headings_settle(candidate_set *set) {
    for (size_t i = 0; i < set->n; i++) {
        candidate *c = &set->c[i];
        for (size_t k = 0; c->holds_since && c->set && k < set->n; k++) {
            const candidate *o = &set->c[k];
            if (o->holds_since > c->holds_since && !(c->set & ~o->set) &&
                candidate_one_document(&set->passages[o->passage], &set->passages[c->passage])) {
                c->f[CAND_MISSING_CODE] = 1;
                break;
            }
        }
    }
}
