/* Bytes to text: formats, encodings, hostile input. */
#include "tests/data/extract/extract_fixture.h"

#include <zlib.h>

#include "kernels/buf.h"

/* A power, and the number of a note, are no part of the number before them. */
static void raised_numbers_stand_apart(void **state) {
    (void)state;
    static const struct {
        const char *bytes, *text;
    } cases[] = {
        {"10<sup>6</sup> cells, 10<SUP>-3</SUP>, 10<sup><i>12</i></sup> and 10<sup>\xE2\x88\x92"
         "9</sup>",
         "10^6 cells, 10^-3, 10^12 and 10^\xE2\x88\x92"
         "9"},
        {"45<sup><a href=\"#n\">3</a></sup> in 2020<a href=\"#m\"><sup>[4]</sup></a>",
         "45 3 in 2020 [4]"},
        {"<a href=\"x\">10<sup>6</sup></a> 1<sup>st</sup>, H<sub>2</sub>O, 5<sub>2</sub>, m<sup>2"
         "</sup>, 7 <sup>8</sup>, 9<sup></sup>0",
         "10^6 1st, H2O, 52, m2, 7 8, 90"},
    };
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        extracted x = read_string(cases[i / 2].bytes, i % 2 ? "text/html" : "text/markdown", NULL);
        assert_string_equal(x.text, cases[i / 2].text);
        extracted_deinit(&x);
    }
    static const struct {
        const char *type, *bytes, *text;
    } others[] = {
        {"text/html", "<pre>10<sup>6</sup></pre><table><tr><td>5<td><sup>3</sup>x</table>",
         "10^6\n\n5 | 3x"},
        {"text/html", "<ul><li><sup>3</sup>x</ul>7<p><sup>4</sup>", "- 3x\n\n7\n\n4"},
        {"text/markdown", "45<sup>[3](#n)</sup> in 2020\n\n<p>10<sup>6</sup></p>\n",
         "45 3 in 2020\n\n10^6"},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        extracted x = read_string(others[i].bytes, others[i].type, NULL);
        assert_string_equal(x.text, others[i].text);
        extracted_deinit(&x);
    }
}

