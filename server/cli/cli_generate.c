/* cli_generate.c - `forage generate`: write on from one prompt, or from a file of them as an
 * offline batch. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/chat/chat_prompt.h"
#include "engine/generate/engine.h"
#include "kernels/clock.h"
#include "kernels/file.h"
#include "kernels/order.h"
#include "server/cli/cli.h"
#include "server/cli/engine_flags.h"
#include "retrieval/local/local_generator.h"
#include "server/base/json.h"
#include "server/routes/diffusion_json.h"
#include "server/routes/sparse_json.h"
#include "server/base/printable.h"
#include "server/cli/progress.h"

enum { MAX_LINES = 1 << 22, MAX_TOKENS = 1 << 20, IN_FLIGHT = 4, LOOK_MS = 200, MAX_STOPS = 16 };
static const size_t max_input_bytes = (size_t)4 << 30;

static struct {
    const char *model, *prompt, *input, *output, *system, *diffusion, *sparse;
    generator_diffusion denoise; /* what diffusion says, */
    generator_sparse keep;       /* and sparse */
    int64_t n, seed, top_k;
    double temperature, top_p, min_p;
    cli_list stop;
    bool chat, parse_special, exact, ignore_end, token_ids, json;
} o = {.n = 128, .seed = 1, .top_p = 1};

static const cli_option options[] = {
    {"model", CLI_STRING, &o.model, "FILE", "the GGUF file to run", .required = true},
    {"prompt", CLI_STRING, &o.prompt, "TEXT", "write on from this text", .flag_only = true},
    {"input", CLI_STRING, &o.input, "FILE",
     "a JSON object a line: prompt (text or token ids) or messages; max_tokens, temperature, "
     "top_p, top_k, seed, stop, lookup, diffusion, sparse, id",
     .flag_only = true},
    {"output", CLI_STRING, &o.output, "FILE", "where the answers go, a line each, in order",
     .flag_only = true},
    {"n", CLI_INT, &o.n, "N", "tokens to write at most (default 128)", .min = 1, .max = MAX_TOKENS},
    {"temperature", CLI_DOUBLE, &o.temperature, "T", "0: the likeliest token (default)", .min = 0,
     .max = 2},
    {"seed", CLI_INT, &o.seed, "N", "of the draws (default 1)", .min = 0, .max = 9e15},
    {"top-p", CLI_DOUBLE, &o.top_p, "P", "draw from the likeliest that add up to P (default 1)",
     .min = 0, .max = 1},
    {"top-k", CLI_INT, &o.top_k, "K", "draw from the K likeliest (default 0: all)", .min = 0,
     .max = MAX_TOKENS},
    {"min-p", CLI_DOUBLE, &o.min_p, "P", "leave out tokens below P times the best (default 0)",
     .min = 0, .max = 1},
    {"diffusion", CLI_STRING, &o.diffusion, "JSON",
     "how a diffusion model writes: an object of steps, block_length, remasking, eps, guidance "
     "(or cfg_scale), threshold, verify, kv, refresh",
     .flag_only = true},
    {"sparse", CLI_STRING, &o.sparse, "JSON",
     "which share of its KV each head keeps: an object of retention, delay, block, sink, window, "
     "refresh",
     .flag_only = true},
    {"stop", CLI_LIST, &o.stop, "TEXT", "end before this text; may be given again, 16 times in all",
     .flag_only = true},
    {"chat", CLI_BOOL, &o.chat, NULL, "put prompts into the model's chat template"},
    {"system", CLI_STRING, &o.system, "TEXT", "the system message of --chat", .flag_only = true},
    {"parse-special", CLI_BOOL, &o.parse_special, NULL,
     "special tokens in prompts and messages are tokens, not text"},
    {"ignore-end", CLI_BOOL, &o.ignore_end, NULL, "go on past the model's end token"},
    {"exact", CLI_BOOL, &o.exact, NULL, "F32 arithmetic instead of what the server runs"},
    {"token-ids", CLI_BOOL, &o.token_ids, NULL, "put the ids of the answer into the output"},
    CLI_PROGRESS_OPTION,
    {"json", CLI_BOOL, &o.json, NULL, "one prompt: a JSON object on stdout"},
    ENGINE_THREADS_FLAG,
    ENGINE_FLAGS,
    {0}};

/* ---- a job ---------------------------------------------------------------------------------- */

