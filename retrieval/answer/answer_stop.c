#include "retrieval/answer/answer_stop.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/stop_match.h"
#include "kernels/utf8.h"

/* Between this sentence and the one before it, whose marker stands before that: a blank, or the end of a line. */
static char separator(const extractive_answer *a, const answer_citation *c) {
    return a->text[c->answer_start - 1];
}

/* What the answer says before the stop string: its first *said bytes, sentences with one byte
 * between them. Returns the string's index, or -1. */
static int find_stop(const extractive_answer *a, const char *const *stop, size_t n, size_t *said,
                     fo_err *err, int *rc) {
    stop_match m;
    fo_buf before = {0};
    *rc = stop_match_init(&m, stop, n, err);
    if (*rc) return -1;
    for (size_t i = 0; i < a->n_citations && m.found < 0; i++) {
        const answer_citation *c = &a->citations[i];
        const char between = i ? separator(a, c) : ' ';
        if (i) stop_match_push(&m, &between, 1, &before);
        if (m.found < 0)
            stop_match_push(&m, a->text + c->answer_start, c->answer_end - c->answer_start,
                            &before);
    }
    int found = m.found;
    *said = before.len;
    if (before.failed || m.held.failed) *rc = fo_no_memory(err);
    stop_match_deinit(&m);
    fo_buf_free(&before);
    return found;
}

static int check_again(answer_citation *c, const extractive_input *in, const fo_buf *text,
                       fo_err *err) {
    const passage *p = &in->passages[c->passage];
    support_check check;
    int rc = citation_check(&check, in->lx,
                            &(citation_claim){.sentence = text->data + c->answer_start,
                                              .sentence_len = c->answer_end - c->answer_start,
                                              .quote = p->text + c->start,
                                              .quote_len = c->end - c->start,
                                              .stored = p->text,
                                              .stored_len = p->len,
                                              .start = c->start,
                                              .end = c->end,
                                              .title = p->title},
                            err);
    c->verified = check.verified;
    return rc;
}

/* Keep the first `said` bytes of what the answer says. */
static int cut(extractive_answer *a, const extractive_input *in, size_t said, fo_err *err) {
    fo_buf text = {0};
    size_t at = 0, kept = 0; /* at: of sentences and what stands between them */
    int rc = FO_OK;
    fo_buf_str(&text, "");
    for (size_t i = 0; !rc && i < a->n_citations && at < said; i++) {
        answer_citation *c = &a->citations[i];
        size_t whole = c->answer_end - c->answer_start;
        size_t n = whole < said - at ? whole : said - at;
        at += whole + 1;
        while (n && fo_is_blank(a->text[c->answer_start + n - 1])) n--;
        if (n == 0) break;
        if (text.len) fo_buf_char(&text, separator(a, c));
        size_t start = text.len;
        fo_buf_add(&text, a->text + c->answer_start, n);
        c->answer_start = start;
        c->answer_end = start + n;
        fo_buf_printf(&text, " [%zu]", ++kept);
        if (n < whole && !text.failed) rc = check_again(c, in, &text, err);
    }
    if (text.failed) rc = fo_fail(err, FO_ENOMEM, "out of memory for an answer");
    if (rc) {
        fo_buf_free(&text);
        return rc;
    }
    a->n_citations = kept;
    free(a->text);
    a->text = fo_buf_take(&text, NULL);
    return a->text ? FO_OK : fo_fail(err, FO_ENOMEM, "out of memory for an answer");
}

int answer_stop_apply(extractive_answer *a, const extractive_input *in, const char *const *stop,
                      size_t n, int *which, fo_err *err) {
    *which = -1;
    if (n == 0 || a->abstain) return FO_OK;
    size_t said;
    int rc;
    int found = find_stop(a, stop, n, &said, err, &rc);
    if (!rc && found >= 0) rc = cut(a, in, said, err);
    if (!rc) *which = found;
    return rc;
}
