#include "server/cli/answer_print.h"

#include <stdio.h>
#include <string.h>

#include "retrieval/answer/refusal.h"
#include "server/base/printable.h"

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
    /* White space becomes single blanks: tables and code keep theirs in the stored text alone. */
    fo_buf line = {0};
    size_t n = 0;
    bool blank = false;
    for (const char *p = quote; *p; p++, n++) {
        if (n >= 300 && ((unsigned char)*p & 0xC0) != 0x80) {
            fo_buf_str(&line, " ...");
            break;
        }
        bool space = *p == ' ' || *p == '\t' || *p == '\n' || *p == '\r';
        if (!space || !blank) fo_buf_char(&line, space ? ' ' : *p);
        blank = space;
    }
    printable_say(stdout, "      %s", line.data ? line.data : "");
    fo_buf_free(&line);
}

const char *answer_print_nothing(const cJSON *a) {
    const char *said = text_of(a, "refusal"); /* in the question's language */
    return *said ? said : refusal_text("", strcmp(text_of(a, "status"), "no_context") != 0);
}

void answer_print_text(const cJSON *a) {
    const char *answer = text_of(a, "answer");
    if (!*answer) answer = answer_print_nothing(a);
    printable_put(stdout, answer, strlen(answer), PRINTABLE_TEXT);
    putchar('\n');
    const cJSON *support = cJSON_GetObjectItemCaseSensitive(a, "support");
    if (!strcmp(text_of(a, "status"), "answered") && cJSON_IsNumber(support) &&
        support->valuedouble < WEAK_SUPPORT)
        puts("(weakly supported: see whether the sources say so)");
}

void answer_print_sources(const cJSON *a, bool contexts_only) {
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
