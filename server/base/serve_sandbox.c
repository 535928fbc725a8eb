#include "server/base/serve_sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- files --------------------------------------------------------------------------------- */

enum {
    READS = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR,
    OF_FILES =
        LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_READ_FILE,
    ALL_OF_ABI_1 = (1 << 13) - 1,
    REFER_OF_ABI_2 = 1 << 13,
    TRUNCATE_OF_ABI_3 = 1 << 14,
};

/* What is not there needs no leave. */
static bool allow(int ruleset, const char *path, uint64_t rights) {
    struct landlock_path_beneath_attr rule = {.allowed_access = rights,
                                              .parent_fd = open(path, O_PATH | O_CLOEXEC)};
    if (rule.parent_fd < 0) return errno == ENOENT || errno == EACCES;
    struct stat st;
    if (fstat(rule.parent_fd, &st) == 0 && !S_ISDIR(st.st_mode))
        rule.allowed_access &= OF_FILES | TRUNCATE_OF_ABI_3;
    bool ok = syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
    close(rule.parent_fd);
    return ok;
}

/* A folder of a home may be a link to another disk. */
static bool allow_home(int ruleset, const char *home, uint64_t all) {
    static const char *const parts[] = {"index", "kv", "hot", "originals", "backups", "tmp"};
    bool ok = allow(ruleset, home, all);
    for (size_t i = 0; ok && i < sizeof parts / sizeof *parts; i++) {
        char path[4200];
        snprintf(path, sizeof path, "%s/%s", home, parts[i]);
        struct stat st;
        if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode)) ok = allow(ruleset, path, all);
    }
    return ok;
}

/* Every right that the kernel knows of files; 0: it has no Landlock. */
static uint64_t all_rights(void) {
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (abi < 1) return 0;
    uint64_t all = ALL_OF_ABI_1;
    if (abi >= 2) all |= REFER_OF_ABI_2;
    if (abi >= 3) all |= TRUNCATE_OF_ABI_3;
    return all;
}

/* A set of rules that nothing is allowed by yet, or -1. */
static int make_ruleset(uint64_t all) {
    struct landlock_ruleset_attr a = {.handled_access_fs = all};
    if (!all) return -1;
    return (int)syscall(SYS_landlock_create_ruleset, &a, sizeof a.handled_access_fs, 0);
}

/* Closes the set. */
static bool hold_to(int ruleset, bool ok) {
    ok = ok && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
    close(ruleset);
    return ok;
}

bool serve_sandbox_files(const char *const *writes, int n) {
    const uint64_t all = all_rights();
    const int ruleset = make_ruleset(all);
    if (ruleset < 0) return false;
    static const char *const programs[] = {"/usr", "/bin",   "/sbin",
                                           "/lib", "/lib64", "/proc/self/exe"};
    bool ok = allow(ruleset, "/", READS);
    for (size_t i = 0; ok && i < sizeof programs / sizeof *programs; i++)
        ok = allow(ruleset, programs[i], READS | LANDLOCK_ACCESS_FS_EXECUTE);
    /* What may be written holds nothing that can be started. */
    uint64_t written = all & ~(uint64_t)LANDLOCK_ACCESS_FS_EXECUTE;
    const char *temporary[] = {"/tmp", "/var/tmp", "/dev/shm", getenv("TMPDIR")};
    for (size_t i = 0; ok && i < sizeof temporary / sizeof *temporary; i++)
        if (temporary[i] && *temporary[i]) ok = allow(ruleset, temporary[i], written);
    if (ok)
        ok = allow(ruleset, "/dev",
                   READS | LANDLOCK_ACCESS_FS_WRITE_FILE | (all & TRUNCATE_OF_ABI_3));
    for (int i = 0; ok && i < n; i++)
        if (writes[i]) ok = allow_home(ruleset, writes[i], written);
    return hold_to(ruleset, ok);
}

/* How names are resolved and who signs certificates is read below these. */
static bool sender_files(void) {
    const int ruleset = make_ruleset(all_rights());
    if (ruleset < 0) return false;
    const char *read[] = {"/etc",
                          "/usr",
                          "/lib",
                          "/lib64",
                          "/run/systemd/resolve",
                          "/run/resolvconf",
                          "/run/NetworkManager",
                          "/dev",
                          getenv("SSL_CERT_FILE"),
                          getenv("SSL_CERT_DIR")};
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof read / sizeof *read; i++)
        if (read[i] && *read[i]) ok = allow(ruleset, read[i], READS);
    return hold_to(ruleset, ok);
}

/* ---- calls --------------------------------------------------------------------------------- */

/* Refused by EPERM of a service that listens: who would talk to others. */
static const int talk[] = {SCMP_SYS(connect), SCMP_SYS(bind), SCMP_SYS(listen)};

