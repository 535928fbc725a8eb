/* title_vectors_test.c - titles as the encoder sees them: their cosines beside exact ones, what a question gains by them, who
 * embeds them and when, and who sees what. */
#include "tests/test.h"

#include <math.h>
#include <stdatomic.h>
#include <unistd.h>

#include "engine/embed/embedder.h"
#include "kernels/buf.h"
#include "retrieval/collections/title_vectors.h"
#include "retrieval/service/service.h"

/* Pages as manuals have them: the title says what it is for, the text does not. */
static const struct page {
    const char *id, *title, *text;
} pages[] = {
    {"uniq", "uniq - report or omit repeated lines",
     "Filter adjacent matching input, writing to the standard output. With -c, prefix each by its "
     "number of occurrences."},
    {"tac", "tac - concatenate and print files in reverse",
     "Write each argument to standard output, last record first. With no argument, read standard "
     "input."},
    {"nice", "nice - run a program with modified scheduling priority",
     "Run with an adjusted niceness, which affects favourability to the kernel. Values range from "
     "-20 to 19."},
    {"sleep", "sleep - delay for a specified amount of time",
     "Pause for NUMBER seconds. SUFFIX may be s for seconds, m for minutes, h for hours or d for "
     "days."},
    {"who", "who - show who is logged on",
     "Print information about sessions that are present. -b gives the moment of the last boot."},
    {"cellar", "Keys of the cellar", "They hang on the hook behind the door of the kitchen."},
};
enum { PAGES = sizeof pages / sizeof *pages, OTHERS = 60, DEADLINE_S = 120 };

static char *home;
static size_t top_k; /* of questions; 0: as usual */

static service *open_home(service_options o) {
    fo_err err = {0};
    service *s;
    o.home = home;
    o.n_threads = 2;
    assert_ok(service_open(&s, &o, &err), &err);
    return s;
}

static const service_options plain = {0}, refining = {.refine = {.on = true, .idle_ms = 600000}};

static void put(service *s, const char *id, const char *title, const char *text, const char *acl) {
    fo_err err = {0};
    ingest_options into = {.tenant = "default", .collection = "default", .overlap = SIZE_MAX};
    ingest_document d = {
        .id = id, .title = title, .bytes = text, .n_bytes = strlen(text), .acl = acl};
    ingest_result r;
    assert_ok(service_ingest(s, &into, &d, 1, &r, NULL, &err), &err);
    if (r.status == INGEST_FAILED) fail_msg("%s: %s", id, r.error.msg);
    ingest_result_deinit(&r);
}

/* The pages, and others whose texts have the words of the questions. */
static service *fill(void) {
    home = test_folder();
    service *s = open_home(plain);
    char id[16], title[64];
    for (size_t i = 0; i < PAGES; i++) put(s, pages[i].id, pages[i].title, pages[i].text, NULL);
    for (int i = 0; i < OTHERS; i++) {
        snprintf(id, sizeof id, "other-%d", i);
        snprintf(title, sizeof title, "Minutes of meeting %d", i);
        put(s, id, title,
            i % 2
                ? "Each line of the tram was late many times, and they count on a better year."
                : "Many a wait of five seconds occurs at the door, it was said, each time of year.",
            NULL);
    }
    return s;
}

static void end(service *s) {
    service_close(s);
    test_remove(home);
}

static bool always(void *ctx) {
    (void)ctx;
    return true;
}

static bool once(void *ctx) {
    int *n = ctx;
    return (*n)++ == 0;
}

static size_t embed_titles(service *s) {
    size_t n;
    fo_err err = {0};
    assert_ok(service_embed_titles(s, "default", "default", always, NULL, &n, &err), &err);
    return n;
}

/* The place of a document among the contexts that the reader orders; 99: it is not there. */
static size_t place_of(service *s, const char *question, const char *id,
                       const search_filter *sees) {
    fo_err err = {0};
    query_result r = {0};
    query_request q = {.tenant = "default",
                       .collection = "default",
                       .query = question,
                       .sees = sees,
                       .top_k = top_k,
                       .search = {.alpha = -1, .rerank = RERANK_READER}};
    assert_ok(service_query(s, &q, NULL, &r, &err), &err);
    size_t at = 0;
    while (at < r.n_contexts && strcmp(r.contexts[at].chunk.document_id, id) != 0) at++;
    if (at == r.n_contexts) at = 99;
    query_result_deinit(&r);
    return at;
}

