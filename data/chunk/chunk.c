/* Text becomes chunks in three steps:
 *
 *   units   blocks are cut into sentences (prose), lines (code) or taken whole (rows, headings);
 *           what is longer than a chunk is cut between words, then between graphemes, and only a
 *           grapheme that is itself too long between code points
 *   packing units are taken while they fit; the cut is then moved back to the strongest boundary
 *           that leaves the chunk reasonably full
 *   overlap the next chunk begins with the last units of this one, up to `overlap` tokens, but
 *           never reaches back over a heading
 *
 * The counter is called once for each unit and a few times for each chunk (the joined text may
 * count other than the sum), so the work is linear in the text. Units are packed as they come: no
 * more of them are held than a chunk and its overlap are made of. */
#include "data/chunk/chunk.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "kernels/buf.h"
#include "data/extract/chat_turn.h"
#include "kernels/utf8.h"

enum {
    MAX_BYTES_PER_TOKEN = 64, /* longer than this many bytes a token: cut without counting first */
    MAX_BYTES_UNSPACED = 16,  /* the same for text without spaces */
    MAX_SENTENCE = 64 << 10,  /* bytes, or what a chunk may have of them: cut before its end */
};

/* What kind of boundary lies before a unit, weakest first. */
enum boundary {
    INSIDE_CODE, /* of a block that fits into a chunk: only if nothing else is left */
    BEFORE_WORD,
    BEFORE_SENTENCE,
    BEFORE_BLOCK,
    BEFORE_HEADING,
};

typedef struct unit {
    size_t start, end;
    size_t n_tokens;
    uint8_t before; /* enum boundary */
    bool heading;
} unit;

typedef struct output {
    chunk *list;
    size_t n, cap;
    const extracted *x;
    size_t block;           /* next block that may be a heading */
    size_t h_start, h_end;  /* nearest heading above */
    bool h_named;           /* it is the name of what code defines */
    size_t at_bytes, at_cp; /* a place and its number of code points */
} output;

typedef struct splitter {
    const char *text;
    size_t len;
    size_t max_tokens, overlap;
    chunk_count_fn *count;
    void *count_ctx;
    doc_budget *budget;
    int failure; /* FO_OK, FO_ENOMEM, or the budget's: everything ends at it */
    /* units that are not wholly packed yet */
    unit *units;
    size_t n_units, cap_units;
    /* packing: the chunk at hand is units [first, fits); sum: of their tokens */
    size_t first, fresh; /* fresh: the first unit that no chunk has had yet */
    size_t fits, sum;
    output out;
} splitter;

static int32_t space_cp(const char *s, size_t len, size_t at, size_t *n) {
    int32_t cp;
    *n = fo_utf8_decode(s + at, len - at, &cp);
    return cp;
}

/* Bytes of the white space at s[at], 0 if there is none. */
static size_t space_at(const char *s, size_t len, size_t at) {
    unsigned char c = (unsigned char)s[at];
    if (c < 0x80) return c <= ' ';
    if (c != 0xC2 && c != 0xE1 && c != 0xE2 && c != 0xE3) return 0;
    size_t n;
    int32_t cp = space_cp(s, len, at, &n);
    bool space = cp == 0xA0 || cp == 0x85 || cp == 0x1680 || (cp >= 0x2000 && cp <= 0x200A) ||
                 cp == 0x2028 || cp == 0x2029 || cp == 0x202F || cp == 0x205F || cp == 0x3000;
    return space ? n : 0;
}

static size_t skip_space(const char *s, size_t end, size_t at) {
    size_t n;
    while (at < end && (n = space_at(s, end, at)) > 0) at += n;
    return at;
}

static size_t trim_end(const char *s, size_t start, size_t end) {
    while (end > start) {
        size_t at = end - 1;
        while (at > start && !fo_utf8_boundary(s[at])) at--;
        if (space_at(s, end, at) != end - at) break;
        end = at;
    }
    return end;
}

