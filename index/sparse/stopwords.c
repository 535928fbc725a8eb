#include "index/sparse/stopwords.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *language, *words;
} lists[] = {
    {"english",
     "a an and are as at be but by did do does for from had has have how if in into is it its no "
     "not of on or such that the their then there these they this to was were what when where "
     "which who whom why will with"},
    {"german",
     "aber als am an auch auf aus bei bin bis da das dass dem den der des die du durch ein eine "
     "einem einen einer eines er es für hat hatte ich ihr im in ist ja kann mit nach nicht noch "
     "nur oder sein sich sie sind so um und uns von vor war warum was wer wie wir wird wo wurde "
     "zu zum zur über"},
    {"french",
     "a au aux avec c ce ces cette comment d dans de des du elle elles en est et eu il ils j je l "
     "la le les leur lui m mais me n ne nous on ont ou où par pas pour pourquoi qu quand que "
     "quel quelle quels quelles qui s sa se ses si son sont sur t tu un une vous y à été être"},
    {"spanish",
     "a al como con cuando cuál cómo de del desde donde dónde el ella ellos en era es esta este "
     "esto fue ha han hay la las le les lo los más me mi muy no nos o para pero por porque que "
     "quien qué quién se ser si sin sobre son su sus también te tiene un una uno y ya"},
    {"italian",
     "a ad agli ai al alla alle anche c che chi ci come con cosa cui d da dai dal dalla dei del "
     "della delle dello di dove e ed era essere fu gli ha hanno i il in io l la le lo loro ma mi "
     "ne nei nel nella non o per perché più quale quando quello questo se si sono su sua sul suo "
     "tra un una uno è"},
    {"portuguese", "a ao aos as até com como da das de do dos e ela ele em era essa esse esta este "
                   "eu foi há isso "
                   "já mais mas me na nas no nos num numa não o onde os ou para pela pelas pelo "
                   "pelos por porque qual quando que "
                   "quem se sem ser seu sua são também tem um uma à é"},
    {"dutch",
     "aan al als bij dan dat de den der deze die dit door een en er had heb hebben heeft het hij "
     "hoe ik in is je kan maar met naar niet nog of om ook op over te tot uit van voor waar "
     "waarom was wat we wel wie worden wordt zich zij zijn zo"},
    {"swedish",
     "att av de dem den det där du efter ej eller en ett från för ha har hade han hon hur i inte "
     "jag kan med men mot ni nu när och om oss på sig sin ska som så till under upp ut vad var "
     "varför vem vi vid vilken är över"},
    {"danish",
     "af at da de dem den der det du efter eller en er et for fra få ham han har havde hun hvad "
     "hvem hvor hvorfor hvordan i ikke ind jeg kan kun med men mod nu når og om op os over på "
     "sig sin skal som så til ud under var ved vi vil"},
    {"norwegian",
     "av at da de deg dem den der det du eller en er et etter for fra få ha ham han har hun hva "
     "hvem hvor hvorfor hvordan i ikke jeg kan med men mot nå når og om opp oss over på seg sin "
     "skal som så til under ut var ved vi vil"},
    {"finnish",
     "ei ja jos joka kanssa kuin kuka mikä missä miten miksi mutta myös ne niin nyt ole on "
     "olen oli olla ovat se sen siitä sitä tai tämä tässä vain voi"},
    {"russian",
     "а бы был была были было быть в вам вас во вот все вы где да для до его ее ей если есть еще "
     "же за и из или им их к как какой когда кто ли между мне мы на не него нет но ну о об он она "
     "они от по под почему при с сказал со так также там то только ты у уже что чтобы эта эти это "
     "этот я"},
    {"arabic", "أو أي أين إلا إلى إن أن الذي التي الذين بعد بين به بها تم ثم حتى خلال ذلك سنة عام "
               "على عليه عن عند "
               "غير في فيه فيها قبل قد كان كانت كل كم كما كيف لا لم له لها لماذا ليس ما ماذا متى "
               "مع من منذ منها منه "
               "هذا هذه هل هو هي وقد وكان ولم ومن وهو وهي"},
    /* as the analyzer folds them: without the dot below and the moon-dot */
    {"hindi",
     "अपने आप इन इस इसके उन उनके उस उसके एक और कब करता करते करना करने कहां कहा का कि कितना कितने किस किसने "
     "किसी की कुछ के को कोई कौन क्या क्यों गए गया जब जाता जाती जाते जो तक तथा तो था थी थे द्वारा नहीं ने पर "
     "बहुत बाद भी में यह यहां या ये रहा रही रहे लिए वह वाला वाले वे सकता सकते सभी साथ से हम ही हुआ हुई हुए "
     "है हैं हो होता होती होते"},
    {"chinese", "的 了 是 在 和 与 與 也 都 就 而 及 或 但 被 把 从 從 到 对 對 于 於 为 為 以 之 "
                "其 这 這 那 个 個 吗 嗎 "
                "呢 吧 什 么 麼 谁 誰 哪 何 几 幾 怎 什么 什麼 怎么 怎麼 么样 哪里 哪裡 哪个 哪個 "
                "哪些 多少 几个 为什 "
                "是什 有什 了什 的是 是在 在哪"},
    {"japanese", "の は が を に で と も へ や か た て し れ さ な い る う ら り だ す ま っ ん "
                 "こ そ 何 誰 です ます でし "
                 "まし した たか すか ます せん ある いる する なる れた って とい いう こと もの "
                 "ため から まで より など "
                 "どこ いつ どの どん なに なん 何で 何と 何の 誰が"},
};

