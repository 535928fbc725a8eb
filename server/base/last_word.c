/* last_word.c - in a signal handler: no memory is taken, no lock, no stdio. */
#include "server/base/last_word.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "kernels/clock.h"

/* /proc/self/maps has a line of about 70 bytes before a path of at most 4095, in which a line's end is \012. */
enum { MAX_LINE = 4400, MAX_SAID = 3 * MAX_LINE };

static bool json;
static atomic_flag speaks = ATOMIC_FLAG_INIT;
/* owned: the thread that holds `speaks`. Not on its stack, which may be small (SA_ONSTACK) */
static char line[MAX_LINE], chunk[4096], said[MAX_SAID];
static size_t n_said;

static void say(const char *s) {
    while (*s && n_said + 1 < MAX_SAID) said[n_said++] = *s++;
}

/* What would end the quotes, or act on a terminal, as JSON writes it: right in both formats. */
static void say_name(const char *s) {
    static const char digits[] = "0123456789abcdef";
    for (; *s; s++) {
        const unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            say((const char[]){'\\', (char)c, 0});
        else if (c < ' ' || c == 127)
            say((const char[]){'\\', 'u', '0', '0', digits[c >> 4], digits[c & 15], 0});
        else
            say((const char[]){(char)c, 0});
    }
}

static void say_number(uint64_t v, int width) {
    char digits[21];
    int n = 0;
    for (; v || n < width || !n; v /= 10) digits[n++] = (char)('0' + v % 10);
    while (n) say((const char[]){digits[--n], 0});
}

/* The day of days since 1970 (Howard Hinnant, "chrono-compatible low-level date algorithms"): gmtime_r may take
 * a lock of the C library. */
static void say_time(void) {
    const uint64_t ms = (uint64_t)fo_unix_ms(), t = ms / 1000, s = t % 86400,
                   z = t / 86400 + 719468;
    const uint64_t era = z / 146097, of_era = z % 146097;
    const uint64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    const uint64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    const uint64_t m = (5 * of_year + 2) / 153, month = m < 10 ? m + 3 : m - 9;
    const struct {
        uint64_t v;
        int width;
        const char *behind;
    } parts[] = {{year + era * 400 + (month <= 2), 4, "-"},
                 {month, 2, "-"},
                 {of_year - (153 * m + 2) / 5 + 1, 2, "T"},
                 {s / 3600, 2, ":"},
                 {s / 60 % 60, 2, ":"},
                 {s % 60, 2, "."},
                 {ms % 1000, 3, "Z"}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        say_number(parts[i].v, parts[i].width);
        say(parts[i].behind);
    }
}

static const char *read_hex(const char *s, uintptr_t *out) {
    for (*out = 0; (*s >= '0' && *s <= '9') || (*s >= 'a' && *s <= 'f'); s++)
        *out = *out * 16 + (uintptr_t)(*s <= '9' ? *s - '0' : *s - 'a' + 10);
    return s;
}

/* The path of `line` where what it maps holds `at`, and the byte of the file that is there. */
static const char *path_of(uintptr_t at, uint64_t *byte) {
    uintptr_t begin, end, offset;
    const char *s = read_hex(line, &begin);
    if (*s != '-') return NULL;
    s = read_hex(s + 1, &end);
    if (at < begin || at >= end || strlen(s) < 6) return NULL;
    s = read_hex(s + 6, &offset); /* behind " r--s " */
    *byte = offset + (at - begin);
    s = strchr(s, '/');
    return s ? s : "";
}

/* "" or NULL: no file is mapped there. */
static const char *find_file(uintptr_t at, uint64_t *byte) {
    const int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    const char *found = NULL;
    size_t n_line = 0;
    ssize_t n = 0;
    while (fd >= 0 && !found &&
           ((n = read(fd, chunk, sizeof chunk)) > 0 || (n < 0 && errno == EINTR)))
        for (ssize_t i = 0; i < n && !found; i++) {
            if (chunk[i] != '\n') {
                if (n_line + 1 < MAX_LINE) line[n_line++] = chunk[i];
                continue;
            }
            line[n_line] = 0;
            n_line = 0;
            found = path_of(at, byte);
        }
    if (fd >= 0) close(fd);
    return found;
}

static void speak(uintptr_t at) {
    static const char meaning[] =
        "a page of a mapped file cannot be read: the file was cut off, or its disk fails. The "
        "service ends. See "
        "that the file is whole (forage index verify looks at a home) and start again";
    uint64_t byte = 0;
    const char *path = find_file(at, &byte);
    say(json ? "{\"t\":\"" : "");
    say_time();
    say(json ? "\",\"level\":\"error\",\"event\":\"page_lost\"" : " error page_lost");
    if (path && *path) {
        say(json ? ",\"file\":\"" : " file=\"");
        say_name(path);
        say(json ? "\",\"byte\":" : "\" byte=");
        say_number(byte, 1);
    }
    say(json ? ",\"meaning\":\"" : " meaning=\"");
    say(meaning);
    say(json ? "\"}\n" : "\"\n");
    for (size_t from = 0; from < n_said;) {
        const ssize_t n = write(STDERR_FILENO, said + from, n_said - from);
        if (n < 0 && errno != EINTR) break;
        from += n > 0 ? (size_t)n : 0;
    }
}

/* The read is tried again when this returns, and ends the process as the system does it (a core file, the
 * status by which a supervisor knows it). One that was sent is no read: it is sent again. */
static void on_bus_error(int number, siginfo_t *info, void *context) {
    (void)context;
    const int saved = errno;
    if (info->si_code > 0) {
        if (atomic_flag_test_and_set(&speaks)) /* another thread speaks, and ends all */
            for (;;) pause();
        speak((uintptr_t)info->si_addr);
    }
    signal(number, SIG_DFL);
    if (info->si_code <= 0) raise(number);
    errno = saved;
}

void last_word_install(bool as_json) {
    json = as_json;
    struct sigaction act = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaction(SIGBUS, &act, NULL);
}
