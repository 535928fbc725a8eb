/* The ledger of commits (ledger.h) and the database, held against each other as a store opens, and
 * kept together from then on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "data/sqlite/sqlite_internal.h"

/* ---- what the database says --------------------------------------------------------------- */

typedef struct home_row {
    bool there; /* false: a database that is empty, or older than its ledger would be */
    unsigned char store[16];
    int64_t commits;
} home_row;

static int read_home(sqlite_conn *c, home_row *out, fo_err *err) {
    *out = (home_row){0};
    sqlite3_stmt *st;
    int rc = sqlite_query(c, &st, err, "SELECT 1 FROM sqlite_schema WHERE name = 'home'", "");
    if (!rc) rc = sqlite_step(c, st, err);
    if (rc != 1) return rc;
    sqlite3_reset(st);
    rc = sqlite_query(c, &st, err, "SELECT store, commits FROM home WHERE id = 1", "");
    if (!rc) rc = sqlite_step(c, st, err);
    if (rc == 0) rc = fo_fail(err, FO_ECORRUPT, "the database is damaged: table home is empty");
    if (rc < 0) return rc;
    if (sqlite3_column_bytes(st, 0) == sizeof out->store)
        memcpy(out->store, sqlite3_column_blob(st, 0), sizeof out->store);
    out->commits = sqlite3_column_int64(st, 1);
    out->there = true;
    sqlite3_reset(st);
    return FO_OK;
}

static int read_state(sqlite_conn *c, int64_t id, ledger_state *out, fo_err *err) {
    *out = (ledger_state){.collection = id};
    sqlite3_stmt *st;
    int rc = sqlite_query(c, &st, err,
                          "SELECT epoch, n_documents, n_chunks, tenant, name FROM collections "
                          "WHERE id = ?",
                          "i", id);
    if (!rc) rc = sqlite_step(c, st, err);
    if (rc == 0) out->deleted = true;
    if (rc != 1) return rc;
    out->epoch = sqlite3_column_int64(st, 0);
    out->n_documents = sqlite3_column_int64(st, 1);
    out->n_chunks = sqlite3_column_int64(st, 2);
    strncpy(out->tenant, (const char *)sqlite3_column_text(st, 3), sizeof out->tenant - 1);
    strncpy(out->name, (const char *)sqlite3_column_text(st, 4), sizeof out->name - 1);
    sqlite3_reset(st);
    return FO_OK;
}

static int read_states(sqlite_conn *c, ledger_state **out, size_t *n, fo_err *err) {
    *out = NULL;
    *n = 0;
    size_t cap = 0;
    sqlite3_stmt *st;
    int rc = sqlite_query(c, &st, err, "SELECT id FROM collections ORDER BY id", "");
    while (!rc && (rc = sqlite_step(c, st, err)) == 1) {
        if (*n == cap) {
            cap = cap ? 2 * cap : 64;
            ledger_state *grown = realloc(*out, cap * sizeof *grown);
            if (!grown) {
                sqlite3_reset(st);
                rc = fo_no_memory(err);
                break;
            }
            *out = grown;
        }
        rc = read_state(c, sqlite3_column_int64(st, 0), &(*out)[*n], err);
        ++*n;
        if (rc) sqlite3_reset(st);
    }
    if (!rc) return FO_OK;
    free(*out);
    *out = NULL;
    return rc;
}

/* ---- opening ----------------------------------------------------------------------------- */

/* What became of the collections, for the sentence about a loss: the worst of them. */
static int describe_loss(sqlite_conn *c, const ledger_view *v, const home_row *home, char *out,
                         size_t size, fo_err *err) {
    int64_t worst = 0;
    out[0] = 0;
    for (size_t i = 0; i < v->n; i++) {
        const ledger_state *was =
            ledger_at(v, v->entries[i].now.collection, v->done ? v->last : v->last - 1);
        ledger_state is = {.deleted = true};
        if (!was) continue;
        int rc = home->there ? read_state(c, was->collection, &is, err) : FO_OK;
        if (rc) return rc;
        int64_t lost = was->epoch - is.epoch;
        if (lost <= worst) continue;
        worst = lost;
        snprintf(out, size,
                 "; collection '%s' stood at epoch %lld with %lld documents, here at %lld with "
                 "%lld",
                 was->name, (long long)was->epoch, (long long)was->n_documents, (long long)is.epoch,
                 (long long)is.n_documents);
    }
    return FO_OK;
}

