/* forage documents, collections, delete, collections delete: what a home or a running service holds,
 * looked at and removed. Both sides speak the JSON of the service's routes; the tables are made of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "retrieval/collections/catalog.h"
#include "retrieval/sync/folder_sync.h"
#include "retrieval/home/home.h"
#include "server/base/json.h"
#include "server/base/printable.h"
#include "server/cli/cli.h"
#include "server/http/client.h"
#include "server/cli/output_form.h"
#include "server/routes/documents_json.h"

enum { PAGE = 1000 };

static struct {
    const char *home, *url, *key, *collection, *after, *filter, *source;
    int64_t limit;
    bool dry_run, yes;
    bool named; /* a collection was */
} o = {.home = "home", .limit = 100};

#define WHERE_OPTIONS                                                                              \
    {"home", CLI_STRING, &o.home, "DIR", "the home (default: home)"},                              \
        {"url", CLI_STRING, &o.url, "URL", "a running service instead"}, {                         \
        "api-key", CLI_STRING, &o.key, "KEY", "for --url"                                          \
    }
#define COLLECTION_OPTION                                                                          \
    { "collection", CLI_STRING, &o.collection, "NAME", "default: default" }
#define SOURCE_OPTION                                                                              \
    {                                                                                              \
        "source", CLI_STRING, &o.source, "NAME",                                                   \
            "those that came from this folder (forage sync); "                                     \
            "of the collection that it fills",                                                     \
            .flag_only = true                                                                      \
    }

/* Where to look: one of the three. */
typedef struct place {
    client *client;
    catalog *catalog; /* of a home: opened to read, also beside a server, or that of the service */
    service *service; /* of a home, to write */
} place;

static void place_close(place *p) {
    client_close(p->client);
    if (!p->service) catalog_close(p->catalog);
    service_close(p->service);
}

enum access { READ, WRITE, WOULD_WRITE };

static int place_open(place *p, enum access how, fo_err *err) {
    *p = (place){0};
    if (o.url) return client_open(&p->client, o.url, o.key, err);
    if (how == READ) return catalog_open(&p->catalog, o.home, err);
    service_options with = {
        .home = o.home, .read_only = how == WOULD_WRITE, .cache_bytes = -1, .primes_per_s = -1};
    int rc = home_must_exist(o.home, err); /* opening for writing would make one */
    if (!rc) rc = service_open(&p->service, &with, err);
    if (!rc) p->catalog = service_catalog(p->service);
    return rc;
}

/* The collection that is meant: the one that was named, that of the source, or default. */
static int choose_collection(const place *p, fo_err *err) {
    o.named = o.collection != NULL;
    if (o.named) return FO_OK;
    o.collection = "default";
    if (!o.source || p->client) return FO_OK; /* the service knows */
    static char *of;                          /* as long as the program */
    int rc = catalog_source_collection(p->catalog, "default", o.source, &of, err);
    if (!rc) o.collection = of;
    return rc;
}

static const char *text_of(const cJSON *item, const char *key) {
    const char *s = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, key));
    return s ? s : "";
}

static long long number_of(const cJSON *item, const char *key) {
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(item, key);
    return cJSON_IsNumber(v) ? (long long)v->valuedouble : 0;
}

static int parse_reply(const fo_buf *reply, cJSON **out, fo_err *err) {
    int rc = json_parse(reply->data ? reply->data : "", reply->len, out, err);
    return rc ? fo_fail_prefix(err, "the reply") : FO_OK;
}

static int get(client *c, const char *path, cJSON **out, fo_err *err) {
    fo_buf reply = {0};
    int rc = client_get(c, path, &reply, err);
    if (!rc) rc = parse_reply(&reply, out, err);
    fo_buf_free(&reply);
    return rc;
}

/* Which documents are meant, for the service. */
static void where_part(fo_buf *b) {
    if (!o.source || o.named) client_query_part(b, "collection", o.collection);
    if (o.source) client_query_part(b, "source", o.source);
    if (o.filter) client_query_part(b, "filter", o.filter);
}

