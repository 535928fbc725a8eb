/* asked_settings.h - "Which setting stops it?", "What does the database option do?": settings that a question asks for, or names by a
 * plain word. English. Part of candidates.h. */
#ifndef FORAGE_RETRIEVAL_ASKED_SETTINGS_H
#define FORAGE_RETRIEVAL_ASKED_SETTINGS_H

#include "retrieval/answer/candidates.h"

/* Is it asked which setting, option, directive or variable it is? */
bool asked_settings_which(const char *asked, size_t len);

/* The word before "option" or "setting", "database" of "NSD's database option", which may be what an entry is called; n is 0: none. */
word_token asked_settings_named(const char *asked, size_t len);

/* Where it is asked which one it is, what names none that could be one does not meet that (CAND_NO_AMOUNT): "the mode falls back to the
 * screen". Where one is named by the word that an entry is called by, that entry is what is asked about (CAND_TOPIC), and the entries of others are of rivals (CAND_OTHER_THING). Who asks
 * how something is done is not told what a source file has ("src/window.c: handlers for windows"). */
void asked_settings_mark(candidate_set *set);

#endif
