#include "retrieval/answer/extractive_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/utf8.h"
#include "kernels/words.h"
#include "retrieval/answer/antecedents.h"
#include "retrieval/answer/cross_reading.h"
#include "retrieval/answer/short_replies.h"
#include "retrieval/answer/which_one.h"
#include "retrieval/text/exact_names.h"
#include "retrieval/text/foreign_marks.h"
#include "retrieval/units/table_row.h"
#include "retrieval/text/word_tokens.h"

/* Does the line that breaks at s[i], before s[next], break between two characters of a script without blanks? */
static bool breaks_unspaced(const char *s, size_t n, size_t i, size_t next) {
    int32_t before = 0, after = 0;
    size_t at = i;
    if (!i || next >= n || !memchr(s + i, '\n', next - i)) return false;
    do at--;
    while (at > 0 && !fo_utf8_boundary(s[at]));
    fo_utf8_decode(s + at, i - at, &before);
    fo_utf8_decode(s + next, n - next, &after);
    return fo_utf8_is_unspaced(before) && fo_utf8_is_unspaced(after);
}

/* Does a line break behind the hyphen of a word that goes on below: "meia-", "noite"? "Haus-", "und Gartenarbeit" does not. */
static bool breaks_at_hyphen(const char *s, size_t n, size_t i, size_t next) {
    static const char joining[] = "and or to und oder bis sowie et ou ni y e o u i en of och og";
    size_t end = next;
    if (i < 2 || next >= n || s[i - 1] != '-' || !memchr(s + i, '\n', next - i)) return false;
    const unsigned char first = (unsigned char)s[next];
    const bool word = fo_is_letter(s[i - 2]) || (unsigned char)s[i - 2] >= 0x80,
               small = (first >= 'a' && first <= 'z') ||
                       (first == 0xC3 && next + 1 < n && (unsigned char)s[next + 1] >= 0xA0);
    while (end < n && !fo_is_blank(s[end])) end++;
    return word && small && !fo_words_have(joining, s + next, end - next);
}

/* White space becomes one blank: an answer is running text whatever its source's line breaks. */
static void add_running(fo_buf *b, const char *s, size_t n) {
    for (size_t i = 0, next; i < n; i = next) {
        next = i;
        while (next < n && fo_is_blank(s[next])) next++;
        if (next == i)
            fo_buf_char(b, s[next++]);
        else if (b->len && b->data[b->len - 1] != ' ' && !breaks_unspaced(s, n, i, next) &&
                 !breaks_at_hyphen(s, n, i, next))
            fo_buf_char(b, ' ');
    }
}

typedef struct slice {
    const char *s;
    size_t n;
} slice;

/* An option or a lead-in belongs to the answer; a heading only where it says what the answer does not. */
static bool shows_head(const candidate *c) {
    const text_unit *u = &c->unit;
    return u->head_end > u->head_start &&
           (u->head_kind == TEXT_UNIT_DEFINITION || u->head_kind == TEXT_UNIT_ITEM || c->headed);
}

/* Is what it hangs on said with a colon, as what it is about? An item that others stand in is. */
static bool is_named_by_head(const candidate *c) {
    return c->headed || c->unit.nested;
}

/* Without the marks of a heading or an item: "## Child lock", "- **Canoe**". */
static slice without_marks(slice head, bool item) {
    const size_t mark = item ? text_item_mark(head.s, head.n) : 0;
    head.s += mark, head.n -= mark;
    while (head.n && strchr("# *_", head.s[0])) head.s++, head.n--;
    while (head.n && strchr(item ? " *_:" : "# *_.:", head.s[head.n - 1])) head.n--;
    return head;
}

/* An item that is a sentence stands before what stands in it as one. */
static const char *behind_item(slice item) {
    return !item.n ? "" : strchr(".!?", item.s[item.n - 1]) ? " " : ": ";
}

/* What the unit hangs on; a message with the time it begins with. */
static slice head_of(const char *text, const candidate *c) {
    uint32_t start = c->unit.head_start;
    while (c->unit.kind == TEXT_UNIT_TURN && start > 0 && text[start - 1] != '\n') start--;
    slice head = {text + start, c->unit.head_end - start};
    return is_named_by_head(c) ? without_marks(head, c->unit.nested) : head;
}

