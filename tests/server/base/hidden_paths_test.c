/* What a client is told of a fault names files without their folders; ids, addresses and sentences stay as they are. */
#include "tests/test.h"

#include "server/base/hidden_paths.h"

static void becomes(const char *text, const char *want) {
    char own[600]; /* the end of the text is the end of its memory, for the sanitizers */
    const size_t n = strlen(text) + 1;
    char *s = memcpy(own + sizeof own - n, text, n);
    hide_paths(s);
    if (strcmp(s, want) != 0) fail_msg("'%s' instead of '%s'", s, want);
}

static void paths_lose_their_folders(void **state) {
    (void)state;
    becomes("/srv/rag/model.gguf: byte 0 cannot be read any more",
            "model.gguf: byte 0 cannot be read any more");
    becomes("cannot open the embedding model /srv/my models/a b.gguf: No such file",
            "cannot open the embedding model a b.gguf: No such file");
    becomes("home/index/default/1/000.seg: checksum", "000.seg: checksum");
    becomes("../m/model.gguf", "model.gguf");
    becomes("cannot rename '/srv/a b/c.tmp' to \"/srv/a b/c\": Input/output error",
            "cannot rename 'c.tmp' to \"c\": Input/output error");
    becomes("index of collection 'x': /srv/h/index (of /srv/h) is gone",
            "index of collection 'x': index (of h) is gone");
    becomes("cannot rename /srv/a/b to /srv/a/c: No space left on device",
            "cannot rename b to c: No space left on device");
    becomes("/", "/");
    becomes("", "");
}

static void what_is_no_path_stays(void **state) {
    (void)state;
    static const char *const stay[] = {
        "document 'notes/2026/may.md' is damaged",
        "x: document '/etc/motd' is damaged",
        "cannot reach https://models.example/v1/chat: refused",
        "Input/output error",
        "chunk 7 is damaged: 'forage index verify' names the document",
    };
    for (size_t i = 0; i < sizeof stay / sizeof *stay; i++) becomes(stay[i], stay[i]);
    becomes("home/a.db: page 3, document 'x/y' is damaged",
            "a.db: page 3, document 'x/y' is damaged");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_lose_their_folders),
        cmocka_unit_test(what_is_no_path_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
