/* cli_bench_context.c - `forage bench context`: how long until the first token of an answer when
 * retrieved contexts were, or were not, seen before. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/generate/engine.h"
#include "kernels/clock.h"
#include "kernels/cpu.h"
#include "kernels/file.h"
#include "kernels/order.h"
#include "server/cli/cli.h"
#include "server/cli/engine_flags.h"
#include "server/base/json.h"

static const uint64_t restart_disk_bytes = (uint64_t)1 << 30;
enum { CHUNKS = 4, QUESTIONS = 8, MAX_PROMPT = 2048, MAX_RUNS = 32, BUSY_TOKENS = 512 };

static struct {
    const char *model;
    int64_t runs;
    bool json, chunk_only, exact_only;
} o = {.runs = 3};

static const cli_option options[] = {
    {"model", CLI_STRING, &o.model, "FILE", "the GGUF file", .required = true},
    {"runs", CLI_INT, &o.runs, "N", "medians of so many (default 3)", .min = 1, .max = MAX_RUNS},
    {"chunk-only", CLI_BOOL, &o.chunk_only, NULL, "only with kv_reuse \"chunk\""},
    {"exact-only", CLI_BOOL, &o.exact_only, NULL, "only with kv_reuse \"exact\""},
    {"json", CLI_BOOL, &o.json, NULL, "one JSON object on stdout (always)"},
    ENGINE_THREADS_FLAG,
    ENGINE_FLAGS,
    {0}};

enum scenario {
    COLD,
    SAME,
    NEW_QUESTION,
    DROPPED,
    REORDERED,
    NEW_FIRST,
    SECOND_USER_BUSY,
    FOUR_USERS_FIRST,
    FOUR_USERS_LAST,
    AFTER_RESTART,
    N_SCENARIOS
};
static const char *const names[] = {"cold",
                                    "same",
                                    "new_question",
                                    "dropped",
                                    "reordered",
                                    "new_first",
                                    "second_user_busy",
                                    "four_users_first",
                                    "four_users_last",
                                    "after_restart"};

typedef struct sizes {
    int system, chunk[CHUNKS], question;
} sizes;

typedef struct bench {
    engine_options options;
    engine *e;
    const sizes *n;
    uint64_t state; /* of the random tokens */
    int32_t system[512], chunk[CHUNKS][512], question[QUESTIONS][64];
    unsigned char salt[32]; /* nobody has seen anything under a new one */
    enum kv_reuse reuse;
    double ms[N_SCENARIOS][MAX_RUNS];
    double rest_ms[MAX_RUNS]; /* chunks computed alone after their first question */
    size_t cached[N_SCENARIOS];
} bench;

static void draw_tokens(bench *b, int32_t *out, int n) {
    /* The middle of the vocabulary: words, not special tokens. */
    uint64_t v = (uint64_t)engine_model(b->e)->n_vocab;
    for (int i = 0; i < n; i++) {
        b->state = b->state * 6364136223846793005u + 1442695040888963407u;
        out[i] = (int32_t)(v / 8 + (b->state >> 33) % (v / 2));
    }
}

typedef struct prompt {
    int32_t ids[MAX_PROMPT];
    size_t n;
    generation_piece pieces[CHUNKS + 2];
    size_t n_pieces;
} prompt;

static void add(prompt *p, const int32_t *ids, int n, enum generation_piece_kind kind) {
    p->pieces[p->n_pieces++] = (generation_piece){p->n, (size_t)n, kind};
    memcpy(p->ids + p->n, ids, (size_t)n * sizeof *ids);
    p->n += (size_t)n;
}

/* System, the chunks that `order` names ("ABC"), a question. */
static void assemble(const bench *b, prompt *p, const char *order, int question) {
    p->n = p->n_pieces = 0;
    add(p, b->system, b->n->system, PIECE_PREFIX);
    for (; *order; order++) add(p, b->chunk[*order - 'A'], b->n->chunk[*order - 'A'], PIECE_CHUNK);
    add(p, b->question[question], b->n->question, PIECE_TAIL);
}

static int submit(bench *b, const prompt *p, size_t max_tokens, generation **g, fo_err *err) {
    generation_request r = {.prompt = p->ids,
                            .n_prompt = p->n,
                            .pieces = p->pieces,
                            .n_pieces = p->n_pieces,
                            .kv_reuse = b->reuse,
                            .max_tokens = max_tokens,
                            .sampling = sampler_params_default(),
                            .ignore_end = true,
                            .no_lookup = true, /* random weights write loops */
                            .n_logprobs = -1};
    memcpy(r.salt, b->salt, sizeof r.salt);
    return engine_submit(b->e, &r, g, NULL, err);
}

static int wait_end(generation *g, generation_event *ev, fo_err *err) {
    do generation_next(g, -1, ev, NULL);
    while (!ev->done);
    return ev->error ? fo_fail(err, ev->error, "%s", ev->message) : FO_OK;
}

