/* Documents that are read by processes of their own: what an honest one says comes back whole, with
 * places; one that crashes, hangs, spins, eats memory, lies or tries to get out costs its document and
 * says so, and the next document is read. */
#include "tests/test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "data/extract/builder.h"
#include "data/extract/extract.h"
#include "data/extract/extract_host.h"
#include "kernels/clock.h"
#include "kernels/utf8.h"

/* Sanitizers make something else of SIGSEGV, so that what is seen is not what happens without them. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CRASH   SIGUSR1
#define CRASHED "crashed (signal 10)"
#else
#define CRASH   SIGSEGV
#define CRASHED "crashed (signal 11)"
#endif

enum { LIMIT = 4 << 20 };

/* ---- formats that misbehave: "\1NAME", then whatever ------------------------------------------------- */

static bool is_bad(const extract_input *in) {
    return in->n > 4 && in->bytes[0] == 1;
}

static bool is_shared(const extract_input *in) {
    return in->n > 4 && in->bytes[0] == 6;
}

static bool is_of_a_call(const extract_input *in) {
    return in->n > 4 && in->bytes[0] == 8;
}

static bool says(const extract_input *in, const char *word) {
    return in->n > strlen(word) && memcmp(in->bytes + 1, word, strlen(word)) == 0;
}

/* What a worker must not be able to do: each that it can is a line. `other`: a process that is none of its business. */
static void try_doors(builder *b, pid_t other) {
    static const char *const files[] = {"/etc/passwd", "/proc/self/environ", "/tmp"};
    for (size_t i = 0; i < 3; i++)
        if (open(files[i], O_RDONLY) >= 0) builder_str(b, "opens a file. ");
    if (open("/tmp/forage-worker-was-here", O_WRONLY | O_CREAT, 0600) >= 0)
        builder_str(b, "writes a file. ");
    if (socket(AF_INET, SOCK_STREAM, 0) >= 0) builder_str(b, "makes a socket. ");
    for (int fd = 0; fd < 256; fd++) {
        struct stat st;
        if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) builder_str(b, "holds a file. ");
    }
    if (kill(getppid(), 0) == 0) builder_str(b, "may end others. ");
    if (kill(other, 0) == 0) builder_str(b, "may end others, too. ");
    if (syscall(SYS_tgkill, other, other, 0) == 0) builder_str(b, "may end their threads. ");
    /* Itself it may signal, as abort() does. */
    if (syscall(SYS_tgkill, getpid(), getpid(), 0) != 0) builder_str(b, "cannot abort. ");
    pid_t child = fork();
    if (child == 0) _exit(0);
    if (child > 0) builder_str(b, "forks. ");
    extern char **environ;
    for (char **e = environ; e && *e; e++)
        if (strcmp(*e, "TZ=UTC0") != 0) builder_str(b, "knows the environment. ");
    builder_str(b, "That is all.");
}

static void lie(void) {
    char junk[4096];
    memset(junk, 'x', sizeof junk);
    for (int fd = 3; fd < 32; fd++) {
        ssize_t n = write(fd, junk, sizeof junk);
        (void)n;
    }
}

static void eat(void) {
    for (;;) {
        char *p = malloc(1 << 20);
        if (!p) abort();
        memset(p, 1, 1 << 20);
    }
}

static int extract_bad(builder *b, extract_input *in, fo_err *err) {
    if (says(in, "CRASH")) raise(CRASH);
    if (says(in, "ABORT")) abort();
    if (says(in, "EXIT")) _exit(3);
    if (says(in, "LIE")) lie();
    if (says(in, "EAT")) eat();
    while (says(in, "WAIT")) poll(NULL, 0, -1);
    while (says(in, "SPIN")) {
    }
    if (says(in, "FAIL")) return fo_fail(err, FO_EINVAL, "page 7 is cut off");
    if (says(in, "WHO")) {
        char pid[16];
        snprintf(pid, sizeof pid, "%d", (int)getpid());
        builder_str(b, pid);
        return FO_OK;
    }
    if (says(in, "DOORS")) {
        char pid[16] = "";
        memcpy(pid, in->bytes + 6, in->n - 6 < 15 ? in->n - 6 : 15);
        try_doors(b, atoi(pid));
        return FO_OK;
    }
    while (says(in, "LONG") && !b->failure) builder_str(b, "More and more of it. ");
    if (says(in, "LONG")) return FO_OK;
    char sheet[] = "Budget";
    builder_set_title(b, "A title", 7);
    for (uint32_t i = 0; i < 1000; i++) {
        builder_set_place(b,
                          &(text_place){.page = i + 1, .box = {1, 2, 3, (float)i}, .sheet = sheet});
        builder_begin(b, i ? TEXT_PARAGRAPH : TEXT_HEADING, i == 0);
        builder_str(b, "W\xC3\xB6rter der Seite");
        builder_end(b);
    }
    return FO_OK;
}