/* print: the reply; other forms have been printed already. */
static int finish(fo_buf *b, bool print, int rc, fo_err *err) {
    if (!rc && b->failed) rc = fo_no_memory(err);
    if (!rc && print) output_print(b);
    fo_buf_free(b);
    return rc ? cli_fail(err) : 0;
}

/* The condition of --filter, 2 after a message where it is none. */
static int read_filter(search_filter **out) {
    fo_err err = {0};
    cJSON *json = NULL;
    int rc = json_parse(o.filter, strlen(o.filter), &json, &err);
    if (rc)
        fo_fail_prefix(&err, "--filter");
    else
        rc = search_filter_parse(out, json, &err);
    cJSON_Delete(json);
    return rc ? (cli_fail(&err), 2) : 0;
}

/* ---- documents ------------------------------------------------------------------------------ */

static const cli_option documents_options[] = {
    WHERE_OPTIONS,
    COLLECTION_OPTION,
    SOURCE_OPTION,
    {"filter", CLI_STRING, &o.filter, "JSON", "only those whose metadata match this condition",
     .flag_only = true},
    {"limit", CLI_INT, &o.limit, "N", "how many to list (default 100)", .min = 1, .max = 1e15},
    {"after", CLI_STRING, &o.after, "ID", "only those behind this one", .flag_only = true},
    CLI_OUTPUT_OPTION,
    {0}};

/* One page of documents as GET /documents has it. */
static int page_of_home(catalog *held, const search_filter *filter, const char *after, size_t limit,
                        cJSON **out, fo_err *err) {
    store_document *docs = NULL;
    size_t n = 0;
    bool more = false;
    catalog_search q = {.filter = filter, .source = o.source, .after = after, .limit = limit};
    int rc = catalog_find_documents(held, "default", o.collection, &q, &docs, &n, &more, err);
    if (rc) return rc;
    fo_buf b = {0};
    json_out w = {&b, false};
    json_out_open(&w, NULL, '{');
    documents_json_page(&w, docs, n, more);
    json_out_close(&w, '}');
    for (size_t i = 0; i < n; i++) store_document_deinit(&docs[i]);
    free(docs);
    rc = b.failed ? fo_no_memory(err) : parse_reply(&b, out, err);
    fo_buf_free(&b);
    return rc;
}

static int page_of_service(client *c, const char *after, size_t limit, cJSON **out, fo_err *err) {
    fo_buf path = {0};
    fo_buf_printf(&path, "/documents?limit=%zu", limit);
    where_part(&path);
    if (after) client_query_part(&path, "after", after);
    int rc = path.failed ? fo_no_memory(err) : get(c, path.data, out, err);
    fo_buf_free(&path);
    return rc;
}

/* In Markdown the title has a column; on a terminal it stands behind the id, where it says more. */
static const output_column columns_of_documents[] = {
    {"chunks", 8}, {"bytes", 10}, {"updated", -20}, {"id"}, {"title"}};
static const output_column columns_for_people[] = {
    {"chunks", 8}, {"bytes", 10}, {"updated", -20}, {"id - title"}};

static void print_documents_head(void) {
    if (output_asked() == OUTPUT_MARKDOWN)
        output_head(columns_of_documents, 5);
    else
        output_head(columns_for_people, 4);
}

static void print_document_row(const cJSON *d) {
    char chunks[24], size[24], updated[32];
    bool damaged = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(d, "damaged"));
    const char *title = text_of(d, "title"), *id = text_of(d, "id");
    if (!*title) title = text_of(d, "uri"); /* the file's name, where the id is a digest */
    snprintf(chunks, sizeof chunks, "%lld", number_of(d, "chunks"));
    snprintf(size, sizeof size, "%lld", number_of(d, "text_bytes"));
    snprintf(updated, sizeof updated, "%.19sZ", text_of(d, "updated_at"));
    const char *cells[] = {damaged ? "" : chunks, damaged ? "" : size,
                           damaged ? "damaged" : updated, id, title};
    if (output_asked() == OUTPUT_MARKDOWN) {
        output_row(columns_of_documents, 5, cells);
        return;
    }
    fo_buf name = {0};
    fo_buf_str(&name, id);
    if (*title && strcmp(title, id)) fo_buf_printf(&name, " - %s", title);
    if (!name.failed && name.data) cells[3] = name.data;
    output_row(columns_for_people, 4, cells);
    fo_buf_free(&name);
}

