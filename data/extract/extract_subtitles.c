/* Subtitles: SubRip (.srt), WebVTT (.vtt), Advanced SubStation Alpha (.ass, .ssa). What is said is joined
 * to sentences, each with the time from its first cue to its last; styles, positions and notes are dropped.
 * Sources: WebVTT (W3C, 2019), and what players take for the other two. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "data/extract/extract_internal.h"
#include "data/extract/text_lines.h"

enum {
    MAX_SPEECH = 600,  /* bytes of cues that are joined where nobody comes to a stop */
    PAUSE_MS = 4000,   /* of silence: what comes then is said anew */
    MAX_SPEAKER = 100, /* bytes of a name */
    MAX_MARK = 200,    /* bytes of a tag or an override */
};

typedef struct speech {
    builder *b;
    fo_buf text; /* of the cues that wait for the end of their sentence */
    double start_ms, end_ms;
    bool timed;
    fo_buf last; /* the last line of the cue before, without who says it */
    char speaker[MAX_SPEAKER + 1];
    size_t n_cues;
} speech;

/* "01:02:03,456", "02:03.4": hours may be missing. Where it ends, NULL: none. */
static const char *read_time(const char *s, const char *end, double *ms) {
    double parts[3] = {0};
    int n = 0;
    for (;;) {
        const char *digits = s;
        double v = 0;
        while (s < end && *s >= '0' && *s <= '9' && s - digits < 6) v = v * 10 + (*s++ - '0');
        if (s == digits || n == 3) return NULL;
        parts[n++] = v;
        if (s == end || *s != ':') break;
        s++;
    }
    if (n < 2) return NULL;
    double fraction = 0, unit = 1000;
    if (s < end && (*s == '.' || *s == ',')) {
        s++;
        while (s < end && *s >= '0' && *s <= '9') {
            unit /= 10;
            fraction += unit * (*s++ - '0');
        }
    }
    double seconds = n == 3 ? (parts[0] * 60 + parts[1]) * 60 + parts[2] : parts[0] * 60 + parts[1];
    *ms = seconds * 1000 + fraction;
    return s;
}

/* "00:01.000 --> 00:04.000 align:start" */
static bool read_times(const text_line *l, double *start_ms, double *end_ms) {
    const char *arrow = memmem(l->s, l->n, "-->", 3), *end = l->s + l->n, *s = l->s;
    if (!arrow) return false;
    while (s < arrow && (*s == ' ' || *s == '\t')) s++;
    s = read_time(s, arrow, start_ms);
    if (!s) return false;
    for (s = arrow + 3; s < end && (*s == ' ' || *s == '\t');) s++;
    return read_time(s, end, end_ms) != NULL;
}

/* ---- sentences -------------------------------------------------------------------------------- */

static void say(speech *p) {
    if (p->text.failed || p->last.failed) p->b->failure = FO_ENOMEM;
    if (p->text.len) {
        builder_set_place(
            p->b, p->timed ? &(text_place){.start_ms = p->start_ms, .end_ms = p->end_ms} : NULL);
        builder_begin(p->b, TEXT_PARAGRAPH, 0);
        builder_add_flowing(p->b, p->text.data, p->text.len);
        builder_end(p->b);
    }
    fo_buf_clear(&p->text);
    p->timed = false;
}

/* Does the text end with a stop, maybe in quotes? */
static bool is_ended(const fo_buf *t) {
    static const char *const stops[] = {
        ".", "!", "?", "\xE2\x80\xA6", "\xE3\x80\x82", "\xEF\xBC\x81", "\xEF\xBC\x9F", "]", ")"};
    static const char *const closing[] = {"\"",           "'",        "\xE2\x80\x9D",
                                          "\xE2\x80\x99", "\xC2\xBB", "\xE2\x99\xAA"};
    size_t n = t->len;
    for (bool again = true; again;) {
        again = false;
        while (n && t->data[n - 1] == ' ') n--;
        for (size_t i = 0; i < sizeof closing / sizeof *closing; i++) {
            size_t k = strlen(closing[i]);
            if (n > k && memcmp(t->data + n - k, closing[i], k) == 0) n -= k, again = true;
        }
    }
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
        size_t k = strlen(stops[i]);
        if (n >= k && memcmp(t->data + n - k, stops[i], k) == 0) return true;
    }
    return false;
}

