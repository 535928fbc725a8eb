/* folder_sync_archives.h - archives in a folder that is kept in step: each file in one is as a file of the folder,
 * `pack.zip/notes/a.md`, so that the plan (data/files/sync_plan.h) sees what is new, changed, moved or gone in it. The
 * same holds of the parts of a large text, `big.log/part-000001` (data/extract/text_parts.h).
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

#include "retrieval/service/archive_members.h"
#include "retrieval/service/folder_sync_known.h"

typedef struct sync_archive { /* one that was looked into, or has other times than were noted */
    folder_file file;
    unsigned char sha256[32];
    fo_err bad;   /* code 0: nothing is wrong with it */
    bool is_text; /* its members are parts of it */
} sync_archive;

typedef struct sync_member {
    size_t archive,
        at; /* of list, and of its members (of a text: the byte that it begins at); SIZE_MAX: it was not looked into */
    size_t n; /* bytes of a part of a text */
    sync_hash hash;
} sync_member;

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
    archive_members open; /* of list[at_hand - 1]; at_hand 0: none is */
    size_t at_hand;
} sync_archives;

/* Archives go from *found (and what is known of them from *known), their members come in; kinds that are not read are added
 * to found->skipped. */
int sync_archives_expand(sync_archives *a, folder_listing *found, known_files *known,
                         bool retry_failed, fo_err *err);
const sync_hash *sync_archives_hash(const sync_archives *a, size_t member);
/* Bytes of a member; caller frees. FO_EINVAL and others: why it cannot be read; FO_ENOMEM and FO_ECANCELLED are the run's. */
int sync_archives_get(sync_archives *a, size_t member, char **bytes, size_t *n, fo_err *why);
void sync_archives_deinit(sync_archives *a);

#endif
