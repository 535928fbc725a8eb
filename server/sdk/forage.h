/* forage.h - Forage in your own program: documents in, answers with checked citations out.
 *
 *     forage *f;
 *     forage_reply *r;
 *     forage_error e;
 *     forage_document d = {.id = "kb-1", .text = "The north pump is serviced every 400 hours."};
 *     if (forage_open(&f, "home", NULL, NULL, &e)) ...                      // e.message says why
 *     if (!forage_ingest(f, &d, 1, NULL, NULL, &r, &e)) forage_reply_free(r);
 *     if (!forage_query(f, "How often is the north pump serviced?", NULL, NULL, &r, &e)) {
 *         puts(forage_reply_string(r, "/answer"));
 *         for (size_t i = 0; i < forage_reply_count(r, "/citations"); i++)
 *             puts(forage_reply_string(r, "/citations/%zu/quote", i));
 *         forage_reply_free(r);
 *     }
 *     forage_close(f);
 *
 * Words. `options` are a JSON object, or NULL for none; replies are JSON too. Their fields are those of the
 * HTTP service's routes that each function names (docs/sdk.md, /openapi.json), so that a home in the process
 * and a service elsewhere are asked alike. A field that nobody knows is refused by name.
 *
 * Errors are values: 0, or a negative code and a sentence in *error (which may be NULL). Nothing is printed,
 * nothing ends the process. Of the environment it reads FORAGE_CPU and FORAGE_NUMA alone, once.
 *
 * Signals: the first file of an index, of a model or of kept KV that is mapped brings a handler of SIGBUS, which stays when all
 * homes are closed. By it a page that the disk does not give is an error of the call; any other SIGBUS goes to the
 * handler that was there before (one that is set later has its place until the next file is mapped). It runs on the
 * thread's alternate stack where there is one. On processors with AMX, SIGILL and SIGSEGV are caught for the moment
 * in which its instructions are tried, once, and set back. No other handler is changed.
 *
 * Threads: any function may be called from any thread, at the same time with the same handle, but forage_close:
 * when it is called no other call may run or begin. There is no global state: homes that are open are
 * independent of each other. A process that forks without exec may use no handle of its parent.
 *
 * Memory: what is handed in stays the caller's and is not kept past the call. What a reply gives out is the
 * reply's and lives until forage_reply_free. Text is UTF-8, NUL-terminated; offsets in replies are code points.
 *
 * A home is locked by the one process that writes it; with {"read_only": true} it is opened beside that one. */
#ifndef FORAGE_H
#define FORAGE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define FORAGE_API                       __attribute__((visibility("default")))
#define FORAGE_PATH(format_at, first_at) __attribute__((format(printf, format_at, first_at)))
#else
#define FORAGE_API
#define FORAGE_PATH(format_at, first_at)
#endif

/* "0.1.0": of the library that runs. Static string. */
FORAGE_API const char *forage_version(void);

/* ---- errors -------------------------------------------------------------------------------- */

enum forage_code {
    FORAGE_OK = 0,
    FORAGE_EINVAL = -1,       /* bad argument or input: the caller can mend it */
    FORAGE_EIO = -2,          /* the operating system refused */
    FORAGE_ECORRUPT = -3,     /* stored bytes contradict their format or checksum */
    FORAGE_ENOMEM = -4,       /* memory, or a budget of it, is spent */
    FORAGE_ENOTFOUND = -5,    /* the named thing does not exist */
    FORAGE_ECONFLICT = -6,    /* it exists already, or somebody else holds it */
    FORAGE_EUNSUPPORTED = -7, /* well-formed, but this home or build cannot do it */
    FORAGE_ELIMIT = -8,       /* larger than a stated limit */
    FORAGE_ECANCELLED = -9,   /* a listener or a stop ended it */
    FORAGE_ETIMEOUT = -10,    /* a deadline passed */
    FORAGE_EBUSY = -11,       /* try again later */
    FORAGE_ENOSPC = -12,      /* the disk is full or nearly so */
    FORAGE_EMISMATCH = -13,   /* made by another embedder or format version */
    FORAGE_EDENIED = -14,     /* who asks may not */
};

