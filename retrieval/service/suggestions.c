#include "retrieval/service/suggestions.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "kernels/clock.h"
#include "kernels/words.h"
#include "retrieval/units/table_row.h"
#include "retrieval/collections/catalog.h"
#include "retrieval/service/conversations.h"

enum {
    DOCUMENTS = 512, /* of which some are looked at */
    LOOKED_AT = 12,
    PER_DOCUMENT = 2,
    CANDIDATES = 40,
    QUESTION_BYTES = 160,
    TEXT_BYTES = 16384,   /* of a document */
    READ_BYTES = 8 << 20, /* of all their texts */
};

typedef struct question_made {
    char *text;
    size_t document; /* of which number; 0: of none */
    size_t odd;      /* how far from what one would ask: 0 for a question that was asked */
    bool taken;
} question_made;

typedef struct candidates {
    question_made list[CANDIDATES];
    size_t n, document;
} candidates;

static size_t count_words(const char *s, size_t len) {
    size_t n = 0;
    for (size_t i = 0; i < len; i++) n += s[i] != ' ' && (i == 0 || s[i - 1] == ' ');
    return n;
}

/* People ask in some seven words; what a condition begins with is long, and means little without its document. */
static size_t oddness(const char *question) {
    enum { USUAL = 7, FEWEST = 4, TOO_FEW = 8, CONDITION = 3 };
    const size_t words = count_words(question, strlen(question));
    return 1 + (words > USUAL ? words - USUAL : USUAL - words) + (words < FEWEST ? TOO_FEW : 0) +
           (strncasecmp(question, "What happens ", 13) == 0 ? CONDITION : 0);
}

static int add(candidates *c, const char *question, fo_err *err) {
    if (c->n == CANDIDATES) return FO_OK;
    for (size_t i = 0; i < c->n; i++)
        if (!strcasecmp(c->list[i].text, question)) return FO_OK;
    question_made *q = &c->list[c->n];
    *q = (question_made){.text = strdup(question),
                         .document = c->document,
                         .odd = c->document ? oddness(question) : 0};
    if (!q->text) return fo_no_memory(err);
    c->n++;
    return FO_OK;
}

/* The next to try: of a document that gave none yet before another of the same, then what is least odd; NULL: none is left. */
static question_made *next_of(candidates *c, const bool *gave) {
    question_made *best = NULL;
    for (size_t i = 0; i < c->n; i++) {
        question_made *q = &c->list[i];
        if (q->taken) continue;
        const bool first = !gave[q->document], best_first = best && !gave[best->document];
        if (!best || first > best_first || (first == best_first && q->odd < best->odd)) best = q;
    }
    if (best) best->taken = true;
    return best;
}

/* ---- of a line ------------------------------------------------------------------------------ */

/* Only letters, digits, blanks and what joins words; an ordinal or a path is no heading. */
static bool is_plain(const char *s, size_t len) {
    for (size_t i = 0; i < len; i++)
        if (!isalnum((unsigned char)s[i]) && !strchr(" ,'-", s[i]) && (unsigned char)s[i] < 0x80)
            return false;
    return len > 0 && isalpha((unsigned char)s[0]);
}

static bool begins(const char *s, size_t len, const char *with) {
    size_t n = strlen(with);
    return len > n && !strncasecmp(s, with, n);
}

static bool put(char *out, size_t cap, const char *before, const char *s, size_t len) {
    int n = snprintf(out, cap, "%s%.*s?", before, (int)len, s);
    return n > 0 && (size_t)n < cap;
}

/* The first letter small, unless the word is a name or a sign: another capital in it, or of one letter, but
 * for the article. */
static void lower_first(char *s) {
    if (!isupper((unsigned char)s[0])) return;
    if (islower((unsigned char)s[1]) ||
        (s[0] == 'A' && s[1] == ' ' && islower((unsigned char)s[2])))
        s[0] = (char)tolower(s[0]);
}

