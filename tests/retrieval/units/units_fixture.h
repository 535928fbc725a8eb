/* units_fixture.h - the units of a text, and which of them is expected, for the tests of units. */
#ifndef FORAGE_TESTS_UNITS_FIXTURE_H
#define FORAGE_TESTS_UNITS_FIXTURE_H

#include <string.h>

#include "retrieval/units/units.h"
#include "tests/test.h"

static text_units units;

static void read_units(const char *text) {
    fo_err err = {0};
    assert_ok(text_units_read(&units, text, strlen(text), 0, &err), &err);
}

static bool is(const char *text, uint32_t start, uint32_t end, const char *want) {
    return strlen(want) == end - start && memcmp(text + start, want, end - start) == 0;
}

/* The one unit with this text; its kind and what it hangs on are as said. */
static void expect(const char *text, const char *unit, int kind, const char *head) {
    for (size_t i = 0; i < units.n; i++) {
        const text_unit *u = &units.v[i];
        if (!is(text, u->start, u->end, unit) || u->kind != kind) continue;
        if (!is(text, u->head_start, u->head_end, head))
            fail_msg("'%s' hangs on '%.*s'", unit, (int)(u->head_end - u->head_start),
                     text + u->head_start);
        return;
    }
    for (size_t i = 0; i < units.n; i++)
        print_message("# %d '%.*s'\n", units.v[i].kind, (int)(units.v[i].end - units.v[i].start),
                      text + units.v[i].start);
    fail_msg("no unit '%s' of kind %d", unit, kind);
}

static int forget(void **state) {
    (void)state;
    text_units_deinit(&units);
    return 0;
}

#endif
