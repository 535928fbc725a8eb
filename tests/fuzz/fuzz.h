/* fuzz.h - what a fuzz target is. `make fuzz` builds each tests/fuzz/fuzz_NAME.c with libFuzzer and
 * lets it loose on tests/fuzz/corpus/NAME; `make test` replays that corpus (replay.c). A target
 * aborts on a broken promise; the sanitizers see the rest. */
#ifndef FORAGE_TESTS_FUZZ_H
#define FORAGE_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_CHECK(promise)                                                                        \
    do {                                                                                           \
        if (!(promise)) {                                                                          \
            fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #promise);                  \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#endif