/* The item that the item stands in which a unit hangs on: "Monday" of "Monday: Kitchen: 9 to 5"; empty: none. */
static slice outer_of(const char *text, const candidate *c) {
    slice outer = {text + c->unit.outer_start, c->unit.outer_end - c->unit.outer_start};
    if (!c->unit.nested || !text_item_mark(outer.s, outer.n)) return (slice){"", 0};
    return without_marks(outer, true);
}

static slice trimmed(slice x) {
    while (x.n && strchr(" \t\r\n", x.s[0])) x.s++, x.n--;
    while (x.n && strchr(" \t\r\n", x.s[x.n - 1])) x.n--;
    return x;
}

bool extractive_text_heads(const candidate *a, const candidate *b) {
    return a->passage == b->passage && a->unit.kind == TEXT_UNIT_SENTENCE &&
           b->unit.kind == TEXT_UNIT_SENTENCE && b->unit.head_end > b->unit.head_start &&
           a->unit.start == b->unit.head_start;
}

/* Is what it hangs on said as a sentence of the answer already? */
static bool has_head_before(const candidate *c, const candidate *chosen, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (extractive_text_heads(&chosen[i], c)) return true;
    return false;
}

/* True when nothing but white space stands between two sentences, so that they are one quote. */
static bool adjoins(const passage *p, const candidate *a, const candidate *b) {
    if (a->passage != b->passage || b->start < a->end || a->cut_end || b->cut_start) return false;
    if (a->unit.kind != TEXT_UNIT_SENTENCE || b->unit.kind != TEXT_UNIT_SENTENCE) return false;
    if (!extractive_text_heads(a, b) &&
        (shows_head(a) != shows_head(b) || a->unit.head_start != b->unit.head_start))
        return false;
    return fo_only_blanks(p->text + a->end, b->start - a->end);
}

/* Does one paragraph end and the next begin between them? Then they are quotes of their own, or the answer reads as if "60
 * minutes." were said of the play that the next paragraph names. */
static bool are_of_two_paragraphs(const passage *p, const candidate *a, const candidate *b) {
    size_t lines = 0;
    for (size_t i = a->end; i < b->start; i++) lines += p->text[i] == '\n';
    return lines > 1;
}

/* "First class is fine if it was cheaper", "in August we cannot make exceptions": without the rule before it that is half of
 * the answer, and may sound like the opposite. */
static bool is_an_exception(const char *text, const candidate *c) {
    size_t at = 0;
    bool allows = false;
    if (c->unit.kind != TEXT_UNIT_SENTENCE) return false;
    for (word_token t; (t = word_token_next(text + c->start, c->end - c->start, &at)).n;) {
        if (word_token_in("exception exceptions", &t)) return true;
        if (allows && word_token_in("if when unless only provided", &t)) return true;
        allows = word_token_in("fine ok okay allowed possible permitted accepted", &t);
    }
    return false;
}

/* "Birch does so too, but it smells good" says of birch, which the question names, what is asked. */
static bool names_what_does_so(const candidate_passage *p, const candidate *c) {
    const fact_text *t = &p->text;
    if (!antecedent_does_so(t->text + c->start, c->end - c->start)) return false;
    for (uint32_t i = c->w0; i < c->w1; i++) {
        if (fo_words_have_any_case("do does did", t->text + t->words[i].start,
                                   t->words[i].end - t->words[i].start))
            return false;
        if (p->terms[i] >= 0) return true;
    }
    return false;
}

static bool speaks_of_before(const candidate_passage *p, const candidate *c) {
    const char *text = p->text.text;
    return (c->unit.kind == TEXT_UNIT_SENTENCE &&
            ((antecedent_is_meant(text + c->start, c->end - c->start) &&
              !names_what_does_so(p, c)) ||
             antecedent_is_linked(text + c->start, c->end - c->start))) ||
           is_an_exception(text, c);
}

/* ... or where it begins: "During probation it is the statutory amount", "Over Christmas the weekly sum is doubled", which is no sum
 * that the question names? A long sentence before it has to speak of what else the question names. */
