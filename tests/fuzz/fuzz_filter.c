/* A filter as JSON; a zero byte; lines, each the metadata of a document. Promises: a filter of any shape is
 * refused with a sentence or read; and the documents that columns say match are those of an oracle, which
 * goes through each document's values one by one. */
#include <cjson/cJSON.h>
#include <string.h>

#include "index/filter/filter_tree.h"
#include "index/filter/metadata.h"
#include "kernels/bits.h"
#include "kernels/buf.h"
#include "tests/fuzz/fuzz.h"

enum { DOCS_MOST = 70 };

/* ---- the oracle ----------------------------------------------------------------------------- */

static int order_of(const char *a, const char *b) {
    size_t n = strlen(a), m = strlen(b);
    int order = memcmp(a, b, n < m ? n : m);
    return order ? order : (n > m) - (n < m);
}

static bool by_order(filter_type type, int order) {
    return type == FILTER_GT    ? order > 0
           : type == FILTER_GTE ? order >= 0
           : type == FILTER_LT  ? order < 0
           : type == FILTER_LTE ? order <= 0
                                : order == 0;
}

/* Does one value of a document meet one of the leaf's? */
static bool value_meets(const search_filter *f, const cJSON *v) {
    if (f->type == FILTER_EXISTS) return true;
    for (size_t i = 0; i < f->n_values; i++) {
        const filter_value *want = &f->values[i];
        if (want->kind == VALUE_STRING && cJSON_IsString(v) &&
            by_order(f->type, order_of(v->valuestring, want->string)))
            return true;
        if (want->kind == VALUE_NUMBER && cJSON_IsNumber(v)) {
            double x = v->valuedouble, y = want->number;
            if (by_order(f->type, (x > y) - (x < y))) return true;
        }
        if (want->kind == VALUE_BOOL && cJSON_IsBool(v) && cJSON_IsTrue(v) == (want->number == 1))
            return true;
        if (want->kind == VALUE_NULL && cJSON_IsNull(v)) return true;
    }
    return false;
}

/* Any of the values under the leaf's key? `key`: where v stands, at the root or below it. */
static bool any_meets(const search_filter *f, const cJSON *v, bool root, fo_buf *key) {
    const cJSON *item;
    size_t len = key->len;
    bool found = false;
    if (cJSON_IsObject(v)) {
        cJSON_ArrayForEach(item, v) {
            if (!root) fo_buf_char(key, '.');
            fo_buf_str(key, item->string);
            found |= any_meets(f, item, false, key);
            key->len = len;
        }
        return found;
    }
    if (cJSON_IsArray(v) && v->child) {
        cJSON_ArrayForEach(item, v) found |= any_meets(f, item, false, key);
        return found;
    }
    return key->len == strlen(f->key) && (len == 0 || memcmp(key->data, f->key, len) == 0) &&
           value_meets(f, v);
}

static bool matches(const search_filter *f, const cJSON *doc) {
    bool yes;
    if (f->type < FILTER_AND) {
        fo_buf key = {0};
        yes = any_meets(f, doc, true, &key);
        fo_buf_free(&key);
        return yes != (f->type == FILTER_NE || f->type == FILTER_NIN);
    }
    yes = f->type == FILTER_AND;
    for (size_t i = 0; i < f->n_children; i++)
        yes = f->type == FILTER_AND ? yes && matches(f->children[i], doc)
                                    : yes || matches(f->children[i], doc);
    return yes != (f->type == FILTER_NOT);
}

/* ---- the columns ---------------------------------------------------------------------------- */

static void compare(const search_filter *f, char *lines) {
    const char *json[DOCS_MOST];
    uint64_t bits[(DOCS_MOST + 63) / 64], refused[(DOCS_MOST + 63) / 64];
    uint32_t n = 0;
    for (char *save = NULL, *line = strtok_r(lines, "\n", &save); line && n < DOCS_MOST;
         line = strtok_r(NULL, "\n", &save))
        json[n++] = line;
    if (!n) return;
    FUZZ_CHECK(metadata_match_json(json, n, f, bits, refused, NULL) == FO_OK);
    for (uint32_t i = 0; i < n; i++) {
        if (fo_bits_get(refused, i)) continue;
        cJSON *doc = cJSON_Parse(json[i]);
        FUZZ_CHECK(doc && matches(f, doc) == fo_bits_get(bits, i));
        cJSON_Delete(doc);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const uint8_t *zero = memchr(data, 0, size);
    size_t n = zero ? (size_t)(zero - data) : size;
    cJSON *root = cJSON_ParseWithLength((const char *)data, n);
    if (!root) return 0;
    search_filter *f = NULL;
    fo_err err = {0};
    int rc = search_filter_parse(&f, root, &err);
    if (rc) {
        FUZZ_CHECK(err.code == rc && err.msg[0] && !f);
    } else {
        size_t rest = zero ? size - n - 1 : 0;
        char *lines = malloc(rest + 1);
        FUZZ_CHECK(lines);
        if (rest) memcpy(lines, zero + 1, rest);
        lines[rest] = 0;
        compare(f, lines);
        free(lines);
        search_filter_free(f);
    }
    cJSON_Delete(root);
    return 0;
}
