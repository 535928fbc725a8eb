/* The registry of formats, and the way from bytes to text: unpack, decode, choose, extract. */
#include "data/extract/extract.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

#include "data/extract/encoding.h"
#include "data/extract/extract_internal.h"

typedef struct format {
    extract_format names;
    bool (*sniff)(const char *text, size_t n); /* decoded text's beginning; NULL: never guessed */
    extract_fn *extract;
} format;

static bool looks_like_html(const char *s, size_t n) {
    static const char *const begins[] = {"<!doctype html", "<html", "<head", "<body", "<?xml"};
    size_t at = 0;
    while (at < n && (s[at] == ' ' || (s[at] >= '\t' && s[at] <= '\r'))) at++;
    while (n - at > 7 && memcmp(s + at, "<!--", 4) == 0) {
        const char *end = memmem(s + at, n - at, "-->", 3);
        if (!end) return false;
        at = (size_t)(end - s) + 3;
        while (at < n && (s[at] == ' ' || (s[at] >= '\t' && s[at] <= '\r'))) at++;
    }
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        size_t k = strlen(begins[i]);
        if (n - at < k || strncasecmp(s + at, begins[i], k) != 0) continue;
        return i < 4 || memmem(s + at, n - at, "<html", 5) != NULL;
    }
    return false;
}

/* Order matters: the first row whose sniff says yes is taken; text takes the rest. */
static const format formats[] = {
    {{"html", "text/html application/xhtml+xml", "html htm xhtml"}, looks_like_html, extract_html},
    {{"markdown", "text/markdown text/x-markdown", "md markdown mkd mdown mdx"},
     NULL,
     extract_markdown},
    {{"man", "text/troff application/x-troff-man text/x-troff-man",
      "1 2 3 4 5 6 7 8 9 man mdoc roff troff"},
     extract_looks_like_man,
     extract_man},
    {{"code",
      "application/json application/x-ndjson application/xml text/xml text/css text/javascript "
      "application/javascript application/x-sh text/x-c text/x-python application/yaml "
      "application/toml",
      "c h cc cpp cxx hh hpp hxx cs java kt go rs py rb pl pm php js mjs jsx ts tsx swift scala "
      "lua "
      "r jl hs ml erl ex el lisp clj sh bash zsh fish ps1 sql css scss json jsonl ndjson yaml yml "
      "toml ini cfg conf xml cmake mk awk tcl asm s v vhd proto"},
     NULL,
     extract_code},
    {{"text", "text/plain", "txt text log rst adoc asciidoc org tex csv tsv nfo debian"},
     NULL,
     extract_plain},
};
enum { N_FORMATS = sizeof formats / sizeof *formats, TEXT_FORMAT = N_FORMATS - 1 };

const extract_format *extract_format_at(size_t i) {
    return i < N_FORMATS ? &formats[i].names : NULL;
}

/* ---- names ------------------------------------------------------------------------------- */

