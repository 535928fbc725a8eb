#include "server/cli/cli_models.h"

cli_models cli_model_flags;

int cli_models_open(service **out, const service_options *o, fo_err *err) {
    const cli_models *f = &cli_model_flags;
    engine_options e = {0};
    int rc = engine_flags_apply(&e, err);
    if (rc) return rc;
    service_options with = *o;
    with.embed_model = f->embed;
    with.query_prefix = f->query_prefix;
    with.passage_prefix = f->passage_prefix;
    with.rerank_model = f->rerank;
    with.model = f->model;
    with.engine = &e;
    return service_open(out, &with, err);
}
