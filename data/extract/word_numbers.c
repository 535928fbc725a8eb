/* See word_numbers.h. */
#include "data/extract/word_numbers.h"

#include <stdio.h>
#include <string.h>

#include "data/extract/list_number.h"
#include "data/extract/xml_part.h"

enum { MAX_COUNT = 1000000 };

/* ---- what the part says --------------------------------------------------------------------------- */

static uint8_t form_of(const char *name) {
    static const char *const names[] = {"decimal",    "decimalZero", "lowerLetter", "upperLetter",
                                        "lowerRoman", "upperRoman",  "bullet",      "none"};
    for (uint8_t i = 0; i < sizeof names / sizeof *names; i++) /* in the order of enum list_form */
        if (!strcmp(name, names[i])) return i;
    return LIST_DECIMAL; /* in words, or in other figures: the number is the same */
}

static int32_t start_of(const xml_element *e) {
    long n = xml_number(e, "val", 0);
    return (int32_t)(n < 0 ? 0 : n > MAX_COUNT ? MAX_COUNT : n);
}

static void open_definition(word_numbers *w, const xml_element *e) {
    long id = xml_number(e, "abstractNumId", -1);
    w->definition = id >= 0 && id < WORD_DEFINITIONS ? &w->definitions[id] : NULL;
}

static void open_list(word_numbers *w, const xml_element *e) {
    long id = xml_number(e, "numId", -1);
    w->list = id > 0 && id < WORD_LISTS ? &w->lists[id] : NULL;
    if (w->list) *w->list = (word_list){0};
}

/* The one in which a list says what its level at_level is; NULL: there are too many. */
static word_level *own_level(word_numbers *w) {
    uint16_t *own = &w->list->own[w->at_level];
    if (!*own && w->n_own_levels < WORD_OWN_LEVELS) *own = ++w->n_own_levels;
    return *own ? &w->own_levels[*own - 1] : NULL;
}

/* lvl of a definition, lvlOverride of a list, and a lvl in that, which stands for the definition's. */
static void open_level(word_numbers *w, const xml_element *e) {
    long n = xml_number(e, "ilvl", -1);
    w->at_level = n >= 0 && n < WORD_LEVELS ? (int)n : -1;
    w->level = NULL;
    if (w->at_level < 0) return;
    if (w->definition)
        w->level = &w->definition->levels[n];
    else if (w->list && !strcmp(e->name, "lvl"))
        w->level = own_level(w);
    if (w->level)
        *w->level = (word_level){.known = true, .form = LIST_DECIMAL, .restart = (uint8_t)(n + 1)};
}

static void keep_style(word_numbers *w, const xml_element *e) {
    if (w->n_styles == WORD_LEVEL_STYLES) return;
    w->styles[w->n_styles].definition = (uint16_t)(w->definition - w->definitions);
    w->styles[w->n_styles].level = (uint8_t)w->at_level;
    xml_attribute(e, "val", w->styles[w->n_styles].style, WORD_STYLE_BYTES);
    w->n_styles++;
}

static void open_of_level(word_numbers *w, const xml_element *e) {
    char value[24];
    word_level *l = w->level;
    xml_attribute(e, "val", value, sizeof value);
    if (!strcmp(e->name, "start"))
        l->start = start_of(e);
    else if (!strcmp(e->name, "numFmt"))
        l->form = form_of(value);
    else if (!strcmp(e->name, "lvlText"))
        xml_attribute(e, "val", l->text, sizeof l->text);
    else if (!strcmp(e->name, "lvlRestart"))
        l->restart = (uint8_t)(start_of(e) < WORD_LEVELS ? start_of(e) : WORD_LEVELS);
    else if (!strcmp(e->name, "isLgl"))
        l->legal = !xml_is(value, "0 false off");
    else if (w->definition && !strcmp(e->name, "pStyle"))
        keep_style(w, e);
}

static void on_open(void *ctx, const xml_element *e) {
    word_numbers *w = ctx;
    if (!strcmp(e->name, "abstractNum")) {
        open_definition(w, e);
    } else if (!strcmp(e->name, "num")) {
        open_list(w, e);
    } else if (xml_is(e->name, "lvl lvlOverride")) {
        open_level(w, e);
    } else if (w->level) {
        open_of_level(w, e);
    } else if (w->definition && xml_is(e->name, "styleLink numStyleLink")) {
        xml_attribute(e, "val", w->definition->link, WORD_STYLE_BYTES);
        w->definition->takes = *e->name == 'n';
    } else if (w->list && !strcmp(e->name, "abstractNumId")) {
        long id = xml_number(e, "val", -1);
        if (id >= 0 && id < WORD_DEFINITIONS) w->list->definition = (uint16_t)(id + 1);
    } else if (w->list && w->at_level >= 0 && !strcmp(e->name, "startOverride")) {
        w->list->start[w->at_level] = start_of(e) + 1;
    }
}