static size_t count_words(void *ctx, const char *text, size_t len) {
    (void)ctx;
    size_t n = 0;
    for (size_t at = skip_space(text, len, 0); at < len; at = skip_space(text, len, at)) {
        n++;
        while (at < len && !space_at(text, len, at)) at++;
    }
    return n;
}

static bool go_on(splitter *s, size_t bytes) {
    if (!s->failure && !doc_budget_go_on(s->budget, bytes)) s->failure = s->budget->failure;
    return s->failure == FO_OK;
}

static size_t count(splitter *s, size_t start, size_t end) {
    go_on(s, end - start);
    return s->count(s->count_ctx, s->text + start, end - start);
}

/* Room for one more element of an array, which the budget counts as it grows; NULL: none. */
static void *grow(splitter *s, void *array, size_t n, size_t *cap, size_t size) {
    if (n < *cap) return array;
    size_t more = *cap ? *cap * 2 : 64, bytes;
    void *grown = NULL;
    if (!doc_budget_take(s->budget, (more - *cap) * size))
        s->failure = s->budget->failure;
    else if (!fo_mul_size(more, size, &bytes) || !(grown = realloc(array, bytes)))
        s->failure = FO_ENOMEM;
    if (grown) *cap = more;
    return grown;
}

static void pack(splitter *s, bool last);

static void add_unit(splitter *s, size_t start, size_t end, size_t n_tokens, uint8_t before,
                     bool heading) {
    if (s->failure) return;
    unit *units = grow(s, s->units, s->n_units, &s->cap_units, sizeof *units);
    if (!units) return;
    s->units = units;
    s->units[s->n_units++] = (unit){start, end, n_tokens, before, heading};
    pack(s, false);
}

/* ---- cutting what is too long ------------------------------------------------------------ */

/* The last grapheme boundary in (start, limit], or the first one after start if none is there;
 * falls back to code points where one grapheme is longer than the whole window. */
static size_t grapheme_cut(const splitter *s, size_t start, size_t limit, size_t end) {
    utf8proc_int32_t state = 0;
    size_t best = start, at = start, n;
    int32_t prev = space_cp(s->text, end, at, &n);
    at += n;
    while (at < end && at <= limit) {
        int32_t cp = space_cp(s->text, end, at, &n);
        if (utf8proc_grapheme_break_stateful(prev, cp, &state)) best = at;
        prev = cp;
        at += n;
    }
    if (at >= end && end <= limit) best = end;
    return best;
}

static size_t code_point_cut(const splitter *s, size_t start, size_t limit) {
    while (limit > start && !fo_utf8_boundary(s->text[limit])) limit--;
    if (limit > start) return limit;
    int32_t cp;
    return start + fo_utf8_decode(s->text + start, s->len - start, &cp);
}

/* Text without spaces: windows that fit, each found in a few counts. */
static void split_unspaced(splitter *s, size_t start, size_t end, size_t target, uint8_t before) {
    size_t window = target * 3;
    while (start < end && !s->failure) {
        size_t cut = end - start <= window ? end : 0, n = 0;
        for (;;) {
            if (!cut) {
                cut = grapheme_cut(s, start, start + window, end);
                if (cut == start) cut = code_point_cut(s, start, start + window);
            }
            n = count(s, start, cut);
            if (n <= target) break;
            size_t smaller = (cut - start) * target / n;
            if (smaller >= cut - start) smaller = cut - start - 1;
            if (smaller < 1 || cut == code_point_cut(s, start, start + 1)) break;
            window = smaller;
            cut = 0;
        }
        add_unit(s, start, cut, n, before, false);
        before = BEFORE_WORD;
        if (n < target / 2 && window < target * MAX_BYTES_UNSPACED) window *= 2;
        start = cut;
    }
}

/* Words start .. end as one unit; one by one where the white space between them costs too much. */
static void add_run(splitter *s, size_t start, size_t end, uint8_t before) {
    size_t n = count(s, start, end);
    if (n <= s->max_tokens) {
        add_unit(s, start, end, n, before, false);
        return;
    }
    for (size_t at = start; at < end && !s->failure; at = skip_space(s->text, end, at)) {
        size_t word = at;
        while (at < end && !space_at(s->text, end, at)) at++;
        add_unit(s, word, at, count(s, word, at), before, false);
        before = BEFORE_WORD;
    }
}

