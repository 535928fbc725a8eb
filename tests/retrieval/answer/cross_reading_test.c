/* cross_reading_test.c - which units are read together with the question: windows around the best, no more than is
 * promised, whole units, and nothing that is not English. With the reader inside the binary. */
#include "tests/test.h"

#include <math.h>

#include "kernels/buf.h"
#include "retrieval/answer/candidates.h"
#include "retrieval/answer/extractive.h"
#include "tests/retrieval/text/lexicon_fixture.h"

enum { WINDOW = 450, LONGEST = 1200, WINDOWS = 4, OF_A_PASSAGE = 2 };

static reader *model;

/* What the observer saw of the last question. */
static struct {
    size_t n_read, n_units, bytes[4], units[4]; /* by passage */
    bool crossed, best_read;
    uint32_t first_start, last_end; /* of what was read of passage 0 */
    double best;                    /* log odds of the first unit */
} seen;

static void observe(const candidate_set *set, const extractive_input *in,
                    const support_features *f) {
    (void)in;
    memset(&seen, 0, sizeof seen);
    seen.n_units = set->n;
    seen.crossed = set->crossed;
    seen.first_start = UINT32_MAX;
    seen.best = set->n ? set->c[0].cross : NAN;
    assert_true(isnan(f->cross) == !set->crossed);
    for (size_t i = 0; i < set->n; i++) {
        const candidate *c = &set->c[i];
        if (!isfinite(c->cross)) continue;
        seen.n_read++;
        seen.bytes[c->passage] += c->end - c->start;
        seen.units[c->passage]++;
        if (c->passage == 0 && c->start < seen.first_start) seen.first_start = c->start;
        if (c->passage == 0 && c->end > seen.last_end) seen.last_end = c->end;
        seen.best_read |= i == 0;
    }
}

static void ask_below(const char *heading, const char *asked, const char *const *texts, size_t n) {
    passage p[4];
    fo_err err = {0};
    extractive_answer a;
    for (size_t i = 0; i < n; i++)
        p[i] = (passage){.text = texts[i],
                         .len = strlen(texts[i]),
                         .title = "Notes",
                         .sparse = 5,
                         .heading = heading};
    const extractive_input in = {
        .question = asked, .passages = p, .n_passages = n, .lx = &lx, .reader = model};
    extractive_observer = observe;
    assert_ok(extractive_answer_make(&a, &in, &err), &err);
    extractive_observer = NULL;
    extractive_answer_deinit(&a);
}

static void ask(const char *asked, const char *const *texts, size_t n) {
    ask_below(NULL, asked, texts, n);
}

/* 60 sentences, of which the one with this number says something of the weir. */
static char *story(int told) {
    fo_buf b = {0};
    for (int i = 0; i < 60; i++)
        fo_buf_printf(&b,
                      i == told ? "The weir is opened by hand on day %d. "
                                : "A boat of the village came by on day %d. ",
                      i);
    return fo_buf_take(&b, NULL);
}

static void the_best_is_read_with_its_neighbours(void **state) {
    (void)state;
    char *texts[] = {story(30), story(-1), story(-1)};
    ask("When is the weir opened?", (const char *const *)texts, 3);
    assert_true(seen.crossed && seen.best_read);
    assert_true(seen.n_read < seen.n_units / 2);
    const uint32_t at = (uint32_t)(strstr(texts[0], "The weir") - texts[0]);
    assert_true(seen.first_start < at && seen.last_end > at + 60); /* on both sides */
    size_t bytes = 0;
    for (size_t k = 0; k < 3; k++) {
        assert_true(seen.bytes[k] <= OF_A_PASSAGE * WINDOW);
        bytes += seen.bytes[k];
    }
    assert_true(bytes <= WINDOWS * WINDOW && bytes > 2 * WINDOW);
    assert_true(seen.units[1] > 0); /* no passage takes all there is */
    for (size_t k = 0; k < 3; k++) free(texts[k]);
}

