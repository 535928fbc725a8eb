/* tokenizer.c - what the three families share: the vocabulary and its lookup, special tokens in
 * text, BOS and EOS. The families are in tokenizer_wpm.c, tokenizer_bpe.c and tokenizer_spm.c. */
#include "engine/tokenizer/tokenizer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "engine/tokenizer/tokenizer_impl.h"
#include "kernels/hex.h"
#include "kernels/utf8.h"

enum { MAX_TOKENS = 1 << 24, MAX_TEXT = 1 << 30 };

/* Texts of tokens at which generation ends, whatever the metadata say (facts of the formats). The
 * first few end a turn of a chat. */
enum { N_TURN_ENDS = 4 };
static const char *const end_names[] = {"<|eot_id|>",
                                        "<|im_end|>",
                                        "<|end|>",
                                        "<end_of_turn>",
                                        "<|endoftext|>",
                                        "<|eom_id|>",
                                        "<|end_of_text|>",
                                        "<end_of_utterance>",
                                        "<|END_OF_TURN_TOKEN|>",
                                        "<EOT>",
                                        "</s>",
                                        "<|return|>",
                                        "<|call|>",
                                        "<\xEF\xBD\x9C"
                                        "end\xE2\x96\x81of\xE2\x96\x81sentence\xEF\xBD\x9C>"};

tokenizer_spec tokenizer_spec_default(tokenizer_kind kind) {
    return (tokenizer_spec){.kind = kind,
                            .pre = "default",
                            .bos = -1,
                            .eos = -1,
                            .eot = -1,
                            .eom = -1,
                            .unk = -1,
                            .sep = -1,
                            .pad = -1,
                            .cls = -1,
                            .mask = -1,
                            .add_bos = -1,
                            .add_eos = -1,
                            .add_space_prefix = -1};
}

/* ---- the vocabulary: bytes of every piece, and the way back by hash ---- */

/* A vocabulary whose pieces meet in one slot would take minutes to open: no file can know the keys. Where the system
 * has no random bytes they are hard to guess, no more. No result depends on them. */
static void draw_keys(uint64_t keys[2]) {
    if (getrandom(keys, 2 * sizeof *keys, GRND_NONBLOCK) != (ssize_t)(2 * sizeof *keys)) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        keys[0] = (uint64_t)now.tv_nsec << 32 ^ (uint64_t)now.tv_sec ^ (uint64_t)(uintptr_t)keys;
        keys[1] = tokenizer_fold(keys[0], 0x9E3779B97F4A7C15u) ^ (uint64_t)(uintptr_t)&now;
    }
    keys[1] |= 1;
}

static uint32_t hash_bytes(const tokenizer *t, const char *s, size_t n) {
    uint64_t h = t->keys[0] ^ n, w;
    for (; n >= 8; s += 8, n -= 8) {
        memcpy(&w, s, 8);
        h = tokenizer_fold(h ^ w, t->keys[1]);
    }
    if (n) {
        w = 0;
        memcpy(&w, s, n);
        h = tokenizer_fold(h ^ w, t->keys[1]);
    }
    return (uint32_t)(h >> 32);
}

int32_t tokenizer_vocab_find(const tokenizer *t, const char *s, size_t n) {
    uint32_t hash = hash_bytes(t, s, n);
    for (uint32_t i = hash & t->slot_mask;; i = (i + 1) & t->slot_mask) {
        uint64_t slot = t->slots[i];
        if (!slot) return -1;
        if ((uint32_t)(slot >> 32) != hash) continue;
        int32_t id = (int32_t)((uint32_t)slot - 1);
        tokenizer_string p = piece_of(t, id);
        if (p.len == n && memcmp(p.data, s, n) == 0) return id;
    }
}

static void vocab_add(tokenizer *t, int32_t id) {
    tokenizer_string p = piece_of(t, id);
    if (!p.len || tokenizer_vocab_find(t, p.data, p.len) >= 0) return;
    uint32_t hash = hash_bytes(t, p.data, p.len), i = hash & t->slot_mask;
    while (t->slots[i]) i = (i + 1) & t->slot_mask;
    t->slots[i] = (uint64_t)hash << 32 | (uint32_t)(id + 1);
}

/* Only tokens that text can turn into: a control token's name must never be made by merges, nor the
 * raw twin of a token spelled in the alphabet of bytes (command-r has several). */
