/* page_images.h - what a cited page of a PDF looks like.
 *
 * PDFs that documents were made of are kept beside the store, HOME/originals/COLLECTION-ID/, because the store has
 * their text alone: one file a document, together no more than --keep-originals. A copy is put aside before its
 * document goes, and goes with it (or, where the document stays, comes back); one that came beside the deletion goes after
 * it. It may be missing at any time (it is no part of a backup
 * either): then there is no image of its pages, and that is all. A copy says which version of its document it is of,
 * and carries a checksum of its own.
 *
 * Pages are drawn when somebody wants to see them (data/extract/page_image.h), two at a time; the last few are kept in
 * memory. Any thread. */
#ifndef FORAGE_RETRIEVAL_PAGE_IMAGES_H
#define FORAGE_RETRIEVAL_PAGE_IMAGES_H

#include "data/extract/page_image.h"

typedef struct page_images page_images;

/* most_bytes: of all copies; 0: none is kept (those that are there are still shown). The folder is made with the first. */
int page_images_create(page_images **out, const char *home, uint64_t most_bytes, fo_err *err);
void page_images_free(page_images *p); /* NULL is fine */

/* Keep these bytes for the version of document id that has this content hash, where its pages can be shown and there is room.
 * What fails is no matter to whoever stores the document. */
void page_images_keep(page_images *p, int64_t collection_id, const char *id,
                      const unsigned char version[32], const void *bytes, size_t n);
void page_images_forget(page_images *p, int64_t collection_id, const char *id);
/* Around the deletion of its document: a copy that is put aside is shown no more, and goes at the next start
 * (page_images_forget_others) where the process ends in between; then it goes, or where the document stayed is back. */
void page_images_put_aside(page_images *p, int64_t collection_id, const char *id);
void page_images_end_aside(page_images *p, int64_t collection_id, const char *id, bool back);
/* Which version the copy is of, if there is one. */
bool page_images_version(const page_images *p, int64_t collection_id, const char *id,
                         unsigned char version[32]);
void page_images_forget_all(page_images *p, int64_t collection_id);
/* What a process left that ended at its work: copies of all collections but these, and of these what was not yet written
 * to its end. */
void page_images_forget_others(page_images *p, const int64_t *ids, size_t n);

/* The page (from 1) of that version as PNG: caller frees *png. FO_ENOTFOUND: no copy of it is kept, or there is no such page;
 * FO_EBUSY: others are being drawn; and what page_image_draw says. */
int page_images_draw(page_images *p, struct extract_host *h, int64_t collection_id, const char *id,
                     const unsigned char version[32], uint32_t page, const atomic_bool *cancel,
                     char **png, size_t *n, fo_err *err);

#endif
