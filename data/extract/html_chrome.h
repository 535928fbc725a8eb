/* html_chrome.h - what of a page its generator put around the text, as the classes and ids that generators give it say:
 * Sphinx, MkDocs, Docusaurus, javadoc, DocBook, Doxygen. Ours, tested in tests/data/extract/html_chrome_test.c.
 *
 *     switch (html_chrome_of("div", attributes)) { ... } */
#ifndef FORAGE_DATA_HTML_CHROME_H
#define FORAGE_DATA_HTML_CHROME_H

typedef enum html_chrome {
    HTML_TEXT,
    HTML_CHROME, /* of the site: ways to other pages, lists of contents, who has the rights */
    HTML_MARK,   /* in the text and none of it: links of a heading to itself, numbers of lines */
} html_chrome;

/* attributes: names and values by turns, to a NULL; NULL: none. A value may be NULL. */
html_chrome html_chrome_of(const char *element, const unsigned char **attributes);

#endif
