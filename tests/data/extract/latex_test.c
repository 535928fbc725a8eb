/* LaTeX as papers, theses, letters and CVs have it: formulas, tables within tables, what commands do with the groups behind
 * them, what the preamble says of the document. */
#include "tests/data/extract/formats_here.h"

#include "kernels/buf.h"

static void body(const char *tex, const char *text) {
    char whole[8192];
    int n = snprintf(whole, sizeof whole, "\\begin{document}\n%s\n\\end{document}\n", tex);
    assert_true(n > 0 && (size_t)n < sizeof whole);
    read_named("a.tex", whole, "latex", text);
}

static void formulas_are_read_as_a_line_of_text(void **state) {
    (void)state;
    body("The ratio is $\\frac{1}{2}$ and $a \\leq 5$, $5 \\pm 2$ mm, $3 \\times 10^{8}$, $x \\neq "
         "0$.",
         "The ratio is 1/2 and a ≤ 5, 5 ± 2 mm, 3 × 10^8, x ≠ 0.");
    body("Here $x$ is $\\frac{a+b}{2\\pi}$, $1\\frac{1}{2}$, $x^{n+1}_{i}$, $\\sqrt{x+1}$, "
         "$5\\,000$, "
         "$20^\\circ$C and \\(\\Delta T\\leq\\alpha x\\).",
         "Here x is (a+b)/(2π), 1 1/2, x^(n+1)_i, √(x+1), 5 000, 20°C and ΔT ≤ αx.");
    body("Ice is H$_2$O, gas CO$_{2}$, $\\mathrm{CO_2}$; the 1$^{st}$ of 10$^{-3}$; "
         "$v_{\\text{max}}$, "
         "${\\sim}5$.",
         "Ice is H2O, gas CO2, CO2; the 1st of 10^-3; v_max, ~5.");
    body("Shown \\[E = mc^2\\] and $$a < b$$ too.", "Shown E = mc^2 and a < b too.");
    body("\\begin{equation}\\label{eq:e}\nE = \\frac{1}{2} m v^2\n\\end{equation}",
         "E = 1/2 m v^2");
    body("\\begin{align}\na &= 1, \\\\\nb &= 2 \\nonumber \\\\ c &= 3\n\\end{align}",
         "a = 1, b = 2; c = 3");
    body("See \\textmu m, \\ensuremath{\\geq 5} and \\nicefrac{3}{4} l.", "See μm, ≥ 5 and 3/4 l.");
}

static void what_has_no_form_as_text_stays_as_it_is_written(void **state) {
    (void)state;
    body(
        "It is $\\hat{x} \\leq \\overline{ab}$ and $\\begin{pmatrix}1 & 2\\\\3 & 4\\end{pmatrix}$.",
        "It is \\hat{x} ≤ \\overline{ab} and \\begin{pmatrix}1 & 2\\\\3 & 4\\end{pmatrix}.");
    body("It costs \\$5, or $5.\n\nThen $x$ follows.", "It costs $5, or $5.\n\nThen x follows.");
    body("An open \\( stays.\n\nThen \\(x\\).", "An open stays.\n\nThen x.");
}

static void amounts_keep_their_units(void **state) {
    (void)state;
    body("The mast is \\SI{10}{\\metre} high, \\qty{3e8}{\\metre\\per\\second}, \\SI{5}{km/h}, "
         "\\SI{12}{\\kilo\\gram}, \\SI{4}{\\percent}, \\num{1.2e-5}, \\SI{20}{\\degreeCelsius}, "
         "\\ang{45}, \\SIrange{1}{5}{\\cubic\\metre}, $\\SI{2}{\\milli\\litre}$ in "
         "\\si{\\kilo\\watt}.",
         "The mast is 10 metre high, 3 × 10^8 metre per second, 5 km/h, 12 kilogram, 4 %, 1.2 × "
         "10^-5, 20 °C, 45°, 1 to 5 cubic metre, 2 millilitre in kilowatt.");
}

