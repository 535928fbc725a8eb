/* Two writers of the same bytes: from words as they come (inverted_build) and from indexes that
 * exist (inverted_merge). Both hand whole lists, in order of their terms, to `output`. */
#include "index/sparse/inverted.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "index/sparse/inverted_format.h"
#include "index/sparse/postings.h"
#include "index/format/keyed_hash.h"
#include "index/format/term_hash.h"
#include "index/format/varint.h"
#include "kernels/buf.h"

/* Output -------------------------------------------------------------------------------------- */

typedef struct output {
    segment_writer *w;
    inverted_header head;
    const uint8_t *norms;
    float inverse_k[256]; /* 1 / (k1 (1 - b + b length / average)) of each norm */
    fo_buf list, table, dict, blocks;
    uint32_t *hashes; /* of each term */
    size_t room;
    uint64_t postings_at;
    char before[TERM_MAX_BYTES + 1];
    size_t before_len;
} output;

static int no_memory(fo_err *err) {
    return fo_fail(err, FO_ENOMEM, "out of memory writing an index");
}

static int output_begin(output *o, segment_writer *w, const bm25_params *p, const uint32_t *lengths,
                        const uint8_t *norms, uint32_t n_docs, fo_err *err) {
    *o = (output){.w = w, .norms = norms};
    o->head.n_docs = n_docs;
    for (uint32_t i = 0; i < n_docs; i++) o->head.sum_length += lengths[i];
    o->head.k1 = p->k1;
    o->head.b = p->b;
    o->head.average = n_docs ? (double)o->head.sum_length / n_docs : 0;
    for (int i = 0; i < 256; i++) {
        double ratio = o->head.average > 0 ? bm25_norm_decode((uint8_t)i) / o->head.average : 1;
        o->inverse_k[i] = (float)(1 / (p->k1 * (1 - p->b + p->b * ratio)));
    }
    int rc = segment_writer_section(w, SECTION_LENGTHS, lengths, 4 * (size_t)n_docs, err);
    if (!rc) rc = segment_writer_section(w, SECTION_NORMS, norms, n_docs, err);
    if (!rc) rc = segment_writer_begin(w, SECTION_POSTINGS, err);
    return rc;
}

static void output_end(output *o) {
    fo_buf_free(&o->list);
    fo_buf_free(&o->table);
    fo_buf_free(&o->dict);
    fo_buf_free(&o->blocks);
    free(o->hashes);
}

/* Norms are rounded down, so this is never below the exact value. */
static uint8_t bound_of(const output *o, const uint32_t *docs, const uint32_t *tfs, size_t n) {
    float best = 0;
    for (size_t i = 0; i < n; i++) {
        float ratio = (float)tfs[i] * o->inverse_k[o->norms[docs[i]]];
        if (ratio > best) best = ratio;
    }
    double bound = ceil(255 * ((double)best / (1 + (double)best)) + 1e-4);
    return bound > 255 ? 255 : (uint8_t)bound;
}

static void put_varint(fo_buf *b, uint64_t v) {
    uint8_t bytes[VARINT_MAX_BYTES];
    fo_buf_add(b, bytes, varint_put(bytes, v));
}

static void put_blocks(output *o, const uint32_t *docs, const uint32_t *tfs, uint32_t n,
                       uint8_t *bound) {
    uint8_t bytes[POSTINGS_MAX_BLOCK_BYTES];
    size_t n_blocks = ((size_t)n + POSTINGS_BLOCK - 1) / POSTINGS_BLOCK;
    fo_buf_clear(&o->table);
    if (!fo_buf_reserve(&o->table, n_blocks * LIST_BLOCK_BYTES)) return;
    uint8_t *table = (uint8_t *)o->table.data;
    uint32_t base = 0;
    for (size_t i = 0; i < n_blocks; i++) {
        size_t at = i * POSTINGS_BLOCK, count = n - at < POSTINGS_BLOCK ? n - at : POSTINGS_BLOCK;
        fo_buf_add(&o->list, bytes, postings_encode(docs + at, tfs + at, count, base, bytes));
        uint32_t last = docs[at + count - 1], end = (uint32_t)o->list.len;
        uint8_t b = bound_of(o, docs + at, tfs + at, count);
        memcpy(table + 4 * i, &last, 4);
        memcpy(table + 4 * (n_blocks + i), &end, 4);
        table[8 * n_blocks + i] = b;
        if (b > *bound) *bound = b;
        base = last + 1;
    }
    o->table.len = n_blocks * LIST_BLOCK_BYTES;
}

