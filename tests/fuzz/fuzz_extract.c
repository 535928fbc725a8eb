/* Bytes of any kind through the registry. The first byte chooses type and file name; whatever
 * comes out must be valid UTF-8 without NUL, in ordered blocks. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "data/extract/extract.h"
#include "kernels/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const types[] = {NULL,
                                        "text/html",
                                        "text/markdown",
                                        "text/troff",
                                        "text/plain",
                                        "text/html; charset=shift_jis",
                                        "text/plain; charset=utf-16be",
                                        "text/plain; charset=iso-2022-jp"};
    static const char *const names[] = {NULL, "a.3", "b.md.gz", "README"};
    enum { LIMIT = 1 << 20 };
    if (size < 1) return 0;
    extracted x;
    int rc = extract_text(&x, data + 1, size - 1, types[data[0] & 7], names[data[0] >> 3 & 3],
                          LIMIT, NULL);
    if (rc != FO_OK) return 0;
    if (x.len > LIMIT || strlen(x.text) != x.len || !fo_utf8_valid(x.text, x.len, NULL)) abort();
    if (x.title && !fo_utf8_valid(x.title, strlen(x.title), NULL)) abort();
    size_t at = 0;
    for (size_t i = 0; i < x.n_blocks; i++) {
        const text_block *b = &x.blocks[i];
        if (b->start < at || b->end <= b->start || b->end > x.len) abort();
        at = b->end;
    }
    extracted_deinit(&x);
    return 0;
}
