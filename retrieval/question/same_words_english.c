#include <string.h>

#include "kernels/utf8.h"
#include "retrieval/question/same_words_lists.h"

/* clang-format off */
static const char *const groups[] = {
    /* forms */
    "lose lost loss", "break broke broken", "buy bought purchase", "take took taken", "pay paid payment",
    "keep kept", "bring brought", "send sent", "build built", "sell sold", "teach taught", "speak spoke spoken",
    "write wrote written", "choose chose chosen choice", "steal stole stolen theft", "hold held",
    "give gave given", "eat ate eaten", "drive drove driven", "spend spent", "win won", "grow grew grown",
    "catch caught", "lend lent", "wear wore worn", "fly flew flown", "swim swam", "know knew known", "feed fed",
    "forget forgot forgotten", "die died death", "fall fell fallen", "throw threw thrown", "ride rode ridden",
    "sleep slept", "tear tore torn", "hide hid hidden", "become became", "child children kid", "man men",
    "woman women", "tooth teeth", "mouse mice", "knife knives", "shelf shelves", "loaf loaves", "half halves",
    "scarf scarves", "wife wives", "thief thieves", "calf calves", "foot feet", "goose geese",
    /* everyday words */
    "fridge refrigerator", "phone telephone tel", "wifi wireless wlan", "bike bicycle", "car automobile",
    "jumper sweater pullover", "remove delete", "bigger larger", "biggest largest",
    "begin began begun start commence", "close shut", "repair mend fix", "mum mom mother", "dad father",
    "grandma granny grandmother", "grandpa grandad grandfather", "firm company", "quit resign resignation",
    "garbage rubbish trash", "petrol gasoline", "sofa couch", "cab taxi", "movie film",
    "toilet lavatory loo restroom", "doctor physician", "tap faucet", "torch flashlight",
    "forbidden prohibited banned", "salary wage", "smartphone cellphone", "sick ill illness",
    "exam examination", "staff employee", "guarantee warranty", "year yearly annual annually", "road street",
    "weigh weight", "undo undoing undone revert", "hen chicken", "reimburse refund", "midday noon", "lawyer solicitor", "diaper nappy",
    "motorbike motorcycle", "lorry truck", "occur occurrence", "symlink symbolic", "owner ownership",
    NULL,
};
static const same_words_written written[] = {
    {"lift lifts elevator elevators", NULL}, {"photo photos photograph photographs", NULL},
    {"holiday holidays vacation vacations", NULL}, {"fee fees dues", NULL},
    {"senior seniors pensioner pensioners oap oaps", NULL},
    {"snake snakes adder adders viper vipers", NULL},
    {NULL, NULL},
};
/* "How heavy is it?": the quality behind "how", and what a row, a column or a sentence calls it. As they are written. */
static const struct { const char *asked, *called; } qualities[] = {
    {"heavy", "weight weights weigh weighs"}, {"long", "length duration"}, {"wide", "width"}, {"high", "height"}, {"tall", "height"},
    {"deep", "depth"}, {"thick", "thickness"}, {"loud", "noise loudness"}, {"fast", "speed"}, {"old", "age"},
};
/* Kinds, and what is one of them: what holds for pets holds for the dog, but what holds for the dog says nothing of pets. */
static const struct { const char *kind, *things; } kinds[] = {
    {"pet pets", "dog dogs puppy puppies cat cats kitten kittens hamster hamsters rabbit rabbits budgie parrot guinea"},
    {"furniture", "sofa sofas couch armchair armchairs chairs wardrobe wardrobes cupboard cupboards bookcase"},
    {"jewellery jewelry", "necklace necklaces bracelet bracelets earring earrings brooch"},
    {"alcohol alcoholic", "beer beers wine wines whisky whiskey vodka gin"},
    {"vehicle vehicles", "car cars van vans lorry lorries truck trucks motorbike motorbikes motorcycle motorcycles"},
    {"fruit", "apple apples pear pears cherry cherries plum plums peach peaches apricot apricots"},
    {"valuables", "jewellery jewelry necklace bracelet watches wristwatch"},
};
/* clang-format on */

static bool has_capital(const fact_text *t, const fact_word *w) {
    return t->text[w->start] >= 'A' && t->text[w->start] <= 'Z';
}

/* Is word i behind a name: "Mill Road"? Church Road is not Church Street. */
static bool is_named_road(const fact_text *t, size_t i) {
    return i > 0 && has_capital(t, &t->words[i - 1]) &&
           fact_word_in(t, i, "road roads street streets") &&
           !(t->words[i - 1].flags & WORD_STOP) && t->words[i].start == t->words[i - 1].end + 1;
}

