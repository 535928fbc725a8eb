/* forage serve: the home opened, the routes up, until a signal says stop. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "kernels/cpu.h"
#include "kernels/file.h"
#include "kernels/heap.h"
#include "kernels/words.h"
#include "server/access/audit.h"
#include "server/routes/app.h"
#include "server/cli/cli.h"
#include "server/cli/cli_models.h"
#include "server/base/serve_sandbox.h"
#include "server/base/damage.h"
#include "server/base/last_word.h"
#include "server/base/log.h"
#include "server/base/request_limits.h"
#include "server/local/engine_figures.h"
#include "server/openai/model_names.h"

/* Of KV on disk, unless --kv-disk says otherwise. */
#define KV_DISK_BYTES (INT64_C(2) << 30)

enum { MAX_ALIAS_BYTES = 200 };

static struct {
    const char *home, *listen, *log_level, *log_format, *port_file;
    int64_t threads, query_workers, ingest_workers, queue, max_connections, max_per_address;
    int64_t shutdown_timeout, max_body, ingest_memory, min_free, body_rate, body_timeout;
    const char *log_queries, *warm, *refine;
    int64_t cache_bytes, cache_ttl;
    double prime_rate, semantic;
    int64_t merge_rate, seal_chunks, max_open;
    bool force_empty, read_only, insecure, allow_token_ids;
    const char *otlp_endpoint;
    cli_list otlp_headers;
    double trace_sample;
    const char *sandbox, *default_tier, *address_tier, *tls_cert, *tls_key;
    cli_list allow_hosts, allow_origins, tiers, model_aliases, sources;
    const char *max_deletes;
    int64_t max_file, sync_interval;
    int64_t snapshots, snapshots_per_hour;
    int64_t max_query, max_top_k, max_batch, max_filter, max_depth, max_headers, header_timeout;
    int64_t min_free_memory;
} o = {.home = "home",
       .listen = HTTP_LISTEN_DEFAULT,
       .sandbox = "on",
       .log_level = "info",
       .log_queries = "full",
       .warm = "off",
       .refine = "idle",
       .cache_bytes = 64 << 20,
       .prime_rate = 4,
       .merge_rate = 64 << 20,
       .log_format = "text",
       .queue = 128,
       .max_connections = 1024,
       .shutdown_timeout = 30,
       .max_body = 64 << 20,
       .max_file = 64 << 20,
       .sync_interval = 600,
       .body_rate = HTTP_BODY_BYTES_PER_S,
       .body_timeout = HTTP_BODY_TOTAL_S,
       .max_query = 64 << 10,
       .max_top_k = 1000,
       .max_batch = 100000,
       .max_filter = 1024,
       .max_depth = 64,
       .max_headers = 24 << 10,
       .header_timeout = 30,
       .min_free_memory = 64 << 20,
       .trace_sample = 1,
       .snapshots = APP_SNAPSHOTS_KEPT,
       .snapshots_per_hour = APP_SNAPSHOTS_PER_HOUR};

