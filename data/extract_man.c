#include "data/extract_internal.h"
void extract_man(builder *b, const char *text, size_t n) {
    extract_plain(b, text, n);
}
bool extract_looks_like_man(const char *text, size_t n) {
    (void)text;
    (void)n;
    return false;
}
