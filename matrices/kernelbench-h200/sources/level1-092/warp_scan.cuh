// Inclusive prefix sums over the 32 lanes of a full warp; every lane must take part.
#pragma once

__device__ __forceinline__ float warp_scan(float value) {
    const int lane = threadIdx.x % 32;
    for (int offset = 1; offset < 32; offset <<= 1) {
        const float before = __shfl_up_sync(0xffffffffu, value, offset);
        if (lane >= offset) {
            value += before;
        }
    }
    return value;
}