static void a_table_within_a_cell_is_a_part_of_it(void **state) {
    (void)state;
    body("\\begin{tabular}{lll}\nPart & Size & Stuff \\\\ \\hline\nBolt & "
         "\\begin{tabular}[c]{@{}l@{}}12\\\\ 13\\end{tabular} & steel \\\\\nNut & 4 & brass "
         "\\\\\n\\end{tabular}\n\nAfter.",
         "Part | Size | Stuff\n\nPart: Bolt; Size: 12 13; Stuff: steel\n\nPart: Nut; Size: 4; "
         "Stuff: "
         "brass\n\nAfter.");
    body("\\begin{supertabular}{ll}\nA & 1 \\\\\n\\end{supertabular}\n\nAfter \\& more.",
         "A | 1\n\nAfter & more.");
    body("\\begin{tabular}{lll}\nA & \\makecell[l]{12\\\\13} & {\\bf b \\\\ c} \\\\\nD & 1 & 2 "
         "\\\\\n\\end{tabular}",
         "A | 12 13 | b c\nD | 1 | 2");
    body("\\begin{tabularx}{\\textwidth}{lX}\nPart & Size \\\\ \\cmidrule(lr){1-2}\nBolt & 4 "
         "\\tabularnewline\n\\multirow{2}{*}{Nut} & \\textbf{5} \\\\\n\\end{tabularx}",
         "Part | Size\nBolt | 4\nNut | 5");
}

static void cells_go_over_rows_and_columns(void **state) {
    (void)state;
    body("\\begin{tabular}{lll}\nKind & Name & Price \\\\ \\hline\n\\multirow{2}{*}{\\bf Fruit} & "
         "Apple & "
         "3 \\\\ \\cline{2-3}\n & Pear & 4 \\\\ \\hline\n\\multirow[t]{3}*{Nut} & Hazel & 5 \\\\\n "
         "\\\\\n & Cashew & 6 \\\\\nSeed & Flax & 7 \\\\\n & Poppy & 8 \\\\\n\\end{tabular}",
         "Kind | Name | Price\n\nKind: Fruit; Name: Apple; Price: 3\n\nKind: Fruit; Name: Pear; "
         "Price: 4"
         "\n\nKind: Nut; Name: Hazel; Price: 5\n\nKind: Nut; Name: Cashew; Price: 6\n\nKind: Seed; "
         "Name: "
         "Flax; Price: 7\n\nName: Poppy; Price: 8");
    /* Names in two rows; a cell over rows and columns at once; a table that begins anew. */
    body("\\begin{tabular}{lrrr}\n\\toprule\n\\multirow{2}{*}{Room} & \\multicolumn{2}{c}{Hire} & "
         "\\multirow{2}{2cm}[1pt]{Seats} \\\\ \\cmidrule{2-3}\n & Hour & Day & \\\\ \\midrule\n"
         "Hall & 30 & 140 & 180 \\\\\nShed & \\multicolumn{2}{c}{\\multirow{2}{*}{closed}} & 20 "
         "\\\\\nBarn & & & 60 \\\\\n\\bottomrule\n\\end{tabular}\n\n\\begin{tabular}{ll}\n & 1 "
         "\\\\\n"
         "A & 2 \\\\\n\\end{tabular}",
         "Room | Hire Hour | Hire Day | Seats\n\nRoom: Hall; Hire Hour: 30; Hire Day: 140; Seats: "
         "180\n\n"
         "Room: Shed; Hire Hour: closed; Hire Day: closed; Seats: 20\n\nRoom: Barn; Hire Hour: "
         "closed; "
         "Hire Day: closed; Seats: 60\n\n1\nA | 2");
    /* Where each row has a rule, words below the names are no names. */
    body("\\begin{tabular}{|l|l|}\n\\hline\nPart & Kind \\\\ \\hline\nBolt & steel \\\\ "
         "\\hline\nNut & "
         "brass \\\\ \\hline\n\\end{tabular}",
         "Part | Kind\n\nPart: Bolt; Kind: steel\n\nPart: Nut; Kind: brass");
    body("\\begin{tabular}{lll}\n\\multicolumn{3}{c}{Prices of 2024} \\\\ \\hline\nPart & Kind & "
         "Price "
         "\\\\ \\hline\nBolt & steel & 4 \\\\\n\\end{tabular}",
         "Prices of 2024\n\nPart | Kind | Price\n\nPart: Bolt; Kind: steel; Price: 4");
}

static void a_long_table_says_its_header_and_caption_once(void **state) {
    (void)state;
    body("\\begin{longtable}{lrr}\n\\caption{Sizes of bolts}\\\\\n\\hline Part & Size & Mass \\\\ "
         "\\hline\n\\endfirsthead\n\\multicolumn{3}{c}{continued} \\\\\n\\hline Part & Size & Mass "
         "\\\\ \\hline\n\\endhead\n\\multicolumn{3}{r}{over} "
         "\\\\\n\\endfoot\n\\hline\n\\endlastfoot\n"
         "Bolt & 4 & 7 \\\\\nNut & 5 & 8 \\\\\n\\end{longtable}",
         "Sizes of bolts\n\nPart | Size | Mass\n\nPart: Bolt; Size: 4; Mass: 7\n\nPart: Nut; Size: "
         "5; Mass: 8");
}

