// __half and __nv_bfloat16: storage types whose every operation rounds once, to nearest even, as the
// hardware does; a NaN result is the canonical 0x7fff.
//
// Sums, products, quotients and square roots go through float: 24 bits >= 2p + 2 for p = 11 and 8,
// so the second rounding changes nothing (Figueroa, "When is double rounding innocuous?", 1995).
// Fused multiply-adds and conversions from double round to odd on the way (Boldo and Melquiond,
// "Emulation of FMA and correctly rounded sums", 2008).
#ifndef HOSTGPU_HALF_H
#define HOSTGPU_HALF_H

namespace hostgpu {

HOSTGPU_INLINE uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}
HOSTGPU_INLINE float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, 4);
    return value;
}
HOSTGPU_INLINE uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, 8);
    return bits;
}
HOSTGPU_INLINE double double_of(uint64_t bits) {
    double value;
    memcpy(&value, &bits, 8);
    return value;
}

HOSTGPU_INLINE float round_to_odd(double value) {
    float nearest = static_cast<float>(value);
    double back = nearest;
    uint32_t bits = bits_of(nearest);
    if (back == value || value != value || (bits & 1)) return nearest;
    return float_of(__builtin_fabs(value) > __builtin_fabs(back) ? bits + 1 : bits - 1);
}
// a * b + c for a, b, c whose product is exact in double, rounded to odd.
HOSTGPU_INLINE float fma_to_odd(float a, float b, float c) {
    double product = static_cast<double>(a) * b, addend = c, sum = product + addend;
    if (!(__builtin_fabs(sum) <= DBL_MAX)) return static_cast<float>(sum);
    double part = sum - product;
    double error = (product - (sum - part)) + (addend - part);
    uint64_t bits = bits_of(sum);
    if (error != 0 && !(bits & 1)) bits += ((error > 0) == (sum > 0)) ? 1 : -1;
    return round_to_odd(double_of(bits));
}

struct Half {
    HOSTGPU_INLINE uint16_t encode(float value) {
        uint32_t bits = bits_of(value), sign = (bits >> 16) & 0x8000u;
        bits &= 0x7fffffffu;
        if (bits > 0x7f800000u) return 0x7fff;
        if (bits >= 0x47800000u) return static_cast<uint16_t>(sign | 0x7c00u);
        if (bits < 0x38800000u) {  // below 2^-14: 0.5f has the spacing of subnormal halves
            return static_cast<uint16_t>(sign | (bits_of(float_of(bits) + 0.5f) - 0x3f000000u));
        }
        bits -= 0x38000000u;
        return static_cast<uint16_t>(sign | ((bits + 0xfffu + ((bits >> 13) & 1)) >> 13));
    }
    HOSTGPU_INLINE float decode(uint16_t bits) {
        uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16, rest = bits & 0x7fffu;
        if (rest > 0x7c00u) return float_of(0x7fffffffu);
        if (rest == 0x7c00u) return float_of(sign | 0x7f800000u);
        if (rest < 0x400u) {
            return float_of(sign | bits_of(static_cast<float>(static_cast<int>(rest)) * 0x1p-24f));
        }
        return float_of(sign | ((rest << 13) + 0x38000000u));
    }
};
struct BFloat16 {
    HOSTGPU_INLINE uint16_t encode(float value) {
        uint32_t bits = bits_of(value);
        if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
        return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1)) >> 16);
    }
    HOSTGPU_INLINE float decode(uint16_t bits) { return float_of(static_cast<uint32_t>(bits) << 16); }
};

#define HOSTGPU_ALWAYS inline __attribute__((always_inline))

