/* See latex_commands.h. Names are those of LaTeX, its usual packages and the classes of papers, letters and CVs. */
#include "data/extract/latex_commands.h"
#include "kernels/words.h"

#include <string.h>

const char *latex_character(const char *name, size_t n) {
    static const char *const known[][2] = {
        {"ss", "ß"},
        {"ae", "æ"},
        {"AE", "Æ"},
        {"oe", "œ"},
        {"OE", "Œ"},
        {"o", "ø"},
        {"O", "Ø"},
        {"aa", "å"},
        {"AA", "Å"},
        {"l", "ł"},
        {"L", "Ł"},
        {"i", "ı"},
        {"j", "ȷ"},
        {"ldots", "…"},
        {"dots", "…"},
        {"textellipsis", "…"},
        {"S", "§"},
        {"P", "¶"},
        {"copyright", "©"},
        {"pounds", "£"},
        {"euro", "€"},
        {"EUR", "€"},
        {"TeX", "TeX"},
        {"LaTeX", "LaTeX"},
        {"LaTeXe", "LaTeX2e"},
        {"BibTeX", "BibTeX"},
        {"textbackslash", "\\"},
        {"textasciitilde", "~"},
        {"textasciicircum", "^"},
        {"textbar", "|"},
        {"textless", "<"},
        {"textgreater", ">"},
        {"textendash", "–"},
        {"textemdash", "—"},
        {"slash", "/"},
        {"quad", " "},
        {"qquad", " "},
        {"space", " "},
        {"today", ""},
        {"degree", "°"},
        {"textdegree", "°"},
        {"textbullet", "•"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i][0]) == n && !memcmp(known[i][0], name, n)) return known[i][1];
    return NULL;
}

/* \parencite, \citeauthor: what they lead to is a key, not a name. */
static bool is_citation(const char *name, size_t n) {
    bool begins = n >= 4 && (!memcmp(name, "cite", 4) || !memcmp(name, "Cite", 4));
    return begins || (n > 4 && !memcmp(name + n - 4, "cite", 4)) ||
           (n > 5 && !memcmp(name + n - 5, "cites", 5));
}

latex_command latex_command_named(const char *name, size_t n) {
    static const struct {
        const char *names;
        latex_command c;
    } rows[] = {
        {"noindent indent hline toprule midrule bottomrule centering raggedright raggedleft "
         "tableofcontents listoffigures listoftables maketitle makeatletter makeatother appendix "
         "frontmatter mainmatter backmatter selectfont phantomsection protect nobreak relax "
         "makeindex sloppy fussy onehalfspacing singlespacing doublespacing allowbreak "
         "nonumber null strut leavevmode unskip ignorespaces xspace makecvtitle makeletterhead "
         "endfirsthead endhead endfoot endlastfoot "
         "footnotemark printbibliography printindex addlinespace",
         {LATEX_GONE, 0}},
        {"pagebreak nopagebreak newpage clearpage cleardoublepage hfill vfill dotfill hrulefill "
         "bigskip medskip smallskip newline linebreak nolinebreak",
         {LATEX_BLANK, 0}},
        {"hspace vspace addvspace", {LATEX_BLANK, 1}},
        {"vskip hskip kern parindent parskip itemsep parsep topsep tabcolsep baselineskip "
         "leftskip rightskip textwidth textheight hsize columnsep linewidth",
         {LATEX_LENGTH, 0}},
        {"label ref pageref eqref cref Cref autoref nameref vref vpageref subref nocite index "
         "glossary includegraphics input include includeonly subfile includepdf bibliography "
         "addbibresource bibliographystyle usepackage RequirePackage documentclass pagestyle "
         "thispagestyle pagenumbering color pagecolor hypersetup geometry graphicspath lstset "
         "lstinputlisting verbatiminput captionsetup usetikzlibrary usetheme usecolortheme "
         "cline cmidrule rowcolor cellcolor markright thanks linespread hyphenation "
         "selectlanguage urlstyle moderncvstyle moderncvcolor newcounter "
         "newlength stepcounter refstepcounter stretch def edef gdef "
         "enlargethispage vphantom hphantom phantom",
         {LATEX_GONE, 1}},
        {"setlength addtolength settowidth setcounter addtocounter numberwithin newcommand "
         "renewcommand providecommand DeclareMathOperator DeclareRobustCommand newtheorem markboth "
         "fontsize rule titleformat inputminted import subimport colorlet "
         "pdfbookmark specialrule",
         {LATEX_GONE, 2}},
        {"newenvironment renewenvironment definecolor addcontentsline rowcolors "
         "NewDocumentCommand RenewDocumentCommand DeclareDocumentCommand",
         {LATEX_GONE, 3}},
        {"let", {LATEX_LET, 0}},
        {"opening closing encl cc ps cvlistitem", {LATEX_ENTRY, 1}},
        {"cventry cvevent", {LATEX_ENTRY, 6}},
        {"cvitem cvline cvlanguage cvcomputer cvskill cvitemwithcomment", {LATEX_PAIR, 3}},
        {"author subtitle institute institution affiliation affil date signature fromname "
         "fromaddress social location extrainfo",
         {LATEX_FIELD, 1}},
        {"name", {LATEX_FIELD, 2}},
        {"address", {LATEX_FIELD, 3}},
        {"phone mobile telephone fax email homepage", {LATEX_LABEL, 1}},
        {"textcolor colorbox parbox raisebox scalebox rotatebox foreignlanguage hyperlink "
         "hypertarget adjustbox href texorpdfstring",
         {LATEX_TEXT, 1}},
        {"fcolorbox resizebox", {LATEX_TEXT, 2}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (fo_words_have(rows[i].names, name, n)) return rows[i].c;
    return is_citation(name, n) ? (latex_command){LATEX_GONE, 1} : (latex_command){LATEX_TEXT, 0};
}

int latex_environment_settings(const char *name, size_t n) {
    if (fo_words_have(
            "multicols multicols* minipage thebibliography adjustbox spacing otherlanguage "
            "otherlanguage* subfigure subtable textblock textblock*",
            name, n))
        return 1;
    return fo_words_have("wrapfigure wraptable list adjustwidth", name, n) ? 2 : 0;
}
