#include "index/sparse/inverted.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "index/sparse/inverted_format.h"
#include "index/sparse/postings.h"
#include "index/format/term_hash.h"
#include "index/format/varint.h"

enum { NORM_EXACT = 96 };

/* Lengths of the codes from NORM_EXACT on grow by 3 % a step: 96 .. 10,500 words. */
static uint32_t norm_lengths[256];
__attribute__((constructor)) static void fill_norm_lengths(void) {
    double v = NORM_EXACT;
    for (int i = 0; i < 256; i++) {
        norm_lengths[i] = i < NORM_EXACT ? (uint32_t)i : (uint32_t)v;
        if (i >= NORM_EXACT) v *= 1.03;
    }
}

uint32_t bm25_norm_decode(uint8_t norm) {
    return norm_lengths[norm];
}

uint8_t bm25_norm_encode(uint32_t length) {
    if (length < NORM_EXACT) return (uint8_t)length;
    int low = NORM_EXACT, high = 255;
    while (low < high) {
        int mid = (low + high + 1) / 2;
        if (norm_lengths[mid] <= length)
            low = mid;
        else
            high = mid - 1;
    }
    return (uint8_t)low;
}

double bm25_idf(uint64_t n_docs, uint64_t df) {
    double n = (double)n_docs, d = (double)(df > n_docs ? n_docs : df);
    return log(1 + (n - d + 0.5) / (d + 0.5));
}

double bm25_term_score(const bm25_params *p, double idf_times_weight, uint32_t tf, uint32_t length,
                       double average) {
    double t = tf;
    double norm = p->k1 * (1 - p->b + p->b * (average > 0 ? length / average : 1));
    return idf_times_weight * (t * (p->k1 + 1)) / (t + norm);
}

int inverted_open(inverted *out, const segment *s, fo_err *err) {
    const void *p;
    inverted inv = {0};
    int rc = segment_get_array(s, SECTION_INVERTED, 1, sizeof(inverted_header), &p, err);
    if (rc) return rc;
    inverted_header h;
    memcpy(&h, p, sizeof h);
    if (h.n_docs > POSTINGS_MAX_DOCS)
        return fo_fail(err, FO_ECORRUPT, "%u documents are too many for a segment", h.n_docs);
    inv.n_docs = h.n_docs;
    inv.n_terms = h.n_terms;
    inv.n_postings = h.n_postings;
    inv.sum_length = h.sum_length;
    inv.bound_k1 = h.k1;
    inv.bound_b = h.b;
    inv.bound_average = h.average;
    rc = segment_get_array(s, SECTION_LENGTHS, h.n_docs, 4, &p, err);
    if (rc) return rc;
    inv.lengths = p;
    rc = segment_get_array(s, SECTION_NORMS, h.n_docs, 1, &p, err);
    if (rc) return rc;
    inv.norms = p;
    inv.n_blocks = ((size_t)h.n_terms + DICT_BLOCK_TERMS - 1) / DICT_BLOCK_TERMS;
    rc = segment_get_array(s, SECTION_DICT_BLOCKS, inv.n_blocks, DICT_BLOCK_BYTES, &p, err);
    if (rc) return rc;
    inv.blocks = p;
    inv.postings = segment_get(s, SECTION_POSTINGS, &inv.postings_size);
    inv.dict = segment_get(s, SECTION_DICT, &inv.dict_size);
    size_t size;
    inv.hash = segment_get(s, SECTION_DICT_HASH, &size);
    size_t slots = size / 4;
    if (size % 4 != 0 || slots == 0 || (slots & (slots - 1)) != 0 || slots <= h.n_terms)
        return fo_fail(err, FO_ECORRUPT, "the dictionary's hash table has %zu bytes", size);
    inv.hash_mask = slots - 1;
    *out = inv;
    return FO_OK;
}

static void load_block(const inverted *inv, size_t block, uint64_t *postings_at, size_t *at) {
    uint32_t dict_at;
    memcpy(postings_at, inv->blocks + block * DICT_BLOCK_BYTES, 8);
    memcpy(&dict_at, inv->blocks + block * DICT_BLOCK_BYTES + 8, 4);
    *at = dict_at;
}

/* One entry of the dictionary: extends it->term. False: the bytes make no sense. */
static bool read_entry(inverted_terms *it) {
    const inverted *inv = it->inv;
    if (it->at > inv->dict_size || it->postings_at > inv->postings_size) return false;
    const uint8_t *p = inv->dict + it->at, *end = inv->dict + inv->dict_size;
    uint64_t shared, own, n, size;
    if (!(p = varint_get(p, end, &shared)) || shared > it->len) return false;
    if (!(p = varint_get(p, end, &own)) || own > TERM_MAX_BYTES - shared ||
        own > (uint64_t)(end - p))
        return false;
    memcpy(it->term + shared, p, own);
    p += own;
    it->len = shared + own;
    if (!(p = varint_get(p, end, &n)) || n == 0 || n > inv->n_docs) return false;
    if (!(p = varint_get(p, end, &size)) || size > inv->postings_size - it->postings_at || p == end)
        return false;
    if (n >= POSTINGS_BLOCK && size / LIST_BLOCK_BYTES < (n + POSTINGS_BLOCK - 1) / POSTINGS_BLOCK)
        return false;
    it->list = (inverted_list){
        .n = (uint32_t)n, .bound = *p++, .data = inv->postings + it->postings_at, .size = size};
    it->at = (size_t)(p - inv->dict);
    it->postings_at += size;
    return true;
}

