#include "retrieval/question/hindi_demands.h"

#include <string.h>

#include "index/sparse/language.h"
#include "kernels/utf8.h"
#include "kernels/words.h"
#include "retrieval/question/hindi_tokens.h"

enum { MOST = 64 }; /* words of a question that are looked at */

/* clang-format off */
/* of questions */
static const char
    much[] = "कितना कितने कितनी कितनों", be[] = "है हैं हो था थी थे होगा होगी होंगे होंगी होता होती होते रहेगा रहेगी रहेंगे "
    "हुआ हुई हुए बताइए बताएं बताओ",
    hours_asked[] = "बजे", whens[] = "दिन तारीख तिथि समय वक्त महीने माह साल वर्ष",
    pays[] = "देना देने देनी भरना भरने चुकाना चुकाने पड़ेगा पड़ेगी", which[] = "किस कौनसा कौनसे कौनसी", of[] = "का की के में",
    particles[] = "सा सी से", phones[] = "फोन मोबाइल टेलीफोन दूरभाष हेल्पलाइन व्हाट्सएप व्हाट्सऐप संपर्क", numbers[] = "नंबर",
    mails[] = "ईमेल मेल", webs[] = "वेबसाइट", calls[] = "फोन कॉल",
    no_nouns[] = "एक ही भी तक से बार कम ज्यादा अधिक बड़ा बड़ी बड़े दूर";
/* what there is an amount of, or what it is in */
static const char
    currencies[] = "रु रू रुपए रुपये रुपया रुपयों पैसे पैसा पैसों rs inr",
    sums[] = "शुल्क फीस किराया किराए किराये भाड़ा कीमत कीमतें दाम मूल्य लागत खर्च खर्चा चार्ज जुर्माना जुर्माने फाइन दंड अर्थदंड वेतन सैलरी "
    "तनख्वाह पगार भत्ता मानदेय टैक्स डिपॉजिट चंदा पेंशन रकम धनराशि",
    spans[] = "साल सालों वर्ष वर्षों महीना महीने महीनों माह दिन दिनों हफ्ता हफ्ते हफ्तों सप्ताह घंटा घंटे घंटों मिनट मिनटों सेकंड समय देर वक्त अवधि",
    weights[] = "किलो किलोग्राम किग्रा ग्राम टन क्विंटल", heavy[] = "वजन भार", warm[] = "डिग्री तापमान",
    units_of_way[] = "मीटर किलोमीटर किमी सेमी मिमी सेंटीमीटर फुट फीट इंच मील km m cm mm", ways[] = "दूरी चौड़ाई ऊंचाई गहराई मोटाई लंबाई चौड़ा चौड़ी "
    "ऊंचा ऊंची गहरा गहरी", shares[] = "प्रतिशत फीसदी परसेंट",
    others[] = "छूट रियायत ब्याज दर बोनस उम्र आयु क्षमता संख्या स्पीड गति रफ्तार राशि लोग लोगों व्यक्ति व्यक्तियों बच्चे "
    "बच्चों छात्र विद्यार्थी सदस्य मेहमान यात्री कर्मचारी चीजें प्रकार तरह जगह जगहें हिस्से टुकड़े लीटर यूनिट अंक नग";
