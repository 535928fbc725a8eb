#include "retrieval/cache/semantic_hits.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/vec.h"
#include "kernels/words.h"
#include "retrieval/text/facts.h"

/* ---- marks --------------------------------------------------------------------------------- */

enum { KIND_OTHER, KIND_WHO, KIND_WHEN, KIND_WHERE, KIND_WHY, KIND_HOW_MANY, KIND_HOW };

struct question_marks {
    int kind, negations;
    uint32_t contrasts; /* bit 2i: one side of pair i, 2i + 1: the other */
    uint64_t *names, *words, *text;
    size_t n_names, n_words,
        n_text;           /* names in order of the text; words sorted, each once; as they stand */
    fact_number *numbers; /* sorted by value */
    size_t n_numbers;
};

/* Words that turn a question round: two that stand on different sides of a row ask for different
 * things, however alike they are otherwise. Compared as prefixes of whole words in lower case. */
static const struct {
    const char *one, *other; /* blank-separated */
} contrasts[] = {
    {"first earliest beginning begin began start started starting initial",
     "last final latest end ended ending"},
    {"largest biggest highest most greatest longest tallest maximum best strongest",
     "smallest lowest least shortest minimum worst fewest weakest"},
    {"before prior earlier preceding", "after following later"},
    {"increase increased increases rise rose gain gained grow grew",
     "decrease decreased decreases fall fell lose lost decline declined"},
    {"north northern", "south southern"},
    {"east eastern", "west western"},
    {"win won wins winning defeated beat", "lose lost loses losing"},
    {"male man men boy husband father", "female woman women girl wife mother"},
    {"advantage benefit advantages benefits", "disadvantage drawback disadvantages drawbacks"},
    {"born birth", "died die death dead"},
    {"open opened founded created established", "close closed dissolved destroyed abolished"},
    {"import imported imports", "export exported exports"},
    {"maximum max", "minimum min average mean"},
    {"above over more", "below under less fewer"},
    {"old older oldest", "new newer newest young younger youngest"},
    {"buy bought", "sell sold"},
};
_Static_assert(sizeof contrasts / sizeof *contrasts <= 16, "two bits a pair");

static size_t lower_word(const fact_text *t, const fact_word *w, char out[32]) {
    size_t n = w->end - w->start;
    if (n > 31) n = 31;
    for (size_t i = 0; i < n; i++) {
        char c = t->text[w->start + i];
        out[i] = c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
    }
    out[n] = 0;
    return n;
}

/* By the first question word; "how" by what follows it. */
static int kind_of(const fact_text *t) {
    for (size_t i = 0; i < t->n_words; i++) {
        char word[32], next[32] = "";
        lower_word(t, &t->words[i], word);
        if (i + 1 < t->n_words) lower_word(t, &t->words[i + 1], next);
        if (!strcmp(word, "who") || !strcmp(word, "whom") || !strcmp(word, "whose"))
            return KIND_WHO;
        if (!strcmp(word, "when")) return KIND_WHEN;
        if (!strcmp(word, "where")) return KIND_WHERE;
        if (!strcmp(word, "why")) return KIND_WHY;
        if (!strcmp(word, "how")) {
            if (fo_words_have("many much", next, strlen(next))) return KIND_HOW_MANY;
            return KIND_HOW;
        }
        if (!strcmp(word, "what") || !strcmp(word, "which")) {
            if (fo_words_have("year date day month century time", next, strlen(next)))
                return KIND_WHEN;
            if (fo_words_have("person people man woman", next, strlen(next))) return KIND_WHO;
            if (fo_words_have("country city place state continent", next, strlen(next)))
                return KIND_WHERE;
            if (fo_words_have("number percentage amount", next, strlen(next))) return KIND_HOW_MANY;
            return KIND_OTHER;
        }
    }
    return KIND_OTHER;
}

