#include "data/extract/extract_reply.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/extract/extract_internal.h"
#include "kernels/clock.h"
#include "kernels/utf8.h"

enum {
    LOOK_MS = 50,                  /* how often the word of who waits is looked at */
    MAX_NAMES = 64 << 20,          /* bytes of names of places */
    MAX_PLACE_NAME = 4096,         /* of one of them: many places may bear it */
    EXTRACT_REPLY_PAGES = 1 << 20, /* more at once are nothing that an honest worker says */
};

/* ---- bytes ---------------------------------------------------------------------------------------- */

bool extract_reply_bytes(extract_reply *r, void *out, size_t n) {
    for (size_t at = 0; at < n;) {
        size_t k = r->n - r->at < n - at ? r->n - r->at : n - at;
        memcpy((char *)out + at, r->held + r->at, k);
        r->at += k;
        at += k;
        if (at == n) break;
        struct pollfd p = {.fd = r->fd, .events = POLLIN};
        int ready = poll(&p, 1, LOOK_MS);
        if (r->budget && r->budget->cancel && atomic_load(r->budget->cancel)) {
            r->failure = FO_ECANCELLED;
            return false;
        }
        if (fo_now_ms() > r->deadline) {
            r->failure = FO_ETIMEOUT;
            return false;
        }
        if (ready <= 0) continue;
        /* An answer comes in one piece and is asked for in six: it is fetched at once. */
        bool small = n - at < sizeof r->held;
        ssize_t got =
            read(r->fd, small ? r->held : (char *)out + at, small ? sizeof r->held : n - at);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) {
            r->ended = true;
            return false;
        }
        if (small) {
            r->at = 0;
            r->n = (size_t)got;
        } else {
            at += (size_t)got;
        }
    }
    return true;
}

/* ---- an answer ------------------------------------------------------------------------------------ */

/* Sizes that an honest worker would say: what comes is bounded before it is allocated. */
static bool head_holds(const wire_head *h, size_t max_text) {
    return h->magic == WIRE_MAGIC && h->text <= max_text && h->title <= 4096 &&
           h->names <= MAX_NAMES && h->n_blocks <= max_text / 2 + 1 &&
           h->n_places <= h->n_blocks + 65536 && memchr(h->err.msg, 0, sizeof h->err.msg) &&
           memchr(h->err.field, 0, sizeof h->err.field) && h->rc <= 0 && h->failure <= 0 &&
           h->budget_failure <= 0 && (h->failure || !h->budget_failure);
}

static bool blocks_hold(const builder *b) {
    size_t at = 0;
    for (size_t i = 0; i < b->n_blocks; i++) {
        const text_block *k = &b->blocks[i];
        if (k->start < at || k->end <= k->start || k->end > b->text.len || k->place > b->n_places ||
            k->kind > TEXT_TABLE_ROW || k->level > 6 || !fo_utf8_boundary(b->text.data[k->start]) ||
            (k->end < b->text.len && !fo_utf8_boundary(b->text.data[k->end])))
            return false;
        size_t name = k->start + k->name, name_end = name + k->n_name;
        if (name_end > k->end || !fo_utf8_boundary(b->text.data[name]) ||
            !fo_utf8_boundary(b->text.data[name_end]))
            return false;
        at = k->end;
    }
    return true;
}

static bool text_holds(const char *s, size_t n) {
    return !memchr(s, 0, n) && fo_utf8_valid(s, n, NULL);
}

/* The name at this offset of the blob (from 1; 0 is none), NULL where it is none. */
static const char *name_at(const char *names, size_t n, uint32_t at) {
    if (!at || at > n) return NULL;
    const char *name = names + at - 1;
    size_t left = n - at + 1, length = strnlen(name, left < MAX_PLACE_NAME ? left : MAX_PLACE_NAME);
    if (length == left || length == MAX_PLACE_NAME) return NULL;
    return text_holds(name, length) ? name : NULL;
}

static bool take_places(extract_reply *r, builder *b, const wire_head *h) {
    if (!h->n_places && !h->names) return true;
    size_t bytes = h->n_places * sizeof(wire_place) + h->names;
    if (!doc_budget_take(b->budget, bytes)) {
        b->failure = b->budget->failure;
        return false;
    }
    wire_place *places = calloc(h->n_places + 1, sizeof *places);
    char *names = malloc(h->names + 1);
    bool ok = places && names && extract_reply_bytes(r, places, h->n_places * sizeof *places) &&
              extract_reply_bytes(r, names, h->names);
    for (size_t i = 0; ok && i < h->n_places; i++) {
        const wire_place *p = &places[i];
        text_place to = {.page = p->page,
                         .slide = p->slide,
                         .line = p->line,
                         .start_ms = isfinite(p->start_ms) ? p->start_ms : 0,
                         .end_ms = isfinite(p->end_ms) ? p->end_ms : 0,
                         .sheet = name_at(names, h->names, p->sheet),
                         .range = name_at(names, h->names, p->range)};
        size_t bytes_of_names =
            (to.sheet ? strlen(to.sheet) : 0) + (to.range ? strlen(to.range) : 0);
        for (int k = 0; k < 4; k++) to.box[k] = isfinite(p->box[k]) ? p->box[k] : 0;
        builder_set_place(b, &to);
        ok = builder_go_on(b, bytes_of_names);
    }
    free(places);
    free(names);
    doc_budget_give(b->budget, bytes);
    return ok;
}