/* of texts */
static const char
    numerals[] = "दो तीन चार पांच छह छः सात आठ नौ दस ग्यारह बारह तेरह चौदह पंद्रह सोलह सत्रह अठारह उन्नीस बीस पच्चीस तीस चालीस पचास साठ "
    "सत्तर अस्सी नब्बे सौ हजार लाख करोड़ आधा आधी आधे डेढ़ ढाई दोगुना दुगुना तिगुना एक", parts[] = "आधा आधी आधे दोगुना दुगुना तिगुना गुना",
    free_of[] = "निःशुल्क निशुल्क मुफ्त फ्री", times[] = "बजे सुबह सवेरे दोपहर शाम सायं रात रात्रि प्रातः आधी", dated[] = "जनवरी फरवरी मार्च अप्रैल मई "
    "जून जुलाई अगस्त सितंबर सितम्बर अक्टूबर अक्तूबर नवंबर नवम्बर दिसंबर दिसम्बर सोमवार मंगलवार बुधवार गुरुवार गुरूवार बृहस्पतिवार वीरवार "
    "शुक्रवार शनिवार रविवार इतवार सोम मंगल बुध गुरु शुक्र शनि रवि दिवाली दीपावली होली सर्दियों गर्मियों सर्दी गर्मी रोज रोजाना प्रतिदिन प्रति हर "
    "प्रत्येक मासिक वार्षिक साप्ताहिक तारीख तिथि बाद पहले पूर्व तुरंत हमेशा कभी जब आज कल परसों अंत अंतिम शुरू आजीवन स्थायी",
    colours[] = "लाल पीला पीली पीले हरा हरी हरे नीला नीली नीले काला काली काले सफेद गुलाबी नारंगी भूरा भूरी भूरे बैंगनी स्लेटी ग्रे सुनहरा सुनहरी "
    "चांदी केसरिया मैरून खाकी आसमानी क्रीम रंगीन बेज", labels[] = "नं नंबर क्रमांक संख्या फ्लैट कमरा धारा पृष्ठ गेट वार्ड मार्ग", ends[] = "है हैं था थे होंगे होगी तक और";
/* clang-format on */

static const char mobile[] = "मोबाइल", speed[] = "स्पीड", speeds[] = "स्पीड गति रफ्तार",
                  speed_units[] = "mbps kbps gbps kmph rpm एमबीपीएस तेज धीमी धीमा";

bool hindi_demands_known(int language) {
    return language_is(language, "hindi");
}

/* ---- the question ------------------------------------------------------------------------ */

typedef struct asked {
    hindi_token v[MOST];
    size_t n;
} asked;

static bool is(const asked *a, size_t i, const char *list) {
    return i < a->n && hindi_token_in(list, &a->v[i]);
}

static bool any(const asked *a, const char *list) {
    for (size_t i = 0; i < a->n; i++)
        if (is(a, i, list)) return true;
    return false;
}

/* What there is of a noun beside "कितना" or before "क्या". */
static enum demand_amount of_noun(const asked *a, size_t i) {
    if (is(a, i, sums) || is(a, i, currencies)) return AMOUNT_MONEY;
    if (is(a, i, shares)) return AMOUNT_SHARE;
    if (is(a, i, spans)) return AMOUNT_LONG;
    if (is(a, i, weights) || is(a, i, heavy)) return AMOUNT_WEIGHT;
    if (is(a, i, warm)) return AMOUNT_TEMPERATURE;
    if (is(a, i, units_of_way) || is(a, i, ways)) return AMOUNT_LENGTH;
    return is(a, i, others) ? AMOUNT_ANY : AMOUNT_NONE;
}

/* Does the word end as verbs do, or as what there is much and not many of? */
static bool is_verb_or_mass(const asked *a, size_t i) {
    static const char verbs[] = "ना ने नी ता ती ते गा गी गे";
    const char *word = a->v[i].s;
    const bool many = !strcmp(a->v[i - 1].s, "कितने") || hindi_word_ends("ें ियां यां एं", word);
    return !many || hindi_word_ends(verbs, word);
}

/* "कितने कोर्ट हैं": how many, and of what. */
static enum demand_amount of_much(const asked *a, size_t i, foreign_demands *out) {
    const enum demand_amount behind = of_noun(a, i + 1);
    if (behind != AMOUNT_NONE) return behind;
    const bool is_end = i + 1 >= a->n || is(a, i + 1, be);
    const enum demand_amount before = i > 0 && is_end ? of_noun(a, i - 1) : AMOUNT_NONE;
    if (before != AMOUNT_NONE) return before;
    if (is(a, i + 1, of) || is(a, i + 1, pays))
        return AMOUNT_MONEY; /* "कितने में", "कितना देना होगा" */
    if (is_end || !a->v[i + 1].letters || is(a, i + 1, no_nouns) || is_verb_or_mass(a, i + 1))
        return AMOUNT_ANY;
    memcpy(out->noun, a->v[i + 1].s, sizeof out->noun);
    out->counted = a->v[i + 1].start;
    return AMOUNT_COUNT;
}

