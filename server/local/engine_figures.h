/* engine_figures.h - what the language model of this process says of itself, written for the routes that
 * report it: its requests and steps, its KV. Each takes the service's generator; of none, or of
 * another kind than this process's own, there is less to say. */
#ifndef FORAGE_SERVER_ENGINE_FIGURES_H
#define FORAGE_SERVER_ENGINE_FIGURES_H

#include "retrieval/generator/generator.h"
#include "server/base/json.h"

/* What /v1 calls the model: its name, or its architecture where it has none. NULL: it is not of this
 * process, and takes no prompts of its own there. */
const char *engine_figures_name(generator *g);

/* Why what it is asked is ChatML and not what its own chat template makes of it; NULL: it is the template's, or the
 * model is not of this process. */
const char *engine_figures_chatml(generator *g);

/* "generator": its name, its chat template (own, or chatml and why) and all figures; null without one. */
void engine_figures_json(json_out *o, generator *g);
/* Families for /metrics. It waits for nobody. */
void engine_figures_metrics(generator *g, fo_buf *b);
/* The object that /analytics/kv gives: one letter a page, what a picture of the cache is drawn
 * from. FO_ENOMEM. */
int engine_figures_kv_map(json_out *o, generator *g);

/* What the layers of KV hold now; zeros without any. */
typedef struct engine_kv_use {
    uint64_t page_bytes, page_evictions;
    uint64_t ram_bytes, ram_evictions; /* chunks' KV */
    uint64_t disk_bytes, disk_evictions;
} engine_kv_use;
void engine_figures_kv_use(generator *g, engine_kv_use *out);

#endif
