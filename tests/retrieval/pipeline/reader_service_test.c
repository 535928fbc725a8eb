/* reader_service_test.c - what the reader changes in a service: answers in other words than the
 * question's, the order of contexts, and how it is asked for or left out. */
#include "tests/test.h"

#include <math.h>

#include "kernels/buf.h"
#include "retrieval/service/service.h"
#include "tests/retrieval/service/damaged_page.h"
#include "tests/retrieval/service/home_fixture.h"

static const char *const documents[][2] = {
    {"power",
     "Power at the station\n\nThe generator burns 2.5 litres of diesel an hour. It is serviced "
     "every May. The solar panels give 4 kilowatts on a bright day."},
    {"boats",
     "Boats\n\nThe rowing boat may be used on the lake. The punts carry three persons each."},
    {"birds", "Birds\n\nIn spring the cranes rest on the meadows. Nobody goes there before noon."},
    {"codes", "Codes\n\ncode | meaning\nE1 | pressure too low\nE3 | ice on the evaporator\n"},
    {"tool",
     "fenlog - copies the logger\n\nOPTIONS\n\n-q, --quiet\nSay nothing unless something is "
     "wrong.\n-n, --dry-run\nCheck the rows but write nothing.\n"},
    {"mv",
     ".TH MV 1\n.SH NAME\nmv \\- move (rename) files\n.SH SYNOPSIS\nmv [OPTION] SOURCE DEST\n.SH "
     "OPTIONS\n.TP\n-n, --no-clobber\nDo not overwrite an existing file.\n.TP\n-v\nSay what is "
     "done to each file.\n"},
    {"releases", "Releases\n\nThe team rolls version 4.3 out on Thursday."},
    {"filter",
     "The filter is cleaned twice a year. To clean the filter:\n\n1. Switch off the breaker.\n"
     "2. Close both valves.\n3. Rinse the sieve.\n"},
    {"fire",
     "Fire\n\nThe alarm is a rising tone. Leave by the nearest door and meet at the flagpole. "
     "Nobody goes back in.\n\n"
     "Peat fires\n\nPeat burns below the ground. A smouldering place is watched for two days.\n"},
    {"asked",
     "Questions of guests\n\nWhere may I leave my car?\n\nBehind the barn. Not on the dyke.\n\n"
     "Can I stay for the night?\n\nYes, from April on: four beds are free for guests.\n\n"
     "What happens if I lose the key?\n\nThe deposit is kept, and the warden lets you in.\n"},
    {"jardim", "# Jardim de Inf\u00E2ncia do moinho\n\n## Perguntas frequentes\n\n### Quem pode ir "
               "buscar o meu filho?\n\n"
               "Apenas as pessoas indicadas na ficha.\n\n### Quando fecha o jardim?\n\nNos "
               "feriados, de 24 de dezembro a 1 de "
               "janeiro e na segunda quinzena de agosto. Na primeira quinzena de agosto abre uma "
               "sala para todas as idades.\n\n"
               "### At\u00E9 quando se fazem as inscri\u00E7\u00F5es?\n\nAs renova\u00E7\u00F5es "
               "s\u00E3o de 1 a 30 de abril; as primeiras "
               "inscri\u00E7\u00F5es, de 2 a 31 de maio. A taxa de inscri\u00E7\u00E3o \u00E9 de "
               "35 euros.\n"},
    {"words", "Words\n\nword | means\npunt | a flat boat that is pushed with a pole\n"},
};

static char *home;
static service *with, *without;

static service *open_with(const char *reader) {
    fo_err err = {0};
    service *s;
    service_options o = {
        .home = home, .n_threads = 2, .reader = reader, .read_only = reader != NULL};
    assert_ok(service_open(&s, &o, &err), &err);
    return s;
}

static query_result ask(service *s, const char *question) {
    fo_err err = {0};
    query_result r = {0};
    query_request q = {.tenant = "default",
                       .collection = "default",
                       .query = question,
                       .generate = true,
                       .strict = true,
                       .cache = CACHE_BYPASS,
                       .search = {.alpha = -1}};
    assert_ok(service_query(s, &q, NULL, &r, &err), &err);
    return r;
}

static void expect(const char *question, const char *want) {
    query_result r = ask(with, question);
    if (!want && r.status == QUERY_ANSWERED) fail_msg("%s: %s", question, r.answer);
    if (want && !strstr(r.answer, want))
        fail_msg("%s: '%s' (support %.2f)", question, r.answer, r.support);
    for (size_t i = 0; i < r.n_citations; i++) assert_true(r.citations[i].verified);
    query_result_deinit(&r);
}