/* Collections as the ledger has them, where both stand at the same commit. */
static int compare_states(sqlite_conn *c, const sqlite_options *opt, const ledger_view *v,
                          int64_t commit, fo_err *err) {
    ledger_state *states;
    size_t n, n_known = 0, n_there = 0;
    int rc = read_states(c, &states, &n, err);
    for (size_t i = 0; !rc && i < n; i++) {
        const ledger_state *l = ledger_at(v, states[i].collection, commit);
        n_there += l != NULL;
        if (l && l->epoch == states[i].epoch && l->n_documents == states[i].n_documents &&
            l->n_chunks == states[i].n_chunks && strcmp(l->name, states[i].name) == 0 &&
            strcmp(l->tenant, states[i].tenant) == 0)
            continue;
        fo_notice(&opt->store.notices, "counts_differ",
                  "collection '%s' is not as its last commit left it: the ledger says epoch %lld, "
                  "%lld documents, %lld chunks, the database %lld, %lld, %lld",
                  states[i].name, l ? (long long)l->epoch : -1, l ? (long long)l->n_documents : -1,
                  l ? (long long)l->n_chunks : -1, (long long)states[i].epoch,
                  (long long)states[i].n_documents, (long long)states[i].n_chunks);
    }
    for (size_t i = 0; i < v->n; i++) {
        const ledger_state *l = ledger_at(v, v->entries[i].now.collection, commit);
        n_known += l != NULL;
    }
    if (!rc && n_known > n_there)
        fo_notice(&opt->store.notices, "counts_differ",
                  "%zu collections that the ledger knows are gone from the database",
                  n_known - n_there);
    free(states);
    return rc;
}

static int refuse_loss(sqlite_conn *c, const sqlite_options *opt, const ledger_view *v,
                       const home_row *home, bool other, fo_err *err) {
    char what[300];
    int rc = describe_loss(c, v, home, what, sizeof what, err);
    if (rc) return rc;
    fo_err text = {0};
    if (other)
        fo_fail(&text, FO_ECORRUPT, "the database is not the one whose commits %s knows%s",
                opt->ledger, what);
    else
        fo_fail(&text, FO_ECORRUPT,
                "acknowledged commits are gone: number %lld was the last, the database ends with "
                "%lld%s",
                (long long)(v->done ? v->last : v->last - 1), (long long)home->commits, what);
    if (opt->store.read_only || opt->store.accept_loss) {
        fo_notice(&opt->store.notices, "commits_lost", "%s", text.msg);
        return FO_OK;
    }
    if (err) *err = text;
    return FO_ECORRUPT;
}

