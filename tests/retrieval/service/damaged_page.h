/* damaged_page.h - a document whose text is longer than a page of the database, so that one page of it can be damaged and
 * every other document is as it was. */
#ifndef FORAGE_TESTS_DAMAGED_PAGE_H
#define FORAGE_TESTS_DAMAGED_PAGE_H

#include "kernels/file.h"
#include "tests/test.h"

enum { LONG_TEXT = 12 << 10 };
#define LONG_TEXT_MARK "The mark stands here."

/* One sentence again and again, the mark in the middle; freed by the caller. */
static inline char *long_text(const char *sentence) {
    char *text = malloc(LONG_TEXT + 1);
    assert_non_null(text);
    for (size_t i = 0; i < LONG_TEXT; i++) text[i] = sentence[i % strlen(sentence)];
    memcpy(text + LONG_TEXT / 2, LONG_TEXT_MARK, strlen(LONG_TEXT_MARK));
    text[LONG_TEXT] = 0;
    return text;
}

/* Of a home that is closed: a bit of the mark flips on the disk. */
static inline void damage_mark(const char *home) {
    char path[4096], *bytes;
    size_t n;
    fo_err err = {0};
    snprintf(path, sizeof path, "%s/forage.db", home);
    assert_ok(fo_file_read(path, 64 << 20, &bytes, &n, &err), &err);
    const char *mark = memmem(bytes, n, LONG_TEXT_MARK, strlen(LONG_TEXT_MARK));
    assert_non_null(mark);
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, mark - bytes, SEEK_SET), 0);
    assert_int_equal(fputc(*mark ^ 1, f), *mark ^ 1);
    assert_int_equal(fclose(f), 0);
    free(bytes);
}

#endif