static void commands_take_no_more_groups_than_are_theirs(void **state) {
    (void)state;
    body("\\noindent{\\bf Important:} shut the valve.", "Important: shut the valve.");
    body("\\centering{Text} \\label{a}{here} \\vskip 1em plus 2pt down\\vspace{2cm}{\\it it} "
         "\\parindent=0pt goes\\hfill{2019}.",
         "Text here down it goes 2019.");
    body("\\begin{minipage}[t]{5cm}{\\bf Valve} shut\\end{minipage}", "Valve shut");
    body("\\newcommand{\\x}[1]{gone}\\renewcommand\\y{gone}\\setlength{\\parskip}{4pt}\\def\\z#1{"
         "gone}"
         "\\newtheorem{t}{Theorem}[section]\\let\\q=\\w{Here} it is, \\parencite[5]{k84}.",
         "Here it is, .");
}

static void settings_are_no_text(void **state) {
    (void)state;
    body("\\textcolor{red}{Warning}: \\multirow{2}{*}{Value}, \\parbox{5cm}{Boxed}, "
         "\\parbox[t]{5cm}{too}, \\fcolorbox{red}{white}{framed}, "
         "\\resizebox{\\textwidth}{!}{wide}, "
         "\\raisebox{2pt}{up}, \\foreignlanguage{german}{Hund}, \\hyperlink{a}{there}, "
         "\\href{https://x.org/a%20b}{link}, \\texorpdfstring{$x$}{x}.",
         "Warning: Value, Boxed, too, framed, wide, up, Hund, there, link, x.");
}

static void raised_text_is_no_part_of_a_number(void **state) {
    (void)state;
    body("10\\textsuperscript{6} of the 1\\textsuperscript{st}, m\\textsuperscript{2}, "
         "10\\textsuperscript{-3}.",
         "10^6 of the 1st, m2, 10^-3.");
}

static void titled(const char *tex, const char *title, const char *text) {
    extracted x;
    fo_err err = {0};
    extract_request rq = {.bytes = tex,
                          .n = strlen(tex),
                          .file_name = "a.tex",
                          .max_text_bytes = LIMIT,
                          .formats = here,
                          .n_formats = n_here};
    assert_ok(extract_text(&x, &rq, &err), &err);
    assert_string_equal(x.title, title);
    assert_string_equal(x.text, text);
    extracted_deinit(&x);
}

static void the_title_is_that_of_no_remark(void **state) {
    (void)state;
    titled("\\documentclass{article}\n%\\title{Old}\n\\newcommand{\\t}{\\title{Made}}\n5\\% "
           "\\title[Short]{Long Real Title}\n\\begin{document}\nText.\n\\end{document}",
           "Long Real Title", "Long Real Title\n\nText.");
    titled("\\titlespacing{x}\\title\n{Next line}\n\\begin{document}\nText.\\end{document}",
           "Next line", "Next line\n\nText.");
}

static void the_preamble_says_who_and_when(void **state) {
    (void)state;
    titled("\\documentclass{article}\n\\author{Jane Doe\\thanks{Paid} \\and John "
           "Roe}\n\\date{May 2020}\n\\title{Ice}\n\\begin{document}\n\\maketitle\nText.\n"
           "\\end{document}",
           "Ice", "Ice\n\nJane Doe, John Roe\n\nMay 2020\n\nText.");
    titled("\\documentclass{moderncv}\n\\name{Jane}{Doe}\n\\phone[mobile]{+49 1}\n"
           "\\email{jane@x.org}\n\\address{Street 1}{Town}{}\n\\begin{document}\n\\section{Work}\n"
           "\\cventry{2019--2021}{Engineer}{ACME}{Berlin}{}{Built dams}\n\\cvitem{Languages}{C, "
           "Python}\n\\end{document}",
           "Jane Doe",
           "Jane Doe\n\nphone: +49 1\n\nemail: jane@x.org\n\nStreet 1, Town\n\nWork\n\n"
           "2019–2021, Engineer, ACME, Berlin, Built dams\n\nLanguages: C, Python");
}

