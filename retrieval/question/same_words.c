#include "retrieval/question/same_words.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "index/sparse/analyze.h"
#include "index/sparse/language.h"
#include "kernels/buf.h"
#include "kernels/words.h"
#include "retrieval/text/word_table.h"

/* Words of one string are the same. One of a stem is enough, and a word stands in one string of its language.
 * No word is here whose stem is also that of another (as_written), and none that is the
 * other only among other things ("macchina" is a car or any machine). */
/* clang-format off */
static const struct { const char *language, *words; } groups[] = {
    /* forms */
    {"english", "lose lost loss"}, {"english", "break broke broken"}, {"english", "buy bought purchase"},
    {"english", "take took taken"}, {"english", "pay paid payment"}, {"english", "keep kept"},
    {"english", "bring brought"}, {"english", "send sent"}, {"english", "build built"}, {"english", "sell sold"},
    {"english", "teach taught"}, {"english", "speak spoke spoken"}, {"english", "write wrote written"},
    {"english", "choose chose chosen choice"}, {"english", "steal stole stolen theft"}, {"english", "hold held"},
    {"english", "give gave given"}, {"english", "eat ate eaten"}, {"english", "drive drove driven"},
    {"english", "spend spent"}, {"english", "win won"}, {"english", "grow grew grown"}, {"english", "catch caught"},
    {"english", "lend lent"}, {"english", "wear wore worn"}, {"english", "fly flew flown"}, {"english", "swim swam"},
    {"english", "know knew known"}, {"english", "feed fed"}, {"english", "forget forgot forgotten"},
    {"english", "die died death"}, {"english", "fall fell fallen"}, {"english", "throw threw thrown"},
    {"english", "ride rode ridden"}, {"english", "sleep slept"}, {"english", "tear tore torn"}, {"english", "hide hid hidden"}, {"english", "become became"},
    {"english", "child children kid"}, {"english", "man men"}, {"english", "woman women"}, {"english", "tooth teeth"},
    {"english", "mouse mice"}, {"english", "knife knives"}, {"english", "shelf shelves"},
    {"english", "loaf loaves"}, {"english", "half halves"}, {"english", "scarf scarves"}, {"english", "wife wives"},
    {"english", "thief thieves"}, {"english", "calf calves"}, {"english", "foot feet"}, {"english", "goose geese"},
    /* everyday words */
    {"english", "fridge refrigerator"}, {"english", "phone telephone tel"}, {"english", "wifi wireless wlan"},
    {"english", "bike bicycle"}, {"english", "car automobile"}, {"english", "jumper sweater pullover"},
    {"english", "remove delete"}, {"english", "bigger larger"}, {"english", "biggest largest"},
    {"english", "begin began begun start commence"}, {"english", "close shut"}, {"english", "repair mend fix"},
    {"english", "mum mom mother"}, {"english", "dad father"}, {"english", "grandma granny grandmother"},
    {"english", "grandpa grandad grandfather"}, {"english", "firm company"}, {"english", "quit resign resignation"},
    {"english", "garbage rubbish trash"}, 
    {"english", "petrol gasoline"}, {"english", "sofa couch"},
    {"english", "cab taxi"}, {"english", "movie film"}, {"english", "toilet lavatory loo restroom"},
    {"english", "doctor physician"}, {"english", "tap faucet"}, {"english", "torch flashlight"}, {"english", "forbidden prohibited banned"},
    {"english", "salary wage"}, {"english", "smartphone cellphone"}, {"english", "sick ill illness"}, {"english", "exam examination"},
    {"english", "staff employee"}, {"english", "guarantee warranty"}, {"english", "year yearly annual annually"}, {"english", "road street"},
    {"english", "weigh weight"},
    {"english", "hen chicken"}, {"english", "reimburse refund"}, {"english", "midday noon"},
    {"english", "lawyer solicitor"}, {"english", "diaper nappy"}, {"english", "motorbike motorcycle"}, {"english", "lorry truck"},

    {"german", "verlieren verliere verliert verloren verlor verlust"}, {"german", "schließen schließt geschlossen schließung"},
    {"german", "öffnen öffnet geöffnet öffnung"}, {"german", "essen isst gegessen"}, {"german", "bringen bringt gebracht"},
    {"german", "zurückbringen zurückgebracht zurückgeben zurückgegeben rückgabe"}, {"german", "mitbringen mitgebracht"},
    {"german", "leihen leihe leiht geliehen ausleihen ausgeliehen ausleihe"}, {"german", "abgeben abgegeben abgabe"},
    {"german", "nehmen nimmt genommen"}, {"german", "mitnehmen mitgenommen mitnahme"}, {"german", "sprechen spricht gesprochen"},
    {"german", "zerbrechen zerbrochen"}, {"german", "schreiben schreibt geschrieben"}, {"german", "wählen gewählt wahl"},
    {"german", "anmelden anmelde angemeldet anmeldung"}, {"german", "abmelden abgemeldet abmeldung"},
    {"german", "einziehen eingezogen einzug"}, {"german", "ausziehen ausgezogen auszug"},
    {"german", "abholen abgeholt abholung"}, {"german", "anrufen angerufen anruf"}, {"german", "absagen abgesagt"},
    {"german", "verschieben verschoben"}, {"german", "treffen trifft getroffen"}, {"german", "gewinnen gewinnt gewonnen"},
    {"german", "laufen läuft gelaufen"}, {"german", "waschen wäscht gewaschen"}, {"german", "werfen wirft geworfen"},
    {"german", "fahren fährt"}, {"german", "schlafen schläft geschlafen"}, {"german", "helfen hilft geholfen"},
    {"german", "beginnen beginnt beginn begonnen anfangen anfängt angefangen anfang"},
    {"german", "zahlen zahlt bezahlen bezahlt gezahlt bezahlung zahlung"}, {"german", "reparieren repariert reparatur"},
    {"german", "auto pkw wagen"}, {"german", "fahrrad rad velo"}, {"german", "handy mobiltelefon"},
    {"german", "kita kindergarten kindertagesstätte"}, {"german", "aufzug fahrstuhl lift"},
    {"german", "geschirrspüler spülmaschine geschirrspülmaschine"}, {"german", "müll abfall"},
    {"german", "sofa couch"}, {"german", "brötchen semmel"}, {"german", "samstag sonnabend"},
    {"german", "stornieren storno stornierung"}, {"german", "kaputt defekt"},
    {"german", "hausmeister hauswart"}, {"german", "putzen reinigen säubern"}, {"german", "heiraten heirat hochzeit"},
    {"german", "regnet regen"}, {"german", "gehalt lohn"}, {"german", "erlaubt gestattet"},
    {"german", "verboten untersagt"}, {"german", "oma großmutter"}, {"german", "opa großvater"}, {"german", "mama mutter"},
    {"german", "papa vater"}, {"german", "kühlschrank kühlgerät"}, {"german", "bücherei bibliothek"},
    {"german", "chef vorgesetzte"}, {"german", "arzt ärztin"}, {"german", "telefon tel"},

    {"french", "perdre perd perdu perte"}, {"french", "ouvrir ouvert ouverture ouvre"}, {"french", "mettre met mis"},
    {"french", "prendre prend"}, {"french", "rendre rend rendu"}, {"french", "fermer fermeture"},
    {"french", "écrire écrit"}, {"french", "élire élu élection"}, {"french", "inscrire inscrit inscription"},
    {"french", "recevoir reçoit reçu"}, {"french", "offrir offert"}, {"french", "vendre vend vendu"},
    {"french", "choisir choisit choix"}, {"french", "réduire réduit réduction"}, {"french", "casser cassé"},
    {"french", "interdire interdit interdiction"}, {"french", "emprunter emprunt"}, {"french", "répondre répond réponse"},
    {"french", "payer paie paiement"}, {"french", "commencer commence début débuter"}, 
    {"french", "pleut pleuvoir pluie"}, {"french", "boire boit bu"}, {"french", "conduire conduit"},
    {"french", "voiture auto automobile"}, {"french", "vélo bicyclette"},
    {"french", "annuler résilier annulation résiliation"}, 
    {"french", "enfant gamin gosse môme"}, {"french", "travail boulot emploi"}, {"french", "ordures déchets"},
    {"french", "appartement appart"}, {"french", "chien toutou"}, {"french", "ticket billet"}, {"french", "canapé sofa"},
    {"french", "frigo réfrigérateur"}, 
    {"french", "médecin docteur"}, {"french", "ami copain"}, {"french", "clé clef"},
    {"french", "bateau navire"}, {"french", "autorisé permis admis"}, {"french", "bus autobus"},
    {"french", "arachide cacahuète"}, {"french", "télévision téléviseur"}, {"french", "téléphone tél"},
    {"french", "soir soirée"}, {"french", "matin matinée"},

    {"spanish", "romper rompe roto rotura"}, {"spanish", "abrir abre abierto apertura"},
    {"spanish", "cerrar cierra cerrado cierre"}, {"spanish", "perder pierde perdido pérdida"},
    {"spanish", "escribir escrito"}, {"spanish", "volver vuelve vuelto"}, {"spanish", "devolver devuelve devuelto devolución"},
    {"spanish", "elegir elegido elección"}, {"spanish", "empezar empieza comenzar comienza comienzo"},
    {"spanish", "costar cuesta coste costo"}, {"spanish", "encontrar encuentra"}, {"spanish", "dormir duerme"},
    {"spanish", "pedir pide"}, {"spanish", "jugar juega"}, {"spanish", "pagar pago"}, {"spanish", "llover llueve lluvia"},
    {"spanish", "inscribir inscribo inscrito inscripción"}, {"spanish", "morir muere muerto"}, {"spanish", "resolver resuelve resuelto"},
    {"spanish", "coche auto automóvil carro"}, {"spanish", "móvil celular"}, {"spanish", "autobús bus autocar"},
    {"spanish", "bici bicicleta"}, 
    {"spanish", "cancelar cancelación anular anulación"}, {"spanish", "basura residuos"},
    {"spanish", "niño hijo peque"}, {"spanish", "sueldo salario nómina"}, {"spanish", "nevera frigorífico"},
    {"spanish", "biblio biblioteca"}, 
    {"spanish", "matrimonio boda"}, {"spanish", "permitido autorizado"},
    {"spanish", "teléfono tel"}, {"spanish", "médico doctor"}, {"spanish", "sanción multa"}, 
    {"spanish", "cubo contenedor"}, {"spanish", "billete tique"}, 

    {"italian", "perdere perso smarrire smarrimento"}, {"italian", "rompere rotto"},
    {"italian", "chiudere chiuso chiusura"}, {"italian", "aprire aperto apertura"}, {"italian", "spendere speso"},
    {"italian", "scrivere scritto"},
    {"italian", "scegliere scelto"}, {"italian", "spegnere spento"}, {"italian", "accendere acceso accensione"},
    {"italian", "vincere vinto"}, {"italian", "offrire offerto"}, {"italian", "rimanere rimasto"},
    {"italian", "rispondere risposto risposta"}, {"italian", "chiedere chiesto"}, {"italian", "richiedere richiesto"},
    {"italian", "decidere deciso decisione"}, {"italian", "eleggere eletto elezione"},
    {"italian", "iscrivere iscritto iscrizione"}, {"italian", "rendere reso"}, {"italian", "restituire restituzione"},
    {"italian", "ridurre ridotto riduzione"}, {"italian", "uscire esce uscita"}, {"italian", "togliere tolto"},
    {"italian", "piove pioggia piovere"}, {"italian", "sposare sposarsi sposo matrimonio nozze"},
    {"italian", "servire serve occorrere occorre necessario"}, {"italian", "nascere nato nascita"}, {"italian", "pagare pago pagamento"}, 
    {"italian", "iniziare inizio cominciare comincia"}, {"italian", "pulire pulisce pulizia"},
    {"italian", "auto automobile vettura"}, {"italian", "telefono tel telefonico"},
    
    {"italian", "annullare annullamento disdire disdico disdice disdetto disdetta"}, {"italian", "bici bicicletta"},
    {"italian", "bus autobus pullman"}, {"italian", "asilo infanzia"}, {"italian", "stipendio salario retribuzione"},
    {"italian", "immondizia spazzatura rifiuti"}, {"italian", "bidone cassonetto contenitore"},
    {"italian", "medico dottore"}, {"italian", "cellulare telefonino"}, {"italian", "bambino bimbo figlio"},
    {"italian", "camera stanza"}, {"italian", "ditta azienda impresa"}, {"italian", "multa sanzione"},
    {"italian", "ammesso permesso consentito"}, {"italian", "vietato proibito"}, {"italian", "mattina mattino"},
    {"italian", "nanna pisolino"}, {"italian", "mamma madre"}, {"italian", "papà padre"}, {"italian", "divano sofà"},

    {"portuguese", "perder perde perco perda"}, {"portuguese", "abrir abre aberto abertura"},
    {"portuguese", "fechar fecha fecho encerrar encerra encerramento"}, {"portuguese", "pagar pago pagamento"},
    {"portuguese", "escrever escrito"}, {"portuguese", "devolver devolução"}, {"portuguese", "entregar entregue"},
    {"portuguese", "ganhar ganho"}, {"portuguese", "eleger eleito eleição"},
    {"portuguese", "inscrever inscrito inscrição"}, {"portuguese", "gastar gasto"}, {"portuguese", "aceitar aceite"},
    {"portuguese", "começar começo início iniciar"}, {"portuguese", "chover chove chuva"},
    {"portuguese", "imprimir impressão impressões"}, {"portuguese", "sair saio saem saiu saída"},
    {"portuguese", "adoecer adoeço doente doença"}, {"portuguese", "vazar vazamento"}, {"portuguese", "decidir decisão"},
    {"portuguese", "responder resposta"}, {"portuguese", "reduzir redução"}, {"portuguese", "nascer nasço nascimento"},
    {"portuguese", "morrer morte morto falecer falecimento"}, {"portuguese", "mudar mudança"},
    {"portuguese", "lavar lavagem"}, {"portuguese", "limpar limpeza"}, {"portuguese", "secar secagem"},
    {"portuguese", "chegar chegada"}, {"portuguese", "entrar entrada"}, {"portuguese", "pedir peço"},
    {"portuguese", "pôr ponho põe põem colocar coloque"}, {"portuguese", "trazer trago traz"}, {"portuguese", "caber coube"},
    {"portuguese", "assinar assinatura"}, {"portuguese", "matricular matrícula"}, {"portuguese", "acender aceso"},
    {"portuguese", "reciclar reciclagem"}, {"portuguese", "regressar retornar voltar"},
    {"portuguese", "alugar aluguer aluguel"}, {"portuguese", "consertar conserto reparar reparo reparação"},
    {"portuguese", "roubar roubo furtar furto"}, {"portuguese", "estacionar estacionamento"},
    {"portuguese", "carro automóvel auto"}, {"portuguese", "telemóvel celular"}, {"portuguese", "autocarro ônibus"},
    {"portuguese", "comboio trem"}, {"portuguese", "frigorífico geladeira"}, {"portuguese", "duche chuveiro"},
    {"portuguese", "cancelar cancelamento anular anulação desmarcar"}, {"portuguese", "lixo resíduos"},
    {"portuguese", "bicicleta bici"}, {"portuguese", "criança filho miúdo menino garoto"},
    {"portuguese", "permitir permissão autorizar autorização"},
    {"portuguese", "proibido interdito"}, {"portuguese", "telefone tel"}, {"portuguese", "médico doutor"},
    {"portuguese", "cão cachorro"}, {"portuguese", "prédio edifício condomínio"}, {"portuguese", "bloqueio bloquear trava"},
    {"portuguese", "folga licença"}, {"portuguese", "banheiro sanitário wc"}, {"portuguese", "creche infantário escolinha infância"},
    {"portuguese", "chefe encarregado patrão"}, {"portuguese", "multa coima"}, {"portuguese", "idoso sénior"},
    {"portuguese", "mãe mamã mamãe"}, {"portuguese", "pai papá papai"}, {"portuguese", "talho açougue"},
    {"portuguese", "sumo suco"}, {"portuguese", "gelado sorvete"}, {"portuguese", "bolacha biscoito"},
    {"portuguese", "ecrã tela"}, {"portuguese", "ficheiro arquivo"}, {"portuguese", "contentor lixeira caixote"},
    {"portuguese", "embalagem embalagens pacote"}, {"portuguese", "utente usuário utilizador"}, {"portuguese", "equipa equipe"},
    {"portuguese", "inquilino arrendatário locatário"}, {"portuguese", "desporto esporte"}, {"portuguese", "barco embarcação"},
    {"portuguese", "grátis gratuito"}, {"portuguese", "queixa reclamação"}, {"portuguese", "recolha coleta"},
    {"portuguese", "salário remuneração"}, {"portuguese", "peão pedestre"}, {"portuguese", "relva gramado"},
    /* as they are written on either side of the ocean */
    {"portuguese", "pizza piza"}, {"portuguese", "loiça louça"}, {"portuguese", "bebé bebê"}, 
    {"portuguese", "judo judô"}, {"portuguese", "húmido úmido"},
    {"portuguese", "humidade umidade"}, {"portuguese", "registo registro"}, {"portuguese", "receção recepção"},
    {"portuguese", "controlo controle"}, {"portuguese", "camião caminhão"}, 
    {"portuguese", "eletrónico electrónico"}, {"portuguese", "elétrico eléctrico"}, {"portuguese", "contacto contato"},
    {"portuguese", "factura fatura"}, {"portuguese", "diretor director"}, {"portuguese", "atividade actividade"},
    {"portuguese", "quota cota"}, {"portuguese", "projeto projecto"},
    {"hindi", "सैलरी वेतन तनख्वाह पगार"}, {"hindi", "फीस शुल्क"}, {"hindi", "किताब पुस्तक"},
    {"hindi", "लाइब्रेरी पुस्तकालय ग्रंथालय"}, {"hindi", "मैगजीन पत्रिका"}, {"hindi", "बर्थडे जन्मदिन"},
    {"hindi", "संडे रविवार इतवार रवि"}, {"hindi", "मंडे सोमवार सोम"}, {"hindi", "ट्यूजडे मंगलवार"},
    {"hindi", "वेडनेसडे बुधवार"}, {"hindi", "थर्सडे गुरुवार बृहस्पतिवार वीरवार"},
    {"hindi", "फ्राइडे शुक्रवार शुक्र"}, {"hindi", "सैटरडे शनिवार शनि"}, {"hindi", "फाइन जुर्माना अर्थदंड"},
    {"hindi", "कूड़ा कचरा"}, {"hindi", "मेंटेनेंस रखरखाव रखाव"}, {"hindi", "साल वर्ष"},
    {"hindi", "सालाना वार्षिक"}, {"hindi", "महीना माह"}, {"hindi", "क्लास कक्षा"}, {"hindi", "मेहमान अतिथि"},
    {"hindi", "रियायत छूट डिस्काउंट"}, {"hindi", "गुम खो खोया"}, {"hindi", "डस्टबिन कूड़ेदान डिब्बा"},
    {"hindi", "दिवाली दीवाली दीपावली"}, {"hindi", "जाड़ा सर्दी शीतकाल"}, {"hindi", "गर्मी ग्रीष्म"},
    {"hindi", "टीचर शिक्षक शिक्षिका अध्यापक अध्यापिका"}, {"hindi", "डॉक्टर चिकित्सक"},
    {"hindi", "फोन दूरभाष टेलीफोन"}, {"hindi", "स्कूल विद्यालय पाठशाला"}, {"hindi", "दवा दवाई औषधि"},
    {"hindi", "कैंसिल रद्द निरस्त"}, {"hindi", "दाम कीमत मूल्य"}, {"hindi", "रिफंड धनवापसी"},
    {"hindi", "रकम राशि"}, {"hindi", "हॉस्पिटल अस्पताल चिकित्सालय"}, {"hindi", "ऑफिस दफ्तर कार्यालय"},
    {"hindi", "स्टूडेंट छात्र विद्यार्थी"}, {"hindi", "पैरेंट्स अभिभावक"}, {"hindi", "स्टाफ कर्मचारी"},
    {"hindi", "छुट्टी अवकाश"}, {"hindi", "ट्रेन रेलगाड़ी"}, {"hindi", "बाइक मोटरसाइकिल"},
    {"hindi", "मकान घर"}, {"hindi", "कमरा रूम"}, {"hindi", "किचन रसोई"}, {"hindi", "बाथरूम स्नानघर"},
    {"hindi", "टॉयलेट शौचालय"}, {"hindi", "दोस्त मित्र"}, {"hindi", "शादी विवाह"},
    {"hindi", "शुरू आरंभ प्रारंभ"}, {"hindi", "खत्म समाप्त"}, {"hindi", "मदद सहायता"},
    {"hindi", "इस्तेमाल उपयोग प्रयोग"}, {"hindi", "जरूरी आवश्यक"}, {"hindi", "इजाजत अनुमति परमिशन"},
    {"hindi", "वर्जित प्रतिबंधित निषिद्ध"}, {"hindi", "मरम्मत रिपेयर"}, {"hindi", "बीमारी रोग"},
    {"hindi", "पानी जल"}, {"hindi", "बिजली विद्युत"}, {"hindi", "पेड़ वृक्ष"}, {"hindi", "जानवर पशु"},
    {"hindi", "गाड़ी वाहन"}, {"hindi", "शहर नगर"}, {"hindi", "गांव ग्राम"}, {"hindi", "सुबह सवेरे प्रातः"},
    {"hindi", "शाम सायं"}, {"hindi", "रात रात्रि"}, {"hindi", "दोपहर मध्याह्न"}, {"hindi", "खाना भोजन"},
    {"hindi", "औरत महिला"}, {"hindi", "बुजुर्ग वृद्ध"}, {"hindi", "सीनियर वरिष्ठ"},
    {"hindi", "सिटिजन नागरिक"}, {"hindi", "मीटिंग बैठक"}, {"hindi", "फंक्शन समारोह"},
    {"hindi", "रजिस्ट्रेशन पंजीकरण"}, {"hindi", "एडमिशन दाखिला"}, {"hindi", "एग्जाम परीक्षा इम्तिहान"},
    {"hindi", "रिजल्ट परिणाम नतीजा"}, {"hindi", "सर्टिफिकेट प्रमाणपत्र"}, {"hindi", "एप्लीकेशन आवेदन अर्जी"},
    {"hindi", "इस्तीफा त्यागपत्र"}, {"hindi", "कंप्यूटर संगणक"}, {"hindi", "कलर रंग"}, {"hindi", "ताला लॉक"},
    {"hindi", "चिट्ठी पत्र"}, {"hindi", "अखबार समाचारपत्र"}, {"hindi", "तस्वीर फोटो"},
    {"hindi", "पार्क उद्यान"}, {"hindi", "गाना गायन"}, {"hindi", "साउंड ध्वनि"}, {"hindi", "यात्री मुसाफिर"},
    {"hindi", "वकील अधिवक्ता"}, {"hindi", "ट्रांसफर तबादला स्थानांतरण"}, {"hindi", "फ्री मुफ्त निःशुल्क"},
    {"hindi", "हफ्ता सप्ताह"}, {"hindi", "मैनेजर प्रबंधक"}, {"hindi", "प्रिंसिपल प्रधानाचार्य"},
    {"hindi", "कोच प्रशिक्षक"}, {"hindi", "लेट विलंब देरी"}, {"hindi", "वारंटी गारंटी"},
    {"hindi", "किराएदार किरायेदार"}, {"hindi", "रुपया रुपये"},
};

