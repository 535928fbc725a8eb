/* replay.c - runs a fuzz target over its stored corpus, as a test: every file in
 * tests/fuzz/corpus/NAME, where the program is called fuzz_NAME_test, or the files named. */
#include <dirent.h>
#include <string.h>

#include "kernels/file.h"
#include "tests/fuzz/fuzz.h"

static int replay(const char *path) {
    fo_err err = {0};
    char *data;
    size_t size;
    if (fo_file_read(path, 64u << 20, &data, &size, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        return 1;
    }
    /* An exact copy, so that reading one byte too far is seen. */
    uint8_t *exact = malloc(size ? size : 1);
    if (!exact) return 1;
    memcpy(exact, data, size);
    free(data);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    return 0;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        if (replay(argv[i])) return 1;
    if (argc > 1) return 0;
    const char *slash = strrchr(argv[0], '/'), *base = slash ? slash + 1 : argv[0];
    char folder[4096], path[8192];
    int n = (int)strlen(base) - (int)strlen("_test");
    if (n < 0 || strncmp(base, "fuzz_", 5) != 0 || strcmp(base + n, "_test") != 0) return 1;
    snprintf(folder, sizeof folder, "tests/fuzz/corpus/%.*s", n - 5, base + 5);
    DIR *d = opendir(folder);
    int files = 0, failed = 0;
    for (struct dirent *e; d && (e = readdir(d));) {
        if (e->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        failed += replay(path);
        files++;
    }
    if (d) closedir(d);
    printf("1..1\n%s 1 - %d files of %s replayed\n", files && !failed ? "ok" : "not ok", files,
           folder);
    return files && !failed ? 0 : 1;
}
