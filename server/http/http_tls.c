/* The certificate of a server that speaks TLS, and how it is exchanged for another while it runs.
 *
 * libmicrohttpd asks for it at each handshake by a function that is told of nothing but the session, so
 * there is one such server a process, which `current` is of. A certificate that was exchanged stays
 * until the server ends: a handshake may still be using it. */
#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/file.h"
#include "server/http/http_internal.h"

enum { CHAIN_MAX = 16, PEM_MAX = 1 << 20 };

const char http_tls_priorities[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2";

typedef struct identity {
    struct identity *before;
    gnutls_pcert_st chain[CHAIN_MAX];
    unsigned n;
    gnutls_privkey_t key;
} identity;

struct http_tls {
    char *cert_file, *key_file;
};

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static identity *current; /* guarded by mu; NULL: no server of this process speaks TLS */

static int give(gnutls_session_t session, const gnutls_datum_t *names, int n_names,
                const gnutls_pk_algorithm_t *algorithms, int n_algorithms, gnutls_pcert_st **chain,
                unsigned *n, gnutls_privkey_t *key) {
    (void)session, (void)names, (void)n_names, (void)algorithms, (void)n_algorithms;
    pthread_mutex_lock(&mu);
    identity *id = current;
    pthread_mutex_unlock(&mu);
    if (!id) return -1;
    *chain = id->chain;
    *n = id->n;
    *key = id->key;
    return 0;
}
static gnutls_certificate_retrieve_function2 *const as_declared = give;
const void *const http_tls_callback = (const void *)give;

static void identity_free(identity *id) {
    for (unsigned i = 0; i < id->n; i++) gnutls_pcert_deinit(&id->chain[i]);
    if (id->key) gnutls_privkey_deinit(id->key);
    free(id);
}

static int read_pem(const char *file, gnutls_datum_t *out, fo_err *err) {
    char *data;
    size_t n;
    int rc = fo_file_read(file, PEM_MAX, &data, &n, err);
    if (!rc) *out = (gnutls_datum_t){(unsigned char *)data, (unsigned)n};
    return rc;
}

/* Does the key belong to the certificate? */
static int check_pair(const identity *id) {
    gnutls_pubkey_t of_key;
    unsigned char a[64], b[64];
    size_t n_a = sizeof a, n_b = sizeof b;
    int rc = gnutls_pubkey_init(&of_key);
    if (rc < 0) return rc;
    rc = gnutls_pubkey_import_privkey(of_key, id->key, 0, 0);
    if (rc >= 0) rc = gnutls_pubkey_get_key_id(of_key, GNUTLS_KEYID_USE_SHA256, a, &n_a);
    if (rc >= 0)
        rc = gnutls_pubkey_get_key_id(id->chain[0].pubkey, GNUTLS_KEYID_USE_SHA256, b, &n_b);
    gnutls_pubkey_deinit(of_key);
    if (rc < 0) return rc;
    return n_a == n_b && !memcmp(a, b, n_a) ? 0 : GNUTLS_E_CERTIFICATE_KEY_MISMATCH;
}

static int load(const http_tls *t, identity **out, fo_err *err) {
    gnutls_datum_t cert = {0}, key = {0};
    identity *id = calloc(1, sizeof *id);
    int rc = id ? read_pem(t->cert_file, &cert, err) : fo_no_memory(err);
    if (!rc) rc = read_pem(t->key_file, &key, err);
    unsigned n = CHAIN_MAX;
    const char *file = t->cert_file;
    int bad = 0;
    if (!rc) {
        bad = gnutls_pcert_list_import_x509_raw(id->chain, &n, &cert, GNUTLS_X509_FMT_PEM, 0);
        if (bad >= 0) id->n = n;
        if (bad >= 0) file = t->key_file, bad = gnutls_privkey_init(&id->key);
        if (bad >= 0)
            bad = gnutls_privkey_import_x509_raw(id->key, &key, GNUTLS_X509_FMT_PEM, NULL, 0);
        if (bad >= 0) bad = check_pair(id);
        if (bad < 0) rc = fo_fail(err, FO_EINVAL, "%.300s: %s", file, gnutls_strerror(bad));
    }
    free(cert.data);
    if (key.data) memset(key.data, 0, key.size);
    free(key.data);
    if (rc) {
        if (id) identity_free(id);
        return rc;
    }
    *out = id;
    return FO_OK;
}

int http_tls_reload(http_tls *t, fo_err *err) {
    identity *id;
    int rc = load(t, &id, err);
    if (rc) return rc;
    pthread_mutex_lock(&mu);
    id->before = current;
    current = id;
    pthread_mutex_unlock(&mu);
    return FO_OK;
}

int http_tls_open(http_tls **out, const char *cert, const char *key, fo_err *err) {
    http_tls *t = calloc(1, sizeof *t);
    if (!t) return fo_no_memory(err);
    (void)as_declared;
    t->cert_file = strdup(cert);
    t->key_file = strdup(key);
    int rc = !t->cert_file || !t->key_file ? fo_no_memory(err)
             : current ? fo_fail(err, FO_EBUSY, "another server of this process speaks TLS already")
                       : http_tls_reload(t, err);
    if (rc) {
        free(t->cert_file);
        free(t->key_file);
        free(t);
        return rc;
    }
    *out = t;
    return FO_OK;
}

void http_tls_close(http_tls *t) {
    if (!t) return;
    pthread_mutex_lock(&mu);
    identity *id = current;
    current = NULL;
    pthread_mutex_unlock(&mu);
    for (identity *before; id; id = before) {
        before = id->before;
        identity_free(id);
    }
    free(t->cert_file);
    free(t->key_file);
    free(t);
}
