/* cli_inspect.c - `forage inspect`: a model file's metadata and tensors, what it needs, whether it
 * will run. */
#include <stdio.h>
#include <string.h>
#include "engine/tools/inspect.h"
#include "kernels/utf8.h"
#include "server/cli/cli.h"
#include "server/base/json.h"
#include "server/base/printable.h"

static struct { bool json, all; } o;

static const cli_option options[] = {
    {"json", CLI_BOOL, &o.json, NULL, "one JSON object on stdout"},
    {"all", CLI_BOOL, &o.all, NULL, "long arrays and every tensor in full", .flag_only = true},
    {0}};

enum { SHOWN_ELEMENTS = 4, SHOWN_BYTES = 100 };

/* The file's bytes are anybody's. */
static void print_text(const char *s, size_t n, bool json) {
    fo_buf b = {0};
    if (json) {
        json_write_string(&b, s, n);
    } else {
        fo_buf_char(&b, '"');
        for (size_t i = 0; i < n; i++) {
            if (s[i] == '"' || s[i] == '\\') fo_buf_char(&b, '\\');
            fo_buf_char(&b, s[i]);
        }
        fo_buf_char(&b, '"');
    }
    printable_put(stdout, b.data ? b.data : "", b.len, PRINTABLE_LINE);
    fo_buf_free(&b);
}

static void print_element(const gguf_kv *kv, size_t i) {
    if (kv->strs) {
        size_t n = kv->strs[i].len;
        bool cut = !o.all && !o.json && n > SHOWN_BYTES;
        if (cut)
            for (n = SHOWN_BYTES; n && !fo_utf8_boundary(kv->strs[i].ptr[n]);) n--;
        print_text(kv->strs[i].ptr, n, o.json);
        if (cut) printf("... (%zu bytes)", kv->strs[i].len);
    } else if (kv->elem == GGUF_BOOL) {
        fputs(gguf_integer_at(kv, i) ? "true" : "false", stdout);
    } else if (kv->elem == GGUF_F32 || kv->elem == GGUF_F64) {
        double v = gguf_number_at(kv, i);
        if (o.json && (v != v || v - v != 0))
            fputs("null", stdout);
        else
            printf("%.9g", v);
    } else if (kv->elem == GGUF_U64) {
        uint64_t v;
        memcpy(&v, (const char *)kv->values + 8 * i, 8);
        printf("%llu", (unsigned long long)v);
    } else {
        printf("%lld", (long long)gguf_integer_at(kv, i));
    }
}

static void print_value(const gguf_kv *kv) {
    if (kv->kind != GGUF_ARRAY) {
        print_element(kv, 0);
        return;
    }
    size_t shown = o.all || kv->n < SHOWN_ELEMENTS ? kv->n : SHOWN_ELEMENTS;
    putchar('[');
    for (size_t i = 0; i < shown; i++) {
        if (i) fputs(", ", stdout);
        print_element(kv, i);
    }
    if (shown < kv->n && !o.json) fputs(", ...", stdout);
    putchar(']');
}

static double mega(uint64_t bytes) {
    return (double)bytes / 1e6;
}

/* --- for people --- */
static void print_metadata(const gguf *g) {
    printf("metadata (%zu)\n", gguf_n_kv(g));
    for (size_t i = 0; i < gguf_n_kv(g); i++) {
        const gguf_kv *kv = gguf_kv_at(g, i);
        fputs("  ", stdout);
        print_text(kv->key.ptr, kv->key.len, false);
        if (kv->kind == GGUF_ARRAY)
            printf(" %s[%zu] ", gguf_kind_name(kv->elem), kv->n);
        else
            printf(" %s ", gguf_kind_name(kv->kind));
        print_value(kv);
        putchar('\n');
    }
}

static void print_tensors(const gguf *g) {
    size_t n = gguf_n_tensors(g), shown = o.all || n <= 24 ? n : 20;
    printf("tensors (%zu)\n", n);
    for (size_t i = 0; i < shown; i++) {
        const gguf_tensor *t = gguf_tensor_at(g, i);
        fputs("  ", stdout);
        print_text(t->name.ptr, t->name.len, false);
        printf(" %s ", quant_type_traits(t->type)->name);
        for (uint32_t d = 0; d < t->n_dims; d++)
            printf("%s%llu", d ? " x " : "", (unsigned long long)t->dims[d]);
        printf(" (%.2f MB)\n", mega(t->size_bytes));
    }
    if (shown < n) printf("  ... and %zu more (--all shows them)\n", n - shown);
}

