/* detokenize.c - token ids back to text, whole or as they come (tokenizer.h). */
#include <string.h>

#include "engine/tokenizer/tokenizer_impl.h"
#include "kernels/utf8.h"

static const char replacement[] = "\xEF\xBF\xBD";

void detokenizer_init(detokenizer *d, const tokenizer *t, bool keep_special, bool continues) {
    *d = (detokenizer){.t = t, .keep_special = keep_special, .started = continues};
}

/* Bytes that a code point beginning with c takes, 0 if none begins so. */
static unsigned lead_length(unsigned char c) {
    if (c < 0x80) return 1;
    if (c >= 0xC2 && c <= 0xDF) return 2;
    if (c >= 0xE0 && c <= 0xEF) return 3;
    return c >= 0xF0 && c <= 0xF4 ? 4 : 0;
}

/* Emit what is decided about the held bytes. A prefix that more bytes could complete stays. */
static void settle(detokenizer *d, fo_buf *out) {
    while (d->n_held) {
        int32_t cp;
        size_t n = fo_utf8_decode(d->held, d->n_held, &cp);
        if (cp < 0 && n == d->n_held && n < lead_length((unsigned char)d->held[0])) return;
        if (cp < 0)
            fo_buf_add(out, replacement, 3);
        else
            fo_buf_add(out, d->held, n);
        d->n_held = (uint8_t)(d->n_held - n);
        memmove(d->held, d->held + n, d->n_held);
    }
}

int detokenizer_push(detokenizer *d, int32_t id, fo_buf *out, fo_err *err) {
    const tokenizer *t = d->t;
    if (id < 0 || id >= t->n_vocab)
        return fo_fail(err, FO_EINVAL, "token %d is not in a vocabulary of %d", (int)id,
                       (int)t->n_vocab);
    if (!d->keep_special && (t->attr[id] & (TOKENIZER_CONTROL | TOKENIZER_UNKNOWN))) return FO_OK;
    tokenizer_string p = piece_of(t, id);
    bool own_space = t->kind == TOKENIZER_WORDPIECE || t->add_space_prefix;
    if (!d->started && own_space && p.len && p.data[0] == ' ') {
        p.data++;
        p.len--;
    }
    d->started = true;
    for (size_t i = 0; i < p.len; i++) {
        if (!d->n_held && (unsigned char)p.data[i] < 0x80) {
            fo_buf_char(out, p.data[i]);
            continue;
        }
        d->held[d->n_held++] = p.data[i];
        settle(d, out);
    }
    return out->failed ? fo_fail(err, FO_ENOMEM, "detokenizer: out of memory") : FO_OK;
}

int detokenizer_end(detokenizer *d, fo_buf *out, fo_err *err) {
    if (d->n_held) fo_buf_add(out, replacement, 3); /* one ill-formed part, maximal */
    d->n_held = 0;
    return out->failed ? fo_fail(err, FO_ENOMEM, "detokenizer: out of memory") : FO_OK;
}

int tokenizer_decode(const tokenizer *t, const int32_t *ids, size_t n, bool keep_special,
                     fo_buf *out, fo_err *err) {
    detokenizer d;
    detokenizer_init(&d, t, keep_special, false);
    for (size_t i = 0; i < n; i++) {
        int rc = detokenizer_push(&d, ids[i], out, err);
        if (rc) return rc;
    }
    return detokenizer_end(&d, out, err);
}
