/* unit_spans < TEXTS - the units of texts, as answers are made of them: what a reader is trained on.
 *
 * A line of TEXTS is a JSON object with `text`, and `before`: what stands before it in its document. A line of the output
 * is {"units": [[start, end, kind, head start, head end, kind of head], ...]}, in bytes of the text; kinds as
 * in retrieval/answer/units.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cjson/cJSON.h>

#include "kernels/buf.h"
#include "retrieval/answer/units.h"

static const char *member(const cJSON *o, const char *key) {
    const char *s = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, key));
    return s ? s : "";
}

static void print(const text_units *u) {
    printf("{\"units\": [");
    for (size_t i = 0; i < u->n; i++) {
        const text_unit *x = &u->v[i];
        printf("%s[%u, %u, %u, %u, %u, %u]", i ? ", " : "", x->start, x->end, x->kind,
               x->head_start, x->head_end, x->head_kind);
    }
    puts("]}");
}

int main(void) {
    fo_err err;
    fo_buf whole = {0};
    text_units units = {0};
    char *line = NULL;
    size_t cap = 0;
    int rc = 0;
    while (!rc && getline(&line, &cap, stdin) > 0) {
        cJSON *o = cJSON_Parse(line);
        const char *before = member(o, "before"), *text = member(o, "text");
        fo_buf_free(&whole);
        fo_buf_str(&whole, before);
        fo_buf_str(&whole, text);
        rc = whole.failed || text_units_read(&units, whole.data + strlen(before), strlen(text),
                                             strlen(before), &err);
        if (!rc) print(&units);
        cJSON_Delete(o);
    }
    if (rc) fprintf(stderr, "unit_spans: no memory, or a text that is too long\n");
    text_units_deinit(&units);
    fo_buf_free(&whole);
    free(line);
    return rc != 0;
}
