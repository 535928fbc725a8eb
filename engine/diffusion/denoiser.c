/* denoiser.c - the schedule of an answer.
 *
 *     plan    the next step that unmasks something -> rows, and of which of them logits
 *     take    logits -> candidates
 *     commit  the best candidates become tokens; which KV is good for the next pass
 *
 * With verify: plan writes down what the canvas is after each guessed step, by taking these steps with
 * the candidates of the last pass and taking them back; commit takes them with the candidates of
 * the canvases themselves, one after the other, as long as the next one is what came out.
 *
 * Kept KV, bidirectional: a whole pass computes all rows of the canvas; the passes behind it compute
 * [prompt's or block's begin, canvas' or block's end) and see the rest as it was then. Block-causal:
 * `exact` positions have the KV that they keep for ever, because no mask was before their block's
 * end when they were computed; a pass goes from there to the end of the block in work. */
#include "engine/diffusion/denoiser.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/diffusion/candidate.h"

struct denoiser {
    /* immutable after create */
    diffusion_params p;
    diffusion_model m;
    candidate_rule rule;
    int n_prompt, n_canvas, n_blocks;
    int32_t *tokens, *without; /* [n_canvas]; without: NULL, or the canvas with its prompt masked */

    /* the block in work */
    int block, begin, end; /* its positions */
    int n_steps, step;     /* of it; the next one */
    int n_masks;           /* in it, when it began */
    uint64_t before;       /* steps of the blocks before it */

    /* the planned pass */
    denoise_pass pass;
    bool planned;
    denoise_canvas canvases[1 + DENOISER_AHEAD];
    int steps[1 + DENOISER_AHEAD]; /* which step of the block goes by it */
    int32_t *asked;                /* [n_asked_most] rows of all canvases */
    candidate *found;              /* [n_asked_most] of these */

    /* the step in work */
    int n_take;       /* so many of places become tokens, at least */
    int32_t *places;  /* [n_answer] positions that may, ascending */
    int *order;       /* [n_answer] */
    double *ranks;    /* [n_answer] of masks, where the order is drawn */
    candidate *known; /* [n_answer] of positions, as far as they were asked */

    /* verify */
    int n_ahead, unit; /* denoiser_look_ahead */
    int32_t *ahead;    /* [DENOISER_AHEAD][n_canvas] tokens; NULL: nothing is verified */
    int32_t *guessed;  /* [n_answer] positions, while a pass is planned */
    bool knows;        /* known has all masks of the block */

    /* kept KV */
    bool kept;      /* there is some */
    int since;      /* denoise_pass.phase of the next one that is not whole */
    int exact;      /* block-causal: positions below this are computed for good */
    int first_mask; /* when the pass was planned */
    struct
    { /* where the last whole pass began: what is computed of the canvas since, KV too, goes by it */
        int32_t *answer; /* [n_answer] */
        int block, begin, end, n_steps, step, n_masks, n_passes;
        uint64_t before;
    } whole;

    int n_passes;
};

/* ---- blocks ------------------------------------------------------------------------------- */

static int end_of(const denoiser *d, int begin) {
    int64_t end = d->n_canvas;
    if (d->p.block_length)
        end = d->m.attention_block ? ((int64_t)begin / d->p.block_length + 1) * d->p.block_length
                                   : (int64_t)begin + d->p.block_length;
    return end < d->n_canvas ? (int)end : d->n_canvas;
}

/* Of the steps that are left a block gets the share that it has of the masks that are left, at least
 * one, and leaves one to each block behind it. */
static void begin_block(denoiser *d, int begin) {
    const int left = d->p.steps - (int)d->before - d->n_steps;
    const int behind = d->n_blocks - ++d->block;
    d->before += (uint64_t)d->n_steps;
    d->begin = begin;
    d->end = end_of(d, begin);
    d->n_masks = d->end - begin;
    d->n_steps = (int)((int64_t)left * d->n_masks / (d->n_canvas - begin));
    if (d->n_steps < 1) d->n_steps = 1;
    if (d->n_steps > left - behind) d->n_steps = left - behind;
    assert(d->n_steps > 0);
    d->step = 0;
    d->knows = false;
    if (d->p.kv != DIFFUSION_KV_PROMPT) d->kept = false;
    if (d->m.attention_block) d->since = 0;
}