static void letters_have_who_writes_and_to_whom(void **state) {
    (void)state;
    read_named("a.tex",
               "\\documentclass{letter}\n\\signature{Jane Doe}\n\\begin{document}\n"
               "\\begin{letter}{The Harbour \\\\ Port Street}\n\\opening{Dear Sir,}\nthe pier is "
               "broken.\n\\closing{Yours,}\n\\end{letter}\n\\end{document}",
               "latex",
               "Jane Doe\n\nThe Harbour Port Street\n\nDear Sir,\n\nthe pier is "
               "broken.\n\nYours,");
}

static void names_that_the_author_gave_are_filled_in(void **state) {
    (void)state;
    read_named("a.tex",
               "\\newcommand{\\sys}{Forage\\xspace}\n\\def\\fast{very \\emph{fast}}\n"
               "\\newcommand{\\two}[1]{#1}\n\\begin{document}\n\\sys is \\fast{} and \\two{small}. "
               "\\newcommand\\loop{a\\loop}\\loop\n\\end{document}",
               "latex", "Forage is very fast and small. aaaa");
}

/* So many, and for the others stand their names. */
static void of_very_many_uses_of_a_name_none_is_lost(void **state) {
    (void)state;
    enum { READ = 100000, USES = READ + 2 };
    fo_buf tex = {0}, want = {0};
    fo_buf_str(&tex, "\\newcommand{\\pier}{x}\\begin{document}\n");
    for (int i = 0; i < USES; i++) {
        fo_buf_str(&tex, "\\pier{}");
        fo_buf_str(&want, i < READ ? "x" : "pier");
    }
    fo_buf_str(&tex, "\n\\end{document}\n");
    read_named("a.tex", tex.data, "latex", want.data);
    fo_buf_free(&tex);
    fo_buf_free(&want);
}

static void a_remark_hides_no_end_of_a_paragraph(void **state) {
    (void)state;
    body("One. % a remark\n\nTwo%\n  go on.\n% alone\nThree.", "One.\n\nTwogo on. Three.");
    body("Seen. \\iffalse hidden \\fi Seen again.", "Seen. Seen again.");
}

static void words_of_groups_and_lines_stay_apart(void **state) {
    (void)state;
    body("\\unheard{one}{two} three\\newline four\\linebreak five.", "one two three four five.");
    body("\\verb|a b| and \\lstinline[language=C]|int x| or \\lstinline{y} and \\verb|no\nend.",
         "a b and int x or y and |no end.");
    body("\\begin{theorem}[Pythagoras] It holds.\\end{theorem}", "Pythagoras: It holds.");
    body("\\begin{itemize}\n\\item[] bare\n\\item[$\\bullet$] sign\n\\item<1-> slide\n\\item[(a)] "
         "one\n\\end{itemize}",
         "- bare\n- sign\n- slide\n- (a): one");
    body("\\begin{frame}{Valves}\nShut it.\n\\end{frame}\n\\begin{frame}\n\\frametitle{Bolts}\n"
         "Turn it.\\footnotetext{Twice.}\n\\captionof{table}{Sizes}\n\\end{frame}",
         "Valves\n\nShut it.\n\nBolts\n\nTurn it. (Twice.)\n\nSizes");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formulas_are_read_as_a_line_of_text),
        cmocka_unit_test(what_has_no_form_as_text_stays_as_it_is_written),
        cmocka_unit_test(amounts_keep_their_units),
        cmocka_unit_test(a_table_within_a_cell_is_a_part_of_it),
        cmocka_unit_test(cells_go_over_rows_and_columns),
        cmocka_unit_test(a_long_table_says_its_header_and_caption_once),
        cmocka_unit_test(commands_take_no_more_groups_than_are_theirs),
        cmocka_unit_test(settings_are_no_text),
        cmocka_unit_test(raised_text_is_no_part_of_a_number),
        cmocka_unit_test(the_title_is_that_of_no_remark),
        cmocka_unit_test(the_preamble_says_who_and_when),
        cmocka_unit_test(letters_have_who_writes_and_to_whom),
        cmocka_unit_test(names_that_the_author_gave_are_filled_in),
        cmocka_unit_test(of_very_many_uses_of_a_name_none_is_lost),
        cmocka_unit_test(a_remark_hides_no_end_of_a_paragraph),
        cmocka_unit_test(words_of_groups_and_lines_stay_apart),
    };
    return cmocka_run_group_tests(tests, formats_here, NULL);
}
