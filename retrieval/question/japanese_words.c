#include "retrieval/question/japanese_words.h"

#include <string.h>

#include "index/sparse/language.h"
#include "kernels/utf8.h"
#include "kernels/words.h"
#include "retrieval/question/question.h"

enum { CHARACTER = 3 }; /* bytes of a kana or a common kanji in UTF-8 */

/* What stands in one string may stand for each other. A phrase is found anywhere in a text, so none is here that other words are
 * made with. Words that only differ in their endings, or that have a character in common, meet by that. */
/* clang-format off */
static const char *const groups[] = {
    /* verb and noun */
    "吐い 吐く 吐き 吐け 嘔吐", "辞め 退会", "辞め 退職", "漏れ 漏水", "熱が下が 熱が引 解熱", "見に行 見に来 見学",
    "忘れ物 置き忘れ 置いてき 置いて来 忘れてき 忘れて来 落とし物 遺失物", "前もって買 前売", "薬を飲 服薬 与薬 投薬",
    "借り 貸出 貸し出 貸出し レンタル", "払い 払う 払え 払っ 払わ 納入 納付 納め", "払い戻 払戻 返金", "返す 返し 返せ 返さ 返却 返還", "休む 休ん 休め 休ま 休み 欠席 欠勤",
    "休み 休館 休業 定休 休園 休診", "遅れ 遅刻 延滞 遅延", "捨て 廃棄", "捨て方 出し方", "買う 買い 買え 買っ 買わ 購入", "壊れ 故障 破損", "壊し 破損",
    "直す 直し 直せ 直ら 修理 修繕", "なくし 無くし 失くし 紛失", "始め 始ま 開始", "終わ 終了", "泊ま 泊り 宿泊", "使う 使え 使っ 使い 使わ 利用",
    "知らせ 連絡 伝え", "変え 変更", "引っ越 引越 転居", "掃除 清掃", "食べ 食べ物 食事 飲食", "住んで 居住 在住", "働 勤務", "申し込 申込 応募",
    "車を停め 車を止め 車をとめ 駐車", "取り消 取消 取りやめ キャンセル 解約", "頼 依頼 注文",
    /* everyday words */
    "タバコ たばこ 煙草 喫煙 禁煙", "ベランダ バルコニー", "ゴミ ごみ 廃棄物", "お昼 昼食 昼ご飯 昼ごはん ランチ", "朝ご飯 朝ごはん 朝食",
    "夕飯 夕食 晩ご飯 晩ごはん 夕ご飯", "夜中 夜間 深夜", "跡 あとが残 あとが付 あとがつ", "子ども 子供 こども お子さん お子様 児童",
    "先生 講師 教師 教員", "医者 医師", "お母さん 母親 ママ", "お父さん 父親 パパ", "おばあちゃん おばあさん 祖母", "おじいちゃん おじいさん 祖父",
    "クルマ くるま 自動車", "トイレ お手洗い 便所 化粧室", "携帯電話 携帯 スマホ スマートフォン", "給料 給与 賃金", "ボーナス 賞与", "有休 有給",
    "残業 時間外", "大人 成人", "値段 価格 代金", "問い合わせ 問合せ 問合わせ", "ホテル代 宿泊費 宿泊料", "赤ちゃん 乳児 赤ん坊", "お年寄り 高齢者",
    "けが ケガ 怪我 負傷", "風邪 かぜ", "クーラー エアコン 冷房", "締め切り 締切 期限", "名前 氏名", "住所 所在地", "夏休み 夏季休業 夏期休業 夏季休暇 夏期休暇",
    "お正月 年末年始", "靴 シューズ", "洋服 衣類 衣服", "値引き 割引", "タダ 無料", "飲み物 ドリンク 飲料", "犬 イヌ ワンちゃん わんちゃん", "猫 ネコ ねこ",
    "許可 承認", "入場券 入場料 チケット", "料金 費用", "部屋 客室", 
};

