#include "retrieval/text/fact_classes.h"

#include <pthread.h>
#include <stdbool.h>
#include "index/sparse/language.h"
#include "index/sparse/stopwords.h"
#include "retrieval/text/facts.h"
#include "retrieval/text/word_table.h"

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
    {"german", WORD_ASKS, "man mir dir du dich mich euch bitte denn kannst könnt könnten willst wollen will wollt möchte möchten "
     "möchtest darfst dürft dürfte musst müsst müsste sollst hab habe haben habt werde werden würde bekommen kriegen "
     "kriegt dein deine deinen deinem deiner unser unsere unseren unserem unserer euer eure euren eurem eurer"},
    {"german", WORD_ASKS, "alle allem allen aller alles also andere anderem anderen anderer anderes bist dabei dafür damit dann davon "
     "dazu deren dessen dies diese diesem diesen dieser dieses doch dort einige einigen einiger eigentlich etwas falls gegen gerade "
     "gern gerne gewesen gibts hast hatten hätte hätten hier hinter ihm ihn ihnen ihre ihrem ihren ihrer ihres indem ins irgendwo "
     "jede jedem jeden jeder jedes jemand jemanden jetzt lassen lasse lässt mal machen mache machst macht gemacht manche mehr ob obwohl passiert passieren "
     "geschieht raus rauf rein rüber runter schon sehr seid seine seinem seinen seiner selbst sobald solange sonst tue tun tust tut überhaupt unter "
     "vom beim ab "
     "bevor wann wäre wären waren während wart wenn wirst wodurch wofür womit woran worauf worüber wovon wozu worden wurden "
     "zwischen"},
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
    {"french", WORD_ASKS, "mon ma mes ton ta tes nos vos ai as avons avez avait suis sommes devons devez devrait pouvons pouvez "
     "pourrait pourrais pourra veut voulons voulez voudrions aimerais faudra faudrait besoin ça"},
    {"french", WORD_ASKS, "afin ainsi aller allez vais vas vont alors arrive aura aurai auraient aurais aurait auras aurons aurez "
     "auront aussi autre autres avaient avais avoir ayant beaucoup ceci cela celle celles celui ceux chose donc dont depuis durant es "
     "étaient étais était êtes eux fais faisons fait faire faites font fut ici jusqu jusque là lors lorsque même mêmes moi "
     "pendant plus pourraient puisse quelqu quelque quelques quoi sera serai seraient serait seras serez serons seront soit soi soient "
     "toi tous tout toute toutes très trop va"},
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
    {"spanish", WORD_ASKS, "mi mis tu tus nuestro nuestra nuestros nuestras vuestro vuestra vuestros vuestras mío mía míos mías "
     "he has hemos habéis podemos podéis podría podríamos podrían puedes debemos deben debería tenemos tienes quieres "
     "quiere queremos quisiera necesitamos necesita"},
    {"spanish", WORD_ASKS, "algo alguien algún alguna algunas alguno algunos aquí así cada cual da dan dar darme das debe deja dejar "
     "durante ellas eres esa esas ese eso esos está están estamos estar estás estoy estos estas fueron había habrá habría haber "
     "haces hacer hacemos hacen hacerlo hago haga hasta mí misma mismo mucha muchas mucho muchos ocurre otra otras otro otros pasa "
     "pasaría sea sean será serán sería sois somos soy sucede tan tanto tendré tendrá tener tengas tenga todo toda todos todas "
     "tuve tuvo unas unos va van vamos voy yo"},
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
    {"italian", WORD_ASKS, "puoi possiamo potete potrei potrebbe potremmo devi dobbiamo dovete devono dovrei dovremmo dovrebbe "
     "vuoi vuole vogliamo volete vogliono vorrei vorremmo bisogna tocca ho hai abbiamo "
     "avete avuto avuta mio mia miei mie tuo tua tuoi tue nostro nostra nostri nostre vostro vostra vostri vostre vi ti"},
    {"italian", WORD_ASKS, "abbia abbiano altra altre altri altro allora aver avere aveva avevo capita entro fa faccia faccio facciamo "
     "fai fanno far fare fate farlo farmi fino finché foss fosse fossero lei lui noi voi li molta molte molti molto ogni poter poterlo "
     "qualche qualcosa qualcuno quegli quei quel quella quelle quelli quest questa queste questi sarà saranno sarebbe siamo siete "
     "sia siano sta stai stanno stare sto succede tante tanti tanto te tutta tutte tutti tutto va vado vai vanno vengono viene venga "
     "erano ve me"},
    {"portuguese", WORD_NUMERAL, "um uma dois duas três quatro cinco seis sete oito nove dez onze doze treze catorze quatorze "
     "quinze dezesseis dezasseis dezessete dezassete dezoito dezenove dezanove vinte trinta quarenta cinquenta sessenta setenta oitenta noventa cem "
     "cento mil milhão milhões bilhão bilhões dúzia metade quarto primeiro primeira segundo segunda terceiro terceira"},
    {"portuguese", WORD_CALENDAR, "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro "
     "feira segundas terça terças quarta quartas quinta quintas sexta sextas sábado sábados domingo domingos"},
    {"portuguese", WORD_TIME, "século séculos década décadas ano anos mês meses semana semanas dia dias hora horas minuto "
     "minutos primavera verão outono inverno manhã tarde noite hoje ontem amanhã madrugada época"},
    {"portuguese", WORD_NEGATION | WORD_STOP, "não nem nunca jamais sem nenhum nenhuma ninguém nada exceto excepto salvo tampouco"},
    {"portuguese", WORD_REASON, "porque pois devido causa causas razão razões motivo motivos portanto permite provoca"},
    {"portuguese", WORD_PLACE, "em no na perto entre desde norte sul leste oeste"},
    {"portuguese", WORD_CLAUSE, "mas embora enquanto porém contudo todavia entretanto porque"},
    {"portuguese", WORD_ASKS, "podes podemos poderia poderíamos poderiam podia devemos deve devem devia deveria temos tenho tens preciso "
     "precisamos precisa precisam quero queria queremos quer gostaria gostava dá ir vai vão vou vamos fazer faço faz fazem pra pras pro pros meus minhas nosso nossa nossos nossas "
     "teu tua teus tuas vosso vossa vossos vossas você vocês comigo connosco conosco nós lhe lhes"},
    {"portuguese", WORD_ASKS, "acontece algo alguém algum alguma algumas alguns aquela aquelas aquele aqueles aquilo cada dela delas "
     "dele deles durante elas eles entre eram essas esses estas estes estou estão estar estava esteja está fica for fosse havia "
     "houver isto lá mim muita muitas muito muitos nela nele nessa nesse nesta neste numas outra outras outro outros poder seja sejam "
     "seremos será serão seria só sou somos sob tal tanto teve tinha ter terei terá teria têm toda todas todo todos tudo uns umas"},
    {"dutch", WORD_NEGATION | WORD_STOP, "niet geen nooit zonder niemand niets noch nergens behalve"},
    {"swedish", WORD_NEGATION | WORD_STOP, "inte aldrig ingen inget inga utan varken ej"},
    {"danish", WORD_NEGATION | WORD_STOP, "ikke aldrig ingen intet uden hverken"},
    {"norwegian", WORD_NEGATION | WORD_STOP, "ikke aldri ingen intet uten verken"},
    {"finnish", WORD_NEGATION | WORD_STOP, "ei en et emme ette eivät älä ilman koskaan"},
    {"russian", WORD_NUMERAL, "один одна два две три четыре пять шесть семь восемь девять десять двадцать тридцать сорок сто "
     "тысяча тысячи тысяч миллион миллиона миллионов миллиард миллиардов половина первый второй третий"},
    {"russian", WORD_CALENDAR, "январь января феврале февраль февраля март марта апрель апреля май мая июнь июня июль июля август "
     "августа сентябрь сентября октябрь октября ноябрь ноября декабрь декабря январе марте апреле мае июне июле августе сентябре "
     "октябре ноябре декабре понедельник понедельника понедельникам вторник вторника вторникам среда среду среды средам четверг "
     "четверга четвергам пятница пятницу пятницы пятницам суббота субботу субботы субботам воскресенье воскресенья воскресеньям "
     "пн вт ср чт пт сб вс"},
    {"russian", WORD_TIME, "век века веке год года году годах годы лет месяц месяца месяцев неделя недели неделю недель день дня дней дни сутки суток час "
     "часа часов минута минут минуты ежедневно еженедельно ежемесячно весна лето осень зима утро вечер ночь сегодня вчера"},
    {"russian", WORD_NEGATION | WORD_STOP, "не ни нет никогда без никто ничто ничего нигде нельзя кроме"},
    {"russian", WORD_REASON, "потому поэтому причина причиной из-за благодаря вследствие следовательно"},
    {"russian", WORD_PLACE, "в на около между у из север юг восток запад"},
    {"russian", WORD_CLAUSE, "но однако хотя а"},
    {"arabic", WORD_NEGATION | WORD_STOP, "لا لم لن ليس ليست ما غير دون بدون أبدا قط"},
    {"arabic", WORD_TIME, "عام سنة سنوات قرن القرن شهر يوم ساعة أسبوع صباح مساء سنتين عامين أشهر شهور الشهر شهرين شهريا شهريًا شهريًّا "
     "أيام اليوم يومين يوميا يوميًا يوميًّا ساعات الساعة ساعتين دقيقة دقائق أسابيع الأسبوع أسبوعين سنويا سنويًا سنويًّا صباحا صباحًا مساءً ظهرا ظهرًا "
     "الظهر عصرا عصرًا ليلا ليلًا الغروب منتصف أمس غدا غدًا الصيف الشتاء الربيع الخريف رمضان"},
    {"arabic", WORD_CALENDAR, "يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر كانون شباط آذار نيسان أيار "
     "حزيران تموز آب أيلول تشرين جانفي فيفري أفريل ماي جوان جويلية أوت الأحد الاثنين الإثنين الثلاثاء الأربعاء الخميس الجمعة السبت"},
    {"arabic", WORD_NUMERAL, "واحد واحدة اثنان اثنين اثنتان اثنتين اثنا اثني ثلاثة ثلاث أربعة أربع خمسة خمس ستة ست سبعة سبع ثمانية ثماني ثمان تسعة تسع "
     "عشرة عشر عشرون عشرين ثلاثون ثلاثين أربعون أربعين خمسون خمسين ستون ستين سبعون سبعين ثمانون ثمانين تسعون تسعين مئة مائة مئتان "
     "مئتين مائتين ألف ألفا ألفًا ألفين آلاف مليون ملايين نصف ثلث ربع مرتين مرتان"},
    {"arabic", WORD_ASKS, "أريد اريد نريد أستطيع استطيع نستطيع أقدر اقدر نقدر يمكن يمكنني يمكننا يجب لازم ممكن يلزم يلزمني ينبغي أجد اجد نجد "
     "أحتاج احتاج نحتاج عندي عندنا لدي لدينا لي لنا علي علينا ليش وين فين اين امتى شو ايش إيش كيف بكم بكام كام قديش أفعل افعل نفعل "
     "أعمل اعمل نعمل أضع اضع نضع أحصل احصل نحصل آخذ اخذ أعرف اعرف هي هو أنا انا نحن اللي اي الى لو سمحت سمحتم فضلك فضلكم رجاء مين بمن لمن ليه"},
    {"arabic", WORD_REASON, "لأن لأنه لأنها بسبب لذلك نتيجة"},
    {"hindi", WORD_NUMERAL, "एक दो तीन चार पाँच पांच छह छः सात आठ नौ दस ग्यारह बारह तेरह चौदह पंद्रह सोलह सत्रह अठारह उन्नीस बीस "
     "पच्चीस तीस चालीस पचास साठ सत्तर अस्सी नब्बे सौ हज़ार हजार लाख करोड़ आधा आधी डेढ़ ढाई दोगुना पहला पहली दूसरा दूसरी तीसरा तीसरी"},
    {"hindi", WORD_CALENDAR, "जनवरी फ़रवरी फरवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर सितम्बर अक्टूबर अक्तूबर नवंबर नवम्बर "
     "दिसंबर दिसम्बर सोमवार मंगलवार बुधवार गुरुवार गुरूवार बृहस्पतिवार वीरवार शुक्रवार शनिवार रविवार इतवार सोम बुध शुक्र शनि रवि"},
    {"hindi", WORD_NEGATION | WORD_STOP, "नहीं न मत बिना कभी"},
    {"hindi", WORD_TIME, "साल सालों वर्ष वर्षों सदी शताब्दी दशक महीना महीने महीनों माह दिन दिनों हफ़्ता हफ्ता हफ़्ते हफ्ते सप्ताह घंटा "
     "घंटे घंटों मिनट सेकंड बजे तारीख तारीख़ तिथि सुबह सवेरे दोपहर शाम सायं रात रात्रि प्रातः आज कल परसों प्रतिदिन रोज़ाना रोज "
     "साप्ताहिक मासिक वार्षिक गर्मी सर्दी"},
    {"hindi", WORD_REASON, "क्योंकि कारण इसलिए वजह"},
    /* Written without spaces: words are characters and pairs of them. */
    {"chinese", WORD_NEGATION | WORD_STOP, "不 没 沒 无 無 未 非 没有 沒有 不是 并非 从未 未曾"},
    {"chinese", WORD_TIME, "年 月 日 周 週 天 时 時 世纪 世紀 年代 小时 分钟"},
    {"chinese", WORD_REASON, "因 因为 因為 由于 由於 所以 导致 原因"},
    {"japanese", WORD_NEGATION, "ない なかっ ませ ません ず 無い 非 未 不"},
    {"japanese", WORD_TIME, "年 月 日 世紀 年代 時間"},
    {"japanese", WORD_REASON, "ため 理由 原因 ので から"},
};
/* clang-format on */

static word_table table; /* immutable once it is built */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void build(void) {
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        word_table_add(&table, language_number(lists[i].language), lists[i].words, lists[i].flags);
    for (int i = 0; language_name(i); i++)
        word_table_add(&table, i, asking_words_of(language_name(i), false), WORD_ASKS);
}

uint32_t fact_class_of(int language, const char *word, size_t len) {
    pthread_once(&once, build);
    return word_table_find(&table, language, word, len);
}
