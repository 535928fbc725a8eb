/* Conversations with their turns, and feedback. What an owner keeps is counted when more comes: the counts
 * stand in the conversations' rows, so that no turn is read for it. */
#include "data/sqlite/sqlite_internal.h"

#include <string.h>

#define COLUMNS "id, tenant, owner, collection, title, shared, created_ms, updated_ms, n_turns"

static int read_conversation(sqlite3_stmt *st, void *row, fo_err *err) {
    bool oom = false;
    store_conversation *out = row;
    *out = (store_conversation){
        .id = sqlite_column(st, 0, &oom),
        .tenant = sqlite_column(st, 1, &oom),
        .owner = sqlite_column(st, 2, &oom),
        .collection = sqlite_column(st, 3, &oom),
        .title = sqlite_column(st, 4, &oom),
        .shared = sqlite3_column_int(st, 5) != 0,
        .created_ms = sqlite3_column_int64(st, 6),
        .updated_ms = sqlite3_column_int64(st, 7),
        .n_turns = (size_t)sqlite3_column_int64(st, 8),
    };
    if (!oom) return FO_OK;
    store_conversation_deinit(out);
    return fo_no_memory(err);
}

static void deinit_conversation(void *row) {
    store_conversation_deinit(row);
}

static int read_turn(sqlite3_stmt *st, void *row, fo_err *err) {
    bool oom = false;
    store_turn *out = row;
    *out = (store_turn){
        .collection = sqlite_column(st, 0, &oom),
        .question = sqlite_column(st, 1, &oom),
        .answer = sqlite_column(st, 2, &oom),
        .reply = sqlite_column(st, 3, &oom),
        .created_ms = sqlite3_column_int64(st, 4),
        .rating = sqlite3_column_int(st, 5),
    };
    if (!oom) return FO_OK;
    store_turn_deinit(out);
    return fo_no_memory(err);
}

static void deinit_turn(void *row) {
    store_turn_deinit(row);
}

static int no_such_conversation(const char *id, fo_err *err) {
    return fo_fail_field(err, FO_ENOTFOUND, "id", "there is no conversation '%.64s'", id);
}

/* The two numbers that a statement's one row has. */
static int read_two(sqlite_conn *c, sqlite3_stmt *st, int64_t *a, int64_t *b, fo_err *err) {
    int rc = sqlite_step(c, st, err);
    if (rc != 1) return rc;
    *a = sqlite3_column_int64(st, 0);
    *b = sqlite3_column_int64(st, 1);
    sqlite3_reset(st);
    return 1;
}

/* Has this owner room for n more conversations and so many bytes? */
static int check_room(sqlite_conn *c, const char *tenant, const char *owner, int64_t n,
                      int64_t bytes, fo_err *err) {
    sqlite3_stmt *st;
    int64_t held = 0, held_bytes = 0;
    int rc = sqlite_query(c, &st, err,
                          "SELECT count(*), total(bytes) FROM conversations WHERE tenant = ? AND "
                          "owner = ?",
                          "ss", tenant, owner);
    if (!rc) rc = read_two(c, st, &held, &held_bytes, err);
    if (rc < 0) return rc;
    if (held + n > STORE_CONVERSATIONS_MAX)
        return fo_fail(err, FO_ELIMIT, "%d conversations are kept already: delete some first",
                       STORE_CONVERSATIONS_MAX);
    if (held_bytes + bytes > STORE_CONVERSATIONS_BYTES_MAX)
        return fo_fail(err, FO_ELIMIT,
                       "the conversations that are kept hold %d MiB already: delete some first",
                       STORE_CONVERSATIONS_BYTES_MAX >> 20);
    return FO_OK;
}

static int read_turns(sqlite_conn *c, store_conversation *of, fo_err *err) {
    static const sqlite_row_kind turns = {sizeof(store_turn), read_turn, deinit_turn};
    sqlite3_stmt *st;
    void *list = NULL;
    size_t n = 0;
    int rc = sqlite_query(c, &st, err,
                          "SELECT t.collection, question, answer, reply, created_ms, "
                          "coalesce(rating, 0) FROM conversation_turns t LEFT JOIN feedback f ON "
                          "f.tenant = ? AND f.owner = ? AND f.collection = t.collection AND "
                          "f.query = t.question WHERE conversation = ? ORDER BY ordinal",
                          "sss", of->tenant, of->owner, of->id);
    if (!rc) rc = sqlite_read_rows(c, st, &turns, &list, &n, err);
    of->turns = list;
    of->n_turns = n;
    return rc;
}

