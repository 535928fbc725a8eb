/* Block codec, building, merging and searching against an exhaustive scan of all postings. */
#include "tests/test.h"

#include <math.h>
#include "index/sparse/inverted.h"
#include "index/sparse/inverted_format.h"
#include "index/sparse/inverted_hot.h"
#include "index/sparse/postings.h"
#include "index/format/varint.h"
#include "kernels/bitpack.h"
#include "kernels/cpu.h"
#include "kernels/scan16.h"
#include "tests/index/crafted_terms.h"

static void varints_and_zigzag_come_back(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    for (int i = 0; i < 20000; i++) {
        uint64_t v = test_random(&seed) >> (test_random(&seed) % 64), back;
        uint8_t bytes[VARINT_MAX_BYTES];
        size_t n = varint_put(bytes, v);
        assert_int_equal(n, varint_size(v));
        assert_ptr_equal(varint_get(bytes, bytes + n, &back), bytes + n);
        assert_true(back == v);
        assert_null(varint_get(bytes, bytes + n - 1, &back));
        assert_true(zigzag_decode(zigzag_encode((int64_t)v)) == (int64_t)v);
    }
    uint8_t endless[11];
    uint64_t v;
    memset(endless, 0xFF, sizeof endless);
    assert_null(varint_get(endless, endless + 11, &v));
    assert_true(zigzag_encode(-1) == 1 && zigzag_encode(1) == 2);
}

static void bit_packing_comes_back_at_every_width(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    for (unsigned bits = 0; bits <= 32; bits++)
        for (int extreme = 0; extreme < 4; extreme++) {
            uint32_t in[128], out[128], keep = bits == 32 ? UINT32_MAX : (1u << bits) - 1;
            uint8_t bytes[513];
            for (int i = 0; i < 128; i++)
                in[i] = extreme == 0   ? UINT32_MAX
                        : extreme == 1 ? (i % 2 ? UINT32_MAX : 0)
                                       : (uint32_t)test_random(&seed);
            bitpack_pack(in, bits, bytes + 1);
            bitpack_unpack(bytes + 1, bits, out);
            for (int i = 0; i < 128; i++) assert_int_equal(out[i], in[i] & keep);
            uint32_t sum[128], base = (uint32_t)test_random(&seed), expect = base;
            memcpy(sum, out, sizeof sum);
            bitpack_prefix_sum(sum, base);
            for (int i = 0; i < 128; i++) {
                expect += out[i] + (i > 0);
                assert_true(sum[i] == expect);
            }
        }
}

/* The tables of this machine's levels, the portable one first; how many there are. */
static size_t scan_levels(scan16_kernels out[3]) {
    fo_cpu_level top = fo_cpu()->level;
    size_t n = 0;
    scan16_init_generic(&out[n++]);
    if (top >= FO_CPU_AVX2) scan16_init_avx2(&out[n++]);
    if (top >= FO_CPU_AVX512) scan16_init_avx512(&out[n++]);
    return n;
}

static void scans_agree_at_every_level(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    scan16_kernels k[3];
    size_t n_levels = scan_levels(k);
    for (size_t level = 1; level < n_levels; level++)
        for (int round = 0; round < 2000; round++) {
            uint16_t a[256], b[256], at_a[256], at_b[256], v_a[256], v_b[256];
            size_t n = test_random(&seed) % 224;
            for (int i = 0; i < 256; i++)
                a[i] = b[i] = (uint16_t)(round % 3 ? test_random(&seed) : 65535u * (i % 2));
            uint16_t t = (uint16_t)(round % 7 ? test_random(&seed) : 65535);
            for (size_t i = n; i < 256; i++) b[i] = 0;
            if (t > 0) assert_int_equal(k[level].count(b, n, t), k[0].count(a, n, t));
            size_t x = k[0].reach(a, n, t, at_a, v_a);
            size_t y = k[level].reach(b, n, t, at_b, v_b);
            assert_int_equal(x, y);
            assert_memory_equal(at_a, at_b, 2 * x);
            assert_memory_equal(v_a, v_b, 2 * x);
            for (size_t i = 0; i < n; i++) assert_true(a[i] == 0 && b[i] == 0);
        }
}

