/* See latex_formula.h. Names are those of LaTeX, amsmath, amssymb and siunitx. */
#include "data/extract/latex_formula.h"
#include "kernels/utf8.h"
#include "kernels/words.h"

#include <string.h>

typedef struct span {
    const char *s;
    size_t n;
} span;

typedef struct writer {
    fo_buf *out;
    size_t from;    /* where the formula begins in out */
    size_t upright; /* where out's last upright letters end: H_2 in them is H2 */
    bool in_upright;
    int depth;
} writer;

static void write_part(writer *w, const char *s, size_t n);

/* ---- signs ---------------------------------------------------------------------------------------------- */

/* Of "name sign name sign ...": the sign of this name; nothing where it has none. */
static span find(const char *list, const char *name, size_t n) {
    for (const char *s = list; *s;) {
        size_t n_name = strcspn(s, " "), n_sign = strcspn(s + n_name + 1, " ");
        if (n_name == n && !memcmp(s, name, n)) return (span){s + n + 1, n_sign};
        s += n_name + 1 + n_sign;
        s += *s == ' ';
    }
    return (span){NULL, 0};
}

const char *latex_symbol(const char *name, size_t n, size_t *n_sign, bool *apart) {
    static const char between[] =
        "times × leq ≤ le ≤ leqslant ≤ geq ≥ ge ≥ geqslant ≥ pm ± mp ∓ neq ≠ ne ≠ approx ≈ "
        "equiv ≡ sim ~ simeq ≃ cong ≅ propto ∝ cdot · div ÷ ll ≪ gg ≫ lt < gt > in ∈ "
        "notin ∉ ni ∋ subset ⊂ subseteq ⊆ supset ⊃ supseteq ⊇ cup ∪ cap ∩ setminus ∖ land ∧ "
        "wedge ∧ lor ∨ vee ∨ to → rightarrow → longrightarrow → leftarrow ← gets ← mapsto ↦ "
        "Rightarrow ⇒ Longrightarrow ⇒ implies ⇒ Leftarrow ⇐ leftrightarrow ↔ "
        "Leftrightarrow ⇔ iff ⇔ oplus ⊕ otimes ⊗ circ ∘ ast * star ⋆ mid | parallel ∥ "
        "perp ⊥ bmod mod coloneqq := lesssim ≲ gtrsim ≳";
    static const char letters[] =
        "alpha α beta β gamma γ delta δ epsilon ε varepsilon ε zeta ζ eta η theta θ "
        "vartheta ϑ iota ι kappa κ lambda λ mu μ nu ν xi ξ pi π rho ρ varrho ϱ sigma σ "
        "varsigma ς tau τ upsilon υ phi φ varphi φ chi χ psi ψ omega ω Gamma Γ Delta Δ "
        "Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Upsilon Υ Phi Φ Psi Ψ Omega Ω infty ∞ partial ∂ "
        "nabla ∇ sum ∑ prod ∏ int ∫ oint ∮ iint ∬ forall ∀ exists ∃ neg ¬ lnot ¬ emptyset ∅ "
        "varnothing ∅ ell ℓ hbar ℏ Re ℜ Im ℑ aleph ℵ angle ∠ triangle △ square □ "
        "checkmark ✓ langle ⟨ rangle ⟩ lfloor ⌊ rfloor ⌋ lceil ⌈ rceil ⌉ lbrace { rbrace } "
        "lbrack [ rbrack ] vert | lvert | rvert | Vert ‖ lVert ‖ rVert ‖ prime ′ bullet • "
        "ldots … cdots … dots … dotsc … vdots ⋮ colon : uparrow ↑ downarrow ↓ dagger † ddagger ‡ "
        "backslash \\ degree ° textdegree ° celsius °C textmu μ textpm ± texttimes × "
        "textdiv ÷ textohm Ω micro μ ohm Ω textrightarrow → textleftarrow ← "
        "textregistered ® texttrademark ™";
    span sign = find(between, name, n);
    if (apart) *apart = sign.s != NULL;
    if (!sign.s) sign = find(letters, name, n);
    *n_sign = sign.n;
    return sign.s;
}

/* ---- arguments ------------------------------------------------------------------------------------------ */

static size_t command_end(const char *s, size_t n, size_t at) {
    size_t i = at + 1;
    while (i < n && fo_is_letter(s[i])) i++;
    if (i == at + 1 && i < n) {
        int32_t cp;
        i += fo_utf8_decode(s + i, n - i, &cp);
    }
    return i;
}