static int index_pieces(tokenizer *t, fo_err *err) {
    uint32_t size = 16;
    while (size < (uint32_t)t->n_vocab * 2) size *= 2;
    t->slots = calloc(size, sizeof *t->slots);
    if (!t->slots) return fo_fail(err, FO_ENOMEM, "tokenizer: out of memory");
    t->slot_mask = size - 1;
    static const unsigned order[] = {TOKENIZER_NORMAL, TOKENIZER_USER_DEFINED, TOKENIZER_UNUSED};
    for (size_t k = 0; k < 3; k++)
        for (int32_t id = 0; id < t->n_vocab; id++)
            if ((t->attr[id] & order[k]) && !(t->attr[id] & TOKENIZER_RAW)) vocab_add(t, id);
    return FO_OK;
}

static bool has_prefix(tokenizer_string s, const char *prefix, size_t n) {
    return s.len >= n && memcmp(s.data, prefix, n) == 0;
}

/* out[0..s.len): the text with every U+2581 as a space. */
static size_t unescape_spaces(tokenizer_string s, char *out) {
    size_t n = 0;
    for (size_t i = 0; i < s.len;) {
        tokenizer_string rest = {s.data + i, s.len - i};
        bool space = has_prefix(rest, "\xE2\x96\x81", 3);
        out[n++] = space ? ' ' : s.data[i];
        i += space ? 3 : 1;
    }
    return n;
}

/* The bytes that token `s` stands for; out has room for s.len + 1. May mark it TOKENIZER_RAW. */
static size_t make_piece(tokenizer_kind kind, tokenizer_string s, uint16_t *attr, bool hashes,
                         char *out) {
    bool text = *attr & (TOKENIZER_NORMAL | TOKENIZER_USER_DEFINED | TOKENIZER_UNUSED);
    if (kind == TOKENIZER_BPE && (*attr & TOKENIZER_NORMAL)) {
        int64_t n = tokenizer_bpe_unmap(s.data, s.len, out);
        if (n >= 0) return (size_t)n;
        *attr |= TOKENIZER_RAW;
    } else if ((kind == TOKENIZER_SPM || kind == TOKENIZER_UNIGRAM) && text) {
        return unescape_spaces(s, out);
    } else if (kind == TOKENIZER_SPM && (*attr & TOKENIZER_BYTE) && s.len == 6 &&
               has_prefix(s, "<0x", 3) && fo_hex_digit(s.data[3]) >= 0 &&
               fo_hex_digit(s.data[4]) >= 0) {
        out[0] = (char)(fo_hex_digit(s.data[3]) * 16 + fo_hex_digit(s.data[4]));
        return 1;
    } else if (kind == TOKENIZER_WORDPIECE && text) {
        bool named = s.len > 2 && s.data[0] == '[' && s.data[s.len - 1] == ']';
        if (!hashes) {
            if (!has_prefix(s, "\xE2\x96\x81", 3)) goto as_it_is;
            s.data += 3;
            s.len -= 3;
        } else if (has_prefix(s, "##", 2) && s.len > 2) {
            s.data += 2;
            s.len -= 2;
            goto as_it_is;
        } else if (named) {
            goto as_it_is;
        }
        out[0] = ' ';
        memcpy(out + 1, s.data, s.len);
        return s.len + 1;
    }
as_it_is:
    if (s.len) memcpy(out, s.data, s.len);
    return s.len;
}

static int copy_tokens(tokenizer *t, const tokenizer_spec *spec, fo_err *err) {
    size_t total = 1;
    bool marks = false;
    for (size_t i = 0; i < spec->n_tokens; i++) {
        if (!fo_add_size(total, spec->tokens[i].len + 1, &total) || total > UINT32_MAX)
            return fo_fail(err, FO_ELIMIT, "vocabulary of more than 4 GiB");
        if (has_prefix(spec->tokens[i], "\xE2\x96\x81", 3)) marks = true;
    }
    t->n_vocab = (int32_t)spec->n_tokens;
    t->pool = malloc(total);
    t->offset = malloc((spec->n_tokens + 1) * sizeof *t->offset);
    t->attr = malloc(spec->n_tokens * sizeof *t->attr);
    if (!t->pool || !t->offset || !t->attr)
        return fo_fail(err, FO_ENOMEM, "tokenizer: out of memory");
    uint32_t at = 0;
    for (size_t i = 0; i < spec->n_tokens; i++) {
        int32_t type = spec->types ? spec->types[i] : 1;
        if (type < 0 || type > 6)
            return fo_fail(err, FO_ECORRUPT, "token %zu has type %d, not 1 to 6", i, (int)type);
        t->attr[i] = (uint16_t)(type ? 1u << (type - 1) : TOKENIZER_NORMAL);
        t->offset[i] = at;
        at += (uint32_t)make_piece(t->kind, spec->tokens[i], &t->attr[i], !marks, t->pool + at);
    }
    t->offset[spec->n_tokens] = at;
    return FO_OK;
}

