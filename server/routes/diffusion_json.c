#include "server/routes/diffusion_json.h"

#include <math.h>
#include <string.h>

enum { MOST = 1 << 20 };

/* LLaDA's code calls it cfg_scale: the same number, 0 for none. */
static double read_guidance(json_in *d) {
    double guidance = json_in_number(d, "guidance", -1, 0, 100);
    double scale = json_in_number(d, "cfg_scale", -1, 0, 100);
    if (guidance >= 0 && scale >= 0 && !json_in_failed(d)) {
        char path[64];
        json_in_path(d, "cfg_scale", path);
        fo_fail_field(d->err, FO_EINVAL, path, "%s is another name of guidance: give one of them",
                      path);
    }
    return scale >= 0 ? scale : guidance;
}

void diffusion_json_read(json_in *in, generator_diffusion *out) {
    json_in d;
    *out = (generator_diffusion){0};
    json_in_child(&d, in, "diffusion");
    if (!d.object) return;
    out->asked = true;
    out->steps = (int)json_in_int(&d, "steps", -1, 1, MOST);
    out->block_length = (int)json_in_int(&d, "block_length", -1, 0, MOST);
    out->refresh = (int)json_in_int(&d, "refresh", -1, 0, MOST);
    out->remasking = json_in_enum(&d, "remasking", -1, generator_remasking_names);
    out->kv = json_in_enum(&d, "kv", -1, generator_diffusion_kv_names);
    out->eps = json_in_number(&d, "eps", -1, 0, .999);
    out->guidance = read_guidance(&d);
    out->threshold = json_in_number(&d, "threshold", -1, 0, 1);
    out->verify = json_in_any(&d, "verify") ? json_in_bool(&d, "verify", false) : -1;
    json_in_end(&d);
}

int diffusion_json_parse(const char *text, generator_diffusion *out, fo_err *err) {
    cJSON *field = NULL, *line = cJSON_CreateObject();
    int rc = line ? json_parse(text, strlen(text), &field, err) : fo_no_memory(err);
    if (!rc) {
        json_in in;
        cJSON_AddItemToObject(line, "diffusion", field);
        json_in_object(&in, line, "", err);
        diffusion_json_read(&in, out);
        rc = json_in_end(&in);
    }
    cJSON_Delete(line);
    return rc;
}

void diffusion_json_write(json_out *o, size_t passes, size_t tokens, const char *note) {
    if (passes == 0) return;
    json_out_open(o, "diffusion", '{');
    json_out_int(o, "steps", (int64_t)passes);
    json_out_number(o, "tokens_per_step", round(1000 * (double)tokens / (double)passes) / 1000);
    if (note && *note) json_out_string(o, "note", note);
    json_out_close(o, '}');
}
