#include "engine/grammar/json_reader.h"

#include <string.h>

enum { MAX_BLANKS = 2, INDENT = 4, MAX_DIGITS = 40, NO_LIKE = 0xffff };
enum { STEP = 8, DIVISION = 16 }; /* what a byte of a way and a bound count as */

/* Where a way stands. The numbers' states come last, in the order of RFC 8259, section 6. */
enum {
    AT_VALUE,
    AT_FIRST_KEY, /* "{" was read */
    AT_KEY,       /* "," in an object */
    AT_COLON,
    AT_FIRST_ITEM, /* "[" was read */
    AT_AFTER,      /* a value is over */
    AT_DONE,
    IN_KEY,
    IN_STRING,
    IN_LITERAL,
    IN_MINUS,
    IN_ZERO,
    IN_INTEGER,
    IN_POINT,
    IN_FRACTION,
    IN_E,
    IN_E_SIGN,
    IN_EXPONENT,
};

/* A step of one way. */
typedef struct reading {
    json_reader *r;
    const struct json_schema *s;
    json_way *w;
} reading;

static const json_shape *shape_of(const reading *g, uint16_t shape) {
    return &g->s->shapes[shape];
}

static json_frame *frame_of(const reading *g) {
    return g->w->depth ? &g->w->frames[g->w->depth - 1] : NULL;
}

/* Can a value of the node be finished at this depth? */
static bool fits(const reading *g, uint16_t node) {
    return node != JSON_NO_NODE && g->s->nodes[node].height <= JSON_MAX_LEVELS - g->w->depth;
}

static void copy_way(json_way *to, const json_way *from) {
    memcpy(to, from, offsetof(json_way, frames) + from->depth * sizeof *from->frames);
}

/* ---- values ---------------------------------------------------------------------------------- */

static bool end_value(json_way *w) {
    w->where = w->depth ? AT_AFTER : AT_DONE;
    w->name = 0;
    w->mantissa = 0;
    w->count = w->low = w->high = w->at = 0;
    w->shape = w->node = w->state = 0;
    w->escape = w->decimals = w->utf8_min = w->utf8_max = 0;
    w->minus = w->high_digit = false;
    return true;
}

static bool open_level(json_way *w, uint16_t shape, bool object) {
    if (w->depth == JSON_MAX_LEVELS) return false;
    w->frames[w->depth++] = (json_frame){.shape = shape};
    w->where = object ? AT_FIRST_KEY : AT_FIRST_ITEM;
    return true;
}

static bool close_level(json_way *w) {
    w->depth--;
    return end_value(w);
}

typedef const char *text_of(const struct json_schema *s, uint32_t i);

static const char *literal_text(const struct json_schema *s, uint32_t i) {
    return s->literals[i].text;
}

static const char *key_text(const struct json_schema *s, uint32_t i) {
    return s->properties[s->properties[i].by_key].key;
}

/* The first of [low, high) whose byte behind `at` is c or more. */
static uint32_t first_from(const reading *g, text_of *text, uint32_t low, unsigned c) {
    uint32_t high = g->w->high;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if ((unsigned char)text(g->s, mid)[g->w->at] < c)
            low = mid + 1;
        else
            high = mid;
        g->r->turns++;
    }
    return low;
}

/* Of [low, high), which are sorted and alike in their first `at` bytes, those that have c behind these. */
static bool narrow(const reading *g, text_of *text, char c) {
    json_way *w = g->w;
    const unsigned char next = (unsigned char)c;
    w->low = first_from(g, text, w->low, next);
    w->high = next ? first_from(g, text, w->low, next + 1u) : w->low; /* 0: the end of a text */
    return w->low < w->high;
}

/* The first of the literals, being the shortest, is whole. */
static bool literal_ends(const reading *g) {
    return g->s->literals[g->w->low].len == g->w->at;
}

static bool read_literal(const reading *g, char c) {
    json_way *w = g->w;
    w->where = IN_LITERAL;
    if (!narrow(g, literal_text, c)) return false;
    w->at++;
    bool alone = w->high - w->low == 1;
    return literal_ends(g) && alone ? end_value(w) : true;
}

/* ---- numbers --------------------------------------------------------------------------------- */

bool json_units_any(json_units low, json_units high, json_units step) {
    if (low > high) return false;
    if (step == 0) return true;
    json_units q = low / step;
    if (low > 0 && low % step) q++; /* division goes towards 0 */
    return q * step <= high;
}