/* ---- special tokens ---- */

static int take_ids(tokenizer *t, const tokenizer_spec *spec, fo_err *err) {
    static const char *const names[] = {"bos",       "eos",     "eot", "eom", "unknown",
                                        "seperator", "padding", "cls", "mask"};
    const int32_t ids[] = {spec->bos, spec->eos, spec->eot, spec->eom, spec->unk,
                           spec->sep, spec->pad, spec->cls, spec->mask};
    for (int i = 0; i < TOKENIZER_N_SPECIAL; i++) {
        int32_t id = ids[i];
        if (id < -1 || id >= t->n_vocab)
            return fo_fail(err, FO_ECORRUPT, "tokenizer.ggml.%s_token_id is %d of %d tokens",
                           names[i], (int)id, (int)t->n_vocab);
        t->special_id[i] = id;
    }
    return FO_OK;
}

static bool is_name(tokenizer_string p, const char *name) {
    return strlen(name) == p.len && memcmp(p.data, name, p.len) == 0;
}

/* A name, "<s>" or "[SEP]", and nothing that texts are written with. Padding is often a token such as "!": were that a
 * control token, it would go from prompts and answers. */
static bool is_marker(const tokenizer *t, int32_t id) {
    tokenizer_string p = piece_of(t, id);
    if (t->attr[id] & TOKENIZER_RAW) return true;
    if (p.len < 3) return false;
    const char first = p.data[0], last = p.data[p.len - 1];
    return (first == '<' && last == '>') || (first == '[' && last == ']');
}

/* Markers whose ids the metadata name are control tokens; known end markers are found by their text. */
static void mark_special(tokenizer *t, bool strip) {
    enum { N_ENDS = sizeof end_names / sizeof *end_names };
    int32_t found[N_ENDS];
    for (int k = 0; k < N_ENDS; k++) found[k] = -1;
    for (int i = 0; i < TOKENIZER_N_SPECIAL; i++) {
        int32_t id = t->special_id[i];
        if (id >= 0 && i != TOKENIZER_UNK && (t->attr[id] & TOKENIZER_NORMAL) && is_marker(t, id))
            t->attr[id] = TOKENIZER_CONTROL;
    }
    for (int32_t id = 0; id < t->n_vocab; id++) {
        if (!(t->attr[id] & (TOKENIZER_CONTROL | TOKENIZER_USER_DEFINED))) continue;
        tokenizer_string p = piece_of(t, id);
        for (int k = 0; k < N_ENDS; k++) {
            if (!is_name(p, end_names[k])) continue;
            t->attr[id] |= TOKENIZER_END;
            found[k] = id;
        }
        if (strip && !is_name(p, "<unk>") && !is_name(p, "<s>") && !is_name(p, "<|endoftext|>"))
            t->attr[id] |= TOKENIZER_RSTRIP;
    }
    int32_t *eot = &t->special_id[TOKENIZER_EOT], eos = t->special_id[TOKENIZER_EOS];
    for (int k = 0; k < N_TURN_ENDS && *eot < 0; k++)
        if (found[k] >= 0 && found[k] != eos) *eot = found[k];
    for (int i = TOKENIZER_EOS; i <= TOKENIZER_EOM; i++)
        if (t->special_id[i] >= 0) t->attr[t->special_id[i]] |= TOKENIZER_END;
}

static int index_special(tokenizer *t, fo_err *err) {
    size_t n = 0;
    for (int pass = 0; pass < 2; pass++) {
        trie_key *keys = pass ? malloc((n + 1) * sizeof *keys) : NULL;
        if (pass && !keys) return fo_fail(err, FO_ENOMEM, "tokenizer: out of memory");
        n = 0;
        for (int32_t id = 0; id < t->n_vocab; id++) {
            tokenizer_string p = piece_of(t, id);
            bool user = t->attr[id] & TOKENIZER_USER_DEFINED;
            if (!p.len || !(user || (t->attr[id] & (TOKENIZER_CONTROL | TOKENIZER_UNKNOWN))))
                continue;
            if (pass) keys[n] = (trie_key){p.data, p.len, id};
            n++;
            t->first_any[(unsigned char)p.data[0]] = true;
            if (user) t->has_user = t->first_user[(unsigned char)p.data[0]] = true;
        }
        if (!pass) continue;
        int rc = trie_build(&t->special, keys, n, err);
        free(keys);
        return rc;
    }
    return FO_OK;
}

