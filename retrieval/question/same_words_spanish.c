#include "retrieval/question/plurals.h"
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
    "venir viene", "decir dice dicho", "tener tiene", "seguir sigue", "servir sirve", "sentar sienta",
    "mover mueve", "recordar recuerda", "acostar acuesta", "probar prueba", "mostrar muestra", "soltar suelta",
    "despertar despierta", "calentar calienta", "entender entiende", "encender enciende encendido", "negar niega",
    "regar riega riego", "fregar friega", "medir mide", "repetir repite", "corregir corrige",
    "traer trae traído", "caer cae caído", "oír oye", "salir sale salida", "poner pone", "ver visto", "freír frito",
    "cubrir cubierto", "imprimir impreso", "entrar entrada", "llegar llegada", "recoger recogida", "entregar entrega",
    "reservar reserva", "alquilar alquiler", "reparar reparación arreglar arreglo", "solicitar solicitud", "avisar aviso notificar",
    "kilómetro kilometraje", "trabajar trabajo laboral", "jubilado pensionista", "enfermo enfermedad", "aparcar aparcamiento estacionar",
    "gratis gratuito", "piso vivienda apartamento", "jefe responsable", "ascensor elevador",
    "colegio escuela", "profesor maestro enseñar enseña monitor", "perro can", "gafas lentes", "dinero efectivo", "ruidoso ruido", "viejo antiguo",
    "dirigir dirige director", "presidir preside presidente presidenta", "entrenar entrena entrenador entrenadora",
    "pertenecer pertenece dueño propietario", "cristal vidrio", "ensayar ensaya ensayo", "revisar revisión", "zapato calzado",
    "terminar termina acabar acaba finalizar finaliza", "urgencia emergencia", "vacunar vacuna vacunación", "rebaja descuento",
    "limpiar limpia limpieza", "bailar baila baile", "pintar pinta pintura", "comprar compra", "vender venta", "operar operación",
    NULL,
};
static const same_words_written written[] = {
    {"carnet carnets carné carnés", NULL}, {"crío críos", "niñ"},
    {"ordenador ordenadores computadora computadoras", NULL},
    {NULL, NULL},
};
/* clang-format on */

/* "Kayak" and "kayaks": the stems of words that Spanish has from others keep their "s". */
static bool is_plural(const fact_text *a, const fact_word *x, const fact_text *b,
                      const fact_word *y) {
    return plural_is_of(a->text + x->start, x->end - x->start, b->text + y->start,
                        y->end - y->start, "s es");
}

const same_words_lists same_words_spanish = {
    .language = "spanish", .groups = groups, .written = written, .is_form = is_plural};
