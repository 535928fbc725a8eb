#include "retrieval/question/same_words_lists.h"

#include <string.h>

/* clang-format off */
static const char *const groups[] = {
    "perder perde perco perda", "abrir abre aberto abertura",
    "fechar fecha fecho encerrar encerra encerramento", "pagar pago pagamento", "escrever escrito",
    "devolver devolução", "entregar entregue", "ganhar ganho", "eleger eleito eleição",
    "inscrever inscrito inscrição", "gastar gasto", "aceitar aceite", "começar começo início iniciar",
    "chover chove chuva", "imprimir impressão impressões", "sair saio saem saiu saída",
    "adoecer adoeço doente doença", "vazar vazamento", "decidir decisão", "responder resposta",
    "reduzir redução", "nascer nasço nascimento", "morrer morte morto falecer falecimento", "mudar mudança",
    "lavar lavagem", "limpar limpeza", "secar secagem", "chegar chegada", "entrar entrada", "pedir peço",
    "pôr ponho põe põem colocar coloque", "trazer trago traz", "caber coube", "assinar assinatura",
    "matricular matrícula", "acender aceso", "reciclar reciclagem", "regressar retornar voltar",
    "alugar aluguer aluguel", "consertar conserto reparar reparo reparação", "roubar roubo furtar furto",
    "estacionar estacionamento", "carro automóvel auto", "telemóvel celular", "autocarro ônibus",
    "comboio trem", "frigorífico geladeira", "duche chuveiro",
    "cancelar cancelamento anular anulação desmarcar", "lixo resíduos", "bicicleta bici",
    "criança filho miúdo menino garoto", "permitir permissão autorizar autorização", "proibido interdito",
    "telefone tel", "médico doutor", "cão cachorro", "prédio edifício condomínio", "bloqueio bloquear trava",
    "folga licença", "banheiro sanitário wc", "creche infantário escolinha infância",
    "chefe encarregado patrão", "multa coima", "idoso sénior", "mãe mamã mamãe", "pai papá papai",
    "talho açougue", "sumo suco", "gelado sorvete", "bolacha biscoito", "ecrã tela", "ficheiro arquivo",
    "contentor lixeira caixote", "embalagem embalagens pacote", "utente usuário utilizador", "equipa equipe",
    "inquilino arrendatário locatário", "desporto esporte", "barco embarcação", "grátis gratuito",
    "queixa reclamação", "recolha coleta", "salário remuneração", "peão pedestre", "relva gramado",
    /* as they are written on either side of the ocean */
    "pizza piza", "loiça louça", "bebé bebê", "judo judô", "húmido úmido", "humidade umidade",
    "registo registro", "receção recepção", "controlo controle", "camião caminhão", "eletrónico electrónico",
    "elétrico eléctrico", "contacto contato", "factura fatura", "diretor director dirigir dirige maestro maestrina", "atividade actividade",
    "quota cota", "projeto projecto",
    "ensinar ensina professor", "presidir preside presidente", "treinar treina treinador treino", "pertencer pertence proprietário dono",
    "acabar acaba terminar termina fim", "vacinar vacina vacinação", "comprar compra", "vender venda", "pintar pintura",
    NULL,
};
static const same_words_written written[] = {
    {"elevador elevadores ascensor ascensores", NULL},
    {"casar casou casei casaram casado casada casados casadas casamento casamentos", NULL},
    {"segunda segundas seg", NULL}, {"quarta quartas qua", NULL}, {"quinta quintas qui", NULL},
    {"sexta sextas sex", NULL}, {"sábado sábados sáb sab", NULL}, {"domingo domingos dom", NULL},
    {"morada moradas endereço endereços", NULL}, {"obra obras", "repar"},
    {"vedado vedada vedados vedadas", "proib"},
    {"reformado reformada reformados reformadas aposentado aposentada aposentados aposentadas", NULL},
    {NULL, NULL},
};
/* clang-format on */

/* "Quem se casa", "casam-se": the verb, which is written as the house is. */
static const char *marries(const fact_text *t, size_t i) {
    static const char self[] = "se me te nos";
    if (!fact_word_in(t, i, "casa casam caso")) return NULL;
    const bool is_verb = (i > 0 && fact_word_in(t, i - 1, self)) ||
                         (i + 1 < t->n_words && fact_word_in(t, i + 1, self));
    return is_verb ? "casamento" : NULL;
}

/* ---- plurals and spellings ------------------------------------------------------------------- */

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

const same_words_lists same_words_portuguese = {
    .language = "portuguese",
    .groups = groups,
    .written = written,
    .stands_for = marries,
    .is_form = is_form_of,
};
