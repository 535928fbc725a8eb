/* Parts of Office documents as XML: document types and what stands for characters in attributes. */
#include "tests/data/extract/office_here.h"

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(document_types_that_declare_nothing_pass),
        cmocka_unit_test(unknown_entities_end_nothing),
        cmocka_unit_test(names_of_sheets_have_their_ampersand),
    };
    return cmocka_run_group_tests(tests, formats_here, NULL);
}
