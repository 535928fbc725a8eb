#include "server/cli/fit_texts.h"

#include <cjson/cJSON.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "data/chunk/chunk.h"
#include "data/extract/extract.h"
#include "data/extract/extract_host.h"
#include "kernels/buf.h"
#include "kernels/file.h"
#include "kernels/splitmix.h"

enum { MAX_FILE = 64 << 20, LEAST_BYTES = 40, LONG_BYTES = 300, MAX_DEPTH = 32 };

typedef struct walk {
    int per_document;
    fit_text_fn *fn;
    fit_left_out_fn *left_out;
    void *arg;
    extract_host *host;
    uint64_t seed;
} walk;

static int give(walk *w, const char *title, const char *text, size_t len, fo_err *err) {
    fo_buf b = {0};
    if (title && title[0]) {
        fo_buf_str(&b, title);
        fo_buf_char(&b, ' ');
    }
    fo_buf_add(&b, text, len);
    int rc = b.failed ? fo_no_memory(err) : w->fn(w->arg, b.data, b.len, err);
    fo_buf_free(&b);
    return rc;
}

/* One sentence of text[0..len), by reservoir among those that are long enough. */
static void draw_sentence(walk *w, const char **text, size_t *len) {
    const char *all = *text;
    size_t all_len = *len, n = 0;
    for (size_t at = 0; at < all_len;) {
        if (strchr(" \t\n", all[at])) {
            at++;
            continue;
        }
        size_t end = sentence_end(all, all_len, at);
        if (end <= at) break;
        if (end - at >= LEAST_BYTES && fo_splitmix(&w->seed) % ++n == 0) {
            *text = all + at;
            *len = end - at;
        }
        at = end;
    }
}

static int draw(walk *w, const extracted *x, const char *title, fo_err *err) {
    if (w->per_document == 0) return x->len ? give(w, title, x->text, x->len, err) : FO_OK;
    size_t n = 0, *block = malloc((x->n_blocks + 1) * sizeof *block);
    if (!block) return fo_no_memory(err);
    for (size_t i = 0; i < x->n_blocks; i++) {
        const text_block *b = &x->blocks[i];
        if ((b->kind == TEXT_PARAGRAPH || b->kind == TEXT_LIST_ITEM) &&
            b->end - b->start >= LEAST_BYTES)
            block[n++] = i;
    }
    int rc = FO_OK;
    for (int k = 0; !rc && k < w->per_document && n; k++) {
        size_t pick = (size_t)(fo_splitmix(&w->seed) % n);
        const text_block *b = &x->blocks[block[pick]];
        const char *text = x->text + b->start;
        size_t len = b->end - b->start;
        if (len >= LONG_BYTES)
            draw_sentence(w, &text, &len); /* a long block may give another sentence again */
        else
            block[pick] = block[--n];
        rc = give(w, fo_splitmix(&w->seed) % 2 ? title : NULL, text, len, err);
    }
    free(block);
    return rc;
}

static void leave_out(walk *w, const char *name, const fo_err *why) {
    if (w->left_out) w->left_out(w->arg, name, why->msg);
}

/* path: of the file; NULL: it is a line of `corpus`. */
static int walk_document(walk *w, const char *bytes, size_t n, const char *type, const char *path,
                         const char *corpus, const char *title, fo_err *err) {
    extracted x;
    fo_err why = {0};
    extract_request rq = {.bytes = bytes,
                          .n = n,
                          .content_type = type,
                          .file_name = path,
                          .max_text_bytes = MAX_FILE,
                          .host = w->host,
                          .call = 1};
    if (extract_text(&x, &rq, &why)) {
        leave_out(w, path ? path : corpus, &why);
        return FO_OK;
    }
    int rc = draw(w, &x, title ? title : x.title, err);
    extracted_deinit(&x);
    return rc;
}

static const char *string_of(const cJSON *o, const char *key) {
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, key);
    return cJSON_IsString(v) ? v->valuestring : NULL;
}

static int walk_jsonl(walk *w, const char *path, fo_err *err) {
    FILE *in = fopen(path, "r");
    if (!in) return fo_fail_errno(err, "cannot read %s", path);
    char *line = NULL;
    size_t cap = 0, n = 0;
    int rc = FO_OK;
    for (ssize_t len; !rc && (len = getline(&line, &cap, in)) > 0;) {
        n++;
        if (len == 1 && *line == '\n') continue;
        cJSON *doc = cJSON_ParseWithLength(line, (size_t)len);
        const char *text = string_of(doc, "text"), *type = string_of(doc, "content_type");
        rc = text ? walk_document(w, text, strlen(text), type ? type : "text/plain", NULL, path,
                                  string_of(doc, "title"), err)
                  : fo_fail(err, FO_EINVAL, "%s: line %zu is no JSON object with a text", path, n);
        cJSON_Delete(doc);
    }
    if (!rc && ferror(in)) rc = fo_fail_errno(err, "cannot read %s", path);
    free(line);
    fclose(in);
    return rc;
}

static int walk_file(walk *w, const char *path, fo_err *err) {
    char *bytes;
    size_t n;
    fo_err why = {0};
    if (!extract_knows_file(path)) return FO_OK;
    if (fo_file_read(path, MAX_FILE, &bytes, &n, &why)) {
        leave_out(w, path, &why);
        return FO_OK;
    }
    int rc = walk_document(w, bytes, n, NULL, path, NULL, NULL, err);
    free(bytes);
    return rc;
}

static int walk_folder(walk *w, const char *path, int depth, fo_err *err) {
    struct dirent **entries;
    int n = scandir(path, &entries, NULL, alphasort), rc = FO_OK;
    if (n < 0) return fo_fail_errno(err, "cannot read the folder %s", path);
    for (int i = 0; i < n; i++) {
        fo_buf p = {0};
        struct stat st;
        fo_buf_printf(&p, "%s/%s", path, entries[i]->d_name);
        if (p.failed && !rc) rc = fo_no_memory(err);
        if (!rc && entries[i]->d_name[0] != '.' && !lstat(p.data, &st)) {
            if (S_ISDIR(st.st_mode) && depth < MAX_DEPTH)
                rc = walk_folder(w, p.data, depth + 1, err);
            else if (S_ISREG(st.st_mode))
                rc = walk_file(w, p.data, err);
        }
        fo_buf_free(&p);
        free(entries[i]);
    }
    free(entries);
    return rc;
}

int fit_texts_walk(const char *path, int per_document, fit_text_fn *fn, fit_left_out_fn *left_out,
                   void *arg, fo_err *err) {
    walk w = {
        .per_document = per_document, .fn = fn, .left_out = left_out, .arg = arg, .seed = 20261121};
    struct stat st;
    if (stat(path, &st)) return fo_fail_errno(err, "cannot open %s", path);
    int rc =
        extract_host_create(&w.host, &(extract_host_options){.program = "/proc/self/exe"}, err);
    if (!rc) rc = S_ISDIR(st.st_mode) ? walk_folder(&w, path, 0, err) : walk_jsonl(&w, path, err);
    extract_host_end_call(w.host, 1);
    extract_host_free(w.host);
    return rc;
}
