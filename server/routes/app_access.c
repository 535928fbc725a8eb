/* Who asks, and whether they may: see server/access/keys.h for what a key is good for.
 *
 * Where no keys are asked for, nobody has a grant, and everything is allowed; app_admit has seen to
 * it that nobody else comes without one, but to routes that are open to all. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/model/model_memory.h"
#include "server/access/audit.h"
#include "server/base/log.h"
#include "server/routes/app.h"

/* What a request holds as long as it lasts. */
typedef struct caller {
    access_grant *grant; /* NULL: nobody's in particular */
    bool stranger;       /* keys are asked for, and it came without one that is known */
    bool refused;        /* by app_admit: nothing was done */
    rate_limits *limits;
    rate_ticket of_key, of_address;
} caller;

static void caller_free(void *of_request) {
    caller *c = of_request;
    if (c->limits) {
        rate_limits_done(c->limits, &c->of_key);
        rate_limits_done(c->limits, &c->of_address);
    }
    access_grant_drop(c->grant);
    free(c);
}

static access_grant *grant_of(const http_request *r) {
    const caller *c = r ? http_caller(r) : NULL;
    return c ? c->grant : NULL;
}

access_grant *app_grant(const http_request *r) {
    return grant_of(r);
}

void app_charge(const http_request *r, size_t tokens) {
    const caller *c = http_caller(r);
    if (!c || !c->limits || !tokens) return;
    rate_limits_charge(c->limits, &c->of_key, (double)tokens);
    rate_limits_charge(c->limits, &c->of_address, (double)tokens);
}

/* "Bearer KEY"; NULL: there is none. */
static const char *sent_key(const http_request *r) {
    const char *h = http_header(r, "Authorization");
    if (!h || strncasecmp(h, "Bearer", 6) || h[6] != ' ') return NULL;
    h += 6 + strspn(h + 6, " ");
    return *h ? h : NULL;
}

static bool refuse_stranger(app *a, http_request *r, const char *sent) {
    metrics_refused(a->metrics, sent ? METRICS_KEY_UNKNOWN : METRICS_KEY_MISSING);
    http_set_header(r, "WWW-Authenticate",
                    sent ? "Bearer realm=\"forage\", error=\"invalid_token\""
                         : "Bearer realm=\"forage\"");
    if (sent)
        http_error(r, 401, "unknown_key", "Authorization",
                   "this key is not known here: it is another server's, it was revoked, or its "
                   "time is over");
    else
        http_error(r, 401, "no_key", "Authorization",
                   "this server asks for a key: send Authorization: Bearer KEY "
                   "('forage keys create' makes one; commands take it from FORAGE_KEY)");
    return false;
}

static bool refuse_scope(app *a, http_request *r, const access_key *k, int scope) {
    metrics_refused(a->metrics, METRICS_SCOPE_MISSING);
    const char *needed = access_scope_name(scope == ACCESS_OPERATE ? ACCESS_ADMIN : scope);
    if (scope >= ACCESS_METRICS && (strcmp(k->tenant, ACCESS_OWNER) || k->n_collections))
        http_error(r, 403, "missing_scope", "scope",
                   "this concerns the whole process: it needs a key of the tenant " ACCESS_OWNER
                   " with the scope %s, for all collections",
                   needed);
    else
        http_error(r, 403, "missing_scope", "scope",
                   "this key (%s) lacks the scope %s; 'forage keys create --scope %s' makes one "
                   "that has it",
                   k->id, needed, needed);
    return false;
}

static bool refuse_rate(app *a, http_request *r, const rate_tier *t, const rate_refusal *no,
                        bool of_key) {
    metrics_limited(a->metrics, of_key, no->limit);
    static const char *const units[] = {"requests a second", "tokens a minute",
                                        "requests at work at once"};
    static const char *const one[] = {"request a second", "token a minute",
                                      "request at work at once"};
    const double most[] = {t->requests_per_s, t->tokens_per_min, t->concurrent};
    char seconds[32];
    double wait = ceil(no->retry_s);
    snprintf(seconds, sizeof seconds, "%.0f", wait < 1 ? 1 : wait);
    http_set_header(r, "Retry-After", seconds);
    http_error(r, 429, "rate_limit_exceeded", rate_limit_name(no->limit),
               "this %s may have %g %s (tier %s); try again in %s s", of_key ? "key" : "address",
               most[no->limit], most[no->limit] == 1 ? one[no->limit] : units[no->limit], t->name,
               seconds);
    return false;
}

/* Whether it counts among those at work, and takes tokens. */
static bool computes(const http_route *route, const caller *c) {
    return !c->stranger && route->lane == HTTP_LANE_QUERY && route->body != HTTP_BODY_NONE;
}

