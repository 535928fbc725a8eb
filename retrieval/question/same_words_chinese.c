#include "retrieval/question/same_words_lists.h"

/* A character or a pair. */
/* clang-format off */
static const same_words_written written[] = {
    {"狗 犬", NULL}, {"丢 遗失 丢失 遺失 弄丢", NULL}, {"扔 投放 丢弃", NULL}, {"超期 逾期 过期", NULL}, {"冬天 冬季", NULL},
    {"夏天 夏季", NULL}, {"春天 春季", NULL}, {"秋天 秋季", NULL}, {"晚上 夜间 夜里 夜晚 夜間", NULL}, {"老师 教师 老師 教師", NULL},
    {"孩子 儿童 小孩 孩童 兒童 娃", NULL}, {"取消 退订 退掉", NULL}, {"单车 自行车", NULL}, {"厕所 洗手间 卫生间", NULL},
    {"工资 薪水 薪资 薪金", NULL}, {"修理 维修", NULL}, {"缴纳 交纳 缴费 交费", NULL}, {"医生 大夫", NULL}, {"坏 损坏 故障", NULL},
    {"星期 礼拜 禮拜", NULL}, {"垃圾 废物", NULL}, {"早上 早晨 清晨", NULL}, {"价钱 价格", NULL}, {"罚钱 罚款", NULL},
    {"周一 期一 拜一", NULL}, {"周二 期二 拜二", NULL}, {"周三 期三 拜三", NULL}, {"周四 期四 拜四", NULL}, {"周五 期五 拜五", NULL},
    {"周六 期六 拜六", NULL}, {"周日 期日 期天 拜天 周天", NULL}, {"退钱 退款", NULL}, {"花钱 收费", NULL}, {"关门 闭馆", NULL},
    {"小狗 犬只", NULL},
    {NULL, NULL},
};
/* clang-format on */

const same_words_lists same_words_chinese = {.language = "chinese", .written = written};
