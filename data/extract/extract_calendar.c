/* Calendars (.ics) and address cards (.vcf): each event, task and note with its summary, times and place,
 * each card with its fields, as people read them. Time zones' rules, alarms and pictures are dropped.
 * Sources: RFC 5545 (iCalendar), RFC 6350 (vCard 4), vCard 2.1 for its quoted-printable values. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "data/extract/calendar_rule.h"
#include "data/extract/encoding.h"
#include "data/extract/extract_internal.h"
#include "data/extract/mime.h"
#include "data/extract/text_lines.h"
#include "kernels/utf8.h"

enum { MAX_NESTING = 16, MAX_NAME = 40 };

/* A content line: NAME;PARAMETER=VALUE;...:VALUE, in the text. */
typedef struct property {
    char name[MAX_NAME + 1]; /* in capitals, without its group */
    const char *parameters;  /* from the first ';' on */
    size_t n_parameters;
    const char *value;
    size_t n;
} property;

typedef struct reader {
    builder *b;
    const char *kind; /* of the component at hand; NULL: none that is written */
    char stack[MAX_NESTING][MAX_NAME + 1];
    int depth, dropped; /* depth from which on all is dropped; 0: nothing is */
    bool seen;          /* a calendar or a card */
    /* the component's lines, until its summary is known */
    fo_buf heading, fields, description, start, end;
    bool all_day;
    fo_buf value; /* of the property at hand, unescaped */
} reader;

/* ---- content lines -------------------------------------------------------------------------------- */

/* A line that begins with a blank goes on with the one before, whose bytes may end inside a character; one of
 * quoted-printable that ends with '=' goes on in the next line. */
static void unfold(const unsigned char *s, size_t n, fo_buf *out) {
    size_t line = 0; /* where the line at hand begins in out */
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '\r' && i + 1 < n && s[i + 1] == '\n') continue;
        if (s[i] != '\n' && s[i] != '\r') {
            fo_buf_char(out, (char)s[i]);
            continue;
        }
        static const char soft[] = "QUOTED-PRINTABLE";
        bool goes_on = out->len > line && out->data[out->len - 1] == '=' &&
                       memmem(out->data + line, out->len - line, soft, sizeof soft - 1);
        if (goes_on) {
            out->data[--out->len] = 0; /* the '=' */
            continue;
        }
        if (i + 1 < n && (s[i + 1] == ' ' || s[i + 1] == '\t')) {
            i++;
            continue;
        }
        fo_buf_char(out, '\n');
        line = out->len;
    }
    if (!out->data) fo_buf_str(out, "");
}

static bool split(const text_line *l, property *p) {
    const char *end = l->s + l->n, *s = l->s;
    while (s < end && *s != ':' && *s != ';') s++;
    const char *name = l->s, *dot = memchr(l->s, '.', (size_t)(s - l->s));
    if (dot) name = dot + 1;
    size_t n = (size_t)(s - name);
    if (s == end || !n || n > MAX_NAME) return false;
    for (size_t i = 0; i < n; i++) {
        char c = name[i];
        p->name[i] = c >= 'a' && c <= 'z' ? (char)(c - 32) : c;
    }
    p->name[n] = 0;
    p->parameters = s;
    bool quoted = false;
    for (; s < end && (quoted || *s != ':'); s++)
        if (*s == '"') quoted = !quoted;
    p->n_parameters = (size_t)(s - p->parameters);
    p->value = s < end ? s + 1 : end;
    p->n = (size_t)(end - p->value);
    return true;
}

