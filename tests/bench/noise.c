/* noise text N < PASSAGES > MORE - N lines: those of stdin, then again with noise until there are
 * N. noise vectors N BASE.f32 QUERY.f32 OUT - OUT.base.f32 with N unit rows: those of BASE, then
 * again with noise; OUT.query.f32, a copy; OUT.gt.i32, the ten exact neighbours of every query.
 *
 * For cost against size (sizes.sh). A repeated line has every fourth word replaced by a word drawn
 * from the whole text, so that frequencies stay what they are; a repeated vector gets noise of half
 * its length. The same input and N give the same output. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kernels/pool.h"
#include "kernels/vec.h"

enum { NEIGHBOURS = 10, BLOCK = 4096 };

static uint64_t state = 20261121;

static uint64_t draw(void) { /* splitmix64 */
    uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static void *allocate(size_t n, size_t size) {
    void *p = calloc(n ? n : 1, size);
    if (!p) {
        fputs("noise: out of memory\n", stderr);
        exit(1);
    }
    return p;
}

static _Noreturn void die(const char *what) {
    perror(what);
    exit(1);
}

/* Text ---------------------------------------------------------------------------------------- */

static char *read_all(FILE *f, size_t *len) {
    size_t room = 1 << 20;
    char *text = allocate(room, 1);
    for (size_t n; (n = fread(text + *len, 1, room - *len - 1, f)) > 0;) {
        *len += n;
        if (room - *len > 1) continue;
        char *more = realloc(text, room *= 2);
        if (!more) die("noise");
        text = more;
    }
    text[*len] = 0;
    return text;
}

static const char *any_word(const char *text, size_t len, size_t *n) {
    for (;;) {
        size_t at = draw() % len;
        while (at && text[at - 1] != ' ' && text[at - 1] != '\n') at--;
        if ((*n = strcspn(text + at, " \n")) > 0) return text + at;
    }
}

static void write_noisy(const char *line, const char *text, size_t len) {
    enum { ONE_IN = 4 };
    for (;;) {
        size_t n = strcspn(line, " \n"), other;
        if (n && draw() % ONE_IN == 0) {
            const char *word = any_word(text, len, &other);
            fwrite(word, 1, other, stdout);
        } else {
            fwrite(line, 1, n, stdout);
        }
        line += n;
        putchar(*line == ' ' ? ' ' : '\n');
        if (*line != ' ') return;
        line++;
    }
}

static int more_text(size_t want) {
    size_t len = 0;
    char *text = read_all(stdin, &len);
    if (strspn(text, " \n") == len) die("noise: no text on stdin");
    for (size_t i = 0, at = 0, pass = 0; i < want; i++) {
        size_t n = strcspn(text + at, "\n");
        if (pass == 0)
            printf("%.*s\n", (int)n, text + at);
        else
            write_noisy(text + at, text, len);
        at += n + (text[at + n] == '\n');
        if (at < len) continue;
        at = 0;
        pass++;
    }
    free(text);
    return 0;
}

/* Vectors ------------------------------------------------------------------------------------- */

static float *read_rows(const char *path, int32_t shape[2]) {
    FILE *f = fopen(path, "rb");
    if (!f || fread(shape, 4, 2, f) != 2 || shape[0] < 1 || shape[1] < 1) die(path);
    size_t n = (size_t)shape[0] * (size_t)shape[1];
    float *rows = allocate(n, sizeof *rows);
    if (fread(rows, sizeof *rows, n, f) != n) die(path);
    fclose(f);
    return rows;
}

static void write_rows(const char *out, const char *end, const void *rows, int32_t n, int32_t d) {
    char path[4096];
    int32_t shape[2] = {n, d};
    size_t cells = (size_t)n * (size_t)d;
    snprintf(path, sizeof path, "%s.%s", out, end);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(shape, 4, 2, f) != 2 || fwrite(rows, 4, cells, f) != cells || fclose(f))
        die(path);
}

