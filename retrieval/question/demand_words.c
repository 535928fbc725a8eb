#include "retrieval/question/demand_words.h"

#include <string.h>
#include <utf8proc.h>

#include "index/sparse/language.h"
#include "kernels/utf8.h"
#include "kernels/words.h"
#include "retrieval/question/arabic_words.h"

/* clang-format off */
static const demand_words tables[] = {
    {.language = "german", .joins = true,
     .much = "wieviel", .many = "wieviele", .how = "wie", .behind_much = "viel", .behind_many = "viele vielen",
     .what = "was welche welcher welches welchem welchen", .what_does = "was",
     .between = "ist sind war der die das den dem ein eine betragt lautet hat zu e von ihre ihr eure euer deine aktuelle jahrliche monatliche",
     .when = "wann", .who = "wer wen wem", .until = "bis ab seit von",
     .clock = "uhr uhrzeit", .day = "tag tage tagen datum wochentag monat jahr",
     .spends = "kostet kosten koste kostete zahlt zahle zahlen zahlst bezahlt bezahle bezahlen blechen verdient verdienen "
     "verdiene berechnet verlangt verlangen",
     .sums = "preis preise preisen gebuhr gebuhren beitrag beitrage miete mieten kosten kaution taxe entgelt lohn "
     "geld tarif tarife steuer strafe zuschlag pfand vergutung honorar eintritt rechnung anzahlung",
     .must = "muss mussen soll sollen wurde wurden wird hat habe darf",
     .dear = "teuer gunstig billig", .high = "hoch", .heavy = "schwer gewicht", .warm = "warm heiss kalt temperatur",
     .loud = "laut leise", .extent = "breit tief dick breite tiefe hohe dicke",
     .lasting = "lange lang dauer frist", .size = "gross weit alt alter grosse zahl anzahl",
     .phone = "telefonnummer handynummer rufnummer durchwahl faxnummer mobilnummer telefon", .number = "nummer",
     .calls = "anrufen rufe rufen erreiche erreicht erreichen wahlen", .mail = "mail email emailadresse mailadresse",
     .web = "webseite website homepage internetseite internetadresse webadresse",
     .office = "leitet leiten dirigiert trainiert",
     .often = "personen leute menschen kinder gaste mal male tage tag wochen monate jahre stunden minuten sekunden liter "
     "meter kilometer zentimeter kilo gramm grad prozent euro teile stuck seiten arten",
     .verbs = "hat haben ist sind gibt darf durfen kann konnen muss mussen werden wurden bekommt bekomme brauche braucht "
     "in im am auf pro fur",
     .articles = "ein eine einen einem einer eines",
     .currencies = "eur euro euros cent cents franken rappen chf fr dollar usd gbp kronen zloty",
     .free = "kostenlos kostenlose kostenloser kostenloses kostenfrei gratis umsonst unentgeltlich gebuhrenfrei "
     "beitragsfrei nichts",
     .none = "kein keine keinen keinerlei ohne",
     .pays = "kostet kosten koste zahlt zahlen zahle bezahlen bezahlt betragt berechnet berechnen fallig ermassigt "
     "ermassigung rabatt erhoben erstattet preis gebuhr beitrag pfand",
     .per = "pro je im am monatlich jahrlich taglich einmalig extra mehr inklusive zzgl",
     .times = "sekunde sekunden minute minuten stunde stunden tag tage tagen woche wochen monat monate monaten jahr jahre "
     "jahren jahres std h min s sek quartal semester saison nacht nachte tags",
     .lengths = "mm cm dm m km millimeter zentimeter meter metern kilometer kilometern zoll seite seiten zeilen zeichen",
     .weights = "g kg mg t gramm kilo kilogramm tonne tonnen pfund zentner", .degrees = "grad celsius",
     .sounds = "db dba dezibel phon laut leise gerauscharm gerauschlos lautstarke zimmerlautstarke",
     .other_units = "l ml liter kwh kw w watt v volt qm ha prozent",
     .hour = "uhr h", .labels = "nummer platz zimmer raum haus artikel paragraph seite zone linie stufe ziffer absatz telefon "
     "aufgang gleis klasse strasse", .ranges = "bis und oder",
     .until_said = "bis ab seit vor nach",
     .timed = "montags dienstags mittwochs donnerstags freitags samstags sonnabends sonntags werktags taglich "
     "wochentlich monatlich jahrlich morgens vormittags mittags nachmittags abends nachts ostern weihnachten ferien "
     "pfingsten advent silvester fasching immer nie niemals jederzeit sofort stets rund bis vor nach sobald wenn "
     "solange wahrend unbegrenzt dauerhaft beginn ende anfang mitte quartal semester saison schuljahr wochenende "
     "feiertag feiertagen feiertags vorabend uhrzeit zeiten mo di mi do fr sa so halbjahrlich vierteljahrlich stundlich "
     "zweimonatlich alle danach zuvor spatestens fruhestens seit ab sonnenuntergang sonnenaufgang dammerung einbruch",
     .be = "ist sind lautet lauten war",
     .amounts = "preis preise preisen gebuhr beitrag miete kaution taxe entgelt lohn tarif pfand vergutung honorar "
     "eintritt zuschlag anzahlung",
     .prices = "preis preise kosten",
     .has = "hat haben",
     .due = "fallt fallig erhoben verlangt berechnet zahle zahlst zahlt zahlen bezahle bezahlen entrichten "
     "hinterlegen",
     .costs = "kostet kosten koste kostete verdient verdienen verdiene",
     .payers = "versicherung versicherer kasse krankenkasse verein vermieter mieter gemeinde stadt amt arbeitgeber "
     "satzung vertrag hausordnung",
     .where = "wo woher wohin warum weshalb wieso",
     .offices = "vorsitzende vorsitzender kassenwart kassenwartin kassierer kassiererin schatzmeister schatzmeisterin "
     "trainer trainerin leiter leiterin dirigent dirigentin burgermeister burgermeisterin prasident "
     "prasidentin schriftfuhrer schriftfuhrerin direktor direktorin hausmeister hausmeisterin hauswart "
     "stellvertreter stellvertreterin verwalter verwalterin inhaber inhaberin geschaftsfuhrer geschaftsfuhrerin rektor rektorin lehrer lehrerin",
     .bound = "pflicht verpflichtend obligatorisch notig notwendig erforderlich verboten erlaubt gestattet muss mussen "
     "darf durfen",
     .events = "falls poststempel",
     .cases = "bei beim wenn falls sofern sobald fur",
     .single = "einzige einziges einzigen einziger",
     .only = "nur hochstens maximal genau bloss mindestens",
     .unlimited = "beliebig beliebige unbegrenzt unbegrenzte unbeschrankt unbeschrankte unlimitiert lebenslang",
     .both = "beide beiden",
     .included = "inklusive inbegriffen enthalten inkludiert",
     .entry = "eintritt zutritt zugang teilnahme",
     .donation = "spende spenden spendenbasis anfrage aufwand",
     .adult = "volljahrig volljahrige volljahriger erwachsen",
     .quantity = "anzahl zahl menge stuck stuckzahl hochstzahl platze"},
    {.language = "french",
     .much = "combien", .many = NULL, .of = "de d",
     .each = "les", .what = "quel quelle quels quelles", .what_does = "que qu",
     .between = "est sont etait sera e adresse le la les l un une du de d ce cet cette votre leur notre",
     .when = "quand", .who = "qui", .until = "a depuis pour partir de jusque",
     .clock = "heure heures", .day = "jour jours date dates mois annee",
     .spends = "coute coutent couter coutera coutait cout vaut valent paie paient paye payent payer paierai facture "
     "facturent gagne gagnent",
     .sums = "prix tarif tarifs cout couts montant montants loyer loyers cotisation cotisations caution frais charges "
     "taxe taxes droit droits redevance amende salaire acompte supplement",
     .must = "dois doit faut est", .dear = NULL, .high = NULL, .heavy = "poids pese pesent", .warm = "temperature",
     .loud = "bruit decibels", .extent = "hauteur largeur longueur profondeur epaisseur mesure mesurent",
     .lasting = "temps duree dure durent", .size = "age taille surface superficie distance vitesse nombre",
     .phone = "telephone portable", .number = "numero", .calls = "appeler joindre appelle composer telephoner",
     .mail = "mail email courriel", .web = "site", .office = "dirige preside entraine",
     .often = "personnes gens fois jours jour semaines mois ans annees heures minutes secondes litres metres kilometres "
     "kilos grammes degres euros temps pages",
     .verbs = "y a ont est sont peut peuvent faut dans par au a pour",
     .articles = "un une",
     .currencies = "eur euro euros centime centimes cts franc francs chf dollar dollars",
     .free = "gratuit gratuite gratuits gratuites gratuitement offert offerte offerts gracieusement rien",
     .none = "aucun aucune sans",
     .pays = "coute coutent cout paie paient paye payent payer facture facturee factures facturees reglement verse "
     "rembourse remboursee remboursement reduction prix tarif cotisation caution majoration amende",
     .per = "par la le l de d chacun chacune",
     .times = "seconde secondes minute minutes heure heures jour jours semaine semaines mois an ans annee annees h min mn "
     "s trimestre saison nuit nuits",
     .lengths = "mm cm dm m km millimetre millimetres centimetre centimetres metre metres kilometre kilometres pages page "
     "lignes",
     .weights = "g kg mg t gramme grammes kilo kilos kilogramme kilogrammes tonne tonnes", .degrees = "degre degres",
     .sounds = "db dba decibel decibels bruyant bruyante silencieux silencieuse sonore",
     .other_units = "l ml litre litres kwh kw w v",
     .hour = "h heure heures", .labels = "article page zone ligne numero no n salle batiment place quai classe tel rue",
     .ranges = "a et ou au", .until_said = "jusqu jusque avant apres depuis des",
     .timed = "quotidien quotidiennement hebdomadaire toujours jamais avant apres lorsque quand des jusqu jusque pendant "
     "debut fin paques noel toussaint ascension pentecote vacances trimestre saison week veille lendemain feries ferie "
     "rentree immediatement permanence mensuel mensuellement annuel annuellement semestriel semestriellement semestre "
     "trimestriel chaque depuis aube crepuscule coucher ouverture fermeture",
     .be = "est sont etait sera",
     .amounts = "prix tarif tarifs cout montant loyer cotisation caution redevance amende salaire acompte supplement",
     .prices = "prix cout",
     .due = "payer paie paient paye payez paierai verser laisser deposer demandee demande exigee exige risque risquez "
     "encourt pratique pratiquez coute",
     .costs = "coute coutent couter coutera coutait cout vaut valent gagne gagnent",
     .payers = "assurance locataire proprietaire bailleur association mairie commune employeur mutuelle reglement "
     "contrat",
     .where = "pourquoi comment lequel laquelle",
     .offices = "president presidente tresorier tresoriere secretaire directeur directrice maire entraineur entraineuse "
     "chef cheffe gardien gardienne syndic adjoint adjointe gerant gerante proprietaire patron patronne professeur",
     .bound = "obligatoire obligatoires necessaire necessaires interdit interdite interdits interdites autorise "
     "autorisee permis faut dois doit",
     .events = "lors cas restitution signature livraison cachet",
     .cases = "pour cas lors si quand lorsque",
     .single = "seul seule",
     .only = "que qu seulement maximum uniquement",
     .unlimited = "autant illimite illimitee illimites illimitees longtemps indefiniment",
     .included = "compris comprise comprises inclus incluse incluses",
     .entry = "entree acces participation",
     .donation = "don dons devis",
     .adult = "majeur majeure majeurs adulte adultes",
     .quantity = "nombre quantite total maximum"},
    {.language = "spanish",
     .much = "cuanto cuanta", .many = "cuantos cuantas", .each = "cada",
     .what = "que cual cuales", .what_does = "que",
     .between = "es son era sera e el la los las un una de del su vuestra vuestro direccion pagina",
     .when = "cuando", .who = "quien quienes", .until = "hasta desde para a de",
     .clock = "hora horas", .day = "dia dias fecha fechas mes ano",
     .spends = "cuesta cuestan costar costara costaria vale valen paga pago pagan pagar pagamos cobra cobran cobrar gana "
     "ganan cobramos",
     .sums = "precio precios tarifa tarifas cuota cuotas tasa tasas importe coste costo costes costos alquiler fianza "
     "matricula sueldo salario multa deposito recargo presupuesto",
     .must = "tengo tiene hay debo debe me", .heavy = "peso pesa pesan", .warm = "temperatura", .loud = "ruido decibelios",
     .extent = "altura anchura ancho largo longitud profundidad grosor mide miden",
     .lasting = "tiempo duracion dura duran tarda tardan", .size = "edad tamano superficie distancia velocidad numero",
     .phone = "telefono movil", .number = "numero", .calls = "llamar llamo marcar",
     .mail = "correo email mail", .web = "web", .office = "dirige preside entrena",
     .often = "personas gente veces dias dia semanas meses anos horas minutos segundos litros metros kilometros kilos "
     "gramos grados euros paginas",
     .verbs = "hay tiene tienen es son puede pueden se en por al a para",
     .articles = "un una uno",
     .currencies = "eur euro euros centimo centimos peso pesos dolar dolares",
     .free = "gratis gratuito gratuita gratuitos gratuitas exento exenta exentos exentas nada",
     .none = "ningun ninguna sin",
     .pays = "cuesta cuestan costar vale valen paga pagan pagar pago cobra cobran cobraran abona abonan precio tarifa "
     "recargo multa fianza descuento",
     .per = "por al la el cada mas",
     .times = "segundo segundos minuto minutos hora horas dia dias semana semanas mes meses ano anos h min s trimestre "
     "temporada noche noches",
     .lengths = "mm cm m km milimetro milimetros centimetro centimetros metro metros kilometro kilometros paginas pagina "
     "lineas",
     .weights = "g kg mg t gramo gramos kilo kilos kilogramo kilogramos tonelada toneladas", .degrees = "grado grados",
     .sounds = "db dba decibelio decibelios decibeles ruidoso ruidosa silencioso silenciosa",
     .other_units = "l ml litro litros kwh kw w v ciento",
     .hour = "h hora horas", .labels = "articulo pagina zona linea numero no num sala edificio plaza anden clase aula tel "
     "calle", .ranges = "a y o al hasta", .until_said = "hasta antes despues desde",
     .timed = "diario diariamente diaria siempre nunca antes despues cuando hasta desde durante comienzo fin final inicio "
     "pascua navidad vacaciones semana trimestre temporada vispera festivos festivo laborables laborable tras "
     "inmediatamente puente mensual mensualmente anual anualmente semestral semestralmente semestre trimestral semanal "
     "semanalmente cada atardecer anochecer amanecer apertura cierre",
     .be = "es son era sera",
     .amounts = "precio precios tarifa tarifas cuota cuotas importe coste costo alquiler fianza sueldo salario multa "
     "recargo presupuesto",
     .prices = "precio precios coste costo",
     .has = "tiene tienen",
     .due = "pago paga pagan pagar pagamos cobra cobran cobrar dejar abonar entregar",
     .costs = "cuesta cuestan costar costara costaria vale valen gana ganan",
     .payers = "seguro aseguradora inquilino propietario casero asociacion ayuntamiento empresa mutua contrato",
     .where = "donde adonde como",
     .offices = "presidente presidenta tesorero tesorera secretario secretaria director directora alcalde alcaldesa "
     "entrenador entrenadora conserje vicepresidente vicepresidenta subdirector subdirectora administrador administradora "
     "dueno duena propietario propietaria profesor profesora",
     .bound = "obligatorio obligatoria obligatorios obligatorias necesario necesaria necesarios necesarias prohibido "
     "prohibida permitido permitida debo debe deben",
     .events = "caso entrega devolucion firma matasellos",
     .cases = "para caso si cuando",
     .single = "solo sola unico unica",
     .only = "solo solamente maximo",
     .unlimited = "tantos tantas ilimitado ilimitada ilimitados ilimitadas indefinidamente",
     .both = "ambos ambas",
     .included = "incluido incluida incluidos incluidas incluye",
     .entry = "entrada acceso",
     .donation = "voluntad donativo",
     .adult = "adulto adultos",
     .quantity = "numero cantidad total maximo"},
    {.language = "italian",
     .much = "quanto quanta", .many = "quanti quante", .each = "ogni",
     .what = "quale quali qual che", .what_does = "che cosa",
     .between = "e sono era il lo la i gli le l un una di del della dell vostro vostra indirizzo",
     .when = "quando", .who = "chi", .until = "a da fino per di",
     .clock = "ora ore", .day = "giorno giorni data mese anno",
     .spends = "costa costano costare costera vale valgono paga pago pagano pagare guadagna guadagnano",
     .sums = "prezzo prezzi tariffa tariffe quota quote tassa tasse costo costi importo affitto canone cauzione multa "
     "stipendio retta supplemento",
     .broad = "profondo profonda profondi profonde largo larga larghi larghe spesso spessa", .high = "alto alta alti alte",
     .far = "lungo lunga lunghi lunghe", .weighty = "pesante pesanti",
     .happens = "corso corsi film viaggio gita visita spettacolo periodo attesa pausa preavviso contratto turno prova riunione "
     "lezione concerto traversata soggiorno vacanza",
     .must = "devo deve bisogna", .heavy = "peso pesa pesano", .warm = "temperatura", .loud = "rumore decibel",
     .extent = "altezza larghezza lunghezza profondita spessore misura misurano",
     .lasting = "tempo durata dura durano", .size = "eta dimensione superficie distanza velocita numero",
     .phone = "telefono cellulare", .number = "numero", .calls = "chiamare chiamo comporre",
     .mail = "mail email", .web = "sito", .office = "dirige presiede allena",
     .often = "persone gente volte giorni giorno settimane mesi anni ore minuti secondi litri metri chilometri chili "
     "grammi gradi euro pagine",
     .verbs = "ha hanno e sono ci puo possono si in per al a",
     .articles = "un una uno",
     .currencies = "eur euro centesimo centesimi franchi chf dollaro dollari lira lire",
     .free = "gratis gratuito gratuita gratuiti gratuite gratuitamente niente nulla",
     .none = "nessun nessuna senza",
     .pays = "costa costano paga pagano pagare prezzo tariffa multa cauzione sconto rimborso",
     .per = "per al alla il la l a",
     .times = "secondo secondi minuto minuti ora ore giorno giorni settimana settimane mese mesi anno anni h min s "
     "trimestre stagione notte notti",
     .lengths = "mm cm m km millimetri centimetri metro metri chilometro chilometri pagine pagina righe",
     .weights = "g kg mg t grammo grammi chilo chili chilogrammi tonnellata tonnellate", .degrees = "grado gradi",
     .sounds = "db dba decibel rumoroso rumorosa silenzioso silenziosa", .other_units = "l ml litro litri kwh kw w v mq ha ettari",
     .hour = "h ora ore", .labels = "articolo pagina zona linea numero n sala edificio binario classe aula tel via",
     .ranges = "a e o al fino", .until_said = "fino entro prima dopo da dal",
     .timed = "quotidiano quotidianamente sempre mai prima dopo quando fino entro durante inizio fine pasqua natale "
     "vacanze trimestre stagione vigilia festivi feriali subito mensile mensilmente annuale annualmente semestrale semestre "
     "settimanale settimanalmente ogni tramonto alba apertura chiusura",
     .be = "e sono era",
     .amounts = "prezzo prezzi tariffa tariffe quota quote costo importo affitto canone cauzione multa stipendio retta "
     "supplemento",
     .prices = "prezzo prezzi costo",
     .has = "ha hanno",
     .due = "pago paga pagano pagare versare lasciare",
     .costs = "costa costano costare costera vale valgono guadagna guadagnano",
     .payers = "assicurazione inquilino proprietario comune associazione azienda datore contratto",
     .where = "dove perche come",
     .offices = "presidente presidentessa tesoriere tesoriera segretario segretaria direttore direttrice sindaco sindaca "
     "allenatore allenatrice custode vicepresidente vicepreside vicesindaco vicedirettore amministratore amministratrice "
     "preside titolare proprietario proprietaria regista maestro maestra",
     .bound = "obbligatorio obbligatoria obbligatori obbligatorie necessario necessaria vietato vietata permesso "
     "permessa bisogna devo deve devono",
     .events = "caso consegna restituzione firma ricevimento timbro",
     .cases = "per caso se quando",
     .single = "solo sola unico unica",
     .only = "solo soltanto massimo",
     .unlimited = "tanti tante illimitato illimitata illimitati illimitate",
     .both = "entrambi entrambe",
     .included = "compreso compresa compresi comprese incluso inclusa inclusi incluse",
     .entry = "ingresso accesso entrata",
     .donation = "donazione preventivo",
     .adult = "maggiorenne maggiorenni adulti",
     .quantity = "numero quantita totale massimo"},
    {.language = "portuguese",
     .much = "quanto quanta", .many = "quantos quantas", .each = "cada",
     .what = "qual quais que", .what_does = "que",
     .between = "e sao era o a os as um uma do da de dos das seu sua endereco morada",
     .when = "quando", .who = "quem", .until = "ate desde para a de",
     .clock = "hora horas", .day = "dia dias data datas mes ano",
     .spends = "custa custam custar custara vale valem paga pago pagam pagar cobra cobram ganha ganham",
     .sums = "preco precos tarifa tarifas quota quotas taxa taxas custo custos valor valores aluguel aluguer renda caucao "
     "mensalidade multa salario propina",
     .must = "devo deve tenho tem", .heavy = "peso pesa pesam", .warm = "temperatura", .loud = "ruido barulho decibeis",
     .extent = "altura largura comprimento profundidade espessura mede medem",
     .lasting = "tempo duracao dura duram", .size = "idade tamanho area distancia velocidade numero",
     .phone = "telefone telemovel celular", .number = "numero", .calls = "ligar ligo telefonar",
     .mail = "mail email", .web = "site", .office = "dirige preside treina",
     .often = "pessoas gente vezes dias dia semanas meses anos horas minutos segundos litros metros quilometros quilos "
     "gramas graus euros paginas",
     .verbs = "ha tem e sao pode podem se em por ao a para existem",
     .articles = "um uma",
     .currencies = "eur euro euros centimo centimos centavo centavos real reais dolar dolares",
     .free = "gratis gratuito gratuita gratuitos gratuitas gratuitamente isento isenta isentos nada",
     .none = "nenhum nenhuma sem",
     .pays = "custa custam paga pagam pagar cobra cobram preco tarifa multa caucao desconto reembolso",
     .per = "por ao a o cada",
     .times = "segundo segundos minuto minutos hora horas dia dias semana semanas mes meses ano anos h min s trimestre "
     "temporada noite noites",
     .lengths = "mm cm m km milimetros centimetros metro metros quilometro quilometros paginas pagina linhas",
     .weights = "g kg mg t grama gramas quilo quilos quilograma quilogramas tonelada toneladas", .degrees = "grau graus",
     .sounds = "db dba decibel decibeis barulhento ruidoso ruidosa silencioso silenciosa",
     .other_units = "l ml litro litros kwh kw w v cento",
     .hour = "h hora horas", .labels = "artigo pagina zona linha numero n sala edificio cais classe aula tel rua",
     .ranges = "a e ou ao ate", .until_said = "ate antes depois desde",
     .timed = "diario diariamente sempre nunca antes depois quando ate desde durante inicio fim pascoa natal ferias "
     "trimestre temporada vespera feriados feriado imediatamente mensal mensalmente anual anualmente semestral "
     "semestralmente semestre semanal semanalmente cada apos logo anoitecer amanhecer abertura",
     .be = "e sao era",
     .amounts = "preco precos tarifa tarifas quota quotas taxa custo valor aluguel aluguer renda caucao mensalidade multa "
     "salario propina",
     .prices = "preco precos custo valor",
     .has = "tem",
     .due = "pago paga pagam pagar cobra cobram deixar",
     .costs = "custa custam custar custara vale valem ganha ganham",
     .payers = "seguro seguradora inquilino senhorio associacao camara prefeitura empresa contrato",
     .where = "onde aonde porque como",
     .offices = "presidente presidenta tesoureiro tesoureira secretario secretaria diretor diretora prefeito prefeita "
     "treinador treinadora zelador zeladora vice administrador administradora proprietario proprietaria dono dona "
     "maestro maestrina professor professora",
     .bound = "obrigatorio obrigatoria obrigatorios obrigatorias necessario necessaria proibido proibida permitido "
     "permitida devo deve devem",
     .events = "caso entrega devolucao assinatura carimbo",
     .cases = "para caso quando",
     .single = "so unico unica",
     .only = "so somente apenas maximo",
     .unlimited = "tantos tantas ilimitado ilimitada ilimitados ilimitadas",
     .both = "ambos ambas",
     .included = "incluido incluida incluidos incluidas incluso inclusa",
     .entry = "entrada acesso",
     .donation = "doacao orcamento",
     .adult = "adulto adultos",
     .quantity = "numero quantidade total maximo"},
    {.language = "russian", .bare_be = true,
     .much = "сколько скольких скольки почем",
     .how = "насколько как",
     .what = "какои какая какое какие какого какую каком какому каким каких какими котором каков какова "
     "каково каковы",
     .when = "когда",
     .who = "кто кому кого кем",
     .until = "до с со к ко в во от по на из за а и",
     .at = "в во до с со к ко от по",
     .clock = "часу часы часам",
     .day = "день дня дни дням числа числу дата дату даты дате месяц месяце год году днеи",
     .spends = "стоит стоят стоить стоил стоила стоило стоимость обоидется обоидутся обошлось платить заплатить "
     "оплатить доплатить платят платит плачу платим берут возьмут сдерут взимают взимается взимаются "
     "удерживают удержат зарабатывает зарабатывают получает",
     .sums = "цена цены цену стоимость стоимости плата платы плату взнос взноса взносы взносов тариф тарифа "
     "тарифы штраф штрафа штрафы пеня пени пеню залог залога депозит депозита оплата оплаты оплату "
     "доплата доплаты доплату предоплата предоплату аренда аренды аренду зарплата зарплаты зарплату "
     "оклад оклада суточные суточных пошлина пошлину сбор сбора аванс аванса премия премии премию "
     "расценки неустоика неустоику пособие пособия",
     .dear = "дорого дорогои дорогая дешево",
     .high = "высок высока высоко высокии большои велик велика",
     .heavy = "вес веса весит весят масса массы массои весом тяжелыи тяжелая",
     .warm = "температура температуры температуре температуру температурои",
     .loud = "шум шума громкость громкости шумит громко шумныи шумная децибел",
     .extent = "высота высоты высотои ширина ширины ширинои длина длины длинои глубина глубины глубинои глубину "
     "высоту ширину длину толщина толщины толщинои",
     .lasting = "времени длится длятся продолжается продолжаются деиствует деиствуют деиствителен деиствительна "
     "хранится хранятся долго часто срок сроком сроки продолжительность длительность",
     .size = "возраст возраста возрасте возрастом площадь площади площадью размер размера расстояние скорость "
     "скоростью число количество объем процент вместимость мощность",
     .phone = "телефон телефона телефону телефоны",
     .number = "номер номера номеру",
     .calls = "звонить позвонить звонят дозвониться набрать",
     .mail = "email почта",
     .web = "саит",
     .office = "ведет руководит возглавляет тренирует преподает дирижирует",
     .often = "раз разу лет год года недель месяцев месяца часов часа минут минуты секунд днеи дня дни суток "
     "градусов метров процентов кг килограммов килограмм граммов тонн литров страниц видов мест",
     .verbs = "в во на у за из для по от до с при есть нужно надо можно помещается помещаются входит "
     "поместится",
     .wants = "нужен подходит лучше выдают дают купить выбрать",
     .holds = "включает включают входит входят покрывает покрывают распространяется идет",
     .currencies = "руб рубль рубля рублеи рублях рублю р тыс коп копеек копеики евро доллар доллара долларов тенге "
     "гривен eur usd rub",
     .free = "бесплатно бесплатныи бесплатная бесплатное бесплатны бесплатен бесплатна даром",
     .none = "нет без никакои никакого",
     .pays = "стоит стоят платят платит платите платить оплачивается оплачивают оплата взимается взимают "
     "взимаем плата штраф пеня пени цена стоимость скидка залог взнос удерживается удерживают "
     "возвращается тариф компенсируется получают получает",
     .per = "за в на с каждыи каждая каждого",
     .times = "сек секунда секунды секунд минута минуты минут мин час часа часов ч день дня днеи дн сутки "
     "суток неделя недели недель неделю месяц месяца месяцев мес год года лет ночь ночи сезон сезона "
     "квартал",
     .lengths = "мм см дм м км кв метр метра метров миллиметров сантиметр сантиметра сантиметров километр "
     "километра километров страниц страницы строк знаков",
     .weights = "г гр грамм грамма граммов кг килограмм килограмма килограммов т тонн тонны тонна мг ц кило",
     .degrees = "градус градуса градусов",
     .sounds = "дб дба децибел децибела децибелов тише громче шумно тихо бесшумно бесшумныи",
     .other_units = "л мл литр литра литров квт вт квтч м3 куб процент процента процентов гб мб",
     .hour = "ч час часа часов",
     .labels = "кв квартира квартиры д дом дома корпус корп каб кабинет комната этаж этаже пункт пункта раздел "
     "стр страница статья линия маршрут реис реиса тел телефон ул п код место офис подъезд редакция",
     .ranges = "до и или по от",
     .until_said = "до с по после от через",
     .timed = "каждыи каждая каждое каждые каждую каждого каждои каждом каждым раз ежедневно еженедельно "
     "ежемесячно ежегодно ежеквартально ежечасно круглосуточно утром вечером вечера вечеру утра днем "
     "ночью летом зимои веснои осенью будни будням буднии выходные выходным выходнои праздники "
     "праздничные всегда никогда после перед до во начало начале конец конце сразу немедленно "
     "каникулы каникул пасха рождество новыи полдень полночь полудня обеда обед сезон квартал "
     "бессрочно накануне заранее раньше позже позднее через сначала потом пока постоянно однажды "
     "дважды трижды сутки суток",
     .quantity = "количество число всего штук мест",
     .events = "при после по перед до",
     .cases = "если при случае для когда во",
     .only = "только",
     .unlimited = "неограниченно неограниченное безлимитно безлимитныи бессрочно пожизненно любое",
     .both = "оба обе обоих обеих",
     .included = "включено включена включены входит входят включая включен",
     .entry = "вход",
     .donation = "пожертвование договоренности",
     .adult = "совершеннолетние совершеннолетнии совершеннолетним взрослыи",
     .prices = "почем цена стоимость расценки",
     .amounts = "цена цены цену стоимость стоимости плата платы плату взнос взноса взносы взносов тариф тарифа "
     "тарифы штраф штрафа штрафы пеня пени пеню залог залога депозит депозита оплата оплаты оплату "
     "доплата доплаты доплату предоплата предоплату аренда аренды аренду зарплата зарплаты зарплату "
     "оклад оклада суточные суточных пошлина пошлину сбор сбора аванс аванса премия премии премию "
     "расценки неустоика неустоику пособие пособия",
     .costs = "стоит стоят стоило стоила",
     .where = "где куда откуда почему зачем как",
     .offices = "председатель председательница казначеи секретарь директор тренер руководитель бухгалтер "
     "начальник управляющии управляющая староста президент мэр заведующии заведующая завхоз комендант заместитель "
     "владелец владелица хозяин хозяика дирижер вице",
     .bound = "можно нельзя нужно надо обязательно запрещено разрешено должен должны должна необходимо"},
    /* As arabic_words.h makes them plain. */
    {.language = "arabic",
     .much = "كم كام قديش",
     .costs = "بكم بكام",
     .what = "ما ماهو ماهي شو ايش كم",
     .be = "هو هي",
     .when = "متي امتي ايمتي",
     .day = "يوم ايام موعد مواعيد تاريخ شهر سنه عام توقيت اوقات",
     .spends = "يكلف تكلف يكلفني تكلفني ادفع ندفع تدفع يدفع يساوي تساوي كلفه تكلفه كلفته سعره سعرها ثمنه ثمنها",
     .sums = "سعر اسعار ثمن رسم رسوم اجره اجور ايجار اشتراك اشتراكات غرامه راتب رواتب معاش كلفه تكلفه تكاليف مبلغ تعرفه تعريفه ضريبه عربون "
     "قسط اقساط مكافاه علاوه",
     .heavy = "وزن اوزان كتله",
     .warm = "حراره برد",
     .loud = "ضجيج ضوضاء ديسيبل",
     .extent = "عمق طول عرض ارتفاع سمك مسافه يبعد تبعد بعد متر كيلومتر سنتيمتر",
     .lasting = "مده وقت ساعه دقيقه ثانيه يوم اسبوع شهر سنه عام فتره مهله يدوم تدوم يستغرق تستغرق يستمر تستمر ياخذ تاخذ وقتا يوما شهرا "
     "اسبوعا عاما ليله",
     .happens = "يلزم يحتاج تحتاج",
     .size = "عمر مساحه سرعه عدد نسبه حجم سعه مقاس",
     .phone = "هاتف تلفون جوال موبايل",
     .number = "رقم",
     .mail = "بريد ايميل",
     .currencies = "دينار دينارا دنانير دينارين دينارك ليره ليرات ريال ريالا ريالات ريالين درهم درهما دراهم درهمين جنيه جنيها جنيهات "
     "جنيهين دولار دولارا دولارات يورو فلس فلسا قرش قرشا قروش بيسه هلله سنت شيكل روبيه دينارات",
     .free = "مجانا مجاني مجانيه مجان مقابل",
     .none = "بلا",
     .pays = "يدفع تدفع ندفع ادفع سعر ثمن رسم رسوم كلفه تكلفه غرامه خصم تخفيض مبلغ دفع يسدد",
     .per = "لكل عن في كل شهريا سنويا يوميا",
     .times = "ثانيه ثوان ثواني دقيقه دقايق ساعه ساعات يوم يوما ايام اسبوع اسبوعا اسابيع شهر شهرا اشهر شهور سنه سنوات سنين عام عاما "
     "اعوام ليله ليال ليالي د س ث",
     .lengths = "متر مترا امتار سم م كم كيلومتر كيلومترا كيلومترات ملم سنتيمتر سنتيمترا صفحه صفحات",
     .weights = "كغ كجم كيلو كيلوجرام كيلوجراما كيلوغرام كيلوغراما غرام غراما جرام جراما طن طنا غ",
     .degrees = "درجه درجات مييويه",
     .sounds = "ديسيبل",
     .other_units = "لتر لترا لترات ل مل واط كيلوواط",
     .hour = "ساعه",
     .labels = "ماده شقه دور طابق غرفه رقم خط شارع بند باب مبني صفحه تحويله هاتف ت",
     .ranges = "الي حتي او و",
     .until_said = "حتي قبل بعد منذ الي من",
     .timed = "يوميا شهريا سنويا اسبوعيا دايما ابدا يومين يومان اسبوعين اسبوعان شهرين شهران سنتين سنتان سنتا ساعتين ساعتان دقيقتين ليلتين ليلتان "
     "صباحا مساء ظهرا عصرا ليلا صباح ظهر ليل غروب شروق فجر منتصف غدا امس يوم ايام شهر اشهر سنه سنوات ساعه "
     "ساعات اسبوع اسابيع دقيقه دقايق احد اثنين ثلاثاء اربعاء خميس جمعه سبت كانون شباط اذار نيسان ايار حزيران تموز اب ايلول "
     "تشرين رمضان شعبان رجب محرم صفر شوال ربيع عيد صيف شتاء خريف قبل بعد فور فورا عند مره مرتين دوام حالا قادم مقبل",
     .quantity = "عدد مجموع",
     .events = "عند فور لدي حين خلال",
     .cases = "اذا عند حال حاله ان",
     .both = "كلا كلتا",
     .included = "مشمول مشموله شامل شامله يشمل تشمل",
     .entry = "دخول",
     .donation = "تبرع",
     .adult = "بالغ بالغين بالغون"},
};
/* clang-format on */