static void units_are_answered_whole(void **state) {
    (void)state;
    expect("What does error code E3 mean?", "code: E3; meaning: ice on the evaporator [1]");
    expect("How do I clean the filter?",
           "To clean the filter:\n1. Switch off the breaker.\n2. Close both "
           "valves.\n3. Rinse the sieve. [1]");
    expect("Which option of fenlog checks the rows without writing?",
           "-n, --dry-run: Check the rows but write nothing.");
}

/* A subject alone, or asked about in general: what its section begins with, never the heading itself. What is asked of it in
 * particular is answered by what says it, or refused. */
static void a_subject_is_answered_by_its_section(void **state) {
    (void)state;
    static const char opening[] =
        "The alarm is a rising tone. Leave by the nearest door and meet at the flagpole. "
        "Nobody goes back in. [1]";
    expect("fire", opening);
    expect("What do I do when there is a fire?", opening);
    expect("peat fires",
           "Peat burns below the ground. A smouldering place is watched for two days. [1]");
    expect("birds", "In spring the cranes rest on the meadows.");
    expect("When is the fire drill?", NULL);
    expect("Which fires are watched for two days?", "A smouldering place is watched for two days.");
}

/* What a page asks itself is answered by what stands below, also where others ask it in other words; what nobody asked there is
 * not. */
static void the_answer_stands_below_the_question(void **state) {
    (void)state;
    expect("Where may I leave my car?", "Behind the barn. Not on the dyke. [1]");
    expect("Where can I park the car?", "Behind the barn. Not on the dyke. [1]");
    expect("Is it possible to stay the night?",
           "Yes, from April on: four beds are free for guests. [1]");
    /* "fazem" is no other thing than what is asked about */
    expect("Quando s\u00E3o as primeiras inscri\u00E7\u00F5es no jardim de inf\u00E2ncia?",
           "de 2 a 31 de maio. A taxa de inscri\u00E7\u00E3o");
    expect("Where may I leave my luggage?", NULL);
    expect("Can I get breakfast?", NULL);
}

/* The same words about another thing are another question. */
static void a_question_about_another_thing_is_another_one(void **state) {
    (void)state;
    static const char deposit[] = "The deposit is kept, and the warden lets you in. [1]";
    expect("What happens if I lose the key?", deposit);
    expect("What happens when somebody loses the key?", deposit);
    expect("What happens if I lose the bicycle?", NULL);
    expect("What happens if I lose a tooth?", NULL);
}

static void a_term_is_explained_where_others_use_it(void **state) {
    (void)state;
    expect("What is a punt?", "word: punt; means: a flat boat that is pushed with a pole [1]");
}

/* The words that answer are told where they are asked for, also of an answer that was kept; where no few words answer, the
 * answer stands alone. */
static void the_few_words_that_answer_are_told(void **state) {
    (void)state;
    static const struct {
        const char *question, *words; /* what they begin with */
    } cases[] = {{"How much diesel does the generator burn?", "2.5 litres of diesel an hour"},
                 {"How many persons does a punt carry?", "three persons"},
                 {"How do I clean the filter?", NULL},
                 {"Who invented the zeppelin?", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int k = 0; k < 4; k++) { /* not asked for; asked for; from memory; not in memory */
            query_request q = {.tenant = "default",
                               .collection = "default",
                               .query = cases[i].question,
                               .generate = true,
                               .strict = true,
                               .short_answer = k > 0,
                               .cache = k == 3 ? CACHE_BYPASS : CACHE_DEFAULT,
                               .search = {.alpha = -1}};
            query_result r = {0};
            fo_err err = {0};
            assert_ok(service_query(with, &q, NULL, &r, &err), &err);
            const size_t from = r.short_answer.start, to = r.short_answer.end;
            if (k == 0 || !cases[i].words) {
                if (to > from)
                    fail_msg("%s: '%.*s'", cases[i].question, (int)(to - from), r.answer + from);
            } else if (to - from < strlen(cases[i].words) || to - from > 30 ||
                       memcmp(r.answer + from, cases[i].words, strlen(cases[i].words)) != 0)
                fail_msg("%s: '%.*s'", cases[i].question, (int)(to - from), r.answer + from);
            query_result_deinit(&r);
        }
    }
}