/* Pages until --limit is reached; json: the documents of all of them in one object. */
static int list_documents(const place *p, const search_filter *filter, fo_buf *b, fo_err *err) {
    int rc = choose_collection(p, err);
    if (!rc && p->catalog) { /* an empty page would not tell: is it there? */
        store_collection c = {0};
        rc = catalog_get_collection(p->catalog, "default", o.collection, &c, err);
        store_collection_deinit(&c);
    }
    int64_t left = o.limit;
    char *after = o.after ? strdup(o.after) : NULL;
    json_out w = {b, false};
    bool more = true;
    json_out_open(&w, NULL, '{');
    json_out_open(&w, "data", '[');
    bool begun = false; /* the head stands there: none stands above a failure */
    while (!rc && more && left > 0) {
        cJSON *page = NULL, *d;
        size_t n = (size_t)(left < PAGE ? left : PAGE);
        rc = p->client ? page_of_service(p->client, after, n, &page, err)
                       : page_of_home(p->catalog, filter, after, n, &page, err);
        if (rc) break;
        if (!begun) print_documents_head();
        begun = true;
        cJSON_ArrayForEach(d, cJSON_GetObjectItemCaseSensitive(page, "data")) {
            left--;
            if (!output_is_json()) {
                print_document_row(d);
                continue;
            }
            char *text = json_tree_text(d);
            if (!text) rc = fo_no_memory(err);
            if (text) json_out_raw(&w, NULL, text);
            free(text);
        }
        const char *last = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(page, "last_id"));
        more = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(page, "has_more")) && last;
        if (last) {
            free(after);
            after = strdup(last);
            if (!after && !rc) rc = fo_no_memory(err);
        }
        cJSON_Delete(page);
    }
    json_out_close(&w, ']');
    json_out_bool(&w, "has_more", more);
    json_out_string(&w, "last_id", after);
    json_out_close(&w, '}');
    if (!rc && more && !output_is_json())
        printable_say(stderr, "There are more: --after '%s' shows the next.", after);
    free(after);
    return rc;
}

/* The text, which has lines, does not fit in a cell. */
static void print_markdown(cJSON *d) {
    cJSON *text = cJSON_DetachItemFromObjectCaseSensitive(d, "text");
    fo_buf b = {0};
    output_write(&b, OUTPUT_MARKDOWN, d);
    if (b.data && !b.failed) puts(b.data); /* and a line between */
    if (cJSON_IsString(text)) output_text(text->valuestring);
    fo_buf_free(&b);
    cJSON_Delete(text);
}

