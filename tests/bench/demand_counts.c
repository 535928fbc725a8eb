/* demand_counts < DOCUMENTS - how often each rule about what a question demands speaks against what answers it, and
 * against what does not.
 *
 * DOCUMENTS as data/models/reader/questions/own_documents.jsonl: a document a line, in units, with questions and the
 * numbers of the units that answer. Every question is put beside what answers it (its units, joined) and beside one other
 * unit of the same document. A rule is worth as much as the first share is below the second: one that speaks against
 * right answers hides them, whatever else it does. */
#include "kernels/buf.h"
#include "retrieval/question/demand_when.h"
#include "retrieval/question/demands.h"
#include "retrieval/text/exact_names.h"
#include "retrieval/text/people_kinds.h"
#include "retrieval/text/rivals.h"
#include "tests/bench/set_home.h"

enum {
    MONEY,
    OTHER_AMOUNT,
    DETAIL,
    PLACE,
    REASON,
    DAY,
    MONTH,
    RANK,
    RIVAL,
    NAME,
    VERSION,
    DIMENSION,
    PEOPLE,
    WHEN,
    N_RULES
};
static const char *const rules[N_RULES] = {[MONEY] = "a price, and none is stated",
                                           [OTHER_AMOUNT] = "another amount, and none is stated",
                                           [DETAIL] = "an address or a time, none there",
                                           [PLACE] = "a place, and none is said",
                                           [REASON] = "a reason, and no word gives one",
                                           [DAY] = "a day, and others are named",
                                           [MONTH] = "a month, and others are named",
                                           [RANK] = "an office, and the one above is named",
                                           [RIVAL] = "a word, and its rival is there",
                                           [NAME] = "an exact name, and it is lacking",
                                           [VERSION] = "a version, and neither it nor a bound is",
                                           [DIMENSION] = "an age, a pace, calories, not said",
                                           [PEOPLE] = "what others pay than who is asked for",
                                           [WHEN] = "when it happens, and no time is said"};

typedef struct pair_counts {
    size_t pairs, asked[N_RULES], against[N_RULES];
} pair_counts;

static void count(pair_counts *c, const char *question, const char *text) {
    const size_t n = strlen(question), len = strlen(text);
    const demands d = demands_read(question, n, -1);
    const uint64_t words = rivals_in(question, n);
    const uint16_t people = people_kinds_in(question, n);
    exact_names names;
    exact_names_read(&names, question, n);
    const bool money = d.amount == AMOUNT_MONEY || d.amount == AMOUNT_EXPENSE;
    const bool no_amount = demand_amount_in(d.amount, text, len) == AMOUNT_NOT_STATED;
    const bool asked[N_RULES] = {[MONEY] = money,
                                 [OTHER_AMOUNT] = d.amount && !money,
                                 [DETAIL] = d.detail != DETAIL_NONE,
                                 [PLACE] = d.place,
                                 [DAY] = d.days,
                                 [REASON] = d.reason,
                                 [MONTH] = d.months,
                                 [RANK] = d.rank,
                                 [RIVAL] = words != 0,
                                 [NAME] = names.n_codes + names.n_numbered + names.n_options > 0,
                                 [VERSION] = names.n_versions > 0,
                                 [DIMENSION] = d.dimension != DIMENSION_ANY,
                                 [PEOPLE] = money && people != 0,
                                 [WHEN] = d.when};
    const bool against[N_RULES] = {[MONEY] = no_amount,
                                   [OTHER_AMOUNT] = no_amount,
                                   [DETAIL] = !demand_detail_in(d.detail, text, len),
                                   [PLACE] = !demands_place_in(&d, text, len),
                                   [REASON] = demands_reason_in(&d, text, len) == REASON_NONE,
                                   [DAY] = demands_day_in(&d, text, len) == DAY_OTHER,
                                   [MONTH] = demands_month_in(&d, text, len) == DAY_OTHER,
                                   [RANK] = !demands_rank_in(&d, text, len),
                                   [RIVAL] =
                                       !d.whether && rivals_exclude(words, rivals_in(text, len)),
                                   [NAME] = exact_names_lacking(&names, text, len, ""),
                                   [VERSION] = !exact_names_versions_in(&names, text, len, "") &&
                                               !exact_names_version_bound_in(text, len),
                                   [DIMENSION] = !demand_dimension_in(d.dimension, text, len),
                                   [PEOPLE] = people_kinds_are_others(people, text, len),
                                   [WHEN] = !demand_when_in(text, len)};
    c->pairs++;
    for (int r = 0; r < N_RULES; r++) {
        c->asked[r] += asked[r];
        c->against[r] += asked[r] && against[r];
    }
}

static const char *unit_of(const cJSON *units, int i) {
    const cJSON *u = cJSON_GetArrayItem(units, i);
    if (!cJSON_IsString(u)) die("a unit that is none");
    return u->valuestring;
}

/* Of one document; `any` draws the unit that does not answer. */
static void count_document(const cJSON *d, pair_counts *right, pair_counts *other, unsigned *any) {
    const cJSON *units = cJSON_GetObjectItem(d, "units"), *q = NULL;
    fo_buf gold = {0};
    cJSON_ArrayForEach(q, cJSON_GetObjectItem(d, "questions")) {
        const cJSON *text = cJSON_GetArrayItem(q, 0), *answers = cJSON_GetArrayItem(q, 1),
                    *a = NULL;
        if (!cJSON_IsString(text) || !cJSON_IsArray(answers)) die("a question that is none");
        fo_buf_clear(&gold);
        uint64_t those = 0;
        cJSON_ArrayForEach(a, answers) {
            fo_buf_str(&gold, unit_of(units, a->valueint));
            fo_buf_str(&gold, " ");
            if (a->valueint < 64) those |= UINT64_C(1) << a->valueint;
        }
        if (gold.failed) fo_no_memory(&err);
        if (gold.failed) die("gold");
        if (those) count(right, text->valuestring, gold.data);
        const int n = cJSON_GetArraySize(units) < 64 ? cJSON_GetArraySize(units) : 64;
        *any = *any * 1664525u + 1013904223u;
        for (int k = 0, i = (int)((*any >> 8) % (unsigned)n); k < n; k++, i = (i + 1) % n)
            if (!(those >> i & 1)) {
                count(other, text->valuestring, unit_of(units, i));
                break;
            }
    }
    fo_buf_free(&gold);
}

static double percent(size_t part, size_t of) {
    return of ? 100.0 * (double)part / (double)of : 0;
}

int main(void) {
    pair_counts right = {0}, other = {0};
    char *line = NULL;
    size_t cap = 0;
    unsigned any = 1;
    while (getline(&line, &cap, stdin) > 0) {
        cJSON *d = cJSON_Parse(line);
        if (!cJSON_GetArraySize(cJSON_GetObjectItem(d, "units"))) die("a line that is no document");
        count_document(d, &right, &other, &any);
        cJSON_Delete(d);
    }
    free(line);
    printf("%zu questions beside what answers, %zu beside what does not\n%-38s %14s %22s %22s\n",
           right.pairs, other.pairs, "asked for", "questions", "against the answer",
           "against the other");
    for (int r = 0; r < N_RULES; r++)
        printf("%-38s %6zu, %6zu %13zu (%4.1f %%) %13zu (%4.1f %%)\n", rules[r], right.asked[r],
               other.asked[r], right.against[r], percent(right.against[r], right.asked[r]),
               other.against[r], percent(other.against[r], other.asked[r]));
    return 0;
}
