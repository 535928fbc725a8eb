/* Conversations, their turns and feedback: kept, found, changed by their owner alone, bounded, and there after
 * opening again. */
#include "tests/test.h"

#include "data/sqlite/sqlite_store.h"
#include "tests/data/store/store_fixture.h"

typedef struct env {
    char *dir;
    char path[4200];
    store *s;
    fo_err err;
} env;

static void open_store(env *e) {
    assert_ok(sqlite_store_open(&e->s, e->path, NULL, &e->err), &e->err);
}

static env begin(void) {
    env e = {.dir = test_folder()};
    snprintf(e.path, sizeof e.path, "%s/forage.db", e.dir);
    open_store(&e);
    return e;
}

static void end(env *e) {
    assert_ok(store_verify(e->s, &e->err), &e->err);
    store_close(e->s);
    test_remove(e->dir);
}

static int create(env *e, const char *tenant, const char *owner, const char *id, const char *title,
                  int64_t t_ms) {
    char docs[] = "docs";
    store_conversation c = {.id = (char *)id,
                            .tenant = (char *)tenant,
                            .owner = (char *)owner,
                            .collection = docs,
                            .title = (char *)title,
                            .created_ms = t_ms};
    return store_create_conversation(e->s, &c, NULL, &e->err);
}

static int say_known(env *e, const char *owner, const char *id, size_t at, int64_t n_known,
                     const char *question, const char *answer, int64_t t_ms) {
    char docs[] = "docs", reply[] = "{\"citations\":[]}";
    store_turn t = {.collection = docs,
                    .question = (char *)question,
                    .answer = (char *)answer,
                    .reply = reply,
                    .created_ms = t_ms};
    return store_write_turn(e->s, "t", owner, id, at, n_known, &t, NULL, &e->err);
}

static int say(env *e, const char *owner, const char *id, size_t at, const char *question,
               const char *answer, int64_t t_ms) {
    return say_known(e, owner, id, at, -1, question, answer, t_ms);
}

static size_t count(env *e, const char *owner, const char *text) {
    store_conversation *list;
    size_t n;
    bool more;
    assert_ok(store_list_conversations(e->s, "t", owner, text, NULL, 100, NULL, &list, &n, &more,
                                       &e->err),
              &e->err);
    for (size_t i = 0; i < n; i++) store_conversation_deinit(&list[i]);
    free(list);
    return n;
}

static void turns_are_added_and_replaced_and_last(void **state) {
    (void)state;
    env e = begin();
    assert_ok(create(&e, "t", "ann", "c_1", "Herons", 5), &e.err);
    assert_int_equal(create(&e, "t", "ann", "c_1", "Herons", 5), FO_ECONFLICT);
    assert_ok(say(&e, "ann", "c_1", 0, "How tall?", "One metre.", 10), &e.err);
    assert_ok(say(&e, "ann", "c_1", 1, "What does it eat?", "Fish.", 11), &e.err);
    assert_ok(say(&e, "ann", "c_1", 2, "Where?", "Ponds.", 12), &e.err);
    assert_int_equal(say(&e, "ann", "c_1", 4, "Gap", "", 13), FO_EINVAL);
    assert_string_equal(e.err.field, "turn");
    /* Somebody who knows of one turn, or of four, takes none away. */
    assert_int_equal(say_known(&e, "ann", "c_1", 1, 1, "Else?", "", 13), FO_ECONFLICT);
    assert_string_equal(e.err.field, "turns");
    assert_int_equal(say_known(&e, "ann", "c_1", 3, 4, "Else?", "", 13), FO_ECONFLICT);
    assert_int_equal(count(&e, "ann", "else"), 0);
    assert_int_equal(count(&e, "ann", "ponds"), 1);
    assert_ok(say_known(&e, "ann", "c_1", 1, 3, "What does it eat?", "Frogs.", 14), &e.err);
    store_close(e.s);
    open_store(&e);
    store_conversation c = {0};
    assert_ok(store_get_conversation(e.s, "t", "c_1", true, NULL, &c, &e.err), &e.err);
    assert_int_equal(c.n_turns, 2); /* what came after the turn that was replaced is gone */
    assert_string_equal(c.turns[0].answer, "One metre.");
    assert_string_equal(c.turns[1].answer, "Frogs.");
    assert_string_equal(c.turns[1].reply, "{\"citations\":[]}");
    assert_int_equal(c.updated_ms, 14);
    assert_string_equal(c.owner, "ann");
    store_conversation_deinit(&c);
    end(&e);
}

