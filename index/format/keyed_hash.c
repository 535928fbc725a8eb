#include "index/format/keyed_hash.h"

#include <sys/random.h>
#include <time.h>
#include <unistd.h>

uint64_t keyed_hash_key[2];

/* A system that gives no random bytes still starts: what is left of it is hard to guess, no more. */
__attribute__((constructor)) static void choose_key(void) {
    if (getrandom(keyed_hash_key, sizeof keyed_hash_key, GRND_NONBLOCK) ==
        (ssize_t)sizeof keyed_hash_key)
        return;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    keyed_hash_key[0] =
        (uint64_t)now.tv_sec << 32 ^ (uint64_t)now.tv_nsec ^ (uint64_t)(uintptr_t)&now;
    keyed_hash_key[1] = (uint64_t)getpid() << 32 ^ (uint64_t)(uintptr_t)&keyed_hash_key;
}
