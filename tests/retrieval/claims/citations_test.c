/* Checked citations: quotes that do not stand there, paraphrases that hold, facts that are wrong;
 * the best span for a sentence; and how often the check errs on true answers with one fact
 * swapped. */
#include "tests/test.h"

#include <ctype.h>
#include <math.h>
#include <cjson/cJSON.h>

#include "data/chunk/chunk.h"
#include "kernels/buf.h"
#include "retrieval/claims/citations.h"
#include "retrieval/text/facts.h"
#include "tests/retrieval/text/lexicon_fixture.h"

static support_check check(const char *sentence, const char *quote, const char *title) {
    support_check c;
    fo_err err = {0};
    assert_ok(citation_check(&c, &lx,
                             &(citation_claim){.sentence = sentence,
                                               .sentence_len = strlen(sentence),
                                               .quote = quote,
                                               .quote_len = strlen(quote),
                                               .stored = quote,
                                               .stored_len = strlen(quote),
                                               .end = strlen(quote),
                                               .title = title},
                             &err),
              &err);
    return c;
}

static void expect(const char *sentence, const char *quote, const char *reason) {
    support_check c = check(sentence, quote, "");
    if (strcmp(c.reason, reason) != 0 || c.verified != (reason[0] == 0))
        fail_msg("\"%s\" of \"%s\": '%s' (%.2f), not '%s'", sentence, quote, c.reason, c.coverage,
                 reason);
}

static void a_quote_must_stand_where_it_is_said_to(void **state) {
    (void)state;
    const char *stored = "Alpha runs. Beta walks.";
    support_check c;
    fo_err err = {0};
    citation_claim claim = {.sentence = "Beta walks.",
                            .sentence_len = 11,
                            .quote = "Beta walks.",
                            .quote_len = 11,
                            .stored = stored,
                            .stored_len = strlen(stored),
                            .start = 12,
                            .end = 23};
    assert_ok(citation_check(&c, &lx, &claim, &err), &err);
    assert_true(c.verified);
    struct {
        size_t start, end;
    } wrong[] = {{11, 22}, {12, 22}, {12, 24}, {23, 12}, {0, 11}, {SIZE_MAX - 10, SIZE_MAX}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        claim.start = wrong[i].start;
        claim.end = wrong[i].end;
        assert_ok(citation_check(&c, &lx, &claim, &err), &err);
        assert_false(c.verified);
        assert_string_equal(c.reason, "span");
    }
}

static const char *const quote =
    "On 7 June 1950, Kim Il-sung called for 3,500 delegates to a conference in Haeju, which the "
    "South did not attend, and about five percent of them stayed away.";

static void paraphrases_of_the_quote_hold(void **state) {
    (void)state;
    expect(quote, quote, "");
    expect("Kim Il-sung called for a conference in Haeju on June 7, 1950 [1].", quote, "");
    expect("3500 delegates were called to the conference.", quote, "");
    expect("The South did not attend the conference in Haeju.", quote, "");
    expect("5 % of them stayed away.", quote, "");
    expect("One of the delegates stayed away from the conference.", quote, "");
    expect("The South, whether or not it could, did not attend the conference.", quote, "");
    expect("The WHO called.", "The World Health Organization called.", "");
    expect("It is red.", "It is red, but not blue.", "");
    expect("This is No. 5 of the list.", "Number 5 of the list.", "");
}

static void a_wrong_fact_is_found(void **state) {
    (void)state;
    expect("On 8 June 1950, Kim Il-sung called for a conference in Haeju.", quote, "number");
    expect("He called for 3,600 delegates to a conference.", quote, "number");
    expect("About five kilometres of them stayed away.", quote, "number");
    expect("On 7 July 1950, Kim Il-sung called for a conference.", quote, "name");
    expect("Kim Il-sung called for a conference in Seoul.", quote, "name");
    expect("London is the capital of France.", "Paris is the capital of France.", "name");
    expect("Kim Il-sung did not call for a conference in Haeju.", quote, "negation");
    expect("The South did attend the conference.", quote, "negation");
    expect("All of them won.", "Not all of them won.", "negation");
    expect("They were only late.", "They were not only late but lost.", "negation");
    expect("They lost 2-2.", "They lost 2-1.", "number");
    expect("It is blue.", "It is red, but not blue.", "negation");
    expect("Elephants migrate across deserts because water is scarce.", quote, "coverage");
    expect("", quote, "empty");
    expect("[1]", quote, "empty");
}

