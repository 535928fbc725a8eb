/* Replies of libforage: JSON text, and values in it by their JSON Pointer. */
#include "server/sdk/forage_internal.h"

#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTER_MAX = 1024, PLACES = 8 };

/* Where an array was read last: cJSON's is a list, and a loop over its n elements would walk n * n / 2 of them. */
typedef struct array_place {
    const cJSON *array, *item; /* item: element number at; NULL: none yet */
    int at, size;              /* size: -1 until it was asked for */
    uint64_t used;             /* when, counted in uses of all places */
} array_place;

struct forage_reply {
    /* immutable */
    char *json;
    size_t len;
    pthread_mutex_t mu;
    /* guarded by mu: parsed when first asked for, immutable from then on */
    bool parsed;
    cJSON *root;
    /* guarded by mu */
    array_place places[PLACES];
    uint64_t n_used;
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

/* mu is held, as in all of what follows. */
static const cJSON *root_of(forage_reply *r) {
    if (!r->parsed) r->root = cJSON_ParseWithLength(r->json, r->len);
    r->parsed = true;
    return r->root;
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

/* The place of this array (or object); where it has none, that of the one which was left longest ago. */
static array_place *place_of(forage_reply *r, const cJSON *array) {
    array_place *p = &r->places[0];
    for (int i = 0; i < PLACES && p->array != array; i++)
        if (r->places[i].array == array || r->places[i].used < p->used) p = &r->places[i];
    if (p->array != array) *p = (array_place){.array = array, .size = -1};
    p->used = ++r->n_used;
    return p;
}

static int size_of(forage_reply *r, const cJSON *array) {
    array_place *p = place_of(r, array);
    if (p->size < 0) p->size = cJSON_GetArraySize(array);
    return p->size;
}

/* Element i, from where the last one was or from the beginning, whichever is nearer. */
static const cJSON *item_of(forage_reply *r, const cJSON *array, int i) {
    if (i >= size_of(r, array)) return NULL;
    array_place *p = place_of(r, array);
    if (!p->item || i < p->at / 2) {
        p->item = array->child;
        p->at = 0;
    }
    for (; p->at < i; p->at++) p->item = p->item->next;
    for (; p->at > i; p->at--) p->item = p->item->prev;
    return p->item;
}

static const cJSON *element(forage_reply *r, const cJSON *array, const char *step) {
    char *end;
    if (step[0] < '0' || step[0] > '9' || (step[0] == '0' && step[1])) return NULL;
    unsigned long i = strtoul(step, &end, 10);
    return *end || i > INT32_MAX ? NULL : item_of(r, array, (int)i);
}

static const cJSON *value_at(forage_reply *r, const char *pointer, va_list ap) {
    char text[POINTER_MAX];
    if (!pointer) return NULL;
    int n = vsnprintf(text, sizeof text, pointer, ap);
    if (n < 0 || n >= (int)sizeof text || (n && text[0] != '/')) return NULL;
    const cJSON *at = root_of(r);
    char *rest = n ? text + 1 : NULL;
    for (char *step; at && (step = strsep(&rest, "/"));) {
        unescape(step);
        at = cJSON_IsArray(at)    ? element(r, at, step)
             : cJSON_IsObject(at) ? cJSON_GetObjectItemCaseSensitive(at, step)
                                  : NULL;
    }
    return at;
}

/* The value, and in *size how many it holds where that is wanted. */
static const cJSON *read_at(const forage_reply *r, const char *pointer, va_list ap, size_t *size) {
    forage_reply *mine = (forage_reply *)r;
    if (!r) return NULL;
    pthread_mutex_lock(&mine->mu);
    const cJSON *v = value_at(mine, pointer, ap);
    if (size && (cJSON_IsArray(v) || cJSON_IsObject(v))) *size = (size_t)size_of(mine, v);
    pthread_mutex_unlock(&mine->mu);
    return v;
}

const char *forage_reply_string(const forage_reply *r, const char *pointer, ...) {
    va_list ap;
    va_start(ap, pointer);
    const char *s = cJSON_GetStringValue(read_at(r, pointer, ap, NULL));
    va_end(ap);
    return s;
}

double forage_reply_number(const forage_reply *r, const char *pointer, ...) {
    va_list ap;
    va_start(ap, pointer);
    const cJSON *v = read_at(r, pointer, ap, NULL);
    va_end(ap);
    if (cJSON_IsBool(v)) return cJSON_IsTrue(v) ? 1 : 0;
    return cJSON_IsNumber(v) ? v->valuedouble : NAN;
}

size_t forage_reply_count(const forage_reply *r, const char *pointer, ...) {
    va_list ap;
    va_start(ap, pointer);
    size_t size = 0;
    read_at(r, pointer, ap, &size);
    va_end(ap);
    return size;
}