/* All masks, at the first block. */
static void begin(denoiser *d) {
    for (int i = d->n_prompt; i < d->n_canvas; i++) {
        d->tokens[i] = d->m.mask;
        if (d->without) d->without[i] = d->m.mask;
    }
    d->block = d->n_steps = d->since = d->exact = d->n_passes = 0;
    d->before = 0;
    d->kept = false;
    begin_block(d, d->n_prompt);
}

static int first_mask(const denoiser *d) {
    int i = d->begin;
    while (i < d->n_canvas && d->tokens[i] != d->m.mask) i++;
    return i;
}

/* The state to which _restart goes back. */
static void note_whole(denoiser *d) {
    memcpy(d->whole.answer, d->tokens + d->n_prompt,
           (size_t)(d->n_canvas - d->n_prompt) * sizeof *d->tokens);
    d->whole.block = d->block;
    d->whole.begin = d->begin;
    d->whole.end = d->end;
    d->whole.n_steps = d->n_steps;
    d->whole.step = d->step;
    d->whole.n_masks = d->n_masks;
    d->whole.n_passes = d->n_passes;
    d->whole.before = d->before;
}

static void go_back(denoiser *d) {
    const size_t n = (size_t)(d->n_canvas - d->n_prompt) * sizeof *d->tokens;
    memcpy(d->tokens + d->n_prompt, d->whole.answer, n);
    if (d->without) memcpy(d->without + d->n_prompt, d->whole.answer, n);
    d->block = d->whole.block;
    d->begin = d->whole.begin;
    d->end = d->whole.end;
    d->n_steps = d->whole.n_steps;
    d->step = d->whole.step;
    d->n_masks = d->whole.n_masks;
    d->n_passes = d->whole.n_passes;
    d->before = d->whole.before;
}

void denoiser_restart(denoiser *d, bool dropped) {
    const int block = d->m.attention_block;
    if (block && dropped)
        begin(d);
    else if (!block && d->n_passes && d->p.kv != DIFFUSION_KV_OFF)
        go_back(d);
    d->kept = d->knows = d->planned = false;
    d->exact = 0;
    d->since = 0;
}

/* ---- create ------------------------------------------------------------------------------- */

int denoiser_create(denoiser **out, const diffusion_params *params, const diffusion_model *m,
                    int n_vocab, const int32_t *prompt, int n_prompt, int n_answer, fo_err *err) {
    assert(n_prompt > 0 && n_answer > 0);
    denoiser *d = calloc(1, sizeof *d);
    if (!d) return fo_no_memory(err);
    const size_t n = (size_t)n_prompt + (size_t)n_answer, answer = (size_t)n_answer;
    d->p = *params;
    d->m = *m;
    d->rule = (candidate_rule){.remasking = params->remasking,
                               .n_vocab = n_vocab,
                               .mask = m->mask,
                               .temperature = params->temperature,
                               .guidance = params->guidance,
                               .top_p = params->top_p,
                               .top_k = params->top_k,
                               .tempered = m->dream,
                               .weighs = params->verify != 0,
                               .seed = params->seed};
    d->n_prompt = n_prompt;
    d->n_canvas = n_prompt + n_answer;
    d->tokens = malloc(n * sizeof *d->tokens);
    if (params->guidance > 0) d->without = malloc(n * sizeof *d->without);
    size_t most = answer;
    if (params->verify && params->block_length < n_answer)
        most += (size_t)params->block_length * DENOISER_AHEAD;
    else if (params->verify)
        most += answer * DENOISER_AHEAD;
    d->asked = malloc(most * sizeof *d->asked);
    d->found = malloc(most * sizeof *d->found);
    d->places = malloc(answer * sizeof *d->places);
    d->order = malloc(answer * sizeof *d->order);
    d->ranks = malloc(answer * sizeof *d->ranks);
    d->known = malloc(answer * sizeof *d->known);
    d->whole.answer = malloc(answer * sizeof *d->whole.answer);
    bool ok = d->tokens && (d->without || params->guidance <= 0) && d->asked && d->places &&
              d->found && d->order && d->ranks && d->known && d->whole.answer;
    if (params->verify) {
        d->ahead = malloc(DENOISER_AHEAD * n * sizeof *d->ahead);
        d->guessed = malloc(answer * sizeof *d->guessed);
        ok = ok && d->ahead && d->guessed;
    }
    if (!ok) {
        denoiser_free(d);
        return fo_no_memory(err);
    }
    memcpy(d->tokens, prompt, (size_t)n_prompt * sizeof *prompt);
    for (int i = 0; d->without && i < n_prompt; i++) d->without[i] = m->mask;
    for (int at = n_prompt; at < d->n_canvas; at = end_of(d, at)) d->n_blocks++;
    begin(d);
    *out = d;
    return FO_OK;
}

