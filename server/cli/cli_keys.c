/* forage keys create, list, revoke: the keys of a home. They work beside a running server, which sees
 * what they did within a second. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/hex.h"
#include "kernels/words.h"
#include "retrieval/home/home.h"
#include "server/access/audit.h"
#include "server/access/keys.h"
#include "server/base/log.h"
#include "server/base/printable.h"
#include "server/cli/cli.h"
#include "server/cli/output_form.h"

static struct {
    const char *home, *name, *tenant, *tier, *expires;
    cli_list scopes, collections, groups;
    bool all;
} o = {.home = "home"};

/* "a,b" and items given again, one name an item; for the life of the program. */
static int split(cli_list *in, cli_list *out, fo_err *err) {
    for (size_t i = 0; i < in->n; i++) {
        char *copy = strdup(in->items[i]), *save = NULL;
        if (!copy) return fo_no_memory(err);
        for (char *s = strtok_r(copy, ", ", &save); s; s = strtok_r(NULL, ", ", &save)) {
            const char **more = realloc(out->items, (out->n + 1) * sizeof *more);
            if (!more) return fo_no_memory(err);
            out->items = more;
            out->items[out->n++] = s;
        }
    }
    return FO_OK;
}

static int read_scopes(unsigned *out, fo_err *err) {
    static cli_list words;
    int rc = split(&o.scopes, &words, err);
    for (size_t i = 0; !rc && i < words.n; i++) {
        int scope = ACCESS_READ;
        while (scope <= ACCESS_METRICS && strcmp(access_scope_name(scope), words.items[i])) scope++;
        if (scope > ACCESS_METRICS)
            return fo_fail_field(err, FO_EINVAL, "scope",
                                 "'%.60s' is no scope: read, ingest, admin or metrics",
                                 words.items[i]);
        *out |= 1u << scope;
    }
    return rc;
}

/* "90d" from now on: s, m, h, d, w. */
static int read_expires(int64_t *out, fo_err *err) {
    static const struct {
        char unit;
        int64_t ms;
    } units[] = {{'s', 1000}, {'m', 60000}, {'h', 3600000}, {'d', 86400000}, {'w', 604800000}};
    if (!o.expires) return FO_OK;
    char *end;
    long n = strtol(o.expires, &end, 10);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (n > 0 && n <= 100000 && end > o.expires && end[0] == units[i].unit && !end[1]) {
            *out = log_now_ms() + n * units[i].ms;
            return FO_OK;
        }
    return fo_fail_field(err, FO_EINVAL, "expires",
                         "'%.40s' is no time: a number of at most 100000 and s, m, h, d or w, as "
                         "in 90d",
                         o.expires);
}

static void audit(const char *act, const char *id) {
    fo_err err = {0};
    audit_act a = {.act = act, .what = id, .who = "command line"};
    if (audit_write(o.home, &a, &err)) cli_fail(&err); /* it is done all the same */
}

/* ---- create -------------------------------------------------------------------------------- */

static const cli_option create_options[] = {
    {"home", CLI_STRING, &o.home, "DIR", "the home that it is for (default: home)"},
    {"name", CLI_STRING, &o.name, "NAME", "what the key is for: people read it, nothing else does",
     .required = true, .flag_only = true},
    {"scope", CLI_LIST, &o.scopes, "SCOPE",
     "read, ingest, admin or metrics; several with commas between", .required = true,
     .flag_only = true},
    {"collections", CLI_LIST, &o.collections, "A,B", "that it may use (default: all)",
     .flag_only = true},
    {"tenant", CLI_STRING, &o.tenant, "NAME",
     "whose documents, caches and analytics it works with (default: default)", .flag_only = true},
    {"groups", CLI_LIST, &o.groups, "A,B",
     "sees documents whose acl names one of these, beside those without; '*': all documents "
     "(default: with the "
     "scope admin all, else those without)",
     .flag_only = true},
    {"tier", CLI_STRING, &o.tier, "NAME", "the rate limits of --tier NAME apply to it",
     .flag_only = true},
    {"expires", CLI_STRING, &o.expires, "TIME",
     "it is refused from then on: 90d, 12h, 30m, 2w (default: never)", .flag_only = true},
    CLI_OUTPUT_OPTION,
    {0}};

