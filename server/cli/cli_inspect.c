/* cli_inspect.c - `forage inspect`: a model file's metadata and tensors, what it needs, whether it
 * will run. */
#include <stdio.h>
#include <string.h>
#include "engine/tools/inspect.h"
#include "kernels/utf8.h"
#include "server/cli/cli.h"
#include "server/base/json.h"
#include "server/base/printable.h"
#include "server/cli/output_form.h"

static struct { bool all; } o;

static const cli_option options[] = {
    CLI_OUTPUT_OPTION,
    {"all", CLI_BOOL, &o.all, NULL, "long arrays and every tensor in full", .flag_only = true},
    {0}};

enum { SHOWN_ELEMENTS = 4, SHOWN_BYTES = 100 };

/* The file's bytes are anybody's: what is made of these goes through printable.h. */
static void add_text(fo_buf *b, const char *s, size_t n, bool json) {
    if (json) {
        json_write_string(b, s, n);
        return;
    }
    fo_buf_char(b, '"');
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '"' || s[i] == '\\') fo_buf_char(b, '\\');
        fo_buf_char(b, s[i]);
    }
    fo_buf_char(b, '"');
}

static void add_element(fo_buf *b, const gguf_kv *kv, size_t i, bool json) {
    if (kv->strs) {
        size_t n = kv->strs[i].len;
        bool cut = !o.all && !json && n > SHOWN_BYTES;
        if (cut)
            for (n = SHOWN_BYTES; n && !fo_utf8_boundary(kv->strs[i].ptr[n]);) n--;
        add_text(b, kv->strs[i].ptr, n, json);
        if (cut) fo_buf_printf(b, "... (%zu bytes)", kv->strs[i].len);
    } else if (kv->elem == GGUF_BOOL) {
        fo_buf_str(b, gguf_integer_at(kv, i) ? "true" : "false");
    } else if (kv->elem == GGUF_F32 || kv->elem == GGUF_F64) {
        double v = gguf_number_at(kv, i);
        if (json && (v != v || v - v != 0))
            fo_buf_str(b, "null");
        else
            fo_buf_printf(b, "%.9g", v);
    } else if (kv->elem == GGUF_U64) {
        uint64_t v;
        memcpy(&v, (const char *)kv->values + 8 * i, 8);
        fo_buf_printf(b, "%llu", (unsigned long long)v);
    } else {
        fo_buf_printf(b, "%lld", (long long)gguf_integer_at(kv, i));
    }
}

static void add_value(fo_buf *b, const gguf_kv *kv, bool json) {
    if (kv->kind != GGUF_ARRAY) {
        add_element(b, kv, 0, json);
        return;
    }
    size_t shown = o.all || kv->n < SHOWN_ELEMENTS ? kv->n : SHOWN_ELEMENTS;
    fo_buf_char(b, '[');
    for (size_t i = 0; i < shown; i++) {
        if (i) fo_buf_str(b, ", ");
        add_element(b, kv, i, json);
    }
    if (shown < kv->n && !json) fo_buf_str(b, ", ...");
    fo_buf_char(b, ']');
}

static double mega(uint64_t bytes) {
    return (double)bytes / 1e6;
}

/* --- for people --- */
static void print_text(const char *s, size_t n) {
    fo_buf b = {0};
    add_text(&b, s, n, false);
    printable_put(stdout, b.data ? b.data : "", b.len, PRINTABLE_LINE);
    fo_buf_free(&b);
}

static void print_value(const gguf_kv *kv) {
    fo_buf b = {0};
    add_value(&b, kv, false);
    printable_put(stdout, b.data ? b.data : "", b.len, PRINTABLE_LINE);
    fo_buf_free(&b);
}