static support_check find(size_t *a, size_t *b, const char *sentence, const char *p,
                          const char *title, reader *r) {
    support_check c;
    fo_err err = {0};
    assert_ok(citation_find(a, b, &c, &lx,
                            &(citation_search){.sentence = sentence,
                                               .sentence_len = strlen(sentence),
                                               .passage = p,
                                               .passage_len = strlen(p),
                                               .title = title,
                                               .asked = "How high is the tower?",
                                               .reader = r},
                            &err),
              &err);
    return c;
}

static void a_number_that_is_nearly_the_same_is_found(void **state) {
    (void)state;
    static const struct {
        const char *claim, *quote, *reason;
    } cases[] = {
        {"Die Frist endet am 17.3.2024.", "Die Frist endet am 16.3.2024 um Mitternacht.", "number"},
        {"Die Frist endet am 16.3.2024.", "Die Frist endet am 16.03.2024 um Mitternacht.", ""},
        {"The server is 10.0.0.6.", "The server is 10.0.0.5, the printer 10.0.0.7.", "number"},
        {"It runs on version 1.2.5.", "It runs on version 1.2.4 and later.", "number"},
        {"It runs on version 1.2.4.", "It runs on version v1.2.4 and later.", ""},
        {"It needs version 1.5b.", "It needs version 2.5b or later.", "number"},
        {"They meet in room 12B.", "They meet in room 12A every week.", "name"},
        {"They meet in room 12B.", "They meet in room 12B every week.", ""},
        {"The battery holds 40kWh.", "The battery holds 40 kWh when new.", ""},
        {"The switch has 40GbE ports.", "The switch has 10GbE ports in front.", "name"},
        {"The number is 4930123456.", "The number is 4930123457, day and night.", "number"},
        {"It needs Python 3.1 to run.", "It needs Python 3.10 to run or later.", "number"},
        {"It needs version 6.4 to run.", "It needs version 6.40 to run or later.", "number"},
        {"The ticket is sold for 6.4.", "The ticket is sold for 6.40 to all.", ""},
        {"The ticket is sold for 6.4.", "The ticket is sold for 6.41 to all.", "number"},
        {"The hall has 1,200 seats.",
         "The hall has 1\xE2\x80\xAF"
         "200 seats in rows.",
         ""},
        {"The hall has 1200 seats.", "The hall has 1,200 seats in rows.", ""},
        {"The hall has 1200 seats.", "The hall has 1,201 seats in rows.", "number"},
        {"A ticket costs 3.5 euros.", "A ticket costs 3.50 euros for all.", ""},
        {"The store is kept at 18 \xC2\xB0"
         "C.",
         "The store is kept at -18 \xC2\xB0"
         "C all year.",
         "number"},
        {"The store is kept at minus 18 \xC2\xB0"
         "C.",
         "The store is kept at \xE2\x88\x92"
         "18 \xC2\xB0"
         "C all year.",
         ""},
        {"The shop opens at 8 am.", "The shop opens at 8 pm in summer.", "number"},
        {"The shop opens at 8:30 am.", "The shop opens at 8:30 a.m. in summer.", ""},
        {"The shop opens at 8am.", "The shop opens at 8 am in summer.", ""},
        {"The shop closes at 17:00.", "The shop opens at 8:00 and closes at 17:30.", "number"},
        {"The shop closes at 17:30.", "The shop opens at 8:00 and closes at 17:30.", ""},
        {"The shop closes at 5:30 pm.", "The shop opens at 8:00 and closes at 17:30.", ""},
        {"The shop opens at 8 am.", "The shop opens at 8:00 and closes at 17:30.", ""},
        {"The shop opens at 8.30 am.", "The shop opens at 8:30 am and closes at 5 pm.", ""},
        {"The shop opens at 8:30.", "The shop opens at 8.30 am and closes at 5 pm.", ""},
        {"The shop opens at 8.40 am.", "The shop opens at 8:30 am and closes at 5 pm.", "number"},
        {"Der Laden \xC3\xB6"
         "ffnet um 8:30.",
         "Der Laden \xC3\xB6"
         "ffnet um 8.30 Uhr.",
         ""},
        {"Der Laden \xC3\xB6"
         "ffnet um 8.30 Uhr.",
         "Der Laden \xC3\xB6"
         "ffnet um 8:30.",
         ""},
        {"Der Laden \xC3\xB6"
         "ffnet um 8.30 Uhr.",
         "Der Laden \xC3\xB6"
         "ffnet um 9:30.",
         "number"},
        {"The shop opens at 8:00.", "The shop opens at 8 am and closes at 5 pm.", ""},
        {"The walk takes 2 hours.", "The walk takes 2\xC2\xBD hours.", "number"},
        {"The walk takes 2.5 hours.", "The walk takes 2\xC2\xBD hours.", ""},
        {"The walk takes 2 hours.", "The walk takes two and a half hours.", "number"},
        {"Add 1 cup of milk.", "Add 1\xC2\xBD cups of milk.", "number"},
        {"Add 2 cups of milk.", "Add 1/2 cup of milk.", "number"},
        {"Add 1/2 cup of milk.", "Add \xC2\xBD cup of milk.", ""},
        {"The board is 4 inches thick.", "The board is 3/4 inch thick.", "number"},
        {"The room has \xEF\xBC\x91\xEF\xBC\x93 seats.",
         "The room has \xEF\xBC\x91\xEF\xBC\x92 seats in rows.", "number"},
        {"The room has 12 seats.", "The room has \xD9\xA1\xD9\xA2 seats in rows.", ""},
        {"The disk has 10GB.", "The disk has 10 GB of space.", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(cases[i].claim, cases[i].quote, cases[i].reason);
    size_t a, b; /* of two rooms of one passage, the one that is meant */
    const char *p = "Room 12A is closed today. Room 12B has a bar.";
    assert_true(find(&a, &b, "Room 12B has a bar.", p, "", NULL).verified);
    assert_false(find(&a, &b, "Room 12A has a bar.", p, "", NULL).verified);
}

static void dates_are_the_same_however_they_are_written(void **state) {
    (void)state;
    static const struct {
        const char *claim, *quote;
        bool holds;
    } cases[] = {
        {"17.3.2024", "17 March 2024", true},
        {"17 March 2024", "17.03.2024", true},
        {"17/03/2024", "17 March 2024", true},
        {"March 17, 2024", "2024-03-17", true},
        {"17th of March 2024", "2024-03-17T10:00:00Z", true},
        {"2024-03-17", "17.3.2024", true},
        {"17 mars 2024", "17 March 2024", true},
        {"17. M\xC3\xA4rz 2024", "17 de marzo de 2024", true},
        {"17 March 2024", "17 \xD0\xBC\xD0\xB0\xD1\x80\xD1\x82\xD0\xB0 2024", true},
        {"3 April 2024", "03/04/2024", true},
        {"4 March 2024", "03/04/2024", true},
        {"17 March", "2024-03-17", true},
        {"March 2024", "17.3.2024", true},
        {"14 March 2024", "14 and 17 March 2024", true},
        {"17 March 2024", "17 March, the last day of the year 2024", true},
        {"17.03.24", "17 March 2024", true},
        {"17 March 2024", "17.03.24", true},
        {"17.03.24", "17.3.2024", true},
        {"17.03.98", "17 March 1998", true},
        {"17-Mar-2024", "17 March 2024", true},
        {"17 March 2024", "17-Mar-2024", true},
        {"17-Mar-24", "2024-03-17", true},
        {"17. M\xC3\xA4rz", "Sonntag, den 17.3., or later", true},
        {"17 March", "Fr., 17.3. - 20.3.", true},
        {"20 March", "17.3. - 20.3., or later", true},
        {"17.3. um 10 Uhr", "17. M\xC3\xA4rz um 10 Uhr", true},
        {"17.04.24", "17 March 2024", false},
        {"18 March 2024", "17.03.24", false},
        {"17 March 2023", "17.03.24", false},
        {"17-Apr-2024", "17 March 2024", false},
        {"18 March 2024", "17-Mar-2024", false},
        {"18. M\xC3\xA4rz", "Sonntag, den 17.3., or later", false},
        {"17. April", "Sonntag, den 17.3., or later", false},
        {"17.4.2024", "17 March 2024", false},
        {"17 March 2024", "17.3.2023", false},
        {"17/04/2024", "17 March 2024", false},
        {"5 March 2024", "03/04/2024", false},
        {"04/03/2024", "03/04/2024", false},
        {"2024-03-04", "2024-04-03", false},
        {"4 April 2024", "2024-03-04", false},
        {"14 March 2024", "17 March 2024, not the 14.4.2024", false},
        {"14 March 2024", "14 April 2024 till 17 March 2024", false},
        {"17 abril 2024", "17 March 2024 till May", false},
        {"April 2024", "17.3.2024", false},
        {"17 March 2024", "17 March, the last day of the year 2023", false},
    };
    char claim[128], where[128];
    size_t a, b;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(claim, sizeof claim, "The offer closes on %s.", cases[i].claim);
        snprintf(where, sizeof where, "The offer closes on %s.", cases[i].quote);
        const support_check c = check(claim, where, "");
        if (c.verified != cases[i].holds)
            fail_msg("%s of %s: '%s'", cases[i].claim, cases[i].quote, c.reason);
        if (find(&a, &b, claim, where, "", NULL).verified != cases[i].holds)
            fail_msg("%s found in %s", cases[i].claim, cases[i].quote);
    }
    expect("In 2024 the offer closes.", "The offer closes on 17.3.2024.", "");
    expect("In 2023 the offer closes.", "The offer closes on 17.3.2024.", "number");
    expect("They lost 2-2 on 2.3.2024.", "They lost 2-1 on 2 March 2024.", "number");
    expect("They lost 2-1 on 2.3.2024.", "They lost 2-1 on 2 March 2024.", "");
    expect("The first 5 can enter it.", "The first 5 may enter it.", "");
}

static void the_title_may_name_the_subject(void **state) {
    (void)state;
    const char *q = "She was queen for 63 years.";
    assert_false(check("Victoria was queen for 63 years.", q, "").verified);
    assert_true(check("Victoria was queen for 63 years.", q, "Queen Victoria").verified);
    /* but not for another name, nor where nothing points at the subject */
    assert_false(check("She was queen of Victoria for 63 years.", q, "Queen Victoria").verified);
    q = "Albert wrote letters for 63 years.";
    assert_false(check("Victoria wrote letters for 63 years.", q, "Queen Victoria").verified);
}

static void the_best_span_of_a_passage_is_found(void **state) {
    (void)state;
    const char *p = "The bridge opened in 1932. It is 503 metres long. Tolls were paid until 1988. "
                    "Engineers praised it.";
    size_t a, b;
    support_check c = find(&a, &b, "The toll was paid until 1988 [2].", p, "Bridge", NULL);
    assert_true(c.verified);
    assert_int_equal(b - a, strlen("Tolls were paid until 1988."));
    assert_memory_equal(p + a, "Tolls", 5);
    c = find(&a, &b, "The bridge, opened in 1932, is 503 metres long.", p, "", NULL);
    assert_true(c.verified);
    assert_int_equal(a, 0);
    assert_memory_equal(p + b - 5, "long.", 5);
    const char *none = "The bridge, opened in 1933, is 503 metres long.";
    assert_false(find(&a, &b, none, p, "", NULL).verified);
    /* a denial is of what its own sentence denies */
    p = "It eats fish and frogs. It does not eat bread.";
    assert_false(find(&a, &b, "It does not eat fish.", p, "", NULL).verified);
    assert_false(find(&a, &b, "It does not eat the fish.", p, "", NULL).verified);
    assert_true(find(&a, &b, "It does not eat bread.", p, "", NULL).verified);
    assert_false(find(&a, &b, none, "", NULL, NULL).verified);
    assert_true(a == 0 && b == 0);
}

/* The words of one sentence, told of what another sentence names. */
static void a_name_keeps_its_place(void **state) {
    (void)state;
    static const char *const passage = "Madrid won the cup in Rome in May. Barcelona lost the "
                                       "final by three goals. Its coach, Luis Moreno, stayed. "
                                       "The World Health Organization sent a doctor to the team. "
                                       "The doctor was Anna Berg of Oslo.";
    static const struct {
        const char *claim;
        bool holds;
    } cases[] = {
        {"Madrid won the cup in Rome.", true},
        {"Barcelona won the cup in Rome.", false},
        {"Madrid won the cup in Oslo in May.", false},
        {"In May, in Rome, Madrid won the cup.", true},
        {"Barcelona's coach, Luis Moreno, stayed.", true},
        {"Its coach, Moreno, stayed.", true},
        {"Its coach, Anna Berg, stayed.", false},
        {"The WHO sent a doctor to the team.", true},
        {"The doctor was Luis Moreno of Oslo.", false},
        {"Madrid won the cup in Rome and Barcelona lost the final.", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t a, b;
        support_check c = find(&a, &b, cases[i].claim, passage, "The cup", NULL);
        if (c.verified != cases[i].holds) fail_msg("%s: %s", cases[i].claim, c.reason);
        if (!cases[i].holds) assert_string_equal(c.reason, "name");
    }
}

static reader *open_reader(void) {
    fo_err err = {0};
    reader *r;
    assert_ok(reader_open(&r, NULL, &(reader_options){.cache_bytes = 64 << 20}, &err), &err);
    return r;
}

/* A word that the support lacks: another one for the same, or another thing. */
static void other_words_are_read(void **state) {
    (void)state;
    static const struct {
        const char *claim, *passage;
        bool holds;
    } cases[] = {
        {"The tower is 300 metres tall.", "The tower is 300 metres high. It is made of iron.",
         true},
        {"The height of the tower is 300 metres.",
         "The tower is 300 metres high. It is made of iron.", true},
        {"The answer is 300 metres high.", "The tower is 300 metres high. It is made of iron.",
         true},
        {"The tower sold 300 metres high.", "The tower is 300 metres high. It is made of iron.",
         false},
        {"The sausage is 300 metres high.", "The tower is 300 metres high. It is made of iron.",
         false},
        {"The tower is made of iron and bananas.",
         "The tower is 300 metres high. It is made of iron.", false},
    };
    reader *r = open_reader();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t a, b;
        support_check c = find(&a, &b, cases[i].claim, cases[i].passage, "Iron tower", r);
        if (c.verified != cases[i].holds) fail_msg("%s: %s", cases[i].claim, c.reason);
        if (!c.verified) assert_string_equal(c.reason, "word");
    }
    /* Behind all that is read of a passage, the support is read by itself. */
    fo_buf b = {0};
    for (int i = 0; i < 300; i++) fo_buf_printf(&b, "Number %d of the list. ", i);
    fo_buf_str(&b, "The tower is 300 metres high.");
    size_t from, to;
    assert_true(find(&from, &to, "The tower is 300 metres tall.", b.data, "", r).verified);
    assert_false(find(&from, &to, "The sausage is 300 metres high.", b.data, "", r).verified);
    fo_buf_free(&b);
    reader_close(r);
}

/* ---- measured on real sentences with one fact changed ------------------------------------- */

enum { MAX_PASSAGES = 20000, N_ROUNDS = 4000, DF_SLOTS = 1 << 18 };

static struct {
    char *text[MAX_PASSAGES], *title[MAX_PASSAGES];
    size_t n;
    struct {
        uint64_t key;
        uint32_t df;
    } df[DF_SLOTS];
} corpus;

static uint64_t key_of(const char *s, size_t n) {
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < n; i++) h = (h ^ (unsigned char)s[i]) * 1099511628211u;
    return h ? h : 1;
}

