#include "retrieval/conversation/courtesy.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>
#include <utf8proc.h>

#include "index/sparse/analyze.h"
#include "kernels/utf8.h"

/* Longer ones before their beginnings. */
static const char *const courtesies[] = {"good morning",
                                         "good afternoon",
                                         "good evening",
                                         "hello there",
                                         "hello",
                                         "hi there",
                                         "hi",
                                         "hey there",
                                         "hey",
                                         "greetings",
                                         "many thanks",
                                         "thanks a lot",
                                         "thanks so much",
                                         "thanks",
                                         "thank you very much",
                                         "thank you so much",
                                         "thank you",
                                         "thx",
                                         "cheers",
                                         "please",
                                         "okay",
                                         "ok",
                                         "alright",
                                         "all right",
                                         "great",
                                         "cool",
                                         "nice",
                                         "perfect",
                                         "super",
                                         "excellent",
                                         "got it",
                                         "i see",
                                         "hmm",
                                         "hm",
                                         "mhm",
                                         "aha",
                                         "sorry",
                                         "excuse me",
                                         "bye",
                                         "goodbye",
                                         "guten morgen",
                                         "guten tag",
                                         "guten abend",
                                         "hallo",
                                         "vielen dank",
                                         "danke sch\xC3\xB6n",
                                         "danke",
                                         "bitte",
                                         "bonjour",
                                         "salut",
                                         "merci beaucoup",
                                         "merci",
                                         "hola",
                                         "muchas gracias",
                                         "gracias",
                                         "por favor",
                                         "ciao",
                                         "buongiorno",
                                         "grazie mille",
                                         "grazie",
                                         "ol\xC3\xA1",
                                         "muito obrigado",
                                         "muito obrigada",
                                         "obrigado",
                                         "obrigada"};

/* Between thanks and the next question. */
static const char *const links[] = {"and",  "but", "so", "now", "then",
                                    "also", "und", "et", "y",   "e"};

/* What a question begins with, where no comma parts it from a greeting. */
static const char *const openings[] = {
    "how",          "what",     "when",   "where",  "who",         "whom",       "whose",
    "which",        "why",      "can",    "could",  "is",          "are",        "do",
    "does",         "did",      "will",   "would",  "should",      "may",        "i",
    "my",           "we",       "tell",   "wie",    "was",         "wann",       "wo",
    "wer",          "warum",    "welche", "kann",   "comment",     "quand",      "o\xC3\xB9",
    "qui",          "pourquoi", "quel",   "quelle", "c\xC3\xB3mo", "qu\xC3\xA9", "cu\xC3\xA1ndo",
    "d\xC3\xB3nde", "come",     "quando", "dove"};

/* What may be said of something, or be its name, too: "Nice is how far from the airport?" */
static const char *const adjectives[] = {"great", "cool", "nice", "perfect", "super", "excellent"};

/* Of the openings, those that stand behind a subject as well, and what they have behind them where a question begins with
 * them ("is it open"), or where its subject stands before them ("is how far"). */
static const char *const verbs[] = {"is", "are", "was", "do", "does", "did", "can", "will"};
static const char *const pronouns[] = {"i", "we", "you", "it", "he", "she", "they", "there"};
static const char *const asking[] = {"how", "what",  "when",  "where", "who",
                                     "why", "which", "whose", "whom"};

#define COUNT(list) (sizeof(list) / sizeof *(list))

static bool in_word(char c) {
    unsigned char b = (unsigned char)c;
    return (b >= '0' && b <= '9') || (b >= 'A' && b <= 'Z') || (b >= 'a' && b <= 'z') ||
           b >= 0x80 || b == '_' || b == '\'' || b == '-';
}

/* Bytes of the list's phrase that text begins with, whole words; 0: none. */
static size_t phrase(const char *text, const char *const *list, size_t n) {
    for (size_t i = 0; i < n; i++) {
        size_t len = strlen(list[i]);
        if (strncasecmp(text, list[i], len) == 0 && !in_word(text[len])) return len;
    }
    return 0;
}

static const char *skip(const char *p, const char *bytes) {
    return p + strspn(p, bytes);
}

/* A letter or a digit of any script; of bytes that are no text nobody knows. */
static bool is_word(int32_t cp) {
    return cp < 0 || analyze_is_of_word(cp);
}

/* ... or a sign that documents explain, such as "&&" or "≥"; none of a sentence, no face. */
static bool is_word_or_sign(int32_t cp) {
    if (cp >= 0 && cp < 0x80) return cp > ' ' && cp < 0x7F && !strchr(".,:;?!-'\"()", cp);
    if (is_word(cp)) return true;
    utf8proc_category_t kind = utf8proc_category(cp);
    return kind == UTF8PROC_CATEGORY_SC || kind == UTF8PROC_CATEGORY_SM;
}

