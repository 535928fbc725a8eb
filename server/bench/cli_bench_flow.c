/* cli_bench_flow.c - `forage bench flow`: how evenly the tokens of those who are being answered come
 * while a long prompt is read beside them, and what that costs the prompt. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/generate/engine.h"
#include "kernels/clock.h"
#include "kernels/cpu.h"
#include "kernels/order.h"
#include "server/cli/cli.h"
#include "server/cli/engine_flags.h"

enum {
    WRITER_PROMPT = 64,
    ALONE = 48,       /* tokens that tell a step's time, */
    ALONE_MOST = 400, /* and as many more, */
    ALONE_MS = 5000,  /* within such a time, how even the machine itself is */
    MOST_WRITERS = 16,
    MOST_TOKENS = 1 << 14
};

static struct {
    const char *model;
    int64_t prompt, writers;
    bool json;
} o = {.prompt = 4096, .writers = 1};

static const cli_option options[] = {
    {"model", CLI_STRING, &o.model, "FILE", "the GGUF file", .required = true},
    {"prompt", CLI_INT, &o.prompt, "N", "tokens of the prompt that comes (default 4096)", .min = 64,
     .max = MOST_TOKENS},
    {"writers", CLI_INT, &o.writers, "N", "who are being answered meanwhile (default 1)", .min = 1,
     .max = MOST_WRITERS},
    ENGINE_THREADS_FLAG,
    ENGINE_FLAGS,
    {"json", CLI_BOOL, &o.json, NULL, "one JSON object on stdout (always)"},
    {0}};

/* Sorts. */
static double quantile(double *v, size_t n, double q) {
    if (!n) return NAN;
    qsort(v, n, sizeof *v, fo_order_doubles);
    const size_t i = (size_t)(q * (double)n);
    return v[i < n ? i : n - 1];
}

/* Any text, another one for each number: nothing is shared between two. */
static int submit(engine *e, int number, size_t n_prompt, size_t max_tokens, generation **out,
                  fo_err *err) {
    int32_t *tokens = malloc(n_prompt * sizeof *tokens);
    if (!tokens) return fo_no_memory(err);
    const uint64_t n_vocab = (uint64_t)engine_model(e)->n_vocab;
    uint64_t s = (uint64_t)number * 0x9E3779B97F4A7C15u + 1;
    for (size_t i = 0; i < n_prompt; i++) {
        s = s * 6364136223846793005u + 1442695040888963407u;
        tokens[i] = (int32_t)((s >> 33) % n_vocab);
    }
    const generation_request r = {.prompt = tokens,
                                  .n_prompt = n_prompt,
                                  .max_tokens = max_tokens,
                                  .sampling = sampler_params_default(),
                                  .ignore_end = true,
                                  .no_lookup = true,
                                  .drop_kv = true,
                                  .n_logprobs = -1};
    int rc = engine_submit(e, &r, out, NULL, err);
    free(tokens);
    return rc;
}

static int wait_for_end(generation *g, double *ms, fo_err *err) {
    generation_event ev;
    do generation_next(g, -1, &ev, NULL);
    while (!ev.done);
    *ms = ev.first_token_ms;
    return ev.error ? fo_fail(err, ev.error, "%s", ev.message) : FO_OK;
}

/* Milliseconds between tokens of g: n of them, `most`, or until `until` has ended, or, once there are ALONE, ms are over
 * (0: no limit). What came at once shares the time. */
static int listen(generation *g, generation *until, double *gaps, size_t *n, size_t most, double ms,
                  fo_err *err) {
    generation_event ev, other = {.done = false};
    const double began = fo_now_ms();
    double last = 0;
    *n = 0;
    while (*n < most && !other.done && !(ms > 0 && *n >= ALONE && fo_now_ms() - began > ms)) {
        generation_next(g, -1, &ev, NULL);
        if (ev.error) return fo_fail(err, ev.error, "%s", ev.message);
        const double now = fo_now_ms();
        for (size_t i = 0; last > 0 && i < ev.n_new && *n < most; i++)
            gaps[(*n)++] = (now - last) / (double)ev.n_new;
        if (ev.n_new) last = now;
        if (ev.done) break;
        if (until) generation_next(until, 0, &other, NULL);
    }
    return FO_OK;
}

static int measure(engine *e, fo_err *err) {
    generation *writers[MOST_WRITERS] = {NULL}, *reader = NULL;
    const size_t most = (size_t)engine_model(e)->n_context - WRITER_PROMPT;
    const size_t written = most < MOST_TOKENS ? most : MOST_TOKENS;
    static double gaps[MOST_TOKENS];
    size_t n;
    double alone_ms = 0, beside_ms = 0;
    int rc = submit(e, 1, (size_t)o.prompt, 1, &reader, err);
    if (!rc) rc = wait_for_end(reader, &alone_ms, err);
    generation_free(reader);
    reader = NULL;
    for (int i = 0; !rc && i < o.writers; i++)
        rc = submit(e, 100 + i, WRITER_PROMPT, written, &writers[i], err);
    if (!rc) rc = listen(writers[0], NULL, gaps, &n, ALONE / 2, 0, err); /* all of them write now */
    if (!rc) rc = listen(writers[0], NULL, gaps, &n, ALONE_MOST, ALONE_MS, err);
    const double step_ms = rc ? 0 : quantile(gaps, n, .5),
                 alone_p99_ms = rc ? 0 : quantile(gaps, n, .99);
    if (!rc) rc = submit(e, 2, (size_t)o.prompt, 1, &reader, err);
    if (!rc) rc = listen(writers[0], reader, gaps, &n, MOST_TOKENS, 0, err);
    for (int i = 0; i < MOST_WRITERS; i++) generation_free(writers[i]);
    if (!rc) rc = wait_for_end(reader, &beside_ms, err);
    generation_free(reader);
    if (rc) return rc;
    const double p50 = quantile(gaps, n, .5), p99 = quantile(gaps, n, .99);
    printf("{\"step_ms\":%.2f,\"step_p99_ms\":%.2f,\"beside_p50_ms\":%.2f,\"beside_p99_ms\":%.2f,"
           "\"stretch_p50\":%.2f,"
           "\"stretch_p99\":%.2f,\"tokens_beside\":%zu,\"prompt\":%d,\"prompt_alone_ms\":%.0f,"
           "\"prompt_beside_ms\":%.0f,\"writers\":%d,\"isa\":\"%s\"}\n",
           step_ms, alone_p99_ms, p50, p99, p50 / step_ms, p99 / step_ms, n, (int)o.prompt,
           alone_ms, beside_ms, (int)o.writers, fo_cpu_level_name(fo_cpu()->level));
    return FO_OK;
}

static int run(int argc, char **argv) {
    (void)argc, (void)argv;
    fo_err err = {0};
    engine_options eo = {.model = o.model};
    engine *e = NULL;
    int rc = engine_flags_apply(&eo, &err);
    if (!rc) rc = engine_open(&e, &eo, &err);
    if (!rc) rc = measure(e, &err);
    engine_close(e);
    return rc ? cli_fail(&err) : 0;
}

const cli_command cli_command_bench_flow = {
    "bench flow",
    "how evenly tokens come while a long prompt is read beside them",
    "forage bench flow --model M [--prompt 4096] [--writers 1] [--read-stretch 2] --json",
    "\"step_ms\" is the median time between two tokens while nobody else wants anything,\n"
    "\"step_p99_ms\" its hundredth longest, which is the machine's own unevenness,\n"
    "\"beside_...\" the same while the prompt is read, \"stretch_...\" their quotients.",
    options,
    0,
    0,
    run};
