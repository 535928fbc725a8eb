/* A path is met to the letter. */
#include "tests/test.h"

#include "retrieval/text/path_names.h"

static void a_longer_path_is_another(void **state) {
    (void)state;
    static const struct {
        const char *question, *text;
        bool other;
    } cases[] = {
        {"What is stored in /etc/shadow?", "/etc/shadow- Backup file", true},
        {"What is stored in /etc/shadow?", "All of /etc/shadow.d/ is read.", true},
        {"What is stored in /etc/shadow?", "/etc/shadow- is a copy of /etc/shadow.", false},
        {"What is stored in /etc/shadow?", "/etc/shadow: secure user information", false},
        {"What is stored in /etc/shadow?", "Passwords are stored in it.", false},
        {"Who reads ~/.profile?", "It reads ~/.profile.local.", true},
        {"Who reads ~/.profile?", "It reads ~/.profile", false},
        {"Is it in/out?", "in/outs", false},
        {"What is in /etc?", "/etc/shadow", false}, /* what is below it is in it */
        {"", "/etc/shadow", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = NULL;
        const size_t n = path_name_asked(&path, cases[i].question, strlen(cases[i].question));
        if (path_names_other(path, n, cases[i].text, strlen(cases[i].text)) != cases[i].other)
            fail_msg("%s: %s", cases[i].question, cases[i].text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_longer_path_is_another)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
