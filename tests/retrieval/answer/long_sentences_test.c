/* long_sentences_test.c - sentences of other languages are longer than those of English, and answer all the same. */
#include <math.h>
#include <string.h>

#include "index/sparse/analyze.h"
#include "retrieval/answer/extractive.h"
#include "tests/test.h"

/* What is said of `text` in `language`; the caller's to deinit. */
static extractive_answer answer_in(const char *language, const char *question, const char *text) {
    fo_err err = {0};
    lexicon lx = {0};
    assert_ok(analyzer_create(&lx.analyzer, language, &err), &err);
    const passage p = {.text = text, .len = strlen(text), .title = "", .dense = NAN};
    extractive_answer a;
    assert_ok(extractive_answer_make(&a,
                                     &(extractive_input){.question = question,
                                                         .passages = &p,
                                                         .n_passages = 1,
                                                         .lx = &lx,
                                                         .max_sentences = 1},
                                     &err),
              &err);
    analyzer_free(lx.analyzer);
    return a;
}

static void assert_says(const char *language, const char *question, const char *text,
                        const char *said) {
    extractive_answer a = answer_in(language, question, text);
    if (!strstr(a.text, said) || a.support < support_threshold)
        fail_msg("%s: %f, %s", question, a.support, a.text);
    extractive_answer_deinit(&a);
}

/* 118 signs are some fifty words. */
static void a_long_sentence_in_chinese_or_japanese_answers(void **state) {
    (void)state;
    assert_says(
        "chinese", "渡口的老木船又被称为什么？",
        "渡口的老木船又被称为青鸭子，它由村里的三位木匠在五十年前用山上的松木造成，船身漆成绿色，两"
        "边"
        "各有四支桨，夏天载客过河到对岸的集市，冬天则收进河边的棚子里保养，等到来年春天冰雪融化以后"
        "再重新刷漆下水，继续为附近的居民服务。渡口的老木船很受欢迎。",
        "青鸭子");
    assert_says("japanese", "渡し場の古い木の船は何と呼ばれていますか？",
                "渡し場の古い木の船は青鴨丸と呼ばれていて、五十年前に村の三人の大工が山の松の木を使"
                "って造り、"
                "船の体は緑色に塗られ、両側に四本ずつ櫂があり、夏には客を乗せて向こう岸の市場まで渡"
                "り、冬には"
                "川のそばの小屋にしまわれて手入れをされ、春になって氷がとけるとまた塗り直して水に下"
                "ろされます。"
                "渡し場の船は人気があります。",
                "青鴨丸");
}

/* 96 words, most of them behind commas. */
static void a_long_sentence_in_french_answers(void **state) {
    (void)state;
    assert_says(
        "french", "Comment s'appelle le vieux bac du village ?",
        "Le vieux bac du village s'appelle la Cane, et il fut construit voici cinquante ans par "
        "trois charpentiers du pays avec des pins de la montagne, sa coque est peinte en vert, "
        "quatre rames le poussent de chaque côté, il porte en été les gens et leurs paniers vers "
        "le marché de l'autre rive, on le range en hiver sous un toit au bord de la rivière, et au "
        "printemps, dès que la glace a fondu, on le repeint, on le remet à l'eau et il reprend son "
        "service pour tous les habitants des environs jusqu'aux premières neiges. Le vieux bac du "
        "village s'appelle comme on veut.",
        "la Cane");
}

/* Signs without an end are a listing there as elsewhere: 1,000 of them. */
static void what_never_ends_answers_less(void **state) {
    (void)state;
    const char *asked = "渡口的老木船又被称为什么？";
    char text[8192] = "渡口的老木船又被称为青鸭子";
    for (size_t i = 0; i < 100; i++) strcat(text, "，山上的松木很高很直");
    strcat(text, "。");
    extractive_answer whole = answer_in("chinese", asked, "渡口的老木船又被称为青鸭子。"),
                      run_on = answer_in("chinese", asked, text);
    if (run_on.support > whole.support / 2) fail_msg("%f and %f", run_on.support, whole.support);
    extractive_answer_deinit(&whole);
    extractive_answer_deinit(&run_on);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_sentence_in_chinese_or_japanese_answers),
        cmocka_unit_test(a_long_sentence_in_french_answers),
        cmocka_unit_test(what_never_ends_answers_less),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
