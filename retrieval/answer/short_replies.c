#include "retrieval/answer/short_replies.h"

#include "retrieval/text/word_tokens.h"

static bool replies(const char *s, size_t n) {
    size_t at = 0;
    word_token t = word_token_next(s, n, &at);
    while (t.n && !t.letters) t = word_token_next(s, n, &at); /* "- Yes", "**No**" */
    return word_token_in("yes no ja nein oui non si s\xC3\xAD s\xC3\xAC sim n\xC3\xA3o", &t);
}

bool short_reply_needs_its_question(const candidate_passage *p, const text_unit *u) {
    const char *text = p->text.text;
    if (u->head_kind != TEXT_UNIT_HEADING || u->head_end <= u->head_start ||
        text[u->head_end - 1] != '?' || !replies(text + u->start, u->end - u->start))
        return false;
    const fact_sentence head = candidate_words(&p->text, u->head_start, u->head_end);
    for (size_t i = head.w0; i < head.w1; i++)
        if (p->terms[i] < 0 && fact_is_content(&p->text.words[i])) return true;
    return false;
}