/* What is in the brackets that open at s[*at], which moves behind them; false where they do not close. */
static bool take_brackets(const char *s, size_t n, size_t *at, char open, char close, span *out) {
    int depth = 0;
    for (size_t i = *at; i < n; i++) {
        if (s[i] == '\\') {
            i++;
        } else if (s[i] == open) {
            depth++;
        } else if (s[i] == close && --depth == 0) {
            *out = (span){s + *at + 1, i - *at - 1};
            *at = i + 1;
            return true;
        }
    }
    return false;
}

/* A group, a command or one character. */
static span take_argument(const char *s, size_t n, size_t *at) {
    span a = {s, 0};
    while (*at < n && fo_is_blank(s[*at])) ++*at;
    if (*at >= n || s[*at] == '}') return a;
    if (s[*at] == '{' && take_brackets(s, n, at, '{', '}', &a)) return a;
    int32_t cp;
    size_t end =
        s[*at] == '\\' ? command_end(s, n, *at) : *at + fo_utf8_decode(s + *at, n - *at, &cp);
    a = (span){s + *at, end - *at};
    *at = end;
    return a;
}

static void drop_option(const char *s, size_t n, size_t *at) {
    span a;
    if (*at < n && s[*at] == '[') take_brackets(s, n, at, '[', ']', &a);
}

/* ---- writing -------------------------------------------------------------------------------------------- */

static char last(const writer *w) {
    return w->out->len > w->from ? w->out->data[w->out->len - 1] : 0;
}

static void blank(writer *w) {
    if (last(w) && last(w) != ' ') fo_buf_char(w->out, ' ');
}

/* An argument by itself; the caller frees it. */
static fo_buf part_of(writer *w, span a) {
    fo_buf part = {0};
    writer inner = {.out = &part, .in_upright = w->in_upright, .depth = w->depth};
    write_part(&inner, a.s, a.n);
    while (part.len && part.data[part.len - 1] == ' ') part.len--;
    w->out->failed |= part.failed;
    return part;
}

static bool only_digits(const char *s, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!fo_is_digit(s[i]) && s[i] != '.' && s[i] != ',') return false;
    return n && fo_is_digit(s[0]);
}

/* It needs no brackets: a number, a word, a name. */
static bool is_one(const char *s, size_t n) {
    if (only_digits(s, n)) return true;
    for (size_t i = 0; i < n; i++) {
        bool sign = i == 0 && (s[i] == '-' || s[i] == '+' || s[i] == '*');
        if (!sign && !fo_is_letter(s[i]) && !fo_is_digit(s[i]) && s[i] != '.' && s[i] != '\'' &&
            (unsigned char)s[i] < 0x80)
            return false;
    }
    return true;
}

static void add_bracketed(writer *w, const fo_buf *part, bool bare) {
    if (!bare) fo_buf_char(w->out, '(');
    fo_buf_add(w->out, part->data ? part->data : "", part->len);
    if (!bare) fo_buf_char(w->out, ')');
}

static void write_fraction(writer *w, const char *s, size_t n, size_t *at) {
    span above = take_argument(s, n, at), below = take_argument(s, n, at);
    if (fo_is_digit(last(w))) blank(w); /* 1\frac{1}{2} is no 11/2 */
    fo_buf a = part_of(w, above), b = part_of(w, below);
    add_bracketed(w, &a, is_one(a.data, a.len));
    fo_buf_char(w->out, '/');
    int32_t cp;
    bool one = b.len && fo_utf8_decode(b.data, b.len, &cp) == b.len;
    add_bracketed(w, &b, one || only_digits(b.data, b.len));
    fo_buf_free(&a);
    fo_buf_free(&b);
}

static bool is_ordinal(const writer *w, const fo_buf *part) {
    return w->out->len && fo_is_digit(w->out->data[w->out->len - 1]) && part->len &&
           fo_words_have("st nd rd th", part->data, part->len);
}

/* Letters that an index of digits belongs to as a part of their name: H_2O. */
static bool is_joined(const writer *w, const fo_buf *part) {
    const fo_buf *out = w->out;
    if (!part->len || !only_digits(part->data, part->len) || !out->len) return false;
    char before = out->data[out->len - 1];
    if (!fo_is_letter(before) && before != ')') return false;
    return w->in_upright || w->upright == out->len || out->len == w->from;
}