/* The value of a parameter, without quotes, in out[cap]; "" and false where there is none. */
static bool parameter(const property *p, const char *name, char *out, size_t cap) {
    const char *s = p->parameters, *end = s + p->n_parameters;
    size_t k = strlen(name), n = 0;
    out[0] = 0;
    while (s < end) {
        const char *next = s + 1;
        for (bool quoted = false; next < end && (quoted || *next != ';'); next++)
            if (*next == '"') quoted = !quoted;
        if ((size_t)(next - s) > k + 1 && !strncasecmp(s + 1, name, k) && s[k + 1] == '=') {
            const char *v = s + k + 2;
            for (; v < next && n + 1 < cap; v++)
                if (*v != '"') out[n++] = *v;
            if (v < next) { /* cut, maybe inside a character */
                while (n && !fo_utf8_boundary(out[n - 1])) n--;
                n -= n && (unsigned char)out[n - 1] >= 0xC0;
            }
            out[n] = 0;
            return n > 0;
        }
        s = next;
    }
    return false;
}

static bool has_word(const property *p, const char *word) {
    return memmem(p->parameters, p->n_parameters, word, strlen(word)) != NULL;
}

/* The value as clean text in r->value: quoted-printable and its character set undone, "\n" a line break,
 * "\," a comma. parts: between them stands what divides a structured value (";"), else NULL. */
static void read_value(reader *r, const property *p, const char *parts) {
    fo_buf raw = {0}, text = {0};
    size_t replaced = 0;
    const char *s = p->value;
    size_t n = p->n;
    if (has_word(p, "QUOTED-PRINTABLE")) {
        char charset[40];
        const char *name;
        encoding_limits limits = {.max_bytes = SIZE_MAX};
        mime_decode("quoted-printable", s, n, &raw);
        parameter(p, "CHARSET", charset, sizeof charset);
        encoding_decode(&text, (const unsigned char *)(raw.data ? raw.data : ""), raw.len,
                        encoding_find(charset, strlen(charset)), &limits, &name, &replaced, NULL);
        s = text.data ? text.data : "";
        n = text.len;
    }
    fo_buf_clear(&r->value);
    bool part = false; /* the one at hand has text */
    for (size_t i = 0; i < n; i++) {
        char c = s[i];
        if (c == ';' && parts) {
            if (part) fo_buf_str(&r->value, parts);
            part = false;
            continue;
        }
        if (c == '\\' && i + 1 < n) {
            c = s[++i];
            if (c == 'n' || c == 'N') c = '\n';
        }
        fo_buf_char(&r->value, c);
        part = part || c != ' ';
    }
    if (raw.failed || text.failed || r->value.failed) r->b->failure = FO_ENOMEM;
    size_t k = parts ? strlen(parts) : 0;
    while (k && r->value.len >= k && !memcmp(r->value.data + r->value.len - k, parts, k)) {
        r->value.len -= k;
        r->value.data[r->value.len] = 0;
    }
    if (!r->value.data) fo_buf_str(&r->value, "");
    fo_buf_free(&raw);
    fo_buf_free(&text);
}

static void add_field(reader *r, const char *name, const char *value) {
    if (!*value) return;
    if (r->fields.len) fo_buf_char(&r->fields, '\n');
    fo_buf_str(&r->fields, name);
    fo_buf_str(&r->fields, ": ");
    for (const char *p = value; *p; p++) fo_buf_char(&r->fields, *p == '\n' ? ' ' : *p);
}

/* ---- dates ---------------------------------------------------------------------------------------- */

/* The day before "YYYYMMDD", in place. */
static void day_before(char *date) {
    int y, m, d;
    if (sscanf(date, "%4d%2d%2d", &y, &m, &d) != 3) return;
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (y % 4 == 0 && y % 100) || y % 400 == 0;
    if (--d < 1) {
        if (--m < 1) m = 12, y--;
        if (m < 1 || m > 12 || y < 0) return;
        d = days[m - 1] + (m == 2 && leap);
    }
    char out[32];
    snprintf(out, sizeof out, "%04d%02d%02d", y, m, d);
    memcpy(date, out, 8);
}

/* An end of whole days is the day after the last one. */
static void keep_date(reader *r, const property *p, fo_buf *out, bool is_end) {
    char zone[80], value[80];
    parameter(p, "TZID", zone, sizeof zone);
    snprintf(value, sizeof value, "%.*s", (int)(p->n < 70 ? p->n : 70), p->value);
    bool whole_day = strlen(value) == 8 && calendar_digits(value, 8);
    if (is_end && whole_day) day_before(value);
    if (!is_end) r->all_day = whole_day;
    fo_buf_clear(out);
    calendar_date(out, value, strlen(value), zone);
}

