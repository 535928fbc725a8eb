/* Sources: Unicode 15 chapter 3 (forms, replacement), WHATWG Encoding (labels, windows-1252). */
#include "data/extract/encoding.h"

#include <errno.h>
#include <iconv.h>
#include <string.h>
#include <strings.h>

#include "data/extract/charset_guess.h"
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
    {"iso-8859-8-i", "iso-8859-8"},
    {"tis-620", "windows-874"},
    {"iso-8859-11", "windows-874"},
    {"iso8859-11", "windows-874"},
    {"dos-874", "windows-874"},
    {"cp874", "windows-874"},
    {"cp866", "ibm866"},
    {"866", "ibm866"},
    {"mac", "macintosh"},
    {"x-mac-roman", "macintosh"},
    {"sjis", "shift_jis"},
    {"shift-jis", "shift_jis"},
    {"x-sjis", "shift_jis"},
    {"ms_kanji", "shift_jis"},
    {"windows-31j", "shift_jis"},
    {"windows-932", "shift_jis"},
    {"ms932", "shift_jis"},
    {"cp932", "shift_jis"},
    {"gb2312", "gb18030"},
    {"gbk", "gb18030"},
    {"x-gbk", "gb18030"},
    {"windows-936", "gb18030"},
    {"cp936", "gb18030"},
    {"big5-hkscs", "big5"},
    {"windows-950", "big5"},
    {"cp950", "big5"},
    {"ks_c_5601-1987", "euc-kr"},
    {"windows-949", "euc-kr"},
    {"cp949", "euc-kr"},
    {"macintosh", "macintosh"},
};
static const char *const names[] = {
    "utf-8",        "utf-16le",     "utf-16be",     "utf-32le",     "utf-32be",     "windows-1252",
    "windows-1250", "windows-1251", "windows-1253", "windows-1254", "windows-1255", "windows-1256",
    "windows-1257", "windows-1258", "windows-874",  "ibm866",       "iso-8859-2",   "iso-8859-3",
    "iso-8859-4",   "iso-8859-5",   "iso-8859-6",   "iso-8859-7",   "iso-8859-8",   "iso-8859-10",
    "iso-8859-13",  "iso-8859-14",  "iso-8859-15",  "iso-8859-16",  "koi8-r",       "koi8-u",
    "macintosh",    "shift_jis",    "euc-jp",       "iso-2022-jp",  "gb18030",      "big5",
    "euc-kr",
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

/* Under two of these names the C library has the standard alone, and a browser what Windows writes: circled numbers and
 * rare names in Japanese, most syllables in Korean. */
static iconv_t open_decoder(const char *name) {
    const bool japanese = strcmp(name, "shift_jis") == 0, korean = strcmp(name, "euc-kr") == 0;
    return iconv_open("UTF-8", japanese ? "CP932" : korean ? "CP949" : name);
}

void encoding_load_all(void) {
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        /* Left open: what nobody uses the library forgets. */
        iconv_t kept = open_decoder(names[i]);
        (void)kept;
    }
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

/* May so much valid UTF-8 be chance, in bytes of this charset? Any two letters of some are it: of Ukrainian in windows-1251 as of
 * Chinese. Nobody means what windows-1252 has for them, and it is what those declare who know no other. */
static bool is_believed(const char *declared, size_t good, bool certain) {
    enum { BEYOND_CHANCE = 8 };
    static const char *const two_bytes[] = {"gb18030", "big5", "shift_jis", "euc-jp", "euc-kr"};
    if (!declared || !strncmp(declared, "utf-", 4) || !strcmp(declared, "windows-1252"))
        return false;
    bool wide = false;
    for (size_t i = 0; i < sizeof two_bytes / sizeof *two_bytes; i++)
        wide |= !strcmp(declared, two_bytes[i]);
    return certain || (wide && good < BEYOND_CHANCE);
}

static const char *choose(const unsigned char *b, size_t n, const char *declared, bool certain,
                          size_t *skip) {
    const char *name = from_mark(b, n, skip);
    if (name) return name;
    size_t good, bad;
    name = encoding_guess_utf16(b, n);
    survey((const char *)b, n, &good, &bad);
    if (bad == 0 && good > 0 && !is_believed(declared, good, certain)) return "utf-8";
    if (name) return name;
    size_t look = n < 4096 ? n : 4096, no_text = 0;
    for (size_t i = 0; i < look; i++) no_text += b[i] < 8;
    /* A UTF-16 label on bytes without a zero is a mistake, unless they are no ASCII either: every other one of
     * Cyrillic, Greek or Hebrew is a control character. */
    bool wide = memchr(b, 0, look) || no_text * 4 > look;
    if (declared && !(bad == 0 && !wide && strncmp(declared, "utf-", 4) == 0)) {
        if (bad == 0 && strcmp(declared, "windows-1252") == 0) return "utf-8";
        return declared;
    }
    if (good >= bad) return "utf-8";
    name = charset_guess(b, n);
    return name ? name : "windows-1252";
}

/* ---- decoding ---------------------------------------------------------------------------- */

/* Input is decoded piece by piece into `raw`, which is cleaned into `out` whenever it is long: what
 * is held beside the result stays small, and the budget is asked in between. */
enum { PIECE = 64 << 10 };

typedef struct decoder {
    fo_buf *out, raw;
    doc_budget *budget;
    size_t *n_replaced;
    int failure;
} decoder;

/* Clean what stands in s[0..n): false once the budget says no. */
static bool clean(decoder *d, const char *s, size_t n) {
    size_t before = d->out->len;
    encoding_clean(d->out, s, n, d->n_replaced);
    if (d->out->failed || d->raw.failed)
        d->failure = FO_ENOMEM;
    else if (!doc_budget_take(d->budget, d->out->len - before) || !doc_budget_go_on(d->budget, n))
        d->failure = d->budget->failure;
    return d->failure == FO_OK;
}

/* To be called between characters. CR at the end waits: LF may follow. */
static bool flush(decoder *d, bool last) {
    if (d->raw.failed) d->failure = FO_ENOMEM;
    if (d->failure) return false;
    if (!last && d->raw.len < PIECE) return true;
    bool hold = !last && d->raw.len && d->raw.data[d->raw.len - 1] == '\r';
    bool ok = d->raw.len == 0 || clean(d, d->raw.data, d->raw.len - hold);
    fo_buf_clear(&d->raw);
    if (hold) fo_buf_char(&d->raw, '\r');
    return ok;
}

static void decode_utf8(decoder *d, const char *s, size_t n) {
    for (size_t at = 0; at < n;) {
        size_t stop = n - at > PIECE ? at + PIECE : n;
        /* Cut before the beginning of a character that stands after no CR: exact, because neither
         * a character nor an ill-formed part of one reaches past the next beginning. */
        size_t to = stop;
        while (stop < n && to > at && (!fo_utf8_boundary(s[to]) || s[to - 1] == '\r')) to--;
        if (to > at) stop = to;
        if (!clean(d, s + at, stop - at)) return;
        at = stop;
    }
}

static void decode_1252(decoder *d, const unsigned char *b, size_t n) {
    static const uint16_t high[32] = {
        0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
        0x2039, 0x0152, 0,      0x017D, 0,      0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
        0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178};
    for (size_t i = 0; i < n; i++) {
        if (b[i] < 0x80)
            fo_buf_char(&d->raw, (char)b[i]);
        else if (b[i] >= 0xA0)
            add_cp(&d->raw, b[i]);
        else if (high[b[i] - 0x80])
            add_cp(&d->raw, high[b[i] - 0x80]);
        else
            add_cp(&d->raw, REPLACEMENT);
        if (d->raw.len >= PIECE && !flush(d, false)) return;
    }
}

static void decode_utf16(decoder *d, const unsigned char *b, size_t n, bool big) {
    size_t i = 0;
    while (i + 1 < n) {
        int32_t u = big ? b[i] << 8 | b[i + 1] : b[i + 1] << 8 | b[i];
        i += 2;
        if (d->raw.len >= PIECE && !flush(d, false)) return;
        if (u >= 0xD800 && u < 0xDC00 && i + 1 < n) {
            int32_t low = big ? b[i] << 8 | b[i + 1] : b[i + 1] << 8 | b[i];
            if (low >= 0xDC00 && low < 0xE000) {
                add_cp(&d->raw, 0x10000 + ((u - 0xD800) << 10) + (low - 0xDC00));
                i += 2;
                continue;
            }
        }
        if (u >= 0xD800 && u < 0xE000)
            add_replacement(&d->raw, d->n_replaced);
        else
            add_cp(&d->raw, u);
    }
    if (i < n) add_replacement(&d->raw, d->n_replaced);
}

/* Where a mark may follow that makes one character with it, the C library holds a letter back: in windows-1255 and
 * windows-1258. */
static void add_held(decoder *d, iconv_t cd) {
    char piece[32], *to = piece;
    size_t room = sizeof piece;
    iconv(cd, NULL, NULL, &to, &room);
    fo_buf_add(&d->raw, piece, sizeof piece - room);
}

/* stateful: what a byte stands for depends on those before, so that no state is left in between. */
static void decode_iconv(decoder *d, iconv_t cd, const unsigned char *b, size_t n, bool stateful) {
    enum { STEP = 4096 };
    char *in = (char *)b;
    size_t left = n;
    while (left && flush(d, false)) {
        char piece[STEP], *to = piece;
        size_t room = sizeof piece, step = left < STEP ? left : STEP, rest = step;
        size_t rc = iconv(cd, &in, &rest, &to, &room);
        fo_buf_add(&d->raw, piece, sizeof piece - room);
        left -= step - rest;
        if (rc != (size_t)-1 || errno == E2BIG) continue;
        if (errno == EINVAL && rest < left && rest < step) continue; /* cut within a character */
        if (!stateful) add_held(d, cd);
        add_replacement(&d->raw, d->n_replaced);
        in++;
        left--;
    }
    add_held(d, cd);
}

int encoding_decode(fo_buf *out, const unsigned char *bytes, size_t n, const char *declared,
                    const encoding_limits *limits, const char **name, size_t *n_replaced,
                    fo_err *err) {
    size_t skip = 0;
    *name = choose(bytes, n, declared, limits->certain, &skip);
    bytes += skip;
    n -= skip;
    if (n > limits->max_bytes)
        return fo_fail(err, FO_ELIMIT, "the document is longer than %zu bytes", limits->max_bytes);
    decoder d = {.out = out, .budget = limits->budget, .n_replaced = n_replaced};
    if (strcmp(*name, "utf-8") == 0) {
        decode_utf8(&d, (const char *)bytes, n);
    } else if (strcmp(*name, "windows-1252") == 0) {
        decode_1252(&d, bytes, n);
    } else if (strncmp(*name, "utf-16", 6) == 0) {
        decode_utf16(&d, bytes, n, (*name)[6] == 'b');
    } else {
        iconv_t cd = open_decoder(*name);
        if (cd == (iconv_t)-1)
            return fo_fail(err, FO_EUNSUPPORTED, "this system cannot decode the charset '%s'",
                           *name);
        decode_iconv(&d, cd, bytes, n, strcmp(*name, "iso-2022-jp") == 0);
        iconv_close(cd);
    }
    flush(&d, true);
    fo_buf_free(&d.raw);
    if (d.failure && d.failure != FO_ENOMEM) return doc_budget_fail(d.budget, err);
    if (d.failure && d.budget && d.budget->failure) return doc_budget_fail(d.budget, err);
    return d.failure ? fo_no_memory(err) : FO_OK;
}
