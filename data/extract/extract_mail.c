/* Mail messages and mailboxes: the subject is a heading, then who wrote to whom and when, the text, and
 * what is attached, where this process can read it; archives are taken apart. Of a text that comes in two
 * forms the plain one is taken, unless it says nothing; a request to meet is no form of a text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "data/extract/archive.h"
#include "data/extract/encoding.h"
#include "data/extract/extract_internal.h"
#include "data/extract/mail_text.h"
#include "data/extract/mime.h"
#include "kernels/utf8.h"

enum {
    MAX_DEPTH = 12,
    MAX_NAME = 256, /* of an attachment, with its NUL */
    MAX_PARTS = 2000,
    /* Of all archives in a message, and of those in them. */
    MAX_MEMBERS = 1000,
    MAX_UNPACKED = 64 << 20,
    MAX_MEMBER = 16 << 20,
};

typedef struct reader {
    builder *b;
    const extract_input *in;
    size_t n_parts;
    archive_bounds bounds; /* what archives may still hold */
    bool left_out;         /* parts that were too many or too deep; it has been said */
    bool other_form; /* of a text that was read already: what is attached to it alone counts */
    fo_err *err;
} reader;

static void read_part(reader *r, const mime_part *p, int depth);
static void read_message(reader *r, const mime_part *p, int depth);
static void say_left_out(reader *r);

/* ---- text ----------------------------------------------------------------------------------------- */

/* What a part declares its characters to be; NULL: nothing that is known. type: NULL where it has none. */
static const char *charset_of(const char *type) {
    char charset[64] = "";
    if (type) mime_parameter(type, "charset", charset, sizeof charset);
    return encoding_find(charset, strlen(charset));
}

static void write_text(reader *r, const char *type, const fo_buf *bytes, bool html) {
    builder *b = r->b;
    extract_input in = {.bytes = (const unsigned char *)(bytes->data ? bytes->data : ""),
                        .n = bytes->len,
                        .charset = charset_of(type),
                        .head = ""};
    fo_buf text = {0};
    if (extract_decode(b, &in, NULL, &text, r->err)) {
        if (!b->failure)
            b->failure = b->budget && b->budget->failure ? b->budget->failure : FO_ELIMIT;
    } else if (html) {
        extract_html_text(b, text.data, text.len);
    } else {
        mail_text_write(b, text.data, text.len);
    }
    extract_drop(b, &text);
}

/* ---- what is attached ----------------------------------------------------------------------------- */

static void write_attachment(reader *r, const char *name, const char *type, const fo_buf *bytes,
                             int depth);

/* "Attachment: a.zip/b.md (an archive, not read)". */
static void write_name(reader *r, const char *name, const char *what, bool heading) {
    fo_buf line = {0};
    size_t replaced = 0;
    fo_buf_str(&line, "Attachment: ");
    encoding_clean(&line, name, strlen(name), &replaced);
    if (what) {
        fo_buf_str(&line, " (");
        encoding_clean(&line, what, strlen(what), &replaced); /* it may name files, cut anywhere */
        fo_buf_char(&line, ')');
    }
    builder_begin(r->b, heading ? TEXT_HEADING : TEXT_PARAGRAPH, heading ? 3 : 0);
    builder_add_flowing(r->b, line.data ? line.data : "", line.len);
    builder_end(r->b);
    fo_buf_free(&line);
}

static void write_unreadable(reader *r, const char *why) {
    fo_buf clean = {0}; /* it may name files, cut anywhere */
    size_t replaced = 0;
    encoding_clean(&clean, why, strlen(why), &replaced);
    builder_begin(r->b, TEXT_PARAGRAPH, 0);
    builder_str(r->b, "This attachment could not be read: ");
    builder_add(r->b, clean.data ? clean.data : "", clean.len);
    builder_end(r->b);
    fo_buf_free(&clean);
}

typedef struct unpacking {
    reader *r;
    const char *name;
    fo_buf bytes; /* of the member at hand; the budget counts them */
    bool too_large;
    int depth;
} unpacking;

static void forget_member(unpacking *u) {
    doc_budget_give(u->r->b->budget, u->bytes.len);
    fo_buf_clear(&u->bytes);
    u->too_large = false;
}

static int on_bytes(void *ctx, const void *p, size_t n, fo_err *err) {
    unpacking *u = ctx;
    (void)err;
    u->too_large = u->too_large || u->bytes.failed || !doc_budget_take(u->r->b->budget, n);
    if (!u->too_large) fo_buf_add(&u->bytes, p, n);
    return FO_OK;
}

