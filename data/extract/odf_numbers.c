#include "data/extract/odf_numbers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_STYLES = 1024, MAX_COUNT = 1000000, MAX_UNNUMBERED = 64 << 10 };

/* ---- styles --------------------------------------------------------------------------------------- */

static int32_t find_style(const odf_numbers *n, const char *name) {
    for (size_t i = n->n_styles; i > 0;
         i--) /* those of the text stand behind those that all texts have */
        if (!strcmp(n->styles[i - 1].name, name)) return (int32_t)i - 1;
    return -1;
}

static void open_style(odf_numbers *n, const char *name) {
    n->style = 0;
    if (n->n_styles == n->cap_styles && n->cap_styles < MAX_STYLES) {
        const size_t more = n->cap_styles ? 2 * n->cap_styles : 16;
        odf_list_style *grown = realloc(n->styles, more * sizeof *grown);
        n->failed |= !grown;
        if (!grown) return;
        n->styles = grown;
        n->cap_styles = more;
    }
    if (n->n_styles == n->cap_styles) return;
    odf_list_style *s = &n->styles[n->n_styles++];
    *s = (odf_list_style){0};
    for (int i = 0; i < ODF_LEVELS; i++)
        s->levels[i] = (odf_level){.form = LIST_BULLET, .levels = 1, .start = 1};
    snprintf(s->name, sizeof s->name, "%s", name);
    n->style = (int32_t)n->n_styles;
}

static int32_t bounded(long n) {
    return (int32_t)(n < 0 ? 0 : n > MAX_COUNT ? MAX_COUNT : n);
}

static uint8_t form_of(const xml_element *e) {
    char format[8], sync[8];
    xml_attribute(e, "num-format", format, sizeof format);
    xml_attribute(e, "num-letter-sync", sync, sizeof sync);
    const bool columns = strcmp(sync, "true") != 0;
    switch (*format) {
    case 0:
        return LIST_NONE;
    case 'a':
        return columns ? LIST_LOWER_COLUMN : LIST_LOWER_LETTER;
    case 'A':
        return columns ? LIST_UPPER_COLUMN : LIST_UPPER_LETTER;
    case 'i':
        return LIST_LOWER_ROMAN;
    case 'I':
        return LIST_UPPER_ROMAN;
    case '0':
        return LIST_PADDED;
    default:
        return LIST_DECIMAL; /* in words, or in other figures: the number is the same */
    }
}

static void open_level(odf_numbers *n, const xml_element *e) {
    const long at = xml_number(e, "level", 0), shown = xml_number(e, "display-levels", 1);
    if (!n->style || at < 1 || at > ODF_LEVELS) return;
    odf_level *l = &n->styles[n->style - 1].levels[at - 1];
    l->form = form_of(e);
    l->levels = (uint8_t)(shown < 1 ? 1 : shown > at ? at : shown);
    l->start = bounded(xml_number(e, "start-value", 1));
    xml_attribute(e, "num-prefix", l->before, sizeof l->before);
    xml_attribute(e, "num-suffix", l->behind, sizeof l->behind);
}

/* A style of paragraphs that is in no list, whatever the style that it is made from says: a heading without a number. */
static void look_at_paragraph(odf_numbers *n, const xml_element *e) {
    char name[128], list[8];
    if (!xml_attribute(e, "list-style-name", list, sizeof list) || *list) return;
    if (!xml_attribute(e, "name", name, sizeof name) || n->unnumbered.len > MAX_UNNUMBERED) return;
    fo_buf_printf(&n->unnumbered, " %s ", name);
    n->failed |= n->unnumbered.failed;
}

bool odf_numbers_style(odf_numbers *n, const xml_element *e) {
    char name[64];
    if (!strcmp(e->name, "style")) look_at_paragraph(n, e);
    if (!strcmp(e->name, "list-style")) {
        xml_attribute(e, "name", name, sizeof name);
        open_style(n, *name ? name : " ");
    } else if (!strcmp(e->name, "outline-style")) {
        open_style(n, "");
    } else if (xml_is(e->name, "list-level-style-number outline-level-style")) {
        open_level(n, e);
    } else {
        return false;
    }
    return true;
}

/* ---- lists ---------------------------------------------------------------------------------------- */

static bool goes_on(const xml_element *e) {
    char value[64];
    return (xml_attribute(e, "continue-numbering", value, sizeof value) &&
            !strcmp(value, "true")) ||
           (xml_attribute(e, "continue-list", value, sizeof value) && *value);
}

/* Levels from `level` on start again. */
static void restart(odf_list_style *s, int level) {
    for (int i = level; i < ODF_LEVELS; i++) s->levels[i].begun = false;
}

