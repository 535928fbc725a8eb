/* Text that its writer wrapped says the same as text that is not: sentences of a paragraph, line
 * breaks taken for blanks, are the same however its lines are broken. */
#include "tests/test.h"

#include <dirent.h>

#include "data/chunk/chunk.h"
#include "data/extract/extract.h"
#include "kernels/file.h"

enum { MAX_TEXT = 16384, ROUNDS = 400 };

/* How a writer breaks lines: as full as they get; the same with some that were left long; behind
 * clauses; anywhere. */
enum style { FULL, SOME_LONG, CLAUSES, RAGGED, STYLES };
static const char *const style_names[] = {"full", "some long", "clauses", "ragged"};

/* `text`, whose words are parted by single blanks, in lines. */
static void wrap(char *out, const char *text, enum style style, size_t width, uint64_t *seed) {
    size_t n = 0, line = 0, most = width;
    for (const char *at = text; *at;) {
        size_t word = strcspn(at, " ");
        bool clause = n && (out[n - 1] == ',' || out[n - 1] == '.' || out[n - 1] == ';');
        bool full = line && line + 1 + word > most;
        if (style == CLAUSES) full = line && ((clause && line > 20) || line + 1 + word > 90);
        if (full) {
            out[n++] = '\n';
            line = 0;
            if (style == SOME_LONG) most = test_random(seed) % 6 ? width : 2 * width + 40;
            if (style == RAGGED) most = 25 + test_random(seed) % (width > 35 ? width - 25 : 10);
        } else if (line) {
            out[n++] = ' ';
            line++;
        }
        memcpy(out + n, at, word);
        n += word;
        line += word;
        at += word + (at[word] == ' ');
    }
    out[n] = 0;
}

/* Sentences, each with a line break behind it; white space within them is one blank. */
static void sentences(char *out, const char *text, size_t len) {
    size_t n = 0;
    for (size_t at = 0; at < len;) {
        while (at < len && (text[at] == ' ' || text[at] == '\n')) at++;
        if (at >= len) break;
        size_t end = sentence_end(text, len, at);
        for (; at < end; at++) {
            bool blank = text[at] == ' ' || text[at] == '\n';
            if (!blank)
                out[n++] = text[at];
            else if (out[n - 1] != ' ')
                out[n++] = ' ';
        }
        while (out[n - 1] == ' ') n--;
        out[n++] = '\n';
    }
    out[n] = 0;
}

/* How many sentences of the text are told otherwise in lines. */
static size_t n_cut(const char *text, enum style style, size_t width, uint64_t *seed, bool say) {
    static char wrapped[2 * MAX_TEXT], want[2 * MAX_TEXT], got[2 * MAX_TEXT];
    size_t cut = 0;
    wrap(wrapped, text, style, width, seed);
    sentences(want, text, strlen(text));
    sentences(got, wrapped, strlen(wrapped));
    for (const char *s = got; *s;) {
        size_t n = strcspn(s, "\n") + 1;
        const char *whole = memmem(want, strlen(want), s, n);
        bool is = whole && (whole == want || whole[-1] == '\n');
        if (!is && say)
            print_message("cut in %s:\n%s\nto: %.*s", style_names[style], wrapped, (int)n, s);
        cut += !is;
        s += n;
    }
    return cut;
}

static size_t n_sentences(const char *text) {
    static char told[2 * MAX_TEXT];
    size_t n = 0;
    sentences(told, text, strlen(text));
    for (const char *s = told; *s; s++) n += *s == '\n';
    return n;
}

/* ---- texts --------------------------------------------------------------------------------- */

