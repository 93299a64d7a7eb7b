// CUDA's math on a CPU. Functions with CUDA's accurate contract are libm's; the fast intrinsics
// reproduce how the hardware's shortcuts round (their documented error), not their exact bits.
#ifndef HOSTGPU_MATH_H
#define HOSTGPU_MATH_H

// Stops gcc from fusing a product into a sum (-ffp-contract=fast, the counterpart of nvcc's
// -fmad=true) where an `_rn` intrinsic promises its own rounding.
#if defined(__x86_64__)
#define HOSTGPU_ROUNDED(value) __asm__("" : "+x"(value))
#else
#define HOSTGPU_ROUNDED(value) __asm__("" : "+w"(value))
#endif

#define HOSTGPU_ROUNDING(T, prefix, fma_name, sqrt_name, square_root)                              \
    HOSTGPU_INLINE T prefix##mul_rn(T a, T b) { T r = a * b; HOSTGPU_ROUNDED(r); return r; }       \
    HOSTGPU_INLINE T prefix##add_rn(T a, T b) {                                                    \
        HOSTGPU_ROUNDED(a); HOSTGPU_ROUNDED(b); return a + b;                                      \
    }                                                                                              \
    HOSTGPU_INLINE T prefix##sub_rn(T a, T b) {                                                    \
        HOSTGPU_ROUNDED(a); HOSTGPU_ROUNDED(b); return a - b;                                      \
    }                                                                                              \
    HOSTGPU_INLINE T prefix##div_rn(T a, T b) { return a / b; }                                    \
    HOSTGPU_INLINE T prefix##rcp_rn(T a) { return T(1) / a; }                                      \
    HOSTGPU_INLINE T sqrt_name(T a) { return square_root(a); }
HOSTGPU_ROUNDING(float, __f, __fmaf_rn, __fsqrt_rn, __builtin_sqrtf)
HOSTGPU_ROUNDING(double, __d, __fma_rn, __dsqrt_rn, __builtin_sqrt)
#undef HOSTGPU_ROUNDING
HOSTGPU_INLINE float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
HOSTGPU_INLINE double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }
HOSTGPU_INLINE float __frsqrt_rn(float a) {
    return static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(a)));
}

// Accurate functions that the C library lacks.
HOSTGPU_INLINE float rsqrtf(float a) { return 1.0f / __builtin_sqrtf(a); }
HOSTGPU_INLINE double rsqrt(double a) { return 1.0 / __builtin_sqrt(a); }
HOSTGPU_INLINE float rsqrt(float a) { return rsqrtf(a); }
HOSTGPU_INLINE float rcbrtf(float a) { return 1.0f / ::cbrtf(a); }
HOSTGPU_INLINE float fdividef(float a, float b) { return a / b; }
HOSTGPU_INLINE float normcdff(float a) {
    return static_cast<float>(0.5 * ::erfc(-0.70710678118654752440 * static_cast<double>(a)));
}
HOSTGPU_INLINE float sinpif(float a) {
    return static_cast<float>(::sin(3.14159265358979323846 * ::remainder(static_cast<double>(a), 2.0)));
}
HOSTGPU_INLINE float cospif(float a) {
    return static_cast<float>(::cos(3.14159265358979323846 * ::remainder(static_cast<double>(a), 2.0)));
}
HOSTGPU_INLINE float __saturatef(float a) { return a > 0.0f ? (a < 1.0f ? a : 1.0f) : 0.0f; }

namespace hostgpu {

// Maximum and minimum with CUDA's rules: a NaN loses, and +0 counts as above -0.
HOSTGPU_INLINE float maximum(float a, float b) {
    if (__builtin_expect(a == b, 0)) return float_of(bits_of(a) & bits_of(b));
    return b != b || a > b ? a : b;
}
HOSTGPU_INLINE float minimum(float a, float b) {
    if (__builtin_expect(a == b, 0)) return float_of(bits_of(a) | bits_of(b));
    return b != b || a < b ? a : b;
}
HOSTGPU_INLINE double maximum(double a, double b) {
    if (__builtin_expect(a == b, 0)) return double_of(bits_of(a) & bits_of(b));
    return b != b || a > b ? a : b;
}
HOSTGPU_INLINE double minimum(double a, double b) {
    if (__builtin_expect(a == b, 0)) return double_of(bits_of(a) | bits_of(b));
    return b != b || a < b ? a : b;
}

// ex2.approx after a product rounded to float: the error grows with |x|, as __expf documents.
HOSTGPU_INLINE float fast_exp(float a) { return ::exp2f(__fmul_rn(a, 1.4426950408889634f)); }
HOSTGPU_INLINE float fast_exp10(float a) { return ::exp2f(__fmul_rn(a, 3.3219280948873622f)); }
HOSTGPU_INLINE float fast_log2(float a) { return ::log2f(a); }
HOSTGPU_INLINE float fast_log(float a) { return __fmul_rn(::log2f(a), 0.69314718055994531f); }
HOSTGPU_INLINE float fast_log10(float a) { return __fmul_rn(::log2f(a), 0.30102999566398120f); }
HOSTGPU_INLINE float fast_pow(float a, float b) { return ::exp2f(__fmul_rn(b, ::log2f(a))); }
// Range reduction by one product in float: the absolute error grows with |x|.
HOSTGPU_INLINE float fast_sin(float a) {
    double turns = __fmul_rn(a, 0.15915494309189533f);
    return static_cast<float>(::sin(6.28318530717958647692 * (turns - ::rint(turns))));
}
HOSTGPU_INLINE float fast_cos(float a) {
    double turns = __fmul_rn(a, 0.15915494309189533f);
    return static_cast<float>(::cos(6.28318530717958647692 * (turns - ::rint(turns))));
}
// A product with a rounded reciprocal, which flushes to zero for divisors beyond 2^126.
HOSTGPU_INLINE float fast_divide(float a, float b) {
    float magnitude = __builtin_fabsf(b);
    if (magnitude > 0x1p126f && magnitude <= FLT_MAX) return a * (b > 0 ? 0.0f : -0.0f);
    if (magnitude < 0x1p-126f) return a / b;
    return __fmul_rn(a, 1.0f / b);
}

template <class To, class From>
HOSTGPU_INLINE To saturate(From value, From low, From high, To least, To most) {
    if (value != value) return 0;
    if (value < low) return least;
    if (value > high) return most;
    return static_cast<To>(value);
}

}  // namespace hostgpu

