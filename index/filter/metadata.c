#include "index/filter/metadata.h"

#include <cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "index/filter/filter_tree.h"
#include "index/format/keyed_hash.h"
#include "kernels/bits.h"
#include "kernels/buf.h"

enum {
    MAX_VALUES = 1024,
    MAX_DEPTH = 8,
    MAX_KEY_BYTES = 512, /* with the names above it: each value below a long name repeats it */
    MAX_BYTES = 1 << 20, /* of a document's keys and strings */
};

/* Building ------------------------------------------------------------------------------------ */

typedef struct entry {
    uint64_t value;
    uint32_t key, doc;
    uint8_t kind;
} entry;

_Static_assert(sizeof(entry) == METADATA_VALUE_BYTES, "what budgets reckon with");

struct metadata_builder {
    fo_buf texts;
    uint32_t *offsets; /* of string i in texts; n_strings + 1 */
    uint32_t *slots;   /* hash of strings, number + 1 */
    size_t n_strings, strings_room, n_slots;
    entry *entries;
    size_t n_entries, entries_room;
    fo_buf
        last; /* the JSON before, of entries [last_begin, last_end): a document's chunks share it */
    size_t last_begin, last_end;
};

static int no_memory(fo_err *err) {
    return fo_fail(err, FO_ENOMEM, "out of memory for metadata");
}

int metadata_builder_create(metadata_builder **out, fo_err *err) {
    metadata_builder *b = calloc(1, sizeof *b);
    if (!b) return no_memory(err);
    b->n_slots = 64;
    b->strings_room = 32;
    b->slots = calloc(b->n_slots, sizeof *b->slots);
    b->offsets = calloc(b->strings_room + 1, sizeof *b->offsets);
    if (!b->slots || !b->offsets) {
        metadata_builder_free(b);
        return no_memory(err);
    }
    *out = b;
    return FO_OK;
}

void metadata_builder_free(metadata_builder *b) {
    if (!b) return;
    fo_buf_free(&b->texts);
    fo_buf_free(&b->last);
    free(b->offsets);
    free(b->slots);
    free(b->entries);
    free(b);
}

static bool grow_strings(metadata_builder *b) {
    size_t room = b->strings_room * 2, n_slots = b->n_slots * 2;
    uint32_t *offsets = realloc(b->offsets, (room + 1) * sizeof *offsets);
    if (offsets) b->offsets = offsets;
    uint32_t *slots = calloc(n_slots, sizeof *slots);
    if (!offsets || !slots) {
        free(slots);
        return false;
    }
    for (size_t i = 0; i < b->n_strings; i++) {
        size_t h = keyed_hash(b->texts.data + offsets[i], offsets[i + 1] - offsets[i]);
        while (slots[h & (n_slots - 1)]) h++;
        slots[h & (n_slots - 1)] = (uint32_t)i + 1;
    }
    free(b->slots);
    b->slots = slots;
    b->n_slots = n_slots;
    b->strings_room = room;
    return true;
}

static bool intern(metadata_builder *b, const char *s, size_t len, uint32_t *number) {
    if (b->n_strings == b->strings_room && !grow_strings(b)) return false;
    size_t h = keyed_hash(s, len);
    for (;; h++) {
        uint32_t i = b->slots[h & (b->n_slots - 1)];
        if (!i) break;
        i--;
        if (b->offsets[i + 1] - b->offsets[i] == len &&
            (len == 0 || memcmp(b->texts.data + b->offsets[i], s, len) == 0)) {
            *number = i;
            return true;
        }
    }
    if (b->texts.len + len > UINT32_MAX / 2) return false;
    fo_buf_add(&b->texts, s, len);
    if (b->texts.failed) return false;
    *number = (uint32_t)b->n_strings;
    b->offsets[++b->n_strings] = (uint32_t)b->texts.len;
    b->slots[h & (b->n_slots - 1)] = *number + 1;
    return true;
}

static bool add_entry(metadata_builder *b, entry e) {
    if (b->n_entries == b->entries_room) {
        size_t room = b->entries_room ? 2 * b->entries_room : 64;
        entry *p = b->n_entries < UINT32_MAX / 2 ? realloc(b->entries, room * sizeof *p) : NULL;
        if (!p) return false;
        b->entries = p;
        b->entries_room = room;
    }
    b->entries[b->n_entries++] = e;
    return true;
}

