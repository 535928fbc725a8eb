/* Chunks and sentences: properties on random Unicode, and the cases that prose brings. */
#include "tests/test.h"

#include "data/chunk/chunk.h"
#include "kernels/buf.h"
#include "kernels/utf8.h"

static void check_sentences(const char *text, const char *const *want, size_t n) {
    size_t at = 0, len = strlen(text);
    for (size_t i = 0; i < n; i++) {
        while (at < len && (text[at] == ' ' || text[at] == '\n')) at++;
        size_t end = sentence_end(text, len, at);
        assert_true(end > at && end <= len);
        if (strlen(want[i]) != end - at || memcmp(text + at, want[i], end - at) != 0)
            fail_msg("got '%.*s', wanted '%s'", (int)(end - at), text + at, want[i]);
        at = end;
    }
    assert_int_equal(at, len);
}

static void sentences_end_where_readers_see_it(void **state) {
    (void)state;
#define CHECK(text, ...)                                                                           \
    do {                                                                                           \
        const char *const want_[] = {__VA_ARGS__};                                                 \
        check_sentences(text, want_, sizeof want_ / sizeof *want_);                                \
    } while (0)
    CHECK("It rained. It stopped!", "It rained.", "It stopped!");
    CHECK("Dr. Stone met J. K. Reed in St. Ives. They left.",
          "Dr. Stone met J. K. Reed in St. Ives.", "They left.");
    CHECK("The U.S. Navy sailed. Pi is 3.14 and e is 2.72. See e.g. Euler.",
          "The U.S. Navy sailed.", "Pi is 3.14 and e is 2.72.", "See e.g. Euler.");
    CHECK("He moved to the U.S. The house was small.", "He moved to the U.S.",
          "The house was small.");
    CHECK("\"Really?\" she asked. (It was late.) \"Go.\" He went.", "\"Really?\" she asked.",
          "(It was late.)", "\"Go.\"", "He went.");
    CHECK("Sie fahren, z. B. Montags, um 8 Uhr. Das \u00D6l, d. h. Heiz\u00F6l, ist leer.",
          "Sie fahren, z. B. Montags, um 8 Uhr.", "Das \u00D6l, d. h. Heiz\u00F6l, ist leer.");
    CHECK("Die 3. Klassen haben Schwimmen, die 4. Klassen Sport. Der Bus kommt.",
          "Die 3. Klassen haben Schwimmen, die 4. Klassen Sport.", "Der Bus kommt.");
    CHECK("Frei ist jeder 4. Termin. Wir fangen am 5. an. Sie helfen am 6. Wer kommt, meldet sich.",
          "Frei ist jeder 4. Termin.", "Wir fangen am 5. an.", "Sie helfen am 6.",
          "Wer kommt, meldet sich.");
    CHECK("Der Turnverein Lindenbr\xC3\xBC"
          "ck 1908 e. V. hat 300 Mitglieder. Gut.",
          "Der Turnverein Lindenbr\xC3\xBC"
          "ck 1908 e. V. hat 300 Mitglieder.",
          "Gut.");
    CHECK("Am 3. Oktober 1990, im 20. Jahrhundert, kamen ca. Hundert bzw. Zweihundert. Es regnete.",
          "Am 3. Oktober 1990, im 20. Jahrhundert, kamen ca. Hundert bzw. Zweihundert.",
          "Es regnete.");
    CHECK("Offen ist vom 01.11. - 31.03. und vom 15.06. \u2013 31.08. Das ist so. Bis 31.08. 112 "
          "EUR. "
          "Frei bis 31.12. Danach nicht.",
          "Offen ist vom 01.11. - 31.03. und vom 15.06. \u2013 31.08.", "Das ist so.",
          "Bis 31.08. 112 EUR.", "Frei bis 31.12.", "Danach nicht.");
    CHECK("The ratio was 1.5. 20 patients were treated. It rose to 12.4. 30 left. "
          "Vom 1.5. - 3.6. nicht.",
          "The ratio was 1.5.", "20 patients were treated.", "It rose to 12.4.", "30 left.",
          "Vom 1.5. - 3.6. nicht.");
    CHECK(
        "Autobuses del Valle, S. A. de Torremora. Tejados, S. L. El taller cierra. Rossi S. p. A. "
        "Milano. Holz Meier e. K. Die Firma bleibt.",
        "Autobuses del Valle, S. A. de Torremora.", "Tejados, S. L.", "El taller cierra.",
        "Rossi S. p. A. Milano.", "Holz Meier e. K.", "Die Firma bleibt.");
    CHECK("AUTOBUSES DEL VALLE, S. A.\nHorarios de la L\u00EDnea 4: todos los d\u00EDas laborables",
          "AUTOBUSES DEL VALLE, S. A.",
          "Horarios de la L\u00EDnea 4: todos los d\u00EDas laborables");
    CHECK("Concierto ...... 25 de abril, Teatro\nCertamen ........... 13 de junio\n"
          "Fiestas . . . . . en agosto\nVuelve el a\u00F1o que viene.",
          "Concierto ...... 25 de abril, Teatro", "Certamen ........... 13 de junio",
          "Fiestas . . . . . en agosto", "Vuelve el a\u00F1o que viene.");
    CHECK("Abono .... 25,00 \u20AC\nPuente Nuevo es el l\u00EDmite.", "Abono .... 25,00 \u20AC",
          "Puente Nuevo es el l\u00EDmite.");
    CHECK("Car ...... 30.00 single ...... 55.00 return\nVan ...... 45.00 single . . . . 80.00 "
          "return\nIt runs daily.",
          "Car ...... 30.00 single ...... 55.00 return",
          "Van ...... 45.00 single . . . . 80.00 return", "It runs daily.");
    CHECK(
        "[28/05/2026, 18:02:11] Imke: the key is with\n[28/05/2026, 18:02:40] Bo: me\nand Sunniva",
        "[28/05/2026, 18:02:11] Imke: the key is with",
        "[28/05/2026, 18:02:40] Bo: me\nand Sunniva");
    CHECK("28.05.26, 18:02 - Imke: we are the\n28.05.26, 18:04 - Bo: first",
          "28.05.26, 18:02 - Imke: we are the", "28.05.26, 18:04 - Bo: first");
    CHECK("Menu \u2026 12\nSoup \u2026 4", "Menu \u2026 12", "Soup \u2026 4");
    CHECK("He waited ... Then it came. Well .... It was late.", "He waited ...", "Then it came.",
          "Well ....", "It was late.");
    CHECK("Es waren 12. Der Rest ging.", "Es waren 12.", "Der Rest ging.");
    CHECK("As queixas s\u00E3o com o sr. Pimenta. Fica na av. Central. A n.\u00BA 5 \u00E9 da sra. "
          "Rosa.",
          "As queixas s\u00E3o com o sr. Pimenta.", "Fica na av. Central.",
          "A n.\u00BA 5 \u00E9 da sra. Rosa.");
    CHECK("It was John Doe Sr. The others left.", "It was John Doe Sr.", "The others left.");
    CHECK("Costaba 5 Mio. Euros, p. ej. Ayer. La Sra. L\u00F3pez lo vio en la p\u00E1g. Siete. "
          "\u00BFD\u00F3nde?",
          "Costaba 5 Mio. Euros, p. ej. Ayer.", "La Sra. L\u00F3pez lo vio en la p\u00E1g. Siete.",
          "\u00BFD\u00F3nde?");
    CHECK("Завод им. Ленина, т. е. ЗИЛ, закрыт. Он стоит на ул. Мира.",
          "Завод им. Ленина, т. е. ЗИЛ, закрыт.", "Он стоит на ул. Мира.");
    CHECK("He chose plan b. A second one came.", "He chose plan b.", "A second one came.");
    CHECK(
        "In Everson v. Board of Education it was upheld. Mark it with a v. The next row is empty.",
        "In Everson v. Board of Education it was upheld.", "Mark it with a v.",
        "The next row is empty.");
    CHECK("Growth was fast.[12] It slowed.", "Growth was fast.[12]", "It slowed.");
    CHECK("Well... maybe not... But yes.", "Well... maybe not...", "But yes.");
    CHECK("See Fig. 3 and No. 5 for it. No. We stayed at 5 p.m. in May.",
          "See Fig. 3 and No. 5 for it.", "No.", "We stayed at 5 p.m. in May.");
    CHECK("1. Open the lid.\n2. Close it.", "1. Open the lid.", "2. Close it.");
    CHECK("One line\nwraps here\n\nNew block", "One line\nwraps here", "New block");
    /* Dashes of a list, and one in a sentence. */
    CHECK("\u2013 towels and sheets\n\u2013 slippers for the house\n\u2013 a torch",
          "\u2013 towels and sheets", "\u2013 slippers for the house", "\u2013 a torch");
    CHECK("The older of the two boats lies at the upper jetty\n\u2013 it leaks \u2013 all year.",
          "The older of the two boats lies at the upper jetty\n\u2013 it leaks \u2013 all year.");
    CHECK("The key\n\u25AA hangs in the shed\n\u25AA has a tag", "The key",
          "\u25AA hangs in the shed", "\u25AA has a tag");
    /* A line that ends before it had to is an end; one that was wrapped is not. */
    CHECK("Opening hours of the station\nMonday to Friday, from eight in the morning until noon\n"
          "The gate is locked at night, and the key hangs behind the door of\nthe boat house.",
          "Opening hours of the station",
          "Monday to Friday, from eight in the morning until noon\n"
          "The gate is locked at night, and the key hangs behind the door of\nthe boat house.");
    CHECK(
        "-b, --blanks\nignore leading blanks\n-d, --dictionary\nlook at letters and digits alone, "
        "as a dictionary does\n-n\ncompare numbers",
        "-b, --blanks\nignore leading blanks",
        "-d, --dictionary\nlook at letters and digits alone, as a dictionary does",
        "-n\ncompare numbers");
    CHECK("plot | species | year of the first record\n1 | sundew | 1987\n2 | bog myrtle | 1990",
          "plot | species | year of the first record", "1 | sundew | 1987",
          "2 | bog myrtle | 1990");
    CHECK("\xE6\x97\xA5\xE6\x9C\xAC\xE3\x80\x82\xE6\xAC\xA1\xE3\x80\x82",
          "\xE6\x97\xA5\xE6\x9C\xAC\xE3\x80\x82", "\xE6\xAC\xA1\xE3\x80\x82");
}

