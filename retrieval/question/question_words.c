#include "retrieval/question/question_words.h"

#include <pthread.h>
#include <string.h>
#include "index/sparse/language.h"
#include "retrieval/question/japanese_words.h"
#include "retrieval/question/question.h"
#include "retrieval/text/word_table.h"

/* clang-format off */
static const struct { const char *language; int kind; const char *words; } asking[] = {
    {"german", ASK_PERSON, "wer wen wem wessen"},
    {"german", ASK_TIME, "wann"},
    {"german", ASK_PLACE, "wo woher wohin"},
    {"german", ASK_REASON, "warum weshalb wieso weswegen"},
    {"german", ASKS_HOW, "wie"},
    {"german", ASK_NUMBER, "wieviel wieviele"},
    {"german", ASKS_MEASURE, "viel viele vielen lange lang alt weit groß hoch oft schnell breit tief schwer viel teuer spät früh"},
    {"german", ASKS_WHICH, "welche welcher welches welchem welchen was"},
    {"french", ASK_PERSON, "qui"},
    {"french", ASK_TIME, "quand"},
    {"french", ASK_PLACE, "où"},
    {"french", ASK_REASON, "pourquoi"},
    {"french", ASK_NUMBER, "combien"},
    {"french", ASKS_WHICH, "quel quelle quels quelles"},
    {"spanish", ASK_PERSON, "quién quiénes quien"},
    {"spanish", ASK_TIME, "cuándo cuando"},
    {"spanish", ASK_PLACE, "dónde adónde donde"},
    {"spanish", ASK_NUMBER, "cuánto cuánta cuántos cuántas cuantos cuantas"},
    {"spanish", ASKS_WHICH, "qué cuál cuáles"},
    {"italian", ASK_PERSON, "chi"},
    {"italian", ASK_TIME, "quando"},
    {"italian", ASK_PLACE, "dove"},
    {"italian", ASK_REASON, "perché"},
    {"italian", ASK_NUMBER, "quanto quanta quanti quante"},
    {"italian", ASKS_WHICH, "quale quali"},
    {"portuguese", ASK_PERSON, "quem"},
    {"portuguese", ASK_TIME, "quando"},
    {"portuguese", ASK_PLACE, "onde aonde"},
    {"portuguese", ASK_REASON, "porquê porque"},
    {"portuguese", ASK_NUMBER, "quanto quanta quantos quantas"},
    {"portuguese", ASKS_WHICH, "qual quais que"},
    {"russian", ASK_PERSON, "кто кого кому кем"},
    {"russian", ASK_TIME, "когда"},
    {"russian", ASK_PLACE, "где куда откуда"},
    {"russian", ASK_REASON, "почему зачем отчего"},
    {"russian", ASKS_HOW, "как"},
    {"russian", ASKS_MEASURE, "долго часто далеко"},
    {"russian", ASK_NUMBER, "сколько скольки скольких почём почем"},
    {"russian", ASKS_WHICH, "какой какая какое какие каком какого какую какому каким каких какими"},
    {"arabic", ASK_TIME, "متى متي امتى"},
    {"arabic", ASK_PLACE, "أين اين وين فين"},
    {"arabic", ASK_REASON, "لماذا ليش"},
    {"arabic", ASK_NUMBER, "كم بكم كام بكام قديش"},
    {"arabic", ASKS_WHICH, "أي اي أية اية ما ماهو ماهي ماهى"},
    {"hindi", ASK_PERSON, "कौन किसने किसे किसको किससे"},
    {"hindi", ASK_TIME, "कब"},
    {"hindi", ASK_PLACE, "कहाँ कहां"},
    {"hindi", ASK_REASON, "क्यों"},
    {"hindi", ASK_NUMBER, "कितना कितने कितनी कितनों"},
    {"hindi", ASKS_WHICH, "किस कौनसा कौनसी कौनसे"},
    /* Nouns behind "which" */
    {"german", ASK_TIME, "jahr jahre datum jahrhundert jahrzehnt monat tag zeit uhrzeit"},
    {"german", ASK_NUMBER, "prozentsatz anzahl zahl menge bevölkerung alter anteil rate größe temperatur geschwindigkeit preis "
     "länge höhe entfernung fläche gewicht kosten"},
    {"german", ASK_PLACE, "land stadt staat ort region kontinent insel fluss straße länder städte bundesland provinz"},
    {"german", ASK_NAME, "person mann frau könig königin präsident autor schauspieler sänger kaiser firma mannschaft gruppe "
     "organisation band universität schule album lied buch film sprache krieg schlacht"},
    {"french", ASK_TIME, "année date siècle décennie mois jour époque heure"},
    {"french", ASK_NUMBER, "pourcentage nombre quantité population âge proportion taux taille température vitesse prix longueur "
     "hauteur distance superficie poids coût"},
    {"french", ASK_PLACE, "pays ville état lieu région continent île rivière fleuve rue province département endroit"},
    {"french", ASK_NAME, "personne homme femme roi reine président auteur acteur actrice chanteur empereur joueur entreprise "
     "équipe groupe organisation université école album chanson livre film langue guerre bataille nom"},
    {"spanish", ASK_TIME, "año fecha siglo década mes día época hora"},
    {"spanish", ASK_NUMBER, "porcentaje número cantidad población edad proporción tasa tamaño temperatura velocidad precio "
     "longitud altura distancia superficie peso coste costo"},
    {"spanish", ASK_PLACE, "país ciudad estado lugar región continente isla río calle provincia"},
    {"spanish", ASK_NAME, "persona hombre mujer rey reina presidente autor actor actriz cantante emperador jugador empresa "
     "equipo grupo organización universidad escuela álbum canción libro película idioma lengua guerra batalla nombre"},
    {"italian", ASK_TIME, "anno data secolo decennio mese giorno epoca ora"},
    {"italian", ASK_PLACE, "paese città stato luogo regione continente isola fiume via provincia"},
    {"italian", ASK_NUMBER, "percentuale numero quantità popolazione età tasso dimensione temperatura velocità prezzo lunghezza "
     "altezza distanza superficie peso costo"},
    {"italian", ASK_NAME, "persona uomo donna re regina presidente autore attore attrice cantante imperatore giocatore azienda "
     "squadra gruppo organizzazione università scuola album canzone libro film lingua guerra battaglia nome"},
    {"portuguese", ASK_TIME, "ano data século década mês dia época hora"},
    {"portuguese", ASK_NUMBER, "percentagem porcentagem número quantidade população idade taxa tamanho temperatura preço altura "
     "distância área peso custo"},
    {"portuguese", ASK_PLACE, "país cidade estado lugar região continente ilha rio rua província"},
    {"portuguese", ASK_NAME, "pessoa homem mulher rei rainha presidente autor ator atriz cantor imperador jogador empresa equipa "
     "equipe grupo organização universidade escola álbum canção livro filme idioma língua guerra batalha nome"},
    {"russian", ASK_TIME, "год году года дата даты дату веке век день дня дни дням месяц числа часы часу время"},
    {"russian", ASK_PLACE, "стране страна город городе месте регионе улице"},
    {"arabic", ASK_TIME, "عام العام سنة السنة تاريخ التاريخ يوم اليوم شهر الشهر قرن القرن وقت الوقت ساعة الساعة"},
    {"arabic", ASK_NUMBER, "عدد نسبة مساحة طول ارتفاع عمر وزن سعر كمية سرعة مسافة قيمة تكلفة حجم"},
    {"arabic", ASK_PLACE, "مدينة المدينة دولة الدولة بلد البلد مكان المكان منطقة المنطقة قارة القارة جزيرة الجزيرة شارع موقع"},
};

