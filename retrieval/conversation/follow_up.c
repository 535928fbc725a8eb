#include "retrieval/conversation/follow_up.h"

#include <string.h>
#include <strings.h>

#include "kernels/utf8.h"
#include "kernels/words.h"

enum { MAX_BEFORE = 64, MAX_TURN = 8, BARE = 4 };

static const char articles[] = "the a an my our your";
static const char prepositions[] =
    "in on at for with by from to of after before during under over without until "
    "between within per into near through above below behind";
static const char asking[] = "what when where which who whom whose why how";
static const char verbs[] =
    "is are was were be been do does did can could may might must shall should will would has "
    "have had am";
/* What stands for something that was said: no part of a question by itself. */
static const char pointing[] =
    "it its they them he she him her his their this that these those one ones there then so "
    "else same more such most rest both";
static const char joining[] = "and or but nor not if than as i you we me us";
static const char days[] =
    "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays "
    "thursdays fridays saturdays sundays weekdays weekends today tomorrow";
static const char months[] =
    "january february march april may june july august september october november december";
static const char seasons[] = "spring summer autumn fall winter";

static const char people[] =
    "adult adults child children kid kids student students pupil pupils pensioner pensioners "
    "senior "
    "seniors member members guest guests visitor visitors family families infant infants baby "
    "babies "
    "toddler toddlers teenager teenagers youth youths man men woman women boy boys girl girls";
/* "Where's", "I'm", "don't": what stands before the apostrophe, and says nothing. */
static const char contracted[] =
    "what when where who how why i you we they he she it that there here isn aren wasn don doesn "
    "didn can couldn won wouldn shouldn hasn haven";
/* What opens also closes: one of a row may stand for another. */
static const char *const opposites[] = {"open close shut",
                                        "opens closes shuts",
                                        "start begin end finish stop",
                                        "starts begins ends finishes stops",
                                        "arrive depart leave",
                                        "arrives departs leaves",
                                        "front back rear",
                                        "big large small little",
                                        "left right",
                                        "full half",
                                        "single double",
                                        "indoor outdoor",
                                        "upper lower",
                                        "white black silver gold red green blue yellow brown",
                                        "male female",
                                        "males females",
                                        "on off"};
/* Words that are no name of anything: "And back?" */
static const char no_names[] =
    "open close shut opens closes shuts start begin end finish stop starts begins ends finishes "
    "stops arrive depart leave arrives departs leaves on off back again out away return returns";

typedef struct word {
    const char *s;
    size_t n;         /* bytes, without the marks around it */
    const char *from; /* those before it counted in */
    const char *to;   /* quotes and brackets behind it counted in */
    bool article, preposition, content;
} word;

typedef struct sentence {
    word w[MAX_BEFORE];
    size_t n;
} sentence;

/* w[begin] to w[end - 1]; none: begin == end */
typedef struct part {
    size_t begin, end;
} part;

static bool in(const char *list, const word *w) {
    return fo_words_have_any_case(list, w->s, w->n);
}

static bool is_mark(char c) {
    return c && strchr("?!.,;:\"'()[]", c);
}

static bool is_contraction(const word *w) {
    size_t n = 0;
    while (n < w->n && fo_is_letter(w->s[n])) n++;
    const bool apostrophe =
        n < w->n && (w->s[n] == '\'' || (w->n - n > 3 && memcmp(w->s + n, "\xE2\x80\x99", 3) == 0));
    return apostrophe && fo_words_have_any_case(contracted, w->s, n);
}

/* False where there are more than `most` words. */
static bool read_words(sentence *out, const char *text, size_t len, size_t most) {
    out->n = 0;
    for (size_t i = 0; i < len;) {
        while (i < len && fo_is_blank(text[i])) i++;
        size_t begin = i;
        while (i < len && !fo_is_blank(text[i])) i++;
        size_t end = i, from = begin;
        while (begin < end && is_mark(text[begin])) begin++;
        while (end > begin && is_mark(text[end - 1])) end--;
        if (begin == end) continue;
        if (out->n == most) return false;
        size_t to = end;
        while (to < i && strchr("\"')]", text[to])) to++;
        word *w = &out->w[out->n++];
        *w = (word){.s = text + begin, .n = end - begin, .from = text + from, .to = text + to};
        w->article = in(articles, w);
        w->preposition = in(prepositions, w);
        bool may =
            (out->n > 1 || i == len) && w->n == 3 && memcmp(w->s, "May", 3) == 0; /* the month */
        w->content = may || (!w->article && !w->preposition && !in(asking, w) && !in(verbs, w) &&
                             !in(pointing, w) && !in(joining, w) && !is_contraction(w));
    }
    return out->n > 0;
}

