#include "retrieval/question/unspaced_demands.h"

#include <string.h>

#include "index/sparse/language.h"
#include "kernels/utf8.h"

enum { HAN = 3 }; /* bytes of a character of these scripts in UTF-8 */

typedef struct unspaced_words {
    const char *language;
    /* of questions */
    const char *asks_money; /* by itself */
    const char
        *how_much; /* of a sum where one of `sums` stands right before it, or ends the question */
    const char *sums, *links; /* links: what may stand between the two */
    const char *how_many;     /* before one of `counters` */
    const char *asks_long, *asks_warm, *asks_heavy, *asks_way, *asks_loud, *asks_number;
    const char *asks_clock, *asks_when;
    const char *asks_who;           /* who is in charge, whom to ask: "谁负责", "找谁" */
    const char *who_is, *offices;   /* before or behind one of these: "谁是会长" */
    const char *phone, *mail, *web; /* what is told by itself */
    const char *details, *told;     /* "号码" behind those; "是多少" behind them */
    const char *particles;          /* that end a question behind that */
    const char *no_amount;          /* before "是多少": what has no amount, a password */
    const char *no_hour;            /* behind "几点": points that are listed */
    /* of texts */
    const char *counters;
    const char *
        kinds; /* of counters, each as one string, that stand for each other; of others nothing is told */
    const char *any_kind; /* count whatever is no person, of the first one */
    const char *currencies, *before_sum, *no_sum;           /* 元; ￥; said in place of a sum */
    const char *spans, *span_words;                         /* behind a number; by themselves */
    const char *ways, *weights, *degrees, *sounds, *others; /* units behind a number */
    const char *hours, *parts_of_day, *days, *times;
    const char *people;
} unspaced_words;