/* A token for every four bytes begun of a word: not additive where words are cut. */
static size_t count(void *ctx, const char *text, size_t len) {
    (void)ctx;
    size_t n = 0, run = 0;
    for (size_t i = 0; i < len; i++) {
        run = text[i] == ' ' || text[i] == '\n' ? 0 : run + 1;
        n += run % 4 == 1;
    }
    return n;
}

static void put_cp(char *s, size_t *n, int32_t cp) {
    *n += fo_utf8_encode(cp, s + *n);
}

static void random_text_is_covered_in_order_within_the_limit(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    static const int32_t special[] = {0x301,   0x308, 0x3042, 0x3002, 0x1F469, 0x200D,
                                      0x1F52C, '.',   ' ',    '\n',   0x5D0,   0xA0};
    for (int round = 0; round < 600; round++) {
        enum { MAX = 6000 };
        static char text[MAX + 8];
        size_t n = 0, want = test_random(&seed) % MAX;
        int style = (int)(test_random(&seed) % 4);
        while (n < want) {
            uint64_t r = test_random(&seed);
            if (style == 0 || r % 16 == 0)
                put_cp(text, &n, special[r / 16 % (sizeof special / sizeof *special)]);
            else if (style == 1)
                put_cp(text, &n, 0x4E00 + (int32_t)(r % 2000));
            else
                put_cp(text, &n, r % 7 == 0 ? ' ' : r % 61 == 0 ? '.' : 'a' + (int32_t)(r % 26));
        }
        text[n] = 0;
        text_block blocks[16];
        extracted x = {.text = text, .len = n, .blocks = blocks};
        size_t from = 0;
        while (x.n_blocks < 16 && from < n) {
            size_t end = from + 1 + test_random(&seed) % 700;
            if (end > n) end = n;
            while (end < n && !fo_utf8_boundary(text[end])) end++;
            blocks[x.n_blocks++] =
                (text_block){from, end, .kind = (uint8_t)(test_random(&seed) % 5), .level = 1};
            from = end;
        }
        chunk_options opt = {.max_tokens = 16 + test_random(&seed) % 100, .count = count};
        opt.overlap = test_random(&seed) % (opt.max_tokens / 2);
        chunk *a, *b;
        size_t na, nb;
        fo_err err = {0};
        assert_ok(chunk_text(&a, &na, &x, &opt, &err), &err);
        assert_ok(chunk_text(&b, &nb, &x, &opt, &err), &err);
        assert_int_equal(na, nb);
        if (na) assert_memory_equal(a, b, na * sizeof *a);
        size_t covered = 0;
        for (size_t i = 0; i < na; i++) {
            assert_true(a[i].start < a[i].end && a[i].end <= n);
            assert_true(i == 0 || (a[i].start > a[i - 1].start && a[i].end > a[i - 1].end));
            assert_true(fo_utf8_boundary(text[a[i].start]));
            assert_true(a[i].end == n || fo_utf8_boundary(text[a[i].end]));
            assert_true(a[i].n_tokens <= opt.max_tokens);
            assert_int_equal(a[i].n_tokens, count(NULL, text + a[i].start, a[i].end - a[i].start));
            assert_int_equal(a[i].start_cp, fo_utf8_count(text, a[i].start));
            assert_int_equal(a[i].end_cp, fo_utf8_count(text, a[i].end));
            for (size_t k = covered; k < a[i].start; k++)
                assert_true(text[k] == ' ' || text[k] == '\n' || (unsigned char)text[k] == 0xC2 ||
                            (unsigned char)text[k] == 0xA0);
            covered = a[i].end;
        }
        free(a);
        free(b);
    }
}

