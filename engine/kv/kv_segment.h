/* kv_segment.h - the append-only files of the KV store's disk tier: one record after another, each
 * able to prove what it is.
 *
 *     file   = header | record | record | ...          all begin at multiples of 512 bytes
 *     header = magic "FORAGEKV" | version | owner[32] | crc
 *     record = magic "KVR1" | kind | key[32] | owner[32] | n_tokens | cost_ms | n_bytes |
 *              crc of the payload | crc of this header    (128 bytes) | payload[n_bytes] | padding
 *
 * Little-endian; crc is CRC-32 (zlib). The owner is a SHA-256 over format version, model
 * fingerprint and KV layout: bytes of another owner are never returned, whatever a key says. A
 * scan needs the record headers alone; after a damaged one it goes on at the next multiple of 512
 * that holds a good one, after one that the disk does not give at the next page. What was torn at the end of a file is cut off when it is opened.
 *
 * What this file refuses: which records matter, what is a budget, who may delete (kv_store.c).
 * Threads: one appends; any read at the same time (pread). */
#ifndef FORAGE_ENGINE_KV_SEGMENT_H
#define FORAGE_ENGINE_KV_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "engine/model/kv_pages.h"
#include "kernels/error.h"

typedef struct kv_segment_record {
    unsigned char key[32];
    uint32_t kind;
    int32_t n_tokens;
    double cost_ms;
    uint64_t n_bytes;
    uint64_t offset; /* of the record's header */
} kv_segment_record;

typedef struct kv_segment {
    /* immutable after create or open */
    uint32_t id;
    int fd;
    /* owned: the writer */
    uint64_t bytes; /* where the next record goes */
    int unread;     /* places that the last scan passed over because they could not be read */
    /* the store's, guarded by its lock */
    uint64_t live_bytes; /* of records that can be found */
    int users;           /* reads and writes under way */
    bool doomed;         /* unlinked: closed when nobody uses it */
} kv_segment;

void kv_segment_owner(unsigned char owner[32], const unsigned char fingerprint[32],
                      const kv_layout *layout);

/* A record's room in the file: header, payload, padding. */
uint64_t kv_segment_extent(uint64_t n_bytes);

/* The file's name below dir, to be freed; NULL without memory. */
char *kv_segment_path(const char *dir, uint32_t id);
/* True where a name in a folder is a segment's. */
bool kv_segment_name(const char *name, uint32_t *id);

int kv_segment_create(kv_segment **out, const char *dir, uint32_t id, const unsigned char owner[32],
                      fo_err *err);
/* FO_EMISMATCH: of another owner or version. FO_ECORRUPT: no header. */
int kv_segment_open(kv_segment **out, const char *dir, uint32_t id, const unsigned char owner[32],
                    fo_err *err);
void kv_segment_close(kv_segment *s); /* NULL is fine */

/* Every good record header from byte `from` (0: the first) on; sets s->bytes to the end of the last
 * whole one, and s->unread. fn returns false to stop. What a disk does not give is passed over, and the
 * rest of a file of which it does not give 16 places. */
typedef bool kv_segment_fn(void *arg, const kv_segment_record *r);
int kv_segment_scan(kv_segment *s, uint64_t from, const unsigned char owner[32], kv_segment_fn *fn,
                    void *arg, fo_err *err);
/* Cut off what follows s->bytes (a torn record). */
int kv_segment_trim(kv_segment *s, fo_err *err);

/* At s->bytes; r->offset is set. After an error the file ends where it did before. */
int kv_segment_append(kv_segment *s, const unsigned char owner[32], kv_segment_record *r,
                      const void *data, fo_err *err);
/* Payload into data[r->n_bytes]. FO_ECORRUPT: the record there is not r, or its bytes are damaged.
 */
int kv_segment_read(const kv_segment *s, const unsigned char owner[32], const kv_segment_record *r,
                    void *data, fo_err *err);

/* A whole file in memory, of any owner: every byte of it belongs to a header, a payload whose
 * checksum holds, or zeroes between them. FO_ECORRUPT names the byte. */
int kv_segment_check(const unsigned char *data, size_t size, fo_err *err);
/* Is the header of this record at r->offset? */
bool kv_segment_holds(const unsigned char *data, size_t size, const kv_segment_record *r);

#endif
