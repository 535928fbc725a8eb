/* What Forage knows by sight and does not read: rows of the registry without an extractor, so that
 * a document is refused by the name of what it is and never taken in as the text of its bytes.
 * Sources: the formats' own specifications (PKWARE APPNOTE, RFC 5322, RFC 4155, ...) and file(1).
 *
 * To read one of these, give its row an extractor and move it to extract_formats.c. */
#include <string.h>
#include <strings.h>

#include "data/extract/extract_internal.h"
#include "kernels/words.h"

static bool has_at(const extract_input *in, size_t at, const void *magic, size_t n) {
    return in->n >= at + n && memcmp(in->bytes + at, magic, n) == 0;
}

/* in's bytes have the string literal `magic` at `at`. */
#define HAS(in, at, magic) has_at(in, at, magic, sizeof(magic) - 1)
#define STARTS_WITH(kind, magic)                                                                   \
    static bool kind(const extract_input *in) {                                                    \
        return HAS(in, 0, magic);                                                                  \
    }

/* ---- documents of pages, sheets and slides ------------------------------------------------- */

bool extract_is_pdf(const extract_input *in) {
    size_t at = HAS(in, 0, "\xEF\xBB\xBF") ? 3 : 0;
    while (at < in->n && (in->bytes[at] <= ' ')) at++;
    return HAS(in, at, "%PDF-");
}

bool extract_is_rtf(const extract_input *in) {
    return HAS(in, 0, "{\\rtf");
}
STARTS_WITH(is_postscript, "%!PS")
STARTS_WITH(is_djvu, "AT&TFORM")

static bool is_zip(const extract_input *in) {
    return HAS(in, 0, "PK\3\4") || HAS(in, 0, "PK\5\6");
}

static bool holds(const extract_input *in, const void *part, size_t n) {
    return memmem(in->bytes, in->n, part, n) != NULL;
}

static size_t little(const unsigned char *p, int bytes) {
    size_t v = 0;
    for (int i = bytes; i > 0; i--) v = v << 8 | p[i - 1];
    return v;
}

/* Has a ZIP archive an entry of this name's beginning? Its directory says so; where that is damaged, the name stands
 * somewhere in it. (An archive may hold others as they are, whose names stand in it as well.) */
static bool zip_has(const extract_input *in, const char *entry, size_t n) {
    enum { END = 22, HEAD = 46, COMMENT = 65535, MOST = 20000 };
    size_t least = in->n > END + COMMENT ? in->n - END - COMMENT : 0,
           at = in->n < END ? 0 : in->n - END;
    while (at > least && !HAS(in, at, "PK\5\6")) at--;
    if (in->n < END || !HAS(in, at, "PK\5\6")) return holds(in, entry, n);
    size_t entries = little(in->bytes + at + 10, 2), dir = little(in->bytes + at + 16, 4),
           size = little(in->bytes + at + 12, 4);
    if (dir != 0xFFFFFFFF && size <= at && dir + size != at)
        dir = at - size; /* something stands before it */
    for (size_t i = 0; i < entries && i < MOST; i++) {
        if (dir > in->n || in->n - dir < HEAD || !HAS(in, dir, "PK\1\2"))
            return holds(in, entry, n);
        size_t name = little(in->bytes + dir + 28, 2);
        size_t rest = little(in->bytes + dir + 30, 2) + little(in->bytes + dir + 32, 2);
        if (name >= n && has_at(in, dir + HEAD, entry, n)) return true;
        dir += HEAD + name + rest;
    }
    return false;
}

#define ZIP_WITH(kind, entry)                                                                      \
    bool kind(const extract_input *in) {                                                           \
        return is_zip(in) && zip_has(in, entry, sizeof(entry) - 1);                                \
    }
ZIP_WITH(extract_is_docx, "word/document")
ZIP_WITH(extract_is_xlsx, "xl/workbook")
ZIP_WITH(extract_is_pptx, "ppt/presentation")

/* Formats of a ZIP archive whose first entry, stored as it is, says what it is. */
bool extract_is_odf(const extract_input *in) {
    return is_zip(in) && HAS(in, 30, "mimetypeapplication/vnd.oasis.opendocument");
}
bool extract_is_epub(const extract_input *in) {
    /* Not all of them keep to the order of their parts. */
    return is_zip(in) && (HAS(in, 30, "mimetypeapplication/epub+zip") ||
                          zip_has(in, "META-INF/container.xml", 22));
}

