/* See charset_guess.h. The pairs are the 60 commonest of each language by libexttextcat's fingerprints. In a text of
 * its own language they are 45 to 55 % of all pairs, read in another character set at most 22 % (ours, of messages of
 * programs in Russian, Ukrainian, Bulgarian and Greek; of 600 texts of six messages each one was not known). */
#include "data/extract/charset_guess.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "kernels/utf8.h"

enum {
    SAMPLE_BYTES = 64 << 10,
    MIN_LETTERS = 16,
    MIN_PAIRS = 12,
    LEAST_PERCENT = 25, /* of all pairs that are common ones */
    CLEAR_PERCENT = 140 /* of the next best in another alphabet */
};

/* ---- letters and pairs ---------------------------------------------------------------------------- */

/* What the bytes from 0x80 on are, in small letters; ".": no letter. */
static const char windows_1251[] = "ђѓ.ѓ......љ.њќћџђ.........љ.њќћџ"
                                   ".ўўј.ґ..ё.є....ї..ііґ...ё.є.јѕѕї"
                                   "абвгдежзийклмнопрстуфхцчшщъыьэюя"
                                   "абвгдежзийклмнопрстуфхцчшщъыьэюя";
static const char koi8[] = "................................"
                           "...ёє.ії.....ґ.....ёє.ії.....ґ.."
                           "юабцдефгхийклмнопярстужвьызшэщчъ"
                           "юабцдефгхийклмнопярстужвьызшэщчъ";
static const char windows_1253[] = "................................"
                                   "..ά.....................έήί.ό.ύώ"
                                   "ΐαβγδεζηθικλμνξοπρ.στυφχψωϊϋάέήί"
                                   "ΰαβγδεζηθικλμνξοπρςστυφχψωϊϋόύώ.";
static const char windows_1255[] = "................................"
                                   "................................"
                                   "....................װױײ........."
                                   "אבגדהוזחטיךכלםמןנסעףפץצקרשת.....";

/* The commonest first. */
static const char russian[] = "ст то но на ов ни ен ра не по ко те ро ет та ан ер от го ал "
                              "ре ка пр ва ти ли ес во че ор ть ос он ак ог ло ри ол ль ел "
                              "ин од ом ме ве ск де ны ат ем за ле ит ой се ки тр ед ся ла";
static const char ukrainian[] = "на ра пр но во нн ст ав ов та ва ин ти ат ни ко об ан за ви "
                                "ня не бо ог ен по го ди ві од лю ль ні ро ос ер ма ці юд ід "
                                "ож жн ри до св ом ре ор ьн их ал аб як дн бу тт им тя вн ис";
static const char bulgarian[] = "на ра ва пр ст ни во то ен ав ов но не ан да та от те ит ат "
                                "об ве ек тв ре ли се ос од за ия ле де ри ес им ки ви ед по "
                                "ко ка ак ди ие ет ил чо ма св ро ци аз лн ич си тр из ят бо";
static const char greek[] = "το ου να τα κα στ αν τη αι ει εί πο σε ια τι ον με πε τε μα "
                            "ρι ντ απ ρο έν ρα μπ νο ατ ιο ερ ού ικ εν ος πό λο νε ας ασ "
                            "σα κο αρ πρ ίν κά πι μέ μο έρ αλ ην ισ κε ετ δε πα τά οι ίπ";
static const char hebrew[] = "ים ות ני בי של לי רי יו רו את ור נו המ ית יי ול די יר לה מו "
                             "ינ שר אי רא יש שי אל חו מש מי יה הו בר או לו הי ונ עו כי שו "
                             "על לא וע וד ון בו טי הא עי יד יב וב תו מר הש דו חי נה סי ין";

typedef struct candidate {
    const char *charset, *letters, *pairs;
} candidate;

static const candidate candidates[] = {
    {"windows-1251", windows_1251, russian},
    {"windows-1251", windows_1251, ukrainian},
    {"windows-1251", windows_1251, bulgarian},
    {"koi8-r", koi8, russian},
    {"koi8-r", koi8, ukrainian},
    {"windows-1253", windows_1253, greek},
    {"windows-1255", windows_1255, hebrew},
};

typedef struct tables {
    uint16_t letter[256];      /* 0: none */
    uint8_t common[65536 / 8]; /* pairs of bytes, a bit each */
} tables;

