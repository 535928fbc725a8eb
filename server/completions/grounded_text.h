/* grounded_text.h - text that the model of this process writes from documents by a rule: JSON under a
 * schema, calls of the client's functions, or words beside what those gave.
 *
 *     grounded_text g;
 *     grounded_text_find(&g, reply, app, &err);              // the contexts of the question
 *     cJSON *m = grounded_text_messages(&g, n, &err);        // the prompt, with the best n of them
 *     grounded_text_check(&g, text, len, &citations, &checked, &err);
 *     grounded_text_deinit(&g);
 *
 * The model writes token by token and nothing is held back: what it says is looked at afterwards,
 * value by value of a JSON text, sentence by sentence elsewhere. A value that a context bears out
 * (retrieval/pipeline/claims.h) gets a citation, any other is named as unverified. That a value is
 * that of its key, nobody checks. At most JSON_MAX_VALUES values or GROUNDED_MAX_SENTENCES sentences are
 * looked at; "more" says that there are others, neither verified nor named. */
#ifndef FORAGE_SERVER_GROUNDED_TEXT_H
#define FORAGE_SERVER_GROUNDED_TEXT_H

#include "server/openai/openai_reply.h"

enum { GROUNDED_MAX_SENTENCES = 256 };

typedef struct grounded_text {
    const openai_call *call;
    app *app;
    query_request question;
    query_message *turns;
    query_result found;   /* contexts, and the extractive answer with its citations */
    size_t most_contexts; /* that a model of this size is given */
} grounded_text;

/* Ask the documents. What is wrong is what openai_grounded_ask and service_query say; *g needs
 * grounded_text_deinit in any case. */
int grounded_text_find(grounded_text *g, openai_reply *p, app *a, fo_err *err);
void grounded_text_deinit(grounded_text *g);

/* The call's messages with the best n contexts before the question, in the shape of openai_call's;
 * caller deletes them. NULL: no memory, *err says so. */
cJSON *grounded_text_messages(const grounded_text *g, size_t n, fo_err *err);

/* Appends to *citations a JSON array, each with the path of its value (JSON) or the span of its
 * sentence, and to *checked {"unit":"values","verified":n,"unverified":[...],"unchecked":[...]}:
 * paths, or spans of sentences; and "more":true where there are more than are looked at. Truth values, nulls, empty strings and what the schema itself lists are unchecked,
 * where no context says them. FO_ECANCELLED, FO_ENOTFOUND (the collection), FO_ENOMEM. */
int grounded_text_check(const grounded_text *g, const char *text, size_t len, fo_buf *citations,
                        fo_buf *checked, fo_err *err);

#endif
