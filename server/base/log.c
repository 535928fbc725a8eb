#include "server/base/log.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "kernels/buf.h"
#include "kernels/clock.h"
#include "kernels/utf8.h"
#include "server/base/json.h"
#include "server/base/printable.h"

static atomic_int least = LOG_LEVEL_INFO;
static bool as_json; /* written once before threads start */

const char *const log_level_names[] = {"debug", "info", "warn", "error", "off", NULL};

bool log_level_parse(const char *name, enum log_level *out) {
    for (int i = 0; i <= LOG_LEVEL_OFF; i++)
        if (!strcasecmp(name, log_level_names[i])) return *out = (enum log_level)i, true;
    return false;
}

void log_open(enum log_level level, bool json) {
    least = level;
    as_json = json;
}

void log_set_level(enum log_level level) {
    least = level;
}

enum log_level log_get_level(void) {
    return (enum log_level)atomic_load(&least);
}

void log_change_level(enum log_level level, const char *how, const char *request_id) {
    log_set_level(LOG_LEVEL_INFO); /* that this is seen, whatever was and comes */
    log_event(LOG_LEVEL_INFO, request_id, how, LOG_STR("log_level", log_level_names[level]));
    log_set_level(level);
}

int64_t log_now_ms(void) {
    return fo_unix_ms();
}

void log_time(char out[32], int64_t unix_ms) {
    time_t s = (time_t)(unix_ms / 1000);
    struct tm tm;
    gmtime_r(&s, &tm);
    size_t n = strftime(out, 32, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(out + n, 32 - n, ".%03dZ", (int)(unix_ms % 1000));
}

/* A value of the text format: quoted where it holds more than plain characters, or such as would
 * act on a terminal. */
static void text_value(fo_buf *b, const char *s) {
    size_t n = strlen(s);
    bool plain = n > 0;
    for (size_t i = 0; i < n && plain;) {
        int32_t cp;
        i += fo_utf8_decode(s + i, n - i, &cp);
        plain = cp > ' ' && cp != '"' && cp != '\\' && !printable_escapes(cp);
    }
    if (plain)
        fo_buf_str(b, s);
    else
        json_write_string(b, s, n);
}

void log_write(enum log_level level, const char *request_id, const char *event,
               const log_field *fields) {
    if ((int)level < atomic_load_explicit(&least, memory_order_relaxed) || level >= LOG_LEVEL_OFF)
        return;
    fo_buf b = {0};
    char t[32];
    log_time(t, log_now_ms());
    if (as_json) {
        fo_buf_printf(&b, "{\"t\":\"%s\",\"level\":\"%s\",\"event\":", t, log_level_names[level]);
        json_write_string(&b, event, strlen(event));
        if (request_id) {
            fo_buf_str(&b, ",\"request_id\":");
            json_write_string(&b, request_id, strlen(request_id));
        }
    } else {
        fo_buf_printf(&b, "%s %-5s %s", t, log_level_names[level], event);
        if (request_id) {
            fo_buf_str(&b, " id=");
            text_value(&b, request_id);
        }
    }
    for (const log_field *f = fields; f->key; f++) {
        if (f->kind == LOG_FIELD_STR && !f->s) continue;
        fo_buf_printf(&b, as_json ? ",\"%s\":" : " %s=", f->key);
        if (f->kind == LOG_FIELD_INT)
            fo_buf_printf(&b, "%lld", (long long)f->i);
        else if (f->kind == LOG_FIELD_NUM)
            fo_buf_printf(&b, "%.3f", f->d);
        else if (as_json)
            json_write_string(&b, f->s, strlen(f->s));
        else
            text_value(&b, f->s);
    }
    fo_buf_str(&b, as_json ? "}\n" : "\n");
    if (!b.failed) {
        ssize_t n = write(STDERR_FILENO, b.data, b.len);
        (void)n; /* nowhere left to complain to */
    }
    fo_buf_free(&b);
}
