/* Files of every format that is read apart, made by many programs: the phrases that people would look
 * for are there, in the order in which they are read, on their pages, slides and cells; what repeats on
 * every page is not. tests/data/formats/expected.tsv says what, README.md there where they are from.
 * Then damaged variants of them all: each ends, soon, with text or with a sentence. */
#include "tests/test.h"

#include <dirent.h>
#include <sys/stat.h>

#include "data/extract/extract.h"
#include "data/extract/extract_host.h"
#include "kernels/buf.h"
#include "kernels/file.h"
#include "kernels/utf8.h"
#include "tests/data/extract/worker_time.h"

#define FOLDER "tests/data/formats/"
enum { LIMIT = 8 << 20, VARIANTS = 200, MAX_FILES = 256 };

static extract_host *host;
static uint8_t ocr; /* enum extract_ocr */

static int read_bytes(extracted *x, const char *name, const void *bytes, size_t n, fo_err *err) {
    *err = (fo_err){0};
    doc_budget budget = {.cpu_ms = DOC_BUDGET_CPU_MS, .max_bytes = 64 << 20};
    doc_budget_begin(&budget);
    extract_request rq = {.bytes = bytes,
                          .n = n,
                          .file_name = name,
                          .max_text_bytes = LIMIT,
                          .budget = &budget,
                          .host = host,
                          .call = 1, /* as files of a folder come: one worker reads several */
                          .ocr = ocr};
    return extract_text(x, &rq, err);
}

/* ---- what is expected ----------------------------------------------------------------------------- */

typedef struct tally {
    size_t phrases, found, in_order, places, right, rows, whole_rows, absent, gone;
    size_t headings, marked;
} tally;

/* White space is one blank everywhere: where lines end is not the question here. */
static char *flatten(const char *s, size_t **origin) {
    size_t n = strlen(s), k = 0;
    char *out = malloc(n + 1);
    *origin = calloc(n + 1, sizeof **origin);
    assert_true(out && *origin);
    for (size_t i = 0; i < n; i++) {
        bool space = strchr(" \t\n\r", s[i]) != NULL;
        if (space && (!k || out[k - 1] == ' ')) continue;
        (*origin)[k] = i;
        out[k++] = space ? ' ' : s[i];
    }
    out[k] = 0;
    return out;
}

static void describe(const extracted *x, size_t at, char *out, size_t cap) {
    snprintf(out, cap, "-");
    for (size_t i = 0; i < x->n_blocks; i++) {
        const text_block *b = &x->blocks[i];
        const text_place *p = extracted_place(x, b);
        if (at < b->start || at >= b->end || !p) continue;
        if (p->page) snprintf(out, cap, "p%u", p->page);
        if (p->slide) snprintf(out, cap, "s%u", p->slide);
        if (p->line) snprintf(out, cap, "l%u", p->line);
        if (p->end_ms > 0) snprintf(out, cap, "t%.6g-%.6g", p->start_ms / 1e3, p->end_ms / 1e3);
        if (p->sheet)
            snprintf(out, cap, "%s!%s", p->sheet, p->range ? p->range : "");
        else if (p->range)
            snprintf(out, cap, "%s", p->range);
        if (p->page && !(p->box[2] > p->box[0] && p->box[3] > p->box[1]))
            fail_msg("a page without a box");
    }
}

typedef struct document {
    char name[64];
    extracted x;
    fo_err err;
    int rc;
    char *flat;
    size_t *origin;
    size_t from; /* what is looked for next stands behind this */
} document;

static void open_document(document *d, const char *name) {
    fo_err err = {0};
    char path[256], *bytes;
    size_t n;
    *d = (document){0};
    snprintf(d->name, sizeof d->name, "%s", name);
    ocr = strncmp(name, "ocr:", 4) == 0 ? EXTRACT_OCR_AUTO : EXTRACT_OCR_OFF;
    if (ocr) name += 4;
    snprintf(path, sizeof path, FOLDER "%s", name);
    assert_ok(fo_file_read(path, 8 << 20, &bytes, &n, &err), &err);
    d->rc = read_bytes(&d->x, name, bytes, n, &d->err);
    ocr = EXTRACT_OCR_OFF;
    free(bytes);
    if (!d->rc) d->flat = flatten(d->x.text, &d->origin);
}

static void close_document(document *d) {
    extracted_deinit(&d->x);
    free(d->flat);
    free(d->origin);
    *d = (document){0};
}

/* The block that holds all the cells "name: value; name: value", in this order; NULL: there is none. */
static const text_block *find_row(const document *d, const char *cells) {
    for (size_t i = 0; i < d->x.n_blocks; i++) {
        const text_block *b = &d->x.blocks[i];
        char *list = strdup(cells), *rest = list,
             *row = strndup(d->x.text + b->start, b->end - b->start);
        const char *at = row;
        assert_true(list && row);
        for (char *cell; at && (cell = rest);) {
            rest = strstr(rest, "; ");
            if (rest) {
                *rest = 0;
                rest += 2;
            }
            at = strstr(at, cell);
            if (at) at += strlen(cell);
        }
        bool whole = at != NULL;
        free(list);
        free(row);
        if (whole) return b;
    }
    return NULL;
}

