#include "retrieval/question/same_words.h"

#include <pthread.h>
#include <string.h>

#include "index/sparse/analyze.h"
#include "index/sparse/language.h"
#include "kernels/buf.h"
#include "retrieval/question/same_words_lists.h"
#include "retrieval/text/word_table.h"

static const same_words_lists *const languages[] = {
    &same_words_english, &same_words_german,     &same_words_french,  &same_words_spanish,
    &same_words_italian, &same_words_portuguese, &same_words_russian, &same_words_arabic,
    &same_words_hindi,   &same_words_chinese,
};

/* Immutable once they are built. Groups have numbers, all languages together. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static word_table by_stem, as_written; /* what is written is looked up first */
static const same_words_lists *by_language[LANGUAGE_MAX];
static int of_english; /* which a text is in of which no other language is told */

enum { GROUPS = 2048 };
static same_words_group members[GROUPS]; /* by number; of groups beyond, nothing */

static int add_stem(void *ctx, const analyzed_term *t) {
    fo_buf *stems = ctx;
    if (stems->len) fo_buf_str(stems, " ");
    fo_buf_add(stems, t->term, t->len);
    return 0;
}

/* The table borrows the stems, which stay. Where there is no memory a group is left out. */
static void add_stems_of(analyzer *a, int language, const char *words, uint32_t group) {
    fo_buf stems = {0};
    analyze(a, words, strlen(words), add_stem, &stems);
    const char *kept = fo_buf_take(&stems, NULL);
    if (kept) word_table_add_first(&by_stem, language, kept, group);
    if (kept && group < GROUPS) members[group].stems = kept;
}

static void add_groups(const same_words_lists *l, int language, uint32_t *n) {
    analyzer *a = NULL;
    if (!l->groups || (!l->are_stems && analyzer_create(&a, l->language, NULL))) return;
    for (const char *const *g = l->groups; *g; g++)
        if (l->are_stems) {
            word_table_add_first(&by_stem, language, *g, ++*n);
            if (*n < GROUPS) members[*n].stems = *g;
        } else {
            add_stems_of(a, language, *g, ++*n);
        }
    analyzer_free(a);
}

static void add_written(const same_words_lists *l, int language, uint32_t *n) {
    for (const same_words_written *w = l->written; w && w->words; w++) {
        const char *with = w->with;
        const uint32_t group =
            with ? word_table_find(&by_stem, language, with, strlen(with)) : ++*n;
        if (group) word_table_add_first(&as_written, language, w->words, group);
        if (group && group < GROUPS) members[group].written = w->words;
    }
}

static void build(void) {
    uint32_t n = 0;
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++) {
        const int language = language_number(languages[i]->language);
        by_language[language] = languages[i];
        add_groups(languages[i], language, &n);
        add_written(languages[i], language, &n);
    }
    of_english = language_number("english");
}

/* The number of the group that word i of a text is of; 0: of none. */
static uint32_t group_of(int language, const fact_text *t, size_t i) {
    const same_words_lists *l = by_language[language];
    const fact_word *w = &t->words[i];
    if (l->is_name && l->is_name(t, i)) return 0;
    const char *other = l->stands_for ? l->stands_for(t, i) : NULL;
    if (other) return word_table_find(&as_written, language, other, strlen(other));
    const uint32_t group =
        word_table_find(&as_written, language, t->text + w->start, w->end - w->start);
    if (group) return group;
    char joined[SAME_WORDS_JOINED];
    const size_t n_joined = l->joined ? l->joined(t, w, joined) : 0;
    const uint32_t verb = n_joined ? word_table_find(&by_stem, language, joined, n_joined) : 0;
    if (verb) return verb;
    const char *stem = t->stems.data + w->stem_at;
    const uint32_t own = word_table_find(&by_stem, language, stem, w->stem_len);
    const size_t k = !own && l->particle ? l->particle(t, w) : 0;
    return k ? word_table_find(&by_stem, language, stem + k, w->stem_len - k) : own;
}

same_words_group same_words_group_of(const fact_text *t, size_t i) {
    pthread_once(&once, build);
    const int language = t->language < 0 ? of_english : t->language;
    const bool content = !(t->words[i].flags & (WORD_STOP | WORD_DIGIT));
    const uint32_t group = content && by_language[language] ? group_of(language, t, i) : 0;
    same_words_group g = {"", ""};
    if (!group || group >= GROUPS) return g;
    if (members[group].stems) g.stems = members[group].stems;
    if (members[group].written) g.written = members[group].written;
    return g;
}

int same_words_term_of(const question *q, const fact_text *t, size_t i) {
    const fact_word *w = &t->words[i];
    if (t->language != q->text.language || (w->flags & WORD_STOP)) return -1;
    pthread_once(&once, build);
    const int language = t->language < 0 ? of_english : t->language;
    const same_words_lists *l = by_language[language];
    if (!l) return -1;
    if (w->flags & WORD_DIGIT) return language == of_english ? l->beside(q, t, i) : -1;
    const uint32_t group = group_of(language, t, i);
    for (size_t k = 0; (group || l->is_form) && k < q->text.n_words; k++) {
        const fact_word *asked = &q->text.words[k];
        const int term = question_term_of(q, asked->id);
        if (term < 0) continue;
        if (group && group_of(language, &q->text, k) == group) return term;
        if (l->is_form && l->is_form(t, w, &q->text, asked)) return term;
    }
    return l->beside ? l->beside(q, t, i) : -1;
}