static void read_as(extracted *out, const char *content_type, const char *doc, size_t n) {
    fo_err err = {0};
    assert_ok(extract_text(out,
                           &(extract_request){.bytes = doc,
                                              .n = n,
                                              .content_type = content_type,
                                              .max_text_bytes = 1 << 20},
                           &err),
              &err);
}

static void a_question_goes_with_its_answer(void **state) {
    (void)state;
    const char *doc = "Some words that stand before all of it, so that there are enough.\n\n"
                      "Q: Can it keep its cards\n   when I shut it down?\n\n"
                      "A: No, that is not provided, and it never was.\n";
    extracted x;
    fo_err err = {0};
    read_as(&x, "text/plain", doc, strlen(doc));
    chunk_options opt = {.max_tokens = 30, .overlap = 0};
    chunk *c;
    size_t n;
    assert_ok(chunk_text(&c, &n, &x, &opt, &err), &err);
    assert_int_equal(n, 2);
    assert_memory_equal(x.text + c[1].start, "Q: Can", 6);
    free(c);
    extracted_deinit(&x);
}

static void structure_is_respected(void **state) {
    (void)state;
    const char *doc =
        "# One\n\nalpha beta gamma delta epsilon zeta eta theta iota kappa.\n\n# Two\n\n"
        "lambda mu nu xi omicron pi.\n\n```\nx = 1\n\ny = 2\nz = 3\nw = 4\n```\n";
    extracted x;
    fo_err err = {0};
    read_as(&x, "text/markdown", doc, strlen(doc));
    chunk_options opt = {.max_tokens = 16, .overlap = 4};
    chunk *c;
    size_t n;
    assert_ok(chunk_text(&c, &n, &x, &opt, &err), &err);
    assert_int_equal(n, 3);
    assert_memory_equal(x.text + c[1].start, "Two", 3); /* a heading goes with what follows */
    assert_memory_equal(x.text + c[1].heading_start, "Two", 3);
    assert_memory_equal(x.text + c[2].end - 5, "w = 4", 5);
    assert_memory_equal(x.text + c[2].start, "x = 1", 5); /* the fence stays whole */
    free(c);
    opt.max_tokens = 8;
    assert_int_equal(chunk_text(&c, &n, &x, &opt, &err), FO_EINVAL);
    extracted_deinit(&x);
}