/* A program that exists everywhere, and one that nobody has. */
static int extract_by_program(builder *b, extract_input *in, fo_err *err) {
    char buf[4096];
    ptrdiff_t n;
    while ((n = in->program->read(in->program->ctx, buf, sizeof buf)) > 0)
        builder_add(b, buf, (size_t)n);
    int status = in->program->end(in->program->ctx);
    return status ? fo_fail(err, FO_EINVAL, "the program ended with %d", status) : FO_OK;
}

/* It has seen enough of what its program writes, which then waits for a reader of the rest. */
static int extract_a_little(builder *b, extract_input *in, fo_err *err) {
    char buf[16];
    ptrdiff_t n = in->program->read(in->program->ctx, buf, sizeof buf);
    builder_add(b, buf, n > 4 ? 4 : 0);
    int status = in->program->end(in->program->ctx);
    return status == -SIGPIPE ? FO_OK
                              : fo_fail(err, FO_EINVAL, "the program ended with %d", status);
}

/* Five pages, one after the other; then it fails where it is to. */
static int extract_pages(builder *b, extract_input *in, fo_err *err) {
    for (int i = 0; i < 5; i++) {
        builder_page_read(b);
        poll(NULL, 0, 150);
    }
    int status = in->program->end(in->program->ctx);
    builder_str(b, "Five pages.");
    return says(in, "BAD") ? fo_fail(err, FO_EINVAL, "page 6 is cut off (%d)", status) : FO_OK;
}

static bool is_paged(const extract_input *in) {
    return in->n > 3 && in->bytes[0] == 14;
}

static bool is_large(const extract_input *in) {
    return in->n > 4 && in->bytes[0] == 7;
}

static bool is_counted(const extract_input *in) {
    return in->n > 4 && in->bytes[0] == 2;
}
static bool is_missing(const extract_input *in) {
    return in->n > 4 && in->bytes[0] == 3;
}
static bool is_reaching(const extract_input *in) {
    return in->n > 4 && in->bytes[0] == 4;
}

static const char *const count[] = {"wc", "-c", NULL};
static const char *const none[] = {"no-such-program", NULL};
#define SECRET "/tmp/forage-extract-host-test"
static const char *const reach[] = {"cat", "/dev/stdin", SECRET, NULL};
static const extract_program wc = {"wc", "coreutils", count, NULL};
static const extract_program missing = {"no-such-program", "no-such-package", none, NULL};
static const extract_program cat = {"cat", "coreutils", reach, NULL};

/* Programs that a format asks for while it reads. */
static const char *const say[] = {"echo", "%page", "%language", NULL}, *const pass[] = {"cat",
                                                                                        NULL};
static const extract_program tool_pass = {"cat", "coreutils", pass, NULL};
static const extract_program tool_count = {"wc", "coreutils", count, NULL};
static const extract_program tool_piped = {"cat", "coreutils", pass, &tool_count};
static const extract_program tool_say = {"echo", "coreutils", say, NULL};
static const extract_program tool_reach = {"cat", "coreutils", reach, &tool_pass};
static const extract_program *const some_tools[] = {&tool_say,   &tool_pass, &tool_piped,
                                                    &tool_reach, &missing,   NULL};

static bool is_asking(const extract_input *in) {
    return in->n > 4 && in->bytes[0] == 5;
}

/* What a program gets instead of the document: as much as may be, then a byte more. */
static int extract_by_large_parts(builder *b, extract_input *in, fo_err *err) {
    enum { MOST = 64 << 20 };
    char *part = calloc(MOST + 1, 1);
    int rc = part ? FO_OK : fo_no_memory(err);
    for (size_t more = 0; !rc && more < 2; more++) {
        extract_stream from;
        char buf[4096], status[32];
        ptrdiff_t n;
        rc = in->tools->start(in->tools->ctx, 2, 0, part, MOST + more, &from, err);
        while (!rc && (n = from.read(from.ctx, buf, sizeof buf)) > 0)
            builder_add(b, buf, (size_t)n);
        snprintf(status, sizeof status, "[%d]", rc ? 0 : from.end(from.ctx));
        builder_str(b, status);
    }
    free(part);
    return rc;
}