/* Where nobody knows the command's name, what it does is the answer; where it is said, its option. */
static void a_command_is_found_by_what_it_does(void **state) {
    (void)state;
    expect("How do I rename a file?", "mv - move (rename) files [1]");
    expect("How do I make mv keep existing files?", "-n, --no-clobber: Do not overwrite");
}

static void another_version_is_no_answer(void **state) {
    (void)state;
    expect("When is version 4.3 rolled out?", "The team rolls version 4.3 out on Thursday.");
    expect("When is version 4.4 rolled out?", NULL);
}

/* Events of a stream: a contexts event is told before any word of the answer. */
typedef struct told {
    int contexts, tokens;
} told;

static int hear_contexts(void *ctx, const query_result *partial) {
    (void)partial;
    told *t = ctx;
    assert_int_equal(t->tokens, 0);
    t->contexts++;
    return 0;
}

static int hear_token(void *ctx, const char *text, size_t len) {
    (void)text, (void)len;
    ((told *)ctx)->tokens++;
    return 0;
}

/* The question in a conversation, behind two messages. */
static query_request behind(const query_message *before, const char *question) {
    return (query_request){.tenant = "default",
                           .collection = "default",
                           .query = question,
                           .messages = before,
                           .n_messages = 2,
                           .generate = true,
                           .strict = true,
                           .cache = CACHE_BYPASS,
                           .search = {.alpha = -1}};
}

static void a_follow_up_is_answered_as_it_was_meant(void **state) {
    (void)state;
    fo_err err = {0};
    query_message before[] = {{"user", "Where may the rowing boat be used?"},
                              {"assistant", "The rowing boat may be used on the lake."}};
    query_request q = behind(before, "thanks! and how many persons do the punts carry?");
    query_result r = {0};
    assert_ok(service_query(with, &q, NULL, &r, &err), &err);
    assert_non_null(strstr(r.answer, "The punts carry three persons each."));
    query_result_deinit(&r);
    q.query = "Thank you very much!"; /* asks nothing */
    told t = {0};
    query_sink sink = {.ctx = &t, .contexts = hear_contexts, .token = hear_token};
    assert_ok(service_query(with, &q, &sink, &r, &err), &err);
    assert_true(t.contexts == 1 && t.tokens == 1);
    assert_int_equal(r.status, QUERY_ANSWERED);
    assert_int_equal(r.source, ANSWER_NONE);
    assert_string_equal(r.answer, "You are welcome.");
    assert_int_equal(r.n_contexts + r.n_citations, 0); /* nothing was looked for */
    query_result_deinit(&r);
}

static void what_has_no_words_leans_on_nothing(void **state) {
    (void)state;
    fo_err err = {0};
    query_message before[] = {{"user", "How many persons do the punts carry?"},
                              {"assistant", "The punts carry three persons each."}};
    query_request q = behind(before, "????");
    query_result r = {0};
    assert_ok(service_query(with, &q, NULL, &r, &err), &err);
    assert_string_equal(r.answer, "What would you like to know?");
    assert_true(r.source == ANSWER_NONE && !r.rewritten && r.n_contexts == 0);
    query_result_deinit(&r);
    q.query = "&&"; /* may be asked about, but not of the punts */
    assert_ok(service_query(with, &q, NULL, &r, &err), &err);
    assert_string_equal(r.answer, "");
    assert_null(r.rewritten);
    query_result_deinit(&r);
}

/* What was said before lends nothing to a question that stands alone. */
static void a_whole_question_is_asked_as_if_alone(void **state) {
    (void)state;
    static const char *const questions[] = {
        "How many grown persons do the old wooden punts carry on the lake?",
        "Which German author wrote the famous old play about Doctor Faust?"};
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        fo_err err = {0};
        query_message before[] = {{"user", "Where may the rowing boat be used?"},
                                  {"assistant", "The rowing boat may be used on the lake."}};
        query_request q = behind(before, questions[i]);
        query_result in_talk = {0}, alone = {0};
        assert_ok(service_query(with, &q, NULL, &in_talk, &err), &err);
        q.n_messages = 0;
        assert_ok(service_query(with, &q, NULL, &alone, &err), &err);
        assert_null(in_talk.rewritten);
        assert_true(in_talk.support == alone.support);
        assert_string_equal(in_talk.answer, alone.answer);
        query_result_deinit(&in_talk);
        query_result_deinit(&alone);
    }
}

