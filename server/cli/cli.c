#include "server/cli/cli.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/file.h"
#include "server/base/printable.h"

#define CONF_MAX_BYTES (1u << 20)

/* Edit distance of two short names (at most 63 characters count): for suggestions. */
static size_t distance(const char *a, const char *b) {
    size_t n = strnlen(a, 63), m = strnlen(b, 63);
    size_t row[64];
    for (size_t j = 0; j <= m; j++) row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t up = row[j];
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            if (up + 1 < best) best = up + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            row[j] = best;
            diagonal = up;
        }
    }
    return row[m];
}

/* The sentence, without what stands before one that a server said. */
static const char *sentence_of(const fo_err *err) {
    static const char server[] = "the server answered ";
    const char *s = err->msg, *colon = strchr(s, ':');
    if (!colon || strncmp(s, server, sizeof server - 1) != 0) return s;
    return colon + 1 + strspn(colon + 1, " ");
}

/* Who may ask is no field of what was asked. */
static bool is_of_admission(const char *text) {
    static const char *const statuses[] = {"401:", "403:", "429:"};
    static const char server[] = "the server answered ";
    if (strncmp(text, server, sizeof server - 1) != 0) return false;
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (!strncmp(text + sizeof server - 1, statuses[i], 4)) return true;
    return false;
}

static bool begins_with(const char *s, const char *word) {
    const size_t n = strlen(word);
    return !strncmp(s, word, n) && (s[n] == ' ' || s[n] == ':');
}

int cli_fail(const fo_err *err) {
    const char *text = err->msg[0] ? err->msg : fo_code_name(err->code), *s = sentence_of(err);
    const bool none = err->code == FO_ENOTFOUND;
    const bool document = none && !strcmp(err->field, "id") && begins_with(s, "document");
    const bool collection = none && !strcmp(err->field, "collection");
    const bool named =
        err->field[0] && !document && !begins_with(s, err->field) && !is_of_admission(text);
    printable_say(stderr, "forage: %s%s%s%s", named ? err->field : "", named ? ": " : "", text,
                  document      ? "; 'forage documents' lists them"
                  : !collection ? ""
                  : strstr(s, "'default'")
                      ? "; the first document makes it ('forage ingest PATH'), "
                        "'forage collections' lists others"
                      : "; 'forage collections' lists them");
    return 1;
}

int cli_wrong_usage(const char *fmt, ...) {
    char *text = NULL;
    va_list ap;
    va_start(ap, fmt);
    int n = vasprintf(&text, fmt, ap);
    va_end(ap);
    fputs("forage: ", stderr);
    if (n >= 0)
        printable_put(stderr, text, (size_t)n, PRINTABLE_TEXT); /* usage has several lines */
    fputc('\n', stderr);
    if (n >= 0) free(text);
    return 2;
}

void cli_print_json(const fo_buf *b) {
    printable_put(stdout, b->data ? b->data : "", b->len, PRINTABLE_JSON);
    putchar('\n');
}

/* "1.5G", "64M", "4096" -> bytes. */
static bool parse_bytes(const char *s, int64_t *out) {
    errno = 0;
    char *end;
    double v = strtod(s, &end);
    if (end == s || errno || !(v >= 0)) return false;
    double unit = 1;
    switch (toupper((unsigned char)*end)) {
    case 'K':
        unit = 1024.0, end++;
        break;
    case 'M':
        unit = 1024.0 * 1024, end++;
        break;
    case 'G':
        unit = 1024.0 * 1024 * 1024, end++;
        break;
    case 'T':
        unit = 1024.0 * 1024 * 1024 * 1024, end++;
        break;
    default:
        break;
    }
    if ((*end == 'i' || *end == 'I') && unit > 1) end++;
    if (*end == 'B' || *end == 'b') end++;
    if (*end || v * unit > 9.0e18) return false;
    *out = (int64_t)(v * unit);
    return true;
}