static const char *const subjects[] = {
    "The rowing boat",
    "Grebe",
    "A jacket with a yellow tag",
    "The warden of the reserve",
    "Anna Lindqvist",
    "Every visitor",
    "The pump in the cellar",
    "One of the two punts",
    "Dr. Reed",
    "The key",
    "It",
    "Nobody but the manager",
};
static const char *const verbs[] = {
    "is the only one that may be used",
    "was moved",
    "must be weighed each April",
    "carries at most 4 persons",
    "is kept",
    "was seen 12 times",
    "may not be taken",
    "has been repaired",
    "costs 3.50 euros a day and is lent",
};
static const char *const places[] = {
    "on the lake",
    "by Mr. Teal",
    "behind the door of the Boat House",
    "in the north bay",
    "after 15 March",
    "without the consent of the Fen Trust in London",
    "near the weir (which was built in 1932 by the firm of Ashby and Sons)",
    "when the wind is above 10 m/s",
    "since No. 5 was lost",
};
static const char *const ends[] = {
    ".",
    ".",
    ".",
    "!",
    ", because grebes and terns breed there.",
    ", and the second one - the older of them - leaks.",
    "; see https://fen.example/handbook/2026/rules-for-boats-and-waders-on-the-lake.html for more.",
    ", so it was \"taken out of use\" in 1998.",
};
#define ANY(list) list[test_random(seed) % (sizeof(list) / sizeof *(list))]

static void write_paragraph(char *out, uint64_t *seed) {
    size_t n = 0;
    for (int k = 2 + (int)(test_random(seed) % 7); k > 0; k--)
        n += (size_t)snprintf(out + n, MAX_TEXT - n, "%s%s %s %s%s", n ? " " : "", ANY(subjects),
                              ANY(verbs), ANY(places), ANY(ends));
}

static void paragraphs_tell_the_same_however_they_are_wrapped(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    char text[MAX_TEXT];
    size_t cut[STYLES] = {0}, n = 0;
    for (int round = 0; round < ROUNDS; round++) {
        write_paragraph(text, &seed);
        n += n_sentences(text);
        for (int style = 0; style < STYLES; style++)
            cut[style] += n_cut(text, (enum style)style, 45 + test_random(&seed) % 76, &seed,
                                style == FULL || style == CLAUSES);
    }
    print_message("of %zu sentences cut: %zu full, %zu clauses, %zu some long, %zu ragged\n", n,
                  cut[FULL], cut[CLAUSES], cut[SOME_LONG], cut[RAGGED]);
    assert_int_equal(cut[FULL] + cut[CLAUSES], 0);
    /* Where lines end anywhere, a name at the beginning of one may look like an entry's. */
    assert_true(200 * cut[SOME_LONG] <= n && 100 * cut[RAGGED] <= n);
}

/* The paragraphs of the sample corpus, as its formats tell them. */
static void the_sample_tells_the_same_however_it_is_wrapped(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    DIR *d = opendir("data/sample");
    if (!d) skip();
    size_t n = 0, full = 0, ragged = 0;
    for (struct dirent *e; (e = readdir(d));) {
        char path[512], *bytes, text[MAX_TEXT];
        size_t n_bytes;
        fo_err err = {0};
        snprintf(path, sizeof path, "data/sample/%.255s", e->d_name);
        if (e->d_name[0] == '.') continue;
        assert_ok(fo_file_read(path, 1 << 20, &bytes, &n_bytes, &err), &err);
        extracted x;
        assert_ok(extract_text(&x,
                               &(extract_request){.bytes = bytes,
                                                  .n = n_bytes,
                                                  .file_name = e->d_name,
                                                  .max_text_bytes = 1 << 20},
                               &err),
                  &err);
        for (size_t i = 0; i < x.n_blocks; i++) {
            const text_block *b = &x.blocks[i];
            size_t k = 0;
            if (b->kind != TEXT_PARAGRAPH || b->end - b->start >= MAX_TEXT) continue;
            for (size_t at = b->start; at < b->end; at++) {
                char c = x.text[at] == '\n' ? ' ' : x.text[at];
                if (c != ' ' || (k && text[k - 1] != ' ')) text[k++] = c;
            }
            text[k] = 0;
            for (size_t width = 40; width <= 110; width += 5) {
                n += n_sentences(text);
                full += n_cut(text, FULL, width, &seed, true);
                ragged += n_cut(text, RAGGED, width, &seed, false);
            }
        }
        extracted_deinit(&x);
        free(bytes);
    }
    closedir(d);
    print_message("of %zu sentences cut: %zu full, %zu ragged\n", n, full, ragged);
    assert_true(n > 1000);
    assert_int_equal(full, 0);
    assert_true(100 * ragged <= n);
}