static const cli_option options[] = {
    {"home", CLI_STRING, &o.home, "DIR", "the folder that holds everything (default: home)"},
    {"listen", CLI_STRING, &o.listen, "ADDRESS:PORT",
     "where to listen; port 0 takes a free one (default 127.0.0.1:8080)"},
    {"insecure", CLI_BOOL, &o.insecure, NULL,
     "ask nobody for a key, also where other machines reach the address: whoever does may read, "
     "change and delete everything"},
    {"allow-host", CLI_LIST, &o.allow_hosts, "NAME",
     "a name that the service is reached by, beside localhost and the address that it listens on; "
     "its pages may use the service too. May be given again, or with commas between"},
    {"allow-origin", CLI_LIST, &o.allow_origins, "ORIGIN",
     "a page of this origin, https://app.example.org, may use the service (CORS). May be given "
     "again, or with commas between"},
    {"tls-cert", CLI_STRING, &o.tls_cert, "FILE",
     "speak TLS (1.2 and 1.3) with this certificate, PEM, those that signed it behind it; read "
     "again on SIGHUP"},
    {"tls-key", CLI_STRING, &o.tls_key, "FILE", "its private key, PEM"},
    {"tier", CLI_LIST, &o.tiers, "NAME: LIMITS",
     "limits of keys made with --tier NAME: requests=5 a second, burst=10 at once, tokens=20000 a "
     "minute, concurrent=2 at work; what is left out is not limited. May be given again"},
    {"default-tier", CLI_STRING, &o.default_tier, "NAME",
     "of keys without one (default: no limits)"},
    {"address-tier", CLI_STRING, &o.address_tier, "NAME",
     "of each client's address, whatever its key (default: no limits)"},
    {"sandbox", CLI_CHOICE, &o.sandbox, "on|off",
     "give up what a service needs no more: writing outside of its home and temporary folders, "
     "starting programs that are not the system's, connecting to others (default on)"},
    {"read-only", CLI_BOOL, &o.read_only, NULL,
     "write nothing: several such servers may share a home, beside one that writes; each answers "
     "from the state in which it found a collection when it opened it"},
    {"force-empty", CLI_BOOL, &o.force_empty, NULL,
     "begin anew where the home has lost forage.db; what is left of it is put aside into "
     "HOME/lost-TIME",
     .flag_only = true},
    {"port-file", CLI_STRING, &o.port_file, "FILE",
     "write the port that is listened on to FILE, once it is"},
    CLI_EMBED_OPTIONS,
    CLI_OCR_OPTIONS,
    CLI_RERANK_OPTION,
    CLI_READER_OPTION,
    CLI_GENERATE_OPTIONS,
    {"model-alias", CLI_LIST, &o.model_aliases, "A=B",
     "/v1 knows the model B (GET /v1/models lists the names) by the name A, too. May be given "
     "again, or with commas between"},
    {"source", CLI_LIST, &o.sources, "NAME=PATH",
     "keep the documents NAME/... in step with this folder (COLLECTION:NAME=PATH: of another "
     "collection than default). May be given again"},
    {"sync-interval", CLI_INT, &o.sync_interval, "SECONDS",
     "look at all files of the sources this often, beside the watch on them (default 600)",
     .min = 1, .max = 1000000},
    {"max-deletes", CLI_STRING, &o.max_deletes, "N|P%",
     "remove nothing of a source where more documents than this would go (default 50%, but 5 in "
     "any case)"},
    {"max-file", CLI_BYTES, &o.max_file, "BYTES",
     "larger files of a source are left out; 0: any size (default 64M)"},
    {"allow-token-ids", CLI_BOOL, &o.allow_token_ids, NULL,
     "/v1/embeddings takes token ids, which must be of the embedder's own vocabulary "
     "(/v1/tokenize): others give vectors of some other text"},
    {"warm", CLI_STRING, &o.warm, "WHEN",
     "let the language model read chunks before anybody asks: ingest (what comes in, when it has "
     "nothing else to do), idle (everything, after five quiet seconds) or off (default)"},
    {"refine", CLI_STRING, &o.refine, "WHEN",
     "embed what came in anew with the built-in encoder, which answers better than the table that "
     "is quick: idle "
     "(default: once no documents have come in for 30 s) or off"},
    {"threads", CLI_INT, &o.threads, "N",
     "threads (default: for models one a core, else all processors)", .max = 1024},
    {"query-workers", CLI_INT, &o.query_workers, "N",
     "queries answered at once (default: threads, at least 4; with a language model "
     "--max-sequences more)",
     .max = 1024},
    {"ingest-workers", CLI_INT, &o.ingest_workers, "N", "ingests at once (default 4)", .max = 256},
    {"queue", CLI_INT, &o.queue, "N", "requests that may wait for a worker (default 128)", .min = 1,
     .max = 65536},
    {"max-connections", CLI_INT, &o.max_connections, "N",
     "open connections (default 1024); above, idle ones end, and then requests get 503", .min = 8,
     .max = 65536},
    {"max-connections-per-address", CLI_INT, &o.max_per_address, "N",
     "of one client (default: all)", .max = 65536},
    {"max-body", CLI_BYTES, &o.max_body, "BYTES",
     "of one JSON body or one document (default 64M); NDJSON and plain text are not bounded"},
    {"max-query", CLI_BYTES, &o.max_query, "BYTES", "of a question (default, and most: 64K)"},
    {"max-top-k", CLI_INT, &o.max_top_k, "N", "contexts of a question (default, and most: 1000)",
     .min = 1, .max = 1000},
    {"max-batch", CLI_INT, &o.max_batch, "N",
     "documents of one JSON body (default, and most: 100000)", .min = 1, .max = 100000},
    {"max-filter", CLI_INT, &o.max_filter, "N", "conditions of a filter (default, and most: 1024)",
     .min = 1, .max = 1024},
    {"max-json-depth", CLI_INT, &o.max_depth, "N",
     "brackets within brackets of a body (default, and most: 64)", .min = 8, .max = 64},
    {"max-headers", CLI_BYTES, &o.max_headers, "BYTES",
     "of all headers of a request; more: 431 (default 24K, at most 48K)"},
    {"header-timeout", CLI_INT, &o.header_timeout, "SECONDS",
     "for the headers of a request, and between two (default 30)", .min = 1, .max = 3600},
    {"min-free-memory", CLI_BYTES, &o.min_free_memory, "BYTES",
     "that the machine and its control group must have left: below, what has a body is refused "
     "with 503; 0: whatever is left (default 64M)"},
    {"ingest-memory", CLI_BYTES, &o.ingest_memory, "BYTES",
     "that all documents on their way in take together, unpacked (default: 256M, or four times "
     "--max-body)"},
    CLI_ORIGINALS_OPTION,
    {"body-rate", CLI_BYTES, &o.body_rate, "BYTES",
     "a second that a client must send of a body, over 30 s; below: 408; 0: any (default 4K)"},
    {"body-timeout", CLI_INT, &o.body_timeout, "SECONDS",
     "that a body is waited for, in all; beyond: 408; 0: for ever (default 3600)", .max = 1000000},
    {"min-free-disk", CLI_BYTES, &o.min_free, "BYTES", "ingest is refused below (default 64M)"},
    {"snapshots", CLI_INT, &o.snapshots, "N",
     "that POST /admin/snapshot keeps in home/backups; the oldest goes (default 8)", .min = 1,
     .max = 10000},
    {"snapshots-per-hour", CLI_INT, &o.snapshots_per_hour, "N",
     "that may be made; more are refused with 429 (default 12)", .min = 1, .max = 3600},
    {"shutdown-timeout", CLI_INT, &o.shutdown_timeout, "SECONDS",
     "for what runs when the signal comes (default 30)", .max = 86400},
    {"log-queries", CLI_STRING, &o.log_queries, "full|hash|off",
     "what the query log keeps of a question's text (default full)"},
    {"cache", CLI_BYTES, &o.cache_bytes, "BYTES",
     "for answers and contexts kept; 0: none (default 64M)"},
    {"cache-ttl", CLI_INT, &o.cache_ttl, "SECONDS", "of what is kept (default: until evicted)",
     .max = 1 << 30},
    {"semantic-cache", CLI_DOUBLE, &o.semantic, "THRESHOLD",
     "give a kept answer to a question in other words of at least this cosine, .93 say (default: "
     "off)",
     .max = 1},
    {"prime-rate", CLI_DOUBLE, &o.prime_rate, "PER-SECOND",
     "hot questions asked again after a change; 0: none (default 4)", .max = 1000},
    {"merge-rate", CLI_BYTES, &o.merge_rate, "BYTES",
     "a second that merges of index files may write in the background; 0: any number (default "
     "64M)"},
    {"seal-chunks", CLI_INT, &o.seal_chunks, "N",
     "that an index gathers in memory before they become a file (default 16384)", .max = 1 << 20},
    {"max-open-collections", CLI_INT, &o.max_open, "N",
     "whose indexes are open at once; others are opened when they are asked for (default 256)",
     .max = 100000},
    {"otlp-endpoint", CLI_STRING, &o.otlp_endpoint, "URL",
     "send spans of requests and their stages to this OpenTelemetry collector, as JSON over HTTP "
     "(http://127.0.0.1:4318)"},
    {"otlp-header", CLI_LIST, &o.otlp_headers, "NAME: VALUE",
     "of what is sent there. May be given again"},
    {"trace-sample", CLI_DOUBLE, &o.trace_sample, "SHARE",
     "of requests that bring no traceparent are traced (default 1: all)", .max = 1},
    {"log-level", CLI_STRING, &o.log_level, "LEVEL",
     "debug, info, warn, error or off; read again from forage.conf on SIGHUP"},
    {"log-format", CLI_STRING, &o.log_format, "text|json", "one line an event on stderr"},
    {0}};

