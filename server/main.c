/* server/ - HTTP, JSON, the command line: the only room that prints, exits, reads argv or the
 * environment. Whatever answers a question or stores a document lives below, in retrieval/. */
#include "server/cli/cli.h"

#define ROW(name) &cli_command_##name,
static const cli_command *const commands[] = {CLI_COMMANDS(ROW)};

int main(int argc, char **argv) {
    return cli_main(commands, sizeof commands / sizeof *commands, argc, argv);
}
