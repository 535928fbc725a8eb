/* Small files of a home, whose checksums are made right so that what lies behind them is reached: the keys,
 * the ledger; and a tier of forage.conf, which has none. The first byte says which. Promises: refused with a sentence, or read into something that holds together. */
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "data/sqlite/ledger.h"
#include "kernels/file.h"
#include "kernels/hex.h"
#include "kernels/sha256.h"
#include "server/access/keys.h"
#include "server/access/rate_limits.h"
#include "tests/fuzz/fuzz.h"

enum { SLOT = 256, LEDGER_SLOTS = 256, NAME_MOST = 64 };

static char folder[128];

static void remove_all(void) {
    fo_remove_tree(folder, NULL);
}

static void prepare(void) {
    if (folder[0]) return;
    const char *below = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(folder, sizeof folder, "%s/forage-files-XXXXXX", below);
    FUZZ_CHECK(mkdtemp(folder));
    atexit(remove_all);
}

static void write_file(const char *name, const void *head, size_t n_head, const void *rest,
                       size_t n_rest) {
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    FUZZ_CHECK(f && fwrite(head, 1, n_head, f) == n_head && fwrite(rest, 1, n_rest, f) == n_rest);
    fclose(f);
}

static void keys(const uint8_t *data, size_t size) {
    char head[80] = "forage keys 1 ";
    unsigned char sum[32];
    fo_sha256_of(sum, data, size);
    fo_hex_write(head + 14, sum, 32);
    head[78] = '\n';
    write_file("keys", head, 79, data, size);
    key_table *t = NULL;
    fo_err err = {0};
    int rc = keys_read(&t, folder, &err);
    if (rc) {
        FUZZ_CHECK(err.code == rc && err.msg[0]);
        return;
    }
    for (size_t i = 0; i < key_table_count(t); i++) {
        const access_key *k = key_table_at(t, i);
        FUZZ_CHECK(strlen(k->id) == KEY_ID_CHARS && k->tenant && k->tenant[0]);
        FUZZ_CHECK(k->n_collections <= KEY_LIST_MAX && k->n_groups <= KEY_LIST_MAX);
        for (size_t c = 0; c < k->n_collections; c++)
            FUZZ_CHECK(access_key_may_use(k, k->collections[c]));
        char text[KEY_ID_CHARS + 60]; /* a secret that nobody has */
        snprintf(text, sizeof text, "fk_%s_%s", k->id + 2, "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
        FUZZ_CHECK(!key_table_find(t, text));
    }
    key_table_drop(t);
}

/* Slots of the ledger: what the input lacks is zeroes; every record's checksum is right. */
static void ledger_file(const uint8_t *data, size_t size) {
    static unsigned char file[LEDGER_SLOTS * SLOT];
    memset(file, 0, sizeof file);
    memcpy(file, data, size < sizeof file ? size : sizeof file);
    memcpy(file, "FORAGELG\1\0\0\0", 12);
    uint32_t crc = (uint32_t)crc32_z(0, file, SLOT - 4);
    memcpy(file + SLOT - 4, &crc, 4);
    for (uint64_t slot = 1; slot < LEDGER_SLOTS; slot++) {
        unsigned char *r = file + slot * SLOT;
        uint32_t magic;
        memcpy(&magic, r, 4);
        if (!magic) continue;
        memcpy(r, (const uint32_t[]){0x3152474c}, 4);
        crc = (uint32_t)crc32_z(0, (const void *)&slot, sizeof slot);
        crc = (uint32_t)crc32_z(crc, r, SLOT - 4);
        memcpy(r + SLOT - 4, &crc, 4);
    }
    write_file("ledger", file, sizeof file, "", 0);
    char path[200];
    snprintf(path, sizeof path, "%s/ledger", folder);
    ledger_view v;
    fo_err err = {0};
    int rc = ledger_read(path, &v, &err);
    if (rc) {
        FUZZ_CHECK(err.code == rc && err.msg[0] && !v.entries);
        return;
    }
    for (size_t i = 0; i < v.n; i++) {
        FUZZ_CHECK(i == 0 || v.entries[i - 1].now.collection < v.entries[i].now.collection);
        FUZZ_CHECK(memchr(v.entries[i].now.name, 0, sizeof v.entries[i].now.name));
        for (int k = 0; k < 2; k++) {
            const ledger_state *s = ledger_at(&v, v.entries[i].now.collection, v.last - k);
            FUZZ_CHECK(!s || (!s->deleted && s->collection == v.entries[i].now.collection));
        }
    }
    ledger_view_deinit(&v);
}

static void tier(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    FUZZ_CHECK(text);
    if (size) memcpy(text, data, size);
    text[size] = 0;
    rate_tier t;
    fo_err err = {0};
    int rc = rate_tier_read(&t, text, &err);
    if (rc) {
        FUZZ_CHECK(err.code == rc && err.msg[0]);
    } else {
        rate_limits *l;
        rate_ticket ticket;
        rate_refusal no;
        FUZZ_CHECK(t.name[0] && strlen(t.name) <= NAME_MOST && t.requests_per_s >= 0);
        FUZZ_CHECK(t.burst >= 0 && t.tokens_per_min >= 0 && t.concurrent >= 0);
        FUZZ_CHECK(rate_limits_create(&l, &t, 1, NULL) == FO_OK);
        const rate_tier *found = rate_limits_tier(l, t.name);
        FUZZ_CHECK(found);
        for (int i = 0; i < 3; i++) {
            if (!rate_limits_admit(l, "who", 3, found, true, &ticket, &no)) {
                FUZZ_CHECK(no.limit < RATE_N_LIMITS && no.retry_s >= 0);
                continue;
            }
            rate_limits_charge(l, &ticket, 100);
            if (i) rate_limits_done(l, &ticket);
        }
        rate_limits_free(l);
    }
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static void (*const kinds[])(const uint8_t *, size_t) = {keys, ledger_file, tier};
    if (size == 0) return 0;
    prepare();
    kinds[data[0] % 3](data + 1, size - 1);
    return 0;
}
