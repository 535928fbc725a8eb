/* document_acl.h - who may see a document: a list of groups, which travels as the first member of its
 * metadata ("$acl", index/filter/filter.h), so that stores and indexes need not know of it.
 *
 * No list: everybody of the tenant. An empty one: those alone who see all groups. */
#ifndef FORAGE_RETRIEVAL_DOCUMENT_ACL_H
#define FORAGE_RETRIEVAL_DOCUMENT_ACL_H

#include <stdbool.h>
#include "index/filter/filter.h"
#include "kernels/error.h"

enum { ACL_GROUPS_MAX = 64 };

/* acl: a JSON array of names; stored: a JSON object or NULL, without such a member (FO_EINVAL with the
 * field otherwise). *out is freed by the caller; NULL where there is neither. */
int document_acl_join(char **out, const char *stored, const char *acl, fo_err *err);
/* The way back: false where stored (NULL is fine) has no list. Caller frees both; *rest NULL: it has
 * nothing else. */
bool document_acl_split(const char *stored, char **rest, char **acl, fo_err *err);
/* Stored metadata with the list alone; NULL where it has none. Text that is no list leaves an empty one: what
 * cannot be read opens a document to nobody. Caller frees *out. */
int document_acl_alone(char **out, const char *stored, fo_err *err);
/* Does who sees what matches `sees` (NULL: everything) see a document of this metadata? */
int document_acl_sees(const search_filter *sees, const char *stored, bool *yes, fo_err *err);
/* Who does not see what is there does not write over it: FO_EDENIED (field "id"). */
int document_acl_refuse_unseen(const search_filter *sees, const char *stored, const char *id,
                               fo_err *err);

#endif
