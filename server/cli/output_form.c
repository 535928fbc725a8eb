#include "server/cli/output_form.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/printable.h"
#include "server/cli/cli.h"

struct output_choice output_choice;

enum { NAME_WIDTH = 20, PAD = 2 }; /* of the lines "name value" */

enum output_form output_asked(void) {
    const char *form = output_choice.form;
    if (form && output_choice.json && cli_flagged("json") && !cli_flagged("output"))
        return OUTPUT_JSON;
    if (!form) return output_choice.json ? OUTPUT_JSON : OUTPUT_TABLE;
    return !strcmp(form, "json") ? OUTPUT_JSON
           : !strcmp(form, "md") ? OUTPUT_MARKDOWN
                                 : OUTPUT_TABLE;
}

bool output_is_json(void) {
    return output_asked() == OUTPUT_JSON;
}

/* ---- cells --------------------------------------------------------------------------------------- */

static void add_text(fo_buf *b, const char *s) {
    printable_add(b, s, strlen(s), PRINTABLE_LINE);
}

static bool is_ratio(const char *name) {
    size_t n = name ? strlen(name) : 0;
    return n > 6 && !strcmp(name + n - 6, "_ratio");
}

/* Counts are whole; of measures four digits behind the point are enough, and of large ones one. */
static void add_number(fo_buf *b, const char *name, double v) {
    if (is_ratio(name))
        fo_buf_printf(b, "%.1f %%", 100 * v);
    else
        fo_buf_printf(b, "%.*f", v == floor(v) ? 0 : fabs(v) < 10 ? 4 : 1, v);
}

static void add_value(fo_buf *b, const cJSON *v) {
    if (cJSON_IsString(v)) {
        add_text(b, v->valuestring);
    } else if (cJSON_IsNumber(v)) {
        add_number(b, v->string, v->valuedouble);
    } else if (cJSON_IsBool(v)) {
        fo_buf_str(b, cJSON_IsTrue(v) ? "yes" : "no");
    } else if (v && v->child && cJSON_IsArray(v)) {
        const cJSON *item;
        cJSON_ArrayForEach(item, v) {
            if (item != v->child) fo_buf_str(b, ", ");
            add_value(b, item);
        }
    } else if (v && v->child) { /* an object in a cell */
        char *text = cJSON_PrintUnformatted(v);
        if (text)
            add_text(b, text);
        else
            b->failed = true;
        cJSON_free(text);
    } else {
        fo_buf_char(b, '-');
    }
}

/* Characters, as a terminal counts most of them. */
static size_t width_of(const char *s) {
    size_t n = 0;
    for (; *s; s++) n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

static void pad(fo_buf *b, size_t n) {
    for (size_t i = 0; i < n; i++) fo_buf_char(b, ' ');
}

/* ---- rows: cells are text already ------------------------------------------------------------------ */

static void markdown_row(fo_buf *b, const char *const *cells, size_t n) {
    fo_buf_char(b, '|');
    for (size_t i = 0; i < n; i++) {
        fo_buf_char(b, ' ');
        for (const char *s = cells[i] ? cells[i] : ""; *s; s++) {
            if (strchr("|\\<`", *s)) fo_buf_char(b, '\\');
            fo_buf_char(b, *s);
        }
        fo_buf_str(b, " |");
    }
    fo_buf_char(b, '\n');
}

static void markdown_head(fo_buf *b, const char *const *cells, size_t n) {
    markdown_row(b, cells, n);
    fo_buf_char(b, '|');
    for (size_t i = 0; i < n; i++) fo_buf_str(b, " --- |");
    fo_buf_char(b, '\n');
}

static void table_row(fo_buf *b, const output_column *columns, const char *const *cells, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const char *cell = cells[i] ? cells[i] : "";
        size_t wide = width_of(cell), least = (size_t)abs(columns[i].width);
        size_t blanks = least > wide ? least - wide : 0;
        if (columns[i].width > 0) pad(b, blanks);
        fo_buf_str(b, cell);
        if (i + 1 == n) break;
        if (columns[i].width < 0) pad(b, blanks);
        pad(b, PAD);
    }
    while (b->len && b->data[b->len - 1] == ' ') b->len--; /* the last cells may be empty */
    fo_buf_char(b, '\n');
}