/* A sentence longer than a chunk: runs of words, small enough to serve as overlap. */
static void split_words(splitter *s, size_t start, size_t end, uint8_t before) {
    size_t target = s->overlap >= 8 ? s->overlap : s->max_tokens / 8;
    size_t run_start = start, run_end = start, run_tokens = 0;
    for (size_t at = start; at < end && !s->failure;) {
        size_t word = at;
        while (at < end && !space_at(s->text, end, at) &&
               at - word <= s->max_tokens * MAX_BYTES_UNSPACED)
            at++;
        bool whole = at >= end || space_at(s->text, end, at);
        while (!whole && at < end && !space_at(s->text, end, at)) at++;
        size_t n = whole ? count(s, word, at) : SIZE_MAX;
        bool fits = n <= s->max_tokens;
        bool long_run = at - run_start > s->max_tokens * MAX_BYTES_PER_TOKEN;
        if (run_end > run_start && (!fits || run_tokens + n > target || long_run)) {
            add_run(s, run_start, run_end, before);
            before = BEFORE_WORD;
            run_start = run_end;
        }
        if (!fits) {
            split_unspaced(s, word, at, s->max_tokens, before);
            before = BEFORE_WORD;
        }
        size_t next = skip_space(s->text, end, at);
        if (!fits) {
            run_start = run_end = next;
            run_tokens = 0;
        } else {
            if (run_start == run_end) {
                run_start = word;
                run_tokens = 0;
            }
            run_end = at;
            run_tokens += n;
        }
        at = next;
    }
    if (run_end > run_start) add_run(s, run_start, run_end, before);
}

/* One piece that should stay whole if it fits. */
static void add_piece(splitter *s, size_t start, size_t end, uint8_t before, bool heading) {
    start = skip_space(s->text, end, start);
    end = trim_end(s->text, start, end);
    if (start >= end) return;
    if (end - start <= s->max_tokens * MAX_BYTES_PER_TOKEN) {
        size_t n = count(s, start, end);
        if (n <= s->max_tokens) {
            add_unit(s, start, end, n, before, heading);
            return;
        }
    }
    split_words(s, start, end, before);
}

/* The end of the sentence that begins at `at`, or of a part of it that no chunk would take whole
 * (*whole false): a text without stops is one sentence to its end, however long it is. */
static size_t sentence_within(const splitter *s, size_t at, size_t end, bool *whole) {
    size_t most = s->max_tokens * MAX_BYTES_PER_TOKEN;
    if (most < MAX_SENTENCE) most = MAX_SENTENCE;
    if (end - at <= most) return sentence_end(s->text, end, at);
    size_t window = at + most, stop;
    while (window > at + 1 && !fo_utf8_boundary(s->text[window])) window--;
    stop = sentence_end(s->text, window, at);
    if (stop < window) return stop;
    *whole = false;
    for (size_t back = window; back > at + most / 2; back--)
        if (space_at(s->text, end, back)) return back;
    return window;
}

/* Between two lines of code that is too long for a chunk: is there an empty one? */
static bool is_parted(const splitter *s, size_t from, size_t to) {
    const char *newline = memchr(s->text + from, '\n', to - from);
    return newline && memchr(newline + 1, '\n', (size_t)(s->text + to - newline - 1));
}

/* A message of a chat: who says it stands at its beginning, and its sentences say little alone. */
static bool is_short_message(const char *s, size_t n) {
    enum { LONGEST = 420 }; /* bytes */
    chat_turn turn;
    return n <= LONGEST && chat_turn_read(s, n, &turn);
}

/* "Q: Can it be undone?", a paragraph that only asks: what comes is its answer, and is not cut from it. */
static bool is_question(const char *s, size_t n) {
    enum { LONGEST = 240 };
    return n > 1 && n <= LONGEST && s[n - 1] == '?';
}