static int output_term(output *o, const char *term, size_t len, const uint32_t *docs,
                       const uint32_t *tfs, uint32_t n, fo_err *err) {
    uint8_t bound = 0, bytes[POSTINGS_MAX_BLOCK_BYTES];
    fo_buf_clear(&o->list);
    fo_buf_clear(&o->table);
    if (n < POSTINGS_BLOCK) {
        bound = bound_of(o, docs, tfs, n);
        fo_buf_add(&o->list, bytes, postings_encode(docs, tfs, n, 0, bytes));
    } else {
        put_blocks(o, docs, tfs, n, &bound);
    }
    size_t shared = 0;
    if (o->head.n_terms % DICT_BLOCK_TERMS == 0) {
        uint32_t dict_at = (uint32_t)o->dict.len;
        if (o->dict.len > UINT32_MAX)
            return fo_fail(err, FO_ELIMIT, "the dictionary of a segment exceeds 4 GiB");
        fo_buf_add(&o->blocks, &o->postings_at, 8);
        fo_buf_add(&o->blocks, &dict_at, 4);
    } else {
        while (shared < len && shared < o->before_len && term[shared] == o->before[shared])
            shared++;
    }
    size_t size = o->table.len + o->list.len;
    put_varint(&o->dict, shared);
    put_varint(&o->dict, len - shared);
    fo_buf_add(&o->dict, term + shared, len - shared);
    put_varint(&o->dict, n);
    put_varint(&o->dict, size);
    fo_buf_char(&o->dict, (char)bound);
    memcpy(o->before, term, len);
    o->before_len = len;
    if (o->head.n_terms == o->room) {
        size_t room = o->room ? 2 * o->room : 256;
        uint32_t *p = realloc(o->hashes, room * sizeof *p);
        if (!p) return no_memory(err);
        o->hashes = p;
        o->room = room;
    }
    o->hashes[o->head.n_terms++] = term_hash(term, len);
    o->head.n_postings += n;
    o->postings_at += size;
    if (o->dict.failed || o->blocks.failed || o->list.failed || o->table.failed)
        return no_memory(err);
    int rc = segment_writer_write(o->w, o->table.data, o->table.len, err);
    return !rc ? segment_writer_write(o->w, o->list.data, o->list.len, err) : rc;
}

/* A term's slot, unless terms that were written to fall together have taken all those near its place. */
static void put_slot(const output *o, uint32_t *hash, size_t mask, uint32_t ordinal) {
    const uint32_t h = o->hashes[ordinal];
    for (size_t probe = 0; probe < HASH_WRITE_PROBES; probe++) {
        uint32_t *slot = &hash[(h + probe) & mask];
        if (*slot) continue;
        *slot = (ordinal + 1) | hash_tag(h, o->head.n_terms);
        return;
    }
}

static int output_finish(output *o, fo_err *err) {
    size_t slots = 8;
    while (slots < o->head.n_terms + (size_t)o->head.n_terms / 2) slots *= 2;
    uint32_t *hash = calloc(slots, sizeof *hash);
    if (!hash) return no_memory(err);
    for (uint32_t i = 0; i < o->head.n_terms; i++) put_slot(o, hash, slots - 1, i);
    segment_writer *w = o->w;
    int rc = segment_writer_section(w, SECTION_DICT, o->dict.data, o->dict.len, err);
    if (!rc)
        rc = segment_writer_section(w, SECTION_DICT_BLOCKS, o->blocks.data, o->blocks.len, err);
    if (!rc) rc = segment_writer_section(w, SECTION_DICT_HASH, hash, slots * 4, err);
    if (!rc) rc = segment_writer_section(w, SECTION_INVERTED, &o->head, sizeof o->head, err);
    free(hash);
    return rc;
}

