#include "server/cli/answer_print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/utf8.h"
#include "retrieval/answer/refusal.h"
#include "server/base/printable.h"
#include "server/cli/output_form.h"

static const char *text_of(const cJSON *item, const char *key) {
    const char *s = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, key));
    return s ? s : "";
}

/* ", p. 12", ", slide 3", ", line 40", ", at 12:34", ", Budget B2:D9": where in the document, as people
 * say it. */
static void add_place(fo_buf *b, const cJSON *source) {
    static const char *const keys[] = {"page", "slide", "line"};
    static const char *const words[] = {"p.", "slide", "line"};
    for (int i = 0; i < 3; i++) {
        const cJSON *v = cJSON_GetObjectItemCaseSensitive(source, keys[i]);
        if (cJSON_IsNumber(v)) fo_buf_printf(b, ", %s %.0f", words[i], v->valuedouble);
    }
    const cJSON *from = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(source, "time"), 0);
    if (cJSON_IsNumber(from) && from->valuedouble >= 0 && from->valuedouble < 1e9) {
        int s = (int)from->valuedouble;
        fo_buf_str(b, ", at ");
        if (s >= 3600) fo_buf_printf(b, "%d:", s / 3600);
        fo_buf_printf(b, s >= 3600 ? "%02d:%02d" : "%d:%02d", s / 60 % 60, s % 60);
    }
    const char *sheet = text_of(source, "sheet"), *range = text_of(source, "range");
    if (*sheet || *range) fo_buf_printf(b, ", %s%s%s", sheet, *sheet && *range ? " " : "", range);
}

/* Below it an answer is said to be weakly supported, here as on the page. */
#define WEAK_SUPPORT 0.6

/* At most 300 characters of a passage on one line. White space becomes single blanks: tables and code keep theirs in
 * the stored text alone. */
static void one_line(fo_buf *line, const char *quote) {
    size_t n = 0;
    bool blank = false;
    for (const char *p = quote; *p; p++, n++) {
        if (n >= 300 && ((unsigned char)*p & 0xC0) != 0x80) {
            fo_buf_str(line, " ...");
            break;
        }
        bool space = *p == ' ' || *p == '\t' || *p == '\n' || *p == '\r';
        if (!space || !blank) fo_buf_char(line, space ? ' ' : *p);
        blank = space;
    }
}

static void print_source(const cJSON *source, const char *label, const char *quote) {
    const char *title = text_of(source, "title"), *id = text_of(source, "document_id");
    const char *uri = text_of(source, "uri");
    bool has_uri = *uri && strcmp(uri, id);
    fo_buf place = {0};
    add_place(&place, source);
    const char *name = *title ? title : uri; /* an id may be a digest: a file has its name first */
    if (!*title && has_uri) uri = id;
    bool named = *title || has_uri;
    printable_say(stdout, "  %s %s%s%s%s%s%s%s", label, named ? name : "", *title ? " - " : "",
                  *title || !has_uri ? id : "", place.data ? place.data : "", has_uri ? " (" : "",
                  has_uri ? uri : "", has_uri ? ")" : "");
    fo_buf_free(&place);
    fo_buf line = {0};
    one_line(&line, quote);
    printable_say(stdout, "      %s", line.data ? line.data : "");
    fo_buf_free(&line);
}

const char *answer_print_nothing(const cJSON *a) {
    const char *said = text_of(a, "refusal"); /* in the question's language */
    return *said ? said : refusal_text("", NULL, strcmp(text_of(a, "status"), "no_context") != 0);
}

static size_t offset_in(const char *s, const cJSON *span, const char *key) {
    const cJSON *at = cJSON_GetObjectItemCaseSensitive(span, key);
    const size_t n = strlen(s);
    return cJSON_IsNumber(at) && at->valuedouble > 0 ? fo_utf8_offset(s, n, (size_t)at->valueint)
                                                     : 0;
}

/* The few words that answer stand out on a terminal. */
static void put_answer(const char *s, const cJSON *brief) {
    const size_t n = strlen(s), from = offset_in(s, brief, "start"),
                 to = offset_in(s, brief, "end");
    const bool bold = to > from && isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
    printable_put(stdout, s, bold ? from : n, PRINTABLE_TEXT);
    if (!bold) return;
    fputs("\033[1m", stdout);
    printable_put(stdout, s + from, to - from, PRINTABLE_TEXT);
    fputs("\033[0m", stdout);
    printable_put(stdout, s + to, n - to, PRINTABLE_TEXT);
}

static bool is_incomplete(const cJSON *a) {
    return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(a, "index_incomplete"));
}