static void print_summary(const gguf *g, const inspect_report *r) {
    printf("GGUF version %u, %.1f MB, alignment %zu\n", gguf_version(g), mega(r->file_bytes),
           gguf_alignment(g));
    fputs("architecture ", stdout);
    print_text(r->architecture, strlen(r->architecture), false);
    fputs(", name ", stdout);
    print_text(r->name, strlen(r->name), false);
    printf(": %s, %.2f M parameters\n", inspect_kind_name(r->kind), (double)r->n_parameters / 1e6);
    for (int t = 0; t < QUANT_TYPE_END; t++)
        if (r->types[t].n_tensors)
            printf("  %-6s %5zu tensors %10.2f MB\n", quant_type_traits((uint32_t)t)->name,
                   r->types[t].n_tensors, mega(r->types[t].bytes));
    if (r->n_layers)
        printf("%d layers, context %d, vocabulary %d\n", r->n_layers, r->n_context, r->n_vocab);
    printf("memory: %.1f MB repacked weights", mega(r->weight_bytes));
    if (r->scratch_bytes) printf(" + %.1f MB scratch", mega(r->scratch_bytes));
    if (r->kv_bytes_per_token)
        printf(" + %.1f MB KV (%d tokens, %.2f KB each in BF16)",
               mega(r->kv_bytes_per_token * (uint64_t)r->kv_tokens), r->kv_tokens,
               (double)r->kv_bytes_per_token / 1e3);
    printf(" = %.1f MB", mega(r->needed_bytes));
    if (r->available_bytes) printf(" of %.0f MB available", mega(r->available_bytes));
    putchar('\n');
    if (!r->runs)
        printable_say(stdout, "will not run: %s", r->reason);
    else if (!r->fits)
        printable_say(stdout, "will run only with more memory: %s", r->reason);
    else
        puts("will run");
}

/* --- for programs --- */
static void print_json(const gguf *g, const inspect_report *r) {
    fputs("{\"architecture\":", stdout);
    print_text(r->architecture, strlen(r->architecture), true);
    fputs(",\"name\":", stdout);
    print_text(r->name, strlen(r->name), true);
    printf(",\"kind\":\"%s\",\"version\":%u,\"file_bytes\":%llu,\"parameters\":%llu,"
           "\"layers\":%d,\"context\":%d,\"vocab\":%d,\"weight_bytes\":%llu,\"scratch_bytes\":%llu,"
           "\"kv_bytes_per_token\":%llu,\"needed_bytes\":%llu,\"available_bytes\":%llu,"
           "\"runs\":%s,\"fits\":%s,\"reason\":",
           inspect_kind_name(r->kind), gguf_version(g), (unsigned long long)r->file_bytes,
           (unsigned long long)r->n_parameters, r->n_layers, r->n_context, r->n_vocab,
           (unsigned long long)r->weight_bytes, (unsigned long long)r->scratch_bytes,
           (unsigned long long)r->kv_bytes_per_token, (unsigned long long)r->needed_bytes,
           (unsigned long long)r->available_bytes, r->runs ? "true" : "false",
           r->fits ? "true" : "false");
    print_text(r->reason, strlen(r->reason), true);
    fputs(",\"metadata\":{", stdout);
    for (size_t i = 0; i < gguf_n_kv(g); i++) {
        const gguf_kv *kv = gguf_kv_at(g, i);
        if (i) putchar(',');
        print_text(kv->key.ptr, kv->key.len, true);
        putchar(':');
        if (kv->kind == GGUF_ARRAY && !o.all)
            printf("{\"array\":\"%s\",\"length\":%zu}", gguf_kind_name(kv->elem), kv->n);
        else
            print_value(kv);
    }
    fputs("},\"tensors\":[", stdout);
    for (size_t i = 0; i < gguf_n_tensors(g); i++) {
        const gguf_tensor *t = gguf_tensor_at(g, i);
        fputs(i ? ",{\"name\":" : "{\"name\":", stdout);
        print_text(t->name.ptr, t->name.len, true);
        printf(",\"type\":\"%s\",\"shape\":[", quant_type_traits(t->type)->name);
        for (uint32_t d = 0; d < t->n_dims; d++)
            printf("%s%llu", d ? "," : "", (unsigned long long)t->dims[d]);
        printf("],\"bytes\":%zu}", t->size_bytes);
    }
    puts("]}");
}

static int run(int argc, char **argv) {
    (void)argc;
    fo_err err = {0};
    gguf *g;
    if (gguf_open(&g, argv[0], &err)) return cli_fail(&err);
    inspect_report r;
    inspect_file(&r, argv[0], g);
    if (o.json) {
        print_json(g, &r);
    } else {
        print_metadata(g);
        print_tensors(g);
        print_summary(g, &r);
    }
    gguf_close(g);
    return 0;
}

const cli_command cli_command_inspect = {"inspect",
                                         "what a GGUF file holds and whether it will run",
                                         "forage inspect model.gguf [--all] [--json]",
                                         "Metadata, tensors, memory needed, whether it will run.",
                                         options,
                                         1,
                                         1,
                                         run};
