/* A folder of computed KV whose segment file was changed: an input is a string of edits of four bytes, place (two
 * bytes, as a share of the file), what to do, value. Promises: the folder opens; a record is found with the bytes
 * that were put there or not at all; a file whose
 * bytes alone were changed does not pass its check. Where the
 * input begins with an odd byte the headers' checksums are made right again, as an attacker would: then what
 * is found may be wrong, and nothing else. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "engine/kv/kv_segment.h"
#include "engine/kv/kv_store.h"
#include "kernels/file.h"
#include "tests/fuzz/fuzz.h"

enum { RECORDS = 5, RECORD_BYTES = 700, STEP = 512, RECORD_HEADER = 128 };

static const unsigned char fingerprint[32] = {7};
static const kv_layout layout = {
    .n_layers = 1, .n_kv_heads = 1, .k_dim = 8, .v_dim = 8, .page_tokens = 4, .type = KV_BF16};
static char folder[128], used[160], segment_file[200];
static char *sound;
static size_t n_sound;

static void remove_all(void) {
    fo_remove_tree(folder, NULL);
    free(sound);
}

static void record(int i, unsigned char key[32], unsigned char bytes[RECORD_BYTES]) {
    memset(key, i + 1, 32);
    for (int k = 0; k < RECORD_BYTES; k++) bytes[k] = (unsigned char)(i * 31 + k * 7);
}

static kv_store *open_store(void) {
    kv_store *s = NULL;
    fo_err err = {0};
    kv_store_options o = {.dir = used, .ram_bytes = 0, .disk_bytes = 64 << 20};
    int rc = kv_store_open(&s, &o, fingerprint, &layout, &err);
    if (rc) fprintf(stderr, "%s\n", err.msg);
    FUZZ_CHECK(rc == FO_OK);
    return s;
}

static void prepare(void) {
    if (folder[0]) return;
    const char *below = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(folder, sizeof folder, "%s/forage-kv-XXXXXX", below);
    FUZZ_CHECK(mkdtemp(folder));
    atexit(remove_all);
    snprintf(used, sizeof used, "%s/kv", folder);
    kv_store *s = open_store();
    for (int i = 0; i < RECORDS; i++) {
        unsigned char key[32], bytes[RECORD_BYTES];
        record(i, key, bytes);
        kv_store_item item = {.key = key, .kind = KV_STORE_CHUNK, .n_tokens = 4, .reuse = 9};
        FUZZ_CHECK(kv_store_put(s, &item, bytes, RECORD_BYTES, NULL) == FO_OK);
    }
    kv_store_flush(s);
    kv_store_close(s);
    for (uint32_t id = 0; id < 4 && !sound; id++) {
        char *path = kv_segment_path(used, id);
        FUZZ_CHECK(path);
        if (fo_file_read(path, 1 << 20, &sound, &n_sound, NULL) == FO_OK)
            snprintf(segment_file, sizeof segment_file, "%s", path);
        free(path);
    }
    FUZZ_CHECK(sound && kv_segment_check((const void *)sound, n_sound, NULL) == FO_OK);
}

/* The CRC-32 at the end of the file's header and of each record's. */
static void make_right(unsigned char *file, size_t n) {
    for (size_t at = 0; at + RECORD_HEADER <= n; at += STEP) {
        size_t head = at == 0 ? 44 : RECORD_HEADER - 4;
        if (at && memcmp(file + at, "KVR1", 4) != 0) continue;
        uint32_t crc = (uint32_t)crc32_z(0, file + at, head);
        memcpy(file + at + head, &crc, 4);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    prepare();
    bool forged = size > 0 && data[0] % 2, reshaped = false;
    size_t n = n_sound;
    unsigned char *file = malloc(2 * n_sound);
    FUZZ_CHECK(file);
    memcpy(file, sound, n_sound);
    for (size_t e = 1; e + 4 <= size; e += 4) {
        size_t at = (size_t)(data[e] << 8 | data[e + 1]) * n >> 16;
        if (n == 0) break;
        if (data[e + 2] == 255) {
            n = at; /* cut off */
            reshaped = true;
        } else if (data[e + 2] == 254) { /* a record twice */
            size_t step = at / STEP * STEP, more = n - step < STEP * 3 ? n - step : STEP * 3;
            if (n + more > 2 * n_sound) continue;
            memcpy(file + n, file + step, more);
            n += more;
            reshaped = true;
        } else {
            file[at] ^= data[e + 3];
        }
    }
    if (forged) make_right(file, n);
    bool same = n == n_sound && memcmp(file, sound, n) == 0;
    bool good = kv_segment_check(file, n, NULL) == FO_OK;
    FUZZ_CHECK(same ? good : forged || reshaped || !good);
    fo_remove_tree(used, NULL);
    FUZZ_CHECK(fo_make_dirs(used, NULL) == FO_OK);
    FILE *f = fopen(segment_file, "wb");
    FUZZ_CHECK(f && fwrite(file, 1, n, f) == n);
    fclose(f);
    kv_store *s = open_store();
    for (int i = 0; i < RECORDS; i++) {
        unsigned char key[32], want[RECORD_BYTES];
        kv_store_ref ref;
        record(i, key, want);
        int rc = kv_store_get(s, KV_STORE_CHUNK, key, &ref, NULL);
        FUZZ_CHECK(rc == FO_OK || rc == FO_ENOTFOUND);
        FUZZ_CHECK(!same || rc == FO_OK);
        if (rc) continue;
        FUZZ_CHECK(forged ||
                   (ref.n_bytes == RECORD_BYTES && memcmp(ref.data, want, RECORD_BYTES) == 0));
        volatile unsigned char sum = 0; /* all of them can be read */
        for (size_t k = 0; k < ref.n_bytes; k++) sum ^= ref.data[k];
        kv_store_release(s, &ref);
    }
    kv_store_close(s);
    free(file);
    return 0;
}
