/* compared_names.h - the two things whose difference a question asks for: "What is the difference between cp and mv?". English. */
#ifndef FORAGE_RETRIEVAL_COMPARED_NAMES_H
#define FORAGE_RETRIEVAL_COMPARED_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* Where they stand in the question, and how many bytes they have. */
typedef struct compared_names {
    const char *name[2];
    size_t n[2];
} compared_names;

/* Does the question compare two names of one word each, "cp" and "mv", in any of the ways in which that is asked: "difference between
 * the commands A and B", "how does A differ from B", "A vs. B"? Else *out is empty. */
bool compared_names_read(compared_names *out, const char *question, size_t len);

#endif
