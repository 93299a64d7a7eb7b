// Floats as unsigned integers of the same order, so that integer atomics find extremes of floats.
// Zeros of either sign are one key; every float has a key above zero.
#pragma once

__device__ __forceinline__ unsigned ordered_key(float value) {
    const unsigned bits = __float_as_uint(value + 0.0f);
    return (bits & 0x80000000u) ? ~bits : bits | 0x80000000u;
}

__device__ __forceinline__ float ordered_value(unsigned key) {
    return __uint_as_float((key & 0x80000000u) ? key & 0x7fffffffu : ~key);
}
