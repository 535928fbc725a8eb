/* See chunk_places.h. */
#include "data/chunk/chunk_places.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/utf8.h"

/* ---- writing -------------------------------------------------------------------------------- */

static void write_string(fo_buf *out, const char *key, const char *s) {
    if (!s || !*s) return;
    fo_buf_printf(out, ",\"%s\":\"", key);
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c < 0x20)
            fo_buf_printf(out, "\\u%04x", c);
        else {
            if (c == '"' || c == '\\') fo_buf_char(out, '\\');
            fo_buf_char(out, (char)c);
        }
    }
    fo_buf_char(out, '"');
}

static void write_place(fo_buf *out, const text_place *p, size_t at_cp) {
    fo_buf_printf(out, "{\"at\":%zu", at_cp);
    if (p->page) fo_buf_printf(out, ",\"page\":%u", p->page);
    if (p->slide) fo_buf_printf(out, ",\"slide\":%u", p->slide);
    bool boxed = p->box[2] > p->box[0] && p->box[3] > p->box[1];
    if (boxed) /* tenths of a point are a tenth of a millimetre or less */
        fo_buf_printf(out, ",\"bbox\":[%.1f,%.1f,%.1f,%.1f]", (double)p->box[0], (double)p->box[1],
                      (double)p->box[2], (double)p->box[3]);
    if (p->line) fo_buf_printf(out, ",\"line\":%u", p->line);
    if (p->end_ms > p->start_ms)
        fo_buf_printf(out, ",\"time\":[%.3f,%.3f]", p->start_ms / 1e3, p->end_ms / 1e3);
    write_string(out, "sheet", p->sheet);
    write_string(out, "range", p->range);
    fo_buf_char(out, '}');
}

/* The first block that ends behind `at`. */
static size_t block_at(const extracted *x, size_t at) {
    size_t low = 0, high = x->n_blocks;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (x->blocks[mid].end > at)
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

void chunk_places_write(fo_buf *out, const extracted *x, const chunk *c) {
    size_t begun = out->len, n = 0, at = c->start, at_cp = c->start_cp;
    uint32_t last = 0;
    for (size_t i = block_at(x, c->start); i < x->n_blocks; i++) {
        const text_block *b = &x->blocks[i];
        if (b->start >= c->end) break;
        const text_place *p = extracted_place(x, b);
        if (!p || b->place == last) continue;
        last = b->place;
        if (b->start > at) {
            at_cp += fo_utf8_count(x->text + at, b->start - at);
            at = b->start;
        }
        fo_buf_char(out, n++ ? ',' : '[');
        write_place(out, p, at_cp);
    }
    if (out->len > begun) fo_buf_char(out, ']');
}

/* ---- reading -------------------------------------------------------------------------------- */

static uint32_t number(const cJSON *from, const char *key) {
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(from, key);
    return cJSON_IsNumber(v) && v->valuedouble >= 1 && v->valuedouble < 4e9
               ? (uint32_t)v->valuedouble
               : 0;
}

/* The string's beginning, cut between characters. */
static void copy(char *out, size_t cap, const cJSON *from, const char *key) {
    const char *s = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(from, key));
    size_t n = s ? strlen(s) : 0;
    if (n >= cap) {
        n = cap - 1;
        while (n && !fo_utf8_boundary(s[n])) n--;
    }
    if (n) memcpy(out, s, n);
    out[n] = 0;
}

/* A list of n numbers. */
static bool numbers(const cJSON *from, const char *key, double *out, int n) {
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(from, key);
    if (cJSON_GetArraySize(list) != n) return false;
    for (int i = 0; i < n; i++) {
        const cJSON *v = cJSON_GetArrayItem(list, i);
        if (!cJSON_IsNumber(v) || !isfinite(v->valuedouble)) return false;
        out[i] = v->valuedouble;
    }
    return true;
}

static bool read_place(const cJSON *from, chunk_place *out) {
    *out = (chunk_place){
        .page = number(from, "page"), .slide = number(from, "slide"), .line = number(from, "line")};
    out->has_bbox = numbers(from, "bbox", out->bbox, 4);
    out->has_time = numbers(from, "time", out->time, 2);
    copy(out->sheet, sizeof out->sheet, from, "sheet");
    copy(out->range, sizeof out->range, from, "range");
    return out->page || out->slide || out->line || out->has_time || out->sheet[0] || out->range[0];
}

/* The last entry that begins at or before at_cp, else the first. */
static const cJSON *entry_at(const cJSON *list, size_t at_cp) {
    const cJSON *found = list ? list->child : NULL;
    for (const cJSON *e = found; e; e = e->next) {
        const cJSON *at = cJSON_GetObjectItemCaseSensitive(e, "at");
        if (!cJSON_IsNumber(at) || at->valuedouble > (double)at_cp) break;
        found = e;
    }
    return found;
}

bool chunk_places_find(const char *places, size_t at_cp, chunk_place *out) {
    *out = (chunk_place){0};
    if (!places || !*places) return false;
    cJSON *list = cJSON_Parse(places);
    const cJSON *e = cJSON_IsArray(list) ? entry_at(list, at_cp) : NULL;
    bool found = e && read_place(e, out);
    cJSON_Delete(list);
    return found;
}

/* "A2:D2" and "A9:D9" become "A2:D9"; times likewise. */
static void stretch(chunk_place *first, const chunk_place *last) {
    if (first->has_time && last->has_time && last->time[1] > first->time[1])
        first->time[1] = last->time[1];
    if (!first->range[0] || !last->range[0] || strcmp(first->sheet, last->sheet) != 0) return;
    const char *colon = strchr(last->range, ':'), *end = colon ? colon + 1 : last->range;
    size_t begin = strcspn(first->range, ":");
    char joined[sizeof first->range];
    int n = snprintf(joined, sizeof joined, "%.*s:%s", (int)begin, first->range, end);
    if (n > 0 && n < (int)sizeof joined) memcpy(first->range, joined, (size_t)n + 1);
}

bool chunk_places_whole(const char *places, chunk_place *out) {
    *out = (chunk_place){0};
    if (!places || !*places) return false;
    cJSON *list = cJSON_Parse(places);
    const cJSON *first = cJSON_IsArray(list) ? list->child : NULL, *last = first;
    while (last && last->next) last = last->next;
    bool found = first && read_place(first, out);
    chunk_place end;
    if (found && last != first && read_place(last, &end)) stretch(out, &end);
    cJSON_Delete(list);
    return found;
}