static uint32_t *df_of(const char *s, size_t n) {
    uint64_t key = key_of(s, n), at = key;
    while (corpus.df[at % DF_SLOTS].key && corpus.df[at % DF_SLOTS].key != key) at++;
    corpus.df[at % DF_SLOTS].key = key;
    return &corpus.df[at % DF_SLOTS].df;
}

static int count_term(void *ctx, const analyzed_term *t) {
    (void)ctx;
    ++*df_of(t->term, t->len);
    return 0;
}

static float corpus_idf(void *ctx, const char *s, size_t n) {
    (void)ctx;
    double df = *df_of(s, n);
    return (float)log(1 + (double)corpus.n * 40 / (df + 0.5));
}

static bool load_corpus(void) {
    const char *path = test_shared("eval/squad/corpus.jsonl");
    FILE *f = path ? fopen(path, "r") : NULL;
    if (!f) return false;
    char *line = NULL;
    size_t cap = 0;
    for (size_t i = 0; getline(&line, &cap, f) > 0 && corpus.n < MAX_PASSAGES; i++) {
        if (i % 4) continue; /* a quarter is plenty */
        cJSON *d = cJSON_Parse(line);
        corpus.title[corpus.n] = strdup(cJSON_GetStringValue(cJSON_GetObjectItem(d, "title")));
        char *text = strdup(cJSON_GetStringValue(cJSON_GetObjectItem(d, "text")));
        corpus.text[corpus.n++] = text;
        analyze(lx.analyzer, text, strlen(text), count_term, NULL);
        cJSON_Delete(d);
    }
    free(line);
    fclose(f);
    return true;
}

