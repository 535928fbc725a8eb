#include "server/cli/cli_models.h"
#include "retrieval/local/local_generator.h"
#include "server/base/damage.h"

cli_models cli_model_flags;

void cli_models_apply(service_options *o) {
    const cli_models *f = &cli_model_flags;
    o->embed_model = f->embed;
    o->query_prefix = f->query_prefix;
    o->passage_prefix = f->passage_prefix;
}

int cli_models_open(service **out, const service_options *o, fo_err *err) {
    const cli_models *f = &cli_model_flags;
    engine_options e = {.model = f->model};
    int rc = engine_flags_apply(&e, err);
    if (rc) return rc;
    service_options with = *o;
    cli_models_apply(&with);
    with.rerank_model = f->rerank;
    with.reader = f->reader;
    with.generator = local_generator(&e);
    with.worker_program = "/proc/self/exe";
    if (!with.notices.fn) with.notices.fn = damage_print;
    return service_open(out, &with, err);
}
