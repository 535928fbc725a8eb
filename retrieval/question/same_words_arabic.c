#include "retrieval/question/same_words_lists.h"

#include <string.h>

/* Snowball takes off articles and ends, and leaves apart the plurals and nouns of verbs that Arabic makes within a word. */
/* clang-format off */
static const char *const groups[] = {
    /* broken plurals, and what is made of a verb */
    "كتاب كتب", "طفل أطفال", "ولد أولاد", "بنت بنات", "عضو أعضاء", "يوم أيام", "شهر أشهر شهور",
    "سنة سنوات سنين عام أعوام", "أسبوع أسابيع", "ساعة ساعات", "دقيقة دقائق", "ليلة ليالي", "رسم رسوم",
    "سعر أسعار ثمن", "قسط أقساط تقسيط", "كأس كؤوس كاسات كاسة", "باب أبواب", "غرفة غرف", "شقة شقق",
    "مفتاح مفاتيح", "شرط شروط", "حق حقوق", "قاعدة قواعد", "مدير مدراء", "موظف موظفون موظفين", "عامل عمال",
    "رقم أرقام", "وقت أوقات", "موعد مواعيد", "درس دروس", "دورة دورات", "لعبة ألعاب لعب", "دواء أدوية",
    "مرض أمراض مريض", "كلب كلاب", "قط قطط قطة", "طير طيور", "حيوان حيوانات", "صديق أصدقاء", "ضيف ضيوف",
    "جار جيران", "مكان أماكن", "كيس أكياس", "صندوق صناديق", "جهاز أجهزة", "مبلغ مبالغ", "بطاقة بطاقات",
    "تذكرة تذاكر", "خط خطوط", "رحلة رحلات", "محطة محطات", "شارع شوارع", "حي أحياء", "طريق طرق", "عيد أعياد",
    "عطلة عطل", "إجازة إجازات", "زوج أزواج", "ورقة أوراق", "وثيقة وثائق", "صورة صور", "طلب طلبات", "رمز رموز",
    "قفل أقفال", "زر أزرار", "خزانة خزائن", "حقيبة حقائب", "ملف ملفات", "اسم أسماء", "لون ألوان", "شخص أشخاص",
    "فصل فصول", "معلم معلمون معلمين معلمة", "طالب طلاب طلبة", "مدرب مدربون مدربين مدربة",
    "عجلة عجلات إطار إطارات", "بقعة بقع", "حصة حصص", "وجبة وجبات", "طعام أطعمة", "سكن سكان ساكن",
    "غسل غسيل يغسل تغسل", "تنظيف ينظف تنظف", "دفع يدفع تدفع أدفع ندفع تسديد يسدد",
    "إلغاء يلغي ألغي تلغي انسحاب", "استلام يستلم أستلم تسليم يسلم", "إرجاع يرجع أرجع إعادة يعيد أعيد يعود",
    "رمي يرمي أرمي ترمي", "حجز يحجز أحجز محجوز", "استعارة يستعير أستعير إعارة", "تسجيل يسجل أسجل",
    "فتح يفتح تفتح مفتوح", "إغلاق يغلق تغلق مغلق مقفل مقفول", "ركوب يركب أركب", "بدء يبدأ تبدأ بداية",
    "انتهاء ينتهي تنتهي نهاية", "إصلاح تصليح", "اتصال يتصل أتصل", "غياب يغيب تغيب", "تأخير تأخر يتأخر",
    "ضياع ضاع ضيعت أضاع فقدان مفقود مفقودات", "نقل ينقل", "شراء يشتري أشتري", "بيع يبيع", "تسخين سخان يسخن",
    "شرب يشرب نشرب أشرب", "لبس يلبس ألبس ارتداء", "دخول يدخل أدخل", "خروج يخرج", "وصول يصل أصل",
    "سماح يسمح مسموح يجوز", "منع يمنع ممنوع يحظر محظور", "كسر تكسير يكسر مكسور", "عطل أعطال تعطل معطل خربان",
    "تشغيل يشغل أشغل شغل", "تعليم يعلم تعلم", "سباحة يسبح", "قبول يقبل تقبل مقبول",
    "استعمال يستعمل أستعمل استخدام يستخدم أستخدم", "حفظ يحفظ محفوظ", "موافقة يوافق وافق وافقت",
    /* everyday words */
    "خصم تخفيض حسم مخفض", "حافلة باص أتوبيس حافلات باصات", "حاسوب كمبيوتر حواسيب", "مجاني مجانا",
    "غرامة عقوبة غرامات", "نفايات قمامة زبالة", "راتب معاش مرتب رواتب", "مصفاة فلتر", "تأجيل تمديد يمدد",
    "سيارة سيارات عربية", "هاتف تلفون جوال موبايل", "منزل بيت منازل بيوت", "مراب جراج كراج",
    "مصعد أسنسير مصاعد", "تكلفة كلفة تكاليف", "أجرة أجور", "إيجار أجار", "طبيب دكتور أطباء", "تلفاز تلفزيون",
    "ثلاجة براد", "مسؤول مسؤولون مسؤولين", "حنفية صنبور", "أثاث عفش", "لازم إلزامي يجب",
    /* months by their other names */
    "شباط فبراير فيفري", "آذار مارس", "نيسان أبريل أفريل", "أيار مايو", "حزيران يونيو جوان",
    "تموز يوليو جويلية", "آب أغسطس أوت", "أيلول سبتمبر",
    NULL,
};
/* clang-format on */

/* Bytes of the particle, "for", "and", "with", that Arabic writes before a word ("لشقة", a flat's), in its stem; 0: there is none, or too
 * little behind it to tell. Of "with" more is asked for: "بطاقة" is a card, "طاقة" power. */
static size_t particle_of(const fact_text *t, const fact_word *w) {
    enum { LETTER = 2, LEAST = 3 * LETTER, LEAST_WITH = 4 * LETTER };
    const char *stem = t->stems.data + w->stem_at;
    if (w->stem_len <= 2 * LETTER) return 0;
    if (!memcmp(stem, "ب", LETTER)) return w->stem_len >= LETTER + LEAST_WITH ? LETTER : 0;
    const bool before = !memcmp(stem, "ل", LETTER) || !memcmp(stem, "و", LETTER);
    return before && w->end - w->start >= LETTER + LEAST ? LETTER : 0;
}

static size_t without_end(const char *stem, size_t n) {
    enum { LETTER = 2 };
    return n > LETTER && !memcmp(stem + n - LETTER, "ة", LETTER) ? n - LETTER : n;
}

/* Is a word of Arabic of a text the asked one but for the particle before that? */
static bool is_asked_without_particle(const fact_text *t, const fact_word *w, const fact_text *q,
                                      const fact_word *asked) {
    const char *stem = q->stems.data + asked->stem_at, *said = t->stems.data + w->stem_at;
    const size_t k = particle_of(q, asked);
    /* a short word keeps the end that a longer one loses: "شقة", "الشقة" */
    const size_t n = without_end(stem + k, asked->stem_len - k), m = without_end(said, w->stem_len);
    return k && n == m && !memcmp(stem + k, said, n);
}

const same_words_lists same_words_arabic = {
    .language = "arabic",
    .groups = groups,
    .particle = particle_of,
    .is_form = is_asked_without_particle,
};