static bool parse_bool(const char *s, bool *out) {
    static const char *const yes[] = {"1", "true", "yes", "on"};
    static const char *const no[] = {"0", "false", "no", "off"};
    for (size_t i = 0; i < 4; i++) {
        if (!strcasecmp(s, yes[i])) return *out = true, true;
        if (!strcasecmp(s, no[i])) return *out = false, true;
    }
    return false;
}

enum { CHOICES_BYTES = 128 };

/* What an option's value is called, or the words that it may be; NULL: it takes none. */
static const char *value_name(const cli_option *o, char choices[CHOICES_BYTES]) {
    if (!o->names) return o->arg;
    size_t n = 0;
    for (size_t i = 0; o->names[i] && n < CHOICES_BYTES; i++)
        n += (size_t)snprintf(choices + n, CHOICES_BYTES - n, "%s%s", i ? "|" : "", o->names[i]);
    return choices;
}

/* Store one value; `from` names where it came from. 0, or 2 after a message. */
static int set_value(const cli_option *o, const char *value, const char *from) {
    char *end;
    errno = 0;
    switch (o->type) {
    case CLI_STRING:
        *(const char **)o->out = value;
        return 0;
    case CLI_INT: {
        long long v = strtoll(value, &end, 10);
        if (end == value || *end || errno)
            return cli_wrong_usage("%s: '%s' is not a whole number", from, value);
        if (o->max > o->min && ((double)v < o->min || (double)v > o->max))
            return cli_wrong_usage("%s must be between %.0f and %.0f", from, o->min, o->max);
        *(int64_t *)o->out = v;
        return 0;
    }
    case CLI_DOUBLE: {
        double v = strtod(value, &end);
        if (end == value || *end || !isfinite(v))
            return cli_wrong_usage("%s: '%s' is not a number", from, value);
        if (o->max > o->min && (v < o->min || v > o->max))
            return cli_wrong_usage("%s must be between %g and %g", from, o->min, o->max);
        *(double *)o->out = v;
        return 0;
    }
    case CLI_BOOL:
        if (!parse_bool(value, o->out))
            return cli_wrong_usage("%s: '%s' is neither true nor false", from, value);
        return 0;
    case CLI_BYTES: {
        int64_t v;
        if (!parse_bytes(value, &v))
            return cli_wrong_usage("%s: '%s' is not a size such as 4096, 64K, 16M or 2G", from,
                                   value);
        if ((double)v < o->min)
            return cli_wrong_usage("%s must be at least %.0f bytes", from, o->min);
        *(int64_t *)o->out = v;
        return 0;
    }
    case CLI_CHOICE: {
        char choices[CHOICES_BYTES];
        const char *all = value_name(o, choices);
        size_t n = strlen(value);
        for (const char *word = all; *word; word += strcspn(word, "|"), word += *word == '|')
            if (n == strcspn(word, "|") && !memcmp(word, value, n)) {
                *(const char **)o->out = value;
                return 0;
            }
        return cli_wrong_usage("%s must be one of %s", from, all);
    }
    case CLI_LIST: {
        cli_list *l = o->out;
        const char **items = realloc(l->items, (l->n + 1) * sizeof *items);
        if (!items) return cli_wrong_usage("out of memory");
        items[l->n++] = value;
        l->items = items;
        return 0;
    }
    }
    return 2;
}

static const cli_option *find_option(const cli_command *c, const char *name, size_t len) {
    for (const cli_option *o = c->options; o && o->name; o++)
        if (strlen(o->name) == len && !memcmp(o->name, name, len)) return o;
    return NULL;
}

/* What other programs call it. */
static const char *const foreign_names[][2] = {
    {"addr", "listen"},
    {"address", "listen"},
    {"bind", "listen"},
    {"host", "listen"},
    {"port", "listen"},
    {"data", "home"},
    {"data-dir", "home"},
    {"db", "home"},
    {"verbose", "log-level"},
    {"debug", "log-level"},
    {"k", "top-k"},
    {"limit", "top-k"},
    {"json", "output"},
    {"format", "output"},
    {"name", "collection"},
    {"index", "collection"},
    {"embedding-model", "embed-model"},
};