static void add_noise(float *x, size_t d) {
    const float LENGTH = 0.5f;
    double sum = 0;
    for (size_t j = 0; j < d; j++) { /* four uniform numbers: near enough to normal; variance 1/3 */
        uint64_t r = draw();
        float u = 0;
        for (int k = 0; k < 64; k += 16) u += (float)(r >> k & 0xFFFF) * 0x1p-16f - 0.5f;
        x[j] += u * LENGTH * sqrtf(3.0f / (float)d);
        sum += (double)x[j] * x[j];
    }
    for (size_t j = 0; j < d; j++) x[j] *= (float)(1 / sqrt(sum));
}

typedef struct products {
    const float *x, *q; /* [m, d], [.., d] */
    float *dots;        /* [.., BLOCK] */
    size_t m, d;
} products;

static void multiply(void *arg, size_t begin, size_t end, int thread) {
    (void)thread;
    const products *p = arg;
    for (size_t j = 0; j < p->m; j++)
        for (size_t i = begin; i < end; i++)
            p->dots[i * BLOCK + j] = vec_get()->dot(p->q + i * p->d, p->x + j * p->d, (int)p->d);
}

/* ids[n_q][NEIGHBOURS]: by inner product, best first. */
static int32_t *neighbours(const float *x, size_t n, const float *q, size_t n_q, size_t d) {
    fo_pool *pool = fo_pool_create(0);
    if (!pool) die("noise");
    float *dots = allocate(n_q * BLOCK, sizeof *dots);
    float *best = allocate(n_q * NEIGHBOURS, sizeof *best);
    int32_t *ids = allocate(n_q * NEIGHBOURS, sizeof *ids);
    for (size_t i = 0; i < n_q * NEIGHBOURS; i++) best[i] = -INFINITY;
    for (size_t at = 0; at < n; at += BLOCK) {
        size_t m = n - at < BLOCK ? n - at : BLOCK;
        fo_pool_run(pool, n_q, 32, multiply, &(products){x + at * d, q, dots, m, d});
        for (size_t i = 0; i < n_q; i++) {
            float *b = best + i * NEIGHBOURS;
            int32_t *id = ids + i * NEIGHBOURS;
            for (size_t j = 0; j < m; j++) {
                float s = dots[i * BLOCK + j];
                size_t k = NEIGHBOURS;
                for (; k && b[k - 1] < s; k--) {
                    if (k == NEIGHBOURS) continue;
                    b[k] = b[k - 1];
                    id[k] = id[k - 1];
                }
                if (k == NEIGHBOURS) continue;
                b[k] = s;
                id[k] = (int32_t)(at + j);
            }
        }
    }
    fo_pool_free(pool);
    free(dots);
    free(best);
    return ids;
}

static int more_vectors(size_t want, const char *base, const char *query, const char *out) {
    int32_t b[2], q[2];
    float *from = read_rows(base, b), *ask = read_rows(query, q);
    size_t n = (size_t)b[0], d = (size_t)b[1];
    if (q[1] != b[1] || want < NEIGHBOURS || want > INT32_MAX) {
        fputs("noise: queries of another length, or too few or many vectors\n", stderr);
        return 1;
    }
    float *rows = allocate(want * d, sizeof *rows);
    for (size_t i = 0; i < want; i++) {
        memcpy(rows + i * d, from + i % n * d, d * sizeof *rows);
        if (i >= n) add_noise(rows + i * d, d);
    }
    int32_t *ids = neighbours(rows, want, ask, (size_t)q[0], d);
    write_rows(out, "base.f32", rows, (int32_t)want, b[1]);
    write_rows(out, "query.f32", ask, q[0], q[1]);
    write_rows(out, "gt.i32", ids, q[0], NEIGHBOURS);
    free(from);
    free(ask);
    free(rows);
    free(ids);
    return 0;
}

int main(int argc, char **argv) {
    size_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    if (argc == 3 && n && strcmp(argv[1], "text") == 0) return more_text(n);
    if (argc == 6 && n && strcmp(argv[1], "vectors") == 0)
        return more_vectors(n, argv[3], argv[4], argv[5]);
    fputs("usage: noise text N < PASSAGES\n       noise vectors N BASE.f32 QUERY.f32 OUT\n",
          stderr);
    return 2;
}
