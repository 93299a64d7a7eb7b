// A 3 x 3 transposed convolution of stride 2, padding 1 and output padding 1, four outputs at a
// time: those at 2 p and 2 p + 1 along both axes come of the inputs at p and p + 1. quad[0] and [1]
// are of the even row.
#pragma once

__device__ __forceinline__ void quad_add(float (&quad)[4], float here, float right, float below,
                                         float across, const float* __restrict__ taps) {
    quad[0] += here * taps[4];
    quad[1] += here * taps[5] + right * taps[3];
    quad[2] += here * taps[7] + below * taps[1];
    quad[3] += here * taps[8] + right * taps[6] + below * taps[2] + across * taps[0];
}