/* As they are written: their stems are those of other words, too, "elevator" and "elevation", "carné" and "carne". `with`: a stem
 * of the string above that they are the same as; NULL: they are the same as each other. */
static const struct { const char *language, *words, *with; } as_written[] = {
    {"english", "lift lifts elevator elevators", NULL}, {"english", "photo photos photograph photographs", NULL},
    {"english", "holiday holidays vacation vacations", NULL}, {"english", "fee fees dues", NULL},
    {"french", "partir part pars partent départ départs", NULL}, {"french", "pris", "prend"}, {"french", "vente ventes", "vend"},
    {"spanish", "carnet carnets carné carnés", NULL}, {"spanish", "crío críos", "niñ"},
    {"spanish", "ordenador ordenadores computadora computadoras", NULL},
    {"italian", "partire parte partono partenza partenze", NULL},
    {"portuguese", "elevador elevadores ascensor ascensores", NULL},
    {"portuguese", "casar casou casei casaram casado casada casados casadas casamento casamentos", NULL},
    /* days of the week in short, but for Tuesday's, which is the verb "ter" */
    {"portuguese", "segunda segundas seg", NULL}, {"portuguese", "quarta quartas qua", NULL},
    {"portuguese", "quinta quintas qui", NULL}, {"portuguese", "sexta sextas sex", NULL},
    {"portuguese", "sábado sábados sáb sab", NULL}, {"portuguese", "domingo domingos dom", NULL},
    {"portuguese", "morada moradas endereço endereços", NULL}, {"portuguese", "obra obras", "repar"},
    {"portuguese", "vedado vedada vedados vedadas", "proib"},
    {"portuguese", "reformado reformada reformados reformadas aposentado aposentada aposentados aposentadas", NULL},
};

