#include "retrieval/units/unit_hanging.h"

#include <utf8proc.h>

#include "kernels/utf8.h"
#include "retrieval/units/unit_headings.h"

static size_t indent_of(const unit_lines *l, size_t i) {
    size_t n;
    const char *from = unit_lines_indented(l, i, &n);
    return (size_t)(l->text + l->v[i].start - from);
}

/* Does line i begin as an entry does, with a capital? Behind a number stands a clause. */
static bool may_begin_entry(const unit_lines *l, size_t i) {
    size_t n;
    int32_t cp;
    const char *s = unit_lines_text(l, i, &n);
    return fo_utf8_decode(s, n, &cp) && cp > 0 && utf8proc_category(cp) == UTF8PROC_CATEGORY_LU;
}

/* Are the lines of text [i, end) entries, of which what did not fit on a line is indented on the next one? */
static bool is_hanging(const unit_lines *l, size_t i, size_t end) {
    enum { DEEPER = 2 };
    const size_t base = indent_of(l, i);
    size_t deep = 0, entries = 0;
    for (size_t k = i; k < end; k++) {
        const size_t indent = indent_of(l, k);
        if (indent == base && may_begin_entry(l, k)) {
            entries++;
            continue;
        }
        if (k == i || indent < base + DEEPER || (deep && indent != deep)) return false;
        if (l->text[l->v[k - 1].end - 1] == ':' || unit_breaks_on_purpose(l, k - 1)) return false;
        deep = indent;
    }
    return deep && entries > 1;
}

void unit_hanging_find(unit_lines *l) {
    for (size_t i = l->goes_on, end; i < l->n; i = end + 1) {
        for (end = i; end < l->n && l->v[end].class == LINE_TEXT;) end++;
        if (i < end && unit_is_heading(l, i)) i++;
        if (end == i || !is_hanging(l, i, end)) continue;
        const size_t base = indent_of(l, i);
        for (size_t k = i; k < end; k++)
            if (indent_of(l, k) == base) l->v[k].class = LINE_ITEM;
    }
}
