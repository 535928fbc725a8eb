/* Every call that can fail, made to fail once: the n-th malloc, open, read, write, fsync, ftruncate, rename,
 * unlink, mkdir, mmap, pthread_create of a service that opens, takes documents in, answers, merges, backs
 * up and closes (scenario.h).
 *
 *     fault_sweep [SECONDS [KIND [FIRST [STEP]]]]    (make fault-sweep; 0 seconds: all of them, from the FIRST on,
 *                                                     or each STEP-th)
 *
 * A first run counts the calls and looks at which places they come from. Each later run fails one: of
 * every kind but malloc every n; of malloc the first call from each chain of callers, since there
 * are tens of thousands: those all fail, one by one, with the KIND malloc-each, which says every hundred runs where it is, so that
 * a sweep that was cut off goes on from there (fault_sweep 0 malloc-each 23501). The service must not crash, must not leak (built with SAN=address), and must not
 * lie: what it acknowledged is there when the home is opened again, and found. Status 1 otherwise. */
#include <execinfo.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "kernels/clock.h"
#include "tests/trials/interpose.h"
#include "tests/trials/scenario.h"

enum { MAX_CALLS = 400000, MAX_CHAINS = 1 << 16, DEPTH = 7 };

void __lsan_do_leak_check(void) __attribute__((weak));
int __lsan_do_recoverable_leak_check(void) __attribute__((weak));

static struct {
    char home[1000];
    int pipe;
    unsigned limit_s; /* a run that takes longer hangs */
    size_t runs, refused, crashes, leaks, lies, hangs;
} t;

/* ---- the first run -------------------------------------------------------------------------- */

typedef struct plan {
    long n_calls[N_CALLS];
    long n_worth; /* of malloc */
    int worth[MAX_CALLS];
} plan;
static plan *shared; /* with the child */
static struct {
    uint64_t chain;
    int n;
} chains[MAX_CHAINS];
static pthread_mutex_t chain_mu = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local bool looking;

static void look(enum call kind, long n) {
    if (kind != CALL_MALLOC || looking) return;
    void *callers[DEPTH + 2];
    looking = true;
    int depth = backtrace(callers, DEPTH + 2);
    uint64_t h = 14695981039346656037u;
    for (int i = 2; i < depth; i++) h = (h ^ (uint64_t)(uintptr_t)callers[i]) * 1099511628211u;
    pthread_mutex_lock(&chain_mu);
    size_t at = h % MAX_CHAINS;
    while (chains[at].n && chains[at].chain != h) at = (at + 1) % MAX_CHAINS;
    chains[at].chain = h;
    if (chains[at].n++ == 0 && n < MAX_CALLS) shared->worth[shared->n_worth++] = (int)n;
    pthread_mutex_unlock(&chain_mu);
    looking = false;
}

/* ---- a run ----------------------------------------------------------------------------------- */

static void tell(const scenario_word *w) {
    if (__real_write(t.pipe, w, sizeof *w) != sizeof *w) _exit(9);
}

/* In a child: the scenario, twice, so that a home is opened that holds something. */
static void child(void) {
    uint32_t version = 0;
    scenario_run(t.home, &version, true, tell);
    scenario_run(t.home, &version, false, tell);
    faults = (struct faults){0};
    for (int k = 0; on_call && k < N_CALLS; k++) shared->n_calls[k] = calls_made[k];
    on_call = NULL;
    if (__lsan_do_recoverable_leak_check && __lsan_do_recoverable_leak_check()) _exit(7);
    _exit(0);
}

/* Its status, what it told in *a; -1: it hangs. */
static int run_child(auditor *a) {
    int fd[2], status;
    scenario_word w;
    if (pipe(fd) != 0) return -1;
    pid_t pid = fork();
    if (pid == 0) {
        close(fd[0]);
        t.pipe = fd[1];
        alarm(t.limit_s);
        child();
    }
    close(fd[1]);
    while (__real_read(fd[0], &w, sizeof w) == sizeof w) {
        if (!w.acknowledged)
            audit_begin(a, w.document, w.version);
        else if (a->maybe[w.document] == w.version)
            audit_end(a, w.document, true);
    }
    close(fd[0]);
    waitpid(pid, &status, 0);
    return status;
}

static enum scenario_end run_audit(auditor *a) {
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        char why[600];
        alarm(t.limit_s);
        enum scenario_end end = scenario_audit(t.home, a, NULL, why);
        if (end != SCENARIO_KEPT) printf("#   %s\n", why);
        fflush(stdout);
        _exit(10 + (int)end);
    }
    waitpid(pid, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) >= 10
               ? (enum scenario_end)(WEXITSTATUS(status) - 10)
               : SCENARIO_SILENT;
}

static void say(const char *what, const struct faults *f) {
    printf("# %s: %s, call %ld%s\n", what, call_names[f->kind], f->n,
           f->on ? " and all after it" : "");
    fflush(stdout);
}

