/* Parts of Office documents as XML: document types, what stands for characters in attributes, and how many of these there may be. */
#include "tests/data/extract/office_here.h"

#include "data/extract/xml_guard.h"
#include "kernels/buf.h"

#define CONTAINER                                                                                  \
    { "META-INF/container.xml", "<c><rootfiles><rootfile full-path='OPS/p.opf'/></rootfiles></c>" }

/* Generators name the document type of manifests and packages; nothing is loaded for it. */
static void document_types_that_declare_nothing_pass(void **state) {
    (void)state;
    expect((part[]){ODF_TYPE("text"),
                    {"META-INF/manifest.xml",
                     "<?xml version='1.0'?>\n<!DOCTYPE manifest:manifest PUBLIC "
                     "\"-//OpenOffice.org//DTD Manifest 1.0//EN\" \"Manifest.dtd\">\n"
                     "<manifest:manifest xmlns:manifest='m'/>"},
                    {"content.xml", "<!DOCTYPE d ><d><p>Oars &amp; sails</p></d>"},
                    {0}},
           "Oars & sails");
    refuse(
        (part[]){ODF_TYPE("text"),
                 {"content.xml", "<!DOCTYPE d SYSTEM 'd.dtd' [<!ENTITY a 'b'>]><d><p>&a;</p></d>"},
                 {0}},
        FO_EINVAL, "declares a document type with rules of its own");
    const part page = {"OPS/Q&A.xhtml", "<html><body><p>Why?</p></body></html>"};
    expect(
        (part[]){
            CONTAINER,
            {"OPS/p.opf",
             "<!DOCTYPE package PUBLIC '+//ISBN 0-9673008-1-9//DTD OEB 1.2 Package//EN' "
             "'http://openebook.org/dtds/oeb-1.2/oebpkg12.dtd'><package><manifest><item id='a' "
             "href='Q&amp;A.xhtml' media-type='application/xhtml+xml'/></manifest><spine>"
             "<itemref idref='a'/></spine></package>"},
            page,
            {0}},
        "Why?");
}

/* An entity that the document type may declare elsewhere is left out, and what stands behind it is read. */
static void unknown_entities_end_nothing(void **state) {
    (void)state;
    fo_buf text = {0};
    fo_buf_str(&text, "<!DOCTYPE d SYSTEM 'd.dtd'><d><p a='&x;'>Oars&nbsp; are dry.</p>");
    for (int i = 0; i < 100000; i++) fo_buf_str(&text, "<p/>");
    fo_buf_str(&text, "<p>Sails too.</p></d>");
    expect((part[]){ODF_TYPE("text"), {"content.xml", text.data}, {0}},
           "Oars are dry.\n\nSails too.");
    fo_buf_free(&text);
    refuse((part[]){ODF_TYPE("text"), {"content.xml", "<d><p>Oars&nbsp;</p></d>"}, {0}}, FO_EINVAL,
           "is no XML at line 1");
}

/* In an attribute too, an ampersand is one. */
static void names_of_sheets_have_their_ampersand(void **state) {
    (void)state;
    expect((part[]){ODF_TYPE("spreadsheet"),
                    {"content.xml",
                     "<d><table name='R&amp;D &lt;&#38;&gt; &amp;#38;'><table-row><table-cell>"
                     "<p>A&amp;B &amp;amp;</p></table-cell></table-row></table></d>"},
                    {0}},
           "R&D <&> &#38;\n\nA&B &amp;");
}

/* "<d a0='' ...": each attribute was held against all before it, in seconds for 40,000. */
static void add_crowd(fo_buf *b, const char *name, int n) {
    for (int i = 0; i < n; i++) fo_buf_printf(b, " %s%d='>\"'", name, i);
}

static void elements_of_very_many_attributes_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int n;
    } crowds[] = {{"a", 4000}, {"a", 60000}, {"xmlns:a", 60000}};
    for (size_t i = 0; i < sizeof crowds / sizeof *crowds; i++) {
        fo_buf content = {0}, xml = {0};
        fo_buf_str(&content, "<d>");
        for (int k = 0; k < 500; k++) /* nor do these, and what quotes is no value */
            fo_buf_str(&content,
                       "<!-- <p a='1' = = = = = = = = = = --><p a = 'b'/><![CDATA[ <p = = = "
                       "= ' ]]><?p = = = = = = = \" ?>");
        fo_buf_str(&content, "<p");
        add_crowd(&content, crowds[i].name, crowds[i].n);
        fo_buf_str(&content, ">Oars</p></d>");
        fo_buf_printf(&xml, "<?xml version='1.0'?>\n%s", content.data);
        const part parts[] = {ODF_TYPE("text"), {"content.xml", content.data}, {0}};
        extracted x;
        fo_err err = {0};
        doc_budget budget = {.cpu_ms = 1500};
        doc_budget_begin(&budget);
        extract_request rq = {.bytes = xml.data,
                              .n = xml.len,
                              .file_name = "a.xml",
                              .max_text_bytes = LIMIT,
                              .budget = &budget,
                              .formats = here,
                              .n_formats = n_here};
        if (crowds[i].n <= XML_GUARD_ATTRIBUTES) {
            assert_ok(extract_text(&x, &rq, &err), &err);
            assert_non_null(strstr(x.text, "Oars"));
            extracted_deinit(&x);
            assert_ok(read_parts(&x, parts, &err), &err);
            assert_non_null(strstr(x.text, "Oars"));
            extracted_deinit(&x);
        } else {
            refuse(parts, FO_EINVAL, "content.xml has an element with more than 4096 attributes");
            assert_int_equal(extract_text(&x, &rq, &err), FO_EINVAL);
            assert_non_null(
                strstr(err.msg, "from line 2 on it has an element with more than 4096"));
            budget.owed = 65536;
            assert_true(doc_budget_look(&budget)); /* at once */
        }
        fo_buf_free(&content);
        fo_buf_free(&xml);
    }
}

/* It comes in pieces. */
static void the_guard_counts_over_pieces(void **state) {
    (void)state;
    fo_buf xml = {0};
    fo_buf_str(&xml, "<?x a='?><d><!--- = <p --><![CDATA[]>]]]><p b='<='>");
    for (int k = 0; k < 2 * XML_GUARD_ATTRIBUTES; k++) fo_buf_str(&xml, "<p a='='/> = ");
    const size_t fine = xml.len;
    fo_buf_str(&xml, "<p");
    add_crowd(&xml, "a", XML_GUARD_ATTRIBUTES + 1);
    for (size_t piece = 1; piece < 9; piece += 1 + (piece == 3) * 4) {
        xml_guard g = {0};
        size_t at = 0;
        while (at < xml.len &&
               xml_guard_pass(&g, xml.data + at, xml.len - at < piece ? xml.len - at : piece))
            at += piece;
        assert_in_range(at, fine, xml.len - 1);
        g = (xml_guard){0};
        assert_true(xml_guard_pass(&g, xml.data, xml.len - 9)); /* one fewer */
    }
    fo_buf_free(&xml);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(document_types_that_declare_nothing_pass),
        cmocka_unit_test(unknown_entities_end_nothing),
        cmocka_unit_test(names_of_sheets_have_their_ampersand),
        cmocka_unit_test(elements_of_very_many_attributes_are_refused),
        cmocka_unit_test(the_guard_counts_over_pieces),
    };
    return cmocka_run_group_tests(tests, formats_here, NULL);
}