/* The characters that the end of a verb with one stem begins with: "飲む", "飲み", "飲んで", "飲める". */
static const char *const verb_ends[] = {
    "か き く け こ い", "が ぎ ぐ げ ご い", "さ し す せ そ", "た ち つ て と っ", "ば び ぶ べ ぼ ん", "ま み む め も ん",
    "ら り る れ ろ っ", "わ い う え お っ",
};
/* clang-format on */

/* ---- scripts ----------------------------------------------------------------------------- */

typedef enum script { NO_KANA, HIRAGANA, KATAKANA, KANJI } script;

static script script_at(const char *text, size_t len, size_t at) {
    int32_t cp = -1;
    if (at >= len) return NO_KANA;
    fo_utf8_decode(text + at, len - at, &cp);
    if (cp >= 0x3041 && cp <= 0x309F) return HIRAGANA;
    if (cp >= 0x30A1 && cp <= 0x30FF && cp != 0x30FB)
        return KATAKANA; /* not the dot between words */
    return cp == 0x3005 || (cp >= 0x3400 && cp <= 0x9FFF) ? KANJI : NO_KANA;
}

static script script_before(const char *text, size_t at) {
    return at >= CHARACTER && fo_utf8_boundary(text[at - CHARACTER])
               ? script_at(text, at, at - CHARACTER)
               : NO_KANA;
}

static bool is_one_of(const char *list, const char *text, size_t len, size_t at) {
    return at + CHARACTER <= len && fo_words_have(list, text + at, CHARACTER);
}

/* ---- what is no word --------------------------------------------------------------------- */

/* Is the character in Hiragana at `at`, behind a word, a particle and not the end of a verb? */
static bool is_particle(const char *text, size_t len, size_t at) {
    const size_t next = at + CHARACTER;
    if (is_one_of("は を", text, len, at)) return true;
    return is_one_of("が に で と の へ も や", text, len, at) &&
           (script_at(text, len, next) != HIRAGANA || is_one_of("は も の", text, len, next));
}

/* Two characters in Hiragana: "ごみ" may be a word, "めた" of "辞めたい" is none. */
static bool is_ending(const char *text, size_t len, size_t start) {
    const size_t second = start + CHARACTER, next = second + CHARACTER;
    const bool begins = script_before(text, start) != HIRAGANA,
               ends = script_at(text, len, next) != HIRAGANA;
    if (is_one_of("を っ", text, len, start) || is_one_of("を っ ゃ", text, len, second))
        return true;
    if (script_before(text, start) == KANJI && !is_one_of("な", text, len, second)) return true;
    return !begins && ends && is_one_of("は が に で と の へ も", text, len, second);
}

/* "何年": a number of them is demanded (demands.h), and every date says "年". */
static bool is_counter_asked(const char *text, size_t len, size_t start) {
    return start >= CHARACTER && is_one_of("何", text, len, start - CHARACTER) &&
           is_one_of("年 月 日 分 歳 円", text, len, start);
}

bool japanese_is_grammar(const char *text, size_t len, size_t start, size_t end) {
    if (is_counter_asked(text, len, start)) return true;
    const script first = script_at(text, len, start);
    if (end - start <= CHARACTER) return first == HIRAGANA || first == KATAKANA;
    const script second = script_at(text, len, start + CHARACTER);
    if (first == HIRAGANA) return second != HIRAGANA || is_ending(text, len, start);
    /* "弁当って", but "飼って" */
    const bool quotes =
        script_before(text, start) == KANJI && is_one_of("っ", text, len, start + CHARACTER);
    return second == HIRAGANA &&
           (first == KATAKANA || quotes || is_particle(text, len, start + CHARACTER));
}

/* "コートの料金", "コート料金", but not "料金", "この料金". */
static bool is_of_something(const char *text, size_t start) {
    if (start < 2 * CHARACTER) return script_before(text, start) == KANJI;
    if (is_one_of("の", text, start, start - CHARACTER))
        return !is_one_of("こ そ あ ど", text, start, start - 2 * CHARACTER);
    return script_before(text, start) == KANJI || script_before(text, start) == KATAKANA;
}

