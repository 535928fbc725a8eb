/* Is a value one of a shape? Of a value that is there as a whole, whatever the order of its keys and
 * however its numbers are written: json_reader.c reads text as a model may write it, which is less. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/grammar/json_compile.h"
#include "kernels/utf8.h"

static enum json_answer answer(bool yes) {
    return yes ? JSON_YES : JSON_NO;
}

/* All have to hold. */
static enum json_answer both(enum json_answer a, enum json_answer b) {
    return a < b ? a : b;
}

/* ---- literals ---------------------------------------------------------------------------------- */

enum { NUMBER_ROOM = 64 };

/* As few digits as read back as the same, which cJSON's own writer, of 15, does not promise. */
static void write_number(char out[NUMBER_ROOM], double v) {
    if (v == floor(v) && fabs(v) < 1e40) {
        snprintf(out, NUMBER_ROOM, "%.0f", v == 0 ? 0 : v); /* no -0 */
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(out, NUMBER_ROOM, "%.*g", digits, v);
        if (strtod(out, NULL) == v) return;
    }
}

static bool has_number(const cJSON *v) {
    const cJSON *item;
    if (cJSON_IsNumber(v)) return true;
    cJSON_ArrayForEach(item, v) if (has_number(item)) return true;
    return false;
}

/* Numbers become their text. */
static bool spell_out(cJSON *v) {
    cJSON *item;
    bool ok = true;
    if (cJSON_IsNumber(v)) {
        char *digits = cJSON_malloc(NUMBER_ROOM);
        if (!digits) return false;
        write_number(digits, v->valuedouble);
        cJSON_free(v->valuestring);
        v->valuestring = digits;
        v->type = cJSON_Raw;
    }
    cJSON_ArrayForEach(item, v) ok = ok && spell_out(item);
    return ok;
}

char *json_literal_text(const cJSON *v) {
    if (!has_number(v)) return cJSON_PrintUnformatted(v);
    cJSON *copy = cJSON_Duplicate(v, true);
    char *text = copy && spell_out(copy) ? cJSON_PrintUnformatted(copy) : NULL;
    cJSON_Delete(copy);
    return text;
}

static int by_text(const void *key, const void *literal) {
    return strcmp(key, ((const json_literal *)literal)->text);
}

static bool is_among(struct json_schema *s, const json_shape *k, const cJSON *v) {
    const json_literal *list = s->literals + k->first;
    if (!cJSON_IsObject(v) && !cJSON_IsArray(v)) { /* they are sorted */
        char *text = json_literal_text(v);
        bool found = text && bsearch(text, list, k->n, sizeof *list, by_text);
        s->effort += text ? strlen(text) : 0;
        free(text);
        return found;
    }
    bool found = false;
    for (uint32_t i = 0; !found && i < k->n && s->effort < SCHEMA_MAX_EFFORT; i++) {
        s->effort++;
        if (list[i].text[0] != (cJSON_IsObject(v) ? '{' : '[')) continue;
        cJSON *other = cJSON_Parse(list[i].text);
        s->effort += JSON_VALUE_LOOKS * list[i].len;
        found = other && cJSON_Compare(v, other, true);
        cJSON_Delete(other);
    }
    return found;
}

/* ---- kinds ------------------------------------------------------------------------------------- */

static enum json_answer number_is(const json_shape *k, const cJSON *v) {
    json_units u;
    if (!cJSON_IsNumber(v)) return JSON_NO;
    if (k->integer && v->valuedouble != floor(v->valuedouble)) return JSON_NO;
    if (!k->bounded) return JSON_YES;
    if (!json_to_units(v->valuedouble, &u))
        return JSON_UNSURE; /* bounds are not known so far out */
    return answer(u >= k->low && u <= k->high && json_units_any(u, u, k->step));
}

static enum json_answer string_is(struct json_schema *s, const json_shape *k, const cJSON *v) {
    if (!cJSON_IsString(v)) return JSON_NO;
    const char *text = v->valuestring;
    const size_t n = strlen(text);
    s->effort += n;
    if (!k->pattern) {
        const size_t points = fo_utf8_count(text, n);
        return answer(points >= k->min && points <= k->max);
    }
    uint16_t state = pattern_start(k->pattern);
    bool plain = true; /* patterns know no control characters that JSON writes as \u alone */
    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)text[i];
        plain &= c >= 0x20 || strchr("\b\f\n\r\t", c);
        if (state != PATTERN_DEAD) state = pattern_step(k->pattern, state, c);
    }
    if (state != PATTERN_DEAD && pattern_accepts(k->pattern, state)) return JSON_YES;
    return plain ? JSON_NO : JSON_UNSURE;
}

