/* The power goes at any moment, on a disk that keeps what was synced and of the rest whatever it likes.
 *
 *     power_trial [IMAGES [SEED [FILE]]]       (make power-trial; FILE: lies about that alone)
 *
 * One run of scenario.h is noted down: every write, truncation, sync, rename and removal of every file,
 * SQLite's and Forage's own (interpose.h), and between them what was acknowledged. An image is a moment
 * of it: what was synced before is there; of each later write nothing, all, or some of its 512-byte
 * sectors, in any order; of later renames and removals the first few (as a file system with a journal
 * has it; a file that was synced has its name). A home is made of it and opened: all that was
 * acknowledged before that moment must be there, whole, and found.
 *
 * Then disks that lie: from some moment on syncs of one kind of file are without effect. Nothing can be
 * kept then, but nothing may be lost in silence: the home is refused, or something is told. Of the very last
 * commit, whose end the ledger had no time to sync, it is told that it was begun and is not there. */
#include <signal.h>
#include <sys/wait.h>

#include "kernels/clock.h"
#include "tests/trials/interpose.h"
#include "tests/trials/scenario.h"

enum { MAX_EVENTS = 200000, SECTOR = 512, NOTE_WORD = 100 };

typedef struct event {
    int what, file; /* enum note, or NOTE_WORD */
    uint64_t at;
    unsigned char *data;
    size_t n;
    char *path, *to;
    scenario_word word;
} event;
static event events[MAX_EVENTS]; /* guarded by note_mu */
static int n_events;

static void note(enum note what, int file, const char *path, const char *to, uint64_t at,
                 const void *data, size_t n) {
    if (n_events == MAX_EVENTS - 1) abort(); /* one place for is_all_noted */
    event *e = &events[n_events++];
    *e = (event){.what = (int)what, .file = file, .at = at, .n = n};
    e->path = __real_strdup(path ? path : "");
    e->to = to ? __real_strdup(to) : NULL;
    e->data = n ? __real_malloc(n) : NULL;
    if (n) memcpy(e->data, data, n);
}

static void tell(const scenario_word *w) {
    pthread_mutex_lock(&note_mu);
    if (n_events == MAX_EVENTS - 1) abort();
    events[n_events++] = (event){.what = NOTE_WORD, .word = *w};
    pthread_mutex_unlock(&note_mu);
}

