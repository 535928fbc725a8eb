/* spelling_test.c - which words of a question are misspelt, and what they are taken for. */
#include "retrieval/question/spelling.h"

#include "tests/test.h"

/* A language and documents of a few words; terms are the words' stems. */
static const char *const language[] = {
    "when",   "where",  "light",  "listen",      "list", "panel", "dentist",   "marble",  "marbled",
    "refund", "keeper", "sunday", "switzerland", "dire", "tory",  "directory", "borrowed"};
static const char *const documents[] = {
    "light",       "listen", "list",     "panel",
    "marbl",       "grebe",  "ridotto",  "\xD8\xA7\xD8\xAE\xD8\xAA\xD8\xB1",
    "willowmer",   "allot",  "keeper",   "sundai",
    "switzerland", "hanson", "directori"};
static const char *const hidden = "list"; /* of documents that the asker does not see */

static bool has(const char *const *words, size_t n_words, const char *word, size_t n) {
    for (size_t i = 0; i < n_words; i++)
        if (strlen(words[i]) == n && !memcmp(words[i], word, n)) return true;
    return false;
}

#define COUNT(words) (sizeof words / sizeof *words)

static bool is_word(void *ctx, const char *word, size_t n) {
    (void)ctx;
    return has(language, COUNT(language), word, n);
}

static bool has_term(void *ctx, const char *term, size_t n) {
    (void)ctx;
    return has(documents, COUNT(documents), term, n);
}

static void each_word(void *ctx, spelling_word_fn *fn, void *fn_ctx) {
    (void)ctx;
    for (size_t i = 0; i < COUNT(language); i++) fn(fn_ctx, language[i], strlen(language[i]));
}

static void each_term(void *ctx, spelling_word_fn *fn, void *fn_ctx) {
    (void)ctx;
    for (size_t i = 0; i < COUNT(documents); i++) fn(fn_ctx, documents[i], strlen(documents[i]));
}

/* The longer, the rarer. */
static double idf(void *ctx, const char *term, size_t n) {
    (void)ctx;
    (void)term;
    return (double)n;
}

static bool word_of(void *ctx, const char *term, size_t n, fo_buf *out) {
    (void)ctx;
    if (strlen(hidden) == n && !memcmp(hidden, term, n)) return false;
    fo_buf_add(out, term, n);
    if (n == 9 && *term == 'w') fo_buf_str(out, "e"); /* Willowmere */
    if (n == 5 && !memcmp(term, "allot", 5)) fo_buf_str(out, "ments");
    return true;
}

static void becomes(bool english, const char *asked, const char *want) {
    fo_err err = {0};
    spelling_source s = {.english = english,
                         .is_word = is_word,
                         .each_word = each_word,
                         .has_term = has_term,
                         .each_term = each_term,
                         .idf = idf,
                         .word_of = word_of};
    fo_buf out = {0};
    assert_ok(analyzer_create(&s.words, "english", &err), &err);
    const bool mended = spelling_mend(&out, asked, &s);
    if (mended != (strcmp(asked, want) != 0) || strcmp(mended ? out.data : asked, want) != 0)
        fail_msg("%s: %s, not %s", asked, out.data ? out.data : "left", want);
    fo_buf_free(&out);
    analyzer_free(s.words);
}

static bool slip(const char *a, const char *b) {
    return spelling_is_slip(a, strlen(a), b, strlen(b));
}

static void one_slip_of_the_fingers_is_told(void **state) {
    (void)state;
    assert_true(slip("libary", "library"));   /* too few */
    assert_true(slip("librrary", "library")); /* too many */
    assert_true(slip("libraly", "library"));  /* another */
    assert_true(slip("lirbary", "library"));  /* the wrong order */
    assert_true(slip("B\xC3\xBC"
                     "cheri",
                     "B\xC3\xBC"
                     "cherei"));
    assert_true(slip("B\xC3\xB6"
                     "cher",
                     "B\xC3\xBC"
                     "cher")); /* letters, not bytes */
    assert_false(slip("library", "library"));
    assert_false(slip("libay", "library"));    /* two */
    assert_false(slip("mibrary", "library"));  /* the first */
    assert_false(slip("warranty", "warrant")); /* the last */
    assert_true(slip("listne", "listen"));
    assert_false(slip("", "library"));
    assert_false(slip("library\xFF", "library"));
}