static void nobody_else_changes_one(void **state) {
    (void)state;
    env e = begin();
    store_conversation c = {0};
    assert_ok(create(&e, "t", "ann", "c_1", "Herons", 5), &e.err);
    assert_int_equal(say(&e, "bob", "c_1", 0, "Mine?", "No.", 10), FO_ENOTFOUND);
    assert_int_equal(store_change_conversation(e.s, "t", "bob", "c_1", "Mine", 1, NULL, &e.err),
                     FO_ENOTFOUND);
    assert_int_equal(store_change_conversation(e.s, "u", "ann", "c_1", "Mine", 1, NULL, &e.err),
                     FO_ENOTFOUND);
    assert_int_equal(store_delete_conversation(e.s, "t", "bob", "c_1", NULL, &e.err), FO_ENOTFOUND);
    assert_int_equal(store_get_conversation(e.s, "u", "c_1", true, NULL, &c, &e.err), FO_ENOTFOUND);
    assert_ok(store_change_conversation(e.s, "t", "ann", "c_1", NULL, 1, NULL, &e.err), &e.err);
    assert_ok(store_get_conversation(e.s, "t", "c_1", false, NULL, &c, &e.err), &e.err);
    assert_true(c.shared);
    assert_string_equal(c.title, "Herons");
    store_conversation_deinit(&c);
    assert_ok(store_change_conversation(e.s, "t", "ann", "c_1", "Birds", -1, NULL, &e.err), &e.err);
    assert_ok(store_get_conversation(e.s, "t", "c_1", false, NULL, &c, &e.err), &e.err);
    assert_true(c.shared);
    assert_string_equal(c.title, "Birds");
    store_conversation_deinit(&c);
    assert_ok(store_delete_conversation(e.s, "t", "ann", "c_1", NULL, &e.err), &e.err);
    assert_int_equal(store_get_conversation(e.s, "t", "c_1", true, NULL, &c, &e.err), FO_ENOTFOUND);
    end(&e);
}

static void they_are_listed_and_found(void **state) {
    (void)state;
    env e = begin();
    assert_ok(create(&e, "t", "ann", "c_1", "100 % of Herons", 5), &e.err);
    assert_ok(create(&e, "t", "ann", "c_2", "Otters", 6), &e.err);
    assert_ok(create(&e, "t", "ann", "c_3", "", 6), &e.err);
    assert_ok(create(&e, "t", "bob", "c_4", "Herons", 7), &e.err);
    assert_ok(create(&e, "u", "ann", "c_5", "Herons", 8), &e.err);
    assert_ok(say(&e, "ann", "c_1", 0, "Where do they SLEEP?", "In trees.", 10), &e.err);
    assert_int_equal(count(&e, "ann", NULL), 3);
    assert_int_equal(count(&e, "ann", "heron"), 1);
    assert_int_equal(count(&e, "ann", "sleep"), 1);
    assert_int_equal(count(&e, "ann", "TREES"), 1);
    assert_int_equal(count(&e, "ann", "%"), 1); /* no wildcard */
    assert_int_equal(count(&e, "ann", "_"), 0);
    assert_int_equal(count(&e, "nobody", NULL), 0);
    const char *const order[] = {"c_1", "c_3", "c_2"};
    store_conversation *list;
    size_t n, seen = 0;
    bool more = true;
    char after[8] = "";
    while (more) { /* page by page, and two of one moment are told apart */
        assert_ok(store_list_conversations(e.s, "t", "ann", NULL, *after ? after : NULL, 1, NULL,
                                           &list, &n, &more, &e.err),
                  &e.err);
        assert_int_equal(n, 1);
        assert_string_equal(list[0].id, order[seen++]);
        snprintf(after, sizeof after, "%s", list[0].id);
        store_conversation_deinit(&list[0]);
        free(list);
    }
    assert_int_equal(seen, 3);
    /* Behind one that is gone, or another's, is no place: not the end of the list. */
    assert_int_equal(
        store_list_conversations(e.s, "t", "ann", NULL, "c_4", 1, NULL, &list, &n, &more, &e.err),
        FO_ENOTFOUND);
    assert_string_equal(e.err.field, "after");
    end(&e);
}

