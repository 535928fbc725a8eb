#include "server/cli/exact_judge.h"

#include <regex.h>
#include <stdlib.h>

const char *const exact_verdict_names[EXACT_VERDICTS] = {"right", "partial", "wrong", "refused"};

typedef struct part {
    regex_t expression;
    size_t way;
} part;

struct exact_judge {
    bool refuse;
    part *parts; /* those of a way are neighbours */
    size_t n_parts, n_ways;
};

static int add_part(exact_judge *j, const cJSON *item, fo_err *err) {
    if (!cJSON_IsString(item) || !item->valuestring[0])
        return fo_fail_field(err, FO_EINVAL, "accept",
                             "accept holds expressions, or lists of expressions");
    part *p = &j->parts[j->n_parts];
    int bad = regcomp(&p->expression, item->valuestring, REG_EXTENDED | REG_ICASE | REG_NOSUB);
    if (bad) {
        char why[128];
        regerror(bad, &p->expression, why, sizeof why);
        return fo_fail_field(err, FO_EINVAL, "accept", "accept: '%s': %s", item->valuestring, why);
    }
    p->way = j->n_ways;
    j->n_parts++;
    return FO_OK;
}

static int read_ways(exact_judge *j, const cJSON *accept, fo_err *err) {
    const cJSON *way, *item;
    size_t n = 0;
    cJSON_ArrayForEach(way, accept) n +=
        cJSON_IsArray(way) ? (size_t)cJSON_GetArraySize(way) : (size_t)1;
    j->parts = calloc(n + 1, sizeof *j->parts);
    if (!j->parts) return fo_no_memory(err);
    int rc = FO_OK;
    cJSON_ArrayForEach(way, accept) {
        if (!cJSON_IsArray(way)) {
            rc = add_part(j, way, err);
        } else {
            cJSON_ArrayForEach(item, way) {
                if (!rc) rc = add_part(j, item, err);
            }
        }
        if (rc) return rc;
        j->n_ways++;
    }
    return FO_OK;
}

int exact_judge_create(exact_judge **out, const cJSON *question, fo_err *err) {
    const cJSON *accept = cJSON_GetObjectItemCaseSensitive(question, "accept");
    const cJSON *refuse = cJSON_GetObjectItemCaseSensitive(question, "refuse");
    *out = NULL;
    if (refuse && !cJSON_IsBool(refuse))
        return fo_fail_field(err, FO_EINVAL, "refuse", "refuse must be true or false");
    if (accept && !cJSON_IsArray(accept))
        return fo_fail_field(err, FO_EINVAL, "accept", "accept must be a list");
    bool to_refuse = cJSON_IsTrue(refuse);
    if (accept && to_refuse)
        return fo_fail_field(err, FO_EINVAL, "refuse",
                             "a question is to be refused or has answers to accept, not both");
    if (!accept && !to_refuse) return FO_OK;
    exact_judge *j = calloc(1, sizeof *j);
    if (!j) return fo_no_memory(err);
    j->refuse = to_refuse;
    int rc = accept ? read_ways(j, accept, err) : FO_OK;
    if (!rc && accept && !j->n_parts)
        rc = fo_fail_field(err, FO_EINVAL, "accept", "accept is empty");
    if (rc) {
        exact_judge_free(j);
        return rc;
    }
    *out = j;
    return FO_OK;
}

void exact_judge_free(exact_judge *j) {
    if (!j) return;
    for (size_t i = 0; i < j->n_parts; i++) regfree(&j->parts[i].expression);
    free(j->parts);
    free(j);
}

bool exact_judge_wants_refusal(const exact_judge *j) {
    return j->refuse;
}

enum exact_verdict exact_judge_answer(const exact_judge *j, const char *answer) {
    if (j->refuse) return answer ? EXACT_WRONG : EXACT_RIGHT;
    if (!answer) return EXACT_REFUSED;
    bool some = false;
    for (size_t i = 0; i < j->n_parts;) {
        bool whole = true;
        size_t way = j->parts[i].way;
        for (; i < j->n_parts && j->parts[i].way == way; i++) {
            bool found = regexec(&j->parts[i].expression, answer, 0, NULL, 0) == 0;
            whole &= found;
            some |= found;
        }
        if (whole) return EXACT_RIGHT;
    }
    return some ? EXACT_PARTIAL : EXACT_WRONG;
}