/* Signals come to the main thread by sigwait; the second one ends the patience of http_stop. */
static atomic_bool hurry;

static void *wait_hurry(void *arg) {
    sigset_t *set = arg;
    int sig;
    sigwait(set, &sig);
    hurry = true;
    return NULL;
}

static void log_refine(void *ctx, const char *kind, const char *text) {
    (void)ctx;
    const bool failed = !strcmp(kind, "refine_failed");
    log_event(failed ? LOG_LEVEL_WARN : LOG_LEVEL_INFO, NULL, kind, LOG_STR("what", text));
}

/* Once, at the start: a model that is asked in a form that it was not trained on answers worse, and nothing else
 * would say why. */
static void log_chatml(service *s) {
    const char *why = engine_figures_chatml(service_generator(s));
    if (why)
        log_event(LOG_LEVEL_WARN, NULL, "chatml_used", LOG_STR("why", why),
                  LOG_STR("meaning", "the language model is asked in ChatML, not in its own form"));
}

static void log_damage(void *ctx, const char *tenant, const char *collection, const char *why,
                       bool rebuilt) {
    (void)ctx;
    log_event(LOG_LEVEL_ERROR, NULL, rebuilt ? "index_rebuilt" : "index_damaged",
              LOG_STR("tenant", tenant), LOG_STR("collection", collection), LOG_STR("why", why));
}

/* Before the home is opened, since every thread is born with what its parent may do. */
static bool give_up_files(void) {
    char *port_folder = NULL;
    if (o.port_file) {
        const char *slash = strrchr(o.port_file, '/');
        port_folder = slash == o.port_file ? strdup("/")
                      : slash              ? strndup(o.port_file, (size_t)(slash - o.port_file))
                                           : strdup(".");
        if (!port_folder) return false;
    }
    if (!o.read_only) fo_make_dirs(o.home, NULL); /* opening the home says why where it fails */
    const char *writes[] = {o.read_only ? NULL : o.home, port_folder};
    bool done = serve_sandbox_files(writes, 2);
    free(port_folder);
    return done;
}

static int write_port_file(const http_server *s, fo_err *err) {
    char text[160];
    int n = snprintf(text, sizeof text, "%d\n", http_port(s));
    return fo_file_put(o.port_file, text, (size_t)n, err);
}