static void an_owner_keeps_so_much_and_no_more(void **state) {
    (void)state;
    env e = begin();
    assert_ok(create(&e, "t", "ann", "c_1", "Long", 5), &e.err);
    char *text = malloc(STORE_TURN_BYTES_MAX + 1);
    memset(text, 'a', STORE_TURN_BYTES_MAX);
    text[STORE_TURN_BYTES_MAX] = 0;
    assert_int_equal(say(&e, "ann", "c_1", 0, "q", text, 6), FO_ELIMIT);
    free(text);
    for (size_t i = 0; i < STORE_TURNS_MAX; i++)
        assert_ok(say(&e, "ann", "c_1", i, "q", "a", 6), &e.err);
    assert_int_equal(say(&e, "ann", "c_1", STORE_TURNS_MAX, "q", "a", 6), FO_ELIMIT);
    for (int i = 1; i < STORE_CONVERSATIONS_MAX; i++) {
        char id[16];
        snprintf(id, sizeof id, "d_%d", i);
        assert_ok(create(&e, "t", "ann", id, "", 7), &e.err);
    }
    assert_int_equal(create(&e, "t", "ann", "d_x", "", 7), FO_ELIMIT);
    assert_non_null(strstr(e.err.msg, "delete some"));
    assert_ok(create(&e, "t", "bob", "d_x", "", 7), &e.err);
    assert_ok(store_delete_conversation(e.s, "t", "ann", "d_1", NULL, &e.err), &e.err);
    assert_ok(create(&e, "t", "ann", "d_y", "", 7), &e.err);
    end(&e);
}

/* A copy whose second turn is too large. */
static void one_comes_with_all_its_turns_or_not_at_all(void **state) {
    (void)state;
    env e = begin();
    char docs[] = "docs", reply[] = "{}", q[] = "How tall?", a[] = "One metre.";
    char owner[] = "ann", tenant[] = "t", first[] = "c_1", second[] = "c_2", title[] = "Herons";
    char *text = malloc(STORE_TURN_BYTES_MAX + 1);
    memset(text, 'a', STORE_TURN_BYTES_MAX);
    text[STORE_TURN_BYTES_MAX] = 0;
    store_turn turns[2] = {
        {.collection = docs, .question = q, .answer = a, .reply = reply, .created_ms = 3},
        {.collection = docs, .question = q, .answer = text, .reply = reply, .created_ms = 4}};
    store_conversation c = {.id = first,
                            .tenant = tenant,
                            .owner = owner,
                            .collection = docs,
                            .title = title,
                            .created_ms = 5,
                            .n_turns = 2,
                            .turns = turns};
    assert_int_equal(store_create_conversation(e.s, &c, NULL, &e.err), FO_ELIMIT);
    assert_int_equal(count(&e, "ann", NULL), 0);
    turns[1].answer = a;
    c.id = second;
    assert_ok(store_create_conversation(e.s, &c, NULL, &e.err), &e.err);
    store_conversation got;
    assert_ok(store_get_conversation(e.s, "t", "c_2", true, NULL, &got, &e.err), &e.err);
    assert_int_equal(got.n_turns, 2);
    assert_string_equal(got.turns[1].answer, "One metre.");
    assert_int_equal(got.updated_ms, 5);
    store_conversation_deinit(&got);
    free(text);
    end(&e);
}

/* A list ends in the middle of looking, a change before it begins; both leave all as it was, and the connections are of
 * use again. */