/* "PT1H30M" as "1 h 30 min". */
static void add_duration(reader *r, const property *p) {
    fo_buf out = {0};
    size_t at = 0;
    bool time = false;
    while (at < p->n) {
        char c = p->value[at];
        size_t from = at;
        while (at < p->n && at - from < 9 && p->value[at] >= '0' && p->value[at] <= '9') at++;
        if (at == from) {
            if (c == 'T') time = true;
            at++;
            continue;
        }
        char unit = at < p->n ? p->value[at] : 0;
        const char *word = unit == 'W'   ? "weeks"
                           : unit == 'D' ? "days"
                           : unit == 'H' ? "h"
                           : unit == 'M' ? (time ? "min" : "months")
                                         : "s";
        fo_buf_printf(&out, "%s%.*s %s", out.len ? " " : "", (int)(at - from), p->value + from,
                      word);
    }
    if (out.data) add_field(r, "Duration", out.data);
    if (out.failed) r->b->failure = FO_ENOMEM;
    fo_buf_free(&out);
}

/* A rule that cannot be told whole stands as it is written. */
static void add_rule(reader *r, const property *p) {
    fo_buf out = {0};
    if (!calendar_rule(&out, p->value, p->n)) fo_buf_str(&out, r->value.data);
    if (out.data) add_field(r, "Repeats", out.data);
    if (out.failed) r->b->failure = FO_ENOMEM;
    fo_buf_free(&out);
}

static void add_dates(reader *r, const char *what, const property *p) {
    char zone[80];
    fo_buf out = {0};
    parameter(p, "TZID", zone, sizeof zone);
    calendar_dates(&out, p->value, p->n, zone);
    if (out.data) add_field(r, what, out.data);
    if (out.failed) r->b->failure = FO_ENOMEM;
    fo_buf_free(&out);
}

/* ---- fields --------------------------------------------------------------------------------------- */

/* "mailto:ann@example.org" with a name beside it. */
static void add_person(reader *r, const char *what, const property *p) {
    char name[200];
    const char *v = r->value.data;
    if (!strncasecmp(v, "mailto:", 7)) v += 7;
    fo_buf out = {0};
    if (parameter(p, "CN", name, sizeof name) && strcmp(name, v) != 0)
        fo_buf_printf(&out, "%s <%s>", name, v);
    else
        fo_buf_str(&out, v);
    if (out.data) add_field(r, what, out.data);
    if (out.failed) r->b->failure = FO_ENOMEM;
    fo_buf_free(&out);
}

static void keep_text(fo_buf *to, const fo_buf *from) {
    if (to->len && from->len) fo_buf_char(to, '\n');
    fo_buf_add(to, from->data, from->len);
}

/* Of what repeats, one that was moved or changed: which one it was. */
static const char *instead_of(const property *p) {
    return has_word(p, "THISANDFUTURE") ? "Instead of this and all later ones" : "Instead of";
}

static void read_event_field(reader *r, const property *p) {
    static const char *const plain[][2] = {
        {"LOCATION", "Where"},        {"STATUS", "Status"},
        {"CATEGORIES", "Categories"}, {"URL", "URL"},
        {"CONTACT", "Contact"},       {"RESOURCES", "Resources"},
        {"PRIORITY", "Priority"},     {"PERCENT-COMPLETE", "Percent complete"},
        {"COMMENT", "Comment"}};
    read_value(r, p, NULL);
    if (!strcmp(p->name, "SUMMARY")) return keep_text(&r->heading, &r->value);
    if (!strcmp(p->name, "DESCRIPTION")) return keep_text(&r->description, &r->value);
    if (!strcmp(p->name, "DTSTART")) return keep_date(r, p, &r->start, false);
    if (!strcmp(p->name, "DTEND")) return keep_date(r, p, &r->end, true);
    if (!strcmp(p->name, "DURATION")) return add_duration(r, p);
    if (!strcmp(p->name, "RRULE")) return add_rule(r, p);
    if (!strcmp(p->name, "ORGANIZER")) return add_person(r, "Organizer", p);
    if (!strcmp(p->name, "ATTENDEE")) return add_person(r, "Attendee", p);
    if (!strcmp(p->name, "EXDATE")) return add_dates(r, "Except", p);
    if (!strcmp(p->name, "RDATE")) return add_dates(r, "Also", p);
    if (!strcmp(p->name, "RECURRENCE-ID")) return add_dates(r, instead_of(p), p);
    if (!strcmp(p->name, "DUE")) return add_dates(r, "Due", p);
    if (!strcmp(p->name, "COMPLETED")) return add_dates(r, "Completed", p);
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (!strcmp(p->name, plain[i][0])) add_field(r, plain[i][1], r->value.data);
}

