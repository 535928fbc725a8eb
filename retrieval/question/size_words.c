#include "retrieval/question/size_words.h"

#include <string.h>

#include "retrieval/text/word_tokens.h"

static const struct {
    const char *word, *capital;
} sizes[] = {{"small", "S"}, {"medium", "M"}, {"large", "L"}};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* How a text says sizes: bit i of those that it has as a cell, or as a word. */
typedef struct as_written {
    unsigned cells, words;
    bool named; /* "Size", as what a column is called */
} as_written;

static bool is_edge(const word_token *t) {
    return !t->n || word_token_is(t, "|") || word_token_is(t, ":") || word_token_is(t, ";");
}

static bool ends_line(const char *text, const word_token *t, const word_token *next) {
    return next->n && memchr(t->s, '\n', (size_t)(next->s - t->s)) != NULL && t->s >= text;
}

static void look(as_written *out, const char *text, size_t len) {
    word_token before = {0};
    size_t at = 0;
    for (word_token t = word_token_next(text, len, &at), next; t.n; before = t, t = next) {
        next = word_token_next(text, len, &at);
        const bool begins = is_edge(&before) || ends_line(text, &before, &t);
        const bool ends = is_edge(&next) || ends_line(text, &t, &next);
        out->named |= begins && ends && word_token_in("size sizes", &t);
        for (size_t i = 0; i < SIZES; i++) {
            if (begins && ends && word_token_is(&t, sizes[i].capital)) out->cells |= 1u << i;
            if (word_token_in(sizes[i].word, &t)) out->words |= 1u << i;
        }
    }
}

bool size_words_as_written(fo_buf *out, const char *question, const passage *passages, size_t n) {
    enum { ALL = (1u << SIZES) - 1 };
    const size_t len = strlen(question);
    as_written w = {0};
    size_t copied = 0;
    bool said = false;
    for (size_t i = 0; i < SIZES; i++) said |= word_tokens_say(sizes[i].word, question, len);
    if (!said || word_tokens_say("size sizes", question, len)) return false;
    for (size_t i = 0; i < n; i++) {
        as_written of_passage = {0};
        look(&of_passage, passages[i].text, passages[i].len);
        w.words |= of_passage.words;
        if (of_passage.named && of_passage.cells == ALL) w.cells = ALL;
    }
    for (size_t at = 0;;) {
        const word_token t = word_token_next(question, len, &at);
        if (!t.n) break;
        for (size_t i = 0; i < SIZES; i++) {
            if (!word_token_in(sizes[i].word, &t) || !(w.cells & ~w.words & 1u << i)) continue;
            fo_buf_add(out, question + copied, (size_t)(t.s - question) - copied);
            fo_buf_str(out, "size ");
            fo_buf_str(out, sizes[i].capital);
            copied = (size_t)(t.s - question) + t.n;
        }
    }
    if (copied) fo_buf_str(out, question + copied);
    return copied > 0 && !out->failed;
}
