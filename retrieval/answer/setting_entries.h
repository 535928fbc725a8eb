/* setting_entries.h - settings and options that a manual has one below the other, each with what is said of it:
 *
 *     MAIL_RETRIES=<num>
 *
 *     How often a mail is sent again.
 *
 *     Defaults to 3.
 *
 * The line that says the default lacks the name, and is word by word that of every other setting. So whose it is, the name above
 * tells: a heading, a term or an option with its description. Names are those no word of the language is like: with a "_" or a
 * capital inside, a dot, a hyphen, or dashes before them. English. */
#ifndef FORAGE_RETRIEVAL_SETTING_ENTRIES_H
#define FORAGE_RETRIEVAL_SETTING_ENTRIES_H

#include "retrieval/answer/candidates.h"

/* How sure a default is that stands below the very name that was asked for. By hand. */
extern const double setting_entries_support;

/* Where the question names settings that have entries: what stands below the name of another one, and does not name them, is of
 * a rival (CAND_OTHER_THING); where their default is asked for, what states none does not meet that (CAND_NO_AMOUNT), unless no unit of
 * theirs is known to state one and this one has a value. "Example: reload-time 120" does not beside "Default: 60" (CAND_NO_AMOUNT), whatever is named. */
void setting_entries_mark(candidate_set *set);

/* Where the default of settings is asked for, and nothing else but whose they are: chosen[EXTRACTIVE_MOST_SENTENCES] gets what
 * states it for each of them, said behind its name, or the row of a table that does, max_chars bytes at most. *plainly: it is said to be
 * the default of just that, and not only that something is so "by default". How many; 0: it is not asked, or not said. */
size_t setting_entries_default(const candidate_set *set, const extractive_input *in,
                               size_t max_chars, candidate *chosen, bool *plainly);

/* The line of its own that begins with a default, "Default: 60", in the entry that unit `order` stands in; NULL: it has none. */
const text_unit *setting_entries_line_of_default(const candidate_passage *p, size_t order);

/* Where a default is asked for in whatever words, or an amount that the first one lacks (default_figures.h), and none of the n units chosen states one: the line of the first one's entry that
 * does, "Default: 60", is chosen as well, in place of the last ones if they are `most` or there is no room. How many there are then. */
size_t setting_entries_default_beside(const candidate_set *set, size_t most, size_t max_chars,
                                      candidate *chosen, size_t n);

/* Is the default of a setting or an amount by default asked for, and none of the n units chosen states one, in words that are known
 * here or by a figure, a path or a quote? */
bool setting_entries_default_missing(const candidate_set *set, const candidate *chosen, size_t n);

#endif