/* Bytes of "2. " or "3.1 " before a heading. */
static size_t number_of_heading(const char *s, size_t len) {
    size_t n = 0;
    while (n < len && (isdigit((unsigned char)s[n]) || (n && s[n] == '.'))) n++;
    return n && n < len && s[n] == ' ' ? n + 1 : 0;
}

/* "COMMAND SYNOPSIS": what sections of manual pages are called, and shouting. */
static bool is_all_capitals(const char *s) {
    while (*s && !islower((unsigned char)*s)) s++;
    return !*s;
}

/* "list directory contents" is something to do, "capability shell wrapper" is not. */
static bool is_to_be_done(const char *s) {
    static const char verbs[] =
        "print display show list convert create run generate change search check compute compare "
        "set remove update "
        "make report get view copy compress manipulate format extract configure verify translate "
        "send read query "
        "perform install build add tell parse modify maintain locate edit compile start stop split "
        "rename merge "
        "manage look initialize fix find filter enable disable dump determine upgrade trace test "
        "strip stream save "
        "retrieve replace process open close match kill interpret execute encrypt decrypt delete "
        "control "
        "concatenate collect clear clean attach archive administer join sort count cut mount "
        "unmount load unload "
        "download upload sign import export inspect measure monitor schedule";
    return fo_words_have_any_case(verbs, s, strcspn(s, " ,"));
}

bool suggestion_of_line(const char *line, size_t len, bool title, char *out, size_t cap) {
    while (len && isspace((unsigned char)line[len - 1])) len--;
    while (len && isspace((unsigned char)*line)) line++, len--;
    const size_t mark = begins(line, len, "Q: ") ? 3 : number_of_heading(line, len);
    line += mark;
    len -= mark;
    char copy[QUESTION_BYTES];
    if (len < 4 || len >= sizeof copy - 40) return false;
    if (line[len - 1] == '?')
        return count_words(line, len) >= 3 && isupper((unsigned char)*line) &&
               put(out, cap, "", line, len - 1);
    memcpy(copy, line, len);
    copy[len] = 0;
    char *dash = strstr(copy, " - ");
    if (title && dash && count_words(dash + 3, strlen(dash + 3)) >= 3) {
        if (!is_plain(dash + 3, strlen(dash + 3)) || isupper((unsigned char)dash[3]) ||
            !is_to_be_done(dash + 3))
            return false;
        return put(out, cap, "How can I ", dash + 3, strlen(dash + 3));
    }
    if (title) return false; /* of a whole document: too wide for one answer */
    size_t words = count_words(copy, len);
    if (!is_plain(copy, len) || !isupper((unsigned char)*copy) || words > 6) return false;
    if (copy[len - 1] == ',' || begins(copy, len, "Dear ") || begins(copy, len, "Best "))
        return false; /* of a letter */
    if (begins(copy, len, "How to ")) return put(out, cap, "How do I ", copy + 7, len - 7);
    if (words < 2 || is_all_capitals(copy)) return false;
    lower_first(copy);
    return put(out, cap, "What is said about ", copy, len);
}

/* ---- of a sentence -------------------------------------------------------------------------- */

static bool is_participle(const char *s, size_t n) {
    static const char *const strong[] = {"kept",    "held",  "made", "sent",  "given",
                                         "taken",   "found", "done", "paid",  "built",
                                         "written", "shown", "sold", "bought"};
    for (size_t i = 0; i < sizeof strong / sizeof *strong; i++)
        if (strlen(strong[i]) == n && !strncmp(s, strong[i], n)) return true;
    return n > 4 && !strncmp(s + n - 2, "ed", 2);
}

/* What the words behind a participle tell: NULL, nothing that one would ask for so. */
static const char *asked_for(const char *s) {
    static const char *const places[] = {"in ",     "at ",   "on ",     "above ",  "below ",
                                         "behind ", "near ", "beside ", "outside "};
    if (!strncmp(s, "every ", 6)) return "How often ";
    if (!strncmp(s, "when ", 5) || !strncmp(s, "before ", 7) || !strncmp(s, "after ", 6))
        return "When ";
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        size_t n = strlen(places[i]);
        if (strncmp(s, places[i], n)) continue;
        if (isupper((unsigned char)s[n])) return NULL; /* in March, in Bath */
        return isdigit((unsigned char)s[n]) ? "When " : "Where ";
    }
    return NULL;
}

