/* forage doctor: will a service do well here? Looks at the machine, the programs that documents are read
 * by, the home and the address, changes nothing, and says what to do. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "data/extract/extract.h"
#include "data/extract/extract_tools.h"
#include "data/extract/sandbox.h"
#include "engine/embed/embedder.h"
#include "engine/model/model_memory.h"
#include "kernels/cpu.h"
#include "retrieval/collections/catalog.h"
#include "retrieval/home/home.h"
#include "server/access/keys.h"
#include "server/base/json.h"
#include "server/base/log.h"
#include "server/base/printable.h"
#include "server/cli/cli.h"
#include "server/cli/cli_models.h"
#include "server/cli/output_form.h"
#include "server/http/client.h"
#include "server/http/http.h"

#define GIB ((uint64_t)1 << 30)
#define MIB ((uint64_t)1 << 20)

enum { LEAST_FILES = 4096 }; /* descriptors of a server: connections, segments, workers */

static struct { const char *home, *listen; } o = {.home = "home", .listen = HTTP_LISTEN_DEFAULT};

static const cli_option options[] = {
    {"home", CLI_STRING, &o.home, "DIR", "the home to look at (default: home)"},
    {"listen", CLI_STRING, &o.listen, "ADDRESS:PORT",
     "where a service would listen (default 127.0.0.1:8080)"},
    {"model", CLI_STRING, &cli_model_flags.model, "FILE", "a language model that it would load"},
    {"embed-model", CLI_STRING, &cli_model_flags.embed, "FILE",
     "an embedder that it would load: a file, a model2vec folder, builtin or builtin-encoder"},
    CLI_OUTPUT_OPTION,
    {0}};

/* ---- what was found ------------------------------------------------------------------------------- */

enum verdict { FINE, NOTE, PROBLEM };
static const char *const verdicts[] = {"ok", "note", "problem"};

typedef struct report {
    fo_buf rows; /* JSON: objects, comma-separated */
    json_out out;
    size_t n[3];
} report;

/* advice: what to do, NULL where there is nothing. */
static void tell(report *r, enum verdict v, const char *subject, const char *advice,
                 const char *fmt, ...) __attribute__((format(printf, 5, 6)));
static void tell(report *r, enum verdict v, const char *subject, const char *advice,
                 const char *fmt, ...) {
    char words[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(words, sizeof words, fmt, args);
    va_end(args);
    r->n[v]++;
    json_out_open(&r->out, NULL, '{');
    json_out_string(&r->out, "verdict", verdicts[v]);
    json_out_string(&r->out, "subject", subject);
    json_out_string(&r->out, "found", words);
    json_out_string(&r->out, "advice", advice);
    json_out_close(&r->out, '}');
    if (output_asked() != OUTPUT_TABLE) return;
    printable_say(stdout, "%-8s %-10s %s", verdicts[v], subject, words);
    if (advice) printable_say(stdout, "%-8s %-10s %s", "", "", advice);
}

/* ---- the machine ---------------------------------------------------------------------------------- */

static void look_at_machine(report *r) {
    const fo_cpu_info *cpu = fo_cpu();
    struct utsname u;
    if (uname(&u)) memset(&u, 0, sizeof u);
    tell(r, FINE, "version", NULL, "forage %s on %s %s", FORAGE_VERSION, u.sysname, u.release);
    bool slow = cpu->level == FO_CPU_GENERIC;
    tell(r, slow ? NOTE : FINE, "processor",
         slow ? "without AVX2 models are many times slower; ranking by words is not" : NULL,
         "%s, %d cores, %s%s%s", cpu->name, fo_core_count(), fo_cpu_level_name(cpu->level),
         cpu->note[0] ? "; " : "", cpu->note);
    uint64_t memory = model_memory_available();
    if (memory)
        tell(r, memory < GIB ? NOTE : FINE, "memory",
             memory < GIB ? "a service with its reader takes some 200 MB, and more with its indexes"
                          : NULL,
             "%.1f GiB to be had", (double)memory / (double)GIB);
    struct rlimit files;
    if (!getrlimit(RLIMIT_NOFILE, &files)) {
        bool few = files.rlim_cur < LEAST_FILES;
        tell(r, few ? NOTE : FINE, "files",
             few ? "raise it (ulimit -n 65536; systemd: LimitNOFILE=) for many clients or indexes"
                 : NULL,
             "%llu may be open at once", (unsigned long long)files.rlim_cur);
    }
}

/* In a child, since neither filter can be taken back. */
static void look_at_sandbox(report *r) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        sandbox *box = sandbox_create(SANDBOX_READER);
        _exit(box ? sandbox_enter(box) : 0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) return;
    int got = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    tell(r, got == 3 ? FINE : NOTE, "sandbox",
         got == 3 ? NULL
                  : "readers of documents are shut in by limits and what the kernel has; a kernel "
                    "since 5.13 "
                    "with Landlock has both",
         "seccomp %s, Landlock %s", got & 1 ? "yes" : "no", got & 2 ? "yes" : "no");
}