/* A cue begins: what was said before ends where there was a pause. */
static void begin_cue(speech *p, bool timed, double start_ms, double end_ms) {
    if (p->text.len && (timed != p->timed ||
                        (timed && (start_ms - p->end_ms > PAUSE_MS || start_ms < p->start_ms))))
        say(p);
    if (!p->text.len) {
        p->timed = timed;
        p->start_ms = start_ms;
        p->end_ms = end_ms;
    } else if (end_ms > p->end_ms) {
        p->end_ms = end_ms;
    }
}

/* A line of a cue, without its marks. One that stood in the cue before as well (text that rolls up) is
 * said once; a dash begins what another person says. */
static void add_line(speech *p, const char *s, size_t n, double start_ms, double end_ms) {
    while (n && (*s == ' ' || *s == '\t')) s++, n--;
    while (n && (s[n - 1] == ' ' || s[n - 1] == '\t')) n--;
    if (!n) return;
    if (p->last.len == n && memcmp(p->last.data, s, n) == 0) return;
    bool other = (s[0] == '-' && n > 1) || (n > 3 && memcmp(s, "\xE2\x80\x93", 3) == 0);
    if (other && p->text.len) {
        bool timed = p->timed;
        say(p);
        begin_cue(p, timed, start_ms, end_ms);
    }
    if (p->text.len) fo_buf_char(&p->text, ' ');
    fo_buf_add(&p->text, s, n);
    const size_t k = strlen(p->speaker);
    const bool names = k && n > k + 2 && !memcmp(s, p->speaker, k) && !memcmp(s + k, ": ", 2);
    fo_buf_clear(&p->last);
    fo_buf_add(&p->last, s + (names ? k + 2 : 0), n - (names ? k + 2 : 0));
}

static void end_cue(speech *p) {
    if (is_ended(&p->text) || p->text.len > MAX_SPEECH) say(p);
}

/* ---- the marks in a line ------------------------------------------------------------------------ */

/* <v Mary>: what Mary says, until another one does. */
static void note_speaker(speech *p, const char *s, size_t n, fo_buf *out) {
    while (n && *s == ' ') s++, n--;
    if (!n || n > MAX_SPEAKER || (strlen(p->speaker) == n && !memcmp(p->speaker, s, n))) return;
    memcpy(p->speaker, s, n);
    p->speaker[n] = 0;
    say(p);
    fo_buf_add(out, s, n);
    fo_buf_str(out, ": ");
}

static size_t add_entity(const char *s, size_t n, fo_buf *out) {
    const char *stop = memchr(s, ';', n < 12 ? n : 12);
    int32_t cp = stop ? extract_html_entity(s + 1, (size_t)(stop - s) - 1) : 0;
    if (!cp) {
        fo_buf_char(out, '&');
        return 1;
    }
    builder one = {.max_bytes = 8};
    builder_add_cp(&one, cp);
    fo_buf_add(out, one.text.data ? one.text.data : "", one.text.len);
    builder_free(&one);
    return (size_t)(stop - s) + 1;
}

/* Is this '<' a tag's? "a < b" has none. */
static bool is_tag(const char *s, size_t n) {
    return n > 2 &&
           (s[1] == '/' || (s[1] >= '0' && s[1] <= '9') ||
            ((s[1] | 32) >= 'a' && (s[1] | 32) <= 'z')) &&
           memchr(s, '>', n < MAX_MARK ? n : MAX_MARK);
}

/* "{\i1}": its length; 0: a brace of the text. */
static size_t override_length(const char *s, size_t n) {
    if (n < 3 || s[0] != '{' || s[1] != '\\') return 0;
    const char *end = memchr(s, '}', n < MAX_MARK ? n : MAX_MARK);
    return end ? (size_t)(end - s) + 1 : 0;
}

/* "{\p1}" begins a drawing, "{\p0}" ends it; an override of something else changes nothing. */
static bool is_drawing(const char *s, size_t n, bool before) {
    for (size_t i = 0; i + 2 < n; i++)
        if (s[i] == '\\' && s[i + 1] == 'p' && s[i + 2] >= '0' && s[i + 2] <= '9')
            before = s[i + 2] != '0';
    return before;
}