/* Bytes of one of the phrases, and of blanks before it; 0: there is none. */
static size_t one_of(const char *s, const char *const *phrases, size_t n) {
    const size_t blank = strspn(s, " \t\r\n");
    for (size_t i = 0; i < n; i++)
        if (strncasecmp(s + blank, phrases[i], strlen(phrases[i])) == 0)
            return blank + strlen(phrases[i]);
    return 0;
}

/* Bytes of "no, I meant" before what is put right. A bare "no" begins other things, too: "no problem", "no dogs?" */
static size_t corrections(const char *s) {
    static const char *const refusals[] = {"no, ", "no ", "sorry, ", "nope, "};
    static const char *const meant[] = {"i meant ", "i mean ", "i was asking about ", "rather "};
    static const char *const things[] = {"the ", "a ", "an ", "for ", "in ", "on ", "with "};
    const size_t no = one_of(s, refusals, sizeof refusals / sizeof *refusals);
    const size_t mean = one_of(s + no, meant, sizeof meant / sizeof *meant);
    const bool thing = one_of(s + no, things, sizeof things / sizeof *things) > 0;
    return mean ? no + mean : thing ? no : 0;
}

bool follow_up_corrects(const char *turn) {
    return corrections(turn) > 0;
}

/* Bytes of "and", "or what about", ... before what the turn is about. */
static size_t opening(const char *s) {
    static const char *const openings[] = {"and ",  "or ",         "but ",       "so ",
                                           "then ", "what about ", "how about ", "what if "};
    /* ... and before the thing itself, which is as it is without them. */
    static const char *const asides[] = {"just ", "only ", "maybe ", "perhaps "};
    size_t at = corrections(s);
    for (size_t n = 1; n; at += n) n = one_of(s + at, openings, sizeof openings / sizeof *openings);
    for (size_t n = at; n; at += n) n = one_of(s + at, asides, sizeof asides / sizeof *asides);
    return at;
}

bool follow_up_goes_on(const char *turn) {
    turn += strspn(turn, " \t\r\n");
    return opening(turn) > 0;
}

bool follow_up_adds_a_circumstance(const char *turn) {
    static const char of_circumstances[] = /* "for", "of", "with" bring things */
        "in on at after before during under over without until between within";
    sentence t;
    const char *s = turn + opening(turn);
    return follow_up_goes_on(turn) && read_words(&t, s, strlen(s), MAX_TURN) && t.n > 1 &&
           in(of_circumstances, &t.w[0]) && !in(asking, &t.w[1]);
}

bool follow_up_is_whole(const char *turn) {
    sentence t;
    const char *s = turn + opening(turn);
    size_t content = 0;
    if (!read_words(&t, s, strlen(s), MAX_BEFORE)) return false;
    for (size_t i = 0; i < t.n; i++) content += t.w[i].content;
    return content > 1 && (in(asking, &t.w[0]) || in(verbs, &t.w[0]));
}

bool follow_up_asks_alone(const char *turn) {
    sentence t;
    const char *s = turn + opening(turn);
    bool content = false;
    if (!read_words(&t, s, strlen(s), MAX_BEFORE) || t.n < 3) return false;
    const bool contracted_verb = is_contraction(&t.w[0]); /* "where's" */
    bool verb = contracted_verb;
    for (size_t i = 0; i < t.n; i++) {
        verb |= in(verbs, &t.w[i]);
        content |= t.w[i].content;
    }
    return verb && content && (contracted_verb || in(asking, &t.w[0]) || in(verbs, &t.w[0]));
}

/* "And the northern one?": a phrase whose noun was said before. */
static bool ends_in_one(const sentence *t) {
    return t->n > 1 && in("one ones", &t->w[t->n - 1]) && t->w[t->n - 2].content;
}