static bool begins_with_what_is_before(const candidate_passage *p, const candidate *c,
                                       const candidate *before) {
    enum { FIRST_WORDS = 8, LONG_WORDS = 20 };
    const fact_text *t = &p->text;
    const bool may = before->w1 - before->w0 < LONG_WORDS || (before->set & ~(c->set | p->title));
    for (uint32_t i = c->w0; i < c->w1 && i < c->w0 + FIRST_WORDS; i++) {
        const fact_word *w = &t->words[i];
        const char *s = t->text + w->start;
        const size_t n = w->end - w->start;
        if (fo_words_have_any_case("it they he she this these those", s, n)) return true;
        if (fo_words_have_any_case("the", s, n) && i + 2 < c->w1 && p->terms[i + 1] < 0 &&
            p->terms[i + 2] < 0 && may)
            return true;
    }
    return false;
}

/* "An example of the directive is: port 1123" right before "This would change the port", which says what the example does. */
static bool is_example_of(const candidate_set *set, const candidate *example,
                          const candidate *next) {
    return example->passage == next->passage && example->order + 1 == next->order &&
           example->unit.kind == TEXT_UNIT_ITEM && example->unit.lines &&
           example->unit.head_kind == TEXT_UNIT_ITEM &&
           example->unit.head_end > example->unit.head_start && set->q.demands.language < 0 &&
           next->unit.kind == TEXT_UNIT_SENTENCE &&
           speaks_of_before(&set->passages[next->passage], next);
}

/* May the sentence be said before the best one of its stretch, as it stands: does what follows it point back at it, does it answer
 * about as well, or is a reason asked for, that may stand anywhere? What answers less reads there as the answer itself. */
static bool leads_in(const candidate_set *set, const candidate *c, const candidate *next,
                     const candidate *best) {
    static const double as_likely = 0.5;
    const candidate_passage *p = &set->passages[c->passage];
    const char *text = p->text.text;
    if (set->q.demands.language >= 0) return true; /* its pronouns are not known here */
    if (memmem(text + c->end, next->start - c->end, "\n\n", 2)) return false;
    if (set->q.demands.reason) return true;
    if (next->order == c->order + 1 &&
        (speaks_of_before(p, next) || begins_with_what_is_before(p, next, c)))
        return true;
    return set->crossed ? cross_reading_of(c) >= cross_reading_of(best) - as_likely
                        : c->score >= best->score - as_likely;
}

/* The stretch of neighbours that holds the best sentence, c[0], comes first, though one may be left out between two; the
 * others follow by passage (in order of their best) and place. */
void extractive_text_order(const candidate_set *set, candidate *c, size_t n) {
    enum { NEAR = 2 };
    if (n == 0) return;
    const candidate best = c[0];
    candidate top = c[0]; /* the first of the stretch */
    uint32_t last = best.order;
    for (size_t again = 0; again < n; again++) {
        for (size_t i = 1; i < n; i++) {
            if (is_example_of(set, &c[i], &top)) {
                top = c[i];
                continue;
            }
            if (c[i].passage != best.passage || c[i].unit.kind != TEXT_UNIT_SENTENCE ||
                best.unit.kind != TEXT_UNIT_SENTENCE)
                continue;
            if (c[i].order < top.order && top.order - c[i].order <= NEAR &&
                leads_in(set, &c[i], &top, &best))
                top = c[i];
            if (c[i].order > last && c[i].order - last <= NEAR) last = c[i].order;
        }
    }
    const uint32_t first = top.order, home = best.passage;
    size_t rank[EXTRACTIVE_MOST_SENTENCES];
    for (size_t i = 0; i < n; i++) {
        size_t of_passage = 0;
        while (c[of_passage].passage != c[i].passage) of_passage++;
        bool leads = i == 0 || c[i].alike ||
                     (c[i].passage == home && c[i].order >= first && c[i].order <= last);
        rank[i] = leads ? 0 : of_passage + 1;
    }
    for (size_t i = 1; i < n; i++) { /* insertion: n is small */
        candidate moved = c[i];
        size_t r = rank[i], at = i;
        for (; at > 0 && (rank[at - 1] > r || (rank[at - 1] == r && c[at - 1].order > moved.order));
             at--) {
            c[at] = c[at - 1];
            rank[at] = rank[at - 1];
        }
        c[at] = moved;
        rank[at] = r;
    }
}

