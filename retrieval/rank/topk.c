#include "retrieval/rank/topk.h"

/* a is worse than b: a leaves the heap first. */
static int worse(const topk_item *a, const topk_item *b) {
    return a->score < b->score || (a->score == b->score && a->id > b->id);
}

static void swap(topk_item *a, topk_item *b) {
    topk_item t = *a;
    *a = *b;
    *b = t;
}

static void sift_down(topk_item *h, size_t n, size_t i) {
    for (;;) {
        size_t least = i, left = 2 * i + 1;
        if (left < n && worse(&h[left], &h[least])) least = left;
        if (left + 1 < n && worse(&h[left + 1], &h[least])) least = left + 1;
        if (least == i) return;
        swap(&h[i], &h[least]);
        i = least;
    }
}

int topk_push(topk *t, double score, int64_t id) {
    topk_item item = {score, id};
    if (t->k == 0 || score != score) return 0;
    if (t->n == t->k) {
        if (!worse(&t->items[0], &item)) return 0;
        t->items[0] = item;
        sift_down(t->items, t->n, 0);
        return 1;
    }
    size_t i = t->n++;
    t->items[i] = item;
    while (i && worse(&t->items[i], &t->items[(i - 1) / 2])) {
        swap(&t->items[i], &t->items[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
    return 1;
}

void topk_sort(topk *t) {
    for (size_t n = t->n; n > 1; n--) {
        swap(&t->items[0], &t->items[n - 1]);
        sift_down(t->items, n - 1, 0);
    }
}
