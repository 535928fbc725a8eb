#include "server/routes/sparse_json.h"

#include <math.h>
#include <string.h>

enum { MOST = 1 << 20 };

void sparse_json_read(json_in *in, generator_sparse *out) {
    json_in s;
    *out = (generator_sparse){0};
    json_in_child(&s, in, "sparse");
    if (!s.object) return;
    out->asked = true;
    out->retention = json_in_number(&s, "retention", -1, .01, 1);
    out->delay = (int)json_in_int(&s, "delay", -1, 0, MOST);
    out->block = (int)json_in_int(&s, "block", -1, 16, MOST);
    out->sink = (int)json_in_int(&s, "sink", -1, 0, MOST);
    out->window = (int)json_in_int(&s, "window", -1, 16, MOST);
    out->refresh = (int)json_in_int(&s, "refresh", -1, 0, MOST);
    json_in_end(&s);
}

int sparse_json_parse(const char *text, generator_sparse *out, fo_err *err) {
    cJSON *field = NULL, *line = cJSON_CreateObject();
    int rc = line ? json_parse(text, strlen(text), &field, err) : fo_no_memory(err);
    if (!rc) {
        json_in in;
        cJSON_AddItemToObject(line, "sparse", field);
        json_in_object(&in, line, "", err);
        sparse_json_read(&in, out);
        rc = json_in_end(&in);
    }
    cJSON_Delete(line);
    return rc;
}

void sparse_json_write(json_out *o, const generator_held *held) {
    if (!(held->retention > 0 && held->retention < 1)) return;
    json_out_open(o, "sparse", '{');
    json_out_number(o, "retention", round(1e4 * held->retention) / 1e4);
    json_out_int(o, "kv_peak_tokens", (int64_t)held->peak_tokens);
    json_out_int(o, "kv_tokens", (int64_t)held->end_tokens);
    json_out_close(o, '}');
}