/* What people begin questions with, and the verbs beside: no stop words of the index, whose terms they are. said: such as say
 * something of what is asked for. */
static const struct {
    const char *language, *words, *said;
} asking[] = {
    {"english",
     "could would should can may must shall you your my me our us please tell write show many much "
     "any about does",
     "cost costs"},
    {"german",
     "wieviel wieviele welche welcher welches welchem welchen wem wen wessen woher wohin wieso "
     "weshalb darf dürfen muss müssen muß soll sollte sollen können könnte brauche braucht "
     "brauchen "
     "kriege bekomme bekommt mein meine meinen meinem meiner mich",
     "kostet kosten gibt"},
    {"french",
     "combien faut doit doivent peut peuvent puis dois peux veux voudrais lequel laquelle notre "
     "votre",
     "coûte coûtent"},
    {"spanish",
     "cuánto cuánta cuántos cuántas cuanto cuanta cuantos cuantas cuándo cuáles quiénes adónde "
     "puedo puede pueden tengo debo quiero necesito",
     "cuesta cuestan hace"},
    {"italian", "quanto quanta quanti quante quali posso può possono devo deve voglio", "costano"},
    {"portuguese",
     "quanto quanta quantos quantas quais aonde posso pode podem devo deve devem tenho preciso "
     "quero meu minha",
     "custa custam"},
    {"russian",
     "сколько скольки скольких какой какая какое какие какого какую каком какому каким каких "
     "какими каков какова каково каковы кто кого кому кем чем чего чему куда откуда зачем почём "
     "почем чья чей чьё нас нам наш наша наше наши меня мой моя моё мои мою моего вас вам ваш ваша "
     "ваши себе себя собой нельзя нужно надо нужен нужна нужны должен должна должны будет "
     "будут буду могу может можем могут хочу хотим подскажите скажите пожалуйста",
     "стоит стоят"},
    {"arabic",
     "بماذا بما بمن لمن ممن مما فيم فيما علام إلام ماهو ماهي ماهى ماهم مين ومن وما وماذا ومتى وكم "
     "وأين اين وين فين متي امتى كام "
     "بكم بكام قديش ليش ايش وش شو إيه ايه اي أية اية فى الى إلي يوجد توجد يمكن يمكنني يمكننا "
     "أستطيع استطيع نستطيع يجب ينبغي "
     "علينا أريد اريد نريد لنا لدي عندي عندنا عندكم لديكم لدينا رجاء الرجاء فضلك أخبرني اخبرني "
     "يكون تكون",
     ""},
    {"hindi",
     "किससे किसको किसे किसका किसकी किसके किसमें किन किनको किनसे कैसे कैसा कैसी कौनसा कौनसी कौनसे कितनों "
     "कहाँ कहां करें करूँ करूं करेगा करेंगे कराएँ कराएं जाए जाएँ जाएं जाऊँ जाऊं जाएगा जाएगी जाएँगे जाएंगे दें दूँ दूं "
     "देना देनी देने चाहिए सकता सकते सकती सकूँ सकूं होगा होगी होंगे होंगी लगेगा लगेगी लगेंगे लगेंगी पड़ेगा पड़ेगी "
     "पड़ेंगे पड़ता पड़ती बताइए बताइये बताएँ बताएं बताओ कृपया हूँ हूं मुझे हमें मैं मेरा मेरी मेरे हमारा हमारी हमारे "
     "आपका आपकी आपके मुझको हमको",
     ""},
};

const char *asking_words_of(const char *language, bool said) {
    for (size_t i = 0; i < sizeof asking / sizeof *asking; i++)
        if (strcmp(asking[i].language, language) == 0)
            return said ? asking[i].said : asking[i].words;
    return "";
}

const char *stopwords_of(const char *language) {
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (strcmp(lists[i].language, language) == 0) return lists[i].words;
    return "";
}