// The C library declares some of these names itself: map by macro.
#define __expf(a) ::hostgpu::fast_exp(a)
#define __exp10f(a) ::hostgpu::fast_exp10(a)
#define __logf(a) ::hostgpu::fast_log(a)
#define __log2f(a) ::hostgpu::fast_log2(a)
#define __log10f(a) ::hostgpu::fast_log10(a)
#define __powf(a, b) ::hostgpu::fast_pow(a, b)
#define __sinf(a) ::hostgpu::fast_sin(a)
#define __cosf(a) ::hostgpu::fast_cos(a)
#define __tanf(a) ::hostgpu::fast_divide(::hostgpu::fast_sin(a), ::hostgpu::fast_cos(a))
#define __fdividef(a, b) ::hostgpu::fast_divide(a, b)
#define fmaxf(a, b) ::hostgpu::maximum(static_cast<float>(a), static_cast<float>(b))
#define fminf(a, b) ::hostgpu::minimum(static_cast<float>(a), static_cast<float>(b))

// C++ overloads in the global namespace, as in device code.
#define HOSTGPU_UNARY(name) HOSTGPU_INLINE float name(float a) { return ::name##f(a); }
HOSTGPU_UNARY(exp)
HOSTGPU_UNARY(exp2)
HOSTGPU_UNARY(expm1)
HOSTGPU_UNARY(log)
HOSTGPU_UNARY(log2)
HOSTGPU_UNARY(log10)
HOSTGPU_UNARY(log1p)
HOSTGPU_UNARY(sin)
HOSTGPU_UNARY(cos)
HOSTGPU_UNARY(tan)
HOSTGPU_UNARY(sinh)
HOSTGPU_UNARY(cosh)
HOSTGPU_UNARY(tanh)
HOSTGPU_UNARY(erf)
HOSTGPU_UNARY(erfc)
HOSTGPU_UNARY(sqrt)
HOSTGPU_UNARY(cbrt)
HOSTGPU_UNARY(fabs)
HOSTGPU_UNARY(floor)
HOSTGPU_UNARY(ceil)
HOSTGPU_UNARY(trunc)
HOSTGPU_UNARY(round)
HOSTGPU_UNARY(rint)
#undef HOSTGPU_UNARY
HOSTGPU_INLINE float pow(float a, float b) { return ::powf(a, b); }
HOSTGPU_INLINE float pow(float a, int b) { return ::powf(a, static_cast<float>(b)); }
HOSTGPU_INLINE float fmod(float a, float b) { return ::fmodf(a, b); }
HOSTGPU_INLINE float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
HOSTGPU_INLINE float fmax(float a, float b) { return hostgpu::maximum(a, b); }
HOSTGPU_INLINE float fmin(float a, float b) { return hostgpu::minimum(a, b); }
HOSTGPU_INLINE float abs(float a) { return __builtin_fabsf(a); }
HOSTGPU_INLINE double abs(double a) { return __builtin_fabs(a); }
HOSTGPU_INLINE long long abs(long long a) { return a < 0 ? -a : a; }

#define HOSTGPU_EXTREMA(A, B, T)                                                                   \
    HOSTGPU_INLINE T min(A a, B b) {                                                               \
        return static_cast<T>(a) < static_cast<T>(b) ? static_cast<T>(a) : static_cast<T>(b);      \
    }                                                                                              \
    HOSTGPU_INLINE T max(A a, B b) {                                                               \
        return static_cast<T>(a) > static_cast<T>(b) ? static_cast<T>(a) : static_cast<T>(b);      \
    }
