/* See extract_wire.h: an answer on its way out of a worker. */
#include "data/extract/extract_wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool wire_write_all(int fd, const void *p, size_t n) {
    for (size_t at = 0; at < n;) {
        ssize_t wrote = write(fd, (const char *)p + at, n - at);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) return false;
        at += (size_t)wrote;
    }
    return true;
}

/* Where a name stands in the blob, from 1; names of neighbouring places are the same string. */
static uint32_t put_name(fo_buf *names, const char *s, const char *last, uint32_t last_at) {
    if (!s) return 0;
    if (s == last) return last_at;
    uint32_t at = (uint32_t)names->len + 1;
    fo_buf_add(names, s, strlen(s) + 1);
    return at;
}

static wire_place *put_places(const builder *b, fo_buf *names) {
    wire_place *out = calloc(b->n_places + 1, sizeof *out);
    const text_place *last = &(text_place){0};
    uint32_t sheet = 0, range = 0;
    for (size_t i = 0; out && i < b->n_places; i++) {
        const text_place *p = &b->places[i];
        sheet = put_name(names, p->sheet, last->sheet, sheet);
        range = put_name(names, p->range, last->range, range);
        out[i] = (wire_place){.page = p->page,
                              .slide = p->slide,
                              .line = p->line,
                              .box = {p->box[0], p->box[1], p->box[2], p->box[3]},
                              .start_ms = p->start_ms,
                              .end_ms = p->end_ms,
                              .sheet = sheet,
                              .range = range};
        last = p;
    }
    return out;
}

bool wire_write_answer(int fd, builder *b, int rc, const fo_err *err) {
    builder_end(b);
    fo_buf_str(&b->text, "");
    fo_buf names = {0};
    wire_place *places = put_places(b, &names);
    int failure = b->failure, budget_failure = b->budget ? b->budget->failure : FO_OK;
    if (!failure) failure = budget_failure;
    if (b->text.failed || b->title.failed || names.failed || !places) failure = FO_ENOMEM;
    bool whole = !rc && !failure;
    wire_head head = {.magic = WIRE_MAGIC,
                      .rc = rc,
                      .failure = failure,
                      .budget_failure = budget_failure,
                      .wanted = b->budget ? b->budget->wanted : 0,
                      .n_replaced = b->n_replaced,
                      .err = *err};
    if (whole) {
        head.text = b->text.len;
        head.title = b->title.len;
        head.names = names.len;
        head.n_blocks = b->n_blocks;
        head.n_places = b->n_places;
    }
    bool ok = wire_write_all(fd, &head, sizeof head);
    if (ok && whole)
        ok = wire_write_all(fd, b->text.data, b->text.len) &&
             wire_write_all(fd, b->title.data ? b->title.data : "", b->title.len) &&
             wire_write_all(fd, b->blocks, b->n_blocks * sizeof *b->blocks) &&
             wire_write_all(fd, places, b->n_places * sizeof *places) &&
             wire_write_all(fd, names.data ? names.data : "", names.len);
    free(places);
    fo_buf_free(&names);
    return ok;
}