/* The compound files of old: what they are stands in the names of their streams, in UTF-16. */
static bool is_compound(const extract_input *in) {
    return HAS(in, 0, "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1");
}
static bool compound_with(const extract_input *in, const char *stream) {
    char wide[128];
    size_t n = strlen(stream);
    for (size_t i = 0; i < n; i++) {
        wide[2 * i] = stream[i];
        wide[2 * i + 1] = 0;
    }
    return is_compound(in) && holds(in, wide, 2 * n);
}
static bool is_doc(const extract_input *in) {
    return compound_with(in, "WordDocument");
}
static bool is_xls(const extract_input *in) {
    return compound_with(in, "Workbook");
}
static bool is_ppt(const extract_input *in) {
    return compound_with(in, "PowerPoint Document");
}
static bool is_encrypted_office(const extract_input *in) {
    return compound_with(in, "EncryptedPackage");
}
static bool is_msg(const extract_input *in) {
    return compound_with(in, "__substg1.0_");
}

/* ---- mail ------------------------------------------------------------------------------------ */

static bool ends_in(const char *name, const char *end) {
    size_t n = name ? strlen(name) : 0, k = strlen(end);
    return n >= k && strcasecmp(name + n - k, end) == 0;
}

typedef struct mail_fields {
    int by_people; /* fields that a memo has as well */
    int by_mail;   /* those that only programs of mail write */
} mail_fields;

/* The header from s[at] on; none where what stands there is none. */
static mail_fields read_header(const char *s, size_t n, size_t at) {
    enum { MAX_LINES = 200 };
    mail_fields found = {0};
    for (int lines = 0; at < n && lines < MAX_LINES; lines++) {
        const char *newline = memchr(s + at, '\n', n - at);
        size_t end = newline ? (size_t)(newline - s) : n, next = end + (newline != NULL);
        if (end > at && s[end - 1] == '\r') end--;
        if (end == at) return found; /* the body follows */
        if ((s[at] == ' ' || s[at] == '\t') && lines) {
            at = next;
            continue;
        }
        size_t k = at;
        while (k < end && s[k] > ' ' && s[k] < 127 && s[k] != ':') k++;
        if (k == at || k == end || s[k] != ':') return (mail_fields){0};
        found.by_people +=
            fo_words_have_any_case("from to cc bcc subject date reply-to sender", s + at, k - at);
        found.by_mail += fo_words_have_any_case(
            "message-id received mime-version return-path delivered-to "
            "in-reply-to references dkim-signature content-transfer-encoding "
            "x-mailer user-agent x-mozilla-status list-id newsgroups",
            s + at, k - at);
        at = next;
    }
    return found;
}

static bool is_header_of_mail(mail_fields f, bool named) {
    return named ? f.by_people + f.by_mail >= 2 : f.by_mail >= 1 && f.by_people + f.by_mail >= 3;
}

/* Text that came as text (a field of JSON) is taken as it is: people store messages so. */
bool extract_is_mail(const extract_input *in) {
    if (in->is_text) return false;
    mail_fields f = read_header((const char *)in->bytes, in->n, 0);
    return is_header_of_mail(f, ends_in(in->file_name, ".eml"));
}

/* "From somebody@example.org Thu Jan  1 00:00:00 1970", then a message. */
bool extract_is_mbox(const extract_input *in) {
    if (in->is_text || !HAS(in, 0, "From ")) return false;
    const char *s = (const char *)in->bytes, *newline = memchr(s, '\n', in->n);
    if (!newline) return false;
    bool address = memchr(s, '@', (size_t)(newline - s)) != NULL;
    mail_fields f = read_header(s, in->n, (size_t)(newline - s) + 1);
    return is_header_of_mail(f, address || ends_in(in->file_name, ".mbox"));
}

/* ---- pictures and sound ----------------------------------------------------------------------- */

/* These are read where letters are recognised (extract_image.c). */
bool extract_is_png(const extract_input *in) {
    return HAS(in, 0, "\x89PNG\r\n");
}
bool extract_is_jpeg(const extract_input *in) {
    return HAS(in, 0, "\xFF\xD8\xFF");
}
STARTS_WITH(is_flac, "fLaC")
STARTS_WITH(is_midi, "MThd\0\0")
STARTS_WITH(is_matroska, "\x1A\x45\xDF\xA3")

