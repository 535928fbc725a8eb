/* german_verbs.h - forms of one German verb, which stems part: "öffnet", "öffnen", "geöffnet", "Öffnung"; "mitbringen", "mitzubringen",
 * "bringen ... mit". */
#ifndef FORAGE_RETRIEVAL_GERMAN_VERBS_H
#define FORAGE_RETRIEVAL_GERMAN_VERBS_H

#include "retrieval/text/facts.h"

/* Are a word of a text and one of another forms of one verb, or a verb and the noun that is made of its stem? */
bool german_verbs_are_one(const fact_text *t, const fact_word *w, const fact_text *asked,
                          const fact_word *v);

/* The stem of a verb with its particle, which stands behind it in its clause, in `stem`: "fängt ... an" as "anfängt". Its bytes; 0: none
 * does. */
enum { GERMAN_VERB_JOINED = 64 };
size_t german_verb_joined(const fact_text *t, const fact_word *w, char stem[GERMAN_VERB_JOINED]);

#endif
