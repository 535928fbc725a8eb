/* row_answers.h - what a row of a table answers by itself, and what only the whole table would: rows of one table stand side
 * by side and share most of their words, and what reads them takes one for another. */
#ifndef FORAGE_RETRIEVAL_ROW_ANSWERS_H
#define FORAGE_RETRIEVAL_ROW_ANSWERS_H

#include <stdbool.h>
#include <stddef.h>

#include "retrieval/answer/candidates.h"
#include "retrieval/units/table_row.h"

typedef struct row_walk {
    size_t at, at_name; /* 0 at first */
} row_walk;

/* The next cell of a row with what its column is called; name is NULL where nobody says it. False: there is none. */
bool row_cell_next(row_walk *w, const candidate_passage *p, const text_unit *u, table_pair *cell);

/* Do all figures of a record stand where they count nothing: "Person: H. Ek; Extension: 4410"? */
bool row_only_labels(const char *row, size_t n);

/* "Who is not on duty on Monday?": not those of Monday. */
bool row_affirms(const candidate_set *set, const candidate_passage *p, const text_unit *u);

/* "Which boats need a licence?", "How many boats need one?": not the one with "Licence needed: no"; which need
 * none: not the one with "yes". */
bool row_denies(const candidate_set *set, const candidate_passage *p, const text_unit *u);

/* "Who is on call on 17 March?": is the row of that day (1), of another one (-1), or does no one cell say (0)? */
int row_of_date(const candidate_set *set, const candidate_passage *p, const text_unit *u);

/* Does a word that says what the question is about stand nowhere in the passage, its title, or another passage of that title?
 * "Which bread is the heaviest?" is not asked of a table of machines. */
bool rows_are_off_the_subject(const candidate_set *set, const candidate_passage *p);

/* The table itself picks out this row: CAND_BY_TABLE. */
void row_is_picked(candidate *c);

/* "Which rooms have a balcony?": picks the rows with a yes where that is a column, and those with a no of "Which have none?"; of
 * several columns, the rows that have all that is asked (row_conditions.h). "How many agents does the Office plan have?" asks for
 * no number of rows: none. The candidates of passage `index` are the last of the set. */
void rows_pick_what_has_it(candidate_set *set, size_t index);

/* "How many oaks are there?": a row that is of an oak says nothing of their number. */
bool row_is_counted(const candidate_set *set, const candidate_passage *p, const text_unit *u);

/* "How many customers does it have?": a row below "Revenue by division", whose columns say nothing of customers, counts money. */
bool row_is_of_sums(const question *q, const candidate_passage *p, const text_unit *u);

/* "What does the loaf cost?": a row whose figures are all of weights, days or times, or stand below days of the week, "Mon: 40",
 * where a column or the heading says that something is counted, states no price, unless it is said above it that it does. What has
 * a currency or two decimals is a price below any name: "Weight to 1 kg: 12.00". Nor does one whose figures are limits, "Requests per minute". English. */
bool row_states_no_price(const question *q, const candidate_passage *p, const text_unit *u);

/* The question's terms in the first cell of a row. */
uint64_t row_subject(const candidate_passage *p, const text_unit *u);

/* "Which is the oldest tree?": no row says so by itself. */
bool row_is_no_extreme(const candidate_set *set, const candidate_passage *p, const text_unit *u);

/* Are both rows of one table of passage p? */
bool rows_of_one_table(const candidate_passage *p, const text_unit *a, const text_unit *b);

/* Does row c answer as the best one does: the same table, and in every column that tells of the best one why, the same? "Which
 * boats need a licence?": all those with a yes there; "Who is on duty on Monday?": all those of Monday. */
bool row_answers_alike(const candidate_set *set, const candidate *best, const candidate *c);

/* Does other hold all words of the question that c holds, and more? */
bool candidate_says_less(const candidate_set *set, const candidate *c, const candidate *other);

/* Rows of one table of which another holds the same words of the question and more ("single, adult" beside "single,
 * child") are of other things; words that the question leaves out ("outside London") do not count. The candidates of passage
 * `index` are the last of the set; time: the square of its rows. */
void rows_set_apart(candidate_set *set, size_t index);

/* "When is Milo's next tetanus vaccination?": of a table that has rows called Milo those of others answer nothing, and where only
 * those of others say tetanus, none does. The candidates of passage `index` are the last of the set. */
void rows_of_others_set_apart(candidate_set *set, size_t index);

/* Where an amount is asked for, so are items without a name of the question that another one of their list says: a price in one of
 * them is not that of what is named in the other. Time: the square of the passage's items. */
void items_set_apart(candidate_set *set, size_t index);

#endif
