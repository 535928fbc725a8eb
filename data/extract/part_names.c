/* See part_names.h. */
#include "data/extract/part_names.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static size_t keep(fo_buf *text, const char *s) {
    const size_t at = text->len;
    fo_buf_add(text, s, strlen(s) + 1);
    return at;
}

void part_names_add(part_names *p, const char *name, const char *says) {
    builder *b = p->b;
    const size_t bytes = sizeof *p->list + strlen(name) + strlen(says) + 2;
    if (b->failure) return;
    if (!doc_budget_take(b->budget, bytes)) {
        b->failure = b->budget->failure;
        return;
    }
    p->taken += bytes;
    if (p->n == p->cap) {
        const size_t more = p->cap ? 2 * p->cap : 32;
        part_name *grown = realloc(p->list, more * sizeof *grown);
        if (!grown) {
            b->failure = FO_ENOMEM;
            return;
        }
        p->list = grown;
        p->cap = more;
    }
    part_name *one = &p->list[p->n];
    one->name = keep(&p->text, name);
    one->says = keep(&p->text, says);
    if (p->text.failed)
        b->failure = FO_ENOMEM;
    else
        p->n++;
    p->sorted = false;
}

const char *part_names_at(const part_names *p, size_t i) {
    assert(i < p->n && !p->sorted);
    return p->text.data + p->list[i].name;
}

const char *part_names_says(const part_names *p, size_t i) {
    assert(i < p->n && !p->sorted);
    return p->text.data + p->list[i].says;
}

/* Of the same name the first that was added. */
static int by_name(const void *a, const void *b) {
    const part_name *x = a, *y = b;
    const int order = strcmp(x->sorted, y->sorted);
    return order ? order : (x->name > y->name) - (x->name < y->name);
}

const char *part_names_find(part_names *p, const char *name) {
    for (size_t i = 0; i < p->n && !p->sorted; i++)
        p->list[i].sorted = p->text.data + p->list[i].name;
    if (p->n && !p->sorted) qsort(p->list, p->n, sizeof *p->list, by_name);
    p->sorted = true;
    const part_name wanted = {.sorted = name};
    size_t low = 0, high = p->n;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (by_name(&p->list[mid], &wanted) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    const bool found = low < p->n && !strcmp(p->list[low].sorted, name);
    return found ? p->text.data + p->list[low].says : NULL;
}

void part_names_free(part_names *p) {
    if (p->b) doc_budget_give(p->b->budget, p->taken);
    free(p->list);
    fo_buf_free(&p->text);
    *p = (part_names){.b = p->b};
}