/* The line without tags, overrides and drawings, entities told. */
static void strip_marks(speech *p, const char *s, size_t n, fo_buf *out) {
    bool drawing = false;
    fo_buf_clear(out);
    for (size_t at = 0, mark; at < n;) {
        if (s[at] == '<' && is_tag(s + at, n - at)) {
            const char *end = memchr(s + at, '>', n - at);
            const char *name = s + at + 1;
            size_t k = strcspn(name, " .\t>");
            if (k == 1 && *name == 'v') {
                const char *blank = memchr(name, ' ', (size_t)(end - name));
                if (blank) note_speaker(p, blank, (size_t)(end - blank), out);
            }
            at = (size_t)(end - s) + 1;
        } else if ((mark = override_length(s + at, n - at))) {
            drawing = is_drawing(s + at, mark, drawing);
            at += mark;
        } else if (drawing) {
            at++;
        } else if (s[at] == '&') {
            at += add_entity(s + at, n - at, out);
        } else {
            fo_buf_char(out, s[at++]);
        }
    }
}

/* ---- SubRip and WebVTT ---------------------------------------------------------------------------- */

/* Blocks that are no cue, to the next empty line. */
static bool is_note(const text_line *l) {
    static const char *const words[] = {"NOTE", "STYLE", "REGION", "WEBVTT"};
    for (size_t i = 0; i < 4; i++) {
        size_t k = strlen(words[i]);
        if (l->n >= k && !memcmp(l->s, words[i], k) && (l->n == k || strchr(" \t:", l->s[k])))
            return true;
    }
    return false;
}

/* An empty line, then maybe a number or a name, and times: here the next cue begins. */
static bool next_is_cue(text_lines *lines) {
    text_line next;
    double a, b;
    return text_lines_peek(lines, 0, &next) && next.n && read_times(&next, &a, &b);
}

static void read_cues(speech *p, text_lines *lines, bool vtt) {
    text_line l;
    fo_buf clean = {0};
    bool in_cue = false, after_blank = true;
    double start = 0, end = 0;
    while (text_lines_next(lines, &l) && builder_go_on(p->b, l.n + 1)) {
        double from, to;
        if (!l.n) {
            if (in_cue) end_cue(p);
            in_cue = false;
            after_blank = true;
        } else if (read_times(&l, &from, &to)) {
            if (in_cue) end_cue(p);
            start = from, end = to;
            begin_cue(p, true, start, end);
            p->n_cues++;
            in_cue = true;
            after_blank = false;
        } else if (vtt && after_blank && is_note(&l)) {
            while (text_lines_next(lines, &l) && l.n) builder_go_on(p->b, l.n);
        } else if (!in_cue && next_is_cue(lines)) {
            after_blank = false; /* its number, or its name */
        } else {
            if (!in_cue) begin_cue(p, false, 0, 0);
            strip_marks(p, l.s, l.n, &clean);
            if (!p->text.len) begin_cue(p, in_cue, start, end); /* another one speaks */
            add_line(p, clean.data ? clean.data : "", clean.len, start, end);
            after_blank = false;
        }
    }
    say(p);
    if (clean.failed) p->b->failure = FO_ENOMEM;
    fo_buf_free(&clean);
}

/* ---- SubStation Alpha ------------------------------------------------------------------------------ */

/* Where the columns stand that are read; the text is the last one. */
typedef struct columns {
    int start, end, name, text, n;
} columns;

static const columns usual_columns = {1, 2, 4, 9, 10};

static columns read_columns(const text_line *l) {
    columns c = usual_columns;
    c.name = -1;
    int i = 0;
    const char *s = l->s + 7, *end = l->s + l->n;
    for (; s < end; i++) {
        const char *comma = memchr(s, ',', (size_t)(end - s));
        size_t n = (size_t)((comma ? comma : end) - s);
        while (n && *s == ' ') s++, n--;
        while (n && s[n - 1] == ' ') n--;
        if (n == 5 && !strncasecmp(s, "Start", 5)) c.start = i;
        if (n == 3 && !strncasecmp(s, "End", 3)) c.end = i;
        if (n == 4 && !strncasecmp(s, "Name", 4)) c.name = i;
        if (n == 5 && !strncasecmp(s, "Actor", 5)) c.name = i;
        if (n == 4 && !strncasecmp(s, "Text", 4)) c.text = i;
        s = comma ? comma + 1 : end;
    }
    c.n = i;
    return c;
}

static bool is_blank(const fo_buf *text) {
    size_t i = 0;
    while (i < text->len && (text->data[i] == ' ' || text->data[i] == '\t')) i++;
    return i == text->len;
}

/* What the column of names has; a line without one is nobody's. */
static void note_name(speech *p, const char *s, size_t n, fo_buf *out) {
    while (n && s[n - 1] == ' ') n--;
    if (!n && p->speaker[0]) {
        p->speaker[0] = 0;
        say(p);
    }
    note_speaker(p, s, n, out);
}