/* Building ------------------------------------------------------------------------------------ */

/* A term's postings are varints (as in postings.c) in a chain of slices of one pool: 16 bytes,
 * then 32, ... 2,048; the last four of a slice say where the next begins. */
enum { FIRST_SLICE = 16, LINK = 4, MAX_SLICE_LEVEL = 7 };

typedef struct entry {
    uint32_t hash, text; /* offset in texts */
    uint32_t n, doc, tf; /* postings written; the one being counted */
    uint32_t head, at, end;
    uint8_t len, level;
} entry;

struct inverted_builder {
    entry *entries;
    uint32_t *slots; /* entry + 1 */
    size_t n_entries, entries_room, n_slots;
    fo_buf texts;
    uint8_t *pool;
    size_t pool_used, pool_room;
    uint32_t *lengths;
    size_t lengths_room;
    uint32_t n_docs, length;
    bool failed;
};

int inverted_builder_create(inverted_builder **out, fo_err *err) {
    inverted_builder *b = calloc(1, sizeof *b);
    if (!b) return no_memory(err);
    b->n_slots = 512;
    b->slots = calloc(b->n_slots, sizeof *b->slots);
    if (!b->slots) {
        free(b);
        return no_memory(err);
    }
    *out = b;
    return FO_OK;
}

void inverted_builder_free(inverted_builder *b) {
    if (!b) return;
    free(b->entries);
    free(b->slots);
    fo_buf_free(&b->texts);
    free(b->pool);
    free(b->lengths);
    free(b);
}

/* Room for `need` items of `width` bytes behind *p. */
static bool grow(void *p, size_t *room, size_t need, size_t width) {
    if (need <= *room) return true;
    size_t n = *room ? 2 * *room : 64, bytes;
    while (n < need) n *= 2;
    void *old, *bigger;
    memcpy(&old, p, sizeof old);
    if (!fo_mul_size(n, width, &bytes) || !(bigger = realloc(old, bytes))) return false;
    memcpy(p, &bigger, sizeof bigger);
    *room = n;
    return true;
}

static uint32_t take_slice(inverted_builder *b, unsigned level) {
    size_t size = (size_t)FIRST_SLICE << level;
    if (b->pool_used + size > UINT32_MAX ||
        !grow(&b->pool, &b->pool_room, b->pool_used + size, 1)) {
        b->failed = true;
        return 0;
    }
    uint32_t at = (uint32_t)b->pool_used;
    b->pool_used += size;
    return at;
}

static void put_byte(inverted_builder *b, entry *e, uint8_t byte) {
    if (e->at == e->end) {
        unsigned level = e->level < MAX_SLICE_LEVEL ? e->level + 1u : e->level;
        uint32_t next = take_slice(b, level);
        if (b->failed) return;
        memcpy(b->pool + e->end, &next, LINK);
        e->level = (uint8_t)level;
        e->at = next;
        e->end = next + (FIRST_SLICE << level) - LINK;
    }
    b->pool[e->at++] = byte;
}

/* Write the posting being counted: the gap to the one before is in e->doc's place already. */
static void put_posting(inverted_builder *b, entry *e, uint32_t gap) {
    uint8_t bytes[2 * VARINT_MAX_BYTES];
    size_t n = varint_put(bytes, (uint64_t)gap << 1 | (e->tf > 1));
    if (e->tf > 1) n += varint_put(bytes + n, e->tf - 2);
    for (size_t i = 0; i < n && !b->failed; i++) put_byte(b, e, bytes[i]);
    e->n++;
}

