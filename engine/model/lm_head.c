#include "engine/model/lm_head.h"

#include <math.h>
#include <stdlib.h>

/* --- how long the weights are --- */
typedef struct measure_job {
    const model *m;
    const gguf_tensor *t;
    float *rows; /* [threads][k] */
} measure_job;

static void measure_some(void *arg, size_t begin, size_t end, int thread) {
    const measure_job *j = arg;
    const model *m = j->m;
    const size_t k = (size_t)m->head.k, n = (size_t)m->info.n_vocab;
    float *w = j->rows + (size_t)thread * k;
    for (size_t s = begin; s < end; s++) {
        const size_t first = s * LM_HEAD_STRETCH * MM_PANEL,
                     last = first + LM_HEAD_STRETCH * MM_PANEL;
        float most = 0;
        for (size_t r = first; r < last && r < n; r++) {
            forward_embed(j->t, (int)r, w);
            most = fmaxf(most, m->vec->dot(w, w, (int)k));
        }
        m->head_norms[s] = sqrtf(most);
        gguf_forget(m->file, (const unsigned char *)j->t->data + first * j->t->row_bytes,
                    ((last < n ? last : n) - first) * j->t->row_bytes);
    }
}

int lm_head_measure(model *m, const gguf_tensor *t, fo_err *err) {
    const size_t n = (size_t)lm_head_stretches(&m->head);
    const size_t threads = m->pool ? (size_t)fo_pool_threads(m->pool) : 1;
    m->head_norms = model_own(m, malloc(n * sizeof *m->head_norms));
    float *rows = malloc(threads * (size_t)m->head.k * sizeof *rows);
    if (!m->head_norms || !rows) {
        free(rows);
        return fo_fail(err, FO_ENOMEM, "no memory to measure the head");
    }
    measure_job job = {m, t, rows};
    if (m->pool)
        fo_pool_run(m->pool, n, 1, measure_some, &job);
    else
        measure_some(&job, 0, n, 0);
    free(rows);
    return FO_OK;
}

/* --- the second term --- */
/* The second term is itself rounded, to 1/100 of the largest of its group at worst, and sums of
 * floats are not exact: more than both can add to |rest|. */
#define SLACK 1.05f
typedef struct refine_job {
    forward *f;
    mm_input second;
    int rows;
    float *out;
} refine_job;

/* The best logits of some stretches, with their first terms. */
static void survey_some(void *arg, size_t begin, size_t end, int thread) {
    (void)thread;
    const refine_job *j = arg;
    const model *m = j->f->m;
    const int wide = LM_HEAD_STRETCH * MM_PANEL, n_vocab = m->info.n_vocab;
    const size_t n_stretches = (size_t)lm_head_stretches(&m->head);
    for (size_t s = begin; s < end; s++) {
        const int first = (int)s * wide, n = n_vocab - first < wide ? n_vocab - first : wide;
        for (int r = 0; r < j->rows; r++)
            j->f->head_tops[(size_t)r * n_stretches + s] =
                m->vec->max(j->out + (size_t)r * (size_t)m->head.n_out + first, n);
    }
}

/* How far the second term can move a logit, and what the best logit is therefore not below. */
static void set_bar(forward *f, int row) {
    const model *m = f->m;
    const int n = lm_head_stretches(&m->head);
    const float *rest = f->rest + (size_t)row * (size_t)f->d_stride;
    const float *top = f->head_tops + (size_t)row * (size_t)n;
    const float length = SLACK * sqrtf(m->vec->dot(rest, rest, m->head.k));
    float bar = -INFINITY;
    for (int s = 0; s < n; s++) bar = fmaxf(bar, top[s] - length * m->head_norms[s]);
    f->head_rests[row] = length;
    f->head_bars[row] = bar;
}

static void refine_stretch(const refine_job *j, int row, int s) {
    const model *m = j->f->m;
    const mm_weights *w = &m->head.w[0];
    const float bar = j->f->head_bars[row] - j->f->head_rests[row] * m->head_norms[s];
    if (j->f->head_tops[(size_t)row * (size_t)lm_head_stretches(&m->head) + (size_t)s] < bar)
        return;
    const int first = s * LM_HEAD_STRETCH;
    const int last = first + LM_HEAD_STRETCH < w->n_panels ? first + LM_HEAD_STRETCH : w->n_panels;
    for (int p = first; p < last; p++) {
        const int left = m->info.n_vocab - p * MM_PANEL;
        const float *logits = j->out + (size_t)row * (size_t)m->head.n_out + p * MM_PANEL;
        if (m->vec->max(logits, left < MM_PANEL ? left : MM_PANEL) >= bar)
            m->mm->run[w->kind](w, &j->second, row, row + 1, p, p + 1, j->out,
                                (size_t)m->head.n_out);
    }
}

static void refine_some(void *arg, size_t begin, size_t end, int thread) {
    (void)thread;
    const refine_job *j = arg;
    for (size_t s = begin; s < end; s++)
        for (int r = 0; r < j->rows; r++) refine_stretch(j, r, (int)s);
}

static void over_stretches(forward *f, size_t grain, fo_pool_fn *fn, refine_job *job) {
    const size_t n = (size_t)lm_head_stretches(&f->m->head);
    if (f->pool)
        fo_pool_run(f->pool, n, grain, fn, job);
    else
        fn(job, 0, n, 0);
}

void lm_head_logits(forward *f, int rows, float *out) {
    const linear *head = &f->m->head;
    mm_input in;
    forward_input(f, head, f->xn, f->d_stride, rows, &in);
    forward_linear(f, head, &in, rows, out, head->n_out);
    if (!head->two_terms) return;
    refine_job job = {f, forward_second_term(f, head, &in), rows, out};
    over_stretches(f, 4, survey_some, &job);
    for (int r = 0; r < rows; r++) set_bar(f, r);
    over_stretches(f, 1, refine_some, &job);
}
