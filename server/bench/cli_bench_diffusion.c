/* cli_bench_diffusion.c - `forage bench diffusion`: what an answer by a diffusion model costs, in each
 * way of keeping KV and each share of it, beside an autoregressive model of the same size, in turns. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/generate/engine.h"
#include "kernels/clock.h"
#include "kernels/cpu.h"
#include "retrieval/local/local_generator.h"
#include "server/base/json.h"
#include "server/cli/cli.h"
#include "server/cli/engine_flags.h"
#include "server/routes/diffusion_json.h"

enum { MAX_PROMPT = 1 << 15, MAX_ANSWER = 4096, MAX_REQUESTS = 64, MAX_WAYS = 32, MAX_RUNS = 9 };

static struct {
    const char *model, *against;
    int64_t prompt, n, runs;
    cli_list ways, requests, retentions;
    bool json;
} o = {.prompt = 928, .n = 64, .runs = 1};

static const cli_option options[] = {
    {"model", CLI_STRING, &o.model, "FILE", "the GGUF file of a diffusion model", .required = true},
    {"against", CLI_STRING, &o.against, "FILE", "an autoregressive model to compare with"},
    {"prompt", CLI_INT, &o.prompt, "N", "tokens of it (default 928)", .min = 1, .max = MAX_PROMPT},
    {"n", CLI_INT, &o.n, "N", "tokens to write (default 64)", .min = 1, .max = MAX_ANSWER},
    {"way", CLI_LIST, &o.ways, "JSON",
     "how to write, as --diffusion of generate; may be given again (default: each kv)",
     .flag_only = true},
    {"retention", CLI_LIST, &o.retentions, "R",
     "share of its KV that every head keeps (docs/sparse.md); may be given again, 1 first (default "
     "1)",
     .flag_only = true},
    {"requests", CLI_LIST, &o.requests, "N", "at a time; may be given again (default 1)",
     .flag_only = true},
    {"runs", CLI_INT, &o.runs, "N", "medians of so many (default 1)", .min = 1, .max = MAX_RUNS},
    {"json", CLI_BOOL, &o.json, NULL, "one JSON object on stdout (always)"},
    ENGINE_THREADS_FLAG,
    ENGINE_FLAGS,
    {0}};

typedef struct way {
    const char *text; /* JSON; NULL: autoregressive */
    generator_diffusion asked;
    double retention;
} way;

/* What one round gave, all requests together. */
typedef struct figures {
    double seconds, first_text_ms; /* the latter: mean of the requests */
    uint64_t passes, rows, logit_rows, peak_kv_bytes;
    size_t tokens;
    uint64_t end_kv_tokens; /* of the request that held most at its end */
    double agrees;          /* share of tokens that are those of the first of its model's ways */
    /* Autoregressive: of places where all tokens before are those of the first way, the mean divergence
     * of the two distributions, over its likeliest tokens, and how many places that were. */
    double divergence;
    size_t n_divergence;
} figures;

typedef struct bench {
    engine *e[2]; /* the diffusion model; the other */
    way ways[MAX_WAYS];
    int n_ways;
    int32_t prompts[MAX_REQUESTS][MAX_PROMPT];
    struct { /* what the first way of each model wrote */
        int32_t token[MAX_ANSWER];
        sampler_logprob top[MAX_ANSWER][GENERATION_LOGPROBS];
    } first[2][MAX_REQUESTS];
    bool has_first[2];
    uint64_t state;
} bench;

static void draw_prompts(bench *b, int n_vocab) {
    for (int i = 0; i < MAX_REQUESTS; i++)
        for (int k = 0; k < o.prompt; k++) {
            b->state ^= b->state << 13, b->state ^= b->state >> 7, b->state ^= b->state << 17;
            b->prompts[i][k] = (int32_t)(b->state % (uint64_t)(n_vocab - 1));
        }
}

static int wait_end(generation *g, generation_event *ev, fo_err *err) {
    do {
        generation_next(g, -1, ev, NULL);
    } while (!ev->done);
    return ev->error ? fo_fail(err, ev->error, "%s", ev->message) : FO_OK;
}

/* KL(first || now) over the first's likeliest tokens; what is not among those of `now` counts as its
 * unlikeliest. */
static double divergence(const sampler_logprob *first, const generation_token *now) {
    double sum = 0;
    for (int i = 0; i < GENERATION_LOGPROBS; i++) {
        float q = now->top[now->n_top - 1].logprob;
        for (int k = 0; k < now->n_top; k++)
            if (now->top[k].token == first[i].token) q = now->top[k].logprob;
        sum += exp((double)first[i].logprob) * ((double)first[i].logprob - (double)q);
    }
    return sum;
}

