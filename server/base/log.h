/* log.h - one line an event on stderr, as text or as JSON.
 *
 *     log_open(LOG_LEVEL_INFO, true);
 *     log_event(LOG_LEVEL_INFO, request_id, "request", LOG_STR("path", path), LOG_INT("status",
 * 200), LOG_NUM("ms", 1.25));
 *
 * text: 2026-11-21T10:00:00.123Z info request id=r_1 path=/query status=200 ms=1.25
 * json: {"t":"2026-…","level":"info","event":"request","request_id":"r_1","path":"/query",…}
 * A line is written by one write(2), so that lines of several threads never mix. */
#ifndef FORAGE_SERVER_LOG_H
#define FORAGE_SERVER_LOG_H

#include <stdbool.h>
#include <stdint.h>

enum log_level { LOG_LEVEL_DEBUG, LOG_LEVEL_INFO, LOG_LEVEL_WARN, LOG_LEVEL_ERROR, LOG_LEVEL_OFF };

typedef struct log_field {
    const char *key; /* NULL ends the list */
    enum { LOG_FIELD_STR, LOG_FIELD_INT, LOG_FIELD_NUM } kind;
    const char *s; /* NULL is left out */
    int64_t i;
    double d;
} log_field;

#define LOG_STR(key, value)                                                                        \
    { key, LOG_FIELD_STR, (value), 0, 0 }
#define LOG_INT(key, value)                                                                        \
    { key, LOG_FIELD_INT, NULL, (int64_t)(value), 0 }
#define LOG_NUM(key, value)                                                                        \
    { key, LOG_FIELD_NUM, NULL, 0, (value) }

/* request_id may be NULL. The field of no name is skipped: it is there so that none may follow. */
#define log_event(level, request_id, event, ...)                                                   \
    log_write(                                                                                     \
        level, request_id, event,                                                                  \
        (const log_field[]){LOG_NUM("", 0), ##__VA_ARGS__, {NULL, LOG_FIELD_STR, NULL, 0, 0}} + 1)

/* "debug|info|warn|error|off"; false where it is none of them. */
bool log_level_parse(const char *name, enum log_level *out);
/* Their names in order, NULL behind the last. */
extern const char *const log_level_names[];
void log_open(enum log_level level, bool json); /* before threads start; info and text until then */
void log_set_level(enum log_level level);       /* any thread, at any time */
enum log_level log_get_level(void);             /* any thread */
/* Set it, with a line before that says so at whatever level: how it came about, and who asked (either may be NULL). */
void log_change_level(enum log_level level, const char *how, const char *request_id);
void log_write(enum log_level level, const char *request_id, const char *event,
               const log_field *fields);
/* 2026-11-21T10:00:00.123Z */
void log_time(char out[32], int64_t unix_ms);
int64_t log_now_ms(void);

#endif
