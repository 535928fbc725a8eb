/* The manifest of an index beside two sound segment files: its body is the input, its checksum is made right.
 * An odd first byte makes of the rest the whole file instead. Promises: listing it is refused with a
 * sentence or names files; opening the index works whatever it says, with files left out or put aside; what
 * is found then are chunks that were put there. */
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "index/search/search_index_internal.h"
#include "index/search/search_workers.h"
#include "kernels/file.h"
#include "tests/fuzz/fuzz.h"

enum { CHUNKS = 20, HEADER = 16 };

static char folder[128], made[160], used[160];
static search_workers *workers;

static search_index_options options(void) {
    return (search_index_options){.tenant = "default", .workers = workers};
}

static void remove_all(void) {
    fo_remove_tree(folder, NULL);
}

static void add(search_index *ix, int from, int to, int64_t epoch) {
    for (int i = from; i < to; i++) {
        char text[64];
        int n = snprintf(text, sizeof text, "common word%d", i);
        search_chunk_in c = {.chunk = i + 1,
                             .document = 1,
                             .title = "",
                             .text = text,
                             .text_len = (size_t)n,
                             .metadata = ""};
        FUZZ_CHECK(search_index_add(ix, &c, NULL) == FO_OK);
    }
    FUZZ_CHECK(search_index_publish(ix, epoch, NULL) == FO_OK &&
               search_index_seal(ix, NULL) == FO_OK);
}

static void prepare(void) {
    if (folder[0]) return;
    const char *below = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(folder, sizeof folder, "%s/forage-manifest-XXXXXX", below);
    FUZZ_CHECK(mkdtemp(folder));
    atexit(remove_all);
    snprintf(made, sizeof made, "%s/made", folder);
    snprintf(used, sizeof used, "%s/used", folder);
    FUZZ_CHECK(search_workers_create(&workers, 1, NULL) == FO_OK);
    search_index *ix;
    size_t dropped;
    search_index_options o = options();
    FUZZ_CHECK(search_index_open(&ix, made, &o, &dropped, NULL) == FO_OK);
    add(ix, 0, CHUNKS / 2, 1);
    add(ix, CHUNKS / 2, CHUNKS, 2);
    FUZZ_CHECK(search_index_remove(ix, 3, NULL) == FO_OK);
    FUZZ_CHECK(search_index_publish(ix, 3, NULL) == FO_OK);
    FUZZ_CHECK(search_index_close(ix, true, NULL) == FO_OK);
}

/* The segments as they were made, and the manifest that the input says. */
static void lay_out(const uint8_t *data, size_t size) {
    search_manifest_file *files;
    size_t n;
    char from[240], to[240];
    unsigned char head[HEADER] = "FORAGEMF";
    fo_remove_tree(used, NULL);
    FUZZ_CHECK(fo_make_dirs(used, NULL) == FO_OK);
    FUZZ_CHECK(search_manifest_list(made, &files, &n, NULL) == FO_OK);
    for (size_t i = 0; i < n; i++) {
        snprintf(from, sizeof from, "%s/%016llx.seg", made, (unsigned long long)files[i].file);
        snprintf(to, sizeof to, "%s/%016llx.seg", used, (unsigned long long)files[i].file);
        FUZZ_CHECK(link(from, to) == 0);
    }
    free(files);
    bool whole = size > 0 && data[0] % 2;
    const uint8_t *body = size ? data + 1 : data;
    size_t n_body = size ? size - 1 : 0;
    head[8] = (unsigned char)(1 + (size ? data[0] / 2 % 3 : 2)); /* each version */
    uint32_t crc = (uint32_t)crc32_z(0, body, n_body);
    memcpy(head + 12, &crc, 4);
    snprintf(to, sizeof to, "%s/MANIFEST", used);
    FILE *f = fopen(to, "wb");
    FUZZ_CHECK(f && (whole || fwrite(head, 1, HEADER, f) == HEADER));
    FUZZ_CHECK(fwrite(body, 1, n_body, f) == n_body);
    fclose(f);
}

static void search(search_index *ix) {
    search_hit hits[2 * CHUNKS];
    size_t n;
    search_snapshot *s = search_index_acquire(ix);
    FUZZ_CHECK(search_snapshot_count(s) <= 2 * CHUNKS); /* a file may be named twice */
    FUZZ_CHECK(search_sparse(s, "common", 2 * CHUNKS, NULL, hits, &n, NULL) == FO_OK);
    for (size_t i = 0; i < n; i++)
        FUZZ_CHECK(hits[i].chunk >= 1 && hits[i].chunk <= CHUNKS && hits[i].document == 1);
    search_index_release(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    search_manifest_file *files = NULL;
    search_index *ix = NULL;
    size_t n = 0, dropped = 0;
    fo_err err = {0};
    prepare();
    lay_out(data, size);
    int rc = search_manifest_list(used, &files, &n, &err);
    FUZZ_CHECK(rc ? err.code == rc && err.msg[0] && !files : files != NULL);
    free(files);
    search_index_options o = options();
    rc = search_index_open(&ix, used, &o, &dropped, &err);
    FUZZ_CHECK(rc == FO_OK);
    search(ix);
    FUZZ_CHECK(search_index_close(ix, true, &err) == FO_OK);
    return 0;
}
