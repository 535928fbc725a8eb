/* forage mcp: the Model Context Protocol on standard input and output, one message a line, for a home or
 * in front of a running service. */
#include <openssl/evp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/json.h"
#include "server/cli/cli.h"
#include "server/cli/cli_models.h"
#include "server/http/client.h"
#include "server/mcp/mcp.h"

enum { WAITING_MAX = 64 }; /* messages; who sends more waits until some are answered */

static struct {
    const char *home, *url, *key;
    bool read_only;
} o = {.home = "home"};

static const cli_option options[] = {
    {"home", CLI_STRING, &o.home, "DIR", "the home to serve (default: home)"},
    {"url", CLI_STRING, &o.url, "URL", "a running service to serve instead"},
    {"api-key", CLI_STRING, &o.key, "KEY", "for --url"},
    {"read-only", CLI_BOOL, &o.read_only, NULL,
     "write nothing: there is no tool to ingest, and a server may run on the same home"},
    CLI_ANSWER_OPTIONS,
    {0}};

/* ---- messages that wait ------------------------------------------------------------------------- */

typedef struct message {
    struct message *next;
    fo_buf text;
    cJSON *id; /* NULL: none */
    bool dropped;
} message;

/* Lines are read by one thread and answered by another, in their order, so that a message that takes
 * an earlier one back is seen in time. */