static bool begin_block(inverted_terms *it, const inverted *inv, size_t block) {
    it->inv = inv;
    it->len = 0;
    load_block(inv, block, &it->postings_at, &it->at);
    return read_entry(it);
}

static int compare(const inverted_terms *it, const char *term, size_t len) {
    int order = memcmp(it->term, term, it->len < len ? it->len : len);
    return order ? order : (it->len > len) - (it->len < len);
}

static bool find_in_blocks(const inverted *inv, const char *term, size_t len, inverted_list *out) {
    inverted_terms it;
    size_t low = 0, high = inv->n_blocks; /* the first block that begins behind the term */
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (!begin_block(&it, inv, mid)) return false;
        if (compare(&it, term, len) <= 0)
            low = mid + 1;
        else
            high = mid;
    }
    if (low == 0 || !begin_block(&it, inv, low - 1)) return false;
    size_t left = inv->n_terms - (low - 1) * DICT_BLOCK_TERMS;
    for (size_t i = 1; compare(&it, term, len) < 0; i++)
        if (i == left || i == DICT_BLOCK_TERMS || !read_entry(&it)) return false;
    if (compare(&it, term, len) != 0) return false;
    *out = it.list;
    return true;
}

bool inverted_find(const inverted *inv, const char *term, size_t len, inverted_list *out) {
    uint32_t h = term_hash(term, len), tag = hash_tag(h, inv->n_terms);
    for (size_t probe = 0; probe < HASH_READ_PROBES && probe <= inv->hash_mask; probe++) {
        uint32_t slot = inv->hash[(h + probe) & inv->hash_mask];
        if (slot == 0) return false;
        if (inv->n_terms < HASH_TAG_TERMS) { /* most terms that are not meant stop here */
            if ((slot & ~(uint32_t)HASH_TAG_TERMS) != tag) continue;
            slot &= HASH_TAG_TERMS;
        }
        if (slot == 0 || slot > inv->n_terms) return false;
        uint32_t ordinal = slot - 1;
        inverted_terms it;
        if (!begin_block(&it, inv, ordinal / DICT_BLOCK_TERMS)) return false;
        for (uint32_t i = 0; i < ordinal % DICT_BLOCK_TERMS; i++)
            if (!read_entry(&it)) return false;
        if (it.len == len && memcmp(it.term, term, len) == 0) {
            *out = it.list;
            return true;
        }
    }
    return find_in_blocks(inv, term, len, out);
}

