#include "engine/grammar/answer_filter.h"

#include <stdlib.h>
#include <string.h>

#include "engine/grammar/json_reader.h"

enum { IN_TEXT, IN_OPEN, IN_JSON, IN_CLOSE, BETWEEN };
enum { UNKNOWN, LEADS, LEADS_NOWHERE };
enum { MAX_BLANKS = 8 }; /* between two */

/* Where the answer stands, but for the JSON itself. */
typedef struct place {
    uint8_t where;
    uint8_t at; /* bytes of open or close that were read */
    uint8_t blanks;
} place;

struct answer_filter {
    answer_rule rule;
    const tokenizer *t;
    size_t n_open, n_close;
    place place;
    bool dead;
    size_t work;        /* since a token was taken */
    uint8_t first[256]; /* what a token's first byte leads to, as far as asked */
    json_reader reader, trial;
};

int answer_filter_create(answer_filter **out, const answer_rule *rule, const tokenizer *t,
                         fo_err *err) {
    *out = NULL;
    if (!rule->schema) return FO_OK;
    answer_filter *f = calloc(1, sizeof *f);
    if (!f) return fo_no_memory(err);
    f->rule = *rule;
    f->t = t;
    f->n_open = rule->open ? strlen(rule->open) : 0;
    f->n_close = rule->close ? strlen(rule->close) : 0;
    f->place.where = !f->n_open ? IN_JSON : rule->required ? IN_OPEN : IN_TEXT;
    json_reader_start(&f->reader, rule->schema);
    *out = f;
    return FO_OK;
}

void answer_filter_free(answer_filter *f) {
    free(f);
}

/* The longest beginning of open that the text ends with, once c is read behind `at` bytes of it. */
static size_t fall_back(const answer_filter *f, size_t at, char c) {
    for (size_t n = at + 1; n > 0; n--)
        if (f->rule.open[n - 1] == c && !memcmp(f->rule.open, f->rule.open + at - (n - 1), n - 1))
            return n;
    return 0;
}

static void begin_json(const answer_filter *f, place *p, json_reader *r) {
    *p = (place){.where = IN_JSON};
    json_reader_start(r, f->rule.schema);
}

static bool is_blank(char c) {
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static bool read_json(const answer_filter *f, place *p, json_reader *r, char c) {
    if (!json_read(r, &c, 1)) return false;
    if (f->n_open && json_closed(r)) *p = (place){.where = f->n_close ? IN_CLOSE : BETWEEN};
    return true;
}

static bool read_byte(const answer_filter *f, place *p, json_reader *r, char c) {
    switch (p->where) {
    case IN_TEXT:
        p->at = (uint8_t)fall_back(f, p->at, c);
        if (p->at == f->n_open) begin_json(f, p, r);
        return true;
    case IN_OPEN:
        if (f->rule.open[p->at] != c) return false;
        if (++p->at == f->n_open) begin_json(f, p, r);
        return true;
    case IN_JSON:
        return read_json(f, p, r, c);
    case IN_CLOSE:
        if (f->rule.close[p->at] != c) return false;
        if (++p->at == f->n_close) *p = (place){.where = BETWEEN};
        return true;
    default:
        if (!f->rule.repeats) return false;
        if (is_blank(c)) return ++p->blanks <= MAX_BLANKS;
        *p = (place){.where = IN_OPEN};
        return read_byte(f, p, r, c);
    }
}

static bool read_text(const answer_filter *f, place *p, json_reader *r, const char *s, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!read_byte(f, p, r, s[i])) return false;
    return true;
}

/* May the answer end here? */
static bool may_end(const answer_filter *f) {
    return f->place.where == IN_TEXT || f->place.where == BETWEEN ||
           (f->place.where == IN_JSON && !f->n_open && json_complete(&f->reader));
}

/* What a token adds to the text. Control tokens print nothing, but those that open or close are
 * made of. */
static tokenizer_string shown(const answer_filter *f, int32_t token) {
    tokenizer_string s = tokenizer_piece(f->t, token);
    if (!(tokenizer_attributes(f->t, token) & (TOKENIZER_CONTROL | TOKENIZER_UNKNOWN))) return s;
    bool marks = s.len && ((f->n_open && memmem(f->rule.open, f->n_open, s.data, s.len)) ||
                           (f->n_close && memmem(f->rule.close, f->n_close, s.data, s.len)));
    return marks ? s : (tokenizer_string){"", 0};
}

bool answer_filter_allows(answer_filter *f, int32_t token) {
    if (f->dead) return false;
    if (tokenizer_is_end(f->t, token)) return may_end(f);
    tokenizer_string s = shown(f, token);
    /* What prints nothing brings the JSON no nearer to its end, and could go on for ever. */
    if (!s.len) return f->place.where == IN_TEXT;
    uint8_t *first = &f->first[(unsigned char)s.data[0]];
    if (*first == LEADS_NOWHERE) return false;
    place p = f->place;
    json_reader_copy(&f->trial, &f->reader, f->work < ANSWER_FILTER_WORK ? JSON_MAX_WAYS : 1);
    bool leads = read_byte(f, &p, &f->trial, s.data[0]);
    *first = leads ? LEADS : LEADS_NOWHERE;
    leads = leads && read_text(f, &p, &f->trial, s.data + 1, s.len - 1);
    /* Where a JSON begins the reader does so anew. */
    f->work += f->trial.turns - (f->trial.turns < f->reader.turns ? 0 : f->reader.turns);
    return leads;
}

bool answer_filter_take(answer_filter *f, int32_t token) {
    tokenizer_string s = shown(f, token);
    memset(f->first, UNKNOWN, sizeof f->first);
    f->work = 0;
    f->dead = f->dead || !read_text(f, &f->place, &f->reader, s.data, s.len);
    return !f->dead;
}

bool answer_filter_done(const answer_filter *f) {
    if (f->place.where == IN_JSON) return !f->n_open && json_closed(&f->reader);
    return f->place.where == BETWEEN && !f->rule.repeats;
}

bool answer_filter_binds(const answer_filter *f) {
    return f->place.where != IN_TEXT;
}