typedef struct span {
    size_t start, end;
} span;

static char *replaced(const char *s, span at, const char *with) {
    fo_buf b = {0};
    fo_buf_add(&b, s, at.start);
    fo_buf_str(&b, with);
    fo_buf_str(&b, s + at.end);
    return fo_buf_take(&b, NULL);
}

static char *cut(const char *s, size_t a, size_t b) {
    return strndup(s + a, b - a);
}

/* A run of capitalised words inside the sentence: a name. False: it has none. */
static bool pick_name(const fact_text *t, uint64_t *seed, span *out) {
    size_t found = 0;
    for (size_t i = 1; i < t->n_words; i++) {
        const fact_word *w = &t->words[i];
        if (!(w->flags & WORD_CAPITAL) ||
            (w->flags & (WORD_STOP | WORD_PART | WORD_INITIAL | WORD_DIGIT)))
            continue;
        size_t end = i;
        while (end + 1 < t->n_words && t->words[end + 1].start == t->words[end].end + 1 &&
               t->text[t->words[end].end] == ' ' && (t->words[end + 1].flags & WORD_CAPITAL) &&
               !(t->words[end + 1].flags & WORD_INITIAL))
            end++;
        if (test_random(seed) % ++found == 0) *out = (span){w->start, t->words[end].end};
        i = end;
    }
    return found > 0;
}