/* clang-format off */
static const unspaced_words tables[] = {
    {.language = "chinese",
     .asks_money = "多少钱 多少錢 多少元 多少块 多少塊 几块钱 幾塊錢 几元 幾元 怎么收费 怎麼收費 如何收费 如何收費 什么价 什麼價",
     .how_much = "多少 几何",
     .sums = "费 費 价 價 租金 月租 年租 押金 罚款 罰款 工资 工資 薪 奖金 獎金 补贴 補貼 定金 订金 保证金 保證金 税 稅 补助 補助 金额 金額",
     .links = "是 为 為 要 收 交 需要 需 应 该 得 各 大概 大约 大約 一般 一共 总共 標準 标准 每年 每月 每天 每次 每人 每户 一年 一个月 一天 一次 一晚",
     .how_many = "几 幾 多少",
     .asks_long = "多久 多长 多長 几天 幾天 几年 幾年 几个月 幾個月 几个小时 幾個小時 几小时 幾小時 几分钟 幾分鐘 几周 幾週 几个星期 "
     "多少天 多少年 多少个月 多少個月 多少小时 多少小時 多少分钟 多少分鐘 多少周",
     .asks_warm = "温度是多少 水温是多少 气温是多少 多少摄氏度",
     .asks_heavy = "多重 多少公斤 多少千克 多少克 多少斤 几公斤 几斤 几克",
     .asks_way = "多高 多宽 多寬 多深 多厚 多少米 多少厘米 多少公里 几米 几公里 几厘米",
     .asks_loud = "多少分贝 多少分貝",
     .asks_number = "多少 几岁 幾歲 几折 幾折 多大 多远 多遠",
     .asks_clock = "几点 幾點 几时 幾時",
     .asks_when = "什么时候 什麼時候 什么时间 什麼時間 何时 何時 哪天 哪一天 哪日 几号 幾號 几月 幾月 星期几 星期幾 周几 週幾 礼拜几 哪年 哪一年",
     .asks_who = "谁负责 誰負責 谁来负责 谁担任 誰擔任 谁主持 誰主持 谁分管 找谁 找誰 联系谁 聯繫誰 找哪位 哪位负责 哪位担任",
     .who_is = "谁 誰 哪位",
     .offices = "长 長 主任 经理 經理 主席 会计 會計 出纳 秘书 秘書 教练 教練 负责人 負責人 联系人 聯繫人 主管 主持人 理事 指挥 指揮",
     .phone = "电话 電話 手机号 手機號 联系方式 聯繫方式", .mail = "邮箱 郵箱 电子邮件 電子郵件", .web = "网址 網址 网站 網站",
     .details = "号码 號碼 号 號 地址",
     .told = "多少 是多少 为多少 是什么 是什麼 什么 什麼 几号 幾號 是几号 是幾號 是哪个 是哪個 有吗 有嗎",
     .particles = "啊 呀 呢 吗 嗎 来着 了", .no_amount = "密码 密碼 口令 地址 账号 賬號 帐号 帳號 验证码 驗證碼 代码 代碼 用户名 型号 型號 微信",
     .no_hour = "要求 建议 建議 注意 原因 意见 意見",
     .counters = "个 個 只 隻 名 位 人 本 张 張 间 間 次 辆 輛 件 台 臺 条 條 场 場 份 家 户 戶 支 块 種 种 把 杯 瓶 箱 盒 座 所 棵 套 "
     "艘 班 趟 部 项 項 道 段 口 节 節 片 组 組 层 層 楼 册 冊 枚 根 扇 门 門 双 雙 对 對 头 頭 匹 袋 包 桌 排 级 級 倍 页 頁",
     .currencies = "元 块 塊 角 圆 圓 万元 萬元 美元 欧元 歐元 港币 人民币",
     .before_sum = "￥ ¥ $ € RMB",
     .no_sum = "免费 免費 免收 免交 免押 免缴 免繳 全免 不收费 不收費 不收取 无需付费 無需付費 无偿 折 半价 半價 原价 原價 全价 全額 全额 减半 "
     "減半 承担 承擔 自理 自付 另付 百分之 % ％",
     .spans = "年 个 個 月 日 天 周 週 星期 小时 小時 分 秒 季 学期 學期 晚 夜 刻 钟头 鐘頭 号 點 点 时 時 米 公里 厘米",
     .span_words = "每天 每日 每周 每週 每月 每年 每季 每次 每隔 每学期 终身 終身 长期 長期 永久 随时 隨時 当天 當天 当日 當日 当场 當場 次日 "
     "立即 半年 半天 全天 全年 学期 學期 期间 期間 季末 月底 年底 月末 年末",
     .ways = "米 厘米 毫米 公里 公分 里 尺 寸 cm mm km m CM M", .weights = "公斤 千克 克 斤 吨 噸 两 kg g KG t",
     .degrees = "℃ ° 度 摄氏", .sounds = "分贝 分貝 dB db DB", .others = "度 岁 歲 升 毫升 瓦 千瓦 平 平方 伏 安 % ％ 折 分之",
     .hours = "点 點 时 時", .parts_of_day = "早上 上午 中午 正午 下午 晚上 傍晚 凌晨 半夜 午夜 深夜 夜间 夜間 白天 全天 整天 随时 隨時 日落 日出 天黑",
     .days = "年 月 日 号 號 点 點 时 時 天 周 週 小时 小時 分钟 分鐘 季 届 屆 世纪",
     .times = "周 週 星期 礼拜 禮拜 每天 每日 每月 每年 早 午 晚 夜 春 夏 秋 冬 节 節 假 季 前 后 後 时 時 期 当天 次日 今 明 昨 日",
     .people = "人 老师 老師 员 員 师傅 師傅 经理 經理 主任 主管 秘书 秘書 会计 會計 出纳 主席 医生 醫生 护士 大夫 教练 教練 保安 管家 物业 "
     "前台 客服 部 处 處 科 组 組 局 队 隊 委 中心 办公室 辦公室 服务台 服务站 派出所 热线 熱線 拨打 撥打 房东 房東 业主 業主 住户 用户 者 们 們 先生 女士 小姐 阿姨 叔叔 爷爷 奶奶 婆婆 公公 姐 妹 哥 弟 爸 妈 父 母 本人 自己 我 他 她 您 "
     "你 部门 部門 公司 单位 單位 机构 機構 会长 會長 校长 校長 园长 園長 馆长 館長 团长 團長 队长 隊長 组长 組長 班长 班長 部长 部長 "
     "处长 科长 店长 家长 家長 院长 院長 所长 理事 委员 委員 学生 學生 员工 居民 村民 顾客 乘客 旅客 游客 孩子 儿童 兒童 护士 选手 团队 團隊 小组 小組 总监 总 助理 律师 司机 老板 老闆 业委会"},
    {.language = "japanese",
     .asks_money = "いくら 何円",
     .how_much = "どのくらい どれくらい",
     .sums = "料金 費用 価格 値段 会費 家賃 手数料 運賃 代金 罰金 保証金 敷金 給料",
     .links = "は 年間 月々 毎月 一年で 一か月 1か月 一人 1人",
     .how_many = "何",
     .asks_long = "何日間 何年間 何週間 何時間 何分 何か月 何ヶ月 何カ月 いつまで有効 どれくらいの期間 期間はどのくらい "
     "期は何年 期間は何年 期限は何年 保証は何年 期は何か月 期間は何か月 保存は何年 何年保証 何年有効",
     .asks_warm = "温度は 何度", .asks_heavy = "何キロ 何グラム", .asks_way = "何メートル 何センチ", .asks_loud = "何デシベル",
     .asks_number = "いくつ 何歳 何パーセント",
     .asks_clock = "何時", .asks_when = "いつ 何日 何月 何曜日 何年",
     .asks_who = "", .who_is = "", .offices = "", /* names of Japanese are not told from other words */
     .phone = "電話番号 連絡先", .mail = "メールアドレス", .web = "ホームページ URL サイト",
     .details = "", .told = "は は何 は何番 はいくつ を教え をおしえ", .particles = "です でしょう か う て ください 下さい ね よ", .no_amount = "",
     .no_hour = "何時間",
     .counters = "個 つ 人 名 本 枚 台 冊 回 匹 頭 室 部屋 軒 件 着 足 杯 箱 袋 組 席 階 ページ 種類 か所 ヶ所 カ所 棟 戸 羽 点",
     .kinds = "人名席 匹頭羽 台 冊 枚 回", .any_kind = "つ 個 点 件",
     .currencies = "円 万円 ドル ユーロ", .before_sum = "￥ ¥ $ €",
     .no_sum = "無料 半額 割引 全額 実費 負担 込み 含まれ 不要 % ％ 割",
     .spans = "年 か月 ヶ月 カ月 ヵ月 日 週 時間 分 秒 時 学期 泊 晩 メートル キロ",
     .span_words = "毎日 毎週 毎月 毎年 年中 終日 随時 当日 翌日 半年 半日 一生 無期限",
     .ways = "メートル センチ ミリ キロ m cm mm km", .weights = "キロ グラム トン kg g", .degrees = "℃ ° 度", .sounds = "デシベル dB",
     .others = "度 歳 才 リットル ワット 平米 % ％ 割 パーセント",
     .hours = "時", .parts_of_day = "午前 午後 正午 朝 夕方 夜 深夜 終日 日没 日の出 いつでも",
     .days = "年 月 日 時 週 曜 分 時間 学期",
     .times = "曜 毎日 毎週 毎月 毎年 朝 昼 夕 夜 春 夏 秋 冬 祝 休 前 後 時 期 当日 翌 今 明 昨 日 まで",
     .people = "人 者 員 長 先生 師 氏 さん 様 担当 部 課 会社 係 委員 友 親 父 母 子 生徒 客 私 彼 士 手"},
};

