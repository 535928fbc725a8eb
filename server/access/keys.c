#include "server/access/keys.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

#include "kernels/file.h"
#include "kernels/hex.h"
#include "kernels/sha256.h"
#include "kernels/utf8.h"
#include "server/base/log.h"

enum { FILE_MAX = 64 << 20, SECRET_BYTES = 24, HEAD_BYTES = 14 + 64 + 1 };
/* By which a key that is revoked is longer at most: the digits of a time for a 0. */
enum { REVOKED_BYTES = 18 };
static const char HEAD[] = "forage keys 1 ";

struct key_table {
    atomic_int refs;
    access_key *keys; /* [n] */
    size_t n;
    uint32_t *by_id; /* [n], positions in order of id */
};

static const char *const scope_names[] = {"none",  "open",    "read",   "ingest",
                                          "admin", "metrics", "operate"};

const char *access_scope_name(int scope) {
    return scope >= 0 && scope < ACCESS_N_SCOPES ? scope_names[scope] : "none";
}

bool access_key_in_force(const access_key *k, int64_t now_ms) {
    return !k->revoked_ms && (!k->expires_ms || now_ms < k->expires_ms);
}

bool access_key_has(const access_key *k, int scope) {
    if (scope >= ACCESS_METRICS && (strcmp(k->tenant, ACCESS_OWNER) || k->n_collections))
        return false;
    return (k->scopes & (1u << scope | 1u << ACCESS_ADMIN)) != 0;
}

bool access_key_may_use(const access_key *k, const char *collection) {
    bool may = k->n_collections == 0;
    for (size_t i = 0; i < k->n_collections && !may; i++)
        may = !strcmp(k->collections[i], collection);
    return may;
}

/* ---- a table ------------------------------------------------------------------------------- */

static void free_list(char **list, size_t n) {
    for (size_t i = 0; i < n; i++) free(list[i]);
    free(list);
}

static void key_deinit(access_key *k) {
    free(k->name);
    free(k->tenant);
    free(k->tier);
    free_list(k->collections, k->n_collections);
    free_list(k->groups, k->n_groups);
    search_filter_free(k->sees);
}

size_t key_table_count(const key_table *t) {
    return t->n;
}

const access_key *key_table_at(const key_table *t, size_t i) {
    return &t->keys[i];
}

key_table *key_table_keep(key_table *t) {
    atomic_fetch_add(&t->refs, 1);
    return t;
}

void key_table_drop(key_table *t) {
    if (!t || atomic_fetch_sub(&t->refs, 1) != 1) return;
    for (size_t i = 0; i < t->n; i++) key_deinit(&t->keys[i]);
    free(t->keys);
    free(t->by_id);
    free(t);
}

static void salted_hash(unsigned char out[32], const unsigned char salt[16], const char *secret) {
    fo_sha256 h;
    fo_sha256_begin(&h);
    fo_sha256_add(&h, salt, 16);
    fo_sha256_add(&h, secret, strlen(secret));
    fo_sha256_end(&h, out);
}