/* The option that somebody meant who wrote `given`; NULL: none comes near. */
static const char *meant_option(const cli_command *c, const char *given) {
    for (size_t i = 0; i < sizeof foreign_names / sizeof *foreign_names; i++) {
        const char *ours = foreign_names[i][1];
        if (!strcmp(foreign_names[i][0], given) && find_option(c, ours, strlen(ours))) return ours;
    }
    const char *best = NULL;
    size_t best_distance = 4;
    for (const cli_option *o = c->options; o && o->name; o++) {
        const size_t d = distance(given, o->name);
        /* A name of which hardly a letter is the same is no misspelt one, nor mostly one that begins otherwise. */
        if (d < best_distance && 3 * d <= 2 * strlen(given) && (d == 1 || given[0] == o->name[0]))
            best = o->name, best_distance = d;
    }
    return best;
}

static int refuse_option(const cli_command *c, const char *name, size_t len) {
    char given[64];
    snprintf(given, sizeof given, "%.*s", (int)(len < 63 ? len : 63), name);
    const char *meant = meant_option(c, given);
    if (meant)
        return cli_wrong_usage("%s has no option --%s; did you mean --%s?", c->name, given, meant);
    return cli_wrong_usage("%s has no option --%s; 'forage help %s' lists them", c->name, given,
                           c->name);
}

static void variable_name(const cli_option *o, char out[96]) {
    size_t n = (size_t)snprintf(out, 96, "FORAGE_");
    for (const char *p = o->name; *p && n < 95; p++)
        out[n++] = *p == '-' ? '_' : (char)toupper((unsigned char)*p);
    out[n] = 0;
}

static int from_environment(const cli_option *o, bool *set) {
    char name[96];
    variable_name(o, name);
    const char *value = getenv(name);
    if (!value || !*value) return 0;
    *set = true;
    return set_value(o, value, name);
}

/* What else may be set: read by kernels/cpu.c, or by tests. */
static const char *const other_variables[] = {"FORAGE_CPU", "FORAGE_KEY", "FORAGE_NUMA",
                                              "FORAGE_SHARED", "FORAGE_SMOLLM2"};

/* Container platforms announce a service named forage to every container beside it. */
static bool is_announcement(const char *name) {
    return !strncmp(name, "FORAGE_SERVICE_", 15) || !strcmp(name, "FORAGE_PORT") ||
           !strncmp(name, "FORAGE_PORT_", 12);
}

/* A variable that no option of any command answers to is refused, as a line of forage.conf is. 0, or 2
 * after a message. */
static int check_environment(const cli_command *const *commands, size_t n_commands) {
    for (char **e = environ; e && *e; e++) {
        size_t n = strcspn(*e, "=");
        if (n < 8 || strncmp(*e, "FORAGE_", 7) || !(*e)[n] || !(*e)[n + 1]) continue;
        char name[96], best[96] = "";
        snprintf(name, sizeof name, "%.*s", (int)(n < 95 ? n : 95), *e);
        bool known = false;
        size_t best_distance = 4;
        for (size_t i = 0; i < sizeof other_variables / sizeof *other_variables; i++) {
            size_t d = distance(name, other_variables[i]);
            if (!d) known = true;
            if (d < best_distance)
                snprintf(best, sizeof best, "%s", other_variables[i]), best_distance = d;
        }
        for (size_t i = 0; i < n_commands && !known; i++)
            for (const cli_option *o = commands[i]->options; o && o->name; o++) {
                char variable[96];
                variable_name(o, variable);
                if (!strcmp(variable, name)) known = true;
                size_t d = distance(name, variable);
                if (d < best_distance)
                    snprintf(best, sizeof best, "%s", variable), best_distance = d;
            }
        if (!known && !is_announcement(name))
            return cli_wrong_usage("environment: unknown setting '%s'%s%s%s", name,
                                   *best ? "; did you mean '" : "", best, *best ? "'?" : "");
    }
    return 0;
}

static char *trim(char *s) {
    while (isspace((unsigned char)*s)) s++;
    size_t n = strlen(s);
    while (n && isspace((unsigned char)s[n - 1])) s[--n] = 0;
    return s;
}

