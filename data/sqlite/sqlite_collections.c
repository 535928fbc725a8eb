/* Collections: their rows, their counts and epochs. */
#include "data/sqlite/sqlite_internal.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/clock.h"

#define COLUMNS                                                                                    \
    "id, tenant, name, language, embedder, dim, alpha, epoch, n_documents, n_chunks, created_ms, " \
    "min_support"

static int read_row(sqlite3_stmt *st, store_collection *out, fo_err *err) {
    bool oom = false;
    *out = (store_collection){
        .id = sqlite3_column_int64(st, 0),
        .tenant = sqlite_column(st, 1, &oom),
        .name = sqlite_column(st, 2, &oom),
        .language = sqlite_column(st, 3, &oom),
        .embedder = sqlite_column(st, 4, &oom),
        .dim = (uint32_t)sqlite3_column_int64(st, 5),
        .alpha = sqlite3_column_double(st, 6),
        .epoch = sqlite3_column_int64(st, 7),
        .n_documents = sqlite3_column_int64(st, 8),
        .n_chunks = sqlite3_column_int64(st, 9),
        .created_ms = sqlite3_column_int64(st, 10),
        .min_support = sqlite3_column_double(st, 11),
    };
    if (!oom) return FO_OK;
    store_collection_deinit(out);
    return fo_no_memory(err);
}

static int no_such_collection(const char *name, fo_err *err) {
    return fo_fail_field(err, FO_ENOTFOUND, "collection", "collection '%s' does not exist", name);
}

static int get_by_name(sqlite_conn *c, const char *tenant, const char *name, store_collection *out,
                       fo_err *err) {
    sqlite3_stmt *st;
    int rc = sqlite_query(c, &st, err,
                          "SELECT " COLUMNS " FROM collections WHERE tenant = ? AND name = ?", "ss",
                          tenant, name);
    if (rc) return rc;
    rc = sqlite_step(c, st, err);
    if (rc == 0) return no_such_collection(name, err);
    if (rc < 0) return rc;
    rc = read_row(st, out, err);
    sqlite3_reset(st);
    return rc;
}

int sqlite_get_collection(store *base, const char *tenant, const char *name, store_collection *out,
                          fo_err *err) {
    sqlite_store *s = sqlite_of(base);
    sqlite_conn *c;
    int rc = sqlite_reader(s, false, &c, err);
    if (rc) return rc;
    rc = get_by_name(c, tenant, name, out, err);
    sqlite_reader_release(s, c);
    return rc;
}

/* The ledger shall know this collection as it is when t commits. */
static int note(sqlite_txn *t, int64_t collection, fo_err *err) {
    for (size_t i = 0; i < t->n_noted; i++)
        if (t->noted[i] == collection) return FO_OK;
    int64_t *grown = realloc(t->noted, (t->n_noted + 1) * sizeof *grown);
    if (!grown) return fo_no_memory(err);
    t->noted = grown;
    t->noted[t->n_noted++] = collection;
    return FO_OK;
}

int sqlite_create_collection(store *base, const char *tenant, const char *name,
                             const char *language, store_collection *out, fo_err *err) {
    sqlite_store *s = sqlite_of(base);
    sqlite_txn *t;
    int rc = sqlite_txn_begin(s, &t, err);
    if (rc) return rc;
    rc = sqlite_run(t->c, err,
                    "INSERT INTO collections (tenant, name, language, created_ms) "
                    "VALUES (?, ?, ?, ?)",
                    "sssi", tenant, name, language ? language : "english", fo_unix_ms());
    if (rc == FO_ECONFLICT)
        fo_fail_field(err, FO_ECONFLICT, "collection", "collection '%s' exists already", name);
    store_collection made = {0};
    if (!rc) rc = get_by_name(t->c, tenant, name, &made, err);
    if (!rc) rc = note(t, made.id, err);
    if (rc) {
        sqlite_txn_rollback(t);
        return rc;
    }
    rc = sqlite_txn_commit(t, err);
    if (!rc && out)
        *out = made;
    else
        store_collection_deinit(&made);
    return rc;
}

int sqlite_delete_collection(store *base, const char *tenant, const char *name,
                             const atomic_bool *cancel, fo_err *err) {
    sqlite_store *s = sqlite_of(base);
    sqlite_txn *t;
    int rc = sqlite_txn_begin_until(s, cancel, &t, err);
    if (rc) return rc;
    store_collection going = {0};
    rc = get_by_name(t->c, tenant, name, &going, err);
    if (!rc) rc = note(t, going.id, err);
    if (!rc) rc = sqlite_run(t->c, err, "DELETE FROM collections WHERE id = ?", "i", going.id);
    store_collection_deinit(&going);
    if (rc) {
        sqlite_txn_rollback(t);
        return rc;
    }
    return sqlite_txn_commit(t, err);
}

/* The rows of a query that was begun, to its end. */
static int read_rows(sqlite_conn *c, sqlite3_stmt *st, int rc, store_collection **out, size_t *n,
                     fo_err *err) {
    store_collection *list = NULL;
    size_t count = 0, cap = 0;
    while (!rc && (rc = sqlite_step(c, st, err)) == 1) {
        rc = FO_OK;
        if (count == cap) {
            cap = cap ? cap * 2 : 16;
            store_collection *grown = realloc(list, cap * sizeof *grown);
            if (!grown) {
                rc = fo_no_memory(err);
            } else {
                list = grown;
            }
        }
        if (!rc) rc = read_row(st, &list[count], err);
        if (rc) {
            sqlite3_reset(st);
            break;
        }
        count++;
    }
    if (rc < 0) {
        for (size_t i = 0; i < count; i++) store_collection_deinit(&list[i]);
        free(list);
        return rc;
    }
    *out = list;
    *n = count;
    return FO_OK;
}