static void print_whole(const cJSON *d) {
    static const char *const rows[] = {"id",         "title",      "uri",           "content_type",
                                       "created_at", "updated_at", "content_sha256"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (*text_of(d, rows[i])) printable_say(stdout, "%-15s %s", rows[i], text_of(d, rows[i]));
    const cJSON *said = cJSON_GetObjectItemCaseSensitive(d, "metadata");
    char *metadata = said && !cJSON_IsNull(said) ? json_tree_text(said) : NULL;
    if (metadata) printable_say(stdout, "%-15s %s", "metadata", metadata);
    free(metadata);
    char *acl = cJSON_PrintUnformatted(cJSON_GetObjectItemCaseSensitive(d, "acl"));
    if (acl && strcmp(acl, "null")) printable_say(stdout, "%-15s %s", "acl", acl);
    cJSON_free(acl);
    printf("%-15s %lld\n\n", "chunks", number_of(d, "chunks"));
    output_text(text_of(d, "text"));
}

static int one_document(const place *p, const char *id, fo_buf *b, fo_err *err) {
    int rc = choose_collection(p, err);
    if (rc) return rc;
    if (p->client) {
        fo_buf path = {0};
        fo_buf_str(&path, "/documents/");
        client_escape(&path, id);
        client_query_part(&path, "collection", o.collection);
        rc = path.failed ? fo_no_memory(err) : client_get(p->client, path.data, b, err);
        fo_buf_free(&path);
    } else {
        store_document d = {0};
        json_out w = {b, false};
        rc = catalog_get_document(p->catalog, "default", o.collection, id, NULL, true, &d, err);
        if (!rc) documents_json_document(&w, &d);
        store_document_deinit(&d);
    }
    cJSON *root = NULL;
    if (!rc && !output_is_json()) rc = parse_reply(b, &root, err);
    if (root && output_asked() == OUTPUT_MARKDOWN)
        print_markdown(root);
    else if (root)
        print_whole(root);
    cJSON_Delete(root);
    return rc;
}

static int documents_run(int argc, char **argv) {
    fo_err err = {0};
    fo_buf b = {0};
    search_filter *f = NULL;
    place p;
    if (argc && (o.filter || o.source))
        return cli_wrong_usage("documents takes an id, or --filter and --source");
    int wrong = o.filter ? read_filter(&f) : 0;
    if (wrong) return wrong;
    int rc = place_open(&p, READ, &err);
    if (!rc) rc = argc ? one_document(&p, argv[0], &b, &err) : list_documents(&p, f, &b, &err);
    place_close(&p);
    search_filter_free(f);
    return finish(&b, output_is_json(), rc, &err);
}

const cli_command cli_command_documents = {
    "documents",
    "list a collection's documents, or show one",
    "forage documents [ID] [--home DIR | --url URL] [--collection C] [--limit 100] [--after ID]\n"
    "                 [--output text|table|json|md]\n"
    "forage documents --source NAME | --filter JSON ...",
    "In order of id, a page at a time: what --after takes is said at the end, and in JSON it is\n"
    "last_id. With an ID: that document and its text.",
    documents_options,
    0,
    1,
    documents_run};

/* ---- collections ---------------------------------------------------------------------------- */

static const cli_option collections_options[] = {WHERE_OPTIONS, CLI_OUTPUT_OPTION, {0}};

static int collections_of_home(catalog *held, fo_buf *b, fo_err *err) {
    store_collection *list = NULL;
    size_t n = 0;
    int rc = catalog_list_collections(held, "default", &list, &n, err);
    if (rc) return rc;
    json_out w = {b, false};
    json_out_open(&w, NULL, '{');
    json_out_open(&w, "data", '[');
    for (size_t i = 0; i < n; i++) {
        documents_json_collection(&w, &list[i]);
        store_collection_deinit(&list[i]);
    }
    free(list);
    json_out_close(&w, ']');
    json_out_close(&w, '}');
    return FO_OK;
}

static const output_column columns_of_collections[] = {
    {"documents", 10}, {"chunks", 9}, {"epoch", 7}, {"language", -11}, {"name"}};
static const output_column columns_in_markdown[] = {
    {"name"}, {"documents"}, {"chunks"}, {"language"}};

static void print_collection(const cJSON *c) {
    char documents[24], chunks[24], epoch[24];
    const char *name = text_of(c, "name"), *language = text_of(c, "language");
    snprintf(documents, sizeof documents, "%lld", number_of(c, "documents"));
    snprintf(chunks, sizeof chunks, "%lld", number_of(c, "chunks"));
    snprintf(epoch, sizeof epoch, "%lld", number_of(c, "epoch"));
    if (output_asked() == OUTPUT_MARKDOWN)
        output_row(columns_in_markdown, 4, (const char *[]){name, documents, chunks, language});
    else
        output_row(columns_of_collections, 5,
                   (const char *[]){documents, chunks, epoch, language, name});
}

static int collections_run(int argc, char **argv) {
    (void)argc, (void)argv;
    fo_err err = {0};
    fo_buf b = {0};
    place p;
    cJSON *root = NULL, *c;
    int rc = place_open(&p, READ, &err);
    if (!rc)
        rc = p.client ? client_get(p.client, "/collections", &b, &err)
                      : collections_of_home(p.catalog, &b, &err);
    place_close(&p);
    if (!rc && !output_is_json()) rc = parse_reply(&b, &root, &err);
    if (root) {
        if (output_asked() == OUTPUT_MARKDOWN)
            output_head(columns_in_markdown, 4);
        else
            output_head(columns_of_collections, 5);
        cJSON_ArrayForEach(c, cJSON_GetObjectItemCaseSensitive(root, "data")) {
            print_collection(c);
        }
    }
    cJSON_Delete(root);
    return finish(&b, output_is_json(), rc, &err);
}

const cli_command cli_command_collections = {
    "collections",
    "list the collections of a home or a running service",
    "forage collections [--home DIR | --url URL] [--output text|table|json|md]\n"
    "forage collections delete NAME",
    NULL,
    collections_options,
    0,
    0,
    collections_run};

static int delete_collection(const place *p, const char *name, fo_err *err) {
    if (!p->client) return service_delete_collection(p->service, "default", name, NULL, err);
    fo_buf path = {0}, reply = {0};
    fo_buf_str(&path, "/collections/");
    client_escape(&path, name);
    int rc = path.failed ? fo_no_memory(err) : client_delete(p->client, path.data, &reply, err);
    fo_buf_free(&path);
    fo_buf_free(&reply);
    return rc;
}

static int collections_delete_run(int argc, char **argv) {
    (void)argc;
    fo_err err = {0};
    fo_buf b = {0};
    place p;
    int rc = place_open(&p, WRITE, &err);
    if (!rc) rc = delete_collection(&p, argv[0], &err);
    place_close(&p);
    json_out w = {&b, false};
    json_out_open(&w, NULL, '{');
    json_out_string(&w, "name", argv[0]);
    json_out_bool(&w, "deleted", true);
    json_out_close(&w, '}');
    if (!rc && output_asked() == OUTPUT_TABLE)
        printable_say(stdout, "collection %s deleted", argv[0]);
    return finish(&b, output_asked() != OUTPUT_TABLE, rc, &err);
}

const cli_command cli_command_collections_delete = {
    "collections delete",
    "delete a collection with all its documents",
    "forage collections delete NAME [--home DIR | --url URL] [--output text|table|json|md]",
    NULL,
    collections_options,
    1,
    1,
    collections_delete_run};

/* ---- delete --------------------------------------------------------------------------------- */

static const cli_option delete_options[] = {
    WHERE_OPTIONS,
    COLLECTION_OPTION,
    {"filter", CLI_STRING, &o.filter, "JSON", "all documents whose metadata match this condition",
     .flag_only = true},
    SOURCE_OPTION,
    {"yes", CLI_BOOL, &o.yes, NULL, "do not ask", .flag_only = true},
    {"dry-run", CLI_BOOL, &o.dry_run, NULL, "say what would go, delete nothing", .flag_only = true},
    CLI_OUTPUT_OPTION,
    {0}};

/* The reply of DELETE /documents into b. */
static int delete_by_filter(const place *p, const search_filter *f, bool dry_run, fo_buf *b,
                            fo_err *err) {
    if (p->client) {
        fo_buf path = {0};
        fo_buf_str(&path, "/documents");
        where_part(&path);
        client_query_part(&path, "dry_run", dry_run ? "true" : "false");
        int rc = path.failed ? fo_no_memory(err) : client_delete(p->client, path.data, b, err);
        fo_buf_free(&path);
        return rc;
    }
    documents_ids ids = {0};
    delete_request q = {.tenant = "default",
                        .collection = o.collection,
                        .filter = f,
                        .source = o.source,
                        .dry_run = dry_run,
                        .each = documents_ids_add,
                        .ctx = &ids};
    delete_report done;
    int rc = service_delete_documents(p->service, &q, &done, err);
    json_out w = {b, false};
    json_out_open(&w, NULL, '{');
    json_out_string(&w, "collection", o.collection);
    documents_json_deletion(&w, &done, dry_run);
    documents_ids_write(&w, &ids);
    json_out_close(&w, '}');
    documents_ids_deinit(&ids);
    return rc;
}

static int find_one(const place *p, const char *id, int64_t *chunks, fo_err *err) {
    if (p->client) {
        fo_buf path = {0};
        cJSON *d = NULL;
        fo_buf_str(&path, "/documents/");
        client_escape(&path, id);
        fo_buf_str(&path, "?text=false");
        client_query_part(&path, "collection", o.collection);
        int rc = path.failed ? fo_no_memory(err) : get(p->client, path.data, &d, err);
        *chunks = number_of(d, "chunks");
        cJSON_Delete(d);
        fo_buf_free(&path);
        return rc;
    }
    store_document d = {0};
    int rc = catalog_get_document(p->catalog, "default", o.collection, id, NULL, false, &d, err);
    *chunks = (int64_t)d.n_chunks;
    store_document_deinit(&d);
    return rc;
}

static int delete_one(const place *p, const char *id, int64_t *epoch, fo_err *err) {
    if (!p->client)
        return service_delete_document(p->service, "default", o.collection, id, NULL, epoch, err);
    fo_buf path = {0}, reply = {0};
    cJSON *root = NULL;
    fo_buf_str(&path, "/documents/");
    client_escape(&path, id);
    client_query_part(&path, "collection", o.collection);
    int rc = path.failed ? fo_no_memory(err) : client_delete(p->client, path.data, &reply, err);
    if (!rc) rc = parse_reply(&reply, &root, err);
    if (!rc) *epoch = number_of(root, "epoch");
    cJSON_Delete(root);
    fo_buf_free(&path);
    fo_buf_free(&reply);
    return rc;
}

/* Each id by itself; those that are not there are named, the others go. The reply is that of a
 * condition, and "missing". */
static int delete_by_id(const place *p, int argc, char **argv, fo_buf *b, size_t *n_missing,
                        fo_err *err) {
    delete_report done = {0};
    documents_ids ids = {0}, missing = {0};
    int rc = FO_OK;
    for (int i = 0; i < argc && !rc; i++) {
        fo_err why = {0};
        int64_t chunks = 0;
        rc = find_one(p, argv[i], &chunks, &why);
        if (rc == FO_ECORRUPT) rc = FO_OK; /* damaged documents can go, too */
        if (!rc && !o.dry_run) rc = delete_one(p, argv[i], &done.epoch, &why);
        store_document d = {.id = argv[i]};
        if (!rc) {
            documents_ids_add(&ids, &d);
            done.matched++;
            done.chunks += (size_t)chunks;
            done.deleted += !o.dry_run;
        } else if (rc == FO_ENOTFOUND && !strcmp(why.field, "id")) {
            documents_ids_add(&missing, &d);
            cli_fail(&why);
            rc = FO_OK;
        } else if (err) {
            *err = why;
        }
    }
    if (rc && done.deleted) fo_fail_prefix(err, "after %zu documents were deleted", done.deleted);
    json_out w = {b, false};
    json_out_open(&w, NULL, '{');
    json_out_string(&w, "collection", o.collection);
    documents_json_deletion(&w, &done, o.dry_run);
    documents_ids_write(&w, &ids);
    json_out_open(&w, "missing", '[');
    if (missing.text.len) fo_buf_add(b, missing.text.data, missing.text.len);
    json_out_close(&w, ']');
    json_out_close(&w, '}');
    *n_missing = missing.n;
    documents_ids_deinit(&ids);
    documents_ids_deinit(&missing);
    return rc;
}

/* For people; false: not all went. */
static bool print_deletion(const cJSON *r) {
    bool dry = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(r, "dry_run"));
    long long n = number_of(r, dry ? "matched" : "deleted"), changed = number_of(r, "changed"),
              unreadable = number_of(r, "unreadable");
    const cJSON *ids = cJSON_GetObjectItemCaseSensitive(r, "ids"), *id;
    if (output_asked() == OUTPUT_TABLE) {
        printf("%lld document%s %s (%lld chunks)%s\n", n, n == 1 ? "" : "s",
               dry ? "would be deleted" : "deleted", number_of(r, "chunks"), dry && n ? ":" : "");
        if (dry) {
            cJSON_ArrayForEach(id, ids) {
                if (cJSON_IsString(id)) printable_say(stdout, "  %s", id->valuestring);
            }
            if (n > cJSON_GetArraySize(ids))
                printf("  ... and %lld more\n", n - cJSON_GetArraySize(ids));
        }
        if (changed) printf("%lld changed meanwhile and stay\n", changed);
        if (unreadable)
            printf("%lld are damaged, no filter can judge them; they stay\n", unreadable);
    }
    return !changed && !unreadable;
}