static void read_letters(tables *t, const char *letters) {
    size_t n = strlen(letters);
    for (int byte = 0x80; byte < 256; byte++) {
        int32_t cp;
        size_t k = fo_utf8_decode(letters, n, &cp);
        letters += k;
        n -= k;
        t->letter[byte] = cp == '.' ? 0 : (uint16_t)cp;
    }
}

/* Both in any case: several bytes may be one letter. */
static void add_pair(tables *t, int32_t first, int32_t second) {
    for (unsigned a = 0x80; a < 256; a++)
        for (unsigned b = 0x80; t->letter[a] == first && b < 256; b++)
            if (t->letter[b] == second) t->common[(a << 8 | b) / 8] |= (uint8_t)(1 << (b & 7));
}

static void make_tables(tables *t, const candidate *c) {
    *t = (tables){0};
    read_letters(t, c->letters);
    size_t n = strlen(c->pairs);
    for (const char *s = c->pairs, *end = s + n; s < end; s++) { /* and a blank */
        int32_t first, second;
        s += fo_utf8_decode(s, (size_t)(end - s), &first);
        s += fo_utf8_decode(s, (size_t)(end - s), &second);
        add_pair(t, first, second);
    }
}

/* ---- the text ------------------------------------------------------------------------------------- */

static bool is_ascii_letter(unsigned char c) {
    return (c | 32) >= 'a' && (c | 32) <= 'z';
}

/* Letters from 0xC0 on; where a quarter stand beside ASCII letters, the text is Western: none. */
static size_t count_high(const unsigned char *b, size_t n) {
    size_t high = 0, beside = 0;
    for (size_t i = 0; i < n; i++) {
        if (b[i] < 0xC0) continue;
        high++;
        beside += (i > 0 && is_ascii_letter(b[i - 1])) || (i + 1 < n && is_ascii_letter(b[i + 1]));
    }
    return beside * 4 > high ? 0 : high;
}

/* How many of 1,000 pairs of letters are common ones; 0: it is not this. */
static size_t score(const tables *t, const unsigned char *b, size_t n, size_t high) {
    size_t pairs = 0, common = 0, odd = 0;
    bool before = false;
    for (size_t i = 0; i < n; i++) {
        bool letter = b[i] >= 0xC0 || t->letter[b[i]];
        odd += b[i] >= 0x80 && !letter;
        if (letter && before) {
            unsigned pair = (unsigned)b[i - 1] << 8 | b[i];
            pairs++;
            /* One byte again and again is a line that was drawn. */
            common += b[i] != b[i - 1] && (t->common[pair / 8] >> (pair & 7) & 1);
        }
        before = letter;
    }
    /* Characters of two bytes have many that are no letters; a text has quotes and dashes. */
    return pairs < MIN_PAIRS || odd * 6 > high ? 0 : common * 1000 / pairs;
}

/* Letters of Ukrainian, which koi8-r has lines to draw with for. */
static bool is_koi8_u(const unsigned char *b, size_t n, size_t high) {
    size_t letters = 0;
    for (size_t i = 1; i < n; i++)
        letters += (b[i - 1] >= 0xC0 || (i + 1 < n && b[i + 1] >= 0xC0)) &&
                   (b[i] == 0xA4 || b[i] == 0xA6 || b[i] == 0xA7 || b[i] == 0xAD);
    return letters * 200 > high;
}

const char *charset_guess(const unsigned char *b, size_t n) {
    while (n && *b < 0x80) b++, n--;
    if (n > SAMPLE_BYTES) n = SAMPLE_BYTES;
    size_t high = count_high(b, n), best = 0, next = 0;
    if (high < MIN_LETTERS) return NULL;
    const candidate *found = NULL;
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++) {
        const candidate *c = &candidates[i];
        tables t;
        make_tables(&t, c);
        size_t s = score(&t, b, n, high);
        bool same = found && found->letters == c->letters;
        if (s > best) {
            if (!same) next = best;
            best = s;
            found = c;
        } else if (!same && s > next) {
            next = s;
        }
    }
    bool clear = best * 100 >= LEAST_PERCENT * 1000 && best * 100 >= next * CLEAR_PERCENT;
    if (!clear) return NULL;
    return found->letters == koi8 && is_koi8_u(b, n, high) ? "koi8-u" : found->charset;
}
