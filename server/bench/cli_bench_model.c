/* cli_bench_model.c - `forage bench machine | make-model | prefill | decode | embed`: how fast
 * models run here, beside what the machine could do. One JSON object on stdout. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/model/encoder.h"
#include "engine/model/model.h"
#include "engine/tools/random_model.h"
#include "engine/tokenizer/tokenizer_gguf.h"
#include "kernels/cpu.h"
#include "kernels/order.h"
#include "kernels/peak.h"
#include "server/cli/cli.h"

enum { PAGE_TOKENS = 16, CHUNK = 512, RUNS = 5, MAX_PASSAGES = 1 << 20 };
static const size_t read_bytes = (size_t)2 << 30;

static const char *isa_name(void) {
    const fo_cpu_info *c = fo_cpu();
    return c->level == FO_CPU_AVX2 && c->avx_vnni ? "avxvnni" : fo_cpu_level_name(c->level);
}

static double median(double *v, size_t n) {
    qsort(v, n, sizeof *v, fo_order_doubles);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* --- forage bench machine --- */
static struct {
    int64_t threads;
    bool json;
} mo;

static const cli_option machine_options[] = {
    {"threads", CLI_INT, &mo.threads, "N", "threads (default: one a core)", .min = 0, .max = 1024},
    {"json", CLI_BOOL, &mo.json, NULL, "one JSON object on stdout (always)"},
    {0}};

static int run_machine(int argc, char **argv) {
    (void)argc, (void)argv;
    fo_err err = {0};
    fo_pool *pool = fo_pool_create_bound((int)mo.threads, NULL);
    if (!pool) {
        fo_fail(&err, FO_ENOMEM, "no memory for threads");
        return cli_fail(&err);
    }
    fo_pool_visit for_life;
    fo_pool_enter(pool, &for_life);
    const fo_topology *t = fo_cpu_topology();
    double tops = peak_int8_tops(pool), tflops = peak_bf16_tflops(pool);
    double gbps = peak_read_gbps(pool, read_bytes);
    printf("{\"read_gbps\":%.2f,\"int8_tops\":%.3f,\"bf16_tflops\":%.3f,\"isa\":\"%s\","
           "\"threads\":%d,\"cpus\":%d,\"cores\":%d,\"nodes\":%d,\"cpu\":\"%s\",\"note\":\"%s\"}\n",
           gbps, tops, tflops, isa_name(), fo_pool_threads(pool), t->n_cpus, t->n_cores, t->n_nodes,
           fo_cpu()->name, fo_cpu()->note);
    fo_pool_free(pool);
    return 0;
}

const cli_command cli_command_bench_machine = {"bench machine",
                                               "what this machine reads and multiplies at best",
                                               "forage bench machine [--threads N] --json",
                                               NULL,
                                               machine_options,
                                               0,
                                               0,
                                               run_machine};

/* --- forage bench make-model --- */
static struct {
    const char *shape, *type, *out;
    bool outliers, diffusion, json;
    int64_t seed, attention_block;
} ko = {.type = "q8_0"};

static const cli_option make_options[] = {
    {"shape", CLI_STRING, &ko.shape, "NAME",
     "qwen2.5-0.5b, qwen2.5-1.5b, llama3.2-1b, llama3.2-3b, llama3.1-8b, smollm2-135m, minilm-l6, "
     "tiny or toy",
     .required = true, .flag_only = true},
    {"type", CLI_STRING, &ko.type, "TYPE", "f16, q8_0, q4_0, q4_k_m, ... (default q8_0)",
     .flag_only = true},
    {"out", CLI_STRING, &ko.out, "FILE", "the GGUF file to write", .required = true,
     .flag_only = true},
    {"outliers", CLI_BOOL, &ko.outliers, NULL, "channels 100 times the rest", .flag_only = true},
    {"diffusion", CLI_BOOL, &ko.diffusion, NULL,
     "a diffusion model of that shape: LLaDA of a Llama, Dream of a Qwen2", .flag_only = true},
    {"attention-block", CLI_INT, &ko.attention_block, "N",
     "its attention goes by blocks of N tokens (default 0: in both directions)", .min = 0,
     .max = 1024, .flag_only = true},
    {"seed", CLI_INT, &ko.seed, "N", "of the random weights", .flag_only = true},
    {"json", CLI_BOOL, &ko.json, NULL, "one JSON object on stdout (always)"},
    {0}};