static void write_script(writer *w, char mark, const char *s, size_t n, size_t *at) {
    span a = take_argument(s, n, at);
    while (a.n && fo_is_blank(*a.s)) a.s++, a.n--;
    while (a.n && fo_is_blank(a.s[a.n - 1])) a.n--;
    if (mark == '^' && a.n == 5 && !memcmp(a.s, "\\circ", 5)) return fo_buf_str(w->out, "°");
    if (mark == '^' && a.n == 6 && !memcmp(a.s, "\\prime", 6)) return fo_buf_str(w->out, "′");
    fo_buf part = part_of(w, a);
    bool bare = mark == '^' ? is_ordinal(w, &part) : is_joined(w, &part);
    if (!bare && part.len) fo_buf_char(w->out, mark);
    if (part.len) add_bracketed(w, &part, bare || is_one(part.data, part.len));
    if (bare && w->upright) w->upright = w->out->len;
    fo_buf_free(&part);
}

/* ---- amounts -------------------------------------------------------------------------------------------- */

/* 3e8 is 3 × 10^8, 5+-1 is 5 ± 1. */
static void write_number(writer *w, span a) {
    for (size_t i = 0; i < a.n; i++) {
        char c = a.s[i];
        if ((c == 'e' || c == 'E') && i && fo_is_digit(a.s[i - 1]) && i + 1 < a.n) {
            fo_buf_str(w->out, " × 10^");
        } else if (c == '+' && i + 1 < a.n && a.s[i + 1] == '-') {
            fo_buf_str(w->out, " ± ");
            i++;
        } else if (c == '\\') {
            size_t end = command_end(a.s, a.n, i);
            write_part(w, a.s + i, end - i);
            i = end - 1;
        } else if (fo_is_blank(c)) {
            blank(w);
        } else if (c != '{' && c != '}') {
            fo_buf_char(w->out, c);
        }
    }
}

static void write_unit(writer *w, span a) {
    static const char prefixes[] =
        "yocto zepto atto femto pico nano micro milli centi deci deca deka hecto kilo mega giga "
        "tera peta exa zetta yotta kibi mebi gibi tebi pebi exbi";
    static const char signs[] =
        "percent % celsius °C degreeCelsius °C degree ° arcminute ′ arcsecond ″ "
        "angstrom Å";
    if (!memchr(a.s, '\\', a.n)) return write_part(w, a.s, a.n);
    bool joined = true;
    for (size_t i = 0; i < a.n;) {
        if (a.s[i] != '\\') {
            size_t from = i;
            while (i < a.n && a.s[i] != '\\') i++;
            write_part(w, a.s + from, i - from);
            continue;
        }
        size_t end = command_end(a.s, a.n, i), n = end - i - 1;
        const char *name = a.s + i + 1;
        i = end;
        if (fo_words_have("tothe raiseto", name, n)) {
            write_script(w, '^', a.s, a.n, &i);
            continue;
        }
        span sign = find(signs, name, n);
        if (!joined) blank(w);
        if (sign.s)
            fo_buf_add(w->out, sign.s, sign.n);
        else if (n && fo_is_letter(*name))
            fo_buf_add(w->out, name, n);
        joined = fo_words_have(prefixes, name, n);
    }
}

static void write_angle(writer *w, span a) {
    static const char *const marks[] = {"°", "′", "″"};
    size_t k = 0, from = 0;
    for (size_t i = 0; i <= a.n && k < 3; i++) {
        if (i < a.n && a.s[i] != ';') continue;
        write_number(w, (span){a.s + from, i - from});
        if (i > from) fo_buf_str(w->out, marks[k]);
        k++;
        from = i + 1;
    }
}

int latex_formula_groups(const char *name, size_t n) {
    if (fo_words_have("si unit num ang ensuremath", name, n)) return 1;
    if (fo_words_have("SI qty numrange frac dfrac tfrac nicefrac sfrac", name, n)) return 2;
    return fo_words_have("SIrange qtyrange", name, n) ? 3 : 0;
}

/* \SI{10}{\metre} and the like; false: it is none of them. */
static bool write_amount(writer *w, const char *name, size_t n_name, const char *s, size_t n,
                         size_t *at) {
    bool unit = fo_words_have("si unit", name, n_name),
         angle = n_name == 3 && !memcmp(name, "ang", 3);
    bool range = fo_words_have("SIrange qtyrange numrange", name, n_name);
    bool amount = fo_words_have("SI qty SIrange qtyrange", name, n_name);
    if (!unit && !angle && !range && !amount && !(n_name == 3 && !memcmp(name, "num", 3)))
        return false;
    drop_option(s, n, at);
    span a = take_argument(s, n, at);
    if (unit)
        write_unit(w, a);
    else if (angle)
        write_angle(w, a);
    else
        write_number(w, a);
    if (range) {
        fo_buf_str(w->out, " to ");
        write_number(w, take_argument(s, n, at));
    }
    if (!amount) return true;
    drop_option(s, n, at);
    span u = take_argument(s, n, at);
    if (u.n != 7 || memcmp(u.s, "\\degree", 7)) fo_buf_char(w->out, ' ');
    write_unit(w, u);
    return true;
}