/* "How heavy is it?": the quality behind "how", and what a row, a column or a sentence calls it. English, as they are written. */
static const struct { const char *asked, *called; } qualities[] = {
    {"heavy", "weight weights weigh weighs"}, {"long", "length duration"}, {"wide", "width"}, {"high", "height"}, {"tall", "height"},
    {"deep", "depth"}, {"thick", "thickness"}, {"loud", "noise loudness"}, {"fast", "speed"}, {"old", "age"},
};

/* Kinds, and what is one of them: what holds for pets holds for the dog, but what holds for the dog says nothing of pets. English. */
static const struct { const char *kind, *things; } kinds[] = {
    {"pet pets", "dog dogs puppy puppies cat cats kitten kittens hamster hamsters rabbit rabbits budgie parrot guinea"},
    {"furniture", "sofa sofas couch armchair armchairs chairs wardrobe wardrobes cupboard cupboards bookcase"},
    {"jewellery jewelry", "necklace necklaces bracelet bracelets earring earrings brooch"},
    {"alcohol alcoholic", "beer beers wine wines whisky whiskey vodka gin"},
    {"vehicle vehicles", "car cars van vans lorry lorries truck trucks motorbike motorbikes motorcycle motorcycles"},
    {"fruit", "apple apples pear pears cherry cherries plum plums peach peaches apricot apricots"},
    {"valuables", "jewellery jewelry necklace bracelet watches wristwatch"},
};