static void sums_of_bounds_agree_at_every_level(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    scan16_kernels k[3];
    size_t n_levels = scan_levels(k);
    for (size_t level = 1; level < n_levels; level++)
        for (int round = 0; round < 2000; round++) {
            uint16_t a[192], b[192], masks[24], adds[24];
            uint8_t bytes[192];
            size_t n = 64 * (test_random(&seed) % 4);
            unsigned shift = 8 + (unsigned)(round % 8); /* of bytes below 2^(16 - shift) */
            uint16_t factor = (uint16_t)(round % 5 ? test_random(&seed) : UINT16_MAX);
            for (int i = 0; i < 192; i++) {
                a[i] = b[i] = (uint16_t)test_random(&seed);
                bytes[i] = (uint8_t)((round % 3 ? test_random(&seed) : 255) & (0xFFFFu >> shift));
            }
            k[0].add_scaled(a, bytes, n, shift, factor);
            k[level].add_scaled(b, bytes, n, shift, factor);
            assert_memory_equal(a, b, sizeof a);
            size_t n_terms = test_random(&seed) % 25;
            for (size_t i = 0; i < n_terms; i++) {
                masks[i] = (uint16_t)(round % 4 ? test_random(&seed) : 65535u * (i % 2));
                adds[i] = (uint16_t)(test_random(&seed) % 2700); /* 24 of them stay below 2^16 */
            }
            uint16_t t = (uint16_t)(1 + test_random(&seed) % (round % 2 ? 30000 : 65535));
            assert_int_equal(k[level].reach_lanes(masks, adds, n_terms, t),
                             k[0].reach_lanes(masks, adds, n_terms, t));
        }
}

static size_t random_block(uint64_t *seed, uint32_t *docs, uint32_t *tfs, size_t n) {
    unsigned gap_bits = (unsigned)(test_random(seed) % 17), tf_bits = test_random(seed) % 9;
    uint32_t doc = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t gap = (uint32_t)(test_random(seed) & ((1u << gap_bits) - 1));
        if (test_random(seed) % 40 == 0) gap = (uint32_t)(test_random(seed) % 60000);
        docs[i] = doc + gap;
        doc = docs[i] + 1;
        tfs[i] = 1 + (uint32_t)(test_random(seed) & ((1u << tf_bits) - 1));
        if (test_random(seed) % 50 == 0) tfs[i] = 1 + (uint32_t)(test_random(seed) % 70000);
    }
    return n;
}

static void posting_blocks_come_back_and_truncated_ones_are_refused(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    for (int round = 0; round < 3000; round++) {
        uint32_t docs[128], tfs[128], d[128], t[128];
        size_t n = round % 2 ? 128 : 1 + test_random(&seed) % 127;
        random_block(&seed, docs, tfs, n);
        uint8_t bytes[POSTINGS_MAX_BLOCK_BYTES];
        size_t size = postings_encode(docs, tfs, n, 0, bytes);
        bool has_tfs;
        assert_true(postings_decode_docs(bytes, size, n, 0, docs[n - 1], d, t, &has_tfs));
        if (!has_tfs) assert_true(postings_decode_tfs(bytes, size, t));
        assert_memory_equal(d, docs, 4 * n);
        assert_memory_equal(t, tfs, 4 * n);
        uint8_t *exact = malloc(size); /* so that the sanitizer sees a read past the end */
        for (size_t cut = 0; cut < size; cut++) {
            memcpy(exact + size - cut, bytes, cut);
            bool ok =
                postings_decode_docs(exact + size - cut, cut, n, 0, docs[n - 1], d, t, &has_tfs);
            assert_false(ok && (has_tfs || postings_decode_tfs(exact + size - cut, cut, t)));
        }
        for (int flip = 0; flip < 20; flip++) {
            memcpy(exact, bytes, size);
            exact[test_random(&seed) % size] ^= (uint8_t)(1 << test_random(&seed) % 8);
            if (!postings_decode_docs(exact, size, n, 0, docs[n - 1], d, t, &has_tfs)) continue;
            if (!has_tfs) postings_decode_tfs(exact, size, t);
            for (size_t i = 0; i < n; i++)
                assert_true(d[i] <= docs[n - 1] && (i == 0 || d[i] > d[i - 1]));
        }
        free(exact);
    }
}

