#include "data/extract/front_matter.h"

#include <string.h>
#include <strings.h>

#include "kernels/utf8.h"

enum { MOST_BYTES = 64 << 10, MAX_KEY = 64, MAX_FIELDS = 256, MAX_VALUES = 64, MAX_VALUE = 256 };

typedef struct span {
    const char *s;
    size_t n;
} span;

static span trim(span x) {
    while (x.n && fo_is_blank(*x.s)) x.s++, x.n--;
    while (x.n && fo_is_blank(x.s[x.n - 1])) x.n--;
    return x;
}

static bool is_quoted(span x) {
    return x.n >= 2 && (*x.s == '"' || *x.s == '\'') && x.s[x.n - 1] == *x.s;
}

static span unquote(span x) {
    x = trim(x);
    return is_quoted(x) ? (span){x.s + 1, x.n - 2} : x;
}

/* The next line of *rest, which is not empty. */
static span take_line(span *rest) {
    const char *newline = memchr(rest->s, '\n', rest->n);
    span line = {rest->s, newline ? (size_t)(newline - rest->s) : rest->n};
    size_t skip = line.n + (newline != NULL);
    rest->s += skip;
    rest->n -= skip;
    return line;
}

/* ---- where it ends ------------------------------------------------------------------------------------ */

/* Bytes of the key that the line begins with, up to its colon; 0: it begins with none. blanks: it may have some. */
static size_t key_bytes(const char *s, size_t n, bool blanks) {
    size_t k = 0;
    while (k < n && k < MAX_KEY &&
           (fo_is_letter(s[k]) || fo_is_digit(s[k]) || (unsigned char)s[k] >= 0x80 ||
            (s[k] && strchr("_-.\"'", s[k])) || (blanks && k && s[k] == ' ')))
        k++;
    return k < n && s[k] == ':' && (k + 1 == n || fo_is_blank(s[k + 1])) ? k : 0;
}

/* "---" or "...", and nothing else than blanks behind it. */
static bool closes(const char *s, size_t n) {
    return n >= 3 && (!memcmp(s, "---", 3) || !memcmp(s, "...", 3)) && fo_only_blanks(s + 3, n - 3);
}

/* Bytes of a value that says no more than that it is in the lines below: "|", ">-"; 0: it says more. */
static size_t block_mark(const char *s, size_t n) {
    size_t at = 0;
    while (at < n && s[at] == ' ') at++;
    if (at == n || (s[at] != '|' && s[at] != '>')) return 0;
    for (at++; at < n && (fo_is_digit(s[at]) || s[at] == '+' || s[at] == '-');) at++;
    return fo_only_blanks(s + at, n - at) ? n : 0;
}

static bool is_item(const char *s, size_t n) {
    return n && s[0] == '-' && (n == 1 || s[1] == ' ');
}

/* Does the line go on with what the keys before it say? */
static bool belongs(const char *s, size_t n) {
    return is_item(s, n) || (n && strchr(" \t]}", s[0]));
}

/* A rule that a text begins with is followed by a blank line, or by words. Bytes up to the line that closes; 0: none does. */
static size_t find_end(front_matter *f, const char *s, size_t n) {
    bool keys = false, open = false; /* open: what is indented goes on with the title */
    if (n < 8 || memcmp(s, "---\n", 4) != 0 || s[4] == '\n') return 0;
    for (size_t at = 4; at < n && at < MOST_BYTES;) {
        const char *line = s + at, *newline = memchr(line, '\n', n - at);
        size_t len = newline ? (size_t)(newline - line) : n - at, key = key_bytes(line, len, keys);
        if (closes(line, len)) {
            f->n = keys ? at + len : 0;
            return keys ? at : 0;
        }
        if (!fo_only_blanks(line, len)) {
            open = open && fo_is_blank(line[0]);
            if (open) f->n_title = (size_t)(line + len - f->title);
        }
        if (!key && len && line[0] != '#' && !(keys && belongs(line, len))) return 0;
        if (key == 5 && !memcmp(line, "title", 5) && !f->n_title) {
            const size_t mark = block_mark(line + 6, len - 6);
            f->title = line + 6 + mark;
            f->n_title = len - 6 - mark;
            open = mark || !fo_only_blanks(f->title, f->n_title);
        }
        keys |= key > 0;
        at += len + 1;
    }
    return 0;
}

/* ---- what it says ------------------------------------------------------------------------------------- */

