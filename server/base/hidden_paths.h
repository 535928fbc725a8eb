/* hidden_paths.h - what a client is told of a fault of the server's names files, not the folders that they lie in.
 *
 *     hide_paths(message);   // "/srv/rag/model.gguf: byte 0 cannot be read" -> "model.gguf: byte 0 cannot be read"
 *
 * The log has the whole sentence. Sentences are made far below, by whatever failed, and name a file as it was opened;
 * so the folders are taken out of the text where they are told. */
#ifndef FORAGE_SERVER_HIDDEN_PATHS_H
#define FORAGE_SERVER_HIDDEN_PATHS_H

/* In place. A path that begins with '/' goes up to its last '/', whatever blanks it has, where ": ", ", ", a quote, a
 * bracket or another path ends it; of any other word what stands before its last '/'. Ids of documents in quotes
 * ("document 'a/b.md'") and addresses (http://...) stay. */
void hide_paths(char *text);

#endif
