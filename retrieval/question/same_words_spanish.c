#include "retrieval/question/same_words_lists.h"

/* clang-format off */
static const char *const groups[] = {
    "romper rompe roto rotura", "abrir abre abierto apertura", "cerrar cierra cerrado cierre",
    "perder pierde perdido pérdida", "escribir escrito", "volver vuelve vuelto",
    "devolver devuelve devuelto devolución", "elegir elegido elección",
    "empezar empieza comenzar comienza comienzo", "costar cuesta coste costo", "encontrar encuentra",
    "dormir duerme", "pedir pide", "jugar juega", "pagar pago", "llover llueve lluvia",
    "inscribir inscribo inscrito inscripción", "morir muere muerto", "resolver resuelve resuelto",
    "coche auto automóvil carro", "móvil celular", "autobús bus autocar", "bici bicicleta",
    "cancelar cancelación anular anulación", "basura residuos", "niño hijo peque", "sueldo salario nómina",
    "nevera frigorífico", "biblio biblioteca", "matrimonio boda", "permitido autorizado", "teléfono tel",
    "médico doctor", "sanción multa", "cubo contenedor", "billete tique",
    NULL,
};
static const same_words_written written[] = {
    {"carnet carnets carné carnés", NULL}, {"crío críos", "niñ"},
    {"ordenador ordenadores computadora computadoras", NULL},
    {NULL, NULL},
};
/* clang-format on */

const same_words_lists same_words_spanish = {
    .language = "spanish", .groups = groups, .written = written};