static void look_at_programs(report *r) {
    bool text = tool_exists("pdftotext"), image = tool_exists("pdftoppm");
    tell(r, text && image ? FINE : NOTE, "PDF",
         text && image ? NULL : "install poppler-utils, else PDF files are refused by name",
         text && image ? "pdftotext and pdftoppm are here"
                       : "pdftotext or pdftoppm is not installed");
    fo_err err = {0};
    bool ocr = !extract_ocr_check(NULL, &err);
    tell(r, FINE, "OCR", NULL,
         ocr ? "tesseract is here: --ocr auto reads scanned pages and images"
             : "no tesseract: scanned pages and images are not read (optional)");
}

/* ---- models --------------------------------------------------------------------------------------- */

static void tell_model(report *r, const char *what, const char *name, uint64_t bytes,
                       const char *more) {
    uint64_t memory = model_memory_available();
    bool tight = memory && bytes + bytes / 4 > memory;
    tell(r, tight ? PROBLEM : FINE, what,
         tight ? "take a smaller one, or one in fewer bits (forage quantize)" : more,
         "%s: %.1f GiB", name, (double)bytes / (double)GIB);
}

static bool is_gguf(const char *file) {
    char head[4] = "";
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : pread(fd, head, sizeof head, 0);
    if (fd >= 0) close(fd);
    return n == sizeof head && !memcmp(head, "GGUF", sizeof head);
}

static void look_at_model(report *r, const char *what, const char *file) {
    struct stat st;
    if (!file) return;
    if (stat(file, &st))
        tell(r, PROBLEM, what, "make models fetches two; any GGUF file of a known kind will do",
             "%s is not there", file);
    else if (S_ISDIR(st.st_mode))
        tell(r, PROBLEM, what, "forage convert DIR out.gguf makes a file of it",
             "%s is a folder, not a GGUF file", file);
    else if (!is_gguf(file))
        tell(r, PROBLEM, what, "forage convert DIR out.gguf makes one of a model's folder",
             "%s is no GGUF file", file);
    else
        tell_model(r, what, file, (uint64_t)st.st_size,
                   "forage inspect FILE says whether it runs, and what it takes in all");
}

/* Bytes of the model2vec table in `folder`; false, and which file lacks, where it holds none. */
static bool table_in(const char *folder, uint64_t *bytes, const char **lacks) {
    static const char *const files[] = {"config.json", "tokenizer.json", "model.safetensors"};
    char path[4200];
    struct stat st = {0};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        if (stat(path, &st)) {
            *lacks = files[i];
            return false;
        }
    }
    *bytes = (uint64_t)st.st_size; /* of the last, which has the vectors */
    return true;
}

/* What --embed-model takes: a name of what the binary holds, a folder of model2vec, a file. */
static void look_at_embedder(report *r, const char *name) {
    struct stat st;
    uint64_t bytes = 0;
    const char *lacks = NULL;
    if (!name) return;
    if (!*name || !strcmp(name, EMBEDDER_TABLE) || !strcmp(name, EMBEDDER_ENCODER))
        tell(r, FINE, "embedder", NULL, "%s is inside the binary", *name ? name : EMBEDDER_TABLE);
    else if (stat(name, &st) || !S_ISDIR(st.st_mode))
        look_at_model(r, "embedder", name);
    else if (table_in(name, &bytes, &lacks))
        tell_model(r, "embedder", name, bytes, NULL);
    else
        tell(r, PROBLEM, "embedder", "a folder is one of model2vec, which has this file",
             "%s has no %s", name, lacks);
}

