/* Sources: Unicode 15 chapter 3 (forms, replacement), WHATWG Encoding (labels, windows-1252). */
#include "data/extract/encoding.h"

#include <errno.h>
#include <iconv.h>
#include <string.h>
#include <strings.h>

#include "kernels/utf8.h"

enum { REPLACEMENT = 0xFFFD };

typedef struct label {
    const char *label, *name;
} label;

/* Labels that differ from their name; names label themselves. */
static const label aliases[] = {
    {"utf8", "utf-8"},
    {"us-ascii", "windows-1252"},
    {"ascii", "windows-1252"},
    {"iso-8859-1", "windows-1252"},
    {"iso8859-1", "windows-1252"},
    {"latin1", "windows-1252"},
    {"latin-1", "windows-1252"},
    {"l1", "windows-1252"},
    {"cp1252", "windows-1252"},
    {"latin2", "iso-8859-2"},
    {"latin9", "iso-8859-15"},
    {"iso-8859-9", "windows-1254"},
    {"latin5", "windows-1254"},
    {"cp1250", "windows-1250"},
    {"cp1251", "windows-1251"},
    {"cp1253", "windows-1253"},
    {"cp1254", "windows-1254"},
    {"utf-16", "utf-16le"},
    {"utf16", "utf-16le"},
    {"unicode", "utf-16le"},
    {"utf-32", "utf-32le"},
    {"koi8", "koi8-r"},
    {"sjis", "shift_jis"},
    {"shift-jis", "shift_jis"},
    {"x-sjis", "shift_jis"},
    {"windows-31j", "shift_jis"},
    {"gb2312", "gb18030"},
    {"gbk", "gb18030"},
    {"x-gbk", "gb18030"},
    {"big5-hkscs", "big5"},
    {"ks_c_5601-1987", "euc-kr"},
    {"macintosh", "macintosh"},
};
static const char *const names[] = {
    "utf-8",        "utf-16le",     "utf-16be",     "utf-32le",     "utf-32be",     "windows-1252",
    "windows-1250", "windows-1251", "windows-1253", "windows-1254", "windows-1255", "windows-1256",
    "windows-1257", "windows-1258", "iso-8859-2",   "iso-8859-3",   "iso-8859-4",   "iso-8859-5",
    "iso-8859-6",   "iso-8859-7",   "iso-8859-8",   "iso-8859-10",  "iso-8859-13",  "iso-8859-14",
    "iso-8859-15",  "iso-8859-16",  "koi8-r",       "koi8-u",       "macintosh",    "shift_jis",
    "euc-jp",       "iso-2022-jp",  "gb18030",      "big5",         "euc-kr",
};

const char *encoding_find(const char *s, size_t len) {
    while (len && (*s == ' ' || *s == '"' || *s == '\'')) s++, len--;
    while (len && (s[len - 1] == ' ' || s[len - 1] == '"' || s[len - 1] == '\'')) len--;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == len && strncasecmp(names[i], s, len) == 0) return names[i];
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (strlen(aliases[i].label) == len && strncasecmp(aliases[i].label, s, len) == 0)
            return encoding_find(aliases[i].name, strlen(aliases[i].name));
    return NULL;
}

/* ---- cleaning ---------------------------------------------------------------------------- */

static bool is_control(int32_t cp) {
    return (cp < 0x20 && cp != '\t' && cp != '\n') || (cp >= 0x7F && cp < 0xA0);
}

static void add_cp(fo_buf *out, int32_t cp) {
    char s[4];
    fo_buf_add(out, s, fo_utf8_encode(cp, s));
}

static void add_replacement(fo_buf *out, size_t *n_replaced) {
    add_cp(out, REPLACEMENT);
    ++*n_replaced;
}

void encoding_clean(fo_buf *out, const char *s, size_t n, size_t *n_replaced) {
    size_t from = 0, at = 0;
    while (at < n) {
        unsigned char c = (unsigned char)s[at];
        if (c >= 0x20 && c < 0x7F) {
            at++;
            continue;
        }
        int32_t cp;
        size_t k = fo_utf8_decode(s + at, n - at, &cp);
        if (cp >= 0 && !is_control(cp)) {
            at += k;
            continue;
        }
        fo_buf_add(out, s + from, at - from);
        if (cp < 0)
            add_replacement(out, n_replaced);
        else if (cp == '\r' && !(at + 1 < n && s[at + 1] == '\n'))
            fo_buf_char(out, '\n');
        else if (cp == '\f' || cp == '\v' || cp == 0x85)
            fo_buf_char(out, '\n');
        else if (cp == 0)
            add_replacement(out, n_replaced);
        at += k;
        from = at;
    }
    fo_buf_add(out, s + from, n - from);
}

/* ---- guessing ---------------------------------------------------------------------------- */

const char *encoding_guess_utf16(const unsigned char *b, size_t n) {
    if (n > 4096) n = 4096;
    n &= ~(size_t)1;
    if (n < 8) return NULL;
    size_t even = 0, odd = 0, pairs = n / 2;
    for (size_t i = 0; i < n; i += 2) {
        even += b[i] == 0;
        odd += b[i + 1] == 0;
    }
    /* Western text has a zero in nearly every pair, always on the same side. */
    if (odd * 2 > pairs && even * 20 < pairs) return "utf-16le";
    if (even * 2 > pairs && odd * 20 < pairs) return "utf-16be";
    return NULL;
}