void denoiser_free(denoiser *d) {
    if (!d) return;
    free(d->tokens);
    free(d->without);
    free(d->asked);
    free(d->places);
    free(d->found);
    free(d->order);
    free(d->ranks);
    free(d->known);
    free(d->whole.answer);
    free(d->ahead);
    free(d->guessed);
    free(d);
}

/* ---- plan --------------------------------------------------------------------------------- */

/* The masks of the block: d->places. How many. */
static int find_masks(denoiser *d) {
    int n = 0;
    for (int i = d->begin; i < d->end; i++)
        if (d->tokens[i] == d->m.mask) d->places[n++] = i;
    return n;
}

static double timestep(const denoiser *d, int i) {
    return 1 - (1 - (double)d->p.eps) * i / d->n_steps;
}

/* Of n masks, how many the block's next step unmasks. */
static int due(const denoiser *d, int n) {
    if (d->step + 1 >= d->n_steps) return n;
    if (d->p.eps > 0) return (int)(n * (1 - timestep(d, d->step + 1) / timestep(d, d->step)));
    int share = d->n_masks / d->n_steps + (d->step < d->n_masks % d->n_steps);
    return share < n ? share : n;
}

/* Of n masks, those that their own draws unmask in this step stay in places. */
static int draw_each(denoiser *d, int n, uint64_t step) {
    if (d->step + 1 >= d->n_steps) return n;
    const double share = d->p.eps > 0 ? 1 - timestep(d, d->step + 1) / timestep(d, d->step)
                                      : 1.0 / (d->n_steps - d->step);
    int kept = 0;
    for (int i = 0; i < n; i++)
        if (diffusion_uniform(d->p.seed, step, d->places[i], -2) < share)
            d->places[kept++] = d->places[i];
    return kept;
}

/* Is place a before place b: higher, or as high and lower in number? */
static bool before(const double *scores, int a, int b) {
    return scores[a] == scores[b] ? a < b : scores[a] > scores[b];
}

/* heap[n]: the last of them on top. */
static void sift(int *heap, int n, int i, const double *scores) {
    for (;;) {
        int last = i;
        for (int c = 2 * i + 1; c <= 2 * i + 2 && c < n; c++)
            if (before(scores, heap[last], heap[c])) last = c;
        if (last == i) return;
        int x = heap[i];
        heap[i] = heap[last];
        heap[last] = x;
        i = last;
    }
}

/* Bring the n_take highest of scores[n] to the front of order[], in any order; of two that are equal the lower
 * place. A canvas may have tens of thousands of places, and the engine waits. */
static void rank(int *order, int n, int n_take, const double *scores) {
    for (int i = 0; i < n; i++) order[i] = i;
    for (int i = n_take / 2; i-- > 0;) sift(order, n_take, i, scores);
    for (int i = n_take; i < n && n_take; i++) {
        if (!before(scores, order[i], order[0])) continue;
        int x = order[i];
        order[i] = order[0];
        order[0] = x;
        sift(order, n_take, 0, scores);
    }
}

/* Of n masks the n_take that a drawn order brings first stay in places, ascending. */
static void draw_order(denoiser *d, int n, int n_take, uint64_t step) {
    for (int i = 0; i < n; i++) d->ranks[i] = diffusion_uniform(d->p.seed, step, d->places[i], -1);
    rank(d->order, n, n_take, d->ranks);
    for (int i = 0; i < n; i++) d->ranks[i] = 0;
    for (int i = 0; i < n_take; i++) d->ranks[d->order[i]] = 1;
    int kept = 0;
    for (int i = 0; i < n; i++)
        if (d->ranks[i] > 0) d->places[kept++] = d->places[i];
}

/* places[n]: the masks; then what the step may unmask, all masks where that is nothing. Returns how many these are;
 * d->n_take of them it will. */
static int choose_places(denoiser *d, int n, uint64_t step) {
    if (d->p.remasking == DIFFUSION_ORIGIN) return d->n_take = draw_each(d, n, step);
    d->n_take = due(d, n);
    if (d->p.remasking == DIFFUSION_RANDOM) {
        if (d->n_take) draw_order(d, n, d->n_take, step);
        return d->n_take;
    }
    return d->n_take || (d->p.threshold > 0 && !d->ahead) ? n : 0;
}