/* The commonest family names of Chinese. */
static const char surnames[] =
    "王李张張刘劉陈陳杨楊黄黃赵趙吴吳周徐孙孫马馬朱胡郭何高林罗羅郑鄭梁谢謝宋唐许許韩韓冯馮邓鄧曹彭曾肖萧蕭田董袁潘于蒋蔣蔡余杜叶葉"
    "程苏蘇魏吕呂丁任沈姚卢盧姜崔钟鍾谭譚陆陸汪范金石廖贾賈夏韦韋付傅方白邹鄒孟熊秦邱江尹薛闫阎段雷侯龙龍史陶黎贺賀顾顧毛郝龚龔邵万萬"
    "钱錢严嚴覃武戴莫孔向汤湯常温康施文牛樊葛邢安齐齊易乔喬伍庞龐颜顏倪庄莊聂聶章鲁魯岳翟殷詹申欧歐耿关關兰蘭焦俞左柳甘祝包宁寧尚符舒"
    "阮柯纪紀梅童凌毕畢单單季裴霍涂成苗谷盛曲翁冉骆駱蓝藍路游辛靳管柴蒙鲍鮑华華喻祁蒲房滕屈饶饒解牟艾尤阳陽时時穆农農司卓古吉缪繆简簡"
    "车車项項连連芦蘆麦麥褚娄婁窦竇戚岑景党党宫宮费費卜冷晏席卫衛米柏宗瞿桂全佟应應臧闵閔苟邬鄔边邊卞姬师師和仇栾欒隋商刁沙荣榮巫寇桑郎"
    "甄丛叢仲虞敖巩鞏明佘池查麻苑迟遲邝鄺沃";