/* Append the names of a list option to *names, one an item: where they come from the environment they
 * have commas. They stay for the life of the program. The first that is not `valid` is refused with what
 * is `wanted`. */
static int read_names(cli_list *names, const cli_list *given, bool valid(const char *name),
                      const char *field, const char *wanted, fo_err *err) {
    for (size_t i = 0; i < given->n; i++) {
        char *copy = strdup(given->items[i]), *save = NULL;
        if (!copy) return fo_no_memory(err);
        for (char *name = strtok_r(copy, ", ", &save); name; name = strtok_r(NULL, ", ", &save)) {
            const char **more = realloc(names->items, (names->n + 1) * sizeof *more);
            if (!more) return fo_no_memory(err);
            names->items = more;
            names->items[names->n++] = name;
            if (!valid(name))
                return fo_fail_field(err, FO_EINVAL, field, "'%.200s' is no %s", name, wanted);
        }
    }
    return FO_OK;
}

static int read_hosts(cli_list *names, fo_err *err) {
    return read_names(names, &o.allow_hosts, http_host_valid, "allow-host",
                      "name or address; write it as in forage.example.org, without http:// and "
                      "without a port",
                      err);
}

static cli_list origins;

static int read_origins(fo_err *err) {
    return read_names(&origins, &o.allow_origins, http_origin_valid, "allow-origin",
                      "origin; write it as a browser does: https://app.example.org or "
                      "http://localhost:3000",
                      err);
}

/* --model-alias A=B, as above. */
static model_alias *aliases;
static size_t n_aliases;

static char *trim(char *s) {
    s += strspn(s, " ");
    for (size_t n = strlen(s); n && s[n - 1] == ' ';) s[--n] = 0;
    return s;
}

static int read_aliases(fo_err *err) {
    for (size_t i = 0; i < o.model_aliases.n; i++) {
        char *copy = strdup(o.model_aliases.items[i]), *save = NULL;
        if (!copy) return fo_no_memory(err);
        for (char *pair = strtok_r(copy, ",", &save); pair; pair = strtok_r(NULL, ",", &save)) {
            char *equals = strchr(pair, '=');
            model_alias *more = realloc(aliases, (n_aliases + 1) * sizeof *more);
            if (!more) return free(copy), fo_no_memory(err);
            aliases = more;
            if (!equals || equals == pair || !equals[1] || equals - pair > MAX_ALIAS_BYTES) {
                int rc = fo_fail_field(err, FO_EINVAL, "model-alias",
                                       "A=B is wanted, a new name of at most %d bytes and "
                                       "a model's own, not '%.200s'",
                                       MAX_ALIAS_BYTES, pair);
                free(copy);
                return rc;
            }
            *equals = 0;
            aliases[n_aliases++] = (model_alias){trim(pair), trim(equals + 1)};
        }
    }
    return FO_OK;
}

/* --source, as above; a path may have commas. */
static int make_sources(app *a, fo_err *err) {
    static source_spec specs[SOURCES_MAX];
    source_runner_options opt = {.service = a->service,
                                 .tenant = "default",
                                 .specs = specs,
                                 .limit = a->source_limit,
                                 .max_file_bytes = o.max_file,
                                 .interval_s = (int)o.sync_interval};
    for (size_t i = 0; i < o.sources.n; i++) {
        if (opt.n == SOURCES_MAX)
            return fo_fail_field(err, FO_EINVAL, "source", "there may be %d sources", SOURCES_MAX);
        char *copy = strdup(o.sources.items[i]); /* for the life of the program */
        if (!copy) return fo_no_memory(err);
        int rc = source_spec_read(&specs[opt.n++], copy + strspn(copy, " "), err);
        if (rc) {
            free(copy);
            return rc;
        }
    }
    if (opt.n && a->read_only) {
        log_event(LOG_LEVEL_WARN, NULL, "sources_rest",
                  LOG_STR("why", "this server writes nothing: its sources are not looked at"));
        return FO_OK;
    }
    return opt.n ? source_runner_create(&a->sources, &opt, err) : FO_OK;
}

/* --tier, --default-tier, --address-tier. *out NULL: there are none. */
static int make_limits(rate_limits **out, fo_err *err) {
    rate_tier tiers[RATE_TIERS_MAX + 1];
    *out = NULL;
    if (o.tiers.n > RATE_TIERS_MAX)
        return fo_fail_field(err, FO_EINVAL, "tier", "there may be %d tiers", RATE_TIERS_MAX);
    for (size_t i = 0; i < o.tiers.n; i++) {
        int rc = rate_tier_read(&tiers[i], o.tiers.items[i], err);
        if (rc) return rc;
    }
    int rc = o.tiers.n ? rate_limits_create(out, tiers, o.tiers.n, err) : FO_OK;
    const char *const used[] = {o.default_tier, o.address_tier};
    for (int i = 0; i < 2 && !rc; i++)
        if (used[i] && (!*out || !rate_limits_tier(*out, used[i])))
            rc = fo_fail_field(err, FO_EINVAL, i ? "address-tier" : "default-tier",
                               "there is no tier '%.64s'; --tier '%.64s: requests=5' makes one",
                               used[i], used[i]);
    if (rc) rate_limits_free(*out), *out = NULL;
    return rc;
}