static struct {
    pthread_mutex_t mu;
    pthread_cond_t changed;
    message *first, *last, *running;
    size_t n;
    bool ended;
    atomic_bool cancel; /* of the running one */
} line = {.mu = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void message_free(message *m) {
    if (!m) return;
    fo_buf_free(&m->text);
    cJSON_Delete(m->id);
    free(m);
}

static void put(message *m) {
    pthread_mutex_lock(&line.mu);
    while (line.n == WAITING_MAX) pthread_cond_wait(&line.changed, &line.mu);
    if (line.last)
        line.last->next = m;
    else
        line.first = m;
    line.last = m;
    line.n++;
    pthread_cond_broadcast(&line.changed);
    pthread_mutex_unlock(&line.mu);
}

/* The next one to answer, which is running then; NULL once no more come. */
static message *take(void) {
    pthread_mutex_lock(&line.mu);
    while (!line.first && !line.ended) pthread_cond_wait(&line.changed, &line.mu);
    message *m = line.first;
    if (m) {
        line.first = m->next;
        if (!line.first) line.last = NULL;
        line.n--;
        line.running = m;
        atomic_store(&line.cancel, m->dropped);
    }
    pthread_cond_broadcast(&line.changed);
    pthread_mutex_unlock(&line.mu);
    return m;
}

static bool is_called(const message *m, const cJSON *id) {
    return mcp_same_id(m->id, id);
}

/* notifications/cancelled: nobody waits for this one's reply any more. */
static void drop(const cJSON *id) {
    pthread_mutex_lock(&line.mu);
    for (message *m = line.first; m; m = m->next)
        if (is_called(m, id)) m->dropped = true;
    if (line.running && is_called(line.running, id)) {
        line.running->dropped = true;
        atomic_store(&line.cancel, true);
    }
    pthread_mutex_unlock(&line.mu);
}

/* One line of standard input without its end; false at the end. A longer one than a message may be is
 * read to its end and kept up to one byte more: it is refused by its length. */
static bool read_line(fo_buf *b) {
    int c;
    bool any = false;
    while ((c = getc_unlocked(stdin)) != EOF && c != '\n') {
        any = true;
        if (b->len <= MCP_MESSAGE_MAX) fo_buf_char(b, (char)c);
    }
    return any || c == '\n';
}

static void receive(void) {
    fo_buf text = {0};
    for (; read_line(&text); fo_buf_free(&text)) {
        if (!text.len) continue;
        cJSON *root = NULL;
        fo_err err;
        json_parse(text.data, text.len, &root, &err);
        const cJSON *method = cJSON_GetObjectItemCaseSensitive(root, "method");
        if (cJSON_IsString(method) && !strcmp(method->valuestring, "notifications/cancelled")) {
            const cJSON *params = cJSON_GetObjectItemCaseSensitive(root, "params");
            drop(cJSON_GetObjectItemCaseSensitive(params, "requestId"));
        } else {
            message *m = calloc(1, sizeof *m);
            if (m) {
                m->text = text;
                text = (fo_buf){0};
                m->id = cJSON_DetachItemFromObjectCaseSensitive(root, "id");
                put(m);
            }
        }
        cJSON_Delete(root);
    }
    fo_buf_free(&text);
    pthread_mutex_lock(&line.mu);
    line.ended = true;
    pthread_cond_broadcast(&line.changed);
    pthread_mutex_unlock(&line.mu);
}

/* ---- in front of a service ------------------------------------------------------------------------ */

/* "NAME: VALUE"; what is not plain ASCII goes as "=?base64?...?=". */
static void write_header(fo_buf *b, const char *name, const char *value) {
    size_t n = strlen(value);
    bool plain = n == 0 || (value[0] != ' ' && value[n - 1] != ' ');
    for (size_t i = 0; i < n; i++) plain &= value[i] >= ' ' && value[i] <= '~';
    plain &= strncmp(value, "=?base64?", 9) != 0;
    unsigned char *code = plain ? NULL : malloc(4 * (n / 3 + 1) + 1);
    if (code) EVP_EncodeBlock(code, (const unsigned char *)value, (int)n);
    fo_buf_printf(b, code ? "%s: =?base64?%s?=" : "%s: %s", name, code ? (char *)code : value);
    free(code);
}

static const char *text_at(const cJSON *object, const char *name) {
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
}

static void forward(client *c, const message *m, fo_buf *reply) {
    fo_err err = {0};
    cJSON *root = cJSON_ParseWithLength(m->text.data, m->text.len);
    const cJSON *params = cJSON_GetObjectItemCaseSensitive(root, "params");
    const cJSON *meta = cJSON_GetObjectItemCaseSensitive(params, "_meta");
    const char *version = text_at(meta, "io.modelcontextprotocol/protocolVersion");
    const char *method = text_at(root, "method"), *name = text_at(params, "name");
    if (!name) name = text_at(params, "uri");
    fo_buf text[3] = {{0}};
    const char *lines[4] = {NULL};
    size_t n = 0;
    if (version && method) {
        const char *const names[] = {"MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"};
        const char *const values[] = {version, method, name};
        for (size_t i = 0; i < 3; i++) {
            if (values[i]) write_header(&text[i], names[i], values[i]);
            if (text[i].data) lines[n++] = text[i].data;
        }
    }
    client_set_headers(c, lines);
    int rc = client_post(c, "/mcp", "application/json", m->text.data, m->text.len, reply, &err);
    client_set_headers(c, NULL);
    /* Errors of the protocol are passed on; others become one. */
    cJSON *said = rc && reply->data ? cJSON_ParseWithLength(reply->data, reply->len) : NULL;
    if (rc && !text_at(said, "jsonrpc")) {
        fo_buf_clear(reply);
        if (m->id) mcp_write_failure(reply, m->id, err.msg);
    }
    cJSON_Delete(said);
    for (size_t i = 0; i < 3; i++) fo_buf_free(&text[i]);
    cJSON_Delete(root);
}

/* ---- the command ---------------------------------------------------------------------------------- */

typedef struct answerer {
    service *home; /* or */
    client *server;
} answerer;

static void *answer_all(void *arg) {
    const answerer *a = arg;
    const mcp_host host = {.service = a->home,
                           .tenant = ACCESS_OWNER,
                           .may_ingest = !o.read_only,
                           .reranks = cli_reranks(),
                           .cancel = &line.cancel};
    for (message *m; (m = take());) {
        fo_buf reply = {0};
        if (m->dropped)
            ;
        else if (a->server)
            forward(a->server, m, &reply);
        else
            mcp_answer(&host, NULL, m->text.data, m->text.len, &reply);
        pthread_mutex_lock(&line.mu);
        line.running = NULL;
        bool wanted = !m->dropped;
        pthread_mutex_unlock(&line.mu);
        if (wanted && reply.len && !reply.failed) {
            fwrite(reply.data, 1, reply.len, stdout);
            putchar('\n');
            fflush(stdout);
        }
        fo_buf_free(&reply);
        message_free(m);
    }
    return NULL;
}

static int run(int argc, char **argv) {
    (void)argc;
    (void)argv;
    if (o.url && cli_models_refuse_for_url(options)) return 2;
    if (o.url && o.read_only)
        return cli_wrong_usage("--read-only is for --home; what may be done at a --url is said by "
                               "its key (forage keys create --scope read)");
    fo_err err = {0};
    answerer a = {0};
    int rc = o.url
                 ? client_open(&a.server, o.url, o.key, &err)
                 : cli_models_open(&a.home,
                                   &(service_options){.home = o.home,
                                                      .read_only = o.read_only,
                                                      .worker_program = "/proc/self/exe",
                                                      .n_threads = (int)engine_flag_values.threads},
                                   &err);
    pthread_t worker;
    if (!rc && pthread_create(&worker, NULL, answer_all, &a))
        rc = fo_fail(&err, FO_EIO, "cannot start a thread");
    if (!rc) {
        receive();
        pthread_join(worker, NULL);
    } else {
        cli_fail(&err);
    }
    service_close(a.home);
    client_close(a.server);
    return rc ? 1 : 0;
}

const cli_command cli_command_mcp = {
    "mcp",
    "serve the documents to an assistant (MCP on stdin and stdout)",
    "forage mcp [--home DIR [--read-only] [--model gen.gguf] | --url URL [--api-key KEY]]",
    "For programs that start their tools themselves, as desktop assistants and editors do: a "
    "message of\n"
    "the Model Context Protocol a line, in and out. Tools: search, fetch, ask, list_collections "
    "and\n"
    "ingest; documents are resources. A running service answers the same at its own POST /mcp.",
    options,
    0,
    0,
    run};
