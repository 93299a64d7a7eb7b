// Sums of all elements of a row before each one, one block a row: every thread adds the elements of
// its part of the row, a scan over the block gives what stands before the part, and a second sweep
// over the part writes the running sum before it takes in each element.

#include "warp_scan.cuh"

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / 32;

__global__ void exclusive_cumsum_two_sweeps(const float* __restrict__ x, float* __restrict__ y,
                                            int cols) {
    __shared__ float warp_totals[kWarps];

    const int tid = threadIdx.x;
    const int lane = tid % 32;
    const int warp = tid / 32;
    const long long start = static_cast<long long>(blockIdx.x) * cols;
    const int length = (cols + kThreads - 1) / kThreads;
    const int begin = min(tid * length, cols);
    const int end = min(begin + length, cols);

    float total = 0.0f;
    for (int i = begin; i < end; ++i) {
        total += x[start + i];
    }
    const float scanned = warp_scan(total);
    if (lane == 31) {
        warp_totals[warp] = scanned;
    }
    __syncthreads();

    const float left = __shfl_up_sync(0xffffffffu, scanned, 1);
    float running = lane == 0 ? 0.0f : left;
    for (int w = 0; w < warp; ++w) {
        running += warp_totals[w];
    }
    for (int i = begin; i < end; ++i) {
        y[start + i] = running;
        running += x[start + i];
    }
}