/* clang-format on */

static const unspaced_words *words_of(int language) {
    return LANGUAGE_ROW(tables, language);
}

bool unspaced_demands_known(int language) {
    return words_of(language) != NULL;
}

/* ---- lists ------------------------------------------------------------------------------- */

/* Bytes of the longest phrase of the list that begins at text[at]; 0: none does. */
static size_t begins(const char *list, const char *text, size_t len, size_t at) {
    size_t longest = 0;
    for (const char *s = list; *s;) {
        const size_t n = strcspn(s, " ");
        if (n > longest && len - at >= n && !memcmp(text + at, s, n)) longest = n;
        s += n + (s[n] == ' ');
    }
    return longest;
}

/* One past the first phrase of the list in the text; 0: none stands there. */
static size_t behind_any(const char *list, const char *text, size_t len) {
    for (size_t i = 0; i < len; i++) {
        const size_t n = begins(list, text, len, i);
        if (n) return i + n;
    }
    return 0;
}

static bool says(const char *list, const char *text, size_t len) {
    return behind_any(list, text, len) > 0;
}

/* ---- the question ------------------------------------------------------------------------ */

/* "几个", "多少本": how many, and what counts them. */
static bool asks_count(const unspaced_words *w, const char *s, size_t len) {
    for (size_t i = 0; i < len; i++) {
        const size_t n = begins(w->how_many, s, len, i);
        if (n && begins(w->counters, s, len, i + n)) return true;
    }
    return false;
}

/* The kind that the counter at s[at] is of; NULL: of none that is told. */
static const char *kind_of(const unspaced_words *w, const char *s, size_t len, size_t at) {
    for (const char *k = w->kinds; k && *k && at + HAN <= len;) {
        const size_t n = strcspn(k, " ");
        if (memmem(k, n, s + at, HAN)) return k;
        k += n + (k[n] == ' ');
    }
    return NULL;
}

/* Where what the question counts by stands, "人" of "何人"; len: nowhere. */
static size_t counter_of(const unspaced_words *w, const char *s, size_t len) {
    for (size_t i = 0; i < len; i++) {
        const size_t n = begins(w->how_many, s, len, i);
        if (n && kind_of(w, s, len, i + n)) return i + n;
    }
    return len;
}