static void short_passages_are_read_whole(void **state) {
    (void)state;
    const char *texts[] = {"The weir is opened in March. It is shut in May.",
                           "Boats come by. The weir is old."};
    ask("When is the weir opened?", texts, 2);
    assert_true(seen.crossed);
    assert_int_equal(seen.n_read, seen.n_units);
}

static void a_long_unit_is_read_so_far(void **state) {
    (void)state;
    fo_buf b = {0};
    fo_buf_str(&b, "The weir is opened when");
    for (int i = 0; i < 400; i++) fo_buf_str(&b, " the water is high and");
    fo_buf_str(&b, " it rains.");
    const char *text = b.data;
    ask("When is the weir opened?", &text, 1);
    assert_true(seen.n_units == 1 && seen.best_read);
    fo_buf_free(&b);
}

static void another_language_is_left_to_the_words(void **state) {
    (void)state;
    const char *texts[] = {
        "Das Wehr wird im März von Hand geöffnet, sobald das Wasser hoch steht. Danach bleibt es "
        "bis zum "
        "Herbst geschlossen, und der Wärter schreibt den Stand jeden Morgen in das Buch."};
    ask("Wann wird das Wehr geöffnet?", texts, 1);
    assert_false(seen.crossed);
    assert_int_equal(seen.n_read, 0);
}

/* "Give both files." says what is asked for only below "Encryption": the heading of the section that the passage begins in,
 * or one in the passage before what is read. */
static void a_window_is_read_below_its_heading(void **state) {
    (void)state;
    /* Lines that do not say what they are about. */
    static const struct {
        const char *question, *heading, *text;
    } cases[] = {
        {"How do I turn on encryption?", "Encryption", "Give --cert and --key when you start it."},
        {"How do I change the language?", "Language", "Set it in the third tab of the settings."},
        {"When is the pool open?", "Swimming pool", "Daily from 7 to 21, on Sundays from 9."},
        {"How much is a day ticket?", "Day tickets", "Adults 14 euros, children half of it."},
        {"How do I uninstall it?", "Removal", "Delete the folder and the entry in the menu."},
        {"Where do I leave bicycles?", "Bicycles",
         "In the rack behind the kitchen, not in the hall."},
        {"What do I do when the printer jams?", "Paper jam",
         "Open the flap on the left and pull it out."},
        {"How long do refunds take?", "Refunds", "They reach your account within ten days."},
        {"How do I reset my password?", "Forgotten password",
         "Press the link below the form; a mail comes."},
        {"Who waters the plants?", "Plants", "Ines does it on Mondays and Thursdays."},
        {"How do I make a backup?", "Backup", "Stop the service, then copy the whole folder."},
        {"Is there parking?", "Parking", "Twelve places in the yard, two of them for vans."},
        {"How often is the filter changed?", "Filter",
         "Every six months, or when the lamp is red."},
        {"What is the limit for uploads?", "Uploads", "No more than 25 MB at a time."},
        {"How do I run it behind a proxy?", "Proxy", "Set HTTP_PROXY before you start it."},
        {"What must I bring to the exam?", "Examination",
         "An identity card, two pens and the letter."},
    };
    enum { CASES = sizeof cases / sizeof *cases };
    double gained = 0;
    size_t better = 0;
    for (size_t i = 0; i < CASES; i++) {
        const char *line = cases[i].text;
        ask(cases[i].question, &line, 1);
        const double alone = seen.best;
        ask_below(cases[i].heading, cases[i].question, &line, 1);
        assert_true(seen.crossed);
        gained += (seen.best - alone) / CASES;
        better += seen.best > alone;
    }
    if (gained < 1 || better < CASES * 2 / 3) fail_msg("%.2f more, %zu better", gained, better);
    const char *asked = cases[0].question, *text = cases[0].text;
    ask(asked, &text, 1);
    const double without = seen.best;
    ask_below("Notes", asked, &text, 1); /* the title again */
    assert_true(seen.best == without);

    fo_buf b = {0};
    fo_buf_str(&b, "Encryption\n\n");
    for (int i = 0; i < 12; i++)
        fo_buf_printf(&b, "The %dth of the files is a text that people wrote by hand.\n\n", i);
    fo_buf_str(&b, text);
    const char *inside = b.data;
    ask(asked, &inside, 1);
    const double far = seen.best;
    ask_below("Colours", asked, &inside,
              1); /* what the passage begins under ends at its own heading */
    assert_true(seen.crossed && seen.best == far);
    fo_buf_free(&b);
}