static bool pick_number(const char *s, uint64_t *seed, span *out, double *value) {
    fact_numbers f = {0};
    fo_err err = {0};
    assert_ok(fact_numbers_read(&f, s, strlen(s), &err), &err);
    size_t strong = 0;
    for (size_t i = 0; i < f.n; i++) {
        if (f.v[i].weak || test_random(seed) % ++strong != 0) continue;
        *out = (span){f.v[i].start, f.v[i].end};
        *value = f.v[i].value;
    }
    fact_numbers_deinit(&f);
    return strong > 0;
}

/* "was" becomes "was not", "did not" loses its not. NULL: no place for either. */
static char *negate(const char *s) {
    static const char *const deny[] = {" not ", " never ", " no "};
    for (size_t i = 0; i < sizeof deny / sizeof *deny; i++) {
        const char *at = strstr(s, deny[i]);
        if (at && strncmp(at, " not only", 9) != 0 && strncmp(at, " no longer", 10) != 0 &&
            !(i == 2 && isdigit((unsigned char)at[4])))
            return replaced(s, (span){(size_t)(at - s), (size_t)(at - s) + strlen(deny[i]) - 1},
                            "");
    }
    static const char *const verbs[] = {" was ", " were ", " is ",   " are ",   " has ",
                                        " had ", " can ",  " will ", " could ", " would "};
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        const char *at = strstr(s, verbs[i]);
        if (!at) continue;
        size_t end = (size_t)(at - s) + strlen(verbs[i]);
        return replaced(s, (span){end, end}, "not ");
    }
    return NULL;
}