/* "\N" and "\n" break lines, "\h" is a blank. */
static void add_broken(speech *p, const char *text, size_t n, double from, double to) {
    for (size_t at = 0; at < n;) {
        const char *slash = memchr(text + at, '\\', n - at);
        size_t stop = slash ? (size_t)(slash - text) : n;
        bool mark = slash && stop + 1 < n && strchr("Nnh", text[stop + 1]);
        if (slash && !mark) stop++;
        add_line(p, text + at, stop - at, from, to);
        at = stop + (mark ? 2 : 0);
    }
}

static void read_dialogue(speech *p, const text_line *l, const columns *c, fo_buf *clean) {
    const char *s = l->s + 9, *end = l->s + l->n, *name = s;
    size_t n_name = 0;
    double from = 0, to = 0;
    bool timed = true;
    for (int i = 0; i < c->text; i++) {
        const char *comma = memchr(s, ',', (size_t)(end - s));
        if (!comma) return;
        while (s < comma && *s == ' ') s++;
        if (i == c->start) timed = timed && read_time(s, comma, &from);
        if (i == c->end) timed = timed && read_time(s, comma, &to);
        if (i == c->name) name = s, n_name = (size_t)(comma - s);
        s = comma + 1;
    }
    p->n_cues += timed;
    strip_marks(p, s, (size_t)(end - s), clean);
    if (is_blank(clean)) return; /* a drawing */
    fo_buf line = {0};
    note_name(p, name, n_name, &line);
    fo_buf_add(&line, clean->data, clean->len);
    begin_cue(p, timed, from, to);
    if (line.failed)
        p->b->failure = FO_ENOMEM;
    else
        add_broken(p, line.data, line.len, from, to);
    end_cue(p);
    fo_buf_free(&line);
}

static void read_events(speech *p, text_lines *lines) {
    text_line l;
    fo_buf clean = {0};
    columns c = usual_columns;
    bool events = false;
    while (text_lines_next(lines, &l) && builder_go_on(p->b, l.n + 1)) {
        if (l.n && l.s[0] == '[') events = l.n >= 8 && !strncasecmp(l.s, "[Events]", 8);
        if (l.n > 6 && !events && !strncasecmp(l.s, "Title:", 6))
            builder_set_title(p->b, l.s + 6, l.n - 6);
        if (!events) continue;
        if (l.n > 7 && !strncasecmp(l.s, "Format:", 7)) c = read_columns(&l);
        if (l.n > 9 && !strncasecmp(l.s, "Dialogue:", 9)) read_dialogue(p, &l, &c, &clean);
    }
    say(p);
    if (clean.failed) p->b->failure = FO_ENOMEM;
    fo_buf_free(&clean);
}

/* ---- the format ------------------------------------------------------------------------------------ */

static bool begins(const char *s, size_t n, const char *with) {
    size_t k = strlen(with);
    return n >= k && memcmp(s, with, k) == 0;
}

bool extract_looks_like_subtitles(const extract_input *in) {
    text_lines lines = {.s = in->head, .n = in->n_head};
    text_line l;
    double a, b;
    for (int i = 0; i < 3 && text_lines_next(&lines, &l);) {
        if (!l.n) continue;
        if (i == 0 && (begins(l.s, l.n, "WEBVTT") || begins(l.s, l.n, "[Script Info]")))
            return true;
        if (i == 1) return read_times(&l, &a, &b);
        if (strspn(l.s, "0123456789") < l.n) return false;
        i++;
    }
    return false;
}

int extract_subtitles(builder *b, extract_input *in, fo_err *err) {
    fo_buf text = {0};
    speech p = {.b = b};
    int rc = extract_decode(b, in, NULL, &text, err);
    if (!rc) {
        text_lines lines = {.s = text.data, .n = text.len};
        if (memmem(text.data, text.len, "[Events]", 8) && !memmem(text.data, text.len, "-->", 3))
            read_events(&p, &lines);
        else
            read_cues(&p, &lines, begins(text.data, text.len, "WEBVTT"));
        if (!b->failure && !p.n_cues)
            rc = fo_fail(err, FO_EINVAL,
                         "it holds no cue with a time, as 00:01:02,500 --> 00:01:04,000");
    }
    extract_drop(b, &text);
    fo_buf_free(&p.text);
    fo_buf_free(&p.last);
    return rc;
}
