/* Prompts that are tokens. */
#include <math.h>

#include "server/openai/openai.h"

bool openai_is_tokens(const cJSON *item) {
    if (!cJSON_IsArray(item) || !item->child) return false;
    const cJSON *v;
    cJSON_ArrayForEach(v, item) if (!cJSON_IsNumber(v) || v->valuedouble < 0 ||
                                    v->valuedouble > INT32_MAX ||
                                    v->valuedouble != floor(v->valuedouble)) return false;
    return true;
}
