/* kv_stream HOME SET MODEL [QUESTIONS [KV_RAM_MIB [KV_DISK_MIB [MODES [PAUSE_MS]]]]] - a stream of
 * questions over the same documents, as users ask: how much of the prompts is not computed again,
 * how soon the first token comes, and whether RAM and disk stay within their budgets all the way.
 *
 * SET is a folder with corpus.jsonl and queries.jsonl; HOME is filled with it unless it holds it
 * already. Questions are drawn by a Zipf law (exponent 1) over the set in a random order that is
 * always the same, with no answer cache before them. Three contexts each. The stream runs once in
 * every mode, each with an engine and a disk tier of its own: off, exact, cache (exact, with the
 * contexts in the order that attaches most), chunk; MODES names some of them. Before that, what
 * keeping everything for ever would give. PAUSE_MS: so long after an answer the
 * next question comes; without it, when the work that the answer left has ended. One JSON object on
 * stdout; a line a question on stderr. */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/buf.h"
#include "kernels/file.h"
#include "retrieval/generator/prompt.h"
#include "retrieval/local/local_prompt.h"
#include "retrieval/service/service.h"
#include "tests/bench/set_home.h"

/* The instructions of a large model: a small one is given a single context. */
#define LARGE UINT64_C(7000000000)

enum { CONTEXTS = 3, PROMPT_TOKENS = 1500, SEED = 20261121 };

/* ---- the stream -------------------------------------------------------------------------- */

static uint64_t state = SEED;

static double uniform(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) * 0x1p-53;
}

static char **read_questions(const char *set, size_t *n) {
    FILE *f = open_in(set, "queries.jsonl");
    char *line = NULL, **list = NULL;
    size_t cap = 0;
    *n = 0;
    while (getline(&line, &cap, f) > 0) {
        cJSON *q = cJSON_Parse(line);
        list = realloc(list, (*n + 1) * sizeof *list);
        list[(*n)++] = strdup(string_of(q, "text"));
        cJSON_Delete(q);
    }
    free(line);
    fclose(f);
    for (size_t i = *n; i > 1; i--) { /* popularity has nothing to do with the order of the file */
        size_t k = (size_t)(uniform() * (double)i);
        char *t = list[i - 1];
        list[i - 1] = list[k];
        list[k] = t;
    }
    return list;
}

/* Numbers of questions: the r-th most popular is asked in proportion to 1 / r. */
static size_t *draw(size_t n_questions, size_t n) {
    double *upto = malloc(n_questions * sizeof *upto), sum = 0;
    size_t *list = malloc(n * sizeof *list);
    for (size_t r = 0; r < n_questions; r++) upto[r] = sum += 1 / (double)(r + 1);
    for (size_t i = 0; i < n; i++) {
        double at = uniform() * sum;
        size_t low = 0, high = n_questions - 1;
        while (low < high) {
            size_t mid = (low + high) / 2;
            if (upto[mid] < at)
                low = mid + 1;
            else
                high = mid;
        }
        list[i] = low;
    }
    free(upto);
    return list;
}

static int probe(void *ctx, const unsigned char salt[32], const int32_t *tokens, int n) {
    return engine_probe(ctx, salt, tokens, n);
}

/* How prompts are made for the model. */
typedef struct builder {
    local_prompts *prompts;
    const prompt_template *says;
} builder;

/* The prompt of a question; e: in the order that it has most of; NULL: by score. */
static local_layout *build(service *s, const builder *b, const char *question, engine *e) {
    query_request q = {.tenant = "default",
                       .collection = "default",
                       .query = question,
                       .top_k = CONTEXTS,
                       .search = {.alpha = -1},
                       .cache = CACHE_BYPASS};
    query_result r;
    if (service_query(s, &q, NULL, &r, &err)) die(question);
    prompt_context contexts[CONTEXTS];
    for (size_t i = 0; i < r.n_contexts; i++)
        contexts[i] = (prompt_context){r.contexts[i].chunk.text, r.contexts[i].chunk.text_len,
                                       r.contexts[i].chunk.title};
    prompt_input in = {.contexts = contexts,
                       .n_contexts = r.n_contexts,
                       .question = question,
                       .budget = PROMPT_TOKENS,
                       .cached_first = true};
    prompt p;
    local_layout *l;
    if (prompt_make(&p, b->says, &in, &err)) die("prompt");
    if (local_prompts_lay_out(b->prompts, &p.prompt, e ? probe : NULL, e, &l, &err)) die("layout");
    prompt_deinit(&p);
    query_result_deinit(&r);
    return l;
}

/* ---- the most that can be met ------------------------------------------------------------ */

typedef struct seen_set {
    uint64_t *keys; /* [cap], 0: free */
    size_t cap;
} seen_set;