/* On a terminal: n documents, or as many as match. */
static int asked(const place *p, const search_filter *f, int argc, bool *go, fo_err *err) {
    *go = true;
    if (o.yes || o.dry_run || !isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)) return FO_OK;
    long long n = argc;
    if (!argc) {
        fo_buf b = {0};
        cJSON *root = NULL;
        int rc = delete_by_filter(p, f, true, &b, err);
        if (!rc) rc = parse_reply(&b, &root, err);
        n = number_of(root, "matched");
        cJSON_Delete(root);
        fo_buf_free(&b);
        if (rc || !n) return rc;
    }
    fprintf(stderr, "Delete %lld document%s? [y/N] ", n, n == 1 ? "" : "s");
    char line[16] = "";
    *go = fgets(line, sizeof line, stdin) && (line[0] == 'y' || line[0] == 'Y');
    return FO_OK;
}

/* With its documents gone, nothing more is known of a folder: it may come back as a new one. */
static int forget_source(const place *p, fo_err *err) {
    size_t n;
    fo_err why = {0};
    int rc;
    if (p->client) {
        fo_buf path = {0}, reply = {0};
        fo_buf_str(&path, "/sources/");
        client_escape(&path, o.source);
        fo_buf_str(&path, "?keep_documents=true");
        rc = path.failed ? fo_no_memory(&why) : client_delete(p->client, path.data, &reply, &why);
        fo_buf_free(&path);
        fo_buf_free(&reply);
    } else {
        rc = folder_sync_forget(p->service, "default", o.source, true, false, NULL, &n, &why);
    }
    if (rc == FO_ECONFLICT) {
        printable_say(stderr, "forage: %s; until then the folder's files come in again", why.msg);
        return FO_OK;
    }
    if (rc && rc != FO_ENOTFOUND && err) *err = why;
    return rc == FO_ENOTFOUND ? FO_OK : rc;
}

