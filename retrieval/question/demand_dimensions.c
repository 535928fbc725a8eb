#include "retrieval/question/demand_dimensions.h"

#include <string.h>

#include "kernels/utf8.h"
#include "retrieval/question/demand_amounts.h"
#include "retrieval/question/demand_days.h"
#include "retrieval/question/demand_units.h"

static const struct {
    const char *asked, *said;
} dimensions[] = {
    [DIMENSION_WIDTH] = {"wide width",
                         "wide width widths broad breadth across diameter wider widest"},
    [DIMENSION_DEPTH] = {"deep depth", "deep depth depths below down under deeper deepest bottom"},
    [DIMENSION_THICKNESS] = {"thick thickness", "thick thickness thin through thicker"},
    [DIMENSION_ENERGY] = {"calorie calories kcal kilocalories kilojoules",
                          "calorie calories kcal kilocalories kj kilojoule kilojoules energy"},
    [DIMENSION_FAT] = {"fat", "fat fats fatty"},
    [DIMENSION_SUGAR] = {"sugar", "sugar sugars"},
    [DIMENSION_SALT] = {"salt sodium", "salt salted sodium"},
    [DIMENSION_PROTEIN] = {"protein", "protein proteins"},
    [DIMENSION_FIBRE] = {"fibre fiber", "fibre fiber fibres roughage"},
    [DIMENSION_CAFFEINE] = {"caffeine", "caffeine"},
    [DIMENSION_ALCOHOL] = {"alcohol", "alcohol alcoholic abv vol proof"},
};

/* Is the token behind a number, at the place right behind it, that of a way: "3,000 m"? */
static bool is_of_a_way(const word_token *before, const word_token *t) {
    return demand_unit_is_number(before) && demand_unit_of_a_way(t);
}

/* "How fast do I have to swim?", "go to the airport", "run the 3,000 m": the time that it takes is asked for. */
static bool names_a_way_or_goal(const char *rest, size_t len) {
    word_token before = {0}, t;
    for (size_t at = 0; (t = word_token_next(rest, len, &at)).n; before = t)
        if (word_token_in("to must across", &t) || is_of_a_way(&before, &t)) return true;
    return false;
}

/* "How fast can it swim?", "How fast is the ferry going?"; "How fast do you answer?" asks for a time. */
static bool asks_how_it_moves(const char *rest, size_t len) {
    if (names_a_way_or_goal(rest, len)) return false;
    return word_tokens_say(
        "swim swims swimming run runs running fly flies flew flying drive drives driving drove go "
        "goes going move moves moving travel travels travelling traveling walk walks walking ride "
        "rides riding sail sails sailing climb climbs climbing fall falls falling dive dives "
        "diving "
        "spin spins spinning rotate rotates turn turns crawl crawls cycle cycles cruise cruises",
        rest, len);
}

/* "How fast is the ferry?": of a ship a speed, of a delivery a time. Text from behind "fast" on. */
static bool is_how_it_is(const char *rest, size_t len) {
    size_t at = 0;
    const word_token verb = word_token_next(rest, len, &at);
    return word_token_in("is are was were", &verb);
}

/* "How many calories", "how much fat": what is measured has to be named. Text from behind "how" on. */
static enum demand_dimension dimension_of_food(const char *rest, size_t len) {
    size_t at = 0;
    const word_token much = word_token_next(rest, len, &at), noun = word_token_next(rest, len, &at);
    if (!word_token_in("much many", &much)) return DIMENSION_ANY;
    for (int i = DIMENSION_ENERGY; i <= DIMENSION_ALCOHOL; i++)
        if (word_token_in(dimensions[i].asked, &noun)) return (enum demand_dimension)i;
    return DIMENSION_ANY;
}

enum demand_dimension demand_dimension_of(const char *question, size_t len) {
    size_t at = 0;
    const word_token first = word_token_next(question, len, &at);
    const size_t behind = at;
    const word_token second = word_token_next(question, len, &at);
    const bool how = word_token_in("how", &first), what = word_token_in("what", &first);
    if (how && word_token_in("tall", &second)) return DIMENSION_HEIGHT;
    if (how && word_token_in("old", &second)) return DIMENSION_AGE;
    if (how && word_token_in("fast", &second) && asks_how_it_moves(question + at, len - at))
        return DIMENSION_SPEED;
    if (how && word_token_in("fast", &second) && is_how_it_is(question + at, len - at))
        return DIMENSION_PACE;
    if (how && word_token_in("much many", &second))
        return dimension_of_food(question + behind, len - behind);
    for (int i = DIMENSION_WIDTH; i <= DIMENSION_THICKNESS; i++)
        if ((how && word_token_in(dimensions[i].asked, &second)) ||
            (what && word_tokens_say(dimensions[i].asked, question, len)))
            return (enum demand_dimension)i;
    return DIMENSION_ANY;
}

/* "140 m west of the laboratory", "2 km along the dyke": how far away, behind the unit of length at `at`. */
static bool is_a_way_off(const char *text, size_t len, size_t at) {
    const word_token where = word_token_next(text, len, &at);
    return word_token_in("west east north south northwest northeast southwest southeast western "
                         "eastern northern southern away along apart off inland offshore upstream "
                         "downstream upriver downriver uphill downhill",
                         &where);
}