/* Half a tablet is no twelve. */
static void fractions_and_roots_have_their_signs(void **state) {
    (void)state;
    static const struct {
        const char *bytes, *text;
    } cases[] = {
        {"<p>Take <math><mfrac><mn>1</mn><mn>2</mn></mfrac></math> tablet.", "Take 1/2 tablet."},
        {"<p>1<math>\n <mfrac>\n  <mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow>\n  "
         "<mrow>\n<mn>2</mn><mi>c</mi></mrow>\n </mfrac>\n</math>",
         "1 (a+b)/(2c)"},
        {"<math><msqrt><mi>x</mi><mo>+</mo><mn>1</mn></msqrt></math> and <math><msqrt><mfrac><mn>1"
         "</mn><mn>2</mn></mfrac></msqrt><mroot><mn>8</mn><mn>3</mn></mroot></math>",
         "\xE2\x88\x9A(x+1) and \xE2\x88\x9A(1/2)8^(1/3)"},
        {"<table><tr><td>Dose 5<td><math><mfrac><mn>1</mn><mrow><mn>2</mn><mi>a</mi></mrow>"
         "</mfrac></math></table>",
         "Dose 5 | 1/(2a)"},
        {"<table><tr><td>Dose<td><math><mfrac><mrow><mi>a</mi><mo>+</mo><mn>1</mn></mrow><mn>2</mn>"
         "</mfrac></math></table>",
         "Dose | (a+1)/2"},
        {"<p>x<math><mfrac><mn>1</mn>", "x1"},
        {"<mfrac><p>1</p><p>2</p><p>3</p></mfrac>4", "1\n\n/\n\n2\n\n3\n\n4"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        extracted x = read_string(cases[i].bytes, "text/html", NULL);
        assert_string_equal(x.text, cases[i].text);
        extracted_deinit(&x);
    }
}

/* What a task is and what number an item has are part of what they say. */
static void items_keep_their_state_and_numbers(void **state) {
    (void)state;
    static const struct {
        const char *type, *bytes, *text;
    } cases[] = {
        {"text/markdown", "- [x] Ship it\n- [ ] Test it\n- [X] Plan\n- [y] none\n",
         "- [x] Ship it\n- [ ] Test it\n- [x] Plan\n- [y] none"},
        {"text/markdown", "3. [x] a\n4. b\n", "3. [x] a\n4. b"},
        {"text/markdown", "- 23. March: concert\n- 17. and 18. May: trip\n- c\n\n  - d\n",
         "- 23. March: concert\n- 17. and 18. May: trip\n- c\n  - d"},
        {"text/markdown", "0. a\n1. b\n   - c\n\n999999999) d\n999999999) e\n",
         "0. a\n1. b\n  - c\n999999999. d\n1000000000. e"},
        {"text/html",
         "<ol start=7><li>a<li>b<ul start=3><li value=4>c</ul><li value='12'>d<li>e</ol>"
         "<ol start='0'><li>f<li value=x>g</ol><ol start=''><li>h<li value=-3>i</ol>"
         "<ol start=99999999999999999999><li>j</ol><li value=9>k",
         "7. a\n8. b\n  - c\n12. d\n13. e\n0. f\n1. g\n1. h\n-3. i\n1000000000. j\n- k"},
        {"text/html", /* "see 3(d)" points to a letter */
         "<ol type=a start=3><li>c<li>d<ol type=I><li>one</ol></ol><ol type='A'><li value=27>x</ol>"
         "<ol style='list-style-type: lower-roman'><li>i<li value=4>iv</ol><ol type=1><li>y</ol>",
         "c) c\nd) d\n  I) one\nAA) x\ni) i\niv) iv\n1. y"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        extracted x = read_string(cases[i].bytes, cases[i].type, NULL);
        assert_string_equal(x.text, cases[i].text);
        extracted_deinit(&x);
    }
}

static void reads(const char *page, const char *text) {
    extracted x = read_string(page, "text/html", NULL);
    assert_string_equal(x.text, text);
    extracted_deinit(&x);
}

/* How a word is read aloud stands above it, and not in it. */
static void html_leaves_out_what_is_hidden_and_how_words_are_read(void **state) {
    (void)state;
    reads("<p><ruby>\u6771<rp>(</rp><rt>\u3068\u3046</rt><rp>)</rp>\u4EAC<rt>x</ruby>\u306F",
          "\u6771\u4EAC\u306F");
    reads("<p style='color:red; DISPLAY : none'>a<p style='display:\nnone!important'>b"
          "<p style='x-display:none'>c<p style='display:none-such'>d<p style='display'>e"
          "<p style='display:nones'>f<p style='display:block;display:none;'>g",
          "c\n\nd\n\ne\n\nf");
}

/* Ticks are images in many tables; what stands beside words, leads somewhere or is told at length is not said. */
static void html_cells_that_are_images_say_what_they_show(void **state) {
    (void)state;
    reads("<table><tr><th>Plan<th>Basic<th>Pro<tr><td>Export<td><img alt=no><td> <img src=x "
          "alt='yes'> </td></tr><tr><td><img alt=logo>Help<td>text <img alt=yes><td><img alt=yes> "
          "e-mail<tr><td><img alt=logo><td><a href=x><img alt=go></a><td><img alt='A picture of "
          "a heron at the weir in May'><img alt=''></table><img alt=none>",
          "Plan | Basic | Pro\nExport | no | yes\nHelp | text | e-mail");
}

static void html_loses_its_markup_and_chrome(void **state) {
    (void)state;
    extracted x = read_string(
        "<html><head><title>A &lt; B</title><script>no()</script></head><body><nav>Home</nav>"
        "<h2>Head</h2><p>One <b>bo</b>ld.<p>Caf&eacute;<ul><li><p>item</ul>"
        "<table><tr><td>1<td>2</table><pre>  a\n  b</pre><footer>foot</footer>",
        NULL, NULL);
    assert_string_equal(x.format, "html");
    assert_string_equal(x.title, "A < B");
    assert_string_equal(x.text, "Head\n\nOne bold.\n\nCaf\xC3\xA9\n\n- item\n\n1 | 2\n\n  a\n  b");
    extracted_deinit(&x);
    /* a term with what it means */
    x = read_string("<dl><dt>Dogs</dt><dd>travel free.</dd><dt><b>Groups</b></dt>\n<dd><p>pay "
                    "less.</p><p>Ask.</p></dd><dt>-a<dt>--all<dd>all<dt>none<dd></dl>End",
                    "text/html", NULL);
    assert_string_equal(
        x.text, "Dogs\ntravel free.\n\nGroups\npay less.\n\nGroups: Ask.\n\n-a\n\n--all\nall"
                "\n\nnone\n\nEnd");
    extracted_deinit(&x);
    x = read_string(
        "<dl><dt>Black bin</dt><dd>Nappies, cat litter.</dd><dt>Green bin <dd><p>Leaves.</p>"
        "<p>Scraps.</p><dd>Hay.</dd><dt>Old depot</dt><dd>\n<ul><li>Paint<li>Tyres</ul>"
        "<p>On Mondays.</p></dd><dt>Is it free?</dt><dd><p>Yes.</p><p>Ask.</p></dd></dl>"
        "<p>End</p>",
        "text/html", NULL);
    assert_string_equal(x.text,
                        "Black bin: Nappies, cat litter.\n\nGreen bin: Leaves.\n\n"
                        "Green bin: Scraps.\n\nGreen bin: Hay.\n\nOld depot:\n\n- Paint\n"
                        "- Tyres\n\nOld depot: On Mondays.\n\nIs it free?\nYes.\n\nAsk.\n\nEnd");
    extracted_deinit(&x);
    x = read_string("<dl><dt>Orange, blinking</dt><dd>No water.</dd><dt>Family (2 + 2)</dt>"
                    "<dd>24</dd><dt>Wait,</dt><dd>then go.</dd></dl>",
                    "text/html", NULL);
    assert_string_equal(x.text,
                        "Orange, blinking: No water.\n\nFamily (2 + 2): 24\n\nWait,\nthen go.");
    extracted_deinit(&x);
    x = read_string("Black bin\n: Nappies, cat\nlitter.\n\nGreen bin\n\n:   Leaves: all.\n\n"
                    "A sentence.\n: none\n\n- item\n: none\n",
                    "text/markdown", NULL);
    assert_string_equal(x.text, "Black bin: Nappies, cat litter.\n\nGreen bin: Leaves: all.\n\n"
                                "A sentence. : none\n\n- item : none");
    extracted_deinit(&x);
    x = read_string("<html><body><nav>all there is", "text/html", NULL);
    assert_string_equal(x.text, "all there is");
    extracted_deinit(&x);
}

/* Read under the wrong column a price is another's. */
static void cells_of_a_table_keep_their_columns(void **state) {
    (void)state;
    static const struct {
        const char *type, *bytes, *text;
    } cases[] = {
        {"text/markdown",
         "| | City | E-bike |\n|---|---|---|\n| Week | 75 | 170 |\n| Day | | 36 |\n| | | note |\n"
         "| Year | | |\n",
         "| | City | E-bike\nWeek | 75 | 170\nDay |  | 36\nnote\nYear"},
        {"text/html",
         "<table><tr><td></td><td></td><th>Red</th><th>Blue</th></tr><tr><td> </td></tr>"
         "<tr><td>A</td><td></td><td>1</td><td></td></tr></table>",
         "| | | Red | Blue\nA |  | 1"},
        /* over several rows, over several columns */
        {"text/html",
         "<table><tr><th rowspan='2'>Adults<td>day<td>9<tr><td>week<td>40<tr><th>Children<td "
         "colspan='2'>free<tr><td colspan=3>Groups<tr><td rowspan=0>x<td colspan=-4>y</table>",
         "Adults | day | 9\nAdults | week | 40\nChildren | free | free\nGroups\nx | y"},
        /* names in two rows, and rows that only look like it */
        {"text/html",
         "<table><tr><th rowspan=2>Day</th><th colspan=2>Summer</th><th colspan=2>Winter</th></tr>"
         "<tr><th>opens<th>closes<th>opens<th>closes</tr><tr><td>Monday<td>9<td>18<td "
         "colspan=2>closed</table><table><tr><th>A<th>B<tr><th>C<th>D</table>",
         "Day | Summer opens | Summer closes | Winter opens | Winter closes\n"
         "Monday | 9 | 18 | closed | closed\n\nA | B\nC | D"},
        /* one table behind the other; names that stay in sight have a table of their own */
        {"text/markdown",
         "| Dish | Small |\n|---|---|\n| Soup | 4 |\n\n| Day | Opens |\n|---|---|\n| Friday | 10 "
         "|\n",
         "Dish | Small\nSoup | 4\n\nDay | Opens\nFriday | 10"},
        {"text/markdown",
         "| Dish | Small |\n|---|---|\n\n| Day | Opens |\n|---|---|\n| Friday | 10 |\n",
         "Dish | Small\n\nDay | Opens\nFriday | 10"},
        {"text/html",
         "<table><tr><th>Day<th>Opens</table><table><tr><td>Friday<td>10<tr><td>Sunday<td>12</"
         "table>"
         "<table><tr><td>Soup<td>4</table>",
         "Day | Opens\nFriday | 10\nSunday | 12\n\nSoup | 4"},
        /* names that are numbers are said with each row */
        {"text/html",
         "<table><tr><th>Setting<th>4.1<th>4.2<tr><th>Port<td>8080<td>8420<tr><td "
         "colspan=3>Limits<tr><td rowspan=2>"
         "File<td><td>8 GB<tr><td>2<td>3</table>",
         "Setting | 4.1 | 4.2\n\nSetting: Port; 4.1: 8080; 4.2: 8420\nLimits\n\nSetting: File; "
         "4.2: 8 GB\n\n"
         "Setting: File; 4.1: 2; 4.2: 3"},
        {"text/html",
         "<table><tr><th rowspan=2>Rent<th "
         "colspan=2>Year<tr><th>2024<th>2025<tr><td>Flat<td>870<td>905</table>",
         "Rent | Year 2024 | Year 2025\nFlat | 870 | 905"},
        {"text/markdown",
         "| Year | 2024 | 2025 |\n|---|---|---|\n| Rent | 870 | **905** |\n| Deposit | | 90 |\n",
         "Year | 2024 | 2025\n\nYear: Rent; 2024: 870; 2025: 905\n\nYear: Deposit; 2025: 90"},
        {"text/markdown", "| Capacity | 5 |\n|---|---|\n| Weight | 7 |\n",
         "Capacity | 5\nWeight | 7"},
        /* rows of a form are lines, and its first row names no columns */
        {"text/html",
         "<p>Port</p><table><tr><th>Meaning:<td>where it <b>listens</b><tr><th>Default:<td>8080<tr>"
         "<th>Since:<td></table>",
         "Port\n\nMeaning: where it listens\nDefault: 8080\nSince:"},
        /* a cell over rows behind the end of a shorter row; and one of a row that is left */
        {"text/html", "<table><tr><td>a<td>b<td rowspan=2>C<tr><td>d<tr><td>e<td>f<td>g</table>",
         "a | b | C\nd |  | C\ne | f | g"},
        {"text/html",
         "<table><tr><td>a<td>b<td rowspan=2>C<tr><td><ul><li>d</ul><tr><td>e<td>f<td>g</table>",
         "a | b | C\n\n- d\n\ne | f | g"},
        /* what stands between two rows of names */
        {"text/html",
         "<table><tr><th colspan=2>Team A</tr><tr><td><ul><li>one</ul></td><td>Alpha</td></tr>"
         "<tr><th colspan=2>Team B</tr><tr><td>x<td>y</table>",
         "Team A\n\n- one\n\nAlpha\n\nTeam B\nx | y"},
        {"text/html",
         "<table><tr><td colspan=2><h2>Teams</h2></tr><tr><th>A<th>B</tr><tr><th>C<th>D</table>",
         "Teams\n\nA | B\nC | D"},
        {"text/troff",
         ".TH X 7\n.SH TABLES\n.TS\nl l.\nDish\tSmall\nSoup\t4\n.TE\n.TS\nl l.\nDay\tOpens\n"
         "Friday\t10\n.TE\n",
         "TABLES\n\nDish | Small\nSoup | 4\n\nDay | Opens\nFriday | 10"},
        /* a line that holds the rest of the last cell alone is no row */
        {"text/troff",
         ".TH X 7\n.SH TABLES\n.TS\nl l l.\nSIGHUP\tTerm\tHangup detected on terminal\n"
         "\t\tor death of the process\nSIGINT\tTerm\tInterrupt\n\t\tKeyboard\n.TE\n",
         "TABLES\n\nSIGHUP | Term | Hangup detected on terminal or death of the process\n"
         "SIGINT | Term | Interrupt\nKeyboard"},
        {"text/troff",
         ".Dd March 1, 2026\n.Dt X 7\n.Sh TABLES\n.Bl -column a b\n.It Dish Ta Small\n.It Soup Ta "
         "4\n.El\n.Bl -column a b\n.It Day Ta Opens\n.It Friday Ta 10\n.El\n",
         "TABLES\n\nDish | Small\nSoup | 4\n\nDay | Opens\nFriday | 10"},
        /* no table around it; a list in a cell; spans without an end */
        {"text/html",
         "<tr><td>a<td>b</tr><table><tr><td "
         "rowspan=99999999999>1<td><ul><li>x</ul><tr><td>2</table>",
         NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        extracted x = read_string(cases[i].bytes, cases[i].type, NULL);
        if (cases[i].text) assert_string_equal(x.text, cases[i].text);
        extracted_deinit(&x);
    }
}

/* Pages that open a part by a button have its question in it, as their heading. */
static void a_button_that_is_a_heading_is_text(void **state) {
    (void)state;
    extracted x = read_string(
        "<h1>FAQ</h1><h2><button>How do I <b>reset</b> it?</button></h2><div>Press the red "
        "knob.<button>Was this of help?</button></div><details><summary><button>Cost?</button>"
        "</summary>5 euros.</details><dl><dt><button>Dogs</button></dt><dd>travel free.</dd></dl>"
        "<h2 hidden><button>x</button></h2><button>Send</button>",
        "text/html", NULL);
    assert_string_equal(x.text, "FAQ\n\nHow do I reset it?\n\nPress the red knob.\n\nCost?\n\n5 "
                                "euros.\n\nDogs\ntravel free.");
    assert_int_equal(x.blocks[1].kind, TEXT_HEADING);
    extracted_deinit(&x);
}

static void manual_pages_need_no_troff(void **state) {
    (void)state;
    extracted x = read_string(".\\\" comment\n.TH LS 1\n.SH NAME\nls \\- list \\fBfiles\\fR\n"
                              ".SH OPTIONS\n.TP\n.BR \\-a , \" \\-\\-all\"\nshow\nall\n"
                              ".IP \\(bu 2\nbullet\n.PP\nEnd.\n.nf\n  code \\e n\n.fi\n"
                              ".if t hidden\n.ie t \\{\\\n. ds x hidden\n'br\\}\n.el\\{\\\n. ds -- "
                              "hidden\n'br\\}\n.de XX\nskipped\n..\n.ie n shown\n.el hidden\n",
                              NULL, "ls.1");
    assert_string_equal(x.format, "man");
    assert_string_equal(x.title, "ls - list files");
    assert_string_equal(x.text, "NAME\n\nls - list files\n\nOPTIONS\n\n-a, --all\nshow all\n"
                                "- bullet\n\nEnd.\n\n  code \\ n\n\nshown");
    extracted_deinit(&x);
    /* A number is what its entry is of; an item that is an option's name alone is a term. */
    x = read_string(
        ".TH X 1\n.SH NAME\nx \\- y\n.SH STATUS\n.IP 0\nall went well\n.IP 1 4\nnothing was "
        "there\n.SH OPTIONS\n.IP \"\\[ci]\" 4\n\\fB\\-e\\fR / \\fB\\-\\-exit\\fR:\n.IP\nsets "
        "the status\n.IP\nin all cases\n.IP \"\\[ci]\" 4\nmore:\n.IP\nthings\n",
        NULL, NULL);
    assert_string_equal(x.text,
                        "NAME\n\nx - y\n\nSTATUS\n\n0\nall went well\n1\nnothing was there\n\n"
                        "OPTIONS\n\n-e / --exit\nsets the status\nin all cases\n- more:\nthings");
    extracted_deinit(&x);
    /* A licence to be ignored, and macros that set the page up, come before the first heading. */
    x = read_string(".ig\nCopyright Somebody\n..\n.de dT\n.ds Dt \\\\$2\n..\n.dT Time-stamp: 2019\n"
                    ".TH X 1\n.SH NAME\nx \\- y\n.dT kept words\n",
                    NULL, NULL);
    assert_string_equal(x.format, "man");
    assert_string_equal(x.text, "NAME\n\nx - y kept words");
    extracted_deinit(&x);
    /* The page's own strings, told as a page though a definition goes on in a second line; one that uses itself ends. */
    x = read_string(".ds We top\n.ds WE \\fB\\*(We\\fR\n.ds Lo a long \\\nstory\n.as Lo \"  told\n"
                    ".ds Me \\*(Me\\*(Me!\n.TH TOP 1\n.SH NAME\ntop \\- y\n.PP\n"
                    "\\*(WE's \\*(Lo, \\*[We] \\*(xx\\*(C+, \\*(Me\n",
                    NULL, NULL);
    assert_string_equal(x.format, "man");
    assert_string_equal(x.title, "top - y");
    assert_non_null(strstr(x.text, "top's a long story told, top C++,"));
    extracted_deinit(&x);
    /* A term with what stands farther in below it; a sentence before an example is none, nor a paragraph. */
    x = read_string(
        ".TH FS 8\n.SH NAME\nfs \\- y\n.SH STATUS\n.sp\n\\fB4\\fP\n.RS 4\nErrors are "
        "left\n.RE\n.sp\nFor example:\n.RS 4\nrun it\n.RE\n.PP\nLong\nlines\n.RS\nfollow\n"
        ".RE\n.sp\n8\n.RS 4\n.sp\nNone\n.RE\n",
        NULL, NULL);
    assert_string_equal(x.text, "NAME\n\nfs - y\n\nSTATUS\n\n4\nErrors are left\n\nFor example:\n\n"
                                "run it\n\nLong lines\n\nfollow\n\n8\n\nNone");
    extracted_deinit(&x);
    x = read_string(".Dd May 1\n.Dt X 1\n.Os\n.Sh NAME\n.Nm cat\n.Nd join files\n.Sh SYNOPSIS\n"
                    ".Nm\n.Op Fl n Ar count\n.Xr ls 1 .\n",
                    "text/troff", NULL);
    assert_string_equal(x.text, "NAME\n\ncat - join files\n\nSYNOPSIS\n\ncat [-n count] ls(1).");
    extracted_deinit(&x);
}

/* mdoc: cells of columns, numbers of items, and what macros stand for. */
static void macros_of_manual_pages_are_told(void **state) {
    (void)state;
    static const struct {
        const char *page, *text;
    } cases[] = {
        {".Bl -column a b\n.It Sy Name Ta Sy Meaning\n.It Fl n Ta a number ,\n.Ta last\n.El\n",
         "Name | Meaning\n-n | a number, | last"},
        {".Bl -enum\n.It\nOpen it.\n.Bl -bullet\n.It\nGently.\n.El\n.It\nClose it.\n.El\n",
         "1. Open it.\n- Gently.\n2. Close it."},
        {"It came in\n.Bx 4.3 tahoe ,\n.Fx 2.0\nand\n.At v7 .\n.Pq Ox\n",
         "It came in 4.3BSD-Tahoe, FreeBSD 2.0 and Version 7 AT&T UNIX. (OpenBSD)"},
        {"Use\n.Fl b , Fl Fl brief ,\n.Fl Fl exclude Ar name\nor\n.Fl .\n",
         "Use -b, --brief, --exclude name or -."},
        {".Ex -std\n", "The cat utility exits 0 on success, and >0 if an error occurs."},
        {".Ex -std a b c\n",
         "The a, b, and c utilities exit 0 on success, and >0 if an error occurs."},
        {".Rv -std open\n", "The open() function returns the value 0 if successful; otherwise the "
                            "value -1 is returned and the global variable errno is set to "
                            "indicate the error."},
        /* More words than a macro has arguments. */
        {".Em a b c d e f g h i j k l m n o p q r s t u v w x y z A B C D E F \"G  H\" I\n",
         "a b c d e f g h i j k l m n o p q r s t u v w x y z A B C D E F G H I"},
        {"a \\s10small\\s0 one, \\s-2less\\s+2, \\s123 and \\s45\n", "a small one, less, 3 and 5"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char page[512], text[512];
        snprintf(page, sizeof page, ".Dd May 1\n.Sh NAME\n.Nm cat\n.Sh TEXT\n%s", cases[i].page);
        snprintf(text, sizeof text, "NAME\n\ncat\n\nTEXT\n\n%s", cases[i].text);
        extracted x = read_string(page, "text/troff", NULL);
        assert_string_equal(x.text, text);
        extracted_deinit(&x);
    }
}

static void encodings_are_recognised(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        const char *type, *encoding, *text;
        size_t replaced;
    } cases[] = {
        {"\xEF\xBB\xBFhi", 5, NULL, "utf-8", "hi", 0},
        {"\xFF\xFEh\0\xE9\0", 6, NULL, "utf-16le", "h\xC3\xA9", 0},
        {"\xFE\xFF\0h\0i", 6, NULL, "utf-16be", "hi", 0},
        {"h\0e\0l\0l\0o\0", 10, NULL, "utf-16le", "hello", 0},
        {"caf\xE9 ol\xE9", 8, NULL, "windows-1252", "caf\xC3\xA9 ol\xC3\xA9", 0},
        {"caf\xC3\xA9 \xC3\xA9 \xFF!", 11, NULL, "utf-8", "caf\xC3\xA9 \xC3\xA9 \xEF\xBF\xBD!", 1},
        {"\xCF\xF0\xE8", 3, "text/plain; charset=windows-1251", "windows-1251",
         "\xD0\x9F\xD1\x80\xD0\xB8", 0},
        {"\x93\xFA\x96\x7B", 4, "text/plain;charset=\"Shift_JIS\"", "shift_jis",
         "\xE6\x97\xA5\xE6\x9C\xAC", 0},
        {"a\rb\r\nc\fd\x1B[1m", 13, NULL, "utf-8", "a\nb\nc\nd[1m", 0},
        /* What Windows writes under the names of the standards. */
        {"\x87\x8A\xFB\xFC C:\\", 8, "text/plain; charset=Windows-31J", "shift_jis",
         "\xE3\x88\xB1\xE9\xAB\x99 C:\\", 0},
        {"\x87\x8A", 2, "text/plain; charset=shift_jis", "shift_jis", "\xE3\x88\xB1", 0},
        {"\xB0\xA1\x81\x41", 4, "text/plain; charset=ks_c_5601-1987", "euc-kr",
         "\xEA\xB0\x80\xEA\xB0\x82", 0},
        {"\xA1\xA2\x80", 3, "text/plain; charset=TIS-620", "windows-874",
         "\xE0\xB8\x81\xE0\xB8\x82\xE2\x82\xAC", 0},
        {"\x8F\xE0\xA8", 3, "text/plain; charset=cp866", "ibm866", "\xD0\x9F\xD1\x80\xD0\xB8", 0},
        {"\xE9\xEC", 2, "text/plain; charset=ISO-8859-8-I", "iso-8859-8", "\xD7\x99\xD7\x9C", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t n = i == 8 ? 12 : cases[i].n;
        extracted x = read_as(cases[i].bytes, n, cases[i].type, NULL);
        assert_string_equal(x.encoding, cases[i].encoding);
        assert_string_equal(x.text, cases[i].text);
        assert_int_equal(x.n_replaced, cases[i].replaced);
        extracted_deinit(&x);
    }
    const char meta[] = "<html><meta charset='iso-8859-2'><body>\xB1</body>";
    extracted x = read_as(meta, sizeof meta - 1, NULL, NULL);
    assert_string_equal(x.text, "\xC4\x85");
    extracted_deinit(&x);
}

/* Bytes of some languages are UTF-8 by chance, a few of them; many are it, whatever their label says. */
static void many_characters_overrule_a_label(void **state) {
    (void)state;
    static const char type[] = "text/plain; charset=gb2312";
    extracted x = read_string("\xC5\xAE", type, NULL);
    assert_string_equal(x.text, "\xE5\xA5\xB3");
    assert_string_equal(x.encoding, "gb18030");
    extracted_deinit(&x);
    x = read_string("\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9 \xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9", type,
                    NULL);
    assert_string_equal(x.encoding, "utf-8");
    extracted_deinit(&x);
    x = read_string("\xC3\xA9", "text/plain; charset=iso-8859-2", NULL);
    assert_string_equal(x.text, "\xC3\xA9");
    extracted_deinit(&x);
}

/* Every other byte of Cyrillic in UTF-16 is a control character, and no zero: the declared name is believed, of text. */
static void wide_text_is_read_as_it_is_declared(void **state) {
    (void)state;
    static const char little[] = "\x1F\x04\x40\x04\x38\x04\x32\x04\x35\x04\x42\x04",
                      text[] = "\xD0\x9F\xD1\x80\xD0\xB8\xD0\xB2\xD0\xB5\xD1\x82";
    char big[12], wide[24] = {0};
    for (size_t i = 0; i < 12; i++) big[i] = little[i ^ 1];
    for (size_t i = 0; i < 12; i++) wide[i / 2 * 4 + i % 2] = little[i];
    const struct {
        const char *bytes, *type;
        size_t n;
    } cases[] = {{little, "text/plain; charset=utf-16le", 12},
                 {little, "text/plain; charset=UTF-16", 12},
                 {big, "text/plain; charset=utf-16be", 12},
                 {wide, "text/plain; charset=utf-32le", 24}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        extracted x = read_as(cases[i].bytes, cases[i].n, cases[i].type, NULL);
        assert_string_equal(x.text, text);
        extracted_deinit(&x);
    }
    char noise[4096];
    uint64_t seed = 1;
    for (size_t i = 0; i < sizeof noise; i++) noise[i] = (char)test_random(&seed);
    extracted x;
    fo_err err = {0};
    assert_int_equal(extract_text(&x,
                                  &(extract_request){.bytes = noise,
                                                     .n = sizeof noise,
                                                     .content_type = cases[0].type,
                                                     .max_text_bytes = LIMIT},
                                  &err),
                     FO_EUNSUPPORTED);
    assert_non_null(strstr(err.msg, "binary data"));
}

static size_t gzip(const void *in, size_t n, unsigned char *out, size_t cap) {
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (unsigned char *)in;
    z.avail_in = (uInt)n;
    z.next_out = out;
    z.avail_out = (uInt)cap;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    size_t made = cap - z.avail_out;
    deflateEnd(&z);
    return made;
}

static void gzip_is_unpacked_and_bombs_are_refused(void **state) {
    (void)state;
    static unsigned char once[1 << 20], twice[1 << 20];
    extracted x;
    fo_err err = {0};
    const char *doc = "# T\n\ntext";
    size_t n = gzip(doc, strlen(doc), once, sizeof once);
    x = read_as((char *)once, n, NULL, "notes.md.gz");
    assert_string_equal(x.format, "markdown");
    assert_string_equal(x.text, "T\n\ntext");
    extracted_deinit(&x);
    assert_int_equal(
        extract_text(&x, &(extract_request){.bytes = once, .n = n - 9, .max_text_bytes = LIMIT},
                     &err),
        FO_EINVAL);
    char *zeros = calloc(1, 64 << 20);
    memset(zeros, 'a', 64 << 20);
    n = gzip(zeros, 64 << 20, once, sizeof once);
    assert_int_equal(
        extract_text(&x, &(extract_request){.bytes = once, .n = n, .max_text_bytes = LIMIT}, &err),
        FO_ELIMIT);
    assert_non_null(strstr(err.msg, "unpacks to more")); /* found while it grew, not afterwards */
    for (size_t over = 1; over <= 300; over += 23) {
        size_t made = gzip(zeros, LIMIT + over, twice, sizeof twice);
        err = (fo_err){0};
        assert_int_equal(
            extract_text(&x, &(extract_request){.bytes = twice, .n = made, .max_text_bytes = LIMIT},
                         &err),
            FO_ELIMIT);
        assert_non_null(strstr(err.msg, "unpacks to more"));
    }
    n = gzip(once, n, twice, sizeof twice);
    assert_int_equal(
        extract_text(&x, &(extract_request){.bytes = twice, .n = n, .max_text_bytes = LIMIT}, &err),
        FO_ELIMIT);
    free(zeros);
}

static void what_cannot_be_read_is_named(void **state) {
    (void)state;
    extracted x;
    fo_err err = {0};
    assert_int_equal(
        extract_text(&x, &(extract_request){.bytes = "%!PS-Ado", .n = 8, .max_text_bytes = LIMIT},
                     &err),
        FO_EUNSUPPORTED);
    assert_string_equal(err.msg,
                        "the document is a PostScript document, which Forage does not read yet");
    assert_int_equal(extract_text(&x,
                                  &(extract_request){.bytes = "x",
                                                     .n = 1,
                                                     .content_type = "image/gif",
                                                     .max_text_bytes = LIMIT},
                                  &err),
                     FO_EUNSUPPORTED);
    assert_non_null(strstr(err.msg, "image/gif"));
    assert_true(extract_knows_file("a/b.md.gz"));
    assert_true(extract_knows_file("printf.3posix"));
    assert_true(extract_knows_file("README"));
    assert_true(extract_knows_file("a/README.gz"));
    assert_true(extract_knows_file("doc/README.valgrind.gz"));
    assert_true(extract_knows_file("doc/changelog.Debian.amd64.gz"));
    assert_false(extract_knows_file("README.png"));
    assert_false(extract_knows_file("doc.d/readmes.bin"));
    assert_false(extract_knows_file("INTRO.gz"));
    assert_false(extract_knows_file("a.png")); /* unless its letters are recognised */
    assert_true(extract_knows_image("a.png") && !extract_knows_image("a.gif"));
    assert_false(extract_knows_file("program"));
    x = read_string("", NULL, NULL);
    assert_int_equal(x.len, 0);
    assert_int_equal(x.n_blocks, 0);
    extracted_deinit(&x);
}

/* A title is said with every passage, a heading with all that are below it: of one of a megabyte that would be gigabytes. */
static void long_titles_are_cut(void **state) {
    (void)state;
    static const char *const around[][3] = {{"<title>", "</title><p>Text.", "text/html"},
                                            {"# ", "\n\nText.\n", "text/markdown"}};
    for (size_t i = 0; i < sizeof around / sizeof *around; i++) {
        fo_buf b = {0};
        fo_buf_str(&b, around[i][0]);
        for (int k = 0; k < 300000; k++) fo_buf_str(&b, "\u4e2d");
        fo_buf_str(&b, around[i][1]);
        extracted x = read_as(b.data, b.len, around[i][2], NULL);
        assert_in_range(strlen(x.title), 900, 1024);
        assert_true(fo_utf8_valid(x.title, strlen(x.title), NULL));
        extracted_deinit(&x);
        fo_buf_free(&b);
    }
}

static void hostile_nesting_and_long_lines_end(void **state) {
    (void)state;
    enum { N = 2 << 20 };
    char *s = malloc(N + 1);
    static const struct {
        const char *unit, *type;
    } cases[] = {{"<div>", "text/html"},  {"<b><p>", "text/html"}, {"<table><tr><td>", "text/html"},
                 {"> ", "text/markdown"}, {"x", "text/plain"},     {".if n \\{", "text/troff"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t k = strlen(cases[i].unit), n = i == 3 ? 20000 : N;
        for (size_t at = 0; at < n; at++) s[at] = cases[i].unit[at % k];
        s[n] = 0;
        extracted x;
        fo_err err = {0};
        int rc = extract_text(
            &x,
            &(extract_request){
                .bytes = s, .n = n, .content_type = cases[i].type, .max_text_bytes = LIMIT},
            &err);
        assert_true(!rc || rc == FO_ELIMIT);
        extracted_deinit(&x);
    }
    free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(raised_numbers_stand_apart),
        cmocka_unit_test(fractions_and_roots_have_their_signs),
        cmocka_unit_test(items_keep_their_state_and_numbers),
        cmocka_unit_test(html_loses_its_markup_and_chrome),
        cmocka_unit_test(html_leaves_out_what_is_hidden_and_how_words_are_read),
        cmocka_unit_test(html_cells_that_are_images_say_what_they_show),
        cmocka_unit_test(cells_of_a_table_keep_their_columns),
        cmocka_unit_test(a_button_that_is_a_heading_is_text),
        cmocka_unit_test(manual_pages_need_no_troff),
        cmocka_unit_test(macros_of_manual_pages_are_told),
        cmocka_unit_test(encodings_are_recognised),
        cmocka_unit_test(many_characters_overrule_a_label),
        cmocka_unit_test(wide_text_is_read_as_it_is_declared),
        cmocka_unit_test(gzip_is_unpacked_and_bombs_are_refused),
        cmocka_unit_test(what_cannot_be_read_is_named),
        cmocka_unit_test(long_titles_are_cut),
        cmocka_unit_test(hostile_nesting_and_long_lines_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