/* By the stems that Snowball makes of them. */
static const char *const russian[] = {
    /* forms: the pair of a verb, and what is made of it */
    "плат заплат оплат уплат оплачива оплачен", "вернут возвраща возврат", "взят берут возьмут", "закр закрыва закрыт",
    "откр открыва открыт", "выда выдава выдач", "включ включа", "выключ выключа отключ отключа", "чист почист прочист очист чистк",
    "мыт помыт мойк", "запрет запрещ запреща", "разреш разреша", "отмен отменя отм", "выброс выбрасыва выкинут", "звон позвон",
    "потеря потер утеря утер", "слома поломк", "нача начина", "закончит заканчива окончан", "записа записыва запиш",
    "продл продлева продлен", "забра забира", "покупа покупк приобрест приобрета", "человек люд",
    /* everyday words */
    "ребенок ребенк дет малыш", "садик сад", "книг книжк", "посудомойк посудомоечн", "стиралк стиральн",
    "двигател мотор", "собак пес", "кот кошк кошек", "врач доктор", "мусор отход", "зим зимн", "ламп лампочк", "сын сынишк",
    "пап отец отц",
    /* days of the week in short */
    "понедельник пн", "вторник вт", "сред ср", "четверг чт", "пятниц пт", "суббот сб", "воскресен вс",
};
/* Snowball takes off articles and ends, and leaves apart the plurals and nouns of verbs that Arabic makes within a word. */
static const char *const arabic[] = {
    /* broken plurals, and what is made of a verb */
    "كتاب كتب", "طفل أطفال", "ولد أولاد", "بنت بنات", "عضو أعضاء", "يوم أيام", "شهر أشهر شهور", "سنة سنوات سنين عام أعوام", "أسبوع أسابيع",
    "ساعة ساعات", "دقيقة دقائق", "ليلة ليالي", "رسم رسوم", "سعر أسعار ثمن", "قسط أقساط تقسيط", "كأس كؤوس كاسات كاسة", "باب أبواب",
    "غرفة غرف", "شقة شقق", "مفتاح مفاتيح", "شرط شروط", "حق حقوق", "قاعدة قواعد", "مدير مدراء", "موظف موظفون موظفين",
    "عامل عمال", "رقم أرقام", "وقت أوقات", "موعد مواعيد", "درس دروس", "دورة دورات", "لعبة ألعاب لعب", "دواء أدوية", "مرض أمراض مريض",
    "كلب كلاب", "قط قطط قطة", "طير طيور", "حيوان حيوانات", "صديق أصدقاء", "ضيف ضيوف", "جار جيران", "مكان أماكن", "كيس أكياس", "صندوق صناديق",
    "جهاز أجهزة", "مبلغ مبالغ", "بطاقة بطاقات", "تذكرة تذاكر", "خط خطوط", "رحلة رحلات", "محطة محطات", "شارع شوارع", "حي أحياء", "طريق طرق",
    "عيد أعياد", "عطلة عطل", "إجازة إجازات", "زوج أزواج", "ورقة أوراق", "وثيقة وثائق", "صورة صور", "طلب طلبات", "رمز رموز",
    "قفل أقفال", "زر أزرار", "خزانة خزائن", "حقيبة حقائب", "ملف ملفات", "اسم أسماء", "لون ألوان", "شخص أشخاص", "فصل فصول", "معلم معلمون معلمين معلمة",
    "طالب طلاب طلبة", "مدرب مدربون مدربين مدربة", "عجلة عجلات إطار إطارات", "بقعة بقع", "حصة حصص", "وجبة وجبات", "طعام أطعمة", "سكن سكان ساكن",
    "غسل غسيل يغسل تغسل", "تنظيف ينظف تنظف", "دفع يدفع تدفع أدفع ندفع تسديد يسدد", "إلغاء يلغي ألغي تلغي انسحاب", "استلام يستلم أستلم تسليم يسلم",
    "إرجاع يرجع أرجع إعادة يعيد أعيد يعود", "رمي يرمي أرمي ترمي", "حجز يحجز أحجز محجوز", "استعارة يستعير أستعير إعارة", "تسجيل يسجل أسجل",
    "فتح يفتح تفتح مفتوح", "إغلاق يغلق تغلق مغلق مقفل مقفول", "ركوب يركب أركب", "بدء يبدأ تبدأ بداية", "انتهاء ينتهي تنتهي نهاية", "إصلاح تصليح", "اتصال يتصل أتصل",
    "غياب يغيب تغيب", "تأخير تأخر يتأخر", "ضياع ضاع ضيعت أضاع فقدان مفقود مفقودات", "نقل ينقل", "شراء يشتري أشتري", "بيع يبيع", "تسخين سخان يسخن",
    "شرب يشرب نشرب أشرب", "لبس يلبس ألبس ارتداء", "دخول يدخل أدخل", "خروج يخرج", "وصول يصل أصل", "سماح يسمح مسموح يجوز", "منع يمنع ممنوع يحظر محظور", "كسر تكسير يكسر مكسور",
    "عطل أعطال تعطل معطل خربان", "تشغيل يشغل أشغل شغل", "تعليم يعلم تعلم", "سباحة يسبح", "قبول يقبل تقبل مقبول", "استعمال يستعمل أستعمل استخدام يستخدم أستخدم", "حفظ يحفظ محفوظ", "موافقة يوافق وافق وافقت",
    /* everyday words */
    "خصم تخفيض حسم مخفض", "حافلة باص أتوبيس حافلات باصات", "حاسوب كمبيوتر حواسيب", "مجاني مجانا", "غرامة عقوبة غرامات",
    "نفايات قمامة زبالة", "راتب معاش مرتب رواتب", "مصفاة فلتر", "تأجيل تمديد يمدد", "سيارة سيارات عربية", "هاتف تلفون جوال موبايل", "منزل بيت منازل بيوت",
    "مراب جراج كراج", "مصعد أسنسير مصاعد", "تكلفة كلفة تكاليف", "أجرة أجور", "إيجار أجار", "طبيب دكتور أطباء", "تلفاز تلفزيون",
    "ثلاجة براد", "مسؤول مسؤولون مسؤولين", "حنفية صنبور", "أثاث عفش", "لازم إلزامي يجب",
    /* months by their other names */
    "شباط فبراير فيفري", "آذار مارس", "نيسان أبريل أفريل", "أيار مايو", "حزيران يونيو جوان", "تموز يوليو جويلية",
    "آب أغسطس أوت", "أيلول سبتمبر",
};
/* A character or a pair. */
static const char *const chinese[] = {
    "狗 犬", "丢 遗失 丢失 遺失 弄丢", "扔 投放 丢弃", "超期 逾期 过期", "冬天 冬季", "夏天 夏季", "春天 春季", "秋天 秋季", "晚上 夜间 夜里 夜晚 夜間",
    "老师 教师 老師 教師", "孩子 儿童 小孩 孩童 兒童 娃", "取消 退订 退掉", "单车 自行车", "厕所 洗手间 卫生间", "工资 薪水 薪资 薪金",
    "修理 维修", "缴纳 交纳 缴费 交费", "医生 大夫", "坏 损坏 故障", "星期 礼拜 禮拜", "垃圾 废物", "早上 早晨 清晨", "价钱 价格", "罚钱 罚款",
    "周一 期一 拜一", "周二 期二 拜二", "周三 期三 拜三", "周四 期四 拜四", "周五 期五 拜五", "周六 期六 拜六", "周日 期日 期天 拜天 周天", /* 星期 */
    "退钱 退款", "花钱 收费", "关门 闭馆", "小狗 犬只",
};
/* clang-format on */