static json_units power_of_ten(int n) {
    json_units v = 1;
    while (n-- > 0) v *= 10;
    return v;
}

static bool magnitude_any(const json_shape *k, bool minus, json_units low, json_units high) {
    json_units a = minus ? -k->high : k->low, b = minus ? -k->low : k->high;
    return json_units_any(low > a ? low : a, high < b ? high : b, k->step);
}

static bool number_ends(const reading *g) {
    const json_way *w = g->w;
    const json_shape *k = shape_of(g, w->shape);
    if (w->where != IN_ZERO && w->where != IN_INTEGER && w->where != IN_FRACTION &&
        w->where != IN_EXPONENT)
        return false;
    if (!k->bounded) return true;
    json_units v = w->mantissa * power_of_ten(JSON_DECIMALS - w->decimals);
    return magnitude_any(k, w->minus, v, v);
}

/* Do the digits so far begin a number within the bounds? */
static bool number_lives(const reading *g) {
    const json_way *w = g->w;
    const json_shape *k = shape_of(g, w->shape);
    if (!k->bounded) return true;
    if (w->where == IN_MINUS) return magnitude_any(k, true, 0, power_of_ten(30));
    if (w->where >= IN_POINT) {
        json_units unit = power_of_ten(JSON_DECIMALS - w->decimals);
        return magnitude_any(k, w->minus, w->mantissa * unit, (w->mantissa + 1) * unit - 1);
    }
    const json_units one = power_of_ten(JSON_DECIMALS), tail = k->integer ? 0 : one - 1;
    json_units low = w->mantissa, high = w->mantissa;
    for (uint32_t n = w->count; n <= JSON_DIGITS; n++, low *= 10, high = high * 10 + 9) {
        g->r->turns += DIVISION;
        if (magnitude_any(k, w->minus, low * one, high * one + tail)) return true;
        if (w->where == IN_ZERO) break;
    }
    return false;
}

static bool take_digit(const reading *g, char c) {
    json_way *w = g->w;
    const json_shape *k = shape_of(g, w->shape);
    if (++w->count > (k->bounded ? (uint32_t)JSON_DIGITS + JSON_DECIMALS : MAX_DIGITS))
        return false;
    if (!k->bounded) return true;
    if (w->where == IN_FRACTION && ++w->decimals > JSON_DECIMALS) return false;
    if (w->where != IN_FRACTION && w->count > JSON_DIGITS) return false;
    w->mantissa = w->mantissa * 10 + (c - '0');
    return true;
}

/* 1: c belongs to the number; 0: the number may end before c; -1: neither. */
static int read_number(const reading *g, char c) {
    json_way *w = g->w;
    const json_shape *k = shape_of(g, w->shape);
    bool digit = c >= '0' && c <= '9', e = (c == 'e' || c == 'E') && !k->integer && !k->bounded;
    bool point = c == '.' && !k->integer;
    int next = -1, was = w->where;
    switch (was) {
    case IN_MINUS:
        next = c == '0' ? IN_ZERO : digit ? IN_INTEGER : -1;
        break;
    case IN_ZERO:
    case IN_INTEGER:
        next = digit && was == IN_INTEGER ? IN_INTEGER : point ? IN_POINT : e ? IN_E : -1;
        break;
    case IN_POINT:
    case IN_FRACTION:
        next = digit ? IN_FRACTION : was == IN_FRACTION && e ? IN_E : -1;
        break;
    case IN_E:
        next = c == '+' || c == '-' ? IN_E_SIGN : digit ? IN_EXPONENT : -1;
        break;
    case IN_E_SIGN:
    case IN_EXPONENT:
        next = digit ? IN_EXPONENT : -1;
        break;
    default:
        break;
    }
    if (next < 0) return digit || !number_ends(g) ? -1 : 0;
    if (!digit && w->count == MAX_DIGITS) return -1; /* no room for the digit behind it */
    w->where = (uint8_t)next;
    if (digit && !take_digit(g, c)) return -1;
    return number_lives(g) ? 1 : -1;
}

static bool begin_number(const reading *g, char c) {
    g->w->minus = c == '-';
    if (c == '-') return g->w->where = IN_MINUS, number_lives(g);
    if (c < '0' || c > '9') return false;
    g->w->where = c == '0' ? IN_ZERO : IN_INTEGER;
    return take_digit(g, c) && number_lives(g);
}

