#include "retrieval/question/office_words.h"

#include <string.h>
#include <strings.h>

#include "retrieval/text/word_tokens.h"

/* Phrases are divided by ", ", their words by blanks, and words of which any may stand in a place by "|"; apostrophes and hyphens
 * are no words of their own: "doctor s note". `said`: what takes the place of the question's phrase; NULL: what the passage has.
 * `beside`: words of which the question has to say one. A phrase that means other things too is here with
 * what makes it one of these, or not at all ("flat", "job", "drop off"). */
/* clang-format off */
static const struct { const char *asked, *written, *said, *beside; } pairs[] = {
    /* work and health */
    {"sick note, sick notes, sicknote, doctor s note, doctors note, note from my|the|a doctor",
     "doctor|doctors|physician s certificate, doctors certificate, medical certificate, certificate of incapacity", NULL, NULL},
    {"boss, bosses", "line manager, supervisor, manager", NULL, NULL},
    {"days|day of holiday|vacation|holidays, days holiday|vacation, holiday days, vacation days",
     "days of annual leave, annual leave, days of leave, leave days", "days of annual leave", "get have many entitled"},
    {"get|got|be|been|being|gets|getting fired|sacked", "dismissed, dismissal", "be dismissed", NULL},
    {"pay rise, pay raise, salary raise", "salary increase, pay increase, wage increase, increase in pay|salary", NULL, NULL},
    {"jab, jabs", "vaccination, vaccinations, inoculation", NULL, NULL},
    {"my|a|the gp", "family doctor, general practitioner", NULL, NULL},
    {"tummy", "stomach, abdomen", NULL, NULL},
    {"throw|throws|threw up, throwing|thrown up", "vomit, vomits, vomited, vomiting", "vomit", NULL},
    /* animals */
    {"poo, poop, poos", "droppings, faeces, feces, excrement, dog waste", NULL, NULL},
    {"the|a|its lead, off lead", "leash", "a leash", "dog dogs puppy"},
    {"vet, vets", "veterinarian, veterinary surgeon, veterinary", NULL, NULL},
    /* house, street */
    {"cut|cutting|chop|chopping down, chopped down", "fell, felled, felling", "fell", "tree trees"},
    {"rubbish, trash, garbage", "refuse, household waste, waste", NULL, NULL},
    {"power cut, power cuts", "power failure, power outage, blackout", NULL, NULL},
    {"blackout, power outage, power failure", "power cut, power outage, power failure, power cuts", NULL, NULL},
    {"telly, tv", "television, television set", NULL, NULL},
    {"hoover", "vacuum cleaner", NULL, NULL},
    {"stroller, strollers", "pushchair, pushchairs, pram, prams", NULL, NULL},
    {"pushchair, pushchairs", "stroller, strollers, pram, prams", NULL, NULL},
    {"parking lot", "car park", NULL, NULL}, {"car park", "parking lot", NULL, NULL},
    {"driver|drivers license, driver s license|licence", "driving licence, driving license", NULL, NULL},
    {"driving licence|license", "driver s license|licence, drivers license", NULL, NULL},
    {"license|licence plate", "number plate, registration plate", NULL, NULL},
    {"number plate", "license|licence plate, registration plate", NULL, NULL},
    {"gas station", "petrol station, filling station", NULL, NULL},
    {"petrol station", "gas station, filling station", NULL, NULL},
    {"drugstore, chemist s", "pharmacy", NULL, NULL}, {"pharmacy", "drugstore, chemist s", NULL, NULL},
    {"move|moving out of, moved out of", "vacate, vacated, vacating", "vacate", NULL},
    {"landlord, landlady", "lessor", NULL, NULL}, {"renter, renters", "tenant, tenants, lessee", NULL, NULL},
    {"a break in, the break in", "burglary", "a burglary", NULL},
    {"cop, cops", "police", NULL, NULL},
    {"baby, babies", "infant, infants", NULL, NULL}, {"infant, infants", "baby, babies", NULL, NULL},
    {"grown up, grown ups, grownup, grownups", "adult, adults", NULL, NULL},
    {"elderly|old people, old age pensioners, oaps", "senior citizens, seniors, pensioners", NULL, NULL},
    /* papers */
    {"over|on|via the internet, through the internet", "online", "online", NULL},
    {"send|sent|sending in, hand|handed|handing in, turn|turned|turning in", "submit, submitted, submission", "submit", NULL},
    {"send|hand|turn in my|our|the|a tax return", "file a return, filed, file", "file the tax return", NULL},
    {"fill|filled|filling in|out", "complete, completed", "complete", "form forms questionnaire"},
    {"sign|signed|signing up", "register, registered, registration, enrol, enroll, enrolment, enrollment", "register", NULL},
    {"get|gets|got|getting rid of, throw|throws|threw|throwing away|out, chuck away|out", "dispose, disposed, disposal", "dispose of", NULL},
    {"call|called|calling off", "cancel, cancelled, canceled, cancellation", "cancel", NULL},
    {"get|getting out of", "cancel, cancelled, terminate, terminated", "terminate", "contract lease subscription agreement tenancy"},
    {"give|giving up", "terminate, terminated, termination, resign, resignation", NULL, "membership lease tenancy plot allotment"},
    {"put|putting off", "postpone, postponed, defer, deferred", "postpone", NULL},
    {"worked out", "calculated", "calculated", NULL},
    {"pick|picked|picking up", "collect, collected, collection", "collect", "parcel parcels package letter order goods key keys ticket tickets card passport book books"},
    {"collect|collected", "pick up, picked up", "pick up", "parcel parcels package letter order goods key keys ticket tickets card passport book books"},
    {"bring|give|send|take back", "return, returned, returning", "return", NULL},
    {"my|our|the|your money back", "refund, refunds, refunded", "a refund", NULL},
    {"pay back, paying|paid back", "repay, repaid, repayment", "repay", NULL},
    {"kicked|thrown out", "expelled, evicted, expel, evict", "expelled", NULL},
    {"id card, photo id, proof of id, an|my id", "identity card, identity document, proof of identity", NULL, NULL},
    {"agm", "annual general meeting, general meeting", NULL, NULL},
    {"cv, resume", "curriculum vitae", NULL, NULL},
    {"for free|nothing", "free of charge", "free of charge", NULL},
    /* money */
    {"my|our|your own money", "own contribution, own funds", NULL, NULL},
    {"yearly|annual|membership fee, yearly|annual membership fee", "annual dues, membership dues", NULL, NULL},
    {"pay|paying myself|ourselves, pay out of my|our own pocket", "excess per, the excess, excess is, deductible", "pay as excess", NULL},
    {"take|taking out money|cash, get money|cash out", "withdraw, withdrawal, withdrawals", "withdraw money", NULL},
    {"atm, atms, cashpoint", "cash machine, cash machines", NULL, NULL},
    {"cash machine, cash machines, cashpoint", "atm, atms", NULL, NULL},
    {"go|goes|going up", "rise, rises, increase, increases, increased", "rise", "rent rents fee fees price prices pay salary salaries"},
    /* programs */
    {"if i|you don t say|set|give|specify|change|configure anything, if i|you do not say|set|give|specify|change|configure anything, unless told otherwise, unless i say otherwise, out of the box",
     "default, defaults", "by default", NULL},
    /* days */
    {"on christmas day, on xmas day, on christmas, at christmas|xmas", "25 december, december 25, 25 and 26 december", "on 25 December", NULL},
    {"christmas day", "25 december, december 25, 25 and 26 december", "25 December", NULL},
    {"on christmas|xmas|boxing|new years day, on new year s day, on christmas, at christmas|xmas", "public holiday, public holidays, bank holidays", "on a public holiday", NULL},
    {"christmas eve", "24 december, december 24, 24 and 31 december", "24 December", NULL},
    {"boxing day", "26 december, december 26", "26 December", NULL},
    {"new year s eve", "31 december, december 31", "31 December", NULL},
    {"new year s day", "1 january, january 1", "1 January", NULL},
    {"bank holiday, bank holidays", "public holiday, public holidays", NULL, NULL},
    {"public holiday, public holidays", "bank holiday, bank holidays", NULL, NULL},
};
/* clang-format on */
enum { PAIRS = sizeof pairs / sizeof *pairs };