/* Go to the block's next step that unmasks something: how many places it has. There are masks in the block. */
static int next_step(denoiser *d) {
    /* Of a million steps most unmask nothing: passing over one costs no look at the canvas. */
    const int n_masks = find_masks(d);
    int n;
    while (!(n = choose_places(d, n_masks, d->before + (uint64_t)d->step))) d->step++;
    return n;
}

/* Which of places[n] become tokens, by what is known of them: the first of order[]. How many. */
static int choose_tokens(denoiser *d, int n) {
    int taken = d->n_take;
    for (int i = 0; i < n; i++) d->ranks[i] = d->known[d->places[i] - d->n_prompt].score;
    if (d->p.threshold > 0 && !d->ahead) {
        int sure = 0;
        for (int i = 0; i < n; i++) sure += d->ranks[i] > (double)d->p.threshold;
        if (sure > taken) taken = sure;
        if (taken < 1) taken = 1;
    }
    rank(d->order, n, taken, d->ranks);
    return taken;
}

static void unmask(denoiser *d, int at) {
    d->tokens[at] = d->known[at - d->n_prompt].token;
    if (d->without) d->without[at] = d->tokens[at];
}

/* With shifted logits the row before the first mask has its logits: it is computed as well. */
static void choose_rows(denoiser *d) {
    denoise_pass *p = &d->pass;
    const int kv = d->p.kv;
    p->to = p->n_keys = p->work_to = d->n_canvas;
    p->work_from = d->n_prompt;
    if (kv != DIFFUSION_KV_PROMPT || d->m.attention_block)
        p->work_from = d->begin, p->work_to = d->end;
    if (d->m.attention_block) {
        p->to = p->n_keys = d->end;
        p->from = kv == DIFFUSION_KV_OFF ? 0 : d->exact;
        p->whole = false;
        p->phase = d->since;
        if (d->m.shift && p->from == d->begin) p->from--;
    } else {
        p->whole =
            kv == DIFFUSION_KV_OFF || !d->kept || (d->p.refresh > 0 && d->since >= d->p.refresh);
        p->from = p->whole ? 0 : kv == DIFFUSION_KV_PROMPT ? d->n_prompt : d->begin;
        p->phase = p->whole ? 0 : d->since;
        if (!p->whole && kv == DIFFUSION_KV_DUAL) p->to = d->end;
        if (!p->whole && d->m.shift && d->tokens[p->from] == d->m.mask) p->from--;
    }
}

/* A canvas of rows from `from` on that wants logits of places[n] joins the pass. */
static void add_canvas(denoiser *d, const int32_t *tokens, int from, int n) {
    denoise_pass *p = &d->pass;
    denoise_canvas *x = &d->canvases[p->n_canvases];
    int32_t *asked = d->asked + p->n_asked;
    for (int i = 0; i < n; i++) asked[i] = d->places[i] - d->m.shift - from;
    *x = (denoise_canvas){from, tokens + from, n, asked};
    d->steps[p->n_canvases++] = d->step;
    p->n_asked += n;
}

/* The block as it will be if the steps from the next one on take what is known, as far as that is
 * surer than the threshold. A block without masks needs no pass. */
static void look_ahead(denoiser *d) {
    const int step = d->step, from = d->pass.from / d->unit * d->unit;
    int n_guessed = 0;
    for (bool sure = d->knows; sure && d->pass.n_canvases <= d->n_ahead;) {
        const int taken = choose_tokens(d, next_step(d));
        for (int i = 0; i < taken && sure; i++)
            sure =
                d->known[d->places[d->order[i]] - d->n_prompt].probability > (double)d->p.threshold;
        for (int i = 0; i < taken && sure; i++) {
            const int at = d->places[d->order[i]];
            unmask(d, at);
            d->guessed[n_guessed++] = at;
        }
        d->step++;
        if (!sure || first_mask(d) >= d->end) break;
        next_step(d);
        int32_t *tokens = d->ahead + (size_t)(d->pass.n_canvases - 1) * (size_t)d->n_canvas;
        memcpy(tokens + from, d->tokens + from, (size_t)(d->pass.to - from) * sizeof *tokens);
        add_canvas(d, tokens, from, find_masks(d));
    }
    for (int i = 0; i < n_guessed; i++) d->tokens[d->guessed[i]] = d->m.mask;
    d->step = step;
}