int sqlite_ledger_check(sqlite_store *s, sqlite_conn *c, const sqlite_options *opt,
                        ledger_view *view, fo_err *err) {
    *view = (ledger_view){0};
    if (!s->ledger_path) return FO_OK;
    const fo_notices *tell = &opt->store.notices;
    fo_err why = {0};
    home_row home;
    /* First the ledger, then the database: beside a writer what the ledger acknowledges is there, then. */
    int got = ledger_read(s->ledger_path, view, &why);
    if (got == FO_ENOMEM || got == FO_EIO) {
        if (err) *err = why;
        return got;
    }
    int rc = read_home(c, &home, err);
    if (rc) return rc;
    if (got == FO_ENOTFOUND) {
        if (home.there && home.commits > 0)
            fo_notice(tell, "ledger_missing",
                      "%s is gone: nothing says which commits were acknowledged", s->ledger_path);
        return FO_OK;
    }
    if (got != FO_OK) {
        fo_notice(tell, "ledger_damaged", "%s", why.msg);
        return FO_OK;
    }
    int64_t made = view->done ? view->last : view->last - 1;
    bool other = home.there && memcmp(home.store, view->store, sizeof home.store) != 0;
    if (!home.there || other || home.commits < made)
        return refuse_loss(c, opt, view, &home, other, err);
    if (home.commits > view->last) {
        fo_notice(tell, "ledger_short",
                  "%s ends with commit %lld, the database with %lld: it was cut off, or a power "
                  "cut has taken its end",
                  s->ledger_path, (long long)view->last, (long long)home.commits);
        return FO_OK;
    }
    if (home.commits < view->last)
        fo_notice(tell, "commit_unfinished",
                  "commit %lld had been begun when the process before this one ended, and is not "
                  "there: it was cut short (or the power went right behind it, on a disk that "
                  "does not keep what it synced)",
                  (long long)view->last);
    return compare_states(c, opt, view, home.commits, err);
}

/* ---- opening beside a writer -------------------------------------------------------------- */

/* What is said is damage only where every look says it. A writer's commit is begun in the ledger, made, and
 * noted as made: these are three moments, and the next commit moves what was said of the one before. */
enum { LOOKS = 12, PAUSE_MS = 50 };

typedef struct said {
    char *kind, *text;
    bool again; /* by the look at hand, too */
} said;

typedef struct looks {
    int n;
    said *list; /* what every look before the one at hand said */
    size_t n_said;
    bool failed; /* no memory */
} looks;

static void hear(void *ctx, const char *kind, const char *text) {
    looks *l = ctx;
    for (size_t i = 0; i < l->n_said; i++)
        l->list[i].again |= !strcmp(l->list[i].kind, kind) && !strcmp(l->list[i].text, text);
    if (l->n) return;
    said *grown = realloc(l->list, (l->n_said + 1) * sizeof *grown);
    l->failed |= !grown;
    if (!grown) return;
    l->list = grown;
    const said s = {strdup(kind), strdup(text), true};
    if (s.kind && s.text) {
        grown[l->n_said++] = s;
        return;
    }
    l->failed = true;
    free(s.kind);
    free(s.text);
}

/* A look ends: what it did not say goes. */
static void keep_repeated(looks *l) {
    size_t n = 0;
    for (size_t i = 0; i < l->n_said; i++) {
        if (l->list[i].again) {
            l->list[n] = l->list[i];
            l->list[n++].again = false;
        } else {
            free(l->list[i].kind);
            free(l->list[i].text);
        }
    }
    l->n_said = n;
    l->n++;
}

/* The database in one snapshot, which the first statement takes: behind the reading of the ledger. */
static int look(sqlite_store *s, sqlite_conn *c, const sqlite_options *opt, fo_err *err) {
    ledger_view view = {0};
    int rc = sqlite_run(c, err, "BEGIN", "");
    if (!rc) rc = sqlite_ledger_check(s, c, opt, &view, err);
    ledger_view_deinit(&view);
    if (!sqlite3_get_autocommit(c->db)) {
        int ended = sqlite_run(c, rc ? NULL : err, "ROLLBACK", "");
        if (!rc) rc = ended;
    }
    return rc;
}

int sqlite_ledger_look(sqlite_store *s, sqlite_conn *c, const sqlite_options *opt, fo_err *err) {
    looks l = {0};
    sqlite_options mine = *opt;
    mine.store.notices = (fo_notices){hear, &l};
    int rc = FO_OK;
    do {
        struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000L};
        if (l.n) nanosleep(&pause, NULL);
        rc = look(s, c, &mine, err);
        if (!rc && l.failed) rc = fo_no_memory(err);
        if (!rc) keep_repeated(&l);
    } while (!rc && l.n_said && l.n < LOOKS && !s->unchanging);
    for (size_t i = 0; i < l.n_said; i++) {
        if (!rc) fo_notice(&opt->store.notices, l.list[i].kind, "%s", l.list[i].text);
        free(l.list[i].kind);
        free(l.list[i].text);
    }
    free(l.list);
    return rc;
}