static int on_member(void *ctx, const archive_member *m, fo_err *err) {
    unpacking *u = ctx;
    fo_buf name = {0}, what = {0};
    fo_buf_printf(&name, "%s/%s", u->name, m->name);
    fo_buf_printf(&what, "%s, not read", m->outcome == MEMBER_READ ? "too large" : m->why);
    int rc = name.failed || what.failed ? fo_no_memory(err) : FO_OK;
    if (!rc && m->outcome == MEMBER_READ && !u->too_large)
        write_attachment(u->r, name.data, NULL, &u->bytes, u->depth);
    else if (!rc)
        write_name(u->r, name.data, what.data, false);
    forget_member(u);
    fo_buf_free(&name);
    fo_buf_free(&what);
    return rc ? rc : u->r->b->failure;
}

static void write_archive(reader *r, const char *name, const fo_buf *bytes, int depth) {
    unpacking u = {.r = r, .name = name, .depth = depth + 1};
    archive_request rq = {
        .bytes = bytes->data, .n = bytes->len, .file_name = name, .bounds = &r->bounds};
    archive_sink sink = {on_bytes, on_member, &u};
    fo_err why = {0};
    write_name(r, name, "an archive", true);
    int rc = archive_walk(&rq, &sink, &why);
    forget_member(&u);
    fo_buf_free(&u.bytes);
    if (rc == FO_ENOMEM && !r->b->failure) r->b->failure = rc;
    if (rc && !r->b->failure) write_unreadable(r, why.msg);
}

/* type: that of its part, for the character set; what it is, its bytes and its name say. */
static void write_attachment(reader *r, const char *name, const char *type, const fo_buf *bytes,
                             int depth) {
    builder *b = r->b;
    if (depth > MAX_DEPTH) say_left_out(r);
    if (depth > MAX_DEPTH || !builder_go_on(b, bytes->len)) return;
    if (archive_is(bytes->data ? bytes->data : "", bytes->len)) {
        write_archive(r, name, bytes, depth);
        return;
    }
    extract_input in = {.bytes = (const unsigned char *)(bytes->data ? bytes->data : ""),
                        .n = bytes->len,
                        .charset = charset_of(type),
                        .file_name = name,
                        .is_text = true,
                        .head = ""};
    const extract_format *f = extract_format_of(in.bytes, in.n, name);
    if (!f) f = extract_format_certain(in.bytes, in.n); /* one that is known and not read */
    bool pdf = f && f->extract == extract_pdf && r->in->tools && bytes->len;
    bool read = pdf || (f && f->extract && !f->program), mail = read && f->extract == extract_mail;
    char what[96];
    snprintf(what, sizeof what, "%s, not read", f ? f->what : "a file");
    write_name(r, name, read ? NULL : what, read);
    fo_err why = {0};
    if (mail) {
        mime_part inner = mime_split((const char *)in.bytes, in.n);
        read_message(r, &inner, depth + 1);
    } else if (read && (pdf ? extract_pdf_part(b, &in, r->in, &why) : f->extract(b, &in, &why)) &&
               !b->failure) { /* it fails alone, and says so */
        write_unreadable(r, why.msg);
    }
    builder_set_place(b, NULL);
}

/* A request to meet, which most programs give no name. */
static void write_calendar(reader *r, const char *type, const fo_buf *bytes) {
    extract_input in = {.bytes = (const unsigned char *)(bytes->data ? bytes->data : ""),
                        .n = bytes->len,
                        .charset = charset_of(type),
                        .head = ""};
    fo_err why = {0};
    if (extract_calendar(r->b, &in, &why) && !r->b->failure) write_unreadable(r, why.msg);
}

/* ---- parts ---------------------------------------------------------------------------------------- */

static bool begins(const char *s, const char *with) {
    return strncasecmp(s, with, strlen(with)) == 0;
}

static void say_left_out(reader *r) {
    if (!r->left_out) {
        builder_begin(r->b, TEXT_PARAGRAPH, 0);
        builder_str(r->b, "(More parts of this message are too many or too deep within each "
                          "other; they were not read.)");
        builder_end(r->b);
    }
    r->left_out = true;
}

typedef struct parts {
    mime_part list[64];
    size_t n;
    bool more; /* than the list has room for */
} parts;

typedef enum boundary_line { NO_BOUNDARY, BOUNDARY, LAST_BOUNDARY } boundary_line;