/* Half a question: words that something can be called by, no verb, nothing that points back. */
static bool is_half(const sentence *t) {
    const size_t n = t->n - ends_in_one(t);
    size_t content = 0;
    for (size_t i = 0; i < n; i++) {
        if (!t->w[i].article && !t->w[i].preposition && !t->w[i].content) return false;
        content += t->w[i].content;
    }
    return content > 0 && t->w[n - 1].content;
}

static bool is_whole(const sentence *s, const char *text, size_t len) {
    while (len && fo_is_blank(text[len - 1])) len--;
    if (memchr(text, '\n', len)) return false;
    for (size_t i = 0; i + 1 < len; i++) /* one sentence: the rest may be about anything */
        if (strchr("?!.", text[i]) && fo_is_blank(text[i + 1])) return false;
    return s->n >= 3 && (text[len - 1] == '?' || in(asking, &s->w[0]) || in(verbs, &s->w[0]));
}

static bool alike(const word *a, const word *b) { /* but for case and the s of many */
    size_t n = a->n, m = b->n;
    if (n > 3 && (a->s[n - 1] | 32) == 's') n--;
    if (m > 3 && (b->s[m - 1] | 32) == 's') m--;
    return n == m && strncasecmp(a->s, b->s, n) == 0;
}

/* E3 and E5, 2019 and 2021, X-100 and X-250: letters and marks are the same, numbers are not. */
static bool same_code(const word *a, const word *b) {
    size_t i = 0, k = 0;
    bool digits = false;
    while (i < a->n && k < b->n) {
        if (fo_is_digit(a->s[i]) != fo_is_digit(b->s[k])) return false;
        if (fo_is_digit(a->s[i])) {
            digits = true;
            while (i < a->n && fo_is_digit(a->s[i])) i++;
            while (k < b->n && fo_is_digit(b->s[k])) k++;
        } else if ((a->s[i++] | 32) != (b->s[k++] | 32))
            return false;
    }
    return digits && i == a->n && k == b->n;
}

static bool is_capital(const word *w) {
    return w->s[0] >= 'A' && w->s[0] <= 'Z' && w->content;
}

static bool same_kind(const word *a, const word *b) {
    static const char *const kinds[] = {days, months, seasons, people};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (in(kinds[i], a) && in(kinds[i], b)) return true;
    return same_code(a, b);
}

/* The s of many, or a word like "children". */
static bool is_plural(const word *w) {
    if (in("children people men women feet mice", w)) return true;
    const char last = w->n > 3 ? (char)(w->s[w->n - 2] | 32) : 's';
    return (w->s[w->n - 1] | 32) == 's' && last != 's' && last != 'u' && last != 'i';
}

static bool is_number(const word *w) {
    for (size_t i = 0; i < w->n; i++)
        if (!fo_is_digit(w->s[i])) return false;
    return true;
}

/* The run of content words around w[at], and the article before it. */
static part phrase_at(const sentence *s, size_t at) {
    part p = {at, at + 1};
    while (p.begin > 0 && s->w[p.begin - 1].content) p.begin--;
    while (p.end < s->n && s->w[p.end].content) p.end++;
    if (p.begin > 0 && s->w[p.begin - 1].article) p.begin--;
    return p;
}

/* "the south pump" for "the north pump": what is counted before the common noun is what `said` has there, or all of it
 * behind an article. */
static bool by_noun(part *out, const sentence *s, const sentence *said, part noun) {
    const word *head = &said->w[noun.end - 1];
    size_t modifiers = 0;
    for (size_t i = noun.begin; i + 1 < noun.end; i++) modifiers += said->w[i].content;
    for (size_t i = s->n; i-- > 0;) {
        if (!s->w[i].content || !alike(&s->w[i], head)) continue;
        part p = phrase_at(s, i);
        p.end = i + 1;
        bool article = s->w[p.begin].article;
        size_t before = i - p.begin - article;
        if (before == 0) return false;
        if (!article && before > modifiers) p.begin = i - modifiers;
        *out = p;
        return true;
    }
    return false;
}

