/* json.h - JSON read strictly and written exactly.
 *
 * cJSON builds the tree; a scanner of our own goes over the bytes first, because cJSON lets pass
 * what RFC 8259 does not (01, "1.", control characters in strings, junk as white space) and
 * because a client wants the byte offset of what is wrong.
 *
 *     cJSON *root;
 *     if (json_parse(body, len, &root, &err)) ...
 *     json_in in;
 *     json_in_object(&in, root, "", &err);
 *     const char *q = json_in_string(&in, "query", NULL, 1, 65536);
 *     int64_t k = json_in_int(&in, "top_k", 8, 1, 1000);
 *     json_in search;
 *     json_in_child(&search, &in, "search");           // absent: everything keeps its default
 *     int mode = json_in_enum(&search, "mode", 0, modes);
 *     json_in_end(&search);
 *     if (json_in_end(&in)) ...                         // an unknown field is named
 *
 * The first error sticks in err (field = path such as "documents[3].id"); later reads give their
 * defaults. null counts as absent. Strings belong to the tree. */
#ifndef FORAGE_SERVER_JSON_H
#define FORAGE_SERVER_JSON_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "kernels/buf.h"
#include "kernels/error.h"

#define JSON_MAX_DEPTH 64
/* Of one text, counting arrays and objects themselves too: two bytes of it may be a value, which takes
 * 80 bytes and more in the tree. 100,000 documents of 38 values each have as many. */
#define JSON_MOST_VALUES 4000000

/* Is text[0..len) one JSON value by RFC 8259, at most JSON_MAX_DEPTH deep, valid UTF-8, without
 * \u0000 and lone surrogates? FO_EINVAL tells the byte offset; FO_ELIMIT: of more than
 * JSON_MOST_VALUES values. */
int json_validate(const char *text, size_t len, fo_err *err);

/* Validate and parse; an object with the same key twice is refused by name. Caller cJSON_Deletes
 * *out. A whole number that no double holds, 9007199254740993, keeps its digits as its valuestring.
 * FO_EINVAL, FO_ELIMIT, FO_ENOMEM. */
int json_parse(const char *text, size_t len, cJSON **out, fo_err *err);

/* Refuse a tree of json_parse's with a whole number in it that no double holds; path names the tree. FO_EINVAL. */
int json_refuse_rounded(const cJSON *tree, const char *path, fo_err *err);

/* ---- reading ------------------------------------------------------------------------------ */

typedef struct json_in {
    const cJSON *object; /* NULL: absent, every field has its default */
    char path[64];
    fo_err *err;
    const char *known[80];
    size_t n_known;
} json_in;

/* Begin to read `item`, which must be an object (NULL or null: absent). */
void json_in_object(json_in *in, const cJSON *item, const char *path, fo_err *err);
void json_in_child(json_in *in, json_in *parent, const char *key);
bool json_in_failed(const json_in *in);
/* Unknown fields are errors. Returns the sticky error's code. */
int json_in_end(json_in *in);

/* The field as it is; NULL where absent or null. */
const cJSON *json_in_any(json_in *in, const char *key);
/* Lengths are in bytes. min_len 1 refuses "". */
const char *json_in_string(json_in *in, const char *key, const char *def, size_t min_len,
                           size_t max_len);
int64_t json_in_int(json_in *in, const char *key, int64_t def, int64_t min, int64_t max);
double json_in_number(json_in *in, const char *key, double def, double min, double max);
bool json_in_bool(json_in *in, const char *key, bool def);
/* Index into names (NULL-terminated). */
int json_in_enum(json_in *in, const char *key, int def, const char *const *names);
/* An array with at most max items, or NULL. */
const cJSON *json_in_array(json_in *in, const char *key, size_t max);
/* "search.alpha": the path of a field, for messages. */
void json_in_path(const json_in *in, const char *key, char out[64]);

/* ---- writing ------------------------------------------------------------------------------ */

/* Quoted and escaped; ill-formed UTF-8 becomes U+FFFD. */
void json_write_string(fo_buf *b, const char *s, size_t len);
/* The shortest text that reads back as the same double; NaN and infinities are null. */
void json_write_number(fo_buf *b, double v);
/* A tree of json_parse's, without white space, as text that the caller frees: each number reads back as the same, which cJSON's own
 * writer, of 15 digits, does not promise, and whole ones below 2^63 have all their digits. NULL: there was no memory. */
char *json_tree_text(const cJSON *tree);

/* Commas are kept by the writer:
 *     json_out o = {&buf};
 *     json_out_open(&o, NULL, '{');
 *     json_out_string(&o, "id", "kb-1");
 *     json_out_open(&o, "results", '[');  ...  json_out_close(&o, ']');
 *     json_out_close(&o, '}');
 * key NULL: an element of an array, or the top. */
typedef struct json_out {
    fo_buf *b;
    bool comma;
} json_out;
void json_out_open(json_out *o, const char *key, char bracket);
void json_out_close(json_out *o, char bracket);
void json_out_string(json_out *o, const char *key, const char *s); /* NULL: null */
void json_out_bytes(json_out *o, const char *key, const char *s, size_t len);
void json_out_int(json_out *o, const char *key, int64_t v);
void json_out_number(json_out *o, const char *key, double v);
void json_out_bool(json_out *o, const char *key, bool v);
void json_out_null(json_out *o, const char *key);
/* JSON text as it is, but for what server/printable.h escapes. */
void json_out_raw(json_out *o, const char *key, const char *json);

#endif