/* A token each, whatever its length: as the tokenizers of encoders count what they have no word for. */
static size_t count_unknown(void *ctx, const char *text, size_t len) {
    (void)ctx;
    size_t n = 0;
    for (size_t i = 0; i < len; i++) n += text[i] != ' ' && (i == 0 || text[i - 1] == ' ');
    return n;
}

static void words_of_any_length_make_no_giant(void **state) {
    (void)state;
    fo_buf b = {0};
    for (int word = 0; word < 40; word++) {
        for (int i = 0; i < (word % 3 ? 3000 : 100000); i++)
            fo_buf_char(&b, (char)('a' + word % 26));
        for (int i = 0; i < (word == 20 ? 50000 : 1); i++) fo_buf_char(&b, ' ');
    }
    text_block block = {0, b.len, .kind = TEXT_PARAGRAPH};
    extracted x = {.text = b.data, .len = b.len, .blocks = &block, .n_blocks = 1};
    chunk_options opt = {.max_tokens = 256, .overlap = 32, .count = count_unknown};
    chunk *c;
    size_t n, covered = 0;
    fo_err err = {0};
    assert_ok(chunk_text(&c, &n, &x, &opt, &err), &err);
    for (size_t i = 0; i < n; i++) {
        assert_true(c[i].end - c[i].start <= 64 * 256);
        for (; covered < c[i].start; covered++) assert_int_equal(b.data[covered], ' ');
        covered = c[i].end;
    }
    assert_true(n < 3 * b.len / (64 * 256));
    free(c);
    fo_buf_free(&b);
}