int sqlite_list_collections(store *base, const char *tenant, store_collection **out, size_t *n,
                            fo_err *err) {
    sqlite_store *s = sqlite_of(base);
    *out = NULL;
    *n = 0;
    sqlite_conn *c;
    int rc = sqlite_reader(s, false, &c, err);
    if (rc) return rc;
    sqlite3_stmt *st = NULL;
    rc = sqlite_query(c, &st, err,
                      "SELECT " COLUMNS " FROM collections WHERE ?1 IS NULL OR tenant = ?1 "
                      "ORDER BY name, tenant",
                      "s", tenant);
    rc = read_rows(c, st, rc, out, n, err);
    sqlite_reader_release(s, c);
    return rc;
}

#define FOREIGN                                                                                    \
    " FROM collections WHERE embedder NOT IN ('', ?1, ifnull(?5, '')) AND (?2 IS NULL OR tenant "  \
    "= ?2) AND "                                                                                   \
    "(?3 IS NULL OR name = ?3)"

int sqlite_foreign_collections(store *base, const char *tenant, const char *name,
                               const char *embedder, const char *also, size_t limit,
                               store_collection **out, size_t *n, size_t *n_all, fo_err *err) {
    sqlite_store *s = sqlite_of(base);
    *out = NULL;
    *n = *n_all = 0;
    sqlite_conn *c;
    int rc = sqlite_reader(s, false, &c, err);
    if (rc) return rc;
    sqlite3_stmt *st = NULL;
    rc = sqlite_query(c, &st, err, "SELECT count(*)" FOREIGN, "sssis", embedder, tenant, name,
                      (int64_t)limit, also);
    if (!rc && (rc = sqlite_step(c, st, err)) == 1) {
        *n_all = (size_t)sqlite3_column_int64(st, 0);
        sqlite3_reset(st);
        rc = FO_OK;
    }
    if (!rc && *n_all) {
        rc = sqlite_query(c, &st, err, "SELECT " COLUMNS FOREIGN " ORDER BY name, tenant LIMIT ?4",
                          "sssis", embedder, tenant, name, (int64_t)limit, also);
        rc = read_rows(c, st, rc, out, n, err);
    }
    sqlite_reader_release(s, c);
    return rc;
}

int sqlite_set_tuning(store *base, int64_t collection, double alpha, double min_support,
                      fo_err *err) {
    sqlite_store *s = sqlite_of(base);
    sqlite_txn *t;
    int rc = sqlite_txn_begin(s, &t, err);
    if (rc) return rc;
    rc = sqlite_run(t->c, err, "UPDATE collections SET alpha = ?, min_support = ? WHERE id = ?",
                    "ddi", alpha, min_support, collection);
    if (!rc && sqlite3_changes(t->c->db) == 0)
        rc = fo_fail(err, FO_ENOTFOUND, "collection %lld does not exist", (long long)collection);
    if (rc) {
        sqlite_txn_rollback(t);
        return rc;
    }
    return sqlite_txn_commit(t, err);
}

/* ---- epochs ------------------------------------------------------------------------------ */

int sqlite_touch(sqlite_txn *t, int64_t collection, int64_t documents, int64_t chunks,
                 fo_err *err) {
    int64_t first = 1;
    for (size_t i = 0; i < t->n_touched; i++)
        if (t->touched[i] == collection) first = 0;
    if (first) {
        int64_t *grown = realloc(t->touched, (t->n_touched + 1) * sizeof *grown);
        if (!grown) return fo_no_memory(err);
        t->touched = grown;
    }
    int rc =
        sqlite_run(t->c, err,
                   "UPDATE collections SET epoch = epoch + ?1, n_documents = n_documents + ?2, "
                   "n_chunks = n_chunks + ?3, "
                   "embedder = CASE WHEN n_chunks + ?3 = 0 THEN '' ELSE embedder END, "
                   "dim = CASE WHEN n_chunks + ?3 = 0 THEN 0 ELSE dim END WHERE id = ?4",
                   "iiii", first, documents, chunks, collection);
    if (!rc && first) t->touched[t->n_touched++] = collection;
    return !rc ? note(t, collection, err) : rc;
}

int sqlite_txn_epoch(store_txn *base, int64_t collection, int64_t *epoch, fo_err *err) {
    sqlite_txn *t = sqlite_txn_of(base);
    sqlite3_stmt *st;
    int rc = sqlite_txn_usable(t, err);
    if (!rc)
        rc = sqlite_query(t->c, &st, err, "SELECT epoch FROM collections WHERE id = ?", "i",
                          collection);
    if (rc) return rc;
    rc = sqlite_step(t->c, st, err);
    if (rc == 0)
        return fo_fail(err, FO_ENOTFOUND, "collection %lld does not exist", (long long)collection);
    if (rc < 0) return rc;
    *epoch = sqlite3_column_int64(st, 0);
    sqlite3_reset(st);
    return FO_OK;
}
