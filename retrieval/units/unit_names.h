/* unit_names.h - paragraphs that begin with the name of what they are about, as programmes and catalogues have them:
 *
 *     Winter Guests by Lotte Brandt. Directed by Hugh Sorley. 1 hour 50 minutes without interval.
 *
 *     Nine Buttons, for children from 5 years. Directed by Beate Falke. 60 minutes without interval.
 *
 * The name is what the other sentences say nothing without: it heads them. That it was written in bold is not kept by extraction;
 * what tells it is that such paragraphs come one below the other. */
#ifndef FORAGE_RETRIEVAL_UNIT_NAMES_H
#define FORAGE_RETRIEVAL_UNIT_NAMES_H

#include "retrieval/units/unit_reader.h"

/* Where the first sentence of the paragraph from line i to line `end` ends, if it names what the others are about; 0: it does not. */
uint32_t unit_names_first(const unit_reader *r, size_t i, size_t end);

#endif