static void cosines_are_those_of_the_vectors(void **state) {
    (void)state;
    static const char question[] = "How do I count how many times each line occurs?";
    service *s = fill();
    fo_err err = {0};
    title_vectors *t;
    collection *c;
    assert_ok(collection_acquire(s, "default", "default", &c, &err), &err);
    assert_ok(title_vectors_take(s, c, &t, &err), &err);
    assert_null(t);
    assert_int_equal(title_vectors_count(t) + title_vectors_serial(t), 0);
    assert_int_equal(embed_titles(s), PAGES + OTHERS);
    assert_int_equal(embed_titles(s), 0);
    assert_ok(title_vectors_take(s, c, &t, &err), &err);
    assert_int_equal(title_vectors_count(t), PAGES + OTHERS);

    embedder *encoder;
    assert_ok(embedder_open(&encoder, EMBEDDER_ENCODER, &err), &err);
    const size_t dim = embedder_dim(encoder), len = strlen(question);
    float *q = malloc(dim * sizeof *q), *v = malloc(dim * sizeof *v),
          *cosines = malloc((PAGES + OTHERS) * sizeof *cosines);
    const char *text = question;
    bool known;
    assert_ok(embedder_embed(encoder, EMBED_QUERY, &text, &len, 1, q, &err), &err);
    assert_ok(title_vectors_compare(t, question, cosines, &known, &err), &err);
    assert_true(known);
    for (size_t i = 0; i < PAGES; i++) { /* they came in first */
        const size_t n = strlen(pages[i].title);
        double want = 0;
        text = pages[i].title;
        assert_ok(embedder_embed(encoder, EMBED_PASSAGE, &text, &n, 1, v, &err), &err);
        for (size_t j = 0; j < dim; j++) want += (double)q[j] * (double)v[j];
        if (fabs(want - (double)cosines[i]) > 0.01)
            fail_msg("%s: %f, want %f", pages[i].id, (double)cosines[i], want);
        if (i) assert_true(cosines[i] < cosines[0]);
        assert_int_equal(title_vectors_find(t, title_vectors_document(t, i)), i);
    }
    assert_int_equal(title_vectors_find(t, 0), PAGES + OTHERS);
    assert_int_equal(title_vectors_find(t, INT64_MAX), PAGES + OTHERS);
    assert_ok(title_vectors_compare(t, "????", cosines, &known, &err), &err);
    free(q), free(v), free(cosines);
    embedder_close(encoder);
    title_vectors_drop(t);
    collection_release(s, c);
    end(s);
}

static void a_page_is_found_by_what_its_title_means(void **state) {
    (void)state;
    static const char question[] = "How do I count how many times each line occurs?";
    service *s = fill();
    assert_int_equal(place_of(s, question, "uniq", NULL), 99);
    embed_titles(s);
    assert_int_equal(place_of(s, question, "uniq", NULL),
                     0); /* what was kept of the same question is not given */
    assert_int_equal(place_of(s, "How do I run a program with low priority?", "nice", NULL), 0);
    assert_true(place_of(s, "Where are the cellar's keys?", "cellar", NULL) == 0);
    end(s);
}

/* The line that says what a command does stands in one of its page's chunks, and none of the question's words in it. */
static void a_command_is_told_by_its_line(void **state) {
    (void)state;
    static const char question[] = "remove lines that say the same in a long file",
                      title[] = "uniq - report or omit repeated lines",
                      about[] =
                          "Each line of a file that is long is read as many times as it occurs "
                          "below, and the count of what is read ends at the limit of size";
    fo_err err = {0};
    service *s = fill();
    fo_buf text = {0};
    fo_buf_printf(&text, "NAME\n\n%s\n\nDESCRIPTION\n\n", title);
    for (int i = 0; i < 12; i++) /* a chunk's rest */
        fo_buf_printf(&text, "Adjacent input is filtered, and goes to standard output %d.\n\n", i);
    for (int i = 0; i < 40; i++) fo_buf_printf(&text, "%s %d.\n\n", about, i);
    put(s, "uniq", title, text.data, NULL);
    fo_buf_free(&text);
    query_request q = {.tenant = "default",
                       .collection = "default",
                       .query = question,
                       .top_k = 4,
                       .generate = true,
                       .strict = true,
                       .search = {.alpha = -1}};
    for (int titles = 0; titles < 2; titles++) {
        query_result r = {0};
        if (titles) embed_titles(s);
        assert_ok(service_query(s, &q, NULL, &r, &err), &err);
        const bool told = strstr(r.answer, title) != NULL;
        if (told != titles) fail_msg("%s", r.answer);
        assert_int_equal(r.n_contexts, 4);
        query_result_deinit(&r);
    }
    end(s);
}