const denoise_pass *denoiser_plan(denoiser *d) {
    if (d->planned) return &d->pass;
    int n = 0;
    for (;;) {
        d->first_mask = first_mask(d);
        if (d->first_mask >= d->end) {
            if (d->end == d->n_canvas) return NULL;
            begin_block(d, d->end);
            continue;
        }
        n = next_step(d);
        break;
    }
    choose_rows(d);
    if (d->pass.whole) note_whole(d);
    d->pass.n_asked = d->pass.n_canvases = 0;
    d->pass.canvases = d->canvases;
    add_canvas(d, d->tokens, d->pass.from, d->ahead ? find_masks(d) : n);
    if (d->n_ahead) look_ahead(d);
    d->planned = true;
    return &d->pass;
}

void denoiser_look_ahead(denoiser *d, int n, int unit) {
    assert(d->ahead && !d->planned && n >= 0 && n <= DENOISER_AHEAD && unit > 0);
    d->n_ahead = n;
    d->unit = unit;
}

void denoiser_attach(denoiser *d, int n) {
    assert(d->m.attention_block && n % d->m.attention_block == 0 && n <= first_mask(d));
    assert(d->exact == 0 && !d->without);
    if (d->p.kv == DIFFUSION_KV_OFF) return;
    d->exact = n;
    d->planned = false;
}

int denoiser_exact(const denoiser *d) {
    /* With shifted logits the row before the block is computed again. */
    return d->m.shift && d->exact >= d->begin ? d->begin - 1 : d->exact;
}

int denoiser_rows(denoiser *d) {
    const denoise_pass *p = denoiser_plan(d);
    if (!p) return 0;
    if (d->without) return (p->to - p->from) * 2;
    int n = 0;
    for (int i = 0; i < p->n_canvases; i++) n += p->to - p->canvases[i].from;
    return n;
}

const int32_t *denoiser_tokens(const denoiser *d, bool without) {
    return without ? d->without : d->tokens;
}

/* ---- take and commit ---------------------------------------------------------------------- */

void denoiser_take(denoiser *d, int k, float *logits, const float *without) {
    assert(d->planned && k >= 0 && k < d->pass.n_asked && !without == !d->without);
    int c = 0;
    while (c + 1 < d->pass.n_canvases && d->canvases[c + 1].asked <= d->asked + k) c++;
    const int at = d->asked[k] + d->canvases[c].from + d->m.shift;
    d->found[k] = candidate_take(&d->rule, logits, without, d->before + (uint64_t)d->steps[c], at);
}

static void keep_kv(denoiser *d) {
    const int block = d->m.attention_block;
    if (block) {
        const int whole = d->first_mask / block * block;
        d->since++;
        d->exact = d->p.kv == DIFFUSION_KV_OFF ? 0 : whole < d->pass.to ? whole : d->pass.to;
        return;
    }
    d->since = d->pass.whole ? 1 : d->since + 1;
    d->kept = true;
}

/* The step that goes by canvas c, which is what the canvas is now. How many masks it unmasked. */
static int take_step(denoiser *d, int c) {
    const denoise_canvas *x = &d->canvases[c];
    const candidate *found = d->found + (x->asked - d->asked);
    for (int i = 0; i < x->n_asked; i++)
        d->known[x->asked[i] + x->from + d->m.shift - d->n_prompt] = found[i];
    const int n = next_step(d), taken = choose_tokens(d, n);
    assert(d->step == d->steps[c]);
    for (int i = 0; i < taken; i++) unmask(d, d->places[d->order[i]]);
    d->step++;
    return taken;
}

static bool came_true(const denoiser *d, const denoise_canvas *x) {
    return memcmp(x->tokens, d->tokens + x->from,
                  (size_t)(d->pass.to - x->from) * sizeof *x->tokens) == 0;
}

int denoiser_commit(denoiser *d) {
    assert(d->planned);
    int taken = take_step(d, 0);
    for (int c = 1; c < d->pass.n_canvases && came_true(d, &d->canvases[c]); c++)
        taken += take_step(d, c);
    d->knows = d->ahead != NULL;
    keep_kv(d);
    d->n_passes++;
    d->planned = false;
    return taken;
}

int denoiser_final(const denoiser *d) {
    return first_mask(d) - d->n_prompt;
}

int denoiser_passes(const denoiser *d) {
    return d->n_passes;
}
