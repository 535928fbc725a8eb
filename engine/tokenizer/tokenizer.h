/* tokenizer.h - text to token ids and back, as a model's GGUF metadata says.
 *
 *     tokenizer *t;
 *     tokenizer_from_gguf(&t, model, &err);
 *     int64_t n = tokenizer_encode(t, s, len, TOKENIZER_ADD_SPECIAL, ids, cap);
 *     if (n > cap) ...                                 // only the first cap ids were written
 *
 * Four families: WordPiece (BERT; Hugging Face's BertTokenizerFast is the truth), byte-level BPE
 * (GPT-2 and its children, each with its pre-tokeniser: engine/tokenizer/pretokenize.h),
 * SentencePiece BPE (llama, gemma) and SentencePiece unigram (XLM-RoBERTa: multilingual e5, bge-m3
 * and their like). A tokenizer is immutable after creation: any number of threads may use it. Text
 * may be any bytes; what is not UTF-8 never fails. */
#ifndef FORAGE_ENGINE_TOKENIZER_H
#define FORAGE_ENGINE_TOKENIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "kernels/buf.h"
#include "kernels/error.h"

typedef struct tokenizer tokenizer;

typedef enum tokenizer_kind {
    TOKENIZER_WORDPIECE = 1, /* tokenizer.ggml.model = "bert" */
    TOKENIZER_BPE = 2,       /* "gpt2" */
    TOKENIZER_SPM = 3,       /* "llama" */
    TOKENIZER_UNIGRAM = 4,   /* "t5" */
} tokenizer_kind;

/* Bits of a token's attributes. The first six follow GGUF's token_type 1..6. */
enum {
    TOKENIZER_NORMAL = 1,
    TOKENIZER_UNKNOWN = 2,
    TOKENIZER_CONTROL = 4,      /* prints nothing; only matched in text with PARSE_SPECIAL */
    TOKENIZER_USER_DEFINED = 8, /* prints its text; always matched in text, whole */
    TOKENIZER_UNUSED = 16,
    TOKENIZER_BYTE = 32,   /* <0x41> */
    TOKENIZER_LSTRIP = 64, /* swallows white space to its left where it is matched in text */
    TOKENIZER_RSTRIP = 128,
};

/* Flags of encode and count. */
enum {
    TOKENIZER_ADD_SPECIAL = 1,   /* BOS/EOS, or [CLS]/[SEP], as the model wants them */
    TOKENIZER_PARSE_SPECIAL = 2, /* control tokens written in the text become those tokens */
    TOKENIZER_CONTINUES = 4,     /* other text stands before it: it gets no space in front */
};

typedef struct tokenizer_string {
    const char *data;
    size_t len; /* bytes */
} tokenizer_string;

/* What a tokenizer is made of; the arrays are the caller's and are copied. Ids of -1: none.
 * Start from tokenizer_spec_default. */
typedef struct tokenizer_spec {
    tokenizer_kind kind;
    const char *pre; /* BPE: name of the pre-tokeniser, as in tokenizer.ggml.pre */
    const tokenizer_string *tokens;
    size_t n_tokens;
    const float *scores;            /* SPM, unigram: n_tokens; NULL: all 0 */
    const int32_t *types;           /* n_tokens of GGUF's 1..6; NULL: all normal */
    const tokenizer_string *merges; /* BPE: "left right", best first */
    size_t n_merges;
    /* Of these, normal tokens that are written as markers ("<s>", "[SEP]") count as control tokens. */
    int32_t bos, eos, eot, eom, unk, sep, pad, cls, mask;
    int8_t add_bos, add_eos, add_space_prefix; /* 0, 1, or -1: the family's default */
    bool remove_extra_whitespaces;             /* SPM, unigram */
    tokenizer_string charsmap; /* unigram: engine/tokenizer/charsmap.h; empty: none */
    bool strip_special;        /* control tokens swallow the white space to their right (phi-3) */
} tokenizer_spec;

tokenizer_spec tokenizer_spec_default(tokenizer_kind kind);

/* FO_ECORRUPT (the metadata contradict themselves), FO_EUNSUPPORTED (unknown pre-tokeniser),
 * FO_ENOMEM. *out is untouched on error. Caller frees with tokenizer_free. */
int tokenizer_create(tokenizer **out, const tokenizer_spec *spec, fo_err *err);

/* WordPiece from a plain list: `##` marks a continuation (vocab.txt), or U+2581 marks a word start
 * (GGUF's convention); which one is seen from the pieces. [UNK], [CLS], [SEP], [PAD], [MASK] are
 * found by name; [UNK] must be there. Lower-cases and strips accents unless a piece has capitals.*/
int tokenizer_from_wordpiece(tokenizer **out, const tokenizer_string *pieces, size_t n_pieces,
                             fo_err *err);

void tokenizer_free(tokenizer *t); /* NULL is fine */

