/* kill -9 at random moments of everything that writes, again and again, with a witness outside.
 *
 *     crash_trial FORAGE [KILLS [SEED]]      (make crash-trial KILLS=1000)
 *
 * A round is one of
 *   serve     three clients put documents in (one by one, NDJSON, forms), write over them, delete them
 *             and make snapshots; the service has small segments, so that it seals and merges all the time
 *   build, rebuild, backup, restore, keys     the commands of these names
 * and ends with SIGKILL after a random time, or as soon as a seal or a merge is seen under way: the
 * process is stopped first, its threads' names tell what they were at, then it is killed. What has been
 * acknowledged must be there when it starts again, what was deleted must not; a backup must be whole or
 * absent; a restore must leave the old home or the new one; no key may be lost. Ends with status 1 where
 * anything was lost. Counts are printed by phase. */
#include <cjson/cJSON.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "kernels/clock.h"
#include "kernels/file.h"
#include "tests/trials/auditor.h"
#include "tests/trials/http_say.h"

enum { CLIENTS = 3, SHARE = 400, INDEX_THREADS = 8 };

enum phase {
    AT_SINGLE,
    AT_NDJSON,
    AT_FORM,
    AT_DELETE,
    AT_SNAPSHOT, /* requests under way */
    AT_SEAL,
    AT_MERGE,
    AT_CHECK,
    AT_START, /* of the service itself */
    AT_BUILD,
    AT_REBUILD,
    AT_BACKUP,
    AT_RESTORE,
    AT_KEYS, /* commands */
    N_PHASES
};
static const char *const phase_names[N_PHASES] = {"ingest, one document",
                                                  "ingest, NDJSON",
                                                  "ingest, form",
                                                  "delete",
                                                  "snapshot of a server",
                                                  "seal",
                                                  "merge",
                                                  "check of files",
                                                  "start",
                                                  "offline build",
                                                  "rebuild",
                                                  "backup",
                                                  "restore",
                                                  "keys"};

static struct {
    const char *forage;
    char dir[900], home[1000];
    uint64_t seed;
    int port;
    auditor documents;
    atomic_int doing[CLIENTS]; /* a phase, -1: between two */
    atomic_bool over;
    size_t kills, by[N_PHASES], faults;
} t;

