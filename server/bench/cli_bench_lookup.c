/* cli_bench_lookup.c - `forage bench lookup`: what prompt lookup gains and costs. A text that is
 * given stands for what the model would choose, so that any model will do: of one kind of text most
 * is copied from the prompt in runs, of the other nothing is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/model/model.h"
#include "engine/generate/prompt_lookup.h"
#include "kernels/clock.h"
#include "kernels/cpu.h"
#include "server/cli/cli.h"

enum { PAGE_TOKENS = 16, CHUNK = 512, RARE = 5000, COMMON = 60, MOST = 1 << 14 };

static struct {
    const char *model;
    int64_t prompt, tokens, threads, seed;
    bool json;
} o = {.prompt = 900, .tokens = 192, .seed = 1};

static const cli_option options[] = {
    {"model", CLI_STRING, &o.model, "FILE", "the GGUF file", .required = true},
    {"prompt", CLI_INT, &o.prompt, "N", "tokens of the prompt (default 900)", .min = 64,
     .max = MOST},
    {"tokens", CLI_INT, &o.tokens, "N", "tokens of each text (default 192)", .min = 16,
     .max = MOST},
    {"seed", CLI_INT, &o.seed, "N", "of the texts (default 1)", .min = 0, .max = 9e15},
    {"threads", CLI_INT, &o.threads, "N", "threads (default: one a core)", .min = 0, .max = 1024},
    {"json", CLI_BOOL, &o.json, NULL, "one JSON object on stdout (always)"},
    {0}};

typedef struct bench {
    fo_pool *pool;
    model *m;
    model_context *c;
    kv_pages *kv;
    uint64_t state;
    int n_pages, n_prompt, n; /* n: prompt and text */
    int32_t *table, *tokens, *row;
    float *logits;
    step_cost cost;
} bench;

static uint64_t draw(bench *b) {
    b->state = b->state * 6364136223846793005u + 1442695040888963407u;
    return b->state >> 33;
}

/* Every second token is one of a few, as words are in a language: pairs do come again by chance. */
static int32_t draw_token(bench *b) {
    int32_t v = model_get_info(b->m)->n_vocab, common = COMMON < v ? COMMON : v;
    return (int32_t)(draw(b) % 2 ? draw(b) % (uint64_t)common
                                 : draw(b) % (uint64_t)(v < RARE ? v : RARE));
}

/* copied: runs of 4 to 31 tokens of the prompt, 1 to 8 new ones between them. */
static void make_text(bench *b, bool copied) {
    for (int i = 0; i < b->n; i++) b->tokens[i] = draw_token(b);
    for (int i = b->n_prompt; copied && i < b->n;) {
        int run = 4 + (int)(draw(b) % 28), from = (int)(draw(b) % (uint64_t)(b->n_prompt - 32));
        for (int k = 0; k < run && i < b->n; k++) b->tokens[i++] = b->tokens[from + k];
        i += 1 + (int)(draw(b) % 8);
    }
}

static int forward(bench *b, int start, const int32_t *tokens, int n, int n_logits, fo_err *err) {
    model_sequence s = {.tokens = tokens,
                        .n_tokens = n,
                        .start = start,
                        .pages = b->table,
                        .n_pages = b->n_pages,
                        .n_logits = n_logits};
    return model_forward(b->c, b->kv, &s, 1, b->logits, err);
}

typedef struct figures {
    double ms;
    int steps, drafted, kept;
} figures;

/* Write the text: step by step as the engine does. p NULL: without guesses. */
static int replay(bench *b, prompt_lookup *p, figures *f, fo_err *err) {
    int rc = FO_OK;
    for (int at = 0; !rc && at < b->n_prompt; at += CHUNK) {
        int n = b->n_prompt - at < CHUNK ? b->n_prompt - at : CHUNK;
        rc = forward(b, at, b->tokens + at, n, at + n == b->n_prompt, err);
    }
    double start = fo_now_ms();
    for (int at = b->n_prompt; !rc && at < b->n - 1;) {
        /* tokens[at] was chosen and is to be computed; what follows it is asked for. */
        int k = 0, kept = 0, most = b->n - at - 2;
        if (p)
            k = prompt_lookup_draft(p, b->tokens, at + 1, most, 1, step_cost_row(&b->cost, 1),
                                    b->row + 1);
        b->row[0] = b->tokens[at];
        double began = fo_now_ms();
        rc = forward(b, at, b->row, 1 + k, 1 + k, err);
        step_cost_add(&b->cost, 1 + k, fo_now_ms() - began);
        while (kept < k && b->row[1 + kept] == b->tokens[at + 1 + kept]) kept++;
        if (k) prompt_lookup_learn(p, k, kept);
        at += 1 + kept;
        f->steps++;
        f->drafted += k;
        f->kept += kept;
    }
    f->ms += fo_now_ms() - start;
    return rc;
}