const demand_words *demand_words_of(int language) {
    return LANGUAGE_ROW(tables, language);
}

const char *demand_word_fold(char out[DEMAND_WORD_MOST], const word_token *t) {
    enum { AT_MOST = 8 };
    const utf8proc_option_t plain = UTF8PROC_DECOMPOSE | UTF8PROC_CASEFOLD | UTF8PROC_STRIPMARK;
    size_t n = 0;
    out[0] = 0;
    if (!t->letters) return out;
    for (size_t i = 0; i < t->n;) {
        int32_t cp, folded[AT_MOST];
        int boundary = 0;
        i += fo_utf8_decode(t->s + i, t->n - i, &cp);
        const utf8proc_ssize_t k =
            cp < 0 ? -1 : utf8proc_decompose_char(cp, folded, AT_MOST, plain, &boundary);
        if (k < 0 || k > AT_MOST || n + 4 * (size_t)k >= DEMAND_WORD_MOST) return out[0] = 0, out;
        for (utf8proc_ssize_t j = 0; j < k; j++) n += fo_utf8_encode(folded[j], out + n);
    }
    out[n] = 0;
    if (arabic_word_is(t->s, t->n)) arabic_word_plain(out, arabic_word_has_tanween(t->s, t->n));
    return out;
}

bool demand_word_in(const char *list, const char *folded) {
    return list && folded[0] && fo_words_have(list, folded, strlen(folded));
}

bool demand_words_say(const char *list, const char *text, size_t len) {
    char folded[DEMAND_WORD_MOST];
    for (size_t at = 0;;) {
        const word_token t = word_token_next(text, len, &at);
        if (!t.n) return false;
        if (demand_word_in(list, demand_word_fold(folded, &t))) return true;
    }
}

bool demand_word_ends(const char *list, const char *folded) {
    const size_t n = strlen(folded);
    for (const char *s = list; *s;) {
        const size_t m = strcspn(s, " ");
        if (n >= m && !memcmp(folded + n - m, s, m)) return true;
        s += m + (s[m] == ' ');
    }
    return false;
}

bool demand_word_is_sum(const demand_words *w, const char *folded) {
    return w->joins ? demand_word_ends(w->sums, folded) : demand_word_in(w->sums, folded);
}
