/* What reads question and passage together. */
#include "tests/test.h"

#include <math.h>
#include "engine/embed/reader_cross.h"

static void prints(void **state) {
    (void)state;
    for (int exact = 0; exact < 2; exact++) {
        reader *r;
        fo_err err = {0};
        assert_ok(reader_open(&r, NULL, &(reader_options){.exact = exact}, &err), &err);
        const char *text = "The station is open to visitors on Saturdays. Animals stay outside. Tea costs two euros.";
        const reader_span u[] = {{0, 45}, {46, 68}, {69, 88}};
        reader_passage p = {"Rules for visitors", text, strlen(text), u, 3};
        float odds[3];
        assert_ok(reader_cross(r, "Can I bring my dog?", &p, 1, NULL, odds, &err), &err);
        printf("# %d: %f %f %f\n", exact, (double)odds[0], (double)odds[1], (double)odds[2]);
        reader_close(r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
