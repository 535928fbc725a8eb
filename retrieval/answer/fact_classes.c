/* One hash table for all lists, keyed by language and word, built once. */
#include "retrieval/answer/fact_classes.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <utf8proc.h>
#include "index/format/term_hash.h"
#include "index/sparse/language.h"
#include "index/sparse/stopwords.h"
#include "kernels/utf8.h"
#include "retrieval/answer/question.h"

enum { SLOTS = 4096, LONGEST = 48 };

/* clang-format off */
static const struct { const char *language; uint32_t flags; const char *words; } lists[] = {
    {"german", WORD_NUMERAL, "ein eine zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn "
     "sechzehn siebzehn achtzehn neunzehn zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig hundert "
     "tausend million millionen milliarde milliarden dutzend hälfte viertel zweimal einmal erste zweite dritte vierte "
     "fünfte sechste siebte achte neunte zehnte ersten zweiten dritten vierten fünften"},
    {"german", WORD_CALENDAR, "januar februar märz april mai juni juli august september oktober november dezember montag "
     "dienstag mittwoch donnerstag freitag samstag sonnabend sonntag"},
    {"german", WORD_TIME, "jahrhundert jahrhunderts jahrzehnt jahrzehnte jahr jahre jahren jahres monat monate monaten woche "
     "wochen tag tage tagen stunde stunden minute minuten chr frühling frühjahr sommer herbst winter morgen abend nacht "
     "heute gestern mittag mitternacht uhr"},
    {"german", WORD_NEGATION | WORD_STOP, "nicht nie niemals kein keine keinen keiner keinem keines weder ohne außer niemand "
     "nichts nirgends nirgendwo"},
    {"german", WORD_REASON, "weil denn da wegen aufgrund daher deshalb deswegen darum folglich grund ursache führte führt "
     "damit dadurch"},
    {"german", WORD_PLACE, "in im bei am aus von nahe zwischen nördlich südlich östlich westlich norden süden osten westen"},
    {"german", WORD_ASKS, "man mir"},
    {"german", WORD_CLAUSE, "aber obwohl während jedoch doch sondern weil"},
    {"french", WORD_NUMERAL, "un une deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize "
     "vingt trente quarante cinquante soixante cent cents mille million millions milliard milliards dizaine douzaine "
     "moitié quart premier première deuxième second seconde troisième quatrième cinquième"},
    {"french", WORD_CALENDAR, "janvier février mars avril mai juin juillet août septembre octobre novembre décembre lundi "
     "mardi mercredi jeudi vendredi samedi dimanche"},
    {"french", WORD_TIME, "siècle siècles décennie décennies an ans année années mois semaine semaines jour jours heure "
     "heures minute minutes av apr printemps été automne hiver matin soir nuit hier demain midi minuit époque"},
    {"french", WORD_NEGATION | WORD_STOP, "ne n pas jamais aucun aucune sans ni rien personne nul nulle non excepté sauf"},
    {"french", WORD_REASON, "car parce puisque donc cause causes raison raisons grâce suite afin entraîne provoque permet"},
    {"french", WORD_PLACE, "à dans en près entre chez nord sud est ouest"},
    {"french", WORD_CLAUSE, "mais quoique bien tandis cependant toutefois car"},
    {"spanish", WORD_NUMERAL, "un uno una dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince "
     "dieciséis diecisiete dieciocho diecinueve veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa cien "
     "ciento cientos mil millón millones docena mitad cuarto primer primero primera segundo segunda tercer tercero tercera "
     "cuarta quinto quinta"},
    {"spanish", WORD_CALENDAR, "enero febrero marzo abril mayo junio julio agosto septiembre setiembre octubre noviembre "
     "diciembre lunes martes miércoles jueves viernes sábado domingo"},
    {"spanish", WORD_TIME, "siglo siglos década décadas año años mes meses semana semanas día días hora horas minuto minutos "
     "primavera verano otoño invierno mañana tarde noche hoy ayer mediodía medianoche época"},
    {"spanish", WORD_NEGATION | WORD_STOP, "no ni nunca jamás sin ningún ninguno ninguna nadie nada tampoco excepto salvo"},
    {"spanish", WORD_REASON, "porque pues debido causa causas razón razones motivo provoca permite consiguiente"},
    {"spanish", WORD_PLACE, "en cerca entre desde norte sur este oeste"},
    {"spanish", WORD_CLAUSE, "pero aunque mientras sino porque"},
    {"italian", WORD_NUMERAL, "un uno una due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici "
     "quindici sedici diciassette diciotto diciannove venti trenta quaranta cinquanta sessanta settanta ottanta novanta "
     "cento mille mila milione milioni miliardo miliardi dozzina metà quarto primo prima secondo seconda terzo terza"},
    {"italian", WORD_CALENDAR, "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre "
     "dicembre lunedì martedì mercoledì giovedì venerdì sabato domenica"},
    {"italian", WORD_TIME, "secolo secoli decennio decenni anno anni mese mesi settimana settimane giorno giorni ora ore "
     "minuto minuti primavera estate autunno inverno mattina sera notte oggi ieri mezzogiorno mezzanotte"},
    {"italian", WORD_NEGATION | WORD_STOP, "non né mai senza nessun nessuno nessuna niente nulla neanche tranne"},
    {"italian", WORD_REASON, "perché poiché causa cause ragione motivo quindi dunque grazie permette"},
    {"italian", WORD_PLACE, "in a nel nella vicino tra fra nord sud est ovest"},
    {"italian", WORD_CLAUSE, "ma sebbene mentre tuttavia però"},
    {"portuguese", WORD_NUMERAL, "um uma dois duas três quatro cinco seis sete oito nove dez onze doze treze catorze quatorze "
     "quinze dezesseis dezessete dezoito dezenove vinte trinta quarenta cinquenta sessenta setenta oitenta noventa cem "
     "cento mil milhão milhões bilhão bilhões dúzia metade quarto primeiro primeira segundo segunda terceiro terceira"},
    {"portuguese", WORD_CALENDAR, "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro "
     "segunda-feira terça quarta quinta sexta sábado domingo"},
    {"portuguese", WORD_TIME, "século séculos década décadas ano anos mês meses semana semanas dia dias hora horas minuto "
     "minutos primavera verão outono inverno manhã tarde noite hoje ontem época"},
    {"portuguese", WORD_NEGATION | WORD_STOP, "não nem nunca jamais sem nenhum nenhuma ninguém nada exceto salvo"},
    {"portuguese", WORD_REASON, "porque pois devido causa causas razão motivo portanto permite"},
    {"portuguese", WORD_PLACE, "em no na perto entre desde norte sul leste oeste"},
    {"portuguese", WORD_CLAUSE, "mas embora enquanto porém contudo porque"},
    {"dutch", WORD_NEGATION | WORD_STOP, "niet geen nooit zonder niemand niets noch nergens behalve"},
    {"swedish", WORD_NEGATION | WORD_STOP, "inte aldrig ingen inget inga utan varken ej"},
    {"danish", WORD_NEGATION | WORD_STOP, "ikke aldrig ingen intet uden hverken"},
    {"norwegian", WORD_NEGATION | WORD_STOP, "ikke aldri ingen intet uten verken"},
    {"finnish", WORD_NEGATION | WORD_STOP, "ei en et emme ette eivät älä ilman koskaan"},
    {"russian", WORD_NUMERAL, "один одна два две три четыре пять шесть семь восемь девять десять двадцать тридцать сорок сто "
     "тысяча тысячи тысяч миллион миллиона миллионов миллиард миллиардов половина первый второй третий"},
    {"russian", WORD_CALENDAR, "январь января феврале февраль февраля март марта апрель апреля май мая июнь июня июль июля август "
     "августа сентябрь сентября октябрь октября ноябрь ноября декабрь декабря понедельник вторник среда четверг пятница "
     "суббота воскресенье"},
    {"russian", WORD_TIME, "век века веке год года году годах годы лет месяц месяца месяцев неделя недели день дня дней час "
     "часа часов минута минут весна лето осень зима утро вечер ночь сегодня вчера"},
    {"russian", WORD_NEGATION | WORD_STOP, "не ни нет никогда без никто ничто ничего нигде нельзя кроме"},
    {"russian", WORD_REASON, "потому поэтому причина причиной из-за благодаря вследствие следовательно"},
    {"russian", WORD_PLACE, "в на около между у из север юг восток запад"},
    {"russian", WORD_CLAUSE, "но однако хотя а"},
    {"arabic", WORD_NEGATION | WORD_STOP, "لا لم لن ليس ليست ما غير دون بدون أبدا قط"},
    {"arabic", WORD_TIME, "عام سنة سنوات قرن القرن شهر يوم ساعة أسبوع صباح مساء"},
    {"arabic", WORD_CALENDAR, "يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر"},
    {"arabic", WORD_REASON, "لأن لأنه بسبب لذلك نتيجة"},
    {"hindi", WORD_NEGATION | WORD_STOP, "नहीं न मत बिना कभी"},
    {"hindi", WORD_TIME, "साल वर्ष सदी शताब्दी महीने दिन घंटे सप्ताह"},
    {"hindi", WORD_REASON, "क्योंकि कारण इसलिए वजह"},
    /* Written without spaces: words are characters and pairs of them. */
    {"chinese", WORD_NEGATION | WORD_STOP, "不 没 沒 无 無 未 非 没有 沒有 不是 并非 从未 未曾"},
    {"chinese", WORD_TIME, "年 月 日 世纪 世紀 年代 小时 分钟"},
    {"chinese", WORD_REASON, "因 因为 因為 由于 由於 所以 导致 原因"},
    {"japanese", WORD_NEGATION, "ない なかっ ませ ません ず 無い 非 未 不"},
    {"japanese", WORD_TIME, "年 月 日 世紀 年代 時間"},
    {"japanese", WORD_REASON, "ため 理由 原因 ので から"},
};

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
    {"portuguese", ASK_NUMBER, "quanto quanta quantos quantas"},
    {"portuguese", ASKS_WHICH, "qual quais que"},
    {"russian", ASK_PERSON, "кто кого кому кем"},
    {"russian", ASK_TIME, "когда"},
    {"russian", ASK_PLACE, "где куда откуда"},
    {"russian", ASK_REASON, "почему зачем отчего"},
    {"russian", ASK_NUMBER, "сколько"},
    {"russian", ASKS_WHICH, "какой какая какое какие каком какого какую"},
    {"arabic", ASK_TIME, "متى"},
    {"arabic", ASK_PLACE, "أين"},
    {"arabic", ASK_REASON, "لماذا"},
    {"arabic", ASK_NUMBER, "كم"},
    {"hindi", ASK_PERSON, "कौन किसने किसे"},
    {"hindi", ASK_TIME, "कब"},
    {"hindi", ASK_PLACE, "कहाँ कहां"},
    {"hindi", ASK_REASON, "क्यों"},
    {"hindi", ASK_NUMBER, "कितना कितने कितनी"},
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
    {"portuguese", ASK_TIME, "ano data século década mês dia época hora"},
    {"portuguese", ASK_NUMBER, "percentagem porcentagem número quantidade população idade taxa tamanho temperatura preço altura "
     "distância área peso custo"},
    {"portuguese", ASK_PLACE, "país cidade estado lugar região continente ilha rio rua província"},
    {"russian", ASK_TIME, "год году года дата веке век день месяц"},
    {"russian", ASK_PLACE, "стране страна город городе месте регионе улице"},
};

