#include "retrieval/question/demand_units.h"

static const char numerals[] =
    "no none zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty "
    "ninety hundred hundreds thousand thousands million millions billion billions dozen dozens "
    "half quarter once twice single double triple several";
static const char weights[] =
    "kg kgs kilo kilos kilogram kilograms kilogramme kilogrammes g gram grams gramme grammes mg t "
    "tonne tonnes ton tons lb lbs pound pounds oz ounce ounces stone carat carats";
static const char expenses[] =
    "ms s second seconds minute minutes hour hours day days byte bytes kb mb gb kib mib gib token "
    "tokens percent cycles instructions";
static const char degrees[] = "degree degrees celsius fahrenheit kelvin";

static const char ways[] =
    "metre metres meter meters kilometre kilometres kilometer kilometers centimetre centimetres "
    "centimeter centimeters millimetre millimetres millimeter millimeters mile miles foot feet "
    "inch inches yard yards m km cm mm ft in mi yd";

bool demand_unit_is_number(const word_token *t) {
    return t->digits || word_token_in(numerals, t);
}

bool demand_unit_of_a_speed(const char *text, size_t len, const word_token *t) {
    const size_t behind = (size_t)(t->s - text) + t->n;
    size_t at = behind + 1;
    if (behind >= len || text[behind] != '/') return false;
    const word_token per = word_token_next(text, len, &at);
    return word_token_in("s sec h hr hour min minute", &per);
}

bool demand_unit_of_weight(const word_token *t) {
    return word_token_in(weights, t);
}

bool demand_unit_of_degrees(const word_token *t) {
    return word_token_in(degrees, t) || word_token_is(t, "\xC2\xB0");
}

bool demand_unit_of_a_way(const word_token *t) {
    return word_token_in(ways, t);
}

bool demand_unit_of_an_expense(const word_token *t) {
    return word_token_in(expenses, t);
}