static uint64_t hash(uint64_t h, const int32_t *v, size_t n) {
    for (size_t i = 0; i < n; i++) h = (h ^ (uint32_t)v[i]) * 1099511628211u;
    return h | 1;
}

/* Was it there? It is now. */
static bool meet(seen_set *t, uint64_t key) {
    size_t i = (size_t)(key * 0x9E3779B97F4A7C15u) & (t->cap - 1);
    while (t->keys[i] && t->keys[i] != key) i = (i + 1) & (t->cap - 1);
    bool there = t->keys[i] == key;
    t->keys[i] = key;
    return there;
}

/* Shares of the prompts' tokens that were in an earlier prompt: as its beginning, as a chunk. */
static void report_ceiling(service *s, const builder *b, char **questions, const size_t *stream,
                           size_t n) {
    seen_set set = {.cap = 1};
    while (set.cap < 4 * n * (2 * CONTEXTS + 1)) set.cap *= 2;
    set.keys = calloc(set.cap, sizeof *set.keys);
    double all = 0, beginnings = 0, chunks = 0;
    for (size_t i = 0; i < n; i++) {
        local_layout *p = build(s, b, questions[stream[i]], NULL);
        bool same = true;
        for (size_t k = 0; k + 1 < p->n_pieces; k++) {
            const generation_piece *c = &p->pieces[k];
            same &= meet(&set, hash(14695981039346656037u, p->tokens, c->start + c->n));
            if (same) beginnings += (double)c->n;
            if (meet(&set, hash(1469598103934665603u, p->tokens + c->start, c->n)))
                chunks += (double)c->n;
        }
        all += (double)p->base.n_tokens;
        local_layout_free(p);
    }
    printf("\"prompt_tokens_mean\":%.1f,\"ceiling\":{\"exact\":%.4f,\"chunk\":%.4f}",
           all / (double)n, beginnings / all, chunks / all);
    fflush(stdout);
    free(set.keys);
}

/* ---- one question ------------------------------------------------------------------------ */

typedef struct outcome {
    double *ttft; /* [n] */
    size_t prompt, cached, chunk, again, disk;
    uint64_t pages_bytes, most_ram, most_disk, ram_budget, disk_budget;
} outcome;

static uint64_t bytes_in(const char *dir) {
    uint64_t sum = 0;
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));) {
        char path[8192];
        struct stat st;
        size_t n = strlen(e->d_name);
        snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
        if (n > 3 && !strcmp(e->d_name + n - 3, ".kv") && stat(path, &st) == 0)
            sum += (uint64_t)st.st_size;
    }
    if (d) closedir(d);
    return sum;
}

static void ask(engine *e, local_layout *p, enum kv_reuse reuse, double *ttft, outcome *o) {
    generation_request g = {.prompt = p->tokens,
                            .n_prompt = p->base.n_tokens,
                            .pieces = p->pieces,
                            .n_pieces = p->n_pieces,
                            .max_tokens = 1,
                            .sampling = sampler_params_default(),
                            .ignore_end = true,
                            .n_logprobs = -1,
                            .kv_reuse = reuse};
    generation *running;
    generation_event ev;
    if (engine_submit(e, &g, &running, NULL, &err)) die("submit");
    do generation_next(running, -1, &ev, NULL);
    while (!ev.done);
    if (ev.error) {
        fo_fail(&err, ev.error, "%s", ev.message);
        die("generation");
    }
    generation_free(running);
    *ttft = ev.first_token_ms;
    fprintf(stderr,
            "prompt %zu cached %zu prefix %zu chunk %zu again %zu disk %zu queue_ms %.1f "
            "first_ms %.1f %s\n",
            ev.prompt_tokens, ev.cached_tokens, ev.prefix_tokens, ev.chunk_tokens,
            ev.recomputed_tokens, ev.disk_tokens, ev.queue_ms, ev.first_token_ms, ev.kv_note);
    o->prompt += ev.prompt_tokens;
    o->cached += ev.cached_tokens;
    o->chunk += ev.chunk_tokens;
    o->again += ev.recomputed_tokens;
    o->disk += ev.disk_tokens;
}

static void watch(engine *e, const char *dir, outcome *o) {
    engine_stats st;
    engine_get_stats(e, &st);
    uint64_t disk = bytes_in(dir);
    if (st.store.ram.bytes > o->most_ram) o->most_ram = st.store.ram.bytes;
    if (disk > o->most_disk) o->most_disk = disk;
    o->ram_budget = st.store.ram.budget_bytes;
    o->disk_budget = st.store.disk.budget_bytes;
    o->pages_bytes = (uint64_t)st.kv.n_pages * st.kv.page_bytes;
    if (st.store.ram.bytes > o->ram_budget || disk > o->disk_budget) {
        fprintf(stderr, "kv_stream: a budget is overdrawn\n");
        exit(1);
    }
}