static void one(const struct faults *f) {
    static auditor a;
    a = (auditor){0};
    fo_remove_tree(t.home, NULL);
    faults = *f;
    int status = run_child(&a);
    faults = (struct faults){0};
    t.runs++;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
        t.hangs++;
        say("it hangs", f);
    } else if (WIFEXITED(status) && WEXITSTATUS(status) == 7) {
        t.leaks++;
        say("it leaks", f);
    } else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        t.crashes++;
        printf("# status %x\n", status);
        say("it crashed", f);
    }
    enum scenario_end end = run_audit(&a);
    if (end == SCENARIO_KEPT) return;
    if (end == SCENARIO_REFUSED)
        t.refused++;
    else
        t.lies++;
    say(end == SCENARIO_REFUSED ? "the home is refused" : "it lied", f);
}

/* ---- all ------------------------------------------------------------------------------------- */

static const char each_malloc[] = "malloc-each";

/* each: of malloc every call, not one of each chain. */
static size_t sweep(enum call kind, bool each, long first, long step, double until,
                    uint64_t *seed) {
    const bool chosen = kind == CALL_MALLOC && !each;
    long n_all = chosen ? shared->n_worth : shared->n_calls[kind];
    bool all = until <= 0;
    size_t runs = 0;
    for (long i = all ? first : 0; i < n_all && (all || fo_now_ms() < until); i += all ? step : 1) {
        long pick = i;
        if (!all) { /* a part of them, another one each time */
            *seed = *seed * 6364136223846793005u + 1442695040888963407u;
            pick = (long)((*seed >> 33) % (uint64_t)n_all);
        }
        long n = chosen ? shared->worth[pick] : pick + 1;
        one(&(struct faults){.kind = kind, .n = n});
        runs++;
        if (kind == CALL_WRITE || kind == CALL_FSYNC) /* a disk that stays full, or broken */
            one(&(struct faults){.kind = kind, .n = n, .on = true, .number = i % 2 ? EIO : ENOSPC}),
                runs++;
        if (all && runs % 100 == 0) {
            printf("# %s: %ld of %ld\n", each ? each_malloc : call_names[kind], i + 1, n_all);
            fflush(stdout);
        }
    }
    return runs;
}

int main(int argc, char **argv) {
    double seconds = argc > 1 ? atof(argv[1]) : 0;
    long first = argc > 3 && atol(argv[3]) > 0 ? atol(argv[3]) - 1 : 0;
    long step = argc > 4 && atol(argv[4]) > 0 ? atol(argv[4]) : 1;
    const char *tmp = getenv("TMPDIR"), *env = getenv("SEED");
    uint64_t seed = env ? strtoull(env, NULL, 0) : 20261124;
    char dir[900];
    printf("# SEED=%llu\n", (unsigned long long)seed);
    fflush(stdout); /* children would print it again */
    snprintf(dir, sizeof dir, "%s/forage-sweep-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(dir)) return perror(dir), 1;
    snprintf(t.home, sizeof t.home, "%s/home", dir);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    signal(SIGPIPE, SIG_IGN);
    interpose_sqlite();
    void *warm[2];
    backtrace(warm, 2); /* loads what it needs */
    on_call = look;
    t.limit_s = 1200;
    double first_began = fo_now_ms();
    one(&(struct faults){0});
    on_call = NULL;
    /* On a machine that is busy with other things everything takes longer: nothing hangs that ends in ten times as
     * long as a run without faults. */
    t.limit_s = 120 + (unsigned)((fo_now_ms() - first_began) / 100);
    if (t.crashes + t.leaks + t.lies + t.refused + t.hangs)
        return printf("# without any fault it does not work\n"), 1;
    double began = fo_now_ms();
    for (enum call kind = CALL_MALLOC; kind < N_CALLS; kind++) {
        const bool each = argc > 2 && kind == CALL_MALLOC && !strcmp(argv[2], each_malloc);
        if (argc > 2 && !each && strcmp(argv[2], call_names[kind]) != 0) continue;
        double share = seconds * kind / (N_CALLS - 1);
        size_t runs = sweep(kind, each, first, step, seconds > 0 ? began + share * 1000 : 0, &seed);
        printf("# %-14s %7ld calls", call_names[kind], shared->n_calls[kind]);
        if (kind == CALL_MALLOC && !each) printf(", %ld chosen", shared->n_worth);
        printf(", %zu runs\n", runs);
        fflush(stdout);
    }
    printf("# %zu runs in %.0f s: %zu crashes, %zu leaks, %zu hang, %zu lies, %zu homes refused\n",
           t.runs, (fo_now_ms() - began) / 1000, t.crashes, t.leaks, t.hangs, t.lies, t.refused);
    fo_remove_tree(dir, NULL);
    return t.crashes + t.leaks + t.lies + t.hangs + t.refused != 0;
}
