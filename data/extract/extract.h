/* extract.h - bytes of any format become clean UTF-8 text in blocks, each with its place.
 *
 *     doc_budget budget = {.cancel = &gone, .cpu_ms = DOC_BUDGET_CPU_MS, ...};
 *     extract_request rq = {.bytes = p, .n = n, .file_name = "care.html", .max_text_bytes = 64 << 20,
 *                           .budget = &budget};
 *     extracted x;
 *     if (extract_text(&x, &rq, &err)) ...     // the sentence names the file and what it is
 *     ... x.text, x.blocks[i], extracted_place(&x, &x.blocks[i]) ...
 *     extracted_deinit(&x);
 *
 * A format is one row of the registry (extract_formats.c): media types, file endings, a look at the
 * bytes, and a function from bytes to blocks. What the bytes are made of is that function's affair:
 * a format of text calls extract_decode for the character set, one of pages or sheets does not.
 * docs/adding-a-format.md says how to add one.
 *
 * The extracted text is what is stored, searched and cited: every span that Forage reports counts
 * code points of it. Stored text is never normalised (NFC is applied to copies where matching needs
 * it), only decoded: invalid bytes become U+FFFD and are counted. */
#ifndef FORAGE_DATA_EXTRACT_H
#define FORAGE_DATA_EXTRACT_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include "data/extract/doc_budget.h"
#include "kernels/error.h"

/* What a stretch of the text is, so that chunks can respect it. */
enum text_block_kind {
    TEXT_PARAGRAPH,
    TEXT_HEADING, /* level 1-6 */
    TEXT_CODE,    /* a fence or <pre>: not split inside if it fits */
    TEXT_LIST_ITEM,
    TEXT_TABLE_ROW,
};

typedef struct text_block {
    size_t start, end; /* bytes of text, half-open; blocks are in order and do not overlap */
    uint32_t place;    /* into extracted.places, from 1; 0: none is known */
    uint32_t name;     /* of code that defines something: bytes from start to its name */
    uint8_t kind;      /* enum text_block_kind */
    uint8_t level;     /* of a heading */
    uint8_t n_name;    /* bytes of the name; 0: none */
} text_block;

/* Where in its document a block stands, for formats that know. What does not apply is 0 or NULL. */
typedef struct text_place {
    uint32_t page;           /* from 1 */
    uint32_t slide;          /* from 1 */
    uint32_t line;           /* of the file, from 1: of text that people write in an editor */
    float box[4];            /* x0, y0, x1, y1 on the page, in points from its upper left corner */
    double start_ms, end_ms; /* of a recording; end_ms 0: none */
    const char *sheet;       /* its name */
    const char *range;       /* of cells, "B2:D9" */
} text_place;

typedef struct extracted {
    char *text; /* UTF-8, NUL-terminated, no NUL inside */
    size_t len;
    char *title; /* the document's own title, NULL if it has none */
    /* A JSON object of what the document says of itself in names and short values: front matter (front_matter.h). Its text
     * has them too. NULL: nothing, or it was read apart. */
    char *fields;
    text_block *blocks;
    size_t n_blocks;
    text_place *places; /* those that blocks name; their strings are owned by this too */
    size_t n_places;
    struct place_name *place_names; /* builder.c's */
    size_t n_replaced;              /* ill-formed parts replaced by U+FFFD */
    const char *format;             /* name of the registry's row, static */
    const char *encoding; /* "utf-8", "windows-1252", ...; static; NULL: not a format of text */
} extracted;

/* A row of the registry. */
struct builder;
struct extract_host; /* extract_host.h */

/* What a program makes of a document, as it comes. */
typedef struct extract_stream {
    ptrdiff_t (*read)(void *ctx, char *buf, size_t n); /* bytes read; 0: the end; < 0: an error */
    int (*end)(void *ctx); /* stops it: its exit status, or minus the signal that ended it */
    void *ctx;
} extract_stream;

/* A program that a format needs: it is given the document as its standard input and bound like the
 * worker that reads what it writes. */
typedef struct extract_program {
    const char *name, *package; /* "pdftotext", and Debian's package that has it */
    const char *const *argv;    /* NULL-terminated; "%page", "%language": what is asked for */
    const struct extract_program
        *into; /* what it writes is this one's input; NULL: it is the answer */
} extract_program;