/* Behind the boundary stand blanks at most: that of a part within may begin with the same letters. */
static boundary_line boundary_of(const char *line, size_t len, const char *boundary) {
    size_t k = strlen(boundary) + 2;
    if (len < k || memcmp(line, "--", 2) != 0 || memcmp(line + 2, boundary, k - 2) != 0)
        return NO_BOUNDARY;
    bool last = len >= k + 2 && memcmp(line + k, "--", 2) == 0;
    for (size_t i = k + (last ? 2 : 0); i < len; i++)
        if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r') return NO_BOUNDARY;
    return last ? LAST_BOUNDARY : BOUNDARY;
}

/* The parts between lines of the boundary. */
static void split_parts(const mime_part *p, const char *boundary, parts *out) {
    size_t begin = 0;
    bool in = false;
    out->n = 0;
    for (size_t at = 0; at <= p->n_body && !out->more;) {
        const char *line = p->body + at;
        const char *newline = at < p->n_body ? memchr(line, '\n', p->n_body - at) : NULL;
        size_t len = newline ? (size_t)(newline - line) : p->n_body - at;
        boundary_line mark = boundary_of(line, len, boundary);
        bool end = at + len >= p->n_body;
        if (in && (mark || end)) {
            size_t stop = mark ? at : p->n_body; /* the line's end before the mark is the mark's */
            stop -= mark && stop > begin && p->body[stop - 1] == '\n';
            stop -= mark && stop > begin && p->body[stop - 1] == '\r';
            out->more = out->n == sizeof out->list / sizeof *out->list;
            if (!out->more) out->list[out->n++] = mime_split(p->body + begin, stop - begin);
        }
        if (mark) {
            in = mark == BOUNDARY;
            begin = at + len + 1 < p->n_body ? at + len + 1 : p->n_body;
        }
        if (end) return;
        at += len + 1;
    }
}

static bool is_type(const mime_part *p, const char *type) {
    fo_buf value = {0};
    bool is = mime_field(p, "Content-Type", &value) ? begins(value.data, type)
                                                    : !strcmp(type, "text/plain");
    fo_buf_free(&value);
    return is;
}

/* Nothing but blanks; 0xC2 0xA0 and 0xA0 are such too. Or a short text about HTML: "your program does not show HTML",
 * which is said for want of one, in whatever language. */
static bool says_nothing(const fo_buf *text) {
    enum { SHORT = 400 };
    bool blank = true;
    for (size_t i = 0; i < text->len && blank; i++) {
        unsigned char c = (unsigned char)text->data[i];
        blank = c <= ' ' || c == 0xA0 || c == 0xC2;
    }
    return blank || (text->len <= SHORT && strcasestr(text->data, "html"));
}

static bool is_idle(reader *r, const mime_part *p) {
    fo_buf encoding = {0}, bytes = {0};
    if (!doc_budget_take(r->b->budget, p->n_body)) {
        r->b->failure = r->b->budget->failure;
        return true;
    }
    mime_field(p, "Content-Transfer-Encoding", &encoding);
    mime_decode(encoding.data ? encoding.data : "", p->body, p->n_body, &bytes);
    if (encoding.failed || bytes.failed) r->b->failure = FO_ENOMEM;
    const bool idle = says_nothing(&bytes);
    fo_buf_free(&encoding);
    fo_buf_free(&bytes);
    doc_budget_give(r->b->budget, p->n_body);
    return idle;
}

/* The plain one, unless it says nothing: programs leave it so that make no plain text. Else the best, which stands last. */
static size_t choose_form(reader *r, const parts *all) {
    size_t best = all->n - 1;
    for (size_t i = 0; i < all->n; i++)
        if (is_type(&all->list[i], "text/plain") && !is_idle(r, &all->list[i])) return i;
    while (best > 0 && is_type(&all->list[best], "text/calendar")) best--;
    return best;
}

/* Of the forms in which a text comes one is read, of the others what is attached to them: some programs attach to the
 * last one alone. */
static void read_forms(reader *r, const parts *all, int depth) {
    size_t chosen = choose_form(r, all);
    bool before = r->other_form;
    read_part(r, &all->list[chosen], depth + 1);
    r->other_form = true;
    for (size_t i = 0; i < all->n && !r->b->failure; i++)
        if (i != chosen) read_part(r, &all->list[i], depth + 1);
    r->other_form = before;
}