static int run_make(int argc, char **argv) {
    (void)argc, (void)argv;
    fo_err err = {0};
    random_model_options r = {.shape = ko.shape,
                              .outliers = ko.outliers,
                              .diffusion = ko.diffusion,
                              .attention_block = (int)ko.attention_block,
                              .seed = (uint64_t)ko.seed,
                              .pool = fo_pool_create(0)};
    if (!quantize_target_from_name(ko.type, &r.type)) {
        fo_pool_free(r.pool);
        return cli_wrong_usage("there is no type '%s'", ko.type);
    }
    double start = peak_seconds();
    int rc = random_model_write(ko.out, &r, &err);
    fo_pool_free(r.pool);
    model_info i;
    if (!rc) rc = model_probe(&i, ko.out, true, &err);
    if (rc) return cli_fail(&err);
    printf(
        "{\"shape\":\"%s\",\"type\":\"%s\",\"bytes\":%llu,\"parameters\":%llu,\"seconds\":%.1f}\n",
        ko.shape, ko.type, (unsigned long long)i.file_bytes, (unsigned long long)i.n_parameters,
        peak_seconds() - start);
    return 0;
}

const cli_command cli_command_bench_make_model = {
    "bench make-model",
    "a model of a real shape with random weights",
    "forage bench make-model --shape qwen2.5-0.5b --type q8_0 [--outliers] --out m.gguf",
    NULL,
    make_options,
    0,
    0,
    run_make};

/* --- prefill and decode --- */
static struct {
    const char *model, *kv_type;
    int64_t tokens, batch, depth, threads;
    bool json;
} go = {.kv_type = "bf16", .batch = 1};

typedef struct bench {
    fo_pool *pool;
    model *m;
    kv_pages *kv;
    model_context *c;
    int32_t *tables; /* [batch][pages each] */
    int32_t *tokens; /* [longest] */
    float *logits;   /* [batch][n_vocab] */
    int n_pages;     /* of a sequence */
    fo_pool_visit for_life;
} bench;

static void bench_close(bench *b) {
    model_context_free(b->c);
    kv_pages_free(b->kv);
    model_close(b->m);
    fo_pool_free(b->pool);
    free(b->tables);
    free(b->tokens);
    free(b->logits);
}

/* Room for `batch` sequences of `longest` tokens. */
static int bench_open(bench *b, int batch, int longest, fo_err *err) {
    *b = (bench){.pool = fo_pool_create_bound((int)go.threads, NULL)};
    kv_type type;
    kv_layout l;
    int rc = kv_type_from_name(go.kv_type, &type, err);
    if (!rc && !b->pool) rc = fo_fail(err, FO_ENOMEM, "no memory for threads");
    if (!rc) fo_pool_enter(b->pool, &b->for_life);
    if (!rc) rc = model_open(&b->m, go.model, &(model_options){.pool = b->pool, .fast = true}, err);
    if (!rc) rc = model_kv_layout(b->m, PAGE_TOKENS, type, &l, err);
    if (rc) return rc;
    b->n_pages = (longest + PAGE_TOKENS - 1) / PAGE_TOKENS;
    const size_t n_vocab = (size_t)model_get_info(b->m)->n_vocab;
    rc = kv_pages_create(&b->kv, &l, batch * b->n_pages, err);
    if (!rc)
        rc = model_context_create(&b->c, b->m,
                                  &(model_limits){CHUNK > batch ? CHUNK : batch, batch}, err);
    if (rc) return rc;
    b->tables = malloc((size_t)batch * (size_t)b->n_pages * sizeof *b->tables);
    b->tokens = malloc((size_t)longest * sizeof *b->tokens);
    b->logits = malloc((size_t)batch * n_vocab * sizeof *b->logits);
    if (!b->tables || !b->tokens || !b->logits)
        return fo_fail(err, FO_ENOMEM, "no memory for %d sequences", batch);
    for (int i = 0; i < batch * b->n_pages; i++) b->tables[i] = i;
    uint64_t s = 1;
    for (int i = 0; i < longest; i++) {
        s = s * 6364136223846793005u + 1442695040888963407u;
        b->tokens[i] = (int32_t)((s >> 33) % n_vocab);
    }
    return FO_OK;
}

