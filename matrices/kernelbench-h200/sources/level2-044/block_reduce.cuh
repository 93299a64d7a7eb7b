// Sum over a block: shuffles within warps, then every thread adds the warps' totals in the same
// order. blockDim.x is a multiple of 32, warp_totals holds blockDim.x / 32 floats, every thread
// takes part and gets the result; warp_totals may be reused at once. Include warp_reduce.cuh first.
#pragma once

__device__ __forceinline__ float block_sum(float value, float* warp_totals) {
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const int warps = blockDim.x / 32;
    value = warp_sum(value);
    if (lane == 0) {
        warp_totals[warp] = value;
    }
    __syncthreads();
    float total = warp_totals[0];
    for (int w = 1; w < warps; ++w) {
        total += warp_totals[w];
    }
    __syncthreads();
    return total;
}
