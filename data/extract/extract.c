/* The way of a document: unpack, tell what it is, hand it to its format, check what came of it. */
#include "data/extract/extract.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "data/extract/archive.h"
#include "data/extract/encoding.h"
#include "data/extract/extract_internal.h"
#include "data/extract/gzip.h"
#include "data/extract/text_parts.h"
#include "data/extract/text_unwrap.h"
#include "kernels/paths.h"
#include "kernels/utf8.h"
#include "kernels/words.h"

enum {
    MAX_NESTING = 2,     /* gzip within gzip */
    HEAD_BYTES = 32768,  /* that a guess may look at */
    BINARY_BYTES = 8192, /* that tell text from other data */
};

/* ---- the registry ------------------------------------------------------------------------- */

/* The rows in order: those of the request, then the registry's. NULL past the end. */
static const extract_format *row_at(const extract_request *rq, size_t i) {
    size_t own = rq ? rq->n_formats : 0;
    return i < own ? &rq->formats[i] : extract_format_at(i - own);
}

/* Plain text takes what no other row does. */
static const extract_format *text_row(const extract_request *rq) {
    size_t i = 0;
    while (row_at(rq, i)->extract != extract_plain) i++;
    return row_at(rq, i);
}

/* ---- names and types ---------------------------------------------------------------------- */

/* The ending of a file name, .gz peeled off; *n = 0 when it has none. */
static const char *ending(const char *name, size_t *n) {
    name = fo_base_name(name);
    size_t len = strlen(name);
    if (len > 3 && strcasecmp(name + len - 3, ".gz") == 0) len -= 3;
    size_t at = len;
    while (at > 0 && name[at - 1] != '.') at--;
    *n = at > 1 ? len - at : 0;
    return name + at;
}

/* "3", "3ssl", "1p": a section of the manual. */
static bool is_section(const char *e, size_t n) {
    if (n < 1 || n > 8 || e[0] < '1' || e[0] > '9') return false;
    for (size_t i = 1; i < n; i++)
        if (!((e[i] | 32) >= 'a' && (e[i] | 32) <= 'z') && e[i] != '+') return false;
    return true;
}

static const extract_format *by_name(const extract_request *rq, const char *file_name) {
    static const char plain[] = "readme license licence copying copyright authors news changelog "
                                "changes install todo thanks faq history notice contributing";
    if (!file_name) return NULL;
    size_t n;
    const char *e = ending(file_name, &n);
    if (n == 0) {
        const char *base = fo_base_name(file_name);
        size_t k = strlen(base);
        if (k > 3 && strcasecmp(base + k - 3, ".gz") == 0) k -= 3;
        return fo_words_have_any_case(plain, base, k) ? text_row(rq) : NULL;
    }
    const extract_format *f;
    for (size_t i = 0; (f = row_at(rq, i)); i++)
        if (fo_words_have_any_case(f->endings, e, n)) return f;
    for (size_t i = 0; (f = row_at(rq, i)); i++) /* after all others: .7z is no section */
        if (f->extract == extract_man && is_section(e, n)) return f;
    /* README.ports, changelog.Debian.amd64: what they are says the word before, and no ending says otherwise. */
    const char *base = fo_base_name(file_name);
    return fo_words_have_any_case("readme changelog news", base, strcspn(base, ".")) ? text_row(rq)
                                                                                     : NULL;
}

int extract_knows_file(const char *file_name) {
    const extract_format *f = by_name(NULL, file_name);
    return f && f->extract && !f->recognised_only;
}

int extract_knows_image(const char *file_name) {
    const extract_format *f = by_name(NULL, file_name);
    return f && f->recognised_only;
}

bool archive_knows_file(const char *file_name) {
    const extract_format *f = by_name(NULL, file_name);
    return f && f->archive;
}

bool extract_ocr_matters(const void *bytes, size_t n) {
    const extract_format *f = extract_format_certain(bytes, n);
    return f && f->may_recognise;
}

typedef struct media_type {
    const char *s;
    size_t n;            /* without parameters; 0: none was declared */
    const char *charset; /* NULL: none, or one that is not known */
} media_type;

static media_type split_type(const char *type) {
    media_type t = {type, 0, NULL};
    if (!type) return t;
    t.n = strcspn(type, "; \t");
    for (const char *p = strchr(type, ';'); p; p = strchr(p, ';')) {
        p++;
        p += strspn(p, " \t");
        if (strncasecmp(p, "charset=", 8) != 0) continue;
        p += 8;
        t.charset = encoding_find(p, strcspn(p, "; \t"));
    }
    return t;
}

