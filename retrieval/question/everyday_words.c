#include "retrieval/question/everyday_words.h"

#include <pthread.h>
#include <string.h>

#include "index/sparse/language.h"
#include "kernels/words.h"
#include "retrieval/text/word_table.h"

/* Words of one string are the same: in Russian as Snowball stems them, one of a stem; in Chinese a character or a pair. */
/* clang-format off */
static const char *const russian[] = {
    /* forms: the pair of a verb, and what is made of it */
    "плат заплат оплат уплат оплачива оплачен", "вернут возвраща возврат", "взят берут возьмут", "закр закрыва закрыт",
    "откр открыва открыт", "выда выдава выдач", "включ включа", "выключ выключа отключ отключа", "чист почист прочист очист чистк",
    "мыт помыт мойк", "запрет запрещ запреща", "разреш разреша", "отмен отменя отм", "выброс выбрасыва выкинут", "звон позвон",
    "потеря потер утеря утер", "слома поломк", "нача начина", "закончит заканчива окончан", "записа записыва запиш зап",
    "продл продлева продлен", "забра забира", "куп покупа покупк приобрест приобрета", "человек люд",
    /* everyday words */
    "ребенок ребенк дет малыш", "машин автомобил", "садик сад", "книг книжк", "посудомойк посудомоечн", "стиралк стиральн",
    "двигател мотор", "собак пес", "кот кошк кошек", "врач доктор", "мусор отход", "зим зимн", "ламп лампочк", "сын сынишк",
    "пап отец отц",
    /* days of the week in short */
    "понедельник пн", "вторник вт", "сред ср", "четверг чт", "пятниц пт", "суббот сб", "воскресен вс",
};
static const char *const chinese[] = {
    "狗 犬", "丢 遗失 丢失 遺失 弄丢", "扔 投放 丢弃", "超期 逾期 过期", "冬天 冬季", "夏天 夏季", "春天 春季", "秋天 秋季", "晚上 夜间 夜里 夜晚 夜間",
    "老师 教师 老師 教師", "孩子 儿童 小孩 孩童 兒童 娃", "取消 退订 退掉", "单车 自行车", "厕所 洗手间 卫生间", "工资 薪水 薪资 薪金",
    "修理 维修", "缴纳 交纳 缴费 交费", "医生 大夫", "坏 损坏 故障", "星期 礼拜 禮拜", "垃圾 废物", "早上 早晨 清晨", "价钱 价格", "罚钱 罚款",
    "周一 期一 拜一", "周二 期二 拜二", "周三 期三 拜三", "周四 期四 拜四", "周五 期五 拜五", "周六 期六 拜六", "周日 期日 期天 拜天 周天", /* 星期 */
    "退钱 退款", "花钱 收费", "关门 闭馆", "小狗 犬只",
};
/* clang-format on */

static word_table table; /* immutable once it is built */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void add(const char *language, const char *const *groups, size_t n) {
    for (size_t i = 0; i < n; i++)
        word_table_add_first(&table, language_number(language), groups[i], (uint32_t)i + 1);
}

static void build(void) {
    add("russian", russian, sizeof russian / sizeof *russian);
    add("chinese", chinese, sizeof chinese / sizeof *chinese);
}

/* ---- forms of Russian -------------------------------------------------------------------- */

enum { LETTER = 2, LEAST = 3 * LETTER }; /* bytes of a letter, and of a stem */

static bool is_one_of(const char *list, const char *letter) {
    return fo_words_have(list, letter, LETTER);
}

/* "игрушек" and "игрушк", "окон" and "окн": the vowel before the last consonant comes and goes. Not before
 * every consonant: "город" is no "горд". */
static bool same_stem(const char *a, size_t n, const char *b, size_t m) {
    if (n < m) return same_stem(b, m, a, n);
    if (m < LEAST || n % LETTER || m % LETTER || n > m + LETTER) return false;
    const char *last = a + n - LETTER, *vowel = last - LETTER, *end = b + m - LETTER;
    if (memcmp(last, end, LETTER) || memcmp(a, b, n - 2 * LETTER)) return false;
    if (n == m) /* "копеек", "копейк" */
        return (is_one_of("е", vowel) && is_one_of("ь й", end - LETTER)) ||
               (is_one_of("ь й", vowel) && is_one_of("е", end - LETTER));
    return is_one_of("к ц н л", last) && is_one_of("о е", vowel) &&
           !is_one_of("а е и о у ы э ю я", vowel - LETTER);
}

/* ---- the whole --------------------------------------------------------------------------- */

/* As the lists have it. */
static const char *word_of(const fact_text *t, const fact_word *w, bool stems, size_t *n) {
    *n = stems ? w->stem_len : w->end - w->start;
    return stems ? t->stems.data + w->stem_at : t->text + w->start;
}

int everyday_words_term_of(const question *q, const fact_text *t, size_t i) {
    const int language = t->language;
    const bool stems = language >= 0 && language == language_number("russian");
    if (!stems && (language < 0 || language != language_number("chinese"))) return -1;
    const fact_word *w = &t->words[i];
    if (language != q->text.language || (w->flags & (WORD_STOP | WORD_DIGIT))) return -1;
    pthread_once(&once, build);
    size_t n, m;
    const char *word = word_of(t, w, stems, &n);
    const uint32_t group = word_table_find(&table, language, word, n);
    if (!group && !stems) return -1;
    for (size_t k = 0; k < q->text.n_words; k++) {
        const fact_word *asked = &q->text.words[k];
        const int term = question_term_of(q, asked->id);
        if (term < 0) continue;
        const char *other = word_of(&q->text, asked, stems, &m);
        if ((group && word_table_find(&table, language, other, m) == group) ||
            (stems && same_stem(word, n, other, m)))
            return term;
    }
    return -1;
}