int sqlite_get_conversation(store *base, const char *tenant, const char *id, bool with_turns,
                            const atomic_bool *cancel, store_conversation *out, fo_err *err) {
    sqlite_store *s = sqlite_of(base);
    sqlite_conn *c;
    sqlite3_stmt *st;
    store_conversation got = {0};
    int rc = sqlite_reader(s, true, &c, err);
    if (rc) return rc;
    sqlite_heed(c, cancel);
    rc = sqlite_query(c, &st, err,
                      "SELECT " COLUMNS " FROM conversations WHERE tenant = ? AND id = ?", "ss",
                      tenant, id);
    if (!rc && !(rc = sqlite_step(c, st, err))) rc = no_such_conversation(id, err);
    if (rc == 1) {
        rc = read_conversation(st, &got, err);
        sqlite3_reset(st);
    }
    if (!rc && with_turns) rc = read_turns(c, &got, err);
    sqlite_reader_release(s, c);
    if (rc)
        store_conversation_deinit(&got);
    else
        *out = got;
    return rc;
}

/* Where a list goes on: behind one that is gone nobody knows what comes. */
static int check_place(sqlite_conn *c, const char *tenant, const char *owner, const char *after,
                       fo_err *err) {
    sqlite3_stmt *st;
    int64_t n = 0, ignored = 0;
    if (!after) return FO_OK;
    int rc = sqlite_query(
        c, &st, err,
        "SELECT count(*), 0 FROM conversations WHERE tenant = ? AND owner = ? AND id = ?", "sss",
        tenant, owner, after);
    if (!rc) rc = read_two(c, st, &n, &ignored, err);
    if (rc < 0) return rc;
    return n ? FO_OK
             : fo_fail_field(
                   err, FO_ENOTFOUND, "after",
                   "there is no conversation '%.100s' (any more): list from the beginning", after);
}

int sqlite_list_conversations(store *base, const char *tenant, const char *owner, const char *text,
                              const char *after, size_t limit, const atomic_bool *cancel,
                              store_conversation **out, size_t *n, bool *has_more, fo_err *err) {
    static const sqlite_row_kind kind = {sizeof **out, read_conversation, deinit_conversation};
    sqlite_store *s = sqlite_of(base);
    sqlite_conn *c;
    sqlite3_stmt *st;
    void *list = NULL;
    *n = 0;
    int rc = sqlite_reader(s, false, &c, err);
    if (rc) return rc;
    sqlite_heed(c, cancel);
    rc = check_place(c, tenant, owner, after, err);
    if (rc) {
        sqlite_reader_release(s, c);
        return rc;
    }
    /* instr, not LIKE: what is looked for has no wildcards */
    rc = sqlite_query(
        c, &st, err,
        "SELECT " COLUMNS " FROM conversations c WHERE tenant = ?1 AND owner = ?2 AND (?3 IS NULL "
        "OR instr(lower(title), lower(?3)) OR EXISTS (SELECT 1 FROM conversation_turns t WHERE "
        "t.conversation = c.id AND (instr(lower(question), lower(?3)) OR instr(lower(answer), "
        "lower(?3))))) AND (?4 IS NULL OR (updated_ms, id) < (SELECT updated_ms, id FROM "
        "conversations WHERE tenant = ?1 AND id = ?4)) ORDER BY updated_ms DESC, id DESC LIMIT ?5",
        "ssssi", tenant, owner, text, after, (int64_t)limit + 1);
    if (!rc) rc = sqlite_read_rows(c, st, &kind, &list, n, err);
    sqlite_reader_release(s, c);
    *out = list;
    *has_more = *n > limit;
    if (*has_more) store_conversation_deinit(&(*out)[--*n]);
    return rc;
}

int sqlite_change_conversation(store *base, const char *tenant, const char *owner, const char *id,
                               const char *title, int shared, const atomic_bool *cancel,
                               fo_err *err) {
    sqlite_txn *t;
    int rc = sqlite_txn_begin_until(sqlite_of(base), cancel, &t, err);
    if (rc) return rc;
    rc = sqlite_run(t->c, err,
                    "UPDATE conversations SET title = coalesce(?1, title), "
                    "shared = CASE WHEN ?2 < 0 THEN shared ELSE ?2 END "
                    "WHERE tenant = ?3 AND owner = ?4 AND id = ?5",
                    "sisss", title, (int64_t)shared, tenant, owner, id);
    if (!rc && sqlite3_changes(t->c->db) == 0) rc = no_such_conversation(id, err);
    return sqlite_txn_end(t, rc, err);
}

