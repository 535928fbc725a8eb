/* demand_figures.h - numbers that a question asks for by other words than "how many". English. */
#ifndef FORAGE_RETRIEVAL_DEMAND_FIGURES_H
#define FORAGE_RETRIEVAL_DEMAND_FIGURES_H

#include <stdbool.h>
#include <stddef.h>

#include "retrieval/text/word_tokens.h"

/* "What port does it listen on?", "Which ports do I need to open?", "Which TCP port is it?", not that of a ferry, nor one that is open.
 * `rest`: behind the noun; asked: the word before it. */
bool demand_figure_is_port(const char *rest, size_t len, const word_token *asked,
                           const word_token *noun);

/* "What is the largest file it accepts?": its size, not which one it is, as of "the largest room that allows dogs". */
bool demand_figure_is_taken(const char *rest, size_t len, const word_token *most);

/* "Default port of the server", "What is its standard port?" */
bool demand_figure_is_default_port(const word_token *before, const word_token *noun);

/* "The maximum number", "the total amount"? */
bool demand_figure_is_limit(const word_token *before, const word_token *noun);

#endif
