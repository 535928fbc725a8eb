#include "retrieval/text/dedupe.h"

#include <ctype.h>
#include <stdlib.h>

#include "kernels/error.h"

enum { SHINGLE_WORDS = 4 };

static int by_value(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

int shingle_set_init(shingle_set *s, const char *text, size_t len) {
    *s = (shingle_set){0};
    /* A word takes at least two bytes but for the last. */
    uint64_t *h = malloc((len / 2 + 1) * sizeof *h);
    if (!h) return FO_ENOMEM;
    uint64_t window[SHINGLE_WORDS] = {0};
    size_t n_words = 0, n = 0;
    for (size_t i = 0; i < len;) {
        while (i < len && isspace((unsigned char)text[i])) i++;
        if (i == len) break;
        uint64_t word = 14695981039346656037u; /* FNV-1a */
        for (; i < len && !isspace((unsigned char)text[i]); i++)
            word = (word ^ (uint64_t)tolower((unsigned char)text[i])) * 1099511628211u;
        window[n_words++ % SHINGLE_WORDS] = word;
        if (n_words < SHINGLE_WORDS) continue;
        uint64_t shingle = 0;
        for (size_t k = 0; k < SHINGLE_WORDS; k++) /* oldest word first */
            shingle = (shingle ^ window[(n_words + k) % SHINGLE_WORDS]) * 0x9E3779B97F4A7C15u;
        h[n++] = shingle;
    }
    if (n == 0 && n_words) {
        for (size_t k = 0; k < n_words; k++) h[0] = (k ? h[0] * 31 : 0) + window[k];
        n = 1;
    }
    qsort(h, n, sizeof *h, by_value);
    size_t m = 0;
    for (size_t i = 0; i < n; i++)
        if (m == 0 || h[m - 1] != h[i]) h[m++] = h[i];
    *s = (shingle_set){h, m};
    return FO_OK;
}

void shingle_set_deinit(shingle_set *s) {
    free(s->hashes);
    *s = (shingle_set){0};
}

double shingle_share(const shingle_set *of, const shingle_set *in) {
    size_t i = 0, j = 0, both = 0;
    if (of->n == 0) return 1;
    while (i < of->n && j < in->n) {
        if (of->hashes[i] == in->hashes[j]) {
            both++, i++, j++;
        } else if (of->hashes[i] < in->hashes[j]) {
            i++;
        } else {
            j++;
        }
    }
    return (double)both / (double)of->n;
}

int shingle_set_add(shingle_set *all, const shingle_set *more) {
    uint64_t *h = malloc((all->n + more->n + 1) * sizeof *h);
    if (!h) return FO_ENOMEM;
    size_t i = 0, j = 0, n = 0;
    while (i < all->n || j < more->n) {
        bool first = j == more->n || (i < all->n && all->hashes[i] <= more->hashes[j]);
        uint64_t next = first ? all->hashes[i++] : more->hashes[j++];
        if (n == 0 || h[n - 1] != next) h[n++] = next;
    }
    free(all->hashes);
    *all = (shingle_set){h, n};
    return FO_OK;
}
