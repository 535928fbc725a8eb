/* serve_sandbox_test.c - what a service gave up: each look is a process of its own, since there is no way back. */
#include "server/base/serve_sandbox.h"
#include "tests/test.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <stdatomic.h>

static char *home, *other; /* other: outside of what is temporary */

enum { NOT_HERE = 77 };

/* Does fn say 0 in a process of its own? Skips where the kernel has no such thing. */
static void in_child(int (*fn)(void)) {
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) _exit(fn());
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == NOT_HERE) skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

static bool writes(const char *folder) {
    char path[4200];
    snprintf(path, sizeof path, "%s/file", folder);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0) return false;
    bool ok = write(fd, "x", 1) == 1;
    close(fd);
    return ok && unlink(path) == 0;
}

static int run_program(const char *path) { /* its status; 126: it did not start */
    pid_t pid = fork();
    if (pid == 0) {
        execl(path, path, (char *)NULL);
        _exit(126);
    }
    int status;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void copy_program(const char *from, const char *to) {
    char command[9000];
    snprintf(command, sizeof command, "cp %s %s", from, to);
    assert_int_equal(system(command), 0);
}

static int files(void) {
    char program[4200];
    const char *to[] = {home, NULL};
    snprintf(program, sizeof program, "%s/program", home);
    if (run_program(program) != 0) return 2; /* it can be started before */
    if (!writes(other)) return 3;
    if (!serve_sandbox_files(to, 2)) return NOT_HERE;
    if (!writes(home)) return 4;
    if (writes(other)) return 5;
    if (access(other, R_OK) != 0 || open("/etc/passwd", O_RDONLY) < 0) return 6; /* all is read */
    if (open("/etc/passwd", O_RDWR) >= 0) return 7;
    if (run_program("/bin/true") != 0) return 8; /* programs of the system are */
    if (run_program(program) != 126) return 9;   /* what was written is not */
    char a[4200], b[4200];
    snprintf(a, sizeof a, "%s/index/a", home);
    snprintf(b, sizeof b, "%s/b", home);
    if (mkdir(a, 0700) || rename(a, b) || rmdir(b)) return 10; /* across folders of the home */
    return 0;
}

static void writes_nothing_but_its_home(void **state) {
    (void)state;
    char program[4200], path[4200];
    snprintf(program, sizeof program, "%s/program", home);
    copy_program("/bin/true", program);
    snprintf(path, sizeof path, "%s/index", home);
    assert_int_equal(mkdir(path, 0700), 0);
    in_child(files);
}

static const char *const linked[] = {"kv", "hot", "originals", "backups", "tmp"};
enum { N_LINKED = sizeof linked / sizeof *linked };

static int links(void) {
    const char *to[] = {home};
    if (!serve_sandbox_files(to, 1)) return NOT_HERE;
    char path[4200];
    for (size_t i = 0; i < N_LINKED; i++) {
        snprintf(path, sizeof path, "%s/%s", home, linked[i]);
        if (!writes(path)) return 2 + (int)i;
    }
    return writes(other) ? 20 : 0;
}

static void a_folder_of_the_home_may_be_elsewhere(void **state) {
    (void)state;
    char path[4200], target[4200];
    for (size_t i = 0; i < N_LINKED; i++) {
        snprintf(path, sizeof path, "%s/%s", home, linked[i]);
        snprintf(target, sizeof target, "%s/%s", other, linked[i]);
        assert_int_equal(mkdir(target, 0700), 0);
        assert_int_equal(symlink(target, path), 0);
    }
    in_child(links);
}

static atomic_bool go;
static void *connect_later(void *arg) {
    while (!go) usleep(1000);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    *(int *)arg = fd >= 0 ? 0 : errno;
    return NULL;
}

static int calls(void) {
    /* A thread from before is held as well; what is open already goes on. */
    pthread_t t;
    int what = -1, fd = socket(AF_INET, SOCK_STREAM, 0), listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 4)) return 2;
    getsockname(listener, (struct sockaddr *)&at, &len);
    if (connect(fd, (struct sockaddr *)&at, len)) return 3;
    pthread_create(&t, NULL, connect_later, &what);
    if (!serve_sandbox_calls()) return NOT_HERE;
    go = true;
    pthread_join(t, NULL);
    if (what != EPERM) return 4;
    int peer = accept(listener, NULL, NULL);
    char c;
    if (peer < 0 || send(fd, "x", 1, 0) != 1 || recv(peer, &c, 1, 0) != 1) return 5;
    if (socket(AF_INET6, SOCK_STREAM, 0) >= 0 || errno != EPERM) return 6;
    if (socket(AF_NETLINK, SOCK_RAW, 0) >= 0 || errno != EPERM) return 7;
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) return 8;
    if (connect(pair[0], (struct sockaddr *)&at, len) == 0 || errno != EPERM) return 9;
#ifndef __SANITIZE_ADDRESS__
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 || errno != EPERM) return 10;
#endif
    if (syscall(SYS_unshare, 0) == 0 || errno != EPERM) return 11;
    if (syscall(SYS_bpf, 0, NULL, 0) >= 0 || errno != EPERM) return 12;
    if (run_program("/bin/true") != 0) return 13;
    return 0;
}

static void opens_no_connection(void **state) {
    (void)state;
    in_child(calls);
}

static int sender(void) {
    int listener = socket(AF_INET, SOCK_STREAM, 0), fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 4)) return 2;
    getsockname(listener, (struct sockaddr *)&at, &len);
    if (!writes(home) || access(home, R_OK)) return 3;
    if (!serve_sandbox_sender()) return NOT_HERE;
    if (connect(fd, (struct sockaddr *)&at, len)) return 4; /* what it is for */
    if (writes(home) || writes("/tmp") || writes(other)) return 5;
    if (open(home, O_RDONLY | O_DIRECTORY) >= 0 || errno != EACCES) return 6;
    if (open("/etc/resolv.conf", O_RDONLY) < 0 && errno != ENOENT) return 7;
    if (open("/etc/passwd", O_WRONLY) >= 0) return 8;
    if (run_program("/bin/true") != 126) return 9;
    if (accept(listener, NULL, NULL) >= 0 || errno != EPERM) return 10;
    if (listen(listener, 4) == 0 || errno != EPERM) return 11;
    if (syscall(SYS_unshare, 0) == 0 || errno != EPERM) return 12;
    return 0;
}

static void the_process_that_sends_reads_no_home(void **state) {
    (void)state;
    in_child(sender);
}

int main(void) {
    home = test_folder();
    char cwd[4000], path[4096];
    if (!getcwd(cwd, sizeof cwd)) return 1;
    snprintf(path, sizeof path, "%s/sandbox-test-XXXXXX", strncmp(cwd, "/tmp", 4) ? cwd : "/root");
    other = mkdtemp(path);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_nothing_but_its_home),
        cmocka_unit_test(a_folder_of_the_home_may_be_elsewhere),
        cmocka_unit_test(opens_no_connection),
        cmocka_unit_test(the_process_that_sends_reads_no_home),
    };
    int failed = other ? cmocka_run_group_tests(tests, NULL, NULL) : 0;
    test_remove(home);
    for (size_t i = 0; other && i < N_LINKED; i++) {
        char target[4200];
        snprintf(target, sizeof target, "%s/%s", other, linked[i]);
        rmdir(target);
    }
    if (other) rmdir(other);
    return failed;
}