/* ---- creation ---- */

static bool flag_or(int8_t given, bool otherwise) {
    return given < 0 ? otherwise : given != 0;
}

int tokenizer_create(tokenizer **out, const tokenizer_spec *spec, fo_err *err) {
    if (!spec->tokens || spec->n_tokens < 1 || spec->n_tokens > MAX_TOKENS)
        return fo_fail(err, FO_ECORRUPT, "vocabulary of %zu tokens", spec->n_tokens);
    tokenizer *t = calloc(1, sizeof *t);
    if (!t) return fo_fail(err, FO_ENOMEM, "tokenizer: out of memory");
    t->kind = spec->kind;
    draw_keys(t->keys);
    int rc = copy_tokens(t, spec, err);
    if (!rc) rc = take_ids(t, spec, err);
    if (rc) goto fail;
    t->add_bos =
        flag_or(spec->add_bos, spec->kind != TOKENIZER_BPE && spec->kind != TOKENIZER_UNIGRAM);
    bool sentencepiece = spec->kind == TOKENIZER_SPM || spec->kind == TOKENIZER_UNIGRAM;
    t->add_eos = flag_or(spec->add_eos,
                         spec->kind == TOKENIZER_WORDPIECE || spec->kind == TOKENIZER_UNIGRAM);
    t->add_space_prefix = flag_or(spec->add_space_prefix, sentencepiece);
    t->remove_extra_whitespaces = spec->remove_extra_whitespaces;
    if (spec->kind == TOKENIZER_WORDPIECE) {
        if (t->special_id[TOKENIZER_CLS] < 0)
            t->special_id[TOKENIZER_CLS] = t->special_id[TOKENIZER_BOS];
        if (t->special_id[TOKENIZER_SEP] < 0)
            t->special_id[TOKENIZER_SEP] = t->special_id[TOKENIZER_EOS];
    }
    mark_special(t, spec->strip_special);
    rc = index_special(t, err);
    if (!rc) rc = index_pieces(t, err);
    if (rc) goto fail;
    switch (spec->kind) {
    case TOKENIZER_WORDPIECE:
        rc = tokenizer_wpm_create(t, err);
        break;
    case TOKENIZER_BPE:
        rc = tokenizer_bpe_create(t, spec, err);
        break;
    case TOKENIZER_SPM:
        rc = tokenizer_spm_create(t, spec, err);
        break;
    case TOKENIZER_UNIGRAM:
        rc = tokenizer_unigram_create(t, spec, err);
        break;
    default:
        rc = fo_fail(err, FO_EINVAL, "no tokenizer family %d", (int)spec->kind);
    }
    if (rc) goto fail;
    *out = t;
    return FO_OK;
fail:
    tokenizer_free(t);
    return rc;
}

int tokenizer_from_wordpiece(tokenizer **out, const tokenizer_string *pieces, size_t n_pieces,
                             fo_err *err) {
    if (n_pieces < 1 || n_pieces > MAX_TOKENS)
        return fo_fail(err, FO_ECORRUPT, "vocabulary of %zu pieces", n_pieces);
    tokenizer_spec spec = tokenizer_spec_default(TOKENIZER_WORDPIECE);
    int32_t *types = malloc(n_pieces * sizeof *types);
    if (!types) return fo_fail(err, FO_ENOMEM, "tokenizer: out of memory");
    struct {
        const char *name;
        int32_t *id;
    } named[] = {{"[UNK]", &spec.unk},
                 {"[CLS]", &spec.cls},
                 {"[SEP]", &spec.sep},
                 {"[PAD]", &spec.pad},
                 {"[MASK]", &spec.mask}};
    for (size_t i = 0; i < n_pieces; i++) {
        types[i] = 1;
        for (size_t k = 0; k < sizeof named / sizeof *named; k++)
            if (*named[k].id < 0 && is_name(pieces[i], named[k].name)) {
                *named[k].id = (int32_t)i;
                types[i] = 3;
            }
    }
    spec.tokens = pieces;
    spec.n_tokens = n_pieces;
    spec.types = types;
    int rc = tokenizer_create(out, &spec, err);
    free(types);
    return rc;
}