bool inverted_has_between(const inverted *inv, const char *from, const char *to) {
    inverted_terms it;
    const size_t n_from = strlen(from), n_to = strlen(to);
    size_t low = 0, high = inv->n_blocks; /* the first block that does not begin before `from` */
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (!begin_block(&it, inv, mid)) return false;
        if (compare(&it, from, n_from) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    if (low < inv->n_blocks && begin_block(&it, inv, low) && compare(&it, to, n_to) < 0)
        return true;
    if (low == 0 || !begin_block(&it, inv, low - 1)) return false;
    size_t left = inv->n_terms - (low - 1) * DICT_BLOCK_TERMS;
    for (size_t i = 1; compare(&it, from, n_from) < 0; i++)
        if (i == left || i == DICT_BLOCK_TERMS || !read_entry(&it)) return false;
    return compare(&it, to, n_to) < 0;
}

void inverted_terms_begin(inverted_terms *it, const inverted *inv) {
    *it = (inverted_terms){.inv = inv};
}

int inverted_terms_next(inverted_terms *it, fo_err *err) {
    if (it->next == it->inv->n_terms) return 0;
    char before[256];
    size_t before_len = it->len;
    memcpy(before, it->term, before_len);
    if (it->next % DICT_BLOCK_TERMS == 0) {
        it->len = 0;
        load_block(it->inv, it->next / DICT_BLOCK_TERMS, &it->postings_at, &it->at);
    }
    if (!read_entry(it))
        return fo_fail(err, FO_ECORRUPT, "term %u of the dictionary is damaged", it->next);
    size_t common = before_len < it->len ? before_len : it->len;
    int order = memcmp(before, it->term, common);
    if (it->len == 0 || (it->next > 0 && (order > 0 || (order == 0 && before_len >= it->len))))
        return fo_fail(err, FO_ECORRUPT, "term %u of the dictionary is out of order", it->next);
    it->next++;
    return 1;
}

int inverted_decode(const inverted *inv, const inverted_list *l, uint32_t *docs, uint32_t *tfs,
                    fo_err *err) {
    if (l->n < POSTINGS_BLOCK) {
        if (postings_decode_short(l->data, l->size, l->n, 0, inv->n_docs, docs, tfs)) return FO_OK;
        return fo_fail(err, FO_ECORRUPT, "a list of %u postings is damaged", l->n);
    }
    size_t n_blocks = ((size_t)l->n + POSTINGS_BLOCK - 1) / POSTINGS_BLOCK;
    const uint8_t *body = l->data + n_blocks * LIST_BLOCK_BYTES;
    size_t body_size = l->size - n_blocks * LIST_BLOCK_BYTES;
    uint32_t base = 0, begin = 0;
    for (size_t i = 0; i < n_blocks; i++) {
        uint32_t last, end;
        memcpy(&last, l->data + 4 * i, 4);
        memcpy(&end, l->data + 4 * (n_blocks + i), 4);
        size_t n = i + 1 < n_blocks ? POSTINGS_BLOCK : l->n - i * POSTINGS_BLOCK;
        bool has_tfs;
        if (begin > end || end > body_size || last >= inv->n_docs ||
            !postings_decode_docs(body + begin, end - begin, n, base, last, docs, tfs, &has_tfs) ||
            (!has_tfs && !postings_decode_tfs(body + begin, end - begin, tfs)))
            return fo_fail(err, FO_ECORRUPT, "block %zu of a list of %u postings is damaged", i,
                           l->n);
        docs += n;
        tfs += n;
        base = last + 1;
        begin = end;
    }
    return FO_OK;
}

static double block_bound(const inverted *inv, const uint32_t *docs, const uint32_t *tfs,
                          size_t n) {
    bm25_params p = {inv->bound_k1, inv->bound_b};
    double best = 0;
    for (size_t i = 0; i < n; i++) {
        double s =
            bm25_term_score(&p, 1 / (p.k1 + 1), tfs[i], inv->lengths[docs[i]], inv->bound_average);
        if (s > best) best = s;
    }
    return best * 255;
}

static int verify_list(const inverted_terms *it, uint32_t *docs, uint32_t *tfs, uint64_t *sums,
                       fo_err *err) {
    const inverted *inv = it->inv;
    const inverted_list *l = &it->list;
    int rc = inverted_decode(inv, l, docs, tfs, err);
    if (rc) {
        fo_fail_prefix(err, "term '%.*s'", (int)it->len, it->term);
        return rc;
    }
    for (uint32_t i = 0; i < l->n; i++) sums[docs[i]] += tfs[i];
    if (block_bound(inv, docs, tfs, l->n) > l->bound + 1e-9)
        return fo_fail(err, FO_ECORRUPT, "term '%.*s' scores above its bound", (int)it->len,
                       it->term);
    size_t n_blocks = l->n < POSTINGS_BLOCK ? 0 : (l->n + POSTINGS_BLOCK - 1) / POSTINGS_BLOCK;
    for (size_t i = 0; i < n_blocks; i++) {
        size_t at = i * POSTINGS_BLOCK, n = l->n - at;
        if (n > POSTINGS_BLOCK) n = POSTINGS_BLOCK;
        if (block_bound(inv, docs + at, tfs + at, n) > l->data[8 * n_blocks + i] + 1e-9)
            return fo_fail(err, FO_ECORRUPT, "block %zu of '%.*s' scores above its bound", i,
                           (int)it->len, it->term);
    }
    inverted_list found;
    if (!inverted_find(inv, it->term, it->len, &found) || found.data != l->data || found.n != l->n)
        return fo_fail(err, FO_ECORRUPT, "the hash table does not find '%.*s'", (int)it->len,
                       it->term);
    return FO_OK;
}

int inverted_verify(const inverted *inv, fo_err *err) {
    size_t room = (size_t)inv->n_docs + POSTINGS_BLOCK;
    uint32_t *docs = malloc(room * 4), *tfs = malloc(room * 4);
    uint64_t *sums = calloc(room, sizeof *sums), postings = 0, total = 0;
    int rc = FO_OK;
    if (!docs || !tfs || !sums) {
        rc = fo_fail(err, FO_ENOMEM, "out of memory verifying an index");
        goto done;
    }
    inverted_terms it;
    inverted_terms_begin(&it, inv);
    while ((rc = inverted_terms_next(&it, err)) > 0) {
        rc = verify_list(&it, docs, tfs, sums, err);
        if (rc) goto done;
        postings += it.list.n;
    }
    if (rc != 0) goto done;
    for (uint32_t d = 0; d < inv->n_docs; d++) {
        total += inv->lengths[d];
        if (sums[d] != inv->lengths[d] || inv->norms[d] != bm25_norm_encode(inv->lengths[d])) {
            rc = fo_fail(err, FO_ECORRUPT, "document %u has %llu words, its length says %u", d,
                         (unsigned long long)sums[d], inv->lengths[d]);
            goto done;
        }
    }
    if (postings != inv->n_postings || total != inv->sum_length)
        rc = fo_fail(err, FO_ECORRUPT, "%llu postings of %llu words, the header says %llu of %llu",
                     (unsigned long long)postings, (unsigned long long)total,
                     (unsigned long long)inv->n_postings, (unsigned long long)inv->sum_length);
done:
    free(docs);
    free(tfs);
    free(sums);
    return rc;
}