static int create_run(int argc, char **argv) {
    (void)argc, (void)argv;
    fo_err err = {0};
    static cli_list collections, groups;
    access_secret secret;
    key_spec spec = {.name = o.name, .tenant = o.tenant, .tier = o.tier};
    int rc = read_scopes(&spec.scopes, &err);
    if (!rc) rc = split(&o.collections, &collections, &err);
    if (!rc) rc = split(&o.groups, &groups, &err);
    if (!rc) rc = read_expires(&spec.expires_ms, &err);
    if (rc) return cli_fail(&err), 2;
    spec.collections = collections.items, spec.n_collections = collections.n;
    spec.groups = groups.items, spec.n_groups = groups.n;
    rc = keys_create(o.home, &spec, &secret, &err);
    if (rc) return cli_fail(&err), rc == FO_EINVAL ? 2 : 1;
    audit("keys create", secret.id);
    if (output_asked() != OUTPUT_TABLE) {
        fo_buf b = {0};
        json_out out = {&b, false};
        json_out_open(&out, NULL, '{');
        json_out_string(&out, "id", secret.id);
        json_out_string(&out, "key", secret.text);
        json_out_close(&out, '}');
        output_print(&b);
        fo_buf_free(&b);
        return 0;
    }
    printf("%s\n", secret.text);
    fprintf(stderr,
            "forage: this is the key %s; it is shown this once. Send it as\n"
            "  Authorization: Bearer KEY\n"
            "or give it to commands as FORAGE_KEY. 'forage keys revoke %s' takes it back.\n",
            secret.id, secret.id);
    return 0;
}

const cli_command cli_command_keys_create = {
    "keys create",
    "make a key: who has it may use a server of this home",
    "forage keys create --name NAME --scope read|ingest|admin|metrics [--home DIR]\n"
    "                   [--collections A,B] [--tenant T] [--groups G,H] [--tier NAME]\n"
    "                   [--expires TIME] [--output text|table|json|md]",
    "Once a home has a key its server asks everybody for one, on every address. The secret is\n"
    "not kept, only a salted hash of it, and is printed once. Scopes: read asks and looks;\n"
    "ingest brings documents in and takes them out; admin may do all of that, delete\n"
    "collections and see what others asked; metrics reads /metrics and /stats.",
    create_options,
    0,
    0,
    create_run};

/* ---- list ---------------------------------------------------------------------------------- */

static const cli_option list_options[] = {
    {"home", CLI_STRING, &o.home, "DIR", "default: home"},
    {"all", CLI_BOOL, &o.all, NULL, "revoked and expired ones too", .flag_only = true},
    CLI_OUTPUT_OPTION,
    {0}};

static void join(fo_buf *b, char *const *list, size_t n, const char *none) {
    fo_buf_clear(b);
    for (size_t i = 0; i < n; i++) fo_buf_printf(b, "%s%s", i ? "," : "", list[i]);
    if (!n) fo_buf_str(b, none);
}

static const output_column markdown_columns[] = {
    {"id"}, {"name"}, {"scopes"}, {"tenant"}, {"collections"}, {"groups"}, {"state"}};

static void print_key(const access_key *k, fo_buf *b) {
    fo_buf scopes = {0}, groups = {0};
    for (int i = ACCESS_READ; i <= ACCESS_METRICS; i++)
        if (k->scopes & 1u << i)
            fo_buf_printf(&scopes, "%s%s", scopes.len ? "," : "", access_scope_name(i));
    char until[48] = "; until ";
    log_time(until + strlen(until), k->expires_ms);
    join(b, k->collections, k->n_collections, "all collections");
    join(&groups, k->groups, k->n_groups, k->all_groups ? "all groups" : "no groups");
    const char *state = k->revoked_ms                                    ? "revoked"
                        : k->expires_ms && k->expires_ms <= log_now_ms() ? "expired"
                        : k->expires_ms                                  ? until + 2
                                                                         : "";
    if (output_asked() == OUTPUT_MARKDOWN)
        output_row(
            markdown_columns, 7,
            (const char *[]){k->id, k->name, scopes.data, k->tenant, b->data, groups.data, state});
    else
        printable_say(stdout, "%s  %-12s %-12s %-10s %s; %s%s%s%s%s", k->id, k->name,
                      scopes.data ? scopes.data : "", k->tenant, b->data ? b->data : "",
                      groups.data ? groups.data : "", k->tier ? "; tier " : "",
                      k->tier ? k->tier : "", *state ? "; " : "", state);
    fo_buf_free(&scopes);
    fo_buf_free(&groups);
}