/* ---- commands ------------------------------------------------------------------------------------------- */

static void write_sign(writer *w, char c, const char *s, size_t n, size_t *at) {
    if (!c) return;
    if (strchr("{}%$#&_", c)) return fo_buf_char(w->out, c);
    if (c == '|') return fo_buf_str(w->out, "‖");
    if (strchr(",;:> \n\t", c)) {
        if (!w->out->len || w->out->data[w->out->len - 1] != ' ') fo_buf_char(w->out, ' ');
        return;
    }
    if (c != '\\') return;
    if (*at < n && s[*at] == '*') ++*at;
    drop_option(s, n, at);
    if (!last(w)) return;
    while (last(w) == ' ') w->out->len--;
    fo_buf_str(w->out, last(w) && strchr(",;.:", last(w)) ? " " : "; ");
}

static void write_symbol(writer *w, span sign, bool apart, const char *s, size_t n, size_t *at) {
    const bool first = !last(w);
    if (apart) blank(w);
    fo_buf_add(w->out, sign.s, sign.n);
    size_t next = *at;
    while (next < n && fo_is_blank(s[next])) next++;
    if (apart && first) return; /* of one amount: \sim5, \leq 5 */
    if (apart && next < n)
        fo_buf_char(w->out, ' '), *at = next;
    else if (!apart && next < n && (fo_is_letter(s[next]) || s[next] == '\\'))
        *at = next; /* \Delta T is ΔT */
}

/* Unknown: it stays, and its groups with their braces. */
static void write_as_it_stands(writer *w, const char *name, size_t n_name, const char *s, size_t n,
                               size_t *at) {
    span a;
    fo_buf_char(w->out, '\\');
    fo_buf_add(w->out, name, n_name);
    while (*at < n && (s[*at] == '{' || s[*at] == '[')) {
        char open = s[*at], close = open == '{' ? '}' : ']';
        if (!take_brackets(s, n, at, open, close, &a)) return;
        fo_buf_char(w->out, open);
        fo_buf part = part_of(w, a);
        add_bracketed(w, &part, true);
        fo_buf_free(&part);
        fo_buf_char(w->out, close);
    }
}

static void write_upright(writer *w, span a) {
    bool back = w->in_upright;
    w->in_upright = true;
    write_part(w, a.s, a.n);
    w->in_upright = back;
    w->upright = w->out->len;
}

static void write_negated(writer *w, const char *s, size_t n, size_t *at) {
    span a = take_argument(s, n, at);
    bool is = a.n == 1 && *a.s == '=', in = a.n == 3 && !memcmp(a.s, "\\in", 3);
    if (is || in) return write_symbol(w, (span){is ? "≠" : "∉", 3}, true, s, n, at);
    fo_buf_str(w->out, "\\not");
    fo_buf_add(w->out, a.s, a.n);
}

static void write_root(writer *w, const char *s, size_t n, size_t *at) {
    if (*at < n && s[*at] == '[') return write_as_it_stands(w, "sqrt", 4, s, n, at);
    fo_buf part = part_of(w, take_argument(s, n, at));
    fo_buf_str(w->out, "√");
    add_bracketed(w, &part, is_one(part.data, part.len));
    fo_buf_free(&part);
}

static void write_function(writer *w, const char *name, size_t n_name, const char *s, size_t n,
                           size_t at) {
    if (fo_is_digit(last(w)) || fo_is_letter(last(w))) blank(w);
    fo_buf_add(w->out, name, n_name);
    if (at + 1 < n && s[at] == '\\' && fo_is_letter(s[at + 1])) fo_buf_char(w->out, ' ');
}