/* The sentence right before chosen[k] among the candidates; set->n: none that adjoins it, or it is chosen already. */
static size_t sentence_before(const candidate_set *set, const extractive_input *in,
                              const candidate *chosen, size_t n, size_t k) {
    const candidate *of = &chosen[k];
    for (size_t i = 0; i < n; i++)
        if (chosen[i].passage == of->passage && chosen[i].order + 1 == of->order) return set->n;
    for (size_t i = 0; i < set->n; i++) {
        candidate c = set->c[i];
        c.headed = of->headed && candidate_same_head(&c, of);
        if (c.passage == of->passage && c.order + 1 == of->order &&
            (adjoins(&in->passages[c.passage], &c, of) || is_example_of(set, &c, of)))
            return i;
    }
    return set->n;
}

/* Puts c beside chosen[n], of which it stands with chosen[k], in the place of the last one where there are `most` already and it
 * belongs to the best. How many there are now. */
static size_t add_beside(candidate *chosen, size_t n, size_t most, size_t max_chars, candidate c,
                         size_t k) {
    if (n >= most && k > 0) return n;
    const size_t at = n < most ? n : n - 1;
    size_t used = c.end - c.start;
    for (size_t i = 0; i < at; i++) used += chosen[i].end - chosen[i].start;
    if (used > max_chars) return n;
    c.headed = chosen[k].headed && candidate_same_head(&c, &chosen[k]);
    chosen[at] = c;
    return at + 1;
}

/* "Her deputy is Jon Stoll. Appeals against grades of the chair are decided by the deputy.": whose name the question says, the
 * sentence before the best tells in words of it, and the best does not. */
static bool names_who_is_meant(const candidate_set *set, const candidate *best,
                               const candidate *before) {
    const candidate_passage *p = &set->passages[best->passage];
    uint64_t names = 0;
    if (set->q.kind != ASK_PERSON)
        return false; /* an office has a holder; a river may be anything */
    for (size_t i = 0; i < set->q.text.n_words; i++) {
        const fact_word *w = &set->q.text.words[i];
        const int k = question_term_of(&set->q, w->id);
        if (k >= 0 && fact_is_named(&set->q.text, i) && !(w->flags & (WORD_DIGIT | WORD_CALENDAR)))
            names |= 1ull << k;
    }
    names &= ~(best->set | p->title | candidate_head_terms(p, &best->unit));
    if (!(names & before->set)) return false;
    for (uint32_t i = best->w0; i < best->w1; i++)
        if (fact_is_content(&p->text.words[i]) &&
            fact_says(&p->text, before->w0, before->w1, p->text.words[i].id))
            return true;
    return false;
}

/* "Over 18 % we do not sell it.": 18 % of what, the sentence before says that measures in the same ("Water content 18.6 %"). */
static bool is_bound_of_before(const passage *p, const candidate *c, const candidate *before) {
    size_t at = 0, from = 0;
    const size_t n = c->end - c->start;
    const word_token first = word_token_next(p->text + c->start, n, &at),
                     number = word_token_next(p->text + c->start, n, &at);
    const word_token unit = word_token_next(p->text + c->start, n, &at);
    word_token last = {0};
    if (!word_token_in("over above under below beyond", &first) || !number.digits) return false;
    if (!word_token_is(&unit, "%") && !word_token_in("percent degrees", &unit)) return false;
    for (word_token t;
         (t = word_token_next(p->text + before->start, before->end - before->start, &from)).n;
         last = t)
        if (last.digits && t.n == unit.n && !memcmp(t.s, unit.s, t.n)) return true;
    return false;
}

static const char pronouns[] = "it its she her he his they their them him";