/* Editors of Windows put a mark before the first line. */
static char *past_mark(char *text) {
    return strncmp(text, "\xEF\xBB\xBF", 3) ? text : text + 3;
}

static int read_lines(const cli_command *c, const cli_command *const *commands, size_t n_commands,
                      const char *path, char *text, const bool *set);

/* Values of DIR/forage.conf for the options that are not set yet. */
static int from_file(const cli_command *c, const cli_command *const *commands, size_t n_commands,
                     const char *home, const bool *set) {
    char path[4096];
    if (snprintf(path, sizeof path, "%s/forage.conf", home) >= (int)sizeof path) return 0;
    if (access(path, F_OK) != 0) return 0;
    char *text;
    size_t size;
    fo_err err = {0};
    if (fo_file_read(path, CONF_MAX_BYTES, &text, &size, &err)) return cli_fail(&err), 2;
    int rc = read_lines(c, commands, n_commands, path, past_mark(text), set);
    free(text);
    return rc;
}

static int read_lines(const cli_command *c, const cli_command *const *commands, size_t n_commands,
                      const char *path, char *text, const bool *set) {
    int line_number = 0;
    for (char *next = text; next;) {
        char *line = next;
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        line_number++;
        line = trim(line);
        if (!*line || *line == '#') continue;
        char *equals = strchr(line, '=');
        if (!equals) return cli_wrong_usage("%s:%d: expected 'name = value'", path, line_number);
        *equals = 0;
        char *name = trim(line), *value = trim(equals + 1);
        size_t n = strlen(value);
        if (n >= 2 && value[0] == '"' && value[n - 1] == '"') value[n - 1] = 0, value++;
        for (char *p = name; *p; p++)
            if (*p == '_') *p = '-';
        const cli_option *o = find_option(c, name, strlen(name));
        if (o && !o->flag_only) {
            if (set[o - c->options]) continue;
            char from[4200];
            snprintf(from, sizeof from, "%s:%d: %s", path, line_number, name);
            if (o->type == CLI_STRING || o->type == CLI_CHOICE ||
                o->type == CLI_LIST) { /* kept by the option for ever */
                value = strdup(value);
                if (!value) return cli_wrong_usage("out of memory");
            }
            int rc = set_value(o, value, from);
            if (rc) return rc;
            continue;
        }
        bool known = false;
        const char *best = NULL;
        size_t best_distance = 4;
        for (size_t i = 0; i < n_commands && !known; i++) {
            for (o = commands[i]->options; o && o->name; o++) {
                if (!strcmp(o->name, name)) known = true;
                size_t d = distance(name, o->name);
                if (d < best_distance) best = o->name, best_distance = d;
            }
        }
        if (!known)
            return cli_wrong_usage("%s:%d: unknown setting '%s'%s%s%s", path, line_number, name,
                                   best ? "; did you mean '" : "", best ? best : "",
                                   best ? "'?" : "");
    }
    return 0;
}