static void questions_foreign_to_the_documents_are_refused(void **state) {
    (void)state;
    expect("Who wrote Faust?", NULL);
    expect("Give me a recipe for lentil soup", NULL);
    expect("What is the capital of Japan?", NULL);
}

static void contexts_say_how_likely_they_answer(void **state) {
    (void)state;
    query_result r = ask(with, "Where may the rowing boat be used?");
    assert_true(r.n_contexts > 1);
    assert_string_equal(r.contexts[0].chunk.document_id, "boats");
    for (size_t i = 0; i < r.n_contexts; i++) {
        assert_true(r.contexts[i].answers >= 0 && r.contexts[i].answers <= 1);
        assert_true(i == 0 || r.contexts[i].rerank <= r.contexts[i - 1].rerank);
    }
    assert_true(r.contexts[0].answers > r.contexts[r.n_contexts - 1].answers + 0.2);
    query_result_deinit(&r);
    r = ask(without, "Where may the rowing boat be used?");
    assert_true(isnan(r.contexts[0].answers) && isnan(r.contexts[0].rerank));
    query_result_deinit(&r);
}

static void a_search_is_ordered_by_it_when_asked(void **state) {
    (void)state;
    fo_err err = {0};
    query_result r = {0};
    query_request q = {.tenant = "default",
                       .collection = "default",
                       .query = "When is the generator maintained?",
                       .top_k = 2,
                       .search = {.alpha = -1, .rerank = RERANK_READER}};
    assert_ok(service_query(with, &q, NULL, &r, &err), &err);
    assert_int_equal(r.n_contexts, 2);
    assert_string_equal(r.contexts[0].chunk.document_id, "power");
    query_result_deinit(&r);
    assert_int_equal(service_query(without, &q, NULL, &r, &err), FO_EUNSUPPORTED);
    assert_string_equal(err.field, "search.rerank");
}

/* The built-in reader learnt English: passages in another script are answered by their words; others are
 * read, and all are stemmed in their own language. */
static void other_scripts_are_not_read_by_the_built_in_reader(void **state) {
    (void)state;
    static const char *const texts[][2] = {
        {"pumpe",
         "Die Pumpe am Nordufer wird alle vierhundert Stunden gewartet, und zwar von zwei Leuten. "
         "Das \u00D6l steht im Schrank der Werkstatt, z. B. neben der T\u00FCr."},
        {"boote",
         "Die Boote liegen am Steg. Wer ein Boot nimmt, schreibt sich in das Buch ein, und das ist "
         "auch f\u00FCr G\u00E4ste so."},
        {"shui", "\u5317\u5CB8\u7684\u6C34\u6CF5\u6BCF\u56DB\u767E\u5C0F\u65F6\u4FDD\u517B\u4E00"
                 "\u6B21\u3002"
                 "\u6CB9\u653E\u5728\u8F66\u95F4\u7684\u67DC\u5B50\u91CC\u3002"},
        {"boats", "Boats\n\nThe rowing boat may be used on the lake. The punts carry three persons "
                  "each, and "
                  "they are not for the lake."},
    };
    fo_err err = {0};
    ingest_options into = {.tenant = "default", .collection = "tongues", .overlap = SIZE_MAX};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        ingest_document d = {.id = texts[i][0],
                             .bytes = texts[i][1],
                             .n_bytes = strlen(texts[i][1]),
                             .content_type = "text/plain"};
        ingest_result r;
        assert_ok(service_ingest(with, &into, &d, 1, &r, NULL, &err), &err);
        ingest_result_deinit(&r);
    }
    static const struct {
        const char *question, *document, *says;
        bool read;
    } asked[] = {
        {"Wo steht das \u00D6l der Pumpe?", "pumpe",
         "im Schrank der Werkstatt, z. B. neben der T\u00FCr.", true},
        {"Wie oft werden die Pumpen gewartet?", "pumpe", "alle vierhundert Stunden", true},
        {"\u6C34\u6CF5\u591A\u4E45\u4FDD\u517B\u4E00\u6B21\uFF1F", "shui",
         "\u56DB\u767E\u5C0F\u65F6", false},
        {"Where may the rowing boat be used?", "boats", "on the lake", true},
    };
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        query_result r = {0};
        query_request q = {.tenant = "default",
                           .collection = "tongues",
                           .query = asked[i].question,
                           .generate = true,
                           .cache = CACHE_BYPASS,
                           .search = {.alpha = -1}};
        assert_ok(service_query(with, &q, NULL, &r, &err), &err);
        assert_string_equal(r.contexts[0].chunk.document_id, asked[i].document);
        if (!strstr(r.answer, asked[i].says)) fail_msg("%s: %s", asked[i].question, r.answer);
        assert_int_equal(!isnan(r.contexts[0].rerank), asked[i].read);
        for (size_t k = 0; k < r.n_citations; k++) assert_true(r.citations[k].verified);
        query_result_deinit(&r);
    }
}