/* Each chunk below a heading says it: of one of a megabyte the beginning. */
static size_t count_none(void *ctx, const char *text, size_t len) {
    (void)ctx, (void)text, (void)len;
    return 0;
}

/* What counts no tokens is in two chunks at most, as all other text; in one where none is to overlap. */
static void what_counts_nothing_does_not_overlap_without_end(void **state) {
    (void)state;
    fo_buf b = {0};
    while (b.len < 256 << 10) fo_buf_str(&b, "\xEF\xBF\xBD\xE2\x80\x8B\xEF\xBF\xBD\n\n");
    extracted x = {.text = b.data, .len = b.len};
    for (size_t overlap = 0; overlap < 128; overlap += 127) {
        chunk_options opt = {.max_tokens = 256, .overlap = overlap, .count = count_none};
        chunk *c;
        size_t n, bytes = 0;
        fo_err err = {0};
        assert_ok(chunk_text(&c, &n, &x, &opt, &err), &err);
        for (size_t i = 0; i < n; i++) {
            bytes += c[i].end - c[i].start;
            assert_true(!i || (c[i].end > c[i - 1].end && c[i].start > c[i - 1].start));
            if (!overlap && i) assert_true(c[i].start >= c[i - 1].end);
        }
        if (bytes > 2 * b.len + (16 << 10)) fail_msg("%zu bytes of %zu", bytes, b.len);
        free(c);
    }
    fo_buf_free(&b);
}

static void long_headings_are_cut(void **state) {
    (void)state;
    fo_buf b = {0};
    fo_buf_str(&b, "# \u4e2d");
    for (int i = 0; i < 100000; i++) fo_buf_str(&b, "\u4e2d");
    fo_buf_str(&b, "\n\n");
    for (int i = 0; i < 200; i++) fo_buf_str(&b, "alpha beta gamma delta epsilon zeta eta theta. ");
    fo_err err = {0};
    extracted x;
    read_as(&x, "text/markdown", b.data, b.len);
    chunk_options opt = {.max_tokens = 64, .overlap = 4};
    chunk *c;
    size_t n;
    assert_ok(chunk_text(&c, &n, &x, &opt, &err), &err);
    const chunk *last = &c[n - 1];
    assert_memory_equal(x.text + last->end - 6, "theta.", 6);
    assert_int_equal(last->heading_start, 0);
    assert_int_equal(last->heading_end, CHUNK_HEADING_MAX / 3 * 3); /* of three bytes each */
    free(c);
    extracted_deinit(&x);
    fo_buf_free(&b);
}

/* Plain text has lines above and below its headings; a chunk below one is told the words alone. */
static void a_heading_has_no_drawn_lines(void **state) {
    (void)state;
    static const char *const headings[] = {
        "=====\nMeeting of 3 May\n=====", "Meeting of 3 May\n-----", "-----\nMeeting of 3 May",
        "Meeting of 3 May"};
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++) {
        char text[80];
        const int n_text = snprintf(text, sizeof text, "%s\n\nAll came.", headings[i]);
        text_block heading = {.end = strlen(headings[i]), .kind = TEXT_HEADING, .level = 2};
        extracted x = {.text = text, .len = (size_t)n_text, .blocks = &heading, .n_blocks = 1};
        chunk *list;
        size_t n;
        fo_err err = {0};
        assert_ok(chunk_text(&list, &n, &x, &(chunk_options){.max_tokens = 64}, &err), &err);
        assert_int_equal(n, 1);
        assert_int_equal(list->heading_end - list->heading_start, strlen("Meeting of 3 May"));
        assert_memory_equal(text + list->heading_start, "Meeting", 7);
        free(list);
    }
}

