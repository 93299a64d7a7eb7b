// A 3 x 3 x 3 transposed convolution of stride 2 and padding 1, eight outputs at a time: those at
// 2 p and 2 p + 1 along each axis come of the inputs at p and p + 1. An even output meets tap 1 of
// the near input alone, an odd one tap 2 of the near and tap 0 of the far input. Bits 2, 1, 0 of an
// index into the eight are depth, height, width.
#pragma once

__device__ __forceinline__ void octet_load(float (&inputs)[8], const float* __restrict__ volume,
                                           int d, int h, int w, int depth, int height, int width) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        const int z = d + (i >> 2);
        const int y = h + (i >> 1 & 1);
        const int x = w + (i & 1);
        const bool inside = z < depth && y < height && x < width;
        inputs[i] = inside ? volume[(z * height + y) * width + x] : 0.0f;
    }
}

__device__ __forceinline__ int octet_tap(int out, int in) {
    return out == 0 ? 1 : 2 - 2 * in;
}

__device__ __forceinline__ void octet_add(float (&acc)[8], const float (&inputs)[8],
                                          const float* __restrict__ taps) {
#pragma unroll
    for (int out = 0; out < 8; ++out) {
#pragma unroll
        for (int in = 0; in < 8; ++in) {
            if ((in & ~out) != 0) {
                continue;
            }
            const int i = octet_tap(out >> 2, in >> 2);
            const int j = octet_tap(out >> 1 & 1, in >> 1 & 1);
            const int k = octet_tap(out & 1, in & 1);
            acc[out] += inputs[in] * taps[(i * 3 + j) * 3 + k];
        }
    }
}
