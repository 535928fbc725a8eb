/* forage log level: how much a running service logs, looked at or changed. */
#include <cjson/cJSON.h>
#include <stdio.h>

#include "server/base/json.h"
#include "server/base/log.h"
#include "server/base/printable.h"
#include "server/cli/cli.h"
#include "server/cli/output_form.h"
#include "server/http/client.h"

static struct { const char *url, *key; } o = {.url = "http://127.0.0.1:8080"};

static const cli_option options[] = {
    {"url", CLI_STRING, &o.url, "URL", "the running service; default: http://127.0.0.1:8080"},
    {"api-key", CLI_STRING, &o.key, "KEY", "one with the scope admin; default: FORAGE_KEY"},
    CLI_OUTPUT_OPTION,
    {0}};

static int ask(const char *level, fo_buf *reply, fo_err *err) {
    client *c;
    int rc = client_open(&c, o.url, o.key, err);
    if (rc) return rc;
    if (level) {
        char body[32];
        int n = snprintf(body, sizeof body, "{\"level\":\"%s\"}", level);
        rc = client_post(c, "/admin/log-level", "application/json", body, (size_t)n, reply, err);
    } else {
        rc = client_get(c, "/admin/log-level", reply, err);
    }
    client_close(c);
    return rc;
}

static int print_reply(const fo_buf *reply, fo_err *err) {
    cJSON *root = NULL;
    int rc = json_parse(reply->data ? reply->data : "", reply->len, &root, err);
    const char *now = NULL;
    if (!rc) {
        now = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(root, "level"));
        if (!now) rc = fo_fail(err, FO_EINVAL, "it names no level");
    }
    if (rc)
        fo_fail_prefix(err, "the reply");
    else if (output_asked() != OUTPUT_TABLE)
        output_print(reply);
    else
        printable_say(stdout, "%s", now);
    cJSON_Delete(root);
    return rc;
}

static int run(int argc, char **argv) {
    enum log_level level;
    if (argc && !log_level_parse(argv[0], &level))
        return cli_wrong_usage("a level is debug, info, warn, error or off");
    fo_err err = {0};
    fo_buf b = {0};
    int rc = ask(argc ? log_level_names[level] : NULL, &b, &err);
    if (!rc) rc = print_reply(&b, &err);
    if (rc) cli_fail(&err);
    fo_buf_free(&b);
    return rc ? 1 : 0;
}

const cli_command cli_command_log_level = {
    "log level",
    "how much a running service logs: look, or change it",
    "forage log level [debug|info|warn|error|off] [--url URL] [--api-key KEY]\n"
    "                 [--output text|table|json|md]",
    "Holds until the service ends or reads its settings again (SIGHUP); what it starts with is\n"
    "--log-level of 'forage serve'. Needs a key with the scope admin, where there are keys.",
    options,
    0,
    1,
    run};