static void compare(bench *b, const way *w, int request, generation *g, double *same,
                    figures *out) {
    size_t n;
    const generation_token *t = generation_tokens(g, &n);
    const int which = !w->text;
    bool alike = true;
    for (size_t k = 0; k < n; k++) {
        if (!b->has_first[which]) {
            b->first[which][request].token[k] = t[k].token;
            if (t[k].n_top == GENERATION_LOGPROBS)
                memcpy(b->first[which][request].top[k], t[k].top,
                       sizeof b->first[which][request].top[k]);
        } else if (alike && t[k].n_top == GENERATION_LOGPROBS) {
            out->divergence += divergence(b->first[which][request].top[k], &t[k]);
            out->n_divergence++;
        }
        alike = alike && b->first[which][request].token[k] == t[k].token;
        *same += b->first[which][request].token[k] == t[k].token;
    }
}

static int run_round(bench *b, const way *w, int n_requests, figures *out, fo_err *err) {
    engine *e = b->e[!w->text];
    engine_stats before, after;
    diffusion_params room;
    sparse_params sparse = sparse_params_default();
    sparse.retention = (float)w->retention;
    generation *g[MAX_REQUESTS] = {0};
    double same = 0;
    *out = (figures){0};
    engine_forget_peak(e);
    engine_get_stats(e, &before);
    const double t0 = fo_now_ms();
    int rc = FO_OK;
    for (int i = 0; i < n_requests && !rc; i++) {
        generation_request r = {.prompt = b->prompts[i],
                                .n_prompt = (size_t)o.prompt,
                                .max_tokens = (size_t)o.n,
                                .sampling = sampler_params_default(),
                                .ignore_end = true,
                                .no_lookup = true, /* random weights write loops */
                                .kv_reuse = KV_REUSE_OFF,
                                .diffusion = w->text ? local_diffusion(&w->asked, &room) : NULL,
                                .sparse = &sparse,
                                .n_logprobs =
                                    !w->text && o.retentions.n ? GENERATION_LOGPROBS : -1};
        rc = engine_submit(e, &r, &g[i], NULL, err);
    }
    for (int i = 0; i < n_requests; i++) {
        generation_event ev = {0};
        if (!rc) rc = wait_end(g[i], &ev, err);
        if (!rc) {
            out->first_text_ms += ev.first_token_ms / n_requests;
            out->tokens += ev.completion_tokens;
            compare(b, w, i, g[i], &same, out);
            if (ev.kv_end_tokens > out->end_kv_tokens) out->end_kv_tokens = ev.kv_end_tokens;
        }
        generation_free(g[i]);
    }
    out->seconds = (fo_now_ms() - t0) / 1e3;
    engine_get_stats(e, &after);
    out->peak_kv_bytes = (uint64_t)after.kv.most_used * after.kv.page_bytes;
    out->passes = after.denoise_passes - before.denoise_passes;
    out->rows = after.denoise_rows - before.denoise_rows;
    out->logit_rows = after.denoise_logit_rows - before.denoise_logit_rows;
    b->has_first[!w->text] = true;
    out->agrees = out->tokens ? same / (double)out->tokens : 1;
    return rc;
}

static int compare_seconds(const void *a, const void *b) {
    const figures *x = a, *y = b;
    return (x->seconds > y->seconds) - (x->seconds < y->seconds);
}

static void write_row(json_out *out, const way *w, int n_requests, const figures *f) {
    json_out_open(out, NULL, '{');
    if (w->text)
        json_out_raw(out, "way", w->text);
    else
        json_out_string(out, "way", "autoregressive");
    json_out_number(out, "retention", w->retention);
    json_out_int(out, "requests", n_requests);
    json_out_number(out, "seconds", round(f->seconds * 1e3) / 1e3);
    json_out_number(out, "tokens_per_s", round(10 * (double)f->tokens / f->seconds) / 10);
    json_out_number(out, "first_text_ms", round(10 * f->first_text_ms) / 10);
    json_out_int(out, "peak_kv_bytes", (int64_t)f->peak_kv_bytes);
    json_out_int(out, "end_kv_tokens", (int64_t)f->end_kv_tokens);
    json_out_number(out, "agrees_with_first", round(1e3 * f->agrees) / 1e3);
    if (f->n_divergence) {
        json_out_number(out, "divergence", f->divergence / (double)f->n_divergence);
        json_out_int(out, "divergence_places", (int64_t)f->n_divergence);
    }
    if (w->text) {
        json_out_int(out, "steps", (int64_t)f->passes);
        json_out_int(out, "rows", (int64_t)f->rows);
        json_out_int(out, "logit_rows", (int64_t)f->logit_rows);
    }
    json_out_close(out, '}');
}

