/* Replies of libforage: JSON text, and values in it by their JSON Pointer. */
#include "server/sdk/forage_internal.h"

#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTER_MAX = 1024 };

struct forage_reply {
    /* immutable */
    char *json;
    size_t len;
    pthread_mutex_t mu;
    /* guarded by mu: parsed when first asked for, immutable from then on */
    bool parsed;
    cJSON *root;
};

int forage_reply_make(forage_reply **out, fo_buf *b, fo_err *err) {
    forage_reply *r = b->failed ? NULL : calloc(1, sizeof *r);
    if (r) r->json = fo_buf_take(b, &r->len);
    if (!r || !r->json) {
        free(r);
        fo_buf_free(b);
        return fo_no_memory(err);
    }
    pthread_mutex_init(&r->mu, NULL);
    *out = r;
    return FO_OK;
}

void forage_reply_free(forage_reply *r) {
    if (!r) return;
    cJSON_Delete(r->root);
    pthread_mutex_destroy(&r->mu);
    free(r->json);
    free(r);
}

const char *forage_reply_json(const forage_reply *r, size_t *length) {
    if (length) *length = r ? r->len : 0;
    return r ? r->json : NULL;
}

static const cJSON *root_of(const forage_reply *r) {
    forage_reply *mine = (forage_reply *)r;
    pthread_mutex_lock(&mine->mu);
    if (!mine->parsed) mine->root = cJSON_ParseWithLength(mine->json, mine->len);
    mine->parsed = true;
    pthread_mutex_unlock(&mine->mu);
    return mine->root;
}

/* One step of a pointer, its ~0 and ~1 made into ~ and /. */
static void unescape(char *step) {
    char *to = step;
    for (const char *s = step; *s; s++) {
        bool escaped = *s == '~' && (s[1] == '0' || s[1] == '1');
        *to++ = !escaped ? *s : s[1] == '0' ? '~' : '/';
        s += escaped;
    }
    *to = 0;
}

static const cJSON *element(const cJSON *array, const char *step) {
    char *end;
    if (step[0] < '0' || step[0] > '9' || (step[0] == '0' && step[1])) return NULL;
    unsigned long i = strtoul(step, &end, 10);
    return *end || i > INT32_MAX ? NULL : cJSON_GetArrayItem(array, (int)i);
}

static const cJSON *value_at(const forage_reply *r, const char *pointer, va_list ap) {
    char text[POINTER_MAX];
    if (!r || !pointer) return NULL;
    int n = vsnprintf(text, sizeof text, pointer, ap);
    if (n < 0 || n >= (int)sizeof text || (n && text[0] != '/')) return NULL;
    const cJSON *at = root_of(r);
    char *rest = n ? text + 1 : NULL;
    for (char *step; at && (step = strsep(&rest, "/"));) {
        unescape(step);
        at = cJSON_IsArray(at)    ? element(at, step)
             : cJSON_IsObject(at) ? cJSON_GetObjectItemCaseSensitive(at, step)
                                  : NULL;
    }
    return at;
}

const char *forage_reply_string(const forage_reply *r, const char *pointer, ...) {
    va_list ap;
    va_start(ap, pointer);
    const char *s = cJSON_GetStringValue(value_at(r, pointer, ap));
    va_end(ap);
    return s;
}

double forage_reply_number(const forage_reply *r, const char *pointer, ...) {
    va_list ap;
    va_start(ap, pointer);
    const cJSON *v = value_at(r, pointer, ap);
    va_end(ap);
    if (cJSON_IsBool(v)) return cJSON_IsTrue(v) ? 1 : 0;
    return cJSON_IsNumber(v) ? v->valuedouble : NAN;
}

size_t forage_reply_count(const forage_reply *r, const char *pointer, ...) {
    va_list ap;
    va_start(ap, pointer);
    const cJSON *v = value_at(r, pointer, ap);
    va_end(ap);
    return cJSON_IsArray(v) || cJSON_IsObject(v) ? (size_t)cJSON_GetArraySize(v) : 0;
}
