/* See sandbox.h. */
#include "data/extract/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct sandbox {
    struct sock_fprog filter; /* no instructions: none */
    int ruleset;              /* of Landlock; -1: none */
};

/* ---- seccomp: which calls a process may make ------------------------------------------------- */

/* Memory, its pipes, the clock, and the end. */
static const int calls_of_all[] = {
    SCMP_SYS(read),           SCMP_SYS(write),        SCMP_SYS(readv),
    SCMP_SYS(writev),         SCMP_SYS(close),        SCMP_SYS(fstat),
    SCMP_SYS(newfstatat),     SCMP_SYS(lseek),        SCMP_SYS(mmap),
    SCMP_SYS(munmap),         SCMP_SYS(mremap),       SCMP_SYS(mprotect),
    SCMP_SYS(madvise),        SCMP_SYS(brk),          SCMP_SYS(futex),
    SCMP_SYS(exit),           SCMP_SYS(exit_group),   SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn), SCMP_SYS(sigaltstack),
    SCMP_SYS(clock_gettime),  SCMP_SYS(gettimeofday), SCMP_SYS(time),
    SCMP_SYS(getrandom),      SCMP_SYS(getpid),       SCMP_SYS(gettid),
    SCMP_SYS(tgkill),         SCMP_SYS(sched_yield),  SCMP_SYS(restart_syscall),
    SCMP_SYS(wait4),          SCMP_SYS(poll),
};

/* To be loaded, and to read files. */
static const int calls_of_programs[] = {
    SCMP_SYS(execve),
    SCMP_SYS(access),
    SCMP_SYS(faccessat),
    SCMP_SYS(faccessat2),
    SCMP_SYS(stat),
    SCMP_SYS(lstat),
    SCMP_SYS(statx),
    SCMP_SYS(pread64),
    SCMP_SYS(getdents64),
    SCMP_SYS(readlink),
    SCMP_SYS(readlinkat),
    SCMP_SYS(getcwd),
    SCMP_SYS(arch_prctl),
    SCMP_SYS(set_tid_address),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(rseq),
    SCMP_SYS(uname),
    SCMP_SYS(sysinfo),
    SCMP_SYS(getuid),
    SCMP_SYS(geteuid),
    SCMP_SYS(getgid),
    SCMP_SYS(getegid),
    SCMP_SYS(dup),
    SCMP_SYS(fadvise64),
    SCMP_SYS(statfs),
    SCMP_SYS(fstatfs),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(getrlimit),
    SCMP_SYS(getrusage),
    SCMP_SYS(clock_getres),
    SCMP_SYS(clock_nanosleep),
};

/* A call that is not on the list fails with EPERM: libraries go on without it, where a kill would
 * depend on their version. */
static scmp_filter_ctx make_filter(sandbox_kind kind) {
    scmp_filter_ctx f = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    if (!f) return NULL;
    int rc = 0;
    for (size_t i = 0; i < sizeof calls_of_all / sizeof *calls_of_all; i++)
        rc |= seccomp_rule_add(f, SCMP_ACT_ALLOW, calls_of_all[i], 0);
    /* glibc asks for its limits by prlimit64: of itself, and without setting any. */
    rc |= seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 2, SCMP_A0(SCMP_CMP_EQ, 0),
                           SCMP_A2(SCMP_CMP_EQ, 0));
    /* How a descriptor was opened may be asked and its O_CLOEXEC set. */
    const uint64_t harmless[] = {F_GETFD, F_SETFD, F_GETFL};
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
        rc |= seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1,
                               SCMP_A1(SCMP_CMP_EQ, harmless[i]));
    /* The next document comes through a socket that it has; it can make none. */
    if (kind == SANDBOX_READER) rc |= seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(recvmsg), 0);
    if (kind == SANDBOX_PROGRAM) {
        for (size_t i = 0; i < sizeof calls_of_programs / sizeof *calls_of_programs; i++)
            rc |= seccomp_rule_add(f, SCMP_ACT_ALLOW, calls_of_programs[i], 0);
        const uint64_t writing =
            O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND | (O_TMPFILE & ~O_DIRECTORY);
        rc |= seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(openat), 1,
                               SCMP_A2(SCMP_CMP_MASKED_EQ, writing, O_RDONLY));
        rc |= seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(open), 1,
                               SCMP_A1(SCMP_CMP_MASKED_EQ, writing, O_RDONLY));
    }
    if (rc) {
        seccomp_release(f);
        return NULL;
    }
    return f;
}

/* A process that gives up, on a failed assertion say, signals itself, by tgkill, and must go on to say how it ended; but nobody else
 * is to be signalled. Which process that is the filter that all share cannot know: this one is laid over it. */
static bool signal_itself_alone(void) {
    enum { LOW_HALF = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0 };
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_tgkill, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args) + LOW_HALF),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)getpid(), 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog filter = {sizeof code / sizeof *code, code};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0;
}

/* The filter as the kernel takes it, made once: seccomp_load makes it anew for each process, which takes as long as a
 * fork (0.16 ms). False: memory ran out. */
static bool compile_filter(struct sock_fprog *out, sandbox_kind kind) {
    scmp_filter_ctx f = make_filter(kind);
    if (!f) return true; /* a kernel without: the other bounds hold */
    int fd = memfd_create("filter", MFD_CLOEXEC);
    off_t n = -1;
    if (fd >= 0 && seccomp_export_bpf(f, fd) == 0) n = lseek(fd, 0, SEEK_CUR);
    struct sock_filter *code = n > 0 ? malloc((size_t)n) : NULL;
    bool ok = code && pread(fd, code, (size_t)n, 0) == n;
    if (ok)
        *out = (struct sock_fprog){(unsigned short)((size_t)n / sizeof *code), code};
    else
        free(code);
    if (fd >= 0) close(fd);
    seccomp_release(f);
    return ok;
}