static model_sequence sequence(const bench *b, int which, int start, int n, int n_logits) {
    return (model_sequence){.tokens = b->tokens + start,
                            .n_tokens = n,
                            .start = start,
                            .pages = b->tables + which * b->n_pages,
                            .n_pages = b->n_pages,
                            .n_logits = n_logits};
}

/* A prompt in chunks, logits for its last row. */
static int prefill(bench *b, int which, int n, fo_err *err) {
    for (int at = 0; at < n; at += CHUNK) {
        int m = n - at < CHUNK ? n - at : CHUNK;
        model_sequence s = sequence(b, which, at, m, at + m == n);
        int rc = model_forward(b->c, b->kv, &s, 1, b->logits, err);
        if (rc) return rc;
    }
    return FO_OK;
}

static const cli_option prefill_options[] = {
    {"model", CLI_STRING, &go.model, "FILE", "the GGUF file", .required = true},
    {"tokens", CLI_INT, &go.tokens, "N", "of the prompt (default 512)", .min = 1, .max = 1 << 20},
    {"kv-type", CLI_STRING, &go.kv_type, "TYPE", "f32, bf16 or q8_0 (default bf16)"},
    {"threads", CLI_INT, &go.threads, "N", "threads (default: one a core)", .min = 0, .max = 1024},
    {"json", CLI_BOOL, &go.json, NULL, "one JSON object on stdout (always)"},
    {0}};

static int run_prefill(int argc, char **argv) {
    (void)argc, (void)argv;
    fo_err err = {0};
    bench b;
    int n = go.tokens ? (int)go.tokens : 512;
    double rates[RUNS];
    int rc = bench_open(&b, 1, n, &err);
    if (!rc) rc = prefill(&b, 0, n, &err); /* pages and caches warm */
    for (int i = 0; !rc && i < RUNS; i++) {
        double start = peak_seconds();
        rc = prefill(&b, 0, n, &err);
        rates[i] = n / (peak_seconds() - start);
    }
    if (!rc) {
        double tops = peak_int8_tops(b.pool);
        const model_info *i = model_get_info(b.m);
        /* Of the last layer hardly more than keys and values is multiplied. */
        const double products =
            (double)i->layer_parameters * (double)(i->n_layers - 1) / (double)i->n_layers;
        printf("{\"tokens_per_s\":%.1f,\"peak_share\":%.4f,\"runs\":[", median(rates, RUNS),
               2.0 * products * median(rates, RUNS) / (tops * 1e12));
        for (int j = 0; j < RUNS; j++) printf("%s%.1f", j ? "," : "", rates[j]);
        printf("],\"tokens\":%d,\"int8_tops\":%.3f,\"isa\":\"%s\",\"threads\":%d}\n", n, tops,
               isa_name(), fo_pool_threads(b.pool));
    }
    bench_close(&b);
    return rc ? cli_fail(&err) : 0;
}

const cli_command cli_command_bench_prefill = {
    "bench prefill",
    "tokens a second of reading a prompt",
    "forage bench prefill --model M --tokens 512 --threads 2 --json",
    NULL,
    prefill_options,
    0,
    0,
    run_prefill};