typedef struct job {
    cJSON *line; /* NULL: the prompt of the command line */
    int32_t *ids;
    size_t n_ids;
    const char *stop[MAX_STOPS];
    size_t n_stop;
    diffusion_params diffusion;
    sparse_params sparse;
    generation_request request;
    generation *g;
    fo_err err; /* code 0: none */
} job;

static void job_free(job *j) {
    generation_free(j->g);
    cJSON_Delete(j->line);
    free(j->ids);
    *j = (job){0};
}

typedef struct batch {
    engine *e;
    chat_prompt *chat;
    fo_err why; /* the model's template cannot be used; code 0: it can */
    bool told;  /* that ChatML is used */
    size_t n_lines, n_done, n_failed;
    uint64_t prompt_tokens, cached_tokens, completion_tokens;
    double *first_token_ms, *total_ms; /* [n_lines] */
    double began_ms;
    progress *progress; /* of a file; NULL: nothing is shown */
    int work;           /* its stage */
} batch;

/* What is done within answers: a canvas, or a long text, may take its time. */
static void show_work(batch *b) {
    engine_stats st;
    if (!b->progress) return;
    engine_get_stats(b->e, &st);
    progress_stage_set(b->progress, b->work,
                       engine_denoises(b->e) ? st.denoise_passes : st.decode_tokens);
}

static int messages_tokens(batch *b, const cJSON *messages, job *j) {
    fo_err why = {0};
    int rc =
        chat_prompt_tokens(b->chat, messages, o.parse_special, &j->ids, &j->n_ids, &why, &j->err);
    if (rc || !why.code || b->told) return rc;
    b->told = true;
    printable_say(stderr, "forage: ChatML is used: %s", b->why.code ? b->why.msg : why.msg);
    return FO_OK;
}

static int text_tokens(batch *b, const char *text, job *j) {
    if (!o.chat) {
        unsigned flags = TOKENIZER_ADD_SPECIAL | (o.parse_special ? TOKENIZER_PARSE_SPECIAL : 0u);
        return tokenizer_encode_alloc(engine_tokenizer(b->e), text, strlen(text), flags, &j->ids,
                                      &j->n_ids, &j->err);
    }
    cJSON *messages = cJSON_CreateArray();
    const char *parts[2][2] = {{"system", o.system}, {"user", text}};
    for (int i = o.system ? 0 : 1; i < 2; i++) {
        cJSON *m = cJSON_CreateObject();
        cJSON_AddStringToObject(m, "role", parts[i][0]);
        cJSON_AddStringToObject(m, "content", parts[i][1]);
        cJSON_AddItemToArray(messages, m);
    }
    int rc = messages_tokens(b, messages, j);
    cJSON_Delete(messages);
    return rc;
}

static int array_tokens(const cJSON *array, job *j) {
    int n = cJSON_GetArraySize(array);
    j->ids = malloc(((size_t)n + 1) * sizeof *j->ids);
    if (!j->ids) return fo_no_memory(&j->err);
    const cJSON *item;
    cJSON_ArrayForEach(item, array) {
        double v = item->valuedouble;
        if (!cJSON_IsNumber(item) || v != floor(v) || v < 0 || v > INT32_MAX)
            return fo_fail_field(&j->err, FO_EINVAL, "prompt", "prompt[%zu] is no token id",
                                 j->n_ids);
        j->ids[j->n_ids++] = (int32_t)v;
    }
    return FO_OK;
}

static void job_defaults(job *j) {
    generation_request *r = &j->request;
    r->max_tokens = (size_t)o.n;
    r->sampling = sampler_params_default();
    r->sampling.temperature = (float)o.temperature;
    r->sampling.top_p = (float)o.top_p;
    r->sampling.top_k = (int)o.top_k;
    r->sampling.min_p = (float)o.min_p;
    r->sampling.seed = (uint64_t)o.seed;
    r->ignore_end = o.ignore_end;
    r->n_logprobs = -1;
    r->diffusion = local_diffusion(&o.denoise, &j->diffusion);
    r->sparse = local_sparse(&o.keep, &j->sparse);
    for (size_t i = 0; i < o.stop.n; i++) j->stop[j->n_stop++] = o.stop.items[i];
}

/* What a line says on top of the flags. Fields that it does not know are left alone: such files
 * carry references and notes. */
