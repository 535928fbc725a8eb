/* chat_turn.h - the line that a message begins with in a chat that was saved as text.
 *
 *     [28/05/2026, 18:02:11] Imke: we meet at the boathouse       (WhatsApp on iOS, also in twelve hours)
 *     28.05.26, 18:02 - Imke: we meet at the boathouse            (on Android)
 *     [09:02] Imke: ok        09:02 <imke> ok
 *
 * What the program itself says has no name: "28.05.26, 18:02 - Imke added Bo". */
#ifndef FORAGE_DATA_CHAT_TURN_H
#define FORAGE_DATA_CHAT_TURN_H

#include <stdbool.h>
#include <stddef.h>

typedef struct chat_turn {
    size_t start; /* behind marks of direction that nobody sees */
    size_t name,
        n_name; /* bytes of who speaks; n_name 0: nobody is named, and what is said begins at name */
    size_t said; /* where what is said begins */
} chat_turn;

/* Does a message begin at s[0]? Looks at a bounded number of bytes, and of a time alone wants a name behind it. */
bool chat_turn_read(const char *s, size_t n, chat_turn *out);

#endif
