/* context_order HOME SET MODEL [QUESTIONS [SKIP]] - what the number and the order of the contexts
 * do to the answers that a model writes by itself, without the service's checks.
 *
 * HOME is filled with SET unless it holds it already. Each question is answered greedily over its
 * best context, its two and three best by score, and these three in other orders: one of them drawn
 * by lot in front (what `order: cache` does where that one is known), shuffled, the best last. A
 * line a question on stderr, one JSON object on stdout: exact match, F1, answers that hold a gold
 * answer, and differences to three by score with their standard errors. */
#include <math.h>
#include <unistd.h>

#include "kernels/buf.h"
#include "retrieval/rank/measures.h"
#include "retrieval/generator/prompt.h"
#include "retrieval/local/local_generator.h"
#include "tests/bench/set_home.h"

enum { MOST_CONTEXTS = 3, MAX_GOLD = 16, ANSWER = 24, SEED = 20261121 };

enum order { BY_SCORE, ONE_IN_FRONT, SHUFFLED, BEST_LAST };

typedef struct variant {
    const char *name;
    int n_contexts;
    enum order order;
    double exact, f1, contains, difference, squared; /* sums; of contains to three by score */
} variant;

static variant variants[] = {
    {.name = "three", .n_contexts = 3, .order = BY_SCORE},
    {.name = "three_one_in_front", .n_contexts = 3, .order = ONE_IN_FRONT},
    {.name = "three_shuffled", .n_contexts = 3, .order = SHUFFLED},
    {.name = "three_best_last", .n_contexts = 3, .order = BEST_LAST},
    {.name = "two", .n_contexts = 2, .order = BY_SCORE},
    {.name = "one", .n_contexts = 1, .order = BY_SCORE},
};
enum { VARIANTS = sizeof variants / sizeof *variants };

static uint64_t state = SEED;

static size_t lot(size_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(state >> 33) % n;
}

static void reorder(prompt_context *c, size_t n, enum order order) {
    prompt_context was[MOST_CONTEXTS];
    memcpy(was, c, n * sizeof *c);
    if (order == ONE_IN_FRONT && n) {
        size_t k = lot(n);
        memmove(c + 1, was, k * sizeof *c);
        c[0] = was[k];
    }
    for (size_t i = n; order == SHUFFLED && i > 1; i--) {
        size_t k = lot(i);
        prompt_context t = c[i - 1];
        c[i - 1] = c[k];
        c[k] = t;
    }
    for (size_t i = 0; order == BEST_LAST && i < n; i++) c[i] = was[n - 1 - i];
}

/* The model's own text, caller frees. */
static char *answer(generator *g, const generator_layout *l) {
    generator_stream *running;
    generator_event ev;
    fo_buf text = {0};
    if (generator_start(g, l, &(generator_options){.max_tokens = ANSWER}, &running, NULL, &err))
        die("start");
    do generator_next(running, -1, &ev, &text);
    while (!ev.done);
    if (ev.error) {
        fo_fail(&err, ev.error, "%s", ev.message);
        die("answer");
    }
    generator_stream_free(running);
    return text.data ? text.data : strdup("");
}

static generator_layout *lay_out(generator *g, const prompt_input *in) {
    const prompt_template *t = prompt_template_for(generator_get_info(g)->n_parameters);
    prompt p;
    generator_layout *l;
    if (prompt_make(&p, t, in, &err) || generator_lay_out(g, &p.prompt, &l, &err)) die("prompt");
    prompt_deinit(&p);
    return l;
}

static void ask(service *s, generator *g, const cJSON *line) {
    const char *gold[MAX_GOLD];
    size_t n_gold = 0;
    const cJSON *item;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(line, "answers")) {
        if (cJSON_IsString(item) && n_gold < MAX_GOLD) gold[n_gold++] = item->valuestring;
    }
    query_request q = {.tenant = "default",
                       .collection = "default",
                       .query = string_of(line, "text"),
                       .top_k = MOST_CONTEXTS,
                       .search = {.alpha = -1},
                       .cache = CACHE_BYPASS};
    query_result r;
    if (service_query(s, &q, NULL, &r, &err)) die(q.query);
    double base = 0;
    for (int v = 0; v < VARIANTS; v++) {
        variant *x = &variants[v];
        prompt_context contexts[MOST_CONTEXTS];
        size_t n = r.n_contexts < (size_t)x->n_contexts ? r.n_contexts : (size_t)x->n_contexts;
        for (size_t i = 0; i < n; i++)
            contexts[i] = (prompt_context){r.contexts[i].chunk.text, r.contexts[i].chunk.text_len,
                                           r.contexts[i].chunk.title};
        reorder(contexts, n, x->order);
        prompt_input in = {.contexts = contexts,
                           .n_contexts = n,
                           .question = q.query,
                           .max_tokens = ANSWER,
                           .max_contexts = (size_t)x->n_contexts,
                           .budget = 1500};
        generator_layout *l = lay_out(g, &in);
        char *text = answer(g, l);
        double contains = measure_contains(text, gold, n_gold);
        if (v == 0) base = contains;
        x->contains += contains;
        x->exact += measure_exact(text, gold, n_gold);
        x->f1 += measure_f1(text, gold, n_gold);
        x->difference += contains - base;
        x->squared += (contains - base) * (contains - base);
        fprintf(stderr, "%s%.0f %.3f", v ? "  " : "", contains, measure_f1(text, gold, n_gold));
        free(text);
        generator_layout_free(l);
    }
    fprintf(stderr, "\n");
    query_result_deinit(&r);
}

int main(int argc, char **argv) {
    if (argc < 4) {
        fprintf(stderr, "usage: context_order HOME SET MODEL [QUESTIONS [SKIP]]\n");
        return 2;
    }
    size_t most = argc > 4 ? strtoul(argv[4], NULL, 10) : 200, n = 0, at = 0, cap = 0;
    size_t skip = argc > 5 ? strtoul(argv[5], NULL, 10) : 0;
    service *s = open_filled(argv[1], argv[2], NULL);
    generator *g;
    engine_options o = {.model = argv[3], .kv_ram = (uint64_t)128 << 20};
    if (local_generator(&o).open(&g, &o, &(generator_place){0}, &err)) die("model");
    FILE *f = open_in(argv[2], "queries.jsonl");
    char *line = NULL;
    while (n < most && getline(&line, &cap, f) > 0) {
        cJSON *q = cJSON_Parse(line);
        bool judged = cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(q, "answers")) > 0;
        if (judged && at++ >= skip) {
            ask(s, g, q);
            n++;
        }
        cJSON_Delete(q);
    }
    free(line);
    fclose(f);
    double d = n ? (double)n : 1;
    printf("{\"questions\":%zu", n);
    for (int v = 0; v < VARIANTS; v++) {
        const variant *x = &variants[v];
        double mean = x->difference / d;
        printf(",\"%s\":{\"exact\":%.4f,\"f1\":%.4f,\"contains_gold\":%.4f,\"difference\":%.4f,"
               "\"standard_error\":%.4f}",
               x->name, x->exact / d, x->f1 / d, x->contains / d, mean,
               sqrt(fmax(0, x->squared / d - mean * mean) / d));
    }
    printf("}\n");
    generator_close(g);
    service_close(s);
    return 0;
}
