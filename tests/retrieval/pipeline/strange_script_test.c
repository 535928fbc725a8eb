/* strange_script_test.c - a question in a script that the collection's embedder has not learnt: its vectors weigh a tenth, and
 * their cosines tell nothing of an answer. The embedder is the one inside the binary, which learnt English. */
#include <math.h>

#include "retrieval/collections/service_internal.h"
#include "tests/retrieval/service/home_fixture.h"

static const char *const documents[] = {
    "Бассейн открыт с понедельника по пятницу с 8 до 22 часов. Ласты выдаёт дежурный.",
    "Батарейки принимают в библиотеке по четвергам.",
    "Ребёнку нужна сменная обувь. Забирайте детей до 18 часов.",
    "Компьютерные курсы идут в библиотеке по средам. Курс длится три месяца.",
    "Детский сад закрыт в июле. Игрушки из дома приносите только по пятницам.",
    "The rowing boat may be used on the lake. The punts carry three persons each.",
    "The generator burns 2.5 litres of diesel an hour. It is serviced every May.",
};

static char *home;
static service *s;

static query_result ask(const char *question, double alpha) {
    fo_err err = {0};
    query_result r = {0};
    query_request q = {.tenant = "default",
                       .collection = "default",
                       .query = question,
                       .generate = true,
                       .strict = true,
                       .cache = CACHE_BYPASS,
                       .search = {.alpha = alpha}};
    assert_ok(service_query(s, &q, NULL, &r, &err), &err);
    return r;
}

static bool scores_are_alike(const char *question, double a, double b) {
    query_result x = ask(question, a), y = ask(question, b);
    bool same = x.n_contexts == y.n_contexts;
    for (size_t i = 0; same && i < x.n_contexts; i++)
        same = fabs(x.contexts[i].score - y.contexts[i].score) < 1e-9;
    query_result_deinit(&x);
    query_result_deinit(&y);
    return same;
}

static void its_vectors_weigh_a_tenth(void **state) {
    (void)state;
    const double alpha = (double)embedder_alpha(s->embedder);
    static const char russian[] = "Кто выдаёт ласты?", other[] = "Where may the boat be used?";
    assert_true(scores_are_alike(russian, -1, alpha / 10));
    assert_false(scores_are_alike(russian, -1, alpha));
    assert_true(scores_are_alike(other, -1, alpha));
    assert_false(scores_are_alike(other, -1, alpha / 10));
    /* Who says how much they weigh is obeyed. */
    assert_false(scores_are_alike(russian, -1, .8));
}

static void cosines_support_no_answer(void **state) {
    (void)state;
    static const char *const foreign[] = {"Как оформить загранпаспорт ребёнку?",
                                          "Как вывести пятно от вина?", "Какой завтра курс евро?"};
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        query_result r = ask(foreign[i], -1);
        if (r.status != QUERY_ABSTAINED) fail_msg("%s: %s", foreign[i], r.answer);
        query_result_deinit(&r);
    }
    query_result r = ask("Кто выдаёт ласты?", -1);
    assert_non_null(strstr(r.answer, "дежурный"));
    query_result_deinit(&r);
}

static int set_up(void **state) {
    (void)state;
    home = test_folder();
    s = open_home(home);
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++) {
        char id[8];
        snprintf(id, sizeof id, "d%zu", i);
        put(s, "default", id, documents[i], strlen(documents[i]), 200);
    }
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    service_close(s);
    test_remove(home);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_vectors_weigh_a_tenth),
        cmocka_unit_test(cosines_support_no_answer),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