/* The next word or number at or behind *at: signs are passed over, but those that part clauses are not. */
static word_token next_word(const char *s, size_t len, size_t *at) {
    word_token t = word_token_next(s, len, at);
    while (t.n && !t.letters && !t.digits && !strchr(",.;:?!|", t.s[0]))
        t = word_token_next(s, len, at);
    return t;
}

/* Is t one of the words at *pattern, which moves behind them? */
static bool fits(const char **pattern, const word_token *t) {
    bool fit = false;
    while (**pattern && **pattern != ' ' && **pattern != ',') {
        const size_t n = strcspn(*pattern, "| ,");
        fit |= n == t->n && !strncasecmp(*pattern, t->s, n);
        *pattern += n + ((*pattern)[n] == '|');
    }
    return fit;
}

/* Bytes from `from` on, where a word begins, that say the phrase at `pattern`; 0: others. */
static size_t phrase_at(const char *pattern, const char *s, size_t len, size_t from) {
    size_t at = from;
    for (;;) {
        const word_token t = next_word(s, len, &at);
        if (!t.n || !fits(&pattern, &t)) return 0;
        if (*pattern != ' ') return at - from;
        pattern++;
    }
}

/* A stretch of a text; no bytes: none. */
typedef struct stretch {
    size_t start, len;
} stretch;

