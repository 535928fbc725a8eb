#include "retrieval/answer/row_opposites.h"

#include <strings.h>

#include "retrieval/answer/row_answers.h"
#include "retrieval/text/word_tokens.h"

enum { MOST_WORDS = 32, FEWEST_LETTERS = 4 };

typedef struct said_word {
    const char *s;
    size_t n;
    bool denied;
} said_word;

typedef struct said_words {
    said_word v[MOST_WORDS];
    size_t n;
} said_words;

/* "Isn't" denies what is said of somebody; "why don't members" denies no members, and "if I do not return it" a verb alone. */
static bool is_not(const word_token *before, const word_token *t, bool first) {
    return (word_token_in("not", t) && !word_token_in("do does did", before)) ||
           word_token_in("non no without never outside except excluding", t) ||
           (!first && word_token_in("t", t) && word_token_in("isn aren wasn weren", before));
}

/* "Uninsulated" is "insulated", denied. */
static void add_word(said_words *w, const word_token *t, bool denied) {
    const bool un = t->n >= FEWEST_LETTERS + 3 && !strncasecmp(t->s, "un", 2);
    if (w->n < MOST_WORDS && t->n >= FEWEST_LETTERS)
        w->v[w->n++] = (said_word){t->s + 2 * un, t->n - 2 * un, denied != un};
}

/* The longer words of a text; a denial holds for the two words behind it ("without a garden"). */
static void read_words(said_words *w, const char *text, size_t len) {
    enum { REACH = 2 };
    word_token before = {0};
    int reach = 0;
    bool first = true;
    w->n = 0;
    for (size_t at = 0;;) {
        const word_token t = word_token_next(text, len, &at);
        if (!t.n) return;
        if (is_not(&before, &t, first)) {
            reach = REACH;
        } else if (t.letters) {
            if (word_token_in("but and or", &t)) reach = 0;
            add_word(w, &t, reach > 0);
            if (reach) reach--;
        } else if (!word_token_is_dash(&t) && !word_token_is(&t, "'")) {
            reach = 0;
        }
        if (t.letters) {
            first = before.n == 0;
            before = t;
        }
    }
}

/* "Insulated" and "insulation". */
static bool is_alike(const said_word *a, const said_word *b) {
    enum { ENDING = 3 };
    const size_t longer = a->n > b->n ? a->n : b->n, shorter = a->n > b->n ? b->n : a->n;
    size_t same = 0;
    while (same < shorter && (a->s[same] | 0x20) == (b->s[same] | 0x20)) same++;
    return same >= FEWEST_LETTERS && same + ENDING >= longer;
}

enum stand { STAND_NONE, STAND_AGREES, STAND_OPPOSES };

static enum stand stand_of(const said_words *asked, const said_words *name) {
    enum stand stand = STAND_NONE;
    for (size_t i = 0; i < asked->n; i++) {
        bool same = false, opposite = false;
        for (size_t k = 0; k < name->n; k++) {
            if (!is_alike(&asked->v[i], &name->v[k])) continue;
            same |= asked->v[i].denied == name->v[k].denied;
            opposite |= asked->v[i].denied != name->v[k].denied;
        }
        /* the question may say the word both ways */
        for (size_t k = 0; k < asked->n; k++)
            if (asked->v[k].denied != asked->v[i].denied && is_alike(&asked->v[i], &asked->v[k]))
                opposite = false;
        if (opposite && !same) return STAND_OPPOSES;
        if (same) stand = STAND_AGREES;
    }
    return stand;
}

static enum stand stand_of_row(const candidate_passage *p, const text_unit *u,
                               const said_words *asked) {
    said_words name;
    table_pair first;
    if (u->kind != TEXT_UNIT_ROW ||
        !table_row_first(p->text.text + u->start, u->end - u->start, u->record, &first))
        return STAND_NONE;
    read_words(&name, first.value, first.n_value);
    return stand_of(asked, &name);
}

void rows_set_opposites_apart(candidate_set *set, size_t index) {
    const candidate_passage *p = &set->passages[index];
    said_words asked;
    size_t from = set->n;
    if (set->q.text.language >= 0) return;
    /* what it leaves out is row_is_left_out's */
    if (word_tokens_say("outside except excluding other apart", set->q.text.text, set->q.text.len))
        return;
    while (from > 0 && set->c[from - 1].passage == index) from--;
    read_words(&asked, set->q.text.text, set->q.text.len);
    for (size_t i = from; i < set->n; i++) {
        bool other = false;
        if (stand_of_row(p, &set->c[i].unit, &asked) != STAND_OPPOSES) continue;
        for (size_t k = from; k < set->n && !other; k++)
            other = rows_of_one_table(p, &set->c[i].unit, &set->c[k].unit) &&
                    stand_of_row(p, &set->c[k].unit, &asked) == STAND_AGREES;
        if (other) set->c[i].f[CAND_OTHER_THING] = CAND_RIVAL;
    }
}
