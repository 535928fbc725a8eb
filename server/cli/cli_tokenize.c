/* cli_tokenize.c - `forage tokenize` and `forage chat-template`: what a model's tokenizer and
 * template make of a text and a conversation. */
#include <cjson/cJSON.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/chat/chat_prompt.h"
#include "engine/gguf/gguf.h"
#include "engine/tokenizer/tokenizer_gguf.h"
#include "kernels/file.h"
#include "server/cli/cli.h"
#include "server/base/printable.h"

/* ---- tokenize ---- */

static struct {
    const char *model, *text;
    bool special, parse_special, decode;
} o;

static const cli_option options[] = {
    {"model", CLI_STRING, &o.model, "FILE", "a GGUF file with a vocabulary", .required = true},
    {"text", CLI_STRING, &o.text, "S", "the text (default: the lines of stdin)", .flag_only = true},
    {"special", CLI_BOOL, &o.special, NULL,
     "add BOS/EOS as the model wants them; decode: show them"},
    {"parse-special", CLI_BOOL, &o.parse_special, NULL, "special tokens in the text are tokens"},
    {"decode", CLI_BOOL, &o.decode, NULL, "the other way: ids in, text out"},
    {0}};

static int print_ids(const tokenizer *t, const char *text, size_t len, fo_err *err) {
    unsigned flags =
        (o.special ? TOKENIZER_ADD_SPECIAL : 0u) | (o.parse_special ? TOKENIZER_PARSE_SPECIAL : 0u);
    int32_t *ids;
    size_t n;
    int rc = tokenizer_encode_alloc(t, text, len, flags, &ids, &n, err);
    if (rc) return rc;
    for (size_t i = 0; i < n; i++) printf(i ? " %d" : "%d", ids[i]);
    putchar('\n');
    free(ids);
    return FO_OK;
}

/* Ids divided by blanks or commas, also as a JSON array. */
static int print_text(const tokenizer *t, const char *text, fo_err *err) {
    detokenizer d;
    fo_buf out = {0};
    detokenizer_init(&d, t, o.special, false);
    int rc = FO_OK;
    const char *p = text;
    for (;;) {
        p += strspn(p, " \t\r\n,[]");
        if (!*p || rc) break;
        char *end;
        errno = 0;
        long id = strtol(p, &end, 10);
        if (end == p || errno || id < INT32_MIN || id > INT32_MAX)
            rc = fo_fail(err, FO_EINVAL, "\"%.20s\" is no token id", p);
        else
            rc = detokenizer_push(&d, (int32_t)id, &out, err);
        p = end;
    }
    if (!rc) rc = detokenizer_end(&d, &out, err);
    if (!rc) {
        printable_exact(stdout, out.data ? out.data : "", out.len);
        putchar('\n');
    }
    fo_buf_free(&out);
    return rc;
}

static int one_text(const tokenizer *t, const char *text, size_t len, fo_err *err) {
    return o.decode ? print_text(t, text, err) : print_ids(t, text, len, err);
}

static int run_tokenize(int argc, char **argv) {
    (void)argc, (void)argv;
    fo_err err = {0};
    gguf *g = NULL;
    tokenizer *t = NULL;
    int rc = gguf_open(&g, o.model, &err);
    if (!rc) rc = tokenizer_from_gguf(&t, g, &err);
    gguf_close(g);
    if (!rc && o.text) rc = one_text(t, o.text, strlen(o.text), &err);
    char *line = NULL;
    size_t cap = 0;
    ssize_t len;
    while (!rc && !o.text && (len = getline(&line, &cap, stdin)) >= 0) {
        if (len && line[len - 1] == '\n') line[--len] = 0;
        rc = one_text(t, line, (size_t)len, &err);
    }
    if (!rc && !o.text && ferror(stdin)) rc = fo_fail_errno(&err, "cannot read standard input");
    free(line);
    tokenizer_free(t);
    return rc ? cli_fail(&err) : 0;
}

const cli_command cli_command_tokenize = {
    "tokenize",
    "text to token ids and back",
    "forage tokenize --model m.gguf [--text S | < lines] [--special] [--parse-special]\n"
    "forage tokenize --model m.gguf --decode [--text \"1 20 300\" | < lines]",
    "Prints the ids of a text on one line, divided by spaces.",
    options,
    0,
    0,
    run_tokenize};

/* ---- chat-template ---- */

static struct {
    const char *file, *model, *messages, *bos, *eos, *date;
    bool no_generation_prompt;
} c = {.bos = "", .eos = ""};