/* Programs that a format may ask for while it reads (extract_format.tools), one at a time: each is ended
 * before the next is started. */
typedef struct extract_tools {
    /* Number `tool` of the row's, for this page, with the document as its standard input, or with
     * input[0..n), part of it that came out decoded; NULL: the document. FO_EIO: the one who starts them is gone. What the
     * program's own end was, to->end says: 127 where it could not be run. */
    int (*start)(void *ctx, uint32_t tool, uint32_t page, const void *input, size_t n,
                 extract_stream *to, fo_err *err);
    void *ctx;
} extract_tools;

/* Are letters in images recognised? */
enum extract_ocr {
    EXTRACT_OCR_OFF,
    EXTRACT_OCR_AUTO,  /* of pages that hold no text, and of images */
    EXTRACT_OCR_FORCE, /* of all pages: the text that a scanner's program put in is not used */
};
#define EXTRACT_OCR_LANGUAGE_BYTES 64

typedef struct extract_input {  /* what a format is given; extract.c's until `extract` returns */
    const unsigned char *bytes; /* unpacked */
    size_t n;
    const char *charset;   /* that was declared, as encoding_find has it; NULL: none */
    const char *file_name; /* NULL: none */
    bool is_text;          /* as in extract_request */
    const char *head;      /* `guess` only: the beginning as UTF-8, "" where it is no text */
    size_t n_head;
    struct fo_buf *unpacked;       /* where bytes lie in it; NULL: they are the caller's */
    const extract_stream *program; /* of a format that has one; else NULL */
    const extract_tools *tools;    /* the same */
    uint8_t ocr;                   /* enum extract_ocr */
    const char *ocr_language;      /* NULL: "eng" */
    atomic_size_t *pages;          /* as in extract_request; so are these */
    uint64_t call;
    uint32_t first_row, header_rows;
} extract_input;

/* Of a format that is read apart: whose documents its worker may have read before this one. */
enum extract_company {
    EXTRACT_ALONE,         /* nobody's */
    EXTRACT_WITH_ITS_CALL, /* those that came in with it (extract_request.call) */
    EXTRACT_WITH_ANY,      /* anybody's: formats of text */
};

typedef bool extract_look_fn(const extract_input *in);
typedef int extract_fn(struct builder *b, extract_input *in, fo_err *err);

typedef struct extract_format {
    const char *name;        /* "html": what extracted.format says */
    const char *what;        /* "an HTML page": what a message calls one */
    const char *media_types; /* space-separated; "": none */
    const char *endings;     /* of file names, space-separated, without dots */
    /* The bytes alone say that they are this: outweighs a declared type and a name, and without it
     * neither makes them so. NULL: bytes do not tell. */
    extract_look_fn *is;
    /* The text's beginning looks like it: asked where neither type nor name says; for a format with
     * `guess_named`, a name alone is not believed either. NULL: never guessed. */
    extract_look_fn *guess;
    bool guess_named;
    /* NULL: Forage knows what this is and does not read it. Returns FO_OK, or a code with a
     * sentence in err; text, blocks and the title go to b, whose failures need no forwarding. */
    extract_fn *extract;
    bool apart; /* only in a process of its own: extract_host.h */
    uint8_t
        company; /* enum extract_company: who may have been read by that process before; of formats without programs */
    const extract_program *program;      /* of such a format; NULL: none */
    const extract_program *const *tools; /* the same: those it may ask for; NULL-terminated */
    const extract_program *
        draw; /* writes page "%page" as a PNG image (page_image.h); NULL: it has no pages to show */
    bool may_recognise;   /* what extract_request.ocr says matters to it */
    bool recognised_only; /* an image: without that it is not read */
    bool archive;         /* it holds documents (archive.h) and is none: it has no extractor */
    bool
        in_parts; /* a large one may be cut where a line ends and each part be read alone: text_parts.h */
    uint32_t
        version; /* one more whenever the same bytes come out as another text: documents are then made anew */
} extract_format;