static bool take_title(extract_reply *r, builder *b, size_t n) {
    char title[4096];
    if (!extract_reply_bytes(r, title, n)) return false;
    if (text_holds(title, n)) builder_set_title(b, title, n);
    return true;
}

/* Behind the head: b is empty and gets it all. False: r or b says why, or it contradicts itself. */
static bool take_body(extract_reply *r, builder *b, const wire_head *h) {
    size_t blocks = h->n_blocks * sizeof *b->blocks;
    if (!doc_budget_take(b->budget, h->text + blocks)) {
        b->failure = b->budget->failure;
        return false;
    }
    if (!fo_buf_reserve(&b->text, h->text + 1)) {
        b->failure = FO_ENOMEM;
        return false;
    }
    if (!extract_reply_bytes(r, b->text.data, h->text)) return false;
    b->text.len = h->text;
    b->text.data[h->text] = 0;
    if (!text_holds(b->text.data, b->text.len) || !take_title(r, b, h->title)) return false;
    b->blocks = calloc(h->n_blocks + 1, sizeof *b->blocks);
    if (!b->blocks) {
        b->failure = FO_ENOMEM;
        return false;
    }
    b->cap_blocks = h->n_blocks + 1;
    if (!extract_reply_bytes(r, b->blocks, blocks)) return false;
    b->n_blocks = h->n_blocks;
    b->n_replaced = h->n_replaced;
    return take_places(r, b, h) && blocks_hold(b);
}

/* How far it is, as often as it says so, then the head. */
static bool take_head(extract_reply *r, wire_head *head) {
    wire_pages p;
    while (extract_reply_bytes(r, &p, sizeof p)) {
        if (p.magic != WIRE_PAGES) {
            memcpy(head, &p, sizeof p);
            return extract_reply_bytes(r, (char *)head + sizeof p, sizeof *head - sizeof p);
        }
        if (!r->pages || p.n > EXTRACT_REPLY_PAGES) continue;
        atomic_fetch_add(r->pages, p.n);
        r->n_pages += p.n;
    }
    return false;
}

bool extract_reply_answer(extract_reply *r, builder *b, int *rc, fo_err *err) {
    wire_head head;
    *rc = FO_OK;
    if (!take_head(r, &head) || !head_holds(&head, b->max_bytes)) return false;
    b->failure = head.failure;
    if (b->budget && head.budget_failure) { /* said by doc_budget_fail, in the words of here */
        b->budget->failure = head.budget_failure;
        b->budget->wanted = b->budget->used + head.wanted;
    }
    if (head.rc) {
        if (err) *err = head.err;
        if (err) err->code = head.rc;
        *rc = head.rc;
        return true;
    }
    return head.failure || take_body(r, b, &head) || b->failure;
}

/* ---- pieces --------------------------------------------------------------------------------------- */

/* A member's name, or why it is not read: text of at most cap - 1 bytes. */
static bool take_text(extract_reply *r, char *out, size_t n, size_t cap) {
    if (n >= cap || !extract_reply_bytes(r, out, n)) return false;
    out[n] = 0;
    return text_holds(out, n);
}

bool extract_reply_part(extract_reply *r, archive_bounds *left, const archive_sink *sink,
                        char *piece, bool *over, int *rc, fo_err *err) {
    enum { MAX_WHY = 256 };
    wire_part part;
    if (!extract_reply_bytes(r, &part, sizeof part) || part.magic != WIRE_MAGIC) return false;
    if (part.kind == WIRE_PIECE) {
        if (part.n > EXTRACT_REPLY_PIECE || part.n > left->bytes ||
            !extract_reply_bytes(r, piece, part.n))
            return false;
        left->bytes -= part.n;
        *rc = sink->bytes(sink->ctx, piece, part.n, err);
        return true;
    }
    if (part.kind == WIRE_MEMBER) {
        char name[ARCHIVE_MAX_NAME + 64], why[MAX_WHY];
        if (!left->n_members || part.outcome > MEMBER_FAILED ||
            !take_text(r, name, part.n, sizeof name) || !take_text(r, why, part.n_why, sizeof why))
            return false;
        left->n_members--;
        archive_member m = {name, part.outcome, why};
        *rc = sink->member(sink->ctx, &m, err);
        return true;
    }
    wire_unpacked end;
    if (part.kind != WIRE_UNPACKED || !extract_reply_bytes(r, &end, sizeof end) || end.rc > 0 ||
        !memchr(end.err.msg, 0, sizeof end.err.msg) ||
        !memchr(end.err.field, 0, sizeof end.err.field))
        return false;
    *over = true;
    *rc = end.rc;
    if (end.rc && err) {
        *err = end.err;
        err->code = end.rc;
    }
    return true;
}