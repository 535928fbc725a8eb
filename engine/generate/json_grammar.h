/* json_grammar.h - keeps a model on one JSON object while it writes (RFC 8259): a pushdown
 * automaton over bytes that says which continuations are still the beginning of one.
 *
 *     json_filter f = json_filter_start(tokenizer);
 *     token = sampler_pick(..., json_allows, &f);
 *     json_take(&f, token);
 *     if (json_done(&f)) ...                       // the object is closed
 *
 * Beyond the grammar: at most 20 bytes of white space between two tokens of JSON (a model that may
 * write blanks for ever does), no lone surrogates in \u escapes, at most 62 levels. */
#ifndef FORAGE_ENGINE_JSON_GRAMMAR_H
#define FORAGE_ENGINE_JSON_GRAMMAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "engine/tokenizer/tokenizer.h"

typedef struct json_state {
    uint64_t objects;    /* a bit a level, innermost lowest: 1 object, 0 array */
    const char *literal; /* rest of true, false, null */
    uint8_t depth, where, escape, blanks;
    bool high; /* the first hex digit of a \u escape was d */
} json_state;

json_state json_state_start(void);
/* Read text; false when it can no longer begin a JSON object. s is then of no use. */
bool json_read(json_state *s, const char *text, size_t len);
bool json_complete(const json_state *s);

typedef struct json_filter { /* for sampler_pick */
    const tokenizer *t;
    json_state state;
} json_filter;
json_filter json_filter_start(const tokenizer *t);
bool json_allows(void *filter, int32_t token);
void json_take(json_filter *f, int32_t token);
bool json_done(const json_filter *f);

#endif
