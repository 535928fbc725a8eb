/* local_generator_test.c - the engine as a generator: what it says of itself, where it keeps files, and
 * that it gives what the engine gives. */
#include "tests/test.h"

#include <sys/stat.h>

#include "retrieval/generator/prompt.h"
#include "retrieval/local/local_generator.h"
#include "tests/retrieval/chain_model.h"

static fo_err err;
static char *folder, model_file[512];

static generator *open_with(engine_options e, const char *home) {
    generator *g = NULL;
    e.model = model_file;
    if (!e.kv_ram) e.kv_ram = 16 << 20;
    generator_source from = local_generator(&e);
    generator_place at = {.home = home, .n_threads = 2};
    assert_ok(from.open(&g, from.options, &at, &err), &err);
    return g;
}

static generator_layout *lay_out(generator *g, const char *context, const char *salt) {
    const prompt_context c = {context, strlen(context), "Heron"};
    unsigned char s[32] = {0};
    snprintf((char *)s, sizeof s, "%s", salt);
    prompt_input in = {.contexts = &c, .n_contexts = 1, .question = "How tall?", .salt = s};
    prompt p;
    generator_layout *l = NULL;
    const prompt_template *t = prompt_template_for(generator_get_info(g)->n_parameters);
    assert_ok(prompt_make(&p, t, &in, &err), &err);
    assert_ok(generator_lay_out(g, &p.prompt, &l, &err), &err);
    prompt_deinit(&p);
    assert_ptr_equal(l->generator, g);
    return l;
}

/* Its text, caller frees. */
static char *write_with(generator *g, const generator_layout *l, generator_options o,
                        generator_event *ev) {
    generator_stream *s = NULL;
    fo_buf text = {0};
    assert_ok(generator_start(g, l, &o, &s, NULL, &err), &err);
    do generator_next(s, -1, ev, &text);
    while (!ev->done);
    generator_stream_free(s);
    fo_buf_add(&text, "", 0);
    return fo_buf_take(&text, NULL);
}

static void without_a_model_there_is_none(void **state) {
    (void)state;
    assert_null(local_generator(NULL).open);
    assert_null(local_generator(&(engine_options){0}).open);
    assert_null(local_generator_engine(NULL));
    generator other = {.methods = &(generator_methods){0}};
    assert_null(local_generator_engine(&other));
    assert_true(generator_ready(&other));
    generator_kept kept;
    assert_false(generator_get_kept(&other, &kept));
}

static void a_model_that_cannot_be_opened_says_why(void **state) {
    (void)state;
    generator *g = NULL;
    engine_options e = {.model = "/nowhere/model.gguf"};
    generator_source from = local_generator(&e);
    assert_int_not_equal(from.open(&g, from.options, &(generator_place){0}, &err), FO_OK);
    assert_non_null(strstr(err.msg, "/nowhere/model.gguf"));
    assert_null(g);
}

/* Weights and chat template decide what is written: the same give the same name, others another. */
static void its_fingerprint_is_that_of_weights_and_chat_template(void **state) {
    (void)state;
    static const struct {
        const char *says, *chat;
    } models[] = {{"It is tall.", NULL},
                  {"It is tall.", NULL},
                  {"It is small.", NULL},
                  {"It is tall.", "{% for m in messages %}{{ m.content }}{% endfor %}"}};
    unsigned char prints[4][32];
    for (int i = 0; i < 4; i++) {
        chain_model_write_with(model_file, models[i].says, models[i].chat);
        generator *g = open_with((engine_options){0}, NULL);
        const generator_info *info = generator_get_info(g);
        assert_string_equal(info->name, "chain");
        assert_int_equal(info->window, CHAIN_CONTEXT);
        assert_true(info->n_parameters > 0);
        memcpy(prints[i], info->fingerprint, 32);
        generator_close(g);
    }
    assert_memory_equal(prints[0], prints[1], 32);
    for (int i = 2; i < 4; i++) assert_memory_not_equal(prints[0], prints[i], 32);
    assert_memory_not_equal(prints[2], prints[3], 32);
    chain_model_write(model_file, "The grey heron stands one metre tall.");
}