/* Each tool twice, the first time given up at once: what it wrote, then its status. */
static int extract_by_tools(builder *b, extract_input *in, fo_err *err) {
    if (says(in, "PART")) return extract_by_large_parts(b, in, err);
    for (uint32_t i = 0; i < 12; i++) {
        extract_stream from;
        char buf[4096], status[32];
        ptrdiff_t n;
        int rc =
            in->tools->start(in->tools->ctx, i / 2, i, i == 5 ? "a part" : NULL, 6, &from, err);
        if (rc) return rc;
        while (i % 2 && (n = from.read(from.ctx, buf, sizeof buf)) > 0)
            builder_add(b, buf, (size_t)n);
        snprintf(status, sizeof status, "[%d]", from.end(from.ctx));
        if (i % 2) builder_str(b, status);
    }
    return FO_OK;
}

static const extract_format rows[] = {
    {.name = "asking",
     .what = "a file that asks for programs",
     .media_types = "",
     .endings = "ask",
     .is = is_asking,
     .extract = extract_by_tools,
     .apart = true,
     .tools = some_tools},
    {.name = "bad",
     .what = "a bad file",
     .media_types = "",
     .endings = "bad",
     .is = is_bad,
     .extract = extract_bad,
     .apart = true},
    {.name = "shared",
     .what = "a bad text",
     .media_types = "",
     .endings = "txt6",
     .is = is_shared,
     .extract = extract_bad,
     .apart = true,
     .company = EXTRACT_WITH_ANY},
    {.name = "together",
     .what = "a bad file of many",
     .media_types = "",
     .endings = "many",
     .is = is_of_a_call,
     .extract = extract_bad,
     .apart = true,
     .company = EXTRACT_WITH_ITS_CALL},
    {.name = "counted",
     .what = "a counted file",
     .media_types = "",
     .endings = "wc",
     .is = is_counted,
     .extract = extract_by_program,
     .apart = true,
     .program = &wc},
    {.name = "missing",
     .what = "a file nobody reads",
     .media_types = "",
     .endings = "no",
     .is = is_missing,
     .extract = extract_by_program,
     .apart = true,
     .program = &missing},
    {.name = "large",
     .what = "a file that is large",
     .media_types = "",
     .endings = "lg",
     .is = is_large,
     .extract = extract_a_little,
     .apart = true,
     .program = &tool_pass,
     .tools = some_tools},
    {.name = "paged",
     .what = "a file of pages",
     .media_types = "",
     .endings = "pg",
     .is = is_paged,
     .extract = extract_pages,
     .apart = true,
     .program = &wc},
    {.name = "reaching",
     .what = "a file that reaches",
     .media_types = "",
     .endings = "re",
     .is = is_reaching,
     .extract = extract_by_program,
     .apart = true,
     .program = &cat},
};
enum { N_ROWS = sizeof rows / sizeof *rows };

static extract_host *host;
static _Thread_local uint64_t call; /* that documents come in with; 0: none */
static _Thread_local atomic_size_t *pages;

static int read_bytes(extracted *x, const void *bytes, size_t n, doc_budget *budget, fo_err *err) {
    *err = (fo_err){0};
    if (budget) doc_budget_begin(budget);
    extract_request rq = {.bytes = bytes,
                          .n = n,
                          .file_name = "a/report.bad",
                          .max_text_bytes = LIMIT,
                          .budget = budget,
                          .host = host,
                          .call = call,
                          .pages = pages,
                          .formats = rows,
                          .n_formats = N_ROWS};
    return extract_text(x, &rq, err);
}

static int read_word(extracted *x, const char *word, fo_err *err) {
    return read_bytes(x, word, strlen(word), NULL, err);
}

/* ---- tests ------------------------------------------------------------------------------------------- */

