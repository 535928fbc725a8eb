#include "engine/markers.h"

bool marker_read(marker_state *m, int max, const char *text, size_t len) {
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        if (c == '[') {
            m->number = 0;
        } else if (m->number >= 0 && c >= '0' && c <= '9') {
            m->number = m->number * 10 + (c - '0');
            if (m->number == 0 || m->number > max) return false; /* "[0", or past the last */
        } else {
            m->number = -1;
        }
    }
    return true;
}

bool marker_allows(void *filter, int32_t token) {
    const marker_filter *f = filter;
    marker_state next = f->state;
    tokenizer_string piece = tokenizer_piece(f->t, token);
    return marker_read(&next, f->max, piece.data, piece.len);
}
