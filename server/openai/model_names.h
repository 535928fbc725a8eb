/* model_names.h - what /v1 calls the models that there are: by their own names, by the other names
 * that --model-alias gives them, and forage/COLLECTION for answers from documents. */
#ifndef FORAGE_SERVER_MODEL_NAMES_H
#define FORAGE_SERVER_MODEL_NAMES_H

#include "server/routes/app.h"

enum model_kind { /* bits, so that a route can say what it works with */
                  MODEL_GENERATOR = 1,
                  MODEL_EMBEDDER = 2,
                  MODEL_RERANKER = 4,
                  MODEL_GROUNDED = 8,
};
const char *model_kind_name(enum model_kind kind); /* "generator"; static */

/* A name that can be asked for. alias_of: the model's own, where `name` is another; else NULL.
 * True ends the walk. */
typedef bool model_name_fn(void *ctx, const char *name, enum model_kind kind, const char *alias_of);
/* Models first, then aliases, then the collections that the request may use (NULL: all of the default
 * tenant). True where fn ended it. */
bool model_names_each(app *a, const http_request *r, model_name_fn *fn, void *ctx);

typedef struct model_choice {
    enum model_kind kind;
    const char *name;       /* the model's own; "forage/C" as it was asked for or aliased */
    const char *collection; /* of MODEL_GROUNDED; else NULL. Whether it exists is not looked up */
} model_choice;

/* What `asked` means to a route that works with `kinds`; NULL: the first of these that is loaded.
 * *out lives as long as `asked` and a. FO_ENOTFOUND (field "model") tells the names there are. */
int model_names_find(model_choice *out, app *a, const http_request *r, const char *asked,
                     unsigned kinds, fo_err *err);
/* That refusal: of a name which nothing goes by, such as that of a collection which is gone. */
int model_names_refuse(app *a, const http_request *r, const char *asked, unsigned kinds,
                       fo_err *err);

/* Do the aliases of a (app.h) name what there is, and nothing twice? FO_EINVAL says which does not.
 * A forage/COLLECTION may come later. */
int model_aliases_check(app *a, fo_err *err);

#endif
