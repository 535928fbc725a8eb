/* forage index verify [--repair]: is everything in a home as it was left? */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "retrieval/service/home_verify.h"
#include "server/base/json.h"
#include "server/base/printable.h"
#include "server/cli/cli.h"
#include "server/cli/cli_models.h"
#include "server/cli/output_form.h"

static struct {
    const char *home, *collection;
    int64_t threads;
    bool repair;
} o = {.home = "home"};

static const cli_option options[] = {
    {"home", CLI_STRING, &o.home, "DIR", "the home to look at (default: home)"},
    {"collection", CLI_STRING, &o.collection, "NAME",
     "this one's documents and index alone (default: everything in the home)"},
    {"repair", CLI_BOOL, &o.repair, NULL,
     "mend what can be mended, say what was done, and look again", .flag_only = true},
    CLI_EMBED_OPTIONS,
    {"threads", CLI_INT, &o.threads, "N", "of --repair (default: all)", .max = 1024},
    CLI_OUTPUT_OPTION,
    {0}};

/* The lists of the reply, each the members of a JSON array. */
typedef struct report {
    fo_buf faults, notes, repaired, collections;
    json_out o_faults, o_notes, o_repaired, o_collections;
    char store_error[900]; /* the first */
} report;

static void begin(report *r) {
    *r = (report){0};
    r->o_faults = (json_out){&r->faults, false};
    r->o_notes = (json_out){&r->notes, false};
    r->o_repaired = (json_out){&r->repaired, false};
    r->o_collections = (json_out){&r->collections, false};
    json_out_open(&r->o_faults, NULL, '[');
    json_out_open(&r->o_notes, NULL, '[');
    json_out_open(&r->o_repaired, NULL, '[');
    json_out_open(&r->o_collections, NULL, '[');
}

static void end(report *r) {
    fo_buf_free(&r->faults);
    fo_buf_free(&r->notes);
    fo_buf_free(&r->repaired);
    fo_buf_free(&r->collections);
}

static void found(void *ctx, const home_finding *f) {
    report *r = ctx;
    json_out *to = f->fault ? &r->o_faults : &r->o_notes;
    json_out_open(to, NULL, '{');
    json_out_string(to, "file", f->file);
    json_out_string(to, "tenant", f->tenant);
    json_out_string(to, "collection", f->collection);
    json_out_string(to, "document", f->document);
    json_out_string(to, "what", f->what);
    json_out_close(to, '}');
    if (f->fault && f->of_store && !r->store_error[0])
        snprintf(r->store_error, sizeof r->store_error, "%s%s%s%s", f->document ? "document '" : "",
                 f->document ? f->document : "", f->document ? "': " : "", f->what);
    if (output_asked() != OUTPUT_TABLE) return;
    fo_buf line = {0};
    if (!f->fault) fo_buf_str(&line, "note: ");
    if (f->file) fo_buf_printf(&line, "%s: ", f->file);
    if (f->document)
        fo_buf_printf(&line, "document '%s' of %s/%s: ", f->document, f->tenant ? f->tenant : "?",
                      f->collection ? f->collection : "?");
    fo_buf_str(&line, f->what);
    if (!line.failed) printable_say(stdout, "%s", line.data);
    fo_buf_free(&line);
}

static void repaired(void *ctx, const char *what) {
    report *r = ctx;
    json_out_string(&r->o_repaired, NULL, what);
    if (output_asked() == OUTPUT_TABLE) printable_say(stdout, "repaired: %s", what);
}

static void checked(void *ctx, const char *tenant, const char *collection, size_t n_faults) {
    report *r = ctx;
    json_out_open(&r->o_collections, NULL, '{');
    json_out_string(&r->o_collections, "tenant", tenant);
    json_out_string(&r->o_collections, "collection", collection);
    json_out_bool(&r->o_collections, "sound", n_faults == 0);
    json_out_close(&r->o_collections, '}');
    if (output_asked() != OUTPUT_TABLE) return;
    if (n_faults)
        printable_say(stdout, "%s/%s: damaged", tenant, collection);
    else
        printable_say(stdout, "%s/%s: sound", tenant, collection);
}