/* "Xका फोन नंबर क्या है?", "का नंबर?" */
static bool asks_number(const asked *a, size_t i) {
    return is(a, i, numbers) && any(a, phones) && (i + 1 >= a->n || is(a, i + 1, "क्या"));
}

static enum demand_detail detail_at(const asked *a, size_t i) {
    if (is(a, i, much) && is(a, i + 1, hours_asked)) return DETAIL_CLOCK;
    if (is(a, i, "कब")) return DETAIL_WHEN;
    const size_t noun = is(a, i, which)                              ? i + 1
                        : is(a, i, "कौन") && is(a, i + 1, particles) ? i + 2
                                                                     : a->n;
    if (is(a, noun, whens)) return DETAIL_WHEN;
    if (is(a, noun, "रंग")) return DETAIL_COLOUR;
    if (asks_number(a, i)) return DETAIL_PHONE;
    if ((is(a, i, "कहां") || is(a, i + 1, numbers)) && is(a, i + 1, calls)) return DETAIL_PHONE;
    if (!is(a, i, "क्या") || i == 0 || (i + 1 < a->n && !is(a, i + 1, be))) return DETAIL_NONE;
    if (is(a, i - 1, "रंग")) return DETAIL_COLOUR;
    if (is(a, i - 1, mails)) return DETAIL_MAIL;
    if (is(a, i - 1, webs)) return DETAIL_WEB;
    return is(a, i - 1, "समय तारीख तिथि") ? DETAIL_WHEN : DETAIL_NONE;
}

static enum demand_amount amount_at(const asked *a, size_t i, foreign_demands *out) {
    if (is(a, i, much)) return of_much(a, i, out);
    const bool what = is(a, i, "क्या") && i > 0 && (i + 1 >= a->n || is(a, i + 1, be));
    return what && !is(a, i - 1, currencies) ? of_noun(a, i - 1) : AMOUNT_NONE;
}

/* "4 BHK": a number and the Latin letters of what it tells apart, "4 bhk" in out; no unit. */
static void read_kind(const asked *a, char out[DEMAND_WORD_MOST]) {
    for (size_t i = 0; i + 1 < a->n; i++) {
        const hindi_token *number = &a->v[i], *kind = &a->v[i + 1];
        const size_t n = strlen(number->s), k = strlen(kind->s);
        if (!number->digits || !fo_is_letter(kind->s[0]) || n + k + 2 > DEMAND_WORD_MOST) continue;
        if (is(a, i + 1, currencies) || is(a, i + 1, units_of_way) || is(a, i + 1, speed_units))
            continue;
        memcpy(out, number->s, n);
        out[n] = ' ';
        memcpy(out + n + 1, kind->s, k + 1);
        return;
    }
}

/* What tells more of the amount or the detail than its kind. */
static void mark(const asked *a, foreign_demands *out) {
    if (out->detail == DETAIL_PHONE && any(a, mobile)) memcpy(out->noun, mobile, sizeof mobile);
    if (out->amount == AMOUNT_ANY && any(a, speeds)) memcpy(out->noun, speed, sizeof speed);
    if (out->amount == AMOUNT_MONEY) read_kind(a, out->noun);
}

foreign_demands hindi_demands_read(const char *question, size_t len) {
    foreign_demands out = {0};
    asked a = {0};
    for (size_t at = 0; a.n < MOST && hindi_token_next(&a.v[a.n], question, len, &at);)
        if (a.v[a.n].letters || a.v[a.n].digits) a.n++;
    for (size_t i = 0; i < a.n; i++) {
        out.detail = detail_at(&a, i);
        if (out.detail == DETAIL_NONE) out.amount = amount_at(&a, i, &out);
        if (out.detail != DETAIL_NONE || out.amount != AMOUNT_NONE) break;
    }
    mark(&a, &out);
    return out;
}

/* ---- texts ------------------------------------------------------------------------------- */

typedef struct reader_at {
    const char *text;
    size_t len, at; /* behind the token `next` */
    hindi_token before, now, next;
    bool begun;
} reader_at;