int cli_conf_value(const char *home, const char *name, char *out, size_t n, fo_err *err) {
    char path[4096], *text;
    size_t size;
    *out = 0;
    if (snprintf(path, sizeof path, "%s/forage.conf", home) >= (int)sizeof path) return FO_OK;
    if (access(path, F_OK) != 0) return FO_OK;
    int rc = fo_file_read(path, CONF_MAX_BYTES, &text, &size, err);
    if (rc) return rc;
    char *save = NULL;
    for (char *line = strtok_r(past_mark(text), "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        char *equals = strchr(line, '=');
        if (!equals || *trim(line) == '#') continue;
        *equals = 0;
        char *key = trim(line), *value = trim(equals + 1);
        for (char *p = key; *p; p++)
            if (*p == '_') *p = '-';
        size_t len = strlen(value);
        if (len >= 2 && value[0] == '"' && value[len - 1] == '"') value[len - 1] = 0, value++;
        if (!strcmp(key, name)) snprintf(out, n, "%s", value);
    }
    free(text);
    return FO_OK;
}

enum { MAX_OPTIONS = 128 };
/* Of the command that was parsed: which options a flag or the environment gave, and which a flag. */
static const cli_option *parsed;
static bool given[MAX_OPTIONS], flagged[MAX_OPTIONS];

static bool is_among(const bool *of, const char *name) {
    for (const cli_option *o = parsed; o && o->name; o++)
        if (!strcmp(o->name, name)) return of[o - parsed];
    return false;
}

bool cli_given(const char *name) {
    return is_among(given, name);
}

bool cli_flagged(const char *name) {
    return is_among(flagged, name);
}

enum { USAGE_BYTES = 2048 };

/* The lines of a command's usage, each on a line of its own behind two blanks. */
static void indent_usage(const cli_command *c, char out[USAGE_BYTES]) {
    size_t used = 0;
    out[0] = 0;
    for (const char *p = c->usage; *p && used < USAGE_BYTES;) {
        const size_t n = strcspn(p, "\n");
        used += (size_t)snprintf(out + used, USAGE_BYTES - used, "\n  %.*s", (int)n, p);
        p += n + (p[n] == '\n');
    }
}

/* What the usage calls argument `at` (from 0): FILE, or "question"; 0 bytes: it has no name for it there. */
static size_t argument_name(const cli_command *c, int at, const char **name) {
    const char *p = c->usage + strlen("forage ") + strlen(c->name);
    for (size_t n;; p += n) {
        p += strspn(p, " ");
        n = strcspn(p, " \n");
        if (*p == '"') n = 1 + strcspn(p + 1, "\"") + 1;
        *name = p;
        if (!n || *p == '[' || *p == '-') return 0;
        if (at-- == 0) return n;
    }
}

/* Read options of `argv` into their variables; what is no option is moved to the front of argv and
 * *argc counts it. 0, or 2 after a message on stderr. `commands` (all of them) tell which names of
 * forage.conf belong to somebody else. */
static int parse(const cli_command *c, const cli_command *const *commands, size_t n_commands,
                 int *argc, char **argv) {
    bool set[MAX_OPTIONS] = {false};
    size_t n_options = 0;
    for (const cli_option *o = c->options; o && o->name; o++) n_options++;
    if (n_options > MAX_OPTIONS) return cli_wrong_usage("%s declares too many options", c->name);

    int n_args = 0;
    bool only_args = false;
    for (int i = 0; i < *argc; i++) {
        char *a = argv[i];
        if (only_args || a[0] != '-' || !a[1]) {
            argv[n_args++] = a;
            continue;
        }
        if (!strcmp(a, "--")) {
            only_args = true;
            continue;
        }
        if (a[1] != '-')
            return cli_wrong_usage("%s: options are written --name; '%s' is none", c->name, a);
        const char *name = a + 2;
        size_t len = strcspn(name, "=");
        const cli_option *o = find_option(c, name, len);
        if (!o) return refuse_option(c, name, len);
        const char *value;
        if (name[len] == '=')
            value = name + len + 1;
        else if (o->type == CLI_BOOL)
            value = "true";
        else if (i + 1 < *argc)
            value = argv[++i];
        else
            return cli_wrong_usage("--%s needs a value (%s)", o->name, o->arg ? o->arg : "VALUE");
        char from[72];
        snprintf(from, sizeof from, "--%s", o->name);
        int rc = set_value(o, value, from);
        if (rc) return rc;
        set[o - c->options] = true;
    }
    memcpy(flagged, set, sizeof flagged);
    const char *home = NULL;
    int wrong = n_options ? check_environment(commands, n_commands) : 0;
    if (wrong) return wrong;
    for (size_t i = 0; i < n_options; i++) {
        const cli_option *o = &c->options[i];
        if (!set[i] && !o->flag_only) {
            int rc = from_environment(o, &set[i]);
            if (rc) return rc;
        }
        if (!strcmp(o->name, "home")) home = *(const char **)o->out;
    }
    parsed = c->options;
    memcpy(given, set, sizeof given);
    if (home) {
        int rc = from_file(c, commands, n_commands, home, set);
        if (rc) return rc;
    }
    char usage[USAGE_BYTES];
    indent_usage(c, usage);
    for (size_t i = 0; i < n_options; i++) {
        const cli_option *o = &c->options[i];
        if (o->required && ((o->type == CLI_STRING && !*(const char **)o->out) ||
                            (o->type == CLI_LIST && !((cli_list *)o->out)->n)))
            return cli_wrong_usage("%s needs --%s %s\nUsage:%s", c->name, o->name,
                                   o->arg ? o->arg : "VALUE", usage);
    }
    if (n_args < c->min_args) {
        const char *name;
        const size_t n = argument_name(c, n_args, &name);
        return cli_wrong_usage("%s needs %.*s\nUsage:%s", c->name, n ? (int)n : 10,
                               n ? name : "more words", usage);
    }
    if (c->max_args >= 0 && n_args > c->max_args)
        return cli_wrong_usage(
            "%s does not know what to do with '%s'%s\nUsage:%s", c->name, argv[c->max_args],
            c->max_args ? "; words that belong together stand in quotes" : "", usage);
    *argc = n_args;
    return 0;
}

static void print_options(FILE *f, const cli_command *c) {
    if (!c->options || !c->options->name) return;
    fputs("\nOptions:\n", f);
    for (const cli_option *o = c->options; o->name; o++) {
        char left[80], choices[CHOICES_BYTES];
        const char *value = value_name(o, choices);
        snprintf(left, sizeof left, "--%s%s%s", o->name, value ? " " : "", value ? value : "");
        fprintf(f, "  %-28s %s\n", left, o->help ? o->help : "");
    }
}

static void print_command(const cli_command *c) {
    char usage[USAGE_BYTES];
    indent_usage(c, usage);
    printf("%s\n\nUsage:%s\n", c->summary, usage);
    if (c->details) printf("\n%s\n", c->details);
    print_options(stdout, c);
}

/* For who makes or measures models and indexes, not for who keeps and asks documents. */
static bool is_for_makers(const cli_command *c) {
    static const char *const names[] = {"chat-template", "convert", "embed",  "fit",
                                        "generate",      "inspect", "logits", "perplexity",
                                        "quantize",      "tokenize"};
    if (!strncmp(c->name, "bench ", 6)) return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(c->name, names[i])) return true;
    return false;
}