/* What stays true of a sentence: its part before the last comma, or behind the first; without a
 * bracket; with numbers or dates written otherwise. NULL: nothing of the kind applies. */
static char *paraphrase(const char *s, unsigned kind, const char *title) {
    size_t n = strlen(s);
    const char *first = strstr(s, ", "), *last = NULL;
    for (const char *p = first; p; p = strstr(p + 1, ", ")) last = p;
    switch (kind) {
    case 0:
        return last && (size_t)(last - s) > n / 3 ? cut(s, 0, (size_t)(last - s)) : NULL;
    case 1:
        return first && (size_t)(first - s) < 2 * n / 3 ? cut(s, (size_t)(first - s) + 2, n) : NULL;
    case 2: {
        const char *open = strstr(s, " ("), *close = open ? strchr(open, ')') : NULL;
        return close ? replaced(s, (span){(size_t)(open - s), (size_t)(close - s) + 1}, "") : NULL;
    }
    case 3: {
        const char *c = strchr(s, ',');
        if (!c || c == s || !isdigit((unsigned char)c[-1]) || !isdigit((unsigned char)c[1]))
            return NULL;
        return replaced(s, (span){(size_t)(c - s), (size_t)(c - s) + 1}, "");
    }
    case 4: /* what came last comes first */
        if (!last || last == s) return NULL;
        {
            fo_buf b = {0};
            size_t stop = n - (s[n - 1] == '.');
            fo_buf_add(&b, last + 2, stop - (size_t)(last - s) - 2);
            fo_buf_str(&b, ", ");
            fo_buf_add(&b, s, (size_t)(last - s));
            return fo_buf_take(&b, NULL);
        }
    case 5: /* a pronoun becomes the subject that the title names */
        if (strncmp(s, "It ", 3) != 0 && strncmp(s, "He ", 3) != 0 && strncmp(s, "She ", 4) != 0)
            return NULL;
        return replaced(s, (span){0, strcspn(s, " ")}, title);
    default:
        return NULL;
    }
}

/* "A b c. D e f, g." becomes "A b c, and D e f." */
static char *joined(const char *text, const fact_sentence *a, const fact_sentence *b) {
    fo_buf out = {0};
    fo_buf_add(&out, text + a->start, a->end - 1 - a->start);
    fo_buf_str(&out, ", and ");
    size_t end = b->start;
    while (end < b->end && text[end] != ',' && text[end] != '.') end++;
    fo_buf_add(&out, text + b->start, end - b->start);
    fo_buf_char(&out, '.');
    return fo_buf_take(&out, NULL);
}

typedef struct tally {
    const char *name;
    bool truth;
    size_t n, accepted, found; /* found: citation_find over the whole passage accepts */
    size_t n_read, read;       /* ... and does with the reader, of those that it was asked for */
} tally;

enum { READ_EACH = 8 }; /* claims; a reading takes milliseconds */
static reader *reads;

