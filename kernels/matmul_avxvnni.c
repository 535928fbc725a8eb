/* matmul_avxvnni.c - 256-bit VNNI, on machines with or without AVX-512. */
#define MM_TABLE               mm_avxvnni
#define MM_WIDE_KIND           MM_W8W
#define MM_SOME_PLAIN(kind)    (!has_plain_codes(kind))
#define MM_ACC_IN_MEMORY(kind) false
#define MM_ROWS_INT            3
#include "kernels/matmul_256.h"

V16_INLINE iacc iacc_start8(int32_t sum) {
    return _mm256_set1_epi32(-128 * sum);
}
V16_INLINE iacc iacc_start4(int32_t sum) {
    return _mm256_set1_epi32(-8 * sum);
}
V16_INLINE iacc iacc_dot8(iacc s, iw w, int x) {
    return _mm256_dpbusd_avx_epi32(s, w, _mm256_set1_epi32(x));
}
V16_INLINE vf iacc_end8(iacc s) {
    return _mm256_cvtepi32_ps(s);
}
#define iacc_dot4         iacc_dot8
#define iacc_end4(a, sum) iacc_end8(a)
#define iacc_end5(a, sum) iacc_end8(a)
V16_INLINE iacc iacc_start5(int32_t sum) {
    return _mm256_set1_epi32(-16 * sum);
}
V16_INLINE iacc iacc_start6(int32_t start) {
    return _mm256_set1_epi32(start);
}

#include "kernels/matmul_impl.h"