/* Bytes of the phrases of the list that stand one behind the other from text[at] on. */
static size_t run_of(const char *list, const char *text, size_t len, size_t at) {
    const size_t from = at;
    for (size_t n; at < len && (n = begins(list, text, len, at)) > 0;) at += n;
    return at - from;
}

/* Does a clause end at text[at], particles aside? */
static bool clause_ends(const unspaced_words *w, const char *text, size_t len, size_t at) {
    at += run_of(w->particles, text, len, at);
    return at >= len || begins("？ ? 。 ， , ！ ! 、", text, len, at) || fo_is_blank(text[at]);
}

/* "押金是多少", "要交多少押金？"; not "押金收据的电话是多少" */
static bool asks_sum(const unspaced_words *w, const char *s, size_t len) {
    enum { MOST_BETWEEN = 4 * HAN };
    size_t much = 0; /* one past the last "how much" */
    for (size_t i = 0, n; i < len; i++) {
        if ((n = begins(w->how_much, s, len, i)) > 0) much = i + n;
        if ((n = begins(w->sums, s, len, i)) == 0) continue;
        const size_t behind = i + n, link = run_of(w->links, s, len, behind);
        if (begins(w->how_much, s, len, behind + link)) return true;
        if (much && i >= much && i - much <= MOST_BETWEEN && clause_ends(w, s, len, behind))
            return true;
    }
    return false;
}

/* "谁是会长？", "会长是谁？" */
static bool asks_for_office(const unspaced_words *w, const char *s, size_t len) {
    for (size_t i = 0, n; i < len; i++) {
        if ((n = begins(w->offices, s, len, i)) == 0) continue;
        const size_t is = i + n + run_of("是 叫", s, len, i + n);
        const size_t who = is > i + n ? begins(w->who_is, s, len, is) : 0;
        if (who && clause_ends(w, s, len, is + who)) return true;
        const size_t first = begins(w->who_is, s, len, 0);
        if (first && begins("是", s, len, first) && clause_ends(w, s, len, i + n)) return true;
    }
    return false;
}

/* Who is in charge, or whom to ask; "谁写了这本书" may be answered by any name, and demands none. */
static bool asks_who(const unspaced_words *w, const char *s, size_t len) {
    return says(w->asks_who, s, len) || asks_for_office(w, s, len);
}

/* "电话号码是多少？": the address itself, not what else there is of it, "邮箱密码是什么", "电话会议是几号". */
static bool asks_address(const unspaced_words *w, const char *list, const char *s, size_t len) {
    for (size_t i = 0, n; i < len; i++) {
        if ((n = begins(list, s, len, i)) == 0) continue;
        const size_t named = i + n + run_of(w->details, s, len, i + n),
                     told = named < len ? begins(w->told, s, len, named) : 0;
        if ((told || named > i + n) && clause_ends(w, s, len, named + told)) return true;
    }
    return false;
}

static bool asks_clock(const unspaced_words *w, const char *s, size_t len) {
    const size_t behind = behind_any(w->asks_clock, s, len);
    return behind && !says(w->no_hour, s, len);
}

static enum demand_detail detail_of(const unspaced_words *w, const char *s, size_t len) {
    if (asks_address(w, w->phone, s, len)) return DETAIL_PHONE;
    if (asks_address(w, w->mail, s, len)) return DETAIL_MAIL;
    if (asks_address(w, w->web, s, len)) return DETAIL_WEB;
    if (asks_clock(w, s, len)) return DETAIL_CLOCK;
    if (says(w->asks_long, s, len)) return DETAIL_NONE;
    if (says(w->asks_when, s, len)) return DETAIL_WHEN;
    return asks_who(w, s, len) ? DETAIL_PERSON : DETAIL_NONE;
}