static void write_command(writer *w, const char *s, size_t n, size_t *at) {
    static const char plain[] =
        "text textnormal textbf textit textsf texttt textsc emph mathbf mathit mathsf mathtt "
        "mathcal mathbb mathfrak mathscr boldsymbol bm pmb mbox hbox boxed ensuremath mathop "
        "mathrel mathbin mathord mathopen mathclose";
    static const char gone[] =
        "displaystyle textstyle scriptstyle limits nolimits big Big bigl bigr Bigl Bigr bigg Bigg "
        "biggl biggr Biggl Biggr bigm Bigm middle left right nonumber notag rm bf it cal hfill "
        "xspace allowbreak nobreak hline displaybreak noindent centering";
    static const char gone_with_group[] =
        "label hspace vspace mspace color phantom vphantom hphantom";
    static const char functions[] =
        "sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh log ln lg exp max min lim sup "
        "inf det dim gcd arg Pr deg ker hom limsup liminf argmax argmin";
    size_t end = command_end(s, n, *at), k = end - *at - 1;
    const char *name = s + *at + 1;
    bool apart;
    *at = end;
    if (!k) return;
    if (!fo_is_letter(*name)) return write_sign(w, *name, s, n, at);
    span sign;
    sign.s = latex_symbol(name, k, &sign.n, &apart);
    if (write_amount(w, name, k, s, n, at)) return;
    if (sign.s) return write_symbol(w, sign, apart, s, n, at);
    if (latex_formula_groups(name, k) == 2 || fo_words_have("cfrac", name, k))
        return write_fraction(w, s, n, at);
    if (fo_words_have("mathrm textrm operatorname", name, k)) {
        if (*at < n && s[*at] == '*') ++*at;
        return write_upright(w, take_argument(s, n, at));
    }
    if (fo_words_have("text", name, k)) return write_upright(w, take_argument(s, n, at));
    if (fo_words_have("sqrt", name, k)) return write_root(w, s, n, at);
    if (fo_words_have("not", name, k)) return write_negated(w, s, n, at);
    if (fo_words_have("quad qquad", name, k)) return blank(w);
    if (fo_words_have("pmod tag", name, k)) {
        blank(w);
        fo_buf_str(w->out, *name == 'p' ? "(mod " : "(");
        span a = take_argument(s, n, at);
        write_part(w, a.s, a.n);
        return fo_buf_char(w->out, ')');
    }
    if (fo_words_have(functions, name, k)) return write_function(w, name, k, s, n, *at);
    if (fo_words_have(gone, name, k)) {
        if (fo_words_have("left right", name, k) && *at < n && s[*at] == '.') ++*at;
        return;
    }
    if (fo_words_have(gone_with_group, name, k)) {
        if (*at < n && s[*at] == '*') ++*at;
        take_argument(s, n, at);
        return;
    }
    if (fo_words_have("textcolor", name, k)) {
        drop_option(s, n, at);
        take_argument(s, n, at);
        return;
    }
    if (fo_words_have(plain, name, k)) {
        span a = take_argument(s, n, at);
        return write_part(w, a.s, a.n);
    }
    write_as_it_stands(w, name, k, s, n, at);
}

static void write_part(writer *w, const char *s, size_t n) {
    enum { MOST_NESTED = 16 };
    if (w->depth == MOST_NESTED) return fo_buf_add(w->out, s, n);
    w->depth++;
    for (size_t i = 0; i < n && !w->out->failed;) {
        switch (s[i]) {
        case '\\':
            write_command(w, s, n, &i);
            break;
        case '^':
        case '_': {
            char mark = s[i++];
            write_script(w, mark, s, n, &i);
            break;
        }
        case '{':
        case '}':
        case '&': /* where lines are aligned */
        case '$': /* of a formula within \text */
            i++;
            break;
        case '%': {
            const char *newline = memchr(s + i, '\n', n - i);
            i = newline ? (size_t)(newline - s) + 1 : n;
            break;
        }
        case '~':
        case ' ':
        case '\t':
        case '\n':
        case '\r':
            if (w->depth > 1 || w->out->len > w->from) /* \text{ if } */
                if (!w->out->len || w->out->data[w->out->len - 1] != ' ') fo_buf_char(w->out, ' ');
            i++;
            break;
        default:
            fo_buf_char(w->out, s[i++]);
        }
    }
    w->depth--;
}

void latex_formula(fo_buf *out, const char *s, size_t n) {
    enum { MOST = 4000 }; /* bytes: groups that do not close are looked for once for each command */
    while (n && fo_is_blank(*s)) s++, n--;
    while (n && fo_is_blank(s[n - 1]) && !(n > 1 && s[n - 2] == '\\')) n--;
    if (n > MOST || memmem(s, n, "\\begin", 6)) return fo_buf_add(out, s, n);
    writer w = {.out = out, .from = out->len};
    write_part(&w, s, n);
}