/* Does the sentence begin with a pronoun, and have no other? */
static bool has_one_pronoun(const char *s, size_t n) {
    size_t at = 0, found = 0;
    const word_token first = word_token_next(s, n, &at);
    if (!word_token_in(pronouns, &first)) return false;
    for (word_token t; (t = word_token_next(s, n, &at)).n;) found += word_token_in(pronouns, &t);
    return found == 0;
}

/* "... is a perennial plant", and nothing that holds only in some case. */
static bool only_says_what_it_is(const char *s, size_t n) {
    word_token last = {0};
    size_t at = 0;
    bool is_one = false;
    for (word_token t; (t = word_token_next(s, n, &at)).n; last = t) {
        is_one |= word_token_in("a an", &t) && word_token_in("is", &last);
        if (word_token_in("if until unless only not no never without cannot", &t)) return false;
    }
    return is_one;
}

/* Does the sentence begin with what the document's title says, behind an article? */
static bool begins_with_title(const candidate_passage *p, const candidate *c) {
    enum { FIRST_WORDS = 3 };
    for (uint32_t i = c->w0; i < c->w1 && i < c->w0 + FIRST_WORDS; i++)
        if (p->terms[i] >= 0) return p->title >> p->terms[i] & 1;
    return false;
}

/* Has the question half of the words of the document's title, so that whoever asks knows what "it" is? */
static bool title_is_asked(const candidate_passage *p) {
    size_t words = 0, at = 0;
    for (word_token t; (t = word_token_next(p->title_text, strlen(p->title_text), &at)).n;)
        words += t.letters && t.n > 1 && !word_token_in("the an of and in for on to", &t);
    return words > 0 && p->title && 2 * (size_t)__builtin_popcountll(p->title) >= words;
}

/* "What" and "which" may ask for what "it" means; "in which months" does not. */
static bool may_ask_what_is_meant(const question *q) {
    word_token last = {0};
    size_t at = 0;
    for (word_token t; (t = word_token_next(q->text.text, q->text.len, &at)).n; last = t)
        if (word_token_in("what which", &t) && !word_token_in("in at on from since until", &last))
            return true;
    return false;
}

/* What a pronoun means is told by the question and the title, and the sentence before, which is long, only says what that is and
 * nothing more of what is asked: it would bury the one that answers. */
static bool needs_no_antecedent(const candidate_set *set, const candidate *c,
                                const candidate *before) {
    enum { LONG_WORDS = 20 };
    static const double behind = 3;
    const candidate_passage *p = &set->passages[c->passage];
    const char *text = p->text.text;
    if (before->w1 - before->w0 < LONG_WORDS || !title_is_asked(p) ||
        !has_one_pronoun(text + c->start, c->end - c->start) || may_ask_what_is_meant(&set->q))
        return false;
    if (set->crossed && cross_reading_of(before) > cross_reading_of(c) - behind) return false;
    return begins_with_title(p, before) &&
           only_says_what_it_is(text + before->start, before->end - before->start) &&
           !(before->set & ~(c->set | p->title));
}

/* What points back is shown behind the sentence before it; where that points back as well, behind the one before that. */
size_t extractive_text_antecedent(const candidate_set *set, const extractive_input *in, size_t most,
                                  size_t max_chars, candidate *chosen, size_t n) {
    static const double much = 0.35;
    if (most < 2 || n == 0) return n;
    const size_t reason = antecedent_reason_beside(set, chosen, n);
    if (reason < set->n && n < most) {
        size_t k = 0;
        while (k + 1 < n && chosen[k].passage != set->c[reason].passage) k++;
        n = add_beside(chosen, n, most, max_chars, set->c[reason], k);
    }
    for (size_t k = 0; k < n; k++) {
        const bool back = speaks_of_before(&set->passages[chosen[k].passage], &chosen[k]);
        if (!back && (k > 0 || chosen[k].unit.kind != TEXT_UNIT_SENTENCE)) continue;
        const size_t before = sentence_before(set, in, chosen, n, k);
        if (back && before < set->n && needs_no_antecedent(set, &chosen[k], &set->c[before]))
            continue;
        if (before < set->n && which_one_is_another(set, &set->c[before])) continue;
        if (!back && before < set->n && !names_who_is_meant(set, &chosen[k], &set->c[before]) &&
            !is_bound_of_before(&in->passages[chosen[k].passage], &chosen[k], &set->c[before]))
            continue;
        /* behind the best, one that says little of the question leads away from it */
        if (before < set->n && (k == 0 || question_share(&set->q, set->c[before].set) >= much))
            n = add_beside(chosen, n, most, max_chars, set->c[before], k);
    }
    return n;
}

