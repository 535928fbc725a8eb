/* unit_spans < TEXTS - the units of texts, as answers are made of them: what a reader is trained on.
 *
 * A line of TEXTS is a JSON object with `text`, and `before`: what stands before it in its document. A line of the output
 * is {"units": [[start, end, kind, head start, head end, kind of head], ...]}, in bytes of the text; kinds as
 * in retrieval/units/units.h. */
#include "kernels/buf.h"
#include "retrieval/units/units.h"
#include "tests/bench/set_home.h"

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
    fo_buf whole = {0};
    text_units units = {0};
    char *line = NULL;
    size_t cap = 0;
    for (size_t n = 1; getline(&line, &cap, stdin) > 0; n++) {
        cJSON *o = cJSON_Parse(line);
        if (!o) {
            fprintf(stderr, "unit_spans: line %zu is no JSON\n", n);
            exit(1);
        }
        const char *before = string_of(o, "before"), *text = string_of(o, "text");
        const size_t n_before = strlen(before);
        fo_buf_clear(&whole);
        fo_buf_str(&whole, before);
        fo_buf_str(&whole, text);
        if (whole.failed) fo_no_memory(&err);
        if (whole.failed ||
            text_units_read(&units, whole.data + n_before, strlen(text), n_before, &err))
            die("units");
        print(&units);
        cJSON_Delete(o);
    }
    text_units_deinit(&units);
    fo_buf_free(&whole);
    free(line);
    return 0;
}
