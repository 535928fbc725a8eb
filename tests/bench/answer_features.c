/* answer_features HOME QUESTIONS [[=]FIELD] - what the weights of answers are fitted on: every unit of
 * every question's contexts with all that is measured of it.
 *
 * QUESTIONS is a file of JSON lines (id, text, and messages: earlier turns, each role and content). With FIELD of documents' metadata each
 * line has that field too, and documents with the same value are left out: the question is then
 * unanswerable (save by chance). With =FIELD only those are searched. One JSON object a question on stdout:
 *   {"id", "support", "measured": {what support_probability() weighs}, "floor", "passages": [[bm25, dense, align, titled], ...],
 *   "documents": [id of each passage's],
 *    "units": [[passage, kind, text, feature 0, feature 1, ..., cross], ...]}, the best first; -9: not known,
 *   cross -99: not read. READER and EMBED name other models than those inside. */
#include <math.h>
#include <pthread.h>

#include "kernels/buf.h"
#include "retrieval/answer/candidates.h"
#include "tests/bench/set_home.h"

enum { MAX_TURNS = 16 };

static FILE *to;   /* what is written goes there */
static char *seen; /* what was observed last: a question may be weighed more than once */
static size_t n_seen;
static pthread_t asker; /* a service also answers again, beside that, what it was asked often */

static void number(double v) {
    fprintf(to, "%.6g", isfinite(v) ? v : -9);
}

static void text(const char *s) {
    cJSON *j = cJSON_CreateString(s);
    char *printed = cJSON_PrintUnformatted(j);
    fputs(printed ? printed : "null", to);
    free(printed);
    cJSON_Delete(j);
}

/* Those that are fitted, by their names in support.h. */
static void measured(const support_features *f) {
    const struct {
        const char *name;
        double value;
    } of[] = {{"cover", f->cover},
              {"cover_near", f->cover_near},
              {"bm25", f->bm25},
              {"lead", f->lead},
              {"missing_names", f->missing_names},
              {"best_idf", f->best_idf},
              {"unmet", f->unmet},
              {"amount", f->amount},
              {"type_near", f->type_near},
              {"ahead", f->ahead},
              {"pairs", f->pairs},
              {"dense", f->dense},
              {"align", f->align},
              {"back", f->back},
              {"cross", f->cross},
              {"other_script", f->other_script},
              {"met_sooner", f->met_sooner},
              {"strange", f->strange},
              {"languages", f->languages},
              {"across", f->across},
              {"task", f->task}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        fprintf(to, "%s\"%s\":", i ? "," : ",\"measured\":{", of[i].name);
        number(of[i].value);
    }
    fprintf(to, "}");
}

static void observe(const candidate_set *set, const extractive_input *in,
                    const support_features *f) {
    if (!pthread_equal(pthread_self(), asker)) return;
    free(seen);
    seen = NULL;
    if (!(to = open_memstream(&seen, &n_seen))) die("memory");
    fprintf(to, ",\"support\":");
    number(support_probability(f));
    measured(f);
    fprintf(to, ",\"floor\":");
    number(in->dense_floor);
    fprintf(to, ",\"passages\":[");
    for (size_t i = 0; i < set->n_passages; i++) {
        fprintf(to, i ? ",[" : "[");
        number(set->passages[i].bm25);
        fprintf(to, ",");
        number((double)in->passages[i].dense);
        fprintf(to, ",");
        number(set->passages[i].align);
        fprintf(to, ",");
        number(in->titled ? (double)in->titled[i] : NAN);
        fprintf(to, "]");
    }
    fprintf(to, "],\"units\":[");
    for (size_t i = 0; i < set->n; i++) {
        const candidate *c = &set->c[i];
        const char *source = in->passages[c->passage].text;
        fo_buf shown = {0};
        if (c->unit.head_kind != TEXT_UNIT_HEADING)
            fo_buf_add(&shown, source + c->unit.head_start, c->unit.head_end - c->unit.head_start);
        fo_buf_char(&shown, ' ');
        fo_buf_add(&shown, source + c->start, c->end - c->start);
        fprintf(to, "%s[%u,%u,", i ? "," : "", c->passage, c->unit.kind);
        text(shown.data);
        for (int k = 0; k < CAND_FEATURES; k++) {
            fprintf(to, ",");
            number(c->f[k]);
        }
        fprintf(to, ",");
        number(isfinite(c->cross) ? c->cross : -99);
        fprintf(to, "]");
        fo_buf_free(&shown);
    }
    fprintf(to, "]");
    fclose(to);
    to = stdout;
}

/* `field` of value: "=field", or not of it: "field". */
static search_filter *filter_by(const char *field, const char *value) {
    const bool only = field[0] == '=';
    cJSON *j = cJSON_CreateObject();
    search_filter *filter = NULL;
    cJSON_AddStringToObject(j, "type", only ? "eq" : "ne");
    cJSON_AddStringToObject(j, "key", field + only);
    cJSON_AddStringToObject(j, "value", value);
    if (search_filter_parse(&filter, j, &err)) die("filter");
    cJSON_Delete(j);
    return filter;
}

/* The last MAX_TURNS turns before the question, which may end them. */
static size_t read_turns(const cJSON *q, query_message *turns) {
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(q, "messages");
    int n = cJSON_GetArraySize(list), first;
    if (n &&
        strcmp(string_of(cJSON_GetArrayItem(list, n - 1), "content"), string_of(q, "text")) == 0)
        n--;
    first = n > MAX_TURNS ? n - MAX_TURNS : 0;
    for (int i = first; i < n; i++) {
        const cJSON *turn = cJSON_GetArrayItem(list, i);
        turns[i - first] = (query_message){string_of(turn, "role"), string_of(turn, "content")};
    }
    return (size_t)(n - first);
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: answer_features HOME QUESTIONS [[=]FIELD]\n");
        return 2;
    }
    service *s;
    service_options with = {.home = argv[1],
                            .read_only = true,
                            .reader = getenv("READER"),
                            .embed_model = getenv("EMBED")};
    if (service_open(&s, &with, &err)) die("open");
    FILE *questions = fopen(argv[2], "r");
    if (!questions) die(argv[2]);
    to = stdout;
    asker = pthread_self();
    extractive_observer = observe;
    char *line = NULL;
    size_t cap = 0;
    while (getline(&line, &cap, questions) > 0) {
        cJSON *q = cJSON_Parse(line);
        const char *field = argc > 3 ? argv[3] : NULL;
        search_filter *filter =
            field ? filter_by(field, string_of(q, field + (field[0] == '='))) : NULL;
        query_message turns[MAX_TURNS];
        query_request request = {.tenant = "default",
                                 .collection = "default",
                                 .query = string_of(q, "text"),
                                 .filter = filter,
                                 .search = {.alpha = -1},
                                 .generate = true,
                                 .cache = CACHE_BYPASS};
        request.messages = turns;
        request.n_messages = read_turns(q, turns);
        query_result r = {0};
        printf("{\"id\":");
        text(string_of(q, "id"));
        if (service_query(s, &request, NULL, &r, &err)) die(string_of(q, "text"));
        if (seen) fwrite(seen, 1, n_seen, stdout);
        free(seen);
        seen = NULL;
        printf(",\"documents\":[");
        for (size_t i = 0; i < r.n_contexts; i++) {
            if (i) printf(",");
            text(r.contexts[i].chunk.document_id);
        }
        printf("]}\n");
        query_result_deinit(&r);
        search_filter_free(filter);
        cJSON_Delete(q);
    }
    free(line);
    fclose(questions);
    service_close(s);
    return 0;
}