/* Anywhere in a question without spaces; the first that is found. */
static const struct { const char *language; int kind; const char *words; } within[] = {
    {"chinese", ASK_REASON, "为什么 為什麼 为何 為何 原因"},
    {"chinese", ASK_TIME, "什么时候 什麼時候 何时 何時 哪年 哪一年 几月 几年 何年 哪天 时间"},
    {"chinese", ASK_TIME, "多久 多长时间 多長時間"},
    {"chinese", ASK_NUMBER, "多少 多大 多长 多長 多高 多远 几个 幾個 几人 几次 几种"},
    {"chinese", ASK_PLACE, "哪里 哪裡 哪儿 何处 何處 哪个国家 哪个城市 哪座城市 什么地方 位于哪"},
    {"chinese", ASK_PERSON, "谁 誰"},
    {"japanese", ASK_REASON, "なぜ 何故 どうして 理由"},
    {"japanese", ASK_TIME, "いつ 何年 何月 何日 何世紀 何時"},
    {"japanese", ASK_NUMBER, "いくつ いくら 何人 どのくらい どれくらい 何回 何個 何歳 何メートル 何パーセント 何種"},
    {"japanese", ASK_PLACE, "どこ 何県 何市 どの国 どの都市"},
    {"japanese", ASK_PERSON, "誰 だれ"},
};