/* ---- strings --------------------------------------------------------------------------------- */

static bool is_hex(char c) {
    return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'f');
}

/* Of valid UTF-8: the table of RFC 3629, section 4. */
static bool read_utf8(json_way *w, unsigned char c) {
    if (w->utf8) {
        if (c < w->utf8_min || c > w->utf8_max) return false;
        w->utf8--;
    } else if (c >= 0x80) {
        if (c < 0xc2 || c > 0xf4) return false;
        w->utf8 = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;
        w->utf8_min = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
        w->utf8_max = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
        return true;
    }
    w->utf8_min = 0x80;
    w->utf8_max = 0xbf;
    return true;
}

/* What stands behind a backslash as the byte that it means; 0: none of one byte. */
static char meant(char c) {
    static const char names[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
    const char *at = c ? strchr(names, c) : NULL;
    return at ? means[at - names] : 0;
}

static bool count_point(const json_shape *k, json_way *w) {
    return !k || ++w->count <= k->max;
}

static bool pattern_takes(const json_shape *k, json_way *w, unsigned char c) {
    w->state = pattern_step(k->pattern, w->state, c);
    return w->state != PATTERN_DEAD;
}

/* A backslash must lead to a character that there is room for, and that a pattern takes. */
static bool may_escape(const json_shape *k, const json_way *w) {
    if (!k) return true;
    if (!k->pattern) return w->count < k->max;
    for (const char *c = "\"\\/bfnrt"; *c; c++)
        if (pattern_step(k->pattern, w->state, (unsigned char)meant(*c)) != PATTERN_DEAD)
            return true;
    return false;
}

/* escape: 0 none, 1 after the backslash, 2..5 hex digits still to come plus one. */
static bool read_escape(const json_shape *k, json_way *w, char c) {
    if (w->escape == 1) {
        if (c == 'u' && !(k && k->pattern)) return w->escape = 5, count_point(k, w);
        w->escape = 0;
        if (!meant(c)) return false;
        if (k && k->pattern) return pattern_takes(k, w, (unsigned char)meant(c));
        return count_point(k, w);
    }
    bool surrogate = w->escape == 4 && w->high_digit && !(c >= '0' && c <= '7');
    if (!is_hex(c) || surrogate) return false;
    w->high_digit = w->escape == 5 && (c | 32) == 'd';
    w->escape = w->escape == 2 ? 0 : w->escape - 1;
    return true;
}

/* The inside of a string; k NULL: a name that no shape binds. */
static bool read_character(const json_shape *k, json_way *w, char c) {
    unsigned char u = (unsigned char)c;
    if (w->escape) return read_escape(k, w, c);
    if (c == '\\' && !w->utf8) return w->escape = 1, may_escape(k, w);
    if (u < 0x20 || !read_utf8(w, u)) return false;
    if (k && k->pattern) return pattern_takes(k, w, u);
    return (u & 0xc0) == 0x80 || count_point(k, w);
}

static bool read_string(const reading *g, char c) {
    json_way *w = g->w;
    const json_shape *k = shape_of(g, w->shape);
    if (c != '"' || w->escape || w->utf8) return read_character(k, w, c);
    bool ends = k->pattern ? pattern_accepts(k->pattern, w->state) : w->count >= k->min;
    return ends && end_value(w);
}

static bool begin_string(const reading *g, const json_shape *k) {
    g->w->where = IN_STRING;
    if (k->pattern) g->w->state = pattern_start(k->pattern);
    return true;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Required properties from `from` on. */
static uint32_t n_required(const reading *g, const json_shape *k, uint32_t from) {
    return from < k->n ? g->s->properties[k->first + from].n_required : 0;
}

/* May property i come now, if it is one of early_ones? */
static bool is_next(const reading *g, const json_shape *k, const json_frame *f, uint32_t i) {
    if (i < f->next || i >= k->n || !fits(g, g->s->properties[k->first + i].node)) return false;
    if (n_required(g, k, f->next) != n_required(g, k, i)) return false;
    return f->count + 1 + n_required(g, k, i + 1) <= k->max;
}

/* Behind the properties that as many can follow as minProperties wants. The later one comes, the fewer can. */
static uint32_t early_ones(const reading *g, const json_shape *k, const json_frame *f) {
    uint32_t end = k->n, open = fits(g, k->rest) ? JSON_FREE_NAMES : 0;
    for (; end > f->next && f->count + 1 + open < k->min; end--)
        open += fits(g, g->s->properties[k->first + end - 1].node);
    g->r->turns += k->n - end;
    return end;
}

/* May a name that is not declared come now? */
static bool may_add(const reading *g, const json_shape *k, const json_frame *f) {
    return fits(g, k->rest) && f->count < k->max && n_required(g, k, f->next) == 0 &&
           f->count + JSON_FREE_NAMES >= k->min + f->n_names;
}

/* A name that is not declared is whole. Whether it is another one matters as long as it counts: names
 * of one hash are taken for the same. */
static bool is_new_name(const reading *g) {
    const uint64_t h = g->w->name;
    const uint16_t mine = (uint16_t)(h ^ h >> 16 ^ h >> 32 ^ h >> 48);
    json_frame *f = frame_of(g);
    if (f->count >= shape_of(g, f->shape)->min) return true;
    for (uint32_t i = 0; i < f->n_names; i++)
        if (f->names[i] == mine) return false;
    f->names[f->n_names++] = mine; /* there is room: may_add */
    return true;
}

/* The first declared property before `end` that may come now; none: end or more. */
static uint32_t next_declared(const reading *g, const json_shape *k, const json_frame *f,
                              uint32_t end) {
    uint32_t i = f->next;
    while (i < end && !is_next(g, k, f, i)) i++;
    g->r->turns += i - f->next + 1;
    return i;
}

static bool any_name(const reading *g) {
    const json_frame *f = frame_of(g);
    const json_shape *k = shape_of(g, f->shape);
    if (may_add(g, k, f)) return true;
    const uint32_t end = early_ones(g, k, f);
    return next_declared(g, k, f, end) < end;
}

/* May one of the properties that have the key so far and c come now? `like` was one while it had the key; where
 * it has not c, the others are looked at, and where there was none, there is none. */
static bool any_open(const reading *g, const json_shape *k, char c) {
    json_way *w = g->w;
    const json_property *p = g->s->properties + k->first;
    if (w->like == NO_LIKE || p[w->like].key[w->at] == c) return w->like != NO_LIKE;
    w->like = NO_LIKE;
    for (uint32_t i = w->low; i < w->high && w->like == NO_LIKE; i++) {
        uint32_t own = g->s->properties[i].by_key - k->first;
        if (own < w->count && is_next(g, k, frame_of(g), own)) w->like = (uint16_t)own;
        g->r->turns++;
    }
    return w->like != NO_LIKE;
}

static bool end_name(const reading *g, uint16_t node, uint32_t next) {
    json_frame *f = frame_of(g);
    end_value(g->w);
    f->next = (uint16_t)next;
    f->count++;
    g->w->like = 0;
    g->w->node = node;
    g->w->where = AT_COLON;
    return true;
}

static bool read_name(const reading *g, char c) {
    json_way *w = g->w;
    json_frame *f = frame_of(g);
    const json_shape *k = shape_of(g, f->shape);
    const json_property *p = g->s->properties + k->first;
    bool end = c == '"' && !w->escape && !w->utf8;
    /* A name that is not declared has no escape where it might mean another one that matters. */
    bool plain = w->low == w->high || !memchr(key_text(g->s, w->low), '\\', w->at);
    bool free_name = plain && may_add(g, k, f) && !(c == '\\' && (k->n || f->count < k->min));
    bool declared = narrow(g, key_text, c);
    uint32_t first = declared ? g->s->properties[w->low].by_key - k->first : 0;
    if (end && declared && p[first].len == w->at + 1) /* whole: no other key begins with it */
        return first < w->count && is_next(g, k, f, first) && end_name(g, p[first].node, first + 1);
    bool open = declared && any_open(g, k, c);
    if (!open && !free_name) return false;
    if (end && !open) return is_new_name(g) && end_name(g, k->rest, k->n);
    /* Where it stands in a character counts for a declared name, too: another may begin with the same bytes. */
    if (!(open ? read_utf8(w, (unsigned char)c) : read_character(NULL, w, c))) return false;
    if (!open) w->like = NO_LIKE;
    w->name = (w->name ^ (unsigned char)c) * 1099511628211u; /* FNV-1a */
    w->at++;
    return true;
}

static bool begin_name(const reading *g) {
    json_way *w = g->w;
    const json_frame *f = frame_of(g);
    const json_shape *k = shape_of(g, f->shape);
    const uint32_t end = early_ones(g, k, f), first = next_declared(g, k, f, end);
    w->where = IN_KEY;
    w->name = 14695981039346656037u;
    w->count = end;
    w->at = 1;
    w->low = k->first;
    w->high = k->first + k->n;
    w->like = first < end ? (uint16_t)first : NO_LIKE;
    return first < end || may_add(g, k, f);
}

/* ---- structure ------------------------------------------------------------------------------- */

/* The node of an array's item number i. */
static uint16_t item_node(const reading *g, const json_shape *k, uint32_t i) {
    return i < k->n ? g->s->items[k->first + i] : k->rest;
}

static bool may_add_item(const reading *g) {
    const json_frame *f = frame_of(g);
    const json_shape *k = shape_of(g, f->shape);
    return f->count < k->max && fits(g, item_node(g, k, f->count));
}

/* The way as it goes on when the value that begins with c has this shape; false: it cannot. */
static bool begin_shape(const reading *g, uint16_t shape, char c) {
    const json_shape *k = shape_of(g, shape);
    json_way *w = g->w;
    if (k->height > JSON_MAX_LEVELS - w->depth) return false;
    w->shape = shape;
    w->blanks = 0;
    w->line = false;
    w->low = k->first;
    w->high = k->first + k->n;
    switch ((enum json_kind)k->kind) {
    case JSON_OBJECT:
        w->low = w->high = w->shape = 0;
        return c == '{' && open_level(w, shape, true);
    case JSON_ARRAY:
        w->low = w->high = w->shape = 0;
        return c == '[' && open_level(w, shape, false);
    case JSON_STRING:
        w->low = w->high = 0;
        return c == '"' && begin_string(g, k);
    case JSON_NUMBER:
        w->low = w->high = 0;
        return begin_number(g, c);
    case JSON_LITERALS:
        return read_literal(g, c);
    }
    return false;
}

/* One way for each shape that c begins, behind those that are still to be read. */
static bool begin_value(const reading *g, char c) {
    json_way *w = g->w;
    uint16_t node = w->node;
    if (w->where == AT_FIRST_ITEM) {
        if (!may_add_item(g)) return false;
        node = item_node(g, shape_of(g, frame_of(g)->shape), 0);
    }
    const json_node *d = &g->s->nodes[node];
    if (frame_of(g) && shape_of(g, frame_of(g)->shape)->kind == JSON_ARRAY) frame_of(g)->count++;
    w->node = 0;
    for (uint32_t i = 0; i < d->n; i++) {
        if (g->r->n == JSON_WAYS_ROOM) break;
        g->r->turns += STEP;
        json_way *to = &g->r->ways[g->r->n];
        copy_way(to, w);
        reading next = {g->r, g->s, to};
        if (begin_shape(&next, (uint16_t)(d->first + i), c)) g->r->n++;
    }
    return false; /* its successors stand at the end */
}

static bool close_object(const reading *g) {
    const json_frame *f = frame_of(g);
    const json_shape *k = shape_of(g, f->shape);
    return n_required(g, k, f->next) == 0 && f->count >= k->min && close_level(g->w);
}

static bool close_array(const reading *g) {
    const json_frame *f = frame_of(g);
    return f->count >= shape_of(g, f->shape)->min && close_level(g->w);
}

static bool read_after(const reading *g, char c) {
    json_way *w = g->w;
    const json_frame *f = frame_of(g);
    const json_shape *k = shape_of(g, f->shape);
    bool object = k->kind == JSON_OBJECT;
    if (c == '}' || c == ']')
        return (c == '}') == object && (object ? close_object : close_array)(g);
    if (c != ',') return false;
    w->where = object ? AT_KEY : AT_VALUE;
    if (object) return any_name(g);
    w->node = item_node(g, k, f->count);
    return may_add_item(g);
}

/* As printers of JSON write it: a blank or two, or a line's end and an indent. */
static bool read_blank(json_way *w, char c) {
    if (w->where == AT_DONE || (c == '\n' && w->line)) return false;
    if (c == '\n') {
        w->line = true;
        w->blanks = 0;
        return true;
    }
    return ++w->blanks <= (w->line ? INDENT * (w->depth + 1) : MAX_BLANKS);
}

static bool read_structure(const reading *g, char c) {
    json_way *w = g->w;
    if (c == ' ' || c == '\n' || c == '\t') return read_blank(w, c);
    w->blanks = 0;
    w->line = false;
    switch (w->where) {
    case AT_FIRST_KEY:
        if (c == '}') return close_object(g);
        return c == '"' && begin_name(g);
    case AT_KEY:
        return c == '"' && begin_name(g);
    case AT_COLON:
        return w->where = AT_VALUE, c == ':';
    case AT_FIRST_ITEM:
        if (c == ']') return close_array(g);
        return begin_value(g, c);
    case AT_VALUE:
        return begin_value(g, c);
    case AT_AFTER:
        return read_after(g, c);
    default:
        return false;
    }
}

/* True: the way goes on. False: it is over, or its successors are at the end of the list. */
static bool read_byte(const reading *g, char c) {
    json_way *w = g->w;
    if (w->where == IN_KEY) return read_name(g, c);
    if (w->where == IN_STRING) return read_string(g, c);
    if (w->where == IN_LITERAL) {
        const uint32_t low = w->low, high = w->high;
        if (read_literal(g, c)) return true;
        w->low = low, w->high = high; /* all that it changes where it says no */
        if (!literal_ends(g)) return false;
        end_value(w);
    } else if (w->where >= IN_MINUS) {
        int taken = read_number(g, c);
        if (taken) return taken > 0;
        end_value(w);
    }
    return read_structure(g, c);
}

/* Ways that came to the same place are one. */
static void merge(json_reader *r) {
    for (int i = 0; i < r->n; i++) {
        const json_way *a = &r->ways[i];
        const size_t n = offsetof(json_way, frames) + a->depth * sizeof *a->frames;
        if (a->where != AT_AFTER) continue;
        r->turns += (size_t)(r->n - i);
        for (int k = i + 1; k < r->n;)
            if (a->depth == r->ways[k].depth && !memcmp(a, &r->ways[k], n))
                copy_way(&r->ways[k], &r->ways[--r->n]);
            else
                k++;
    }
}

static bool read_one(json_reader *r, char c) {
    int n = r->n, kept = 0;
    r->turns += (size_t)(STEP * n);
    for (int i = 0; i < n; i++) {
        reading g = {r, r->schema, &r->ways[i]};
        if (!read_byte(&g, c)) continue;
        if (kept != i) copy_way(&r->ways[kept], &r->ways[i]);
        kept++;
    }
    for (int i = n; i < r->n; i++, kept++)
        if (kept != i) copy_way(&r->ways[kept], &r->ways[i]);
    r->n = kept;
    if (kept > 1) merge(r);
    if (r->n > r->most) r->n = r->most;
    return kept > 0;
}

void json_reader_start(json_reader *r, const struct json_schema *s) {
    r->schema = s;
    r->turns = 0;
    r->n = 1;
    r->most = JSON_MAX_WAYS;
    memset(&r->ways[0], 0, sizeof r->ways[0]);
    r->ways[0].node = s->root;
}

void json_reader_copy(json_reader *to, const json_reader *from, int most) {
    to->schema = from->schema;
    to->turns = from->turns;
    to->n = from->n < most ? from->n : most;
    to->most = from->most < most ? from->most : most;
    for (int i = 0; i < to->n; i++) {
        copy_way(&to->ways[i], &from->ways[i]);
        to->turns += 1 + from->ways[i].depth / 2u;
    }
}

bool json_read(json_reader *r, const char *text, size_t len) {
    for (size_t i = 0; i < len; i++)
        if (!read_one(r, text[i])) return false;
    return true;
}

bool json_complete(const json_reader *r) {
    for (int i = 0; i < r->n; i++) {
        if (r->ways[i].where == AT_DONE) return true;
        if (r->ways[i].depth) continue;
        json_way w;
        copy_way(&w, &r->ways[i]);
        reading g = {NULL, r->schema, &w};
        if (w.where == IN_LITERAL && literal_ends(&g)) return true;
        if (w.where >= IN_MINUS && number_ends(&g)) return true;
    }
    return false;
}

bool json_closed(const json_reader *r) {
    for (int i = 0; i < r->n; i++)
        if (r->ways[i].where != AT_DONE) return false;
    return r->n > 0;
}