/* Lengths of documents are looked up by what it gives. */
static void a_short_list_names_no_document_that_is_not_there(void **state) {
    (void)state;
    const uint32_t docs[] = {3, 8}, tfs[] = {1, 2};
    uint32_t d[POSTINGS_BLOCK], t[POSTINGS_BLOCK];
    uint8_t bytes[POSTINGS_MAX_BLOCK_BYTES];
    const size_t size = postings_encode(docs, tfs, 2, 0, bytes);
    assert_true(postings_decode_short(bytes, size, 2, 0, 9, d, t));
    assert_memory_equal(d, docs, sizeof docs);
    assert_memory_equal(t, tfs, sizeof tfs);
    assert_false(postings_decode_short(bytes, size, 2, 0, 8, d, t));
    assert_false(postings_decode_short(bytes, size, 2, 1, 9, d, t));
}

static void norms_round_down(void **state) {
    (void)state;
    for (uint32_t n = 0; n < 20000; n++) {
        uint8_t c = bm25_norm_encode(n);
        assert_true(bm25_norm_decode(c) <= n);
        assert_true(c == 255 || bm25_norm_decode((uint8_t)(c + 1)) > n);
    }
    assert_int_equal(bm25_norm_encode(UINT32_MAX), 255);
}

/* A corpus of random words: word w comes with a frequency like 1 / (w + 1). */
typedef struct corpus {
    uint32_t n_docs, n_words;
    uint32_t *lengths;
    uint16_t *words; /* lengths[0] words, then lengths[1], ... */
    size_t *at;
} corpus;

static corpus make_corpus(uint64_t *seed, uint32_t n_docs, uint32_t n_words, uint32_t longest) {
    corpus c = {n_docs, n_words, calloc(n_docs + 1, 4), NULL, calloc(n_docs + 1, sizeof(size_t))};
    c.words = malloc((size_t)n_docs * longest * sizeof *c.words);
    size_t n = 0;
    for (uint32_t d = 0; d < n_docs; d++) {
        c.at[d] = n;
        c.lengths[d] = (uint32_t)(test_random(seed) % longest);
        for (uint32_t i = 0; i < c.lengths[d]; i++) {
            double u = test_uniform(seed);
            c.words[n++] = (uint16_t)(exp(u * log(n_words)) - 1 + 1e-9);
        }
    }
    return c;
}

static void free_corpus(corpus *c) {
    free(c->lengths);
    free(c->words);
    free(c->at);
}

static const bm25_params params = {0.9, 0.4};

static segment *build(const corpus *c, uint32_t begin, uint32_t end) {
    fo_err err = {0};
    inverted_builder *b;
    assert_ok(inverted_builder_create(&b, &err), &err);
    for (uint32_t d = begin; d < end; d++) {
        for (uint32_t i = 0; i < c->lengths[d]; i++) {
            char term[16];
            int len = snprintf(term, sizeof term, "w%x", c->words[c->at[d] + i]);
            inverted_builder_word(b, term, (size_t)len);
        }
        assert_ok(inverted_builder_end_document(b, &err), &err);
    }
    segment_writer *w;
    segment *s;
    assert_ok(segment_writer_create(&w, NULL, &err), &err);
    assert_ok(inverted_build(b, &params, w, &err), &err);
    assert_ok(segment_writer_adopt(w, &s, &err), &err);
    inverted_builder_free(b);
    return s;
}

typedef struct exhaustive {
    inverted_hit *hits;
    size_t n;
} exhaustive;