enum { N = sizeof groups / sizeof *groups };
static word_table
    table; /* language and stem, or word: number of the group; immutable once it is built */
static word_table written; /* the same by words as they are written; looked up first */
static int of_english, of_chinese, of_arabic,
    of_portuguese; /* their numbers: asked for of every word of a text */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int add_stem(void *ctx, const analyzed_term *t) {
    fo_buf *stems = ctx;
    if (stems->len) fo_buf_str(stems, " ");
    fo_buf_add(stems, t->term, t->len);
    return 0;
}

/* The table borrows the stems, which stay. Where there is no memory a group is left out. */
static void add_group(analyzer *a, const char *language, const char *words, size_t number) {
    fo_buf stems = {0};
    analyze(a, words, strlen(words), add_stem, &stems);
    const char *kept = fo_buf_take(&stems, NULL);
    if (kept) word_table_add_first(&table, language_number(language), kept, (uint32_t)number);
}

static void add_arabic(size_t first) {
    analyzer *a = NULL;
    if (analyzer_create(&a, "arabic", NULL)) return;
    for (size_t i = 0; i < sizeof arabic / sizeof *arabic; i++)
        add_group(a, "arabic", arabic[i], first + i);
    analyzer_free(a);
}

/* As they are; the first has that number. */
static void add_lists(const char *language, const char *const *lists, size_t n, size_t first) {
    for (size_t i = 0; i < n; i++)
        word_table_add_first(&table, language_number(language), lists[i], (uint32_t)(first + i));
}