static int by_id(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static int by_value(const void *a, const void *b) {
    const fact_number *x = a, *y = b;
    int d = (x->value > y->value) - (x->value < y->value);
    return d ? d : x->unit - y->unit;
}

/* Compared by its value, however it is written. */
static bool in_number(const fact_numbers *f, const fact_word *w) {
    for (size_t i = 0; i < f->n; i++)
        if (!f->v[i].weak && w->start >= f->v[i].start && w->end <= f->v[i].end) return true;
    return false;
}

static void read_words(question_marks *m, const fact_text *t, const fact_numbers *numbers) {
    for (size_t i = 0; i < t->n_words; i++) {
        const fact_word *w = &t->words[i];
        char word[32];
        size_t n = lower_word(t, w, word);
        if (w->flags & WORD_NEGATION) m->negations++;
        for (size_t k = 0; k < sizeof contrasts / sizeof *contrasts; k++) {
            if (fo_words_have(contrasts[k].one, word, n)) m->contrasts |= 1u << 2 * k;
            if (fo_words_have(contrasts[k].other, word, n)) m->contrasts |= 2u << 2 * k;
        }
        if (w->flags & WORD_STOP || in_number(numbers, w)) continue;
        bool name = (w->flags & WORD_CAPITAL && !(w->flags & WORD_INITIAL)) ||
                    w->flags & (WORD_DIGIT | WORD_CALENDAR);
        if (name) m->names[m->n_names++] = w->id;
        m->words[m->n_words++] = m->text[m->n_text++] = w->id;
    }
    qsort(m->words, m->n_words, sizeof *m->words, by_id);
    size_t kept = 0;
    for (size_t i = 0; i < m->n_words; i++)
        if (!kept || m->words[kept - 1] != m->words[i]) m->words[kept++] = m->words[i];
    m->n_words = kept;
}

int question_marks_make(question_marks **out, analyzer *a, const char *question, fo_err *err) {
    fact_text t = {0};
    fact_numbers numbers = {0};
    question_marks *m = calloc(1, sizeof *m);
    size_t len = strlen(question);
    int rc = m ? FO_OK : fo_no_memory(err);
    if (!rc) rc = fact_text_read(&t, a, question, len, err);
    if (!rc) rc = fact_numbers_read(&numbers, question, len, err);
    if (!rc) {
        m->names = calloc(t.n_words + 1, sizeof *m->names);
        m->words = calloc(t.n_words + 1, sizeof *m->words);
        m->text = calloc(t.n_words + 1, sizeof *m->text);
        m->numbers = calloc(numbers.n + 1, sizeof *m->numbers);
        if (!m->names || !m->words || !m->text || !m->numbers) rc = fo_no_memory(err);
    }
    if (!rc) {
        m->kind = kind_of(&t);
        read_words(m, &t, &numbers);
        for (size_t i = 0; i < numbers.n; i++)
            if (!numbers.v[i].weak) m->numbers[m->n_numbers++] = numbers.v[i];
        qsort(m->numbers, m->n_numbers, sizeof *m->numbers, by_value);
    }
    fact_text_deinit(&t);
    fact_numbers_deinit(&numbers);
    if (!rc)
        *out = m;
    else
        question_marks_free(m);
    return rc;
}

void question_marks_free(question_marks *m) {
    if (!m) return;
    free(m->names);
    free(m->words);
    free(m->text);
    free(m->numbers);
    free(m);
}

static bool holds(const question_marks *m, uint64_t id) {
    return bsearch(&id, m->words, m->n_words, sizeof id, by_id) != NULL;
}

/* Words of a that b lacks. */
static size_t lacking(const question_marks *a, const question_marks *b) {
    size_t n = 0;
    for (size_t i = 0; i < a->n_words; i++) n += !holds(b, a->words[i]);
    return n;
}

/* Every name of a stands in b, a name there or not (people ask in lower case). */
static bool names_held(const question_marks *a, const question_marks *b) {
    for (size_t i = 0; i < a->n_names; i++)
        if (!holds(b, a->names[i])) return false;
    return true;
}

static bool is_name(const question_marks *m, uint64_t id) {
    for (size_t i = 0; i < m->n_names; i++)
        if (m->names[i] == id) return true;
    return false;
}

/* The next word of m's text from *at on that is a name in either; 0: there is none. */
static uint64_t next_name(const question_marks *m, const question_marks *other, size_t *at) {
    while (*at < m->n_text) {
        const uint64_t id = m->text[(*at)++];
        if (is_name(m, id) || is_name(other, id)) return id;
    }
    return 0;
}

/* What one of them names stands in both in the same order, with a capital there or not: A beat B is neither B beat A
 * nor b beat a. */
static bool same_order(const question_marks *a, const question_marks *b) {
    size_t i = 0, j = 0;
    uint64_t id;
    do {
        id = next_name(a, b, &i);
        if (id != next_name(b, a, &j)) return false;
    } while (id);
    return true;
}

bool question_marks_agree(const question_marks *a, const question_marks *b) {
    if (a->kind != b->kind || a->negations != b->negations || a->n_numbers != b->n_numbers)
        return false;
    if (a->contrasts != b->contrasts) return false;
    for (size_t i = 0; i < a->n_numbers; i++)
        if (!fact_numbers_equal(&a->numbers[i], &b->numbers[i])) return false;
    if (!names_held(a, b) || !names_held(b, a) || !same_order(a, b)) return false;
    return lacking(a, b) + lacking(b, a) <= 1;
}

/* ---- what was answered ----------------------------------------------------------------------- */

typedef struct entry {
    unsigned char group[QUERY_KEY_BYTES], answer_key[QUERY_KEY_BYTES];
    float *vector;
    question_marks *marks; /* NULL: an empty place */
} entry;

struct semantic_hits {
    /* immutable after create */
    size_t capacity, dim;
    double threshold;
    /* guarded by mu */
    pthread_mutex_t mu;
    size_t next; /* place of the oldest */
    entry *entries;
};

int semantic_hits_create(semantic_hits **out, size_t capacity, size_t dim, double threshold,
                         fo_err *err) {
    semantic_hits *h = calloc(1, sizeof *h);
    entry *entries = h ? calloc(capacity, sizeof *entries) : NULL;
    if (!entries) {
        free(h);
        return fo_no_memory(err);
    }
    *h = (semantic_hits){
        .capacity = capacity, .dim = dim, .threshold = threshold, .entries = entries};
    pthread_mutex_init(&h->mu, NULL);
    *out = h;
    return FO_OK;
}

void semantic_hits_free(semantic_hits *h) {
    if (!h) return;
    for (size_t i = 0; i < h->capacity; i++) {
        free(h->entries[i].vector);
        question_marks_free(h->entries[i].marks);
    }
    pthread_mutex_destroy(&h->mu);
    free(h->entries);
    free(h);
}

void semantic_question_free(semantic_question *q) {
    if (!q) return;
    free(q->vector);
    question_marks_free(q->marks);
    free(q);
}

bool semantic_hits_find(semantic_hits *h, const semantic_question *q,
                        unsigned char answer_key[QUERY_KEY_BYTES], double *cosine) {
    double best = -1;
    pthread_mutex_lock(&h->mu);
    for (size_t i = 0; i < h->capacity; i++) {
        const entry *e = &h->entries[i];
        if (!e->marks || memcmp(e->group, q->group, sizeof e->group) != 0) continue;
        double near = (double)vec_get()->dot(e->vector, q->vector, (int)h->dim);
        if (near < h->threshold || near <= best || !question_marks_agree(e->marks, q->marks))
            continue;
        best = near;
        memcpy(answer_key, e->answer_key, QUERY_KEY_BYTES);
    }
    pthread_mutex_unlock(&h->mu);
    *cosine = best;
    return best > 0;
}

void semantic_hits_add(semantic_hits *h, semantic_question *q,
                       const unsigned char answer_key[QUERY_KEY_BYTES]) {
    pthread_mutex_lock(&h->mu);
    size_t at = 0;
    while (at < h->capacity && (!h->entries[at].marks ||
                                memcmp(h->entries[at].answer_key, answer_key, QUERY_KEY_BYTES)))
        at++;
    if (at == h->capacity) {
        at = h->next;
        h->next = (h->next + 1) % h->capacity;
    }
    entry *e = &h->entries[at];
    free(e->vector);
    question_marks_free(e->marks);
    memcpy(e->group, q->group, sizeof e->group);
    memcpy(e->answer_key, answer_key, QUERY_KEY_BYTES);
    e->vector = q->vector;
    e->marks = q->marks;
    pthread_mutex_unlock(&h->mu);
    q->vector = NULL;
    q->marks = NULL;
}
