/* forage stats: sizes of a home or of a running service, and what the caches saved. */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#include "retrieval/service/service.h"
#include "server/routes/cache_sums.h"
#include "server/cli/cli.h"
#include "server/cli/cli_models.h"
#include "server/http/client.h"
#include "server/base/json.h"
#include "server/base/printable.h"

static struct {
    const char *home, *url, *key;
    bool json;
} o = {.home = "home"};

static const cli_option stats_options[] = {
    {"home", CLI_STRING, &o.home, "DIR", "default: home; a server may run on it"},
    {"url", CLI_STRING, &o.url, "URL", "a running service instead"},
    {"api-key", CLI_STRING, &o.key, "KEY", "for --url"},
    CLI_EMBED_OPTIONS,
    {"json", CLI_BOOL, &o.json, NULL, "one JSON object on stdout"},
    {0}};

/* Of all collections, where the service counts those that are open. */
static int add_index(void *ctx, const char *tenant, const char *collection, search_index *ix,
                     fo_err *err) {
    (void)tenant, (void)collection, (void)err;
    service_stats *st = ctx;
    search_index_stats one;
    search_index_get_stats(ix, &one);
    st->n_segments += one.n_segments;
    st->index_file_bytes += one.bytes_files;
    st->index_memory_bytes += one.bytes_memory;
    return FO_OK;
}

static int stats_of_home(fo_buf *b, fo_err *err) {
    service *s;
    int rc = cli_models_open(&s, &(service_options){.home = o.home, .read_only = true}, err);
    if (rc) return rc;
    service_stats st = {0};
    rc = service_get_stats(s, &st, err);
    st.n_segments = st.index_file_bytes = st.index_memory_bytes = 0;
    if (!rc) rc = service_each_index(s, NULL, NULL, add_index, &st, err);
    json_out out = {b, false};
    json_out_open(&out, NULL, '{');
    json_out_int(&out, "collections", (int64_t)st.n_collections);
    json_out_int(&out, "documents", (int64_t)st.n_documents);
    json_out_int(&out, "chunks", (int64_t)st.n_chunks);
    json_out_int(&out, "segments", (int64_t)st.n_segments);
    json_out_int(&out, "index_file_bytes", (int64_t)st.index_file_bytes);
    json_out_int(&out, "index_memory_bytes", (int64_t)st.index_memory_bytes);
    json_out_int(&out, "database_bytes", (int64_t)st.database_bytes);
    json_out_int(&out, "free_disk_bytes", service_free_disk_bytes(s));
    json_out_string(&out, "embedder", embedder_name(service_embedder(s)));
    if (!rc) rc = cache_sums_write(&out, s, "default", err);
    json_out_close(&out, '}');
    service_close(s);
    return rc;
}

static void print_object(const cJSON *root, int indent) {
    const cJSON *v;
    cJSON_ArrayForEach(v, root) {
        if (cJSON_IsObject(v)) {
            printable_say(stdout, "%*s%s", indent, "", v->string);
            print_object(v, indent + 2);
        } else if (cJSON_IsString(v)) {
            printable_say(stdout, "%*s%-20s %s", indent, "", v->string, v->valuestring);
        } else if (cJSON_IsNumber(v) && !strcmp(v->string, "hit_ratio")) {
            printf("%*s%-20s %.1f %%\n", indent, "", "hit_ratio", 100 * v->valuedouble);
        } else if (cJSON_IsNumber(v)) {
            printable_say(stdout, "%*s%-20s %.0f", indent, "", v->string, v->valuedouble);
        }
    }
}

static int stats_run(int argc, char **argv) {
    (void)argc, (void)argv;
    fo_err err = {0};
    fo_buf b = {0};
    int rc;
    if (o.url) {
        client *c;
        rc = client_open(&c, o.url, o.key, &err);
        if (!rc) {
            rc = client_get(c, "/stats", &b, &err);
            client_close(c);
        }
    } else {
        rc = stats_of_home(&b, &err);
    }
    if (rc) {
        cli_fail(&err);
    } else if (o.json) {
        cli_print_json(&b);
    } else {
        cJSON *root = cJSON_ParseWithLength(b.data, b.len);
        print_object(root, 0);
        cJSON_Delete(root);
    }
    fo_buf_free(&b);
    return rc ? 1 : 0;
}

const cli_command cli_command_stats = {
    "stats",
    "what a home or a running service holds, and what its caches saved",
    "forage stats [--home DIR | --url URL] [--json]",
    NULL,
    stats_options,
    0,
    0,
    stats_run};
