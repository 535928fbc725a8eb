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
    "ordures déchets", "appartement appart", "chien toutou", "ticket billet", "canapé sofa",
    "frigo réfrigérateur", "médecin docteur", "ami copain", "clé clef", "bateau navire",
    "autorisé permis admis", "bus autobus", "arachide cacahuète", "télévision téléviseur", "téléphone tél",
    "soir soirée", "matin matinée",
    NULL,
};
static const same_words_written written[] = {
    {"partir part pars partent départ départs", NULL}, {"pris", "prend"}, {"vente ventes", "vend"},
    {NULL, NULL},
};
/* clang-format on */

const same_words_lists same_words_french = {
    .language = "french", .groups = groups, .written = written};
