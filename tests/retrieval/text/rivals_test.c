/* rivals_test.c - the south pump is no answer about the north one. */
#include "tests/test.h"

#include <string.h>

#include "retrieval/text/rivals.h"

static void one_excludes_the_other(void **state) {
    (void)state;
    static const struct {
        const char *asked, *said;
        bool excluded;
    } cases[] = {
        {"How often is the north pump serviced?", "The south pump is serviced every week.", true},
        {"How often is the north pump serviced?", "The Northern pump is serviced every week.",
         false},
        {"How often is the north pump serviced?", "North and south pumps are serviced.", false},
        {"How often is the north pump serviced?", "Pumps are serviced.", false},
        {"How often are pumps serviced?", "The south pump is serviced.", false},
        {"What does dinner cost?", "A lunch costs 4.60 euros.", true},
        {"What does dinner cost?", "Supper costs 4.60 euros.", false},
        {"What does the red lamp mean?", "green: it runs", true},
        {"What does the red lamp mean?", "A lamp in winter", false}, /* of another kind */
        {"Is it open in winter?", "In summer from 8 to 20 hours", true},
        {"How much oil does the diesel take?", "The petrol engine takes 4 litres.", true},
        {"How much oil does the diesel take?", "Petrol: 4, diesel: 5 litres", false},
        {"What is the minimum height?", "The maximum height is 2 m.", true},
        {"What is the yearly premium?", "The sum insured is EUR 65,000.", true},
        {"What is the yearly premium?", "Premium 90 a year, sum insured 65,000", false},
        {"What are the drawbacks of a log?", "Advantages include: it is faster.", true},
        {"What are the drawbacks of a log?", "A log has advantages and disadvantages.", false},
        {"", "red", false},
        {"red", "", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint64_t asked = rivals_in(cases[i].asked, strlen(cases[i].asked));
        const uint64_t said = rivals_in(cases[i].said, strlen(cases[i].said));
        if (rivals_exclude(asked, said) != cases[i].excluded)
            fail_msg("%s / %s", cases[i].asked, cases[i].said);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_excludes_the_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