static void print_row(const output_column *columns, size_t n, const char *const *cells, bool head) {
    enum output_form form = output_asked();
    if (form == OUTPUT_JSON) return;
    fo_buf line = {0}, text = {0};
    size_t *at = calloc(n + 1, sizeof *at);
    const char **safe = calloc(n + 1, sizeof *safe);
    for (size_t i = 0; at && i < n; i++) {
        at[i] = text.len;
        if (cells[i]) add_text(&text, cells[i]);
        fo_buf_char(&text, 0);
    }
    if (at && safe && !text.failed) {
        for (size_t i = 0; i < n; i++) safe[i] = text.data + at[i];
        if (form == OUTPUT_TABLE)
            table_row(&line, columns, safe, n);
        else if (head)
            markdown_head(&line, safe, n);
        else
            markdown_row(&line, safe, n);
    }
    fputs(line.data && !line.failed ? line.data : "", stdout);
    free(at);
    free(safe);
    fo_buf_free(&line);
    fo_buf_free(&text);
}

void output_row(const output_column *columns, size_t n, const char *const *cells) {
    print_row(columns, n, cells, false);
}

void output_head(const output_column *columns, size_t n) {
    const char **names = calloc(n + 1, sizeof *names);
    for (size_t i = 0; names && i < n; i++) names[i] = columns[i].name;
    if (names) print_row(columns, n, names, true);
    free(names);
}

/* ---- arrays of objects ----------------------------------------------------------------------------- */

static bool is_rows(const cJSON *v) {
    const cJSON *item;
    cJSON_ArrayForEach(item, v) {
        if (!cJSON_IsObject(item)) return false;
    }
    return cJSON_IsArray(v) && v->child;
}

enum { MAX_COLUMNS = 64 }; /* what no report has; keys beyond are left out */

/* Every key of any row, in the order in which they come first. */
static size_t find_columns(const cJSON *rows, output_column columns[MAX_COLUMNS]) {
    size_t n = 0;
    const cJSON *row, *v;
    cJSON_ArrayForEach(row, rows) {
        cJSON_ArrayForEach(v, row) {
            size_t i = 0;
            while (i < n && strcmp(columns[i].name, v->string)) i++;
            if (i == n && n < MAX_COLUMNS) columns[n++].name = v->string;
        }
    }
    return n;
}

/* Texts of the cells, row by row, the head first; NULL: out of memory. */
static char **cells_of(const cJSON *rows, const output_column *columns, size_t n, size_t *n_cells) {
    *n_cells = n * ((size_t)cJSON_GetArraySize(rows) + 1);
    char **cells = calloc(*n_cells + 1, sizeof *cells);
    const cJSON *row;
    size_t at = 0;
    for (size_t i = 0; cells && i < n; i++) {
        fo_buf b = {0};
        add_text(&b, columns[i].name);
        cells[at++] = fo_buf_take(&b, NULL);
    }
    cJSON_ArrayForEach(row, rows) {
        for (size_t i = 0; cells && i < n; i++) {
            fo_buf b = {0};
            const cJSON *v = cJSON_GetObjectItemCaseSensitive(row, columns[i].name);
            if (v) add_value(&b, v);
            fo_buf_str(&b, "");
            cells[at++] = fo_buf_take(&b, NULL);
        }
    }
    return cells;
}

/* As wide as the widest cell; columns of numbers to the right. */
static void align(const cJSON *rows, output_column *columns, size_t n, char *const *cells,
                  size_t n_cells) {
    for (size_t i = 0; i < n; i++) {
        size_t wide = 1;
        bool numbers = true;
        const cJSON *row;
        for (size_t k = i; k < n_cells; k += n)
            if (cells[k] && width_of(cells[k]) > wide) wide = width_of(cells[k]);
        cJSON_ArrayForEach(row, rows) {
            const cJSON *v = cJSON_GetObjectItemCaseSensitive(row, columns[i].name);
            numbers = numbers && (!v || cJSON_IsNumber(v) || cJSON_IsNull(v));
        }
        columns[i].width = numbers ? (int)wide : -(int)wide;
    }
}

static void write_rows(fo_buf *to, enum output_form form, const cJSON *rows, size_t indent) {
    output_column columns[MAX_COLUMNS] = {{0}};
    size_t n = find_columns(rows, columns), n_cells;
    if (!n) return;
    char **cells = cells_of(rows, columns, n, &n_cells);
    if (!cells) {
        to->failed = true;
        return;
    }
    if (form == OUTPUT_TABLE) align(rows, columns, n, cells, n_cells);
    for (size_t at = 0; at < n_cells; at += n) {
        const char *const *row = (const char *const *)cells + at;
        if (form == OUTPUT_TABLE) {
            pad(to, indent);
            table_row(to, columns, row, n);
        } else if (at) {
            markdown_row(to, row, n);
        } else {
            markdown_head(to, row, n);
        }
    }
    for (size_t i = 0; i < n_cells; i++) free(cells[i]);
    free(cells);
}

