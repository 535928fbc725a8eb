/* The files of an index as they are at one moment, held open: a merge of the process that writes them may
 * remove their names, and what was opened stays whole, since a sealed file never changes. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "index/search/search_index_internal.h"
#include "kernels/file.h"

/* A manifest whose files go while they are opened was replaced meanwhile: the next one is read. */
enum { TRIES = 100 };

void search_index_unhold(search_held *h) {
    for (size_t i = 0; i < h->n; i++) close(h->files[i].fd);
    free(h->files);
    free(h->manifest);
    *h = (search_held){0};
}

static int open_file(const char *dir, uint64_t number, search_held_file *f, fo_err *err) {
    char path[4096];
    struct stat st;
    snprintf(f->name, sizeof f->name, "%016llx.seg", (unsigned long long)number);
    if (snprintf(path, sizeof path, "%s/%s", dir, f->name) >= (int)sizeof path)
        return fo_fail(err, FO_ELIMIT, "the index folder's name is too long");
    f->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (f->fd < 0) return fo_fail_errno(err, "cannot open %s", path);
    if (fstat(f->fd, &st) == 0) {
        f->size = (uint64_t)st.st_size;
        return FO_OK;
    }
    int rc = fo_fail_errno(err, "cannot stat %s", path);
    close(f->fd);
    return rc;
}

static int hold(const char *dir, search_held *h, fo_err *err) {
    search_manifest_file *list = NULL;
    size_t n = 0;
    int rc = search_manifest_load(dir, &h->manifest, &h->manifest_bytes, &list, &n, err);
    if (!rc && !(h->files = calloc(n + 1, sizeof *h->files))) rc = fo_no_memory(err);
    for (; !rc && h->n < n; h->n++)
        if ((rc = open_file(dir, list[h->n].file, &h->files[h->n], err))) break;
    free(list);
    return rc;
}

int search_index_hold(search_held *out, const char *dir, fo_err *err) {
    char manifest[4096];
    int rc = FO_ENOTFOUND;
    snprintf(manifest, sizeof manifest, "%s/MANIFEST", dir);
    for (int i = 0; i < TRIES && rc == FO_ENOTFOUND; i++) {
        *out = (search_held){0};
        if (access(manifest, F_OK) != 0) return fo_fail_errno(err, "cannot open %s", manifest);
        rc = hold(dir, out, err);
        if (rc) search_index_unhold(out);
    }
    return rc;
}