/* ---- the home ------------------------------------------------------------------------------------- */

/* The file system of the home, or, where it is not there yet, of the nearest folder above it that is. */
static bool home_disk(struct statvfs *v) {
    char path[4200];
    if ((size_t)snprintf(path, sizeof path, "%s", o.home) >= sizeof path) return false;
    while (statvfs(path, v)) {
        size_t n = strlen(path);
        while (n > 1 && path[n - 1] == '/') n--;
        while (n && path[n - 1] != '/') n--; /* the last name */
        while (n > 1 && path[n - 1] == '/') n--;
        path[n] = 0;
        if (n == 1 && path[0] == '/') return !statvfs("/", v);
        if (!n) return !statvfs(".", v);
    }
    return true;
}

static void look_at_disk(report *r) {
    struct statvfs v;
    if (!home_disk(&v)) return;
    uint64_t left = (uint64_t)v.f_bavail * v.f_frsize;
    tell(r,
         left < 64 * MIB ? PROBLEM
         : left < GIB    ? NOTE
                         : FINE,
         "disk", left < GIB ? "make room: documents are refused below 64 MiB" : NULL,
         "%.1f GiB free", (double)left / (double)GIB);
}

static bool held_by_server(void) {
    char path[4200];
    snprintf(path, sizeof path, "%s/lock", o.home);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    bool held = flock(fd, LOCK_EX | LOCK_NB) != 0;
    close(fd);
    return held;
}

/* True: there are keys in force. */
static bool look_at_keys(report *r) {
    key_table *t = NULL;
    fo_err err = {0};
    int rc = keys_read(&t, o.home, &err);
    size_t made = rc ? 0 : key_table_count(t), n = 0;
    for (size_t i = 0; i < made; i++) n += access_key_in_force(key_table_at(t, i), log_now_ms());
    key_table_drop(t);
    if (rc && rc != FO_ENOTFOUND)
        tell(r, PROBLEM, "keys", "make the file again (forage keys create), or restore it", "%s",
             err.msg);
    else if (n)
        tell(r, FINE, "keys", NULL, "%zu in force: everybody needs one", n);
    else if (!rc) /* a home that ever had one asks for one */
        tell(r, PROBLEM, "keys", "forage keys create --home DIR --name N --scope admin",
             "none of %zu in force (revoked, or past their time): nobody gets in", made);
    else
        tell(r, FINE, "keys", NULL, "none: whoever reaches the address may do everything");
    return n > 0;
}

/* True: there are keys in force. */
static bool look_at_home(report *r) {
    catalog *c = NULL;
    struct stat st;
    fo_err err = {0};
    if (access(o.home, F_OK)) {
        tell(r, NOTE, "home", "forage ingest PATH --home DIR makes one",
             "the folder %s is not there yet", o.home);
        return false;
    }
    if (stat(o.home, &st) == 0 && !S_ISDIR(st.st_mode)) {
        home_fail_file(o.home, &err);
        tell(r, PROBLEM, "home", "give a folder to --home", "%s", err.msg);
        return false;
    }
    store_collection *all = NULL;
    size_t n = 0;
    int64_t documents = 0;
    int rc = catalog_open(&c, o.home, &err);
    if (!rc) rc = catalog_list_collections(c, NULL, &all, &n, &err);
    for (size_t i = 0; i < n; i++) {
        documents += all[i].n_documents;
        store_collection_deinit(&all[i]);
    }
    free(all);
    catalog_close(c);
    if (rc == FO_ENOTFOUND)
        tell(r, NOTE, "home", "forage ingest PATH --home DIR fills it", "%s holds nothing", o.home);
    else if (rc)
        tell(r, PROBLEM, "home",
             "forage index verify --home DIR says what is wrong and what mends it", "%s", err.msg);
    else
        tell(r, FINE, "home", "forage index verify --home DIR looks at every byte of it",
             "%s: %lld document%s in %zu collection%s%s", o.home, (long long)documents,
             documents == 1 ? "" : "s", n, n == 1 ? "" : "s",
             held_by_server() ? "; a service has it open" : "");
    return look_at_keys(r);
}