static int open_reader(void **state) {
    (void)state;
    fo_err err = {0};
    return open_lexicon(NULL) ||
           reader_open(&model, NULL, &(reader_options){.cache_bytes = 1 << 20}, &err);
}

static int close_reader(void **state) {
    (void)state;
    reader_close(model);
    return close_lexicon(NULL);
}

/* The same table in both forms in which data/extract writes one: what is read is the same. */
static void records_are_read_as_rows_below_their_names(void **state) {
    (void)state;
    const char *bars[] = {"Members\n\nName | Instrument | Joined\nAmira Holt | violin | 2019\n"
                          "Dmitri Sayer | cello | 2015\nFarid Noor | horn | 2024"};
    const char *named[] = {"Members\n\nName | Instrument | Joined\n\n"
                           "Name: Amira Holt; Instrument: violin; Joined: 2019\n\n"
                           "Name: Dmitri Sayer; Instrument: cello; Joined: 2015\n\n"
                           "Name: Farid Noor; Instrument: horn; Joined: 2024"};
    /* A chunk that begins within the table: the names come from the records. */
    const char *rest[] = {"Name: Dmitri Sayer; Instrument: cello; Joined: 2015\n\n"
                          "Name: Farid Noor; Instrument: horn; Joined: 2024"};
    const char *rest_bars[] = {"Name | Instrument | Joined\nDmitri Sayer | cello | 2015\n"
                               "Farid Noor | horn | 2024"};
    const char *asked = "Who plays the cello?";
    ask(asked, bars, 1);
    const double odds = seen.best;
    assert_true(isfinite(odds));
    ask(asked, named, 1);
    assert_true(fabs(seen.best - odds) < 1e-3);
    ask(asked, rest_bars, 1);
    const double odds_of_rest = seen.best;
    ask(asked, rest, 1);
    assert_true(fabs(seen.best - odds_of_rest) < 1e-3);
}