static void short_forms_of_russian_end_no_sentence(void **state) {
    (void)state;
    CHECK("Дом стоит в пос. Сосновый, ул. Береговая, д. 9, корп. 2, кв. 14. Ключ у сторожа.",
          "Дом стоит в пос. Сосновый, ул. Береговая, д. 9, корп. 2, кв. 14.", "Ключ у сторожа.");
    CHECK(
        "Тел. 555-10-20, каб. 3. Автобус из г. Тверь идёт 1 ч. 20 мин. Билет стоит 90 руб. 50 коп. "
        "Дети едут даром.",
        "Тел. 555-10-20, каб. 3.", "Автобус из г. Тверь идёт 1 ч. 20 мин.",
        "Билет стоит 90 руб. 50 коп.", "Дети едут даром.");
    CHECK("Библиотека им. А. Н. Орлова открыта с 2026 г. Вход свободный. Высота 30 см. Вес 2 кг.",
          "Библиотека им. А. Н. Орлова открыта с 2026 г.", "Вход свободный.", "Высота 30 см.",
          "Вес 2 кг.");
    CHECK("Берут книги, журналы и т. д. Диски, т. е. Пластинки, нет. См. Рис. 3 и стр. 5.",
          "Берут книги, журналы и т. д.", "Диски, т. е. Пластинки, нет.", "См. Рис. 3 и стр. 5.");
    CHECK("В 2026 г. — ремонт. Плата 500 руб. – до 1 мая.", "В 2026 г. — ремонт.",
          "Плата 500 руб. – до 1 мая.");
}

static void short_forms_of_hindi_end_no_sentence(void **state) {
    (void)state;
    CHECK("हॉल का किराया रु. 18,000 है। चाबी श्री. यादव के पास है।", "हॉल का किराया रु. 18,000 है।",
          "चाबी श्री. यादव के पास है।");
    CHECK("दूसरी कार के लिए 600 रु. प्रति माह। साइकिल छत पर 30 रु. में जाती है।",
          "दूसरी कार के लिए 600 रु. प्रति माह।", "साइकिल छत पर 30 रु. में जाती है।");
    CHECK("खिड़की नं. 4 पर डॉ. मेहता मिलते हैं। मंगलम प्रा. लि. का पता वही है।",
          "खिड़की नं. 4 पर डॉ. मेहता मिलते हैं।", "मंगलम प्रा. लि. का पता वही है।");
    CHECK("मासिक पास 900 रु. विद्यार्थियों को छूट है।", "मासिक पास 900 रु.", "विद्यार्थियों को छूट है।");
    /* figures are of one byte, its letters of three: the width of a line is that of its characters */
    CHECK("रख-रखाव शुल्क 2 BHK के लिए 2,800 रु. और 3 BHK के लिए 3,650 रु. प्रति\nमाह है। भुगतान हर तिमाही के "
          "पहले महीने की "
          "10 तारीख तक करना है। देर से\nभुगतान पर 18 प्रतिशत वार्षिक की दर से ब्याज लगेगा।",
          "रख-रखाव शुल्क 2 BHK के लिए 2,800 रु. और 3 BHK के लिए 3,650 रु. प्रति\nमाह है।",
          "भुगतान हर तिमाही के पहले महीने की 10 तारीख तक करना है।",
          "देर से\nभुगतान पर 18 प्रतिशत वार्षिक की दर से ब्याज लगेगा।");
}

static void a_text_is_whole_behind_a_stop_of_any_script(void **state) {
    (void)state;
    static const char *const whole[] = {"It rained.",        "Did it?",
                                        "It did!)",          "**It rained.**",
                                        "Well\u2026",        "\u4E00\u7C73\u3002",
                                        "\u4E00\uFF01",      "\u300C\u4E00\uFF1F\u300D",
                                        "\u0915\u0964",      "\u0645\u061F",
                                        "\u0645\u06D4\u201D"};
    static const char *const broken[] = {"",     "It", "It rained. So", "\u4E00\u7C73",
                                         "v1.2", "\"", "\xE3\x80"};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (!sentence_is_whole(whole[i], strlen(whole[i]))) fail_msg("'%s'", whole[i]);
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
        if (sentence_is_whole(broken[i], strlen(broken[i]))) fail_msg("'%s'", broken[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sentences_end_where_readers_see_it),
        cmocka_unit_test(a_text_is_whole_behind_a_stop_of_any_script),
        cmocka_unit_test(random_text_is_covered_in_order_within_the_limit),
        cmocka_unit_test(structure_is_respected),
        cmocka_unit_test(a_question_goes_with_its_answer),
        cmocka_unit_test(short_forms_of_russian_end_no_sentence),
        cmocka_unit_test(short_forms_of_hindi_end_no_sentence),
        cmocka_unit_test(long_headings_are_cut),
        cmocka_unit_test(a_heading_has_no_drawn_lines),
        cmocka_unit_test(words_of_any_length_make_no_giant),
        cmocka_unit_test(what_counts_nothing_does_not_overlap_without_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
