// Prefix sums along the rows of a matrix, one block a row: the row in steps of 128 elements, in
// each a scan by shuffles within warps, the totals of the warps before, and a carry from the steps
// before.

#include "warp_scan.cuh"

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / 32;

__global__ void cumsum_block_rows(const float* __restrict__ x, float* __restrict__ y, int cols) {
    __shared__ float warp_totals[kWarps];

    const int tid = threadIdx.x;
    const int lane = tid % 32;
    const int warp = tid / 32;
    const float* row_in = x + static_cast<long long>(blockIdx.x) * cols;
    float* row_out = y + static_cast<long long>(blockIdx.x) * cols;

    float carry = 0.0f;
    for (int start = 0; start < cols; start += kThreads) {
        const int i = start + tid;
        const float value = warp_scan(i < cols ? row_in[i] : 0.0f);
        if (lane == 31) {
            warp_totals[warp] = value;
        }
        __syncthreads();

        float before = 0.0f;
        float total = 0.0f;
        for (int w = 0; w < kWarps; ++w) {
            if (w < warp) {
                before += warp_totals[w];
            }
            total += warp_totals[w];
        }
        if (i < cols) {
            row_out[i] = carry + (before + value);
        }
        carry += total;
        __syncthreads();
    }
}
