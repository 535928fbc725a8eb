#include "retrieval/generator/prompt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/sha256.h"

/* ---- labels ------------------------------------------------------------------------------ */

void prompt_label(char out[PROMPT_LABEL_BYTES], const prompt_context *c) {
    unsigned char h[32] = {0};
    fo_sha256_of(h, c->text, c->len);
    snprintf(out, PROMPT_LABEL_BYTES, "p%02x%02x%x", h[0], h[1], h[2] & 15);
}

ptrdiff_t prompt_label_find(const prompt_context *c, size_t n, const char *label, size_t len) {
    if (len != 6 || label[0] != 'p') return -1;
    for (size_t i = 0; i < n; i++) {
        char mine[PROMPT_LABEL_BYTES];
        prompt_label(mine, &c[i]);
        if (memcmp(mine, label, len) == 0) return (ptrdiff_t)i;
    }
    return -1;
}

/* ---- contexts ---------------------------------------------------------------------------- */

static void write_context(const prompt_context *c, bool labels, fo_buf *out) {
    if (labels) {
        char label[PROMPT_LABEL_BYTES];
        prompt_label(label, c);
        fo_buf_printf(out, "[%s] ", label);
    }
    if (c->title && *c->title) fo_buf_printf(out, "%s: ", c->title);
    size_t a = 0, z = c->len;
    while (a < z && strchr(" \t\r\n", c->text[a]) && c->text[a]) a++;
    while (z > a && strchr(" \t\r\n", c->text[z - 1]) && c->text[z - 1]) z--;
    fo_buf_add(out, c->text + a, z - a);
    fo_buf_str(out, "\n\n");
}

int prompt_make(prompt *out, const prompt_template *t, const prompt_input *in, fo_err *err) {
    *out = (prompt){0};
    out->contexts = calloc(in->n_contexts + 1, sizeof *out->contexts);
    size_t *ends = calloc(in->n_contexts + 1, sizeof *ends);
    for (size_t i = 0; ends && i < in->n_contexts; i++) {
        write_context(&in->contexts[i], t->labels, &out->texts);
        ends[i] = out->texts.len;
    }
    bool ok = out->contexts && ends && !out->texts.failed;
    for (size_t i = 0; ok && i < in->n_contexts; i++) { /* now that the buffer stays where it is */
        size_t start = i ? ends[i - 1] : 0;
        out->contexts[i] = (prompt_text){out->texts.data + start, ends[i] - start};
    }
    free(ends);
    if (!ok) {
        prompt_deinit(out);
        return fo_no_memory(err);
    }
    out->prompt =
        (generator_prompt){.instructions = in->unsure ? &t->unsure : &t->instructions,
                           .contexts = out->contexts,
                           .n_contexts = in->n_contexts,
                           .turns = in->turns,
                           .n_turns = in->n_turns,
                           .turns_first = in->turns_first,
                           .question = in->question,
                           .max_contexts = in->max_contexts ? in->max_contexts : t->max_contexts,
                           .max_tokens = in->max_tokens ? in->max_tokens : PROMPT_ANSWER_TOKENS,
                           .budget = in->budget ? in->budget : t->prompt_tokens,
                           .cached_first = in->cached_first};
    if (in->salt) memcpy(out->prompt.salt, in->salt, sizeof out->prompt.salt);
    return FO_OK;
}

void prompt_deinit(prompt *p) {
    free(p->contexts);
    fo_buf_free(&p->texts);
    *p = (prompt){0};
}