static bool has_any(const char *text, bool (*is)(int32_t cp)) {
    size_t n = strlen(text);
    int32_t cp;
    for (size_t at = 0; at < n;) {
        at += fo_utf8_decode(text + at, n - at, &cp);
        if (is(cp)) return true;
    }
    return false;
}

bool question_has_words(const char *text) {
    return has_any(text, is_word);
}

/* Does a question begin at text, behind the courtesy, without a sign between them? */
static bool begins_question(const char *text, const char *courtesy) {
    if (!phrase(text, openings, COUNT(openings))) return false;
    const size_t verb = phrase(text, verbs, COUNT(verbs));
    if (!verb) return true;
    const char *behind = skip(text + verb, " \t\r\n");
    if (phrase(courtesy, adjectives, COUNT(adjectives)))
        return phrase(behind, pronouns, COUNT(pronouns)) > 0;
    return !phrase(behind, asking, COUNT(asking));
}

static const char *behind_courtesy(const char *text) {
    const char *at = skip(text, " \t\r\n");
    for (bool any = false;; any = true) {
        size_t n = phrase(at, courtesies, COUNT(courtesies));
        if (!n) return any ? at : text;
        const char *gap = at + n, *next = skip(gap, " \t\r\n!,.;:");
        bool parted = gap + strcspn(gap, "!,.;") < next;
        bool dotted = *gap == '.' && in_word(gap[1]); /* hello.c */
        bool more = phrase(next, courtesies, COUNT(courtesies)) > 0;
        size_t link = phrase(next, links, COUNT(links));
        const char *behind = link ? skip(next + link, " \t\r\n,") : next;
        bool asks = link || parted ? phrase(behind, openings, COUNT(openings)) > 0
                                   : begins_question(behind, at);
        /* in a face, or so; "ok?" asks nothing, and "Nice?" may be the town */
        const bool alone = next[0] == '?' && !next[1] && !phrase(at, adjectives, COUNT(adjectives));
        bool ends = alone || (!has_any(next, is_word_or_sign) && !strchr(next, '?'));
        if (dotted || !(parted || more || asks || ends)) return any ? at : text;
        if (link && (asks || parted)) next = behind;
        if (ends || (*next == '?' && !next[1])) return text + strlen(text);
        at = next;
    }
}

const char *question_behind_courtesy(const char *text) {
    const char *at = behind_courtesy(text);
    return has_any(at, is_word_or_sign) ? at : at + strlen(at);
}

const char *courtesy_reply(const char *text) {
    /* Thanks, then what ends a conversation, then what begins one. */
    static const struct {
        const char *phrase, *reply;
    } replies[] = {
        {"thank", "You are welcome."},
        {"thx", "You are welcome."},
        {"cheers", "You are welcome."},
        {"dank", "Gern geschehen."},
        {"merci", "Je vous en prie."},
        {"gracias", "De nada."},
        {"grazie", "Prego."},
        {"obrigad", "De nada."},
        {"bye", "Goodbye."},
        {"goodbye", "Goodbye."},
        {"good", "Hello. What would you like to know?"},
        {"hello", "Hello. What would you like to know?"},
        {"hi", "Hello. What would you like to know?"},
        {"hey", "Hello. What would you like to know?"},
        {"greetings", "Hello. What would you like to know?"},
        {"guten", "Guten Tag. Was m\xC3\xB6"
                  "chten Sie wissen?"},
        {"hallo", "Guten Tag. Was m\xC3\xB6"
                  "chten Sie wissen?"},
        {"bonjour", "Bonjour. Que voulez-vous savoir ?"},
        {"salut", "Bonjour. Que voulez-vous savoir ?"},
        {"hola", "Hola. \xC2\xBFQu\xC3\xA9 quiere saber?"},
        {"ciao", "Buongiorno. Che cosa vuole sapere?"},
        {"buongiorno", "Buongiorno. Che cosa vuole sapere?"},
        {"ol\xC3\xA1", "Ol\xC3\xA1. O que quer saber?"},
    };
    for (size_t i = 0; i < COUNT(replies); i++) {
        const char *phrase = replies[i].phrase;
        for (const char *at = text; *at; at++)
            if (strncasecmp(at, phrase, strlen(phrase)) == 0 && (at == text || !in_word(at[-1])))
                return replies[i].reply;
    }
    return question_has_words(text) ? "All right. What would you like to know?"
                                    : "What would you like to know?";
}