/* "The pump is serviced every 400 hours": how often is the pump serviced? */
static bool of_passive(char *s, char *out, size_t cap) {
    if (strncmp(s, "The ", 4)) return false;
    char *verb = strstr(s, " is "), *are = strstr(s, " are ");
    if (are && (!verb || are < verb)) verb = are;
    if (!verb || verb < s + 5) return false;
    size_t subject = (size_t)(verb - s);
    const char *be = verb == are ? "are" : "is", *participle = verb + 2 + strlen(be);
    size_t n = strcspn(participle, " ");
    if (!participle[n] || !is_participle(participle, n) || !is_plain(s, subject) ||
        count_words(s, subject) > 6)
        return false;
    const char *word = asked_for(participle + n + 1);
    if (!word || memmem(s, subject, "ing ", 4)) return false; /* "the question being asked" */
    s[0] = 't';
    int k = snprintf(out, cap, "%s%s %.*s %.*s?", word, be, (int)subject, s, (int)n, participle);
    return k > 0 && (size_t)k < cap;
}

/* Is what a condition begins with named elsewhere? "If it is ten days late"; rain needs no name. */
static bool is_of_another(const char *subject) {
    const size_t n = strcspn(subject, " "), verb = n + (subject[n] == ' ');
    const char *next = subject + verb;
    return fo_words_have_any_case("it they he she this that these those", subject, n) &&
           !fo_words_have_any_case("rains snows freezes thunders storms", next,
                                   strcspn(next, " ,"));
}

bool suggestion_of_sentence(const char *sentence, size_t len, char *out, size_t cap) {
    char s[QUESTION_BYTES];
    if (len < 12 || len >= sizeof s) return false;
    for (size_t i = 0; i < len; i++) s[i] = sentence[i] == '\n' ? ' ' : sentence[i];
    s[len] = 0;
    if (!strncmp(s, "When ", 5) || !strncmp(s, "If ", 3)) {
        size_t n = strcspn(s, ",");
        size_t words = count_words(s, n);
        if (!s[n] || words < 4 || words > 14 || !is_plain(s, n)) return false;
        if (is_of_another(strchr(s, ' ') + 1)) return false;
        s[0] = (char)tolower(s[0]);
        return put(out, cap, "What happens ", s, n);
    }
    return of_passive(s, out, cap);
}

/* ---- of a row -------------------------------------------------------------------------------- */

/* A noun in the singular, as far as form tells: "Price", "Phone number". */
static bool names_one(const char *s, size_t n) {
    char lower[24];
    if (n < 4 || n >= sizeof lower || count_words(s, n) > 2 || !is_plain(s, n)) return false;
    for (size_t i = 0; i <= n; i++) lower[i] = i < n ? (char)tolower((unsigned char)s[i]) : 0;
    const size_t first =
        strcspn(lower, " "); /* "Per month", "Lent to" and "In stock" are no nouns */
    const size_t last = first < n ? first + 1 : 0;
    static const char relations[] =
        "per in on at for with by from to of after before under over as since until";
    return lower[n - 1] != 's' && !is_participle(lower, first) &&
           !fo_words_have(relations, lower, first) &&
           !fo_words_have(relations, lower + last, n - last) &&
           !fo_words_have(
               "what when where which whom why how day days name year other remark note comment",
               lower, n);
}