/* Neither those that the asker does not see, nor those that are deleted, nor whose title is another one by now. */
static void what_is_not_there_is_not_read(void **state) {
    (void)state;
    static const char question[] = "How do I count how many times each line occurs?";
    const char *const nobody[] = {"nobody"};
    fo_err err = {0};
    service *s = fill();
    search_filter *sees;
    assert_ok(search_filter_sees(&sees, nobody, 1, &err), &err);
    put(s, "secret", "How to count how many times each line occurs", "With the tool of the board.",
        "[\"board\"]");
    embed_titles(s);
    assert_int_equal(place_of(s, question, "secret", NULL), 0);
    assert_int_equal(place_of(s, question, "secret", sees), 99);
    assert_true(place_of(s, question, "uniq", sees) == 0);
    int64_t epoch;
    assert_ok(service_delete_document(s, "default", "default", "secret", NULL, &epoch, &err), &err);
    assert_int_equal(place_of(s, question, "secret", NULL), 99);
    put(s, "uniq", "Minutes of the last meeting", pages[0].text, NULL);
    assert_int_equal(embed_titles(s), 1);
    assert_true(place_of(s, question, "uniq", NULL) > 0);
    search_filter_free(sees);
    end(s);
}

/* A version without a title, or with another one, is not found by what the one before was called, from the moment that it is
 * there: also where nothing embeds titles behind it. One that keeps its title is. */
static void the_old_title_goes_with_its_version(void **state) {
    (void)state;
    static const char question[] = "How do I count how many times each line occurs?";
    static const char other[] =
        "Filter adjacent matching input, writing to the standard output. With -c, prefix each by "
        "its number of copies.";
    service *s = fill();
    embed_titles(s);
    assert_int_equal(place_of(s, question, "uniq", NULL), 0);
    put(s, "uniq", pages[0].title, other, NULL);
    assert_int_equal(place_of(s, question, "uniq", NULL), 0);
    put(s, "uniq", NULL, pages[0].text, NULL);
    assert_int_equal(place_of(s, question, "uniq", NULL), 99);
    assert_int_equal(embed_titles(s), 0);
    assert_int_equal(place_of(s, question, "uniq", NULL), 99);
    put(s, "uniq", pages[0].title, pages[0].text, NULL);
    assert_int_equal(embed_titles(s), 1);
    assert_int_equal(place_of(s, question, "uniq", NULL), 0);
    put(s, "uniq", "Minutes of the last meeting", pages[0].text, NULL);
    assert_int_equal(place_of(s, question, "uniq", NULL), 99);
    end(s);
}

/* What one question reads while a title goes is nobody's from then on. */
static void what_was_read_before_is_not_kept(void **state) {
    (void)state;
    service *s = fill();
    fo_err err = {0};
    title_vectors *t;
    collection *c;
    store_document d;
    embed_titles(s);
    assert_ok(collection_acquire(s, "default", "default", &c, &err), &err);
    assert_ok(title_vectors_take(s, c, &t, &err), &err);
    const uint64_t serial = title_vectors_serial(t);
    title_vectors_drop(t);
    assert_ok(title_vectors_take(s, c, &t, &err), &err);
    assert_int_equal(title_vectors_serial(t), serial); /* read once */
    assert_ok(store_get_document(s->store, c->id, "uniq", false, &d, &err), &err);
    const uint64_t changes = c->titles_changes;
    title_vectors_leave(s, c, d.rowid);
    assert_true(c->titles_changes >
                changes); /* whoever reads them from the store does so in vain */
    float *cosines = malloc((PAGES + OTHERS) * sizeof *cosines);
    bool known;
    assert_ok(title_vectors_compare(t, "repeated lines", cosines, &known, &err), &err);
    assert_true(known);
    for (size_t i = 0; i < PAGES + OTHERS; i++)
        assert_int_equal(isnan(cosines[i]), title_vectors_document(t, i) == d.rowid);
    title_vectors_leave(s, c, INT64_MAX); /* that has none */
    free(cosines);
    title_vectors_drop(t);
    store_document_deinit(&d);
    collection_release(s, c);
    end(s);
}

typedef struct vector_of {
    int64_t document;
    float v[1024];
    size_t dim;
} vector_of;

static int take_vector(void *ctx, const store_index_row *row) {
    vector_of *of = ctx;
    if (row->document != of->document) return FO_OK;
    assert_in_range(row->dim, 1, sizeof of->v / sizeof *of->v);
    memcpy(of->v, row->vector, row->dim * sizeof *of->v);
    of->dim = row->dim;
    return FO_OK;
}

