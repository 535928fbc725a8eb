/* own_questions.h - questions that the language model writes over a collection's own documents, each with the
 * document that answers it: what a collection can be tuned on where nobody has judged anything yet.
 *
 *     own_question *list;
 *     size_t n;
 *     service_write_questions(s, &(own_question_request){.tenant = t, .collection = c, .n = 100, .seed = 1}, &list, &n, &err);
 *     ...                                      // search for list[i].text: list[i].document should come first
 *     own_questions_free(list, n);
 *
 * A passage is drawn from each of n documents (of as many as there are, several where these are fewer), and
 * the model is asked for one question in other words. What is no question, or speaks of "the text", is left
 * out, and so is a passage that the model's context has no room for. The same seed, documents and model give the same questions. */
#ifndef FORAGE_RETRIEVAL_OWN_QUESTIONS_H
#define FORAGE_RETRIEVAL_OWN_QUESTIONS_H

#include "retrieval/service/service.h"

enum { OWN_QUESTIONS_MOST = 10000 };

typedef struct own_question {
    char *text;
    char *document; /* id */
} own_question;

typedef struct own_question_request {
    const char *tenant, *collection;
    size_t n; /* passages to ask about, 1 .. OWN_QUESTIONS_MOST; fewer questions may come of them */
    uint64_t seed;
    void (*progress)(void *ctx, uint64_t done, uint64_t n); /* NULL: none */
    void *ctx;
    const atomic_bool *cancel; /* NULL: none */
} own_question_request;

/* FO_EUNSUPPORTED: the service has no language model; FO_ENOTFOUND (field "collection"); FO_EINVAL: no document
 * has enough text; FO_ECANCELLED; FO_EIO: the model wrote nothing that could be used. Any thread. */
int service_write_questions(service *s, const own_question_request *q, own_question **out,
                            size_t *n, fo_err *err);
void own_questions_free(own_question *list, size_t n);

/* What a model wrote, as a question: its first line without numbers, quotes and blanks around it. false where that is
 * none, has fewer than 4 words or more than 32, or points at the text ("according to the passage"). */
bool own_question_of(const char *written, size_t len, char *out, size_t cap);
/* A passage of a text: whole lines or sentences around a byte, as far as a model should read. */
void own_question_passage(const char *text, size_t len, size_t at, size_t *start, size_t *end);

#endif
