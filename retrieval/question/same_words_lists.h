/* same_words_lists.h - what same_words.c has of one language: lists of words that are the same, and the rules that no list can say.
 *
 * A language is a file, same_words_LANGUAGE.c, with one same_words_lists, and an entry of the table in same_words.c. */
#ifndef FORAGE_RETRIEVAL_SAME_WORDS_LISTS_H
#define FORAGE_RETRIEVAL_SAME_WORDS_LISTS_H

#include "retrieval/question/question.h"

/* Words that are looked up as they are written, since their stems are those of other words, too: "elevator" and "elevation", "carné"
 * and "carne". */
typedef struct same_words_written {
    const char *words; /* a blank between them */
    const char *with;  /* a stem of a group that they are the same as; NULL: each other */
} same_words_written;

enum { SAME_WORDS_JOINED = 64 };

typedef struct same_words_lists {
    const char *language;
    /* Words of one string are the same; NULL ends the strings. One word of a stem is enough, and a word stands in one string.
     * None whose stem is also that of another word, and none that is the other only among other things. */
    const char *const *groups;         /* NULL: none */
    bool are_stems;                    /* what stands in the groups: else words */
    const same_words_written *written; /* words NULL ends them; NULL: none */

    /* Rules; NULL: the language has none. */
    /* Is word i a part of a name, and so no other word's? */
    bool (*is_name)(const fact_text *t, size_t i);
    /* The word of `written` for which word i stands where it does; NULL: for none. */
    const char *(*stands_for)(const fact_text *t, size_t i);
    /* Bytes of the word's stem that are a word of their own before it. */
    size_t (*particle)(const fact_text *t, const fact_word *w);
    /* What a word is with a part of it that stands behind it, "fängt ... an": bytes of that stem in `stem`; 0: nothing does. */
    size_t (*joined)(const fact_text *t, const fact_word *w, char stem[SAME_WORDS_JOINED]);
    /* Are a word of a text and one of the question forms of one word? */
    bool (*is_form)(const fact_text *t, const fact_word *w, const fact_text *asked,
                    const fact_word *v);
    /* As same_words_term_of, of what neither a list nor a form tells. */
    int (*beside)(const question *q, const fact_text *t, size_t i);
} same_words_lists;

extern const same_words_lists same_words_english, same_words_german, same_words_french,
    same_words_spanish, same_words_italian, same_words_portuguese, same_words_russian,
    same_words_arabic, same_words_hindi, same_words_chinese;

#endif