#define OPEN_TO_ALL                                                                                \
    "whoever reaches it may read, change and delete everything, and is asked for no key"

/* Whose keys are asked for: everybody's where other machines reach the address, else once there are any.
 * *out NULL: nobody's (--insecure). Said before the home is opened. */
static int open_keys(key_ring **out, int *inherited, bool *loopback, fo_err *err) {
    *out = NULL;
    int rc = http_listen_inherited(inherited, loopback, err);
    if (!rc && !*inherited) rc = http_listen_is_loopback(o.listen, loopback, err);
    if (rc || o.insecure) return rc;
    rc = key_ring_open(out, o.home, !*loopback, err);
    if (!rc && *loopback && !key_ring_on(*out) && audit_tells_of_keys(o.home))
        log_event(LOG_LEVEL_WARN, NULL, "keys_gone", LOG_STR("home", o.home),
                  LOG_STR("meaning",
                          "audit.log tells of keys, and the home has none: whoever reaches "
                          "this address, also by a proxy, is asked for none. Put "
                          "HOME/keys back, or make new ones"));
    if (rc || *loopback || key_ring_count(*out)) return rc;
    key_ring_close(*out);
    *out = NULL;
    return fo_fail_field(err, FO_EINVAL, "listen",
                         "%s is reached from other machines, and this home has no keys. Make one "
                         "(forage keys create --home %.200s --name me --scope admin), listen on "
                         "127.0.0.1, or add --insecure: then " OPEN_TO_ALL,
                         *inherited ? "the socket that was handed over" : o.listen, o.home);
}

/* What was changed while it ran: the certificate, and what forage.conf says of the log. */
static void reload(app *a) {
    fo_err err = {0};
    if (o.tls_cert && http_reload_tls(a->http, &err))
        log_event(LOG_LEVEL_ERROR, NULL, "tls_kept", LOG_STR("why", err.msg),
                  LOG_STR("meaning", "the certificate of before goes on being used"));
    else if (o.tls_cert)
        log_event(LOG_LEVEL_INFO, NULL, "tls_reloaded", LOG_STR("file", o.tls_cert));
    char name[16];
    enum log_level level;
    err = (fo_err){0};
    if (cli_given("log-level")) {
        log_level_parse(o.log_level, &level); /* what a request made it is over */
        log_set_level(level);
        log_event(LOG_LEVEL_INFO, NULL, "reloaded", LOG_STR("log_level", "as the option says"));
    } else if (cli_conf_value(o.home, "log-level", name, sizeof name, &err) ||
               (*name && !log_level_parse(name, &level))) {
        log_event(
            LOG_LEVEL_ERROR, NULL, "log_level_kept",
            LOG_STR("why", err.code ? err.msg : "it is none of debug, info, warn, error, off"));
    } else {
        if (!*name) log_level_parse("info", &level);
        log_change_level(level, "reloaded", NULL);
    }
}

/* SIGHUP is how others say "read again", and what comes when the terminal is closed that it runs in. */
static void wait_for_the_end(app *a, const sigset_t *signals, int *sig) {
    bool of_terminal = isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
    while (sigwait(signals, sig) == 0 && *sig == SIGHUP && !of_terminal) reload(a);
}

/* Descriptors beside those of connections: the store's, the index files', bodies that wait on disk. */
#define OTHER_FILES 512

/* A connection is a file of the process, and the soft limit of many systems is 1,024: it is raised as
 * far as it may be, and where that is too little there are fewer connections, not fewer files. */
static void fit_connections(void) {
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
    rlim_t wanted = 2 * (rlim_t)o.max_connections + OTHER_FILES;
    if (files.rlim_cur < wanted) {
        files.rlim_cur = wanted < files.rlim_max ? wanted : files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
        getrlimit(RLIMIT_NOFILE, &files);
    }
    if (files.rlim_cur >= wanted) return;
    int64_t room = ((int64_t)files.rlim_cur - OTHER_FILES) / 2;
    o.max_connections = room > 8 ? room : 8;
    log_event(LOG_LEVEL_WARN, NULL, "few_files", LOG_INT("limit", files.rlim_cur),
              LOG_INT("max_connections", o.max_connections),
              LOG_STR("meaning", "the limit of open files (ulimit -n) allows no more connections"));
}

