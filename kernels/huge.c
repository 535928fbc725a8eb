/* huge.c - blocks of address space, aligned to huge pages, given out from their beginning. */
#include "kernels/huge.h"

#include <stdint.h>
#include <stdlib.h>
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static const size_t huge_page = (size_t)2 << 20, block_bytes = (size_t)64 << 20, align = 64;

typedef struct block {
    struct block *next;
    unsigned char *base;
    size_t bytes;
} block;

struct fo_huge {
    block *blocks; /* the newest first */
    size_t used;   /* of the newest */
};

fo_huge *fo_huge_create(void) {
    return calloc(1, sizeof(fo_huge));
}

void fo_huge_free(fo_huge *h) {
    if (!h) return;
    for (block *b = h->blocks, *next; b; b = next) {
        next = b->next;
        munmap(b->base, b->bytes);
        free(b);
    }
    free(h);
}

/* More address space than asked for, and the ends that are not aligned given back. */
static unsigned char *map_aligned(size_t bytes) {
    unsigned char *p = mmap(NULL, bytes + huge_page, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) return NULL;
    const size_t before = (huge_page - (uintptr_t)p % huge_page) % huge_page;
    if (before) munmap(p, before);
    munmap(p + before + bytes, huge_page - before);
    (void)madvise(p + before, bytes, MADV_HUGEPAGE); /* only a hint */
    return p + before;
}

void *fo_huge_take(fo_huge *h, size_t bytes) {
    if (bytes > SIZE_MAX / 2) return NULL;
    bytes = (bytes + align - 1) / align * align;
    if (!h->blocks || bytes > h->blocks->bytes - h->used) {
        block *b = malloc(sizeof *b);
        if (!b) return NULL;
        const size_t want = bytes > block_bytes ? bytes : block_bytes;
        b->bytes = (want + huge_page - 1) / huge_page * huge_page;
        b->base = map_aligned(b->bytes);
        if (!b->base) {
            free(b);
            return NULL;
        }
        b->next = h->blocks;
        h->blocks = b;
        h->used = 0;
    }
    void *p = h->blocks->base + h->used;
    h->used += bytes;
    return p;
}

static void split(uintptr_t at) {
    const size_t inside = at % huge_page;
    if (inside) (void)madvise((void *)(at - inside), huge_page, MADV_NOHUGEPAGE);
}

void fo_huge_place(void *at, size_t bytes, int node) {
    enum { NODES = 1024, LONG_BITS = 8 * sizeof(unsigned long), PAGE = 4096 };
    const uintptr_t begin = (uintptr_t)at, end = begin + bytes;
    split(begin);
    split(end);
    unsigned long nodes[NODES / LONG_BITS] = {0};
    int policy;
    if (node < 0 || node >= NODES || syscall(SYS_get_mempolicy, &policy, NULL, 0ul, NULL, 0ul) ||
        policy != MPOL_DEFAULT)
        return;
    nodes[(size_t)node / LONG_BITS] = 1ul << (size_t)node % LONG_BITS;
    /* A page with a border in it is the first one's. */
    const uintptr_t from = (begin + PAGE - 1) / PAGE * PAGE, to = (end + PAGE - 1) / PAGE * PAGE;
    if (from < to)
        (void)syscall(SYS_mbind, from, to - from, MPOL_PREFERRED, nodes, NODES + 1ul, 0u);
}