bool suggestion_of_row(const char *row, size_t len, char *out, size_t cap) {
    table_pair first, p;
    size_t at = 0;
    if (!table_row_is_record(row, len) || !table_row_pair(row, len, &at, &first)) return false;
    if (!first.n_name || first.n_value < 3 || first.n_value > 40 ||
        !is_plain(first.value, first.n_value) || count_words(first.value, first.n_value) > 4)
        return false;
    while (table_row_pair(row, len, &at, &p)) {
        if (!names_one(p.name, p.n_name)) continue;
        char name[24];
        memcpy(name, p.name, p.n_name);
        name[p.n_name] = 0;
        lower_first(name);
        const char *article = isupper((unsigned char)*first.value) ? "" : "the ";
        const int n = snprintf(out, cap, "What is the %s of %s%.*s?", name, article,
                               (int)first.n_value, first.value);
        return n > 0 && (size_t)n < cap;
    }
    return false;
}

/* ---- of a document -------------------------------------------------------------------------- */

static int add_sentences(candidates *c, const char *text, size_t len, fo_err *err) {
    size_t made = 0;
    int rc = FO_OK;
    for (size_t at = 0; at < len && !rc && made < PER_DOCUMENT;) {
        size_t end = at;
        while (end < len && text[end] != '.' && text[end] != '!' && text[end] != ':' &&
               !(text[end] == '\n' && end + 1 < len && text[end + 1] == '\n'))
            end++;
        char question[QUESTION_BYTES];
        if (suggestion_of_sentence(text + at, end - at, question, sizeof question)) {
            rc = add(c, question, err);
            made++;
        }
        at = end + 1;
        while (at < len && isspace((unsigned char)text[at])) at++;
    }
    return rc;
}

/* A line alone between empty ones is taken for a heading. */
static int add_lines(candidates *c, const char *text, size_t len, fo_err *err) {
    size_t made = 0;
    int rc = FO_OK;
    bool blank_before = false, rows = false; /* the first line is the title */
    for (size_t at = 0; at < len && !rc && made < PER_DOCUMENT;) {
        const char *nl = memchr(text + at, '\n', len - at);
        size_t end = nl ? (size_t)(nl - text) : len;
        bool alone = blank_before && end + 1 < len && text[end + 1] == '\n';
        bool asks = end > at && text[end - 1] == '?';
        char question[QUESTION_BYTES];
        const bool row = suggestion_of_row(text + at, end - at, question, sizeof question);
        if ((row && !rows) ||
            (!row && end - at < QUESTION_BYTES && (alone || asks) &&
             suggestion_of_line(text + at, end - at, false, question, sizeof question))) {
            rc = add(c, question, err);
            made++;
            rows |= row;
        }
        blank_before = end == at;
        at = end + 1;
    }
    return rc;
}

static bool is_time_left(const suggestion_request *q, double began) {
    return fo_now_ms() - began <= q->budget_ms;
}

static int add_document(service *s, const suggestion_request *q, const char *id, candidates *c,
                        fo_err *err) {
    store_document d = {0};
    fo_err why = {0};
    char question[QUESTION_BYTES];
    c->document++;
    int rc = catalog_get_document(service_catalog(s), q->tenant, q->collection, id, q->sees, true,
                                  &d, &why);
    if (rc == FO_ENOMEM) return fo_no_memory(err);
    if (rc) return FO_OK; /* not seen, damaged, or gone meanwhile */
    if (d.title && suggestion_of_line(d.title, strlen(d.title), true, question, sizeof question))
        rc = add(c, question, err);
    size_t len = d.text_bytes < TEXT_BYTES ? d.text_bytes : TEXT_BYTES;
    if (!rc && d.text) rc = add_sentences(c, d.text, len, err);
    if (!rc && d.text && c->n < 2 * LOOKED_AT) rc = add_lines(c, d.text, len, err);
    store_document_deinit(&d);
    return rc;
}

/* Of documents from all over, within the time and READ_BYTES: one that is longer than what is left of these is passed over,
 * since a text is read whole to prove that it is the one that was ingested. */