/* ---- Landlock: what of the file system it sees ------------------------------------------------ */

/* As kernels from 6.7 on have it: older headers know the first field alone. */
typedef struct ruleset_attr {
    uint64_t fs, net;
} ruleset_attr;

enum {
    ALL_OF_ABI_1 = (1 << 13) - 1, /* 13 rights: execute, write, read, list, make, remove ... */
    REFER_OF_ABI_2 = 1 << 13,
    TRUNCATE_OF_ABI_3 = 1 << 14,
    IOCTL_OF_ABI_5 = 1 << 15,
    NET_OF_ABI_4 = 3, /* to bind and to connect */
};

static bool see_folder(int ruleset, const char *path) {
    struct landlock_path_beneath_attr rule = {.allowed_access = LANDLOCK_ACCESS_FS_EXECUTE |
                                                                LANDLOCK_ACCESS_FS_READ_FILE |
                                                                LANDLOCK_ACCESS_FS_READ_DIR,
                                              .parent_fd = open(path, O_PATH | O_CLOEXEC)};
    if (rule.parent_fd < 0) return errno == ENOENT; /* not every system has it */
    bool ok = syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
    close(rule.parent_fd);
    return ok;
}

static int make_ruleset(sandbox_kind kind) {
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (abi < 1) return -1;
    ruleset_attr a = {.fs = ALL_OF_ABI_1};
    if (abi >= 2) a.fs |= REFER_OF_ABI_2;
    if (abi >= 3) a.fs |= TRUNCATE_OF_ABI_3;
    if (abi >= 4) a.net = NET_OF_ABI_4;
    if (abi >= 5) a.fs |= IOCTL_OF_ABI_5;
    size_t size = abi >= 4 ? sizeof a : sizeof a.fs;
    int ruleset = (int)syscall(SYS_landlock_create_ruleset, &a, size, 0);
    if (ruleset < 0) return -1;
    static const char *const folders[] = {"/usr", "/lib", "/lib64", "/bin", "/etc"};
    bool ok = true;
    for (size_t i = 0; kind == SANDBOX_PROGRAM && i < sizeof folders / sizeof *folders; i++)
        ok = ok && see_folder(ruleset, folders[i]);
    if (ok) return ruleset;
    close(ruleset);
    return -1;
}

/* ---- both ------------------------------------------------------------------------------------- */

sandbox *sandbox_create(sandbox_kind kind) {
    sandbox *s = calloc(1, sizeof *s);
    if (!s || !compile_filter(&s->filter, kind)) {
        free(s);
        return NULL;
    }
    s->ruleset = make_ruleset(kind);
    return s;
}

void sandbox_free(sandbox *s) {
    if (!s) return;
    free(s->filter.filter);
    if (s->ruleset >= 0) close(s->ruleset);
    free(s);
}

/* Of process pid, 0: the calling one. Never above what it has. */
static bool limit(pid_t pid, __rlimit_resource_t what, uint64_t most, uint64_t hard) {
    struct rlimit now;
    if (prlimit(pid, what, NULL, &now) != 0) return false;
    if (now.rlim_max != RLIM_INFINITY && now.rlim_max < hard) hard = now.rlim_max;
    if (most > hard) most = hard;
    return prlimit(pid, what, &(struct rlimit){most, hard}, NULL) == 0;
}

/* A second more than asked for, rounded up: who counts for himself may say it better. */
static uint64_t cpu_seconds(double cpu_ms) {
    return (uint64_t)(cpu_ms / 1000) + 2;
}

static bool limit_address(pid_t pid, size_t bytes) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    bytes = 0; /* shadow memory takes terabytes of addresses */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
    bytes = 0;
#endif
#endif
    return !bytes || limit(pid, RLIMIT_AS, bytes, bytes);
}

bool sandbox_limit_files(int n_files) {
    uint64_t n = (uint64_t)n_files;
    return limit(0, RLIMIT_FSIZE, 0, 0) && limit(0, RLIMIT_CORE, 0, 0) &&
           limit(0, RLIMIT_NOFILE, n, n);
}

bool sandbox_limit(double cpu_ms, size_t address_bytes, int n_files) {
    uint64_t cpu = cpu_seconds(cpu_ms);
    return sandbox_limit_files(n_files) && limit(0, RLIMIT_CPU, cpu, cpu) &&
           limit_address(0, address_bytes);
}

bool sandbox_limit_child(pid_t pid, double cpu_ms, size_t address_bytes) {
    clockid_t clock;
    struct timespec used;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0) return false;
    uint64_t cpu = cpu_seconds(cpu_ms + 1e3 * (double)used.tv_sec);
    return limit(pid, RLIMIT_CPU, cpu, cpu) && limit_address(pid, address_bytes);
}

int sandbox_enter(const sandbox *s) {
    int done = 0;
    if (!s || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 0;
    if (s->ruleset >= 0 && syscall(SYS_landlock_restrict_self, s->ruleset, 0) == 0) done |= 2;
    if (s->filter.len && signal_itself_alone() &&
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &s->filter, 0, 0) == 0)
        done |= 1;
    return done;
}
