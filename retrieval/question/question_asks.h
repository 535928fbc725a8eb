/* question_asks.h - what a question says anywhere in it, read once: a question may have 64 KiB, and each candidate asks. English word
 * lists. Part of question.h. */
#ifndef FORAGE_RETRIEVAL_QUESTION_ASKS_H
#define FORAGE_RETRIEVAL_QUESTION_ASKS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct question_asks {
    bool latest;      /* for what holds now: "the latest", "at present", "in the end" */
    bool past;        /* for what is over: "the previous", "superseded", "before" */
    bool name;        /* "..., what was her name?": of a person, who is not named by what she did */
    uint64_t without; /* the terms that it says it is without: "without a registered association" */
    int version_of;   /* term whose version is asked for: "which version of nginx"; -1: none */
    int how_many;     /* ... of the word behind "how many"; -1 */
} question_asks;

struct question;

/* Of a question whose text and terms are read. */
question_asks question_asks_read(const struct question *q);

#endif