static void check_good(void) {
    extracted x;
    fo_err err;
    assert_ok(read_word(&x, "\1GOOD", &err), &err);
    assert_string_equal(x.format, "bad");
    assert_string_equal(x.title, "A title");
    assert_int_equal(x.n_blocks, 1000);
    assert_int_equal(strncmp(x.text, "W\xC3\xB6rter der Seite\n\nW", 20), 0);
    for (uint32_t i = 0; i < 1000; i++) {
        const text_place *p = extracted_place(&x, &x.blocks[i]);
        assert_int_equal(p->page, i + 1);
        assert_true(p->box[3] == (float)i);
        assert_string_equal(p->sheet, "Budget");
    }
    extracted_deinit(&x);
}

static void what_a_worker_reads_comes_back_whole(void **state) {
    (void)state;
    check_good();
    int pid = extract_host_pid(host);
    check_good();
    assert_int_equal(extract_host_pid(host), pid); /* one server for all documents */
}

static void each_misfortune_costs_one_document_and_says_so(void **state) {
    (void)state;
    static const struct {
        const char *word, *says;
        int code;
    } cases[] = {
        {"\1CRASH.", "report.bad (a bad file): the process that read it " CRASHED, FO_EINVAL},
        {"\1ABORT.", "crashed (signal 6)", FO_EINVAL},
        {"\1EXIT.", "contradicts itself (status 3)", FO_EIO},
        {"\1LIE.", "contradicts itself", FO_EIO},
        {"\1WAIT.", "did not end within the 2 s", FO_ELIMIT},
        {"\1SPIN.", "reading it", FO_ELIMIT}, /* whichever limit comes first */
        {"\1FAIL.", "report.bad (a bad file): page 7 is cut off", FO_EINVAL},
        {"\1LONG.", "the document's text is longer than", FO_ELIMIT},
        {"\3xxxx", "install the package no-such-package", FO_EUNSUPPORTED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        extracted x;
        fo_err err;
        int rc = read_word(&x, cases[i].word, &err);
        if (rc != cases[i].code || !strstr(err.msg, cases[i].says))
            fail_msg("%s: %d %s", cases[i].word + 1, rc, err.msg);
        assert_null(x.text);
        check_good();
    }
}

static void memory_is_bound(void **state) {
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* their shadow memory is not bound */
#endif
    extracted x;
    fo_err err;
    int rc = FO_ELIMIT; /* on a busy machine the deadline may come first */
    for (int i = 0; i < 5 && rc == FO_ELIMIT; i++) rc = read_word(&x, "\1EAT.", &err);
    assert_int_equal(rc, FO_EINVAL); /* malloc says no: abort() */
    assert_non_null(strstr(err.msg, "signal 6"));
    check_good();
}

static void a_worker_gets_out_nowhere(void **state) {
    (void)state;
    extracted x;
    fo_err err;
    unlink("/tmp/forage-worker-was-here");
    char word[32];
    snprintf(word, sizeof word, "\1DOORS%d", (int)getpid());
    assert_ok(read_word(&x, word, &err), &err);
    assert_string_equal(x.text, "That is all.");
    extracted_deinit(&x);
    assert_int_not_equal(access("/tmp/forage-worker-was-here", F_OK), 0);
}

static void a_program_reads_the_document_and_no_other_file(void **state) {
    (void)state;
    extracted x;
    fo_err err;
    assert_ok(read_word(&x,
                        "\2"
                        "234567",
                        &err),
              &err);
    assert_string_equal(x.text, "7");
    extracted_deinit(&x);
    /* cat writes what it may read, and ends with 1 for what it may not: a file that this test reads. */
    FILE *f = fopen(SECRET, "w");
    assert_non_null(f);
    fputs("secret", f);
    fclose(f);
    assert_int_equal(read_word(&x, "\4only this", &err), FO_EINVAL);
    assert_non_null(strstr(err.msg, "the program ended with 1"));
    unlink(SECRET);
}

static void a_budget_is_the_workers_too(void **state) {
    (void)state;
    extracted x;
    fo_err err;
    doc_budget small = {.max_bytes = 64 << 10};
    assert_int_equal(read_bytes(&x, "\1GOOD", 5, &small, &err), FO_ENOMEM);
    assert_int_equal(small.failure, FO_ENOMEM); /* so that it can be tried with more */
    assert_true(small.wanted > 64 << 10);
    assert_int_equal(small.used, 0);
    doc_budget enough = {.max_bytes = 1 << 20};
    assert_ok(read_bytes(&x, "\1GOOD", 5, &enough, &err), &err);
    assert_true(enough.used >= x.len && enough.used < 1 << 20);
    extracted_deinit(&x);
}

static atomic_bool left;

static void *leave(void *arg) {
    (void)arg;
    usleep(200000);
    atomic_store(&left, true);
    return NULL;
}

static void who_leaves_ends_the_work(void **state) {
    (void)state;
    extracted x;
    fo_err err;
    doc_budget budget = {.cancel = &left};
    pthread_t t;
    atomic_store(&left, false);
    assert_int_equal(pthread_create(&t, NULL, leave, NULL), 0);
    double began = fo_now_ms();
    assert_int_equal(read_bytes(&x, "\1WAIT.", 6, &budget, &err), FO_ECANCELLED);
    assert_true(fo_now_ms() - began < 1500);
    pthread_join(t, NULL);
}

static void a_server_that_is_gone_is_started_anew(void **state) {
    (void)state;
    check_good();
    int pid = extract_host_pid(host);
    assert_int_equal(kill(pid, SIGKILL), 0);
    siginfo_t info;
    waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT); /* its socket is closed by then */
    check_good();
    assert_int_not_equal(extract_host_pid(host), pid);
}