static bool rehash(inverted_builder *b) {
    size_t n = b->n_slots * 2;
    uint32_t *slots = calloc(n, sizeof *slots);
    if (!slots) return false;
    for (size_t i = 0; i < b->n_entries; i++) {
        size_t h = b->entries[i].hash & (n - 1);
        while (slots[h]) h = (h + 1) & (n - 1);
        slots[h] = (uint32_t)i + 1;
    }
    free(b->slots);
    b->slots = slots;
    b->n_slots = n;
    return true;
}

static entry *add_entry(inverted_builder *b, const char *term, size_t len, uint32_t hash,
                        size_t slot) {
    if (!grow(&b->entries, &b->entries_room, b->n_entries + 1, sizeof *b->entries) ||
        b->texts.len + len > UINT32_MAX) {
        b->failed = true;
        return NULL;
    }
    entry *e = &b->entries[b->n_entries];
    *e = (entry){.hash = hash, .text = (uint32_t)b->texts.len, .len = (uint8_t)len};
    fo_buf_add(&b->texts, term, len);
    e->head = e->at = take_slice(b, 0);
    e->end = e->head + FIRST_SLICE - LINK;
    b->failed |= b->texts.failed;
    if (b->failed) return NULL;
    b->slots[slot] = (uint32_t)++b->n_entries;
    if (2 * b->n_entries > b->n_slots && !rehash(b)) b->failed = true;
    return e;
}

void inverted_builder_word(inverted_builder *b, const char *term, size_t len) {
    if (b->failed || len == 0 || len > TERM_MAX_BYTES) return;
    uint32_t hash = (uint32_t)keyed_hash(term, len);
    size_t h = hash & (b->n_slots - 1);
    entry *e = NULL;
    b->length++;
    for (;; h = (h + 1) & (b->n_slots - 1)) {
        if (!b->slots[h]) break;
        entry *x = &b->entries[b->slots[h] - 1];
        if (x->hash == hash && x->len == len && memcmp(b->texts.data + x->text, term, len) == 0) {
            e = x;
            break;
        }
    }
    if (e && e->doc == b->n_docs) {
        e->tf++;
        return;
    }
    if (!e) {
        e = add_entry(b, term, len, hash, h);
        if (!e) return;
        e->doc = b->n_docs;
        e->tf = 1;
        e->n = 0;
        /* the first gap counts from 0, as every gap does from the document before plus one */
        uint8_t first[VARINT_MAX_BYTES];
        size_t n = varint_put(first, b->n_docs);
        for (size_t i = 0; i < n && !b->failed; i++) put_byte(b, e, first[i]);
        return;
    }
    put_posting(b, e, b->n_docs - e->doc - 1);
    e->doc = b->n_docs;
    e->tf = 1;
}

int inverted_builder_end_document(inverted_builder *b, fo_err *err) {
    if (b->n_docs + 1 >= POSTINGS_MAX_DOCS)
        return fo_fail(err, FO_ELIMIT, "a segment holds fewer than %d documents",
                       POSTINGS_MAX_DOCS);
    if (b->failed || !grow(&b->lengths, &b->lengths_room, (size_t)b->n_docs + 1, 4)) {
        b->failed = true;
        return no_memory(err);
    }
    b->lengths[b->n_docs++] = b->length;
    b->length = 0;
    return FO_OK;
}

typedef struct chain { /* reads a term's slices */
    const inverted_builder *b;
    uint32_t at, end;
    unsigned level;
} chain;

static uint64_t chain_varint(chain *c) {
    uint64_t v = 0;
    for (unsigned shift = 0;; shift += 7) {
        if (c->at == c->end) {
            uint32_t next;
            memcpy(&next, c->b->pool + c->end, LINK);
            if (c->level < MAX_SLICE_LEVEL) c->level++;
            c->at = next;
            c->end = next + ((uint32_t)FIRST_SLICE << c->level) - LINK;
        }
        uint8_t byte = c->b->pool[c->at++];
        v |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) return v;
    }
}