static void it_writes_what_the_engine_writes(void **state) {
    (void)state;
    generator *g = open_with((engine_options){0}, NULL);
    generator_layout *l = lay_out(g, "The heron is a tall grey bird.", "a");
    assert_int_equal(l->n_used, 1);
    assert_true(l->head_tokens > 0 && l->head_tokens + l->context_tokens < l->n_tokens);
    generator_event ev;
    char *text = write_with(g, l, (generator_options){.max_tokens = 32}, &ev);
    assert_string_equal(text, " The grey heron stands one metre tall.");
    assert_string_equal(ev.finish_reason, "stop");
    assert_int_equal(ev.error, FO_OK);
    assert_int_equal(ev.usage.prompt_tokens, l->n_tokens);
    assert_int_equal(ev.usage.cached_tokens, 0);
    free(text);

    static const char *const stop[] = {"one"};
    generator_options o = {.max_tokens = 32, .stop = stop, .n_stop = 1};
    text = write_with(g, l, o, &ev);
    assert_string_equal(text, " The grey heron stands ");
    assert_string_equal(ev.finish_reason, "stop_sequence");
    assert_int_equal(ev.stop_index, 0);
    assert_true(ev.usage.prefix_tokens > 0); /* read a moment ago */
    free(text);
    o = (generator_options){.max_tokens = 3, .reuse = REUSE_OFF};
    text = write_with(g, l, o, &ev);
    assert_string_equal(ev.finish_reason, "length");
    assert_int_equal(ev.usage.completion_tokens, 3);
    assert_int_equal(ev.usage.cached_tokens, 0);
    free(text);

    generator_layout *other = lay_out(g, "The heron is a tall grey bird.", "b");
    text = write_with(g, other, (generator_options){.max_tokens = 1}, &ev);
    assert_int_equal(ev.usage.cached_tokens, 0); /* another tenant's */
    free(text);

    generator_stream *s = NULL;
    static const char *const empty[] = {""};
    o = (generator_options){.max_tokens = 4, .stop = empty, .n_stop = 1};
    assert_int_equal(generator_start(g, l, &o, &s, NULL, &err), FO_EINVAL);
    assert_string_equal(err.field, "stop");
    assert_null(s);
    assert_ok(engine_check(local_generator_engine(g), &err), &err);
    generator_layout_free(l);
    generator_layout_free(other);
    generator_close(g);
}

static void what_is_read_in_the_background_is_all_but_the_tail(void **state) {
    (void)state;
    static const char context[] = "The heron is a tall grey bird that stands in shallow water for "
                                  "hours and waits for fish, frogs and whatever else comes by.";
    generator *g = open_with((engine_options){.kv_store_ram = 1 << 20}, NULL);
    generator_kept kept;
    assert_true(generator_get_kept(g, &kept));
    assert_int_equal(kept.budget_bytes, 1 << 20);
    assert_true(kept.page_bytes > 0 && kept.page_tokens > 0);
    generator_layout *l = lay_out(g, context, "a");
    generator_event ev;
    generator_options o = {.prefill_only = true, .background = true, .reuse = REUSE_CHUNK};
    free(write_with(g, l, o, &ev));
    assert_int_equal(ev.error, FO_OK);
    assert_int_equal(ev.usage.prompt_tokens, l->head_tokens + l->context_tokens);
    assert_int_equal(ev.usage.completion_tokens, 0);
    free(write_with(g, l, (generator_options){.max_tokens = 2}, &ev));
    /* whole pages of it are there */
    size_t read = l->head_tokens + l->context_tokens;
    assert_int_equal(ev.usage.prefix_tokens, read / kept.page_tokens * kept.page_tokens);
    generator_layout_free(l);
    generator_close(g);
}

static void a_stream_is_cancelled_in_the_middle(void **state) {
    (void)state;
    char before[512];
    memcpy(before, model_file, sizeof before);
    snprintf(model_file, sizeof model_file, "%s/endless.gguf", folder);
    chain_model_write(model_file, "and so on @");
    generator *g = open_with((engine_options){0}, NULL);
    generator_layout *l = lay_out(g, "Nothing.", "a");
    generator_stream *s = NULL;
    generator_options o = {.max_tokens = 1500};
    assert_ok(generator_start(g, l, &o, &s, NULL, &err), &err);
    generator_layout_free(l); /* it has what it needs */
    generator_event ev;
    fo_buf text = {0};
    do generator_next(s, -1, &ev, &text);
    while (!ev.done && text.len < 20);
    assert_false(ev.done);
    generator_cancel(s);
    do generator_next(s, -1, &ev, NULL);
    while (!ev.done);
    assert_string_equal(ev.finish_reason, "cancelled");
    assert_true(ev.usage.completion_tokens < 1500);
    generator_stream_free(s);
    assert_ok(generator_start(g, l = lay_out(g, "Nothing.", "a"), &o, &s, NULL, &err), &err);
    generator_stream_free(s); /* cancels first */
    generator_layout_free(l);
    fo_buf_free(&text);
    generator_close(g);
    memcpy(model_file, before, sizeof model_file);
}

static void files_lie_in_the_home_where_there_is_one(void **state) {
    (void)state;
    char kv[600];
    struct stat st;
    snprintf(kv, sizeof kv, "%s/kv", folder);
    generator_close(open_with((engine_options){.kv_disk = 1 << 20}, NULL));
    generator_close(open_with((engine_options){0}, folder));
    assert_int_not_equal(stat(kv, &st), 0);
    generator_close(open_with((engine_options){.kv_disk = 1 << 20}, folder));
    assert_int_equal(stat(kv, &st), 0);
}

static int setup(void **state) {
    (void)state;
    folder = test_folder();
    snprintf(model_file, sizeof model_file, "%s/chain.gguf", folder);
    chain_model_write(model_file, "The grey heron stands one metre tall.");
    return 0;
}

static int teardown(void **state) {
    (void)state;
    test_remove(folder);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_model_there_is_none),
        cmocka_unit_test(a_model_that_cannot_be_opened_says_why),
        cmocka_unit_test(its_fingerprint_is_that_of_weights_and_chat_template),
        cmocka_unit_test(it_writes_what_the_engine_writes),
        cmocka_unit_test(what_is_read_in_the_background_is_all_but_the_tail),
        cmocka_unit_test(a_stream_is_cancelled_in_the_middle),
        cmocka_unit_test(files_lie_in_the_home_where_there_is_one),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