static void add_as_written(size_t first) {
    for (size_t i = 0; i < sizeof as_written / sizeof *as_written; i++) {
        const int language = language_number(as_written[i].language);
        const char *with = as_written[i].with;
        const uint32_t group =
            with ? word_table_find(&table, language, with, strlen(with)) : (uint32_t)(first + i);
        if (group) word_table_add_first(&written, language, as_written[i].words, group);
    }
}

static void build(void) {
    const size_t n_russian = sizeof russian / sizeof *russian;
    of_english = language_number("english");
    of_chinese = language_number("chinese");
    of_arabic = language_number("arabic");
    of_portuguese = language_number("portuguese");
    for (size_t i = 0, end; i < N; i = end) {
        analyzer *a = NULL;
        const bool made = analyzer_create(&a, groups[i].language, NULL) == FO_OK;
        for (end = i; end < N && !strcmp(groups[end].language, groups[i].language); end++)
            if (made) add_group(a, groups[end].language, groups[end].words, end + 1);
        analyzer_free(a);
    }
    add_lists("russian", russian, n_russian, N + 1);
    add_lists("chinese", chinese, sizeof chinese / sizeof *chinese, N + 1 + n_russian);
    const size_t behind = N + 1 + n_russian + sizeof chinese / sizeof *chinese;
    add_arabic(behind);
    add_as_written(behind + sizeof arabic / sizeof *arabic);
}

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

