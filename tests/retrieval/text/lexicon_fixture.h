/* lexicon_fixture.h - an English lexicon for the tests of answers, as group set-up and tear-down. */
#ifndef FORAGE_TESTS_LEXICON_FIXTURE_H
#define FORAGE_TESTS_LEXICON_FIXTURE_H

#include "retrieval/text/support.h"

static lexicon lx; /* every word is as rare as any other while lx.idf is NULL */

static int open_lexicon(void **state) {
    (void)state;
    fo_err err = {0};
    return analyzer_create(&lx.analyzer, "english", &err);
}

static int close_lexicon(void **state) {
    (void)state;
    analyzer_free(lx.analyzer);
    return 0;
}

#endif