static const extract_format *by_type(const extract_request *rq, media_type t) {
    const extract_format *f;
    for (size_t i = 0; t.n && (f = row_at(rq, i)); i++)
        if (fo_words_have_any_case(f->media_types, t.s, t.n)) return f;
    return NULL;
}

const extract_format *extract_format_of_type(const char *type) {
    return by_type(NULL, split_type(type));
}

/* What the bytes themselves say for certain. */
static const extract_format *certain(const extract_request *rq, const extract_input *in) {
    const extract_format *f;
    for (size_t i = 0; (f = row_at(rq, i)); i++)
        if (f->is && f->is(in)) return f;
    return NULL;
}

const extract_format *extract_format_certain(const void *bytes, size_t n) {
    extract_input in = {.bytes = bytes, .n = n, .head = ""};
    return certain(NULL, &in);
}

bool extract_text_matters(const void *bytes, size_t n) {
    const extract_input text = {.bytes = bytes, .n = n, .head = "", .is_text = true};
    return certain(NULL, &text) != extract_format_certain(bytes, n);
}

uint32_t extract_version(const void *bytes, size_t n, const char *content_type,
                         const char *file_name) {
    const extract_format *f = extract_format_certain(bytes, n);
    if (!f) f = by_type(NULL, split_type(content_type));
    if (!f || f == text_row(NULL)) f = by_name(NULL, file_name);
    return f ? f->version : 0;
}

const char *extract_name_matters(const void *bytes, size_t n, const char *content_type,
                                 const char *file_name, size_t *n_ending) {
    const extract_format *f = extract_format_certain(bytes, n);
    if (!f) f = by_type(NULL, split_type(content_type));
    if (!file_name || (f && f != text_row(NULL) && f->extract != extract_code)) return NULL;
    return ending(file_name, n_ending);
}

uint32_t extract_versions(void) {
    uint32_t all = 0;
    const extract_format *f;
    for (size_t i = 0; (f = extract_format_at(i)); i++) all += f->version;
    return all;
}

/* A declared type that no row has: may the bytes tell, or is it something else altogether? */
static bool type_says_nothing(media_type t) {
    return t.n == 0 ||
           fo_words_have_any_case("application/octet-stream application/gzip application/x-gzip "
                                  "binary/octet-stream application/x-www-form-urlencoded",
                                  t.s, t.n) ||
           (t.n > 5 && strncasecmp(t.s, "text/", 5) == 0) ||
           (t.n > 5 && strncasecmp(t.s + t.n - 5, "+json", 5) == 0);
}

/* ---- what it is --------------------------------------------------------------------------- */

/* Data that is no text: control characters, of which text has next to none. */
static bool is_binary(const unsigned char *b, size_t n) {
    if (n >= 4 && ((b[0] == 0xFF && b[1] == 0xFE) || (b[0] == 0xFE && b[1] == 0xFF) ||
                   (!b[0] && !b[1] && b[2] == 0xFE && b[3] == 0xFF)))
        return false;
    const char *wide = encoding_guess_utf16(b, n);
    size_t look = n < BINARY_BYTES ? n : BINARY_BYTES, control = 0, bad = 0;
    for (size_t i = 0; i < look; i++)
        control += b[i] ? b[i] < 8 || (b[i] > 13 && b[i] < 32 && b[i] != 27) : !wide;
    for (size_t at = 0; !wide && at < look;) {
        int32_t cp;
        at += fo_utf8_decode((const char *)b + at, n - at, &cp);
        bad += cp < 0;
    }
    /* Bytes at random have one in ten, and are no UTF-8 either. */
    return control * (bad ? 50 : 10) > look;
}

/* It is said to be in UTF-16 or UTF-32, whose bytes is_binary takes for control characters where they are no Western
 * text: and it is. Bytes at random have one unit in sixteen that stands for nothing; of numbers most are dropped. */
static bool is_wide_text(const extract_input *in) {
    if (!in->charset || !strcmp(in->charset, "utf-8") || strncmp(in->charset, "utf-", 4) != 0)
        return false;
    fo_buf text = {0};
    const char *name;
    size_t replaced = 0, n = in->n < BINARY_BYTES ? in->n : BINARY_BYTES;
    encoding_limits limits = {.max_bytes = SIZE_MAX};
    bool wide = !encoding_decode(&text, in->bytes, n, in->charset, &limits, &name, &replaced, NULL);
    wide = wide && !strcmp(name, in->charset) && replaced * 100 <= text.len &&
           text.len * 2 >= n / (name[4] == '1' ? 2 : 4);
    fo_buf_free(&text);
    return wide;
}

