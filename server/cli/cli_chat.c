/* forage chat: a conversation with the documents, on the terminal or line by line from a pipe. */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "server/cli/answer_print.h"
#include "server/cli/cli.h"
#include "server/cli/cli_models.h"
#include "server/http/client.h"
#include "server/base/json.h"
#include "server/base/printable.h"
#include "server/routes/query_json.h"

enum { TURNS_KEPT = 32 }; /* of each side; the prompt takes fewer still */

static struct {
    const char *home, *url, *key, *collection;
    int64_t top_k, sentences, max_tokens;
    bool loose, sources;
} o = {.home = "home", .collection = "default", .top_k = 8, .sentences = 3, .max_tokens = 256};

static const cli_option options[] = {
    {"home", CLI_STRING, &o.home, "DIR", "the home to talk to (default: home)"},
    {"url", CLI_STRING, &o.url, "URL", "a running service to talk to instead"},
    {"api-key", CLI_STRING, &o.key, "KEY", "for --url"},
    {"collection", CLI_STRING, &o.collection, "NAME", "default: default"},
    {"top-k", CLI_INT, &o.top_k, "N", "contexts (default 8)", .min = 1, .max = 1000},
    {"max-sentences", CLI_INT, &o.sentences, "N", "of an answer (default 3)", .min = 1, .max = 20},
    {"max-tokens", CLI_INT, &o.max_tokens, "N", "of a written answer (default 256)", .min = 1,
     .max = 65536},
    {"loose", CLI_BOOL, &o.loose, NULL, "answer even where the support is weak"},
    {"sources", CLI_BOOL, &o.sources, NULL, "show the sources after every answer"},
    CLI_ANSWER_OPTIONS,
    {0}};

/* Ctrl-C ends an answer that is being written; at the prompt it ends the conversation. */
static atomic_bool cancel;
static volatile bool stop;

static void on_interrupt(int sig) {
    (void)sig;
    stop = true;
    atomic_store(&cancel, true);
}

typedef struct conversation {
    service *home; /* or */
    client *server;
    char *turns[2 * TURNS_KEPT]; /* user and assistant by turns */
    size_t n_turns;
    cJSON *last; /* the last reply, NULL before the first */
} conversation;

/* ---- the request ---------------------------------------------------------------------------- */

static void write_request(const conversation *c, const char *question, fo_buf *b) {
    json_out out = {b, false};
    json_out_open(&out, NULL, '{');
    json_out_open(&out, "messages", '[');
    for (size_t i = 0; i <= c->n_turns; i++) {
        json_out_open(&out, NULL, '{');
        json_out_string(&out, "role", i % 2 ? "assistant" : "user");
        json_out_string(&out, "content", i < c->n_turns ? c->turns[i] : question);
        json_out_close(&out, '}');
    }
    json_out_close(&out, ']');
    json_out_string(&out, "collection", o.collection);
    json_out_int(&out, "top_k", o.top_k);
    json_out_int(&out, "max_sentences", o.sentences);
    json_out_int(&out, "max_tokens", o.max_tokens);
    json_out_string(&out, "grounding", o.loose ? "loose" : "strict");
    json_out_bool(&out, "stream", true);
    if (c->home && cli_reranks()) {
        json_out_open(&out, "search", '{');
        json_out_string(&out, "rerank", "model");
        json_out_close(&out, '}');
    }
    json_out_close(&out, '}');
}

/* ---- a home --------------------------------------------------------------------------------- */

/* What stands on the terminal of an answer that is not whole. */
typedef struct shown {
    bool said; /* words of the answer itself */
    int rows;  /* of a draft, which they take the place of */
} shown;

static bool on_terminal(void) {
    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

/* Rows that a text takes, wide letters and all: at most one too many. */
static int rows_of(const char *text) {
    struct winsize size = {0};
    int rows = 0, columns = 80, at = 0;
    if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col) columns = size.ws_col;
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        if ((*p & 0xc0) == 0x80) continue;
        at += *p >= 0xe3 ? 2 : 1;
        if (*p == '\n' || at > columns) {
            rows++;
            at = *p != '\n';
        }
    }
    return rows + 1;
}