/* A code, a day or a name for another one, where there is one alone of its kind. */
static bool by_kind(part *out, const sentence *s, const sentence *said, part noun) {
    const word *w = &said->w[noun.end - 1];
    size_t first = noun.begin + said->w[noun.begin].article;
    size_t found = 0;
    if (noun.end - first == 1)
        for (size_t i = 0; i < s->n; i++)
            if (same_kind(&s->w[i], w)) {
                found++;
                *out = (part){i, i + 1};
            }
    if (noun.end - first == 2 && is_number(w)) /* year 6 and year 9 */
        for (size_t i = 1; i < s->n; i++)
            if (is_number(&s->w[i]) && alike(&s->w[i - 1], w - 1)) {
                found++;
                *out = (part){i - 1, i + 1};
            }
    if (found) return found == 1;
    for (size_t i = first; i < noun.end; i++)
        if (!is_capital(&said->w[i])) return false;
    for (size_t i = 1; i < s->n;) {
        size_t end = i;
        while (end < s->n && is_capital(&s->w[end])) end++;
        if (end > i) {
            found++;
            *out = (part){i, end};
        }
        i = end > i ? end : i + 1;
    }
    if (found != 1) return false;
    if (out->begin > 0 && s->w[out->begin - 1].article && said->w[noun.begin].article) out->begin--;
    return true;
}

static bool is_participle(const word *w) {
    return (w->n > 3 && strncasecmp(w->s + w->n - 2, "ed", 2) == 0) ||
           in("made built done taken paid given sold held found sent kept open closed born lent "
              "won written",
              w);
}

/* One past the content words at w[at], articles before them counted in. */
static size_t run_end(const sentence *s, size_t at) {
    while (at < s->n && s->w[at].article) at++;
    while (at < s->n && s->w[at].content) at++;
    return at;
}

/* The phrase that begins with w[at], its article or first word; what can only be the verb behind it is no part. */
static part phrase_from(const sentence *s, size_t at, bool verb_behind) {
    part p = {at, run_end(s, at)};
    size_t first = at;
    while (first < p.end && s->w[first].article) first++;
    if (p.end > first && (is_participle(&s->w[p.end - 1]) || (verb_behind && p.end > first + 1)))
        p.end--;
    if (p.end == first) p.end = p.begin;
    return p;
}

/* The phrase behind one of these articles, where there is one alone. */
static bool the_only_one(part *out, const sentence *s, size_t from, const char *with) {
    size_t found = 0;
    for (size_t i = from; i < s->n; i++) {
        const part p = in(with, &s->w[i]) ? phrase_from(s, i, false) : (part){0, 0};
        if (p.end == p.begin) continue;
        found++;
        *out = p;
    }
    return found == 1;
}

/* What the question is about, where no two words tell: what is counted, what stands behind its first verb, or the one
 * phrase with an article. */
static bool by_focus(part *out, const sentence *s, const word *article) {
    static const char need_another[] =
        "do does did can could may might must shall should will would";
    size_t verb = 0;
    while (verb < s->n && !in(verbs, &s->w[verb])) verb++;
    *out = (part){0, 0};
    if (!article && s->n > 2 && in("how", &s->w[0]) && in("many much", &s->w[1]))
        *out = phrase_from(s, 2, verb == s->n);
    if (out->end > out->begin) return true;
    if (verb + 1 < s->n) *out = phrase_from(s, verb + 1, in(need_another, &s->w[verb]));
    if (out->end > out->begin && (!article || s->w[out->begin].article)) return true;
    const size_t behind = verb < s->n ? verb + 1 : 1;
    return the_only_one(out, s, behind, articles) ||
           (article && in("a an", article) && the_only_one(out, s, behind, "a an"));
}

/* "And the pump?" says nothing that was not said. */
static bool is_new(const sentence *s, const sentence *said) {
    for (size_t i = 0; i < said->n; i++) {
        bool known = !said->w[i].content;
        for (size_t k = 0; k < s->n && !known; k++) known = alike(&s->w[k], &said->w[i]);
        if (!known) return true;
    }
    return false;
}

/* Is anything left of it but the phrase? "What is the rent?" asks nothing of heating. */
static bool says_more(const sentence *s, part p) {
    for (size_t i = 0; i < s->n; i++) {
        const bool within = i >= p.begin && i < p.end;
        if (!within && s->w[i].content) return true;
    }
    return false;
}

/* "And close?" behind "When does it open?", "and a female?" behind "a male cat": the one word of that row. "On" and "off" end
 * the question. */