static void a_call_ends_when_it_is_cancelled(void **state) {
    (void)state;
    env e = begin();
    const atomic_bool cancel = true;
    store_conversation *list = NULL, c = {0};
    size_t n;
    bool more;
    for (int i = 0; i < 200; i++) { /* so many that SQLite asks whether to go on */
        char id[16];
        snprintf(id, sizeof id, "c_%d", i);
        assert_ok(create(&e, "t", "ann", id, "Herons", i), &e.err);
    }
    for (size_t i = 0; i < STORE_TURNS_MAX; i++)
        assert_ok(say(&e, "ann", "c_0", i, "q", "a", 6), &e.err);
    assert_int_equal(store_list_conversations(e.s, "t", "ann", "otter", NULL, 100, &cancel, &list,
                                              &n, &more, &e.err),
                     FO_ECANCELLED);
    assert_int_equal(n, 0);
    free(list);
    assert_int_equal(store_get_conversation(e.s, "t", "c_0", true, &cancel, &c, &e.err),
                     FO_ECANCELLED);
    char docs[] = "docs", reply[] = "{}", text[] = "new";
    store_turn t = {.collection = docs, .question = text, .answer = text, .reply = reply};
    store_conversation in = {
        .id = text, .tenant = docs, .owner = docs, .collection = docs, .title = text};
    assert_int_equal(store_write_turn(e.s, "t", "ann", "c_0", 0, -1, &t, &cancel, &e.err),
                     FO_ECANCELLED);
    assert_int_equal(store_change_conversation(e.s, "t", "ann", "c_0", "new", 1, &cancel, &e.err),
                     FO_ECANCELLED);
    assert_int_equal(store_delete_conversation(e.s, "t", "ann", "c_0", &cancel, &e.err),
                     FO_ECANCELLED);
    assert_int_equal(store_create_conversation(e.s, &in, &cancel, &e.err), FO_ECANCELLED);
    assert_int_equal(count(&e, "ann", NULL), 100);
    assert_int_equal(count(&e, "docs", NULL), 0);
    assert_ok(store_get_conversation(e.s, "t", "c_0", true, NULL, &c, &e.err), &e.err);
    assert_int_equal(c.n_turns, STORE_TURNS_MAX);
    assert_string_equal(c.title, "Herons");
    store_conversation_deinit(&c);
    end(&e);
}

static int rate(env *e, const char *owner, const char *query, int rating, int64_t t_ms) {
    char tenant[] = "t", docs[] = "docs", ids[] = "[\"a\"]";
    store_feedback f = {.tenant = tenant,
                        .owner = (char *)owner,
                        .collection = docs,
                        .query = (char *)query,
                        .rating = rating,
                        .documents = ids,
                        .t_ms = t_ms};
    return store_put_feedback(e->s, &f, &e->err);
}

static void the_last_word_on_an_answer_counts(void **state) {
    (void)state;
    env e = begin();
    assert_ok(create(&e, "t", "ann", "c_1", "Herons", 5), &e.err);
    assert_ok(say(&e, "ann", "c_1", 0, "How tall?", "One metre.", 10), &e.err);
    assert_ok(rate(&e, "ann", "How tall?", 1, 20), &e.err);
    assert_ok(rate(&e, "bob", "How tall?", 1, 21), &e.err);
    assert_ok(rate(&e, "ann", "How tall?", -1, 22), &e.err);
    store_feedback *list;
    size_t n;
    assert_ok(store_list_feedback(e.s, "t", NULL, NULL, 0, 10, &list, &n, &e.err), &e.err);
    assert_int_equal(n, 2);
    assert_string_equal(list[0].owner, "ann");
    assert_int_equal(list[0].rating, -1);
    assert_string_equal(list[0].documents, "[\"a\"]");
    for (size_t i = 0; i < n; i++) store_feedback_deinit(&list[i]);
    free(list);
    store_conversation c = {0};
    assert_ok(store_get_conversation(e.s, "t", "c_1", true, NULL, &c, &e.err), &e.err);
    assert_int_equal(c.turns[0].rating, -1);
    store_conversation_deinit(&c);
    assert_ok(rate(&e, "ann", "How tall?", 0, 23), &e.err);
    assert_ok(store_list_feedback(e.s, "t", "ann", NULL, 0, 10, &list, &n, &e.err), &e.err);
    assert_int_equal(n, 0);
    free(list);
    assert_ok(store_list_feedback(e.s, "t", "bob", "docs", 22, 10, &list, &n, &e.err), &e.err);
    assert_int_equal(n, 0); /* too old */
    free(list);
    end(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turns_are_added_and_replaced_and_last),
        cmocka_unit_test(nobody_else_changes_one),
        cmocka_unit_test(they_are_listed_and_found),
        cmocka_unit_test(an_owner_keeps_so_much_and_no_more),
        cmocka_unit_test(one_comes_with_all_its_turns_or_not_at_all),
        cmocka_unit_test(a_call_ends_when_it_is_cancelled),
        cmocka_unit_test(the_last_word_on_an_answer_counts),
    };
    return cmocka_run_group_tests_name("sqlite_conversations", tests, NULL, NULL);
}
