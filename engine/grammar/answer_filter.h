/* answer_filter.h - holds a model to JSON while it writes: which token may come next.
 *
 *     answer_filter *f;
 *     answer_filter_create(&f, &(answer_rule){.schema = s}, tokenizer, &err);
 *     if (answer_filter_allows(f, token)) answer_filter_take(f, token);
 *     if (answer_filter_done(f)) ...               // nothing can follow
 *
 * Tokens are asked for one by one, likely ones first, so most of the vocabulary is never looked at;
 * what a first byte leads to is remembered until the next token is taken. Where a schema can be understood in many ways
 * at once and few tokens go on, asking for a whole vocabulary would take a second (64 ways a byte, of up to 62 levels,
 * while other answers wait); so once ANSWER_FILTER_WORK looks were taken for a place, only the first way is followed there:
 * less may be written, and an answer can still be finished. */
#ifndef FORAGE_ENGINE_ANSWER_FILTER_H
#define FORAGE_ENGINE_ANSWER_FILTER_H

#include "engine/grammar/json_schema.h"
#include "engine/tokenizer/tokenizer.h"

/* What an answer must look like. {0}: anything. Everything is the caller's and must outlive what is
 * written by it. */
typedef struct answer_rule {
    const json_schema *schema; /* of the JSON; NULL: no rule */
    /* NULL: the answer is the JSON, from its first byte. Else the JSON stands between these, and
     * free text may come before, unless it is required. */
    const char *open, *close;
    bool required;
    bool repeats; /* further ones may follow */
} answer_rule;

typedef struct answer_filter answer_filter; /* one thread */

/* Looks (turns of json_reader.h) for one place at which all ways are followed: some milliseconds. */
enum { ANSWER_FILTER_WORK = 1 << 21 };

/* *out is NULL where there is no rule. t must outlive it. FO_ENOMEM. */
int answer_filter_create(answer_filter **out, const answer_rule *rule, const tokenizer *t,
                         fo_err *err);
void answer_filter_free(answer_filter *f); /* NULL is fine */

/* Allocate nothing. */
bool answer_filter_allows(answer_filter *f, int32_t token);
/* False: the token is not allowed; the filter is of no use then. */
bool answer_filter_take(answer_filter *f, int32_t token);
bool answer_filter_done(const answer_filter *f);
/* What comes next is the rule's, and so is all behind it: the free text before it is over, or there was none to be. */
bool answer_filter_binds(const answer_filter *f);

#endif