static bool by_opposite(part *out, const sentence *s, const sentence *said) {
    size_t found = 0;
    const word *w = &said->w[said->n - 1];
    const bool alone = said->n == 1 || (said->n == 2 && said->w[0].article);
    for (size_t k = 0; alone && k < sizeof opposites / sizeof *opposites; k++) {
        if (!in(opposites[k], w)) continue;
        const bool particle = in("on off", w);
        for (size_t i = particle ? s->n - 1 : 1; i < s->n; i++) {
            if (!in(opposites[k], &s->w[i])) continue;
            found++;
            *out = (part){i, i + 1};
        }
    }
    return found == 1;
}

/* One past the words behind a preposition; what can only be the verb of the question is none of them: "from Lund to Malmo cost". */
static size_t place_end(const sentence *s, size_t at) {
    static const char ends[] =
        "cost take last leave go run start begin end open close arrive depart weigh "
        "pay work happen stop sail";
    static const char needing[] = "do does did can could may might must shall should will would";
    size_t end = run_end(s, at);
    const word *first = &s->w[at];
    if (end == at + 1 && first->n > 4 && strncasecmp(first->s + first->n - 3, "ing", 3) == 0)
        end = run_end(s, end); /* "after having a tooth out" */
    bool asked = false;
    for (size_t i = 0; i < at; i++) asked |= in(needing, &s->w[i]);
    return asked && end > at + 1 && in(ends, &s->w[end - 1]) ? end - 1 : end;
}

/* "with a day card" for "with a full card": from the same preposition on. */
static bool by_preposition(part *out, const sentence *s, const word *preposition) {
    for (size_t i = s->n; i-- > 1;) {
        if (!s->w[i].preposition || !alike(&s->w[i], preposition)) continue;
        const size_t end = place_end(s, i + 1);
        *out = (part){i, end};
        return end < s->n || s->w[end - 1].content;
    }
    return false;
}

/* "And DVDs?" behind "How long can I keep books from the library?": of several, without an article, for the same. */
static bool by_plural(part *out, const sentence *s, const sentence *said) {
    size_t found = 0;
    if (said->n != 1 || !is_plural(&said->w[0])) return false;
    for (size_t i = 1; i < s->n; i++) {
        const word *w = &s->w[i];
        part p = phrase_at(s, i);
        if (p.begin + 1 == i && i > 1 && in("i you we they", &s->w[i - 2]))
            p.begin = i; /* "I keep" */
        if (!w->content || !is_plural(w) || p.end - p.begin != 1 || is_capital(w)) continue;
        found++;
        *out = p;
    }
    return found == 1;
}

/* "And the Blue one?" behind "the yearly fee for the Gold credit card": the name before a noun, where one alone has one; out
 * holds the noun's first word too. */
static bool by_named_one(part *out, const sentence *s) {
    size_t found = 0;
    for (size_t i = 1; i + 1 < s->n; i++) {
        if (!s->w[i - 1].article || !is_capital(&s->w[i]) || !s->w[i + 1].content ||
            is_capital(&s->w[i + 1]))
            continue;
        found++;
        *out = (part){i - 1, i + 2};
    }
    return found == 1;
}

static void add(fo_buf *out, const char *begin, const char *end) {
    if (end > begin) fo_buf_add(out, begin, (size_t)(end - begin));
}

static bool comma_behind(const word *w) {
    return w->s[w->n] == ',';
}

/* Where the asking begins: behind "The engine stopped, ..." */
static size_t asking_begins(const sentence *s) {
    for (size_t i = 1; i < s->n; i++)
        if (comma_behind(&s->w[i - 1]) && (in(asking, &s->w[i]) || in(verbs, &s->w[i]))) return i;
    return 0;
}

/* What the asker says of himself behind the question, "..., I'm not a member", holds no longer where words are added that speak of
 * the same: one past the words that stay. */
static size_t asking_ends(const sentence *s, const sentence *said) {
    enum { STEM = 5 };
    for (size_t i = 1; i < s->n; i++) {
        const word *w = &s->w[i];
        if (!comma_behind(&s->w[i - 1]) || !(in("i we", w) || is_contraction(w))) continue;
        for (size_t k = i; k < s->n; k++)
            for (size_t m = 0; m < said->n; m++)
                if (said->w[m].content && said->w[m].n >= STEM && s->w[k].n >= STEM &&
                    strncasecmp(said->w[m].s, s->w[k].s, STEM) == 0)
                    return i;
    }
    return s->n;
}