/* "密码是多少？" */
static bool asks_no_amount(const unspaced_words *w, const char *s, size_t len) {
    for (size_t i = 0, n; i < len; i++) {
        if ((n = begins(w->no_amount, s, len, i)) == 0) continue;
        const size_t is = i + n + run_of("是 为 為", s, len, i + n);
        if (begins("多少", s, len, is)) return true;
    }
    return false;
}

static enum demand_amount amount_of(const unspaced_words *w, const char *s, size_t len) {
    if (says(w->asks_long, s, len)) return AMOUNT_LONG;
    if (says(w->asks_heavy, s, len)) return AMOUNT_WEIGHT;
    if (says(w->asks_way, s, len)) return AMOUNT_LENGTH;
    if (says(w->asks_loud, s, len)) return AMOUNT_LOUDNESS;
    if (says(w->asks_warm, s, len)) return AMOUNT_TEMPERATURE;
    if (asks_count(w, s, len)) return AMOUNT_COUNT;
    if (asks_sum(w, s, len)) return AMOUNT_MONEY;
    return says(w->asks_number, s, len) && !asks_no_amount(w, s, len) ? AMOUNT_ANY : AMOUNT_NONE;
}

unspaced_demands unspaced_demands_read(int language, const char *question, size_t len) {
    const unspaced_words *w = words_of(language);
    unspaced_demands d = {0};
    if (!w) return d;
    if (says(w->asks_money, question, len)) {
        d.amount = AMOUNT_MONEY;
        return d;
    }
    d.detail = detail_of(w, question, len);
    if (d.detail == DETAIL_NONE) d.amount = amount_of(w, question, len);
    const size_t counter = d.amount == AMOUNT_COUNT ? counter_of(w, question, len) : len;
    if (counter < len) memcpy(d.counter, question + counter, HAN);
    return d;
}

/* ---- numbers ----------------------------------------------------------------------------- */

typedef struct number {
    size_t start, end;
    bool digits; /* in figures; else in characters, "两", "三十" */
} number;

static size_t skip_blanks(const char *text, size_t len, size_t at) {
    while (at < len && text[at] == ' ') at++;
    return at;
}

/* The next number at or behind *at, which moves behind it. */
static bool next_number(const char *text, size_t len, size_t *at, number *x) {
    static const char numerals[] = "一 二 两 兩 三 四 五 六 七 八 九 十 百 千 万 萬 半 数 数十";
    for (size_t i = *at; i < len; i++) {
        x->digits = fo_is_digit(text[i]);
        size_t end = i, n;
        if (x->digits)
            while (end < len && (fo_is_digit(text[end]) || text[end] == '.' || text[end] == ','))
                end++;
        else
            while (end < len && (n = begins(numerals, text, len, end)) > 0) end += n;
        if (end == i) continue;
        x->start = i;
        *at = x->end = end;
        return true;
    }
    return false;
}

/* What is measured or counted stands behind the number, or behind the one it is ranged with: "10 至 30 元". */
static size_t behind_number(const char *text, size_t len, const number *x) {
    static const char ranges[] = "至 到 - ~ ～ — – － 〜 から 、 余 多";
    size_t at = skip_blanks(text, len, x->end);
    const size_t sign = at < len ? begins(ranges, text, len, at) : 0;
    if (!sign) return at;
    number next;
    size_t from = skip_blanks(text, len, at + sign);
    const size_t begin = from;
    if (from >= len || !next_number(text, len, &from, &next) || next.start != begin)
        return skip_blanks(text, len, at + sign);
    return skip_blanks(text, len, next.end);
}

/* Is there a number with one of the units behind it? */
static bool measures(const char *units, const char *text, size_t len) {
    number x;
    for (size_t at = 0; next_number(text, len, &at, &x);) {
        const size_t behind = behind_number(text, len, &x), own = skip_blanks(text, len, x.end);
        if ((behind < len && begins(units, text, len, behind)) ||
            (own < len && begins(units, text, len, own)))
            return true;
    }
    return false;
}

