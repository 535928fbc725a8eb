/* See html_guard.h. The rules of tags are the parser's: a name follows white space or the end of a
 * quoted value, and quotes count after "=" only. */
#include "data/extract/html_guard.h"
#include "kernels/utf8.h"

#include <string.h>
#include <strings.h>

enum { MAX_ATTRIBUTES = 256 };

/* Past the end of what begins at s[at], where `end` ends it; n where it never does. */
static size_t past(const char *s, size_t n, size_t at, const char *end) {
    size_t k = strlen(end);
    const char *found = at < n ? memmem(s + at, n - at, end, k) : NULL;
    return found ? (size_t)(found - s) + k : n;
}

/* From the start of a script's or style's content to the tag that ends it. */
static size_t past_raw_text(const char *s, size_t n, size_t at, const char *name) {
    size_t k = strlen(name);
    while (at < n) {
        at = past(s, n, at, "</");
        if (n - at >= k && strncasecmp(s + at, name, k) == 0) return at - 2;
    }
    return n;
}

typedef struct tag {
    size_t end;     /* at ">", or where the tag breaks off */
    size_t surplus; /* where the attributes past the limit begin; `end` if there are none */
} tag;

/* Past the value that follows "=" at s[at - 1]. */
static size_t past_value(const char *s, size_t n, size_t at) {
    while (at < n && fo_is_blank(s[at])) at++;
    if (at < n && (s[at] == '"' || s[at] == '\'')) {
        const char *close = memchr(s + at + 1, s[at], n - at - 1);
        return close ? (size_t)(close - s) + 1 : n;
    }
    while (at < n && !fo_is_blank(s[at]) && s[at] != '>') at++;
    return at;
}

/* The tag whose name begins at s[at]. */
static tag read_tag(const char *s, size_t n, size_t at) {
    tag t = {0};
    size_t attributes = 0;
    bool fresh = false; /* an attribute may begin here */
    while (at < n && !fo_is_blank(s[at]) && s[at] != '>') at++;
    while (at < n && s[at] != '>') {
        char c = s[at++];
        if (fo_is_blank(c)) {
            fresh = true;
        } else if (c == '=') {
            at = past_value(s, n, at);
            fresh = true;
        } else if (c == '<' && t.surplus) {
            at--; /* a tag that never ends is not to take the rest of the page with it */
            break;
        } else {
            if (fresh && ++attributes == MAX_ATTRIBUTES + 1) t.surplus = at - 1;
            fresh = false;
        }
    }
    t.end = at;
    if (!t.surplus) t.surplus = t.end;
    return t;
}

static bool copy(builder *b, fo_buf *out, const char *s, size_t n) {
    if (!doc_budget_take(b->budget, n)) {
        b->failure = b->budget->failure;
        return false;
    }
    fo_buf_add(out, s, n);
    if (out->failed) b->failure = FO_ENOMEM;
    return !out->failed;
}

bool html_guard_attributes(builder *b, const char *s, size_t n, fo_buf *out) {
    size_t copied = 0; /* of s, to out */
    for (size_t at = 0; at < n;) {
        const char *open = memchr(s + at, '<', n - at);
        if (!open) break;
        size_t begin = at;
        at = (size_t)(open - s) + 1;
        if (n - at >= 3 && memcmp(s + at, "!--", 3) == 0) {
            at = past(s, n, at + 3, "-->");
        } else if (at < n && fo_is_letter(s[at])) {
            size_t name = at;
            tag t = read_tag(s, n, at);
            if (t.surplus < t.end) {
                bool broken = t.end < n && s[t.end] == '<'; /* the parser would read on */
                if (!copy(b, out, s + copied, t.surplus - copied) ||
                    (broken && !copy(b, out, ">", 1)))
                    return false;
                copied = t.end;
            }
            at = t.end;
            static const char *const raw[] = {"script", "style"};
            for (size_t i = 0; i < 2; i++) {
                size_t k = strlen(raw[i]);
                if (n - name > k && strncasecmp(s + name, raw[i], k) == 0 &&
                    (fo_is_blank(s[name + k]) || s[name + k] == '>'))
                    at = past_raw_text(s, n, at, raw[i]);
            }
        }
        if (!builder_go_on(b, at - begin)) return false;
    }
    if (!copied) return true;
    return copy(b, out, s + copied, n - copied);
}