/* What shares words with the question but hardly answers it is not said beside what does; the rows of a table are. */
static void what_hardly_answers_is_not_said(void **state) {
    (void)state;
    static const struct {
        const char *question, *texts[2], *answer;
    } cases[] = {
        {"Which room seats 40 people?",
         {"Room | Floor | Seats | Projector\nDunlin | 2 | 6 | no\nEider | 2 | 40 | yes\n",
          "The room must have a window or a fan."},
         "Room: Eider; Floor: 2; Seats: 40; Projector: yes [1]"},
        {"When may I open the lid?",
         {"Never open the lid above 100 degrees: the draught cracks glazes and the heat burns.",
          "Display | Cause | What to do\nE1 | thermocouple broken | replace it\nE2 | lid open | "
          "close "
          "the lid; check the switch\n"},
         "Never open the lid above 100 degrees: the draught cracks glazes and the heat burns. [1]"},
        {"When does the ferry leave Holm?",
         {"departure from Holm | arrival at Skarv | days\n06:40 | 08:05 | Monday to Friday\n"
          "20:10 | 21:35 | Friday and Sunday\n",
          "The harbour of Holm was built in 1904."},
         "departure from Holm: 06:40; arrival at Skarv: 08:05; days: Monday to Friday [1]\n"
         "departure from Holm: 20:10; arrival at Skarv: 21:35; days: Friday and Sunday [2]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        passage p[2];
        fo_err err = {0};
        extractive_answer a;
        for (size_t k = 0; k < 2; k++)
            p[k] = (passage){.text = cases[i].texts[k],
                             .len = strlen(cases[i].texts[k]),
                             .title = "Handbook for new staff",
                             .sparse = 5};
        const extractive_input in = {.question = cases[i].question,
                                     .passages = p,
                                     .n_passages = 2,
                                     .lx = &lx,
                                     .reader = model,
                                     .min_support = -1};
        assert_ok(extractive_answer_make(&a, &in, &err), &err);
        assert_string_equal(a.text, cases[i].answer);
        extractive_answer_deinit(&a);
    }
}

/* What words would have said is refused where of all that was read nothing comes near to answering. */
static void what_nothing_read_answers_is_refused(void **state) {
    (void)state;
    static const char rash[] =
        "Raw urushi contains the same irritant as poison ivy, and about half of all beginners come "
        "out in a rash, which may appear only after some days.";
    static const char kettle[] = "The kettle is descaled in spring.";
    static const char wool[] = "Some get a rash from wool that was not washed for long.";
    static const struct {
        const char *question;
        bool answered;
    } cases[] = {{"How long does a rash from urushi last?", false},
                 {"Who comes out in a rash from raw urushi?", true}};
    const passage p[] = {{.text = rash, .len = strlen(rash), .title = "Urushi", .sparse = 5},
                         {.text = wool, .len = strlen(wool), .title = "Wool", .sparse = 4},
                         {.text = kettle, .len = strlen(kettle), .title = "Kitchen", .sparse = 1},
                         {.text = kettle, .len = strlen(kettle), .title = "House", .sparse = 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const extractive_input in = {.question = cases[i].question,
                                     .passages = p,
                                     .n_passages = sizeof p / sizeof *p,
                                     .lx = &lx,
                                     .reader = model};
        extractive_answer a;
        fo_err err = {0};
        assert_ok(extractive_answer_make(&a, &in, &err), &err);
        const double by_measures = support_probability(&a.features);
        if (by_measures < support_threshold || a.abstain == cases[i].answered ||
            (a.support >= support_threshold) != cases[i].answered)
            fail_msg("%s: %g, %g", cases[i].question, by_measures, a.support);
        extractive_answer_deinit(&a);
    }
}

/* A word that the named document never says is said there in other words where what reads both together finds the answer. */
static void a_synonym_is_no_lost_word(void **state) {
    (void)state;
    static const char text[] =
        "Pets are welcome for a fee of 10 euros a night. The lake is a short "
        "walk away.";
    const passage p = {
        .text = text, .len = strlen(text), .title = "House rules Hotel Seeblick", .sparse = 5};
    const size_t n_own = strlen("Hotel Seeblick");
    extractive_input in = {.question = "May I bring my dog to Hotel Seeblick?",
                           .passages = &p,
                           .n_passages = 1,
                           .n_own = &n_own,
                           .lx = &lx,
                           .reader = model,
                           .min_support = -1};
    extractive_answer a;
    fo_err err = {0};
    assert_ok(extractive_answer_make(&a, &in, &err), &err);
    if (a.features.lost_name > 0) fail_msg("dog: %g, %g", a.features.cross, a.support);
    extractive_answer_deinit(&a);
    in.question = "Is there a sauna at Hotel Seeblick?";
    assert_ok(extractive_answer_make(&a, &in, &err), &err);
    if (a.features.lost_name == 0) fail_msg("sauna: %g, %g", a.features.cross, a.support);
    extractive_answer_deinit(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_is_read_with_its_neighbours),
        cmocka_unit_test(short_passages_are_read_whole),
        cmocka_unit_test(a_long_unit_is_read_so_far),
        cmocka_unit_test(a_window_is_read_below_its_heading),
        cmocka_unit_test(another_language_is_left_to_the_words),
        cmocka_unit_test(records_are_read_as_rows_below_their_names),
        cmocka_unit_test(what_hardly_answers_is_not_said),
        cmocka_unit_test(what_nothing_read_answers_is_refused),
        cmocka_unit_test(a_synonym_is_no_lost_word),
    };
    return cmocka_run_group_tests(tests, open_reader, close_reader);
}
