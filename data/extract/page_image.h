/* page_image.h - a page of a PDF as an image for people to look at, drawn by `pdftoppm` in a worker's bounds
 * (extract_host.h).
 *
 *     fo_buf png = {0};
 *     if (page_image_has(bytes, n)) rc = page_image_draw(host, bytes, n, 12, NULL, &png, &err);
 *     fo_buf_free(&png);
 */
#ifndef FORAGE_DATA_PAGE_IMAGE_H
#define FORAGE_DATA_PAGE_IMAGE_H

#include "data/extract/extract.h"
#include "kernels/buf.h"

/* text_place.box times this is where a block stands in the image. */
#define PAGE_IMAGE_DOTS_PER_POINT 1.5
enum { PAGE_IMAGE_MAX_BYTES = 16 << 20 };

/* Is it a document of a format whose pages can be shown? By its bytes. */
bool page_image_has(const void *bytes, size_t n);
/* Page `page` (from 1) as PNG, appended to *png. FO_ENOTFOUND: there is no such page; FO_EUNSUPPORTED: no such format, or the
 * program is not installed; FO_ELIMIT: too large, or too long in the making; FO_ECANCELLED; FO_EINVAL: damaged. */
int page_image_draw(struct extract_host *h, const void *bytes, size_t n, uint32_t page,
                    const atomic_bool *cancel, fo_buf *png, fo_err *err);

#endif