static void put_file(const char *collection, const char *name, const char *bytes, size_t n) {
    fo_err err = {0};
    ingest_options into = {.tenant = "default", .collection = collection, .overlap = SIZE_MAX};
    ingest_document d = {.id = name, .file_name = name, .bytes = bytes, .n_bytes = n};
    ingest_result r;
    assert_ok(service_ingest(with, &into, &d, 1, &r, NULL, &err), &err);
    if (r.status == INGEST_FAILED) fail_msg("%s: %s", name, r.error.msg);
    ingest_result_deinit(&r);
}

static void expect_in(const char *collection, const char *question, const char *want) {
    fo_err err = {0};
    query_result r = {0};
    query_request q = {.tenant = "default",
                       .collection = collection,
                       .query = question,
                       .generate = true,
                       .strict = true,
                       .cache = CACHE_BYPASS,
                       .search = {.alpha = -1}};
    assert_ok(service_query(with, &q, NULL, &r, &err), &err);
    if (want ? !strstr(r.answer, want) : r.status == QUERY_ANSWERED)
        fail_msg("%s: '%s' (support %.2f)", question, r.answer, r.support);
    query_result_deinit(&r);
}

/* As data/extract writes a calendar: events without a place too, of one day and of several; what is no event is refused. */
static void events_are_answered_by_their_names(void **state) {
    (void)state;
    static const char calendar[] =
        "Winter holidays\n\nWhen: 2026-12-21 to 2027-01-03\n\nSchool closed. Care is to be booked "
        "by 30 November.\n\nTeacher training day\n\nWhen: 2026-11-13\n\nNo lessons for pupils. "
        "Canteen closed.\n\nCarnival day off\n\nWhen: 2027-02-08\n\nWinter concert\n\n"
        "When: 2026-12-10 18:30 to 20:30\nWhere: Assembly hall\n";
    put_file("events", "school.txt", calendar, sizeof calendar - 1);
    expect_in("events", "When are the winter holidays?", "When: 2026-12-21 to 2027-01-03");
    expect_in("events", "When is the teacher training day?", "When: 2026-11-13");
    expect_in("events", "When is the carnival day off?", "When: 2027-02-08");
    expect_in("events", "When is the winter concert?", "When: 2026-12-10 18:30 to 20:30");
    expect_in("events", "Where is the winter concert?", "Where: Assembly hall");
    expect_in("events", "When is the summer party?", NULL);
}

/* What a mail quotes answers where nothing newer does, without its marks, and stands beside nothing newer. */
static void what_is_quoted_answers_alone(void **state) {
    (void)state;
    static const char thread[] =
        "Conference dinner\n\nFrom: Nadia Brenner <n@geodata.example>\nTo: Matteo Ricci "
        "<m@geodata.example>\nDate: Tue, 26 May 2026 16:12:00 +0200\n\nHi Matteo,\n\nfinal then: "
        "185 "
        "people for the dinner, not 160 as I wrote last week.\n\nNadia\n\nOn Mon, 25 May 2026, "
        "Matteo Ricci wrote:\n\n> the Old Brewery has sent its offer: 41 euros per head for the "
        "buffet, 6 euros for a drink of welcome. The hall costs 600 euros, which is dropped if "
        "more than 150 people come.\n\n> On Wed, 20 May 2026, Nadia Brenner wrote:\n\n>> so far "
        "160 "
        "people have booked the dinner. I would like to have live music again: the trio from "
        "last year would play for 450 euros. Shall I book them?\n";
    put_file("thread", "dinner.txt", thread, sizeof thread - 1);
    expect_in("thread", "How much is the buffet per head?",
              "the Old Brewery has sent its offer: 41 euros per head for the buffet, 6 euros for "
              "a drink of welcome. [1]");
    expect_in("thread", "How much would the trio play for?", "450 euros");
    static const char dinner[] = "How many people are coming to the conference dinner in the end?";
    expect_in("thread", dinner, "185 people for the dinner");
    query_result r = {0};
    fo_err err = {0};
    query_request q = {.tenant = "default",
                       .collection = "thread",
                       .query = dinner,
                       .generate = true,
                       .cache = CACHE_BYPASS,
                       .search = {.alpha = -1}};
    assert_ok(service_query(with, &q, NULL, &r, &err), &err);
    if (strstr(r.answer, "so far 160")) fail_msg("%s", r.answer);
    query_result_deinit(&r);
}

