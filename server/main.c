/* server/ - HTTP, JSON, the command line: the only room that prints, exits, reads argv or the
 * environment. Whatever answers a question or stores a document lives below, in retrieval/. */
#include <signal.h>
#include <string.h>

#include "data/extract/extract_host.h"
#include "server/cli/cli.h"

/* SIGINT, SIGTERM and SIGHUP end a service in order only if no thread of it takes them but the one that
 * waits for them. A library may start threads of its own when it is loaded, before main: this runs
 * before that, so that all of them are born with them held back. */
static sigset_t inherited;

static void hold_signals(void) {
    sigset_t held;
    sigemptyset(&held);
    sigaddset(&held, SIGINT);
    sigaddset(&held, SIGTERM);
    sigaddset(&held, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &held, &inherited);
}
typedef void before_libraries(void);
__attribute__((section(".preinit_array"), used)) static before_libraries *const ran_first =
    hold_signals;

#define ROW(name) &cli_command_##name,
static const cli_command *const commands[] = {CLI_COMMANDS(ROW)};

int main(int argc, char **argv) {
    if (extract_is_worker(argc, argv)) return extract_worker_main(NULL, 0);
    /* Every other command ends at once. */
    if (argc < 2 || strcmp(argv[1], "serve") != 0) pthread_sigmask(SIG_SETMASK, &inherited, NULL);
    return cli_main(commands, sizeof commands / sizeof *commands, argc, argv);
}
