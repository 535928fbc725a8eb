#include "retrieval/question/question.h"

#include <stdlib.h>
#include <string.h>

#include "index/sparse/language.h"
#include "kernels/words.h"
#include "retrieval/question/acronyms.h"
#include "retrieval/question/question_words.h"
#include "retrieval/question/small_names.h"
#include "retrieval/text/people_kinds.h"
#include "retrieval/text/rivals.h"

static bool listed(const char *word, const char *list) {
    return fo_words_have(list, word, strlen(word));
}

/* The lower-cased ASCII surface of word i, "" past the end or where it is long. */
static const char *surface(const fact_text *t, size_t i, char out[24]) {
    out[0] = 0;
    if (i >= t->n_words) return out;
    const fact_word *w = &t->words[i];
    size_t n = w->end - w->start;
    if (n >= 24) return out;
    for (size_t k = 0; k < n; k++) {
        char c = t->text[w->start + k];
        out[k] = c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
    }
    out[n] = 0;
    return out;
}

static const char *const times = "year years date century decade month months day days time era "
                                 "period season";
static const char *const amounts = "percentage percent number amount population age proportion "
                                   "fraction rate size temperature speed price length height "
                                   "distance area weight cost";
static const char *const places = "country city state place location region continent island "
                                  "nation town county river street province countries cities "
                                  "states";
static const char *const named =
    "person man woman king queen president author artist actor actress singer leader emperor "
    "philosopher scientist player company team group organization name band university school "
    "album song book film show movie language war battle";
static const char *const measures = "many much long old far large tall big high often fast wide "
                                    "deep heavy few late early";

/* "कौन सी", "कौन-से": which, and not who. */
static bool is_which(const fact_text *t, size_t i) {
    if (i + 1 >= t->n_words) return false;
    const fact_word *w = &t->words[i], *next = w + 1;
    return fo_words_have("कौन", t->text + w->start, w->end - w->start) &&
           fo_words_have("सा सी से", t->text + next->start, next->end - next->start);
}

/* Of the word behind that. */
static enum question_kind hindi_which_kind(const fact_text *t, size_t i) {
    if (i >= t->n_words) return ASK_OTHER;
    const fact_word *w = &t->words[i];
    return fo_words_have("दिन तारीख तारीख़ समय वक्त वक़्त साल वर्ष महीने", t->text + w->start,
                         w->end - w->start)
               ? ASK_TIME
               : ASK_OTHER;
}

/* "من كتب ...": who; elsewhere, and before what asks itself, "من" is "from". */
static bool is_who_in_arabic(const fact_text *t) {
    static const char from[] = "أين اين وين ماذا أي اي متى متي";
    if (t->n_words < 2 || !language_is(t->language, "arabic")) return false;
    const fact_word *w = &t->words[0], *next = w + 1;
    return fo_words_have("من ومن", t->text + w->start, w->end - w->start) &&
           !fo_words_have(from, t->text + next->start, next->end - next->start);
}

/* The same of a question in another language. */
static enum question_kind foreign_kind_of(const fact_text *t) {
    if (is_who_in_arabic(t)) return ASK_PERSON;
    for (size_t i = 0; i < t->n_words; i++) {
        const fact_word *w = &t->words[i];
        int asks = question_word_of(t->language, t->text + w->start, w->end - w->start);
        if (asks == ASK_PERSON && is_which(t, i)) return hindi_which_kind(t, i + 2);
        if (asks >= ASK_OTHER) return (enum question_kind)asks;
        if (asks != ASKS_WHICH && asks != ASKS_HOW) continue;
        if (hindi_which_kind(t, i + 1) == ASK_TIME) return ASK_TIME;
        for (size_t k = 1; k <= 2 && i + k < t->n_words; k++) {
            w = &t->words[i + k];
            int next = question_word_of(t->language, t->text + w->start, w->end - w->start);
            if (asks == ASKS_WHICH && next >= ASK_OTHER) return (enum question_kind)next;
            if (asks == ASKS_HOW && k == 1 && next == ASKS_MEASURE) return ASK_NUMBER;
        }
        return ASK_OTHER;
    }
    return (enum question_kind)question_kind_within(t->language, t->text, t->len);
}