/* Of a language written without spaces, what asks and says nothing of what is asked for. */
typedef struct light_words { const char *language, *phrases; } light_words;
static const light_words light[] = {
    {"chinese", "什么 什麼 甚么 甚麼 怎么 怎麼 怎样 怎樣 怎办 如何 为何 為何 多少钱 多少錢 多少 多久 多长时间 多長時間 多大 "
     "几点 幾點 几个 幾個 几号 幾號 几时 哪 谁负责 誰負責 找谁 找誰 谁 誰 有什么办法 怎么办 怎麼辦 怎么回事 怎麼回事 是什么意思 能不能 "
     "可不可以 是不是 有没有 有沒有 要不要 会不会 會不會 需不需要 可以 能否 是否 需要 请问 請問 问题 問題 应该 應該 该 該 吗 嗎 呢 "
     "的 我想 想要 我要 我的 我们 我們 我 你们 你們 你 您 每天 一下"},
    {"japanese", "ですか ますか ませんか でしょうか どこ いつ いくら いくつ 何時 何日 何人 何個 何回 何 誰 だれ どなた どうやって 何曜日 何時間 何週間 "
     "どうすれば どうしたら どう どの どれくらい どれ どんな なぜ どうして できますか ありますか しますか いいですか 教えて ください "
     "私 下さい の を いいの てもいい でもいい ばいい たらいい ていい でいい いいです よいです ちゃった ちゃって ちゃう ちゃい じゃった じゃう "
     "たい んだけど んですけど ですけど のですが んですが んです なのに てはいけ ちゃいけ だめです ダメです 大丈夫 もらえ もらうに もらいた いただけ くれる "
     "くれます くれた べきで べき でしょう だろう かな かしら ですよ ですね とき したら すれば したい になります うちの その これ それ あれ ここ なければ なりません ないといけ "
     "てきた てき ておく ている てい できる でき やっぱり ちょっと すぐに たら なら でも"},
};
/* clang-format on */

enum { ABOVE_NOTHING = 8 }; /* added to a kind in the table, where 0 is "not a question word" */
static word_table table;    /* immutable once it is built */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void build(void) {
    for (size_t i = 0; i < sizeof asking / sizeof *asking; i++)
        word_table_add_first(&table, language_number(asking[i].language), asking[i].words,
                             (uint32_t)(asking[i].kind + ABOVE_NOTHING));
}

int question_word_of(int language, const char *word, size_t len) {
    pthread_once(&once, build);
    const uint32_t kind = word_table_find(&table, language, word, len);
    return kind ? (int)kind - ABOVE_NOTHING : ASKS_NOTHING;
}

int question_kind_within(int language, const char *text, size_t len) {
    for (size_t i = 0; i < sizeof within / sizeof *within; i++) {
        if (!language_is(language, within[i].language)) continue;
        for (const char *s = within[i].words; *s;) {
            size_t n = strcspn(s, " ");
            if (memmem(text, len, s, n)) return within[i].kind;
            s += n + (s[n] == ' ');
        }
    }
    return ASK_OTHER;
}

/* Does one of the phrases, divided by spaces, stand in the text so that it has a byte of [start, end)? */
static bool reaches(const char *phrases, const char *text, size_t len, size_t start, size_t end) {
    for (const char *s = phrases; *s;) {
        const size_t n = strcspn(s, " ");
        size_t from = start >= n ? start - n + 1 : 0;
        const size_t to = end + n - 1 < len ? end + n - 1 : len;
        if (from < to && memmem(text + from, to - from, s, n)) return true;
        s += n + (s[n] == ' ');
    }
    return false;
}

bool question_word_is_light(int language, const char *text, size_t len, size_t start, size_t end) {
    if (language_is(language, "japanese") && (japanese_is_grammar(text, len, start, end) ||
                                              japanese_is_price_asked(text, len, start, end)))
        return true;
    const light_words *of = LANGUAGE_ROW(light, language);
    return of && reaches(of->phrases, text, len, start, end);
}