/* The cells of a row, each behind what its column is called: "day: Monday; open: closed". */
static void add_row(fo_buf *b, const passage *p, const candidate *c) {
    const char *row = p->text + c->start, *head = p->text + c->unit.head_start;
    const size_t n_row = c->end - c->start, n_head = c->unit.head_end - c->unit.head_start;
    size_t at = 0, at_name = 0;
    bool first = true;
    for (slice cell; table_row_cell(row, n_row, &at, &cell.s, &cell.n);) {
        slice name = {"", 0};
        (void)table_row_cell(head, n_head, &at_name, &name.s, &name.n);
        if (!cell.n) continue;
        if (!first) fo_buf_str(b, "; ");
        first = false;
        add_running(b, name.s, name.n);
        if (name.n) fo_buf_str(b, ": ");
        add_running(b, cell.s, cell.n);
    }
}

/* A list keeps its lines, steps in one running text are hard to follow; so does an example: all of them. */
static void add_lines(fo_buf *b, const char *s, size_t n, bool all) {
    for (size_t at = 0; at < n;) {
        const char *stop = memchr(s + at, '\n', n - at);
        size_t end = stop ? (size_t)(stop - s) : n;
        bool mark = (all && at > 0) || text_item_mark(s + at, end - at) > 0;
        if (b->len && mark && b->data[b->len - 1] != '\n') {
            if (b->data[b->len - 1] == ' ') b->len--;
            fo_buf_char(b, '\n');
        } else if (b->len && !strchr(" \n", b->data[b->len - 1])) {
            fo_buf_char(b, ' ');
        }
        add_running(b, s + at, end - at);
        at = end + 1;
    }
}

/* Bytes of the option or term that a definition begins with; 0: it is none. */
static size_t tag_length(const passage *p, const candidate *c, uint32_t end) {
    if (c->unit.kind != TEXT_UNIT_DEFINITION || c->unit.body <= c->start || c->unit.body >= end)
        return 0;
    return trimmed((slice){p->text + c->start, c->unit.body - c->start}).n;
}

static const char *behind_head(const candidate *c, slice head) {
    if (head.n && head.s[head.n - 1] == '?') return " ";
    if (c->unit.nested) return behind_item(head);
    return c->headed ? ": " : c->unit.head_kind == TEXT_UNIT_DEFINITION ? ": … " : " ";
}

/* Behind what heads it no bullet is said, only the number of a step: bytes of it, else 0. */
static size_t bullet_behind_head(const char *text, const candidate *c, uint32_t end) {
    if (!is_named_by_head(c) || c->unit.kind != TEXT_UNIT_ITEM || fo_is_digit(text[c->start]))
        return 0;
    return text_item_mark(text + c->start, end - c->start);
}

/* "Weight | 480 g", a row of two cells without names, is said with a colon; false: it is none. */
static bool add_pair(fo_buf *b, const char *row, size_t n, const candidate *c) {
    slice cells[3];
    size_t count = 0;
    if (c->unit.kind != TEXT_UNIT_ROW || c->unit.record || !memchr(row, '|', n)) return false;
    for (size_t at = 0; count < 3 && table_row_cell(row, n, &at, &cells[count].s, &cells[count].n);)
        count += cells[count].n > 0;
    if (count != 2) return false;
    add_running(b, cells[0].s, cells[0].n);
    fo_buf_str(b, ": ");
    add_running(b, cells[1].s, cells[1].n);
    return true;
}

/* The heading that says its day, its version or whose it is, and that it does not stand right below. */
static void add_day(fo_buf *b, const passage *p, const candidate *c) {
    if (c->section) {
        add_running(b, c->section, strlen(c->section));
        fo_buf_str(b, ": ");
    }
    if (c->dated_end == c->dated_start) return;
    add_running(b, p->text + c->dated_start, c->dated_end - c->dated_start);
    fo_buf_str(b, ": ");
}