static uint64_t next_random(uint64_t *s) {
    uint64_t z = (*s += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* ---- an image -------------------------------------------------------------------------------- */

typedef struct lie { /* syncs of files whose path ends so, from this event on, do nothing */
    const char *ending;
    int from;
} lie;

static bool ends_in(const char *s, const char *end) {
    size_t n = strlen(s), k = strlen(end);
    return n >= k && strcmp(s + n - k, end) == 0;
}

static bool is_lie(const lie *l, int i) {
    return l->ending && i >= l->from && ends_in(events[i].path, l->ending);
}

static bool names_folder(const event *sync, const char *path) { /* is that the folder of path? */
    const char *slash = strrchr(path, '/');
    const char *of = sync->to ? strrchr(sync->path, '/') : NULL;
    size_t n = of ? (size_t)(of - sync->path) : strlen(sync->path);
    return slash && (size_t)(slash - path) == n && strncmp(path, sync->path, n) == 0;
}

/* How far names are certain: the last change of one that a sync before the cut made last. */
static int names_kept(int cut, const lie *l) {
    int kept = 0;
    for (int i = 0; i < cut; i++) {
        const event *e = &events[i];
        bool dir = e->what == NOTE_SYNC_DIR;
        if ((!dir && e->what != NOTE_SYNC) || is_lie(l, i)) continue;
        for (int k = i - 1; k >= kept; k--) {
            const event *m = &events[k];
            bool naming = m->what == NOTE_MAKE || m->what == NOTE_RENAME || m->what == NOTE_UNLINK;
            if (naming && (dir ? names_folder(e, m->to ? m->to : m->path)
                               : m->what == NOTE_MAKE && m->file == e->file))
                kept = k + 1;
        }
    }
    return kept;
}

static void put_bytes(unsigned char **bytes, size_t *size, const event *e, bool torn,
                      uint64_t *seed) {
    if (e->what == NOTE_TRUNCATE) {
        if (e->at > *size) {
            *bytes = __real_realloc(*bytes, e->at);
            memset(*bytes + *size, 0, e->at - *size);
        }
        *size = e->at;
        return;
    }
    size_t end = e->at + e->n;
    if (end > *size) {
        *bytes = __real_realloc(*bytes, end);
        memset(*bytes + *size, 0, end - *size);
        *size = end;
    }
    for (size_t k = 0; k < e->n;) {
        size_t n = SECTOR - (e->at + k) % SECTOR;
        if (n > e->n - k) n = e->n - k;
        if (!torn || next_random(seed) % 2) memcpy(*bytes + e->at + k, e->data + k, n);
        k += n;
    }
}

/* What the disk has of a file. Caller frees. */
static unsigned char *content(int file, int cut, const lie *l, uint64_t *seed, size_t *size) {
    unsigned char *bytes = __real_malloc(1);
    int synced = 0;
    *size = 0;
    for (int i = 0; i < cut; i++)
        if (events[i].what == NOTE_SYNC && events[i].file == file && !is_lie(l, i)) synced = i;
    for (int i = 0; i < cut; i++) {
        const event *e = &events[i];
        if (e->file != file || (e->what != NOTE_WRITE && e->what != NOTE_TRUNCATE)) continue;
        uint64_t luck = i < synced ? 1 : next_random(seed) % 3;
        if (luck) put_bytes(&bytes, size, e, luck == 2, seed);
    }
    return bytes;
}

static void make_folders(const char *path) {
    char copy[NOTED_PATH];
    snprintf(copy, sizeof copy, "%s", path);
    for (char *p = copy + 1; (p = strchr(p, '/')); p++) {
        *p = 0;
        __real_mkdir(copy, 0700);
        *p = '/';
    }
}

/* The home `from` as it is at `to` after the power went at that event. */
static void make_image(const char *from, const char *to, int cut, const lie *l, uint64_t *seed) {
    static struct {
        char path[NOTED_PATH];
        int file;
    } map[4000];
    int n = 0, certain = names_kept(cut, l);
    int last = certain + (int)(next_random(seed) % (uint64_t)(cut - certain + 1));
    for (int i = 0; i < last; i++) {
        const event *e = &events[i];
        if (e->what != NOTE_MAKE && e->what != NOTE_RENAME && e->what != NOTE_UNLINK) continue;
        const char *target = e->what == NOTE_RENAME ? e->to : e->path;
        int k = 0, source = -1;
        for (int j = 0; j < n; j++)
            if (!strcmp(map[j].path, e->path)) source = j;
        int file = e->what == NOTE_MAKE ? e->file : source >= 0 ? map[source].file : 0;
        if (e->what != NOTE_MAKE && source >= 0) map[source].path[0] = 0;
        if (e->what == NOTE_UNLINK || !file) continue;
        while (k < n && strcmp(map[k].path, target) != 0) k++;
        for (int j = 0; k == n && j < n; j++)
            if (!map[j].path[0]) k = j;
        if (k == n) n++;
        snprintf(map[k].path, sizeof map[k].path, "%s", target);
        map[k].file = file;
    }
    fo_remove_tree(to, NULL);
    __real_mkdir(to, 0700);
    size_t home = strlen(from);
    for (int i = 0; i < n; i++) {
        if (strncmp(map[i].path, from, home) || map[i].path[home] != '/') continue;
        char path[NOTED_PATH];
        size_t size;
        snprintf(path, sizeof path, "%.180s%.200s", to, map[i].path + home);
        make_folders(path);
        unsigned char *bytes = content(map[i].file, cut, l, seed, &size);
        int fd = __real_open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (fd < 0 || __real_write(fd, bytes, size) != (ssize_t)size) perror(path), abort();
        close(fd);
        free(bytes);
    }
}

/* Is all that was written noted? Where each file that is still there is what its notes make of it. */
static bool is_all_noted(void) {
    bool same = true;
    for (int i = 0; i < n_names; i++) {
        size_t size, there;
        uint64_t seed = 0;
        char *is = NULL;
        fo_err err;
        if (!names[i].path[0] || fo_file_read(names[i].path, SIZE_MAX / 2, &is, &there, &err))
            continue;
        int last = n_events;
        events[last] = (event){.what = NOTE_SYNC, .file = names[i].file, .path = names[i].path};
        unsigned char *noted = content(names[i].file, last + 1, &(lie){0}, &seed, &size);
        if (size != there || memcmp(noted, is, size) != 0) {
            printf("# of %s not all that was written is noted\n", names[i].path);
            same = false;
        }
        free(noted);
        free(is);
    }
    return same;
}

static enum scenario_end look(const char *home, auditor *a, const auditor *doubt, char why[600]) {
    int fd[2], status;
    if (pipe(fd)) return SCENARIO_SILENT;
    pid_t pid = fork();
    if (pid == 0) {
        alarm(120);
        enum scenario_end end = scenario_audit(home, a, doubt, why);
        __real_write(fd[1], why, 600);
        _exit(10 + (int)end);
    }
    close(fd[1]);
    snprintf(why, 600, "it died");
    if (__real_read(fd[0], why, 600) < 0) why[0] = 0;
    close(fd[0]);
    waitpid(pid, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) >= 10
               ? (enum scenario_end)(WEXITSTATUS(status) - 10)
               : SCENARIO_SILENT;
}

/* ---- all -------------------------------------------------------------------------------------- */

static char noted_home[300], image[300], bad_image[300];

/* Documents acknowledged before. doubt: the same, the last commit's only as what was asked for. */
static int known_at(int cut, auditor *a, auditor *doubt) {
    int n = 0;
    bool grouped = false; /* the words of one commit follow each other */
    *a = (auditor){0};
    for (int i = 0; i < cut; i++) {
        const scenario_word *w = &events[i].word;
        if (events[i].what != NOTE_WORD) continue;
        if (!w->acknowledged) {
            audit_begin(a, w->document, w->version);
            grouped = false;
        } else if (a->maybe[w->document] == w->version) {
            if (!grouped) *doubt = *a;
            grouped = true;
            audit_end(a, w->document, true), n++;
        }
    }
    if (!n) *doubt = *a;
    return n;
}

/* Images by a kind of disk; how many ended badly. */
static size_t try_disk(const char *what, const char *ending, size_t n_images, uint64_t *seed) {
    size_t ends[N_SCENARIO_ENDS] = {0}, early = 0, bad = 0;
    for (size_t i = 0; i < n_images; i++) {
        static auditor a, doubt;
        char why[600];
        int cut = (int)(next_random(seed) % (uint64_t)(n_events + 1));
        lie l = {ending, (int)(next_random(seed) % (uint64_t)(cut + 1))};
        int known = known_at(cut, &a, &doubt);
        uint64_t made_by = *seed;
        make_image(noted_home, image, cut, &l, seed);
        enum scenario_end end = look(image, &a, ending ? &doubt : NULL, why);
        ends[end]++;
        bool is_bad = ending ? end == SCENARIO_SILENT : end != SCENARIO_KEPT;
        if (!ending && end == SCENARIO_REFUSED &&
            known == 0) { /* of a home that was not yet made */
            early++;
            is_bad = false;
        }
        if (is_bad) {
            bad++;
            printf("# %s, event %d of %d (%d known): %s\n", what, cut, n_events, known, why);
            if (bad == 1) { /* once more: as it was before it was opened */
                make_image(noted_home, bad_image, cut, &l, &made_by);
                printf("# made again in %s\n", bad_image);
            }
        }
    }
    printf("# %-34s %5zu images: %zu kept all, %zu refused (%zu before anything was acknowledged), "
           "%zu told, %zu without the last commit, %zu silent\n",
           what, n_images, ends[SCENARIO_KEPT], ends[SCENARIO_REFUSED], early, ends[SCENARIO_TOLD],
           ends[SCENARIO_DOUBT], ends[SCENARIO_SILENT]);
    fflush(stdout);
    return bad;
}

int main(int argc, char **argv) {
    size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 2000, bad = 0;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 20261124;
    const char *tmp = getenv("TMPDIR");
    char dir[200];
    uint32_t version = 0;
    printf("# SEED=%llu\n", (unsigned long long)seed);
    fflush(stdout);
    snprintf(dir, sizeof dir, "%.150s/forage-power-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(dir)) return perror(dir), 1;
    snprintf(noted_home, sizeof noted_home, "%s/home", dir);
    snprintf(image, sizeof image, "%s/image", dir);
    snprintf(bad_image, sizeof bad_image, "%s/bad", dir);
    interpose_sqlite();
    interpose_note = note;
    scenario_run(noted_home, &version, false, tell);
    scenario_run(noted_home, &version, false, tell);
    interpose_note = NULL;
    int syncs = 0, writes = 0;
    for (int i = 0; i < n_events; i++) {
        syncs += events[i].what == NOTE_SYNC || events[i].what == NOTE_SYNC_DIR;
        writes += events[i].what == NOTE_WRITE;
    }
    printf("# noted: %d events, %d writes, %d syncs, of %d files\n", n_events, writes, syncs,
           n_files);
    bad += !is_all_noted();
    double began = fo_now_ms();
    if (argc <= 3) bad += try_disk("the power goes", NULL, n, &seed);
    static const char *const kinds[] = {"forage.db", "forage.db-wal", "ledger", ".seg", "MANIFEST"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char what[60];
        if (argc > 3 && strcmp(argv[3], kinds[i]) != 0) continue;
        snprintf(what, sizeof what, "syncs of %s are lies", kinds[i]);
        bad += try_disk(what, kinds[i], n / 5, &seed);
    }
    printf("# %.0f s; %zu images ended badly\n", (fo_now_ms() - began) / 1000, bad);
    if (!bad) fo_remove_tree(dir, NULL);
    return bad != 0;
}