static const access_key *find_id(const key_table *t, const char *id) {
    size_t low = 0, high = t->n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        int order = strcmp(t->keys[t->by_id[mid]].id, id);
        if (order == 0) return &t->keys[t->by_id[mid]];
        if (order < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

const access_key *key_table_find(const key_table *t, const char *text) {
    static const access_key nobody;
    char id[KEY_ID_CHARS + 1] = "k_";
    size_t n = strlen(text);
    if (n != 3 + 16 + 1 + 2 * SECRET_BYTES || strncmp(text, "fk_", 3) || text[19] != '_')
        return NULL;
    memcpy(id + 2, text + 3, 16);
    const access_key *k = find_id(t, id);
    /* A name that nobody has costs what a wrong secret does. */
    const access_key *held = k ? k : &nobody;
    unsigned char hash[32];
    volatile unsigned char differ = 0;
    salted_hash(hash, held->salt, text + 20);
    for (size_t i = 0; i < sizeof hash; i++) differ |= hash[i] ^ held->hash[i];
    return k && !differ && access_key_in_force(k, log_now_ms()) ? k : NULL;
}

/* ---- reading ------------------------------------------------------------------------------- */

static int copy(char **to, const char *s, fo_err *err) {
    *to = s ? strdup(s) : NULL;
    return s && !*to ? fo_no_memory(err) : FO_OK;
}

static int read_names(json_in *in, const char *key, char ***out, size_t *n, fo_err *err) {
    const cJSON *list = json_in_array(in, key, KEY_LIST_MAX), *item;
    size_t all = list ? (size_t)cJSON_GetArraySize(list) : 0;
    if (!all) return FO_OK;
    *out = calloc(all, sizeof **out);
    if (!*out) return fo_no_memory(err);
    cJSON_ArrayForEach(item, list) {
        if (!cJSON_IsString(item))
            return fo_fail_field(err, FO_EINVAL, key, "%s must be a list of names", key);
        int rc = copy(&(*out)[*n], item->valuestring, err);
        if (rc) return rc;
        ++*n;
    }
    return FO_OK;
}

static int read_key(access_key *k, const cJSON *item, const char *path, fo_err *err) {
    json_in in;
    json_in_object(&in, item, path, err);
    const char *id = json_in_string(&in, "id", "", 1, KEY_ID_CHARS);
    const char *name = json_in_string(&in, "name", "", 0, KEY_NAME_MAX);
    const char *tenant = json_in_string(&in, "tenant", "default", 1, 64);
    const char *tier = json_in_string(&in, "tier", NULL, 1, 64);
    const char *salt = json_in_string(&in, "salt", "", 1, 32);
    const char *hash = json_in_string(&in, "hash", "", 1, 64);
    const cJSON *scopes = json_in_array(&in, "scopes", ACCESS_N_SCOPES), *s;
    k->created_ms = json_in_int(&in, "created_ms", 0, 0, INT64_MAX / 2);
    k->revoked_ms = json_in_int(&in, "revoked_ms", 0, 0, INT64_MAX / 2);
    k->expires_ms = json_in_int(&in, "expires_ms", 0, 0, INT64_MAX / 2);
    k->all_groups = json_in_bool(&in, "all_groups", false);
    int rc = read_names(&in, "collections", &k->collections, &k->n_collections, err);
    if (!rc) rc = read_names(&in, "groups", &k->groups, &k->n_groups, err);
    if (!rc) rc = json_in_end(&in);
    if (rc) return rc;
    cJSON_ArrayForEach(s, scopes) {
        for (int i = ACCESS_READ; i <= ACCESS_METRICS; i++)
            if (cJSON_IsString(s) && !strcmp(s->valuestring, scope_names[i])) k->scopes |= 1u << i;
    }
    if (!fo_hex_read(k->salt, sizeof k->salt, salt) ||
        !fo_hex_read(k->hash, sizeof k->hash, hash) || strlen(id) != KEY_ID_CHARS)
        return fo_fail(err, FO_EINVAL, "%s has no sound id, salt or hash", path);
    memcpy(k->id, id, sizeof k->id);
    rc = copy(&k->name, name, err);
    if (!rc) rc = copy(&k->tenant, tenant, err);
    if (!rc) rc = copy(&k->tier, tier, err);
    if (!rc && !k->all_groups)
        rc = search_filter_sees(&k->sees, (const char *const *)k->groups, k->n_groups, err);
    return rc;
}

static int by_id(const void *a, const void *b, void *keys) {
    const access_key *k = keys;
    return strcmp(k[*(const uint32_t *)a].id, k[*(const uint32_t *)b].id);
}

static int table_of(key_table **out, const cJSON *list, fo_err *err) {
    key_table *t = calloc(1, sizeof *t);
    size_t n = (size_t)cJSON_GetArraySize(list);
    if (!t) return fo_no_memory(err);
    t->refs = 1;
    t->keys = calloc(n + 1, sizeof *t->keys);
    t->by_id = calloc(n + 1, sizeof *t->by_id);
    int rc = t->keys && t->by_id ? FO_OK : fo_no_memory(err);
    for (const cJSON *item = list->child; !rc && item; item = item->next) {
        char path[32];
        snprintf(path, sizeof path, "keys[%zu]", t->n);
        t->by_id[t->n] = (uint32_t)t->n;
        rc = read_key(&t->keys[t->n++], item, path, err);
    }
    if (rc) return key_table_drop(t), rc;
    qsort_r(t->by_id, t->n, sizeof *t->by_id, by_id, t->keys);
    *out = t;
    return FO_OK;
}

static int path_of(const char *home, char out[4200], fo_err *err) {
    int n = snprintf(out, 4200, "%s/keys", home);
    return n > 0 && n < 4200 ? FO_OK : fo_fail(err, FO_EIO, "the path of the home is too long");
}

int keys_read(key_table **out, const char *home, fo_err *err) {
    char path[4200], *data = NULL;
    size_t n = 0;
    fo_err why = {0};
    int rc = path_of(home, path, err);
    if (!rc) rc = fo_file_read(path, FILE_MAX, &data, &n, err);
    if (rc) return rc;
    unsigned char sum[32];
    char hex[65];
    bool sound = n > HEAD_BYTES && !memcmp(data, HEAD, sizeof HEAD - 1) &&
                 data[HEAD_BYTES - 1] == '\n' && strlen(data) == n;
    if (sound) {
        fo_sha256_of(sum, data + HEAD_BYTES, n - HEAD_BYTES);
        fo_hex_write(hex, sum, 32);
        sound = !memcmp(hex, data + sizeof HEAD - 1, 64);
    }
    cJSON *root = NULL;
    if (!sound)
        rc = fo_fail(&why, FO_ECORRUPT, "its checksum is another than that of its bytes");
    else
        rc = json_parse(data + HEAD_BYTES, n - HEAD_BYTES, &root, &why);
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(root, "keys");
    if (!rc && (!cJSON_IsArray(list) || cJSON_GetArraySize(list) > KEYS_MAX))
        rc = fo_fail(&why, FO_ECORRUPT, "it has no list of keys");
    if (!rc) rc = table_of(out, list, &why);
    cJSON_Delete(root);
    free(data);
    if (!rc || rc == FO_ENOMEM) return rc ? fo_no_memory(err) : FO_OK;
    if (rc == FO_ELIMIT) return fo_fail(err, rc, "%s cannot be read: %.300s", path, why.msg);
    return fo_fail(err, FO_ECORRUPT,
                   "%s is damaged: %.300s. Nobody's key can be told; put it back from a copy, or "
                   "remove it and make new keys",
                   path, why.msg);
}

/* ---- writing ------------------------------------------------------------------------------- */

static void write_names(json_out *o, const char *key, char *const *list, size_t n) {
    json_out_open(o, key, '[');
    for (size_t i = 0; i < n; i++) json_out_string(o, NULL, list[i]);
    json_out_close(o, ']');
}

static void write_fields(json_out *o, const access_key *k) {
    json_out_string(o, "id", k->id);
    json_out_string(o, "name", k->name);
    json_out_string(o, "tenant", k->tenant);
    json_out_open(o, "scopes", '[');
    for (int i = ACCESS_READ; i <= ACCESS_METRICS; i++)
        if (k->scopes & 1u << i) json_out_string(o, NULL, scope_names[i]);
    json_out_close(o, ']');
    write_names(o, "collections", k->collections, k->n_collections);
    write_names(o, "groups", k->groups, k->n_groups);
    json_out_bool(o, "all_groups", k->all_groups);
    json_out_string(o, "tier", k->tier);
}

void access_key_write(json_out *o, const access_key *k) {
    char t[32];
    json_out_open(o, NULL, '{');
    write_fields(o, k);
    log_time(t, k->created_ms);
    json_out_string(o, "created_at", t);
    if (k->revoked_ms) log_time(t, k->revoked_ms);
    json_out_string(o, "revoked_at", k->revoked_ms ? t : NULL);
    if (k->expires_ms) log_time(t, k->expires_ms);
    json_out_string(o, "expires_at", k->expires_ms ? t : NULL);
    json_out_close(o, '}');
}

static void write_stored(json_out *o, const access_key *k) {
    char hex[65];
    json_out_open(o, NULL, '{');
    write_fields(o, k);
    fo_hex_write(hex, k->salt, sizeof k->salt);
    json_out_string(o, "salt", hex);
    fo_hex_write(hex, k->hash, sizeof k->hash);
    json_out_string(o, "hash", hex);
    json_out_int(o, "created_ms", k->created_ms);
    json_out_int(o, "revoked_ms", k->revoked_ms);
    /* Programs that know of no such time can read the file as long as no key has one. */
    if (k->expires_ms) json_out_int(o, "expires_ms", k->expires_ms);
    json_out_close(o, '}');
}

/* What is too large to be read again would lock everybody out. A new key leaves room for revoking every
 * key there is, which may not fail for want of it. */
static int check_size(size_t json, size_t n_revocable, fo_err *err) {
    if (HEAD_BYTES + json + REVOKED_BYTES * n_revocable <= FILE_MAX) return FO_OK;
    return fo_fail(err, FO_ELIMIT, "the keys of a home take %d MiB at most, and would take more",
                   FILE_MAX >> 20);
}

/* The same of the values in it, of which a key with many collections and groups has more than a hundred. */
static int check_values(const fo_buf *json, fo_err *err) {
    int rc = json_validate(json->data, json->len, err);
    if (rc != FO_ELIMIT) return rc;
    return fo_fail(err, rc,
                   "the keys of a home, their collections and groups together have %d values at "
                   "most, and would "
                   "have more",
                   JSON_MOST_VALUES);
}

/* The keys of `t` (NULL: none) and then `more` (NULL: none). */
static int write_file(const char *home, const key_table *t, const access_key *more, fo_err *err) {
    char path[4200], hex[65];
    unsigned char sum[32];
    fo_buf b = {0}, file = {0};
    json_out o = {&b, false};
    json_out_open(&o, NULL, '{');
    json_out_open(&o, "keys", '[');
    for (size_t i = 0; t && i < t->n; i++) write_stored(&o, &t->keys[i]);
    if (more) write_stored(&o, more);
    json_out_close(&o, ']');
    json_out_close(&o, '}');
    fo_buf_char(&b, '\n');
    int rc = b.failed ? fo_no_memory(err) : path_of(home, path, err);
    if (!rc) rc = check_size(b.len, more ? (t ? t->n : 0) + 1 : 0, err);
    if (!rc && more) rc = check_values(&b, err);
    if (!rc) {
        fo_sha256_of(sum, b.data, b.len);
        fo_hex_write(hex, sum, sizeof sum);
        fo_buf_printf(&file, "%s%s\n", HEAD, hex);
        fo_buf_add(&file, b.data, b.len);
        rc = file.failed ? fo_no_memory(err) : fo_file_put(path, file.data, file.len, err);
    }
    fo_buf_free(&b);
    fo_buf_free(&file);
    return rc;
}

/* One at a time changes the keys of a home: the folder itself is locked, which a server never is
 * held up by. */
static int begin_change(const char *home, key_table **out, int *lock, fo_err *err) {
    *lock = open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*lock < 0 || flock(*lock, LOCK_EX) != 0)
        return fo_fail_errno(err, "cannot lock the home folder %s", home);
    *out = NULL;
    int rc = keys_read(out, home, err);
    return rc == FO_ENOTFOUND ? FO_OK : rc;
}

static bool name_fits(const char *s, size_t most, const char *more) {
    size_t n = strlen(s);
    bool fits = n > 0 && n <= most && *s != '.';
    for (size_t i = 0; i < n; i++)
        fits &= isalnum((unsigned char)s[i]) || strchr(more, s[i]) != NULL;
    return fits;
}

static int check_names(const char *field, const char *const *list, size_t n, fo_err *err) {
    if (n > KEY_LIST_MAX)
        return fo_fail_field(err, FO_EINVAL, field, "at most %d are taken", KEY_LIST_MAX);
    for (size_t i = 0; i < n; i++)
        if (!name_fits(list[i], 64, "_-.") && !(!strcmp(list[i], "*") && !strcmp(field, "groups")))
            return fo_fail_field(err, FO_EINVAL, field,
                                 "'%.80s' is no name: 1 to 64 of A-Z a-z 0-9 _ - . and not a dot "
                                 "first",
                                 list[i]);
    return FO_OK;
}

static int check_spec(const key_spec *s, fo_err *err) {
    if (!s->name || !*s->name || strlen(s->name) > KEY_NAME_MAX)
        return fo_fail_field(err, FO_EINVAL, "name", "name must have 1 to %d bytes", KEY_NAME_MAX);
    /* A byte that is no UTF-8 is written as three: such a name could be longer in the file than it may be. */
    if (!fo_utf8_valid(s->name, strlen(s->name), NULL))
        return fo_fail_field(err, FO_EINVAL, "name", "name must be UTF-8");
    if (!s->scopes)
        return fo_fail_field(err, FO_EINVAL, "scope",
                             "scope must be read, ingest, admin or metrics, or several of them");
    if (s->tenant && !name_fits(s->tenant, 64, "_-."))
        return fo_fail_field(
            err, FO_EINVAL, "tenant",
            "tenant must be 1 to 64 of A-Z a-z 0-9 _ - . and not begin with a dot");
    if (s->tier && !name_fits(s->tier, 64, "_-."))
        return fo_fail_field(err, FO_EINVAL, "tier", "'%.80s' is no name of a tier", s->tier);
    if ((s->scopes & 1u << ACCESS_METRICS) && s->tenant && strcmp(s->tenant, ACCESS_OWNER))
        return fo_fail_field(err, FO_EINVAL, "scope",
                             "metrics are those of the whole process: such a key belongs to the "
                             "tenant default");
    if (s->expires_ms < 0 || (s->expires_ms && s->expires_ms <= log_now_ms()))
        return fo_fail_field(err, FO_EINVAL, "expires", "the key would have expired already");
    int rc = check_names("collections", s->collections, s->n_collections, err);
    return rc ? rc : check_names("groups", s->groups, s->n_groups, err);
}

static int random_bytes(void *out, size_t n, fo_err *err) {
    return getrandom(out, n, 0) == (ssize_t)n
               ? FO_OK
               : fo_fail(err, FO_EIO, "the system gives no random bytes");
}

int keys_create(const char *home, const key_spec *spec, access_secret *out, fo_err *err) {
    unsigned char number[8], secret[SECRET_BYTES];
    char hex[2 * SECRET_BYTES + 1];
    access_key k = {.name = (char *)spec->name,
                    .tenant = (char *)(spec->tenant ? spec->tenant : ACCESS_OWNER),
                    .tier = (char *)spec->tier,
                    .scopes = spec->scopes,
                    .collections = (char **)spec->collections,
                    .n_collections = spec->n_collections,
                    .groups = (char **)spec->groups,
                    .n_groups = spec->n_groups,
                    .expires_ms = spec->expires_ms,
                    .created_ms = log_now_ms()};
    int rc = check_spec(spec, err);
    if (!rc) rc = random_bytes(k.salt, sizeof k.salt, err);
    if (!rc) rc = random_bytes(number, sizeof number, err);
    if (!rc) rc = random_bytes(secret, sizeof secret, err);
    if (!rc) rc = fo_make_dirs(home, err);
    if (rc) return rc;
    k.all_groups = (k.scopes & 1u << ACCESS_ADMIN) && !k.n_groups;
    for (size_t i = 0; i < spec->n_groups; i++)
        if (!strcmp(spec->groups[i], "*")) k.all_groups = true, k.n_groups = 0;
    fo_hex_write(hex, number, sizeof number);
    snprintf(k.id, sizeof k.id, "k_%.16s", hex);
    fo_hex_write(hex, secret, sizeof secret);
    snprintf(out->text, sizeof out->text, "fk_%.16s_%.48s", k.id + 2, hex);
    memcpy(out->id, k.id, sizeof out->id);
    salted_hash(k.hash, k.salt, hex);
    key_table *t = NULL;
    int lock;
    rc = begin_change(home, &t, &lock, err);
    if (!rc && t && t->n >= KEYS_MAX)
        rc = fo_fail(err, FO_ELIMIT, "a home has at most %d keys", KEYS_MAX);
    if (!rc) rc = write_file(home, t, &k, err);
    key_table_drop(t);
    if (lock >= 0) close(lock);
    return rc;
}

int keys_revoke(const char *home, const char *id, fo_err *err) {
    key_table *t = NULL;
    int lock, rc = begin_change(home, &t, &lock, err);
    access_key *k = !rc && t ? (access_key *)find_id(t, id) : NULL;
    if (!rc && !k) rc = fo_fail_field(err, FO_ENOTFOUND, "id", "there is no key '%.40s'", id);
    if (!rc && k->revoked_ms)
        rc = fo_fail_field(err, FO_ECONFLICT, "id", "the key '%s' was revoked already", id);
    if (!rc) k->revoked_ms = log_now_ms();
    if (!rc) rc = write_file(home, t, NULL, err);
    key_table_drop(t);
    if (lock >= 0) close(lock);
    return rc;
}