/* Stored: the first document; then for each posting but the last (gap to the next, tf > 1), tf - 2.
 * The last one's tf is still in the entry. */
static uint32_t read_chain(const inverted_builder *b, const entry *e, uint32_t *docs,
                           uint32_t *tfs) {
    chain c = {.b = b, .at = e->head, .end = e->head + FIRST_SLICE - LINK};
    docs[0] = (uint32_t)chain_varint(&c);
    for (uint32_t i = 0; i < e->n; i++) {
        uint64_t v = chain_varint(&c);
        tfs[i] = v & 1 ? (uint32_t)chain_varint(&c) + 2 : 1;
        docs[i + 1] = docs[i] + (uint32_t)(v >> 1) + 1;
    }
    tfs[e->n] = e->tf;
    return e->n + 1;
}

typedef struct sort_key {
    uint64_t prefix; /* the first eight bytes, big-endian */
    const char *text;
    uint32_t entry, len;
} sort_key;

static int by_term(const void *x, const void *y) {
    const sort_key *a = x, *b = y;
    if (a->prefix != b->prefix) return a->prefix < b->prefix ? -1 : 1;
    uint32_t n = a->len < b->len ? a->len : b->len;
    int order = memcmp(a->text, b->text, n);
    return order ? order : (a->len > b->len) - (a->len < b->len);
}

static uint8_t *encode_norms(const uint32_t *lengths, uint32_t n) {
    uint8_t *norms = malloc((size_t)n + 1);
    for (uint32_t i = 0; norms && i < n; i++) norms[i] = bm25_norm_encode(lengths[i]);
    return norms;
}

int inverted_build(inverted_builder *b, const bm25_params *p, segment_writer *w, fo_err *err) {
    size_t room = (size_t)b->n_docs + POSTINGS_BLOCK;
    uint32_t *docs = malloc(room * 4), *tfs = malloc(room * 4);
    sort_key *keys = malloc((b->n_entries + 1) * sizeof *keys);
    uint8_t *norms = encode_norms(b->lengths, b->n_docs);
    output o = {0};
    int rc = FO_OK;
    if (b->failed || !docs || !tfs || !keys || !norms) {
        rc = no_memory(err);
        goto done;
    }
    rc = output_begin(&o, w, p, b->lengths, norms, b->n_docs, err);
    size_t n_keys = 0;
    for (size_t i = 0; i < b->n_entries; i++) {
        const entry *e = &b->entries[i];
        sort_key *k = &keys[n_keys++];
        *k = (sort_key){.text = b->texts.data + e->text, .len = e->len, .entry = (uint32_t)i};
        for (int j = 0; j < 8; j++)
            k->prefix = k->prefix << 8 | (j < e->len ? (uint8_t)k->text[j] : 0);
    }
    qsort(keys, n_keys, sizeof *keys, by_term);
    for (size_t i = 0; i < n_keys && !rc; i++) {
        const entry *e = &b->entries[keys[i].entry];
        uint32_t n = read_chain(b, e, docs, tfs);
        rc = output_term(&o, keys[i].text, keys[i].len, docs, tfs, n, err);
    }
    if (!rc) rc = output_finish(&o, err);
done:
    output_end(&o);
    free(docs);
    free(tfs);
    free(keys);
    free(norms);
    return rc;
}

/* Merging ------------------------------------------------------------------------------------- */

static int compare_terms(const inverted_terms *a, const inverted_terms *b) {
    size_t n = a->len < b->len ? a->len : b->len;
    int order = memcmp(a->term, b->term, n);
    return order ? order : (a->len > b->len) - (a->len < b->len);
}

typedef struct merge {
    const inverted_merge_input *in;
    size_t n_in;
    inverted_terms *terms;
    bool *open; /* terms[i] stands on a term */
    uint32_t *docs, *tfs, *old_docs, *old_tfs;
} merge;