/* A table of 60 lessons is longer than the reader takes at a time: its last row is read like its first. */
static void the_last_row_of_a_long_table_is_read_too(void **state) {
    (void)state;
    static const char *const days[] = {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday"};
    static const char *const subjects[] = {"Mathematics", "English", "French"};
    static const char *const teachers[] = {"Ms Farrell", "Mr Hobbs", "Mme Roux"};
    fo_buf b = {0};
    fo_buf_str(&b, "Class,Day,Period,Time,Subject,Teacher,Room\n");
    for (size_t i = 0; i < 59; i++)
        fo_buf_printf(&b, "%zu%c,%s,%zu,0%zu:00-0%zu:45,%s,%s,%zu\n", 5 + i / 20,
                      (char)('a' + i / 10 % 2), days[i % 5], i % 5 + 1, i % 2 + 7, i % 2 + 7,
                      subjects[i % 3], teachers[i % 3], 104 + i % 4);
    fo_buf_str(&b, "8c,Friday,6,12:30-13:15,Chemistry,Dr Quist,Lab 2\n");
    assert_false(b.failed);
    put_file("lessons", "lessons.csv", b.data, b.len);
    fo_buf_free(&b);
    expect_in("lessons", "Who teaches chemistry to class 8c?", "Teacher: Dr Quist");
    expect_in("lessons", "In which room does 8c have chemistry?", "Room: Lab 2");
    expect_in("lessons", "Who teaches Latin to class 5a?", NULL);
}

static void a_reader_that_is_none_is_refused_at_the_start(void **state) {
    (void)state;
    fo_err err = {0};
    service *s = NULL;
    service_options o = {.home = home, .read_only = true, .reader = "/nowhere/reader.gguf"};
    assert_int_not_equal(service_open(&s, &o, &err), FO_OK);
    assert_non_null(strstr(err.msg, "reader.gguf"));
}

/* More contexts than the reader reads at a time: the first in the fused order are put in its order, before the others. */
static void so_many_are_read_and_the_rest_stays_behind(void **state) {
    (void)state;
    enum { MANY = 280, READ = 256 };
    char *folder = test_folder(), text[MANY][64], id[MANY][8];
    fo_err err = {0};
    service *s;
    service_options o = {.home = folder, .n_threads = 2, .primes_per_s = -1};
    assert_ok(service_open(&s, &o, &err), &err);
    ingest_document docs[MANY];
    ingest_result results[MANY];
    for (int i = 0; i < MANY; i++) {
        snprintf(id[i], sizeof id[i], "d%d", i);
        snprintf(text[i], sizeof text[i], "Pump %d is maintained in week %d.", i, i % 50);
        docs[i] = (ingest_document){.id = id[i], .bytes = text[i], .n_bytes = strlen(text[i])};
    }
    ingest_options into = {.tenant = "default", .collection = "default", .overlap = SIZE_MAX};
    assert_ok(service_ingest(s, &into, docs, MANY, results, NULL, &err), &err);
    for (int i = 0; i < MANY; i++) ingest_result_deinit(&results[i]);
    query_result r = {0};
    query_request q = {.tenant = "default",
                       .collection = "default",
                       .query = "When is pump 7 maintained?",
                       .top_k = MANY,
                       .search = {.alpha = -1, .rerank = RERANK_READER}};
    assert_ok(service_query(s, &q, NULL, &r, &err), &err);
    assert_int_equal(r.n_contexts, MANY);
    for (size_t i = 0; i < MANY; i++) {
        const query_context *c = &r.contexts[i], *before = i ? c - 1 : c;
        assert_int_equal(isnan(c->rerank), i >= READ);
        assert_true(i >= READ || c->rerank <= before->rerank);
        assert_true(i <= READ || c->score <= before->score);
    }
    query_result_deinit(&r);
    service_close(s);
    test_remove(folder);
}

/* It is looked at with all that were found, and is none of the few that are shown. */
static void a_damaged_one_far_behind_fails_no_question(void **state) {
    (void)state;
    enum { MANY = 40 };
    char *folder = test_folder(), *bad = long_text("The peat cores are kept in the cellar. ");
    fo_err err = {0};
    service *s = open_home(folder);
    put_note(s, "peat", NULL, bad, LONG_TEXT);
    for (int i = 0; i < MANY; i++) {
        char id[8], text[64];
        snprintf(id, sizeof id, "d%d", i);
        snprintf(text, sizeof text, "The error code E%d means that pump %d is hot.", i, i);
        put_note(s, id, NULL, text, strlen(text));
    }
    service_close(s);
    damage_mark(folder);
    s = open_home(folder);
    query_result r = {0};
    query_request q = {.tenant = "default",
                       .collection = "notes",
                       .query = "What does the error code E33 mean?",
                       .search = {.alpha = -1, .rerank = RERANK_READER}};
    assert_ok(service_query(s, &q, NULL, &r, &err), &err);
    assert_true(r.n_contexts > 0);
    assert_string_equal(r.contexts[0].chunk.document_id, "d33");
    query_result_deinit(&r);
    service_close(s);
    free(bad);
    test_remove(folder);
}

/* Nor does one that an earlier answer of the conversation may be of. */
static void a_damaged_one_that_was_spoken_of_fails_no_question(void **state) {
    (void)state;
    enum { MANY = 40 };
    char *folder = test_folder(), *bad = long_text("The peat cores are kept in the cellar. ");
    fo_err err = {0};
    service *s = open_home(folder);
    put_note(s, "peat", NULL, bad, LONG_TEXT);
    for (int i = 0; i < MANY; i++) {
        char id[8], text[64];
        snprintf(id, sizeof id, "d%d", i);
        snprintf(text, sizeof text, "The error code E%d means that pump %d is hot.", i, i);
        put_note(s, id, NULL, text, strlen(text));
    }
    service_close(s);
    damage_mark(folder);
    s = open_home(folder);
    query_message before[] = {{"user", "Where does the mark stand?"},
                              {"assistant", LONG_TEXT_MARK " [1]"}};
    query_request q = behind(before, "What does E33 mean?");
    q.collection = "notes";
    query_result r = {0};
    assert_ok(service_query(s, &q, NULL, &r, &err), &err);
    assert_non_null(strstr(r.answer, "pump 33 is hot"));
    query_result_deinit(&r);
    service_close(s);
    free(bad);
    test_remove(folder);
}

/* What the talk's document does not answer another one may, as if nothing had been said before. */
static void a_talk_keeps_no_other_document_back(void **state) {
    (void)state;
    static const char *const notes[][2] = {
        {"gym", "The gym is open from 6 to 22 every day."},
        {"cafe", "Cafe Morrow is open from 8:00 to 18:00. Dogs are welcome on the terrace."},
        {"hostel", "The hostel has 40 beds. Breakfast is served from 7 to 9."}};
    char *folder = test_folder();
    fo_err err = {0};
    service *s = open_home(folder);
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
        put_note(s, notes[i][0], NULL, notes[i][1], strlen(notes[i][1]));
    query_message before[] = {{"user", "Are dogs allowed at the cafe?"},
                              {"assistant", "Dogs are welcome on the terrace. [1]"}};
    query_request q = behind(before, "What time is breakfast?");
    q.collection = "notes";
    query_result r = {0};
    assert_ok(service_query(s, &q, NULL, &r, &err), &err);
    assert_non_null(strstr(r.answer, "Breakfast is served from 7 to 9."));
    query_result_deinit(&r);
    q.query = "When does it close?"; /* that one the talk's own answers */
    assert_ok(service_query(s, &q, NULL, &r, &err), &err);
    assert_non_null(strstr(r.answer, "open from 8:00 to 18:00"));
    query_result_deinit(&r);
    q.query = "Is there a swimming pool?"; /* and that one nobody */
    assert_ok(service_query(s, &q, NULL, &r, &err), &err);
    assert_int_not_equal(r.status, QUERY_ANSWERED);
    query_result_deinit(&r);
    service_close(s);
    test_remove(folder);
}

/* However many chunks the document of the talk has: the one that is best but for the talk is among the contexts. */
static void a_talk_leaves_room_for_the_best(void **state) {
    (void)state;
    enum { ROOMS = 14 };
    static const char hostel[] = "The hostel has 40 beds. Breakfast is served from 7 to 9.\n",
                      gym[] = "The gym is open from 6 to 22 every day.\n";
    char *folder = test_folder(), cafe[8192] = "Dogs are welcome on the terrace.\n\n";
    for (int h = 6; h < 6 + ROOMS; h++) {
        const size_t n = strlen(cafe);
        snprintf(
            cafe + n, sizeof cafe - n,
            "Cafe Morrow serves tea from %d:00 to %d:00 in room %d. The time of the last order "
            "is %d:45, and breakfast rolls are sold at the counter.\n\n",
            h, h + 1, h, h);
    }
    fo_err err = {0};
    service *s = open_home(folder);
    const ingest_document docs[] = {
        {.id = "x/cafe.txt", .bytes = cafe, .n_bytes = strlen(cafe)},
        {.id = "x/gym.txt", .bytes = gym, .n_bytes = strlen(gym)},
        {.id = "x/hostel.txt", .bytes = hostel, .n_bytes = strlen(hostel)}};
    ingest_result results[3];
    ingest_options into = {.tenant = "default", .collection = "notes", .max_tokens = 40};
    assert_ok(service_ingest(s, &into, docs, 3, results, NULL, &err), &err);
    for (int i = 0; i < 3; i++) ingest_result_deinit(&results[i]);
    query_message before[] = {{"user", "Are dogs allowed at the cafe?"},
                              {"assistant", "Dogs are welcome on the terrace. [1]"}};
    query_request q = behind(before, "When do you serve breakfast?");
    q.collection = "notes";
    q.top_k = 3;
    query_result r = {0};
    assert_ok(service_query(s, &q, NULL, &r, &err), &err);
    assert_int_equal(r.n_contexts, 3);
    assert_string_equal(r.contexts[0].chunk.document_id, "x/cafe.txt");
    assert_string_equal(r.contexts[2].chunk.document_id, "x/hostel.txt");
    query_result_deinit(&r);
    service_close(s);
    test_remove(folder);
}

static int open_both(void **state) {
    (void)state;
    home = test_folder();
    fo_err err = {0};
    with = open_with(NULL);
    ingest_options into = {.tenant = "default", .collection = "default", .overlap = SIZE_MAX};
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++) {
        ingest_document d = {.id = documents[i][0],
                             .bytes = documents[i][1],
                             .n_bytes = strlen(documents[i][1]),
                             .content_type =
                                 documents[i][1][0] == '.' ? "text/troff" : "text/plain"};
        ingest_result r;
        assert_ok(service_ingest(with, &into, &d, 1, &r, NULL, &err), &err);
        ingest_result_deinit(&r);
    }
    without = open_with("none");
    return 0;
}