/* Token ids of text[0..len). Writes at most cap of them and returns how many there are (more than
 * cap: the rest was not written), or FO_ENOMEM, FO_ELIMIT (negative; text over 1 GiB). WordPiece
 * allocates nothing and cannot fail on less than 1 GiB. */
int64_t tokenizer_encode(const tokenizer *t, const char *text, size_t len, unsigned flags,
                         int32_t *out, size_t cap);

/* The same without special tokens, WordPiece and unigram alone, with the bytes of the text that each token
 * stands for: from its first character to behind its last, accents that were taken off included.
 * They ascend; what the normaliser drops or divides at belongs to none; the parts of one character
 * may share its bytes. Stops behind cap tokens: returns cap + 1 where the text has more.
 * FO_EUNSUPPORTED for other families, FO_ELIMIT. */
typedef struct tokenizer_span {
    uint32_t begin, end; /* bytes, half-open */
} tokenizer_span;
int64_t tokenizer_encode_spans(const tokenizer *t, const char *text, size_t len, int32_t *out,
                               tokenizer_span *spans, size_t cap);

/* Bytes of the longest name of a control, unknown or user-defined token that text[0..len) begins with; 0: none. */
size_t tokenizer_special_at(const tokenizer *t, const char *text, size_t len);

/* The number alone. */
int64_t tokenizer_count(const tokenizer *t, const char *text, size_t len, unsigned flags);

/* All ids in fresh memory; caller frees *out. 0, FO_ENOMEM, FO_ELIMIT. */
int tokenizer_encode_alloc(const tokenizer *t, const char *text, size_t len, unsigned flags,
                           int32_t **out, size_t *n, fo_err *err);

tokenizer_kind tokenizer_get_kind(const tokenizer *t);
int32_t tokenizer_vocab_size(const tokenizer *t);

/* The bytes that a token stands for inside running text: raw bytes for BPE, one byte for a byte
 * token, a leading space for a word start. May be part of a code point. Control tokens give their
 * name. Lives as long as the tokenizer; empty for an id out of range. */
tokenizer_string tokenizer_piece(const tokenizer *t, int32_t id);
unsigned tokenizer_attributes(const tokenizer *t, int32_t id); /* 0 for an id out of range */

/* The id whose tokenizer_piece is exactly this, control tokens included (by name), or -1. */
int32_t tokenizer_find(const tokenizer *t, const char *name, size_t len);

typedef enum tokenizer_special {
    TOKENIZER_BOS,
    TOKENIZER_EOS,
    TOKENIZER_EOT, /* end of turn, where it is another token than EOS */
    TOKENIZER_EOM, /* end of message (a tool call follows) */
    TOKENIZER_UNK,
    TOKENIZER_SEP,
    TOKENIZER_PAD,
    TOKENIZER_CLS,
    TOKENIZER_MASK,
    TOKENIZER_N_SPECIAL
} tokenizer_special;

int32_t tokenizer_special_id(const tokenizer *t, tokenizer_special which); /* -1: none */
/* Its piece as a string, empty where there is none: what chat templates call bos_token, say. Caller frees;
 * NULL: no memory. */
char *tokenizer_special_text(const tokenizer *t, tokenizer_special which);
/* What an encoder's text stands between: [CLS] and [SEP], or BOS and EOS where the vocabulary has
 * none. False where it lacks those too. */
bool tokenizer_text_ends(const tokenizer *t, int32_t *first, int32_t *last);
bool tokenizer_adds_bos(const tokenizer *t); /* does ADD_SPECIAL put BOS (or CLS) in front? */
bool tokenizer_adds_eos(const tokenizer *t);

/* Does generation end at this token: EOS, EOT, EOM or another known end marker? */
bool tokenizer_is_end(const tokenizer *t, int32_t id);

/* Append the text of ids to *out. Control tokens are left out unless keep_special. The space that
 * the tokenizer itself put before the first word is taken away. Bytes that do not make UTF-8 come
 * out as U+FFFD. FO_EINVAL (id out of range), FO_ENOMEM. */
int tokenizer_decode(const tokenizer *t, const int32_t *ids, size_t n, bool keep_special,
                     fo_buf *out, fo_err *err);

/* Detokenising a stream: bytes come out as soon as they end a code point, never earlier; the
 * concatenation of all pushes and the end is what tokenizer_decode gives. Owns no memory. */
typedef struct detokenizer {
    const tokenizer *t;
    bool keep_special;
    bool started;   /* a leading space from now on is text */
    uint8_t n_held; /* bytes of an unfinished code point */
    char held[4];
} detokenizer;

/* continues: the stream goes on after other text (a prompt), so a leading space is kept. */
void detokenizer_init(detokenizer *d, const tokenizer *t, bool keep_special, bool continues);
int detokenizer_push(detokenizer *d, int32_t id, fo_buf *out, fo_err *err);
int detokenizer_end(detokenizer *d, fo_buf *out, fo_err *err); /* an unfinished rest: U+FFFD */

#endif