static const cli_option decode_options[] = {
    {"model", CLI_STRING, &go.model, "FILE", "the GGUF file", .required = true},
    {"tokens", CLI_INT, &go.tokens, "N", "steps (default 64)", .min = 1, .max = 1 << 20},
    {"batch", CLI_INT, &go.batch, "N", "sequences side by side (default 1)", .min = 1, .max = 256},
    {"depth", CLI_INT, &go.depth, "N", "tokens that stand before (default 0)", .min = 0,
     .max = 1 << 20},
    {"kv-type", CLI_STRING, &go.kv_type, "TYPE", "f32, bf16 or q8_0 (default bf16)"},
    {"threads", CLI_INT, &go.threads, "N", "threads (default: one a core)", .min = 0, .max = 1024},
    {"json", CLI_BOOL, &go.json, NULL, "one JSON object on stdout (always)"},
    {0}};

static int run_decode(int argc, char **argv) {
    (void)argc, (void)argv;
    fo_err err = {0};
    bench b;
    int steps = go.tokens ? (int)go.tokens : 64, batch = (int)go.batch, depth = (int)go.depth;
    model_sequence *s = calloc((size_t)batch, sizeof *s);
    int rc = s ? FO_OK : fo_fail(&err, FO_ENOMEM, "no memory for %d sequences", batch);
    b = (bench){0};
    if (!rc) rc = bench_open(&b, batch, depth + steps + 1, &err);
    for (int i = 0; !rc && i < batch; i++) rc = prefill(&b, i, depth + 1, &err);
    double start = peak_seconds();
    for (int t = 0; !rc && t < steps; t++) {
        for (int i = 0; i < batch; i++) s[i] = sequence(&b, i, depth + 1 + t, 1, 1);
        if (depth + 1 + t > depth + steps) break;
        rc = model_forward(b.c, b.kv, s, batch, b.logits, &err);
    }
    double took = peak_seconds() - start;
    if (!rc) {
        double gbps = peak_read_gbps(b.pool, read_bytes);
        printf("{\"tokens_per_s\":%.1f,\"bandwidth_share\":%.4f,\"batch\":%d,\"depth\":%d,"
               "\"read_gbps\":%.2f,\"isa\":\"%s\",\"threads\":%d}\n",
               batch * steps / took, model_step_bytes(b.m, batch) * steps / took / (gbps * 1e9),
               batch, depth, gbps, isa_name(), fo_pool_threads(b.pool));
    }
    bench_close(&b);
    free(s);
    return rc ? cli_fail(&err) : 0;
}

const cli_command cli_command_bench_decode = {
    "bench decode",
    "tokens a second of writing, one or many sequences",
    "forage bench decode --model M --tokens 64 [--batch 1] [--depth 0] --threads 2 --json",
    NULL,
    decode_options,
    0,
    0,
    run_decode};

/* --- forage bench embed --- */
static struct {
    const char *model, *passages;
    int64_t limit, threads;
    bool json;
} eo = {.limit = 512};

static const cli_option embed_options[] = {
    {"model", CLI_STRING, &eo.model, "FILE", "a GGUF encoder", .required = true},
    {"passages", CLI_STRING, &eo.passages, "FILE", "a passage a line", .required = true,
     .flag_only = true},
    {"limit", CLI_INT, &eo.limit, "N", "passages at most (default 512)", .min = 1,
     .max = MAX_PASSAGES},
    {"threads", CLI_INT, &eo.threads, "N", "threads (default: one a core)", .min = 0, .max = 1024},
    {"json", CLI_BOOL, &eo.json, NULL, "one JSON object on stdout (always)"},
    {0}};

enum { PASSAGE_TOKENS = 256, QUERY_TOKENS = 14, QUERIES = 101 };

static int read_passages(const tokenizer *t, int max_tokens, encoder_text *texts, size_t *n,
                         fo_err *err) {
    FILE *f = fopen(eo.passages, "r");
    if (!f) return fo_fail_errno(err, "cannot open %s", eo.passages);
    char *line = NULL;
    size_t cap = 0;
    ssize_t len;
    int rc = FO_OK;
    *n = 0;
    while (!rc && *n < (size_t)eo.limit && (len = getline(&line, &cap, f)) > 0) {
        int32_t *ids = malloc((size_t)max_tokens * sizeof *ids);
        if (!ids) {
            rc = fo_fail(err, FO_ENOMEM, "no memory for the passages");
            break;
        }
        int64_t k = tokenizer_encode(t, line, (size_t)len - (line[len - 1] == '\n'),
                                     TOKENIZER_ADD_SPECIAL, ids, (size_t)max_tokens);
        if (k > max_tokens) k = max_tokens;
        if (k > 0)
            texts[(*n)++] = (encoder_text){ids, (int)k, 0};
        else
            free(ids);
    }
    if (!rc && !*n) rc = fo_fail(err, FO_EINVAL, "%s holds no passage", eo.passages);
    free(line);
    fclose(f);
    return rc;
}