/* Refused by EPERM of the process that sends spans: it starts nothing and lets nobody in. */
static const int start[] = {SCMP_SYS(execve), SCMP_SYS(execveat), SCMP_SYS(listen),
                            SCMP_SYS(accept), SCMP_SYS(accept4)};

/* Refused by EPERM: of administrators, of debuggers, of the kernel's less travelled corners. What
 * is left is what libraries may come to need. */
static const int refused[] = {
#ifndef __SANITIZE_ADDRESS__ /* which looks for leaks by it as the process ends */
    SCMP_SYS(ptrace),
#endif
    SCMP_SYS(process_vm_readv),
    SCMP_SYS(process_vm_writev),
    SCMP_SYS(kcmp),
    SCMP_SYS(pidfd_getfd),
    SCMP_SYS(perf_event_open),
    SCMP_SYS(bpf),
    SCMP_SYS(userfaultfd),
    SCMP_SYS(io_uring_setup),
    SCMP_SYS(io_uring_enter),
    SCMP_SYS(io_uring_register),
    SCMP_SYS(keyctl),
    SCMP_SYS(add_key),
    SCMP_SYS(request_key),
    SCMP_SYS(mount),
    SCMP_SYS(umount2),
    SCMP_SYS(fsopen),
    SCMP_SYS(fsconfig),
    SCMP_SYS(fsmount),
    SCMP_SYS(move_mount),
    SCMP_SYS(open_tree),
    SCMP_SYS(mount_setattr),
    SCMP_SYS(pivot_root),
    SCMP_SYS(chroot),
    SCMP_SYS(unshare),
    SCMP_SYS(setns),
    SCMP_SYS(open_by_handle_at),
    SCMP_SYS(init_module),
    SCMP_SYS(finit_module),
    SCMP_SYS(delete_module),
    SCMP_SYS(kexec_load),
    SCMP_SYS(kexec_file_load),
    SCMP_SYS(reboot),
    SCMP_SYS(swapon),
    SCMP_SYS(swapoff),
    SCMP_SYS(acct),
    SCMP_SYS(quotactl),
    SCMP_SYS(settimeofday),
    SCMP_SYS(clock_settime),
    SCMP_SYS(adjtimex),
    SCMP_SYS(clock_adjtime),
    SCMP_SYS(sethostname),
    SCMP_SYS(setdomainname),
    SCMP_SYS(personality),
    SCMP_SYS(syslog),
    SCMP_SYS(iopl),
    SCMP_SYS(ioperm),
    SCMP_SYS(modify_ldt),
    SCMP_SYS(vhangup),
    SCMP_SYS(execveat),
    SCMP_SYS(mknod),
    SCMP_SYS(mknodat),
    SCMP_SYS(setuid),
    SCMP_SYS(setgid),
    SCMP_SYS(setreuid),
    SCMP_SYS(setregid),
    SCMP_SYS(setresuid),
    SCMP_SYS(setresgid),
    SCMP_SYS(setgroups),
    SCMP_SYS(capset),
};

/* A call that this architecture or this libseccomp does not know is none that can be made. */
static int refuse(scmp_filter_ctx f, const int *calls, size_t n) {
    for (size_t i = 0; i < n; i++) {
        int rc = seccomp_rule_add(f, SCMP_ACT_ERRNO(EPERM), calls[i], 0);
        if (rc && rc != -EDOM && rc != -EINVAL) return rc;
    }
    return 0;
}

bool serve_sandbox_calls(void) {
    scmp_filter_ctx f = seccomp_init(SCMP_ACT_ALLOW);
    if (!f) return false;
    int rc = seccomp_attr_set(f, SCMP_FLTATR_CTL_TSYNC, 1);
    if (!rc) rc = refuse(f, refused, sizeof refused / sizeof *refused);
    if (!rc) rc = refuse(f, talk, sizeof talk / sizeof *talk);
    /* Pairs of sockets within the machine are how documents go to those who read them. */
    if (!rc)
        rc = seccomp_rule_add(f, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(socket), 1,
                              SCMP_A0(SCMP_CMP_NE, AF_UNIX));
    if (!rc) rc = seccomp_load(f);
    seccomp_release(f);
    return rc == 0;
}

static bool sender_calls(void) {
    scmp_filter_ctx f = seccomp_init(SCMP_ACT_ALLOW);
    if (!f) return false;
    int rc = refuse(f, refused, sizeof refused / sizeof *refused);
    if (!rc) rc = refuse(f, start, sizeof start / sizeof *start);
    if (!rc) rc = seccomp_load(f);
    seccomp_release(f);
    return rc == 0;
}

bool serve_sandbox_sender(void) {
    const bool files = sender_files();
    return sender_calls() && files;
}