static int close_both(void **state) {
    (void)state;
    service_close(without);
    service_close(with);
    test_remove(home);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_are_answered_whole),
        cmocka_unit_test(a_subject_is_answered_by_its_section),
        cmocka_unit_test(the_answer_stands_below_the_question),
        cmocka_unit_test(a_question_about_another_thing_is_another_one),
        cmocka_unit_test(a_term_is_explained_where_others_use_it),
        cmocka_unit_test(the_few_words_that_answer_are_told),
        cmocka_unit_test(a_command_is_found_by_what_it_does),
        cmocka_unit_test(another_version_is_no_answer),
        cmocka_unit_test(a_follow_up_is_answered_as_it_was_meant),
        cmocka_unit_test(what_has_no_words_leans_on_nothing),
        cmocka_unit_test(questions_foreign_to_the_documents_are_refused),
        cmocka_unit_test(contexts_say_how_likely_they_answer),
        cmocka_unit_test(a_search_is_ordered_by_it_when_asked),
        cmocka_unit_test(so_many_are_read_and_the_rest_stays_behind),
        cmocka_unit_test(other_scripts_are_not_read_by_the_built_in_reader),
        cmocka_unit_test(a_whole_question_is_asked_as_if_alone),
        cmocka_unit_test(events_are_answered_by_their_names),
        cmocka_unit_test(what_is_quoted_answers_alone),
        cmocka_unit_test(the_last_row_of_a_long_table_is_read_too),
        cmocka_unit_test(a_damaged_one_far_behind_fails_no_question),
        cmocka_unit_test(a_damaged_one_that_was_spoken_of_fails_no_question),
        cmocka_unit_test(a_talk_keeps_no_other_document_back),
        cmocka_unit_test(a_talk_leaves_room_for_the_best),
        cmocka_unit_test(a_reader_that_is_none_is_refused_at_the_start),
    };
    return cmocka_run_group_tests(tests, open_both, close_both);
}
