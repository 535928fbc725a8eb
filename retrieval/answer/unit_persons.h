/* unit_persons.h - may a unit of a passage say who somebody is, where that is asked for? Part of candidates.h. */
#ifndef FORAGE_RETRIEVAL_UNIT_PERSONS_H
#define FORAGE_RETRIEVAL_UNIT_PERSONS_H

#include "retrieval/answer/candidates.h"

/* How far the unit, with what it hangs on, lacks the person that an English question asks for, as CAND_NO_AMOUNT has it: 1 where
 * neither a name nor a word for people stands there ("14:00 Talks, session 2"), 2 where all the names are of who wrote what is
 * named ("The Salt Road by Emeka Ward") and the question asks who plays in it. 1, too, where it is asked who
 * wrote, built or founded something, and a sentence says how it is, and neither a name nor by any word that somebody did, or, of
 * who made it and what her name was, does not say what was made; 2 where "what was her name" is asked, and
 * nobody is called by one, and where "the name of the coach" is, and neither the unit nor what it hangs on has a name beyond those of the
 * question. Turns of a talk and rows of a table are not looked
 * at: who speaks, and what stands in a cell, may be anybody. Of another language: 2 where neither the unit nor what it hangs on says the
 * office whose holder is asked for, or what makes another one of it ("vice"). */
double unit_person_lacking(const question *q, const candidate_passage *p, const text_unit *u);

#endif