/* What people call it: the standard's "cell" is a mobile. */
static void add_types(fo_buf *name, const char *types) {
    for (const char *c = types; *c;) {
        const size_t n = strcspn(c, ",");
        if (n == 4 && !memcmp(c, "cell", 4))
            fo_buf_str(name, "mobile");
        else
            fo_buf_add(name, c, n);
        c += n;
        if (*c) fo_buf_char(name, *c++);
    }
}

/* What a field is for, in small letters, "work,cell": by its TYPE, or as cards of version 2.1 have it, "TEL;WORK;CELL:". False: it says none. */
static bool types_of(const property *p, char *types, size_t size) {
    static const char *const bare[] = {"home", "work", "cell", "fax", "pager"};
    if (parameter(p, "TYPE", types, size)) {
        for (char *c = types; *c; c++)
            if (*c >= 'A' && *c <= 'Z') *c = (char)(*c + 32);
        return strcmp(types, "internet") && strcmp(types, "pref");
    }
    size_t n = 0;
    for (size_t at = 0, len; at < p->n_parameters; at += len + 1) {
        const char *word = p->parameters + at, *end = memchr(word, ';', p->n_parameters - at);
        len = end ? (size_t)(end - word) : p->n_parameters - at;
        for (size_t i = 0; i < sizeof bare / sizeof *bare; i++)
            if (strlen(bare[i]) == len && !strncasecmp(word, bare[i], len) && n + len + 2 < size)
                n += (size_t)snprintf(types + n, size - n, "%s%s", n ? "," : "", bare[i]);
    }
    return n > 0;
}

/* "Telephone (work, mobile)": what a field is, and for what. */
static void add_card_field(reader *r, const char *what, const property *p) {
    char types[100];
    fo_buf name = {0};
    fo_buf_str(&name, what);
    if (types_of(p, types, sizeof types)) {
        fo_buf_str(&name, " (");
        add_types(&name, types);
        fo_buf_char(&name, ')');
    }
    if (name.failed)
        r->b->failure = FO_ENOMEM;
    else
        add_field(r, name.data, r->value.data);
    fo_buf_free(&name);
}

/* In other values a ";" is a letter of them, such as of an address. */
static bool has_parts(const char *name) {
    return !strcmp(name, "ORG") || !strcmp(name, "ADR") || !strcmp(name, "GENDER");
}