static void check_place(const document *d, size_t at, const char *place, const char *phrase,
                        tally *t) {
    char is[400];
    describe(&d->x, at, is, sizeof is);
    t->places++;
    t->right += !strcmp(is, place);
    if (strcmp(is, place) != 0)
        fprintf(stderr, "# %s: at %s instead of %s: %s\n", d->name, is, place, phrase);
}

/* "heading 2 p3": the heading, of that level, on that page. */
static void check_heading(document *d, const char *place, const char *phrase, tally *t) {
    int level = atoi(place);
    const char *page = strchr(place, ' ');
    assert_non_null(page);
    t->headings++;
    for (size_t i = 0; i < d->x.n_blocks; i++) {
        const text_block *b = &d->x.blocks[i];
        if (b->kind != TEXT_HEADING || b->level != level || b->end - b->start != strlen(phrase) ||
            memcmp(d->x.text + b->start, phrase, b->end - b->start) != 0)
            continue;
        t->marked++;
        check_place(d, b->start, page + 1, phrase, t);
        return;
    }
    fprintf(stderr, "# %s: no heading of level %d: %s\n", d->name, level, phrase);
}

static void check_row(document *d, const char *place, const char *cells, tally *t) {
    const text_block *b = find_row(d, cells);
    t->rows++;
    t->whole_rows += b != NULL;
    if (b)
        check_place(d, b->start, place, cells, t);
    else
        fprintf(stderr, "# %s: no row: %s\n", d->name, cells);
}

static void check_line(document *d, const char *place, const char *phrase, tally *t) {
    if (!strcmp(place, "error")) {
        if (!d->rc || !strstr(d->err.msg, phrase))
            fail_msg("%s: no '%s' in '%s'", d->name, phrase, d->err.msg);
        return;
    }
    if (d->rc) fail_msg("%s: %s", d->name, d->err.msg);
    if (!strcmp(place, "title")) {
        if (!d->x.title || strcmp(d->x.title, phrase))
            fail_msg("%s: its title is '%s'", d->name, d->x.title ? d->x.title : "");
        return;
    }
    if (!strcmp(place, "absent")) {
        t->absent++;
        t->gone += !strstr(d->flat, phrase);
        if (strstr(d->flat, phrase)) fprintf(stderr, "# %s: still there: %s\n", d->name, phrase);
        return;
    }
    if (strncmp(place, "row ", 4) == 0) { /* one row of a table, with its header */
        check_row(d, place + 4, phrase, t);
        return;
    }
    if (strncmp(place, "heading ", 8) == 0) {
        check_heading(d, place + 8, phrase, t);
        return;
    }
    const char *at = strstr(d->flat + d->from, phrase);
    bool in_order = at != NULL;
    if (!at) at = strstr(d->flat, phrase);
    t->phrases++;
    t->found += at != NULL;
    t->in_order += in_order;
    if (!at) fprintf(stderr, "# %s: missing: %s\n", d->name, phrase);
    if (!at) return;
    if (!in_order) fprintf(stderr, "# %s: out of order: %s\n", d->name, phrase);
    if (in_order) d->from = (size_t)(at - d->flat) + 1;
    check_place(d, d->origin[at - d->flat], place, phrase, t);
}

static void phrases_stand_in_order_on_their_pages(void **state) {
    (void)state;
    FILE *f = fopen(FOLDER "expected.tsv", "re");
    assert_non_null(f);
    char *line = NULL;
    size_t cap = 0;
    document d = {0};
    tally t = {0};
    fo_err none;
    size_t n_unread = 0;
    for (ssize_t n; (n = getline(&line, &cap, f)) > 0;) {
        if (line[n - 1] == '\n') line[n - 1] = 0;
        if (!line[0] || line[0] == '#') continue;
        char *rest = line, *name = strsep(&rest, "\t"), *place = strsep(&rest, "\t");
        assert_true(name && place && rest);
        if (strncmp(name, "ocr:", 4) == 0 && extract_ocr_check(NULL, &none)) {
            if (!n_unread++) fprintf(stderr, "# skipped, for %s\n", none.msg);
            continue;
        }
        if (strcmp(name, d.name) != 0) {
            close_document(&d);
            open_document(&d, name);
        }
        check_line(&d, place, rest, &t);
    }
    close_document(&d);
    free(line);
    fclose(f);
    fprintf(stderr,
            "# phrases %zu of %zu, in order %zu; places %zu of %zu; rows of tables %zu of %zu; "
            "headings %zu of %zu; left out %zu of %zu\n",
            t.found, t.phrases, t.in_order, t.right, t.places, t.whole_rows, t.rows, t.marked,
            t.headings, t.gone, t.absent);
    assert_true(t.phrases >= 20);
    assert_true((double)t.found >= .99 * (double)t.phrases);
    assert_true((double)t.in_order >= .99 * (double)t.phrases);
    assert_true((double)t.right >= .99 * (double)t.places);
    assert_true((double)t.whole_rows >= .95 * (double)t.rows);
    assert_true((double)t.marked >= .95 * (double)t.headings);
    assert_int_equal(t.gone, t.absent);
}

