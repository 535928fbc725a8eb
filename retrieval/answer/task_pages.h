/* task_pages.h - pages that say how one thing is done: "Add a user account", "Changing the layout", "How do I print a booklet?".
 *
 *     task_pages_ask(&set, &in);    // once all passages are known
 *     task_pages_mark(&set, &in);   // once all candidates are known
 *     const double more = task_pages_support(&set, &in);
 *
 * A help page has its task for a title, and below it steps that hardly name it: "1. Open Settings. 2. Press Add." So whoever asks how
 * something is done is told by the page whose title means what is asked, as the encoder sees both (retrieval/collections/title_vectors.h),
 * even where its text alone is not read as an answer. A title that is no task says nothing: of papers, letters and minutes about a
 * subject those come as near that do not answer. */
#ifndef FORAGE_RETRIEVAL_TASK_PAGES_H
#define FORAGE_RETRIEVAL_TASK_PAGES_H

#include "retrieval/answer/candidates.h"

/* "Can I log in without a password?" asks how, too, where a page has a title like that. Once the passages are known. */
void task_pages_ask(candidate_set *set, const extractive_input *in);

/* Writes CAND_TASK of every candidate: how much farther its page's title is from the question than the nearest one, at most 0; and
 * 0 for all where the question does not ask how something is done or the nearest title is no task. */
void task_pages_mark(candidate_set *set, const extractive_input *in);

/* What the title of the first candidate's page adds to its support, in log odds; below 0 where another page's is nearer. */
double task_pages_support(const candidate_set *set, const extractive_input *in);

#endif
