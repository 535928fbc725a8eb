/* folder_sync_archives.h - archives in a folder that is kept in step: each file in one is as a file of the folder,
 * `pack.zip/notes/a.md`, so that the plan (data/files/sync_plan.h) sees what is new, changed, moved or gone in it. The
 * same holds of the parts of a large text, `big.log/part-000001` (data/extract/text_parts.h), and of one in an archive,
 * `pack.zip/big.log/part-000001`.
 *
 *     sync_archives a = {.s = s, .folder = fd, ...};
 *     sync_archives_expand(&a, &found, &known, retry_failed, &err);   // before the plan
 *     ... found.files[i].member: 0, or a number for the calls below ...
 *     sync_archives_hash(&a, member)                                  // its content is always known
 *     sync_archives_get(&a, member, &bytes, &n, &why);                // when it is put
 *     for (i < a.n) ... a.list[i] ...                                 // what the store is to note of the archives
 *     sync_archives_deinit(&a);
 *
 * An archive that is as it was (by its times, else by its content) is not opened: its members are those that are known.
 * One that is damaged is among the unseen: what is known of members that it no longer shows stays. */
#ifndef FORAGE_RETRIEVAL_FOLDER_SYNC_ARCHIVES_H
#define FORAGE_RETRIEVAL_FOLDER_SYNC_ARCHIVES_H

#include "data/extract/text_parts.h"
#include "retrieval/sync/archive_members.h"
#include "retrieval/sync/folder_sync_known.h"

typedef struct sync_archive { /* one that was looked into, or has other times than were noted */
    folder_file file;
    unsigned char sha256[32];
    fo_err bad;   /* code 0: nothing is wrong with it */
    bool is_text; /* its members are parts of it */
} sync_archive;

typedef struct sync_member {
    size_t archive,
        at; /* of list, and of its members (of a text: the byte that it begins at); SIZE_MAX: it was not looked into */
    size_t n;                        /* bytes of a part of a text */
    size_t number;                   /* of the part, from 1; 0: it is none */
    uint32_t first_row, header_rows; /* as text_part has them */
    text_kind kind;                  /* of the text */
    const char *text;                /* its file's name, by which its parts are read, too */
    sync_hash hash;
} sync_member;

/* Where a text comes from: a file of the folder, or bytes of an archive that was unpacked. */
typedef struct sync_text {
    int fd;    /* -1: it lies in the spool */
    spool *in; /* not owned */
    uint64_t at, end;
} sync_text;

/* A text that must be gone through from its beginning to get at its parts, as far as it was gone through. */
typedef struct sync_reading {
    size_t of;     /* number of the archive in the list, from 1; 0: none */
    size_t member; /* of that archive's, which is at hand; of a file: 0 */
    sync_text from;
    bool ended;
    text_cutter cutter;
    text_part *parts; /* that came out and were not asked for yet; bytes owned */
    size_t n, cap;
} sync_reading;

typedef struct sync_archives {
    /* the caller's */
    service *s;
    int folder;
    int64_t max_file_bytes; /* 0: any size */
    const atomic_bool *cancel;
    /* results */
    sync_archive *list;
    size_t n;
    /* folder_sync_archives.c's */
    sync_member *members;
    size_t n_members, cap_members;
    char **texts; /* names that members have */
    size_t n_texts;
    archive_members open; /* of list[at_hand - 1]; at_hand 0: none is */
    size_t at_hand;
    sync_reading reading;
} sync_archives;

/* Archives go from *found (and what is known of them from *known), their members come in; kinds that are not read are added
 * to found->skipped. */
int sync_archives_expand(sync_archives *a, folder_listing *found, known_files *known,
                         bool retry_failed, fo_err *err);
const sync_hash *sync_archives_hash(const sync_archives *a, size_t member);
/* Bytes of a member, which the caller frees, and what else is known of it (first_row, header_rows; of a part, file_name, which
 * stands until the end). FO_EINVAL and others: why it cannot be read; FO_ENOMEM and FO_ECANCELLED are the run's. */
int sync_archives_get(sync_archives *a, size_t member, ingest_document *to, fo_err *why);
void sync_archives_deinit(sync_archives *a);

#endif