void tokenizer_free(tokenizer *t) {
    if (!t) return;
    tokenizer_wpm_free(t->wpm);
    tokenizer_bpe_free(t->bpe);
    tokenizer_spm_free(t->spm);
    tokenizer_unigram_free(t->unigram);
    trie_deinit(&t->special);
    free(t->slots);
    free(t->attr);
    free(t->offset);
    free(t->pool);
    free(t);
}

/* ---- encoding ---- */

static int encode_plain(const tokenizer *t, const char *s, size_t n, bool after_special,
                        token_sink *sink) {
    if (t->kind == TOKENIZER_BPE) return tokenizer_bpe_encode(t, s, n, sink);
    if (t->kind == TOKENIZER_SPM) return tokenizer_spm_encode(t, s, n, after_special, sink);
    if (t->kind == TOKENIZER_UNIGRAM) return tokenizer_unigram_encode(t, s, n, after_special, sink);
    tokenizer_wpm_encode(t, s, n, sink);
    return FO_OK;
}

/* The longest special token that begins s[0..n): all of them, or the user-defined ones alone. */
static size_t match_special(const tokenizer *t, const char *s, size_t n, bool any, int32_t *id) {
    size_t best = 0;
    int32_t node = 0;
    for (size_t i = 0; i < n; i++) {
        node = trie_step(&t->special, node, (unsigned char)s[i]);
        if (node < 0) break;
        int32_t v = t->special.nodes[node].value;
        if (v >= 0 && (any || (t->attr[v] & TOKENIZER_USER_DEFINED))) {
            *id = v;
            best = i + 1;
        }
    }
    return best;
}

size_t tokenizer_special_at(const tokenizer *t, const char *text, size_t len) {
    int32_t id;
    return len && t->first_any[(unsigned char)*text] ? match_special(t, text, len, true, &id) : 0;
}

static int encode_parts(const tokenizer *t, const char *s, size_t n, bool any, bool after_special,
                        token_sink *sink) {
    const bool *first = any ? t->first_any : t->first_user;
    size_t start = 0, i = 0;
    while (i < n) {
        int32_t id = -1;
        size_t len = first[(unsigned char)s[i]] ? match_special(t, s + i, n - i, any, &id) : 0;
        if (!len) {
            i++;
            continue;
        }
        size_t end = i;
        if (t->attr[id] & TOKENIZER_LSTRIP)
            while (end > start && fo_is_blank(s[end - 1])) end--;
        int rc = end > start ? encode_plain(t, s + start, end - start, after_special, sink) : 0;
        if (rc) return rc;
        const size_t from = sink->spans ? (size_t)(s - sink->origin) + i : 0;
        sink_add_span(sink, id, (tokenizer_span){(uint32_t)from, (uint32_t)(from + len)});
        after_special = true;
        i += len;
        if (t->attr[id] & TOKENIZER_RSTRIP)
            while (i < n && fo_is_blank(s[i])) i++;
        start = i;
    }
    return start < n ? encode_plain(t, s + start, n - start, after_special, sink) : FO_OK;
}

int64_t tokenizer_encode(const tokenizer *t, const char *text, size_t len, unsigned flags,
                         int32_t *out, size_t cap) {
    if (len > MAX_TEXT) return FO_ELIMIT;
    token_sink sink = {.out = out, .cap = cap};
    bool wordpiece = t->kind == TOKENIZER_WORDPIECE;
    int32_t front = t->special_id[wordpiece ? TOKENIZER_CLS : TOKENIZER_BOS];
    int32_t back = t->special_id[wordpiece ? TOKENIZER_SEP : TOKENIZER_EOS];
    bool any = flags & TOKENIZER_PARSE_SPECIAL, after_special = !(flags & TOKENIZER_CONTINUES);
    if ((flags & TOKENIZER_ADD_SPECIAL) && t->add_bos && front >= 0) sink_add(&sink, front);
    int rc = FO_OK;
    if (any || t->has_user)
        rc = encode_parts(t, text, len, any, after_special, &sink);
    else if (len)
        rc = encode_plain(t, text, len, after_special, &sink);
    if (rc) return rc;
    if ((flags & TOKENIZER_ADD_SPECIAL) && t->add_eos && back >= 0) sink_add(&sink, back);
    return (int64_t)sink.n;
}

