#include "retrieval/generator/generator.h"

const char *const generator_reuse_names[] = {
    [REUSE_EXACT] = "exact",
    [REUSE_CHUNK] = "chunk",
    [REUSE_OFF] = "off",
    NULL,
};

const char *const generator_remasking_names[] = {"confidence", "entropy", "margin",
                                                 "random",     "origin",  NULL};
const char *const generator_diffusion_kv_names[] = {"off", "prompt", "prefix", "dual", NULL};

int generator_lay_out(generator *g, const generator_prompt *p, generator_layout **out,
                      fo_err *err) {
    return g->methods->lay_out(g, p, out, err);
}

void generator_layout_free(generator_layout *l) {
    if (l) l->generator->methods->layout_free(l);
}

int generator_start(generator *g, const generator_layout *l, const generator_options *o,
                    generator_stream **out, int64_t *retry_after_ms, fo_err *err) {
    if (retry_after_ms) *retry_after_ms = 0;
    return g->methods->start(g, l, o, out, retry_after_ms, err);
}

bool generator_next(generator_stream *s, int timeout_ms, generator_event *ev, fo_buf *text) {
    return s->generator->methods->next(s, timeout_ms, ev, text);
}

void generator_cancel(generator_stream *s) {
    s->generator->methods->cancel(s);
}

void generator_stream_free(generator_stream *s) {
    if (s) s->generator->methods->stream_free(s);
}

const generator_info *generator_get_info(const generator *g) {
    return &g->info;
}

bool generator_ready(const generator *g) {
    return !g->methods->ready || g->methods->ready(g);
}

int generator_intact(const generator *g, fo_err *err) {
    return g->methods->intact ? g->methods->intact(g, err) : FO_OK;
}

bool generator_get_kept(generator *g, generator_kept *out) {
    *out = (generator_kept){0};
    if (g->methods->get_kept) g->methods->get_kept(g, out);
    return g->methods->get_kept != NULL;
}

void generator_close(generator *g) {
    if (g) g->methods->close(g);
}