/* "8:30" */
static bool has_clock_time(const char *text, size_t len) {
    for (size_t i = 1; i + 1 < len; i++) {
        const size_t sign = begins(": ：", text, len, i);
        if (sign && fo_is_digit(text[i - 1]) && i + sign < len && fo_is_digit(text[i + sign]))
            return true;
    }
    return false;
}

/* "第 3", "No. 3": it numbers something. */
static bool is_ordinal(const char *text, const number *x) {
    size_t at = x->start;
    while (at > 0 && text[at - 1] == ' ') at--;
    return (at >= HAN && !memcmp(text + at - HAN, "第", HAN)) ||
           (at > 0 && strchr("#:.", text[at - 1]));
}

/* Does the number count something, and is no sum, time, measure or name of a place? */
static bool counts(const unspaced_words *w, const char *text, size_t len, const number *x) {
    static const char names[] = "号 號 楼 室 栋 棟 路 线 線 番 ： :";
    const size_t behind = behind_number(text, len, x);
    if (is_ordinal(text, x)) return false;
    if (behind >= len) return x->digits;
    if (begins(w->counters, text, len, behind) > begins(w->currencies, text, len, behind) &&
        !begins("个月 個月 个小时 個小時 个星期 个半", text, len, behind))
        return true;
    return x->digits && !begins(w->currencies, text, len, behind) &&
           !begins(w->spans, text, len, behind) && !begins(w->ways, text, len, behind) &&
           !begins(w->weights, text, len, behind) && !begins(w->degrees, text, len, behind) &&
           !begins(w->others, text, len, behind) && !begins(names, text, len, behind) &&
           !begins(w->days, text, len, behind);
}

static bool has_count(const unspaced_words *w, const char *text, size_t len) {
    number x;
    for (size_t at = 0; next_number(text, len, &at, &x);)
        if (counts(w, text, len, &x)) return true;
    return false;
}

/* Figures, or a number in characters before what it counts or measures: 一 begins many words. */
static bool has_number(const unspaced_words *w, const char *text, size_t len) {
    number x;
    for (size_t at = 0; next_number(text, len, &at, &x);)
        if (x.digits) return true;
    return has_count(w, text, len) || measures(w->spans, text, len) ||
           measures(w->others, text, len) || measures(w->currencies, text, len) ||
           measures(w->ways, text, len) || measures(w->weights, text, len);
}

static bool has_money(const unspaced_words *w, const char *text, size_t len) {
    number x;
    if (says(w->no_sum, text, len) || measures(w->currencies, text, len)) return true;
    for (size_t at = 0; next_number(text, len, &at, &x);) {
        size_t from = x.start;
        while (from > 0 && text[from - 1] == ' ') from--;
        for (size_t n = 1; n <= HAN && n <= from; n++)
            if (begins(w->before_sum, text, from, from - n) == n) return true;
    }
    return false;
}

/* ---- what a text states ------------------------------------------------------------------ */

static bool states(const unspaced_words *w, enum demand_amount amount, const char *text,
                   size_t len) {
    switch (amount) {
    case AMOUNT_MONEY:
    case AMOUNT_EXPENSE:
        return has_money(w, text, len);
    case AMOUNT_WEIGHT:
        return measures(w->weights, text, len);
    case AMOUNT_TEMPERATURE:
        return measures(w->degrees, text, len);
    case AMOUNT_LOUDNESS:
        return measures(w->sounds, text, len);
    case AMOUNT_LENGTH:
        return measures(w->ways, text, len);
    case AMOUNT_LONG:
        return measures(w->spans, text, len) || says(w->span_words, text, len) ||
               has_clock_time(text, len);
    case AMOUNT_COUNT:
        return has_count(w, text, len);
    default:
        return has_number(w, text, len);
    }
}

enum amount_stated unspaced_amount_in(int language, enum demand_amount amount, const char *text,
                                      size_t len) {
    const unspaced_words *w = words_of(language);
    if (!w || amount == AMOUNT_NONE) return AMOUNT_STATED;
    return states(w, amount, text, len) ? AMOUNT_STATED : AMOUNT_NOT_STATED;
}

