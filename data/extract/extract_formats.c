/* The registry: every format that Forage reads, one row each; behind them stand those that it knows
 * by sight alone (extract_unsupported.c).
 *
 * Order matters where two rows could claim the same document: the first whose `is` says yes, or
 * whose ending fits, or whose `guess` says yes, is taken. Plain text takes what no row claims. */
#include "data/extract/extract_internal.h"

static const extract_format formats[] = {
    {.name = "pdf",
     .what = "a PDF",
     .media_types = "application/pdf",
     .endings = "pdf",
     .is = extract_is_pdf,
     .extract = extract_pdf,
     .apart = true,
     .program = &extract_pdf_program},
    {.name = "docx",
     .what = "a Word document",
     .media_types = "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
     .endings = "docx docm dotx",
     .is = extract_is_docx,
     .extract = extract_docx,
     .apart = true},
    {.name = "xlsx",
     .what = "an Excel workbook",
     .media_types = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
     .endings = "xlsx xlsm xltx",
     .is = extract_is_xlsx,
     .extract = extract_xlsx,
     .apart = true},
    {.name = "pptx",
     .what = "a PowerPoint presentation",
     .media_types = "application/vnd.openxmlformats-officedocument.presentationml.presentation",
     .endings = "pptx pptm potx ppsx",
     .is = extract_is_pptx,
     .extract = extract_pptx,
     .apart = true},
    {.name = "opendocument",
     .what = "an OpenDocument file",
     .media_types = "application/vnd.oasis.opendocument.text "
                    "application/vnd.oasis.opendocument.spreadsheet "
                    "application/vnd.oasis.opendocument.presentation",
     .endings = "odt ods odp ott ots otp",
     .is = extract_is_odf,
     .extract = extract_odf,
     .apart = true},
    {.name = "epub",
     .what = "an EPUB book",
     .media_types = "application/epub+zip",
     .endings = "epub",
     .is = extract_is_epub,
     .extract = extract_epub,
     .apart = true},
    {.name = "rtf",
     .what = "an RTF document",
     .media_types = "application/rtf text/rtf text/richtext",
     .endings = "rtf",
     .is = extract_is_rtf,
     .extract = extract_rtf,
     .apart = true},
    {.name = "mbox",
     .what = "a mailbox",
     .media_types = "application/mbox",
     .endings = "mbox mbx",
     .is = extract_is_mbox,
     .extract = extract_mbox,
     .apart = true},
    {.name = "mail",
     .what = "a mail message",
     .media_types = "message/rfc822",
     .endings = "eml",
     .is = extract_is_mail,
     .extract = extract_mail,
     .apart = true},
    {.name = "html",
     .what = "an HTML page",
     .media_types = "text/html application/xhtml+xml",
     .endings = "html htm xhtml",
     .guess = extract_looks_like_html,
     .extract = extract_html},
    {.name = "markdown",
     .what = "a Markdown text",
     .media_types = "text/markdown text/x-markdown",
     .endings = "md markdown mkd mdown mdx",
     .extract = extract_markdown},
    {.name = "man", /* its endings are many (3ssl, 1p): extract.c knows the sections */
     .what = "a manual page",
     .media_types = "text/troff application/x-troff-man text/x-troff-man",
     .endings = "1 2 3 4 5 6 7 8 9 man mdoc roff troff",
     .guess = extract_looks_like_man,
     .guess_named = true, /* notes.1 and the like */
     .extract = extract_man},
    {.name = "code",
     .what = "source code",
     .media_types =
         "application/json application/x-ndjson application/xml text/xml text/css text/javascript "
         "application/javascript application/x-sh text/x-c text/x-python application/yaml "
         "application/toml",
     .endings =
         "c h cc cpp cxx hh hpp hxx cs java kt go rs py rb pl pm php js mjs jsx ts tsx swift scala "
         "lua r jl hs ml erl ex el lisp clj sh bash zsh fish ps1 sql css scss json jsonl ndjson "
         "yaml yml toml ini cfg conf xml cmake mk awk tcl asm s v vhd proto",
     .extract = extract_code},
    {.name = "csv",
     .what = "a table of values",
     .media_types = "text/csv text/tab-separated-values",
     .endings = "csv tsv",
     .extract = extract_csv},
    {.name = "text",
     .what = "a text",
     .media_types = "text/plain",
     .endings = "txt text log rst adoc asciidoc org tex nfo debian",
     .extract = extract_plain},
};

const extract_format *extract_format_at(size_t i) {
    const size_t n = sizeof formats / sizeof *formats;
    return i < n ? &formats[i] : extract_unsupported_at(i - n);
}
