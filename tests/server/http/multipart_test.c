/* Forms as they arrive: whole or byte by byte they mean the same; what is too long or broken is refused with a sentence. The
 * fuzz target (tests/fuzz/fuzz_multipart.c) holds the same of any bytes. */
#include "tests/test.h"

#include "kernels/buf.h"
#include "server/http/multipart.h"

typedef struct heard {
    fo_buf text; /* <name|file|type>data</> of each part */
} heard;

static int begin(void *ctx, const multipart_part *p, fo_err *err) {
    heard *h = ctx;
    (void)err;
    fo_buf_printf(&h->text, "<%s|%s|%s>", p->name, p->file_name ? p->file_name : "-",
                  p->type ? p->type : "-");
    return FO_OK;
}

static int data_of(void *ctx, const char *data, size_t n, fo_err *err) {
    heard *h = ctx;
    (void)err;
    fo_buf_add(&h->text, data, n);
    return FO_OK;
}

static int end(void *ctx, fo_err *err) {
    heard *h = ctx;
    (void)err;
    fo_buf_str(&h->text, "</>");
    return FO_OK;
}

/* In pieces of so many bytes. */
static int parse(const char *type, const fo_buf *body, size_t piece, heard *h, fo_err *err) {
    const multipart_sink sink = {h, begin, data_of, end};
    multipart *m;
    *err = (fo_err){0};
    fo_buf_clear(&h->text);
    int rc = multipart_create(&m, type, &sink, err);
    if (rc) return rc;
    for (size_t at = 0; !rc && at < body->len; at += piece)
        rc = multipart_feed(m, body->data + at, body->len - at < piece ? body->len - at : piece,
                            err);
    if (!rc) rc = multipart_finish(m, err);
    multipart_free(m);
    return rc;
}

static const char boundary_b[] = "multipart/form-data; boundary=b";

/* message NULL: it is taken, as `expected`. */
static void check(const char *type, fo_buf *body, const char *expected, const char *message) {
    heard h = {0};
    fo_err err;
    const size_t pieces[] = {1, 7, body->len};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        const int rc = parse(type, body, pieces[i], &h, &err);
        if (message) {
            assert_int_equal(rc, FO_EINVAL);
            if (!strstr(err.msg, message)) fail_msg("%s", err.msg);
        } else {
            assert_ok(rc, &err);
            assert_string_equal(h.text.data, expected);
        }
    }
    fo_buf_free(&h.text);
    fo_buf_free(body);
}

static void form(fo_buf *b, size_t n_blanks, size_t n_headers) {
    static const char name[] = "\r\nContent-Disposition: form-data; name=\"f\"\r\nX: ";
    *b = (fo_buf){0};
    fo_buf_str(b, "--b");
    for (size_t i = 0; i < n_blanks; i++) fo_buf_char(b, i % 2 ? '\t' : ' ');
    fo_buf_str(b, name);
    for (size_t n = strlen(name) + 4; n < n_headers; n++) fo_buf_char(b, 'x');
    fo_buf_str(b, "\r\n\r\nherons\r\n--b--\r\n");
}

static void what_is_too_long_is_refused_however_it_arrives(void **state) {
    (void)state;
    fo_buf b;
    form(&b, 128, 0);
    check(boundary_b, &b, "<f|-|->herons</>", NULL);
    form(&b, 129, 0);
    check(boundary_b, &b, NULL, "malformed boundary");
    form(&b, 0, 8192);
    check(boundary_b, &b, "<f|-|->herons</>", NULL);
    form(&b, 0, 8193);
    check(boundary_b, &b, NULL, "headers of a form part are too long");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_too_long_is_refused_however_it_arrives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