static int compare_lengths(const void *a, const void *b) {
    return ((const encoder_text *)a)->n_tokens - ((const encoder_text *)b)->n_tokens;
}

static int measure_embed(encoder *e, encoder_text *texts, size_t n, float *out, int threads,
                         fo_err *err) {
    double tokens = 0, start = peak_seconds(), ms[QUERIES];
    for (size_t i = 0; i < n; i++) tokens += texts[i].n_tokens;
    int rc = encoder_embed(e, texts, n, out, err);
    double took = peak_seconds() - start;
    encoder_text query = texts[n - 1]; /* the longest */
    if (query.n_tokens > QUERY_TOKENS) query.n_tokens = QUERY_TOKENS;
    for (int i = 0; !rc && i < QUERIES; i++) {
        double begin = peak_seconds();
        rc = encoder_embed(e, &query, 1, out, err);
        ms[i] = 1e3 * (peak_seconds() - begin);
    }
    if (!rc)
        printf("{\"tokens_per_s\":%.0f,\"passages_per_s\":%.1f,\"query_ms\":%.3f,"
               "\"passages\":%zu,\"mean_tokens\":%.1f,\"isa\":\"%s\",\"threads\":%d}\n",
               tokens / took, (double)n / took, median(ms, QUERIES), n, tokens / (double)n,
               isa_name(), threads);
    return rc;
}

static int run_embed(int argc, char **argv) {
    (void)argc, (void)argv;
    fo_err err = {0};
    model *m = NULL;
    encoder *e = NULL;
    tokenizer *t = NULL;
    encoder_text *texts = calloc((size_t)eo.limit, sizeof *texts);
    float *out = NULL;
    size_t n = 0;
    fo_pool *pool = fo_pool_create_bound((int)eo.threads, NULL);
    int rc = pool && texts ? FO_OK : fo_fail(&err, FO_ENOMEM, "no memory for the passages");
    if (!rc) rc = model_open(&m, eo.model, &(model_options){.pool = pool, .fast = true}, &err);
    if (!rc) rc = encoder_create(&e, m, NULL, &err);
    if (!rc) rc = tokenizer_from_gguf(&t, model_gguf(m), &err);
    if (!rc) {
        int max = model_get_info(m)->n_context;
        rc = read_passages(t, max < PASSAGE_TOKENS ? max : PASSAGE_TOKENS, texts, &n, &err);
    }
    if (!rc) {
        qsort(texts, n, sizeof *texts, compare_lengths);
        out = malloc(n * (size_t)model_get_info(m)->d_model * sizeof *out);
        rc = out ? encoder_embed(e, texts + n - 1, 1, out, &err)
                 : fo_fail(&err, FO_ENOMEM, "no memory for the vectors");
    }
    if (!rc) rc = measure_embed(e, texts, n, out, fo_pool_threads(pool), &err);
    for (size_t i = 0; i < n; i++) free((void *)(uintptr_t)texts[i].tokens);
    free(texts);
    free(out);
    tokenizer_free(t);
    encoder_free(e);
    model_close(m);
    fo_pool_free(pool);
    return rc ? cli_fail(&err) : 0;
}

const cli_command cli_command_bench_embed = {
    "bench embed",
    "tokens a second of an encoder, and the time of one query",
    "forage bench embed --model E --passages P.txt [--limit N] --threads 2 --json",
    NULL,
    embed_options,
    0,
    0,
    run_embed};
