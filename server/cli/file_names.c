#include "server/cli/file_names.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool file_names_one_there(char *const *paths, int n) {
    for (int i = 0; i < n; i++)
        if (!strcmp(paths[i], "-") || access(paths[i], F_OK) == 0) return true;
    return false;
}

void file_names_join(fo_buf *out, const char *folder, const char *child) {
    fo_buf_clear(out);
    fo_buf_str(out, folder);
    if (*folder && *child && folder[strlen(folder) - 1] != '/') fo_buf_char(out, '/');
    fo_buf_str(out, child);
}

/* Without "." and doubled or trailing slashes; NULL where it holds ".." (which says nothing about the
 * name before it where that is a link) or memory ran out. */
static char *plain(const char *path) {
    fo_buf b = {0};
    if (*path == '/') fo_buf_char(&b, '/');
    for (const char *p = path; *p;) {
        p += strspn(p, "/");
        size_t n = strcspn(p, "/");
        if (n == 2 && p[0] == '.' && p[1] == '.') {
            fo_buf_free(&b);
            return NULL;
        }
        if (n && !(n == 1 && p[0] == '.')) {
            if (b.len && b.data[b.len - 1] != '/') fo_buf_char(&b, '/');
            fo_buf_add(&b, p, n);
        }
        p += n;
    }
    fo_buf_str(&b, "");
    return fo_buf_take(&b, NULL);
}

/* From the root, the last name as it is. */
static char *from_root(const char *path, fo_err *err) {
    char copy[PATH_MAX];
    size_t n = strlen(path);
    while (n > 1 && (path[n - 1] == '/' || (path[n - 1] == '.' && path[n - 2] == '/'))) n--;
    if (n >= sizeof copy) {
        fo_fail(err, FO_ELIMIT, "the path is longer than %d bytes", PATH_MAX - 1);
        return NULL;
    }
    memcpy(copy, path, n);
    copy[n] = 0;
    char *slash = strrchr(copy, '/'), *last = slash ? slash + 1 : copy;
    bool whole = !*last || !strcmp(last, ".") || !strcmp(last, "..");
    const char *folder = whole ? copy : !slash ? "." : slash == copy ? "/" : copy;
    if (!whole && slash > copy) *slash = 0;
    char *real = realpath(folder, NULL);
    if (!real) {
        fo_fail_errno(err, "cannot open it");
        return NULL;
    }
    fo_buf b = {0};
    file_names_join(&b, real, whole ? "" : last);
    free(real);
    char *name = fo_buf_take(&b, NULL);
    if (!name) fo_no_memory(err);
    return name;
}

/* What of `name` is below `base`, both from the root; NULL: it is not. */
static const char *below(const char *name, const char *base) {
    size_t n = strlen(base);
    if (strncmp(name, base, n) != 0) return NULL;
    return !name[n] ? name + n : name[n] == '/' ? name + n + 1 : NULL;
}

int file_names_make(file_names *out, const char *path, const char *base, fo_err *err) {
    *out = (file_names){0};
    char *root = realpath(base ? base : ".", NULL);
    if (!root)
        return base ? fo_fail_errno(err, "cannot open %s", base)
                    : fo_fail_errno(err, "cannot tell the working folder");
    int rc = FO_OK;
    out->name[0] = from_root(path, err);
    if (out->name[0]) {
        /* All is below the root: to whoever works there nothing is. */
        const char *rest = strcmp(root, "/") ? below(out->name[0], root) : NULL;
        if (rest && !(out->name[1] = strdup(rest))) rc = fo_no_memory(err);
        /* Below another base, what was typed may be the name of another file. */
        out->name[2] = base && *path != '/' ? NULL : plain(path);
        for (int i = 0; i < 2 && out->name[2]; i++)
            if (out->name[i] && !strcmp(out->name[i], out->name[2])) {
                free(out->name[2]);
                out->name[2] = NULL;
            }
        out->new_name = out->name[1] ? out->name[1] : out->name[0];
    } else {
        rc = err && err->code ? err->code : FO_EIO;
    }
    free(root);
    if (rc) file_names_deinit(out);
    return rc;
}

void file_names_deinit(file_names *n) {
    for (int i = 0; i < FILE_NAMES; i++) free(n->name[i]);
    *n = (file_names){0};
}