/* Anywhere in a question without spaces; the first that is found. */
static const struct { const char *language; int kind; const char *words; } within[] = {
    {"chinese", ASK_REASON, "为什么 為什麼 为何 為何 原因"},
    {"chinese", ASK_TIME, "什么时候 什麼時候 何时 何時 哪年 哪一年 几月 几年 何年 哪天 时间"},
    {"chinese", ASK_NUMBER, "多少 多大 多长 多長 多高 多远 几个 幾個 几人 几次 几种 多久"},
    {"chinese", ASK_PLACE, "哪里 哪裡 哪儿 何处 何處 哪个国家 哪个城市 哪座城市 什么地方 位于哪"},
    {"chinese", ASK_PERSON, "谁 誰"},
    {"japanese", ASK_REASON, "なぜ 何故 どうして 理由"},
    {"japanese", ASK_TIME, "いつ 何年 何月 何日 何世紀 何時"},
    {"japanese", ASK_NUMBER, "いくつ いくら 何人 どのくらい どれくらい 何回 何個 何歳 何メートル 何パーセント 何種"},
    {"japanese", ASK_PLACE, "どこ 何県 何市 どの国 どの都市"},
    {"japanese", ASK_PERSON, "誰 だれ"},
};
/* clang-format on */

typedef struct entry {
    const char *word; /* ends at a space or the list's end */
    uint32_t len;
    int language;
    uint32_t flags;
    int asks; /* + 8: 0 is "not a question word" */
} entry;

