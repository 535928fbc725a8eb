#include "retrieval/question/same_words_lists.h"

/* None that is the other only among other things: "macchina" is a car or any machine. */
/* clang-format off */
static const char *const groups[] = {
    "perdere perso smarrire smarrimento", "rompere rotto", "chiudere chiuso chiusura", "aprire aperto apertura",
    "spendere speso", "scrivere scritto", "scegliere scelto", "spegnere spento", "accendere acceso accensione",
    "vincere vinto", "offrire offerto", "rimanere rimasto", "rispondere risposto risposta", "chiedere chiesto",
    "richiedere richiesto", "decidere deciso decisione", "eleggere eletto elezione",
    "iscrivere iscritto iscrizione", "rendere reso", "restituire restituzione", "ridurre ridotto riduzione",
    "uscire esce escono uscita", "togliere tolto", "piove pioggia piovere", "sposare sposarsi sposo matrimonio nozze",
    "servire serve occorrere occorre necessario", "nascere nato nascita", "pagare pago pagamento",
    "iniziare inizio cominciare comincia", "pulire pulisce pulizia", "auto automobile vettura",
    "telefono tel telefonico", "annullare annullamento disdire disdico disdice disdetto disdetta",
    "bici bicicletta", "bus autobus pullman", "asilo infanzia", "stipendio salario retribuzione",
    "immondizia spazzatura rifiuti", "bidone cassonetto contenitore", "medico dottore", "cellulare telefonino",
    "bambino bimbo figlio", "camera stanza", "ditta azienda impresa", "multa sanzione",
    "ammesso permesso consentito", "vietato proibito", "mattina mattino", "nanna pisolino", "mamma madre",
    "papà padre", "divano sofà",
    "venire viene venuto", "tenere tiene tenuto", "dire dice detto", "mettere metto", "prendere preso",
    "vedere visto", "vivere vissuto", "bere beve bevuto", "cuocere cotto cottura", "salire salita",
    "sedere siede seduto", "muovere mosso", "dipingere dipinto", "raggiungere raggiunto", "consegnare consegna",
    "prenotare prenotazione", "affittare affitto", "riparare riparazione aggiustare", "montare montaggio", "smaltire smaltimento",
    "traslocare trasloco", "comunicare comunicazione dichiarare", "entrare entrata ingresso", "arrivare arrivo",
    "lavorare lavoro lavorativo", "ammalarsi malato malattia", "parcheggiare parcheggio posteggio", "rumore rumoroso", "casa abitazione alloggio",
    "capo responsabile", "scuola scolastico", "insegnare insegnante professore maestro", "dirigere diretto direttore", "soldi denaro contanti",
    "gratis gratuito", "bolletta fattura", "ascensore elevatore", "guasto avaria", "ferie vacanza vacanze",
    "totale complessivo",
    "allenare allena allenatore allenatrice allenamento", "presiedere presiede presidente", "regista regia",
    "appartenere appartiene titolare proprietario", "finire finisce terminare termina", "socio associativo", "cane cagnolino",
    "risuolare risuolatura", "vaccinare vaccino vaccinazione", "visitare visita", "comprare acquistare acquisto", "vendere vendita",
    NULL,
};
static const same_words_written written[] = {
    {"messo messi", "mett"}, {"partire parte partono partenza partenze", NULL},
    {NULL, NULL},
};
/* clang-format on */

const same_words_lists same_words_italian = {
    .language = "italian", .groups = groups, .written = written};