/* The question before with words of this one in place of w[p.begin] to w[p.end - 1], or at its end. */
static void put_in(fo_buf *out, const char *before, const sentence *s, part p,
                   const sentence *said) {
    const word *last = &s->w[s->n - 1];
    const bool added = p.begin == s->n;
    const char *begin = said->w[0].s, *end = said->w[said->n - 1].s + said->w[said->n - 1].n;
    const size_t first = added && in("for about", &said->w[0]) ? asking_begins(s) : 0;
    if (added) last = &s->w[asking_ends(s, said) - 1];
    add(out, first ? s->w[first].from : before, added ? last->s + last->n : s->w[p.begin].from);
    if (added) fo_buf_char(out, ' ');
    add(out, begin, end);
    if (p.begin == p.end && !added) fo_buf_char(out, ' ');
    if (!added)
        add(out, p.begin == p.end ? s->w[p.begin].s : s->w[p.end - 1].to, last->s + last->n);
    fo_buf_char(out, '?');
}

/* Frames are of English: what is mostly in letters of another script stands alone. */
static bool is_in_latin(const char *s, size_t n) {
    size_t latin = 0, others = 0;
    for (size_t i = 0; i < n;) {
        int32_t cp;
        i += fo_utf8_decode(s + i, n - i, &cp);
        latin += cp < 0x80 && fo_is_letter((char)cp);
        others += cp >= 0x250;
    }
    return latin >= others;
}

bool follow_up_make(fo_buf *out, const char *before, const char *turn) {
    sentence s, said;
    size_t len = strlen(before), from = opening(turn);
    const char *half = turn + from;
    size_t half_len = strlen(half);
    while (half_len && fo_is_blank(half[half_len - 1])) half_len--;
    bool asks = half_len && half[half_len - 1] == '?';
    if (!read_words(&said, half, half_len, from ? MAX_TURN : BARE) || !is_half(&said) ||
        (!from && !asks) || !is_in_latin(half, half_len))
        return false;
    if (!read_words(&s, before, len, MAX_BEFORE) || !is_whole(&s, before, len)) return false;
    if (!is_new(&s, &said)) return false;
    const bool one = ends_in_one(&said);
    said.n -= one;
    const bool behind = one && said.w[0].preposition;
    if (behind) /* "for the big one": its noun has one where it stands */
        memmove(said.w, said.w + 1, --said.n * sizeof *said.w);
    part noun = {said.w[0].preposition, said.n}, p = {0, 0};
    for (size_t i = noun.begin; i < said.n; i++)
        if (said.w[i].preposition) noun.end = i < noun.end ? i : noun.end; /* "a child of ten" */
    if (noun.end <= noun.begin || !said.w[noun.end - 1].content) return false;
    const bool article = said.w[noun.begin].article;
    bool found = !one && (by_noun(&p, &s, &said, noun) || by_kind(&p, &s, &said, noun) ||
                          by_opposite(&p, &s, &said));
    const bool opposite = one && !by_named_one(&p, &s) && by_opposite(&p, &s, &said);
    if (one) found = opposite || by_named_one(&p, &s);
    if (behind && !found) return false;
    if (!found && !one) found = by_plural(&p, &s, &said);
    if (!found && said.n == 1 && in(no_names, &said.w[0])) return false;
    if (noun.begin) { /* it brings its preposition */
        if (found && p.begin > 0 && s.w[p.begin - 1].preposition)
            p.begin--;
        else if (found || !by_preposition(&p, &s, &said.w[0]))
            p = (part){s.n, s.n};
    } else if (!found &&
               (!by_focus(&p, &s, article ? &said.w[noun.begin] : NULL) || !says_more(&s, p))) {
        return false;
    } else if (s.w[p.begin].article && !article) {
        const bool many = in("a an", &s.w[p.begin]) && is_plural(&said.w[noun.end - 1]);
        if (many && !found) return false; /* "a children" */
        if (!many) p.begin++;
    }
    const word *ahead = found && !noun.begin && p.begin > 0 ? &s.w[p.begin - 1] : NULL;
    if (ahead && ahead->article &&
        (article || (in("a an", ahead) && is_plural(&said.w[noun.end - 1]))))
        p.begin--;                 /* "an adult", and children */
    if (one && !opposite) p.end--; /* its noun stays */
    put_in(out, before, &s, p, &said);
    return true;
}