/* The registry, in order; NULL past the end. For help texts, 415 messages and folder walks. */
const extract_format *extract_format_at(size_t i);
/* The row of which the bytes alone say that they are it; NULL: they do not tell. */
const extract_format *extract_format_certain(const void *bytes, size_t n);
/* The row that would read a document of this name (NULL: none); NULL where it is refused. */
const extract_format *extract_format_of(const void *bytes, size_t n, const char *file_name);
/* The row of a media type (parameters are ignored), read or not; NULL: none. */
const extract_format *extract_format_of_type(const char *media_type);
/* Version of the row that reads this document, as far as its bytes, type (NULL: none) or name (NULL) say which: 0 where
 * only its text would. */
uint32_t extract_version(const void *bytes, size_t n, const char *content_type,
                         const char *file_name);
/* The ending of this name (.gz peeled off), where it decides how the document is read: neither bytes nor type say its format,
 * or it is source code, whose language the ending is. NULL: it decides nothing. *n_ending may be 0: it has none. */
const char *extract_name_matters(const void *bytes, size_t n, const char *content_type,
                                 const char *file_name, size_t *n_ending);
/* Changes when any row's does. */
uint32_t extract_versions(void);
/* May a document that begins like this be read in parts (extract_format.in_parts), and how are its bytes to be taken? Its
 * character set is UTF-16, or one of which a byte of any value but a line's end stays inside a line. Type and name may be
 * NULL. */
struct text_kind; /* text_parts.h */
bool extract_in_parts(const void *head, size_t n, const char *content_type, const char *file_name,
                      struct text_kind *kind);
/* True when the registry reads files of this name (its ending, .gz peeled off), images aside. */
int extract_knows_file(const char *file_name);
/* True when it is an image by its name whose letters can be recognised. */
int extract_knows_image(const char *file_name);

/* ---- letters in images ---- */
/* Can they be recognised here, in these languages (tesseract's names, "eng+deu"; NULL: any)? FO_EUNSUPPORTED
 * where tesseract or a language is not installed, FO_EINVAL for what is no language; the field is ocr or
 * ocr_language. */
int extract_ocr_check(const char *language, fo_err *err);
/* Does it matter to this document whether they are? */
bool extract_ocr_matters(const void *bytes, size_t n);
/* Does it matter to what is read of this document whether it came as text (extract_request.is_text)? */
bool extract_text_matters(const void *bytes, size_t n);

typedef struct extract_request {
    const void *bytes;
    size_t n;
    const char *content_type; /* may carry parameters ("text/html; charset=x"); NULL: not known */
    const char *file_name;    /* its path or name; NULL: none */
    bool is_text;          /* it came as text (a field of JSON): what looks like a mail is text */
    size_t max_text_bytes; /* of the text, and of what gzip unpacks to */
    atomic_size_t *pages;  /* NULL, or counts pages as they are read, where a format has them */
    doc_budget *budget;    /* NULL: no bound. Afterwards it counts what the result keeps */
    /* Where formats are read that are read apart; NULL: they are refused. */
    struct extract_host *host;
    uint8_t ocr;              /* enum extract_ocr */
    const char *ocr_language; /* checked by extract_ocr_check; NULL: "eng" */
    /* A number of the call that it came in with, any but UINT64_MAX: documents of one call may share a worker
     * (EXTRACT_WITH_ITS_CALL). 0: it shares none. */
    uint64_t call;
    uint32_t first_row,
        header_rows; /* of a part of a table, as text_part (text_parts.h) has them; else 0 */
    /* Rows before those of the registry, for tests; NULL: none. */
    const extract_format *formats;
    size_t n_formats;
} extract_request;

/* Extract. gzip is unpacked first, two deep at most. FO_EUNSUPPORTED says what the document is that
 * cannot be read; FO_EINVAL what is wrong with it; FO_ELIMIT past max_text_bytes; and what
 * doc_budget_fail says. On an error *out is empty. The caller calls extracted_deinit. */
int extract_text(extracted *out, const extract_request *rq, fo_err *err);
void extracted_deinit(extracted *x);
/* The place of one of x's blocks, NULL if it has none; lives as long as x. */
const text_place *extracted_place(const extracted *x, const text_block *b);

#endif