/* Ways in turns, run by run: what the machine does meanwhile meets all of them. */
static int run_requests(bench *b, int n_requests, json_out *out, fo_err *err) {
    figures all[MAX_WAYS][MAX_RUNS];
    b->has_first[0] = b->has_first[1] = false;
    for (int run = 0; run < o.runs; run++)
        for (int i = 0; i < b->n_ways; i++) {
            int rc = run_round(b, &b->ways[i], n_requests, &all[i][run], err);
            if (rc) return rc;
        }
    for (int i = 0; i < b->n_ways; i++) {
        qsort(all[i], (size_t)o.runs, sizeof **all, compare_seconds);
        write_row(out, &b->ways[i], n_requests, &all[i][o.runs / 2]);
    }
    return FO_OK;
}

static int open_engines(bench *b, fo_err *err) {
    static const char *const own[] = {"{\"kv\":\"off\"}", "{\"kv\":\"prompt\"}",
                                      "{\"kv\":\"prefix\"}", "{\"kv\":\"dual\"}"};
    static const char *const dense[] = {"1"};
    const char *const *retentions =
        o.retentions.n ? (const char *const *)o.retentions.items : dense;
    const size_t n_retentions = o.retentions.n ? o.retentions.n : 1,
                 n_own = o.ways.n ? o.ways.n : 4;
    for (size_t i = 0; i < n_own + (o.against != NULL); i++)
        for (size_t k = 0; k < n_retentions; k++) {
            if (b->n_ways == MAX_WAYS)
                return fo_fail(err, FO_EINVAL, "at most %d ways, with their retentions", MAX_WAYS);
            way *w = &b->ways[b->n_ways++];
            w->retention = atof(retentions[k]);
            if (i == n_own) continue; /* the other model: without text */
            w->text = o.ways.n ? o.ways.items[i] : own[i];
            int rc = diffusion_json_parse(w->text, &w->asked, err);
            if (rc) return rc;
            if (w->asked.kv == 0 && w->retention < 1) b->n_ways--; /* off: there is none to drop */
        }
    for (int i = 0; i < 2; i++) {
        engine_options eo = {.model = i ? o.against : o.model};
        if (!eo.model) continue;
        int rc = engine_flags_apply(&eo, err);
        if (!rc) rc = engine_open(&b->e[i], &eo, err);
        if (rc) return rc;
        if (engine_denoises(b->e[i]) == (i == 1))
            return fo_fail_field(err, FO_EINVAL, i ? "against" : "model", "%s is %s", eo.model,
                                 i ? "a diffusion model" : "not a diffusion model");
    }
    const int n = engine_model(b->e[0])->n_vocab;
    const int m = b->e[1] ? engine_model(b->e[1])->n_vocab : n;
    draw_prompts(b, n < m ? n : m);
    return FO_OK;
}

static int run(int argc, char **argv) {
    (void)argc, (void)argv;
    static const char *const one[] = {"1"};
    fo_err err = {0};
    bench *b = calloc(1, sizeof *b);
    if (!b) return cli_fail(&(fo_err){.code = FO_ENOMEM, .msg = "out of memory"});
    b->state = 88172645463325252u;
    fo_buf text = {0};
    json_out out = {&text, false};
    int rc = open_engines(b, &err);
    json_out_open(&out, NULL, '{');
    json_out_int(&out, "prompt_tokens", o.prompt);
    json_out_int(&out, "tokens", o.n);
    json_out_int(&out, "runs", o.runs);
    json_out_string(&out, "isa", fo_cpu_level_name(fo_cpu()->level));
    json_out_open(&out, "rows", '[');
    const char *const *requests = o.requests.n ? (const char *const *)o.requests.items : one;
    for (size_t i = 0; i < (o.requests.n ? o.requests.n : 1) && !rc; i++) {
        const int n = atoi(requests[i]);
        if (n < 1 || n > MAX_REQUESTS)
            rc = fo_fail_field(&err, FO_EINVAL, "requests", "requests are 1 to %d at a time",
                               MAX_REQUESTS);
        else
            rc = run_requests(b, n, &out, &err);
    }
    json_out_close(&out, ']');
    json_out_close(&out, '}');
    if (!rc) printf("%s\n", text.data);
    fo_buf_free(&text);
    engine_close(b->e[0]);
    engine_close(b->e[1]);
    free(b);
    return rc ? cli_fail(&err) : 0;
}

const cli_command cli_command_bench_diffusion = {
    "bench diffusion",
    "answers by a diffusion model, in each way of keeping KV",
    "forage bench diffusion --model llada.gguf [--against llama.gguf] [--requests 4] --json",
    NULL,
    options,
    0,
    0,
    run};