void odf_numbers_begin_list(odf_numbers *n, const xml_element *e) {
    const int depth = n->n_open++;
    if (depth >= ODF_LEVELS) return;
    char name[64];
    const int32_t above = depth ? n->open[depth - 1].style : -1;
    const int32_t style =
        xml_attribute(e, "style-name", name, sizeof name) && *name ? find_style(n, name) : above;
    n->open[depth] = (odf_open_list){.style = style};
    if (style < 0 || (depth && style == above))
        return; /* what a higher number ended starts again */
    odf_list_style *s = &n->styles[style];
    if (!goes_on(e)) restart(s, depth);
    for (int i = 0; i < depth && above >= 0; i++) { /* what it shows of the levels above */
        s->levels[i].count = n->styles[above].levels[i].count;
        s->levels[i].begun = n->styles[above].levels[i].begun;
    }
}

void odf_numbers_end_list(odf_numbers *n) {
    n->n_open -= n->n_open > 0;
}

void odf_numbers_begin_item(odf_numbers *n, const xml_element *e) {
    if (!n->n_open || n->n_open > ODF_LEVELS) return;
    odf_open_list *l = &n->open[n->n_open - 1];
    const long start = xml_number(e, "start-value", -1);
    l->fresh = !strcmp(e->name, "list-item");
    l->restarts = start >= 0 ? bounded(start) + 1 : 0;
}

/* ---- numbers -------------------------------------------------------------------------------------- */

static void count(odf_list_style *s, int level, int32_t restarts) {
    for (int i = 0; i < level; i++) { /* what was left out counts as said once */
        if (!s->levels[i].begun) s->levels[i].count = s->levels[i].start;
        s->levels[i].begun = true;
    }
    odf_level *own = &s->levels[level];
    own->count = restarts ? restarts - 1 : own->begun ? own->count + 1 : own->start;
    own->begun = true;
    restart(s, level + 1);
}

/* The numbers of the levels that it shows, with points between them. */
static void write_mark(const odf_list_style *s, int level, char mark[ODF_MARK_BYTES]) {
    const odf_level *own = &s->levels[level];
    char numbers[18 * ODF_LEVELS] = "", number[17];
    for (int i = level + 1 - own->levels; i <= level; i++) {
        if (!list_number_write(number, s->levels[i].count, s->levels[i].form)) continue;
        if (*numbers) strcat(numbers, ".");
        strcat(numbers, number); /* 16 bytes for each level */
    }
    int k = own->form == LIST_NONE
                ? snprintf(mark, ODF_MARK_BYTES, "%s%s", own->before, own->behind)
                : snprintf(mark, ODF_MARK_BYTES, "%s%s%s", own->before, numbers, own->behind);
    while (k > 0 && mark[k - 1] == ' ') mark[--k] = 0;
}

odf_mark odf_numbers_next(odf_numbers *n, char mark[ODF_MARK_BYTES]) {
    mark[0] = 0;
    if (!n->n_open || n->n_open > ODF_LEVELS) return ODF_BULLET;
    const int level = n->n_open - 1;
    odf_open_list *l = &n->open[level];
    odf_list_style *s = l->style >= 0 ? &n->styles[l->style] : NULL;
    const bool first = l->fresh;
    l->fresh = false;
    if (!s) return ODF_BULLET;
    if (first) count(s, level, l->restarts);
    if (s->levels[level].form == LIST_BULLET) return ODF_BULLET;
    if (first) write_mark(s, level, mark);
    return *mark ? ODF_NUMBER : ODF_GOES_ON;
}

void odf_numbers_heading(odf_numbers *n, const xml_element *e, long level,
                         char mark[ODF_MARK_BYTES]) {
    char value[128], between[132];
    const int32_t style = find_style(n, "");
    mark[0] = 0;
    if (style < 0 || level < 1 || level > ODF_LEVELS) return;
    if (xml_attribute(e, "is-list-header", value, sizeof value) && !strcmp(value, "true")) return;
    xml_attribute(e, "style-name", value, sizeof value);
    snprintf(between, sizeof between, " %s ", value);
    if (n->unnumbered.len && strstr(n->unnumbered.data, between)) return;
    const long start = xml_number(e, "start-value", -1);
    xml_attribute(e, "restart-numbering", value, sizeof value);
    const bool restarts = !strcmp(value, "true");
    odf_list_style *s = &n->styles[style];
    const int32_t first = s->levels[level - 1].start;
    count(s, (int)level - 1, !restarts ? 0 : start >= 0 ? bounded(start) + 1 : first + 1);
    if (s->levels[level - 1].form != LIST_NONE && s->levels[level - 1].form != LIST_BULLET)
        write_mark(s, (int)level - 1, mark);
}

void odf_numbers_free(odf_numbers *n) {
    free(n->styles);
    fo_buf_free(&n->unnumbered);
}
