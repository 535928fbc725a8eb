#include "retrieval/question/german_verbs.h"
#include "retrieval/question/same_words_lists.h"

/* clang-format off */
static const char *const groups[] = {
    "verlieren verliere verliert verloren verlor verlust", "schließen schließt geschlossen schließung",
    "öffnen öffnet geöffnet öffnung", "essen isst gegessen", "bringen bringt gebracht",
    "zurückbringen zurückgebracht zurückgeben zurückgegeben rückgabe", "mitbringen mitgebracht",
    "leihen leihe leiht geliehen ausleihen ausgeliehen ausleihe", "abgeben abgegeben abgabe",
    "nehmen nimmt genommen", "mitnehmen mitgenommen mitnahme", "sprechen spricht gesprochen",
    "zerbrechen zerbrochen", "schreiben schreibt geschrieben", "wählen gewählt wahl",
    "anmelden anmelde angemeldet anmeldung", "abmelden abgemeldet abmeldung", "einziehen eingezogen einzug",
    "ausziehen ausgezogen auszug", "abholen abgeholt abholung", "anrufen angerufen anruf", "absagen abgesagt",
    "verschieben verschoben", "treffen trifft getroffen", "gewinnen gewinnt gewonnen", "laufen läuft gelaufen",
    "waschen wäscht gewaschen", "werfen wirft geworfen", "fahren fährt", "schlafen schläft geschlafen",
    "helfen hilft geholfen", "beginnen beginnt beginn begonnen anfangen anfängt angefangen anfang",
    "zahlen zahlt bezahlen bezahlt gezahlt bezahlung zahlung", "reparieren repariert reparatur",
    "auto pkw wagen", "fahrrad rad velo", "handy mobiltelefon", "kita kindergarten kindertagesstätte",
    "aufzug fahrstuhl lift", "geschirrspüler spülmaschine geschirrspülmaschine", "müll abfall", "sofa couch",
    "brötchen semmel", "samstag sonnabend", "stornieren storno stornierung", "kaputt defekt",
    "hausmeister hauswart", "putzen reinigen säubern", "heiraten heirat hochzeit", "regnet regen",
    "gehalt lohn", "erlaubt gestattet", "verboten untersagt", "oma großmutter", "opa großvater", "mama mutter",
    "papa vater", "kühlschrank kühlgerät", "bücherei bibliothek", "chef vorgesetzte", "arzt ärztin",
    "telefon tel",
    "gelten gilt gültig", "halten hält gehalten", "lassen lässt", "tragen trägt getragen", "vergessen vergisst", "finden fand gefunden",
    "stattfinden stattgefunden", "liegen lag gelegen", "stehen stand gestanden", "bleiben blieb geblieben", "kommen kam", "gehen ging gegangen",
    "erhalten erhält", "lesen liest gelesen", "sehen sieht gesehen", "brechen bricht gebrochen", "treten tritt getreten", "betreten betritt",
    "sterben stirbt gestorben tod", "empfehlen empfiehlt empfohlen empfehlung", "kennen gekannt", "denken gedacht",
    "steigen stieg gestiegen", "schneiden geschnitten", "leiden gelitten", "bieten geboten", "ziehen gezogen", "umziehen umgezogen umzug",
    "frieren gefroren", "riechen gerochen", "genießen genossen", "rufen gerufen", "stoßen gestoßen", "backen gebacken",
    "laden lädt geladen", "einladen eingeladen einladung", "schwimmen schwamm geschwommen", "singen gesungen",
    "trinken getrunken", "springen gesprungen", "zwingen gezwungen", "messen misst gemessen", "fressen frisst", "sitzen gesessen",
    "bitten gebeten", "tun getan", "wissen gewusst", "wiegen wiegt gewogen gewicht", "abbuchen abgebucht", "überweisen überwiesen überweisung",
    "krankschreibung krankmeldung attest", "daheim zuhause", "firma unternehmen",
    "lehrer lehrerin", "leiter leiterin leitung leiten leitet", "schaden beschädigung", "rechner computer pc",
    "kündigen kündigung gekündigt", "gratis umsonst", "senioren rentner", "urlaub ferien",
    "aufhören aufhört aufgehört enden endet geendet ende schluss", "garantie gewährleistung", "student studentin studierende",
    "gehören gehört inhaber inhaberin besitzer besitzerin eigentümer eigentümerin", "dirigieren dirigiert dirigent dirigentin",
    "trainieren trainiert trainer trainerin", "unterrichten unterrichtet", "abfahren abfährt abgefahren abfahrt losfahren",
    "ankommen ankam angekommen ankunft", "bewerben bewirbt beworben bewerbung", "mieten mietet gemietet", "austreten ausgetreten austritt",
    "eintreten eingetreten eintritt beitreten beitritt", "umtauschen umgetauscht umtausch", "impfen geimpft impfung",
    "pool schwimmbad schwimmbecken", "rabatt nachlass ermäßigung ermäßigt",
    NULL,
};
/* clang-format on */

const same_words_lists same_words_german = {
    .language = "german", .groups = groups, .joined = german_verb_joined, .is_form = german_verbs_are_one};
