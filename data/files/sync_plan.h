/* sync_plan.h - what brings documents in step with a folder: a listing of the folder and what the last
 * run left, in; steps, out. It reads no file and changes nothing.
 *
 *     sync_plan_doubts(&found, known, n, &opt, doubt, &err);  // of which files must the content be known?
 *     ... hashes of those are taken ...
 *     sync_plan_make(&plan, &found, hashes, known, n, &opt, &err);
 *     for (i < plan.n) ... plan.steps[i] ...                  // moves, then what is put, then removals
 *     sync_plan_deinit(&plan);
 *
 * A file is unchanged where size, mtime, ctime and inode are, or else where its content is. One that went,
 * and whose content stands under a new path, has moved. Documents are removed where the file is known to
 * be gone: not where its folder could not be read; not where the folder has become empty; and not where
 * more would go than the limit allows: then none goes (WITHHELD). A document whose content the folder
 * still holds under another path (of a move that was interrupted, say) goes, and does not count: whoever
 * carries the plan out sees first that a document of that content is there. Where it stands in a file that
 * failed, the old document stays (KEPT). */
#ifndef FORAGE_DATA_SYNC_PLAN_H
#define FORAGE_DATA_SYNC_PLAN_H

#include "data/files/folder_walk.h"

/* What the last run left of a file. */
typedef struct sync_known {
    const char *path;
    int64_t size, mtime_ns, ctime_ns; /* mtime 0: it may have changed since; the content says */
    uint64_t inode;
    unsigned char sha256[32];         /* of its bytes */
    unsigned char content_sha256[32]; /* of the document, for who carries the plan out */
    const char *error;                /* why it could not be taken in; NULL: it was */
    bool stored; /* a document was made of it, now or (with an error) earlier */
    bool held;   /* and the collection holds that still, as it was made */
} sync_known;

/* Is f, by all that the system says of it without being read, what `k` was? */
bool sync_same_stat(const folder_file *f, const sync_known *k);

typedef struct sync_hash {
    bool known;
    unsigned char sha256[32];
} sync_hash;

/* How many documents may go at once. */
typedef struct sync_limit {
    bool share;       /* n is of a hundred of the documents that there are */
    int64_t n;        /* < 0: as many as there are */
    int64_t at_least; /* a share of few is none: so many may go in any case */
} sync_limit;
/* "20", "30%"; false: neither. */
bool sync_limit_read(sync_limit *out, const char *text);
#define SYNC_LIMIT_DEFAULT ((sync_limit){.share = true, .n = 50, .at_least = 5})

typedef struct sync_options {
    bool retry_failed; /* files that failed are tried again though they are the same */
    sync_limit limit;
} sync_options;

enum sync_kind {
    SYNC_UNCHANGED, /* nothing to do */
    SYNC_NOTED,     /* the content is unchanged, the rest of what is known of it is not */
    SYNC_FAILED,    /* it failed, and is the same still */
    SYNC_MOVED,     /* from `known` to `file` */
    SYNC_PUT,       /* new (known NULL) or changed */
    SYNC_REMOVED,   /* its document goes */
    SYNC_FORGOTTEN, /* gone, and no document was made of it */
    SYNC_KEPT,      /* nobody could see whether it is there, or a file of its content failed: its
                       document stays */
    SYNC_WITHHELD,  /* it would go, but too many would */
    SYNC_KINDS
};

typedef struct sync_step {
    enum sync_kind kind;
    const folder_file *file; /* NULL: there is none */
    const sync_known *known; /* NULL: nothing is */
    bool elsewhere; /* REMOVED: the folder holds the same content under another path, of which
                                there is a document or one is put */
} sync_step;

typedef struct sync_plan {
    sync_step *steps; /* in order of kind, then of path */
    size_t n, count[SYNC_KINDS];
    fo_err withheld; /* code 0: no removal is withheld; else why */
} sync_plan;

/* Both lists are in byte order of their paths; they must outlive the plan. doubt[found->n] is set. */
int sync_plan_doubts(const folder_listing *found, const sync_known *known, size_t n,
                     const sync_options *opt, bool *doubt, fo_err *err);
/* hashes[found->n]: what is not known is taken for something new. */
int sync_plan_make(sync_plan *out, const folder_listing *found, const sync_hash *hashes,
                   const sync_known *known, size_t n, const sync_options *opt, fo_err *err);
void sync_plan_deinit(sync_plan *p);

#endif
