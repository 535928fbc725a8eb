/* Jupyter notebooks: cells of text as Markdown, code as code, and what it printed, as far as that is short
 * text. Source: nbformat 4. */
#include <cjson/cJSON.h>
#include <string.h>

#include "data/extract/encoding.h"
#include "data/extract/extract_internal.h"

enum { MAX_OUTPUT = 4096, BYTES_PER_BYTE = 8 }; /* of memory for the tree, roughly */

/* A notebook says its format and has cells; a text of a JSON field that looks like one is text. */
bool extract_is_notebook(const extract_input *in) {
    size_t at = 0;
    while (at < in->n && in->bytes[at] <= ' ') at++;
    return !in->is_text && at < in->n && in->bytes[at] == '{' &&
           memmem(in->bytes, in->n, "\"nbformat\"", 10) && memmem(in->bytes, in->n, "\"cells\"", 7);
}

/* A string, or a list of lines. False where it is neither. */
static bool join(const cJSON *v, fo_buf *out) {
    size_t replaced = 0;
    const char *s = cJSON_GetStringValue(v);
    if (s) encoding_clean(out, s, strlen(s), &replaced);
    const cJSON *line;
    if (cJSON_IsArray(v)) cJSON_ArrayForEach(line, v) {
            s = cJSON_GetStringValue(line);
            if (s) encoding_clean(out, s, strlen(s), &replaced);
        }
    if (!out->data) fo_buf_str(out, "");
    return s || cJSON_IsArray(v);
}

static void write_code(builder *b, const fo_buf *text, size_t most) {
    if (!text->len || text->len > most) return;
    builder_begin(b, TEXT_CODE, 0);
    builder_add(b, text->data, text->len);
    builder_end(b);
}

static void write_outputs(builder *b, const cJSON *cell) {
    const cJSON *o;
    cJSON_ArrayForEach(o, cJSON_GetObjectItemCaseSensitive(cell, "outputs")) {
        const cJSON *text = cJSON_GetObjectItemCaseSensitive(o, "text");
        if (!text)
            text = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(o, "data"),
                                                    "text/plain");
        fo_buf out = {0};
        if (text && join(text, &out)) write_code(b, &out, MAX_OUTPUT);
        fo_buf_free(&out);
    }
}

static int write_cell(builder *b, const cJSON *cell, fo_err *err) {
    const char *type = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(cell, "cell_type"));
    fo_buf source = {0};
    int rc = FO_OK;
    if (!type || !join(cJSON_GetObjectItemCaseSensitive(cell, "source"), &source)) {
        fo_buf_free(&source);
        return FO_OK;
    }
    if (source.failed) {
        rc = fo_no_memory(err);
    } else if (!strcmp(type, "markdown")) {
        extract_markdown_text(b, source.data, source.len);
    } else {
        write_code(b, &source, b->max_bytes);
        write_outputs(b, cell);
    }
    fo_buf_free(&source);
    return rc;
}

int extract_notebook(builder *b, extract_input *in, fo_err *err) {
    size_t bytes;
    if (!fo_mul_size(in->n, BYTES_PER_BYTE, &bytes) || !doc_budget_take(b->budget, bytes)) {
        b->failure = b->budget && b->budget->failure ? b->budget->failure : FO_ENOMEM;
        return FO_OK;
    }
    const char *end = NULL;
    cJSON *root = cJSON_ParseWithLengthOpts((const char *)in->bytes, in->n, &end, false);
    const cJSON *cells = cJSON_GetObjectItemCaseSensitive(root, "cells"), *cell;
    int rc = FO_OK;
    if (!root)
        rc = fo_fail(err, FO_EINVAL, "it is no JSON at byte %zu",
                     end ? (size_t)(end - (const char *)in->bytes) : 0);
    else if (!cJSON_IsArray(cells))
        rc = fo_fail(err, FO_EINVAL, "it has no list of cells");
    else
        cJSON_ArrayForEach(cell, cells) {
            if (!rc && builder_go_on(b, 64)) rc = write_cell(b, cell, err);
        }
    cJSON_Delete(root);
    doc_budget_give(b->budget, bytes);
    b->encoding = NULL;
    return rc;
}
