/* amx_check.h - do the AMX kernels work here? Asked once, before any of them is chosen.
 *
 * The project's own machines had no AMX: its kernels are proven against a model of the instructions
 * (tests/kernels/amx_model.h), so a processor, a hypervisor or a system that does otherwise must be
 * found before it spoils an answer. */
#ifndef FORAGE_KERNELS_AMX_CHECK_H
#define FORAGE_KERNELS_AMX_CHECK_H

#include "kernels/attention.h"
#include "kernels/matmul.h"

/* The tables that belong to a level. */
typedef struct amx_tables {
    const mm_kernels *mm;
    const attention_kernels *attention;
} amx_tables;

/* NULL when `t` gives the bits of `reference` for small matrices of every integer kind, and nearly
 * its attention; else what went wrong, as the end of a sentence (static). Takes less than a
 * millisecond. An instruction that the processor refuses, SIGILL or SIGSEGV in this thread, is
 * caught; other threads' signals go where they went before. The caller lets only one thread in. */
const char *amx_check(const amx_tables *t, const amx_tables *reference);

#endif