int sqlite_delete_conversation(store *base, const char *tenant, const char *owner, const char *id,
                               const atomic_bool *cancel, fo_err *err) {
    sqlite_txn *t;
    int rc = sqlite_txn_begin_until(sqlite_of(base), cancel, &t, err);
    if (rc) return rc;
    rc =
        sqlite_run(t->c, err, "DELETE FROM conversations WHERE tenant = ? AND owner = ? AND id = ?",
                   "sss", tenant, owner, id);
    if (!rc && sqlite3_changes(t->c->db) == 0) rc = no_such_conversation(id, err);
    return sqlite_txn_end(t, rc, err);
}

static int put_turn(sqlite_txn *t, const char *tenant, const char *owner, const char *id, size_t at,
                    int64_t n_known, const store_turn *in, fo_err *err) {
    sqlite3_stmt *st;
    int64_t n = 0, held = 0, gone = 0, ignored = 0;
    size_t bytes = strlen(in->question) + strlen(in->answer) + strlen(in->reply);
    int rc = sqlite_query(t->c, &st, err,
                          "SELECT n_turns, bytes FROM conversations WHERE tenant = ? AND owner = ? "
                          "AND id = ?",
                          "sss", tenant, owner, id);
    if (!rc) rc = read_two(t->c, st, &n, &held, err);
    if (rc < 0) return rc;
    if (rc == 0) return no_such_conversation(id, err);
    if (n_known >= 0 && n_known != n)
        return fo_fail_field(err, FO_ECONFLICT, "turns",
                             "the conversation has %lld turns, not %lld: it was changed elsewhere, "
                             "and nothing is written",
                             (long long)n, (long long)n_known);
    if (at > (size_t)n)
        return fo_fail_field(err, FO_EINVAL, "turn", "the conversation has %lld turns",
                             (long long)n);
    if (at >= STORE_TURNS_MAX)
        return fo_fail(err, FO_ELIMIT, "a conversation holds %d turns: begin another",
                       STORE_TURNS_MAX);
    if (bytes > STORE_TURN_BYTES_MAX)
        return fo_fail(err, FO_ELIMIT, "a turn holds %d KiB at most", STORE_TURN_BYTES_MAX >> 10);
    rc = sqlite_query(t->c, &st, err,
                      "SELECT total(length(CAST(question AS BLOB)) + length(CAST(answer AS BLOB)) "
                      "+ length(CAST(reply AS BLOB))), 0 FROM conversation_turns "
                      "WHERE conversation = ? AND ordinal >= ?",
                      "si", id, (int64_t)at);
    if (!rc) rc = read_two(t->c, st, &gone, &ignored, err);
    if (rc < 0) return rc;
    rc = check_room(t->c, tenant, owner, 0, (int64_t)bytes - gone, err);
    if (rc) return rc;
    rc = sqlite_run(t->c, err,
                    "DELETE FROM conversation_turns WHERE conversation = ? AND ordinal >= ?", "si",
                    id, (int64_t)at);
    if (!rc)
        rc = sqlite_run(t->c, err,
                        "INSERT INTO conversation_turns (conversation, ordinal, collection, "
                        "question, answer, reply, created_ms) VALUES (?,?,?,?,?,?,?)",
                        "sissssi", id, (int64_t)at, in->collection, in->question, in->answer,
                        in->reply, in->created_ms);
    if (rc) return rc;
    return sqlite_run(t->c, err,
                      "UPDATE conversations SET n_turns = ?, bytes = ?, collection = ?, "
                      "updated_ms = max(updated_ms, ?) WHERE id = ?",
                      "iisis", (int64_t)at + 1, held - gone + (int64_t)bytes, in->collection,
                      in->created_ms, id);
}

static int add_conversation(sqlite_txn *t, const store_conversation *in, fo_err *err) {
    int rc = check_room(t->c, in->tenant, in->owner, 1, 0, err);
    if (!rc)
        rc = sqlite_run(t->c, err,
                        "INSERT INTO conversations (id, tenant, owner, collection, title, shared, "
                        "created_ms, updated_ms, n_turns, bytes) VALUES (?,?,?,?,?,?,?,?,0,0)",
                        "sssssiii", in->id, in->tenant, in->owner, in->collection, in->title,
                        (int64_t)in->shared, in->created_ms, in->created_ms);
    for (size_t i = 0; !rc && i < in->n_turns; i++)
        rc = put_turn(t, in->tenant, in->owner, in->id, i, -1, &in->turns[i], err);
    return rc;
}

