/* matmul_avxvnni.c - 256-bit VNNI, on machines with or without AVX-512. */
#define MM_TABLE    mm_avxvnni
#define MM_PANELS   1
#define MM_ROWS_F32 6
#define MM_ROWS_INT 2
#include "kernels/simd16.h"

typedef struct iw {
    __m256i a, b;
} iw;
typedef iw iacc;

V16_INLINE iw iw_load8(const unsigned char *p) {
    return (iw){_mm256_loadu_si256((const __m256i *)(const void *)p),
                _mm256_loadu_si256((const __m256i *)(const void *)(p + 32))};
}
V16_INLINE void iw_load4(const unsigned char *p, iw *lo, iw *hi) {
    const __m256i m = _mm256_set1_epi8(15);
    iw v = iw_load8(p);
    *lo = (iw){_mm256_and_si256(v.a, m), _mm256_and_si256(v.b, m)};
    *hi = (iw){_mm256_and_si256(_mm256_srli_epi16(v.a, 4), m),
               _mm256_and_si256(_mm256_srli_epi16(v.b, 4), m)};
}
V16_INLINE iacc iacc_set(int32_t v) {
    return (iacc){_mm256_set1_epi32(v), _mm256_set1_epi32(v)};
}
V16_INLINE iacc iacc_start8(int32_t sum) {
    return iacc_set(-128 * sum);
}
V16_INLINE iacc iacc_start4(int32_t zero) {
    return iacc_set(-8 * zero);
}
V16_INLINE iacc iacc_dot8(iacc s, iw w, int x) {
    __m256i v = _mm256_set1_epi32(x);
    return (iacc){_mm256_dpbusd_avx_epi32(s.a, w.a, v), _mm256_dpbusd_avx_epi32(s.b, w.b, v)};
}
V16_INLINE v16 iacc_end8(iacc s) {
    return (v16){_mm256_cvtepi32_ps(s.a), _mm256_cvtepi32_ps(s.b)};
}
#define iacc_dot4          iacc_dot8
#define iacc_end4(a, kind) iacc_end8(a)

V16_INLINE v16 v16_from_f16(const uint16_t *p) {
    return (v16){_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)p)),
                 _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(p + 8)))};
}
#define v16_fused v16_fma
#include "kernels/matmul_impl.h"