static bool is_gif(const extract_input *in) {
    return HAS(in, 0, "GIF87a") || HAS(in, 0, "GIF89a");
}
bool extract_is_tiff(const extract_input *in) {
    return HAS(in, 0, "II*\0") || HAS(in, 0, "MM\0*");
}
static bool is_bmp(const extract_input *in) {
    return HAS(in, 0, "BM") && HAS(in, 6, "\0\0\0\0");
}
static bool is_webp(const extract_input *in) {
    return HAS(in, 0, "RIFF") && HAS(in, 8, "WEBP");
}
static bool is_riff(const extract_input *in) {
    return HAS(in, 0, "RIFF") && (HAS(in, 8, "WAVE") || HAS(in, 8, "AVI "));
}
static bool is_heif(const extract_input *in) {
    return HAS(in, 4, "ftyp") &&
           (HAS(in, 8, "hei") || HAS(in, 8, "hevc") || HAS(in, 8, "mif1") || HAS(in, 8, "avif"));
}
static bool is_mp4(const extract_input *in) {
    return HAS(in, 4, "ftyp");
}
static bool is_mp3(const extract_input *in) {
    return in->n > 10 && ((HAS(in, 0, "ID3") && in->bytes[3] < 5) || HAS(in, 0, "\xFF\xFB"));
}
static bool is_ogg(const extract_input *in) {
    return HAS(in, 0, "OggS\0");
}

/* The first element of an XML document is <svg>. */
static bool is_svg(const extract_input *in) {
    const char *s = (const char *)in->bytes;
    size_t n = in->n < 4096 ? in->n : 4096, at = HAS(in, 0, "\xEF\xBB\xBF") ? 3 : 0;
    for (;;) {
        while (at < n && (unsigned char)s[at] <= ' ') at++;
        if (n - at < 4 || s[at] != '<') return false;
        if (strncasecmp(s + at, "<svg", 4) == 0) return true;
        if (s[at + 1] != '?' && s[at + 1] != '!') return false;
        const char *end = memcmp(s + at, "<!--", 4) == 0 ? memmem(s + at, n - at, "-->", 3)
                                                         : memchr(s + at, '>', n - at);
        if (!end) return false;
        at = (size_t)(end - s) + (*end == '-' ? 3 : 1);
    }
}

/* ---- archives, programs, data ------------------------------------------------------------------ */

STARTS_WITH(is_xz, "\xFD"
                   "7zXZ\0")
STARTS_WITH(is_zstd, "\x28\xB5\x2F\xFD")
STARTS_WITH(is_lz4, "\x04\x22\x4D\x18")
STARTS_WITH(is_7z, "7z\xBC\xAF\x27\x1C")
STARTS_WITH(is_rar, "Rar!\x1A\x07")
STARTS_WITH(is_cab, "MSCF\0\0\0\0")
STARTS_WITH(is_ar, "!<arch>\n")
STARTS_WITH(is_elf, "\x7F"
                    "ELF")
STARTS_WITH(is_wasm, "\0asm")
STARTS_WITH(is_class, "\xCA\xFE\xBA\xBE")
STARTS_WITH(is_sqlite, "SQLite format 3")
STARTS_WITH(is_parquet, "PAR1")
STARTS_WITH(is_numpy, "\x93NUMPY")
STARTS_WITH(is_hdf5, "\x89HDF\r\n")
STARTS_WITH(is_gguf, "GGUF")

static bool is_bzip2(const extract_input *in) {
    return HAS(in, 0, "BZh") && HAS(in, 4, "1AY&SY");
}
/* Old ones have no mark, but the sum of their first header. */
static bool is_tar(const extract_input *in) {
    enum { HEADER = 512, SUM = 148, SUM_BYTES = 8 };
    if (HAS(in, 257, "ustar")) return true;
    if (in->n < HEADER || !in->bytes[0]) return false;
    size_t sum = 0, says = 0;
    for (size_t i = 0; i < HEADER; i++) sum += i >= SUM && i < SUM + SUM_BYTES ? ' ' : in->bytes[i];
    size_t at = SUM;
    while (at < SUM + SUM_BYTES && in->bytes[at] == ' ') at++;
    for (; at < SUM + SUM_BYTES && in->bytes[at] >= '0' && in->bytes[at] <= '7'; at++)
        says = says * 8 + (size_t)(in->bytes[at] - '0');
    return says == sum && at > SUM + 2;
}
static bool is_jar(const extract_input *in) {
    return is_zip(in) &&
           (zip_has(in, "META-INF/MANIFEST.MF", 20) || zip_has(in, "AndroidManifest.xml", 19));
}
static bool is_pe(const extract_input *in) {
    return HAS(in, 0, "MZ") && in->n >= 64 && memchr(in->bytes, 0, 64) != NULL;
}
static bool is_font(const extract_input *in) {
    return HAS(in, 0, "\0\1\0\0\0") || HAS(in, 0, "OTTO\0") || HAS(in, 0, "wOFF") ||
           HAS(in, 0, "wOF2");
}

