/* own_names.h - names of a question that a document as a whole bears: "When do I get paid at Harrow Optics?" is asked of the
 * contract that begins "between Harrow Optics Ltd and ...", in which no further sentence says so. Names are told by
 * their capitals, in the question or, of a file's name, in the document: not for languages in which every noun has one. */
#ifndef FORAGE_RETRIEVAL_OWN_NAMES_H
#define FORAGE_RETRIEVAL_OWN_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/buf.h"

enum { OWN_NAMES_BEGINNING = 300 }; /* bytes of a document that say whose it is */

/* Has the question a name that a document might bear: a capital within a sentence? */
bool own_names_any(const char *question);

/* Has it a word in small letters that the document's file is called by, "quillbox" of "CHANGELOG-quillbox.md"? */
bool own_names_filed(const char *question, const char *document);

/* Append to a title those names of the question that it lacks and that stand in the document's first lines, beginning[n], which
 * are no sentences, or in its path, "petrel/docs/cache.md". One that `text`, of the same document, says behind those lines tells its sentences apart,
 * and is left out there unless it is asked what holds "at" or "with" whom. Nothing is appended where the question has a further
 * name that nothing of all this says: what Harrow pays in Leeds is not told by what it pays in York. Of words in small letters
 * those that the document's file is called by, where beginning[n] writes them as a name, "all changes of Quillbox", but for days and months, and not where the question binds
 * it to something said nowhere: "what port does quillbox use in leeds". */
void own_names_add(fo_buf *title, const char *question, const char *document, const char *beginning,
                   size_t n, const char *text, size_t n_text);

#endif
