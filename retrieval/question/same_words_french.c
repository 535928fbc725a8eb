#include "retrieval/question/plurals.h"
#include "retrieval/question/same_words_lists.h"

/* clang-format off */
static const char *const groups[] = {
    "perdre perd perdu perte", "ouvrir ouvert ouverture ouvre", "mettre met mis", "prendre prend",
    "rendre rend rendu", "fermer fermeture", "écrire écrit", "élire élu élection",
    "inscrire inscrit inscription", "recevoir reçoit reçu", "offrir offert", "vendre vend vendu",
    "choisir choisit choix", "réduire réduit réduction", "casser cassé", "interdire interdit interdiction",
    "emprunter emprunt", "répondre répond réponse", "payer paie paiement", "commencer commence début débuter",
    "pleut pleuvoir pluie", "boire boit bu", "conduire conduit", "voiture auto automobile", "vélo bicyclette",
    "annuler résilier annulation résiliation", "enfant gamin gosse môme", "travail boulot emploi",
    "appartement appart", "chien toutou", "ticket billet", "canapé sofa",
    "frigo réfrigérateur", "médecin docteur", "ami copain", "clé clef", "bateau navire",
    "autorisé permis admis", "bus autobus", "arachide cacahuète", "télévision téléviseur", "téléphone tél",
    "soir soirée", "matin matinée",
    "venir vient viennent venu", "tenir tient tiennent tenu", "obtenir obtient obtenu obtention", "voir voit vu", "savoir sait su",
    "dire dit", "lire lit lu lecture", "servir sert", "dormir dort", "sortir sort sortie", "suivre suit suivi",
    "naître né naissance", "mourir mort décès", "éteindre éteint extinction", "joindre joint", "cuire cuit cuisson",
    "construire construit construction", "conclure conclu conclusion", "détruire détruit", "apprendre apprend appris",
    "comprendre comprend compris", "permettre permet", "remettre remet remis", "transmettre transmet transmis",
    "jeter jette jeté", "appeler appelle appel", "acheter achète achat", "essayer essaie essai",
    "nettoyer nettoie nettoyage", "envoyer envoie envoi", "salarié collaborateur", "louer location",
    "réparer réparation", "livrer livraison", "inviter invitation", "garer stationner stationnement parking",
    "bruyant bruit", "congé congés vacances", "malade maladie", "habiter domicile logement", "prévenir avertir informer",
    "ordures déchets poubelle bac", "courrier lettre", "gratuit gratuitement", "ordinateur pc", "professeur prof enseignant enseigner enseigne",
    "chauffer chauffage", "directeur directrice diriger dirige direction", "immeuble bâtiment", "fuite fuir", "argent espèces",
    "présider préside président présidente", "entraîner entraîne entraîneur entraîneuse entraînement", "finir finit fin terminer termine achever",
    "appartenir appartient propriétaire patron patronne gérant gérante", "couchage lit", "remise rabais", "fête kermesse",
    "vacciner vaccin vaccination", "retirer retrait", "déménager déménagement", "peindre peint peinture", "laver lavage", "repasser repassage",
    NULL,
};
static const same_words_written written[] = {
    {"partir part pars partent départ départs quitter quitte", NULL}, {"employé employée employés employées", "salari"}, {"pris", "prend"}, {"vente ventes", "vend"},
    {NULL, NULL},
};
/* clang-format on */

/* "Vélo" and "vélos", "cadeau" and "cadeaux": stems keep the "s" behind a vowel. */
static bool is_plural(const fact_text *a, const fact_word *x, const fact_text *b,
                      const fact_word *y) {
    return plural_is_of(a->text + x->start, x->end - x->start, b->text + y->start,
                        y->end - y->start, "s x");
}

const same_words_lists same_words_french = {
    .language = "french", .groups = groups, .written = written, .is_form = is_plural};
