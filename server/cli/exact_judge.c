#include "server/cli/exact_judge.h"

#include <regex.h>
#include <stdint.h>
#include <stdlib.h>

const char *const exact_verdict_names[EXACT_VERDICTS] = {"right", "partial", "wrong", "refused"};

typedef struct part {
    regex_t expression;
    size_t way; /* REJECTED: an answer that has it is wrong */
} part;

static const size_t REJECTED = SIZE_MAX;

struct exact_judge {
    bool refuse;
    part *parts; /* those of a way are neighbours; what is rejected stands last */
    size_t n_parts, n_ways;
};

static int add_part(exact_judge *j, const cJSON *item, const char *field, size_t way, fo_err *err) {
    if (!cJSON_IsString(item) || !item->valuestring[0])
        return fo_fail_field(err, FO_EINVAL, field, "%s holds expressions%s", field,
                             way == REJECTED ? "" : ", or lists of expressions");
    part *p = &j->parts[j->n_parts];
    int bad = regcomp(&p->expression, item->valuestring, REG_EXTENDED | REG_ICASE | REG_NOSUB);
    if (bad) {
        char why[128];
        regerror(bad, &p->expression, why, sizeof why);
        return fo_fail_field(err, FO_EINVAL, field, "%s: '%s': %s", field, item->valuestring, why);
    }
    p->way = way;
    j->n_parts++;
    return FO_OK;
}

static int read_ways(exact_judge *j, const cJSON *accept, const cJSON *reject, fo_err *err) {
    const cJSON *way, *item;
    size_t n = (size_t)cJSON_GetArraySize(reject);
    cJSON_ArrayForEach(way, accept) n +=
        cJSON_IsArray(way) ? (size_t)cJSON_GetArraySize(way) : (size_t)1;
    j->parts = calloc(n + 1, sizeof *j->parts);
    if (!j->parts) return fo_no_memory(err);
    int rc = FO_OK;
    cJSON_ArrayForEach(way, accept) {
        if (!cJSON_IsArray(way)) {
            rc = add_part(j, way, "accept", j->n_ways, err);
        } else {
            cJSON_ArrayForEach(item, way) {
                if (!rc) rc = add_part(j, item, "accept", j->n_ways, err);
            }
        }
        if (rc) return rc;
        j->n_ways++;
    }
    cJSON_ArrayForEach(item, reject) {
        if (!rc) rc = add_part(j, item, "reject", REJECTED, err);
    }
    return rc;
}

int exact_judge_create(exact_judge **out, const cJSON *question, fo_err *err) {
    const cJSON *accept = cJSON_GetObjectItemCaseSensitive(question, "accept");
    const cJSON *refuse = cJSON_GetObjectItemCaseSensitive(question, "refuse");
    const cJSON *reject = cJSON_GetObjectItemCaseSensitive(question, "reject");
    *out = NULL;
    if (reject && (!cJSON_IsArray(reject) || !accept))
        return fo_fail_field(err, FO_EINVAL, "reject", "reject must be a list beside accept");
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
    int rc = accept ? read_ways(j, accept, reject, err) : FO_OK;
    if (!rc && accept && j->n_parts == (size_t)cJSON_GetArraySize(reject))
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
    size_t n = j->n_parts;
    for (; n > 0 && j->parts[n - 1].way == REJECTED; n--)
        if (regexec(&j->parts[n - 1].expression, answer, 0, NULL, 0) == 0) return EXACT_WRONG;
    for (size_t i = 0; i < n;) {
        bool whole = true;
        size_t way = j->parts[i].way;
        for (; i < n && j->parts[i].way == way; i++) {
            bool found = regexec(&j->parts[i].expression, answer, 0, NULL, 0) == 0;
            whole &= found;
            some |= found;
        }
        if (whole) return EXACT_RIGHT;
    }
    return some ? EXACT_PARTIAL : EXACT_WRONG;
}
