/* extract_internal.h - what the files of formats share: the way from bytes to text, and the rows'
 * functions (extract_formats.c). Nobody outside data/extract includes it. */
#ifndef FORAGE_DATA_EXTRACT_INTERNAL_H
#define FORAGE_DATA_EXTRACT_INTERNAL_H

#include "data/extract/builder.h"

/* ---- for formats of text ------------------------------------------------------------------ */

/* The bytes as clean UTF-8, NUL-terminated, in *text (empty before), which b's budget counts: give
 * it back with extract_drop, or hand it on with builder_adopt. charset: what the document says of
 * itself, where nothing was declared; NULL: nothing. The bytes may be gone afterwards (they are
 * freed where they were unpacked for this). */
int extract_decode(builder *b, extract_input *in, const char *charset, fo_buf *text, fo_err *err);
void extract_drop(builder *b, fo_buf *text);

/* Text that has been decoded, to b, by the rules of the format; b->failure says what went wrong. */
void extract_plain_text(builder *b, const char *text, size_t n);
void extract_html_text(builder *b, const char *text, size_t n);
void extract_markdown_text(builder *b, const char *text, size_t n); /* without front matter */
/* file_name says which language it is; NULL: nobody knows. */
void extract_code_text(builder *b, const char *file_name, const char *text, size_t n);

/* "amp" -> '&': a named character reference of HTML 4, 0 if it is not known. */
int32_t extract_html_entity(const char *name, size_t n);

/* ---- formats that are read apart -------------------------------------------------------------- */

/* extract_host.c: b, which is empty, gets what a worker makes of the document by row f, which has number `row`
 * (rows of a request count first). Errors: the extractor's own, and how the worker ended. */
int extract_apart(struct extract_host *h, const extract_format *f, size_t row,
                  const extract_input *in, builder *b, fo_err *err);

/* What is in the layout, to b: columns, tables, headings (extract_pdf.c). */
struct pdf_layout;
void extract_layout(builder *b, const extract_input *in, struct pdf_layout *p);
/* The sentence for tesseract's exit status; page 0: of the whole. */
int extract_ocr_refuse(int status, uint32_t page, fo_err *err);
extern const extract_program extract_ocr_program;

/* ---- the rows ------------------------------------------------------------------------------ */

extract_fn extract_notebook, extract_mail, extract_mbox, extract_csv, extract_rtf, extract_pdf,
    extract_docx, extract_xlsx, extract_pptx, extract_odf, extract_epub;
extract_fn extract_subtitles, extract_calendar, extract_rst, extract_asciidoc, extract_org,
    extract_json, extract_yaml, extract_xml, extract_latex;
extern const extract_program extract_pdf_program;
extern const extract_program *const extract_pdf_tools[];
extern const extract_program extract_pdf_draw;
/* A PDF in a document whose row has these tools: `in` is it, `whole` what it is part of. */
extern const extract_program *const extract_part_tools[];
int extract_pdf_part(builder *b, extract_input *in, const extract_input *whole, fo_err *err);
extract_fn extract_image, extract_plain, extract_code, extract_markdown, extract_html, extract_man;
extract_look_fn extract_is_notebook, extract_is_mail, extract_is_mbox, extract_is_rtf,
    extract_is_pdf, extract_is_docx, extract_is_xlsx, extract_is_pptx, extract_is_odf,
    extract_is_epub;
extract_look_fn extract_looks_like_subtitles, extract_looks_like_calendar, extract_looks_like_xml;
extract_look_fn extract_is_png, extract_is_jpeg, extract_is_tiff;
extract_look_fn extract_looks_like_html, extract_looks_like_man;

/* Rows of what is known and not read (extract_unsupported.c); NULL past the end. */
const extract_format *extract_unsupported_at(size_t i);

#endif