/* What would fail at the first question is said at the start. */
static void warn_foreign(service *s) {
    enum { NAMED = 8 };
    store_collection *list = NULL;
    size_t n = 0, n_all = 0;
    fo_err err = {0};
    if (service_foreign_collections(s, NULL, NULL, NAMED, &list, &n, &n_all, &err))
        log_event(LOG_LEVEL_WARN, NULL, "not_ready", LOG_STR("why", err.msg));
    for (size_t i = 0; i < n; i++) {
        service_foreign_sentence(s, list[i].name, &err);
        log_event(LOG_LEVEL_WARN, NULL, "not_ready", LOG_STR("tenant", list[i].tenant),
                  LOG_STR("collection", list[i].name), LOG_STR("why", err.msg));
        store_collection_deinit(&list[i]);
    }
    if (n_all > n)
        log_event(LOG_LEVEL_WARN, NULL, "not_ready", LOG_INT("more_collections", n_all - n),
                  LOG_STR("why", "they were embedded by another model as well"));
    free(list);
}

static bool gave_up_files;

/* What the options say of the routes. The keys, limits and traces are the app's from here on. */
static int open_app(app **out, service *s, bool full_disk, key_ring *keys, rate_limits *limits,
                    tracer *traces, fo_err *err) {
    app *a;
    int rc = app_create(&a, s, o.read_only || full_disk, err);
    if (rc) {
        tracer_stop(traces);
        key_ring_close(keys);
        rate_limits_free(limits);
        return rc;
    }
    a->keys = keys;
    a->limits = limits;
    a->tracer = traces;
    if (o.default_tier) a->default_tier = rate_limits_tier(limits, o.default_tier);
    if (o.address_tier) a->address_tier = rate_limits_tier(limits, o.address_tier);
    a->audits = !a->read_only;
    a->disk_full = full_disk;
    a->aliases = aliases;
    a->n_aliases = n_aliases;
    if (o.max_deletes) sync_limit_read(&a->source_limit, o.max_deletes); /* checked before */
    rc = model_aliases_check(a, err);
    if (!rc) rc = make_sources(a, err);
    if (rc) {
        app_stop(a, 0, NULL);
        return rc;
    }
    a->allow_token_ids = o.allow_token_ids;
    a->max_document_bytes = (size_t)o.max_body;
    a->min_free_memory = (uint64_t)o.min_free_memory;
    if (o.min_free) a->min_free_bytes = (uint64_t)o.min_free;
    a->snapshots_kept = (int)o.snapshots;
    a->snapshots_per_hour = (int)o.snapshots_per_hour;
    a->log_queries = !strcmp(o.log_queries, "full")   ? LOG_QUERIES_FULL
                     : !strcmp(o.log_queries, "hash") ? LOG_QUERIES_HASH
                                                      : LOG_QUERIES_OFF;
    *out = a;
    return FO_OK;
}

static http_options http_options_of(service *s, const cli_list *hosts, int listen_fd) {
    http_options h = {.listen = o.listen,
                      .listen_fd = listen_fd,
                      .max_connections = (int)o.max_connections,
                      .max_per_address = (int)o.max_per_address,
                      .max_body_bytes = (size_t)o.max_body,
                      .body_bytes_per_s = o.body_rate ? (int)o.body_rate : -1,
                      .body_total_ms = o.body_timeout ? (int)o.body_timeout * 1000 : -1,
                      .allow_hosts = hosts->items,
                      .n_allow_hosts = hosts->n,
                      .allow_origins = origins.items,
                      .n_allow_origins = origins.n,
                      .tls_cert = o.tls_cert,
                      .tls_key = o.tls_key};
    /* Who waits for the language model does not compute: as many as it writes for at once, and some
     * for the rest. */
    const int threads = o.threads > 0 ? (int)o.threads : fo_cpu_count();
    int workers = threads < 4 ? 4 : threads;
    if (service_generator(s)) {
        int64_t n = engine_flag_values.max_sequences;
        workers += n ? (int)n : 16;
    }
    h.max_header_bytes = (size_t)o.max_headers;
    h.header_timeout_ms = (int)o.header_timeout * 1000;
    h.n_workers[HTTP_LANE_QUERY] = o.query_workers ? (int)o.query_workers : workers;
    h.n_workers[HTTP_LANE_INGEST] = (int)o.ingest_workers;
    h.queue_length[HTTP_LANE_QUERY] = h.queue_length[HTTP_LANE_INGEST] = (int)o.queue;
    return h;
}

/* What the log says once requests are taken. */
static void say_listening(const app *a, service *s) {
    log_chatml(s);
    service_stats st = {0};
    service_get_stats(s, &st, NULL);
    char url[160];
    snprintf(url, sizeof url, "http%s://%s", o.tls_cert ? "s" : "", http_address(a->http));
    log_event(LOG_LEVEL_INFO, NULL, "listening", LOG_STR("url", url),
              LOG_INT("port", http_port(a->http)), LOG_STR("home", o.home),
              LOG_STR("keys", !a->keys               ? "off (--insecure)"
                              : key_ring_on(a->keys) ? "on"
                                                     : "off until one is made"),
              LOG_INT("documents", st.n_documents), LOG_INT("chunks", st.n_chunks),
              LOG_STR("embedder", embedder_name(service_embedder(s))),
              LOG_STR("model",
                      service_generator(s) ? generator_get_info(service_generator(s))->name : ""),
              LOG_STR("isa", fo_cpu_level_name(fo_cpu()->level)),
              LOG_INT("threads", service_model_threads(s)),
              LOG_INT("cpus", fo_cpu_topology()->n_cpus),
              LOG_INT("cores", fo_cpu_topology()->n_cores),
              LOG_INT("nodes", fo_cpu_topology()->n_nodes), LOG_STR("version", FORAGE_VERSION));
    if (fo_cpu()->note[0]) log_event(LOG_LEVEL_WARN, NULL, "cpu", LOG_STR("note", fo_cpu()->note));
    warn_foreign(s);
    bool calls = !strcmp(o.sandbox, "on") && serve_sandbox_calls();
    log_event(LOG_LEVEL_INFO, NULL, "sandbox", LOG_STR("files", gave_up_files ? "on" : "off"),
              LOG_STR("calls", calls ? "on" : "off"));
}