void extractive_text_unit(fo_buf *b, const passage *p, const candidate *c, uint32_t end) {
    const char *s = p->text;
    add_day(b, p, c);
    if (c->unit.kind == TEXT_UNIT_ROW && c->unit.head_end > c->unit.head_start) {
        add_row(b, p, c);
        return;
    }
    if (add_pair(b, s + c->start, end - c->start, c)) return;
    if (shows_head(c)) {
        const slice head = head_of(s, c), outer = outer_of(s, c);
        add_running(b, outer.s, outer.n);
        fo_buf_str(b, behind_item(outer));
        add_running(b, head.s, head.n);
        fo_buf_str(b, !c->unit.lines ? behind_head(c, head) : c->unit.named ? ":\n" : "\n");
    }
    size_t tag = tag_length(p, c, end);
    if (tag) {
        add_running(b, s + c->start, tag);
        fo_buf_str(b, s[c->start + tag - 1] == ':' ? " " : ": ");
        add_running(b, s + c->unit.body, end - c->unit.body);
    } else if (c->unit.kind == TEXT_UNIT_STEPS || c->unit.lines) {
        add_lines(b, s + c->start, end - c->start, c->unit.lines);
    } else {
        const size_t mark = bullet_behind_head(s, c, end);
        add_running(b, s + c->start + mark, end - c->start - mark);
    }
}

/* Whose option it is has to be seen where the question does not say it, or means it as a verb and others'
 * options stand beside it: bytes of the first name in the title "gzip, gunzip - compress files"; else 0. */
static size_t owner_length(const candidate_set *set, const candidate *c, bool several) {
    const candidate_passage *p = &set->passages[c->passage];
    const fact_text *asked = &set->q.text;
    if (!candidate_is_option(set, c) || !p->command) return 0;
    bool said = exact_names_command_said(asked->text, asked->len, p->title_text);
    return several || !said ? strcspn(p->title_text, " ,") : 0;
}

/* Are units of more than one document chosen? A document is told by its title. */
static bool of_several(const candidate_set *set, const candidate *c, size_t n) {
    for (size_t i = 1; i < n; i++)
        if (!candidate_one_document(&set->passages[c[i].passage], &set->passages[c[0].passage]))
            return true;
    return false;
}

/* What supports a piece of the answer: the quote and, where the piece says it too, what the unit
 * hangs on (a row's header, an option), which stands elsewhere in the same passage. */
static void add_support(fo_buf *b, const passage *p, const candidate *c, const answer_citation *x) {
    fo_buf_clear(b);
    add_day(b, p, c);
    bool headed = c->unit.head_end > c->unit.head_start;
    if (headed && c->unit.kind == TEXT_UNIT_ROW) { /* as it is said: every cell is copied whole */
        add_row(b, p, c);
        return;
    }
    if (add_pair(b, p->text + c->start, c->end - c->start, c)) return;
    if (shows_head(c)) {
        const slice head = head_of(p->text, c), outer = outer_of(p->text, c);
        fo_buf_add(b, outer.s, outer.n);
        fo_buf_str(b, behind_item(outer));
        fo_buf_add(b, head.s, head.n);
        fo_buf_str(b, behind_head(c, head)); /* what it heads is said of it */
    }
    size_t tag = tag_length(p, c, x->end); /* the layout that ends it is said with a colon */
    if (tag) {
        fo_buf_add(b, p->text + x->start, tag);
        fo_buf_str(b, ":\n");
    }
    size_t from = tag ? c->unit.body : x->start + bullet_behind_head(p->text, c, x->end);
    fo_buf_add(b, p->text + from, x->end - from);
}

/* An option, a row, a procedure or what a command does has a line of its own: run together they are hard to tell apart. */
static bool stands_alone(const candidate *c) {
    return c->unit.kind == TEXT_UNIT_DEFINITION || c->unit.kind == TEXT_UNIT_ROW ||
           c->unit.kind == TEXT_UNIT_STEPS || c->f[CAND_SUMMARY] > 0;
}