static const char *from_mark(const unsigned char *b, size_t n, size_t *skip) {
    if (n >= 3 && b[0] == 0xEF && b[1] == 0xBB && b[2] == 0xBF) return *skip = 3, "utf-8";
    if (n >= 4 && b[0] == 0xFF && b[1] == 0xFE && !b[2] && !b[3]) return *skip = 4, "utf-32le";
    if (n >= 4 && !b[0] && !b[1] && b[2] == 0xFE && b[3] == 0xFF) return *skip = 4, "utf-32be";
    if (n >= 2 && b[0] == 0xFF && b[1] == 0xFE) return *skip = 2, "utf-16le";
    if (n >= 2 && b[0] == 0xFE && b[1] == 0xFF) return *skip = 2, "utf-16be";
    *skip = 0;
    return NULL;
}

/* Well-formed characters beyond ASCII, and ill-formed parts. */
static void survey(const char *s, size_t n, size_t *good, size_t *bad) {
    *good = *bad = 0;
    for (size_t at = 0; at < n;) {
        if ((unsigned char)s[at] < 0x80) {
            at++;
            continue;
        }
        int32_t cp;
        at += fo_utf8_decode(s + at, n - at, &cp);
        ++*(cp < 0 ? bad : good);
    }
}

static const char *choose(const unsigned char *b, size_t n, const char *declared, size_t *skip) {
    const char *name = from_mark(b, n, skip);
    if (name) return name;
    size_t good, bad;
    name = encoding_guess_utf16(b, n);
    survey((const char *)b, n, &good, &bad);
    if (bad == 0 && good > 0) return "utf-8";
    if (name) return name;
    bool has_nul = memchr(b, 0, n < 4096 ? n : 4096) != NULL;
    /* A UTF-16 label on bytes without a zero is a mistake, unless they are no ASCII either. */
    if (declared && !(bad == 0 && !has_nul && strncmp(declared, "utf-", 4) == 0)) {
        if (bad == 0 && strcmp(declared, "windows-1252") == 0) return "utf-8";
        return declared;
    }
    return good >= bad ? "utf-8" : "windows-1252";
}

/* ---- decoding ---------------------------------------------------------------------------- */

static void decode_1252(fo_buf *out, const unsigned char *b, size_t n) {
    static const uint16_t high[32] = {
        0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
        0x2039, 0x0152, 0,      0x017D, 0,      0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
        0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178};
    for (size_t i = 0; i < n; i++) {
        if (b[i] < 0x80)
            fo_buf_char(out, (char)b[i]);
        else if (b[i] >= 0xA0)
            add_cp(out, b[i]);
        else if (high[b[i] - 0x80])
            add_cp(out, high[b[i] - 0x80]);
        else
            add_cp(out, REPLACEMENT);
    }
}

static void decode_utf16(fo_buf *out, const unsigned char *b, size_t n, bool big, size_t *bad) {
    size_t i = 0;
    while (i + 1 < n) {
        int32_t u = big ? b[i] << 8 | b[i + 1] : b[i + 1] << 8 | b[i];
        i += 2;
        if (u >= 0xD800 && u < 0xDC00 && i + 1 < n) {
            int32_t low = big ? b[i] << 8 | b[i + 1] : b[i + 1] << 8 | b[i];
            if (low >= 0xDC00 && low < 0xE000) {
                add_cp(out, 0x10000 + ((u - 0xD800) << 10) + (low - 0xDC00));
                i += 2;
                continue;
            }
        }
        if (u >= 0xD800 && u < 0xE000)
            add_replacement(out, bad);
        else
            add_cp(out, u);
    }
    if (i < n) add_replacement(out, bad);
}

static void decode_iconv(fo_buf *out, iconv_t cd, const unsigned char *b, size_t n, size_t *bad) {
    char *in = (char *)b;
    size_t left = n;
    while (left && !out->failed) {
        char piece[4096], *to = piece;
        size_t room = sizeof piece;
        size_t rc = iconv(cd, &in, &left, &to, &room);
        fo_buf_add(out, piece, sizeof piece - room);
        if (rc != (size_t)-1 || errno == E2BIG) continue;
        add_replacement(out, bad);
        in++;
        left--;
    }
}

int encoding_decode(fo_buf *out, const unsigned char *bytes, size_t n, const char *declared,
                    size_t max_bytes, const char **name, size_t *n_replaced, fo_err *err) {
    size_t skip = 0;
    *name = choose(bytes, n, declared, &skip);
    bytes += skip;
    n -= skip;
    if (n > max_bytes)
        return fo_fail(err, FO_ELIMIT, "the document is longer than %zu bytes", max_bytes);
    if (strcmp(*name, "utf-8") == 0) {
        encoding_clean(out, (const char *)bytes, n, n_replaced);
    } else {
        fo_buf raw = {0};
        if (strcmp(*name, "windows-1252") == 0) {
            decode_1252(&raw, bytes, n);
        } else if (strncmp(*name, "utf-16", 6) == 0) {
            decode_utf16(&raw, bytes, n, (*name)[6] == 'b', n_replaced);
        } else {
            iconv_t cd = iconv_open("UTF-8", *name);
            if (cd == (iconv_t)-1)
                return fo_fail(err, FO_EUNSUPPORTED, "this system cannot decode the charset '%s'",
                               *name);
            decode_iconv(&raw, cd, bytes, n, n_replaced);
            iconv_close(cd);
        }
        encoding_clean(out, raw.data ? raw.data : "", raw.len, n_replaced);
        bool failed = raw.failed;
        fo_buf_free(&raw);
        if (failed) return fo_fail(err, FO_ENOMEM, "out of memory");
    }
    return out->failed ? fo_fail(err, FO_ENOMEM, "out of memory") : FO_OK;
}