static struct {
    pthread_once_t once;
    entry slots[SLOTS]; /* immutable after that */
} table = {.once = PTHREAD_ONCE_INIT};

static entry *entry_of(int language, const char *word, size_t len) {
    for (uint32_t h = term_hash(word, len) + 0x9E3779B9u * (uint32_t)language;; h++) {
        entry *e = &table.slots[h % SLOTS];
        if (!e->word || (e->language == language && e->len == len && !memcmp(e->word, word, len)))
            return e;
    }
}

static void put_all(const char *language, const char *words, uint32_t flags, int asks) {
    int number = language_number(language);
    for (const char *s = words; *s;) {
        size_t n = strcspn(s, " ");
        entry *e = entry_of(number, s, n);
        if (!e->word) *e = (entry){s, (uint32_t)n, number, 0, 0};
        e->flags |= flags;
        if (asks && !e->asks) e->asks = asks;
        s += n + (s[n] == ' ');
    }
}

static void build(void) {
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        put_all(lists[i].language, lists[i].words, lists[i].flags, 0);
    for (int i = 0; language_name(i); i++)
        put_all(language_name(i), asking_words_of(language_name(i), false), WORD_ASKS, 0);
    for (size_t i = 0; i < sizeof asking / sizeof *asking; i++)
        put_all(asking[i].language, asking[i].words, 0, asking[i].kind + 8);
}