typedef struct forage_error {
    int code;          /* enum forage_code */
    char field[64];    /* the argument or field at fault, "" if none: "documents[3].metadata" */
    char message[512]; /* a sentence without a full stop */
} forage_error;

/* ---- replies ------------------------------------------------------------------------------- */

/* What a call gave: JSON, immutable; any thread may read it. */
typedef struct forage_reply forage_reply;

/* The whole text; *length (NULL is fine) counts its bytes. */
FORAGE_API const char *forage_reply_json(const forage_reply *r, size_t *length);
/* A value in it by its JSON Pointer (RFC 6901): "/citations/0/source/title", made as printf would, at most
 * 1,023 bytes; "" is the whole. No such value, or one of another kind: NULL, NAN, 0. A loop over an array's elements
 * takes time in proportion to them. */
FORAGE_API const char *forage_reply_string(const forage_reply *r, const char *pointer, ...)
    FORAGE_PATH(2, 3);
FORAGE_API double forage_reply_number(const forage_reply *r, const char *pointer, ...)
    FORAGE_PATH(2, 3); /* true is 1, false is 0 */
/* Elements of an array, fields of an object. */
FORAGE_API size_t forage_reply_count(const forage_reply *r, const char *pointer, ...)
    FORAGE_PATH(2, 3);
FORAGE_API void forage_reply_free(forage_reply *r); /* NULL is fine */

/* ---- while a call runs --------------------------------------------------------------------- */

/* Ends calls from another thread: they fail with FORAGE_ECANCELLED soon after. It stays stopped, and may be
 * given to several calls. */
typedef struct forage_stop forage_stop;
FORAGE_API forage_stop *forage_stop_create(void); /* NULL: no memory */
FORAGE_API void forage_stop_now(forage_stop *s);
FORAGE_API void forage_stop_free(forage_stop *s); /* no call may have it; NULL is fine */

/* Who listens to a call. Zeros, or NULL for the whole: nobody. */
typedef struct forage_listener {
    /* An event as it happens; data is valid until it returns. Not 0: the call is to end. It runs on a thread
     * of the call, or of the home (events of forage_open), and may not close the home. */
    int (*event)(void *ctx, const char *name, const forage_reply *data);
    void *ctx;
    forage_stop *stop;
} forage_listener;

/* ---- a home -------------------------------------------------------------------------------- */

typedef struct forage forage;

/* Open the folder `home`; it is made where there is none, unless read_only. Options, named as the flags of
 * `forage serve`: read_only, threads, embed_model, query_prefix, passage_prefix, rerank_model, reader, model
 * (a GGUF file: answers are written by it, and forage_generate works), max_sequences, kv_ram, kv_disk, ocr,
 * ocr_language, ingest_memory, keep_originals, cache_bytes, max_open_collections, force_empty; and extractor,
 * the program that reads PDF, Office and the like apart (it comes with the library, and is looked for beside
 * the shared one; without it those formats and archives are refused).
 * Event "notice" {"kind", "text"}: something was out of order and went on from. The listener has to live
 * until forage_close; its stop and what event returns count for nothing.
 * FORAGE_EBUSY: another process, or this one, writes this home already. *out is untouched on an error. */
FORAGE_API int forage_open(forage **out, const char *home, const char *options,
                           const forage_listener *listener, forage_error *error);
/* Seals what is in memory and lets the home go. NULL is fine. */
FORAGE_API void forage_close(forage *f);
/* {"version","home","read_only","embedder":{"name","dim","max_tokens"},"model","reranker","reader","documents",
 * "chunks","collections"}; model is null where none is loaded. */
FORAGE_API int forage_info(forage *f, forage_reply **out, forage_error *error);

/* ---- documents ----------------------------------------------------------------------------- */

/* All zeros but what is said of it. Exactly one of text, bytes and path. */
typedef struct forage_document {
    const char *text; /* plain text, as POST /ingest takes it */
    const void *
        bytes; /* n_bytes of a file: what it is, its content says; an archive is each of its files */
    size_t n_bytes;
    const char *path; /* a file to read so; its id and uri are its path where none are given */
    const char *id; /* up to 512 bytes; NULL: from the content's hash. The same id again replaces */
    const char *title;     /* NULL: the document's own */
    const char *uri;       /* NULL: none */
    const char *type;      /* "text/markdown"; NULL: from the content */
    const char *file_name; /* of bytes: helps to tell what they are; NULL: none */
    const char *metadata;  /* a JSON object, NULL: none: what filters look at */
    const char *acl;       /* a JSON array of groups that a service shows it to; NULL: everybody */
    const void *reserved[4];
} forage_document;