HOSTGPU_EXTREMA(int, int, int)
HOSTGPU_EXTREMA(unsigned, unsigned, unsigned)
HOSTGPU_EXTREMA(int, unsigned, unsigned)
HOSTGPU_EXTREMA(unsigned, int, unsigned)
HOSTGPU_EXTREMA(long, long, long)
HOSTGPU_EXTREMA(unsigned long, unsigned long, unsigned long)
HOSTGPU_EXTREMA(long long, long long, long long)
HOSTGPU_EXTREMA(unsigned long long, unsigned long long, unsigned long long)
#undef HOSTGPU_EXTREMA
HOSTGPU_INLINE float min(float a, float b) { return hostgpu::minimum(a, b); }
HOSTGPU_INLINE float max(float a, float b) { return hostgpu::maximum(a, b); }
HOSTGPU_INLINE double min(double a, double b) { return hostgpu::minimum(a, b); }
HOSTGPU_INLINE double max(double a, double b) { return hostgpu::maximum(a, b); }
HOSTGPU_INLINE double min(float a, double b) { return hostgpu::minimum(double(a), b); }
HOSTGPU_INLINE double max(float a, double b) { return hostgpu::maximum(double(a), b); }
HOSTGPU_INLINE double min(double a, float b) { return hostgpu::minimum(a, double(b)); }
HOSTGPU_INLINE double max(double a, float b) { return hostgpu::maximum(a, double(b)); }

// Bits, conversions, loads.
HOSTGPU_INLINE int __float_as_int(float v) { return static_cast<int>(hostgpu::bits_of(v)); }
HOSTGPU_INLINE unsigned __float_as_uint(float v) { return hostgpu::bits_of(v); }
HOSTGPU_INLINE float __int_as_float(int v) { return hostgpu::float_of(static_cast<unsigned>(v)); }
HOSTGPU_INLINE float __uint_as_float(unsigned v) { return hostgpu::float_of(v); }
HOSTGPU_INLINE long long __double_as_longlong(double v) {
    return static_cast<long long>(hostgpu::bits_of(v));
}
HOSTGPU_INLINE double __longlong_as_double(long long v) {
    return hostgpu::double_of(static_cast<uint64_t>(v));
}
#define HOSTGPU_CONVERT(suffix, round)                                                             \
    HOSTGPU_INLINE int __float2int_##suffix(float v) {                                             \
        return hostgpu::saturate<int, double>(round(static_cast<double>(v)), -0x1p31, 0x1p31 - 1,  \
                                              INT_MIN, INT_MAX);                                   \
    }                                                                                              \
    HOSTGPU_INLINE unsigned __float2uint_##suffix(float v) {                                       \
        return hostgpu::saturate<unsigned, double>(round(static_cast<double>(v)), 0, 0x1p32 - 1,   \
                                                   0u, UINT_MAX);                                  \
    }
HOSTGPU_CONVERT(rn, ::rint)
HOSTGPU_CONVERT(rz, ::trunc)
HOSTGPU_CONVERT(rd, ::floor)
HOSTGPU_CONVERT(ru, ::ceil)
#undef HOSTGPU_CONVERT
HOSTGPU_INLINE float __int2float_rn(int v) { return static_cast<float>(v); }
HOSTGPU_INLINE float __uint2float_rn(unsigned v) { return static_cast<float>(v); }
HOSTGPU_INLINE float __double2float_rn(double v) { return static_cast<float>(v); }
HOSTGPU_INLINE int __popc(unsigned v) { return __builtin_popcount(v); }
HOSTGPU_INLINE int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
HOSTGPU_INLINE int __clz(int v) { return v ? __builtin_clz(static_cast<unsigned>(v)) : 32; }
HOSTGPU_INLINE int __ffs(int v) { return __builtin_ffs(v); }
HOSTGPU_INLINE unsigned __brev(unsigned v) {
    unsigned r = 0;
    for (int i = 0; i < 32; ++i) r |= ((v >> i) & 1u) << (31 - i);
    return r;
}
HOSTGPU_INLINE int __mul24(int a, int b) {
    return static_cast<int>(static_cast<unsigned>(a) << 8) / 256 * (static_cast<int>(static_cast<unsigned>(b) << 8) / 256);
}
HOSTGPU_INLINE int __mulhi(int a, int b) {
    return static_cast<int>((static_cast<long long>(a) * b) >> 32);
}
HOSTGPU_INLINE unsigned __umulhi(unsigned a, unsigned b) {
    return static_cast<unsigned>((static_cast<unsigned long long>(a) * b) >> 32);
}
template <class T> HOSTGPU_INLINE T __ldg(const T* address) { return *address; }
template <class T> HOSTGPU_INLINE T __ldcs(const T* address) { return *address; }
template <class T> HOSTGPU_INLINE T __ldcg(const T* address) { return *address; }
template <class T> HOSTGPU_INLINE void __stcs(T* address, T value) { *address = value; }
template <class T> HOSTGPU_INLINE void __stcg(T* address, T value) { *address = value; }

#define CUDART_INF_F INFINITY
#define CUDART_NAN_F NAN
#define CUDART_PI_F 3.141592654f

#endif
