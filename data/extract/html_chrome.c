#include "data/extract/html_chrome.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* Words that generators alone use so; "contents", "header" and "title" hold the text itself of some. */
static const char *const marks[] = {"headerlink",     "hash-link", "header-anchor", "anchorjs-link",
                                    "anchor-link",    "linenos",   "lineno",        "linenodiv",
                                    "mw-editsection", "mark-link", "copybtn"};
static const char *const classes[] = {"sphinxsidebar",
                                      "related",
                                      "breadcrumb",
                                      "breadcrumbs",
                                      "wy-breadcrumbs",
                                      "wy-nav-side",
                                      "navheader",
                                      "navfooter",
                                      "toc",
                                      "table-of-contents",
                                      "localtoc",
                                      "md-skip",
                                      "skip-link",
                                      "skipNav",
                                      "skip-nav",
                                      "md-footer",
                                      "md-sidebar",
                                      "md-content__button",
                                      "edit-this-page",
                                      "theme-edit-this-page",
                                      "pagination-nav",
                                      "prev-next-area",
                                      "rst-footer-buttons",
                                      "theme-doc-breadcrumbs",
                                      "topNav",
                                      "bottomNav",
                                      "subNav",
                                      "top-nav",
                                      "sub-nav",
                                      "legalCopy",
                                      "legal-copy",
                                      "navpath",
                                      "nav-panel"};
static const char *const ids[] = {
    "nav-path", "side-nav",   "main-nav", "global-nav",          "MSearchSelectWindow",
    "toc",      "projectrow", "navrow1",  "MSearchResultsWindow"};

enum {
    COUNT_MARKS = sizeof marks / sizeof *marks,
    COUNT_CLASSES = sizeof classes / sizeof *classes,
    COUNT_IDS = sizeof ids / sizeof *ids
};

static bool is_one(const char *const *list, size_t count, const char *s, size_t n) {
    for (size_t i = 0; i < count; i++)
        if (strlen(list[i]) == n && memcmp(list[i], s, n) == 0) return true;
    return false;
}

static html_chrome of_class(const char *element, const char *value) {
    static const char blanks[] = " \t\r\n\f";
    const bool box = !strcasecmp(element, "div") || !strcasecmp(element, "address");
    if (box && (!strcmp(value, "footer") || !strcmp(value, "nav"))) return HTML_CHROME;
    bool contents = false, topic = false;
    for (const char *s = value + strspn(value, blanks); *s;) {
        const size_t n = strcspn(s, blanks);
        if (is_one(marks, COUNT_MARKS, s, n)) return HTML_MARK;
        if (is_one(classes, COUNT_CLASSES, s, n)) return HTML_CHROME;
        contents |= n == 8 && !memcmp(s, "contents", n);
        topic |= n == 5 && !memcmp(s, "topic", n);
        s += n + strspn(s + n, blanks);
    }
    return contents && topic ? HTML_CHROME : HTML_TEXT; /* docutils' list of contents */
}

html_chrome html_chrome_of(const char *element, const unsigned char **attributes) {
    if (!strcasecmp(element, "body") || !strcasecmp(element, "html")) return HTML_TEXT;
    for (; attributes && attributes[0]; attributes += 2) {
        const char *name = (const char *)attributes[0], *value = (const char *)attributes[1];
        html_chrome is = HTML_TEXT;
        if (!value) continue;
        if (!strcasecmp(name, "class")) is = of_class(element, value);
        if (!strcasecmp(name, "id") && is_one(ids, COUNT_IDS, value, strlen(value)))
            is = HTML_CHROME;
        if (!strcasecmp(name, "role") &&
            (!strcasecmp(value, "navigation") || !strcasecmp(value, "contentinfo")))
            is = HTML_CHROME;
        if (is) return is;
    }
    return HTML_TEXT;
}
