// Moments of a whole block: merged by shuffles within warps, then by every thread from shared
// memory in the order of the warps. blockDim.x is a multiple of 32, warp_moments holds
// blockDim.x / 32, every thread takes part and gets the result. Include welford.cuh first.
#pragma once

__device__ __forceinline__ Moments welford_block(Moments own, Moments* warp_moments) {
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const int warps = blockDim.x / 32;
    own = welford_warp(own);
    if (lane == 0) {
        warp_moments[warp] = own;
    }
    __syncthreads();
    Moments whole = warp_moments[0];
    for (int w = 1; w < warps; ++w) {
        whole = welford_merge(whole, warp_moments[w]);
    }
    __syncthreads();
    return whole;
}
