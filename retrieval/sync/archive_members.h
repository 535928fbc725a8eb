/* archive_members.h - an archive as a list of the files in it, those of archives within it among them.
 *
 *     archive_members m;
 *     archive_members_read(&m, s, &(archive_source){.bytes = p, .n = n, .file_name = "pack.zip", .spool_dir = home}, &err);
 *     for (i < m.n) if (m.list[i].outcome == MEMBER_READ) archive_members_get(&m, i, &bytes, &err);
 *     archive_members_deinit(&m);
 *
 * It is unpacked to a spool first (kernels/spool.h), by workers that then wait for nobody; no more than one member is held
 * in memory. 20,000 files, 64 MiB each, 1 GiB together, archives in archives included. */
#ifndef FORAGE_RETRIEVAL_ARCHIVE_MEMBERS_H
#define FORAGE_RETRIEVAL_ARCHIVE_MEMBERS_H

#include "data/extract/archive.h"
#include "kernels/spool.h"
#include "retrieval/collections/collections.h"

typedef struct archive_file {
    char *name, *why; /* as in archive_member; of one within another archive "inner.zip/a.md" */
    uint64_t at, n;   /* where its bytes are in the spool */
    enum archive_outcome outcome;
} archive_file;

typedef struct archive_members {
    archive_file *list;
    size_t n, cap;
    fo_err
        bad; /* of the archive as a whole (code 0: nothing): what stands in the list came before */
    spool *bytes;
    uint64_t begun; /* where the bytes of the member at hand begin */
} archive_members;

typedef struct archive_source {
    const void *bytes;
    size_t n;
    const char *file_name; /* what messages call it */
    const char *spool_dir;
    const atomic_bool *cancel; /* NULL: none */
} archive_source;

/* *out is to be deinited whatever is returned. Damage and bombs are no errors (out->bad); FO_ENOMEM, FO_EIO, FO_ENOSPC,
 * FO_ECANCELLED are. */
int archive_members_read(archive_members *out, service *s, const archive_source *from, fo_err *err);
void archive_members_deinit(archive_members *m);
/* The bytes of one that is MEMBER_READ, list[i].n of them: caller frees *bytes. */
int archive_members_get(archive_members *m, size_t i, char **bytes, fo_err *err);

#endif