static int job_read(batch *b, job *j) {
    json_in in;
    json_in_object(&in, j->line, "", &j->err);
    const cJSON *messages = json_in_array(&in, "messages", 4096);
    const cJSON *prompt = json_in_any(&in, "prompt");
    generation_request *r = &j->request;
    sampler_params *s = &r->sampling;
    r->max_tokens = (size_t)json_in_int(&in, "max_tokens", o.n, 1, MAX_TOKENS);
    s->temperature = (float)json_in_number(&in, "temperature", o.temperature, 0, 2);
    s->top_p = (float)json_in_number(&in, "top_p", o.top_p, 0, 1);
    s->top_k = (int)json_in_int(&in, "top_k", o.top_k, 0, MAX_TOKENS);
    s->seed = (uint64_t)json_in_int(&in, "seed", o.seed, 0, INT64_C(1) << 53);
    r->no_lookup = !json_in_bool(&in, "lookup", true);
    const cJSON *stop = json_in_array(&in, "stop", MAX_STOPS), *item;
    generator_diffusion d;
    generator_sparse keep;
    diffusion_json_read(&in, &d);
    sparse_json_read(&in, &keep);
    if (json_in_failed(&in)) return j->err.code;
    if (d.asked) r->diffusion = local_diffusion(&d, &j->diffusion);
    if (keep.asked) r->sparse = local_sparse(&keep, &j->sparse);
    if (stop) j->n_stop = 0;
    cJSON_ArrayForEach(item, stop) {
        if (!cJSON_IsString(item))
            return fo_fail_field(&j->err, FO_EINVAL, "stop", "stop holds something but strings");
        j->stop[j->n_stop++] = item->valuestring;
    }
    if (messages) return messages_tokens(b, messages, j);
    if (cJSON_IsString(prompt)) return text_tokens(b, prompt->valuestring, j);
    if (cJSON_IsArray(prompt)) return array_tokens(prompt, j);
    return fo_fail_field(&j->err, FO_EINVAL, "prompt", "the line has neither prompt nor messages");
}

/* Tokenise and hand in; waits where the engine's limits say so. */
static int job_submit(batch *b, job *j, const char *text) {
    job_defaults(j);
    int rc = text ? text_tokens(b, text, j) : job_read(b, j);
    if (rc) return rc;
    j->request.prompt = j->ids;
    j->request.n_prompt = j->n_ids;
    j->request.stop = j->stop;
    j->request.n_stop = j->n_stop;
    for (;;) {
        int64_t wait;
        rc = engine_submit(b->e, &j->request, &j->g, &wait, &j->err);
        if (rc != FO_EBUSY) return rc;
        j->err = (fo_err){0};
        struct timespec t = {wait / 1000, (wait % 1000) * 1000000};
        nanosleep(&t, NULL);
    }
}

static void write_result(job *j, const generation_event *ev, const fo_buf *text, fo_buf *out) {
    json_out w = {out, false};
    json_out_open(&w, NULL, '{');
    const cJSON *id = j->line ? cJSON_GetObjectItemCaseSensitive(j->line, "id") : NULL;
    if (cJSON_IsString(id)) json_out_string(&w, "id", id->valuestring);
    if (cJSON_IsNumber(id)) json_out_number(&w, "id", id->valuedouble);
    if (j->err.code) {
        json_out_string(&w, "error", j->err.msg);
        json_out_close(&w, '}');
        return;
    }
    json_out_bytes(&w, "text", text->data ? text->data : "", text->len);
    json_out_string(&w, "finish_reason", ev->finish_reason);
    json_out_int(&w, "prompt_tokens", (int64_t)ev->prompt_tokens);
    json_out_int(&w, "cached_tokens", (int64_t)ev->cached_tokens);
    json_out_int(&w, "completion_tokens", (int64_t)ev->completion_tokens);
    const generator_held held = local_held(ev);
    diffusion_json_write(&w, (size_t)ev->passes, ev->completion_tokens, ev->kv_note);
    sparse_json_write(&w, &held);
    json_out_open(&w, "timings_ms", '{');
    json_out_number(&w, "queue", round(ev->queue_ms * 1e3) / 1e3);
    json_out_number(&w, "prefill", round(ev->prefill_ms * 1e3) / 1e3);
    json_out_number(&w, "first_token", round(ev->first_token_ms * 1e3) / 1e3);
    json_out_number(&w, "decode", round(ev->decode_ms * 1e3) / 1e3);
    json_out_close(&w, '}');
    if (o.token_ids) {
        size_t n;
        const generation_token *t = generation_tokens(j->g, &n);
        json_out_open(&w, "tokens", '[');
        for (size_t i = 0; i < n; i++) json_out_int(&w, NULL, t[i].token);
        json_out_close(&w, ']');
    }
    json_out_close(&w, '}');
}

