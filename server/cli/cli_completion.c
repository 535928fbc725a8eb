/* forage completion: what bash, zsh and fish need to complete commands, options and their words, written from
 * the tables that the commands themselves are read by. */
#include <stdio.h>
#include <string.h>

#include "server/cli/cli.h"

#define ROW(name) &cli_command_##name,
static const cli_command *const commands[] = {CLI_COMMANDS(ROW)};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static const cli_option none[] = {{0}};

static const cli_option *options_of(const cli_command *c) {
    return c->options ? c->options : none;
}

/* "bench" of "bench hnsw"; all of "query". */
static int first_word(const cli_command *c) {
    return (int)strcspn(c->name, " ");
}

static const char *second_word(const cli_command *c) {
    const char *blank = strchr(c->name, ' ');
    return blank ? blank + 1 : "";
}

/* Is it the first command in the table that begins with its word? */
static bool opens(size_t i) {
    int n = first_word(commands[i]);
    for (size_t k = 0; k < i; k++)
        if (first_word(commands[k]) == n &&
            !strncmp(commands[k]->name, commands[i]->name, (size_t)n))
            return false;
    return true;
}

/* The commands of two words that begin as this one, blank-separated. */
static void print_seconds(size_t i) {
    int n = first_word(commands[i]);
    for (size_t k = 0; k < N_COMMANDS; k++)
        if (first_word(commands[k]) == n &&
            !strncmp(commands[k]->name, commands[i]->name, (size_t)n) && *second_word(commands[k]))
            printf("%s ", second_word(commands[k]));
}

/* The words that an option takes, between blanks; nothing for other options. */
static void print_choices(const cli_option *o) {
    if (o->names)
        for (size_t i = 0; o->names[i]; i++) printf("%s ", o->names[i]);
    else if (o->type == CLI_CHOICE && o->arg)
        for (const char *s = o->arg; *s; s++) putchar(*s == '|' ? ' ' : *s);
}

static bool has_choices(const cli_option *o) {
    return o->type == CLI_CHOICE;
}

/* Text between single quotes, as all three shells read it; `also` are characters that need a backslash. */
static void print_quoted(const char *s, const char *also) {
    for (; *s; s++) {
        if (*s == '\'')
            fputs("'\\''", stdout);
        else if (strchr(also, *s))
            printf("\\%c", *s);
        else
            putchar(*s);
    }
}

/* ---- bash ----------------------------------------------------------------------------------------- */

static void print_bash_options(const cli_command *c, const char *pattern) {
    printf("    %s)\n        options='", pattern);
    for (const cli_option *o = options_of(c); o->name; o++) printf("--%s ", o->name);
    puts("'\n        case $before in");
    for (const cli_option *o = options_of(c); o->name; o++) {
        if (!has_choices(o)) continue;
        printf("        --%s) words='", o->name);
        print_choices(o);
        puts("' ;;");
    }
    puts("        esac ;;");
}

static void print_bash(void) {
    puts("_forage() {\n"
         "    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words='' "
         "options=''\n"
         "    COMPREPLY=()\n"
         "    if [ \"$COMP_CWORD\" -eq 1 ]; then");
    fputs("        COMPREPLY=($(compgen -W 'help ", stdout);
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (opens(i)) printf("%.*s ", first_word(commands[i]), commands[i]->name);
    puts("' -- \"$current\"))\n        return\n    fi\n    case \"${COMP_WORDS[1]} "
         "${COMP_WORDS[2]}\" in");
    for (size_t i = 0; i < N_COMMANDS; i++) {
        char pattern[80];
        if (!*second_word(commands[i])) continue;
        snprintf(pattern, sizeof pattern, "'%s'", commands[i]->name);
        print_bash_options(commands[i], pattern);
    }
    for (size_t i = 0; i < N_COMMANDS; i++) {
        char pattern[80];
        if (*second_word(commands[i])) continue;
        snprintf(pattern, sizeof pattern, "'%s '*", commands[i]->name);
        print_bash_options(commands[i], pattern);
    }
    puts("    esac\n    if [ \"$COMP_CWORD\" -eq 2 ]; then\n        case ${COMP_WORDS[1]} in");
    for (size_t i = 0; i < N_COMMANDS; i++) {
        if (!opens(i)) continue;
        printf("        %.*s) words=\"$words ", first_word(commands[i]), commands[i]->name);
        print_seconds(i);
        puts("\" ;;");
    }
    puts("        esac\n    fi\n"
         "    case $current in\n"
         "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$current\")) ;;\n"
         "    *) COMPREPLY=($(compgen -W \"$words\" -- \"$current\")) ;;\n"
         "    esac\n"
         "}\n"
         "complete -o default -F _forage forage");
}

/* ---- zsh ------------------------------------------------------------------------------------------ */