static void print_metadata(const gguf *g) {
    printf("metadata (%zu)\n", gguf_n_kv(g));
    for (size_t i = 0; i < gguf_n_kv(g); i++) {
        const gguf_kv *kv = gguf_kv_at(g, i);
        fputs("  ", stdout);
        print_text(kv->key.ptr, kv->key.len);
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
        print_text(t->name.ptr, t->name.len);
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
    print_text(r->architecture, strlen(r->architecture));
    fputs(", name ", stdout);
    print_text(r->name, strlen(r->name));
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
static void write_report(fo_buf *b, const gguf *g, const inspect_report *r) {
    json_out out = {b, false};
    json_out_open(&out, NULL, '{');
    json_out_string(&out, "architecture", r->architecture);
    json_out_string(&out, "name", r->name);
    json_out_string(&out, "kind", inspect_kind_name(r->kind));
    json_out_int(&out, "version", gguf_version(g));
    json_out_int(&out, "file_bytes", (int64_t)r->file_bytes);
    json_out_int(&out, "parameters", (int64_t)r->n_parameters);
    json_out_int(&out, "layers", r->n_layers);
    json_out_int(&out, "context", r->n_context);
    json_out_int(&out, "vocab", r->n_vocab);
    json_out_int(&out, "weight_bytes", (int64_t)r->weight_bytes);
    json_out_int(&out, "scratch_bytes", (int64_t)r->scratch_bytes);
    json_out_int(&out, "kv_bytes_per_token", (int64_t)r->kv_bytes_per_token);
    json_out_int(&out, "needed_bytes", (int64_t)r->needed_bytes);
    json_out_int(&out, "available_bytes", (int64_t)r->available_bytes);
    json_out_bool(&out, "runs", r->runs);
    json_out_bool(&out, "fits", r->fits);
    json_out_string(&out, "reason", r->reason);
    json_out_open(&out, "metadata", '{');
    for (size_t i = 0; i < gguf_n_kv(g); i++) {
        const gguf_kv *kv = gguf_kv_at(g, i);
        if (i) fo_buf_char(b, ',');
        add_text(b, kv->key.ptr, kv->key.len, true);
        fo_buf_char(b, ':');
        if (kv->kind == GGUF_ARRAY && !o.all)
            fo_buf_printf(b, "{\"array\":\"%s\",\"length\":%zu}", gguf_kind_name(kv->elem), kv->n);
        else
            add_value(b, kv, true);
    }
    json_out_close(&out, '}');
    json_out_open(&out, "tensors", '[');
    for (size_t i = 0; i < gguf_n_tensors(g); i++) {
        const gguf_tensor *t = gguf_tensor_at(g, i);
        json_out_open(&out, NULL, '{');
        json_out_bytes(&out, "name", t->name.ptr, t->name.len);
        json_out_string(&out, "type", quant_type_traits(t->type)->name);
        json_out_open(&out, "shape", '[');
        for (uint32_t d = 0; d < t->n_dims; d++) json_out_int(&out, NULL, (int64_t)t->dims[d]);
        json_out_close(&out, ']');
        json_out_int(&out, "bytes", (int64_t)t->size_bytes);
        json_out_close(&out, '}');
    }
    json_out_close(&out, ']');
    json_out_close(&out, '}');
}

static int run(int argc, char **argv) {
    (void)argc;
    fo_err err = {0};
    gguf *g;
    if (gguf_open(&g, argv[0], &err)) return cli_fail(&err);
    inspect_report r;
    inspect_file(&r, argv[0], g);
    int rc = FO_OK;
    if (output_asked() != OUTPUT_TABLE) {
        fo_buf b = {0};
        write_report(&b, g, &r);
        if (b.failed)
            rc = fo_no_memory(&err);
        else
            output_print(&b);
        fo_buf_free(&b);
    } else {
        print_metadata(g);
        print_tensors(g);
        print_summary(g, &r);
    }
    gguf_close(g);
    return rc ? cli_fail(&err) : 0;
}

const cli_command cli_command_inspect = {
    "inspect",
    "what a GGUF file holds and whether it will run",
    "forage inspect model.gguf [--all] [--output text|table|json|md]",
    "Metadata, tensors, memory needed, whether it will run.",
    options,
    1,
    1,
    run};