/* The postings of terms[i]'s term under their new numbers, appended at docs[n]. */
static int take_list(merge *m, size_t i, uint32_t *n, fo_err *err) {
    const inverted_list *l = &m->terms[i].list;
    int rc = inverted_decode(m->in[i].inv, l, m->old_docs, m->old_tfs, err);
    for (uint32_t j = 0; !rc && j < l->n; j++) {
        uint32_t doc = m->in[i].map[m->old_docs[j]];
        if (doc == UINT32_MAX) continue;
        m->docs[*n] = doc;
        m->tfs[(*n)++] = m->old_tfs[j];
    }
    return rc;
}

static int advance(merge *m, size_t i, fo_err *err) {
    int rc = inverted_terms_next(&m->terms[i], err);
    m->open[i] = rc > 0;
    return rc < 0 ? rc : FO_OK;
}

static int merge_terms(merge *m, output *o, fo_err *err) {
    for (;;) {
        size_t first = SIZE_MAX;
        for (size_t i = 0; i < m->n_in; i++)
            if (m->open[i] &&
                (first == SIZE_MAX || compare_terms(&m->terms[i], &m->terms[first]) < 0))
                first = i;
        if (first == SIZE_MAX) return FO_OK;
        char term[TERM_MAX_BYTES + 1];
        size_t len = m->terms[first].len;
        memcpy(term, m->terms[first].term, len);
        uint32_t n = 0;
        for (size_t i = first; i < m->n_in; i++) {
            const inverted_terms *t = &m->terms[i];
            if (!m->open[i] || t->len != len || memcmp(t->term, term, len) != 0) continue;
            int rc = take_list(m, i, &n, err);
            if (!rc) rc = advance(m, i, err);
            if (rc) return rc;
        }
        int rc = n ? output_term(o, term, len, m->docs, m->tfs, n, err) : FO_OK;
        if (rc) return rc;
    }
}

int inverted_merge(const inverted_merge_input *in, size_t n_in, uint32_t n_docs,
                   const bm25_params *p, segment_writer *w, fo_err *err) {
    size_t room = (size_t)n_docs + POSTINGS_BLOCK, old_room = POSTINGS_BLOCK;
    for (size_t i = 0; i < n_in; i++)
        if (in[i].inv->n_docs + (size_t)POSTINGS_BLOCK > old_room)
            old_room = in[i].inv->n_docs + (size_t)POSTINGS_BLOCK;
    merge m = {.in = in,
               .n_in = n_in,
               .terms = malloc((n_in + 1) * sizeof *m.terms),
               .open = calloc(n_in + 1, sizeof *m.open),
               .docs = malloc(room * 4),
               .tfs = malloc(room * 4),
               .old_docs = malloc(old_room * 4),
               .old_tfs = malloc(old_room * 4)};
    uint32_t *lengths = calloc(room, 4);
    uint8_t *norms = NULL;
    output o = {0};
    int rc = FO_OK;
    if (!m.terms || !m.open || !m.docs || !m.tfs || !m.old_docs || !m.old_tfs || !lengths) {
        rc = no_memory(err);
        goto done;
    }
    for (size_t i = 0; i < n_in; i++) {
        for (uint32_t d = 0; d < in[i].inv->n_docs; d++)
            if (in[i].map[d] != UINT32_MAX) lengths[in[i].map[d]] = in[i].inv->lengths[d];
        inverted_terms_begin(&m.terms[i], in[i].inv);
        rc = advance(&m, i, err);
        if (rc) goto done;
    }
    norms = encode_norms(lengths, n_docs);
    rc = norms ? output_begin(&o, w, p, lengths, norms, n_docs, err) : no_memory(err);
    if (!rc) rc = merge_terms(&m, &o, err);
    if (!rc) rc = output_finish(&o, err);
done:
    output_end(&o);
    free(m.terms);
    free(m.open);
    free(m.docs);
    free(m.tfs);
    free(m.old_docs);
    free(m.old_tfs);
    free(lengths);
    free(norms);
    return rc;
}