/* What stands in text[from..] was copied: no marker in it is ours, and where the sentence is not
 * whole the answer shows that. */
static int finish_run(fo_buf *text, size_t from, const candidate *first, const candidate *last,
                      fo_err *err) {
    static const char ellipsis[] = "\xE2\x80\xA6";
    text->len = from + foreign_marks_disarm(text->data + from, text->len - from);
    if (last->cut_end) fo_buf_str(text, ellipsis);
    if (first->cut_start) {
        size_t n = text->len - from;
        fo_buf_str(text, ellipsis);
        fo_buf_char(text, ' ');
        if (text->failed) return fo_fail(err, FO_ENOMEM, "out of memory for an answer");
        memmove(text->data + from + sizeof ellipsis, text->data + from, n);
        memcpy(text->data + from, ellipsis, sizeof ellipsis - 1);
        text->data[from + sizeof ellipsis - 1] = ' ';
    }
    return FO_OK;
}

int extractive_text_assemble(extractive_answer *out, const candidate_set *set,
                             const extractive_input *in, const candidate *c, size_t n,
                             fo_err *err) {
    fo_buf text = {0}, quote = {0};
    out->citations = calloc(n + 1, sizeof *out->citations);
    if (!out->citations) return fo_fail(err, FO_ENOMEM, "out of memory for an answer");
    int rc = FO_OK;
    bool several = of_several(set, c, n);
    for (size_t i = 0; !rc && i < n;) {
        const passage *p = &in->passages[c[i].passage];
        size_t run = 1; /* neighbours in one paragraph are one quote */
        while (i + run < n && adjoins(p, &c[i + run - 1], &c[i + run]) &&
               !are_of_two_paragraphs(p, &c[i + run - 1], &c[i + run]))
            run++;
        answer_citation *x = &out->citations[out->n_citations++];
        *x = (answer_citation){.passage = c[i].passage,
                               .start = c[i].start,
                               .end = c[i + run - 1].end,
                               .answer_start = text.len + (text.len > 0)};
        bool line = stands_alone(&c[i]) || (i > 0 && stands_alone(&c[i - 1]));
        if (text.len) fo_buf_char(&text, line ? '\n' : ' ');
        candidate first = c[i]; /* a heading is said once */
        first.headed |= !first.cut_start &&
                        short_reply_needs_its_question(&set->passages[first.passage], &first.unit);
        first.headed &= !has_head_before(&first, c, i);
        for (size_t k = 0; k < i; k++) {
            first.headed &= !candidate_same_head(&c[k], &first);
            if (c[k].passage == first.passage && c[k].dated_start == first.dated_start)
                first.dated_end = first.dated_start;
            if (c[k].passage == first.passage && c[k].section) first.section = NULL;
        }
        if (first.unit.nested && i > 0 && candidate_same_head(&c[i - 1], &first))
            first.unit.head_end = first.unit.head_start; /* right behind another one of that item */
        size_t owner = owner_length(set, &c[i], several);
        if (owner) {
            add_running(&text, p->title, owner);
            fo_buf_char(&text, ' ');
        }
        extractive_text_unit(&text, p, &first, x->end);
        add_support(&quote, p, &first, x);
        if (text.failed || quote.failed) break;
        support_check check;
        rc = citation_check(&check, in->lx,
                            &(citation_claim){.sentence = text.data + x->answer_start,
                                              .sentence_len = text.len - x->answer_start,
                                              .quote = quote.data,
                                              .quote_len = quote.len,
                                              .stored = quote.data,
                                              .stored_len = quote.len,
                                              .start = 0,
                                              .end = quote.len,
                                              .title = p->title},
                            err);
        x->verified = check.verified;
        rc = !rc ? finish_run(&text, x->answer_start, &c[i], &c[i + run - 1], err) : rc;
        x->answer_end = text.len;
        fo_buf_printf(&text, " [%zu]", out->n_citations);
        i += run;
    }
    if (!rc && (text.failed || quote.failed))
        rc = fo_fail(err, FO_ENOMEM, "out of memory for an answer");
    fo_buf_free(&quote);
    out->text = fo_buf_take(&text, NULL);
    return rc;
}