/* What messages call the document, its length cut between characters: for "%.*s". */
#define LABEL_BYTES 200
static const char *label(const extract_request *rq, int *n) {
    const char *name =
        rq->file_name && *rq->file_name ? fo_base_name(rq->file_name) : "the document";
    *n = (int)fo_utf8_cut(name, strlen(name), LABEL_BYTES);
    return name;
}

/* Refuse it by the name of what it is. */
static int refuse(const extract_request *rq, const char *what, fo_err *err) {
    int n;
    const char *name = label(rq, &n);
    return fo_fail_field(err, FO_EUNSUPPORTED, "content_type",
                         "%.*s is %s, which Forage does not read yet", n, name, what);
}

static int refuse_image(const extract_request *rq, const char *what, fo_err *err) {
    int n;
    const char *name = label(rq, &n);
    return fo_fail_field(err, FO_EUNSUPPORTED, "ocr",
                         "%.*s is %s and holds no text; with --ocr auto (\"ocr\": \"auto\") its "
                         "letters are recognised",
                         n, name, what);
}

static int not_as_named(const extract_request *rq, const extract_format *named, fo_err *err) {
    int n;
    const char *name = label(rq, &n);
    return fo_fail_field(
        err, FO_EINVAL, "content_type",
        "%.*s is not %s, as its name says, and no text: it is damaged, or something "
        "else",
        n, name, named->what);
}

static int unknown_type(const extract_request *rq, media_type t, fo_err *err) {
    char list[200] = "";
    const extract_format *f;
    size_t at = 0, i = 0;
    for (; (f = row_at(rq, i)) && at < sizeof list - 48; i++)
        if (f->extract && !f->recognised_only)
            at += (size_t)snprintf(list + at, sizeof list - at, "%s%.24s", at ? ", " : "", f->name);
    if (f) snprintf(list + at, sizeof list - at, " and others");
    int n;
    const char *name = label(rq, &n);
    return fo_fail_field(err, FO_EUNSUPPORTED, "content_type",
                         "%.*s is declared as %.*s, which Forage does not read; it reads %s, each "
                         "also gzipped",
                         n, name, (int)(t.n < 100 ? t.n : 100), t.s, list);
}

/* The beginning as UTF-8, for guesses; the caller frees head. */
static bool decode_head(extract_input *in, fo_buf *head) {
    const char *name;
    size_t replaced = 0;
    encoding_limits limits = {.max_bytes = SIZE_MAX};
    size_t n = in->n < HEAD_BYTES ? in->n : HEAD_BYTES;
    if (encoding_decode(head, in->bytes, n, in->charset, &limits, &name, &replaced, NULL) ||
        !fo_buf_reserve(head, 1))
        return false;
    head->data[head->len] = 0;
    in->head = head->data;
    in->n_head = head->len;
    return true;
}

static const extract_format *guess(const extract_request *rq, const extract_input *in) {
    const extract_format *f;
    for (size_t i = 0; (f = row_at(rq, i)); i++)
        if (f->guess && f->guess(in)) return f;
    return text_row(rq);
}

static int choose(const extract_format **out, const extract_request *rq, media_type t,
                  extract_input *in, fo_err *err) {
    const extract_format *f = certain(rq, in), *text = text_row(rq);
    if (f) {
        *out = f;
        if (f->recognised_only && !rq->ocr) return refuse_image(rq, f->what, err);
        /* An archive by its first bytes, which by its name is one of those that lie in archives. */
        const extract_format *named = by_name(rq, in->file_name);
        if (f->archive && named && named->is && named->extract) return not_as_named(rq, named, err);
        return f->extract ? FO_OK : refuse(rq, f->what, err);
    }
    const extract_format *named = by_name(rq, in->file_name), *typed = by_type(rq, t);
    if (is_binary(in->bytes, in->n) && !is_wide_text(in)) {
        if (!named || !named->is || !named->extract) return refuse(rq, "binary data", err);
        return not_as_named(rq, named, err);
    }
    if (typed && typed->recognised_only && !rq->ocr) return refuse_image(rq, typed->what, err);
    if (typed && typed->is) {
        int n;
        const char *name = label(rq, &n);
        return fo_fail_field(
            err, typed->extract ? FO_EINVAL : FO_EUNSUPPORTED, "content_type",
            "%.*s is declared as %s (%.*s), %s", n, name, typed->what, (int)t.n, t.s,
            typed->extract ? "and does not begin like one" : "which Forage does not read yet");
    }
    if (!typed && !type_says_nothing(t)) return unknown_type(rq, t, err);
    if (named && named->is) named = NULL; /* by its bytes it is something else */
    /* "text/plain" is what tools say when they do not know: a file name knows better. */
    f = typed && (typed != text || !named) ? typed : named;
    if (!f || (f->guess && f->guess_named)) {
        fo_buf head = {0};
        if (!decode_head(in, &head)) {
            fo_buf_free(&head);
            return fo_no_memory(err);
        }
        f = !f ? guess(rq, in) : f->guess(in) ? f : text;
        fo_buf_free(&head);
        in->head = "";
        in->n_head = 0;
    }
    *out = f;
    return FO_OK;
}