/* ---- ends ---------------------------------------------------------------------------------- */

static void check(const char *text, const char *want) {
    char got[4096];
    sentences(got, text, strlen(text));
    assert_string_equal(got, want);
}

static void headings_entries_and_items_still_end_with_their_line(void **state) {
    (void)state;
    check("Waders\nWaders in sizes 38 to 47 hang in the boot room. Rinse them with the\nhose.",
          "Waders\nWaders in sizes 38 to 47 hang in the boot room.\nRinse them with the hose.\n");
    check("Before going out\n- Write the boat on the slate\n- Take the bailer, a spare oar and the "
          "throw line",
          "Before going out\n- Write the boat on the slate\n- Take the bailer, a spare oar and the "
          "throw line\n");
    check("You need\n1. a boat\n2. an oar", "You need\n1. a boat\n2. an oar\n");
    check("width: 12 mm\nheight: 40 mm\ncolour = green",
          "width: 12 mm\nheight: 40 mm\ncolour = green\n");
    check("sheep wool\nyarn that was spun of the hair of sheep, goats and other animals",
          "sheep wool\nyarn that was spun of the hair of sheep, goats and other animals\n");
}

static void the_rest_of_a_sentence_is_wrapped_like_the_whole(void **state) {
    (void)state;
    check("that may be used\non the lake. Teal leaks, so it is kept for the\ncount of nests.",
          "that may be used on the lake.\nTeal leaks, so it is kept for the count of nests.\n");
}

static void a_number_or_a_dash_at_the_beginning_of_a_line_is_no_item(void **state) {
    (void)state;
    check("In the winter of that year the level of the lake fell to\n12. Then it rose again.",
          "In the winter of that year the level of the lake fell to 12.\nThen it rose again.\n");
    check("The older of the punts\n- which leaks - is kept for the count.",
          "The older of the punts - which leaks - is kept for the count.\n");
    check(
        "Teal leaks, and so does the other one of the two punts that we own\n- the older of them - "
        "since that day; as for the third of our boats, it was\nbuilt in the yard of the reserve "
        "by "
        "the wardens, who tar it each year\n- not only in spring - and keep it dry.",
        "Teal leaks, and so does the other one of the two punts that we own - the older of them - "
        "since that day; as for the third of our boats, it was built in the yard of the reserve by "
        "the wardens, who tar it each year - not only in spring - and keep it dry.\n");
    check("Boats\n- grebe - for the lake\n- teal - for the\n  canals\n- bittern - lent",
          "Boats\n- grebe - for the lake\n- teal - for the canals\n- bittern - lent\n");
    check("Keep it. Ask a doctor or pharmacist first if you\n - are over 65;\n - take others.",
          "Keep it.\nAsk a doctor or pharmacist first if you\n- are over 65;\n- take others.\n");
    check("Vejo que todos os barcos e\no remo ficam na casa,\no que basta.",
          "Vejo que todos os barcos e o remo ficam na casa, o que basta.\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paragraphs_tell_the_same_however_they_are_wrapped),
        cmocka_unit_test(the_sample_tells_the_same_however_it_is_wrapped),
        cmocka_unit_test(headings_entries_and_items_still_end_with_their_line),
        cmocka_unit_test(the_rest_of_a_sentence_is_wrapped_like_the_whole),
        cmocka_unit_test(a_number_or_a_dash_at_the_beginning_of_a_line_is_no_item),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
