/* unspaced_demands.c through demands.h: what a question in Chinese or Japanese demands, and which texts of that language state
 * it. */
#include "tests/test.h"

#include <string.h>

#include "index/sparse/language.h"
#include "retrieval/question/demands.h"

static demands asked(const char *language, const char *question) {
    const int number = language_number(language);
    assert_true(number >= 0);
    return demands_read(question, strlen(question), number);
}

static void an_amount_is_demanded_and_stated(void **state) {
    (void)state;
    static const struct {
        const char *language, *question;
        enum demand_amount amount;
        const char *states, *lacks;
    } cases[] = {
        {"chinese", "加床一晚多少钱？", AMOUNT_MONEY, "加床每晚 90 元", "6 岁以上须加床"},
        {"chinese", "比赛报名费是多少？", AMOUNT_MONEY, "报名费：￥60", "秘书长受理报名，分机 230"},
        {"chinese", "怎么收费？", AMOUNT_MONEY, "每次五十元", "8:30 开门"},
        {"chinese", "月租多少？", AMOUNT_MONEY, "老人免费", "共有 220 个车位"},
        {"chinese", "场馆有几个淋浴间？", AMOUNT_COUNT, "设有两间淋浴室",
         "淋浴间在 2 号楼，8:00 开放"},
        {"chinese", "每户可以养几只狗？", AMOUNT_COUNT, "最多饲养两只", "每次收费 30 元"},
        {"chinese", "有多少人参加？", AMOUNT_COUNT, "限 25 人", "于 6 月 20 日举行"},
        {"chinese", "保修期是几年？", AMOUNT_LONG, "保修 6 年", "凭发票保修"},
        {"chinese", "滤网多久清洗一次？", AMOUNT_LONG, "每周取出冲洗", "清洗滤网"},
        {"chinese", "泳池多深？", AMOUNT_LENGTH, "水深 1.8 米", "注意水深"},
        {"chinese", "行李不能超过多少公斤？", AMOUNT_WEIGHT, "不超过 20 公斤", "限带两件"},
        {"chinese", "运行时多少分贝？", AMOUNT_LOUDNESS, "噪声 44 dB", "功率 1900 瓦"},
        {"chinese", "额定功率是多少瓦？", AMOUNT_ANY, "1900 W", "一律不得改装"},
        {"chinese", "入会要什么手续？", AMOUNT_NONE, "", NULL},
        {"chinese", "要交多少物业费？", AMOUNT_MONEY, "每月 80 元", "在二楼"},
        {"chinese", "押金多少天退还？", AMOUNT_LONG, "7 天内退还", "押金 20 元"},
        {"chinese", "安装固定电话需要多少天？", AMOUNT_LONG, "3 天", NULL},
        {"chinese", "物业费咨询电话是多少？", AMOUNT_NONE, "", NULL},
        {"chinese", "公司税号是多少？", AMOUNT_ANY, "9131", NULL},
        {"chinese", "无线网密码是多少？", AMOUNT_NONE, "xingyun", NULL},
        {"japanese", "会費はどのくらいですか。", AMOUNT_MONEY, "500 円", "9:00 から"},
        {"japanese", "入場料はいくらですか。", AMOUNT_MONEY, "大人 500 円", "入場は 9:00 から"},
        {"japanese", "役員の任期は何年ですか。", AMOUNT_LONG, "任期は2年", "4月に始まる"},
        {"japanese", "席は何席ありますか。", AMOUNT_COUNT, "40 席あります", "予約は 3 日前まで"},
        {"japanese", "会議室は何人入れますか", AMOUNT_COUNT, "定員は12名です", "会議室は2階です"},
        {"japanese", "テントは何人用ですか", AMOUNT_COUNT, "定員：4", "1張 1500円です"},
        {"japanese", "総会は何人出ますか", AMOUNT_COUNT, "席は40席", "総会は年1回開きます"},
        {"japanese", "本は何冊借りられますか", AMOUNT_COUNT, "一度に8点まで", "一人2回まで"},
        /* an English question about Chinese texts is read as before */
        {"chinese", "How heavy is it?", AMOUNT_WEIGHT, "3 kg", "3 EUR"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const demands d = asked(cases[i].language, cases[i].question);
        if (d.amount != cases[i].amount) fail_msg("%s: %d", cases[i].question, (int)d.amount);
        const char *text = cases[i].states;
        if (demands_amount_in(&d, d.amount, text, strlen(text)) != AMOUNT_STATED)
            fail_msg("%s: %s", cases[i].question, text);
        text = cases[i].lacks;
        if (text && demands_amount_in(&d, d.amount, text, strlen(text)) != AMOUNT_NOT_STATED)
            fail_msg("%s: %s", cases[i].question, text);
    }
}

static void a_time_an_address_and_a_person_are_demanded(void **state) {
    (void)state;
    static const struct {
        const char *language, *question;
        enum demand_detail detail;
        const char *has, *lacks;
    } cases[] = {
        {"chinese", "几点关门？", DETAIL_CLOCK, "开放到 17:00", "周日不开"},
        {"chinese", "几点关门？", DETAIL_CLOCK, "五点关门", "不开门"},
        {"chinese", "什么时候结束？", DETAIL_WHEN, "7 月 3 日结束", "在礼堂举行"},
        {"chinese", "在星期几上课？", DETAIL_WHEN, "每周五", "在二楼"},
        {"chinese", "图书馆的电话是多少？", DETAIL_PHONE, "0571-8266 3101", "不得接打电话"},
        {"chinese", "海报谁负责？", DETAIL_PERSON, "贺文娟：海报和节目单",
         "演出（周六）在剧场举行"},
        {"chinese", "合唱团的团长是谁？", DETAIL_PERSON, "由潘玉芬担任", "演出（周六）在剧场举行"},
        {"chinese", "谁是工程主管？", DETAIL_PERSON, "找 Anna", "演出（周六）在剧场举行"},
        {"chinese", "门卡坏了找谁？", DETAIL_PERSON, "找老秦", "门卡押金 20 元"},
        {"chinese", "被褥由谁洗？", DETAIL_NONE, "每两周清洗一次", NULL},
        /* any name answers these, and few names are told from words */
        {"chinese", "谁写了《呐喊》？", DETAIL_NONE, "鲁迅写了《呐喊》。", NULL},
        {"chinese", "谁发明了电话？", DETAIL_NONE, "贝尔发明了电话。", NULL},
        {"japanese", "この本は誰が書きましたか？", DETAIL_NONE, "この本は佐藤健が書きました。",
         NULL},
        /* what else there is of a telephone or an address */
        {"chinese", "电话预约的步骤是什么？", DETAIL_NONE, "先打前台", NULL},
        {"chinese", "邮箱初始密码是什么？", DETAIL_NONE, "生日", NULL},
        {"chinese", "电话会议是什么时候？", DETAIL_WHEN, "每周五", NULL},
        {"chinese", "你们的邮箱地址是什么？", DETAIL_MAIL, "a@b.cn", "在二楼"},
        {"chinese", "联系电话多少呢？", DETAIL_PHONE, "8266 3101", "在二楼"},
        {"japanese", "連絡先の変更はどこに届け出ますか？", DETAIL_NONE, "総務課", NULL},
        {"japanese", "メールアドレスは何ですか？", DETAIL_MAIL, "a@b.jp", "電話で予約"},
        {"japanese", "家賃の支払日は何日ですか？", DETAIL_WHEN, "27日", NULL},
        {"chinese", "谁可以免票？", DETAIL_NONE, "", NULL},
        {"japanese", "何時に閉まりますか。", DETAIL_CLOCK, "17時に閉館", "月曜は休み"},
        {"japanese", "電話番号を教えてください。", DETAIL_PHONE, "03-1234-5678", "電話で予約"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const demands d = asked(cases[i].language, cases[i].question);
        if (d.detail != cases[i].detail) fail_msg("%s: %d", cases[i].question, (int)d.detail);
        if (!demands_detail_in(&d, cases[i].has, strlen(cases[i].has)))
            fail_msg("%s: %s", cases[i].question, cases[i].has);
        if (cases[i].lacks && demands_detail_in(&d, cases[i].lacks, strlen(cases[i].lacks)))
            fail_msg("%s: %s", cases[i].question, cases[i].lacks);
    }
}

static void any_bytes_are_taken(void **state) {
    (void)state;
    char bytes[64];
    unsigned seed = 7;
    const int chinese = language_number("chinese");
    const demands count = asked("chinese", "几个？"), who = asked("chinese", "找谁？");
    for (size_t round = 0; round < 20000; round++) {
        const size_t n = round % sizeof bytes;
        for (size_t i = 0; i < n; i++) {
            seed = seed * 1103515245u + 12345u;
            bytes[i] = (char)(round & 1 ? 0xE4 + (seed >> 16) % 6 : seed >> 16);
        }
        (void)demands_read(bytes, n, chinese);
        (void)demands_amount_in(&count, count.amount, bytes, n);
        (void)demands_detail_in(&who, bytes, n);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_amount_is_demanded_and_stated),
        cmocka_unit_test(a_time_an_address_and_a_person_are_demanded),
        cmocka_unit_test(any_bytes_are_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
