/* heading_names.h - the heading says whose a unit is.
 *
 * Where the question says the name in one of several headings that are alike ("Tomato 'Goldkoenig'", "Tomato 'Rote Perle'"), what
 * stands below another of them is of another thing, and so it is below names alone ("Luchs", "Fasan") where below the right one
 * the same is spoken of. Where a word and no name tells them apart ("Parking Permits", "Parking Enforcement"), it is none unless
 * something below the right one says as much, and never below the heading of the kind ("Returning a Bike", "Damaged Bikes" beside
 * "City Bike"). What says the name itself is none, nor is what stands in a document whose title says it. */
#ifndef FORAGE_RETRIEVAL_HEADING_NAMES_H
#define FORAGE_RETRIEVAL_HEADING_NAMES_H

#include "retrieval/answer/candidates.h"

/* Set CAND_OTHER_THING of such units of the whole set: CAND_RIVAL where a unit below the right heading has as much of the question. */
void heading_names_mark(candidate_set *set);

#endif