/* ---- after opening ------------------------------------------------------------------------ */

/* Past everything that was ever acknowledged under these numbers. */
static int raise_epochs(sqlite_store *s, const ledger_view *v, fo_err *err) {
    int rc = FO_OK;
    if (s->commits < v->last) s->commits = v->last;
    for (size_t i = 0; !rc && i < v->n; i++)
        rc = sqlite_run(s->writer, err,
                        "UPDATE collections SET epoch = ?2 + 1 "
                        "WHERE id = ?1 AND epoch < ?2",
                        "ii", v->entries[i].now.collection, v->entries[i].now.epoch);
    if (!rc) rc = sqlite_run(s->writer, err, "UPDATE home SET commits = ?", "i", s->commits);
    return rc;
}

/* Also in place of one that has grown long; where that fails the old one goes on. */
static int make_ledger(sqlite_store *s, fo_err *err) {
    home_row home;
    ledger_state *states = NULL;
    ledger *made = NULL;
    size_t n;
    int rc = read_home(s->writer, &home, err);
    if (!rc) rc = read_states(s->writer, &states, &n, err);
    if (!rc) rc = ledger_create(&made, s->ledger_path, home.store, s->commits, states, n, err);
    free(states);
    if (!made) return rc;
    ledger_close(s->ledger);
    s->ledger = made;
    return rc;
}

int sqlite_ledger_start(sqlite_store *s, const sqlite_options *opt, const ledger_view *view,
                        fo_err *err) {
    home_row home;
    int rc = read_home(s->writer, &home, err);
    if (rc) return rc;
    s->commits = home.commits;
    if (!s->ledger_path) return FO_OK;
    if (opt->store.accept_loss) rc = raise_epochs(s, view, err);
    return !rc ? make_ledger(s, err) : rc;
}

/* ---- a commit ---------------------------------------------------------------------------- */

static int begin_commit(sqlite_txn *t, int64_t number, fo_err *err) {
    sqlite_store *s = t->s;
    ledger_state *states = malloc((t->n_noted + 1) * sizeof *states);
    int rc = states ? FO_OK : fo_no_memory(err);
    for (size_t i = 0; !rc && i < t->n_noted; i++)
        rc = read_state(t->c, t->noted[i], &states[i], err);
    if (!rc) rc = ledger_begin(s->ledger, number, states, t->n_noted, err);
    free(states);
    return rc;
}

int sqlite_ledger_commit(sqlite_txn *t, fo_err *err) {
    sqlite_store *s = t->s;
    /* Where the commit before failed, what changed nothing is acknowledged by a commit of its own, too: else
     * "it is not there" would be said of what the log still holds. */
    if (sqlite3_total_changes64(t->c->db) == t->changes && !atomic_load(&s->unsure))
        return sqlite_run(t->c, err, "COMMIT", "");
    int64_t number = s->commits + 1;
    int rc = sqlite_run(t->c, err, "UPDATE home SET commits = ?", "i", number);
    if (!rc && s->ledger) rc = begin_commit(t, number, err);
    if (rc) return rc;
    rc = sqlite_run(t->c, err, "COMMIT", "");
    atomic_store(&s->unsure, rc != FO_OK);
    fo_err why = {0};
    if (s->ledger && ledger_end(s->ledger, number, !rc, &why) != FO_OK)
        fo_notice(&s->notices, "ledger_failed", "commit %lld: %s", (long long)number, why.msg);
    if (!rc) s->commits = number;
    if (!rc && s->ledger && ledger_is_long(s->ledger) && make_ledger(s, &why) != FO_OK)
        fo_notice(&s->notices, "ledger_failed", "it has grown long and cannot be made anew: %s",
                  why.msg);
    return rc;
}