/* No more requests than the address may send, known or not: it slows those who try keys. */
static bool address_within_limits(app *a, http_request *r, const http_route *route, caller *c) {
    if (!a->limits || route->scope == ACCESS_OPEN) return true;
    rate_refusal no;
    unsigned char at[16];
    static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};
    http_peer(r, at);
    size_t n = memcmp(at, mapped, sizeof mapped) == 0 ? 16 : 8; /* who has one of IPv6 has a /64 */
    return rate_limits_admit(a->limits, at, n, a->address_tier, computes(route, c), &c->of_address,
                             &no) ||
           refuse_rate(a, r, a->address_tier, &no, false);
}

static bool key_within_limits(app *a, http_request *r, const http_route *route, caller *c) {
    if (!a->limits || route->scope == ACCESS_OPEN || !c->grant) return true;
    rate_refusal no;
    const access_key *k = c->grant->key;
    const rate_tier *t = k->tier ? rate_limits_tier(a->limits, k->tier) : NULL;
    if (!t) t = a->default_tier;
    return rate_limits_admit(a->limits, k->id, KEY_ID_CHARS, t, computes(route, c), &c->of_key,
                             &no) ||
           refuse_rate(a, r, t, &no, true);
}

/* What comes with a body waits until there is memory again: the kernel would end the whole process. */
static bool has_memory(app *a, http_request *r, const http_route *route) {
    enum { LOOK_MS = 250 };
    if (!a->min_free_memory || route->body == HTTP_BODY_NONE) return true;
    int64_t now = log_now_ms();
    if (llabs(now - atomic_load(&a->memory_looked_ms)) > LOOK_MS) {
        atomic_store(&a->memory_looked_ms, now);
        uint64_t left = model_memory_available(); /* 0: not known */
        bool low = left && left < a->min_free_memory;
        if (atomic_exchange(&a->memory_low, low) != low)
            log_event(low ? LOG_LEVEL_ERROR : LOG_LEVEL_INFO, NULL,
                      low ? "memory_low" : "memory_back", LOG_INT("wanted", a->min_free_memory));
    }
    if (!atomic_load(&a->memory_low)) return true;
    metrics_refused(a->metrics, METRICS_MEMORY_LOW);
    http_error(r, 503, "memory_low", NULL,
               "the machine has less than %llu MiB of memory left (--min-free-memory); try again",
               (unsigned long long)a->min_free_memory >> 20);
    return false;
}

/* Of JSON for /ingest, as of all that is gathered before it is read: who says how much comes need not send it. */
static bool length_taken(app *a, http_request *r, const http_route *route) {
    const char *length = http_header(r, "Content-Length");
    if (route->handler != route_ingest || strcmp(http_body_type(r), "application/json") != 0 ||
        !length || strtoull(length, NULL, 10) <= a->max_document_bytes)
        return true;
    http_error(
        r, 413, "too_large", NULL,
        "the body has %.20s bytes, more than the %zu of --max-body; application/x-ndjson and plain "
        "text may be of any length",
        length, a->max_document_bytes);
    return false;
}

/* What is refused for want of a scope counts among the key's requests too: it costs a reply as others do. */
static bool admit_caller(app *a, http_request *r, const http_route *route, caller *c,
                         const char *sent) {
    const bool closed = route->scope != ACCESS_OPEN;
    if (!address_within_limits(a, r, route, c)) return false;
    if (c->stranger && closed) return refuse_stranger(a, r, sent);
    if (!key_within_limits(a, r, route, c)) return false;
    if (c->grant && closed && !access_key_has(c->grant->key, route->scope))
        return refuse_scope(a, r, c->grant->key, route->scope);
    return has_memory(a, r, route) && length_taken(a, r, route);
}

bool app_admit(void *app_of_routes, http_request *r, const http_route *route) {
    app *a = app_of_routes;
    bool on = a->keys && key_ring_on(a->keys);
    const char *sent = on ? sent_key(r) : NULL;
    caller *c = calloc(1, sizeof *c);
    if (!c) {
        http_error(r, 500, "internal", NULL, "out of memory");
        return false;
    }
    access_grant *grant = sent ? key_ring_admit(a->keys, sent) : NULL;
    *c = (caller){.grant = grant,
                  .stranger = on && !grant,
                  .limits = a->limits,
                  .of_key = RATE_NO_TICKET,
                  .of_address = RATE_NO_TICKET};
    http_set_caller(r, c, caller_free);
    c->refused = !admit_caller(a, r, route, c, sent);
    return !c->refused;
}