/* Users of a stream leave pauses. Negative: until the background work of the last request ends. */
static void rest(engine *e, double pause_ms) {
    engine_stats st;
    if (pause_ms >= 0) {
        usleep((useconds_t)(pause_ms * 1000));
        return;
    }
    do {
        usleep(1000);
        engine_get_stats(e, &st);
    } while (st.n_running + st.n_waiting);
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void report(const char *name, const outcome *o, size_t n) {
    qsort(o->ttft, n, sizeof *o->ttft, by_value);
    printf(",\"%s\":{\"reused\":%.4f,\"moved\":%.4f,\"recomputed\":%.4f,\"from_disk\":%.4f,"
           "\"first_token_p50_ms\":%.1f,\"first_token_p95_ms\":%.1f,\"pages_bytes\":%llu,"
           "\"ram_most_bytes\":%llu,\"ram_budget_bytes\":%llu,\"disk_most_bytes\":%llu,"
           "\"disk_budget_bytes\":%llu}",
           name, (double)o->cached / (double)o->prompt, (double)o->chunk / (double)o->prompt,
           (double)o->again / (double)o->prompt, (double)o->disk / (double)o->prompt,
           o->ttft[n / 2], o->ttft[n * 95 / 100], (unsigned long long)o->pages_bytes,
           (unsigned long long)o->most_ram, (unsigned long long)o->ram_budget,
           (unsigned long long)o->most_disk, (unsigned long long)o->disk_budget);
    fflush(stdout);
}

int main(int argc, char **argv) {
    if (argc < 4) {
        fprintf(stderr, "usage: kv_stream HOME SET MODEL [QUESTIONS [KV_RAM_MIB [KV_DISK_MIB "
                        "[MODES [PAUSE_MS]]]]]\n");
        return 2;
    }
    size_t n = argc > 4 ? strtoul(argv[4], NULL, 10) : 2000, n_questions;
    double ram = argc > 5 ? strtod(argv[5], NULL) : 256;
    double disk = argc > 6 ? strtod(argv[6], NULL) : 1024;
    double pause_ms = argc > 8 ? strtod(argv[8], NULL) : -1;
    const char *wanted = argc > 7 ? argv[7] : "off,exact,cache,chunk";
    service *s = open_filled(argv[1], argv[2], NULL);
    char **questions = read_questions(argv[2], &n_questions), dir[4096];
    if (!n || !n_questions) return 2;
    size_t *stream = draw(n_questions, n);
    snprintf(dir, sizeof dir, "%s/kv_stream_%d", argv[1], (int)getpid());
    static const struct {
        const char *name;
        enum kv_reuse reuse;
        bool by_cache;
    } modes[] = {{"off", KV_REUSE_OFF, false},
                 {"exact", KV_REUSE_EXACT, false},
                 {"cache", KV_REUSE_EXACT, true},
                 {"chunk", KV_REUSE_CHUNK, false}};
    printf("{\"questions\":%zu,", n);
    bool first = true;
    for (int m = 0; m < 4; m++) {
        if (!strstr(wanted, modes[m].name)) continue;
        engine *e;
        outcome o = {.ttft = calloc(n, sizeof *o.ttft)};
        fo_remove_tree(dir, NULL);
        engine_options eo = {.model = argv[3],
                             .kv_ram = (uint64_t)(ram * 0x1p20),
                             .kv_dir = dir,
                             .kv_disk = (uint64_t)(disk * 0x1p20)};
        if (engine_open(&e, &eo, &err)) die("engine");
        gguf_str chat = {0};
        gguf_get_str(engine_gguf(e), "tokenizer.chat_template", &chat, NULL);
        local_prompt_model pm = {.tokenizer = engine_tokenizer(e),
                                 .chat_template = chat.ptr,
                                 .n_chat_template = chat.len,
                                 .window = (size_t)engine_model(e)->n_context};
        builder b = {.says = prompt_template_for(LARGE)};
        if (local_prompts_create(&b.prompts, &pm, &err)) die("prompts");
        if (first) report_ceiling(s, &b, questions, stream, n);
        first = false;
        for (size_t i = 0; i < n; i++) {
            local_layout *p = build(s, &b, questions[stream[i]], modes[m].by_cache ? e : NULL);
            ask(e, p, modes[m].reuse, &o.ttft[i], &o);
            local_layout_free(p);
            rest(e, pause_ms);
            watch(e, dir, &o);
        }
        report(modes[m].name, &o, n);
        free(o.ttft);
        local_prompts_free(b.prompts);
        engine_close(e);
    }
    printf("}\n");
    fo_remove_tree(dir, NULL);
    service_close(s);
    for (size_t i = 0; i < n_questions; i++) free(questions[i]);
    free(questions);
    free(stream);
    return 0;
}