static bool is_han(const char *text, size_t len, size_t at) {
    int32_t cp = 0;
    if (len < at + HAN) return false;
    fo_utf8_decode(text + at, len - at, &cp);
    return cp >= 0x4E00 && cp <= 0x9FFF;
}

bool unspaced_counts_in(int language, const char *counter, const char *text, size_t len) {
    const unspaced_words *w = words_of(language);
    const char *kind = w ? kind_of(w, counter, strlen(counter), 0) : NULL;
    if (!kind) return true;
    number x;
    for (size_t at = 0; next_number(text, len, &at, &x);) {
        const size_t behind = behind_number(text, len, &x);
        if (!counts(w, text, len, &x)) continue;
        if (behind >= len || !begins(w->counters, text, len, behind)) {
            if (kind != w->kinds || !is_han(text, len, behind)) return true;
            continue; /* "1張": a counter that is on no list counts no people */
        }
        const char *other = kind_of(w, text, len, behind);
        if (other == kind) return true;
        if (!other && kind != w->kinds && begins(w->any_kind, text, len, behind)) return true;
    }
    return false;
}

static bool is_surname(const char *text, size_t at) {
    for (const char *s = surnames; *s; s += HAN)
        if (!memcmp(s, text + at, HAN)) return true;
    return false;
}

/* "：贺文娟，", "老秦", "由潘玉芬负责": a family name and one or two characters, between marks or words that go with a name. */
static bool has_name(const char *text, size_t len) {
    static const char before[] = "由 请 請 找 是 和 与 與 及 向 给 老 小 阿",
                      behind[] = "负责 負責 担任 擔任 主持 分管 管 老 先生 女士 医 师 教 主 会 经 "
                                 "电 同 说 报 和 与 、 提 记 带";
    for (size_t i = 0; i + 2 * HAN <= len; i++) {
        if (!is_han(text, len, i) || !is_surname(text, i)) continue;
        if (begins("周一 周二 周三 周四 周五 周六 周日 周末", text, len, i)) continue;
        const bool first = i < HAN || !is_han(text, len, i - HAN);
        if (!first && !begins(before, text, len, i - HAN)) continue;
        for (size_t end = i + 2 * HAN; end <= i + 3 * HAN && is_han(text, len, end - HAN);
             end += HAN)
            if (end >= len || !is_han(text, len, end) || begins(behind, text, len, end))
                return true;
    }
    for (size_t i = 0; i + 1 < len; i++) /* "Anna" */
        if (fo_is_upper(text[i]) && fo_is_letter(text[i + 1]) && !fo_is_upper(text[i + 1]))
            return true;
    return says("老 小 阿", text, len) && len < 4 * HAN;
}

static bool has_when(const unspaced_words *w, const char *text, size_t len) {
    number x;
    if (has_clock_time(text, len) || says(w->times, text, len)) return true;
    for (size_t at = 0; next_number(text, len, &at, &x);)
        if (x.digits) return true;
    return measures(w->days, text, len);
}

bool unspaced_detail_in(int language, enum demand_detail detail, const char *text, size_t len) {
    const unspaced_words *w = words_of(language);
    if (!w) return true;
    switch (detail) {
    case DETAIL_CLOCK:
        return has_clock_time(text, len) || measures(w->hours, text, len) ||
               says(w->parts_of_day, text, len);
    case DETAIL_WHEN:
    case DETAIL_CASE:
        return has_when(w, text, len);
    case DETAIL_PERSON:
        return says(w->people, text, len) || has_name(text, len);
    case DETAIL_MAIL:
    case DETAIL_PHONE:
    case DETAIL_WEB: /* the same signs in all of them */
    case DETAIL_NONE:
        return demand_detail_in(detail, text, len);
    default:
        return true;
    }
}