static int by_rank(const void *x, const void *y) {
    const inverted_hit *a = x, *b = y;
    if (a->score != b->score) return a->score > b->score ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

/* Scores every posting of every term. */
static exhaustive scan_all(const inverted_part *parts, size_t n_parts,
                           const inverted_query_term *terms, size_t n_terms) {
    uint64_t n_docs = 0, words = 0;
    for (size_t i = 0; i < n_parts; i++) {
        n_docs += parts[i].inv->n_docs;
        words += parts[i].inv->sum_length;
    }
    exhaustive out = {malloc((n_docs + 1) * sizeof *out.hits), 0};
    fo_err err = {0};
    uint32_t *docs = malloc((n_docs + 128) * 4), *tfs = malloc((n_docs + 128) * 4);
    for (size_t i = 0; i < n_parts; i++) {
        const inverted *inv = parts[i].inv;
        double *scores = calloc(inv->n_docs + 1, sizeof *scores);
        for (size_t t = 0; t < n_terms; t++) {
            uint64_t df = 0;
            inverted_list l;
            for (size_t j = 0; j < n_parts; j++)
                if (inverted_find(parts[j].inv, terms[t].term, terms[t].len, &l)) df += l.n;
            if (!inverted_find(inv, terms[t].term, terms[t].len, &l)) continue;
            assert_ok(inverted_decode(inv, &l, docs, tfs, &err), &err);
            for (uint32_t j = 0; j < l.n; j++)
                scores[docs[j]] +=
                    bm25_term_score(&params, bm25_idf(n_docs, df) * terms[t].weight, tfs[j],
                                    inv->lengths[docs[j]], (double)words / (double)n_docs);
        }
        for (uint32_t d = 0; d < inv->n_docs; d++) {
            size_t bit = parts[i].allowed_base + d;
            if (scores[d] == 0) continue;
            if (parts[i].allowed && !(parts[i].allowed[bit / 64] >> (bit % 64) & 1)) continue;
            out.hits[out.n++] = (inverted_hit){parts[i].ids[d], (float)scores[d], (uint32_t)i, d};
        }
        free(scores);
    }
    free(docs);
    free(tfs);
    qsort(out.hits, out.n, sizeof *out.hits, by_rank);
    return out;
}

static void check_search(const inverted_part *parts, size_t n_parts,
                         const inverted_query_term *terms, size_t n_terms, size_t k,
                         inverted_scratch *s) {
    exhaustive all = scan_all(parts, n_parts, terms, n_terms);
    inverted_hit *hits = malloc(k * sizeof *hits);
    size_t n;
    fo_err err = {0};
    assert_ok(inverted_search(parts, n_parts, &params, terms, n_terms, k, s, hits, &n, &err), &err);
    assert_int_equal(n, all.n < k ? all.n : k);
    for (size_t i = 0; i < n; i++) {
        assert_true(hits[i].id == all.hits[i].id);
        assert_true(hits[i].score == all.hits[i].score);
        assert_int_equal(hits[i].doc, all.hits[i].doc);
    }
    free(hits);
    free(all.hits);
}

/* In a file that lies two terms may have the same bytes of postings: what is laid out of one list, under its bound, is not
 * given for the other, whose sums of peaks would go beyond what the search has room for. */
static void peaks_are_of_the_list_as_it_is_asked_for(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    corpus c = make_corpus(&seed, 4096, 20, 60);
    segment *s = build(&c, 0, 4096);
    inverted inv;
    inverted_list list;
    fo_err err = {0};
    assert_ok(inverted_open(&inv, s, &err), &err);
    assert_true(inverted_find(&inv, "w1", 2, &list) && list.n >= 4096 / INVERTED_HOT_SHARE);
    inverted_hot *hot = inverted_hot_create(&inv);
    const inverted_hot_list *own = inverted_hot_get(hot, &list);
    assert_non_null(own);
    inverted_list other = list;
    other.bound = list.bound / 2;
    assert_null(inverted_hot_get(hot, &other));
    other = list;
    other.n--;
    assert_null(inverted_hot_get(hot, &other));
    assert_ptr_equal(inverted_hot_get(hot, &list), own);
    inverted_hot_free(hot);
    segment_close(s);
    free_corpus(&c);
}

static void search_equals_an_exhaustive_scan(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    inverted_scratch *s = inverted_scratch_create();
    fo_cpu_level top = fo_cpu()->level;
    for (int round = 0; round < 24; round++) {
        fo_cpu_cap(round % 3 == 0 ? FO_CPU_GENERIC : round % 3 == 1 ? FO_CPU_AVX2 : top);
        uint32_t n_docs = round < 4 ? 1 + (uint32_t)round : 300u << (round % 6);
        corpus c = make_corpus(&seed, n_docs, 20u << (round % 8), round % 5 ? 60 : 400);
        for (uint32_t d = 0; round % 4 == 3 && d < n_docs / 2; d++) /* parts of other averages */
            c.lengths[d] = 1 + c.lengths[d] / 4;
        enum { MAX_PARTS = 5 };
        size_t n_parts = 1 + (size_t)round % MAX_PARTS;
        segment *segments[MAX_PARTS];
        inverted inv[MAX_PARTS];
        inverted_hot *hot[MAX_PARTS];
        inverted_part parts[MAX_PARTS];
        int64_t *ids = malloc(n_docs * sizeof *ids);
        for (uint32_t i = 0; i < n_docs; i++)
            ids[i] = round % 2 ? (int64_t)i * 3 : (int64_t)(n_docs - i); /* ties, both ways */
        uint64_t *allowed = malloc((n_docs / 64 + 2) * sizeof *allowed);
        for (size_t i = 0; i < n_docs / 64 + 2; i++)
            allowed[i] = round % 4 == 1 ? test_random(&seed) : UINT64_MAX << (round % 4);
        fo_err err = {0};
        for (size_t i = 0; i < n_parts; i++) {
            uint32_t begin = (uint32_t)(n_docs * i * i / n_parts / n_parts);
            uint32_t end = (uint32_t)(n_docs * (i + 1) * (i + 1) / n_parts / n_parts);
            segments[i] = build(&c, begin, end);
            assert_ok(inverted_open(&inv[i], segments[i], &err), &err);
            assert_ok(inverted_verify(&inv[i], &err), &err);
            hot[i] = round % 4 ? inverted_hot_create(&inv[i]) : NULL;
            parts[i] = (inverted_part){.inv = &inv[i],
                                       .hot = hot[i],
                                       .allowed = round % 3 ? allowed : NULL,
                                       .allowed_base = begin,
                                       .ids = ids + begin};
        }
        for (int query = 0; query < 60; query++) {
            char text[12][16];
            inverted_query_term terms[12];
            size_t n_terms = 1 + test_random(&seed) % 12;
            uint32_t first = (uint32_t)(test_random(&seed) % (c.n_words + 2));
            for (size_t t = 0; t < n_terms; t++) {
                uint32_t word = query % 2 ? (uint32_t)t : (first + (uint32_t)(t * t)) % c.n_words;
                if (t == 11) word = 60000; /* in no document */
                int len = snprintf(text[t], 16, "w%x", word);
                terms[t] = (inverted_query_term){text[t], (size_t)len, 1 + (double)(t % 3)};
                for (size_t u = 0; u < t; u++)
                    if (strcmp(text[u], text[t]) == 0) {
                        n_terms = t;
                        break;
                    }
            }
            check_search(parts, n_parts, terms, n_terms, query % 5 ? 10 : 1 + query * 7, s);
        }
        free(ids);
        free(allowed);
        for (size_t i = 0; i < n_parts; i++) {
            inverted_hot_free(hot[i]);
            segment_close(segments[i]);
        }
        free_corpus(&c);
    }
    fo_cpu_cap(top);
    inverted_scratch_free(s);
}

static void a_merge_is_byte_for_byte_what_building_gives(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    fo_err err = {0};
    corpus c = make_corpus(&seed, 3000, 500, 50);
    segment *whole = build(&c, 0, 3000);
    const uint32_t cuts[] = {0, 1, 700, 700, 3000};
    segment *segments[4], *merged;
    inverted inv[4];
    inverted_merge_input in[4];
    uint32_t *map = malloc(3000 * 4);
    for (uint32_t i = 0; i < 3000; i++) map[i] = i;
    for (int i = 0; i < 4; i++) {
        segments[i] = build(&c, cuts[i], cuts[i + 1]);
        assert_ok(inverted_open(&inv[i], segments[i], &err), &err);
        in[i] = (inverted_merge_input){&inv[i], map + cuts[i]};
    }
    segment_writer *w;
    assert_ok(segment_writer_create(&w, NULL, &err), &err);
    assert_ok(inverted_merge(in, 4, 3000, &params, w, &err), &err);
    assert_ok(segment_writer_adopt(w, &merged, &err), &err);
    assert_int_equal(segment_size(merged), segment_size(whole));
    for (unsigned t = SECTION_INVERTED; t <= SECTION_NORMS; t++) {
        size_t x, y;
        const void *a = segment_get(merged, t, &x), *b = segment_get(whole, t, &y);
        assert_int_equal(x, y);
        assert_memory_equal(a, b, x);
    }
    segment_close(merged);
    /* every third document dropped: the same as a corpus without them */
    uint32_t kept = 0;
    for (uint32_t d = 0; d < 3000; d++) {
        map[d] = d % 3 ? kept : UINT32_MAX;
        if (d % 3) {
            c.lengths[kept] = c.lengths[d];
            c.at[kept++] = c.at[d];
        }
    }
    segment *fresh = build(&c, 0, kept);
    assert_ok(segment_writer_create(&w, NULL, &err), &err);
    assert_ok(inverted_merge(in, 4, kept, &params, w, &err), &err);
    assert_ok(segment_writer_adopt(w, &merged, &err), &err);
    size_t x, y;
    const void *a = segment_get(merged, SECTION_POSTINGS, &x);
    const void *b = segment_get(fresh, SECTION_POSTINGS, &y);
    assert_int_equal(x, y);
    assert_memory_equal(a, b, x);
    inverted check;
    assert_ok(inverted_open(&check, merged, &err), &err);
    assert_ok(inverted_verify(&check, &err), &err);
    segment_close(merged);
    segment_close(fresh);
    segment_close(whole);
    for (int i = 0; i < 4; i++) segment_close(segments[i]);
    free(map);
    free_corpus(&c);
}

/* n terms of one document: their hashes lie apart, share the low bits, or are equal. */
enum { APART, LOW_BITS, EQUAL, N_TERM_KINDS };

static void number_term(int kind, uint32_t i, char out[CRAFTED_BYTES + 1]) {
    const uint32_t hash = kind == LOW_BITS ? i << 16 | 0xBEE : 0xBEE;
    if (kind == APART)
        snprintf(out, CRAFTED_BYTES + 1, "%08x", i);
    else
        crafted_term(hash, i, out);
}

/* *seconds: of the processor, and of nothing but the building. */
static segment *build_terms(int kind, uint32_t n, double *seconds) {
    fo_err err = {0};
    inverted_builder *b;
    segment_writer *w;
    segment *s;
    char(*terms)[CRAFTED_BYTES + 1] = malloc(n * sizeof *terms);
    assert_non_null(terms);
    for (uint32_t i = 0; i < n; i++) number_term(kind, i, terms[i]);
    const double begun = processor_seconds();
    assert_ok(inverted_builder_create(&b, &err), &err);
    for (uint32_t i = 0; i < n; i++) inverted_builder_word(b, terms[i], CRAFTED_BYTES);
    assert_ok(inverted_builder_end_document(b, &err), &err);
    assert_ok(segment_writer_create(&w, NULL, &err), &err);
    assert_ok(inverted_build(b, &params, w, &err), &err);
    *seconds = processor_seconds() - begun;
    assert_ok(segment_writer_adopt(w, &s, &err), &err);
    inverted_builder_free(b);
    free(terms);
    return s;
}

/* How far the terms of the table stand from their places at most; *n_slots: terms that have a slot. */
static size_t most_probes(const inverted *inv, size_t *n_slots) {
    fo_err err = {0};
    size_t most = 0;
    uint32_t *hashes = malloc((inv->n_terms + 1) * sizeof *hashes);
    inverted_terms it;
    inverted_terms_begin(&it, inv);
    while (inverted_terms_next(&it, &err) > 0) hashes[it.next - 1] = term_hash(it.term, it.len);
    *n_slots = 0;
    for (size_t i = 0; i <= inv->hash_mask; i++) {
        const uint32_t slot = inv->hash[i] & HASH_TAG_TERMS;
        if (!slot) continue;
        ++*n_slots;
        const size_t probes = ((i - hashes[slot - 1]) & inv->hash_mask) + 1;
        if (probes > most) most = probes;
    }
    free(hashes);
    return most;
}

static void terms_that_fall_together_are_found_and_cost_bounded_probes(void **state) {
    (void)state;
    enum { N = 3000 };
    for (int kind = 0; kind < N_TERM_KINDS; kind++) {
        fo_err err = {0};
        inverted inv;
        inverted_list l;
        double seconds;
        size_t n_slots;
        char term[CRAFTED_BYTES + 1];
        segment *s = build_terms(kind, N, &seconds);
        assert_ok(inverted_open(&inv, s, &err), &err);
        assert_int_equal(inv.n_terms, N);
        const size_t most = most_probes(&inv, &n_slots);
        assert_true(most <= HASH_WRITE_PROBES);
        if (kind == APART)
            assert_int_equal(n_slots, N); /* that is all that earlier versions find */
        else
            assert_int_equal(n_slots, HASH_WRITE_PROBES);
        for (uint32_t i = 0; i < 2 * N; i++) { /* and as many that it does not have */
            number_term(kind, i, term);
            assert_int_equal(inverted_find(&inv, term, CRAFTED_BYTES, &l), i < N);
        }
        assert_false(inverted_find(&inv, "", 0, &l));
        assert_false(inverted_find(&inv, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 9, &l));
        assert_ok(inverted_verify(&inv, &err), &err);
        segment_close(s);
    }
}

static void terms_that_fall_together_take_no_longer_to_index(void **state) {
    (void)state;
    double took[N_TERM_KINDS];
    for (int kind = 0; kind < N_TERM_KINDS; kind++)
        segment_close(build_terms(kind, 20000, &took[kind]));
    for (int kind = LOW_BITS; kind < N_TERM_KINDS; kind++)
        if (took[kind] > 30 * took[APART])
            fail_msg("kind %d: %.4f s, others %.4f", kind, took[kind], took[APART]);
}

static void refuses_what_it_cannot_search(void **state) {
    (void)state;
    fo_err err = {0};
    inverted_scratch *s = inverted_scratch_create();
    inverted_hit hit;
    size_t n = 9;
    inverted_query_term t = {"a", 1, 1};
    assert_int_equal(inverted_search(NULL, 0, &params, &t, 1, 0, s, &hit, &n, &err), FO_EINVAL);
    assert_int_equal(inverted_search(NULL, 0, &params, &t, 5000, 1, s, &hit, &n, &err), FO_ELIMIT);
    assert_ok(inverted_search(NULL, 0, &params, &t, 1, 1, s, &hit, &n, &err), &err);
    assert_int_equal(n, 0);
    inverted_scratch_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(varints_and_zigzag_come_back),
        cmocka_unit_test(bit_packing_comes_back_at_every_width),
        cmocka_unit_test(scans_agree_at_every_level),
        cmocka_unit_test(sums_of_bounds_agree_at_every_level),
        cmocka_unit_test(posting_blocks_come_back_and_truncated_ones_are_refused),
        cmocka_unit_test(a_short_list_names_no_document_that_is_not_there),
        cmocka_unit_test(norms_round_down),
        cmocka_unit_test(search_equals_an_exhaustive_scan),
        cmocka_unit_test(peaks_are_of_the_list_as_it_is_asked_for),
        cmocka_unit_test(a_merge_is_byte_for_byte_what_building_gives),
        cmocka_unit_test(terms_that_fall_together_are_found_and_cost_bounded_probes),
        cmocka_unit_test(terms_that_fall_together_take_no_longer_to_index),
        cmocka_unit_test(refuses_what_it_cannot_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