/* Stops of short forms, "रु. 500", are left out. */
static void read_next(reader_at *r) {
    do hindi_token_next(&r->next, r->text, r->len, &r->at);
    while (r->next.n && !strcmp(r->next.s, "."));
}

static bool step(reader_at *r) {
    if (!r->begun) read_next(r);
    r->begun = true;
    r->before = r->now;
    r->now = r->next;
    read_next(r);
    return r->now.n > 0;
}

static bool in(const char *list, const hindi_token *t) {
    return hindi_token_in(list, t);
}

static bool is_number(const hindi_token *t) {
    return t->digits || in(numerals, t);
}

static bool is_rupee(const hindi_token *t) {
    return !strcmp(t->s, "₹") || !strcmp(t->s, "$") || !strcmp(t->s, "€") || in(currencies, t);
}

static bool is_share(const reader_at *r) {
    return is_number(&r->before) && (!strcmp(r->now.s, "%") || in(shares, &r->now));
}

static bool is_clock(const reader_at *r) {
    return r->now.digits && !strcmp(r->next.s, ":");
}

/* "2026" */
static bool is_year(const hindi_token *t) {
    return t->digits && t->n == 4 && strlen(t->s) == 4 &&
           (!strncmp(t->s, "19", 2) || !strncmp(t->s, "20", 2));
}

/* "1. शुल्क": the number of a section or an item. */
static bool is_section(const reader_at *r) {
    const size_t behind = r->now.start + r->now.n;
    return r->now.digits && (!r->before.n || !strcmp(r->before.s, "#")) && behind < r->len &&
           (r->text[behind] == '.' || r->text[behind] == ')');
}

/* A number that is no time, measure, share or label: what is behind it is counted, or paid. */
static bool is_bare(const reader_at *r) {
    static const char *const units[] = {spans, weights, units_of_way, warm, shares, times, dated};
    if (is_year(&r->now) || is_section(r)) return false;
    if (!is_number(&r->now) || in(labels, &r->before) || is_clock(r) || !strcmp(r->before.s, ":"))
        return is_number(&r->now) && !strcmp(r->before.s, ":") && !r->next.letters;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (in(units[i], &r->next)) return false;
    return strcmp(r->next.s, "%") != 0;
}

/* Does it speak of such things, but of no one of that number: of "2 BHK" and "3 BHK" alone? */
static bool is_of_other_kinds(reader_at r, const char *kind) {
    const size_t n = strcspn(kind, " ");
    bool other = false;
    while (kind[n] && step(&r)) {
        if (!r.before.digits || strcmp(r.now.s, kind + n + 1) != 0) continue;
        if (!strncmp(r.before.s, kind, n) && !r.before.s[n]) return false;
        other = true;
    }
    return other;
}

static enum amount_stated money_in(reader_at r) {
    bool pay = false, bare = false, share = false, off = false; /* off: the share is taken off */
    while (step(&r)) {
        if (is_rupee(&r.now) && (is_number(&r.before) || is_number(&r.next))) return AMOUNT_STATED;
        if (in(free_of, &r.now)) return AMOUNT_STATED;
        pay |= in(sums, &r.now) || in(pays, &r.now);
        bare |= is_bare(&r) && r.now.digits;
        share |= is_share(&r) || in(parts, &r.now);
        off |= in("छूट रियायत डिस्काउंट ब्याज", &r.now);
    }
    if (pay && (bare || (share && !off))) return AMOUNT_STATED;
    return bare ? AMOUNT_PERHAPS : AMOUNT_NOT_STATED;
}

/* "4 कोर्ट", "कोर्ट: 4", "कुल 4 हैं" */
static bool counts(const reader_at *r, const char *noun) {
    if (!is_bare(r) || is_rupee(&r->before) || is_rupee(&r->next)) return false;
    if (!r->next.letters || in(ends, &r->next)) return r->now.digits;
    reader_at further = *r;
    for (int i = 0; i < 3 && step(&further); i++)
        if (further.now.letters && hindi_word_alike(noun, further.now.s)) return true;
    return false;
}