static bool list_has(const char *list, const char *word, size_t n) {
    for (const char *p = list; *p;) {
        size_t k = strcspn(p, " ");
        if (k == n && strncasecmp(p, word, n) == 0) return true;
        p += k + (p[k] == ' ');
    }
    return false;
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The ending of a file name, .gz peeled off; *n = 0 when it has none. */
static const char *ending(const char *name, size_t *n) {
    name = base_name(name);
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

static const format *by_name(const char *file_name) {
    static const char plain[] = "readme license licence copying copyright authors news changelog "
                                "changes install todo thanks faq history notice contributing";
    if (!file_name) return NULL;
    size_t n;
    const char *e = ending(file_name, &n);
    if (n == 0) {
        const char *base = base_name(file_name);
        size_t k = strlen(base);
        if (k > 3 && strcasecmp(base + k - 3, ".gz") == 0) k -= 3;
        return list_has(plain, base, k) ? &formats[TEXT_FORMAT] : NULL;
    }
    for (size_t i = 0; i < N_FORMATS; i++) {
        if (list_has(formats[i].names.endings, e, n)) return &formats[i];
        if (formats[i].extract == extract_man && is_section(e, n)) return &formats[i];
    }
    return NULL;
}

int extract_knows_file(const char *file_name) {
    return by_name(file_name) != NULL;
}

/* The media type without parameters, and its charset (NULL if none or unknown). */
static size_t split_type(const char *type, const char **charset) {
    *charset = NULL;
    if (!type) return 0;
    size_t n = strcspn(type, "; \t");
    for (const char *p = strchr(type, ';'); p; p = strchr(p, ';')) {
        p++;
        p += strspn(p, " \t");
        if (strncasecmp(p, "charset=", 8) != 0) continue;
        p += 8;
        *charset = encoding_find(p, strcspn(p, "; \t"));
    }
    return n;
}

static bool type_is(const char *type, size_t n, const char *list) {
    return n > 0 && list_has(list, type, n);
}

/* What cannot be read, by its first bytes. */
static const char *binary_kind(const unsigned char *b, size_t n) {
    static const struct {
        const char *magic;
        size_t n;
        const char *kind;
    } known[] = {
        {"%PDF-", 5, "application/pdf"},
        {"PK\3\4", 4, "application/zip (or an office document)"},
        {"\x7f"
         "ELF",
         4, "application/x-executable"},
        {"\x89PNG\r\n", 6, "image/png"},
        {"\xFF\xD8\xFF", 3, "image/jpeg"},
        {"GIF8", 4, "image/gif"},
        {"BZh", 3, "application/x-bzip2"},
        {"\xFD"
         "7zXZ",
         5, "application/x-xz"},
        {"\x28\xB5\x2F\xFD", 4, "application/zstd"},
        {"7z\xBC\xAF", 4, "application/x-7z-compressed"},
        {"SQLite format 3", 16, "application/vnd.sqlite3"},
        {"\xD0\xCF\x11\xE0", 4, "application/x-ole-storage (an old office document)"},
        {"OggS", 4, "audio/ogg"},
        {"RIFF", 4, "audio or video (RIFF)"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (n >= known[i].n && memcmp(b, known[i].magic, known[i].n) == 0) return known[i].kind;
    if (n >= 4 && ((b[0] == 0xFF && b[1] == 0xFE) || (b[0] == 0xFE && b[1] == 0xFF) ||
                   (!b[0] && !b[1] && b[2] == 0xFE && b[3] == 0xFF)))
        return NULL;
    if (encoding_guess_utf16(b, n)) return NULL;
    size_t look = n < 8192 ? n : 8192, control = 0;
    for (size_t i = 0; i < look; i++) control += b[i] < 8 || (b[i] > 13 && b[i] < 32 && b[i] != 27);
    return control * 10 > look ? "binary data" : NULL;
}

static int unsupported(const char *what, int len, fo_err *err) {
    return fo_fail_field(err, FO_EUNSUPPORTED, "content_type",
                         "cannot read %.*s: text, Markdown, HTML, man pages, source code and their "
                         "gzip are supported",
                         len, what);
}

static int choose_format(const format **out, const char *type, size_t type_len,
                         const char *file_name, const char *text, size_t n, fo_err *err) {
    const format *named = by_name(file_name);
    for (size_t i = 0; i < N_FORMATS; i++) {
        if (!type_is(type, type_len, formats[i].names.media_types)) continue;
        /* "text/plain" is what tools say when they do not know: a file name knows better. */
        *out = i == TEXT_FORMAT && named ? named : &formats[i];
        goto found;
    }
    if (type_len && !type_is(type, type_len,
                             "application/octet-stream application/gzip application/x-gzip "
                             "binary/octet-stream application/x-www-form-urlencoded")) {
        bool text_like = type_len > 5 && strncasecmp(type, "text/", 5) == 0;
        bool json_like = type_len > 5 && strncasecmp(type + type_len - 5, "+json", 5) == 0;
        if (!text_like && !json_like) return unsupported(type, (int)type_len, err);
    }
    *out = named;
    for (size_t i = 0; !*out && i < N_FORMATS; i++)
        if (formats[i].sniff && formats[i].sniff(text, n < 4096 ? n : 4096)) *out = &formats[i];
    if (!*out) *out = &formats[TEXT_FORMAT];
found:
    if ((*out)->extract == extract_man && !extract_looks_like_man(text, n))
        *out = &formats[TEXT_FORMAT]; /* notes.1 and the like */
    return FO_OK;
}

/* ---- gzip -------------------------------------------------------------------------------- */

static int gunzip(fo_buf *out, const unsigned char *in, size_t n, size_t max_bytes, fo_err *err) {
    z_stream z = {0};
    if (inflateInit2(&z, 16 + MAX_WBITS) != Z_OK) return fo_fail(err, FO_ENOMEM, "out of memory");
    int rc = FO_OK;
    size_t used = 0;
    while (used < n && rc == FO_OK) {
        size_t step = n - used < (1u << 30) ? n - used : (1u << 30);
        unsigned char piece[16384];
        z.next_in = (unsigned char *)in + used;
        z.avail_in = (uInt)step;
        z.next_out = piece;
        z.avail_out = sizeof piece;
        int got = inflate(&z, Z_NO_FLUSH);
        used += step - z.avail_in;
        size_t made = sizeof piece - z.avail_out;
        if (made > max_bytes - out->len)
            rc = fo_fail(err, FO_ELIMIT, "the gzip data unpacks to more than %zu bytes", max_bytes);
        else
            fo_buf_add(out, piece, made);
        if (got == Z_STREAM_END) { /* further members follow, or padding */
            if (used + 1 < n && in[used] == 0x1F && in[used + 1] == 0x8B)
                inflateReset(&z);
            else
                break;
        } else if (got == Z_MEM_ERROR || out->failed) {
            rc = fo_fail(err, FO_ENOMEM, "out of memory");
        } else if (got != Z_OK) {
            rc = fo_fail(err, FO_EINVAL, "the gzip data is damaged at byte %zu", used);
        } else if (used == n && z.avail_out > 0) {
            rc = fo_fail(err, FO_EINVAL, "the gzip data ends too early");
        }
        /* All input is taken but output may still wait inside: go on until it is out. */
        while (rc == FO_OK && got == Z_OK && used == n && z.avail_out == 0) {
            z.next_out = piece;
            z.avail_out = sizeof piece;
            got = inflate(&z, Z_NO_FLUSH);
            made = sizeof piece - z.avail_out;
            if (made > max_bytes - out->len)
                rc = fo_fail(err, FO_ELIMIT, "the gzip data unpacks to more than %zu bytes",
                             max_bytes);
            else
                fo_buf_add(out, piece, made);
            if (rc == FO_OK && got != Z_STREAM_END && z.avail_out > 0)
                rc = fo_fail(err, FO_EINVAL, "the gzip data ends too early");
        }
    }
    inflateEnd(&z);
    return rc;
}

/* ---- the way ----------------------------------------------------------------------------- */

static int failed(int code, size_t max_bytes, fo_err *err) {
    if (code == FO_ELIMIT)
        return fo_fail(err, FO_ELIMIT, "the document's text is longer than %zu bytes", max_bytes);
    return fo_fail(err, FO_ENOMEM, "out of memory");
}

/* A charset that an HTML page names in its first kilobyte, NULL if none. */
static const char *html_charset(const char *s, size_t n) {
    if (n > 2048) n = 2048;
    for (size_t at = 0; at + 8 < n; at++) {
        if (strncasecmp(s + at, "charset", 7) != 0) continue;
        size_t k = at + 7;
        while (k < n && (s[k] == ' ' || s[k] == '=' || s[k] == '"' || s[k] == '\'')) k++;
        size_t end = k;
        while (end < n && end - k < 32 && !strchr(" \"'/>;", s[end])) end++;
        return encoding_find(s + k, end - k);
    }
    return NULL;
}

static int extract_bytes(extracted *out, const unsigned char *bytes, size_t n, const char *type,
                         size_t type_len, const char *charset, const char *file_name,
                         size_t max_bytes, fo_err *err) {
    const char *kind = binary_kind(bytes, n);
    if (kind) return unsupported(kind, (int)strlen(kind), err);
    fo_buf text = {0};
    builder b = {.max_bytes = max_bytes};
    const format *f = NULL;
    if (!charset && memmem(bytes, n < 2048 ? n : 2048, "<", 1))
        charset = html_charset((const char *)bytes, n);
    int rc =
        encoding_decode(&text, bytes, n, charset, max_bytes, &out->encoding, &b.n_replaced, err);
    if (rc == FO_OK && !fo_buf_reserve(&text, 1)) rc = fo_fail(err, FO_ENOMEM, "out of memory");
    if (rc == FO_OK) {
        text.data[text.len] = 0;
        rc = choose_format(&f, type, type_len, file_name, text.data, text.len, err);
    }
    if (rc == FO_OK) {
        f->extract(&b, text.data, text.len);
        builder_end(&b);
        if (b.failure) rc = failed(b.failure, max_bytes, err);
    }
    fo_buf_free(&text);
    if (rc == FO_OK) {
        fo_buf_str(&b.text, "");
        out->format = f->names.name;
        out->n_replaced = b.n_replaced;
        out->blocks = b.blocks;
        out->n_blocks = b.n_blocks;
        b.blocks = NULL;
        bool titled = b.title.len > 0, lost = b.text.failed || b.title.failed;
        out->text = fo_buf_take(&b.text, &out->len);
        if (titled) out->title = fo_buf_take(&b.title, NULL);
        if (lost || !out->text || (titled && !out->title)) rc = failed(FO_ENOMEM, max_bytes, err);
    }
    builder_free(&b);
    return rc;
}

int extract_text(extracted *out, const void *bytes, size_t n, const char *content_type,
                 const char *file_name, size_t max_text_bytes, fo_err *err) {
    *out = (extracted){0};
    enum { MAX_NESTING = 2 };
    const unsigned char *at = bytes;
    fo_buf unpacked[MAX_NESTING] = {0};
    const char *charset;
    size_t type_len = split_type(content_type, &charset);
    int rc = FO_OK;
    for (int depth = 0; rc == FO_OK && n >= 2 && at[0] == 0x1F && at[1] == 0x8B; depth++) {
        if (depth == MAX_NESTING) {
            rc = fo_fail(err, FO_ELIMIT, "gzip within gzip more than %d deep", MAX_NESTING);
            break;
        }
        rc = gunzip(&unpacked[depth], at, n, max_text_bytes, err);
        at = (const unsigned char *)unpacked[depth].data;
        n = unpacked[depth].len;
    }
    if (rc == FO_OK)
        rc = extract_bytes(out, at, n, content_type, type_len, charset, file_name, max_text_bytes,
                           err);
    for (int i = 0; i < MAX_NESTING; i++) fo_buf_free(&unpacked[i]);
    if (rc != FO_OK) extracted_deinit(out);
    return rc;
}

void extracted_deinit(extracted *x) {
    if (!x) return;
    free(x->text);
    free(x->title);
    free(x->blocks);
    *x = (extracted){0};
}