/* A draft is shown where it can be taken back. */
static void show_draft(shown *s, const char *text) {
    if (!on_terminal() || s->said || s->rows || !*text) return;
    fputs("\033[2m", stdout);
    printable_put(stdout, text, strlen(text), PRINTABLE_TEXT);
    fputs("\033[0m\n", stdout);
    fflush(stdout);
    s->rows = rows_of(text);
}

static void take_back(shown *s) {
    if (s->rows) printf("\033[%dA\r\033[J", s->rows);
    s->rows = 0;
}

static int hear_draft(void *ctx, const query_result *partial) {
    show_draft(ctx, partial->answer);
    return 0;
}

static int say(void *ctx, const char *text, size_t len) {
    shown *s = ctx;
    take_back(s);
    s->said = true;
    printable_put(stdout, text, len, PRINTABLE_TEXT);
    fflush(stdout);
    return 0;
}

static int ask_home(conversation *c, const fo_buf *request, fo_buf *reply, shown *said,
                    fo_err *err) {
    query_call call;
    int rc = query_json_read(&call, request->data, request->len, false, err);
    if (rc) return rc;
    call.request.cancel = &cancel;
    query_sink sink = {.ctx = said, .token = say, .draft = hear_draft};
    rc = query_json_ask(c->home, &call, &sink, reply, err);
    query_call_deinit(&call);
    return rc;
}

/* ---- a server ------------------------------------------------------------------------------- */

typedef struct listening {
    fo_buf *reply;
    shown *said;
    fo_err err; /* of an error event */
} listening;

static void hear(void *ctx, const char *event, const char *data, size_t n) {
    listening *l = ctx;
    if (!strcmp(event, "done")) {
        fo_buf_add(l->reply, data, n);
        return;
    }
    bool token = !strcmp(event, "token"), draft = !strcmp(event, "draft"),
         error = !strcmp(event, "error");
    cJSON *root = token || draft || error ? cJSON_ParseWithLength(data, n) : NULL;
    const cJSON *e = cJSON_GetObjectItemCaseSensitive(root, "error");
    const char *text =
        cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(error ? e : root, error   ? "message"
                                                                                : draft ? "answer"
                                                                                        : "text"));
    if (token && text) say(l->said, text, strlen(text));
    if (draft && text) show_draft(l->said, text);
    if (error) fo_fail(&l->err, FO_EIO, "%.400s", text ? text : "the server gave up");
    cJSON_Delete(root);
}

static int ask_server(conversation *c, const fo_buf *request, fo_buf *reply, shown *said,
                      fo_err *err) {
    listening l = {.reply = reply, .said = said};
    int rc =
        client_post_events(c->server, "/query", request->data, request->len, hear, &l, &stop, err);
    if (!rc && l.err.code) {
        *err = l.err;
        rc = err->code;
    }
    return rc;
}

/* ---- turns ---------------------------------------------------------------------------------- */

static void forget(conversation *c) {
    for (size_t i = 0; i < c->n_turns; i++) free(c->turns[i]);
    c->n_turns = 0;
    cJSON_Delete(c->last);
    c->last = NULL;
}

static bool remember(conversation *c, const char *question, const char *answer) {
    if (c->n_turns == 2 * TURNS_KEPT) {
        free(c->turns[0]);
        free(c->turns[1]);
        memmove(c->turns, c->turns + 2, (c->n_turns - 2) * sizeof *c->turns);
        c->n_turns -= 2;
    }
    char *q = strdup(question), *a = strdup(answer);
    if (!q || !a) return free(q), free(a), false;
    c->turns[c->n_turns++] = q;
    c->turns[c->n_turns++] = a;
    return true;
}