static const cli_option chat_options[] = {
    {"file", CLI_STRING, &c.file, "FILE", "the Jinja template", .flag_only = true},
    {"model", CLI_STRING, &c.model, "FILE", "a GGUF file: its template, BOS and EOS",
     .flag_only = true},
    {"messages", CLI_STRING, &c.messages, "FILE",
     "JSON: an array of messages, or {\"messages\", \"tools\", other variables}", .required = true,
     .flag_only = true},
    {"bos", CLI_STRING, &c.bos, "S", "bos_token", .flag_only = true},
    {"eos", CLI_STRING, &c.eos, "S", "eos_token", .flag_only = true},
    {"date", CLI_STRING, &c.date, "YYYY-MM-DD",
     "today's date for the template (default: the clock)", .flag_only = true},
    {"no-generation-prompt", CLI_BOOL, &c.no_generation_prompt, NULL,
     "do not open the assistant's turn", .flag_only = true},
    {0}};

static int read_date(chat_template_input *in, fo_err *err) {
    char more;
    chat_prompt_date(in, time(NULL));
    if (!c.date) return FO_OK;
    if (sscanf(c.date, "%4d-%2d-%2d%c", &in->year, &in->month, &in->day, &more) != 3 ||
        in->month < 1 || in->month > 12 || in->day < 1 || in->day > 31 || in->year < 1)
        return fo_fail(err, FO_EINVAL, "--date is \"%s\", not YYYY-MM-DD", c.date);
    return FO_OK;
}

/* The template's text; the caller frees it. NULL without an error: the model has none. */
static int read_template(char **text, size_t *len, fo_buf *bos, fo_buf *eos, fo_err *err) {
    if (c.file) return fo_file_read(c.file, 1u << 24, text, len, err);
    gguf *g;
    gguf_str s;
    tokenizer *t = NULL;
    int rc = gguf_open(&g, c.model, err);
    if (rc) return rc;
    rc = chat_prompt_source(g, &s, err);
    if (!rc && s.len) {
        *text = malloc(s.len + 1);
        if (!*text)
            rc = fo_fail(err, FO_ENOMEM, "no memory for the template");
        else
            memcpy(*text, s.ptr, s.len);
        *len = s.len;
    }
    if (!rc) rc = tokenizer_from_gguf(&t, g, err);
    if (!rc) {
        tokenizer_string b = tokenizer_piece(t, tokenizer_special_id(t, TOKENIZER_BOS));
        tokenizer_string e = tokenizer_piece(t, tokenizer_special_id(t, TOKENIZER_EOS));
        fo_buf_add(bos, b.data, b.len);
        fo_buf_add(eos, e.data, e.len);
        if (!*c.bos) c.bos = bos->data;
        if (!*c.eos) c.eos = eos->data;
    }
    tokenizer_free(t);
    gguf_close(g);
    return rc;
}

static int render(const char *text, size_t len, const cJSON *json, fo_buf *out, fo_err *err) {
    chat_template_input in = {.messages = json,
                              .add_generation_prompt = !c.no_generation_prompt,
                              .bos = c.bos,
                              .eos = c.eos};
    if (cJSON_IsObject(json)) {
        in.messages = cJSON_GetObjectItemCaseSensitive(json, "messages");
        in.tools = cJSON_GetObjectItemCaseSensitive(json, "tools");
        in.extra = json;
    }
    int rc = read_date(&in, err);
    if (rc) return rc;
    chat_template *t = NULL;
    fo_err parse = {0}, why = {0};
    bool fell_back;
    if (text) rc = chat_template_parse(&t, text, len, &parse);
    rc = chat_template_render_or_chatml(t, &in, out, &fell_back, &why, err);
    if (!rc && fell_back)
        printable_say(stderr, "forage: %s; ChatML was used instead",
                      parse.code ? parse.msg : why.msg);
    chat_template_free(t);
    return rc;
}

static int run_chat_template(int argc, char **argv) {
    (void)argc, (void)argv;
    if (!c.file == !c.model) return cli_wrong_usage("give either --file or --model");
    fo_err err = {0};
    char *text = NULL, *messages = NULL;
    size_t len = 0, n_messages = 0;
    fo_buf out = {0}, bos = {0}, eos = {0};
    cJSON *json = NULL;
    int rc = read_template(&text, &len, &bos, &eos, &err);
    if (!rc) rc = fo_file_read(c.messages, 1u << 28, &messages, &n_messages, &err);
    if (!rc) {
        json = cJSON_ParseWithLength(messages, n_messages);
        if (!json) rc = fo_fail(&err, FO_EINVAL, "%s is not JSON", c.messages);
    }
    if (!rc) rc = render(text, len, json, &out, &err);
    if (!rc) printable_exact(stdout, out.data ? out.data : "", out.len);
    cJSON_Delete(json);
    free(messages);
    free(text);
    fo_buf_free(&out);
    fo_buf_free(&bos);
    fo_buf_free(&eos);
    return rc ? cli_fail(&err) : 0;
}

const cli_command cli_command_chat_template = {
    "chat-template",
    "the prompt that a chat template makes of messages",
    "forage chat-template --file T.jinja --messages M.json [--bos S] [--eos S] [--date 2026-11-20]",
    "Prints the prompt byte for byte, nothing added. A template that fails is replaced by\n"
    "ChatML, and stderr says why.",
    chat_options,
    0,
    0,
    run_chat_template};
