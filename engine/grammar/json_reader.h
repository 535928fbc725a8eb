/* json_reader.h - reads JSON as it is written and knows what may come next under a schema.
 *
 *     json_reader r;
 *     json_reader_start(&r, schema);
 *     if (!json_read(&r, text, len)) ...          // no value of the schema begins like this
 *     if (json_complete(&r)) ...                  // the value is there
 *
 * An automaton with a stack for each way in which what was read can be understood: usually one,
 * several while alternatives (anyOf) look alike. Every way that it keeps can be finished; where
 * there are more than JSON_MAX_WAYS the last ones are forgotten, so that less can be written, never
 * something else.
 *
 * Beyond the schema: white space as printers of JSON write it, two blanks or a line's end and an
 * indent of four a level (a model that may write blanks for ever does); 40 digits a number, valid
 * UTF-8, no lone surrogates. Allocates nothing; a copy is a copy of the structure, and
 * json_reader_copy takes less time.
 *
 * A model's tokens are tried one by one, so a byte of a name or a literal is looked up among those
 * of the schema; all properties are looked at only where a name begins or the expected one ends. */
#ifndef FORAGE_ENGINE_JSON_READER_H
#define FORAGE_ENGINE_JSON_READER_H

#include "engine/grammar/json_shapes.h"

/* While a byte is read, successors stand behind the ways themselves: as many of each. */
enum { JSON_MAX_WAYS = 64, JSON_WAYS_ROOM = 2 * JSON_MAX_WAYS };

typedef struct json_frame {
    uint32_t count; /* members, items */
    uint16_t shape;
    uint16_t next; /* of an object: the first declared property that may still come */
    /* Hashes of the names that are not declared, while minProperties wants more: such a name comes
     * once. */
    uint16_t names[JSON_FREE_NAMES], n_names;
} json_frame;

typedef struct json_way {
    uint64_t name;       /* hash of a name so far */
    json_units mantissa; /* of a bounded number: its digits */
    uint32_t count; /* code points of a string, digits, properties up to the last that may come */
    uint32_t low, high; /* literals, or properties by key, that go on as was read: [low, high) */
    uint32_t at;        /* bytes of the literal or key */
    uint16_t shape;     /* of the value in hand */
    uint16_t node;      /* of the value that is due */
    uint16_t state;     /* of the pattern */
    uint16_t like;      /* a property of these that may come next; 0xffff: none */
    uint8_t depth, where, escape, blanks;
    uint8_t utf8;               /* bytes of a code point still to come */
    uint8_t utf8_min, utf8_max; /* of the next of them */
    uint8_t decimals;           /* of a number */
    bool high_digit;            /* the first hex digit of a \u escape was d */
    bool minus;
    bool line; /* blanks follow a line's end */
    json_frame frames[JSON_MAX_LEVELS];
} json_way;

typedef struct json_reader {
    const struct json_schema *schema;
    size_t
        turns; /* looks at ways, properties, literals and bytes of keys since the start; ways copied, too */
    int n, most; /* ways kept from byte to byte, JSON_MAX_WAYS at most */
    json_way ways[JSON_WAYS_ROOM];
} json_reader;

void json_reader_start(json_reader *r, const struct json_schema *s);
/* The first `most` ways (JSON_MAX_WAYS: all), and no more than that later: with fewer it takes less work. */
void json_reader_copy(json_reader *to, const json_reader *from, int most);
/* False where the text can no longer become a value of the schema. r is then of no use. */
bool json_read(json_reader *r, const char *text, size_t len);
/* What was read is a value of the schema. A number at the top might still go on. */
bool json_complete(const json_reader *r);
/* It is, and nothing can be added. */
bool json_closed(const json_reader *r);

#endif
