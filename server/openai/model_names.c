#include "retrieval/collections/catalog.h"
#include "server/openai/model_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/local/engine_figures.h"
#include "server/openai/openai.h"
#include "kernels/utf8.h"

#define GROUNDED "forage/"
enum { TOLD_NAMES = 10, TOLD_BYTES = 360 };

const char *model_kind_name(enum model_kind kind) {
    return kind == MODEL_GENERATOR  ? "generator"
           : kind == MODEL_EMBEDDER ? "embedder"
           : kind == MODEL_RERANKER ? "reranker"
                                    : "grounded";
}

/* The loaded model of a kind, or NULL. */
static const char *loaded(const app *a, enum model_kind kind) {
    const reranker *rr = service_reranker(a->service);
    if (kind == MODEL_GENERATOR) return engine_figures_name(service_generator(a->service));
    if (kind == MODEL_EMBEDDER) return embedder_name(service_embedder(a->service));
    return kind == MODEL_RERANKER && rr ? reranker_name(rr) : NULL;
}

static const enum model_kind loaded_kinds[] = {MODEL_GENERATOR, MODEL_EMBEDDER, MODEL_RERANKER};
enum { N_LOADED = sizeof loaded_kinds / sizeof *loaded_kinds };

/* What a name that is no alias is; 0: nothing. One name may be that of two models. */
static unsigned kinds_of(const app *a, const char *name) {
    unsigned kinds = 0;
    for (int i = 0; i < N_LOADED; i++) {
        const char *own = loaded(a, loaded_kinds[i]);
        if (own && !strcmp(own, name)) kinds |= loaded_kinds[i];
    }
    size_t n = strlen(GROUNDED);
    if (!strncmp(name, GROUNDED, n) && service_name_valid(name + n)) kinds |= MODEL_GROUNDED;
    return kinds;
}

static enum model_kind first_of(unsigned kinds) {
    return (enum model_kind)(kinds & -kinds);
}

static const char *own_name(const app *a, const char *name) {
    for (size_t i = 0; i < a->n_aliases; i++)
        if (!strcmp(a->aliases[i].name, name)) return a->aliases[i].model;
    return name;
}

/* Is the collection of "forage/<collection>" there? */
static bool is_collection(app *a, const http_request *r, const char *name) {
    store_collection c = {0};
    name += strlen(GROUNDED);
    int rc = catalog_get_collection(service_catalog(a->service), app_tenant(r), name, &c, NULL);
    store_collection_deinit(&c);
    return !rc && app_may_use(r, name);
}

bool model_names_each(app *a, const http_request *r, model_name_fn *fn, void *ctx) {
    for (int i = 0; i < N_LOADED; i++) {
        const char *name = loaded(a, loaded_kinds[i]);
        if (name && fn(ctx, name, loaded_kinds[i], NULL)) return true;
    }
    for (size_t i = 0; i < a->n_aliases; i++) {
        const model_alias *m = &a->aliases[i];
        unsigned kinds = kinds_of(a, m->model);
        if (kinds == MODEL_GROUNDED && !is_collection(a, r, m->model)) continue;
        if (kinds && fn(ctx, m->name, first_of(kinds), m->model)) return true;
    }
    store_collection *list = NULL;
    size_t n = 0;
    bool stop = false;
    if (catalog_list_collections(service_catalog(a->service), app_tenant(r), &list, &n, NULL))
        n = 0;
    for (size_t i = 0; i < n; i++) {
        char id[128];
        snprintf(id, sizeof id, GROUNDED "%s", list[i].name);
        stop = stop || (app_may_use(r, list[i].name) && fn(ctx, id, MODEL_GROUNDED, NULL));
        store_collection_deinit(&list[i]);
    }
    free(list);
    return stop;
}

/* The names of some kinds in a row, as far as a sentence has room. */
typedef struct telling {
    fo_buf text;
    unsigned kinds;
    size_t n, left_out;
    const app *a;
} telling;

static bool tell(void *ctx, const char *name, enum model_kind kind, const char *alias_of) {
    telling *t = ctx;
    unsigned kinds = alias_of ? kinds_of(t->a, alias_of) : kind;
    if (!(kinds & t->kinds)) return false;
    if (t->n == TOLD_NAMES || t->text.len + strlen(name) + 2 > TOLD_BYTES) {
        t->left_out++;
        return false;
    }
    fo_buf_str(&t->text, t->n++ ? ", " : "");
    fo_buf_str(&t->text, name);
    return false;
}

int model_names_refuse(app *a, const http_request *r, const char *asked, unsigned kinds,
                       fo_err *err) {
    telling t = {.kinds = kinds, .a = a};
    unsigned other = asked ? kinds_of(a, own_name(a, asked)) & ~kinds : 0;
    char what[200] = "no language model is loaded (--model)", of[64] = "";
    if (asked && other)
        fo_utf8_print(what, sizeof what, "'%.80s' is of another kind (%s)", asked,
                      model_kind_name(first_of(other)));
    else if (asked && own_name(a, asked) != asked)
        fo_utf8_print(what, sizeof what, "'%.60s' stands for %.80s, which is not there", asked,
                      own_name(a, asked));
    else if (asked)
        fo_utf8_print(what, sizeof what, "there is no model '%.80s'", asked);
    fo_buf_str(&t.text, "");
    model_names_each(a, r, tell, &t);
    if (t.left_out) snprintf(of, sizeof of, " and %zu more (GET /v1/models)", t.left_out);
    int rc = fo_fail_field(err, FO_ENOTFOUND, "model", "%s; %s%s%s%s", what,
                           t.n ? "there are: " : "there is none of the kind asked for", t.text.data,
                           of, asked && t.n ? "; --model-alias gives one another name" : "");
    fo_buf_free(&t.text);
    return rc;
}

int model_names_find(model_choice *out, app *a, const http_request *r, const char *asked,
                     unsigned kinds, fo_err *err) {
    *out = (model_choice){0};
    if (!asked) {
        for (int i = 0; i < N_LOADED && !out->name; i++)
            if (kinds & loaded_kinds[i])
                *out = (model_choice){loaded_kinds[i], loaded(a, loaded_kinds[i]), NULL};
        return out->name ? FO_OK : model_names_refuse(a, r, asked, kinds, err);
    }
    const char *name = own_name(a, asked);
    unsigned fits = kinds_of(a, name) & kinds;
    if (!fits) return model_names_refuse(a, r, asked, kinds, err);
    out->kind = first_of(fits);
    out->name = name;
    if (out->kind == MODEL_GROUNDED) out->collection = name + strlen(GROUNDED);
    return FO_OK;
}

int model_aliases_check(app *a, fo_err *err) {
    for (size_t i = 0; i < a->n_aliases; i++) {
        const model_alias *m = &a->aliases[i];
        if (kinds_of(a, m->name))
            return fo_fail_field(err, FO_EINVAL, "model-alias",
                                 "'%.100s': a model or collection goes by that name already",
                                 m->name);
        for (size_t k = 0; k < i; k++)
            if (!strcmp(a->aliases[k].name, m->name))
                return fo_fail_field(err, FO_EINVAL, "model-alias", "'%.100s' is given twice",
                                     m->name);
        if (kinds_of(a, m->model)) continue;
        fo_err names = {0};
        model_names_refuse(a, NULL, m->model, MODEL_GENERATOR | MODEL_EMBEDDER | MODEL_RERANKER,
                           &names);
        return fo_fail_field(err, FO_EINVAL, "model-alias", "'%.100s': %.380s", m->name, names.msg);
    }
    return FO_OK;
}