static void print_zsh_options(const cli_command *c) {
    fputs("_arguments -S", stdout);
    for (const cli_option *o = options_of(c); o->name; o++) {
        printf(" \\\n            '*--%s[", o->name);
        print_quoted(o->help ? o->help : "", "[]:\\");
        putchar(']');
        if (o->type != CLI_BOOL) {
            fputs(":value:", stdout);
            if (has_choices(o)) {
                putchar('(');
                print_choices(o);
                putchar(')');
            } else {
                fputs("_files", stdout);
            }
        }
        putchar('\'');
    }
    puts(" \\\n            '*:file:_files' ;;");
}

/* Second words come before options and files, also where the first is a command by itself. */
static void print_zsh_seconds(void) {
    puts("    if (( CURRENT == 3 )); then\n"
         "        commands=(");
    for (size_t i = 0; i < N_COMMANDS; i++) {
        if (!*second_word(commands[i])) continue;
        printf("            ${${(M)words[2]:#%.*s}:+'%s:", first_word(commands[i]),
               commands[i]->name, second_word(commands[i]));
        print_quoted(commands[i]->summary, ":\\");
        puts("'}");
    }
    puts("        )\n"
         "        (( $#commands )) && _describe command commands && return\n"
         "    fi");
}

static void print_zsh(void) {
    puts("#compdef forage\n"
         "_forage() {\n"
         "    local -a commands\n"
         "    if (( CURRENT == 2 )); then\n"
         "        commands=(");
    for (size_t i = 0; i < N_COMMANDS; i++) {
        if (!opens(i)) continue;
        printf("            '%.*s:", first_word(commands[i]), commands[i]->name);
        print_quoted(commands[i]->summary, ":\\");
        puts("'");
    }
    puts("        )\n"
         "        _describe command commands\n"
         "        return\n"
         "    fi");
    print_zsh_seconds();
    puts("    case \"$words[2] $words[3]\" in");
    for (int two = 1; two >= 0; two--)
        for (size_t i = 0; i < N_COMMANDS; i++) {
            if ((*second_word(commands[i]) != 0) != two) continue;
            printf("        '%s%s'*) ", commands[i]->name, two ? "" : " ");
            print_zsh_options(commands[i]);
        }
    puts("    esac\n"
         "}\n"
         "_forage \"$@\"");
}

/* ---- fish ----------------------------------------------------------------------------------------- */

static void print_fish_condition(const cli_command *c) {
    const char *second = second_word(c);
    printf("'__fish_seen_subcommand_from %.*s", first_word(c), c->name);
    if (*second) printf("; and __fish_seen_subcommand_from %s", second);
    putchar('\'');
}

static void print_fish(void) {
    for (size_t i = 0; i < N_COMMANDS; i++) {
        const cli_command *c = commands[i];
        const char *second = second_word(c);
        if (opens(i)) {
            printf("complete -c forage -n __fish_use_subcommand -a %.*s -d '", first_word(c),
                   c->name);
            print_quoted(*second ? "" : c->summary, "\\");
            puts("'");
        }
        if (*second) {
            printf("complete -c forage -n '__fish_seen_subcommand_from %.*s' -a %s -d '",
                   first_word(c), c->name, second);
            print_quoted(c->summary, "\\");
            puts("'");
        }
        for (const cli_option *o = options_of(c); o->name; o++) {
            fputs("complete -c forage -n ", stdout);
            print_fish_condition(c);
            printf(" -l %s%s", o->name, o->type == CLI_BOOL ? "" : has_choices(o) ? " -x" : " -r");
            if (has_choices(o)) {
                fputs(" -a '", stdout);
                print_choices(o);
                putchar('\'');
            }
            fputs(" -d '", stdout);
            print_quoted(o->help ? o->help : "", "\\");
            puts("'");
        }
    }
}

/* ---- the command ---------------------------------------------------------------------------------- */

static int run(int argc, char **argv) {
    (void)argc;
    const char *shell = argv[0];
    if (!strcmp(shell, "bash"))
        print_bash();
    else if (!strcmp(shell, "zsh"))
        print_zsh();
    else if (!strcmp(shell, "fish"))
        print_fish();
    else
        return cli_wrong_usage("no completion for '%s': bash, zsh or fish", shell);
    return 0;
}

static const cli_option options[] = {{0}};

const cli_command cli_command_completion = {
    "completion",
    "what a shell needs to complete commands and options",
    "forage completion bash | zsh | fish",
    "bash: forage completion bash > ~/.local/share/bash-completion/completions/forage\n"
    "zsh:  forage completion zsh > DIR/_forage, DIR being one of $fpath\n"
    "fish: forage completion fish > ~/.config/fish/completions/forage.fish\n"
    "The package of Debian and make install bring them along.",
    options,
    1,
    1,
    run};