static void judge(tally *t, const char *claim, const char *sentence, const char *passage,
                  const char *title) {
    if (!claim || strcmp(claim, sentence) == 0) return;
    support_check c = check(claim, sentence, title);
    size_t a, b;
    t->n++;
    t->accepted += c.verified;
    t->found += find(&a, &b, claim, passage, title, NULL).verified;
    if (t->n % READ_EACH) return;
    t->n_read++;
    t->read += find(&a, &b, claim, passage, title, reads).verified;
}

/* What a word ends in tells its kind well enough to put another of it in its place. */
static size_t ending_of(const char *s, size_t n) {
    static const char *const endings[] = {"ing", "ed",  "tion", "ly", "ment",
                                          "ity", "ous", "ive",  "s"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t m = strlen(endings[i]);
        if (n > m && memcmp(s + n - m, endings[i], m) == 0) return i + 1;
    }
    return 0;
}

/* One word of weight, in small letters, of five or more. ending: SIZE_MAX, or of which kind. */
static bool pick_word(const fact_text *t, uint64_t *seed, size_t ending, span *out) {
    size_t found = 0;
    for (size_t i = 0; i < t->n_words; i++) {
        const fact_word *w = &t->words[i];
        size_t n = w->end - w->start;
        const char *s = t->text + w->start;
        if ((w->flags & (WORD_STOP | WORD_PART | WORD_CAPITAL | WORD_DIGIT | WORD_NUMERAL)) ||
            n < 5)
            continue;
        if (ending != SIZE_MAX && ending_of(s, n) != ending) continue;
        bool plain = true;
        for (size_t k = 0; k < n; k++) plain &= s[k] >= 'a' && s[k] <= 'z';
        if (plain && test_random(seed) % ++found == 0) *out = (span){w->start, w->end};
    }
    return found > 0;
}

