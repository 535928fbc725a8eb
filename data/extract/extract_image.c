/* Images: the letters in them, as tesseract recognises them, where that is asked for. It reads the image
 * itself, by the same libraries in the same bounds; a TIFF may have several pages. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "data/extract/extract_internal.h"
#include "data/extract/extract_tools.h"
#include "data/extract/pdf_layout.h"

static const char *const arguments[] = {
    "tesseract", "stdin", "stdout", "-l", "%language", "-c", "tessedit_create_tsv=1", NULL};
const extract_program extract_ocr_program = {"tesseract", "tesseract-ocr", arguments, NULL};

/* ---- is it there? ---------------------------------------------------------------------------------- */

/* Names of languages as tesseract has them, "eng+deu": letters, and nothing that could be an option. */
static bool is_language(const char *s) {
    size_t n = strlen(s);
    if (!n || n >= EXTRACT_OCR_LANGUAGE_BYTES || s[0] == '+' || s[n - 1] == '+') return false;
    return strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+") == n;
}

/* Is the data of the language's name s[0..n) installed? Where no folder of such data is known, it may
 * be. */
static bool language_may_be_there(const char *s, size_t n) {
    static const char *const folders[] = {"/usr/share/tesseract-ocr/5/tessdata",
                                          "/usr/share/tesseract-ocr/4.00/tessdata",
                                          "/usr/share/tessdata"};
    bool known = false;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char path[200];
        known |= access(folders[i], R_OK) == 0;
        snprintf(path, sizeof path, "%s/%.*s.traineddata", folders[i], (int)n, s);
        if (access(path, R_OK) == 0) return true;
    }
    return !known;
}

int extract_ocr_check(const char *language, fo_err *err) {
    if (!tool_exists(extract_ocr_program.name))
        return fo_fail_field(err, FO_EUNSUPPORTED, "ocr",
                             "recognising letters in images needs the program %s, which this "
                             "machine lacks: install the package %s",
                             extract_ocr_program.name, extract_ocr_program.package);
    if (!language) return FO_OK;
    if (!is_language(language))
        return fo_fail_field(err, FO_EINVAL, "ocr_language",
                             "ocr_language is names of tesseract's languages, joined by +: eng, "
                             "eng+deu");
    for (const char *s = language; *s;) {
        size_t n = strcspn(s, "+");
        if (!language_may_be_there(s, n))
            return fo_fail_field(err, FO_EUNSUPPORTED, "ocr_language",
                                 "tesseract has no data of the language %.*s here: install the "
                                 "package tesseract-ocr-%.*s",
                                 (int)n, s, (int)n, s);
        s += n + (s[n] == '+');
    }
    return FO_OK;
}

/* ---- reading ----------------------------------------------------------------------------------------- */

int extract_ocr_refuse(int status, uint32_t page, fo_err *err) {
    char where[32] = "it";
    if (page) snprintf(where, sizeof where, "page %u", page);
    if (status == 127)
        return fo_fail(err, FO_EIO,
                       "tesseract could not be run; are tesseract-ocr and poppler-utils whole?");
    if (status == -9 || status == -24)
        return fo_fail(err, FO_ELIMIT, "recognising the letters of %s took longer than it is given",
                       where);
    return fo_fail(err, FO_EINVAL, "the letters of %s could not be recognised (status %d)", where,
                   status);
}

int extract_image(builder *b, extract_input *in, fo_err *err) {
    if (!in->program)
        return fo_fail(err, FO_EUNSUPPORTED, "letters in images are recognised by tesseract alone");
    pdf_layout p = {0};
    pdf_layout_read_ocr(&p, b, in->program, 0, 1);
    int status = in->program->end(in->program->ctx), rc = FO_OK;
    if (status && !b->failure) rc = extract_ocr_refuse(status, 0, err);
    if (!rc && !b->failure && !p.text.len)
        rc = fo_fail(err, FO_EUNSUPPORTED, "tesseract recognises no letters in %s",
                     p.n_pages > 1 ? "its pages" : "it");
    if (!rc) extract_layout(b, in, &p);
    pdf_layout_free(&p, b);
    return rc;
}