/* Wait for a job and append its line. stream: text also goes to stdout as it comes. */
static void job_finish(batch *b, job *j, bool stream, fo_buf *out) {
    fo_buf text = {0};
    generation_event ev = {0};
    size_t shown = 0;
    while (j->g && !ev.done) {
        generation_next(j->g, b->progress ? LOOK_MS : -1, &ev, &text);
        show_work(b);
        if (!stream || text.len == shown) continue;
        printable_exact(stdout, text.data + shown, text.len - shown);
        fflush(stdout);
        shown = text.len;
    }
    if (ev.error && !j->err.code) fo_fail(&j->err, ev.error, "%s", ev.message);
    if (j->err.code) b->n_failed++;
    b->prompt_tokens += ev.prompt_tokens;
    b->cached_tokens += ev.cached_tokens;
    b->completion_tokens += ev.completion_tokens;
    if (b->first_token_ms) {
        b->first_token_ms[b->n_done] = ev.first_token_ms;
        b->total_ms[b->n_done] = ev.first_token_ms + ev.decode_ms;
    }
    b->n_done++;
    if (out) write_result(j, &ev, &text, out);
    fo_buf_free(&text);
}

/* ---- one prompt, or a file of them ---------------------------------------------------------- */

static int run_prompt(batch *b) {
    job j = {0};
    fo_buf line = {0};
    job_submit(b, &j, o.prompt);
    job_finish(b, &j, !o.json, o.json ? &line : NULL);
    if (o.json) cli_print_json(&line);
    if (!o.json && !j.err.code) putchar('\n');
    int rc = j.err.code && !o.json ? cli_fail(&j.err) : j.err.code != 0;
    fo_buf_free(&line);
    job_free(&j);
    return rc;
}

static double quantile(double *v, size_t n, double q) {
    if (n == 0) return 0;
    qsort(v, n, sizeof *v, fo_order_doubles);
    return v[(size_t)(q * (double)(n - 1) + .5)];
}

static void print_summary(batch *b) {
    engine_stats st;
    engine_get_stats(b->e, &st);
    double s = (fo_now_ms() - b->began_ms) / 1e3;
    printf("{\"prompts\":%zu,\"failed\":%zu,\"seconds\":%.3f,\"prompt_tokens\":%llu,"
           "\"cached_tokens\":%llu,\"completion_tokens\":%llu,\"completion_tokens_per_s\":%.1f,"
           "\"tokens_per_s\":%.1f,\"first_token_p50_ms\":%.1f,\"first_token_p95_ms\":%.1f,"
           "\"total_p50_ms\":%.1f,\"total_p95_ms\":%.1f,\"steps\":%llu,\"passes\":%llu,"
           "\"preemptions\":%llu,\"drafted_tokens\":%llu,\"kept_tokens\":%llu}\n",
           b->n_done, b->n_failed, s, (unsigned long long)b->prompt_tokens,
           (unsigned long long)b->cached_tokens, (unsigned long long)b->completion_tokens,
           (double)b->completion_tokens / s, (double)(b->completion_tokens + b->prompt_tokens) / s,
           quantile(b->first_token_ms, b->n_done, .5), quantile(b->first_token_ms, b->n_done, .95),
           quantile(b->total_ms, b->n_done, .5), quantile(b->total_ms, b->n_done, .95),
           (unsigned long long)st.steps, (unsigned long long)st.denoise_passes,
           (unsigned long long)st.preemptions, (unsigned long long)st.drafted_tokens,
           (unsigned long long)st.kept_tokens);
}

/* Lines of text, split in place; blank ones are left out. */
static char **split_lines(char *text, size_t size, size_t *n) {
    size_t cap = 0;
    char **lines = NULL;
    *n = 0;
    for (char *p = text; p < text + size;) {
        char *end = memchr(p, '\n', (size_t)(text + size - p));
        if (end) *end = '\0';
        if (p[strspn(p, " \t\r")]) {
            if (*n == cap) {
                cap = cap ? 2 * cap : 1024;
                char **more = realloc(lines, cap * sizeof *more);
                if (!more) return free(lines), NULL;
                lines = more;
            }
            lines[(*n)++] = p;
        }
        p = end ? end + 1 : text + size;
    }
    return lines ? lines : calloc(1, sizeof *lines);
}