static enum question_kind kind_of(const fact_text *t) {
    if (t->language >= 0) return foreign_kind_of(t);
    char w[24], next[24];
    for (size_t i = 0; i < t->n_words; i++) {
        surface(t, i, w);
        if (listed(w, "who whom whose")) return ASK_PERSON;
        if (listed(w, "when")) return ASK_TIME;
        if (listed(w, "where")) return ASK_PLACE;
        if (listed(w, "why")) return ASK_REASON;
        if (listed(w, "how"))
            return listed(surface(t, i + 1, next), measures) ? ASK_NUMBER : ASK_OTHER;
        if (!listed(w, "what which")) continue;
        for (size_t k = 1; k <= 2; k++) {
            surface(t, i + k, next);
            if (listed(next, times)) return ASK_TIME;
            if (listed(next, amounts)) return ASK_NUMBER;
            if (listed(next, places)) return ASK_PLACE;
            if (listed(next, named)) return ASK_NAME;
        }
        if (listed(surface(t, i + 1, next), "is was are were") &&
            listed(surface(t, i + 2, next), "the") && listed(surface(t, i + 3, next), "name"))
            return ASK_NAME;
        return ASK_OTHER;
    }
    return ASK_OTHER;
}

enum question_kind question_kind_of(const fact_text *t, size_t w0, size_t w1) {
    fact_text some = *t;
    if (w1 > w0) some.words += w0; /* a text without words has none that could be counted from */
    some.n_words = w1 - w0;
    return kind_of(&some);
}

static const char *const meanings =
    "mean means meant meaning meanings define defined definition explain";

/* "What is a chunk?", "what does PSF mean?", "define recharge". */
static bool asks_for_definition(const fact_text *t) {
    char w[24], next[24];
    surface(t, 0, w);
    surface(t, 1, next);
    if (listed(w, "define explain meaning definition")) return true;
    if (!listed(w, "what")) return false;
    if (listed(next, "do does did"))
        for (size_t i = 2; i < t->n_words; i++)
            if (listed(surface(t, i, w), "mean")) return true;
    return listed(next, "is are");
}

/* "How do I ...", "how is ... done", "what should I do when ...", "which steps ...". */
static bool asks_procedure(const fact_text *t) {
    char w[24], next[24];
    for (size_t i = 0; i < t->n_words; i++) {
        surface(t, i, w);
        if (listed(w, "how") &&
            listed(surface(t, i + 1, next), "do does to can could should must is are shall would"))
            return true;
        if (listed(w, "step steps procedure option options flag switch")) return true;
        if (listed(w, "command commands") && listed(surface(t, i + 1, next), "to")) return true;
        if (listed(w, "which what") && listed(surface(t, i + 1, next), "command commands"))
            return true;
        if (!listed(w, "what")) continue;
        if (listed(surface(t, i + 1, next), "to")) return true;
        bool must = listed(next, "do does should must shall can has have is needs");
        for (size_t k = 2; must && k <= 6; k++)
            if (listed(surface(t, i + k, next), "do done")) return true;
    }
    return false;
}

/* "List all files that ...", "make it stop": no question, but what somebody wants to be done. English. */
static bool says_a_task(const fact_text *t) {
    char w[24];
    return t->n_words > 2 && t->language < 0 && !memchr(t->text, '?', t->len) &&
           listed(surface(t, 0, w),
                  "add append apply attach block calculate cancel change check "
                  "clear clone combine compare compile compress compute "
                  "concatenate connect convert copy count create cut decode "
                  "decompress decrypt delete detach detect determine disable "
                  "disconnect display download dump edit enable encode encrypt "
                  "execute expand export extract fetch filter find follow force format "
                  "free freeze generate get give hide ignore import insert "
                  "inspect install join keep kill limit list lock log make "
                  "measure merge monitor mount move number open order pack page "
                  "pause pin pipe prevent print protect prune put query read "
                  "reboot recover redirect reload remove rename repeat replace "
                  "reset resize restart restore restrict resume reverse revert "
                  "rotate round run save scan schedule search see send set "
                  "shorten show shrink shuffle shut skip sort split squeeze start "
                  "stop strip suspend swap switch sync synchronize take terminate "
                  "test trace transfer translate trim truncate turn undo "
                  "uninstall unlock unmount unpack unset unzip update upgrade "
                  "upload verify view wait watch wipe wrap write zip");
}

