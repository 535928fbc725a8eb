#include "retrieval/collections/document_acl.h"

#include <cjson/cJSON.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "index/filter/metadata.h"
#include "kernels/buf.h"

static const char LEAD[] = "{\"" FILTER_ACL_KEY "\":";

static bool is_name(const char *s) {
    size_t n = strlen(s);
    bool ok = n > 0 && n <= 64 && *s != '.';
    for (size_t i = 0; i < n; i++)
        ok &= isalnum((unsigned char)s[i]) || strchr("_-.", s[i]) != NULL;
    return ok;
}

/* The list anew, so that its text has nothing in it but names, commas and brackets. */
static int write_list(fo_buf *b, const char *acl, fo_err *err) {
    cJSON *list = cJSON_ParseWithOpts(acl, NULL, true), *item;
    bool ok = cJSON_IsArray(list) && cJSON_GetArraySize(list) <= ACL_GROUPS_MAX;
    fo_buf_char(b, '[');
    cJSON_ArrayForEach(item, list) {
        ok = ok && cJSON_IsString(item) && is_name(item->valuestring);
        if (!ok) break;
        fo_buf_printf(b, "%s\"%s\"", item->prev && item != list->child ? "," : "",
                      item->valuestring);
    }
    fo_buf_char(b, ']');
    cJSON_Delete(list);
    return ok ? FO_OK
              : fo_fail_field(err, FO_EINVAL, "acl",
                              "acl must be a list of at most %d groups, each 1 to 64 of "
                              "A-Z a-z 0-9 _ - . and not a dot first",
                              ACL_GROUPS_MAX);
}

static int check_metadata(const char *stored, fo_err *err) {
    cJSON *json = cJSON_ParseWithOpts(stored, NULL, true), *item;
    int rc = cJSON_IsObject(json)
                 ? FO_OK
                 : fo_fail_field(err, FO_EINVAL, "metadata", "metadata must be a JSON object");
    cJSON_ArrayForEach(item, json) {
        if (!rc && !strncmp(item->string, FILTER_ACL_KEY, sizeof FILTER_ACL_KEY - 1))
            rc = fo_fail_field(err, FO_EINVAL, "metadata",
                               "metadata must have no member that begins with " FILTER_ACL_KEY
                               ": who may see a document is said by its acl");
    }
    cJSON_Delete(json);
    return rc;
}

int document_acl_join(char **out, const char *stored, const char *acl, fo_err *err) {
    *out = NULL;
    int rc = stored ? check_metadata(stored, err) : FO_OK;
    if (rc || (!acl && !stored)) return rc;
    fo_buf b = {0};
    if (acl) {
        fo_buf_str(&b, LEAD);
        rc = write_list(&b, acl, err);
    }
    const char *rest = stored ? stored : "{}";
    if (acl) {
        rest = strchr(rest, '{') + 1;
        rest += strspn(rest, " \t\r\n");
        if (*rest != '}') fo_buf_char(&b, ',');
    }
    fo_buf_str(&b, rest);
    if (!rc && b.failed) rc = fo_no_memory(err);
    if (!rc) *out = fo_buf_take(&b, NULL);
    fo_buf_free(&b);
    return rc;
}

bool document_acl_split(const char *stored, char **rest, char **acl, fo_err *err) {
    size_t lead = sizeof LEAD - 1;
    *rest = *acl = NULL;
    if (!stored || strncmp(stored, LEAD, lead)) return false;
    const char *end = strchr(stored + lead, ']');
    if (!end) return false;
    *acl = strndup(stored + lead, (size_t)(end + 1 - stored) - lead);
    fo_buf b = {0};
    if (end[1] == ',') {
        fo_buf_char(&b, '{');
        fo_buf_str(&b, end + 2);
        *rest = fo_buf_take(&b, NULL);
    }
    if (!*acl || (end[1] == ',' && !*rest)) fo_no_memory(err);
    return true;
}

int document_acl_alone(char **out, const char *stored, fo_err *err) {
    size_t lead = sizeof LEAD - 1;
    *out = NULL;
    if (strncmp(stored, LEAD, lead) != 0) return FO_OK;
    const char *end = strchr(stored + lead, ']');
    char *acl = strndup(stored + lead, end ? (size_t)(end + 1 - stored) - lead : 0);
    if (!acl) return fo_no_memory(err);
    int rc = document_acl_join(out, NULL, acl, NULL);
    free(acl);
    return rc ? document_acl_join(out, NULL, "[]", err) : FO_OK;
}

int document_acl_sees(const search_filter *sees, const char *stored, bool *yes, fo_err *err) {
    uint64_t match = 0, refused = 0;
    /* The many that have no list need no index to be judged. */
    *yes = !sees || !stored || strncmp(stored, LEAD, sizeof LEAD - 1) != 0;
    if (*yes) return FO_OK;
    int rc = metadata_match_json(&stored, 1, sees, &match, &refused, err);
    *yes = !rc && (match & 1) && !(refused & 1);
    return rc;
}

int document_acl_refuse_unseen(const search_filter *sees, const char *stored, const char *id,
                               fo_err *err) {
    bool seen = true;
    int rc = document_acl_sees(sees, stored, &seen, err);
    if (rc || seen) return rc;
    return fo_fail_field(err, FO_EDENIED, "id",
                         "the id '%.200s' belongs to a document that this key may not see", id);
}