const char *app_tenant(const http_request *r) {
    const access_grant *g = grant_of(r);
    return g ? g->key->tenant : ACCESS_OWNER;
}

const char *app_owner(const http_request *r) {
    const access_grant *g = grant_of(r);
    return g ? g->key->name : "";
}

const search_filter *app_sees(const http_request *r) {
    const access_grant *g = grant_of(r);
    return g ? g->key->sees : NULL;
}

bool app_may(app *a, const http_request *r, int scope) {
    const access_grant *g = grant_of(r);
    if (g) return access_key_has(g->key, scope);
    return !a->keys || !key_ring_on(a->keys);
}

bool app_may_use(const http_request *r, const char *collection) {
    const access_grant *g = grant_of(r);
    return !g || access_key_may_use(g->key, collection);
}

int app_collections(const http_request *r, char **out, fo_err *err) {
    const access_grant *g = grant_of(r);
    fo_buf b = {0};
    *out = NULL;
    if (!g || !g->key->n_collections) return FO_OK;
    for (size_t i = 0; i < g->key->n_collections; i++)
        fo_buf_printf(&b, "%s%s", i ? "," : "", g->key->collections[i]);
    *out = fo_buf_take(&b, NULL);
    return *out ? FO_OK : fo_no_memory(err);
}

int app_no_collection(const char *collection, fo_err *err) {
    return fo_fail_field(err, FO_ENOTFOUND, "collection", "collection '%s' does not exist",
                         collection);
}

const char *app_key_id(const http_summary *s) {
    const caller *c = s->caller;
    return c && c->grant ? c->grant->key->id : NULL;
}

static void write_act(app *a, const audit_act *did, const char *request_id) {
    fo_err err = {0};
    if (audit_write(service_home(a->service), did, &err))
        log_event(LOG_LEVEL_ERROR, request_id, "audit", LOG_STR("error", err.msg));
}

/* One line for all that a key was refused in a minute beyond those that have one of their own. */
static void write_left_out(app *a, double now_ms) {
    audit_refused some;
    while (audit_refusals_due(&a->refusals, now_ms, &some))
        write_act(a,
                  &(audit_act){.act = "refused",
                               .what = "more requests",
                               .who = *some.who ? some.who : NULL,
                               .tenant = *some.tenant ? some.tenant : NULL,
                               .refused = true,
                               .left_out = some.n},
                  NULL);
}

void app_audit_rest(app *a) {
    if (a->audits) write_left_out(a, INFINITY);
}

void app_audit(void *ctx, const http_summary *s) {
    app *a = ctx;
    const http_route *t = s->route;
    bool bulk = t && !strcmp(t->method, "DELETE") && !strcmp(t->pattern, "/documents");
    bool admin = t && (t->scope == ACCESS_ADMIN || t->scope == ACCESS_OPERATE);
    if (!a->audits) return;
    const double now_ms = (double)s->ended_us / 1000;
    write_left_out(a, now_ms);
    if (!(bulk || admin) || !strcmp(t->method, "GET")) return;
    const caller *c = s->caller;
    if (c && c->stranger) return; /* nothing was done; else anybody could push the log out */
    const access_grant *g = c ? c->grant : NULL;
    char act[128];
    snprintf(act, sizeof act, "%s %s", t->method, t->pattern);
    audit_act did = {.act = act,
                     .what = s->path,
                     .who = g ? g->key->id : NULL,
                     .tenant = g ? g->key->tenant : NULL,
                     .from = s->peer,
                     .status = s->status,
                     .refused = c && c->refused};
    if (did.refused && !audit_refusals_take(&a->refusals, did.who, did.tenant, now_ms)) return;
    write_act(a, &did, s->request_id);
}

bool app_check_collection(http_request *r, const char *collection) {
    if (app_may_use(r, collection)) return true;
    fo_err err = {0};
    app_no_collection(collection, &err);
    http_error_from(r, &err);
    return false;
}

int app_may_write(const access_grant *g, const char *collection, fo_err *err) {
    if (!g || access_key_may_use(g->key, collection)) return FO_OK;
    return fo_fail_field(err, FO_EDENIED, "collection",
                         "this key (%s) may not use the collection '%.64s'", g->key->id,
                         collection);
}

const char *app_collection_arg(http_request *r) {
    const char *c = http_arg(r, "collection");
    if (!c) c = "default";
    if (!service_name_valid(c)) {
        http_error(r, 400, "bad_field", "collection",
                   "collection must be 1 to 64 of A-Z a-z 0-9 _ - . and not begin with a dot");
        return NULL;
    }
    return app_check_collection(r, c) ? c : NULL;
}
