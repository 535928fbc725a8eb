/* ignore_rules.h - the rules of .gitignore files, as git reads them: which paths below a folder stay out.
 *
 *     ignore_rules *top, *deep;
 *     ignore_rules_create(&top, NULL, "", &err);
 *     ignore_rules_add(top, "*.log\n!keep.log\nbuild/\n", 23, &err);
 *     ignore_rules_create(&deep, top, "docs", &err);          // docs/.gitignore goes before the one above
 *     ignore_rules_judge(deep, "docs/a.log", false)           // IGNORE_OUT
 *
 * Source: gitignore(5). The last rule that matches decides, deeper folders before those above; `!` takes
 * in again; a slash before the end ties a rule to its folder; one at the end means folders alone; `**`
 * spans folders. What lies in a folder that is out stays out, whatever rules say of it: who walks must
 * not go in.
 *
 * Rules come from strangers: a path is matched in time of at most its length times the rule's. A rule of
 * more than IGNORE_RULE_BYTES matches nothing, as does one that git calls malformed. */
#ifndef FORAGE_DATA_IGNORE_RULES_H
#define FORAGE_DATA_IGNORE_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include "kernels/error.h"

enum { IGNORE_RULE_BYTES = 1024 };

typedef struct ignore_rules
    ignore_rules; /* of one folder; any thread may judge once all are added */

enum ignore_verdict { IGNORE_UNDECIDED, IGNORE_OUT, IGNORE_IN };

/* Without a rule yet. folder: the path below the root, "" the root itself; above: the rules of the folders
 * that hold it (NULL: none), which must outlive it. */
int ignore_rules_create(ignore_rules **out, const ignore_rules *above, const char *folder,
                        fo_err *err);
void ignore_rules_free(ignore_rules *r); /* not those above; NULL is fine */
/* The lines of a file behind those that are there. */
int ignore_rules_add(ignore_rules *r, const char *text, size_t n, fo_err *err);
/* path: below the root, in the folder of r or deeper. r NULL: undecided. */
enum ignore_verdict ignore_rules_judge(const ignore_rules *r, const char *path, bool is_folder);

#endif