static void print_report(report *r, const home_report *h) {
    fo_buf b = {0};
    json_out out = {&b, false};
    json_out_close(&r->o_faults, ']');
    json_out_close(&r->o_notes, ']');
    json_out_close(&r->o_repaired, ']');
    json_out_close(&r->o_collections, ']');
    json_out_open(&out, NULL, '{');
    json_out_bool(&out, "sound", h->n_faults == 0);
    json_out_bool(&out, "in_use", h->in_use);
    json_out_int(&out, "documents", (int64_t)h->n_documents);
    json_out_int(&out, "chunks", (int64_t)h->n_chunks);
    json_out_bool(&out, "store_sound", h->n_store_faults == 0);
    json_out_string(&out, "store_error", r->store_error[0] ? r->store_error : NULL);
    json_out_raw(&out, "collections", r->collections.data);
    json_out_raw(&out, "faults", r->faults.data);
    json_out_raw(&out, "notes", r->notes.data);
    json_out_raw(&out, "repaired", r->repaired.data);
    json_out_close(&out, '}');
    output_print(&b);
    fo_buf_free(&b);
}

static int run(int argc, char **argv) {
    (void)argc, (void)argv;
    if (o.repair && o.collection)
        return cli_wrong_usage("--repair works on a whole home, without --collection");
    fo_err err = {0};
    report r;
    home_report h = {0};
    home_listener to = {found, repaired, checked, &r};
    begin(&r);
    int rc = FO_OK;
    if (o.repair) {
        home_listener first = {found, repaired, NULL, &r};
        service_options so = {.home = o.home, .n_threads = (int)o.threads};
        cli_models_apply(&so);
        rc = home_repair(&so, &first, &h, &err);
        if (!rc) { /* what is reported is what is left */
            fo_buf done = r.repaired;
            json_out o_done = r.o_repaired;
            r.repaired = (fo_buf){0};
            end(&r);
            begin(&r);
            fo_buf_free(&r.repaired);
            r.repaired = done;
            r.o_repaired = o_done;
            r.o_repaired.b = &r.repaired;
            if (output_asked() == OUTPUT_TABLE && h.n_faults) puts("looking again:");
        }
    }
    if (!rc) rc = home_verify(o.home, o.collection, &to, &h, &err);
    if (rc) {
        end(&r);
        return cli_fail(&err);
    }
    if (output_asked() != OUTPUT_TABLE) {
        print_report(&r, &h);
    } else {
        printf("store: %s\n", h.n_store_faults ? "damaged" : "sound");
        if (h.n_faults)
            printf("%zu fault%s in %s%s\n", h.n_faults, h.n_faults == 1 ? "" : "s", o.home,
                   h.repairable && !o.repair ? "; --repair mends what can be mended" : "");
        else
            printf("%s is sound: %zu documents, %zu chunks\n", o.home, h.n_documents, h.n_chunks);
    }
    end(&r);
    return h.n_faults ? 1 : 0;
}

const cli_command cli_command_index_verify = {
    "index verify",
    "look for damage in everything that a home holds",
    "forage index verify --home DIR [--repair] [--collection C] [--output text|table|json|md]",
    "Looks at the files as they lie (checksums of every page, segment and record, files that are\n"
    "gone or too many), at what is stored (SQLite's own check, the digest of every document, "
    "chunk\n"
    "and vector), at what was acknowledged (the ledger), and whether the indexes hold the chunks\n"
    "of the store, all of them and no others. Names each file and document at fault; exit status "
    "1\n"
    "where there is any. Beside a running server it looks at what does not change meanwhile.\n"
    "\n"
    "--repair builds indexes anew from the store, drops derived files that are damaged, puts "
    "aside\n"
    "into HOME/lost-TIME what nobody needs, and accepts the loss of commits that are gone. What a\n"
    "document said cannot be rebuilt: it is marked, so that ingesting it again replaces it.",
    options,
    0,
    0,
    run};