bool japanese_is_price_asked(const char *text, size_t len, size_t start, size_t end) {
    static const char *const prices[] = {"料金", "値段", "代金", "価格"};
    enum { PRICE = 2 * CHARACTER };
    if (!memmem(text, len, "いくら", 3 * CHARACTER)) return false;
    for (size_t i = 0; i < sizeof prices / sizeof *prices; i++) {
        const size_t from = start >= CHARACTER ? start - CHARACTER : 0,
                     to = end + CHARACTER < len ? end + CHARACTER : len;
        const char *at = memmem(text + from, to - from, prices[i], PRICE);
        if (at && is_of_something(text, (size_t)(at - text))) return true;
    }
    return false;
}

/* ---- phrases ----------------------------------------------------------------------------- */

/* What makes another word of the verb's stem before it: "払い戻", "買い物". */
static const char other_parts[] = "戻 物 取 捨 返 替 換 切 回 出 過 直 上 気";

/* Is the verb's stem [start, end) a part of another word: "払い" of "払い戻し", "返し" of "繰り返し" and "裏返し"? */
static bool is_part_of_verb(const char *text, size_t len, size_t start, size_t end) {
    if (script_at(text, len, start) != KANJI || script_at(text, len, end - CHARACTER) != HIRAGANA)
        return false;
    if (is_one_of(other_parts, text, len, end)) return true;
    if (is_one_of("返", text, len, start) && start >= CHARACTER &&
        is_one_of("裏 仕 見 寝", text, len, start - CHARACTER))
        return true;
    return script_before(text, start) == HIRAGANA &&
           is_one_of("き ぎ し ち び み り い", text, len, start - CHARACTER) &&
           script_before(text, start - CHARACTER) == KANJI;
}

/* Where the phrase stands in the text, from `from` on; SIZE_MAX: nowhere. */
static size_t find_phrase(const char *phrase, size_t n, const char *text, size_t len, size_t from) {
    for (const char *at; (at = memmem(text + from, len - from, phrase, n)) != NULL;) {
        const size_t start = (size_t)(at - text);
        if (!is_part_of_verb(text, len, start, start + n)) return start;
        from = start + 1;
    }
    return SIZE_MAX;
}

static void read_group(japanese_phrases *out, size_t group, const char *text, size_t len) {
    for (const char *s = groups[group]; *s && out->n < JAPANESE_PHRASES;) {
        const size_t n = strcspn(s, " ");
        const size_t at = find_phrase(s, n, text, len, 0);
        if (at != SIZE_MAX) {
            const uint32_t start = (uint32_t)at;
            out->of[out->n].group = (uint16_t)group;
            out->of[out->n].start = start;
            out->of[out->n++].end = start + (uint32_t)n;
            return;
        }
        s += n + (s[n] == ' ');
    }
}

void japanese_phrases_read(japanese_phrases *out, int language, const char *text, size_t len) {
    out->n = 0;
    for (size_t i = 0; language_is(language, "japanese") && i < sizeof groups / sizeof *groups; i++)
        read_group(out, i, text, len);
}

/* Where the phrase of the group that holds the word begins; SIZE_MAX: none does. */
static size_t phrase_over(const char *list, const fact_text *t, const fact_word *w) {
    for (const char *s = list; *s;) {
        const size_t n = strcspn(s, " ");
        for (size_t at = w->start + 1; at-- > 0 && at + n >= w->end;)
            if (at + n <= t->len && !memcmp(t->text + at, s, n) &&
                !is_part_of_verb(t->text, t->len, at, at + n))
                return at;
        s += n + (s[n] == ' ');
    }
    return SIZE_MAX;
}

/* The terms of the question's phrase, one after the other, for the words of the text's. */
static int term_of_phrase(const question *q, size_t phrase, size_t nth) {
    int terms[QUESTION_MAX_TERMS];
    size_t n = 0;
    for (size_t k = 0; k < q->text.n_words && n < QUESTION_MAX_TERMS; k++) {
        const fact_word *asked = &q->text.words[k];
        if (asked->start < q->phrases.of[phrase].start || asked->end > q->phrases.of[phrase].end)
            continue;
        const int term = question_term_of(q, asked->id);
        if (term >= 0) terms[n++] = term;
    }
    return n ? terms[nth % n] : -1;
}