static void what_nobody_has_written_so_is_mended(void **state) {
    (void)state;
    becomes(true, "When is the lihgt on?", "When is the light on?");
    becomes(true, "lihgt, where?", "light, where?");
    becomes(true, "Lihgt?", "Light?");
    becomes(true, "do you listen (lihgt)?", "do you listen (light)?");
    becomes(true, "when does it listne", "when does it listen");     /* not "list", by its stem */
    becomes(true, "where is the dnetist?", "where is the dentist?"); /* of the language alone */
    becomes(true, "where is the willowmre?",
            "where is the willowmere?"); /* of the documents alone */
    becomes(true, "where is Willowmre?", "where is Willowmere?");
}

static void a_slip_within_a_form_is_mended(void **state) {
    (void)state;
    becomes(true, "where are the keepres?", "where are the keepers?"); /* a plural */
    becomes(true, "where is the keepre's light?", "where is the keeper's light?");
    becomes(true, "where is the alloxment?",
            "where is the allotments?");                                /* the stem's last letter */
    becomes(true, "where is the diretory?", "where is the directory?"); /* dire, tory */
    becomes(true, "when is it borriwed?", "when is it borrowed?");      /* of the language */
    becomes(true, "where is it on Sunay?", "where is it on Sunday?");   /* of the calendar */
    becomes(true, "where is Switzenland?", "where is Switzerland?");
    becomes(true, "where is Willopmere?", "where is Willopmere?"); /* a name of no language */
}

static void what_may_be_meant_is_left(void **state) {
    (void)state;
    becomes(true, "Is there a padel?", "Is there a padel?"); /* short, another letter */
    becomes(true, "Where is Mr Hannson?", "Where is Mr Hanson?");
    becomes(true, "Where is Mr Hansen?", "Where is Mr Hansen?"); /* another name */
    becomes(true, "where are keeperlist, unlight and refundable?",
            "where are keeperlist, unlight and refundable?");  /* made of words */
    becomes(true, "where is dendist?", "where is dendist?");   /* another letter, of no document */
    becomes(true, "where are refunds?", "where are refunds?"); /* a form of a word */
    becomes(true, "where is lihgt_on?", "where is lihgt_on?"); /* a name of a program's */
    becomes(true, "where is --lihgt or lihgt.conf?", "where is --lihgt or lihgt.conf?");
    becomes(true, "where is \"lihgt\"?", "where is \"lihgt\"?"); /* to the letter */
    becomes(true, "where is LIHGT?", "where is LIHGT?");
    becomes(true, "where is marbel?", "where is marble?");
    becomes(true, "where is marblee?", "where is marble?");      /* the more frequent */
    becomes(true, "where is the liszt?", "where is the liszt?"); /* what the asker does not see */
    becomes(false, "lihgt wo?", "lihgt wo?"); /* of a language without a list of words: too short */
    becomes(false, "wo ist Hansun?", "wo ist Hansun?");
    becomes(false, "wo ist risotto?", "wo ist risotto?"); /* "ridotto" */
    becomes(true, "where is \xD8\xA7\xD8\xAE\xD8\xAA\xD8\xA7\xD8\xB1?",
            "where is \xD8\xA7\xD8\xAE\xD8\xAA\xD8\xA7\xD8\xB1?"); /* words that change within */
    becomes(false, "wo ist willowmre?", "wo ist willowmere?");
    becomes(true, "", "");
    /* eight words are looked for, not more */
    becomes(true, "qaaaaq qbbbbq qccccq qddddq qeeeeq qffffq qggggq lihgt",
            "qaaaaq qbbbbq qccccq qddddq qeeeeq qffffq qggggq light");
    becomes(true, "qaaaaq qbbbbq qccccq qddddq qeeeeq qffffq qggggq qhhhhq lihgt",
            "qaaaaq qbbbbq qccccq qddddq qeeeeq qffffq qggggq qhhhhq lihgt");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_slip_of_the_fingers_is_told),
        cmocka_unit_test(what_nobody_has_written_so_is_mended),
        cmocka_unit_test(a_slip_within_a_form_is_mended),
        cmocka_unit_test(what_may_be_meant_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