/* named: code that defines something, which is as good a place to cut before as a heading. */
static void split_block(splitter *s, size_t start, size_t end, uint8_t kind, bool named) {
    start = skip_space(s->text, end, start);
    end = trim_end(s->text, start, end);
    if (start >= end) return;
    if (kind == TEXT_HEADING || kind == TEXT_TABLE_ROW) {
        bool heading = kind == TEXT_HEADING;
        add_piece(s, start, end, heading ? BEFORE_HEADING : BEFORE_BLOCK, heading);
        return;
    }
    if (kind == TEXT_PARAGRAPH && is_short_message(s->text + start, end - start)) {
        add_piece(s, start, end, BEFORE_BLOCK, false);
        return;
    }
    uint8_t before = named ? BEFORE_HEADING : BEFORE_BLOCK, inside = BEFORE_SENTENCE;
    if (kind == TEXT_CODE && end - start <= s->max_tokens * MAX_BYTES_PER_TOKEN &&
        count(s, start, end) <= s->max_tokens)
        inside = INSIDE_CODE;
    const bool asks = kind == TEXT_PARAGRAPH && is_question(s->text + start, end - start);
    for (size_t at = start; at < end && !s->failure;) {
        size_t stop;
        bool whole = true;
        if (kind == TEXT_CODE) {
            const char *newline = memchr(s->text + at, '\n', end - at);
            stop = newline ? (size_t)(newline - s->text) : end;
        } else {
            stop = sentence_within(s, at, end, &whole);
        }
        add_piece(s, at, stop, before, asks && stop >= end);
        before = whole ? inside : BEFORE_WORD;
        at = skip_space(s->text, end, stop);
        if (kind == TEXT_CODE && inside != INSIDE_CODE && is_parted(s, stop, at))
            before = BEFORE_BLOCK;
    }
}

/* Blocks, and whatever text lies between them. */
static void split_all(splitter *s, const extracted *x) {
    size_t at = 0;
    for (size_t i = 0; i < x->n_blocks && go_on(s, 0); i++) {
        const text_block *b = &x->blocks[i];
        if (b->start < at || b->end < b->start || b->end > s->len) continue;
        split_block(s, at, b->start, TEXT_PARAGRAPH, false);
        split_block(s, b->start, b->end, b->kind, b->n_name > 0);
        at = b->end;
    }
    split_block(s, at, s->len, TEXT_PARAGRAPH, false);
}

/* ---- packing ----------------------------------------------------------------------------- */

/* How full a chunk must be for a cut at this boundary, in sixths of max_tokens. */
static const uint8_t sixths[] = {[INSIDE_CODE] = 6,
                                 [BEFORE_WORD] = 5,
                                 [BEFORE_SENTENCE] = 3,
                                 [BEFORE_BLOCK] = 3,
                                 [BEFORE_HEADING] = 2};

/* Where to cut what fits, in (fresh, fits]; the text goes on behind it. */
static size_t choose_cut(const splitter *s) {
    size_t best = 0;
    int best_rank = -1;
    size_t sum = 0;
    for (size_t i = s->first; i <= s->fits; i++) {
        const unit *u = &s->units[i];
        if (i > s->fresh && !s->units[i - 1].heading) {
            int rank = u->before;
            /* A cut that leaves the chunk nearly empty is worth no more than one between words,
             * but still more than one inside a fence that fits. */
            if (rank > BEFORE_WORD && sum * 6 < s->max_tokens * sixths[rank]) rank = BEFORE_WORD;
            if (rank >= best_rank) {
                best = i;
                best_rank = rank;
            }
        }
        sum += u->n_tokens;
    }
    return best > s->fresh ? best : s->fits;
}

/* No more than half of a chunk's bytes either: what counts no tokens (zero-width characters, say) fills no room. */
static size_t first_of_overlap(const splitter *s, size_t chunk_first, size_t cut) {
    size_t room = s->overlap, i = cut, most = s->max_tokens * MAX_BYTES_PER_TOKEN / 2;
    if (!room || s->units[cut].before == BEFORE_HEADING) return cut;
    while (i > chunk_first + 1 && s->units[i - 1].n_tokens <= room && !s->units[i - 1].heading &&
           s->units[cut - 1].end - s->units[i - 1].start <= most) {
        room -= s->units[i - 1].n_tokens;
        i--;
    }
    return i;
}

