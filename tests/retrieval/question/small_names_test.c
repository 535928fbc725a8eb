/* small_names_test.c - names in small letters, told by where they stand and how few passages say them. */
#include "retrieval/question/small_names.h"

#include <math.h>

#include "index/sparse/inverted.h"
#include "kernels/words.h"
#include "retrieval/answer/subjects.h"
#include "tests/retrieval/text/lexicon_fixture.h"
#include "tests/test.h"

static uint64_t n_passages;

/* An index in which no passage says some words, few say "discord", and many all else. */
static float idf(void *ctx, const char *term, size_t len) {
    (void)ctx;
    const uint64_t df =
        fo_words_have("discord", term, len) ? 4
        : fo_words_have("sync newsboat weechat connect github archiv save bandwidth", term, len)
            ? 60
            : 0;
    return (float)bm25_idf(n_passages, df);
}

/* The name in small letters, in `out`; "": none. */
static const char *name_in(const char *asked, uint64_t passages, char out[64]) {
    static fact_text t;
    fo_err err = {0};
    n_passages = passages;
    lx.idf = idf;
    assert_ok(fact_text_read(&t, lx.analyzer, asked, strlen(asked), &err), &err);
    out[0] = 0;
    for (size_t i = 0; i < t.n_words; i++)
        if (small_names_is_one(&t, i, &lx))
            snprintf(out, 64, "%.*s", (int)(t.words[i].end - t.words[i].start),
                     asked + t.words[i].start);
    fact_text_deinit(&t);
    memset(&t, 0, sizeof t);
    lx.idf = NULL;
    return out;
}

static void a_bare_word_that_hardly_a_passage_says_is_a_name(void **state) {
    (void)state;
    char s[64];
    assert_string_equal(name_in("does newsboat sync with feedly?", 17000, s), "feedly");
    assert_string_equal(name_in("how do I connect weechat to discord?", 17000, s), "discord");
    assert_string_equal(name_in("can I save an archive to pocket, or not?", 17000, s), "pocket");
    /* of few passages it tells nothing that there is none */
    assert_string_equal(name_in("does newsboat sync with feedly?", 300, s), "");
    assert_string_equal(name_in("how do I connect weechat to discord?", 3000, s), "");
}

static void ordinary_words_are_none(void **state) {
    (void)state;
    char s[64];
    static const char *const none[] = {"can I sync with a smartwatch?",
                                       "newsboat forgot what I saved",
                                       "can I pay with cash?",
                                       "does it work with spaces?",
                                       "how do I keep it from overheating?",
                                       "how do I get weechat to autoplay?",
                                       "does it sync with github?",
                                       "can I connect with password prompts?",
                                       "why is the archive huge?",
                                       "does it sync with gihtub?",
                                       "can I connect to githb?",
                                       "what can I do with less bandwidth?",
                                       "my archive is gone, what do I do now"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_string_equal(name_in(none[i], 17000, s), "");
}

static void what_its_document_never_says_is_lost(void **state) {
    (void)state;
    const passage p = {.text = "Newsboat can sync with Inoreader.", .len = 33, .title = "Newsboat"};
    const char *asked[] = {"does newsboat sync with feedly?", "does newsboat sync with inoreader?"};
    for (size_t i = 0; i < 2; i++) {
        candidate_set set = {0};
        fo_err err = {0};
        n_passages = 17000;
        lx.idf = idf;
        const extractive_input in = {
            .question = asked[i], .passages = &p, .n_passages = 1, .lx = &lx};
        assert_ok(candidate_set_read(&set, &in, &err), &err);
        assert_int_equal(subjects_lose_a_name(&set, &set.passages[0]), i == 0);
        candidate_set_deinit(&set);
        lx.idf = NULL;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bare_word_that_hardly_a_passage_says_is_a_name),
        cmocka_unit_test(ordinary_words_are_none),
        cmocka_unit_test(what_its_document_never_says_is_lost),
    };
    return cmocka_run_group_tests(tests, open_lexicon, close_lexicon);
}
