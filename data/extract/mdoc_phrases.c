/* See mdoc_phrases.h. Source: mdoc(7). */
#include "data/extract/mdoc_phrases.h"

#include <ctype.h>
#include <string.h>

static const struct {
    const char *macro, *name;
} systems[] = {{"Fx", "FreeBSD"},   {"Nx", "NetBSD"}, {"Ox", "OpenBSD"},
               {"Dx", "DragonFly"}, {"Ux", "UNIX"},   {"Bsx", "BSD/OS"}};

static bool is(const char *a, const char *b) {
    return strcmp(a, b) == 0;
}

static const char *system_of(const char *macro) {
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++)
        if (is(systems[i].macro, macro)) return systems[i].name;
    return NULL;
}

bool mdoc_phrase_is(const char *macro) {
    return system_of(macro) || is(macro, "Bx") || is(macro, "At") || is(macro, "Ex") ||
           is(macro, "Rv");
}

/* .Bx 4.3 tahoe: 4.3BSD-Tahoe. */
static size_t add_bsd(fo_buf *out, char *const *words, size_t n) {
    if (n) fo_buf_str(out, words[0]);
    fo_buf_str(out, "BSD");
    if (n > 1) fo_buf_printf(out, "-%c%s", toupper((unsigned char)words[1][0]), words[1] + 1);
    return n < 2 ? n : 2;
}

/* .At v7, .At 32v, .At III, .At V.4: releases of AT&T; another word is none. */
static size_t add_att(fo_buf *out, char *const *words, size_t n) {
    const char *w = n ? words[0] : "";
    if (w[0] == 'v' && isdigit((unsigned char)w[1]) && !w[2])
        fo_buf_printf(out, "Version %s AT&T UNIX", w + 1);
    else if (is(w, "32v"))
        fo_buf_str(out, "Version 32V AT&T UNIX");
    else if (is(w, "III") || is(w, "V"))
        fo_buf_printf(out, "AT&T System %s UNIX", w);
    else if (w[0] == 'V' && w[1] == '.' && isdigit((unsigned char)w[2]))
        fo_buf_printf(out, "AT&T System V Release %s UNIX", w + 2);
    else
        return fo_buf_str(out, "AT&T UNIX"), 0;
    return 1;
}

/* "a, b, and c". */
static void add_names(fo_buf *out, char *const *names, size_t n, const char *behind) {
    for (size_t i = 0; i < n; i++) {
        const char *between = !i ? "" : i + 1 < n ? ", " : n > 2 ? ", and " : " and ";
        fo_buf_printf(out, "%s%s%s", between, names[i], behind);
    }
}

static void add_exit(fo_buf *out, char *const *names, size_t n, const char *name) {
    fo_buf_str(out, "The ");
    add_names(out, names, n, "");
    if (!n && name) fo_buf_str(out, name);
    fo_buf_str(out, n > 1 ? " utilities exit" : n || name ? " utility exits" : "utility exits");
    fo_buf_str(out, " 0 on success, and >0 if an error occurs.");
}

static void add_return(fo_buf *out, char *const *names, size_t n) {
    if (n) fo_buf_str(out, "The ");
    add_names(out, names, n, "()");
    fo_buf_str(out, !n       ? "Upon successful completion, the value 0 is returned"
                    : n == 1 ? " function returns the value 0 if successful"
                             : " functions return the value 0 if successful");
    fo_buf_str(out, "; otherwise the value -1 is returned and the global variable errno is set to "
                    "indicate the error.");
}

size_t mdoc_phrase(fo_buf *out, const char *macro, char *const *words, size_t n, const char *name) {
    const char *system = system_of(macro);
    if (system) {
        const bool version = n && isdigit((unsigned char)words[0][0]);
        fo_buf_str(out, system);
        if (version) fo_buf_printf(out, " %s", words[0]);
        return version;
    }
    if (is(macro, "Bx")) return add_bsd(out, words, n);
    if (is(macro, "At")) return add_att(out, words, n);
    const bool standard = n && is(words[0], "-std");
    if (is(macro, "Rv"))
        add_return(out, words + standard, n - standard);
    else
        add_exit(out, words + standard, n - standard, name);
    return n;
}