/* "16:30": an hour and its minutes are no age. */
static bool is_of_a_clock(const char *text, size_t len, const word_token *t) {
    const char *end = t->s + t->n;
    const bool hour = end + 1 < text + len && *end == ':' && fo_is_digit(end[1]),
               minute = t->s - text > 1 && t->s[-1] == ':' && fo_is_digit(t->s[-2]);
    return t->digits && (hour || minute);
}

/* Is one of its numbers no speed, weight, share, temperature or price, and no time, or, of an age, no way? That something is so tall
 * is seldom said, "Crane A: 38 m", nor that it is so old: "Oak 3: 180 years", "built in 1904". */
static bool has_number_but(bool age, const char *text, size_t len) {
    word_token before = {0}, t;
    for (size_t at = 0; (t = word_token_next(text, len, &at)).n; before = t) {
        if (!demand_unit_is_number(&t) || demand_currency_named(&before) ||
            (!age && demand_month_named(&before) >= 0) || (age && is_of_a_clock(text, len, &t)))
            continue;
        size_t further = at;
        const word_token unit = word_token_next(text, len, &further);
        if (demand_unit_of_a_speed(text, len, &unit) || word_token_in("mph kmh kph knots", &unit))
            continue;
        if (demand_unit_of_weight(&unit) || demand_unit_of_degrees(&unit) ||
            word_token_is(&unit, "%") || demand_currency_named(&unit))
            continue;
        if (age ? demand_unit_of_a_way(&unit)
                : demand_unit_of_an_expense(&unit) || demand_month_named(&unit) >= 0 ||
                      (demand_unit_of_a_way(&unit) && is_a_way_off(text, len, further)))
            continue;
        return true;
    }
    return false;
}

/* "Older than the house"; "you may ride alone from a height of 1.40 m". */
static bool says_age_otherwise(const char *text, size_t len) {
    return word_tokens_say("older younger oldest youngest", text, len) ||
           (word_tokens_say("height tall", text, len) &&
            word_tokens_say("from least minimum over above", text, len) &&
            word_tokens_say("may can must allowed admitted need needs", text, len));
}

/* "6:30 min/km" */
static bool is_of_a_pace(const char *text, size_t len, const word_token *t) {
    const size_t behind = (size_t)(t->s - text) + t->n;
    size_t at = behind + 1;
    if (behind >= len || text[behind] != '/' || !word_token_in("min mins minutes", t)) return false;
    const word_token per = word_token_next(text, len, &at);
    return word_token_in("km mi mile kilometre kilometer", &per);
}

/* "45 km/h", "3 m a second", "30 mph", "22 kn", "at walking pace", and, a way and a time, "10 km in 45 minutes". */
static bool has_speed(const char *text, size_t len) {
    static const char times[] = "s sec second seconds min mins minute minutes h hr hour hours day "
                                "days week weeks month months year years";
    word_token before = {0}, t;
    bool way = false, time = false;
    if (word_tokens_say(
            "speed speeds pace fast faster fastest slow slower slowest slowly quickly mph "
            "kmh kph knot knots kn kt kts mach rpm gallop sprint",
            text, len))
        return true;
    for (size_t at = 0; (t = word_token_next(text, len, &at)).n; before = t) {
        if (demand_unit_of_a_speed(text, len, &t) || is_of_a_pace(text, len, &t) ||
            (word_token_in("a an per each", &before) &&
             word_token_in("second minute hour day week month year", &t)))
            return true;
        way |= is_of_a_way(&before, &t);
        time |= demand_unit_is_number(&before) && word_token_in(times, &t);
    }
    return way && time;
}

/* A speed, or how long it takes: "two days", "at once", "30 pages a minute", "100 Mbit/s". */
static bool has_pace(const char *text, size_t len) {
    word_token before = {0}, t;
    if (has_speed(text, len) ||
        word_tokens_say("immediately instantly instant once soon today tomorrow overnight same "
                        "quick per hz khz mhz ghz mbps gbps fps ppm",
                        text, len))
        return true;
    for (size_t at = 0; (t = word_token_next(text, len, &at)).n; before = t)
        if (word_token_is(&t, "/") ||
            (demand_unit_is_number(&before) &&
             (demand_unit_of_an_expense(&t) || word_token_in("week weeks month months year years "
                                                             "min mins h hrs knot kn",
                                                             &t))))
            return true;
    return false;
}

bool demand_dimension_in(enum demand_dimension dimension, const char *text, size_t len) {
    if (dimension == DIMENSION_HEIGHT) return has_number_but(false, text, len);
    if (dimension == DIMENSION_AGE)
        return has_number_but(true, text, len) || says_age_otherwise(text, len);
    if (dimension == DIMENSION_SPEED) return has_speed(text, len);
    if (dimension == DIMENSION_PACE) return has_pace(text, len);
    return dimension == DIMENSION_ANY || word_tokens_say(dimensions[dimension].said, text, len) ||
           (dimension <= DIMENSION_THICKNESS &&
            memmem(text, len, "\xC3\x97", 2) != NULL); /* "3 × 4 m" */
}

bool demand_dimension_is_named(enum demand_dimension dimension) {
    return dimension >= DIMENSION_ENERGY && dimension <= DIMENSION_ALCOHOL;
}
