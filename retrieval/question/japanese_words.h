/* japanese_words.h - which characters and pairs of a Japanese question are words of what is asked for, and which words of a text
 * they are. There are no spaces, so its terms are characters and pairs of them (index/sparse/analyze.h), of which most that
 * are kana are particles and endings, and chance where another word has them, too.
 *
 *     if (japanese_is_grammar(text, len, start, end)) leave_out();
 *     japanese_phrases_read(&q->phrases, language, text, len);
 *     if (term >= 0 && japanese_is_other_word(q, t, i)) term = -1;
 *     if (term < 0) term = japanese_term_of(q, t, i);
 *
 * Closed lists of our own, of words of which either may stand in a manual, a set of rules or minutes ("吐く", "嘔吐"). Nothing of
 * what is a kind of the other. */
#ifndef FORAGE_RETRIEVAL_JAPANESE_WORDS_H
#define FORAGE_RETRIEVAL_JAPANESE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "retrieval/text/facts.h"

struct question;

/* Is bytes [start, end) of a Japanese question, a character or a pair of them, a particle, an ending or where two words meet, by
 * the scripts that stand around it? "辞めたいときは": only "辞" and "辞め" are none. A part of "ない" stays. */
bool japanese_is_grammar(const char *text, size_t len, size_t start, size_t end);

/* Is [start, end) of a question with "いくら", or one end of it, the word for the price of what is named before it: "コートの料金"? The
 * amount is demanded already (demands.h). */
bool japanese_is_price_asked(const char *text, size_t len, size_t start, size_t end);

/* Where a question says phrases of the lists. */
enum { JAPANESE_PHRASES = 8 };
typedef struct japanese_phrases {
    size_t n;
    struct {
        uint16_t group;
        uint32_t start, end;
    } of[JAPANESE_PHRASES];
} japanese_phrases;

/* None in another language than Japanese. */
void japanese_phrases_read(japanese_phrases *out, int language, const char *text, size_t len);

/* Where a question has verbs, of each term the first: read once, for each word of a text is compared with them. */
enum { JAPANESE_MOST_VERBS = 64 }; /* as many as terms */
typedef struct japanese_verbs {
    size_t n;
    uint32_t words[JAPANESE_MOST_VERBS];
} japanese_verbs;

/* Of a question whose text and terms are read; none in another language than Japanese. */
void japanese_verbs_read(japanese_verbs *out, const struct question *q);

/* The question's term that word i of a text is as another form of its verb ("飼える", "飼う") or by the lists; -1: none. Any thread. */
int japanese_term_of(const struct question *q, const fact_text *t, size_t i);

/* Is word i, which the question has to the letter, a pair out of the middle of another word in Katakana ("ート" of "シート" and
 * "コート"), or a verb's stem in another compound ("払い" of "払い戻し" and "払います")? */
bool japanese_is_other_word(const struct question *q, const fact_text *t, size_t i);

/* Is word i, which the question has to the letter, a single character of a compound, and in the question of another ("会" of "会費" and
 * "会長")? */
bool japanese_is_only_a_part(const struct question *q, const fact_text *t, size_t i);

/* Does the text say by a name who is something, "院長は山田太郎です"? */
bool japanese_names_who_is(const char *text, size_t len);

/* Has the question a noun, two characters of Kanji or Katakana, of which no term is in the set? A word for whoever it is that the
 * question asks for ("先生", "責任者") is none. */
bool japanese_loses_a_noun(const struct question *q, uint64_t said);

#endif