static int term_by_lists(const question *q, const fact_text *t, size_t i) {
    for (size_t k = 0; k < q->phrases.n; k++) {
        const size_t from = phrase_over(groups[q->phrases.of[k].group], t, &t->words[i]);
        if (from == SIZE_MAX) continue;
        size_t nth = 0;
        while (nth < i && t->words[i - nth - 1].start >= from) nth++;
        const int term = term_of_phrase(q, k, nth);
        if (term >= 0) return term;
    }
    return -1;
}

/* ---- forms ------------------------------------------------------------------------------- */

static bool of_one_verb(const char *a, const char *b) {
    if (memcmp(a, b, CHARACTER)) return false;
    for (size_t i = 0; i < sizeof verb_ends / sizeof *verb_ends; i++)
        if (fo_words_have(verb_ends[i], a + CHARACTER, CHARACTER) &&
            fo_words_have(verb_ends[i], b + CHARACTER, CHARACTER))
            return true;
    return false;
}

static bool is_verb(const fact_text *t, const fact_word *w) {
    return w->end - w->start == 2 * CHARACTER && script_at(t->text, t->len, w->start) == KANJI &&
           script_at(t->text, t->len, w->start + CHARACTER) == HIRAGANA;
}

void japanese_verbs_read(japanese_verbs *v, const question *q) {
    _Static_assert((int)JAPANESE_MOST_VERBS == (int)QUESTION_MAX_TERMS, "one of each term");
    bool known[JAPANESE_MOST_VERBS] = {false};
    v->n = 0;
    if (!language_is(q->text.language, "japanese")) return;
    for (size_t i = 0; i < q->text.n_words && v->n < JAPANESE_MOST_VERBS; i++) {
        const int term = question_term_of(q, q->text.words[i].id);
        if (term < 0 || known[term] || !is_verb(&q->text, &q->text.words[i])) continue;
        known[term] = true;
        v->words[v->n++] = (uint32_t)i;
    }
}

static int term_by_form(const question *q, const fact_text *t, const fact_word *w) {
    if (!is_verb(t, w)) return -1;
    for (size_t k = 0; k < q->verbs.n; k++) {
        const fact_word *asked = &q->text.words[q->verbs.words[k]];
        if (of_one_verb(t->text + w->start, q->text.text + asked->start))
            return question_term_of(q, asked->id);
    }
    return -1;
}

int japanese_term_of(const question *q, const fact_text *t, size_t i) {
    if (t->language != q->text.language || !language_is(t->language, "japanese")) return -1;
    const int term = term_by_form(q, t, &t->words[i]);
    return term >= 0 ? term : term_by_lists(q, t, i);
}

/* ---- the same characters of another word -------------------------------------------------- */

/* The run of Katakana that the word is in. */
static const char *run_around(const fact_text *t, const fact_word *w, size_t *n) {
    size_t start = w->start, end = w->end;
    while (script_before(t->text, start) == KATAKANA) start -= CHARACTER;
    while (script_at(t->text, t->len, end) == KATAKANA) end += CHARACTER;
    *n = end - start;
    return t->text + start;
}

/* Is the pair in two words of which neither is a part of the other? */
static bool are_other_runs(const fact_text *t, const fact_word *w, const fact_text *u,
                           const fact_word *v) {
    size_t n, m;
    const char *own = run_around(t, w, &n), *run = run_around(u, v, &m);
    return !memmem(own, n, run, m) && !memmem(run, m, own, n);
}

/* "払い" of "払い戻し", and of "払います"? */
static bool are_other_verbs(const fact_text *t, const fact_word *w, const fact_text *u,
                            const fact_word *v) {
    const bool one = is_one_of(other_parts, t->text, t->len, w->end),
               two = is_one_of(other_parts, u->text, u->len, v->end);
    return one != two || (one && memcmp(t->text + w->end, u->text + v->end, CHARACTER) != 0);
}

