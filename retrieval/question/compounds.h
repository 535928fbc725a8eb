/* compounds.h - words that are written as one: who asks for coal is answered by charcoal, "Kohle" by "Holzkohle". German, Dutch
 * and the languages of Scandinavia. English writes most of them apart.
 *
 *     int k = question_term_of(q, t->words[i].id);
 *     if (k < 0) k = compound_term_of(q, t, i);
 *
 * Ours: stems that begin or end with a question's stem, tested in tests/retrieval/question/compounds_test.c. */
#ifndef FORAGE_RETRIEVAL_COMPOUNDS_H
#define FORAGE_RETRIEVAL_COMPOUNDS_H

#include "retrieval/question/question.h"

/* The question's term that word i of a text is made of, at its beginning or end: "Sieb" of "Flusensieb", "schalte ... aus" of
 * "ausschalten", not of "einschalten"; -1: none, or a language that does not join words. */
int compound_term_of(const question *q, const fact_text *t, size_t i);

/* Is one stem the beginning or the end of another, longer one that is made with it? What stands before it is no particle ("aus", which makes
 * a verb another one) and no part that turns it round ("un"). Of a language that joins words. */
bool compound_has_part(const char *whole, size_t len, const char *part, size_t n);

#endif