static void on_close(void *ctx, const char *name) {
    word_numbers *w = ctx;
    if (xml_is(name, "lvl lvlOverride")) w->level = NULL;
    if (!strcmp(name, "abstractNum")) w->definition = NULL;
    if (!strcmp(name, "num")) w->list = NULL;
}

/* A definition may say that it is that of a style of lists, which another one defines. */
static void follow_links(word_numbers *w) {
    for (size_t i = 0; i < WORD_LISTS; i++) {
        word_list *list = &w->lists[i];
        if (!list->definition) continue;
        const word_definition *d = &w->definitions[list->definition - 1];
        for (uint16_t k = 0; d->takes && k < WORD_DEFINITIONS; k++) {
            const word_definition *other = &w->definitions[k];
            if (other->takes || !*other->link || strcmp(other->link, d->link) != 0) continue;
            list->definition = (uint16_t)(k + 1);
            break;
        }
    }
}

int word_numbers_read(word_numbers *w, zip_parts *z, builder *b, fo_err *err) {
    static const xml_events events = {.open = on_open, .close = on_close};
    if (!zip_parts_has(z, "word/numbering.xml")) return FO_OK;
    int rc = xml_part_read(z, b, "word/numbering.xml", &events, w, err);
    if (!rc) follow_links(w);
    return rc;
}

/* ---- counting ------------------------------------------------------------------------------------- */

static word_definition *definition_of(word_numbers *w, long list) {
    if (list <= 0 || list >= WORD_LISTS || !w->lists[list].definition) return NULL;
    return &w->definitions[w->lists[list].definition - 1];
}

int word_numbers_level(const word_numbers *w, long list, const char *style) {
    if (list <= 0 || list >= WORD_LISTS) return 0;
    for (size_t i = 0; i < w->n_styles; i++)
        if (w->styles[i].definition + 1 == w->lists[list].definition &&
            !strcmp(w->styles[i].style, style))
            return w->styles[i].level;
    return 0;
}

/* How a level of this list looks and where it starts: the list's own, or the definition's, which counts in any case. */
static word_level *shape_of(word_numbers *w, const word_list *list, int level) {
    const uint16_t own = list->own[level];
    return own ? &w->own_levels[own - 1] : &w->definitions[list->definition - 1].levels[level];
}

static void count(word_numbers *w, word_list *list, word_definition *d, int level) {
    for (int i = 0; i < WORD_LEVELS && !list->used; i++) {
        if (!list->start[i]) continue;
        d->levels[i].start = shape_of(w, list, i)->start = list->start[i] - 1;
        d->levels[i].begun = false;
    }
    list->used = true;
    for (int i = 0; i < level; i++) { /* what was left out counts as said once */
        if (!d->levels[i].begun) d->levels[i].count = shape_of(w, list, i)->start;
        d->levels[i].begun = true;
    }
    word_level *own = &d->levels[level];
    own->count = own->begun ? own->count + 1 : shape_of(w, list, level)->start;
    own->begun = true;
    for (int i = level + 1; i < WORD_LEVELS; i++)
        if (level < shape_of(w, list, i)->restart) d->levels[i].begun = false;
}

/* ---- how a number is written ---------------------------------------------------------------------- */

static void write_mark(word_numbers *w, const word_list *list, int level,
                       char mark[WORD_MARK_BYTES]) {
    const word_level *own = shape_of(w, list, level),
                     *counted = w->definitions[list->definition - 1].levels;
    size_t k = 0;
    for (const char *s = own->text; *s && k + 17 < WORD_MARK_BYTES; s++) {
        if (*s != '%' || s[1] < '1' || s[1] > '9') {
            mark[k++] = *s;
            continue;
        }
        const int at = *++s - '1';
        k += list_number_write(mark + k, counted[at].count,
                               own->legal ? LIST_DECIMAL : shape_of(w, list, at)->form);
    }
    while (k && mark[k - 1] == ' ') k--;
    mark[k] = 0;
}

word_mark word_numbers_next(word_numbers *w, long list, long level, char mark[WORD_MARK_BYTES]) {
    word_definition *d = definition_of(w, list);
    mark[0] = 0;
    if (!d || level < 0 || level >= WORD_LEVELS) return WORD_UNKNOWN;
    word_list *of = &w->lists[list];
    const word_level *shape = shape_of(w, of, (int)level);
    if (!shape->known) return WORD_UNKNOWN;
    count(w, of, d, (int)level);
    if (shape->form == LIST_BULLET) return WORD_BULLET;
    write_mark(w, of, (int)level, mark);
    return *mark ? WORD_NUMBER : WORD_UNMARKED;
}
