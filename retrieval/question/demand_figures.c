#include "retrieval/question/demand_figures.h"

bool demand_figure_is_port(const char *rest, size_t len, const word_token *asked,
                           const word_token *noun) {
    static const char by[] = "to i we you be";
    word_token before = {0}, t;
    if (!word_token_in("port ports", noun)) return false;
    if (word_token_in("tcp udp", asked)) return true;
    for (size_t at = 0; (t = word_token_next(rest, len, &at)).n; before = t)
        if (word_token_in("listen listens listening bind binds tcp udp http https server api "
                          "daemon service database proxy default firewall forward forwarded",
                          &t) ||
            (word_token_in("open opened unblock expose", &t) && word_token_in(by, &before)))
            return true;
    return false;
}

bool demand_figure_is_default_port(const word_token *before, const word_token *noun) {
    return word_token_in("port ports", noun) && word_token_in("default standard", before);
}

bool demand_figure_is_limit(const word_token *before, const word_token *noun) {
    return word_token_in("number count length amount", noun) &&
           word_token_in("maximum max minimum min largest smallest highest lowest greatest total",
                         before);
}

bool demand_figure_is_taken(const char *rest, size_t len, const word_token *most) {
    word_token before = {0}, t;
    if (!word_token_in("largest biggest longest highest smallest shortest lowest", most))
        return false;
    for (size_t at = 0; (t = word_token_next(rest, len, &at)).n; before = t)
        if (word_token_in(
                "accepts accept takes handles handle supports support permits allows allow", &t))
            return !word_token_in("that which who to", &before);
    return false;
}