bool japanese_is_other_word(const question *q, const fact_text *t, size_t i) {
    const fact_word *w = &t->words[i];
    if (w->end - w->start != 2 * CHARACTER || t->language != q->text.language ||
        !language_is(t->language, "japanese"))
        return false;
    const script first = script_at(t->text, t->len, w->start),
                 second = script_at(t->text, t->len, w->start + CHARACTER);
    const bool katakana = first == KATAKANA && second == KATAKANA;
    if (!katakana && !is_verb(t, w)) return false;
    for (size_t k = 0; k < q->text.n_words; k++) {
        const fact_word *asked = &q->text.words[k];
        if (asked->id == w->id && !(katakana ? are_other_runs(t, w, &q->text, asked)
                                             : are_other_verbs(t, w, &q->text, asked)))
            return false;
    }
    return true;
}

/* ---- parts of words ---------------------------------------------------------------------- */

static bool is_in_compound(const fact_text *t, const fact_word *w) {
    return script_before(t->text, w->start) == KANJI || script_at(t->text, t->len, w->end) == KANJI;
}

bool japanese_is_only_a_part(const question *q, const fact_text *t, size_t i) {
    const fact_word *w = &t->words[i];
    if (w->end - w->start != CHARACTER || script_at(t->text, t->len, w->start) != KANJI ||
        !is_in_compound(t, w))
        return false;
    bool any = false;
    for (size_t k = 0; k < q->text.n_words; k++) {
        const fact_word *asked = &q->text.words[k];
        if (asked->id != w->id) continue;
        if (!is_in_compound(&q->text, asked)) return false;
        any = true;
    }
    return any;
}

/* ---- who somebody is --------------------------------------------------------------------- */

/* Bytes of the run of Kanji or of Katakana at text[at]. */
static size_t name_at(const char *text, size_t len, size_t at) {
    const script first = script_at(text, len, at);
    size_t end = at;
    if (first != KANJI && first != KATAKANA) return 0;
    while (script_at(text, len, end) == first) end += CHARACTER;
    return end - at;
}

bool japanese_names_who_is(const char *text, size_t len) {
    enum { SHORTEST = 3 * CHARACTER, LONGEST = 6 * CHARACTER };
    for (size_t i = 0; i + 2 * CHARACTER < len; i++) {
        if (!fo_utf8_boundary(text[i]) || !is_one_of("長 師 生 者 員 任 係 人", text, len, i) ||
            !is_one_of("は が ： 　", text, len, i + CHARACTER))
            continue;
        const size_t name = i + 2 * CHARACTER, n = name_at(text, len, name);
        if (n >= SHORTEST && n <= LONGEST &&
            (name + n >= len || text[name + n] == '\n' ||
             is_one_of("で 。 、 が さ （", text, len, name + n)))
            return true;
    }
    return false;
}

/* Is the pair in a word for whoever it is: "先生", "責任者"? */
static bool says_who(const char *text, size_t len, const fact_word *w) {
    static const char *const words[] = {"先生", "責任者", "代表者", "担当者", "代表", "担当"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t n = strlen(words[i]), from = w->end >= n ? w->end - n : 0,
                     to = w->start + n < len ? w->start + n : len;
        if (memmem(text + from, to - from, words[i], n)) return true;
    }
    return false;
}

bool japanese_loses_a_noun(const question *q, uint64_t said) {
    const fact_text *t = &q->text;
    for (size_t i = 0; i < t->n_words; i++) {
        const fact_word *w = &t->words[i];
        const int k = question_term_of(q, w->id);
        const script first = script_at(t->text, t->len, w->start);
        if (k < 0 || said & 1ull << k || w->end - w->start != 2 * CHARACTER ||
            (first != KANJI && first != KATAKANA) ||
            script_at(t->text, t->len, w->start + CHARACTER) != first)
            continue;
        if (q->kind != ASK_PERSON || !says_who(t->text, t->len, w)) return true;
    }
    return false;
}