static void read_multipart(reader *r, const mime_part *p, const char *type, int depth) {
    char boundary[1000];
    parts *all = calloc(1, sizeof *all);
    if (!all) {
        r->b->failure = FO_ENOMEM;
        return;
    }
    if (mime_parameter(type, "boundary", boundary, sizeof boundary)) split_parts(p, boundary, all);
    if (begins(type, "multipart/alternative") && all->n)
        read_forms(r, all, depth);
    else
        for (size_t i = 0; i < all->n && !r->b->failure; i++)
            read_part(r, &all->list[i], depth + 1);
    if (all->more) say_left_out(r);
    free(all);
}

/* What it is called; "" where it is a signature without a name, which says nothing to anybody. */
static void name_part(const char *disposition, const char *type, char out[MAX_NAME]) {
    fo_buf name = {0};
    bool named = mime_parameter_text(disposition, "filename", &name) ||
                 mime_parameter_text(type, "name", &name);
    bool signature = begins(type, "application/pgp-") ||
                     begins(type, "application/pkcs7-signature") ||
                     begins(type, "application/x-pkcs7-signature");
    snprintf(out, MAX_NAME, "%s", signature ? "" : "attachment");
    if (named && !name.failed)
        snprintf(out, MAX_NAME, "%.*s", (int)fo_utf8_cut(name.data, name.len, MAX_NAME - 1),
                 name.data);
    fo_buf_free(&name);
}

/* A text with a file name is a file that programs show within the message; a page or a request to meet with a name may be
 * the message itself. */
static bool is_attached(const char *disposition, const char *type, const char *name) {
    return begins(disposition, "attachment") ||
           (begins(type, "text/") && !begins(type, "text/html") && !begins(type, "text/calendar") &&
            *name && strcmp(name, "attachment") != 0);
}

/* Of another form of a text that was read, its text and the images that it is laid out with say nothing new. */
static bool says_nothing_new(const reader *r, const char *type, bool attached) {
    return r->other_form && !attached && !begins(type, "text/calendar") &&
           (begins(type, "text/") || begins(type, "image/"));
}

/* What stands in the message, without a name, is its text; what is attached has one. */
static void write_leaf(reader *r, const char *type, const char *name, bool attached,
                       const fo_buf *bytes, int depth) {
    bool html = begins(type, "text/html"), named = strcmp(name, "attachment") != 0;
    if (begins(type, "message/rfc822")) {
        mime_part inner = mime_split(bytes->data ? bytes->data : "", bytes->len);
        read_message(r, &inner, depth + 1);
    } else if (begins(type, "text/calendar") && !attached) {
        if (named) write_name(r, name, NULL, true);
        write_calendar(r, type, bytes);
    } else if (html && attached) { /* a piece of a page may not look like one */
        write_name(r, name, NULL, true);
        write_text(r, type, bytes, true);
    } else if (begins(type, "text/") && !attached) {
        write_text(r, type, bytes, html);
    } else if (*name) {
        write_attachment(r, name, type, bytes, depth);
    }
}

static void read_leaf(reader *r, const mime_part *p, const char *type, int depth) {
    fo_buf encoding = {0}, disposition = {0}, bytes = {0};
    char name[MAX_NAME];
    mime_field(p, "Content-Transfer-Encoding", &encoding);
    mime_field(p, "Content-Disposition", &disposition);
    name_part(disposition.data ? disposition.data : "", type, name);
    bool attached = is_attached(disposition.data ? disposition.data : "", type, name);
    if (says_nothing_new(r, type, attached)) {
        /* passed over */
    } else if (!doc_budget_take(r->b->budget, p->n_body)) {
        r->b->failure = r->b->budget->failure;
    } else {
        mime_decode(encoding.data ? encoding.data : "", p->body, p->n_body, &bytes);
        if (bytes.failed)
            r->b->failure = FO_ENOMEM;
        else
            write_leaf(r, type, name, attached, &bytes, depth);
        doc_budget_give(r->b->budget, p->n_body);
    }
    fo_buf_free(&encoding);
    fo_buf_free(&disposition);
    fo_buf_free(&bytes);
}

static void read_part(reader *r, const mime_part *p, int depth) {
    if (!builder_go_on(r->b, p->n_body)) return;
    if (depth > MAX_DEPTH || r->n_parts++ >= MAX_PARTS) {
        say_left_out(r);
        return;
    }
    fo_buf type = {0};
    if (!mime_field(p, "Content-Type", &type)) fo_buf_str(&type, "text/plain");
    if (type.failed)
        r->b->failure = FO_ENOMEM;
    else if (begins(type.data, "multipart/"))
        read_multipart(r, p, type.data, depth);
    else
        read_leaf(r, p, type.data, depth);
    fo_buf_free(&type);
}

