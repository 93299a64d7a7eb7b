// CUDA's short vector types with its alignments, and dim3.
#ifndef HOSTGPU_VECTORS_H
#define HOSTGPU_VECTORS_H

#define HOSTGPU_VECTOR(T, name, align2, align4)                                                  \
    struct name##1 { T x; };                                                                     \
    struct __attribute__((aligned(align2))) name##2 { T x, y; };                                 \
    struct name##3 { T x, y, z; };                                                               \
    struct __attribute__((aligned(align4))) name##4 { T x, y, z, w; };                           \
    HOSTGPU_INLINE name##1 make_##name##1(T x) { return {x}; }                                   \
    HOSTGPU_INLINE name##2 make_##name##2(T x, T y) { return {x, y}; }                           \
    HOSTGPU_INLINE name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }                   \
    HOSTGPU_INLINE name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }

HOSTGPU_VECTOR(signed char, char, 2, 4)
HOSTGPU_VECTOR(unsigned char, uchar, 2, 4)
HOSTGPU_VECTOR(short, short, 4, 8)
HOSTGPU_VECTOR(unsigned short, ushort, 4, 8)
HOSTGPU_VECTOR(int, int, 8, 16)
HOSTGPU_VECTOR(unsigned, uint, 8, 16)
HOSTGPU_VECTOR(float, float, 8, 16)
HOSTGPU_VECTOR(double, double, 16, 16)
HOSTGPU_VECTOR(long long, longlong, 16, 16)
HOSTGPU_VECTOR(unsigned long long, ulonglong, 16, 16)
#undef HOSTGPU_VECTOR

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return uint3{x, y, z}; }
};

#endif