enum { THREADS = 8, ROUNDS = 12 };

static void *read_many(void *arg) {
    size_t *wrong = arg;
    static const char *const words[] = {"\1GOOD", "\1CRASH.", "\1GOOD", "\1FAIL.",
                                        "\6GOOD", "\6FAIL.",  "\6GOOD", "\6CRASH."};
    for (int i = 0; i < ROUNDS; i++) {
        extracted x;
        fo_err err;
        int rc = read_word(&x, words[i % 8], &err);
        *wrong += rc != (i % 2 ? FO_EINVAL : FO_OK);
        *wrong += i % 2 == 0 && x.n_blocks != 1000;
        extracted_deinit(&x);
    }
    return NULL;
}

static void threads_share_a_server(void **state) {
    (void)state;
    pthread_t t[THREADS];
    size_t wrong[THREADS] = {0};
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&t[i], NULL, read_many, &wrong[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(t[i], NULL);
        assert_int_equal(wrong[i], 0);
    }
}

static int who(const char *word) {
    extracted x;
    fo_err err;
    assert_ok(read_word(&x, word, &err), &err);
    int pid = atoi(x.text);
    assert_true(pid > 1);
    extracted_deinit(&x);
    return pid;
}

/* A worker says that it is free after its answer: let it. */
static void settle(void) {
    usleep(20000);
}

/* Formats whose documents share workers: one process for some of them, another after one that does not go well, whatever
 * that is, and after so many; the others: a process each. */
static void text_shares_a_worker_until_something_goes_wrong(void **state) {
    (void)state;
    static const char *const bad[] = {"\6CRASH.", "\6ABORT.", "\6EXIT.", "\6LIE.",
                                      "\6FAIL.",  "\6LONG.",  "\6WAIT."};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int first = who("\6WHO..");
        settle();
        assert_int_equal(who("\6WHO.."), first);
        settle();
        extracted x;
        fo_err err;
        int rc = read_word(&x, bad[i], &err);
        if (!rc || !strstr(err.msg, "report.bad (a bad text): "))
            if (!rc || !strstr(err.msg, "longer than")) fail_msg("%s: %d %s", bad[i], rc, err.msg);
        settle();
        assert_int_not_equal(who("\6WHO.."), first);
        settle();
    }
    int first = who("\6WHO.."), n = 1;
    settle();
    for (; n < 100 && who("\6WHO..") == first; n++) settle();
    assert_in_range(n, 2, 99);
    int alone = who("\1WHO..");
    settle();
    assert_int_not_equal(who("\1WHO.."), alone);
}

/* Documents that came together: one worker for them, and none of another call's, until something goes wrong. */
static void a_call_shares_a_worker_with_no_other(void **state) {
    (void)state;
    static const char *const bad[] = {"\10CRASH.", "\10FAIL.", "\10LIE."};
    call = 7;
    int first = who("\10WHO..");
    settle();
    assert_int_equal(who("\10WHO.."), first);
    settle();
    int text = who("\6WHO.."), alone = who("\1WHO..");
    assert_true(text != first && alone != first);
    settle();
    call = 8;
    int other = who("\10WHO..");
    assert_true(other != first && other != text);
    settle();
    call = 7;
    assert_int_equal(who("\10WHO.."), first);
    settle();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        extracted x;
        fo_err err;
        assert_int_not_equal(read_word(&x, bad[i], &err), FO_OK);
        settle();
        int next = who("\10WHO..");
        assert_true(next != first && next != other);
        first = next;
        settle();
    }
    call = 0; /* of no call: a process each */
    first = who("\10WHO..");
    settle();
    assert_int_not_equal(who("\10WHO.."), first);
}

