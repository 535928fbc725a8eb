/* levels_absent.c - what stands for the kernels of x86-64's levels where the program is built for another
 * architecture, whose Makefile leaves their files out. fo_cpu() reports the level generic there, so that
 * nobody calls any of these; the tables that name levels stay as they are. */
#ifndef __x86_64__
#include "kernels/align.h"
#include "kernels/attention.h"
#include "kernels/dist.h"
#include "kernels/matmul.h"
#include "kernels/peak.h"
#include "kernels/scan16.h"
#include "kernels/vec.h"

const mm_kernels mm_avx2, mm_avxvnni, mm_avx512, mm_amx;
const attention_kernels attention_avx2, attention_avx512, attention_amx;
const vec_kernels vec_avx2, vec_avx512;
const peak_kernels peak_avx2, peak_avxvnni, peak_avx512, peak_avx512bf16, peak_amx;

#define NONE(name, kernels)                                                                        \
    void name(kernels *k) {                                                                        \
        (void)k;                                                                                   \
    }
NONE(align_init_avx2, align_kernels)
NONE(align_init_avxvnni, align_kernels)
NONE(align_init_avx512, align_kernels)
NONE(dist_init_avx2, dist_kernels)
NONE(dist_init_avxvnni, dist_kernels)
NONE(dist_init_avx512, dist_kernels)
NONE(scan16_init_avx2, scan16_kernels)
NONE(scan16_init_avx512, scan16_kernels)
#endif