static int ask(bench *b, const char *order, int question, generation_event *ev, fo_err *err) {
    prompt p;
    generation *g;
    assemble(b, &p, order, question);
    int rc = submit(b, &p, 1, &g, err);
    if (rc) return rc;
    rc = wait_end(g, ev, err);
    generation_free(g);
    return rc;
}

static int measure(bench *b, int run, enum scenario which, const char *order, int question,
                   fo_err *err) {
    generation_event ev;
    int rc = ask(b, order, question, &ev, err);
    if (rc) return rc;
    b->ms[which][run] = ev.first_token_ms;
    b->cached[which] = ev.cached_tokens;
    return FO_OK;
}

/* The first user has begun to write, and goes on, when the second asks. */
static int measure_busy(bench *b, int run, fo_err *err) {
    prompt p;
    generation *g;
    generation_event ev;
    assemble(b, &p, "ABC", 0);
    int rc = submit(b, &p, BUSY_TOKENS, &g, err);
    if (rc) return rc;
    generation_next(g, -1, &ev, NULL);
    rc = measure(b, run, SECOND_USER_BUSY, "ABC", 1, err);
    generation_next(g, 0, &ev, NULL);
    if (!rc && ev.done)
        rc = fo_fail(err, FO_EBUSY, "the first user had ended before the second was answered");
    generation_free(g);
    return rc;
}

static int measure_four(bench *b, int run, fo_err *err) {
    prompt p;
    generation *g[4] = {0};
    int rc = FO_OK;
    double first = INFINITY, last = 0;
    for (int i = 0; i < 4 && !rc; i++) {
        assemble(b, &p, "ABC", i);
        rc = submit(b, &p, 1, &g[i], err);
    }
    for (int i = 0; i < 4; i++) {
        generation_event ev;
        if (!rc) {
            rc = wait_end(g[i], &ev, err);
            b->cached[ev.first_token_ms < first ? FOUR_USERS_FIRST : FOUR_USERS_LAST] =
                ev.cached_tokens;
            if (ev.first_token_ms < first) first = ev.first_token_ms;
            if (ev.first_token_ms > last) last = ev.first_token_ms;
        }
        generation_free(g[i]);
    }
    b->ms[FOUR_USERS_FIRST][run] = first;
    b->ms[FOUR_USERS_LAST][run] = last;
    return rc;
}

/* Until nothing runs: in chunk mode what was asked first is computed alone, behind its answer. */
static void rest(bench *b, int run) {
    double t0 = fo_now_ms();
    engine_stats st;
    for (;;) {
        engine_get_stats(b->e, &st);
        if (st.n_running + st.n_waiting == 0) break;
        usleep(500);
    }
    b->rest_ms[run] += fo_now_ms() - t0;
}

static int run_once(bench *b, int run, fo_err *err) {
    draw_tokens(b, b->system, b->n->system);
    for (int i = 0; i < CHUNKS; i++) draw_tokens(b, b->chunk[i], b->n->chunk[i]);
    for (int i = 0; i < QUESTIONS; i++) draw_tokens(b, b->question[i], b->n->question);
    static const struct {
        enum scenario which;
        const char *order;
    } steps[] = {{COLD, "ABC"},   {SAME, "ABC"},      {NEW_QUESTION, "ABC"},
                 {DROPPED, "BC"}, {REORDERED, "CAB"}, {NEW_FIRST, "DAB"}};
    int rc = FO_OK;
    b->salt[0]++;
    b->rest_ms[run] = 0;
    for (int i = 0; i < 6 && !rc; i++) {
        rc = measure(b, run, steps[i].which, steps[i].order, i < 2 ? 0 : i - 1, err);
        rest(b, run);
    }
    double rest_ms = b->rest_ms[run];
    b->salt[0]++;
    if (!rc) rc = measure_busy(b, run, err);
    rest(b, run);
    b->salt[0]++;
    if (!rc) rc = measure_four(b, run, err);
    rest(b, run);
    b->rest_ms[run] = rest_ms;
    return rc;
}

static void write_median(json_out *out, const char *name, double *ms) {
    size_t n = (size_t)o.runs;
    qsort(ms, n, sizeof *ms, fo_order_doubles);
    double m = n % 2 ? ms[n / 2] : (ms[n / 2 - 1] + ms[n / 2]) / 2;
    json_out_number(out, name, round(m * 100) / 100);
}

static void write_figures(bench *b, json_out *out) {
    for (int i = 0; i < N_SCENARIOS; i++) write_median(out, names[i], b->ms[i]);
    if (b->reuse == KV_REUSE_CHUNK) write_median(out, "background_ms", b->rest_ms);
    json_out_open(out, "cached_tokens", '{');
    for (int i = 0; i < N_SCENARIOS; i++) json_out_int(out, names[i], (int64_t)b->cached[i]);
    json_out_close(out, '}');
    json_out_int(out, "prompt_tokens",
                 b->n->system + b->n->chunk[0] + b->n->chunk[1] + b->n->chunk[2] + b->n->question);
}

