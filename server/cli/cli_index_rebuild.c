/* forage index rebuild: embed every chunk anew, build fresh indexes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "retrieval/collections/catalog.h"
#include "retrieval/home/home.h"
#include "retrieval/service/service.h"
#include "server/cli/cli.h"
#include "server/cli/cli_models.h"
#include "server/cli/output_form.h"
#include "server/cli/progress.h"

static struct {
    const char *home, *collection;
    int64_t threads;
} o = {.home = "home"};

static const cli_option options[] = {
    {"home", CLI_STRING, &o.home, "DIR", "the home to work on (default: home)"},
    {"collection", CLI_STRING, &o.collection, "NAME", "default: all of them"},
    CLI_EMBED_OPTIONS,
    {"threads", CLI_INT, &o.threads, "N", "default: all", .max = 1024},
    CLI_PROGRESS_OPTION,
    CLI_OUTPUT_OPTION,
    {0}};

static void on_rebuild(void *ctx, size_t done, size_t total) {
    progress_set_total(ctx, total);
    progress_set(ctx, done);
}

static int run(int argc, char **argv) {
    (void)argc, (void)argv;
    fo_err err = {0};
    service *s = NULL;
    store_collection *list = NULL;
    size_t n = 0, done = 0;
    service_options so = {.home = o.home, .n_threads = (int)o.threads};
    int rc = home_must_exist(o.home, &err); /* opening for writing would make one */
    if (!rc) rc = cli_models_open(&s, &so, &err);
    if (!rc) rc = catalog_list_collections(service_catalog(s), NULL, &list, &n, &err);
    for (size_t i = 0; i < n; i++) {
        if (!rc && (!o.collection || !strcmp(o.collection, list[i].name))) {
            progress *p = progress_begin(list[i].name, "chunks", 0, output_is_json());
            rc = service_rebuild(s, list[i].tenant, list[i].name, on_rebuild, p, &err);
            progress_end(p);
            done++;
        }
        store_collection_deinit(&list[i]);
    }
    free(list);
    service_close(s);
    if (!rc && !done && o.collection)
        rc = fo_fail_field(&err, FO_ENOTFOUND, "collection", "collection '%s' does not exist",
                           o.collection);
    else if (!rc && !done)
        rc = fo_fail(&err, FO_ENOTFOUND, "%s holds no collection; 'forage ingest' makes one",
                     o.home);
    if (rc) return cli_fail(&err);
    if (output_asked() == OUTPUT_TABLE) {
        printf("%zu collection%s rebuilt\n", done, done == 1 ? "" : "s");
        return 0;
    }
    fo_buf b = {0};
    fo_buf_printf(&b, "{\"rebuilt\":%zu}", done);
    output_print(&b);
    fo_buf_free(&b);
    return 0;
}

const cli_command cli_command_index_rebuild = {
    "index rebuild",
    "embed every chunk anew and build fresh indexes",
    "forage index rebuild --home DIR [--embed-model e.gguf] [--collection C]\n"
    "                     [--output text|table|json|md]",
    "The way to another embedder: a home refuses an embedder that its vectors are not made by.",
    options,
    0,
    0,
    run};