/* Jobs run in a ring: handed in ahead of the one whose turn it is to be written. */
static int run_ring(batch *b, char **lines, fo_file_writer *w, fo_err *err) {
    size_t ring =
        (size_t)(engine_flag_values.max_sequences ? engine_flag_values.max_sequences : 16) *
        IN_FLIGHT;
    job *jobs = calloc(ring, sizeof *jobs);
    if (!jobs) return fo_no_memory(err);
    int rc = FO_OK;
    size_t next = 0;
    fo_buf out = {0};
    for (size_t i = 0; i < b->n_lines && !rc; i++) {
        for (; next < b->n_lines && next < i + ring; next++) {
            job *j = &jobs[next % ring];
            if (json_parse(lines[next], strlen(lines[next]), &j->line, &j->err) == FO_OK)
                job_submit(b, j, NULL);
        }
        job *j = &jobs[i % ring];
        fo_buf_clear(&out);
        job_finish(b, j, false, &out);
        fo_buf_char(&out, '\n');
        rc = out.failed ? fo_no_memory(err) : fo_file_write(w, out.data, out.len, err);
        job_free(j);
        progress_add(b->progress, 1);
    }
    for (size_t i = 0; i < ring; i++) job_free(&jobs[i]);
    fo_buf_free(&out);
    free(jobs);
    return rc;
}

static int run_file(batch *b) {
    fo_err err = {0};
    char *text = NULL, **lines = NULL;
    size_t size;
    fo_file_writer *w = NULL;
    int rc = fo_file_read(o.input, max_input_bytes, &text, &size, &err);
    if (!rc && !(lines = split_lines(text, size, &b->n_lines))) rc = fo_no_memory(&err);
    if (!rc && b->n_lines > MAX_LINES)
        rc = fo_fail(&err, FO_ELIMIT, "%s has more than %d lines", o.input, MAX_LINES);
    if (!rc) {
        b->first_token_ms = calloc(b->n_lines + 1, sizeof *b->first_token_ms);
        b->total_ms = calloc(b->n_lines + 1, sizeof *b->total_ms);
        if (!b->first_token_ms || !b->total_ms) rc = fo_no_memory(&err);
    }
    if (!rc) rc = fo_file_create(&w, o.output, &err);
    if (!rc) {
        b->began_ms = fo_now_ms();
        b->progress = progress_begin("generate", "prompts", b->n_lines, o.json);
        b->work = engine_denoises(b->e) ? progress_stage(b->progress, "denoise", "passes", 0)
                                        : progress_stage(b->progress, "write", "tokens", 0);
        rc = run_ring(b, lines, w, &err);
        progress_end(b->progress);
        if (!rc)
            rc = fo_file_commit(w, &err);
        else
            fo_file_abort(w);
    }
    if (!rc) print_summary(b);
    free(b->first_token_ms);
    free(b->total_ms);
    free(lines);
    free(text);
    if (rc) return cli_fail(&err);
    return b->n_failed ? 1 : 0;
}

static int run(int argc, char **argv) {
    (void)argc, (void)argv;
    if (!o.prompt == !o.input) return cli_wrong_usage("give --prompt or --input");
    if (!o.input != !o.output) return cli_wrong_usage("--input and --output go together");
    if (o.stop.n > MAX_STOPS)
        return cli_wrong_usage("--stop is taken %d times at most, not %zu", MAX_STOPS, o.stop.n);
    fo_err err = {0};
    batch b = {0};
    engine_options eo = {.model = o.model, .exact = o.exact};
    int rc = o.diffusion ? diffusion_json_parse(o.diffusion, &o.denoise, &err) : FO_OK;
    if (!rc && o.sparse) rc = sparse_json_parse(o.sparse, &o.keep, &err);
    if (!rc) rc = engine_flags_apply(&eo, &err);
    if (!rc) rc = engine_open(&b.e, &eo, &err);
    if (rc) return cli_fail(&err);
    rc = chat_prompt_create(&b.chat, engine_gguf(b.e), engine_tokenizer(b.e), &b.why, &err);
    int status = rc ? cli_fail(&err) : o.prompt ? run_prompt(&b) : run_file(&b);
    chat_prompt_free(b.chat);
    engine_close(b.e);
    return status;
}

const cli_command cli_command_generate = {
    "generate",
    "write text with a model",
    "forage generate --model m.gguf --prompt TEXT [--n 128] [--temperature 0] [--chat]\n"
    "forage generate --model m.gguf --input prompts.jsonl --output out.jsonl",
    "One prompt streams to stdout. A file of prompts runs as a batch: a line of the output "
    "answers\n"
    "the line of the input, or says what was wrong with it (then the exit status is 1); figures "
    "of\n"
    "the whole come on stdout.",
    options,
    0,
    0,
    run};