/* "Quem se casa", "casam-se": the verb, which is written as the house is. */
static bool marries(const fact_text *t, const fact_word *w) {
    static const char self[] = "se me te nos";
    const size_t i = (size_t)(w - t->words);
    const fact_word *before = i > 0 ? w - 1 : NULL, *behind = i + 1 < t->n_words ? w + 1 : NULL;
    return fo_words_have_any_case("casa casam caso", t->text + w->start, w->end - w->start) &&
           ((before &&
             fo_words_have_any_case(self, t->text + before->start, before->end - before->start)) ||
            (behind &&
             fo_words_have_any_case(self, t->text + behind->start, behind->end - behind->start)));
}

/* The number of the group that a word of a text is of; 0: of none. */
static uint32_t group_of(const fact_text *t, const fact_word *w) {
    const int language = t->language < 0 ? of_english : t->language;
    if (language == of_portuguese && marries(t, w))
        return word_table_find(&written, language, "casamento", strlen("casamento"));
    const word_table *by_word = language == of_chinese ? &table : &written;
    const uint32_t group =
        word_table_find(by_word, language, t->text + w->start, w->end - w->start);
    if (group || by_word == &table) return group;
    const char *stem = t->stems.data + w->stem_at;
    const uint32_t own = word_table_find(&table, language, stem, w->stem_len);
    if (own || language != of_arabic) return own;
    const size_t k = particle_of(t, w);
    return k ? word_table_find(&table, language, stem + k, w->stem_len - k) : 0;
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

static bool is_one_of(const char *list, const fact_text *t, const fact_word *w) {
    return fo_words_have_any_case(list, t->text + w->start, w->end - w->start);
}

static bool has_capital(const fact_text *t, const fact_word *w) {
    return t->text[w->start] >= 'A' && t->text[w->start] <= 'Z';
}

/* Is word i behind a name: "Mill Road"? Church Road is not Church Street. */
static bool is_named_road(const fact_text *t, size_t i) {
    return i > 0 && has_capital(t, &t->words[i - 1]) &&
           is_one_of("road roads street streets", t, &t->words[i]) &&
           !(t->words[i - 1].flags & WORD_STOP) && t->words[i].start == t->words[i - 1].end + 1;
}

/* "How old is the barrier?": "the minimum age", "age for a contract" and "age limit" are another's; "How old must I be?" asks for them. */
static bool is_age_of_other(const fact_text *asked, size_t old, const fact_text *t, size_t i) {
    if (!is_one_of("age", t, &t->words[i]) || old + 1 >= asked->n_words ||
        !is_one_of("is are was were", asked, &asked->words[old + 1]))
        return false;
    return (i > 0 && is_one_of("minimum maximum min max", t, &t->words[i - 1])) ||
           (i + 1 < t->n_words && is_one_of("for of limit", t, &t->words[i + 1]));
}

/* Most words are no quality, and a question may be long. */
static bool is_quality(const fact_text *t, const fact_word *w) {
    for (size_t i = 0; i < sizeof qualities / sizeof *qualities; i++)
        if (is_one_of(qualities[i].called, t, w)) return true;
    return false;
}

/* The term of "heavy" in "How heavy is it?", where word i of a text is "weight"; -1: it is none. */
static int quality_asked(const question *q, const fact_text *t, size_t i_word) {
    const fact_text *asked = &q->text;
    const fact_word *w = &t->words[i_word];
    if (!is_quality(t, w)) return -1;
    for (size_t k = 1; k < asked->n_words; k++) {
        if (!is_one_of("how", asked, &asked->words[k - 1])) continue;
        const int term = question_term_of(q, asked->words[k].id);
        for (size_t i = 0; term >= 0 && i < sizeof qualities / sizeof *qualities; i++)
            if (is_one_of(qualities[i].asked, asked, &asked->words[k]) &&
                is_one_of(qualities[i].called, t, w) && !is_age_of_other(asked, k, t, i_word))
                return term;
    }
    return -1;
}

static bool says_term(const question *q, const fact_text *t, int term) {
    for (size_t i = 0; i < t->n_words; i++)
        if (question_term_of(q, t->words[i].id) == term) return true;
    return false;
}

/* "Other pets", "all other motor vehicles", "unlike fruit": what holds for these does not hold for the thing that stands before. */
static bool is_of_others(const fact_text *t, size_t i) {
    enum { WORDS = 2 };
    for (size_t k = 1; k <= WORDS && k <= i; k++)
        if (is_one_of("other except than unlike", t, &t->words[i - k])) return true;
    return false;
}

/* The question's word for a thing of which word i of a text is the kind; -1: none, or the text speaks of the thing itself. "Apple" in the
 * question's midst is a name. */
static int term_of_kind(const question *q, const fact_text *t, size_t i_word) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!is_one_of(kinds[i].kind, t, &t->words[i_word]) || is_of_others(t, i_word)) continue;
        for (size_t k = 0; k < q->text.n_words; k++) {
            const fact_word *thing = &q->text.words[k];
            const int term = question_term_of(q, thing->id);
            if (term >= 0 && is_one_of(kinds[i].things, &q->text, thing) &&
                !(k > 0 && has_capital(&q->text, thing)) && !says_term(q, t, term))
                return term;
        }
    }
    return -1;
}

