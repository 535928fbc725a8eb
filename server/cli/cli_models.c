#include "server/cli/cli_models.h"
#include "retrieval/local/local_generator.h"
#include "server/base/damage.h"
#include "server/routes/ingest_call.h"

#include <string.h>

cli_models cli_model_flags = {.keep_originals = 1 << 30};

void cli_models_apply(service_options *o) {
    const cli_models *f = &cli_model_flags;
    o->embed_model = f->embed;
    o->query_prefix = f->query_prefix;
    o->passage_prefix = f->passage_prefix;
}

/* What --ocr says, into *to (enum ingest_ocr). FO_EINVAL names it, or that it cannot be done here. */
static int apply_ocr(int *to, fo_err *err) {
    const cli_models *f = &cli_model_flags;
    *to = f->ocr ? ingest_ocr_named(f->ocr) : INGEST_OCR_DEFAULT;
    if (f->ocr && !*to)
        return fo_fail_field(err, FO_EINVAL, "ocr", "--ocr is off, auto or force, not '%.40s'",
                             f->ocr);
    return FO_OK;
}

bool cli_ocr_is_on(void) {
    return cli_model_flags.ocr && strcmp(cli_model_flags.ocr, "off") != 0;
}

bool cli_reranks(void) {
    return cli_model_flags.rerank != NULL;
}

static bool lies_in(const void *p, const void *object, size_t n) {
    return (uintptr_t)p >= (uintptr_t)object && (uintptr_t)p - (uintptr_t)object < n;
}

/* Told by where its value goes, so that no list of names has to keep step with the tables. */
static bool is_for_home(const cli_option *option) {
    const cli_models *f = &cli_model_flags;
    if (option->out == &f->ocr || option->out == &f->ocr_language) return false;
    return lies_in(option->out, f, sizeof *f) ||
           lies_in(option->out, &engine_flag_values, sizeof engine_flag_values);
}

int cli_models_refuse_for_url(const cli_option *options) {
    for (const cli_option *option = options; option->name; option++)
        if (is_for_home(option) && cli_flagged(option->name))
            return cli_wrong_usage("with --url the service goes by the settings that it was "
                                   "started with: --%s is for --home",
                                   option->name);
    return 0;
}

int cli_models_open(service **out, const service_options *o, fo_err *err) {
    const cli_models *f = &cli_model_flags;
    engine_options e = {.model = f->model};
    int rc = engine_flags_apply(&e, err);
    if (rc) return rc;
    service_options with = *o;
    cli_models_apply(&with);
    if (!with.primes_per_s)
        with.primes_per_s = -1; /* a command answers its own question; who serves says how many */
    rc = apply_ocr(&with.ocr, err);
    if (rc) return rc;
    with.ocr_language = f->ocr_language;
    with.original_bytes = f->keep_originals ? f->keep_originals : -1;
    if (f->ingest_memory) with.ingest_memory = (uint64_t)f->ingest_memory;
    with.rerank_model = f->rerank;
    with.reader = f->reader;
    with.generator = local_generator(&e);
    with.worker_program = "/proc/self/exe";
    if (!with.notices.fn) with.notices.fn = damage_print;
    return service_open(out, &with, err);
}