template <class Format>
struct __attribute__((aligned(2))) Narrow {
    uint16_t bits;
    Narrow() = default;
    HOSTGPU_ALWAYS Narrow(float value) : bits(Format::encode(value)) {}
    HOSTGPU_ALWAYS Narrow(double value) : bits(Format::encode(round_to_odd(value))) {}
    HOSTGPU_ALWAYS Narrow(int value) : Narrow(static_cast<double>(value)) {}
    HOSTGPU_ALWAYS Narrow(unsigned value) : Narrow(static_cast<double>(value)) {}
    HOSTGPU_ALWAYS operator float() const { return Format::decode(bits); }
    HOSTGPU_ALWAYS Narrow operator-() const { return raw(bits ^ 0x8000u); }
    static HOSTGPU_ALWAYS Narrow raw(unsigned bits) {
        Narrow value;
        value.bits = static_cast<uint16_t>(bits);
        return value;
    }
};
#define HOSTGPU_OPERATOR(op)                                                                       \
    template <class F>                                                                             \
    HOSTGPU_INLINE Narrow<F> operator op(const Narrow<F>& a, const Narrow<F>& b) {                 \
        return Narrow<F>(static_cast<float>(a) op static_cast<float>(b));                          \
    }                                                                                              \
    template <class F>                                                                             \
    HOSTGPU_INLINE Narrow<F>& operator op##=(Narrow<F>& a, const Narrow<F>& b) {                   \
        return a = Narrow<F>(static_cast<float>(a) op static_cast<float>(b));                      \
    }
HOSTGPU_OPERATOR(+)
HOSTGPU_OPERATOR(-)
HOSTGPU_OPERATOR(*)
HOSTGPU_OPERATOR(/)
#undef HOSTGPU_OPERATOR
#define HOSTGPU_OPERATOR(op)                                                                       \
    template <class F>                                                                             \
    HOSTGPU_INLINE bool operator op(const Narrow<F>& a, const Narrow<F>& b) {                      \
        return static_cast<float>(a) op static_cast<float>(b);                                     \
    }
HOSTGPU_OPERATOR(==)
HOSTGPU_OPERATOR(!=)
HOSTGPU_OPERATOR(<)
HOSTGPU_OPERATOR(<=)
HOSTGPU_OPERATOR(>)
HOSTGPU_OPERATOR(>=)
#undef HOSTGPU_OPERATOR

template <class F>
struct __attribute__((aligned(4))) NarrowPair {
    Narrow<F> x, y;
};

}  // namespace hostgpu

typedef hostgpu::Narrow<hostgpu::Half> __half;
typedef hostgpu::Narrow<hostgpu::BFloat16> __nv_bfloat16;
typedef hostgpu::NarrowPair<hostgpu::Half> __half2;
typedef hostgpu::NarrowPair<hostgpu::BFloat16> __nv_bfloat162;
typedef __half half;
typedef __half2 half2;
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

HOSTGPU_INLINE __half __float2half(float v) { return __half(v); }
HOSTGPU_INLINE __half __float2half_rn(float v) { return __half(v); }
HOSTGPU_INLINE __half __double2half(double v) { return __half(v); }
HOSTGPU_INLINE float __half2float(__half v) { return v; }
HOSTGPU_INLINE __half __int2half_rn(int v) { return __half(v); }
HOSTGPU_INLINE unsigned short __half_as_ushort(__half v) { return v.bits; }
HOSTGPU_INLINE __half __ushort_as_half(unsigned short v) { return __half::raw(v); }
HOSTGPU_INLINE __nv_bfloat16 __float2bfloat16(float v) { return __nv_bfloat16(v); }
HOSTGPU_INLINE __nv_bfloat16 __float2bfloat16_rn(float v) { return __nv_bfloat16(v); }
HOSTGPU_INLINE __nv_bfloat16 __double2bfloat16(double v) { return __nv_bfloat16(v); }
HOSTGPU_INLINE float __bfloat162float(__nv_bfloat16 v) { return v; }
HOSTGPU_INLINE unsigned short __bfloat16_as_ushort(__nv_bfloat16 v) { return v.bits; }
HOSTGPU_INLINE __nv_bfloat16 __ushort_as_bfloat16(unsigned short v) { return __nv_bfloat16::raw(v); }