/* ---- Portuguese plurals and spellings -------------------------------------------------------- */

typedef struct plain_form {
    char word[48];
    size_t n;
} plain_form;

/* Puts `singular` in the place of the word's end; false: it does not end so. */
static bool end_as(plain_form *f, const char *plural, const char *singular) {
    const size_t n = strlen(plural), m = strlen(singular);
    if (f->n <= n || memcmp(f->word + f->n - n, plural, n) != 0) return false;
    memcpy(f->word + f->n - n, singular, m);
    f->n += m - n;
    return true;
}

/* Before "m" and "n" Brazil writes "ê" and "ô" where Portugal has "é" and "ó": "gênero", "género". */
static void spell_as_in_portugal(plain_form *f) {
    for (size_t i = 0; i + 2 < f->n; i++) {
        if (f->word[i] != '\xC3' || (f->word[i + 2] != 'm' && f->word[i + 2] != 'n')) continue;
        if (f->word[i + 1] == '\xAA') f->word[i + 1] = '\xA9';
        if (f->word[i + 1] == '\xB4') f->word[i + 1] = '\xB3';
    }
}

/* Small letters, of one number and one spelling; 0 bytes: too long or too short. Stems part "viagem" from "viagens", "botão" from
 * "botões", "obra" from "obras". */
static plain_form plain_form_of(const char *s, size_t n) {
    static const struct {
        const char *plural, *singular;
    } ends[] = {
        {"ões", "ão"}, {"ães", "ão"}, {"ãos", "ão"}, {"ns", "m"},  {"ais", "al"}, {"éis", "el"},
        {"óis", "ol"}, {"uis", "ul"}, {"is", "il"},  {"res", "r"}, {"zes", "z"},  {"s", ""},
    };
    plain_form f = {.n = 0};
    if (n < 4 || n >= sizeof f.word) return f;
    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)s[i];
        const bool second = i > 0 && s[i - 1] == '\xC3' && c >= 0x80 && c <= 0x9E;
        f.word[i] = (char)(second || (c >= 'A' && c <= 'Z') ? c + 0x20 : c);
    }
    f.n = n;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (end_as(&f, ends[i].plural, ends[i].singular)) break;
    spell_as_in_portugal(&f);
    return f;
}

static bool is_form_of(const fact_text *a, const fact_word *x, const fact_text *b,
                       const fact_word *y) {
    const plain_form f = plain_form_of(a->text + x->start, x->end - x->start),
                     g = plain_form_of(b->text + y->start, y->end - y->start);
    return f.n && f.n == g.n && memcmp(f.word, g.word, f.n) == 0;
}

int same_words_term_of(const question *q, const fact_text *t, size_t i) {
    const fact_word *w = &t->words[i];
    if (t->language != q->text.language || (w->flags & (WORD_STOP | WORD_DIGIT))) return -1;
    pthread_once(&once, build);
    const uint32_t group = is_named_road(t, i) ? 0 : group_of(t, w);
    const bool in_arabic = t->language == of_arabic, in_portuguese = t->language == of_portuguese;
    for (size_t k = 0; (group || in_arabic || in_portuguese) && k < q->text.n_words; k++) {
        const fact_word *asked = &q->text.words[k];
        const int term = question_term_of(q, asked->id);
        if (term < 0) continue;
        if (group && group_of(&q->text, asked) == group && !is_named_road(&q->text, k)) return term;
        if (in_arabic && is_asked_without_particle(t, w, &q->text, asked)) return term;
        if (in_portuguese && is_form_of(t, w, &q->text, asked)) return term;
    }
    if (t->language >= 0 && t->language != of_english) return -1;
    const int term = quality_asked(q, t, i);
    return term >= 0 ? term : term_of_kind(q, t, i);
}