static vector_of chunk_vector(service *s, const char *id) {
    fo_err err = {0};
    store_collection c;
    store_document d;
    vector_of of = {0};
    assert_ok(store_get_collection(s->store, "default", "default", &c, &err), &err);
    assert_ok(store_get_document(s->store, c.id, id, false, &d, &err), &err);
    of.document = d.rowid;
    assert_ok(store_each_chunk(s->store, c.id, 0, take_vector, &of, NULL, &err), &err);
    assert_true(of.dim > 0);
    store_document_deinit(&d);
    store_collection_deinit(&c);
    return of;
}

/* A chunk is embedded with its document's title: with another one, or none, anew. */
static void a_chunk_is_embedded_with_the_title_of_its_version(void **state) {
    (void)state;
    home = test_folder();
    service *s = open_home(plain);
    put(s, "titled", pages[0].title, pages[0].text, NULL);
    put(s, "bare", NULL, pages[0].text, NULL);
    const vector_of titled = chunk_vector(s, "titled"), bare = chunk_vector(s, "bare");
    assert_memory_not_equal(titled.v, bare.v, bare.dim * sizeof *bare.v);
    put(s, "titled", NULL, pages[0].text, NULL);
    put(s, "bare", pages[0].title, pages[0].text, NULL);
    const vector_of now_bare = chunk_vector(s, "titled"), now_titled = chunk_vector(s, "bare");
    assert_memory_equal(now_bare.v, bare.v, bare.dim * sizeof *bare.v);
    assert_memory_equal(now_titled.v, titled.v, titled.dim * sizeof *titled.v);
    end(s);
}

/* However many titles come nearer that the asker does not see, those that he sees are read. */
static void what_is_not_seen_takes_nobodys_place(void **state) {
    (void)state;
    static const char question[] = "How do I count how many times each line occurs?";
    const char *const nobody[] = {"nobody"};
    fo_err err = {0};
    service *s = fill();
    search_filter *sees;
    char id[16];
    assert_ok(search_filter_sees(&sees, nobody, 1, &err), &err);
    for (int i = 0; i < 70; i++) {
        snprintf(id, sizeof id, "secret-%d", i);
        put(s, id, question, "With the tool of the board.", "[\"board\"]");
    }
    embed_titles(s);
    top_k = 20; /* as many as are read: the words of the question are less rare by now */
    assert_true(place_of(s, question, "uniq", sees) < 99);
    assert_int_equal(place_of(s, question, "uniq", NULL), 99);
    top_k = 0;
    search_filter_free(sees);
    end(s);
}

static void the_background_embeds_them_and_they_stay(void **state) {
    (void)state;
    static const char question[] = "How do I count how many times each line occurs?";
    service *s = fill();
    service_close(s);
    s = open_home(refining);
    service_refine_stats st = {0};
    for (int i = 0; i < DEADLINE_S * 100 && st.titles < PAGES + OTHERS; i++) {
        service_get_refine_stats(s, &st);
        usleep(10000);
    }
    assert_int_equal(st.titles, PAGES + OTHERS);
    assert_int_equal(st.chunks, 0);
    assert_int_equal(place_of(s, question, "uniq", NULL), 0);
    service_close(s);
    s = open_home(plain);
    assert_int_equal(place_of(s, question, "uniq", NULL), 0);
    assert_int_equal(embed_titles(s), 0);
    end(s);
}

static void a_stop_in_the_middle_costs_nothing(void **state) {
    (void)state;
    service *s = fill();
    fo_err err = {0};
    size_t n;
    int asked = 0;
    assert_int_equal(service_embed_titles(s, "default", "default", once, &asked, &n, &err),
                     FO_ECANCELLED);
    assert_true(n > 0 && n < PAGES + OTHERS);
    assert_int_equal(embed_titles(s), PAGES + OTHERS - n);
    assert_int_equal(service_embed_titles(s, "default", "none", always, NULL, &n, &err),
                     FO_ENOTFOUND);
    end(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cosines_are_those_of_the_vectors),
        cmocka_unit_test(a_page_is_found_by_what_its_title_means),
        cmocka_unit_test(a_command_is_told_by_its_line),
        cmocka_unit_test(what_is_not_there_is_not_read),
        cmocka_unit_test(the_old_title_goes_with_its_version),
        cmocka_unit_test(what_was_read_before_is_not_kept),
        cmocka_unit_test(a_chunk_is_embedded_with_the_title_of_its_version),
        cmocka_unit_test(what_is_not_seen_takes_nobodys_place),
        cmocka_unit_test(the_background_embeds_them_and_they_stay),
        cmocka_unit_test(a_stop_in_the_middle_costs_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
