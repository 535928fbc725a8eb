/* task_pages.h - pages and sections that say how one thing is done: "Add a user account", "Changing the layout".
 *
 *     task_pages_ask(&set, &in);             // once all passages are known
 *     rc = task_pages_read(&set, &in, &err); // once all candidates are known, in the order of their start
 *     const double more = task_pages_support(&set);
 *
 * A help page has its task for a title, and below it steps that hardly name it: "1. Open Settings. 2. Press Add." So whoever asks how
 * something is done is told by the page whose title means what is asked, as the encoder sees both (retrieval/collections/title_vectors.h),
 * even where its text alone is not read as an answer; and by the section whose heading does. A title that is no task says nothing: of
 * papers, letters and minutes about a subject those come as near that do not answer. */
#ifndef FORAGE_RETRIEVAL_TASK_PAGES_H
#define FORAGE_RETRIEVAL_TASK_PAGES_H

#include "retrieval/answer/candidates.h"

/* "Can I log in without a password?" and "forgot my password" ask how, too, where a page has a title like that. */
void task_pages_ask(candidate_set *set, const extractive_input *in);

/* Where the question asks how something is done: `titled` of every candidate, and CAND_TASK, how much farther what it stands under is
 * from the question than the nearest of all, at most 0. Embeds up to 32 headings. FO_ENOMEM, the encoder's errors. */
int task_pages_read(candidate_set *set, const extractive_input *in, fo_err *err);

/* What the first candidate stands under adds to its support, in log odds; below 0 where another page or section is nearer. */
double task_pages_support(const candidate_set *set);

/* Where the first candidate is a sentence or a step of such a page, the whole procedure goes before it, but for a sentence that is
 * far likelier an answer: beside that the procedure stands. `chosen` has room for two; n and the result: how many of it. */
void task_pages_put_steps_first(candidate_set *set);
size_t task_pages_steps_beside(const candidate_set *set, size_t most, size_t max_chars,
                               candidate *chosen, size_t n);

#endif