static int delete_run(int argc, char **argv) {
    if (!argc == !(o.filter || o.source))
        return cli_wrong_usage(
            "delete needs either ids, or --filter or --source, or both of these");
    fo_err err = {0};
    fo_buf b = {0};
    search_filter *f = NULL;
    size_t n_missing = 0;
    bool go = false;
    place p;
    int wrong = o.filter ? read_filter(&f) : 0;
    if (wrong) return wrong;
    int rc = place_open(&p, o.dry_run ? WOULD_WRITE : WRITE, &err);
    if (!rc) rc = choose_collection(&p, &err);
    if (!rc) rc = asked(&p, f, argc, &go, &err);
    if (!rc && go)
        rc = argc ? delete_by_id(&p, argc, argv, &b, &n_missing, &err)
                  : delete_by_filter(&p, f, o.dry_run, &b, &err);
    if (!rc && go && o.source && !o.filter && !o.dry_run) rc = forget_source(&p, &err);
    place_close(&p);
    search_filter_free(f);
    if (!rc && !go) {
        fo_buf_free(&b);
        fputs("forage: nothing was deleted\n", stderr);
        return 1;
    }
    cJSON *root = NULL;
    if (!rc) rc = parse_reply(&b, &root, &err);
    bool all = root && print_deletion(root) && !n_missing;
    cJSON_Delete(root);
    int status = finish(&b, output_asked() != OUTPUT_TABLE, rc, &err);
    return status ? status : all ? 0 : 1;
}

const cli_command cli_command_delete = {
    "delete",
    "delete documents, by id, by a condition, or of a folder that was synced",
    "forage delete ID... [--home DIR | --url URL] [--collection C] [--dry-run] [--output "
    "text|table|json|md]\n"
    "forage delete --filter '{\"type\":\"lt\",\"key\":\"year\",\"value\":2020}' [--dry-run] ...\n"
    "forage delete --source NAME ...",
    "Asks before it deletes where somebody sits at a terminal, unless --yes. Status 1 where an id "
    "is not there, or a document stays: one that somebody replaced "
    "meanwhile,\n"
    "or a damaged one. --dry-run says what would go. A whole collection: 'forage collections "
    "delete'.",
    delete_options,
    0,
    -1,
    delete_run};