/* ---- objects ---------------------------------------------------------------------------------------- */

static void write_lines(fo_buf *to, const cJSON *object, size_t indent) {
    size_t wide = NAME_WIDTH;
    const cJSON *v;
    cJSON_ArrayForEach(v, object) {
        if (width_of(v->string) > wide) wide = width_of(v->string);
    }
    cJSON_ArrayForEach(v, object) {
        fo_buf name = {0};
        add_text(&name, v->string);
        pad(to, indent);
        fo_buf_str(to, name.data ? name.data : "");
        if (is_rows(v) || (cJSON_IsObject(v) && v->child)) {
            fo_buf_char(to, '\n');
            if (cJSON_IsArray(v))
                write_rows(to, OUTPUT_TABLE, v, indent + PAD);
            else
                write_lines(to, v, indent + PAD);
        } else {
            size_t is = name.data ? width_of(name.data) : 0;
            pad(to, (wide > is ? wide - is : 0) + 1);
            add_value(to, v);
            fo_buf_char(to, '\n');
        }
        fo_buf_free(&name);
    }
}

/* Values, those of objects within by their path ("ms mean": names of kinds and metadata have points), as rows of one table. */
static void write_values(fo_buf *to, const cJSON *object, const char *path, bool *begun) {
    const cJSON *v;
    cJSON_ArrayForEach(v, object) {
        if (is_rows(v)) continue;
        fo_buf name = {0}, value = {0};
        fo_buf_printf(&name, "%s%s", path, *path ? " " : "");
        add_text(&name, v->string);
        if (cJSON_IsObject(v) && v->child) {
            write_values(to, v, name.data ? name.data : "", begun);
        } else {
            fo_buf_str(&value, "");
            add_value(&value, v);
            if (!*begun) markdown_head(to, (const char *[]){"name", "value"}, 2);
            *begun = true;
            markdown_row(to, (const char *[]){name.data, value.data}, 2);
        }
        to->failed = to->failed || name.failed || value.failed;
        fo_buf_free(&name);
        fo_buf_free(&value);
    }
}

/* The arrays of objects, each a table of its own under its name; one that is all there is needs no name. */
static void write_tables(fo_buf *to, const cJSON *object, const char *path, bool alone) {
    const cJSON *v;
    cJSON_ArrayForEach(v, object) {
        fo_buf name = {0};
        fo_buf_printf(&name, "%s%s", path, *path ? " " : "");
        add_text(&name, v->string);
        if (is_rows(v)) {
            if (!alone)
                fo_buf_printf(to, "%s**%s**\n\n", to->len ? "\n" : "", name.data ? name.data : "");
            write_rows(to, OUTPUT_MARKDOWN, v, 0);
        } else if (cJSON_IsObject(v)) {
            write_tables(to, v, name.data ? name.data : "", false);
        }
        fo_buf_free(&name);
    }
}

void output_write(fo_buf *to, enum output_form form, const cJSON *report) {
    if (is_rows(report)) {
        write_rows(to, form, report, 0);
    } else if (!cJSON_IsObject(report)) {
        add_value(to, report);
        fo_buf_char(to, '\n');
    } else if (form == OUTPUT_TABLE) {
        write_lines(to, report, 0);
    } else {
        bool begun = false;
        write_values(to, report, "", &begun);
        write_tables(to, report, "", cJSON_GetArraySize(report) == 1);
    }
}

/* ---- on stdout --------------------------------------------------------------------------------------- */

void output_print(const fo_buf *report) {
    enum output_form form = output_asked();
    cJSON *root = form == OUTPUT_JSON || !report->data
                      ? NULL
                      : cJSON_ParseWithLength(report->data, report->len);
    fo_buf text = {0};
    if (root) output_write(&text, form, root);
    if (text.data && !text.failed)
        fwrite(text.data, 1, text.len, stdout);
    else
        cli_print_json(report);
    fo_buf_free(&text);
    cJSON_Delete(root);
}

void output_text(const char *text) {
    size_t run = 0, longest = 2;
    bool fenced = output_asked() == OUTPUT_MARKDOWN;
    for (const char *s = text; *s; s++) {
        run = *s == '`' ? run + 1 : 0;
        if (run > longest) longest = run;
    }
    for (size_t i = 0; fenced && i <= longest; i++) putchar('`');
    if (fenced) putchar('\n');
    printable_put(stdout, text, strlen(text), PRINTABLE_TEXT);
    putchar('\n');
    for (size_t i = 0; fenced && i <= longest; i++) putchar('`');
    if (fenced) putchar('\n');
}