static bool is_drawn(const char *s, size_t n) {
    if (n < 3 || !strchr("=-~", s[0])) return false;
    for (size_t i = 1; i < n; i++)
        if (s[i] != s[0]) return false;
    return true;
}

/* A heading without the drawn lines that plain text has above and below it. */
static void leave_rules(const char *text, size_t *start, size_t *end) {
    const char *below = memrchr(text + *start, '\n', *end - *start);
    if (below && is_drawn(below + 1, (size_t)(text + *end - below - 1)))
        *end = trim_end(text, *start, (size_t)(below - text));
    const char *above = memchr(text + *start, '\n', *end - *start);
    if (above && is_drawn(text + *start, trim_end(text, *start, (size_t)(above - text)) - *start))
        *start = skip_space(text, *end, (size_t)(above - text));
}

/* Of a heading, what each chunk below it says: one of a megabyte would be said a thousand times. */
static size_t clipped(const char *heading, size_t n) {
    if (n <= CHUNK_HEADING_MAX) return n;
    for (n = CHUNK_HEADING_MAX; n && !fo_utf8_boundary(heading[n]);) n--;
    return n;
}

static void emit(splitter *s, size_t start, size_t end, size_t n_tokens) {
    output *o = &s->out;
    chunk *list = grow(s, o->list, o->n, &o->cap, sizeof *list);
    if (!list) return;
    o->list = list;
    for (; o->block < o->x->n_blocks && o->x->blocks[o->block].start <= start; o->block++) {
        const text_block *b = &o->x->blocks[o->block];
        if (b->end > o->x->len || b->start > b->end) continue;
        if (b->kind == TEXT_HEADING) {
            o->h_start = b->start;
            o->h_end = b->end;
            o->h_named = false;
            leave_rules(o->x->text, &o->h_start, &o->h_end);
        } else if (b->n_name && b->start + b->name + b->n_name <= b->end) {
            o->h_start = b->start + b->name;
            o->h_end = o->h_start + b->n_name;
            o->h_named = true;
        } else if (b->kind == TEXT_CODE && o->h_named) { /* past what it names */
            o->h_start = o->h_end = 0;
        }
    }
    o->at_cp += fo_utf8_count(o->x->text + o->at_bytes, start - o->at_bytes);
    o->at_bytes = start;
    o->list[o->n++] = (chunk){
        .start = start,
        .end = end,
        .start_cp = o->at_cp,
        .end_cp = o->at_cp + fo_utf8_count(o->x->text + start, end - start),
        .n_tokens = n_tokens,
        .heading_start = o->h_start,
        .heading_end = o->h_start + clipped(o->x->text + o->h_start, o->h_end - o->h_start),
    };
}

/* Tokens of units [first, cut) joined. */
static size_t count_joined(splitter *s, size_t cut) {
    return cut - s->first == 1 ? s->units[s->first].n_tokens
                               : count(s, s->units[s->first].start, s->units[cut - 1].end);
}

/* The joined text may count more than its parts (white space between them, say): the last cut at or
 * before `cut` that fits. Looked for where it should be by proportion, and by halves where that
 * misleads, because to count is what costs. Where no cut behind a new unit fits, the overlap is
 * shortened. */
static size_t cut_back(splitter *s, size_t cut, size_t *n_tokens) {
    size_t over = cut, n_over = count_joined(s, cut), n_fits = 0, fits = s->fresh;
    *n_tokens = n_over;
    if (n_over <= s->max_tokens) return cut;
    for (int tries = 0; over - fits > 1 && !s->failure; tries++) {
        size_t from = fits > s->fresh ? fits : s->first;
        size_t probe = tries % 3 == 2
                           ? fits + (over - fits) / 2
                           : from + (over - from) * (s->max_tokens - n_fits) / (n_over - n_fits);
        if (probe <= fits) probe = fits + 1;
        if (probe >= over) probe = over - 1;
        size_t n = count_joined(s, probe);
        if (n > s->max_tokens) {
            over = probe;
            n_over = n;
        } else {
            fits = probe;
            n_fits = *n_tokens = n;
        }
    }
    if (fits > s->fresh) return fits;
    cut = s->fresh + 1;
    while ((*n_tokens = count_joined(s, cut)) > s->max_tokens && cut - s->first > 1 && !s->failure)
        s->first++;
    return cut;
}