/* Until a signal ends it. */
static int serve(service *s, app *a, http_options *h, sigset_t *signals, fo_err *err) {
    int rc = app_serve(a, h, err);
    if (!rc && o.port_file) rc = write_port_file(a->http, err);
    if (rc) {
        app_stop(a, 0, NULL);
        return rc;
    }
    say_listening(a, s);
    int sig = 0;
    wait_for_the_end(a, signals, &sig);
    log_event(LOG_LEVEL_INFO, NULL, "stopping",
              LOG_STR("signal", sig == SIGINT   ? "INT"
                                : sig == SIGHUP ? "HUP"
                                                : "TERM"));
    pthread_t t;
    bool has_thread = pthread_create(&t, NULL, wait_hurry, signals) == 0;
    app_stop(a, (int)o.shutdown_timeout * 1000, &hurry);
    if (has_thread) {
        pthread_kill(t, SIGTERM); /* blocked everywhere: it only wakes the sigwait */
        pthread_join(t, NULL);
    }
    return FO_OK;
}

/* What the options have to be beyond what each says of itself. FO_OK, or how the program ends. */
static int check_options(enum log_level *level, enum kv_warm_mode *warm) {
    if (!log_level_parse(o.log_level, level))
        return cli_wrong_usage("--log-level must be debug, info, warn, error or off");
    if (strcmp(o.log_format, "text") && strcmp(o.log_format, "json"))
        return cli_wrong_usage("--log-format must be text or json");
    if (strcmp(o.log_queries, "full") && strcmp(o.log_queries, "hash") &&
        strcmp(o.log_queries, "off"))
        return cli_wrong_usage("--log-queries must be full, hash or off");
    static const char *const warm_names[] = {"off", "ingest", "idle", NULL};
    const int when = fo_names_find(warm_names, o.warm);
    if (when < 0) return cli_wrong_usage("--warm must be ingest, idle or off");
    *warm = (enum kv_warm_mode)when;
    if (strcmp(o.refine, "idle") && strcmp(o.refine, "off"))
        return cli_wrong_usage("--refine must be idle or off");
    if (o.body_rate > 1 << 30) return cli_wrong_usage("--body-rate must be at most 1G");
    sync_limit limit;
    if (o.max_deletes && !sync_limit_read(&limit, o.max_deletes))
        return cli_wrong_usage(
            "--max-deletes must be a number of documents, or a share such as 30%%");
    if (!o.tls_cert != !o.tls_key) return cli_wrong_usage("--tls-cert and --tls-key go together");
    if (o.max_query < 1 || o.max_query > 64 << 10)
        return cli_wrong_usage("--max-query must be at most 64K");
    if (o.max_headers < 1024 || o.max_headers > 48 << 10)
        return cli_wrong_usage("--max-headers must be between 1K and 48K");
    if (o.max_body < 1024) return cli_wrong_usage("--max-body must be at least 1024");
    int64_t four_bodies = o.max_body > INT64_MAX / 4 ? INT64_MAX : 4 * o.max_body;
    if (!o.ingest_memory) o.ingest_memory = four_bodies > 256 << 20 ? four_bodies : 256 << 20;
    if (o.ingest_memory < 1 << 20) return cli_wrong_usage("--ingest-memory must be at least 1M");
    return FO_OK;
}

