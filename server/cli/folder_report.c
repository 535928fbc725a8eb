#include "server/cli/folder_report.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server/base/printable.h"

void folder_report_print_skipped(skip_counts *skipped) {
    fo_buf b = {0};
    skip_counts_write(skipped, &b);
    if (b.len) printable_say(stdout, "%s", b.data);
    fo_buf_free(&b);
}

void folder_report_print(const folder_sync_report *r) {
    printf("%9s %9s %9s %9s %9s %9s %9s\n", "created", "updated", "moved", "unchanged", "removed",
           "skipped", "failed");
    printf("%9zu %9zu %9zu %9zu %9zu %9zu %9zu\n", r->created, r->updated, r->moved, r->unchanged,
           r->removed, r->skipped.n, r->failed);
    skip_counts sorted = r->skipped;
    folder_report_print_skipped(&sorted);
    if (r->textless) printf("%zu without text\n", r->textless);
    if (r->kept)
        printf("%zu document%s kept: nobody could see whether the file is there, or it fails under "
               "a new name\n",
               r->kept, r->kept == 1 ? "" : "s");
    for (size_t i = 0; i < r->n_failures; i++)
        printable_say(stdout, "failed: %s: %s", *r->failures[i].path ? r->failures[i].path : ".",
                      r->failures[i].why);
    if (r->failed > r->n_failures) printf("failed: %zu more\n", r->failed - r->n_failures);
    if (r->refused.code) printable_say(stdout, "refused: %s", r->refused.msg);
    printf("%zu chunks, %.2f s%s\n", r->chunks, r->seconds,
           r->dry_run ? " (a dry run: nothing was changed)" : "");
}

void folder_report_left_out(const char *path, const char *kind, int64_t size, int64_t max_bytes) {
    if (strcmp(kind, "too large") != 0) return;
    if (isatty(STDERR_FILENO)) fputs("\r\033[K", stderr); /* over the bar, which is drawn again */
    printable_say(stderr,
                  "forage: %s: left out: its %lld bytes are more than the %lld of --max-file", path,
                  (long long)size, (long long)max_bytes);
}

void folder_report_note_textless(textless_names *t, const char *name) {
    enum { NAMED = 3 };
    if (t->n == NAMED) return;
    if (t->n++) fo_buf_str(&t->names, ", ");
    fo_buf_str(&t->names, name);
}

void folder_report_say_textless(textless_names *t, size_t n_all) {
    const char *names = t->names.data && !t->names.failed ? t->names.data : "";
    char more[40] = "";
    if (n_all > t->n) snprintf(more, sizeof more, " and %zu more", n_all - t->n);
    if (n_all == 1)
        printable_say(stderr, "forage: %s: it holds no text; no question finds it", names);
    else if (n_all)
        printable_say(stderr,
                      "forage: %zu documents hold no text, and no question finds them: %s%s", n_all,
                      names, more);
    fo_buf_free(&t->names);
    *t = (textless_names){0};
}