/* Units before `first` are done with: forget them now and then. */
static void forget_packed(splitter *s) {
    enum { MANY = 1024 };
    if (s->first < MANY) return;
    memmove(s->units, s->units + s->first, (s->n_units - s->first) * sizeof *s->units);
    s->n_units -= s->first;
    s->fresh -= s->first;
    s->fits -= s->first;
    s->first = 0;
}

/* Does the chunk at hand stay short enough with unit i? Words of a megabyte may be a token each, and what a question finds is
 * given out whole. */
static bool is_short(const splitter *s, size_t i) {
    return s->units[i].end - s->units[s->first].start <= s->max_tokens * MAX_BYTES_PER_TOKEN;
}

/* Put out the chunk at hand, cut before unit `cut`, and begin the next one. */
static void end_chunk(splitter *s, size_t cut) {
    size_t n;
    cut = cut_back(s, cut, &n);
    emit(s, s->units[s->first].start, s->units[cut - 1].end, n);
    if (cut == s->n_units) {
        s->first = s->fresh = s->fits = cut;
    } else {
        s->first = first_of_overlap(s, s->first, cut);
        s->fresh = s->fits = cut;
    }
    s->sum = 0;
    for (size_t i = s->first; i < s->fresh; i++) s->sum += s->units[i].n_tokens;
    while (s->first < s->fresh && s->fresh < s->n_units &&
           (s->sum + s->units[s->fresh].n_tokens > s->max_tokens || !is_short(s, s->fresh)))
        s->sum -= s->units[s->first++].n_tokens;
    forget_packed(s);
}

/* Take the units that have come since; a chunk is put out as soon as one is seen that no longer
 * fits, for the best place to cut depends on no more than that one. */
static void pack(splitter *s, bool last) {
    while (!s->failure) {
        while (s->fits < s->n_units &&
               (s->fits == s->first ||
                (s->sum + s->units[s->fits].n_tokens <= s->max_tokens && is_short(s, s->fits))))
            s->sum += s->units[s->fits++].n_tokens;
        if (s->fits < s->n_units)
            end_chunk(s, choose_cut(s));
        else if (last && s->fresh < s->n_units)
            end_chunk(s, s->n_units);
        else
            return;
    }
}

int chunk_text(chunk **out, size_t *n_out, const extracted *x, const chunk_options *opt,
               fo_err *err) {
    *out = NULL;
    *n_out = 0;
    if (opt->max_tokens < 16 || opt->max_tokens > 8192)
        return fo_fail_field(err, FO_EINVAL, "chunking.max_tokens",
                             "chunking.max_tokens must be between 16 and 8192");
    if (opt->overlap >= (opt->max_tokens + 1) / 2)
        return fo_fail_field(err, FO_EINVAL, "chunking.overlap",
                             "chunking.overlap must be less than half of max_tokens");
    splitter s = {.text = x->text,
                  .len = x->len,
                  .max_tokens = opt->max_tokens,
                  .overlap = opt->overlap,
                  .count = opt->count ? opt->count : count_words,
                  .count_ctx = opt->count_ctx,
                  .budget = opt->budget,
                  .out = {.x = x}};
    split_all(&s, x);
    pack(&s, true);
    doc_budget_give(s.budget, s.cap_units * sizeof *s.units);
    free(s.units);
    if (s.failure) {
        free(s.out.list);
        doc_budget_give(s.budget, s.out.cap * sizeof *s.out.list);
        return s.budget && s.budget->failure ? doc_budget_fail(s.budget, err) : fo_no_memory(err);
    }
    *out = s.out.list;
    *n_out = s.out.n;
    return FO_OK;
}
