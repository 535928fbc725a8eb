/* cli.h - the command line: one table of commands, one way to read options.
 *
 * A command is one object `const cli_command cli_command_NAME` in a file server/cli_NAME.c and one
 * row in CLI_COMMANDS below. Its options are a table too; `forage help NAME` prints usage, details
 * and options from it.
 *
 *     static struct { const char *model; int64_t n; bool json; } o = {.n = 128};
 *     static const cli_option options[] = {
 *         {"model", CLI_STRING, &o.model, "FILE", "the GGUF file to run", .required = true},
 *         {"n", CLI_INT, &o.n, "N", "tokens to write (default 128)", .min = 1, .max = 65536},
 *         {"json", CLI_BOOL, &o.json, NULL, "one JSON object on stdout"},
 *         {0}};
 *     static int run(int argc, char **argv) { ... argv[0..argc) are what is no option ... }
 *     const cli_command cli_command_generate = {"generate", "write text with a model",
 *         "forage generate --model m.gguf --prompt TEXT", NULL, options, 0, 0, run};
 *
 * Every option may come from, in this order: the flag (--name value, --name=value), the
 * environment (FORAGE_NAME, dashes as underscores), DIR/forage.conf (`name = value`; DIR is what
 * --home says, or FORAGE_HOME), the default that stands in the variable. A name nobody knows, in
 * any of the three, is refused with the nearest one that exists. Exit status: 0 done, 1 failed, 2 wrong usage. */
#ifndef FORAGE_SERVER_CLI_H
#define FORAGE_SERVER_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "kernels/buf.h"
#include "kernels/error.h"

/* Tables of options leave out the fields at their ends. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

enum cli_type {
    CLI_STRING, /* const char * */
    CLI_INT,    /* int64_t, within [min, max] where max > min */
    CLI_DOUBLE, /* double, within [min, max] where max > min */
    CLI_BOOL,   /* bool; takes no value, or =true/=false */
    CLI_BYTES,  /* int64_t, min and more; 65536, 64K, 16M, 2G */
    CLI_LIST,   /* cli_list; may be given again and again */
    CLI_CHOICE, /* const char *, one of the words of `arg`, "auto|bar|json|none", or of `names` */
};

typedef struct cli_list {
    const char **items;
    size_t n;
} cli_list;

typedef struct cli_option {
    const char *name; /* without dashes; NULL ends the table */
    enum cli_type type;
    void *out;       /* holds the default; lives as long as the program */
    const char *arg; /* what the value is called in the help; NULL for CLI_BOOL */
    const char *help;
    double min, max;
    const char *const *names; /* CLI_CHOICE: of an enum's values, NULL behind the last */
    bool required;
    bool flag_only; /* not from the environment or forage.conf (--help me once, --text S) */
} cli_option;

typedef struct cli_command {
    const char *name;    /* one word, or two: "index build", "bench http" */
    const char *summary; /* half a line, for `forage help` */
    const char *usage;   /* lines of usage, as typed */
    const char *details; /* more help, NULL: none */
    const cli_option *options;
    int min_args, max_args; /* of what is no option; max < 0: any number */
    int (*run)(int argc, char **argv);
} cli_command;

/* One row a command. */
/* clang-format off */
#define CLI_COMMANDS(X) \
    X(backup) \
    X(bench_bm25) \
    X(bench_chunk_quality) \
    X(bench_context) \
    X(bench_chat) \
    X(bench_lookup) \
    X(bench_diffusion) \
    X(bench_decode) \
    X(bench_embed) \
    X(bench_flow) \
    X(bench_hnsw) \
    X(bench_load) \
    X(bench_machine) \
    X(bench_make_model) \
    X(bench_prefill) \
    X(bench_reader) \
    X(bench_http) \
    X(chat) \
    X(chat_template) \
    X(collections) \
    X(collections_delete) \
    X(completion) \
    X(convert) \
    X(delete) \
    X(doctor) \
    X(documents) \
    X(embed) \
    X(eval) \
    X(fit) \
    X(generate) \
    X(index_build) \
    X(index_compact) \
    X(index_rebuild) \
    X(index_stats) \
    X(index_verify) \
    X(ingest) \
    X(inspect) \
    X(keys_create) \
    X(keys_list) \
    X(keys_revoke) \
    X(log_level) \
    X(logits) \
    X(mcp) \
    X(perplexity) \
    X(quantize) \
    X(query) \
    X(restore) \
    X(serve) \
    X(stats) \
    X(sync) \
    X(tokenize) \
    X(version) \
    /* end */
/* clang-format on */

#define CLI_DECLARE(name) extern const cli_command cli_command_##name;
CLI_COMMANDS(CLI_DECLARE)

/* Finds the command, reads its options, runs it. Returns the exit status. */
int cli_main(const cli_command *const *commands, size_t n_commands, int argc, char **argv);

/* "forage: sentence" on stderr, printable (server/printable.h). cli_fail returns 1, cli_wrong_usage
 * 2: return what they return. The field stands in front where the sentence does not begin with it; where a collection or a
 * document is not found, what lists them is named. */
int cli_fail(const fo_err *err);
int cli_wrong_usage(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Was this option of the command that was parsed given by a flag or the environment? */
bool cli_given(const char *name);
/* By a flag? What a command takes no part of is refused then, and passed over where it stands in the environment. */
bool cli_flagged(const char *name);
/* What HOME/forage.conf says of a setting now, unchecked; "" where it says nothing. FO_EIO: it cannot be read. */
int cli_conf_value(const char *home, const char *name, char *out, size_t n, fo_err *err);

/* What --json prints: b, which is JSON, and a line end; printable whatever a server or a document
 * put into it. */
void cli_print_json(const fo_buf *b);

#endif