static enum json_answer value_is_of(struct json_schema *s, uint16_t node, const cJSON *v);

static enum json_answer array_is(struct json_schema *s, const json_shape *k, const cJSON *v) {
    const cJSON *item;
    uint32_t n = 0;
    enum json_answer all = answer(cJSON_IsArray(v));
    cJSON_ArrayForEach(item, v) {
        if (all == JSON_NO) return all;
        const uint16_t node = n < k->n ? s->items[k->first + n] : k->rest;
        all = both(all, value_is_of(s, node, item));
        n++;
    }
    return n < k->min || n > k->max ? JSON_NO : all;
}

/* The declared property of a name; NULL: there is none. */
static const json_property *find(struct json_schema *s, const json_shape *k, const char *name) {
    cJSON *quoted = cJSON_CreateString(name);
    char *key = quoted ? cJSON_PrintUnformatted(quoted) : NULL;
    const json_property *found = NULL;
    for (uint32_t low = 0, high = k->n; key && low < high && !found;) {
        const uint32_t mid = low + (high - low) / 2;
        const json_property *p = &s->properties[s->properties[k->first + mid].by_key];
        const int d = strcmp(key, p->key);
        s->effort += JSON_NAME_LOOKS(p->len);
        if (d == 0) found = p;
        if (d < 0) high = mid;
        if (d > 0) low = mid + 1;
    }
    cJSON_free(key);
    cJSON_Delete(quoted);
    return found;
}

static enum json_answer object_is(struct json_schema *s, const json_shape *k, const cJSON *v) {
    const cJSON *member;
    uint32_t n = 0, n_required = 0;
    enum json_answer all = answer(cJSON_IsObject(v));
    cJSON_ArrayForEach(member, v) {
        if (all == JSON_NO) return all;
        const json_property *p = find(s, k, member->string);
        all = both(all, value_is_of(s, p ? p->node : k->rest, member));
        n_required += p && p->required;
        n++;
    }
    if (k->n && n_required < s->properties[k->first].n_required) return JSON_NO;
    return n < k->min || n > k->max ? JSON_NO : all;
}

/* ---- the whole --------------------------------------------------------------------------------- */

static enum json_answer value_is(struct json_schema *s, uint32_t shape, const cJSON *v) {
    const json_shape *k = &s->shapes[shape];
    if (++s->effort >= SCHEMA_MAX_EFFORT) return JSON_UNSURE;
    enum json_answer is;
    switch ((enum json_kind)k->kind) {
    case JSON_OBJECT:
        is = object_is(s, k, v);
        break;
    case JSON_ARRAY:
        is = array_is(s, k, v);
        break;
    case JSON_STRING:
        is = string_is(s, k, v);
        break;
    case JSON_NUMBER:
        is = number_is(k, v);
        break;
    default:
        is = answer(is_among(s, k, v));
    }
    return s->effort < SCHEMA_MAX_EFFORT ? is : JSON_UNSURE; /* it may not have looked at all */
}

static enum json_answer value_is_of(struct json_schema *s, uint16_t node, const cJSON *v) {
    enum json_answer best = JSON_NO;
    if (node == JSON_NO_NODE) return JSON_NO;
    const json_node d = s->nodes[node];
    for (uint32_t i = 0; i < d.n && best != JSON_YES; i++) {
        const enum json_answer own = value_is(s, d.first + i, v);
        if (own > best) best = own;
    }
    return best;
}

enum json_answer json_literal_is(struct json_schema *s, const json_literal *l, uint16_t node,
                                 uint32_t shape) {
    cJSON *v = cJSON_Parse(l->text);
    s->effort += JSON_VALUE_LOOKS * l->len;
    if (!v) return JSON_UNSURE; /* no memory */
    enum json_answer is = node != JSON_NO_NODE ? value_is_of(s, node, v) : value_is(s, shape, v);
    cJSON_Delete(v);
    return is;
}