static void one_swapped_fact_is_told_from_a_true_answer(void **state) {
    (void)state;
    lx.idf = corpus_idf;
    if (!load_corpus()) {
        lx.idf = NULL;
        skip();
    }
    uint64_t seed = test_seed();
    enum { COPY, PARAPHRASE, JOINED, NUMBER, NAME_FAR, NAME_NEAR, NEGATION, WORD, KINDS };
    tally t[KINDS] = {[COPY] = {"the sentence itself", true, 0, 0, 0, 0, 0},
                      [PARAPHRASE] = {"true paraphrase", true, 0, 0, 0, 0, 0},
                      [JOINED] = {"two sentences made one", true, 0, 0, 0, 0, 0},
                      [NUMBER] = {"number swapped", false, 0, 0, 0, 0, 0},
                      [NAME_FAR] = {"name of another article", false, 0, 0, 0, 0, 0},
                      [NAME_NEAR] = {"name of the same passage", false, 0, 0, 0, 0, 0},
                      [NEGATION] = {"negation put in or taken out", false, 0, 0, 0, 0, 0},
                      [WORD] = {"another verb or noun", false, 0, 0, 0, 0, 0}};
    reads = open_reader();
    fact_text words = {0}, other = {0};
    fo_err err = {0};
    for (int round = 0; round < N_ROUNDS; round++) {
        size_t p = test_random(&seed) % corpus.n, o = test_random(&seed) % corpus.n;
        const char *text = corpus.text[p], *title = corpus.title[p];
        assert_ok(fact_text_read(&words, lx.analyzer, text, strlen(text), &err), &err);
        if (words.n_sentences == 0) continue;
        size_t which = test_random(&seed) % words.n_sentences;
        fact_sentence at = words.sentences[which];
        if (at.w1 - at.w0 < 8) continue;
        fact_sentence next = which + 1 < words.n_sentences ? words.sentences[which + 1] : at;
        char *s = cut(text, at.start, at.end), *claim = NULL;
        /* with a marker behind it the claim is not the quote itself: the facts are compared */
        claim = replaced(s, (span){strlen(s), strlen(s)}, " [1]");
        judge(&t[COPY], claim, s, text, title);
        free(claim);
        claim = paraphrase(s, (unsigned)(test_random(&seed) % 6), title);
        judge(&t[PARAPHRASE], claim, s, text, title);
        free(claim);
        if (next.start > at.start && text[at.end - 1] == '.') {
            claim = joined(text, &at, &next);
            judge(&t[JOINED], claim, s, text, title);
            free(claim);
        }
        span where = {0}, source = {0};
        double value = 0, fresh;
        if (pick_number(s, &seed, &where, &value)) {
            char with[40];
            do
                fresh = floor(value * (0.5 + test_uniform(&seed)) + 1 +
                              (double)(test_random(&seed) % 9));
            while (fresh == value);
            snprintf(with, sizeof with, "%.0f", fresh);
            claim = replaced(s, where, with);
            judge(&t[NUMBER], claim, s, text, title);
            free(claim);
        }
        assert_ok(fact_text_read(&other, lx.analyzer, corpus.text[o], strlen(corpus.text[o]), &err),
                  &err);
        char *copy = strdup(s);
        assert_ok(fact_text_read(&words, lx.analyzer, copy, strlen(copy), &err), &err);
        bool named = pick_name(&words, &seed, &where);
        if (named && strcmp(title, corpus.title[o]) != 0 && pick_name(&other, &seed, &source)) {
            char *with = cut(corpus.text[o], source.start, source.end);
            claim = strstr(s, with) || strstr(title, with) ? NULL : replaced(s, where, with);
            judge(&t[NAME_FAR], claim, s, text, title);
            free(claim);
            free(with);
        }
        if (pick_word(&words, &seed, SIZE_MAX, &where) &&
            pick_word(&other, &seed, ending_of(copy + where.start, where.end - where.start),
                      &source)) {
            char *with = cut(corpus.text[o], source.start, source.end);
            claim = strstr(text, with) || strstr(title, with) ? NULL : replaced(s, where, with);
            judge(&t[WORD], claim, s, text, title);
            free(claim);
            free(with);
        }
        named = pick_name(&words, &seed, &where);
        assert_ok(fact_text_read(&other, lx.analyzer, text, strlen(text), &err), &err);
        if (named && pick_name(&other, &seed, &source)) {
            char *with = cut(text, source.start, source.end);
            claim = strstr(s, with) ? NULL : replaced(s, where, with);
            judge(&t[NAME_NEAR], claim, s, text, title);
            free(claim);
            free(with);
        }
        claim = negate(s);
        judge(&t[NEGATION], claim, s, text, title);
        free(claim);
        free(copy);
        free(s);
    }
    for (size_t i = 0; i < KINDS; i++)
        print_message(
            "%-30s %5zu cases, accepted %.4f, with the span looked for %.4f, read %.4f of "
            "%zu\n",
            t[i].name, t[i].n, (double)t[i].accepted / (double)t[i].n,
            (double)t[i].found / (double)t[i].n, (double)t[i].read / (double)t[i].n_read,
            t[i].n_read);
    /* measured at the fixed seed: 1.000 .998 - / .001 .000 .009 .006, and with the span looked for
     * 1.000 .998 .825 / .010 .000 .011 .010; the bounds leave room for other seeds */
    static const double bounds[KINDS][2] = {
        [COPY] = {1, 1},          [PARAPHRASE] = {.98, .98}, [JOINED] = {0, .78},
        [NUMBER] = {.005, .025},  [NAME_FAR] = {.005, .005}, [NAME_NEAR] = {.02, .03},
        [NEGATION] = {.015, .02}, [WORD] = {1, 1}, /* words alone do not tell */
    };
    static const double bounds_read[KINDS] = {
        [COPY] = 1,       [PARAPHRASE] = .98, [JOINED] = .78,   [NUMBER] = .03,
        [NAME_FAR] = .01, [NAME_NEAR] = .03,  [NEGATION] = .03, [WORD] = .12,
    };
    for (size_t i = 0; i < KINDS; i++) {
        double n = (double)t[i].n, fixed = (double)t[i].accepted / n,
               found = (double)t[i].found / n;
        assert_true(t[i].n > 200);
        if (t[i].truth ? fixed < bounds[i][0] || found < bounds[i][1]
                       : fixed > bounds[i][0] || found > bounds[i][1])
            fail_msg("%s: %.4f %.4f", t[i].name, fixed, found);
        double read = (double)t[i].read / (double)t[i].n_read;
        if (t[i].truth ? read < bounds_read[i] : read > bounds_read[i])
            fail_msg("%s, read: %.4f", t[i].name, read);
    }
    reader_close(reads);
    fact_text_deinit(&words);
    fact_text_deinit(&other);
    for (size_t i = 0; i < corpus.n; i++) {
        free(corpus.text[i]);
        free(corpus.title[i]);
    }
    lx.idf = NULL;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_quote_must_stand_where_it_is_said_to),
        cmocka_unit_test(paraphrases_of_the_quote_hold),
        cmocka_unit_test(a_wrong_fact_is_found),
        cmocka_unit_test(a_number_that_is_nearly_the_same_is_found),
        cmocka_unit_test(dates_are_the_same_however_they_are_written),
        cmocka_unit_test(the_title_may_name_the_subject),
        cmocka_unit_test(the_best_span_of_a_passage_is_found),
        cmocka_unit_test(a_name_keeps_its_place),
        cmocka_unit_test(other_words_are_read),
        cmocka_unit_test(one_swapped_fact_is_told_from_a_true_answer),
    };
    return cmocka_run_group_tests(tests, open_lexicon, close_lexicon);
}
