/* Pages as generators of documentation make them: what stands around their text, or in it and is none of it, is left out. */
#include "tests/data/extract/extract_fixture.h"

static void page(const char *body, const char *text) {
    char html[4096];
    snprintf(html, sizeof html, "<!DOCTYPE html><html><body>%s</body></html>", body);
    extracted x = read_string(html, "text/html", "a.html");
    assert_string_equal(x.text, text);
    extracted_deinit(&x);
}

static void sphinx_and_mkdocs_pages_are_their_text(void **state) {
    (void)state;
    page("<div class='related' role='navigation'><a>next</a></div><div role='main'>"
         "<div class='contents topic'><p>Contents</p><ul><li>Keys</li></ul></div>"
         "<h1>Keys<a class='headerlink' href='#keys'>\xC2\xB6</a></h1><p>Keys are long.</p>"
         "<div class='admonition note'><p class='admonition-title'>Note</p><p>Keep them.</p></div>"
         "</div><div class='sphinxsidebar'><p>Quick search</p></div>"
         "<div class='footer' role='contentinfo'>&copy; 2026 Somebody.</div>",
         "Keys\n\nKeys are long.\n\nNote\n\nKeep them.");
    page("<a class='md-skip'>Skip to content</a><h1>Pumps<a class=headerlink>#</a></h1>"
         "<a class='md-content__button md-icon'>Edit this page</a><p>They run.</p>",
         "Pumps\n\nThey run.");
}

static void pages_of_docbook_javadoc_and_docusaurus_are_their_text(void **state) {
    (void)state;
    page("<div class='navheader'><table><tr><td>Prev</td><td>Next</td></tr></table></div>"
         "<div class='toc'><dl><dt>1. Use</dt></dl></div><h2>Use</h2><p>It is used.</p>"
         "<div class='navfooter'><table><tr><td>Prev</td><td>Home</td></tr></table></div>",
         "Use\n\nIt is used.");
    page("<div class='topNav'><ul><li>Overview</li></ul></div><h2>Class Pump</h2><p>It pumps.</p>"
         "<p class='legalCopy'>Copyright 2026</p>",
         "Class Pump\n\nIt pumps.");
    page("<ul class='breadcrumbs x'><li>Home</li></ul><h1>Use<a class='hash-link'>#</a></h1>"
         "<p>It is used.</p><a class='theme-edit-this-page'>Edit this page</a>"
         "<div class='pagination-nav'><a>Previous</a></div>",
         "Use\n\nIt is used.");
}

static void numbers_of_lines_are_no_code(void **state) {
    (void)state;
    page("<p>So:</p><table><tr><td class='linenos'><pre>1\n2</pre></td><td class='code'>"
         "<pre>a = 1\nb = 2</pre></td></tr></table>",
         "So:\n\na = 1\nb = 2");
    page("<pre><span class='lineno'>    1</span>int a;\n<span class='lineno'>    2</span>int "
         "b;</pre>",
         "int a;\nint b;");
}

static void a_heading_does_not_say_its_link_to_itself(void **state) {
    (void)state;
    page("<h2>Ports <span><a class='mark' href='#p'>#</a></span></h2><p>C<a href='#x'>#</a>.</p>"
         "<dl><dt>open<a href='#o'>\xC2\xB6</a></dt><dd>Opens.</dd></dl><h2><a "
         "href='#c'>C#</a></h2>",
         "Ports\n\nC#.\n\nopen\nOpens.\n\nC#");
}

/* A page that is a list of contents alone is read; words of a class that name the text are no reason to drop it. */
static void what_is_left_alone_is_read(void **state) {
    (void)state;
    page("<div class='toc'><p>1. Use</p></div>", "1. Use");
    page("<div class='contents'><div class='header'><p>Here.</p></div></div>", "Here.");
    page("<p class='footer-note'>Fees may rise.</p>", "Fees may rise.");
}

static void what_is_struck_out_is_not_said(void **state) {
    (void)state;
    page("<p>The fee is <del>9</del> <s>8</s> <strike>6</strike> 7 euros"
         "<span style='text-decoration: line-through'> a month</span>.</p>",
         "The fee is 7 euros.");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sphinx_and_mkdocs_pages_are_their_text),
        cmocka_unit_test(pages_of_docbook_javadoc_and_docusaurus_are_their_text),
        cmocka_unit_test(numbers_of_lines_are_no_code),
        cmocka_unit_test(a_heading_does_not_say_its_link_to_itself),
        cmocka_unit_test(what_is_left_alone_is_read),
        cmocka_unit_test(what_is_struck_out_is_not_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