static int list_run(int argc, char **argv) {
    (void)argc, (void)argv;
    fo_err err = {0};
    key_table *t = NULL;
    int rc = keys_read(&t, o.home, &err);
    /* Keys may lie where there is no store yet, but none at all may be a folder's name mistyped. */
    if (rc == FO_ENOTFOUND) rc = home_must_exist(o.home, &err);
    if (rc) return cli_fail(&err);
    if (output_asked() == OUTPUT_MARKDOWN) output_head(markdown_columns, 7);
    fo_buf b = {0};
    json_out out = {&b, false};
    json_out_open(&out, NULL, '{');
    json_out_open(&out, "data", '[');
    fo_buf line = {0};
    size_t n = 0;
    for (size_t i = 0; t && i < key_table_count(t); i++) {
        const access_key *k = key_table_at(t, i);
        if (!access_key_in_force(k, log_now_ms()) && !o.all) continue;
        n++;
        if (output_is_json())
            access_key_write(&out, k);
        else
            print_key(k, &line);
    }
    json_out_close(&out, ']');
    json_out_close(&out, '}');
    if (output_is_json()) output_print(&b);
    if (!n)
        fprintf(stderr, "no keys%s\n",
                t && key_table_count(t) ? " in force (--all lists all)" : "");
    fo_buf_free(&line);
    fo_buf_free(&b);
    key_table_drop(t);
    return 0;
}

const cli_command cli_command_keys_list = {
    "keys list",
    "the keys of a home, without their secrets",
    "forage keys list [--home DIR] [--all] [--output text|table|json|md]",
    NULL,
    list_options,
    0,
    0,
    list_run};

/* ---- revoke -------------------------------------------------------------------------------- */

static const cli_option revoke_options[] = {
    {"home", CLI_STRING, &o.home, "DIR", "default: home"}, CLI_OUTPUT_OPTION, {0}};

/* The id of a key that was typed as it is sent, which may be all that is left of one that was found: its first half says it.
 * out has room for 20. Else what was typed. */
static const char *id_of(const char *typed, char *out) {
    size_t n = 0;
    if (strncmp(typed, "fk_", 3)) return typed;
    while (n < 16 && fo_hex_digit(typed[3 + n]) >= 0) n++;
    if (n < 16 || typed[3 + n] != '_') return typed;
    snprintf(out, 20, "k_%.16s", typed + 3);
    return out;
}

/* Names may be those of several keys, so none is revoked by its own; but which ones have it is said. */
static void name_those_called(const char *name, fo_err *err) {
    key_table *t = NULL;
    fo_err ignored;
    fo_buf ids = {0};
    size_t n = 0;
    enum { SHOWN = 3 };
    if (keys_read(&t, o.home, &ignored)) return;
    for (size_t i = 0; t && i < key_table_count(t); i++) {
        const access_key *k = key_table_at(t, i);
        if (!access_key_in_force(k, log_now_ms()) || !k->name || strcmp(k->name, name)) continue;
        if (n++ < SHOWN) fo_buf_printf(&ids, "%s%s", n > 1 ? ", " : "", k->id);
    }
    if (n && ids.data)
        fo_fail_field(err, FO_ENOTFOUND, "id",
                      "'%.40s' is the name of %s%s; a key is revoked by its id", name, ids.data,
                      n > SHOWN ? " and others" : "");
    fo_buf_free(&ids);
    key_table_drop(t);
}

static int revoke_run(int argc, char **argv) {
    (void)argc;
    fo_err err = {0};
    char room[20];
    const char *id = id_of(argv[0], room);
    int rc = keys_revoke(o.home, id, &err);
    if (rc == FO_ENOTFOUND) name_those_called(argv[0], &err);
    if (rc) return cli_fail(&err);
    audit("keys revoke", id);
    if (output_asked() == OUTPUT_TABLE) {
        printable_say(stdout, "%s is revoked", id);
        return 0;
    }
    fo_buf b = {0};
    json_out out = {&b, false};
    json_out_open(&out, NULL, '{');
    json_out_string(&out, "id", id);
    json_out_bool(&out, "revoked", true);
    json_out_close(&out, '}');
    output_print(&b);
    fo_buf_free(&b);
    return 0;
}

const cli_command cli_command_keys_revoke = {
    "keys revoke",
    "take a key back: a running server refuses it within a second",
    "forage keys revoke ID [--home DIR] [--output text|table|json|md]",
    "ID is what 'forage keys list' shows, or the key itself as it is sent. Where all keys of a "
    "home are\n"
    "revoked, its server lets nobody in.",
    revoke_options,
    1,
    1,
    revoke_run};