static void read_card_field(reader *r, const property *p) {
    static const char *const plain[][2] = {
        {"ORG", "Organization"}, {"TITLE", "Title"},        {"ROLE", "Role"},
        {"TEL", "Telephone"},    {"EMAIL", "Email"},        {"ADR", "Address"},
        {"URL", "URL"},          {"NICKNAME", "Nickname"},  {"CATEGORIES", "Categories"},
        {"IMPP", "Messages"},    {"RELATED", "Related"},    {"TZ", "Time zone"},
        {"LANG", "Language"},    {"GENDER", "Gender"},      {"MEMBER", "Member"},
        {"HOBBY", "Hobby"},      {"EXPERTISE", "Expertise"}};
    if (!strcmp(p->name, "FN") || !strcmp(p->name, "NOTE")) {
        read_value(r, p, NULL);
        keep_text(p->name[0] == 'F' ? &r->heading : &r->description, &r->value);
    } else if (!strcmp(p->name, "N")) { /* family; given; ...: where there is no whole name */
        read_value(r, p, ", ");
        keep_text(&r->start, &r->value);
    } else if (!strcmp(p->name, "BDAY") || !strcmp(p->name, "ANNIVERSARY")) {
        fo_buf date = {0};
        read_value(r, p, NULL);
        calendar_date(&date, r->value.data, r->value.len, "");
        if (date.data) add_field(r, p->name[0] == 'B' ? "Birthday" : "Anniversary", date.data);
        fo_buf_free(&date);
    }
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (!strcmp(p->name, plain[i][0])) {
            read_value(r, p, has_parts(p->name) ? ", " : NULL);
            add_card_field(r, plain[i][1], p);
        }
}

/* ---- components ------------------------------------------------------------------------------------- */

static void begin_component(reader *r, const char *kind) {
    r->kind = kind;
    fo_buf_clear(&r->heading);
    fo_buf_clear(&r->fields);
    fo_buf_clear(&r->description);
    fo_buf_clear(&r->start);
    fo_buf_clear(&r->end);
    r->all_day = false;
}

/* What was cut may have been cut inside a character. */
static void add_clean(builder *b, const char *s, size_t n) {
    fo_buf clean = {0};
    size_t replaced = 0;
    encoding_clean(&clean, s, n, &replaced);
    if (clean.failed) b->failure = FO_ENOMEM;
    if (clean.data) builder_add(b, clean.data, clean.len);
    fo_buf_free(&clean);
}

static void write_lines(builder *b, const char *s, size_t n) {
    for (size_t at = 0; at < n;) {
        const char *stop = memmem(s + at, n - at, "\n\n", 2);
        size_t end = stop ? (size_t)(stop - s) : n;
        builder_begin(b, TEXT_PARAGRAPH, 0);
        builder_add(b, s + at, end - at);
        builder_end(b);
        at = end + 2;
    }
}

/* One whole day may also be written as one that ends where it begins: its last day is before its first one then. */
static bool ends_as_it_begins(const reader *r) {
    if (r->end.len != r->start.len) return false;
    const int order = memcmp(r->end.data, r->start.data, r->end.len);
    return order == 0 || (r->all_day && order < 0);
}

static void end_component(reader *r) {
    builder *b = r->b;
    bool card = !strcmp(r->kind, "VCARD");
    if (card && !r->heading.len) keep_text(&r->heading, &r->start);
    if (r->heading.failed || r->fields.failed || r->description.failed || r->start.failed ||
        r->end.failed)
        b->failure = FO_ENOMEM;
    if (r->heading.len) {
        builder_begin(b, TEXT_HEADING, 2);
        builder_add_flowing(b, r->heading.data, r->heading.len);
        builder_end(b);
    }
    builder_begin(b, TEXT_PARAGRAPH, 0);
    if (!card && r->start.len) {
        builder_str(b, "When: ");
        add_clean(b, r->start.data, r->start.len);
        if (r->end.len && !ends_as_it_begins(r)) {
            builder_str(b, " to ");
            /* The same day need not be said twice. */
            bool day = !r->all_day && r->end.len > 16 - 5 && r->start.len > 11 &&
                       !memcmp(r->end.data, r->start.data, 11);
            add_clean(b, r->end.data + (day ? 11 : 0), r->end.len - (day ? 11 : 0));
        }
        if (r->fields.len) builder_str(b, "\n");
    }
    if (r->fields.len) add_clean(b, r->fields.data, r->fields.len);
    builder_end(b);
    if (r->description.len) write_lines(b, r->description.data, r->description.len);
    r->kind = NULL;
}

static const char *written(const char *name) {
    static const char *const kinds[] = {"VEVENT", "VTODO", "VJOURNAL", "VCARD"};
    for (size_t i = 0; i < 4; i++)
        if (!strcmp(name, kinds[i])) return kinds[i];
    return NULL;
}