/* "How old is the barrier?": "the minimum age", "age for a contract" and "age limit" are another's; "How old must I be?" asks for them. */
static bool is_age_of_other(const fact_text *asked, size_t old, const fact_text *t, size_t i) {
    if (!fact_word_in(t, i, "age") || old + 1 >= asked->n_words ||
        !fact_word_in(asked, old + 1, "is are was were"))
        return false;
    return (i > 0 && fact_word_in(t, i - 1, "minimum maximum min max")) ||
           (i + 1 < t->n_words && fact_word_in(t, i + 1, "for of limit"));
}

/* Most words are no quality, and a question may be long. */
static bool is_quality(const fact_text *t, size_t i_word) {
    for (size_t i = 0; i < sizeof qualities / sizeof *qualities; i++)
        if (fact_word_in(t, i_word, qualities[i].called)) return true;
    return false;
}

/* The term of "heavy" in "How heavy is it?", where word i of a text is "weight"; -1: it is none. */
static int quality_asked(const question *q, const fact_text *t, size_t i_word) {
    const fact_text *asked = &q->text;
    if (!is_quality(t, i_word)) return -1;
    for (size_t k = 1; k < asked->n_words; k++) {
        if (!fact_word_in(asked, k - 1, "how")) continue;
        const int term = question_term_of(q, asked->words[k].id);
        for (size_t i = 0; term >= 0 && i < sizeof qualities / sizeof *qualities; i++)
            if (fact_word_in(asked, k, qualities[i].asked) &&
                fact_word_in(t, i_word, qualities[i].called) &&
                !is_age_of_other(asked, k, t, i_word))
                return term;
    }
    return -1;
}

static bool says_term(const question *q, const fact_text *t, int term) {
    for (size_t i = 0; i < t->n_words; i++)
        if (question_term_of(q, t->words[i].id) == term) return true;
    return false;
}

/* "Other pets", "all other motor vehicles", "unlike fruit": what holds for these does not hold for the thing that stands before. */
static bool is_of_others(const fact_text *t, size_t i) {
    enum { WORDS = 2 };
    for (size_t k = 1; k <= WORDS && k <= i; k++)
        if (fact_word_in(t, i - k, "other except than unlike")) return true;
    return false;
}

/* The question's word for a thing of which word i of a text is the kind; -1: none, or the text speaks of the thing itself. "Apple" in the
 * question's midst is a name. */
static int term_of_kind(const question *q, const fact_text *t, size_t i_word) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!fact_word_in(t, i_word, kinds[i].kind) || is_of_others(t, i_word)) continue;
        for (size_t k = 0; k < q->text.n_words; k++) {
            const fact_word *thing = &q->text.words[k];
            const int term = question_term_of(q, thing->id);
            if (term >= 0 && fact_word_in(&q->text, k, kinds[i].things) &&
                !(k > 0 && has_capital(&q->text, thing)) && !says_term(q, t, term))
                return term;
        }
    }
    return -1;
}

/* Is it the port of an address, "0.0.0.0:9090", "localhost:5432", ":8080"? A time of day has two figures behind its colon. */
static bool is_port_of_address(const fact_text *t, const fact_word *w) {
    enum { FEWEST = 3, MOST = 5 };
    const size_t n = w->end - w->start;
    if (n < FEWEST || n > MOST || w->start == 0 || t->text[w->start - 1] != ':') return false;
    for (size_t i = w->start; i < w->end; i++)
        if (!fo_is_digit(t->text[i])) return false;
    return w->end == t->len || strchr("\"'`/ \n),;|", t->text[w->end]);
}

/* The question's "port" where word i of a text is one in figures; -1: none. */
static int port_asked(const question *q, const fact_text *t, size_t i) {
    if (!is_port_of_address(t, &t->words[i])) return -1;
    for (size_t k = 0; k < q->text.n_words; k++)
        if (fact_word_in(&q->text, k, "port ports"))
            return question_term_of(q, q->text.words[k].id);
    return -1;
}

/* What neither list nor form tells. */
static int beside(const question *q, const fact_text *t, size_t i) {
    int term = quality_asked(q, t, i);
    if (term < 0) term = port_asked(q, t, i);
    return term >= 0 ? term : term_of_kind(q, t, i);
}

const same_words_lists same_words_english = {
    .language = "english",
    .groups = groups,
    .written = written,
    .is_name = is_named_road,
    .beside = beside,
};