static int answer(conversation *c, const char *question, fo_err *err) {
    fo_buf request = {0}, reply = {0};
    shown said = {0};
    write_request(c, question, &request);
    stop = false;
    atomic_store(&cancel, false);
    int rc = (c->home ? ask_home : ask_server)(c, &request, &reply, &said, err);
    take_back(&said);
    if (said.said) putchar('\n');
    cJSON *root = rc ? NULL : cJSON_ParseWithLength(reply.data ? reply.data : "", reply.len);
    if (!rc && !root) rc = fo_fail(err, FO_EIO, "the reply broke off");
    if (root) {
        const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(root, "answer"));
        if (!text || !*text) puts(text = answer_print_nothing(root));
        answer_print_asked_as(root);
        answer_print_incomplete(root);
        if (!remember(c, question, text)) rc = fo_no_memory(err);
        cJSON_Delete(c->last);
        c->last = root;
        if (o.sources) answer_print_sources(root, false);
    } else if (rc == FO_ECANCELLED) {
        puts("(interrupted)");
        rc = FO_OK;
    }
    fo_buf_free(&request);
    fo_buf_free(&reply);
    return rc;
}

/* ---- the loop ------------------------------------------------------------------------------- */

static bool command(conversation *c, const char *line) { /* false: the end */
    if (!strcmp(line, "/quit") || !strcmp(line, "/exit")) return false;
    if (!strcmp(line, "/sources") && c->last)
        answer_print_sources(c->last, false);
    else if (!strcmp(line, "/sources"))
        puts("Nothing has been asked yet.");
    else if (!strcmp(line, "/new"))
        forget(c);
    else if (!strcmp(line, "/help"))
        puts("/sources  what the last answer rests on\n/new      begin anew: forget what was said\n"
             "/quit     the end (so does Ctrl-D; Ctrl-C stops an answer)");
    else
        printable_say(stdout, "There is no %s; /help lists what there is.", line);
    return true;
}

static int converse(conversation *c) {
    bool terminal = on_terminal();
    char *line = NULL;
    size_t room = 0;
    int failed = 0;
    if (terminal) puts("Ask; /help lists the commands, /quit ends.");
    for (;;) {
        if (terminal) fputs("\n> ", stdout);
        fflush(stdout);
        ssize_t n = getline(&line, &room, stdin);
        if (n < 0) break;
        while (n && strchr(" \t\r\n", line[n - 1])) line[--n] = 0;
        const char *text = line + strspn(line, " \t");
        if (!*text) continue;
        if (*text == '/') {
            if (!command(c, text)) break;
            continue;
        }
        fo_err err = {0};
        if (answer(c, text, &err)) {
            cli_fail(&err);
            failed = 1;
        }
        if (!terminal) putchar('\n'); /* an empty line between answers */
    }
    if (terminal) putchar('\n');
    free(line);
    return failed;
}

static int run(int argc, char **argv) {
    (void)argc, (void)argv;
    if (o.url && cli_models_refuse_for_url(options)) return 2;
    conversation c = {0};
    fo_err err = {0};
    int rc = o.url
                 ? client_open(&c.server, o.url, o.key, &err)
                 : cli_models_open(&c.home,
                                   &(service_options){.home = o.home,
                                                      .read_only = true,
                                                      .n_threads = (int)engine_flag_values.threads},
                                   &err);
    if (rc) return cli_fail(&err);
    struct sigaction act = {.sa_handler = on_interrupt}; /* no SA_RESTART: reading a line ends */
    sigaction(SIGINT, &act, NULL);
    rc = converse(&c);
    forget(&c);
    client_close(c.server);
    service_close(c.home);
    return rc;
}

const cli_command cli_command_chat = {
    "chat",
    "a conversation with the documents, sources on demand",
    "forage chat [--home DIR [--model gen.gguf] | --url URL] [--collection C]",
    "A line is a question; earlier ones and their answers go with it. Answers come as they are\n"
    "written. /sources shows what the last one rests on, /new forgets what was said, /quit ends.\n"
    "Without a terminal it reads lines and puts an empty line behind every answer.",
    options,
    0,
    0,
    run};