int sqlite_create_conversation(store *base, const store_conversation *in, const atomic_bool *cancel,
                               fo_err *err) {
    sqlite_txn *t;
    int rc = sqlite_txn_begin_until(sqlite_of(base), cancel, &t, err);
    return rc ? rc : sqlite_txn_end(t, add_conversation(t, in, err), err);
}

int sqlite_write_turn(store *base, const char *tenant, const char *owner, const char *id, size_t at,
                      int64_t n_known, const store_turn *in, const atomic_bool *cancel,
                      fo_err *err) {
    sqlite_txn *t;
    int rc = sqlite_txn_begin_until(sqlite_of(base), cancel, &t, err);
    if (rc) return rc;
    return sqlite_txn_end(t, put_turn(t, tenant, owner, id, at, n_known, in, err), err);
}

/* ---- feedback ---------------------------------------------------------------------------- */

static int read_feedback(sqlite3_stmt *st, void *row, fo_err *err) {
    bool oom = false;
    store_feedback *out = row;
    *out = (store_feedback){
        .id = sqlite3_column_int64(st, 0),
        .tenant = sqlite_column(st, 1, &oom),
        .owner = sqlite_column(st, 2, &oom),
        .collection = sqlite_column(st, 3, &oom),
        .query = sqlite_column(st, 4, &oom),
        .rating = sqlite3_column_int(st, 5),
        .documents = sqlite_column(st, 6, &oom),
        .comment = sqlite_column(st, 7, &oom),
        .t_ms = sqlite3_column_int64(st, 8),
    };
    if (!oom) return FO_OK;
    store_feedback_deinit(out);
    return fo_no_memory(err);
}

static void deinit_feedback(void *row) {
    store_feedback_deinit(row);
}

static int check_feedback_room(sqlite_conn *c, const store_feedback *in, fo_err *err) {
    sqlite3_stmt *st;
    int64_t n = 0, ignored;
    int rc =
        sqlite_query(c, &st, err, "SELECT count(*), 0 FROM feedback WHERE tenant = ? AND owner = ?",
                     "ss", in->tenant, in->owner);
    if (!rc) rc = read_two(c, st, &n, &ignored, err);
    if (rc < 0) return rc;
    if (n < STORE_FEEDBACK_MAX) return FO_OK;
    return fo_fail(err, FO_ELIMIT, "%d answers were rated already", STORE_FEEDBACK_MAX);
}

int sqlite_put_feedback(store *base, const store_feedback *in, fo_err *err) {
    sqlite_txn *t;
    int rc = sqlite_txn_begin(sqlite_of(base), &t, err);
    if (rc) return rc;
    /* The old word goes, so that the new one is the newest by its number too. */
    rc = sqlite_run(t->c, err,
                    "DELETE FROM feedback WHERE tenant = ? AND owner = ? AND collection = ? AND "
                    "query = ?",
                    "ssss", in->tenant, in->owner, in->collection, in->query);
    if (!rc && in->rating) rc = check_feedback_room(t->c, in, err);
    if (!rc && in->rating)
        rc = sqlite_run(t->c, err,
                        "INSERT INTO feedback (tenant, owner, collection, query, rating, "
                        "documents, comment, t_ms) VALUES (?,?,?,?,?,?,?,?)",
                        "ssssissi", in->tenant, in->owner, in->collection, in->query,
                        (int64_t)in->rating, in->documents, in->comment, in->t_ms);
    return sqlite_txn_end(t, rc, err);
}

int sqlite_list_feedback(store *base, const char *tenant, const char *owner,
                         const char *collections, int64_t since_ms, size_t limit,
                         store_feedback **out, size_t *n, fo_err *err) {
    static const sqlite_row_kind kind = {sizeof **out, read_feedback, deinit_feedback};
    sqlite_store *s = sqlite_of(base);
    sqlite_conn *c;
    sqlite3_stmt *st;
    void *list = NULL;
    *n = 0;
    int rc = sqlite_reader(s, false, &c, err);
    if (rc) return rc;
    rc =
        sqlite_query(c, &st, err,
                     "SELECT id, tenant, owner, collection, query, rating, documents, comment, "
                     "t_ms FROM feedback WHERE tenant = ?1 AND (?2 IS NULL OR owner = ?2) "
                     "AND " SQLITE_OF_COLLECTIONS("?3") " AND t_ms >= ?4 ORDER BY id DESC LIMIT ?5",
                     "sssii", tenant, owner, collections, since_ms, (int64_t)limit);
    if (!rc) rc = sqlite_read_rows(c, st, &kind, &list, n, err);
    sqlite_reader_release(s, c);
    *out = list;
    return rc;
}
