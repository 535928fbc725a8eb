/* forage stats: sizes of a home or of a running service, and what the caches saved. */
#include "retrieval/service/service.h"
#include "server/routes/cache_sums.h"
#include "server/cli/cli.h"
#include "server/cli/cli_models.h"
#include "server/cli/output_form.h"
#include "server/http/client.h"
#include "server/base/json.h"

static struct { const char *home, *url, *key; } o = {.home = "home"};

static const cli_option stats_options[] = {
    {"home", CLI_STRING, &o.home, "DIR", "default: home; a server may run on it"},
    {"url", CLI_STRING, &o.url, "URL", "a running service instead"},
    {"api-key", CLI_STRING, &o.key, "KEY", "for --url"},
    CLI_EMBED_OPTIONS,
    CLI_OUTPUT_OPTION,
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
    if (rc)
        cli_fail(&err);
    else
        output_print(&b);
    fo_buf_free(&b);
    return rc ? 1 : 0;
}

const cli_command cli_command_stats = {
    "stats",
    "what a home or a running service holds, and what its caches saved",
    "forage stats [--home DIR | --url URL] [--output text|table|json|md]",
    NULL,
    stats_options,
    0,
    0,
    stats_run};