/* ---- the address ---------------------------------------------------------------------------------- */

static void ignore_request(http_request *r, void *ctx) {
    (void)ctx;
    http_error(r, 503, "doctor", NULL, "this is no service");
}

enum { ASK_MS = 5000 }; /* a program that takes connections and never answers is no service */

/* Who has the port, where it is taken. */
static void ask_who(report *r, const char *why) {
    char url[300] = "";
    client *c = NULL;
    fo_buf reply = {0};
    fo_err err = {0};
    bool ours =
        !http_listen_url(o.listen, url, sizeof url, &err) && !client_open(&c, url, NULL, &err);
    if (ours) {
        client_set_timeout(c, ASK_MS);
        ours = !client_get(c, "/health", &reply, &err) && reply.data &&
               strstr(reply.data, "\"status\"");
    }
    client_close(c);
    fo_buf_free(&reply);
    if (ours)
        tell(r, FINE, "address", NULL, "a service answers on %s already", url);
    else
        tell(r, PROBLEM, "address", "give another one to --listen, or end what has it", "%s", why);
}

static void look_at_address(report *r, bool keys) {
    bool loopback = false;
    fo_err err = {0};
    http_server *s = NULL;
    static const http_route route = {.method = "GET", .pattern = "/", .handler = ignore_request};
    if (http_listen_is_loopback(o.listen, &loopback, &err)) {
        tell(r, PROBLEM, "address", "--listen takes ADDRESS:PORT, such as 127.0.0.1:8080", "%s",
             err.msg);
        return;
    }
    if (!loopback && !keys)
        tell(r, PROBLEM, "access",
             "forage keys create --home DIR --name N --scope read; or --insecure, where all may "
             "read and delete",
             "%s is reached by others, and the home has no keys in force", o.listen);
    if (http_start(&s, &(http_options){.listen = o.listen, .routes = &route, .n_routes = 1},
                   &err)) {
        ask_who(r, err.msg);
        return;
    }
    tell(r, FINE, "address", NULL, "%s is free", http_address(s));
    http_stop(s, 0, NULL);
}

/* ---- the command ---------------------------------------------------------------------------------- */

static int run(int argc, char **argv) {
    (void)argc;
    (void)argv;
    report r = {0};
    r.out.b = &r.rows;
    json_out_open(&r.out, NULL, '{');
    json_out_open(&r.out, "checks", '[');
    look_at_sandbox(&r); /* before any thread is there */
    look_at_machine(&r);
    look_at_programs(&r);
    look_at_model(&r, "model", cli_model_flags.model);
    look_at_embedder(&r, cli_model_flags.embed);
    look_at_disk(&r);
    bool keys = look_at_home(&r);
    look_at_address(&r, keys);
    json_out_close(&r.out, ']');
    json_out_int(&r.out, "problems", (int64_t)r.n[PROBLEM]);
    json_out_int(&r.out, "notes", (int64_t)r.n[NOTE]);
    json_out_close(&r.out, '}');
    if (output_asked() != OUTPUT_TABLE)
        output_print(&r.rows);
    else
        printf("\n%zu problem%s, %zu note%s\n", r.n[PROBLEM], r.n[PROBLEM] == 1 ? "" : "s",
               r.n[NOTE], r.n[NOTE] == 1 ? "" : "s");
    fo_buf_free(&r.rows);
    return r.n[PROBLEM] ? 1 : 0;
}

const cli_command cli_command_doctor = {
    "doctor",
    "will a service do well here? machine, programs, home, address",
    "forage doctor [--home DIR] [--listen ADDRESS:PORT] [--model FILE]\n"
    "              [--output text|table|json|md]",
    "Looks at what a service would meet and changes nothing. A problem ends it with status 1, a "
    "note does\n"
    "not; both say what to do.",
    options,
    0,
    0,
    run};