static const char INCOMPLETE[] =
    "a part of the index is being made again: documents may be missing here, ask again in a moment";

void answer_print_incomplete(const cJSON *a) {
    if (is_incomplete(a)) printf("(%s)\n", INCOMPLETE);
}

/* What was asked in the place of a question with a misspelt word; NULL: it had none. */
static const char *asked_as(const cJSON *a) {
    const cJSON *rewritten = cJSON_GetObjectItemCaseSensitive(a, "rewritten");
    return strcmp(text_of(rewritten, "by"), "spelling") == 0 ? text_of(rewritten, "query") : NULL;
}

void answer_print_asked_as(const cJSON *a) {
    if (asked_as(a)) printable_say(stdout, "(asked as: %s)", asked_as(a));
}

void answer_print_text(const cJSON *a) {
    answer_print_asked_as(a);
    const char *answer = text_of(a, "answer");
    if (!*answer) answer = answer_print_nothing(a);
    put_answer(answer, cJSON_GetObjectItemCaseSensitive(a, "short_answer"));
    putchar('\n');
    const cJSON *support = cJSON_GetObjectItemCaseSensitive(a, "support");
    if (!strcmp(text_of(a, "status"), "answered") && cJSON_IsNumber(support) &&
        support->valuedouble < WEAK_SUPPORT)
        puts("(weakly supported: see whether the sources say so)");
    answer_print_incomplete(a);
}

void answer_print_sources(const cJSON *a, bool contexts_only) {
    if (contexts_only) {
        answer_print_asked_as(a);
        answer_print_incomplete(a);
    }
    const cJSON *citations = cJSON_GetObjectItemCaseSensitive(a, "citations"), *c;
    if (citations && citations->child) puts("\nSources:");
    cJSON_ArrayForEach(c, citations) {
        char label[32];
        const cJSON *index = cJSON_GetObjectItemCaseSensitive(c, "index");
        snprintf(label, sizeof label, "[%d]%s", index ? index->valueint : 0,
                 cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(c, "verified")) ? ""
                                                                               : " (unverified)");
        print_source(cJSON_GetObjectItemCaseSensitive(c, "source"), label, text_of(c, "quote"));
    }
    if (citations && citations->child) return;
    const cJSON *contexts = cJSON_GetObjectItemCaseSensitive(a, "contexts");
    if (contexts && contexts->child) puts(contexts_only ? "Contexts:" : "\nNearest passages:");
    int shown = 0;
    cJSON_ArrayForEach(c, contexts) {
        if (!contexts_only && shown++ == 3) break; /* beside an abstention a few are enough */
        char label[32];
        const cJSON *score = cJSON_GetObjectItemCaseSensitive(c, "score");
        /* Beside an abstention the best one's score would read like certainty. */
        snprintf(label, sizeof label, "%.3f", score ? score->valuedouble : 0);
        print_source(c, contexts_only ? label : "-", text_of(c, "text"));
    }
}

/* ---- a table ----------------------------------------------------------------------------------- */

static void add_table_source(cJSON *rows, const cJSON *source, const char *n, const char *checked,
                             const char *quote) {
    fo_buf place = {0}, line = {0};
    cJSON *row = cJSON_CreateObject();
    add_place(&place, source);
    one_line(&line, quote);
    cJSON_AddStringToObject(row, "n", n);
    cJSON_AddStringToObject(row, "checked", checked);
    cJSON_AddStringToObject(row, "document", text_of(source, "document_id"));
    cJSON_AddStringToObject(row, "title", text_of(source, "title"));
    cJSON_AddStringToObject(row, "place", place.data ? place.data + strspn(place.data, ", ") : "");
    cJSON_AddStringToObject(row, "quote", line.data ? line.data : "");
    cJSON_AddItemToArray(rows, row);
    fo_buf_free(&place);
    fo_buf_free(&line);
}

void answer_print_table(const cJSON *a, bool contexts_only) {
    const cJSON *citations = cJSON_GetObjectItemCaseSensitive(a, "citations"), *c;
    const bool cited = citations && citations->child;
    cJSON *rows = cJSON_CreateArray();
    fo_buf text = {0};
    char n[32];
    int shown = 0;
    if (!contexts_only && !*text_of(a, "answer"))
        printable_say(stderr, "%s", answer_print_nothing(a));
    cJSON_ArrayForEach(c, citations) {
        const cJSON *index = cJSON_GetObjectItemCaseSensitive(c, "index");
        snprintf(n, sizeof n, "[%d]", index ? index->valueint : 0);
        add_table_source(rows, cJSON_GetObjectItemCaseSensitive(c, "source"), n,
                         cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(c, "verified")) ? "yes"
                                                                                       : "no",
                         text_of(c, "quote"));
    }
    cJSON_ArrayForEach(c, cJSON_GetObjectItemCaseSensitive(a, "contexts")) {
        if (cited || (!contexts_only && shown++ == 3)) break;
        const cJSON *score = cJSON_GetObjectItemCaseSensitive(c, "score");
        snprintf(n, sizeof n, "%.3f", score ? score->valuedouble : 0);
        add_table_source(rows, c, contexts_only ? n : "-", "-", text_of(c, "text"));
    }
    output_write(&text, OUTPUT_TABLE, rows);
    if (text.data && !text.failed) fwrite(text.data, 1, text.len, stdout);
    fo_buf_free(&text);
    cJSON_Delete(rows);
}