/* ---- damage --------------------------------------------------------------------------------------- */

static size_t damage(unsigned char *bytes, size_t n, uint64_t *seed) {
    if (test_random(seed) % 3 == 0) return test_random(seed) % n;
    size_t flips = 1 + test_random(seed) % 16;
    for (size_t i = 0; i < flips; i++)
        bytes[test_random(seed) % n] ^= (unsigned char)(1u << test_random(seed) % 8);
    return n;
}

static void check_variant(const char *name, const unsigned char *bytes, size_t n) {
    extracted x;
    fo_err err;
    worker_time before = worker_time_begin(host);
    int rc = read_bytes(&x, name, bytes, n, &err);
    worker_time_check(host, before, name);
    if (rc && strstr(err.msg, "did not end within")) fail_msg("%s: it hangs", name);
    if (rc) {
        if (!err.msg[0] || !fo_utf8_valid(err.msg, strlen(err.msg), NULL))
            fail_msg("%s: no sentence", name);
        if (strstr(err.msg, "contradicts itself") || strstr(err.msg, "process that read"))
            fail_msg("%s: %s", name, err.msg);
    } else {
        assert_true(fo_utf8_valid(x.text, x.len, NULL) && strlen(x.text) == x.len);
        extracted_deinit(&x);
    }
}

typedef struct sample {
    char name[256];
    size_t n;
} sample;

static int by_name(const void *a, const void *b) {
    return strcmp(((const sample *)a)->name, ((const sample *)b)->name);
}

static size_t list_samples(sample *out) {
    DIR *d = opendir(FOLDER);
    assert_non_null(d);
    size_t n = 0;
    for (struct dirent *e; (e = readdir(d)) && n < MAX_FILES;) {
        char path[512];
        struct stat st;
        const char *dot = strrchr(e->d_name, '.');
        if (!dot || !strcmp(dot, ".tsv") || !strcmp(dot, ".md") || e->d_name[0] == '.') continue;
        snprintf(path, sizeof path, FOLDER "%s", e->d_name);
        assert_int_equal(stat(path, &st), 0);
        snprintf(out[n].name, sizeof out->name, "%s", e->d_name);
        out[n++].n = (size_t)st.st_size;
    }
    closedir(d);
    qsort(out, n, sizeof *out, by_name);
    return n;
}

/* 200 of each format (with TEST_LONG; else a quarter), over all samples of it. */
static void damaged_variants_end_with_text_or_a_sentence(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    sample samples[MAX_FILES];
    size_t n = list_samples(samples);
    bool recognised = extract_ocr_check(NULL, NULL) == 0;
    assert_true(n > 0);
    for (size_t i = 0; i < n; i++) {
        const char *ending = strrchr(samples[i].name, '.');
        size_t of_format = 0;
        for (size_t k = 0; k < n; k++) of_format += !strcmp(strrchr(samples[k].name, '.'), ending);
        char path[4 << 10], *bytes;
        fo_err err = {0};
        size_t size;
        snprintf(path, sizeof path, FOLDER "%.255s", samples[i].name);
        assert_ok(fo_file_read(path, 8 << 20, &bytes, &size, &err), &err);
        unsigned char *copy = malloc(size + 1);
        assert_non_null(copy);
        for (size_t v = 0; v < test_rounds(VARIANTS) / of_format + 1; v++) {
            memcpy(copy, bytes, size);
            ocr = v % 20 == 0 && recognised ? EXTRACT_OCR_AUTO : EXTRACT_OCR_OFF;
            check_variant(samples[i].name, copy, damage(copy, size, &seed));
        }
        ocr = EXTRACT_OCR_OFF;
        free(copy);
        free(bytes);
    }
}

static int set_up(void **state) {
    (void)state;
    fo_err err = {0};
    extract_host_options opt = {.program = "/proc/self/exe"};
    return extract_host_create(&host, &opt, &err);
}

static int tear_down(void **state) {
    (void)state;
    extract_host_free(host);
    return 0;
}

/* What a remark of YAML is about stands right below it, and nothing else does. */
static void a_remark_stands_above_its_row(void **state) {
    (void)state;
    static const char yaml[] =
        "# The gateway\n\nname: gate\n# seconds before it is killed\ngrace: 40\n"
        "env:\n  level: info\n";
    extracted x;
    fo_err err;
    assert_ok(read_bytes(&x, "gate.yaml", yaml, sizeof yaml - 1, &err), &err);
    assert_string_equal(x.text,
                        "The gateway\nname: gate\n\nseconds before it is killed\ngrace: 40\n\n"
                        "env\n\nlevel: info");
    extracted_deinit(&x);
}

int main(int argc, char **argv) {
    if (extract_is_worker(argc, argv)) return extract_worker_main(NULL, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_remark_stands_above_its_row),
        cmocka_unit_test(phrases_stand_in_order_on_their_pages),
        cmocka_unit_test(damaged_variants_end_with_text_or_a_sentence),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
