/* cli_bench_chat.c - `forage bench chat`: a conversation of ten turns with a running service, and what
 * each turn costs: time to the first visible word, tokens read and those of them that were kept. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/clock.h"
#include "server/base/json.h"
#include "server/cli/cli.h"
#include "server/http/client.h"

enum { MAX_TURNS = 32 };

static struct {
    const char *url, *key, *model, *collection, *questions;
    int64_t turns, max_tokens;
    bool json;
} o = {.turns = 10, .max_tokens = 64};

static const cli_option options[] = {
    {"url", CLI_STRING, &o.url, "URL", "the service (any of OpenAI's API, without --collection)"},
    {"api-key", CLI_STRING, &o.key, "KEY", "for it"},
    {"model", CLI_STRING, &o.model, "NAME", "as the service calls it (default: what is loaded)"},
    {"collection", CLI_STRING, &o.collection, "C",
     "ask its documents by POST /query (default: the model alone, /v1/chat/completions)"},
    {"questions", CLI_STRING, &o.questions, "FILE", "a question a line (default: ten of our own)"},
    {"turns", CLI_INT, &o.turns, "N", "of them (default 10)", .min = 1, .max = MAX_TURNS},
    {"max-tokens", CLI_INT, &o.max_tokens, "N", "of an answer (default 64)", .min = 1, .max = 4096},
    {"json", CLI_BOOL, &o.json, NULL, "one JSON object on stdout (always)"},
    {0}};

static const char *const own_questions[] = {
    "What is a lighthouse for?",     "And who keeps one?",
    "How far does its light reach?", "Which oil was burned in them?",
    "When did electric lamps come?", "Are they still needed today?",
    "What do ships use instead?",    "How does that find a position?",
    "What can disturb it?",          "Thanks, and how do I visit a lighthouse?"};
enum { N_OWN = sizeof own_questions / sizeof *own_questions };

typedef struct turn {
    double first_ms, first_token_ms, total_ms; /* first: of any words, a draft's too */
    double prompt_tokens, cached_tokens, completion_tokens;
} turn;

typedef struct listening {
    fo_buf answer;
    double started;
    turn *t;
    fo_err err;
} listening;

static const cJSON *get(const cJSON *o_, const char *key) {
    return cJSON_GetObjectItemCaseSensitive(o_, key);
}

static double number_of(const cJSON *v) {
    return cJSON_IsNumber(v) ? v->valuedouble : 0;
}

static void words_came(listening *l, double *first) {
    double now = fo_now_ms() - l->started;
    if (l->t->first_ms == 0) l->t->first_ms = now;
    if (*first == 0) *first = now;
}

/* What is no object ("[DONE]") is passed over. */
static void hear(void *ctx, const char *event, const char *data, size_t n) {
    listening *l = ctx;
    cJSON *root = data[0] == '{' ? cJSON_ParseWithLength(data, n) : NULL;
    if (!root) return;
    const cJSON *usage = get(root, "usage"), *choice = cJSON_GetArrayItem(get(root, "choices"), 0);
    const char *text = cJSON_GetStringValue(get(get(choice, "delta"), "content"));
    double draft = 0;
    if (!strcmp(event, "token")) text = cJSON_GetStringValue(get(root, "text"));
    if (!strcmp(event, "draft")) words_came(l, &draft);
    if (text && *text) {
        words_came(l, &l->t->first_token_ms);
        fo_buf_str(&l->answer, text);
    }
    if (cJSON_IsObject(usage)) {
        l->t->prompt_tokens = number_of(get(usage, "prompt_tokens"));
        l->t->completion_tokens = number_of(get(usage, "completion_tokens"));
        l->t->cached_tokens = number_of(get(get(usage, "prompt_tokens_details"), "cached_tokens"));
    }
    const char *error = cJSON_GetStringValue(get(get(root, "error"), "message"));
    if (error) fo_fail(&l->err, FO_EIO, "%.400s", error);
    cJSON_Delete(root);
}

static void write_request(fo_buf *b, char *const *said, size_t n) {
    json_out out = {b, false};
    json_out_open(&out, NULL, '{');
    if (o.model && !o.collection) json_out_string(&out, "model", o.model);
    if (o.collection) json_out_string(&out, "collection", o.collection);
    if (o.collection) json_out_string(&out, "cache", "bypass"); /* so that each is answered anew */
    json_out_open(&out, "messages", '[');
    for (size_t i = 0; i < n; i++) {
        json_out_open(&out, NULL, '{');
        json_out_string(&out, "role", i % 2 ? "assistant" : "user");
        json_out_string(&out, "content", said[i]);
        json_out_close(&out, '}');
    }
    json_out_close(&out, ']');
    json_out_int(&out, "max_tokens", o.max_tokens);
    json_out_int(&out, "temperature", 0);
    json_out_bool(&out, "stream", true);
    if (!o.collection) {
        json_out_open(&out, "stream_options", '{');
        json_out_bool(&out, "include_usage", true);
        json_out_close(&out, '}');
    }
    json_out_close(&out, '}');
}