/* ---- Markdown ---------------------------------------------------------------------------------- */

/* A marker "[3]" at s that is one: its number, and its bytes in *len. 0: it is text. */
static int marker_at(const char *s, const cJSON *citations, long at, bool behind, size_t *len) {
    char *end;
    if (*s != '[') return 0;
    const long n = strtol(s + 1, &end, 10);
    if (n <= 0 || end == s + 1 || *end != ']') return 0;
    const cJSON *c;
    cJSON_ArrayForEach(c, citations) {
        const cJSON *index = cJSON_GetObjectItemCaseSensitive(c, "index");
        const cJSON *span = cJSON_GetObjectItemCaseSensitive(c, "answer_span");
        const cJSON *stop = cJSON_GetObjectItemCaseSensitive(span, "end");
        if (!cJSON_IsNumber(index) || (long)index->valuedouble != n) continue;
        if (!behind && (!cJSON_IsNumber(stop) || (long)stop->valuedouble != at)) continue;
        *len = (size_t)(end + 1 - s);
        return (int)n;
    }
    return 0;
}

/* A marker stands right behind what it supports (answer_span, in code points), or behind another; other brackets are text. */
static void add_answer(fo_buf *b, const char *s, const cJSON *citations) {
    bool behind = false;
    for (long at = 0; *s; at++) {
        const size_t blank = *s == ' ';
        size_t len = 0;
        const int n = marker_at(s + blank, citations, at, behind, &len);
        behind = n > 0;
        if (n) {
            fo_buf_printf(b, "[^%d]", n);
            at += (long)(blank + len) - 1; /* all of them are ASCII */
            s += blank + len;
            continue;
        }
        do fo_buf_char(b, *s++);
        while (((unsigned char)*s & 0xC0) == 0x80);
    }
}

static void print_markdown_source(const cJSON *source, const char *label, const char *quote) {
    const char *title = text_of(source, "title"), *id = text_of(source, "document_id");
    fo_buf place = {0}, line = {0};
    add_place(&place, source);
    one_line(&line, quote);
    printable_say(stdout, "%s %s%s%s%s%s: \u201C%s\u201D", label, *title ? title : id,
                  *title ? " (" : "", *title ? id : "", *title ? ")" : "",
                  place.data ? place.data : "", line.data ? line.data : "");
    fo_buf_free(&place);
    fo_buf_free(&line);
}

void answer_print_markdown(const cJSON *a, bool contexts_only) {
    const cJSON *citations = cJSON_GetObjectItemCaseSensitive(a, "citations"), *c;
    const char *answer = text_of(a, "answer");
    fo_buf b = {0};
    if (asked_as(a)) {
        printable_say(stdout, "*Asked as: %s*", asked_as(a));
        putchar('\n');
    }
    if (*answer)
        add_answer(&b, answer, citations);
    else if (!contexts_only)
        fo_buf_printf(&b, "*%s*", answer_print_nothing(a));
    if (b.len) {
        printable_put(stdout, b.data, b.len, PRINTABLE_TEXT);
        puts("\n");
    }
    fo_buf_free(&b);
    if (is_incomplete(a)) printf("*(%s)*\n\n", INCOMPLETE);
    char label[32];
    cJSON_ArrayForEach(c, citations) {
        const cJSON *index = cJSON_GetObjectItemCaseSensitive(c, "index");
        snprintf(label, sizeof label, "[^%d]:", index ? index->valueint : 0);
        print_markdown_source(cJSON_GetObjectItemCaseSensitive(c, "source"), label,
                              text_of(c, "quote"));
    }
    if (citations && citations->child) return;
    int shown = 0;
    cJSON_ArrayForEach(c, cJSON_GetObjectItemCaseSensitive(a, "contexts")) {
        if (!contexts_only && shown++ == 3) break;
        print_markdown_source(c, "-", text_of(c, "text"));
    }
}