/* Contexts that were asked about twice, met by the next process: from disk. */
static int measure_restart(bench *b, fo_err *err) {
    char folder[] = "/tmp/forage-bench-XXXXXX";
    if (!mkdtemp(folder)) return fo_fail_errno(err, "cannot make %s", folder);
    generation_event ev;
    engine_options eo = b->options;
    eo.kv_dir = folder;
    eo.kv_disk = restart_disk_bytes;
    b->salt[0]++;
    int rc = FO_OK;
    for (int life = 0; life < 2 && !rc; life++) {
        engine_close(b->e);
        b->e = NULL;
        rc = engine_open(&b->e, &eo, err);
        for (int i = 0; i < 2 && !rc && life == 0; i++) {
            rc = ask(b, "ABC", i, &ev, err);
            rest(b, 0);
        }
        if (!rc && life == 1) rc = ask(b, "ABC", 2, &ev, err);
    }
    engine_close(b->e); /* or it would write into the folder once more */
    b->e = NULL;
    fo_remove_tree(folder, NULL);
    for (int run = 0; run < (int)o.runs && !rc; run++) /* one life, one first question */
        b->ms[AFTER_RESTART][run] = ev.first_token_ms;
    if (!rc) b->cached[AFTER_RESTART] = ev.cached_tokens;
    return rc;
}

static int run_sizes(bench *b, const sizes *n, enum kv_reuse reuse, fo_err *err) {
    b->n = n;
    b->reuse = reuse;
    engine_close(b->e);
    b->e = NULL;
    int rc = engine_open(&b->e, &b->options, err);
    for (int run = 0; run < (int)o.runs && !rc; run++) rc = run_once(b, run, err);
    double rest_ms[MAX_RUNS];
    memcpy(rest_ms, b->rest_ms, sizeof rest_ms);
    if (!rc) rc = measure_restart(b, err);
    memcpy(b->rest_ms, rest_ms, sizeof rest_ms);
    return rc;
}

static int run(int argc, char **argv) {
    (void)argc, (void)argv;
    static const sizes even = {128, {256, 256, 256, 256}, 32},
                       odd = {131, {243, 257, 271, 249}, 37};
    fo_err err = {0};
    bench *b = calloc(1, sizeof *b);
    if (!b) return cli_fail(&(fo_err){.code = FO_ENOMEM, .msg = "out of memory"});
    b->state = 88172645463325252u;
    b->options = (engine_options){.model = o.model};
    int rc = engine_flags_apply(&b->options, &err);
    fo_buf text = {0};
    json_out out = {&text, false};
    json_out_open(&out, NULL, '{');
    for (int chunk = o.chunk_only; chunk < 2 - o.exact_only && !rc; chunk++) {
        enum kv_reuse reuse = chunk ? KV_REUSE_CHUNK : KV_REUSE_EXACT;
        if (chunk) json_out_open(&out, "chunk", '{');
        rc = run_sizes(b, &even, reuse, &err);
        if (!rc) write_figures(b, &out);
        if (!rc) rc = run_sizes(b, &odd, reuse, &err);
        json_out_open(&out, "odd", '{');
        if (!rc) write_figures(b, &out);
        json_out_close(&out, '}');
        if (chunk) json_out_close(&out, '}');
    }
    if (!rc) {
        json_out_int(&out, "runs", o.runs);
        json_out_string(&out, "kv_type", engine_flag_values.kv_type);
        json_out_string(&out, "isa", fo_cpu_level_name(fo_cpu()->level));
        json_out_int(&out, "threads",
                     b->options.n_threads > 0 ? (int64_t)b->options.n_threads
                                              : (int64_t)fo_core_count());
        json_out_close(&out, '}');
        printf("%s\n", text.data);
    }
    fo_buf_free(&text);
    engine_close(b->e);
    free(b);
    return rc ? cli_fail(&err) : 0;
}

const cli_command cli_command_bench_context = {
    "bench context",
    "milliseconds to the first token with contexts seen before",
    "forage bench context --model M [--threads 2] --json",
    "A prompt is system, three chunks and a question (128 + 3 x 256 + 32 tokens; 131 + 243, 257,\n"
    "271 + 37 under \"odd\"): cold, the same again, with a new question, without its first chunk,\n"
    "in another order, with a new chunk in front, from a second user while the first one's answer\n"
    "is being written, from four users at once, and with a new question from a process that finds\n"
    "on disk what the one before it was asked twice. The same under \"chunk\" with kv_reuse "
    "\"chunk\", "
    "which\n"
    "between two questions computes what was new once more, alone (background_ms).",
    options,
    0,
    0,
    run};