/* Durable and findable when it returns. One bad document fails alone: its row of "results" says why. A call is refused
 * whose documents have none or several of text, bytes and path, or a reserved that is not NULL. Options collection,
 * language, chunking, ocr and ocr_language as POST /ingest; so is the reply. Event "progress" {"done"}. What was
 * committed before an error stays. */
FORAGE_API int forage_ingest(forage *f, const forage_document *documents, size_t n,
                             const char *options, const forage_listener *listener,
                             forage_reply **out, forage_error *error);
/* Keep a folder's documents in step with a folder, as `forage sync PATH --name NAME`. Options: collection, language,
 * chunking, dry_run, max_deletes ("20", "30%"), max_file (bytes; larger ones are left out, 0: any size; default 64 MiB),
 * relocate. Files that failed before are tried again. Reply: the counts, "skipped_by_kind", "failures". Event
 * "progress" {"done", "total"}. */
FORAGE_API int forage_sync(forage *f, const char *name, const char *path, const char *options,
                           const forage_listener *listener, forage_reply **out,
                           forage_error *error);
/* A document as GET /documents/{id}. Options: collection, text (true). */
FORAGE_API int forage_get(forage *f, const char *id, const char *options, forage_reply **out,
                          forage_error *error);
/* A page of documents in order of id, as GET /documents: {"data", "has_more", "last_id"}. Options: collection,
 * limit (100), after, filter, q. */
FORAGE_API int forage_list(forage *f, const char *options, forage_reply **out, forage_error *error);
/* One document by its id; or, id NULL, all that options.filter or options.q match, as DELETE /documents.
 * Options: collection, filter, q, dry_run. */
FORAGE_API int forage_delete(forage *f, const char *id, const char *options, forage_reply **out,
                             forage_error *error);
/* All collections, as GET /collections: {"data"}. */
FORAGE_API int forage_collections(forage *f, forage_reply **out, forage_error *error);
/* A collection and all of its documents. */
FORAGE_API int forage_delete_collection(forage *f, const char *name, forage_error *error);

/* ---- questions ----------------------------------------------------------------------------- */

/* Passages for a query, as POST /search. */
FORAGE_API int forage_search(forage *f, const char *query, const char *options,
                             const forage_listener *listener, forage_reply **out,
                             forage_error *error);
/* A verified answer with citations, as POST /query; "messages" are the turns before (query may be NULL where they
 * end with the user's). Events: "contexts", "draft", "token" {"text"}, "citation", as the service streams them. */
FORAGE_API int forage_query(forage *f, const char *query, const char *options,
                            const forage_listener *listener, forage_reply **out,
                            forage_error *error);
/* Text of the language model alone; nothing of it is verified. Options: messages (before the prompt, or instead of
 * it: prompt NULL), max_tokens (256), temperature (0), top_p, top_k, min_p, presence_penalty, frequency_penalty,
 * repetition_penalty, seed, stop (an array of at most 16 strings, each of at most 1,024 bytes), schema (a JSON
 * Schema that the text is held to; stop has no say then), priority, timeout_ms. Event "token" {"text"}. Reply:
 * {"text","finish_reason","model","usage","timings_ms"}. FORAGE_EUNSUPPORTED: no model. */
FORAGE_API int forage_generate(forage *f, const char *prompt, const char *options,
                               const forage_listener *listener, forage_reply **out,
                               forage_error *error);

/* Floats of a vector of this home's embedder. */
FORAGE_API size_t forage_embed_dim(const forage *f);
/* vectors[n][forage_embed_dim], of unit length, of texts[n]: questions where is_query is not 0, else passages. Of a text
 * of more tokens than forage_info's embedder.max_tokens only the beginning counts (`builtin`, the table: never). */
FORAGE_API int forage_embed(forage *f, const char *const *texts, size_t n, int is_query,
                            float *vectors, forage_error *error);

#ifdef __cplusplus
}
#endif
#endif