/* What is made of a compound file stands before it. */
static const extract_format rows[] = {
    {"jar", "a Java or Android package", "application/java-archive", "jar war ear apk",
     .is = is_jar},
    {"zip", "a ZIP archive", "application/zip application/x-zip-compressed", "zip", .is = is_zip,
     .archive = true},
    {"doc", "an old Word document (.doc)", "application/msword", "doc dot", .is = is_doc},
    {"xls", "an old Excel workbook (.xls)", "application/vnd.ms-excel", "xls xlt", .is = is_xls},
    {"ppt", "an old PowerPoint presentation (.ppt)", "application/vnd.ms-powerpoint", "ppt pps",
     .is = is_ppt},
    {"msg", "an Outlook message", "application/vnd.ms-outlook", "msg", .is = is_msg},
    {"encrypted-office", "an Office file under a password", "", "", .is = is_encrypted_office},
    {"compound", "an old Office file", "application/x-ole-storage", "", .is = is_compound},
    {"postscript", "a PostScript document", "application/postscript", "ps eps",
     .is = is_postscript},
    {"djvu", "a DjVu document", "image/vnd.djvu", "djvu djv", .is = is_djvu},
    {"gif", "a GIF image", "image/gif", "gif", .is = is_gif},
    {"bmp", "a BMP image", "image/bmp", "bmp", .is = is_bmp},
    {"webp", "a WebP image", "image/webp", "webp", .is = is_webp},
    {"heif", "a HEIF image", "image/heif image/heic image/avif", "heif heic avif", .is = is_heif},
    {"svg", "an SVG image", "image/svg+xml", "svg", .is = is_svg},
    {"riff", "a sound or film (RIFF)", "audio/wav audio/x-wav video/x-msvideo", "wav avi",
     .is = is_riff},
    {"mp4", "a film or sound (MP4)", "video/mp4 audio/mp4 video/quicktime", "mp4 m4a m4v mov",
     .is = is_mp4},
    {"mp3", "a sound (MP3)", "audio/mpeg", "mp3", .is = is_mp3},
    {"ogg", "a sound or film (Ogg)", "audio/ogg video/ogg application/ogg", "ogg oga ogv opus",
     .is = is_ogg},
    {"flac", "a sound (FLAC)", "audio/flac", "flac", .is = is_flac},
    {"midi", "a MIDI file", "audio/midi", "mid midi", .is = is_midi},
    {"matroska", "a film or sound (Matroska)", "video/webm video/x-matroska audio/webm", "webm mkv",
     .is = is_matroska},
    {"bzip2", "bzip2 data", "application/x-bzip2", "bz2 tbz tbz2", .is = is_bzip2, .archive = true},
    {"xz", "xz data", "application/x-xz", "xz txz", .is = is_xz, .archive = true},
    {"zstd", "Zstandard data", "application/zstd", "zst tzst", .is = is_zstd, .archive = true},
    {"lz4", "LZ4 data", "application/x-lz4", "lz4", .is = is_lz4},
    {"7z", "a 7-Zip archive", "application/x-7z-compressed", "7z", .is = is_7z, .archive = true},
    {"rar", "a RAR archive", "application/vnd.rar application/x-rar-compressed", "rar",
     .is = is_rar},
    {"cab", "a cabinet archive", "application/vnd.ms-cab-compressed", "cab", .is = is_cab},
    {"ar", "an ar archive", "application/x-archive", "a deb", .is = is_ar},
    {"tar", "a tar archive", "application/x-tar", "tar tgz", .is = is_tar, .archive = true},
    {"elf", "a program (ELF)", "application/x-executable", "so o", .is = is_elf},
    {"pe", "a program (Windows)", "application/vnd.microsoft.portable-executable", "exe dll",
     .is = is_pe},
    {"wasm", "a WebAssembly module", "application/wasm", "wasm", .is = is_wasm},
    {"class", "a Java class", "application/java-vm", "class", .is = is_class},
    {"font", "a font", "font/ttf font/otf font/woff font/woff2", "ttf otf woff woff2",
     .is = is_font},
    {"sqlite", "an SQLite database", "application/vnd.sqlite3", "sqlite sqlite3 db",
     .is = is_sqlite},
    {"parquet", "a Parquet file", "application/vnd.apache.parquet", "parquet", .is = is_parquet},
    {"numpy", "a NumPy array", "", "npy", .is = is_numpy},
    {"hdf5", "an HDF5 file", "application/x-hdf5", "h5 hdf5", .is = is_hdf5},
    {"gguf", "a GGUF model", "", "gguf", .is = is_gguf},
};

const extract_format *extract_unsupported_at(size_t i) {
    return i < sizeof rows / sizeof *rows ? &rows[i] : NULL;
}
