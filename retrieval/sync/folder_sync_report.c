/* Reports of runs, and sources looked at from outside of a run. */
#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/buf.h"
#include "kernels/utf8.h"
#include "retrieval/sync/folder_sync.h"
#include "retrieval/sync/folder_sync_known.h"

void folder_sync_report_deinit(folder_sync_report *r) {
    if (!r) return;
    for (size_t i = 0; i < r->n_failures; i++) {
        free(r->failures[i].path);
        free(r->failures[i].why);
    }
    free(r->failures);
    free(r->collection);
    *r = (folder_sync_report){0};
}

bool folder_sync_is_whole(const folder_sync_report *r) {
    return !r->failed && !r->withheld && !r->refused.code;
}

/* Names of files may be any bytes; JSON is UTF-8. */
static cJSON *text(const char *s) {
    fo_buf b = {0};
    for (size_t n = strlen(s); n;) {
        int32_t cp;
        size_t k = fo_utf8_decode(s, n, &cp);
        fo_buf_add(&b, cp < 0 ? "\xEF\xBF\xBD" : s, cp < 0 ? 3 : k);
        s += k;
        n -= k;
    }
    cJSON *out = cJSON_CreateString(b.data ? b.data : "");
    fo_buf_free(&b);
    return out;
}

char *folder_sync_report_json(const folder_sync_report *r) {
    cJSON *o = cJSON_CreateObject(), *kinds, *failures;
    const struct {
        const char *name;
        size_t n;
    } counts[] = {
        {"created", r->created},       {"updated", r->updated},   {"moved", r->moved},
        {"unchanged", r->unchanged},   {"removed", r->removed},   {"skipped", r->skipped.n},
        {"failed", r->failed},         {"withheld", r->withheld}, {"kept", r->kept},
        {"without_text", r->textless}, {"chunks", r->chunks}};
    cJSON_AddBoolToObject(o, "dry_run", r->dry_run);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        cJSON_AddNumberToObject(o, counts[i].name, (double)counts[i].n);
    skip_counts sorted = r->skipped;
    skip_counts_sort(&sorted);
    kinds = cJSON_AddObjectToObject(o, "skipped_by_kind");
    for (size_t i = 0; i < sorted.n_kinds; i++)
        cJSON_AddNumberToObject(kinds, sorted.by[i].kind, (double)sorted.by[i].n);
    failures = cJSON_AddArrayToObject(o, "failures");
    for (size_t i = 0; i < r->n_failures; i++) {
        cJSON *f = cJSON_CreateObject();
        cJSON_AddItemToObject(f, "file", text(r->failures[i].path));
        cJSON_AddItemToObject(f, "reason", text(r->failures[i].why));
        cJSON_AddItemToArray(failures, f);
    }
    if (r->refused.code)
        cJSON_AddItemToObject(o, "refused", text(r->refused.msg));
    else
        cJSON_AddNullToObject(o, "refused");
    cJSON_AddNumberToObject(o, "seconds", round(r->seconds * 1000) / 1000);
    char *out = cJSON_PrintUnformatted(o);
    cJSON_Delete(o);
    return out;
}

int folder_sync_list(service *s, const char *tenant, store_source **out, size_t *n, fo_err *err) {
    return store_list_sources(s->store, tenant, out, n, err);
}

int folder_sync_get(service *s, const char *tenant, const char *name, store_source *out,
                    fo_err *err) {
    return store_get_source(s->store, tenant, name, out, err);
}
