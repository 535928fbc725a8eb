/* matmul_avx512.c - AVX-512 VNNI: 64 products an instruction, no intermediate that can saturate. */
#define MM_TABLE               mm_avx512
#define MM_PANELS              2
#define MM_ROWS_F32            12
#define MM_LANES               16
#define MM_UNITS               2
#define MM_ROWS_INT            6
#define MM_WIDE_KIND           MM_W8W
#define MM_SOME_PLAIN(kind)    false
#define MM_ACC_IN_MEMORY(kind) false
#include "kernels/matmul_512.h"

typedef __m512i iacc;

V16_INLINE iacc iacc_start8(int32_t sum) {
    return _mm512_set1_epi32(-128 * sum);
}
V16_INLINE iacc iacc_start4(int32_t sum) {
    return _mm512_set1_epi32(-8 * sum);
}
V16_INLINE iacc iacc_dot8(iacc a, iw w, int x) {
    return _mm512_dpbusd_epi32(a, w, _mm512_set1_epi32(x));
}
V16_INLINE v16 iacc_end8(iacc a) {
    return _mm512_cvtepi32_ps(a);
}
#define iacc_dot4         iacc_dot8
#define iacc_end4(a, sum) iacc_end8(a)
#define iacc_end5(a, sum) iacc_end8(a)
V16_INLINE iacc iacc_start5(int32_t sum) {
    return _mm512_set1_epi32(-16 * sum);
}

V16_INLINE iacc iacc_start6(int32_t start) {
    return _mm512_set1_epi32(start);
}

#include "kernels/matmul_impl.h"
