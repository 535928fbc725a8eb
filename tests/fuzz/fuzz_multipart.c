/* A form as it arrives: a Content-Type up to the first line end, and the body behind it, once whole and once in
 * pieces whose lengths the body itself decides. Promises: both say the same, parts begin and end in
 * turn, no more comes out than went in, and what is refused is told. */
#include <string.h>

#include "kernels/buf.h"
#include "server/http/multipart.h"
#include "tests/fuzz/fuzz.h"

typedef struct heard {
    fo_buf text; /* of everything that the parser said, in order */
    size_t bytes;
    bool open;
} heard;

static int begin(void *ctx, const multipart_part *p, fo_err *err) {
    heard *h = ctx;
    (void)err;
    FUZZ_CHECK(!h->open && p->name);
    h->open = true;
    fo_buf_printf(&h->text, "<%s|%s|%s>", p->name, p->file_name ? p->file_name : "",
                  p->type ? p->type : "");
    return FO_OK;
}

static int data_of(void *ctx, const char *data, size_t n, fo_err *err) {
    heard *h = ctx;
    (void)err;
    FUZZ_CHECK(h->open);
    h->bytes += n;
    fo_buf_add(&h->text, data, n);
    return FO_OK;
}

static int end(void *ctx, fo_err *err) {
    heard *h = ctx;
    (void)err;
    FUZZ_CHECK(h->open);
    h->open = false;
    fo_buf_str(&h->text, "</>");
    return FO_OK;
}

static int parse(const char *type, const uint8_t *body, size_t size, bool pieces, heard *h) {
    multipart_sink sink = {h, begin, data_of, end};
    multipart *m;
    fo_err err = {0};
    int rc = multipart_create(&m, type, &sink, &err);
    if (rc) {
        FUZZ_CHECK(err.code == rc && err.msg[0]);
        return rc;
    }
    uint32_t state = 12345;
    for (size_t at = 0; !rc && at < size;) {
        state = state * 1664525u + body[at];
        size_t n = pieces ? 1 + (state >> 16) % 9 : size;
        if (n > size - at) n = size - at;
        char *exact = malloc(n); /* a piece read too far is seen */
        FUZZ_CHECK(exact);
        memcpy(exact, body + at, n);
        rc = multipart_feed(m, exact, n, &err);
        free(exact);
        at += n;
    }
    if (!rc) rc = multipart_finish(m, &err);
    if (rc) FUZZ_CHECK(err.code == rc && err.msg[0]);
    if (!rc) FUZZ_CHECK(!h->open);
    FUZZ_CHECK(h->bytes <= size);
    multipart_free(m);
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const uint8_t *line = memchr(data, '\n', size);
    size_t n = line ? (size_t)(line - data) : 0;
    if (!line || n >= 256) return 0;
    char type[256];
    memcpy(type, data, n);
    type[n] = 0;
    heard whole = {0}, pieces = {0};
    int a = parse(type, line + 1, size - n - 1, false, &whole);
    int b = parse(type, line + 1, size - n - 1, true, &pieces);
    FUZZ_CHECK(a == b);
    if (!a) {
        FUZZ_CHECK(whole.text.len == pieces.text.len);
        FUZZ_CHECK(!whole.text.len ||
                   memcmp(whole.text.data, pieces.text.data, whole.text.len) == 0);
    }
    fo_buf_free(&whole.text);
    fo_buf_free(&pieces.text);
    return 0;
}