static uint64_t number_bits(double v) {
    v += 0.0; /* -0 equals 0 */
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

typedef struct adding {
    metadata_builder *b;
    uint32_t doc;
    size_t n_values, n_bytes;
    uint32_t last_key; /* of the value before: the elements of an array need it once */
    fo_buf key;
    fo_err *err;
} adding;

static int add_value(adding *a, const cJSON *json, int depth);

static int count_bytes(adding *a, size_t n) {
    a->n_bytes += n;
    if (a->n_bytes <= MAX_BYTES) return FO_OK;
    return fo_fail_field(
        a->err, FO_ELIMIT, "metadata",
        "metadata has more than %d bytes of keys (with those above them) and strings", MAX_BYTES);
}

static int add_scalar(adding *a, const cJSON *json) {
    entry e = {.doc = a->doc};
    if (++a->n_values > MAX_VALUES)
        return fo_fail_field(a->err, FO_ELIMIT, "metadata", "metadata has more than %d values",
                             MAX_VALUES);
    if (!intern(a->b, a->key.data ? a->key.data : "", a->key.len, &e.key)) return no_memory(a->err);
    int rc = e.key != a->last_key ? count_bytes(a, a->key.len) : FO_OK;
    a->last_key = e.key;
    if (!rc && cJSON_IsString(json)) rc = count_bytes(a, strlen(json->valuestring));
    if (rc) return rc;
    if (cJSON_IsString(json)) {
        uint32_t number;
        if (!intern(a->b, json->valuestring, strlen(json->valuestring), &number))
            return no_memory(a->err);
        e.kind = VALUE_STRING;
        e.value = number;
    } else if (cJSON_IsNumber(json)) {
        e.kind = VALUE_NUMBER;
        e.value = number_bits(json->valuedouble);
    } else if (cJSON_IsBool(json)) {
        e.kind = VALUE_BOOL;
        e.value = cJSON_IsTrue(json);
    } else {
        e.kind = cJSON_IsNull(json) ? VALUE_NULL : VALUE_EMPTY;
    }
    return add_entry(a->b, e) ? FO_OK : no_memory(a->err);
}

/* Below the root a dot stands before a name, behind an empty key too: else {"":{"x":1}} would make
 * the column x, and any column that is for the root alone (FILTER_ACL_KEY). */
static int add_object(adding *a, const cJSON *json, int depth) {
    const cJSON *field;
    size_t len = a->key.len;
    cJSON_ArrayForEach(field, json) {
        if (depth) fo_buf_char(&a->key, '.');
        fo_buf_str(&a->key, field->string);
        if (a->key.failed) return no_memory(a->err);
        if (a->key.len > MAX_KEY_BYTES)
            return fo_fail_field(a->err, FO_ELIMIT, "metadata",
                                 "a key of metadata, with those above it, is longer than %d bytes",
                                 MAX_KEY_BYTES);
        int rc = add_value(a, field, depth + 1);
        if (rc) return rc;
        a->key.len = len;
    }
    return FO_OK;
}

static int add_value(adding *a, const cJSON *json, int depth) {
    if (depth > MAX_DEPTH)
        return fo_fail_field(a->err, FO_ELIMIT, "metadata", "metadata is nested deeper than %d",
                             MAX_DEPTH);
    if (cJSON_IsObject(json)) return add_object(a, json, depth);
    if (!cJSON_IsArray(json) || !json->child) return add_scalar(a, json);
    const cJSON *item;
    cJSON_ArrayForEach(item, json) {
        int rc = add_value(a, item, depth + 1);
        if (rc) return rc;
    }
    return FO_OK;
}

/* The entries of the document before, for another one. */
static int repeat_last(metadata_builder *b, uint32_t doc, fo_err *err) {
    size_t before = b->n_entries;
    for (size_t i = b->last_begin; i < b->last_end; i++) {
        entry e = b->entries[i];
        e.doc = doc;
        if (add_entry(b, e)) continue;
        b->n_entries = before;
        return no_memory(err);
    }
    return FO_OK;
}

/* Without room for it the next one is parsed, too. */
static void remember(metadata_builder *b, const char *json, size_t len, size_t begin) {
    fo_buf_clear(&b->last);
    fo_buf_add(&b->last, json, len);
    if (b->last.failed) fo_buf_free(&b->last);
    b->last_begin = begin;
    b->last_end = b->n_entries;
}

int metadata_builder_add(metadata_builder *b, uint32_t doc, const char *json, fo_err *err) {
    if (!json || !*json) return FO_OK;
    size_t len = strlen(json);
    if (b->last.len == len && memcmp(b->last.data, json, len) == 0) return repeat_last(b, doc, err);
    cJSON *root = cJSON_Parse(json);
    if (!cJSON_IsObject(root)) {
        cJSON_Delete(root);
        return fo_fail_field(err, FO_EINVAL, "metadata", "metadata must be a JSON object");
    }
    adding a = {.b = b, .doc = doc, .last_key = UINT32_MAX, .err = err};
    size_t before = b->n_entries;
    int rc = add_object(&a, root, 0);
    if (rc)
        b->n_entries = before;
    else
        remember(b, json, len, before);
    fo_buf_free(&a.key);
    cJSON_Delete(root);
    return rc;
}

int metadata_count(const char *json, size_t *n_values, fo_err *err) {
    metadata_builder *b = NULL;
    int rc = metadata_builder_create(&b, err);
    if (!rc) rc = metadata_builder_add(b, 0, json, err);
    *n_values = rc ? 0 : b->n_entries;
    metadata_builder_free(b);
    return rc;
}

int metadata_check(const char *json, fo_err *err) {
    size_t n_values;
    return metadata_count(json, &n_values, err);
}

uint64_t metadata_builder_weight(const metadata_builder *b) {
    return b->texts.len + b->n_entries;
}

uint64_t metadata_weight(const metadata *m) {
    return (uint64_t)m->strings_bytes + m->n_entries;
}

/* A comma stands behind each value but the last; those within strings do no harm. Only names under others come to
 * more bytes than they have in the text. */
uint64_t metadata_most_weight(const char *json) {
    const uint64_t most = MAX_BYTES + MAX_VALUES;
    const size_t len = json ? strlen(json) : 0;
    if (len <= 2) return 0;
    uint64_t n_values = 1;
    for (const char *p = json; (p = strchr(p, ',')); p++) n_values++;
    const char *first = strchr(json, '{');
    const bool nested = first && strchr(first + 1, '{');
    const uint64_t weight = len + n_values * (nested ? 1 + MAX_KEY_BYTES : 1);
    return weight < most ? weight : most;
}

static void string_of(const metadata *m, uint32_t i, const char **s, size_t *len) {
    uint32_t begin = m->offsets[i], end = m->offsets[i + 1];
    bool sound = begin <= end && end <= m->strings_bytes;
    *s = sound ? m->strings + begin : m->strings;
    *len = sound ? end - begin : 0;
}

/* A column's entries, [begin, end). What a mapped file says was sound when it was opened; the file may
 * have changed since, so that each number is held against its bound where it is used. */
typedef struct column {
    uint32_t begin, end;
} column;

static column column_at(const metadata *m, uint32_t c) {
    const uint32_t *row = m->columns + 3 * (size_t)c;
    uint32_t begin = row[1], n = row[2];
    if (begin > m->n_entries) begin = m->n_entries;
    if (n > m->n_entries - begin) n = m->n_entries - begin;
    return (column){begin, begin + n};
}

static bool is_sound(const metadata *m, const entry *e) {
    return e->doc < m->n_docs && e->kind <= VALUE_EMPTY &&
           (e->kind != VALUE_STRING || e->value < m->n_strings);
}

int metadata_builder_merge(metadata_builder *b, const metadata *m, const uint32_t *map,
                           fo_err *err) {
    uint32_t *numbers = malloc(((size_t)m->n_strings + 1) * sizeof *numbers);
    if (!numbers) return no_memory(err);
    memset(numbers, 0xFF, ((size_t)m->n_strings + 1) * sizeof *numbers);
    int rc = FO_OK;
    for (uint32_t c = 0; c < m->n_columns && !rc; c++) {
        const column col = column_at(m, c);
        const uint32_t key = m->columns[3 * (size_t)c];
        for (uint32_t i = col.begin; i < col.end && key < m->n_strings && !rc; i++) {
            entry e = {.value = m->values[i], .doc = m->docs[i], .kind = m->kinds[i]};
            if (!is_sound(m, &e)) continue;
            e.doc = map[e.doc];
            if (e.doc == UINT32_MAX) continue;
            uint32_t wanted[2] = {key, (uint32_t)e.value};
            for (int j = 0; j < (e.kind == VALUE_STRING ? 2 : 1) && !rc; j++) {
                const char *s;
                size_t len;
                if (numbers[wanted[j]] != UINT32_MAX) continue;
                string_of(m, wanted[j], &s, &len);
                if (!intern(b, s, len, &numbers[wanted[j]])) rc = no_memory(err);
            }
            e.key = numbers[key];
            if (e.kind == VALUE_STRING) e.value = numbers[e.value];
            if (!rc && !add_entry(b, e)) rc = no_memory(err);
        }
    }
    free(numbers);
    return rc;
}

typedef struct ranked {
    const char *text;
    uint32_t len, number;
} ranked;

static int by_text(const void *x, const void *y) {
    const ranked *a = x, *b = y;
    size_t n = a->len < b->len ? a->len : b->len;
    int order = n ? memcmp(a->text, b->text, n) : 0;
    return order ? order : (a->len > b->len) - (a->len < b->len);
}

static int by_column(const void *x, const void *y) {
    const entry *a = x, *b = y;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    if (a->doc != b->doc) return a->doc < b->doc ? -1 : 1;
    if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
    return (a->value > b->value) - (a->value < b->value);
}

typedef struct file_header {
    uint32_t n_docs, n_columns, n_strings, n_entries, strings_bytes, reserved;
} file_header;

/* Keys and strings of all entries by other numbers. */
static void number_strings(metadata_builder *b, const uint32_t *numbers) {
    for (size_t i = 0; i < b->n_entries; i++) {
        entry *e = &b->entries[i];
        e->key = numbers[e->key];
        if (e->kind == VALUE_STRING) e->value = numbers[e->value];
    }
    fo_buf_clear(&b->last); /* sorted, they do not lie where the JSON before had put them */
    b->last_begin = b->last_end = 0;
}

int metadata_build(metadata_builder *b, uint32_t n_docs, segment_writer *w, fo_err *err) {
    size_t n = b->n_strings;
    ranked *order = malloc((n + 1) * sizeof *order);
    uint32_t *rank = malloc((n + 1) * sizeof *rank);
    int rc = order && rank ? FO_OK : no_memory(err);
    fo_buf values = {0}, columns = {0}, offsets = {0}, docs = {0}, kinds = {0}, strings = {0};
    if (rc) goto done;
    for (size_t i = 0; i < n; i++)
        order[i] = (ranked){b->texts.data ? b->texts.data + b->offsets[i] : "",
                            b->offsets[i + 1] - b->offsets[i], (uint32_t)i};
    qsort(order, n, sizeof *order, by_text);
    uint32_t zero = 0;
    fo_buf_add(&offsets, &zero, 4);
    for (size_t i = 0; i < n; i++) {
        rank[order[i].number] = (uint32_t)i;
        fo_buf_add(&strings, order[i].text, order[i].len);
        uint32_t end = (uint32_t)strings.len;
        fo_buf_add(&offsets, &end, 4);
    }
    number_strings(b, rank);
    if (b->n_entries) qsort(b->entries, b->n_entries, sizeof *b->entries, by_column);
    file_header h = {.n_docs = n_docs,
                     .n_strings = (uint32_t)n,
                     .n_entries = (uint32_t)b->n_entries,
                     .strings_bytes = (uint32_t)strings.len};
    for (size_t i = 0; i < b->n_entries;) {
        size_t j = i;
        while (j < b->n_entries && b->entries[j].key == b->entries[i].key) j++;
        uint32_t row[3] = {b->entries[i].key, (uint32_t)i, (uint32_t)(j - i)};
        fo_buf_add(&columns, row, sizeof row);
        h.n_columns++;
        for (; i < j; i++) {
            fo_buf_add(&values, &b->entries[i].value, 8);
            fo_buf_add(&docs, &b->entries[i].doc, 4);
            fo_buf_char(&kinds, (char)b->entries[i].kind);
        }
    }
    const fo_buf *in_order[] = {&values, &columns, &offsets, &docs, &kinds, &strings};
    rc = segment_writer_section(w, SECTION_METADATA, &h, sizeof h, err);
    for (size_t i = 0; i < 6 && !rc; i++)
        rc = in_order[i]->failed
                 ? no_memory(err)
                 : segment_writer_write(w, in_order[i]->data, in_order[i]->len, err);
    /* As it was: what becomes of the section may fail, and then this is built again. */
    for (size_t i = 0; i < n; i++) rank[i] = order[i].number;
    number_strings(b, rank);
done:
    free(order);
    free(rank);
    fo_buf_free(&values);
    fo_buf_free(&columns);
    fo_buf_free(&offsets);
    fo_buf_free(&docs);
    fo_buf_free(&kinds);
    fo_buf_free(&strings);
    return rc;
}

/* Reading ------------------------------------------------------------------------------------- */

/* In one pass over the entries: nothing is out of range. */
static int check_ranges(const metadata *m, fo_err *err) {
    uint32_t at = 0;
    for (uint32_t c = 0; c < m->n_columns; c++) {
        const uint32_t *row = m->columns + 3 * (size_t)c;
        if (row[0] >= m->n_strings || row[1] != at || row[2] > m->n_entries - at)
            return fo_fail(err, FO_ECORRUPT, "metadata column %u is damaged", c);
        at += row[2];
    }
    bool sound = at == m->n_entries;
    for (uint32_t i = 0; i < m->n_strings; i++) sound &= m->offsets[i] <= m->offsets[i + 1];
    sound &= m->offsets[m->n_strings] <= m->strings_bytes;
    for (uint32_t i = 0; i < m->n_entries; i++)
        sound &= (m->docs[i] < m->n_docs) & (m->kinds[i] <= VALUE_EMPTY) &
                 (m->kinds[i] != VALUE_STRING || m->values[i] < m->n_strings);
    return sound ? FO_OK : fo_fail(err, FO_ECORRUPT, "a metadata entry is out of range");
}

int metadata_open(metadata *out, const segment *s, uint32_t n_docs, fo_err *err) {
    size_t size;
    const unsigned char *p = segment_get(s, SECTION_METADATA, &size);
    file_header h;
    if (!p || size < sizeof h) return fo_fail(err, FO_ECORRUPT, "the metadata section is missing");
    memcpy(&h, p, sizeof h);
    uint64_t want = sizeof h + 8 * (uint64_t)h.n_entries + 12 * (uint64_t)h.n_columns +
                    4 * ((uint64_t)h.n_strings + 1) + 5 * (uint64_t)h.n_entries + h.strings_bytes;
    if (h.n_docs != n_docs || want != size)
        return fo_fail(err, FO_ECORRUPT, "the metadata section has %zu bytes, not %llu", size,
                       (unsigned long long)want);
    metadata m = {.n_docs = h.n_docs,
                  .n_columns = h.n_columns,
                  .n_strings = h.n_strings,
                  .n_entries = h.n_entries,
                  .strings_bytes = h.strings_bytes};
    p += sizeof h;
    m.values = (const uint64_t *)p;
    p += 8 * (size_t)h.n_entries;
    m.columns = (const uint32_t *)p;
    p += 12 * (size_t)h.n_columns;
    m.offsets = (const uint32_t *)p;
    p += 4 * ((size_t)h.n_strings + 1);
    m.docs = (const uint32_t *)p;
    p += 4 * (size_t)h.n_entries;
    m.kinds = p;
    m.strings = (const char *)(p + h.n_entries);
    *out = m;
    return check_ranges(out, err);
}

static int compare_strings(const metadata *m, uint32_t i, const char *s, size_t len) {
    const char *t;
    size_t n;
    string_of(m, i, &t, &n);
    const size_t common = n < len ? n : len;
    const int order = common ? memcmp(t, s, common) : 0;
    return order ? order : (n > len) - (n < len);
}

/* Where columns or strings do not ascend, a search by halves misses some of them. */
int metadata_verify(const metadata *m, fo_err *err) {
    int rc = check_ranges(m, err);
    for (uint32_t c = 1; c < m->n_columns && !rc; c++)
        if (m->columns[3 * (size_t)c] <= m->columns[3 * (size_t)(c - 1)])
            rc = fo_fail(err, FO_ECORRUPT, "metadata column %u is out of order", c);
    for (uint32_t i = 1; i < m->n_strings && !rc; i++) {
        const char *s;
        size_t len;
        string_of(m, i, &s, &len);
        if (compare_strings(m, i - 1, s, len) >= 0)
            rc = fo_fail(err, FO_ECORRUPT, "metadata string %u is out of order", i);
    }
    return rc;
}

/* Number of strings below s (or, with after, below or equal). */
static uint32_t rank_of(const metadata *m, const char *s, size_t len, bool after) {
    uint32_t low = 0, high = m->n_strings;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        const int order = compare_strings(m, mid, s, len);
        if (order < 0 || (after && order == 0))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Empty where there is none. */
static column find_column(const metadata *m, const char *key) {
    size_t len = strlen(key);
    uint32_t number = rank_of(m, key, len, false);
    if (number == rank_of(m, key, len, true)) return (column){0};
    uint32_t low = 0, high = m->n_columns;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (m->columns[3 * (size_t)mid] < number)
            low = mid + 1;
        else
            high = mid;
    }
    bool found = low < m->n_columns && m->columns[3 * (size_t)low] == number;
    return found ? column_at(m, low) : (column){0};
}

/* The bit of entry i's document. */
static void set_bit(const metadata *m, uint32_t i, uint64_t *bits) {
    uint32_t doc = m->docs[i];
    if (doc < m->n_docs) fo_bits_set(bits, doc);
}

static void match_numbers(const metadata *m, column col, filter_type type, double v,
                          uint64_t *bits) {
    for (uint32_t i = col.begin; i < col.end; i++) {
        double x;
        memcpy(&x, &m->values[i], sizeof x);
        bool yes = type == FILTER_GT    ? x > v
                   : type == FILTER_GTE ? x >= v
                   : type == FILTER_LT  ? x < v
                   : type == FILTER_LTE ? x <= v
                                        : x == v;
        if (yes && m->kinds[i] == VALUE_NUMBER) set_bit(m, i, bits);
    }
}

static void match_strings(const metadata *m, column col, filter_type type, const char *s,
                          uint64_t *bits) {
    size_t len = strlen(s);
    uint32_t low = rank_of(m, s, len, false), high = rank_of(m, s, len, true);
    uint64_t begin = type == FILTER_LT || type == FILTER_LTE ? 0 : type == FILTER_GT ? high : low;
    uint64_t end = type == FILTER_GT || type == FILTER_GTE ? m->n_strings
                   : type == FILTER_LT                     ? low
                                                           : high;
    for (uint32_t i = col.begin; i < col.end; i++)
        if (m->kinds[i] == VALUE_STRING && m->values[i] >= begin && m->values[i] < end)
            set_bit(m, i, bits);
}

static void match_one(const metadata *m, column col, filter_type type, const filter_value *x,
                      uint64_t *bits) {
    if (x->kind == VALUE_NUMBER) {
        match_numbers(m, col, type, x->number, bits);
    } else if (x->kind == VALUE_STRING) {
        match_strings(m, col, type, x->string, bits);
    } else {
        for (uint32_t i = col.begin; i < col.end; i++)
            if (m->kinds[i] == x->kind &&
                (x->kind == VALUE_NULL || m->values[i] == (uint64_t)x->number))
                set_bit(m, i, bits);
    }
}

/* A list's values as the columns have them: numbers by size, strings by their numbers. */
typedef struct value_set {
    double *numbers;
    uint32_t *strings;
    size_t n_numbers, n_strings;
    bool null, truth[2]; /* null, false and true are among them */
} value_set;

static void value_set_free(value_set *s) {
    free(s->numbers);
    free(s->strings);
}

static int by_size(const void *x, const void *y) {
    const double *a = x, *b = y;
    return (*a > *b) - (*a < *b);
}

static int by_number(const void *x, const void *y) {
    const uint32_t *a = x, *b = y;
    return (*a > *b) - (*a < *b);
}

/* Strings that stand nowhere in the index are left out. */
static int value_set_make(value_set *out, const metadata *m, const search_filter *f, fo_err *err) {
    value_set s = {.numbers = malloc((f->n_values + 1) * sizeof *s.numbers),
                   .strings = malloc((f->n_values + 1) * sizeof *s.strings)};
    if (!s.numbers || !s.strings) {
        value_set_free(&s);
        return no_memory(err);
    }
    for (size_t i = 0; i < f->n_values; i++) {
        const filter_value *x = &f->values[i];
        if (x->kind == VALUE_NUMBER) {
            s.numbers[s.n_numbers++] = x->number;
        } else if (x->kind == VALUE_STRING) {
            size_t len = strlen(x->string);
            uint32_t number = rank_of(m, x->string, len, false);
            if (number != rank_of(m, x->string, len, true)) s.strings[s.n_strings++] = number;
        } else if (x->kind == VALUE_BOOL) {
            s.truth[x->number != 0] = true;
        } else {
            s.null = true;
        }
    }
    qsort(s.numbers, s.n_numbers, sizeof *s.numbers, by_size);
    qsort(s.strings, s.n_strings, sizeof *s.strings, by_number);
    *out = s;
    return FO_OK;
}

static bool value_set_has(const value_set *s, uint8_t kind, uint64_t value) {
    if (kind == VALUE_NUMBER) {
        double x;
        memcpy(&x, &value, sizeof x);
        return !isnan(x) && bsearch(&x, s->numbers, s->n_numbers, sizeof x, by_size) != NULL;
    }
    if (kind == VALUE_STRING) {
        uint32_t number = (uint32_t)value;
        return number == value &&
               bsearch(&number, s->strings, s->n_strings, sizeof number, by_number) != NULL;
    }
    return kind == VALUE_BOOL ? value < 2 && s->truth[value] : kind == VALUE_NULL && s->null;
}

/* One pass over the column, however long the list is. */
static int match_list(const metadata *m, column col, const search_filter *f, uint64_t *bits,
                      fo_err *err) {
    value_set set = {0};
    int rc = value_set_make(&set, m, f, err);
    if (rc) return rc;
    for (uint32_t i = col.begin; i < col.end; i++)
        if (value_set_has(&set, m->kinds[i], m->values[i])) set_bit(m, i, bits);
    value_set_free(&set);
    return FO_OK;
}

static int match_leaf(const metadata *m, const search_filter *f, uint64_t *bits, fo_err *err) {
    const column col = find_column(m, f->key);
    if (f->type == FILTER_EXISTS) {
        for (uint32_t i = col.begin; i < col.end; i++) set_bit(m, i, bits);
    } else if (f->n_values == 1) {
        match_one(m, col, f->type, &f->values[0], bits);
    } else {
        return match_list(m, col, f, bits, err);
    }
    return FO_OK;
}

int metadata_match(const metadata *m, const search_filter *f, uint64_t *bits, fo_err *err) {
    size_t words = ((size_t)m->n_docs + 63) / 64;
    memset(bits, 0, words * sizeof *bits);
    if (f->type < FILTER_AND) {
        int rc = match_leaf(m, f, bits, err);
        if (rc) return rc;
    } else {
        uint64_t *child = malloc((words + 1) * sizeof *child);
        if (!child) return no_memory(err);
        if (f->type == FILTER_AND) memset(bits, 0xFF, words * sizeof *bits);
        for (size_t i = 0; i < f->n_children; i++) {
            int rc = metadata_match(m, f->children[i], child, err);
            if (rc) {
                free(child);
                return rc;
            }
            for (size_t w = 0; w < words; w++)
                bits[w] = f->type == FILTER_AND ? bits[w] & child[w] : bits[w] | child[w];
        }
        free(child);
    }
    if (f->type == FILTER_NE || f->type == FILTER_NIN || f->type == FILTER_NOT)
        for (size_t w = 0; w < words; w++) bits[w] = ~bits[w];
    if (m->n_docs % 64) bits[words - 1] &= ((uint64_t)1 << (m->n_docs % 64)) - 1;
    return FO_OK;
}

/* Through columns of their own, so that a filter means the same here as in a search. */
int metadata_match_json(const char *const *json, uint32_t n, const search_filter *f, uint64_t *bits,
                        uint64_t *refused, fo_err *err) {
    metadata_builder *b = NULL;
    segment_writer *w = NULL;
    segment *s = NULL;
    metadata m;
    int rc = metadata_builder_create(&b, err);
    memset(refused, 0, ((size_t)n + 63) / 64 * sizeof *refused);
    for (uint32_t i = 0; i < n && !rc; i++) {
        fo_err why = {0};
        rc = metadata_builder_add(b, i, json[i], &why);
        if (rc == FO_EINVAL || rc == FO_ELIMIT) {
            fo_bits_set(refused, i);
            rc = FO_OK;
        }
        if (rc && err) *err = why;
    }
    if (!rc) rc = segment_writer_create(&w, NULL, err);
    if (!rc) rc = metadata_build(b, n, w, err);
    if (!rc) {
        rc = segment_writer_adopt(w, &s, err);
        w = NULL;
    }
    if (!rc) rc = metadata_open(&m, s, n, err);
    if (!rc) rc = metadata_match(&m, f, bits, err);
    segment_writer_abort(w);
    segment_close(s);
    metadata_builder_free(b);
    return rc;
}
