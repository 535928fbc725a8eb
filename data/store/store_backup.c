/* The checksum beside a copy of a store. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/store/store.h"
#include "kernels/file.h"
#include "kernels/hex.h"
#include "kernels/paths.h"
#include "kernels/sha256.h"

static int hash_file(const char *path, char hex[65], fo_err *err) {
    enum { PIECE = 1 << 18 };
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return fo_fail_errno(err, "cannot open %s", path);
    fo_sha256 h;
    char *piece = malloc(PIECE);
    unsigned char sha[32];
    int rc = FO_OK;
    if (!piece) rc = fo_no_memory(err);
    fo_sha256_begin(&h);
    for (ssize_t n; !rc && (n = read(fd, piece, PIECE)) != 0;) {
        if (n < 0 && errno == EINTR) continue;
        if (n < 0)
            rc = fo_fail_errno(err, "cannot read %s", path);
        else
            fo_sha256_add(&h, piece, (size_t)n);
    }
    if (!rc) {
        fo_sha256_end(&h, sha);
        fo_hex_write(hex, sha, sizeof sha);
    }
    free(piece);
    close(fd);
    return rc;
}

/* The line that `sha256sum` writes. NULL: no memory. */
static char *checksum_line(const char *path, const char *hex) {
    char *line = NULL;
    return asprintf(&line, "%s  %s\n", hex, fo_base_name(path)) < 0 ? NULL : line;
}

int store_backup_seal(const char *path, fo_err *err) {
    char hex[65], *name = NULL, *line = NULL;
    int rc = hash_file(path, hex, err);
    if (rc) return rc;
    line = checksum_line(path, hex);
    if (!line || asprintf(&name, "%s.sha256", path) < 0) {
        free(line);
        return fo_no_memory(err);
    }
    rc = fo_file_put(name, line, strlen(line), err);
    free(name);
    free(line);
    return rc;
}

int store_backup_check(const char *path, fo_err *err) {
    char *name = NULL, *said = NULL, *line = NULL, hex[65];
    size_t n = 0;
    if (asprintf(&name, "%s.sha256", path) < 0) return fo_no_memory(err);
    int rc =
        access(name, F_OK) == 0 || errno != ENOENT
            ? fo_file_read(name, 4096, &said, &n, err)
            : fo_fail(err, FO_ENOTFOUND, "it has no checksum: %s is not there", fo_base_name(name));
    if (rc == FO_ELIMIT) rc = fo_fail(err, FO_ECORRUPT, "%s is no checksum", fo_base_name(name));
    if (!rc) rc = hash_file(path, hex, err);
    if (!rc) {
        line = checksum_line(path, hex);
        if (!line)
            rc = fo_no_memory(err);
        else if (n != strlen(line) || memcmp(line, said, n) != 0)
            rc = fo_fail(err, FO_ECORRUPT, "it does not have the checksum that %s gives",
                         fo_base_name(name));
    }
    free(name);
    free(said);
    free(line);
    return rc;
}
