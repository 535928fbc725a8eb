/* pattern.h - a regular expression of JSON Schema as a table of states: read byte by byte, it says
 * at every byte whether what was read can still become a match.
 *
 *     pattern *p;
 *     size_t work;
 *     if (pattern_compile(&p, "^[a-z]{2,8}$", 0, SIZE_MAX, &work, &err)) ...
 *     uint16_t s = pattern_start(p);
 *     s = pattern_step(p, s, 'a');                 // PATTERN_DEAD: no match begins like this
 *     if (pattern_accepts(p, s)) ...               // what was read is a match
 *
 * The dialect is ECMA 262's, as JSON Schema asks: alternatives, groups, classes, \d \w \s and their
 * complements, \xHH, \uHHHH, * + ? {n,m} (lazy ones mean the same), ^ and $. It matches anywhere
 * unless anchored. Look-around, back references, \b and \p are refused by name.
 *
 * The text is the string that a JSON writer means, in UTF-8. Control characters that JSON can only
 * write as \uXXXX are taken to be unwritable: a state from which only those lead on is dead. */
#ifndef FORAGE_ENGINE_PATTERN_H
#define FORAGE_ENGINE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "kernels/error.h"

typedef struct pattern pattern; /* immutable; any thread */

enum { PATTERN_DEAD = 0xffff };

/* Matches of at least min_chars and at most max_chars code points (SIZE_MAX: any number). FO_EINVAL
 * (syntax: the message names the byte), FO_EUNSUPPORTED, FO_ELIMIT (too many states), FO_ENOMEM. A
 * pattern that nothing matches is none of these: its start is PATTERN_DEAD. *work: looks at a node
 * or a state that it took, some nanoseconds each; also where it fails. */
int pattern_compile(pattern **out, const char *text, size_t min_chars, size_t max_chars,
                    size_t *work, fo_err *err);
void pattern_free(pattern *p); /* NULL is fine */

uint16_t pattern_start(const pattern *p);
uint16_t pattern_step(const pattern *p, uint16_t state, unsigned char byte);
bool pattern_accepts(const pattern *p, uint16_t state);

#endif