/* Where a text first says one of the phrases; *which: that one. */
static stretch find(const char *phrases, const char *s, size_t len, const char **which) {
    for (size_t at = 0;;) {
        const word_token t = next_word(s, len, &at);
        if (!t.n) return (stretch){0};
        const size_t from = (size_t)(t.s - s);
        for (const char *p = phrases; p; p = strchr(p, ',')) {
            p += *p == ',' ? 2 : 0;
            const size_t n = phrase_at(p, s, len, from);
            if (n) {
                *which = p;
                return (stretch){from, n};
            }
        }
    }
}

/* What the first passage that says it, or says what was asked, has of it. */
static bool written_as(size_t pair, const char *asked, const passage *passages, size_t n,
                       const char **text, stretch *found) {
    const size_t n_asked = strcspn(asked, ",");
    char phrase[64];
    if (n_asked >= sizeof phrase) return false;
    memcpy(phrase, asked, n_asked);
    phrase[n_asked] = '\0';
    for (size_t i = 0; i < n; i++) {
        const char *which;
        if (find(phrase, passages[i].text, passages[i].len, &which).len) return false;
        *found = find(pairs[pair].written, passages[i].text, passages[i].len, &which);
        *text = passages[i].text;
        if (found->len) return true;
    }
    return false;
}

/* Puts one phrase; false: it is not in the question, or not to be changed. */
static bool put(fo_buf *out, size_t pair, const char *question, const passage *passages, size_t n) {
    const size_t len = strlen(question);
    const char *asked, *text;
    const stretch at = find(pairs[pair].asked, question, len, &asked);
    stretch found;
    if (!at.len || (pairs[pair].beside && !word_tokens_say(pairs[pair].beside, question, len)) ||
        !written_as(pair, asked, passages, n, &text, &found))
        return false;
    fo_buf_add(out, question, at.start);
    if (pairs[pair].said)
        fo_buf_str(out, pairs[pair].said);
    else
        fo_buf_add(out, text + found.start, found.len);
    fo_buf_str(out, question + at.start + at.len);
    return true;
}

bool office_words_as_written(fo_buf *out, const char *question, const passage *passages, size_t n) {
    bool changed = false;
    for (size_t i = 0; i < PAIRS && !out->failed; i++) {
        fo_buf next = {0};
        if (put(&next, i, changed ? out->data : question, passages, n) && !next.failed) {
            fo_buf_free(out);
            *out = next;
            changed = true;
        } else {
            out->failed |= next.failed;
            fo_buf_free(&next);
        }
    }
    return changed && !out->failed;
}