/* said[0 .. 2k] ends with the question; said[2k + 1] becomes the answer. */
static int take_turn(client *c, char **said, size_t k, turn *t, fo_err *err) {
    static volatile bool stop;
    fo_buf request = {0};
    listening l = {.t = t, .started = fo_now_ms()};
    write_request(&request, said, 2 * k + 1);
    int rc = client_post_events(c, o.collection ? "/query" : "/v1/chat/completions", request.data,
                                request.len, hear, &l, &stop, err);
    t->total_ms = fo_now_ms() - l.started;
    if (!rc && l.err.code) *err = l.err, rc = l.err.code;
    if (!rc) said[2 * k + 1] = strdup(l.answer.len ? l.answer.data : "I do not know.");
    if (!rc && !said[2 * k + 1]) rc = fo_no_memory(err);
    fo_buf_free(&request);
    fo_buf_free(&l.answer);
    return rc;
}

static int read_questions(char **said, size_t *n, fo_err *err) {
    FILE *f = o.questions ? fopen(o.questions, "r") : NULL;
    if (o.questions && !f) return fo_fail_errno(err, "cannot read %s", o.questions);
    char line[4096];
    int rc = FO_OK;
    while (!rc && *n < (size_t)o.turns) {
        if (f && !fgets(line, sizeof line, f)) break;
        if (!f && *n == N_OWN) break;
        if (f) line[strcspn(line, "\r\n")] = 0;
        if (f && !*line) continue;
        said[2 * *n] = strdup(f ? line : own_questions[*n]);
        if (!said[2 * *n]) rc = fo_no_memory(err);
        ++*n;
    }
    if (f) fclose(f);
    if (!rc && *n == 0) rc = fo_fail(err, FO_EINVAL, "%s holds no question", o.questions);
    return rc;
}

static void print_row(const char *name, const turn *t, size_t n, size_t offset, int digits) {
    printf("\"%s\":[", name);
    for (size_t i = 0; i < n; i++)
        printf("%s%.*f", i ? "," : "", digits,
               *(const double *)(const void *)((const char *)&t[i] + offset));
    printf("],");
}

static int run(int argc, char **argv) {
    (void)argc, (void)argv;
    char *said[2 * MAX_TURNS] = {0};
    turn turns[MAX_TURNS] = {{0}};
    size_t n = 0;
    fo_err err = {0};
    client *c = NULL;
    if (!o.url) return cli_wrong_usage("bench chat needs --url");
    int rc = read_questions(said, &n, &err);
    if (!rc) rc = client_open(&c, o.url, o.key, &err);
    for (size_t k = 0; !rc && k < n; k++) rc = take_turn(c, said, k, &turns[k], &err);
    if (!rc) {
        double computed = 0;
        for (size_t k = 0; k < n; k++) computed += turns[k].prompt_tokens - turns[k].cached_tokens;
        printf("{");
        print_row("first_visible_ms", turns, n, offsetof(turn, first_ms), 1);
        print_row("first_token_ms", turns, n, offsetof(turn, first_token_ms), 1);
        print_row("total_ms", turns, n, offsetof(turn, total_ms), 1);
        print_row("prompt_tokens", turns, n, offsetof(turn, prompt_tokens), 0);
        print_row("cached_tokens", turns, n, offsetof(turn, cached_tokens), 0);
        print_row("completion_tokens", turns, n, offsetof(turn, completion_tokens), 0);
        printf("\"computed_tokens\":%.0f,\"turns\":%zu}\n", computed, n);
    }
    for (size_t i = 0; i < 2 * MAX_TURNS; i++) free(said[i]);
    client_close(c);
    return rc ? cli_fail(&err) : 0;
}

const cli_command cli_command_bench_chat = {
    "bench chat",
    "ten turns of a conversation: time to the first word of each",
    "forage bench chat --url URL [--collection C] [--questions FILE] --json",
    "Every turn carries all turns before it. \"first_visible_ms\" counts a draft of an answer "
    "from\n"
    "documents, \"first_token_ms\" the answer itself; 0: there were none. \"computed_tokens\" of "
    "all\n"
    "prompts were not kept from a turn before.",
    options,
    0,
    0,
    run};
