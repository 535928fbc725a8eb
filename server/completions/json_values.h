/* json_values.h - the values that a JSON text holds, with their places, as far as the text goes.
 *
 *     json_values v;
 *     json_values_read(&v, text, len, &err);
 *     for (size_t i = 0; i < v.n; i++) use(v.list[i].path, v.list[i].text);
 *     json_values_deinit(&v);
 *
 * For text that a model wrote under a grammar: it is JSON, or the beginning of JSON where the answer
 * was cut off. A value that is cut off itself is left out. */
#ifndef FORAGE_SERVER_JSON_VALUES_H
#define FORAGE_SERVER_JSON_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include "kernels/error.h"

enum { JSON_MAX_VALUES = 512 };

enum json_value_kind {
    JSON_VALUE_TEXT,
    JSON_VALUE_NUMBER,
    JSON_VALUE_WORD /* true, false, null */
};

typedef struct json_value {
    enum json_value_kind kind;
    char *path;        /* RFC 6901: "/people/0/name", "" for the whole */
    char *text;        /* decoded, or the number or word as it stands */
    size_t start, end; /* bytes of the JSON text, quotes left out */
} json_value;

typedef struct json_values {
    json_value *list; /* in the order of the text; those that hold others are none */
    size_t n;
    bool more; /* there are more than JSON_MAX_VALUES */
} json_values;

/* FO_ENOMEM; *out is empty then. */
int json_values_read(json_values *out, const char *text, size_t len, fo_err *err);
void json_values_deinit(json_values *v);

#endif