int64_t tokenizer_encode_spans(const tokenizer *t, const char *text, size_t len, int32_t *out,
                               tokenizer_span *spans, size_t cap) {
    if (t->kind != TOKENIZER_WORDPIECE && t->kind != TOKENIZER_UNIGRAM) return FO_EUNSUPPORTED;
    if (len > MAX_TEXT) return FO_ELIMIT;
    token_sink sink = {.out = out, .cap = cap, .spans = spans, .origin = text};
    int rc = FO_OK;
    if (t->has_user)
        rc = encode_parts(t, text, len, false, true, &sink);
    else if (len)
        rc = encode_plain(t, text, len, true, &sink);
    return rc ? rc : (int64_t)(sink.n > cap ? cap + 1 : sink.n);
}

int64_t tokenizer_count(const tokenizer *t, const char *text, size_t len, unsigned flags) {
    return tokenizer_encode(t, text, len, flags, NULL, 0);
}

int tokenizer_encode_alloc(const tokenizer *t, const char *text, size_t len, unsigned flags,
                           int32_t **out, size_t *n, fo_err *err) {
    size_t cap = len / 3 + 8; /* most text has a token every four bytes or so */
    int32_t *ids = malloc(cap * sizeof *ids);
    int64_t got = ids ? tokenizer_encode(t, text, len, flags, ids, cap) : FO_ENOMEM;
    if (got > (int64_t)cap) {
        free(ids);
        cap = (size_t)got;
        ids = malloc(cap * sizeof *ids);
        got = ids ? tokenizer_encode(t, text, len, flags, ids, cap) : FO_ENOMEM;
    }
    if (got < 0) {
        free(ids);
        return got == FO_ELIMIT ? fo_fail(err, FO_ELIMIT, "text of more than 1 GiB to tokenise")
                                : fo_fail(err, FO_ENOMEM, "tokenizer: out of memory");
    }
    *out = ids;
    *n = (size_t)got;
    return FO_OK;
}

/* ---- questions ---- */

tokenizer_kind tokenizer_get_kind(const tokenizer *t) {
    return t->kind;
}

int32_t tokenizer_vocab_size(const tokenizer *t) {
    return t->n_vocab;
}

tokenizer_string tokenizer_piece(const tokenizer *t, int32_t id) {
    return id >= 0 && id < t->n_vocab ? piece_of(t, id) : (tokenizer_string){"", 0};
}

unsigned tokenizer_attributes(const tokenizer *t, int32_t id) {
    return id >= 0 && id < t->n_vocab ? t->attr[id] & (TOKENIZER_END - 1u) : 0;
}

int32_t tokenizer_find(const tokenizer *t, const char *name, size_t len) {
    int32_t id = -1;
    if (trie_longest(&t->special, 0, name, len, &id) == len && len) return id;
    return tokenizer_vocab_find(t, name, len);
}

int32_t tokenizer_special_id(const tokenizer *t, tokenizer_special which) {
    return (unsigned)which < TOKENIZER_N_SPECIAL ? t->special_id[which] : -1;
}

char *tokenizer_special_text(const tokenizer *t, tokenizer_special which) {
    const tokenizer_string s = tokenizer_piece(t, tokenizer_special_id(t, which));
    return strndup(s.len ? s.data : "", s.len);
}

bool tokenizer_text_ends(const tokenizer *t, int32_t *first, int32_t *last) {
    const int32_t *id = t->special_id;
    *first = id[id[TOKENIZER_CLS] < 0 ? TOKENIZER_BOS : TOKENIZER_CLS];
    *last = id[id[TOKENIZER_SEP] < 0 ? TOKENIZER_EOS : TOKENIZER_SEP];
    return *first >= 0 && *last >= 0;
}

bool tokenizer_adds_bos(const tokenizer *t) {
    int32_t id = t->special_id[t->kind == TOKENIZER_WORDPIECE ? TOKENIZER_CLS : TOKENIZER_BOS];
    return t->add_bos && id >= 0;
}

bool tokenizer_adds_eos(const tokenizer *t) {
    int32_t id = t->special_id[t->kind == TOKENIZER_WORDPIECE ? TOKENIZER_SEP : TOKENIZER_EOS];
    return t->add_eos && id >= 0;
}

bool tokenizer_is_end(const tokenizer *t, int32_t id) {
    return id >= 0 && id < t->n_vocab && (t->attr[id] & TOKENIZER_END);
}
