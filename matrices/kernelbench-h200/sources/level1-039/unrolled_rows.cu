// y = x / root of the sum of squares of a row, one block a row: two independent sums a thread, so
// that additions do not wait for each other, then shuffles; the warps' totals are added by the
// first warp, and the norm reaches the block through shared memory.

#include "warp_reduce.cuh"

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / 32;

__global__ void l2norm_unrolled(const float* __restrict__ x, float* __restrict__ y, int cols) {
    __shared__ float warp_totals[kWarps];
    __shared__ float row_norm;

    const int tid = threadIdx.x;
    const int lane = tid & 31;
    const int warp = tid >> 5;
    const float* row_in = x + static_cast<long long>(blockIdx.x) * cols;
    float* row_out = y + static_cast<long long>(blockIdx.x) * cols;

    float even = 0.0f;
    float odd = 0.0f;
    int col = tid;
    for (; col + kThreads < cols; col += 2 * kThreads) {
        const float first = row_in[col];
        const float second = row_in[col + kThreads];
        even += first * first;
        odd += second * second;
    }
    if (col < cols) {
        even += row_in[col] * row_in[col];
    }
    const float own = warp_sum(even + odd);
    if (lane == 0) {
        warp_totals[warp] = own;
    }
    __syncthreads();
    if (warp == 0) {
        const float total = warp_sum(lane < kWarps ? warp_totals[lane] : 0.0f);
        if (lane == 0) {
            row_norm = sqrtf(total);
        }
    }
    __syncthreads();

    const float norm = row_norm;
    for (int i = tid; i < cols; i += kThreads) {
        row_out[i] = row_in[i] / norm;
    }
}