#define HOSTGPU_NARROW(T, T2)                                                                      \
    HOSTGPU_INLINE T __hadd(T a, T b) { return a + b; }                                            \
    HOSTGPU_INLINE T __hsub(T a, T b) { return a - b; }                                            \
    HOSTGPU_INLINE T __hmul(T a, T b) { return a * b; }                                            \
    HOSTGPU_INLINE T __hdiv(T a, T b) { return a / b; }                                            \
    HOSTGPU_INLINE T __hneg(T a) { return -a; }                                                    \
    HOSTGPU_INLINE T __habs(T a) { return T::raw(a.bits & 0x7fffu); }                              \
    HOSTGPU_INLINE T __hfma(T a, T b, T c) { return T(hostgpu::fma_to_odd(a, b, c)); }             \
    HOSTGPU_INLINE bool __hisnan(T a) { return a != a; }                                           \
    HOSTGPU_INLINE bool __hgt(T a, T b) { return a > b; }                                          \
    HOSTGPU_INLINE bool __hlt(T a, T b) { return a < b; }                                          \
    HOSTGPU_INLINE bool __hge(T a, T b) { return a >= b; }                                         \
    HOSTGPU_INLINE bool __hle(T a, T b) { return a <= b; }                                         \
    HOSTGPU_INLINE bool __heq(T a, T b) { return a == b; }                                         \
    HOSTGPU_INLINE bool __hne(T a, T b) { return a != b; }                                         \
    HOSTGPU_INLINE T __hmax(T a, T b) { return b != b || a > b ? a : b; }                          \
    HOSTGPU_INLINE T __hmin(T a, T b) { return b != b || a < b ? a : b; }                          \
    HOSTGPU_INLINE T hsqrt(T a) { return T(__builtin_sqrtf(a)); }                                  \
    HOSTGPU_INLINE T hexp(T a) { return T(::expf(a)); }                                            \
    HOSTGPU_INLINE T hlog(T a) { return T(::logf(a)); }                                            \
    HOSTGPU_INLINE T hrsqrt(T a) { return T(1.0 / __builtin_sqrt(static_cast<float>(a))); }        \
    HOSTGPU_INLINE T hrcp(T a) { return T(1.0f / static_cast<float>(a)); }                         \
    HOSTGPU_INLINE T2 __hadd2(T2 a, T2 b) { return {a.x + b.x, a.y + b.y}; }                       \
    HOSTGPU_INLINE T2 __hsub2(T2 a, T2 b) { return {a.x - b.x, a.y - b.y}; }                       \
    HOSTGPU_INLINE T2 __hmul2(T2 a, T2 b) { return {a.x * b.x, a.y * b.y}; }                       \
    HOSTGPU_INLINE T2 __hfma2(T2 a, T2 b, T2 c) {                                                  \
        return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};                                     \
    }
HOSTGPU_NARROW(__half, __half2)
HOSTGPU_NARROW(__nv_bfloat16, __nv_bfloat162)
#undef HOSTGPU_NARROW

HOSTGPU_INLINE __half2 __halves2half2(__half a, __half b) { return {a, b}; }
HOSTGPU_INLINE __half2 make_half2(__half a, __half b) { return {a, b}; }
HOSTGPU_INLINE __half2 __half2half2(__half a) { return {a, a}; }
HOSTGPU_INLINE __half2 __float2half2_rn(float a) { return {__half(a), __half(a)}; }
HOSTGPU_INLINE __half2 __floats2half2_rn(float a, float b) { return {__half(a), __half(b)}; }
HOSTGPU_INLINE __half2 __float22half2_rn(float2 v) { return {__half(v.x), __half(v.y)}; }
HOSTGPU_INLINE float2 __half22float2(__half2 v) { return {v.x, v.y}; }
HOSTGPU_INLINE __half __low2half(__half2 v) { return v.x; }
HOSTGPU_INLINE __half __high2half(__half2 v) { return v.y; }
HOSTGPU_INLINE float __low2float(__half2 v) { return v.x; }
HOSTGPU_INLINE float __high2float(__half2 v) { return v.y; }
HOSTGPU_INLINE __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return {a, b}; }
HOSTGPU_INLINE __nv_bfloat162 __floats2bfloat162_rn(float a, float b) {
    return {__nv_bfloat16(a), __nv_bfloat16(b)};
}
HOSTGPU_INLINE __nv_bfloat162 __float22bfloat162_rn(float2 v) {
    return {__nv_bfloat16(v.x), __nv_bfloat16(v.y)};
}
HOSTGPU_INLINE float2 __bfloat1622float2(__nv_bfloat162 v) { return {v.x, v.y}; }

#endif