/* The title and a heading; one that is longer than a title may be stands whole below that. */
static void write_subject(builder *b, const char *s, size_t n, uint8_t level) {
    const size_t head = fo_utf8_cut(s, n, BUILDER_TITLE_BYTES);
    builder_set_title(b, s, n);
    builder_begin(b, TEXT_HEADING, level);
    builder_add_flowing(b, s, head);
    if (head < n) builder_str(b, "\xE2\x80\xA6");
    builder_end(b);
    if (head == n) return;
    builder_begin(b, TEXT_PARAGRAPH, 0);
    builder_str(b, "Subject: ");
    builder_add_flowing(b, s, n);
    builder_end(b);
}

static void read_message(reader *r, const mime_part *p, int depth) {
    static const char *const fields[] = {"From", "To", "Cc", "Date"};
    builder *b = r->b;
    fo_buf value = {0};
    bool before = r->other_form;
    r->other_form = false; /* all of it is new */
    if (mime_field_text(p, "Subject", MIME_LONG_FIELD, &value) && value.len)
        write_subject(b, value.data, value.len, depth ? 2 : 1);
    builder_begin(b, TEXT_PARAGRAPH, 0);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        fo_buf_clear(&value);
        if (!mime_field_text(p, fields[i], MIME_FIELD, &value) || !value.len) continue;
        if (!builder_block_empty(b)) builder_str(b, "\n");
        builder_str(b, fields[i]);
        builder_str(b, ": ");
        builder_add(b, value.data, value.len);
    }
    builder_end(b);
    if (value.failed) b->failure = FO_ENOMEM;
    fo_buf_free(&value);
    read_part(r, p, depth);
    r->other_form = before;
}

int extract_mail(builder *b, extract_input *in, fo_err *err) {
    reader r = {.b = b, .in = in, .err = err, .bounds = {MAX_MEMBERS, MAX_UNPACKED, MAX_MEMBER}};
    mime_part p = mime_split((const char *)in->bytes, in->n);
    read_message(&r, &p, 0);
    return FO_OK;
}

/* "From a@example.org Thu Jan  1 00:00:00 1970": a clock time and a year, which a sentence that begins so hardly has. */
static bool begins_message(const char *line, size_t n) {
    const char *newline = memchr(line, '\n', n);
    if (newline) n = (size_t)(newline - line);
    bool clock = false, year = false;
    for (size_t i = 5, digits = 0; i <= n; i++) {
        bool digit = i < n && line[i] >= '0' && line[i] <= '9';
        if (digit) {
            digits++;
            continue;
        }
        if (digits == 4)
            year = year || !memcmp(line + i - 4, "19", 2) || !memcmp(line + i - 4, "20", 2);
        clock = clock || ((digits == 1 || digits == 2) && n - i > 2 && line[i] == ':' &&
                          line[i + 1] >= '0' && line[i + 1] <= '5' && line[i + 2] >= '0' &&
                          line[i + 2] <= '9');
        digits = 0;
    }
    return clock && year;
}

/* A line "From somebody" with the time behind a blank one begins each message. */
int extract_mbox(builder *b, extract_input *in, fo_err *err) {
    const char *s = (const char *)in->bytes;
    archive_bounds bounds = {MAX_MEMBERS, MAX_UNPACKED, MAX_MEMBER};
    for (size_t at = 0; at < in->n && !b->failure;) {
        const char *newline = memchr(s + at, '\n', in->n - at);
        size_t begin = newline ? (size_t)(newline - s) + 1 : in->n, end = begin;
        while (end < in->n) {
            const char *next = memmem(s + end, in->n - end, "\nFrom ", 6);
            end = next ? (size_t)(next - s) + 1 : in->n;
            bool blank =
                end >= 3 && (s[end - 2] == '\n' || (s[end - 2] == '\r' && s[end - 3] == '\n'));
            if (!next || (blank && begins_message(s + end, in->n - end))) break;
        }
        reader r = {.b = b, .in = in, .err = err, .bounds = bounds};
        mime_part p = mime_split(s + begin, end - begin);
        read_message(&r, &p, 1);
        bounds = r.bounds; /* those of the whole mailbox */
        at = end;
    }
    return FO_OK;
}
