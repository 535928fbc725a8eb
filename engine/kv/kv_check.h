/* kv_check.h - are the files of a KV store's folder whole? For a folder that no process has open. */
#ifndef FORAGE_ENGINE_KV_CHECK_H
#define FORAGE_ENGINE_KV_CHECK_H

#include <stdbool.h>
#include "kernels/error.h"

/* Every record of every segment (header, payload, padding), the index's rows against them, files
 * that are gone and files that are none of ours (extra): one finding a file. Then the pages of
 * index.db. What the disk does not give is a finding, too; a folder without segments needs no index.db.
 * Findings do not make it fail. */
typedef void kv_check_fn(void *ctx, const char *file, bool extra, const char *what);
int kv_check(const char *dir, kv_check_fn *fn, void *ctx, fo_err *err);

#endif