enum { RUNS = 5 }; /* with and without in turn, so that both see the same machine */

static int measure(bench *b, bool copied, figures *with, figures *without, fo_err *err) {
    int rc = FO_OK;
    for (int run = 0; !rc && run < RUNS; run++) {
        prompt_lookup p;
        make_text(b, copied);
        rc = replay(b, NULL, without, err);
        if (!rc) rc = prompt_lookup_init(&p, b->n, err);
        if (rc) return rc;
        rc = replay(b, &p, with, err);
        prompt_lookup_deinit(&p);
    }
    return rc;
}

static void print(const bench *b, const char *name, const figures *with, const figures *without) {
    double tokens = (double)RUNS * (b->n - b->n_prompt - 1);
    printf("\"%s\":{\"tokens_per_s\":%.1f,\"without\":%.1f,\"ratio\":%.3f,"
           "\"tokens_per_step\":%.2f,\"drafted\":%d,\"kept\":%d},",
           name, 1e3 * tokens / with->ms, 1e3 * tokens / without->ms, without->ms / with->ms,
           tokens / with->steps, with->drafted, with->kept);
}

static int bench_open(bench *b, fo_err *err) {
    b->pool = fo_pool_create_bound((int)o.threads, NULL);
    b->state = (uint64_t)o.seed;
    b->n_prompt = (int)o.prompt;
    b->n = (int)(o.prompt + o.tokens);
    b->n_pages = (b->n + PAGE_TOKENS - 1) / PAGE_TOKENS;
    kv_layout l;
    int rc = b->pool ? FO_OK : fo_fail(err, FO_ENOMEM, "no memory for threads");
    if (!rc) rc = model_open(&b->m, o.model, &(model_options){.pool = b->pool, .fast = true}, err);
    if (!rc) rc = model_kv_layout(b->m, PAGE_TOKENS, KV_BF16, &l, err);
    if (!rc) rc = kv_pages_create(&b->kv, &l, b->n_pages, err);
    const model_limits limits = {CHUNK, 1 + PROMPT_LOOKUP_MAX};
    if (!rc) rc = model_context_create(&b->c, b->m, &limits, err);
    if (rc) return rc;
    b->table = malloc((size_t)b->n_pages * sizeof *b->table);
    b->tokens = malloc((size_t)b->n * sizeof *b->tokens);
    b->row = malloc((1 + PROMPT_LOOKUP_MAX) * sizeof *b->row);
    b->logits =
        malloc((1 + PROMPT_LOOKUP_MAX) * (size_t)model_get_info(b->m)->n_vocab * sizeof *b->logits);
    if (!b->table || !b->tokens || !b->row || !b->logits) return fo_no_memory(err);
    for (int i = 0; i < b->n_pages; i++) b->table[i] = i;
    return FO_OK;
}

static void bench_close(bench *b) {
    model_context_free(b->c);
    kv_pages_free(b->kv);
    model_close(b->m);
    fo_pool_free(b->pool);
    free(b->table);
    free(b->tokens);
    free(b->row);
    free(b->logits);
}

static int run(int argc, char **argv) {
    (void)argc, (void)argv;
    fo_err err = {0};
    bench b = {0};
    figures with[2] = {{0}}, without[2] = {{0}};
    int rc = bench_open(&b, &err);
    for (int i = 0; !rc && i < 2; i++) rc = measure(&b, i == 0, &with[i], &without[i], &err);
    if (!rc) {
        printf("{");
        print(&b, "copied", &with[0], &without[0]);
        print(&b, "new", &with[1], &without[1]);
        printf("\"row_cost\":%.3f,\"prompt\":%d,\"tokens\":%d,\"isa\":\"%s\",\"threads\":%d}\n",
               step_cost_row(&b.cost, 1), b.n_prompt, b.n - b.n_prompt,
               fo_cpu_level_name(fo_cpu()->level), fo_pool_threads(b.pool));
    }
    bench_close(&b);
    return rc ? cli_fail(&err) : 0;
}

const cli_command cli_command_bench_lookup = {
    "bench lookup",
    "what guessing ahead from the prompt gains and costs",
    "forage bench lookup --model M [--prompt 900] [--tokens 192] --json",
    "A given text stands for what the model would choose: one that copies from its prompt in runs\n"
    "of 4 to 31 tokens (copied), and one that does not (new). \"ratio\" is tokens a second with\n"
    "guesses over without, both in this run.",
    options,
    0,
    0,
    run};
