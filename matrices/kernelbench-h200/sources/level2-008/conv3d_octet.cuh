// The eight outputs of a window of 2 x 2 x 2 that a 3 x 3 x 3 convolution makes of a cube of
// 4 x 4 x 4 inputs. Bits 2, 1, 0 of an index into the eight are depth, height, width.
#pragma once

__device__ __forceinline__ void octet_of_cube(float (&acc)[8], const float (&cube)[4][4][4],
                                              const float* __restrict__ taps) {
#pragma unroll
    for (int tap = 0; tap < 27; ++tap) {
        const float factor = taps[tap];
#pragma unroll
        for (int o = 0; o < 8; ++o) {
            acc[o] += cube[(o >> 2) + tap / 9][(o >> 1 & 1) + tap / 3 % 3][(o & 1) + tap % 3] *
                      factor;
        }
    }
}