bool question_only_asks(const fact_text *t, size_t i) {
    const fact_word *w = &t->words[i];
    const char *word = t->text + w->start;
    const size_t n = w->end - w->start;
    if (w->flags & WORD_ASKS) return true;
    if (question_word_is_light(t->language, t->text, t->len, w->start, w->end)) return true;
    for (size_t back = 1; t->language >= 0 && back <= 2 && back <= i; back++) {
        const fact_word *x = w - back;
        const int asks = question_word_of(t->language, t->text + x->start, x->end - x->start);
        if (asks == ASKS_HOW && back == 1 &&
            fo_words_have_any_case(
                "viel viele vielen lange lang oft schnell teuer spät früh долго часто", word, n))
            return true;
        if (asks == ASK_NUMBER &&
            fo_words_have_any_case("temps tiempo tempo وقت وقتا وقتًا الوقت عدد पैसे रुपये रुपए", word,
                                   n))
            return true;
    }
    return false;
}

static int by_idf_falling(const void *a, const void *b) {
    double x = ((const question_term *)a)->idf, y = ((const question_term *)b)->idf;
    return x < y ? 1 : x > y ? -1 : 0;
}

static int by_id(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void index_terms(question *q) {
    memset(q->slots, 0xFF, sizeof q->slots);
    for (size_t i = 0; i < q->n_terms; i++) {
        uint64_t h = q->terms[i].id;
        while (q->slots[h % QUESTION_SLOTS] >= 0) h++;
        q->slots[h % QUESTION_SLOTS] = (int16_t)i;
    }
}

/* "Wie hoch ist der Beitrag?": how much, and no height. */
static bool asks_for_a_sum(const question *q, size_t i) {
    return i > 0 && q->demands.amount == AMOUNT_MONEY && fact_word_in(&q->text, i, "hoch") &&
           fact_word_in(&q->text, i - 1, "wie");
}

/* Distinct content words become terms, the rarest first. */
static int collect_terms(question *q, const lexicon *lx, bool stop_words_too, fo_err *err) {
    const fact_text *t = &q->text;
    question_term *all = calloc(t->n_words + 1, sizeof *all);
    if (!all) return fo_fail(err, FO_ENOMEM, "out of memory for the question");
    size_t n = 0;
    const fact_word *whole = NULL; /* of which the words that are parts are */
    for (size_t i = 0; i < t->n_words && n < 4 * QUESTION_MAX_TERMS; i++) {
        const fact_word *x = &t->words[i];
        if (!(x->flags & WORD_PART)) whole = x;
        if (x != whole && whole &&
            acronym_is_plural(t->text + whole->start, whole->end - whole->start))
            continue;
        if (!stop_words_too && ((x->flags & WORD_STOP) || question_only_asks(t, i))) continue;
        if (!stop_words_too && asks_for_a_sum(q, i)) continue;
        char w[24];
        if (q->defines && !stop_words_too && listed(surface(t, i, w), meanings)) continue;
        size_t k = 0;
        while (k < n && all[k].id != x->id) k++;
        if (k == n) all[n++] = (question_term){.id = x->id, .idf = fact_word_idf(lx, t, x)};
        all[k].code |= exact_names_is_code(t->text + x->start, x->end - x->start);
        all[k].small_name |= small_names_is_one(t, i, lx);
        all[k].name |= (x->flags & WORD_DIGIT) || fact_is_named(t, i) || all[k].small_name;
    }
    qsort(all, n, sizeof *all, by_idf_falling);
    q->n_terms = n < QUESTION_MAX_TERMS ? n : QUESTION_MAX_TERMS;
    q->mass = 0;
    for (size_t i = 0; i < q->n_terms; i++) q->mass += all[i].idf;
    double sum = 0;
    for (size_t i = 0; i < q->n_terms; i++) {
        all[i].rare = sum <= q->mass / 2;
        sum += all[i].idf;
        q->terms[i] = all[i];
    }
    free(all);
    index_terms(q);
    return FO_OK;
}

/* However long the question is, there are no more of them than terms. */
static void collect_words(question *q) {
    bool known[QUESTION_MAX_TERMS] = {false};
    for (size_t i = 0; i < q->text.n_words && q->n_words < q->n_terms; i++) {
        const fact_word *w = &q->text.words[i];
        if (!fact_is_content(w) || (w->flags & WORD_DIGIT)) continue;
        const int k = question_term_of(q, w->id);
        if (k < 0 || known[k]) continue;
        known[k] = true;
        q->words[q->n_words++] = (uint32_t)i;
    }
}

static void collect_pairs(question *q) {
    int before = -1;
    for (size_t i = 0; i < q->text.n_words && q->n_pairs < QUESTION_MAX_TERMS; i++) {
        const fact_word *w = &q->text.words[i];
        if (w->flags & WORD_PART) continue;
        int t = question_term_of(q, w->id);
        if (t < 0) continue;
        if (before >= 0 && before != t) {
            q->pairs[q->n_pairs][0] = (uint8_t)before;
            q->pairs[q->n_pairs++][1] = (uint8_t)t;
        }
        before = t;
    }
}

int question_read(question *q, const lexicon *lx, const char *text, size_t len, fo_err *err) {
    int rc = fact_text_read(&q->text, lx->analyzer, text, len, err);
    if (rc) return rc;
    q->kind = kind_of(&q->text);
    q->defines = q->kind == ASK_OTHER && asks_for_definition(&q->text);
    q->procedure = asks_procedure(&q->text);
    q->task = says_a_task(&q->text);
    q->demands = demands_read(text, len, q->text.language);
    const bool price = q->demands.amount == AMOUNT_MONEY || q->demands.amount == AMOUNT_EXPENSE;
    if (price && q->demands.language < 0 && !q->demands.whether)
        q->people = people_kinds_in(text, len);
    rc = collect_terms(q, lx, false, err);
    if (!rc && q->n_terms == 0) rc = collect_terms(q, lx, true, err);
    if (rc) return rc;
    collect_words(q);
    collect_pairs(q);
    japanese_phrases_read(&q->phrases, q->text.language, text, len);
    exact_names_read(&q->exact, text, len);
    q->asks = question_asks_read(q);
    japanese_verbs_read(&q->verbs, q);
    /* "White only" answers whether blue is allowed. */
    q->rivals = q->demands.whether ? 0 : rivals_in(text, len);
    q->ids = malloc((q->text.n_words + 1) * sizeof *q->ids);
    if (!q->ids) return fo_fail(err, FO_ENOMEM, "out of memory for the question");
    for (size_t i = 0; i < q->text.n_words; i++) q->ids[i] = q->text.words[i].id;
    q->n_ids = q->text.n_words;
    qsort(q->ids, q->n_ids, sizeof *q->ids, by_id);
    return FO_OK;
}

void question_deinit(question *q) {
    fact_text_deinit(&q->text);
    free(q->ids);
    q->ids = NULL;
}

bool question_names_thing(const fact_text *t, size_t w) {
    if (!fact_is_content(&t->words[w])) return false;
    while (w > 0 && !(t->words[w].flags & WORD_STOP)) w--;
    return fact_word_in(
        t, w,
        "a an the my your his her its our their this that these those any some no each every all "
        "much many more which what another other of from with without for in on at by via");
}

bool question_says(const question *q, uint64_t id) {
    return bsearch(&id, q->ids, q->n_ids, sizeof id, by_id) != NULL;
}

double question_share(const question *q, uint64_t set) {
    double sum = 0;
    for (; set; set &= set - 1) sum += q->terms[__builtin_ctzll(set)].idf;
    return q->mass > 0 ? sum / q->mass : 0;
}