/* The service that the options describe. *full_disk: there is no room, and it is open to answer questions alone. */
static int open_service(service **out, enum kv_warm_mode warm, bool *full_disk, fo_err *err) {
    if (engine_flag_values.kv_disk < 0) engine_flag_values.kv_disk = KV_DISK_BYTES;
    service_options so = {
        .home = o.home,
        .n_threads = (int)o.threads,
        .read_only = o.read_only,
        .ingest_memory = (uint64_t)o.ingest_memory,
        .min_free_bytes = (uint64_t)o.min_free,
        .cache_bytes = o.cache_bytes ? o.cache_bytes : -1,
        .cache_ttl_ms = o.cache_ttl * 1000,
        .semantic_threshold = o.semantic,
        .primes_per_s = o.prime_rate > 0 ? o.prime_rate : -1,
        .warm = warm,
        .refine = {.on = !strcmp(o.refine, "idle"), .notices = {log_refine, NULL}},
        .hide_queries = strcmp(o.log_queries, "full") != 0,
        .merge_bytes_per_s = o.merge_rate ? o.merge_rate : -1,
        .seal_chunks = (size_t)o.seal_chunks,
        .max_open_collections = (size_t)o.max_open,
        .force_empty = o.force_empty,
        .notices = {damage_log, NULL},
        .index_damaged = log_damage};
    *full_disk = false;
    int rc = cli_models_open(out, &so, err);
    if (rc == FO_ENOSPC && !o.read_only) { /* questions can be answered all the same */
        const fo_err full = *err;
        so.full_disk = true;
        if (cli_models_open(out, &so, err)) /* not of a home that has to be changed first */
            return fo_fail(err, rc, "%.400s: make room and start again", full.msg);
        log_event(LOG_LEVEL_ERROR, NULL, "disk_full", LOG_STR("why", full.msg),
                  LOG_STR("meaning", "questions are answered, nothing is written: make room and "
                                     "start again"));
        rc = FO_OK;
    }
    *full_disk = so.full_disk;
    return rc;
}

/* Those that end the service are waited for by one thread alone. */
static void take_signals(sigset_t *signals) {
    sigemptyset(signals);
    sigaddset(signals, SIGTERM);
    sigaddset(signals, SIGINT);
    sigaddset(signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, signals, NULL); /* as main.c did for every thread before */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file at its limit is a full disk, not the end */
}

static int run(int argc, char **argv) {
    (void)argc, (void)argv;
    if (!getenv("MALLOC_ARENA_MAX")) fo_heap_bound(); /* who sets that knows what he wants */
    enum log_level level;
    enum kv_warm_mode warm = KV_WARM_OFF;
    int rc = check_options(&level, &warm);
    if (rc) return rc;
    request_limits_set(&(request_limits){(size_t)o.max_query, (size_t)o.max_top_k,
                                         (size_t)o.max_batch, (size_t)o.max_filter,
                                         (size_t)o.max_depth});
    log_open(level, !strcmp(o.log_format, "json"));
    last_word_install(!strcmp(o.log_format, "json"));
    sigset_t signals;
    take_signals(&signals);
    fo_err err = {0};
    service *s;
    static cli_list hosts;
    bool loopback, full_disk;
    key_ring *keys;
    rate_limits *limits;
    tracer *traces = NULL;
    int listen_fd = 0;
    if (read_hosts(&hosts, &err) || read_aliases(&err) || read_origins(&err) ||
        make_limits(&limits, &err) || open_keys(&keys, &listen_fd, &loopback, &err))
        return cli_fail(&err), err.code == FO_EINVAL ? 2 : 1;
    if (o.otlp_endpoint && tracer_start(&traces,
                                        &(tracer_options){.url = o.otlp_endpoint,
                                                          .headers = o.otlp_headers.items,
                                                          .n_headers = o.otlp_headers.n,
                                                          .confined = !strcmp(o.sandbox, "on"),
                                                          .sample = o.trace_sample},
                                        &err))
        return cli_fail(&err), err.code == FO_EINVAL ? 2 : 1;
    if (!keys && !loopback)
        log_event(LOG_LEVEL_WARN, NULL, "insecure", LOG_STR("listen", o.listen),
                  LOG_STR("meaning", OPEN_TO_ALL));
    fit_connections();
    gave_up_files = !strcmp(o.sandbox, "on") && give_up_files();
    rc = open_service(&s, warm, &full_disk, &err);
    if (rc) {
        key_ring_close(keys);
        rate_limits_free(limits);
        tracer_stop(traces);
        return cli_fail(&err);
    }
    app *a;
    rc = open_app(&a, s, full_disk, keys, limits, traces, &err);
    if (!rc) {
        http_options h = http_options_of(s, &hosts, listen_fd);
        rc = serve(s, a, &h, &signals, &err);
    }
    service_close(s);
    if (o.port_file) remove(o.port_file);
    if (rc) return cli_fail(&err);
    log_event(LOG_LEVEL_INFO, NULL, "stopped", LOG_STR("home", o.home));
    return 0;
}

const cli_command cli_command_serve = {
    "serve",
    "answer HTTP: documents in, questions answered",
    "forage serve [--home DIR] [--listen 127.0.0.1:8080] [--model gen.gguf]\n"
    "              [--embed-model e.gguf] [--rerank-model r.gguf] [--threads N]",
    "Answers callers of this machine alone; an address that others reach needs keys ('forage keys\n"
    "create') or --insecure. Once a home has a key everybody is asked for one. Requests to a name "
    "that is not its own (421) and those "
    "of\n"
    "pages of other sites (403) are refused; --allow-host adds a name.\n"
    "Stops on SIGTERM or SIGINT: no new connections, what runs is finished (or cancelled after\n"
    "--shutdown-timeout, at once after a second signal), the store is checkpointed. SIGHUP reads\n"
    "the certificate and the log level of forage.conf again. A socket that systemd listens on for\n"
    "it (forage.socket) is taken over, so that nobody is refused while it is started again.",
    options,
    0,
    0,
    run};
