#include "engine/generate/markers.h"

/* Read text; false when it names a marker outside 1 .. max or one that can no longer become such.
 * "[" followed by something that is no digit is ordinary text. */
static bool read_marker(marker_state *m, int max, const char *text, size_t len) {
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

/* What a token adds to the text: nothing when the detokenizer leaves it out. */
static tokenizer_string shown(const marker_filter *f, int32_t token) {
    if (tokenizer_attributes(f->t, token) & (TOKENIZER_CONTROL | TOKENIZER_UNKNOWN))
        return (tokenizer_string){"", 0};
    return tokenizer_piece(f->t, token);
}

bool marker_allows(void *filter, int32_t token) {
    const marker_filter *f = filter;
    marker_state next = f->state;
    tokenizer_string piece = shown(f, token);
    return read_marker(&next, f->max, piece.data, piece.len);
}

void marker_take(marker_filter *f, int32_t token) {
    tokenizer_string piece = shown(f, token);
    read_marker(&f->state, f->max, piece.data, piece.len);
}
