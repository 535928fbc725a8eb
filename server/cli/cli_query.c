/* forage query: one question, on the terminal. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/cli/answer_print.h"
#include "server/cli/cli.h"
#include "server/cli/cli_models.h"
#include "server/cli/output_form.h"
#include "server/http/client.h"
#include "server/base/json.h"
#include "server/routes/query_json.h"

static struct {
    const char *home, *url, *key, *collection, *mode, *filter, *fusion;
    int64_t top_k, sentences;
    double alpha;
    bool no_generate, loose;
} o = {.home = "home",
       .collection = "default",
       .mode = "hybrid",
       .fusion = "weighted",
       .top_k = 8,
       .sentences = 3,
       .alpha = -1};

static const cli_option options[] = {
    {"home", CLI_STRING, &o.home, "DIR", "the home to ask (default: home)"},
    {"url", CLI_STRING, &o.url, "URL", "a running service to ask instead"},
    {"api-key", CLI_STRING, &o.key, "KEY", "for --url"},
    {"collection", CLI_STRING, &o.collection, "NAME", "default: default"},
    {"top-k", CLI_INT, &o.top_k, "N", "contexts (default 8)", .min = 1, .max = 1000},
    {"mode", CLI_CHOICE, &o.mode, NULL, "by both, by vectors or by words (default hybrid)",
     .names = search_mode_names},
    {"fusion", CLI_CHOICE, &o.fusion, NULL, "of both rankings (default weighted)",
     .names = fusion_names},
    {"alpha", CLI_DOUBLE, &o.alpha, "A", "dense weight, 0 to 1 (default: the embedder's)", .min = 0,
     .max = 1},
    {"filter", CLI_STRING, &o.filter, "JSON", "condition on metadata", .flag_only = true},
    {"max-sentences", CLI_INT, &o.sentences, "N", "of an extractive answer (default 3)", .min = 1,
     .max = 20},
    CLI_ANSWER_OPTIONS,
    {"no-generate", CLI_BOOL, &o.no_generate, NULL, "contexts only"},
    {"loose", CLI_BOOL, &o.loose, NULL, "answer even where the support is weak"},
    {"output", CLI_CHOICE, &output_choice.form, "text|table|json|md",
     "default: text; table: its sources; md: with footnotes"},
    {"json", CLI_BOOL, &output_choice.json, NULL, "the whole answer as one JSON object"},
    {0}};

static void write_request(fo_buf *b, const char *question) {
    json_out out = {b, false};
    json_out_open(&out, NULL, '{');
    json_out_string(&out, "query", question);
    json_out_string(&out, "collection", o.collection);
    json_out_int(&out, "top_k", o.top_k);
    if (o.filter) json_out_raw(&out, "filter", o.filter);
    json_out_open(&out, "search", '{');
    json_out_string(&out, "mode", o.mode);
    json_out_string(&out, "fusion", o.fusion);
    if (o.alpha >= 0) json_out_number(&out, "alpha", o.alpha);
    if (!o.url && cli_reranks()) json_out_string(&out, "rerank", "model");
    json_out_close(&out, '}');
    if (!o.no_generate) {
        json_out_int(&out, "max_sentences", o.sentences);
        json_out_bool(&out, "short_answer", true);
        json_out_string(&out, "grounding", o.loose ? "loose" : "strict");
    }
    json_out_close(&out, '}');
}

static int ask_home(const fo_buf *request, fo_buf *reply, fo_err *err) {
    query_call call;
    int rc = query_json_read(&call, request->data, request->len, o.no_generate, err);
    if (rc) return rc;
    service *s = NULL;
    /* Read-only: a home that a server holds can be asked beside it. */
    if (o.no_generate) cli_model_flags.model = NULL;
    rc = cli_models_open(&s,
                         &(service_options){.home = o.home,
                                            .read_only = true,
                                            .n_threads = (int)engine_flag_values.threads},
                         err);
    if (!rc) rc = query_json_ask(s, &call, NULL, reply, err);
    query_call_deinit(&call);
    service_close(s);
    return rc;
}

/* A reply that is no JSON is a failure: something else than a service may listen there. */
static int print_reply(const fo_buf *reply, fo_err *err) {
    cJSON *root = cJSON_ParseWithLength(reply->data ? reply->data : "", reply->len);
    if (!root) return fo_fail(err, FO_EINVAL, "the reply: it is no JSON");
    const enum output_form form = output_asked();
    if (form == OUTPUT_JSON) {
        cli_print_json(reply);
    } else if (form == OUTPUT_MARKDOWN) {
        answer_print_markdown(root, o.no_generate);
    } else if (output_choice.form && !strcmp(output_choice.form, "table")) {
        answer_print_table(root, o.no_generate);
    } else {
        if (!o.no_generate) answer_print_text(root);
        answer_print_sources(root, o.no_generate);
    }
    cJSON_Delete(root);
    return FO_OK;
}

/* Of "-": what comes on standard input, without the end of its last line. */
static int read_question(fo_buf *question, const char *word, fo_err *err) {
    if (strcmp(word, "-") != 0) {
        fo_buf_str(question, word);
    } else {
        char piece[4096];
        const size_t most = 1 << 20; /* the limits of a question are far below it */
        for (size_t n; (n = fread(piece, 1, sizeof piece, stdin)) > 0;) {
            fo_buf_add(question, piece, n);
            if (question->len > most)
                return fo_fail(err, FO_EINVAL, "the question on standard input is too long");
        }
        if (question->len && memchr(question->data, 0, question->len))
            return fo_fail(err, FO_EINVAL, "the question on standard input is no text");
        while (question->len && strchr("\r\n", question->data[question->len - 1])) question->len--;
        fo_buf_add(question, "", 1); /* its NUL */
    }
    return question->failed ? fo_no_memory(err) : FO_OK;
}

static int run(int argc, char **argv) {
    (void)argc;
    fo_buf request = {0}, reply = {0}, question = {0};
    fo_err err = {0};
    cJSON *filter = NULL;
    if (o.url && cli_models_refuse_for_url(options)) return 2;
    if (o.filter && json_parse(o.filter, strlen(o.filter), &filter, &err)) {
        fo_fail_prefix(&err, "--filter");
        return cli_fail(&err), 2;
    }
    cJSON_Delete(filter);
    int rc = read_question(&question, argv[0], &err);
    if (!rc) write_request(&request, question.data);
    if (rc) {
        /* said below */
    } else if (o.url) {
        client *c;
        rc = client_open(&c, o.url, o.key, &err);
        if (!rc) {
            rc = client_post(c, o.no_generate ? "/search" : "/query", "application/json",
                             request.data, request.len, &reply, &err);
            client_close(c);
        }
    } else {
        rc = ask_home(&request, &reply, &err);
    }
    if (!rc) rc = print_reply(&reply, &err);
    if (rc) cli_fail(&err);
    fo_buf_free(&question);
    fo_buf_free(&request);
    fo_buf_free(&reply);
    return rc ? 1 : 0;
}

const cli_command cli_command_query = {
    "query",
    "ask a question; the answer cites its sources",
    "forage query \"question\" [--home DIR [--model gen.gguf] | --url URL] [--collection C]\n"
    "             [--output text|table|json|md] [--no-generate]\n"
    "echo \"question\" | forage query - ...",
    NULL,
    options,
    1,
    1,
    run};
