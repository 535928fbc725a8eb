/* exact_names.h - names in a question that another spelling does not answer: version numbers (4.4,
 * 10.2.1), options of commands (-z, --max-depth, -name) and codes (E3, Grebe7). Words are compared
 * by their stems and by what they mean, and of these nothing would be left: -z and -Z are two
 * options, 4.4 and 4.2 two versions, and E3 stands where E4 does. */
#ifndef FORAGE_RETRIEVAL_EXACT_NAMES_H
#define FORAGE_RETRIEVAL_EXACT_NAMES_H

#include <stdbool.h>
#include <stddef.h>

enum { EXACT_NAMES_MAX = 8 }; /* of a kind; further ones are left out */

typedef struct exact_name {
    const char *s; /* in the question */
    size_t n;
} exact_name;

typedef struct exact_names {
    exact_name versions[EXACT_NAMES_MAX], options[EXACT_NAMES_MAX], codes[EXACT_NAMES_MAX];
    exact_name numbered
        [EXACT_NAMES_MAX]; /* "week 40": a word, a blank and whole digits; "size XL", "Breeze M" */
    size_t n_versions, n_options, n_codes, n_numbered;
} exact_names;

/* Names of a question, which must outlive *out. A number that counts names nothing: "Can I borrow 10 books?" */
void exact_names_read(exact_names *out, const char *question, size_t len);

/* True when every version stands in text[len] or in title too (either may be NULL): 4.4 is not 4.2,
 * nor 14.4, and 4.4.0 is. True without versions. */
bool exact_names_versions_in(const exact_names *x, const char *text, size_t len, const char *title);

/* Does text[len] say from which version on, or up to which, something holds: "Go 1.21 or later", "from 11.x", "below 0.8"?
 * Such a text answers for versions that it does not name. */
bool exact_names_version_bound_in(const char *text, size_t len);

/* Does text[len] name versions, and none of those in the question? */
bool exact_names_other_version(const exact_names *x, const char *text, size_t len);

/* How many of the options stand in text[len]: `-z` does in "-z, --gzip", not in "-xz", "-Z" or
 * "up-z". */
size_t exact_names_options_in(const exact_names *x, const char *text, size_t len);

/* E3, Grebe7: letters with digits behind them. 2nd and 100MB are amounts. */
bool exact_names_is_code(const char *word, size_t n);

/* True where the question names options or codes, and the text holds none of the options, or neither
 * it nor title one of the codes. */
bool exact_names_lacking(const exact_names *x, const char *text, size_t len, const char *title);

/* Does text[len] speak of another one, "week 31" or "Week: 31", and nowhere of the number that the question names? Week
 * 15 stands in "week 10 to week 20", level 6 in "level 5 and above". */
bool exact_names_other_number(const exact_names *x, const char *text, size_t len);

/* The same of names in capitals alone: "Breeze S", "size L". */
bool exact_names_other_letter(const exact_names *x, const char *text, size_t len);

/* The same of a sentence text[before..len) and what stands before it in its paragraph, where a number alone may be an amount,
 * "Year 5" and "6 euros"; not where the sentence holds the number. */
bool exact_names_other_number_before(const exact_names *x, const char *text, size_t len,
                                     size_t before);

/* ... and the number n whose column is called by its name: the value of a row, below names of columns? */
bool exact_names_other_value(const exact_names *x, const char *column, size_t n_column,
                             const char *value, size_t n_value);

/* Bytes of the names in the title of a command's page: "cmp - compare two files", "gzip, gunzip - ...", or
 * with a long dash; 0 where it is none. */
size_t exact_names_of_command(const char *title);

/* Does the question say one of these names, as a word of its own? `ls` stands in "make ls show sizes", not
 * in "tools"; names are short words, and nothing else of them would be left by their stems. */
bool exact_names_command_said(const char *question, size_t len, const char *title);

/* ... as what it is to be done with: "show hidden files with ls", "make curl follow redirects", "curl's default", the file at the end of
 * a path, "/etc/shadow", and wherever it stands what can be no word, "mean for ls"; not "how do I sort numbers". English. */
bool exact_names_command_asked(const char *question, size_t len, const char *title);
/* ... or the first part of such a name: what is to be done with git is told by the page of git-branch. Only where nothing else would
 * stand there: not "from Paris", "for rent" or "in Berlin", and a name with a capital only behind "with", "using", "make" or "let". */
bool exact_names_family_asked(const char *question, size_t len, const char *title);
/* Is what is to be done called as the command is: "sort by the second column", "how do I find broken links"? */
bool exact_names_task_begins(const char *question, size_t len, const char *title);
/* Does a word of the question begin with one of its names, of four letters or more: "differences", "diff"? In any case. */
bool exact_names_begins_a_word(const char *question, size_t len, const char *title);
/* "What does set -e do?", "the meaning of tail -f": bytes of the word that an option is asked about with, at *name; 0: there is none. */
size_t exact_names_used_with_option(const char *question, size_t len, const char **name);
/* Is it a name in the title of a command's page, or the last part of its first, "commit" of "git-commit"? */
bool exact_names_command_is(const char *title, const char *name, size_t n);
/* "Paris - city guide": most names of commands have no capital at their beginning. */
bool exact_names_is_capital(const char *title);
/* Is `other` the page of what belongs to the command of `title` by its name: "gitignore" to "git", "sshd" to "ssh"? Not "Parish" to
 * "Paris". */
bool exact_names_are_family(const char *title, const char *other);
/* Is `other` the page of that command's settings: "sshd_config" to "sshd", "unbound.conf" to "unbound", "muttrc" to "mutt", "pgbouncer.ini" to
 * "pgbouncer"? */
bool exact_names_are_settings(const char *title, const char *other);
/* Does a document lie in a folder that is called by the first name of that command's title, "doc/dnsmasq-base/FAQ" by "dnsmasq"? */
bool exact_names_lie_together(const char *title, const char *document);

#endif