static uint64_t next_random(uint64_t *s) {
    uint64_t z = (*s += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}
static int below(uint64_t *s, int n) {
    return (int)(next_random(s) % (uint64_t)n);
}
static void sleep_ms(double ms) {
    struct timespec ts = {(time_t)(ms / 1000), (long)(ms * 1e6) % 1000000000L};
    nanosleep(&ts, NULL);
}

static void fault(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void fault(const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    printf("# FAULT after %zu kills: ", t.kills);
    vprintf(fmt, ap);
    printf("\n");
    fflush(stdout);
    va_end(ap);
    t.faults++;
}

/* ---- programs ------------------------------------------------------------------------------ */

/* Start forage with these arguments (NULL ends them), its output in FILE below the folder. */
static pid_t start(const char *file, const char *const *args) {
    pid_t pid = fork();
    if (pid != 0) return pid;
    const char *argv[40] = {t.forage};
    char path[1100];
    int n = 1;
    while (args[n - 1] && n < 39) argv[n] = args[n - 1], n++;
    snprintf(path, sizeof path, "%s/%s", t.dir, file);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(fd, 1);
    dup2(fd, 2);
    execv(t.forage, (char *const *)argv);
    _exit(127);
}
#define START(file, ...) start(file, (const char *const[]){__VA_ARGS__, NULL})

static int ended(pid_t pid) {
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void show(const char *file) {
    char path[1100], *data = NULL;
    size_t n;
    snprintf(path, sizeof path, "%s/%s", t.dir, file);
    if (fo_file_read(path, 1 << 20, &data, &n, NULL) == FO_OK)
        printf("# %.*s\n", n > 1500 ? 1500 : (int)n, n > 1500 ? data + n - 1500 : data);
    free(data);
}

/* A command must end with this status. */
static bool must(int want, const char *what, pid_t pid, const char *file) {
    int got = ended(pid);
    if (got == want) return true;
    fault("%s ended with status %d", what, got);
    show(file);
    return false;
}

/* Kill it within so many milliseconds. False: it had ended before. */
static bool kill_within(pid_t pid, double ms) {
    int status;
    sleep_ms(ms);
    if (waitpid(pid, &status, WNOHANG) == pid) return false;
    kill(pid, SIGKILL);
    ended(pid);
    t.kills++;
    return true;
}

/* ---- documents ----------------------------------------------------------------------------- */

static void write_document(fo_buf *b, int k, uint32_t version) {
    fo_buf_printf(
        b,
        "{\"id\":\"d%d\",\"title\":\"%u\",\"text\":\"Gauge %d of the reservoir says "
        "level%u. Sluice s%d is kept by keeper%d, and version%u is the last word on it.\"}",
        k, version, k, version, k % 17, k % 23, version);
}

static void client_step(int client, uint64_t *seed) {
    auditor *a = &t.documents;
    int what = below(seed, 100), first = client * SHARE, ids[64], n = 0;
    fo_buf body = {0};
    int status = 0;
    if (what < 25) {
        ids[n++] = first + below(seed, SHARE);
        audit_begin(a, ids[0], audit_version(a));
        fo_buf_str(&body, "{\"documents\":[");
        write_document(&body, ids[0], a->maybe[ids[0]]);
        fo_buf_str(&body, "]}");
        t.doing[client] = AT_SINGLE;
        status = http_say(t.port, "POST", "/ingest", "application/json", body.data, body.len, NULL);
    } else if (what < 55) {
        int at = below(seed, SHARE - 64), many = 8 + below(seed, 50);
        for (; n < many; n++) {
            ids[n] = first + at + n;
            audit_begin(a, ids[n], audit_version(a));
            write_document(&body, ids[n], a->maybe[ids[n]]);
            fo_buf_char(&body, '\n');
        }
        t.doing[client] = AT_NDJSON;
        status =
            http_say(t.port, "POST", "/ingest", "application/x-ndjson", body.data, body.len, NULL);
    } else if (what < 70) {
        ids[n++] = first + below(seed, SHARE);
        audit_begin(a, ids[0], audit_version(a));
        fo_buf_printf(
            &body,
            "--cut\r\nContent-Disposition: form-data; name=\"id\"\r\n\r\nd%d\r\n"
            "--cut\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\n%u\r\n"
            "--cut\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f.txt\"\r\n"
            "Content-Type: text/plain\r\n\r\nA file says level%u of gauge %d.\r\n--cut--\r\n",
            ids[0], a->maybe[ids[0]], a->maybe[ids[0]], ids[0]);
        t.doing[client] = AT_FORM;
        status = http_say(t.port, "POST", "/ingest", "multipart/form-data; boundary=cut", body.data,
                          body.len, NULL);
    } else if (what < 97) {
        char path[64];
        ids[n++] = first + below(seed, SHARE);
        audit_begin(a, ids[0], 0);
        snprintf(path, sizeof path, "/documents/d%d", ids[0]);
        t.doing[client] = AT_DELETE;
        status = http_say(t.port, "DELETE", path, NULL, NULL, 0, NULL);
        if (status == 404) status = 200; /* it is not there: as was asked for */
    } else {
        t.doing[client] = AT_SNAPSHOT;
        status = http_say(t.port, "POST", "/admin/snapshot", NULL, NULL, 0, NULL);
        if (status == 429) status = 200;
    }
    t.doing[client] = -1;
    if (status != 0 && status != 200 && !t.over) fault("a request got %d", status);
    for (int i = 0; i < n; i++) audit_end(a, ids[i], status == 200);
    fo_buf_free(&body);
}

static void *client(void *arg) {
    int me = (int)(intptr_t)arg;
    uint64_t seed = t.seed * 31 + t.kills * 7 + (uint64_t)me + 1;
    while (!t.over) client_step(me, &seed);
    return NULL;
}

/* ---- looking ------------------------------------------------------------------------------- */

static int number_of(const cJSON *o, const char *key, const char *skip) {
    const cJSON *s = cJSON_GetObjectItemCaseSensitive(o, key);
    size_t n = strlen(skip);
    return cJSON_IsString(s) && !strncmp(s->valuestring, skip, n) ? atoi(s->valuestring + n) : -1;
}

/* Every document that a service lists, into seen[AUDIT_MOST]. */
static bool list(uint32_t *seen) {
    char path[160] = "/documents?limit=1000";
    memset(seen, 0, AUDIT_MOST * sizeof *seen);
    for (bool more = true; more;) {
        fo_buf reply = {0};
        int status = http_say(t.port, "GET", path, NULL, NULL, 0, &reply);
        if (status == 404) return fo_buf_free(&reply), true; /* no collection yet */
        cJSON *root = status == 200 ? cJSON_Parse(reply.data) : NULL, *d;
        if (!root) fault("GET %s got %d", path, status);
        cJSON_ArrayForEach(d, cJSON_GetObjectItem(root, "data")) {
            int k = number_of(d, "id", "d"), version = number_of(d, "title", "");
            if (k < 0 || k >= AUDIT_MOST || version <= 0)
                fault("a document that nobody made: %s", cJSON_PrintUnformatted(d));
            else
                seen[k] = (uint32_t)version;
        }
        more = cJSON_IsTrue(cJSON_GetObjectItem(root, "has_more"));
        const cJSON *last = cJSON_GetObjectItem(root, "last_id");
        if (cJSON_IsString(last))
            snprintf(path, sizeof path, "/documents?limit=1000&after=%.60s", last->valuestring);
        bool got = root != NULL;
        cJSON_Delete(root);
        fo_buf_free(&reply);
        if (!got) return false;
    }
    return true;
}

/* Is a document found by the one word that its version alone has, or (version 0) no other of it? */
static void search(int k, uint32_t version, uint32_t gone) {
    char body[160], id[32];
    fo_buf reply = {0};
    snprintf(id, sizeof id, "\"document_id\":\"d%d\"", k);
    snprintf(body, sizeof body,
             "{\"query\":\"level%u\",\"top_k\":50,\"search\":{\"mode\":\"sparse\"}}",
             version ? version : gone);
    int status =
        http_say(t.port, "POST", "/search", "application/json", body, strlen(body), &reply);
    bool found = status == 200 && strstr(reply.data, id);
    if (status != 200)
        fault("/search got %d: %s", status, reply.data ? reply.data : "");
    else if (version && !found)
        fault("document %d of version %u is stored and not found", k, version);
    fo_buf_free(&reply);
}

static void audit_all(void) {
    static uint32_t seen[AUDIT_MOST];
    if (!list(seen)) return;
    size_t before = t.documents.n_lost + t.documents.n_risen;
    for (int k = 0; k < AUDIT_MOST; k++) audit_see(&t.documents, k, seen[k]);
    if (t.documents.n_lost + t.documents.n_risen != before)
        fault("documents are not as they should be");
    for (int i = 0; i < 8; i++) {
        int k = below(&t.seed, CLIENTS * SHARE);
        if (seen[k]) search(k, seen[k], 0);
    }
}

/* ---- a service ----------------------------------------------------------------------------- */

static void port_path(char out[1100]) {
    snprintf(out, 1100, "%s/port", t.dir);
}

static pid_t serve(const char *home) {
    char path[1100];
    port_path(path);
    unlink(path);
    return START("serve.log", "serve", "--home", home, "--listen", "127.0.0.1:0", "--port-file",
                 path, "--seal-chunks", "24", "--merge-rate", "0", "--log-level", "warn",
                 "--snapshots-per-hour", "3600", "--snapshots", "2", "--query-workers", "2",
                 "--threads", "2");
}

static bool listens(pid_t pid) {
    char path[1100], *text;
    size_t n;
    port_path(path);
    for (double until = fo_now_ms() + 120000; fo_now_ms() < until; sleep_ms(5)) {
        if (access(path, R_OK) == 0 && fo_file_read(path, 100, &text, &n, NULL) == FO_OK) {
            t.port = atoi(text);
            free(text);
            return true;
        }
        int status;
        if (waitpid(pid, &status, WNOHANG) == pid) break;
    }
    fault("a service does not start");
    show("serve.log");
    return false;
}

/* Files of its index threads that say what they are at. */
static int index_threads(pid_t pid, int fds[INDEX_THREADS]) {
    char path[300], name[32];
    int n = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *d = opendir(path);
    for (struct dirent *e; d && n < INDEX_THREADS && (e = readdir(d));) {
        snprintf(path, sizeof path, "/proc/%d/task/%.20s/comm", (int)pid, e->d_name);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t k = fd >= 0 ? pread(fd, name, sizeof name, 0) : 0;
        if (k > 6 && !strncmp(name, "index ", 6))
            fds[n++] = fd;
        else if (fd >= 0)
            close(fd);
    }
    if (d) closedir(d);
    return n;
}

static unsigned at_work(const int *fds, int n) { /* 1 << AT_SEAL, ... */
    unsigned mask = 0;
    for (int i = 0; i < n; i++) {
        char name[32] = "";
        if (pread(fds[i], name, sizeof name - 1, 0) <= 6) continue;
        if (!strncmp(name + 6, "seal", 4)) mask |= 1u << AT_SEAL;
        if (!strncmp(name + 6, "merge", 5)) mask |= 1u << AT_MERGE;
        if (!strncmp(name + 6, "check", 5)) mask |= 1u << AT_CHECK;
    }
    return mask;
}

static void round_of_serving(void) {
    pid_t pid = serve(t.home);
    if (below(&t.seed, 20) == 0) { /* at the start, when what is missing is brought up */
        if (kill_within(pid, below(&t.seed, 120))) t.by[AT_START]++;
        return;
    }
    if (!listens(pid)) return;
    audit_all();
    pthread_t threads[CLIENTS];
    t.over = false;
    for (int i = 0; i < CLIENTS; i++) {
        t.doing[i] = -1;
        pthread_create(&threads[i], NULL, client, (void *)(intptr_t)i);
    }
    int fds[INDEX_THREADS], n = index_threads(pid, fds), wish = below(&t.seed, 4);
    unsigned wanted = wish == 0 ? 0 : wish == 1 ? 1u << AT_MERGE : 1u << AT_SEAL;
    sleep_ms(10 + below(&t.seed, 250));
    for (double until = fo_now_ms() + 2000; wanted && fo_now_ms() < until;)
        if (at_work(fds, n) & wanted) {
            sleep_ms(below(&t.seed, 20) / 10.);
            kill(pid, SIGSTOP);
            if (at_work(fds, n) & wanted) break;
            kill(pid, SIGCONT);
        }
    kill(pid, SIGSTOP);
    unsigned mask = at_work(fds, n);
    for (int i = 0; i < CLIENTS; i++) {
        int doing = t.doing[i];
        if (doing >= 0) t.by[doing]++;
    }
    for (int p = AT_SEAL; p <= AT_CHECK; p++) t.by[p] += mask >> p & 1;
    t.over = true;
    kill(pid, SIGKILL);
    ended(pid);
    t.kills++;
    for (int i = 0; i < CLIENTS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < n; i++) close(fds[i]);
}

/* Look at a home by serving it, and end that in order. */
static void look_at(const char *home, bool verify) {
    pid_t pid = serve(home);
    if (!listens(pid)) return;
    audit_all();
    kill(pid, SIGTERM);
    must(0, "a service", pid, "serve.log");
    if (verify)
        must(0, "index verify", START("verify.log", "index", "verify", "--home", home),
             "verify.log");
}

/* ---- commands ------------------------------------------------------------------------------ */

static void round_of_building(void) {
    auditor *a = &t.documents;
    fo_buf body = {0};
    char path[1100];
    int at = CLIENTS * SHARE + below(&t.seed, AUDIT_MOST - CLIENTS * SHARE - 300),
        n = 50 + below(&t.seed, 250);
    for (int k = at; k < at + n; k++) {
        audit_begin(a, k, audit_version(a));
        write_document(&body, k, a->maybe[k]);
        fo_buf_char(&body, '\n');
    }
    snprintf(path, sizeof path, "%s/corpus.jsonl", t.dir);
    fo_file_put(path, body.data, body.len, NULL);
    fo_buf_free(&body);
    pid_t pid = START("build.log", "index", "build", "--input", path, "--home", t.home);
    if (kill_within(pid, below(&t.seed, 500))) {
        t.by[AT_BUILD]++;
        if (below(&t.seed, 2)) return;
        pid = START("build.log", "index", "build", "--input", path, "--home", t.home);
        if (!must(0, "a build that goes on", pid, "build.log")) return;
    }
    for (int k = at; k < at + n; k++) audit_end(a, k, true);
}

static void round_of_rebuilding(void) {
    pid_t pid = START("rebuild.log", "index", "rebuild", "--home", t.home);
    if (kill_within(pid, below(&t.seed, 300))) t.by[AT_REBUILD]++;
}

/* Also what another one, killed earlier, left: it must not be in the way. */
static bool make_backup(const char *file, bool *killed) {
    pid_t pid = START("backup.log", "backup", file, "--home", t.home, "--force");
    *killed = kill_within(pid, below(&t.seed, 100));
    if (*killed) t.by[AT_BACKUP]++;
    return access(file, F_OK) == 0;
}

static void round_of_backup(void) {
    char file[1100], other[1100];
    bool killed, there;
    snprintf(file, sizeof file, "%s/b.tar.zst", t.dir);
    snprintf(other, sizeof other, "%s/other", t.dir);
    unlink(file);
    look_at(t.home, false); /* from here on the witness is sure of all */
    there = make_backup(file, &killed);
    if (!killed && !there) fault("a backup made no file");
    if (!there) {
        if (!must(0, "backup", START("backup.log", "backup", file, "--home", t.home), "backup.log"))
            return;
    }
    /* Restored, killed in it, and again; sometimes over a home that another backup made. */
    bool over = access(other, F_OK) == 0 && below(&t.seed, 2);
    if (!over) fo_remove_tree(other, NULL);
    pid_t pid = START("restore.log", "restore", file, "--home", other, "--force");
    if (kill_within(pid, below(&t.seed, 200))) t.by[AT_RESTORE]++;
    if (!must(0, "restore", START("restore.log", "restore", file, "--home", other, "--force"),
              "restore.log"))
        return;
    look_at(other, true);
}

/* A home of its own: three keys at most are in force at a time. */
static void round_of_keys(void) {
    static int made; /* names n0, n1 ... of keys that were acknowledged */
    char home[1100], name[32], *text = NULL;
    size_t n;
    snprintf(home, sizeof home, "%s/keys-home", t.dir);
    snprintf(name, sizeof name, "n%d", made);
    pid_t pid =
        START("keys.log", "keys", "create", "--home", home, "--name", name, "--scope", "read");
    bool killed = kill_within(pid, below(&t.seed, 80) / 10.);
    if (killed)
        t.by[AT_KEYS]++;
    else
        made++;
    if (made == 0) return; /* there may be no file yet */
    if (!must(0, "keys list", START("keys.log", "keys", "list", "--home", home, "--json"),
              "keys.log"))
        return;
    char path[1100];
    snprintf(path, sizeof path, "%s/keys.log", t.dir);
    if (fo_file_read(path, 1 << 24, &text, &n, NULL) != FO_OK) return;
    for (int i = 0; i < made; i++) {
        snprintf(name, sizeof name, "\"n%d\"", i);
        if (!strstr(text, name)) fault("the key %s is gone", name);
    }
    snprintf(name, sizeof name, "\"n%d\"", made);
    if (killed && strstr(text, name)) made++; /* it was killed behind its deed */
    free(text);
}

/* ---- all ----------------------------------------------------------------------------------- */

static void one_round(void) {
    int what = below(&t.seed, 100);
    if (what < 62)
        round_of_serving();
    else if (what < 70)
        round_of_building();
    else if (what < 78)
        round_of_rebuilding();
    else if (what < 89)
        round_of_backup();
    else
        round_of_keys();
}

int main(int argc, char **argv) {
    size_t wanted = argc > 2 ? strtoul(argv[2], NULL, 10) : 40;
    const char *tmp = getenv("TMPDIR");
    if (argc < 2) return fprintf(stderr, "usage: crash_trial FORAGE [KILLS [SEED]]\n"), 2;
    t.forage = argv[1];
    t.seed = argc > 3 ? strtoull(argv[3], NULL, 0) : 20261124;
    printf("# SEED=%llu\n", (unsigned long long)t.seed);
    snprintf(t.dir, sizeof t.dir, "%s/forage-crash-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(t.dir)) return perror(t.dir), 1;
    snprintf(t.home, sizeof t.home, "%s/home", t.dir);
    double began = fo_now_ms();
    for (size_t rounds = 0, said = 0; t.kills < wanted && t.faults < 10; rounds++) {
        if (rounds == 0 || t.documents.n_acknowledged == 0)
            round_of_serving();
        else
            one_round();
        if (rounds % 12 == 11) look_at(t.home, true);
        if (t.kills / 50 > said) {
            said = t.kills / 50;
            printf("# %zu kills, %.0f s\n", t.kills, (fo_now_ms() - began) / 1000);
            fflush(stdout);
        }
    }
    look_at(t.home, true);
    const auditor *a = &t.documents;
    for (int p = 0; p < N_PHASES; p++) printf("# %5zu kills in: %s\n", t.by[p], phase_names[p]);
    printf("# %zu kills in %.0f s; %llu changes acknowledged, %llu looked at; lost %llu, risen "
           "%llu, faults %zu\n",
           t.kills, (fo_now_ms() - began) / 1000, (unsigned long long)a->n_acknowledged,
           (unsigned long long)a->n_audited, (unsigned long long)a->n_lost,
           (unsigned long long)a->n_risen, t.faults);
    if (!t.faults)
        fo_remove_tree(t.dir, NULL);
    else
        printf("# what is left: %s\n", t.dir);
    return t.faults != 0;
}
