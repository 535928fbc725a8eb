#include "server/openai/openai_fields.h"

#include <string.h>

#include "kernels/words.h"

enum passes {
    STRING,  /* any */
    STRINGS, /* an object of strings */
    EMPTY,   /* [], {}, "" or false */
    WORD,    /* one of the words, in a string or as the only one of an array */
    NOTHING, /* null alone */
};

typedef struct neutral_field {
    const char *name;
    unsigned routes;
    enum passes passes;
    const char *words; /* WORD: with blanks between */
    const char *why;   /* what is not done here; follows "NAME is not supported: " */
} neutral_field;

static const char old_tools[] = "functions are given in tools now";
static const char text_only[] = "models here read and write text alone";
static const char not_kept[] = "completions are not kept";
static const char one_way[] = "models here have one way of working";

static const neutral_field fields[] = {
    {"user", OPENAI_CHAT | OPENAI_COMPLETION | OPENAI_EMBEDDING, STRING, NULL, NULL},
    {"safety_identifier", OPENAI_CHAT, STRING, NULL, NULL},
    {"prompt_cache_key", OPENAI_CHAT, STRING, NULL, NULL},
    {"prompt_cache_retention", OPENAI_CHAT, WORD, "in_memory in-memory",
     "what was computed is kept as long as there is room"},
    {"metadata", OPENAI_CHAT, STRINGS, NULL, NULL},
    {"store", OPENAI_CHAT, EMPTY, NULL, not_kept},
    {"service_tier", OPENAI_CHAT, WORD, "auto default", "all requests are of one tier"},
    {"functions", OPENAI_CHAT, EMPTY, NULL, old_tools},
    {"function_call", OPENAI_CHAT, WORD, "none auto", old_tools},
    {"modalities", OPENAI_CHAT, WORD, "text", text_only},
    {"audio", OPENAI_CHAT | OPENAI_MESSAGE, NOTHING, NULL, text_only},
    {"prediction", OPENAI_CHAT, NOTHING, NULL, "no text can be given ahead"},
    {"web_search_options", OPENAI_CHAT, NOTHING, NULL, "nothing is looked up in the web"},
    {"moderation", OPENAI_CHAT, NOTHING, NULL, "nothing is moderated"},
    {"prompt_cache_options", OPENAI_CHAT, NOTHING, NULL,
     "what was computed is kept as long as there is room"},
    {"reasoning_effort", OPENAI_CHAT, WORD, "none", one_way},
    {"verbosity", OPENAI_CHAT, WORD, "medium", one_way},
    {"suffix", OPENAI_COMPLETION, EMPTY, NULL, "text goes on at its end alone"},
    {"annotations", OPENAI_MESSAGE, EMPTY, NULL, text_only},
    {"function_call", OPENAI_MESSAGE, NOTHING, NULL, old_tools},
};

static bool is_word(const cJSON *item, const char *words) {
    if (cJSON_IsArray(item)) item = item->child && !item->child->next ? item->child : NULL;
    const char *s = cJSON_GetStringValue(item);
    return s && fo_words_have(words, s, strlen(s));
}

static bool are_strings(const cJSON *object) {
    const cJSON *item;
    if (!cJSON_IsObject(object)) return false;
    cJSON_ArrayForEach(item, object) if (!cJSON_IsString(item)) return false;
    return true;
}

static bool is_empty(const cJSON *item) {
    return cJSON_IsFalse(item) || (cJSON_IsString(item) && !item->valuestring[0]) ||
           ((cJSON_IsArray(item) || cJSON_IsObject(item)) && !item->child);
}

static void read_field(json_in *in, const neutral_field *f) {
    const cJSON *item = json_in_any(in, f->name);
    char path[64];
    if (!item) return;
    json_in_path(in, f->name, path);
    const char *want = NULL;
    if (f->passes == STRING && !cJSON_IsString(item)) want = "a string";
    if (f->passes == STRINGS && !are_strings(item)) want = "an object of strings";
    if (want) fo_fail_field(in->err, FO_EINVAL, path, "%s must be %s", path, want);
    if ((f->passes == EMPTY && !is_empty(item)) || f->passes == NOTHING ||
        (f->passes == WORD && !is_word(item, f->words)))
        fo_fail_field(in->err, FO_EUNSUPPORTED, path, "%s is not supported: %s", path, f->why);
}

void openai_fields_read(json_in *in, enum openai_route route) {
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (fields[i].routes & (unsigned)route) read_field(in, &fields[i]);
}
