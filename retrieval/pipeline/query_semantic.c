/* A question asked in other words: what semantic_hits.h needs to know of a query, and the kept
 * answer that it points at. Only answers of the very epoch are given: nothing is looked for again
 * that could tell whether an older one still holds. */
#include <stdlib.h>
#include <string.h>

#include "retrieval/question/relative_days.h"
#include "retrieval/pipeline/query_memory_internal.h"

static semantic_question *read_question(query_lookup *t) {
    service *s = t->m->s;
    semantic_question *q = calloc(1, sizeof *q);
    query_lookup group = *t;
    if (!q || !query_keys_make(&group, t->c, t->alpha, "", "")) return free(q), NULL;
    memcpy(q->group, group.answer_key, sizeof q->group);
    const char *text = t->q->query;
    size_t len = strlen(text);
    q->vector = malloc(embedder_dim(s->embedder) * sizeof *q->vector);
    analyzer *words = NULL;
    bool ok = q->vector &&
              embedder_embed(s->embedder, EMBED_QUERY, &text, &len, 1, q->vector, NULL) == FO_OK &&
              collection_take_analyzer(s, t->c, &words, NULL) == FO_OK &&
              question_marks_make(&q->marks, words, text, NULL) == FO_OK;
    collection_give_analyzer(s, t->c, words);
    if (ok) return q;
    semantic_question_free(q);
    return NULL;
}

cached_answer *query_semantic_find(query_lookup *t, double *cosine) {
    query_memory *m = t->m;
    /* What was said before changes what a question means; filters and parameters are in the key. */
    if (!m->semantic || !t->q->generate || !t->q->query || t->q->n_messages || t->q->background ||
        t->c->foreign_vectors ||
        relative_days_in(t->q->query)) /* today's answer is not tomorrow's */
        return NULL;
    t->semantic = read_question(t);
    unsigned char key[QUERY_KEY_BYTES];
    if (!t->semantic || !semantic_hits_find(m->semantic, t->semantic, key, cosine)) return NULL;
    cache_value *v = query_cache_get(m->answers, key, fo_unix_ms());
    if (v && ((cached_answer *)v)->epoch == t->epoch) return (cached_answer *)v;
    cache_value_drop(v);
    return NULL;
}

void query_semantic_keep(query_lookup *t) {
    if (t->semantic && t->semantic->marks && t->out->status == QUERY_ANSWERED)
        semantic_hits_add(t->m->semantic, t->semantic, t->answer_key);
}
