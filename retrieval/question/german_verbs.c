#include "retrieval/question/german_verbs.h"

#include <string.h>

#include "kernels/words.h"

enum {
    SHORTEST = 3,     /* bytes of what all forms of a verb share */
    LONGEST = 48,     /* ... of a stem that is looked at */
    CLAUSE_WORDS = 14 /* behind a verb in which what is parted from it stands */
};

/* They stand before a verb or, in a sentence, behind it; as stems. */
static const char *const particles[] = {
    "ab",    "an", "auf", "aus", "bei",    "ein",    "her",      "hin", "los",  "mit", "nach",
    "statt", "um", "vor", "weg", "weiter", "zuruck", "zusammen", "zu",  "fest", "frei"};
enum { N_PARTICLES = sizeof particles / sizeof *particles };

/* What the forms of a verb are made of: "abgegeben" is ab + geb, "öffnet" offn. */
typedef struct verb {
    const char *particle; /* "": none, or none that is known */
    char root[LONGEST];
    size_t n;
} verb;

static bool begins(const char *s, size_t n, const char *with) {
    const size_t k = strlen(with);
    return n >= k + SHORTEST && !memcmp(s, with, k);
}

/* Endings of the present, the past and the participle, which the stemmer leaves: "zahlt", "zahlte", "öffnet". */
static size_t without_ending(const char *s, size_t n) {
    if (n > SHORTEST + 1 && s[n - 1] == 't' && s[n - 2] == 'e') return n - 2;
    return n > SHORTEST && s[n - 1] == 't' ? n - 1 : n;
}

static void take_root(verb *v, const char *s, size_t n) {
    if (n >= LONGEST) n = 0;
    memcpy(v->root, s, n);
    v->n = n;
}

/* The verb of a stem whose first k bytes are a particle; inflected: endings are cut off. */
static verb verb_of(const char *stem, size_t n, const char *particle, bool inflected) {
    verb v = {.particle = particle};
    const char *s = stem + strlen(particle);
    n -= strlen(particle);
    if (inflected && particle[0] && begins(s, n, "zu")) s += 2, n -= 2;
    if (inflected && begins(s, n, "ge")) s += 2, n -= 2;
    take_root(&v, s, inflected ? without_ending(s, n) : n);
    return v;
}

/* "Kündigung", "Reinigungen": the stemmer takes the "ig" as well, which it leaves "kündigen". */
static bool ends_in_igung(const fact_text *t, const fact_word *w) {
    const char *s = t->text + w->start;
    size_t n = w->end - w->start;
    if (n > 2 && !memcmp(s + n - 2, "en", 2)) n -= 2;
    return n > 5 && !memcmp(s + n - 5, "igung", 5);
}

/* All readings of a word; how many. A noun has its stem alone: "Zeit" is no form of "zeigen". */
enum { READINGS = 7 };
static size_t readings(const fact_text *t, const fact_word *w, verb v[READINGS]) {
    const char *stem = t->stems.data + w->stem_at;
    const size_t n = w->stem_len;
    const bool noun = (w->flags & WORD_CAPITAL) && !(w->flags & WORD_INITIAL);
    size_t k = 0;
    v[k++] = verb_of(stem, n, "", false);
    if (ends_in_igung(t, w) && n + 2 < LONGEST) {
        v[k] = v[0];
        memcpy(v[k].root + n, "ig", 2);
        v[k++].n = n + 2;
    }
    if (!noun) {
        v[k] = v[0];
        v[k].n = without_ending(stem, n < LONGEST ? n : 0);
        if (v[k].n != v[0].n) k++;
        v[k++] = verb_of(stem, n, "", true);
    }
    for (size_t i = 0; i < N_PARTICLES && k + 2 <= READINGS; i++) {
        if (!begins(stem, n, particles[i])) continue;
        v[k++] = verb_of(stem, n, particles[i], false);
        if (!noun) v[k++] = verb_of(stem, n, particles[i], true);
        break;
    }
    return k;
}

/* Does the particle stand behind the word, in its clause? */
static bool stands_behind(const fact_text *t, const fact_word *w, const char *particle) {
    const fact_word *end = t->words + t->n_words;
    for (const fact_word *x = w + 1; x < end && x - w <= CLAUSE_WORDS; x++) {
        if (x->flags & WORD_INITIAL) return false;
        if (x->stem_len == strlen(particle) &&
            !memcmp(t->stems.data + x->stem_at, particle, x->stem_len))
            return true;
    }
    return false;
}

/* "Bringen ... mit" is "mitbringen", and not what is brought. */
static bool has_particle(const fact_text *t, const fact_word *w, const verb *v, const char *of) {
    if (!strcmp(v->particle, of)) return true;
    return !v->particle[0] && of[0] && stands_behind(t, w, of);
}

bool german_verbs_are_one(const fact_text *t, const fact_word *w, const fact_text *asked,
                          const fact_word *v) {
    verb a[READINGS], b[READINGS];
    if ((v->flags | w->flags) & (WORD_STOP | WORD_DIGIT | WORD_PART)) return false;
    const size_t n = readings(t, w, a), m = readings(asked, v, b);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < m; k++) {
            if (a[i].n < SHORTEST || a[i].n != b[k].n || memcmp(a[i].root, b[k].root, a[i].n))
                continue;
            if (has_particle(t, w, &a[i], b[k].particle) ||
                has_particle(asked, v, &b[k], a[i].particle))
                return true;
        }
    return false;
}

size_t german_verb_joined(const fact_text *t, const fact_word *w, char stem[GERMAN_VERB_JOINED]) {
    const bool noun = (w->flags & WORD_CAPITAL) && !(w->flags & WORD_INITIAL);
    if (noun || (w->flags & (WORD_STOP | WORD_DIGIT | WORD_PART))) return 0;
    for (size_t i = 0; i < N_PARTICLES; i++) {
        const size_t n = strlen(particles[i]);
        if (n + w->stem_len > GERMAN_VERB_JOINED || !stands_behind(t, w, particles[i])) continue;
        memcpy(stem, particles[i], n);
        memcpy(stem + n, t->stems.data + w->stem_at, w->stem_len);
        return n + w->stem_len;
    }
    return 0;
}