/* "100 Mbps", "40 किमी प्रति घंटा" */
static bool is_speed(const reader_at *r) {
    return in(speed_units, &r->now) ||
           (in(units_of_way, &r->before) && (in("प्रति", &r->now) || !strcmp(r->now.s, "/")));
}

static bool states(const reader_at *r, enum demand_amount amount, const char *noun) {
    const bool behind_number = is_number(&r->before);
    switch (amount) {
    case AMOUNT_SHARE:
        return is_share(r) || in(parts, &r->now);
    case AMOUNT_WEIGHT:
        return behind_number && in(weights, &r->now);
    case AMOUNT_TEMPERATURE:
        return behind_number && (!strcmp(r->now.s, "°") || in(warm, &r->now));
    case AMOUNT_LENGTH:
        return behind_number && in(units_of_way, &r->now);
    case AMOUNT_LONG:
        return in(spans, &r->now) || in(times, &r->now) || in(dated, &r->now) || is_clock(r);
    case AMOUNT_COUNT:
        return counts(r, noun);
    default:
        if (noun[0]) return is_speed(r);
        if (is_section(r)) return false;
        return is_number(&r->now) && !in("एक", &r->now) && !in(labels, &r->before);
    }
}

enum amount_stated hindi_amount_in(enum demand_amount amount, const char *noun, const char *text,
                                   size_t len) {
    reader_at r = {.text = text, .len = len};
    if (amount == AMOUNT_NONE) return AMOUNT_STATED;
    if (amount == AMOUNT_MONEY || amount == AMOUNT_EXPENSE)
        return is_of_other_kinds(r, noun) ? AMOUNT_NOT_STATED : money_in(r);
    while (step(&r))
        if (states(&r, amount, noun)) return AMOUNT_STATED;
    return AMOUNT_NOT_STATED;
}

static bool has_any(reader_at r, const char *list, bool number) {
    while (step(&r))
        if (in(list, &r.now) || (number && r.now.digits)) return true;
    return false;
}

bool hindi_amount_column_in(enum demand_amount amount, const char *text, size_t len) {
    const reader_at r = {.text = text, .len = len};
    switch (amount) {
    case AMOUNT_WEIGHT:
        return has_any(r, weights, false) || has_any(r, heavy, false);
    case AMOUNT_TEMPERATURE:
        return has_any(r, warm, false);
    case AMOUNT_LENGTH:
        return has_any(r, units_of_way, false) || has_any(r, ways, false);
    case AMOUNT_SHARE:
        return has_any(r, shares, false);
    default:
        return true;
    }
}

/* "1800-000-417", "98765 43210", "इंटरकॉम 101", which is no mobile telephone */
static bool has_telephone(reader_at r, bool of_mobile) {
    enum { LEAST = 5, LEAST_OF_MOBILE = 10 };
    size_t digits = 0;
    while (step(&r)) {
        if (r.now.digits)
            digits += strlen(r.now.s);
        else if (strcmp(r.now.s, "-") != 0)
            digits = 0;
        if (digits >= (size_t)(of_mobile ? LEAST_OF_MOBILE : LEAST)) return true;
        if (!of_mobile && r.now.digits && in("इंटरकॉम एक्सटेंशन हेल्पलाइन फोन नंबर डायल", &r.before))
            return true;
    }
    return false;
}

static bool has_clock(reader_at r) {
    while (step(&r))
        if (in(times, &r.now) || is_clock(&r)) return true;
    return false;
}

bool hindi_detail_in(enum demand_detail detail, const char *noun, const char *text, size_t len) {
    const reader_at r = {.text = text, .len = len};
    switch (detail) {
    case DETAIL_CLOCK:
        return has_clock(r);
    case DETAIL_WHEN:
        return has_any(r, dated, true) || has_any(r, times, false) || has_any(r, spans, false);
    case DETAIL_COLOUR:
        return has_any(r, colours, false);
    case DETAIL_PHONE:
        return has_telephone(r, noun[0] != 0);
    default: /* the same signs in all languages */
        return demand_detail_in(detail, text, len);
    }
}