static void print_summaries(const cli_command *const *commands, size_t n, bool for_makers) {
    for (size_t i = 0; i < n; i++)
        if (is_for_makers(commands[i]) == for_makers)
            printf("  %-20s %s\n", commands[i]->name, commands[i]->summary);
}

/* All commands; with a prefix those that begin with this word. */
static void print_overview(const cli_command *const *commands, size_t n, const char *prefix) {
    if (!prefix) {
        puts("forage " FORAGE_VERSION
             ": documents in, grounded answers with checked citations out\n\n"
             "Usage: forage COMMAND [OPTIONS]\n\n"
             "To begin:\n"
             "  forage ingest ~/notes --home home       read a folder into a home, which is made\n"
             "  forage query \"a question\" --home home   ask what it says\n"
             "  forage serve --home home                the same on a web page, "
             "http://127.0.0.1:8080\n\n"
             "Commands:");
        print_summaries(commands, n, false);
        puts("Commands for models and measurements:");
        print_summaries(commands, n, true);
    } else {
        puts("Commands:");
        size_t skip = strlen(prefix);
        for (size_t i = 0; i < n; i++)
            if (!strncmp(commands[i]->name, prefix, skip) && commands[i]->name[skip] == ' ')
                printf("  %-20s %s\n", commands[i]->name, commands[i]->summary);
    }
    puts("\n'forage help COMMAND' says more. Options may also be set in the environment\n"
         "(FORAGE_HOME for --home) and in DIR/forage.conf (home's folder; lines 'name = value').");
}

/* The command that argv names; *words gets how many words that took. */
static const cli_command *find_command(const cli_command *const *commands, size_t n, int argc,
                                       char **argv, int *words) {
    char two[128];
    if (argc >= 2) {
        snprintf(two, sizeof two, "%s %s", argv[0], argv[1]);
        for (size_t i = 0; i < n; i++)
            if (!strcmp(commands[i]->name, two)) return *words = 2, commands[i];
    }
    for (size_t i = 0; i < n; i++)
        if (!strcmp(commands[i]->name, argv[0])) return *words = 1, commands[i];
    return NULL;
}