/* Who waits for more of a call that is over does not wait for long where many calls come. */
static void workers_of_calls_that_are_over_are_few(void **state) {
    (void)state;
    enum { CALLS = 40 };
    int pids[CALLS], n = 0;
    for (int i = 0; i < CALLS; i++) {
        call = 100 + (uint64_t)i;
        pids[i] = who("\10WHO..");
        settle();
    }
    call = 0;
    for (int i = 0; i < CALLS; i++) n += kill(pids[i], 0) == 0;
    assert_in_range(n, 1, 17);
}

/* The one that nobody waits for any more is ended, and is no one's worker again. */
static void who_leaves_ends_a_shared_worker(void **state) {
    (void)state;
    int first = who("\6WHO..");
    settle();
    extracted x;
    fo_err err;
    doc_budget budget = {.cancel = &left};
    pthread_t t;
    atomic_store(&left, false);
    assert_int_equal(pthread_create(&t, NULL, leave, NULL), 0);
    assert_int_equal(read_bytes(&x, "\6WAIT.", 6, &budget, &err), FO_ECANCELLED);
    pthread_join(t, NULL);
    assert_int_not_equal(who("\6WHO.."), first);
    for (int i = 0; i < 100 && kill(first, 0) == 0; i++) usleep(50000);
    assert_int_not_equal(kill(first, 0), 0);
}

static atomic_size_t n_pages;
static atomic_bool pages_over;

/* Between none and all of them. */
static void *see_some(void *arg) {
    bool *seen = arg;
    while (!atomic_load(&pages_over)) {
        size_t n = atomic_load(&n_pages);
        *seen = *seen || (n > 0 && n < 5);
        usleep(10000);
    }
    return NULL;
}

/* Who waits sees how far it is; of what came to nothing, no pages are left. */
static void pages_are_counted_while_they_are_read(void **state) {
    (void)state;
    static const char *const words[] = {"\16OK.", "\16BAD."};
    for (int i = 0; i < 2; i++) {
        extracted x;
        fo_err err;
        bool seen = false;
        pthread_t t;
        atomic_store(&n_pages, 0);
        atomic_store(&pages_over, false);
        assert_int_equal(pthread_create(&t, NULL, see_some, &seen), 0);
        pages = &n_pages;
        int rc = read_word(&x, words[i], &err);
        pages = NULL;
        atomic_store(&pages_over, true);
        pthread_join(t, NULL);
        assert_int_equal(rc, i ? FO_EINVAL : FO_OK);
        assert_true(seen);
        assert_int_equal(atomic_load(&n_pages), i ? 0 : 5);
        extracted_deinit(&x);
    }
}

static void without_a_host_they_are_refused(void **state) {
    (void)state;
    extract_host *kept = host;
    host = NULL;
    extracted x;
    fo_err err;
    assert_int_equal(read_word(&x, "\1GOOD", &err), FO_EUNSUPPORTED);
    assert_non_null(
        strstr(err.msg, "report.bad (a bad file): such documents are read in a process"));
    host = kept;
}

/* They come one after the other from a worker that could start none itself, in the same bounds. */
static void a_format_asks_for_programs_while_it_reads(void **state) {
    (void)state;
    extracted x;
    fo_err err;
    static char bytes[200000];
    memset(bytes, '.', sizeof bytes);
    memcpy(bytes, "\5ASK", 4);
    FILE *f = fopen(SECRET, "we");
    assert_non_null(f);
    fputs("a secret", f);
    fclose(f);
    assert_ok(read_bytes(&x, bytes, sizeof bytes, NULL, &err), &err);
    assert_non_null(strstr(x.text, "1 eng\n[0]")); /* %page and %language */
    assert_true(x.len > 2 * sizeof bytes && x.len < 2 * sizeof bytes + 100);
    assert_non_null(strstr(x.text, "6\n[0]"));
    assert_null(strstr(x.text, "a secret")); /* cat of it fails, whatever it is piped into */
    assert_non_null(strstr(x.text, ".[1]"));
    assert_non_null(strstr(x.text, "[127][127]")); /* one that is nowhere, one that no row has */
    extracted_deinit(&x);
    unlink(SECRET);
}

