/* data_text.h - data of keys, values and lists (JSON, YAML) becomes text that can be read and found: records of
 * a list are rows with their keys beside the values, as those of tables; maps within maps have their path as a
 * heading; long texts are paragraphs.
 *
 *     {"site": "fen", "wells": [{"id": "W5", "level": {"mm": 342}}]}
 *
 *     site: fen
 *
 *     # wells
 *
 *     id: W5; level.mm: 342
 *
 * What has no value (null, "", an empty list) is left out. Nothing is kept but the row at hand. */
#ifndef FORAGE_DATA_DATA_TEXT_H
#define FORAGE_DATA_DATA_TEXT_H

#include "data/extract/builder.h"

enum { DATA_MAX_DEPTH = 100 };

typedef struct data_frame {
    bool list, record; /* of a list: a row of its own begins with each of its maps */
    size_t path;       /* bytes of the path above it */
    size_t base;       /* of the path that the heading says already */
    bool said;         /* a list's heading stands there */
} data_frame;

typedef struct data_text { /* b is the caller's, the rest zero at first */
    builder *b;
    fo_buf path;        /* keys from the root, each ended by a line break */
    fo_buf row, values; /* of the record, of the list of plain values at hand */
    uint32_t row_line, values_line;
    size_t base;
    data_frame stack[DATA_MAX_DEPTH];
    int depth;
    bool in_record, elsewhere; /* the last heading is not that of the map at hand */
    size_t key;                /* bytes of the path above the key at hand */
    bool keyed;
    bool remarked; /* nothing stands behind the last remark: what comes is what it is about */
} data_text;

/* Lines are those of the file, from 1. FO_EINVAL: nested too deeply. */
int data_text_begin(data_text *d, bool list, uint32_t line, fo_err *err);
void data_text_end(data_text *d);
void data_text_key(data_text *d, const char *s, size_t n);
/* Clean UTF-8. */
void data_text_value(data_text *d, const char *s, size_t n, uint32_t line);
/* A remark, on a line above the row that follows. */
void data_text_remark(data_text *d, const char *s, size_t n, uint32_t line);
/* One of several documents has ended, or all of them. */
void data_text_flush(data_text *d);
void data_text_free(data_text *d);

/* A row of "key: value" pairs, for who knows his own structure (XML). */
void data_text_pair(data_text *d, const char *key, size_t n_key, const char *s, size_t n,
                    uint32_t line);

#endif