static bool is_group(const cli_command *const *commands, size_t n, const char *word) {
    size_t len = strlen(word);
    for (size_t i = 0; i < n; i++)
        if (!strncmp(commands[i]->name, word, len) && commands[i]->name[len] == ' ') return true;
    return false;
}

/* What other programs call it. */
static const char *by_another_word(const char *word) {
    static const char *const words[][2] = {
        {"ask", "query"},      {"search", "query"},        {"add", "ingest"},
        {"import", "ingest"},  {"upload", "ingest"},       {"load", "ingest"},
        {"rm", "delete"},      {"remove", "delete"},       {"ls", "documents"},
        {"list", "documents"}, {"start", "serve"},         {"run", "serve"},
        {"server", "serve"},   {"status", "stats"},        {"watch", "sync"},
        {"check", "doctor"},   {"verify", "index verify"}, {"reindex", "index rebuild"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(words[i][0], word)) return words[i][1];
    return NULL;
}

static int unknown_command(const cli_command *const *commands, size_t n, int argc, char **argv) {
    if (is_group(commands, n, argv[0])) {
        if (argc > 1 && argv[1][0] != '-')
            cli_wrong_usage("%s knows no '%s'", argv[0], argv[1]);
        else
            cli_wrong_usage("%s needs one of these", argv[0]);
        print_overview(commands, n, argv[0]);
        return 2;
    }
    const char *best = by_another_word(argv[0]);
    /* Of a short word no more than half may differ. */
    size_t half = strlen(argv[0]) / 2, best_distance = best ? 0 : half < 3 ? half + 1 : 4;
    for (size_t i = 0; i < n; i++) {
        size_t d = distance(argv[0], commands[i]->name);
        if (d < best_distance) best = commands[i]->name, best_distance = d;
    }
    if (best) return cli_wrong_usage("no command '%s'; did you mean '%s'?", argv[0], best);
    if (argv[0][0] == '-')
        return cli_wrong_usage(
            "the command comes first, its options behind it; '%s' is no command; "
            "'forage help' lists them",
            argv[0]);
    return cli_wrong_usage("no command '%s'; 'forage help' lists them", argv[0]);
}

static int help(const cli_command *const *commands, size_t n, int argc, char **argv) {
    if (argc == 0) return print_overview(commands, n, NULL), 0;
    int words = 1;
    const cli_command *c = find_command(commands, n, argc, argv, &words);
    if (c) return print_command(c), 0;
    if (argc == 1 && is_group(commands, n, argv[0])) return print_overview(commands, n, argv[0]), 0;
    return unknown_command(commands, n, argc, argv);
}

int cli_main(const cli_command *const *commands, size_t n_commands, int argc, char **argv) {
    argc--, argv++;
    if (argc == 0) {
        print_overview(commands, n_commands, NULL);
        return 2;
    }
    if (!strcmp(argv[0], "help") || !strcmp(argv[0], "--help") || !strcmp(argv[0], "-h"))
        return help(commands, n_commands, argc - 1, argv + 1);
    static char version_word[] = "version";
    if (!strcmp(argv[0], "--version")) argv[0] = version_word;
    int words = 1;
    const cli_command *c = find_command(commands, n_commands, argc, argv, &words);
    if (!c) return unknown_command(commands, n_commands, argc, argv);
    argc -= words, argv += words;
    for (int i = 0; i < argc && strcmp(argv[i], "--"); i++)
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) return print_command(c), 0;
    int rc = parse(c, commands, n_commands, &argc, argv);
    if (rc) return rc;
    rc = c->run(argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        perror("forage: standard output");
        return 1;
    }
    return rc;
}

static int version_run(int argc, char **argv) {
    (void)argc, (void)argv;
    puts("forage " FORAGE_VERSION);
    return 0;
}

const cli_command cli_command_version = {
    "version", "the version of this program", "forage version", NULL, NULL, 0, 0, version_run};