static int add_documents(service *s, const suggestion_request *q, double began, candidates *c,
                         fo_err *err) {
    store_document *docs = NULL;
    size_t n = 0;
    size_t left = READ_BYTES;
    bool more;
    int rc = catalog_list_documents(service_catalog(s), q->tenant, q->collection, NULL, DOCUMENTS,
                                    &docs, &n, &more, err);
    size_t step = n > LOOKED_AT ? n / LOOKED_AT : 1; /* from all over, not from one folder */
    for (size_t i = 0; i < n && !rc && is_time_left(q, began); i += step) {
        if (q->cancel && atomic_load(q->cancel)) rc = fo_fail(err, FO_ECANCELLED, "cancelled");
        if (rc || docs[i].damaged || docs[i].text_bytes > left) continue;
        left -= docs[i].text_bytes;
        rc = add_document(s, q, docs[i].id, c, err);
    }
    for (size_t i = 0; i < n; i++) store_document_deinit(&docs[i]);
    free(docs);
    return rc;
}

static int add_praised(service *s, const suggestion_request *q, candidates *c, fo_err *err) {
    store_feedback *list = NULL;
    size_t n = 0;
    conversation_owner of = {q->tenant, q->owner};
    int rc = service_list_feedback(s, of, q->collection, 0, 20, &list, &n, err);
    if (rc == FO_EUNSUPPORTED) return FO_OK;
    for (size_t i = 0, taken = 0; i < n && !rc; i++) {
        if (list[i].rating > 0 && taken < q->limit / 2 && strlen(list[i].query) < QUESTION_BYTES) {
            rc = add(c, list[i].query, err);
            taken++;
        }
    }
    for (size_t i = 0; i < n; i++) store_feedback_deinit(&list[i]);
    free(list);
    return rc;
}

/* ---- what the service says to them ------------------------------------------------------------ */

static int try(service *s, const suggestion_request *q, const char *question, double *support,
               fo_err *err) {
    query_request ask = {.tenant = q->tenant,
                         .collection = q->collection,
                         .query = question,
                         .sees = q->sees,
                         .search = {.alpha = -1},
                         .generate = true,
                         .strict = true,
                         .short_answer = true, /* as the page asks */
                         .answer_by = ANSWER_BY_EXTRACTION,
                         .cancel = q->cancel,
                         .timeout_ms = q->budget_ms,
                         .background = true};
    query_result r = {0};
    int rc = service_query(s, &ask, NULL, &r, err);
    *support = !rc && r.status == QUERY_ANSWERED ? r.support : 0;
    query_result_deinit(&r);
    return rc;
}

/* No question that was tried answers for the others: a damaged document passes on to the next one; where the time is over,
 * or vectors are of another model, so that no question is answered, the rest is left out. */
static int go_on(int rc, const fo_err *why, bool *enough, fo_err *err) {
    *enough = rc == FO_ETIMEOUT || rc == FO_EMISMATCH;
    if (!rc || rc == FO_ECORRUPT || *enough) return FO_OK;
    if (err) *err = *why;
    return rc;
}

int service_suggest(service *s, const suggestion_request *q, suggestion **out, size_t *n,
                    fo_err *err) {
    candidates c = {0};
    double began = fo_now_ms();
    *n = 0;
    int rc = add_praised(s, q, &c, err);
    if (!rc) rc = add_documents(s, q, began, &c, err);
    suggestion *list = rc ? NULL : calloc(q->limit ? q->limit : 1, sizeof *list);
    if (!rc && !list) rc = fo_no_memory(err);
    bool gave[CANDIDATES + 1] = {false};
    bool enough = false;
    for (question_made *made; !rc && !enough && *n < q->limit && (made = next_of(&c, gave));) {
        if (!is_time_left(q, began)) break;
        double support;
        fo_err why = {0};
        rc = go_on(try(s, q, made->text, &support, &why), &why, &enough, err);
        if (rc || support < SUGGESTION_SUPPORT) continue;
        list[(*n)++] = (suggestion){made->text, support};
        made->text = NULL;
        gave[made->document] = made->document > 0;
    }
    for (size_t i = 0; i < c.n; i++) free(c.list[i].text);
    if (!rc) {
        *out = list;
        return FO_OK;
    }
    for (size_t i = 0; i < *n; i++) free(list[i].query);
    free(list);
    *n = 0;
    return rc;
}