/* A worker that was taken over could have its runner keep any amount of memory for it, which no limit counts. */
static void what_a_program_is_handed_is_bound(void **state) {
    (void)state;
    extracted x;
    fo_err err;
    assert_ok(read_word(&x, "\5PARTS", &err), &err);
    assert_string_equal(x.text, "67108864\n[0][127]");
    extracted_deinit(&x);
}

/* Half of a program's output may be enough (memory ran short, say): it ends then, though another process of the worker
 * could still ask for programs. */
static void a_program_whose_output_is_not_wanted_ends(void **state) {
    (void)state;
    extracted x;
    fo_err err;
    static char bytes[3 << 20];
    memset(bytes, '.', sizeof bytes);
    bytes[0] = 7;
    assert_ok(read_bytes(&x, bytes, sizeof bytes, NULL, &err), &err);
    extracted_deinit(&x);
}

/* The server's end is that of its workers, whatever they do. */
static void workers_end_with_their_server(void **state) {
    (void)state;
    int worker = who("\6WHO.."), pid = extract_host_pid(host);
    settle();
    assert_int_equal(kill(worker, 0), 0);
    assert_int_equal(kill(worker, SIGSTOP), 0); /* it reads of nothing any more */
    assert_int_equal(kill(pid, SIGKILL), 0);
    for (int i = 0; i < 100 && kill(worker, 0) == 0; i++) usleep(50000);
    assert_int_not_equal(kill(worker, 0), 0);
    check_good();
}

static int set_up(void **state) {
    (void)state;
    fo_err err = {0};
    extract_host_options opt = {.program = "/proc/self/exe",
                                .wall_ms = 2000,
                                .wall_ms_per_mib = 1,
                                .cpu_ms = 1,
                                .cpu_ms_per_mib = 1,
                                .memory_bytes = 256 << 20};
    return extract_host_create(&host, &opt, &err);
}

/* SPIN is ended by its limit of computing time before its deadline: two seconds of one against ten of
 * the other. */
static void computing_time_is_bound(void **state) {
    (void)state;
    extract_host *kept = host;
    fo_err err = {0};
    extract_host_options opt = {.program = "/proc/self/exe", .wall_ms = 60000, .cpu_ms = 1};
    assert_ok(extract_host_create(&host, &opt, &err), &err);
    extracted x;
    assert_int_equal(read_word(&x, "\1SPIN.", &err), FO_ELIMIT);
    assert_non_null(strstr(err.msg, "more computing time or memory"));
    extract_host_free(host);
    host = kept;
}

static int tear_down(void **state) {
    (void)state;
    int pid = extract_host_pid(host);
    extract_host_free(host);
    return kill(pid, 0) == 0; /* nothing is left behind */
}

int main(int argc, char **argv) {
    if (extract_is_worker(argc, argv)) return extract_worker_main(rows, N_ROWS);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_worker_reads_comes_back_whole),
        cmocka_unit_test(each_misfortune_costs_one_document_and_says_so),
        cmocka_unit_test(memory_is_bound),
        cmocka_unit_test(computing_time_is_bound),
        cmocka_unit_test(a_worker_gets_out_nowhere),
        cmocka_unit_test(a_program_reads_the_document_and_no_other_file),
        cmocka_unit_test(a_format_asks_for_programs_while_it_reads),
        cmocka_unit_test(what_a_program_is_handed_is_bound),
        cmocka_unit_test(a_budget_is_the_workers_too),
        cmocka_unit_test(who_leaves_ends_the_work),
        cmocka_unit_test(a_server_that_is_gone_is_started_anew),
        cmocka_unit_test(threads_share_a_server),
        cmocka_unit_test(text_shares_a_worker_until_something_goes_wrong),
        cmocka_unit_test(a_call_shares_a_worker_with_no_other),
        cmocka_unit_test(workers_of_calls_that_are_over_are_few),
        cmocka_unit_test(who_leaves_ends_a_shared_worker),
        cmocka_unit_test(a_program_whose_output_is_not_wanted_ends),
        cmocka_unit_test(workers_end_with_their_server),
        cmocka_unit_test(pages_are_counted_while_they_are_read),
        cmocka_unit_test(without_a_host_they_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