const extract_format *extract_format_of(const void *bytes, size_t n, const char *file_name) {
    extract_request rq = {.file_name = file_name};
    extract_input in = {.bytes = bytes, .n = n, .file_name = file_name, .head = ""};
    const extract_format *f = NULL;
    return choose(&f, &rq, split_type(NULL), &in, NULL) == FO_OK ? f : NULL;
}

/* UTF-16 as these bytes begin, or as it was declared; enum text_wide. *other: another wide one, which is not cut. */
static uint8_t wide_kind(const unsigned char *b, size_t n, const char *charset, bool *other) {
    bool le = n >= 2 && b[0] == 0xFF && b[1] == 0xFE, be = n >= 2 && b[0] == 0xFE && b[1] == 0xFF;
    const char *name = charset && !strncmp(charset, "utf-", 4) && strcmp(charset, "utf-8")
                           ? charset
                           : encoding_guess_utf16(b, n);
    *other = (n >= 4 && !b[2] && !b[3] && (le || (!b[0] && !b[1]))) || /* UTF-32 */
             (!le && !be && name && strncmp(name, "utf-16", 6) != 0);
    if (*other) return TEXT_NARROW;
    if (le || be) return le ? TEXT_UTF16_LE : TEXT_UTF16_BE;
    if (!name) return TEXT_NARROW;
    /* A label on bytes that are none of it is a mistake: the whole is looked at for that (encoding.c). */
    *other = !encoding_guess_utf16(b, n);
    return name[6] == 'b' ? TEXT_UTF16_BE : TEXT_UTF16_LE;
}

bool extract_in_parts(const void *head, size_t n, const char *content_type, const char *file_name,
                      text_kind *kind) {
    media_type t = split_type(content_type);
    unsigned char *unpacked = NULL;
    bool other = false;
    *kind = (text_kind){.gzip = gzip_is(head, n)};
    if (kind->gzip) {
        if (!(unpacked = malloc(HEAD_BYTES))) return false;
        n = gzip_peek(head, n, unpacked, HEAD_BYTES);
        head = unpacked;
    }
    kind->wide = wide_kind(head, n, t.charset, &other);
    extract_request rq = {.file_name = file_name};
    extract_input in = {
        .bytes = head, .n = n, .charset = t.charset, .file_name = file_name, .head = ""};
    const extract_format *f = NULL;
    bool yes =
        n && !other && !gzip_is(head, n) && choose(&f, &rq, t, &in, NULL) == FO_OK && f->in_parts;
    kind->table = yes && f->extract == extract_csv;
    free(unpacked);
    return yes;
}

/* ---- for formats of text ------------------------------------------------------------------ */

int extract_decode(builder *b, extract_input *in, const char *charset, fo_buf *text, fo_err *err) {
    encoding_limits limits = {.max_bytes = b->max_bytes, .budget = b->budget};
    int rc = encoding_decode(text, in->bytes, in->n, in->charset ? in->charset : charset, &limits,
                             &b->encoding, &b->n_replaced, err);
    if (!rc && !fo_buf_reserve(text, 1)) rc = fo_no_memory(err);
    if (rc) return rc;
    text->data[text->len] = 0;
    if (in->unpacked) {
        doc_budget_give(b->budget, in->unpacked->len);
        fo_buf_free(in->unpacked);
        in->bytes = (const unsigned char *)"";
        in->n = 0;
    }
    return FO_OK;
}

void extract_drop(builder *b, fo_buf *text) {
    doc_budget_give(b->budget, text->len);
    fo_buf_free(text);
}

/* ---- the way ------------------------------------------------------------------------------ */

