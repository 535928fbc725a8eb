/* See word_notes.h. Source: ECMA-376 part 1, section 17.11. */
#include "data/extract/word_notes.h"

#include <stdlib.h>
#include <string.h>

#include "data/extract/xml_part.h"

enum { MAX_NOTES = 65536 };

static void add(word_notes *w, const char *s, size_t n) {
    if (!w->n || w->b->failure) return;
    if (n > w->b->max_bytes - w->text.len)
        w->b->failure = FO_ELIMIT;
    else
        fo_buf_add(&w->text, s, n);
    if (w->text.failed) w->b->failure = FO_ENOMEM;
}

static void begin_note(word_notes *w, const xml_element *e) {
    if (w->n == MAX_NOTES) {
        add(w, " ", 1);
        return;
    }
    if (w->n == w->cap) {
        size_t more = w->cap ? 2 * w->cap : 16;
        word_note *grown = realloc(w->notes, more * sizeof *grown);
        if (!grown) {
            w->b->failure = FO_ENOMEM;
            return;
        }
        w->notes = grown;
        w->cap = more;
    }
    w->notes[w->n++] = (word_note){.id = xml_number(e, "id", -1), .at = w->text.len, .end = w->end};
}

static void on_open(void *ctx, const xml_element *e) {
    word_notes *w = ctx;
    char value[32];
    if (w->skip || xml_is(e->name, "Fallback moveFrom del rt")) {
        w->skip++;
    } else if (xml_is(e->name, "footnote endnote")) {
        /* The lines between text and notes are notes too. */
        xml_attribute(e, "type", value, sizeof value);
        if (xml_is(value, "separator continuationSeparator continuationNotice"))
            w->skip++;
        else
            begin_note(w, e);
    } else if (!strcmp(e->name, "t")) {
        w->in_text = true;
    } else if (xml_is(e->name, "tab br cr p")) {
        add(w, " ", 1);
    } else if (!strcmp(e->name, "noBreakHyphen")) {
        add(w, "-", 1);
    }
}

static void trim(word_notes *w) {
    word_note *note = &w->notes[w->n - 1];
    const char *s = w->text.data;
    size_t end = w->text.len;
    while (note->at < end && s[note->at] == ' ') note->at++;
    while (end > note->at && s[end - 1] == ' ') end--;
    note->n = end - note->at;
}

static void on_close(void *ctx, const char *name) {
    word_notes *w = ctx;
    if (w->skip)
        w->skip--;
    else if (!strcmp(name, "t"))
        w->in_text = false;
    else if (xml_is(name, "footnote endnote") && w->n && w->text.len)
        trim(w);
}

static void on_text(void *ctx, const char *s, size_t n) {
    word_notes *w = ctx;
    if (!w->skip && w->in_text) add(w, s, n);
}

static int by_id(const void *a, const void *b) {
    const word_note *x = a, *y = b;
    if (x->end != y->end) return x->end ? 1 : -1;
    if (x->id != y->id) return x->id < y->id ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

int word_notes_read(word_notes *w, zip_parts *z, builder *b, fo_err *err) {
    static const xml_events events = {on_open, on_close, on_text};
    static const char *const parts[] = {"word/footnotes.xml", "word/endnotes.xml"};
    int rc = FO_OK;
    w->b = b;
    for (int i = 0; !rc && !b->failure && i < 2; i++) {
        w->end = i == 1;
        w->skip = 0;
        w->in_text = false;
        if (zip_parts_has(z, parts[i])) rc = xml_part_read(z, b, parts[i], &events, w, err);
    }
    if (w->n) qsort(w->notes, w->n, sizeof *w->notes, by_id);
    return rc;
}

static bool take(word_notes *w, word_note *note, const char **s, size_t *n) {
    if (note->taken || !note->n) return false;
    note->taken = true;
    *s = w->text.data + note->at;
    *n = note->n;
    return true;
}

/* The first that has this id. */
static size_t find(const word_notes *w, bool endnote, long id) {
    const word_note wanted = {.id = id, .end = endnote};
    size_t low = 0, high = w->n;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (by_id(&w->notes[mid], &wanted) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static bool is_note(const word_notes *w, size_t at, bool endnote, long id) {
    return at < w->n && w->notes[at].id == id && w->notes[at].end == endnote;
}

bool word_notes_take(word_notes *w, bool endnote, long id, const char **s, size_t *n) {
    /* Mostly the one behind that which was asked for last, as where several have one id. */
    const size_t at = is_note(w, w->next, endnote, id) ? w->next : find(w, endnote, id);
    if (!is_note(w, at, endnote, id)) return false;
    w->next = at + 1;
    return take(w, &w->notes[at], s, n);
}

bool word_notes_left(word_notes *w, const char **s, size_t *n) {
    while (w->left < w->n)
        if (take(w, &w->notes[w->left++], s, n)) return true;
    return false;
}

void word_notes_free(word_notes *w) {
    fo_buf_free(&w->text);
    free(w->notes);
    *w = (word_notes){0};
}
