/* filter_tree.h - a parsed filter as filter.c makes it and metadata.c evaluates it. */
#ifndef FORAGE_INDEX_FILTER_TREE_H
#define FORAGE_INDEX_FILTER_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "index/filter/filter.h"

typedef enum filter_type {
    FILTER_EQ,
    FILTER_NE, /* not eq: a document without the key matches */
    FILTER_GT,
    FILTER_GTE,
    FILTER_LT,
    FILTER_LTE,
    FILTER_IN,
    FILTER_NIN, /* not in */
    FILTER_EXISTS,
    FILTER_AND,
    FILTER_OR,
    FILTER_NOT,
} filter_type;

typedef enum value_kind {
    VALUE_NULL,
    VALUE_BOOL,
    VALUE_NUMBER,
    VALUE_STRING,
    VALUE_EMPTY, /* an array without elements: the key exists, nothing equals it */
} value_kind;

typedef struct filter_value {
    value_kind kind;
    double number; /* 0 or 1 for a boolean */
    char *string;
} filter_value;

struct search_filter {
    uint64_t id; /* of the whole filter, on its root: differs from every other's */
    filter_type type;
    char *key;
    filter_value *values; /* one; for in and nin any number */
    size_t n_values;
    struct search_filter **children; /* and, or: any number; not: one */
    size_t n_children;
    /* search_filter_within, on the root alone: the document is one of these, and `also` matches (NULL: anything does).
     * Somebody else's. */
    const int64_t *documents;
    size_t n_documents;
    const struct search_filter *also;
    bool borrows; /* the children are somebody else's */
};

#endif
