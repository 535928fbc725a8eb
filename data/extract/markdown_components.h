/* markdown_components.h - Markdown with components (MDX), of which what a reader of the page sees is text.
 *
 *     fo_buf plain = {0};
 *     if (markdown_components_write(&plain, s, n)) ... plain is the Markdown to read instead ...
 *     fo_buf_free(&plain);
 *
 * A component is a tag with a capital, <FaqItem question="No frames?">. Of its attributes those that hold text come out: a question
 * as a heading of what the component holds, "title", "heading", "summary" and "label" as a line above it, and of a tag that stands
 * within a line, <NavPath path="Settings > Users" />, any of them and "path" in its place. Their values may be strings or those
 * of JavaScript, {"..."}, {<>...</>}. What stands between a tag alone on a line and "</Name>" at the end of a line is text though
 * it is indented, and of the item of a list that the tag is in. The first lines of a document, those that import components, say
 * nothing, nor do the names of headings, "## Title {#name}". Code stays as it is: fences and what stands in backticks. */
#ifndef FORAGE_DATA_MARKDOWN_COMPONENTS_H
#define FORAGE_DATA_MARKDOWN_COMPONENTS_H

#include "kernels/buf.h"

/* False: there is nothing of the kind, and nothing is written. Where memory runs out out->failed says so. */
bool markdown_components_write(fo_buf *out, const char *s, size_t n);

#endif