static const entry *find(int language, const char *word, size_t len) {
    char lower[LONGEST + 4];
    size_t n = 0;
    if (language < 0 || len > LONGEST) return NULL;
    pthread_once(&table.once, build);
    for (size_t i = 0; i < len && n <= LONGEST;) {
        int32_t cp;
        i += fo_utf8_decode(word + i, len - i, &cp);
        if (cp < 0) return NULL;
        n += fo_utf8_encode(utf8proc_tolower(cp), lower + n);
    }
    const entry *e = n <= LONGEST ? entry_of(language, lower, n) : NULL;
    return e && e->word ? e : NULL;
}

uint32_t fact_class_of(int language, const char *word, size_t len) {
    const entry *e = find(language, word, len);
    return e ? e->flags : 0;
}

int question_word_of(int language, const char *word, size_t len) {
    const entry *e = find(language, word, len);
    return e && e->asks ? e->asks - 8 : ASKS_NOTHING;
}

int question_kind_within(int language, const char *text, size_t len) {
    const char *name = language_name(language);
    for (size_t i = 0; name && i < sizeof within / sizeof *within; i++) {
        if (strcmp(within[i].language, name)) continue;
        for (const char *s = within[i].words; *s;) {
            size_t n = strcspn(s, " ");
            if (memmem(text, len, s, n)) return within[i].kind;
            s += n + (s[n] == ' ');
        }
    }
    return ASK_OTHER;
}
