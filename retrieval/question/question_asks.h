/* question_asks.h - what a question says anywhere in it, read once: a question may have 64 KiB, and each candidate asks. English word
 * lists. Part of question.h. */
#ifndef FORAGE_RETRIEVAL_QUESTION_ASKS_H
#define FORAGE_RETRIEVAL_QUESTION_ASKS_H

#include <stdbool.h>
#include <stdint.h>

#include "retrieval/text/word_tokens.h"

typedef struct question_asks {
    bool latest; /* for what holds now: "the latest", "at present", "in the end" */
    bool past;   /* for what is over: "the previous", "superseded", "before" */
    bool name;   /* "..., what was her name?": of a person, who is not named by what she did */
    bool persons_name; /* "What is the name of the football coach?", "What is his sister called?" */
    uint64_t without; /* the terms that it says it is without: "without a registered association" */
    int version_of;   /* term whose version is asked for: "which version of nginx"; -1: none */
    int how_many;     /* ... of the word behind "how many"; -1 */
    word_token label; /* "What is the workaround for ...": of question_asks_labels; n is 0: none */
    bool release_of_fix; /* "Which release contains the fix", of none that it names */
} question_asks;

/* By which a thread or report says what came of it, and what may stand before: "root cause"; a fix, and what contains it. */
extern const char question_asks_labels[], question_asks_qualities[];
extern const char question_asks_fixes[], question_asks_releases[];

struct question;

/* Of a question whose text, terms and exact names are read. */
question_asks question_asks_read(const struct question *q);

#endif
