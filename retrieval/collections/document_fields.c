#include "retrieval/collections/document_fields.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "index/filter/metadata.h"
#include "kernels/buf.h"

/* The caller's members stay byte for byte, and in front, where the acl has its place. */
static void open_object(fo_buf *b, const char *stored) {
    const char *end = strrchr(stored, '}');
    fo_buf_add(b, stored, (size_t)(end - stored));
    while (b->len && strchr(" \t\r\n", b->data[b->len - 1])) b->len--;
}

static bool add_member(fo_buf *b, const cJSON *item) {
    cJSON *name = cJSON_CreateString(item->string);
    char *key = name ? cJSON_PrintUnformatted(name) : NULL, *value = cJSON_PrintUnformatted(item);
    if (key && value) fo_buf_printf(b, "%s%s:", b->data[b->len - 1] == '{' ? "" : ",", key);
    if (key && value) fo_buf_str(b, value);
    const bool written = key && value;
    cJSON_free(key);
    cJSON_free(value);
    cJSON_Delete(name);
    return written;
}

int document_fields_join(char **stored, const char *fields, fo_err *err) {
    if (!fields) return FO_OK;
    const char *before = *stored ? *stored : "{}";
    cJSON *there = cJSON_Parse(before), *more = cJSON_Parse(fields), *item;
    fo_buf b = {0};
    bool any = false, ok = cJSON_IsObject(there) && cJSON_IsObject(more);
    if (ok) open_object(&b, before);
    cJSON_ArrayForEach(item, more) {
        if (b.failed || !ok) break;
        if (cJSON_GetObjectItemCaseSensitive(there, item->string)) continue;
        any = true;
        ok = add_member(&b, item);
    }
    fo_buf_char(&b, '}');
    cJSON_Delete(there);
    cJSON_Delete(more);
    int rc = b.failed || !ok ? fo_no_memory(err) : FO_OK;
    if (!rc && any && metadata_check(b.data, NULL) == FO_OK) {
        free(*stored);
        *stored = fo_buf_take(&b, NULL);
    }
    fo_buf_free(&b);
    return rc;
}
