#include "retrieval/rank/measures.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "index/sparse/analyze.h"
#include "kernels/buf.h"
#include "kernels/order.h"
#include "kernels/utf8.h"

static int descending(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return (y > x) - (y < x);
}

static double dcg(const int *gains, size_t n, size_t k) {
    double sum = 0;
    for (size_t i = 0; i < n && i < k; i++)
        if (gains[i] > 0) sum += gains[i] / log2((double)i + 2);
    return sum;
}

double measure_ndcg(const int *gains, size_t n, const int *ideal, size_t n_ideal, size_t k) {
    if (!n_ideal) return 0;
    int *sorted = malloc(n_ideal * sizeof *sorted);
    if (!sorted) return NAN;
    memcpy(sorted, ideal, n_ideal * sizeof *sorted);
    qsort(sorted, n_ideal, sizeof *sorted, descending);
    double best = dcg(sorted, n_ideal, k);
    free(sorted);
    return best > 0 ? dcg(gains, n, k) / best : 0;
}

double measure_mrr(const int *gains, size_t n, size_t k) {
    for (size_t i = 0; i < n && i < k; i++)
        if (gains[i] > 0) return 1 / (double)(i + 1);
    return 0;
}

double measure_recall(const int *gains, size_t n, size_t n_relevant, size_t k) {
    size_t found = 0;
    for (size_t i = 0; i < n && i < k; i++) found += gains[i] > 0;
    return n_relevant ? (double)found / (double)n_relevant : 0;
}

double measure_success(const int *gains, size_t n, size_t k) {
    return measure_mrr(gains, n, k) > 0;
}

static bool is_article(const char *w, size_t n) {
    return (n == 1 && *w == 'a') || (n == 2 && !memcmp(w, "an", 2)) ||
           (n == 3 && !memcmp(w, "the", 3));
}

/* Punctuation of scripts that SQuAD's script does not know: CJK and full width, Arabic, danda, and what
 * Spanish, French and German put around words. English typography stays, as there. */
static bool is_foreign_punctuation(int32_t cp) {
    switch (cp) {
    case 0xA1:
    case 0xAB:
    case 0xBB:
    case 0xBF:
    case 0x60C:
    case 0x61B:
    case 0x61F:
    case 0x6D4:
    case 0x964:
    case 0x965:
        return true;
    default:
        return (cp >= 0x3000 && cp <= 0x3004) || (cp >= 0x3008 && cp <= 0x3020) ||
               (cp >= 0xFF01 && cp <= 0xFF0F) || (cp >= 0xFF1A && cp <= 0xFF20) ||
               (cp >= 0xFF61 && cp <= 0xFF65) || cp == 0x30FB;
    }
}

char *measure_normalise(const char *answer) {
    fo_buf plain = {0}, out = {0};
    size_t n = strlen(answer);
    for (size_t i = 0; i < n;) {
        int32_t cp;
        size_t k = fo_utf8_decode(answer + i, n - i, &cp);
        i += k;
        if (cp < 0) continue;
        if (cp < 128 && ispunct((int)cp)) continue; /* ASCII's, as SQuAD's script has it */
        if (is_foreign_punctuation(cp)) continue;
        bool alone = analyze_is_unspaced(cp);
        if (alone) fo_buf_char(&plain, ' ');
        utf8proc_category_t c = utf8proc_category(cp);
        if (cp < 128 ? isspace((int)cp) != 0
                     : c == UTF8PROC_CATEGORY_ZS || c == UTF8PROC_CATEGORY_ZL ||
                           c == UTF8PROC_CATEGORY_ZP) {
            fo_buf_char(&plain, ' ');
            continue;
        }
        char utf8[4];
        fo_buf_add(&plain, utf8, fo_utf8_encode(utf8proc_tolower(cp), utf8));
        if (alone) fo_buf_char(&plain, ' ');
    }
    for (const char *p = plain.data ? plain.data : ""; *p;) {
        size_t len = strcspn(p, " ");
        if (len && !is_article(p, len)) {
            if (out.len) fo_buf_char(&out, ' ');
            fo_buf_add(&out, p, len);
        }
        p += len;
        while (*p == ' ') p++;
    }
    fo_buf_add(&out, "", 0);
    bool failed = plain.failed || out.failed;
    fo_buf_free(&plain);
    char *text = failed ? NULL : out.data ? fo_buf_take(&out, NULL) : strdup("");
    fo_buf_free(&out);
    return text;
}

/* The words of text (cut in place), sorted; caller frees the array. */
static const char **words_of(char *text, size_t *n) {
    size_t cap = strlen(text) / 2 + 1;
    const char **words = malloc(cap * sizeof *words);
    *n = 0;
    if (!words) return NULL;
    char *state = NULL;
    for (char *w = strtok_r(text, " ", &state); w; w = strtok_r(NULL, " ", &state))
        words[(*n)++] = w;
    qsort(words, *n, sizeof *words, fo_order_strings);
    return words;
}

static double f1_of(const char *answer, const char *gold) {
    char *a = measure_normalise(answer), *g = measure_normalise(gold);
    size_t na = 0, ng = 0, common = 0;
    const char **wa = a ? words_of(a, &na) : NULL, **wg = g ? words_of(g, &ng) : NULL;
    for (size_t i = 0, j = 0; wa && wg && i < na && j < ng;) {
        int c = strcmp(wa[i], wg[j]);
        common += c == 0;
        i += c <= 0;
        j += c >= 0;
    }
    double f1 = na == 0 || ng == 0 ? (double)(na == ng)
                : common           ? 2.0 * (double)common / (double)(na + ng)
                                   : 0;
    free(wa);
    free(wg);
    free(a);
    free(g);
    return f1;
}

double measure_f1(const char *answer, const char *const *gold, size_t n_gold) {
    double best = 0;
    for (size_t i = 0; i < n_gold; i++) best = fmax(best, f1_of(answer, gold[i]));
    return best;
}

double measure_exact(const char *answer, const char *const *gold, size_t n_gold) {
    char *a = measure_normalise(answer);
    bool found = false;
    for (size_t i = 0; i < n_gold && a && !found; i++) {
        char *g = measure_normalise(gold[i]);
        found = g && !strcmp(a, g);
        free(g);
    }
    free(a);
    return found;
}

bool measure_contains(const char *answer, const char *const *gold, size_t n_gold) {
    char *a = measure_normalise(answer);
    bool found = false;
    for (size_t i = 0; i < n_gold && a && !found; i++) {
        char *g = measure_normalise(gold[i]);
        size_t n = g ? strlen(g) : 0;
        for (const char *p = a; n && !found && (p = strstr(p, g)); p++)
            found = (p == a || p[-1] == ' ') && (p[n] == 0 || p[n] == ' ');
        free(g);
    }
    free(a);
    return found;
}