/* b's results become *out. */
static int take(extracted *out, builder *b, const extract_format *f, fo_err *err) {
    fo_buf_str(&b->text, "");
    bool titled = b->title.len > 0, told = b->fields.len > 0;
    bool lost = b->text.failed || b->title.failed || b->fields.failed;
    *out = (extracted){.format = f->name,
                       .encoding = b->encoding,
                       .n_replaced = b->n_replaced,
                       .blocks = b->blocks,
                       .n_blocks = b->n_blocks,
                       .places = b->places,
                       .n_places = b->n_places,
                       .place_names = b->place_names};
    b->blocks = NULL;
    b->places = NULL;
    b->place_names = NULL;
    out->text = fo_buf_take(&b->text, &out->len);
    if (titled) out->title = fo_buf_take(&b->title, NULL);
    if (told) out->fields = fo_buf_take(&b->fields, NULL);
    lost |= !out->text || (titled && !out->title) || (told && !out->fields);
    return lost ? fo_no_memory(err) : FO_OK;
}

static int failed(const builder *b, fo_err *err) {
    if (b->budget && b->budget->failure) return doc_budget_fail(b->budget, err);
    if (b->failure == FO_ELIMIT)
        return fo_fail(err, FO_ELIMIT,
                       "the document's text is longer than %zu bytes; --ingest-memory sets that",
                       b->max_bytes);
    return fo_no_memory(err);
}

/* In a process of its own. Errors name the document: they are about it, not about a field. */
static int read_apart(const extract_request *rq, const extract_format *f, const extract_input *in,
                      builder *b, fo_err *err) {
    size_t row = 0;
    while (row_at(rq, row) != f) row++;
    int rc = rq->host ? extract_apart(rq->host, f, row, in, b, err)
                      : fo_fail(err, FO_EUNSUPPORTED,
                                "such documents are read in a process of their own, and this "
                                "program starts none");
    int n;
    const char *name = label(rq, &n);
    if (rc && rc != FO_ECANCELLED && err) fo_fail_prefix(err, "%.*s (%s)", n, name, f->what);
    return rc;
}

static int extract_bytes(extracted *out, const extract_request *rq, extract_input *in,
                         fo_err *err) {
    const extract_format *f = NULL;
    media_type t = split_type(rq->content_type);
    in->charset = t.charset;
    int rc = choose(&f, rq, t, in, err);
    if (rc) return rc;
    doc_budget_grant(rq->budget, in->n);
    builder b = {.max_bytes = rq->max_text_bytes, .budget = rq->budget};
    rc = f->apart ? read_apart(rq, f, in, &b, err) : f->extract(&b, in, err);
    builder_end(&b);
    if (!rc && b.failure) rc = failed(&b, err);
    if (!rc) rc = take(out, &b, f, err);
    builder_free(&b);
    return rc;
}

int extract_text(extracted *out, const extract_request *rq, fo_err *err) {
    *out = (extracted){0};
    size_t kept = rq->budget ? rq->budget->used : 0;
    fo_buf unpacked[MAX_NESTING] = {0};
    extract_input in = {.bytes = rq->bytes,
                        .n = rq->n,
                        .file_name = rq->file_name,
                        .is_text = rq->is_text,
                        .ocr = rq->ocr,
                        .ocr_language = rq->ocr_language,
                        .pages = rq->pages,
                        .call = rq->call,
                        .first_row = rq->first_row,
                        .header_rows = rq->header_rows,
                        .head = ""};
    int rc = FO_OK;
    for (int depth = 0; !rc && gzip_is(in.bytes, in.n); depth++) {
        if (depth == MAX_NESTING) {
            rc = fo_fail(err, FO_ELIMIT, "gzip within gzip more than %d deep", MAX_NESTING);
            break;
        }
        doc_budget_grant(rq->budget, in.n);
        in.unpacked = &unpacked[depth];
        rc = gzip_unpack(in.unpacked, in.bytes, in.n, rq->max_text_bytes, rq->budget, err);
        in.bytes = (const unsigned char *)(in.unpacked->data ? in.unpacked->data : "");
        in.n = in.unpacked->len;
        if (depth) doc_budget_give(rq->budget, unpacked[depth - 1].len);
        if (depth) fo_buf_free(&unpacked[depth - 1]);
    }
    if (!rc) rc = extract_bytes(out, rq, &in, err);
    for (int i = 0; i < MAX_NESTING; i++) fo_buf_free(&unpacked[i]);
    if (rc) extracted_deinit(out);
    if (rq->budget)
        rq->budget->used = kept + out->len + out->n_blocks * sizeof *out->blocks +
                           out->n_places * sizeof *out->places;
    return rc;
}

const text_place *extracted_place(const extracted *x, const text_block *b) {
    return b->place && b->place <= x->n_places ? &x->places[b->place - 1] : NULL;
}

void extracted_deinit(extracted *x) {
    if (!x) return;
    free(x->text);
    free(x->title);
    free(x->fields);
    free(x->blocks);
    free(x->places);
    builder_free_names(x->place_names);
    *x = (extracted){0};
}