typedef struct reader {
    front_matter *f;
    span names[MAX_FIELDS]; /* that have come */
    size_t n_names, n_values;
    /* the field at hand */
    fo_buf said;   /* its values as the record has them */
    fo_buf json;   /* ... as fields does; of a list without its brackets */
    size_t n_said; /* values */
    bool list;     /* they are those of one */
    bool left_out; /* it is none that is kept */
    bool too_long; /* for fields */
} reader;

/* What tells a site generator how to make a page, and a reader nothing. */
static bool is_setting(span key) {
    static const char *const settings[] = {
        "layout",
        "permalink",
        "draft",
        "slug",
        "weight",
        "aliases",
        "toc",
        "template",
        "title",
        "sidebar_position",
        "sidebar_label",
        "nav_order",
        "nav_exclude",
        "id",
        "uuid",
        "cssclass",
        "hide_title",
        "cssclasses",
        "pagination_next",
        "pagination_prev",
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (strlen(settings[i]) == key.n && !strncasecmp(settings[i], key.s, key.n)) return true;
    return false;
}

/* The names of metadata have dots where they are nested, and "source" is the folder that a document comes from (sync): a
 * text says neither of itself. */
static bool may_be_metadata(span key) {
    return !memchr(key.s, '.', key.n) && !(key.n == 6 && !memcmp(key.s, "source", 6));
}

static bool is_word(span x, const char *word) {
    return strlen(word) == x.n && !strncasecmp(word, x.s, x.n);
}

/* A number that JSON has too, and a double: no "007", no "1e9", no telephone number. */
static bool is_number(span x) {
    size_t at = x.n && *x.s == '-', from = at;
    while (at < x.n && fo_is_digit(x.s[at])) at++;
    if (at == from || x.n > 15 || (x.s[from] == '0' && at > from + 1)) return false;
    if (at == x.n) return true;
    from = ++at;
    while (at < x.n && fo_is_digit(x.s[at])) at++;
    return x.s[from - 1] == '.' && at == x.n && at > from;
}

static void write_json_string(fo_buf *b, span x) {
    fo_buf_char(b, '"');
    for (size_t i = 0; i < x.n; i++) {
        unsigned char c = (unsigned char)x.s[i];
        if (c == '"' || c == '\\') fo_buf_char(b, '\\');
        if (c < 0x20)
            fo_buf_printf(b, "\\u%04x", c);
        else
            fo_buf_char(b, (char)c);
    }
    fo_buf_char(b, '"');
}

/* One value, whole and without its quotes; plain: it had none, and may be a number. */
static void say(reader *r, span x, bool plain) {
    x = trim(x);
    if (!x.n || (plain && (is_word(x, "null") || is_word(x, "~")))) return;
    if (r->n_said++) {
        fo_buf_str(&r->said, ", ");
        fo_buf_char(&r->json, ',');
    }
    fo_buf_add(&r->said, x.s, x.n);
    r->too_long |= x.n > MAX_VALUE;
    if (plain && is_number(x))
        fo_buf_add(&r->json, x.s, x.n);
    else if (plain && (is_word(x, "true") || is_word(x, "false")))
        fo_buf_str(&r->json, x.n == 4 ? "true" : "false");
    else
        write_json_string(&r->json, x);
}

/* Where the quote that x begins with is closed; 0: nowhere. */
static size_t closing_quote(span x) {
    for (size_t i = 1; i < x.n; i++) {
        if (*x.s == '"' && x.s[i] == '\\')
            i++;
        else if (*x.s == '\'' && x.s[i] == '\'' && i + 1 < x.n && x.s[i + 1] == '\'')
            i++;
        else if (x.s[i] == *x.s)
            return i;
    }
    return 0;
}

/* Between its quotes: \" and '' are one sign. */
static void say_quoted(reader *r, span x, size_t close) {
    fo_buf b = {0};
    for (size_t i = 1; i < close; i++) {
        bool pair = i + 1 < close &&
                    (*x.s == '"' ? x.s[i] == '\\' && strchr("\"\\/", x.s[i + 1]) : x.s[i] == '\'');
        fo_buf_char(&b, x.s[pair ? ++i : i]);
    }
    say(r, (span){b.data, b.len}, false);
    r->said.failed |= b.failed;
    fo_buf_free(&b);
}

/* Bytes before a remark: " # so far". */
static size_t before_remark(span x) {
    for (size_t i = 0; i < x.n; i++)
        if (x.s[i] == '#' && (!i || fo_is_blank(x.s[i - 1]))) return i;
    return x.n;
}

static bool opens_map(span x) {
    return key_bytes(x.s, x.n, true) > 0;
}

/* A value on one line: quoted or plain. What only YAML understands is none. */
static void say_scalar(reader *r, span x) {
    x = trim(x);
    size_t close = x.n && (*x.s == '"' || *x.s == '\'') ? closing_quote(x) : 0;
    if (close && before_remark(trim((span){x.s + close + 1, x.n - close - 1})) == 0) {
        say_quoted(r, x, close);
        return;
    }
    x = trim((span){x.s, before_remark(x)});
    if (x.n && *x.s && strchr("{}[&*!|>%@`", *x.s))
        r->left_out = true;
    else
        say(r, x, true);
}

/* "[a, "b, c", 3]" */
static void say_flow_list(reader *r, span x) {
    r->list = true;
    x = trim((span){x.s, before_remark(x)});
    if (x.n < 2 || x.s[x.n - 1] != ']') {
        r->left_out = true;
        return;
    }
    for (size_t at = 1; at < x.n - 1 && !r->left_out;) {
        while (at < x.n - 1 && fo_is_blank(x.s[at])) at++;
        span item = {x.s + at, x.n - 1 - at};
        size_t quoted = item.n && (*item.s == '"' || *item.s == '\'') ? closing_quote(item) : 0;
        const char *comma = item.n ? memchr(item.s + quoted, ',', item.n - quoted) : NULL;
        if (comma) item.n = (size_t)(comma - item.s);
        at += item.n + 1;
        r->left_out |= !quoted && opens_map(item);
        say_scalar(r, item);
    }
}

/* "- a" lines, as deep as the first. */
static void say_items(reader *r, span body) {
    size_t depth = SIZE_MAX;
    r->list = true;
    while (body.n && !r->left_out) {
        span line = take_line(&body), item = trim(line);
        if (!item.n || *item.s == '#') continue;
        size_t blanks = (size_t)(item.s - line.s);
        if (depth == SIZE_MAX) depth = blanks;
        bool flat = is_item(item.s, item.n) && blanks == depth;
        item = trim((span){item.s + 1, item.n - 1});
        bool map = item.n && *item.s != '"' && *item.s != '\'' && opens_map(item);
        r->left_out |= !flat || map || is_item(item.s, item.n);
        say_scalar(r, item);
    }
}

/* Lines as one, with blanks for their ends; remarks: what is behind "#" is none of it. */
static void join_lines(fo_buf *to, span first, span body, bool remarks) {
    for (span line = first;; line = take_line(&body)) {
        line = trim(line);
        if (remarks) line = trim((span){line.s, before_remark(line)});
        if (to->len && line.n) fo_buf_char(to, ' ');
        fo_buf_add(to, line.s, line.n);
        if (!body.n) return;
    }
}

static void say_value(reader *r, span first, span body) {
    bool marked = block_mark(first.s, first.n) > 0;
    first = marked ? (span){first.s, 0} : trim(first);
    size_t plain = before_remark(first);
    span rest = trim(body);
    if (!plain && !marked && is_item(rest.s, rest.n)) {
        say_items(r, body);
        return;
    }
    fo_buf whole = {0};
    bool quoted = first.n && (*first.s == '"' || *first.s == '\'');
    join_lines(&whole, plain ? first : (span){first.s, 0}, body, !marked && !quoted);
    span x = {whole.data, whole.len};
    r->left_out |= !plain && !marked && opens_map(x);
    if (marked)
        say(r, x, false);
    else if (x.n && *x.s == '[')
        say_flow_list(r, x);
    else
        say_scalar(r, x);
    r->said.failed |= whole.failed;
    fo_buf_free(&whole);
}

static bool has_come(const reader *r, span key) {
    for (size_t i = 0; i < r->n_names; i++)
        if (r->names[i].n == key.n && !memcmp(r->names[i].s, key.s, key.n)) return true;
    return false;
}

/* The field at hand, to the record and the fields. */
static void keep(reader *r, span key) {
    front_matter *f = r->f;
    if (f->record.len) fo_buf_str(&f->record, "; ");
    fo_buf_add(&f->record, key.s, key.n);
    fo_buf_str(&f->record, ": ");
    fo_buf_add(&f->record, r->said.data, r->said.len);
    if (r->too_long || r->n_values + r->n_said > MAX_VALUES || !may_be_metadata(key)) return;
    r->n_values += r->n_said;
    fo_buf_char(&f->fields, f->fields.len ? ',' : '{');
    write_json_string(&f->fields, key);
    fo_buf_str(&f->fields, r->list ? ":[" : ":");
    fo_buf_add(&f->fields, r->json.data, r->json.len);
    if (r->list) fo_buf_char(&f->fields, ']');
}

/* False: its values are not kept. */
static bool begin_field(reader *r, span key) {
    if (!key.n || is_setting(key) || has_come(r, key) || r->n_names == MAX_FIELDS) return false;
    r->names[r->n_names++] = key;
    r->n_said = 0;
    r->list = r->left_out = r->too_long = false;
    fo_buf_clear(&r->said);
    fo_buf_clear(&r->json);
    return true;
}

static void read_field(reader *r, span key, span first, span body) {
    key = unquote(key);
    if (!begin_field(r, key)) return;
    say_value(r, first, body);
    if (!r->left_out && r->n_said) keep(r, key);
}

static void end_fields(reader *r) {
    front_matter *f = r->f;
    if (f->fields.len) fo_buf_char(&f->fields, '}');
    f->record.failed |= r->said.failed || r->json.failed;
    fo_buf_free(&r->said);
    fo_buf_free(&r->json);
}

static void read_fields(front_matter *f, span rest) {
    reader r = {.f = f};
    while (rest.n && r.n_names < MAX_FIELDS) {
        span line = take_line(&rest);
        size_t key = belongs(line.s, line.n) ? 0 : key_bytes(line.s, line.n, true);
        if (!key) continue;
        span body = {rest.s, 0};
        while (rest.n) { /* up to the next key */
            span ahead = rest, next = take_line(&ahead);
            if (next.n && *next.s != '#' && !belongs(next.s, next.n)) break;
            rest = ahead;
        }
        body.n = (size_t)(rest.s - body.s);
        read_field(&r, (span){line.s, key}, (span){line.s + key + 1, line.n - key - 1}, body);
    }
    end_fields(&r);
}

/* ---- as TOML ------------------------------------------------------------------------------------------ */

/* Without the n signs that it begins with. */
static span skip(span x, size_t n) {
    return (span){x.s + n, x.n - n};
}

static bool is_quote(span x) {
    return x.n && (*x.s == '"' || *x.s == '\'');
}

/* Bytes of the string that x begins with, with its quotes; 0: it begins with none that is closed. *marks: how many signs open
 * it, and close it. */
static size_t string_bytes(span x, size_t *marks) {
    if (!is_quote(x)) return 0;
    const bool three = x.n > 5 && x.s[1] == *x.s && x.s[2] == *x.s;
    *marks = three ? 3 : 1;
    for (size_t i = *marks; i + *marks <= x.n; i++) {
        if (!three && x.s[i] == '\n') return 0;
        if (*x.s == '"' && x.s[i] == '\\')
            i++;
        else if (x.s[i] == *x.s && (!three || (x.s[i + 1] == *x.s && x.s[i + 2] == *x.s)))
            return i + *marks;
    }
    return 0;
}

/* Bytes up to the end of the line, or to the remark on it. */
static size_t line_bytes(span x) {
    size_t i = 0;
    while (i < x.n && x.s[i] != '\n' && x.s[i] != '#') i++;
    return i;
}

/* Bytes of a value: a string, what stands between brackets, or what else is on the line. 0: nothing closes it. */
static size_t value_bytes(span x) {
    size_t marks, depth = 0;
    if (is_quote(x)) return string_bytes(x, &marks);
    if (!x.n || (*x.s != '[' && *x.s != '{')) return line_bytes(x);
    for (size_t i = 0; i < x.n; i++) {
        const size_t string = string_bytes(skip(x, i), &marks);
        if (string)
            i += string - 1;
        else if (is_quote(skip(x, i)))
            return 0;
        else if (x.s[i] == '#')
            i += line_bytes(skip(x, i + 1));
        else if (x.s[i] == '[' || x.s[i] == '{')
            depth++;
        else if ((x.s[i] == ']' || x.s[i] == '}') && --depth == 0)
            return i + 1;
    }
    return 0;
}

/* Of a string over several lines these are joined, and a sign that says so at the end of one is none of its text. */
static void say_string(reader *r, span x, size_t marks) {
    if (marks == 1) return say_quoted(r, x, x.n - 1);
    fo_buf lines = {0};
    for (span rest = {x.s + marks, x.n - 2 * marks}; rest.n;) {
        span line = trim(take_line(&rest));
        if (rest.n && line.n && line.s[line.n - 1] == '\\' && *x.s == '"') line.n--;
        join_lines(&lines, line, (span){0}, false);
    }
    say(r, (span){lines.data, lines.len}, false);
    r->said.failed |= lines.failed;
    fo_buf_free(&lines);
}

/* A date, a number, true or false, a string; what is made of such has no form here. */
static void say_toml_scalar(reader *r, span x) {
    size_t marks;
    x = trim(x);
    if (string_bytes(x, &marks))
        say_string(r, x, marks);
    else if (x.n && (*x.s == '[' || *x.s == '{'))
        r->left_out = true;
    else
        say(r, x, true);
}

/* "[ "a", 3, # so far" and more lines, "]" */
static void say_toml_list(reader *r, span x) {
    r->list = true;
    for (x = (span){x.s + 1, x.n - 2}; x.n && !r->left_out;) {
        if (*x.s == ',' || fo_is_blank(*x.s)) {
            x = skip(x, 1);
            continue;
        }
        size_t item = *x.s == '#' ? line_bytes(skip(x, 1)) + 1 : value_bytes(x);
        const bool plain = *x.s != '#' && !strchr("\"'[{", *x.s);
        const char *comma = plain ? memchr(x.s, ',', item) : NULL;
        if (comma) item = (size_t)(comma - x.s);
        r->left_out |= !item;
        if (*x.s != '#') say_toml_scalar(r, (span){x.s, item});
        x = skip(x, item);
    }
}

/* Bytes of "key" before "=", with the blanks around it; 0: no value follows. */
static size_t toml_key_bytes(span line) {
    size_t k = 0;
    while (k < line.n && k < MAX_KEY &&
           (fo_is_letter(line.s[k]) || fo_is_digit(line.s[k]) || (unsigned char)line.s[k] >= 0x80 ||
            (line.s[k] && strchr(" \t_-.\"'", line.s[k]))))
        k++;
    return k < line.n && line.s[k] == '=' && !fo_only_blanks(line.s, k) ? k : 0;
}

static void read_toml_value(reader *r, span key, span value) {
    front_matter *f = r->f;
    size_t marks;
    key = unquote(key);
    if (is_word(key, "title") && !f->n_title) {
        const bool string = string_bytes(value, &marks) > 0;
        f->title = value.s + (string ? marks : 0);
        f->n_title = value.n - (string ? 2 * marks : 0);
    }
    if (!begin_field(r, key)) return;
    if (*value.s == '[')
        say_toml_list(r, value);
    else
        say_toml_scalar(r, value);
    if (!r->left_out && r->n_said) keep(r, key);
}

/* The lines from s[4] on; what stands below the name of a table is nested. False: they are none. */
static bool read_toml(reader *r, const char *s, size_t n) {
    bool table = false, keys = false;
    span rest = {s + 4, (n < MOST_BYTES ? n : MOST_BYTES) - 4};
    while (rest.n) {
        const span from = rest, line = take_line(&rest), said = trim(line);
        if (line.n >= 3 && !memcmp(line.s, "+++", 3) && fo_only_blanks(line.s + 3, line.n - 3)) {
            r->f->n = (size_t)(line.s + line.n - s);
            return keys;
        }
        if (!said.n || *said.s == '#') continue;
        if (*said.s == '[') {
            table = true;
            continue;
        }
        const size_t key = toml_key_bytes(line);
        span value = key ? skip(from, key + 1) : (span){0};
        while (value.n && (*value.s == ' ' || *value.s == '\t')) value = skip(value, 1);
        const size_t bytes = value.n ? value_bytes(value) : 0;
        if (!bytes) return false;
        keys = true;
        if (!table) read_toml_value(r, (span){line.s, key}, trim((span){value.s, bytes}));
        rest = skip(value, bytes);
        if (rest.n) take_line(&rest); /* a remark behind it */
    }
    return false;
}

void front_matter_read(front_matter *f, const char *s, size_t n) {
    *f = (front_matter){0};
    if (n > 4 && memcmp(s, "+++\n", 4) == 0) {
        reader r = {.f = f};
        const bool read = read_toml(&r, s, n);
        end_fields(&r);
        if (!read) front_matter_free(f);
        return;
    }
    size_t end = find_end(f, s, n);
    if (!end) {
        f->n_title = 0;
        return;
    }
    const span title = unquote((span){f->title, f->n_title});
    f->title = title.s;
    f->n_title = title.n;
    read_fields(f, (span){s + 4, end - 4});
}

void front_matter_free(front_matter *f) {
    fo_buf_free(&f->record);
    fo_buf_free(&f->fields);
    *f = (front_matter){0};
}
