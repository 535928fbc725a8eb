/* demand_details.h - what a question wants to the letter: an address of mail or on the web, a telephone number, a time of the
 * day, a colour, somebody's birth or death, a password, how a program exits, the name of a file; and whether a text has one. "Bookings: S. Krane" says all but her number. English. */
#ifndef FORAGE_RETRIEVAL_DEMAND_DETAILS_H
#define FORAGE_RETRIEVAL_DEMAND_DETAILS_H

#include <stdbool.h>
#include <stddef.h>

enum demand_detail {
    DETAIL_NONE,
    DETAIL_MAIL,     /* "What is the e-mail address of the club?" */
    DETAIL_ADDRESS,  /* "What is the address of the lodge?" */
    DETAIL_PHONE,    /* "What's her extension?" */
    DETAIL_WEB,      /* "What is your website?" */
    DETAIL_CLOCK,    /* "At what time does it begin?" */
    DETAIL_COLOUR,   /* "What colour are the flowers?" */
    DETAIL_BIRTH,    /* "When was Ida Berg born?" */
    DETAIL_DEATH,    /* "When did she die?" */
    DETAIL_MARRIAGE, /* "When did she marry?" */
    DETAIL_WHEN,     /* of texts in another language: "Wann ist das Fest?" */
    DETAIL_CASE,     /* of those, when or in which case: "Quand le casque est-il obligatoire ?" */
    DETAIL_PERSON,   /* of those: "Quién dirige la banda?" */
    DETAIL_PASSWORD, /* "What is the default password?" */
    DETAIL_EXIT,     /* "What exit status has diff when files are the same?" */
    DETAIL_FILE,     /* "Which file lists the shells that are valid?" */
    DETAIL_KEPT,     /* "Where does it keep its state?", of manual pages: a path */
    DETAIL_LETTERS,  /* "What does MD stand for?" */
};

enum demand_detail demand_detail_of(const char *question, size_t len);

/* Of "What does MD stand for?" the letters, at *letters, and how many they are; 0: it asks for no such thing. */
size_t demand_letters_of(const char *question, size_t len, const char **letters);
/* Does text[len] say what letters[n] stand for: words that begin so, "multiple device", or "stands for" and the like and the letters? */
bool demand_letters_in(const char *letters, size_t n, const char *text, size_t len);

/* Does a text that has a telephone number say that it is one of another kind: "Telephone (work)" of whose mobile number is asked for? */
bool demand_phone_is_another(const char *question, size_t n, const char *text, size_t len);

/* May text[len] hold such a thing? True of DETAIL_NONE. */
bool demand_detail_in(enum demand_detail detail, const char *text, size_t len);
/* Does a text without the word for it speak of nothing else that stands in its place? "admin / sun" may be a password, a user's
 * name is none. False of what has signs of its own. */
bool demand_detail_may_be(enum demand_detail detail, const char *text, size_t len);

#endif