static void on_begin(reader *r, const property *p) {
    char name[MAX_NAME + 1];
    snprintf(name, sizeof name, "%.*s", (int)(p->n < MAX_NAME ? p->n : MAX_NAME), p->value);
    for (char *c = name; *c; c++)
        if (*c >= 'a' && *c <= 'z') *c = (char)(*c - 32);
    bool known = !strcmp(name, "VCALENDAR") || !strcmp(name, "VCARD");
    r->seen = r->seen || known;
    if (r->depth < MAX_NESTING) memcpy(r->stack[r->depth], name, sizeof name);
    r->depth++;
    if (r->dropped) return;
    const char *kind = written(name);
    if (kind) {
        if (r->kind) end_component(r); /* it was not ended */
        begin_component(r, kind);
    } else if (!known) {
        r->dropped = r->depth; /* zones, alarms, what is busy */
    }
}

static void on_end(reader *r) {
    if (!r->depth) return;
    bool mine = !r->dropped && r->kind && r->depth <= MAX_NESTING &&
                !strcmp(r->stack[r->depth - 1], r->kind);
    if (mine) end_component(r);
    if (r->dropped == r->depth) r->dropped = 0;
    r->depth--;
}

static void read_line(reader *r, const text_line *l) {
    property p;
    if (!l->n || !split(l, &p)) return;
    if (!strcmp(p.name, "BEGIN"))
        on_begin(r, &p);
    else if (!strcmp(p.name, "END"))
        on_end(r);
    else if (r->dropped)
        return;
    else if (r->kind && !strcmp(r->kind, "VCARD"))
        read_card_field(r, &p);
    else if (r->kind)
        read_event_field(r, &p);
    else if (!strcmp(p.name, "X-WR-CALNAME") || !strcmp(p.name, "NAME")) {
        read_value(r, &p, NULL);
        builder_set_title(r->b, r->value.data, r->value.len);
    }
}

bool extract_looks_like_calendar(const extract_input *in) {
    size_t at = 0;
    while (at < in->n_head && (unsigned char)in->head[at] <= ' ') at++;
    return (in->n_head - at > 15 && !strncasecmp(in->head + at, "BEGIN:VCALENDAR", 15)) ||
           (in->n_head - at > 11 && !strncasecmp(in->head + at, "BEGIN:VCARD", 11));
}

int extract_calendar(builder *b, extract_input *in, fo_err *err) {
    fo_buf whole = {0}, text = {0};
    if (!doc_budget_take(b->budget, in->n)) {
        b->failure = b->budget->failure;
        return FO_OK;
    }
    const size_t taken = in->n;
    unfold(in->bytes, in->n, &whole);
    extract_input unfolded = *in;
    unfolded.bytes = (const unsigned char *)(whole.data ? whole.data : "");
    unfolded.n = whole.len;
    unfolded.unpacked = NULL;
    int rc = whole.failed ? fo_no_memory(err) : extract_decode(b, &unfolded, NULL, &text, err);
    fo_buf_free(&whole);
    doc_budget_give(b->budget, taken);
    reader *r = calloc(1, sizeof *r);
    if (!rc && !r) rc = fo_no_memory(err);
    if (!rc) {
        r->b = b;
        text_lines lines = {.s = text.data, .n = text.len};
        text_line l;
        while (text_lines_next(&lines, &l) && builder_go_on(b, l.n + 1)) read_line(r, &l);
        if (r->kind) end_component(r); /* the file was cut off: what there is of it */
        if (!b->failure && !r->seen)
            rc = fo_fail(err, FO_EINVAL,
                         "it holds neither a calendar nor a card: no line BEGIN:VCALENDAR or "
                         "BEGIN:VCARD");
        fo_buf_free(&r->heading);
        fo_buf_free(&r->fields);
        fo_buf_free(&r->description);
        fo_buf_free(&r->start);
        fo_buf_free(&r->end);
        fo_buf_free(&r->value);
    }
    free(r);
    extract_drop(b, &text);
    return rc;
}
