// Kullback-Leibler divergence of rows of probabilities, the mean over rows, in one kernel: one warp
// a row, four rows a block, two elements a lane and step with sums of their own. A lane adds
// t log(t / p), one logarithm an element; the block that finishes last adds the blocks' sums.

#include "warp_reduce.cuh"
#include "tree_reduce.cuh"
#include "loss_last_block.cuh"

constexpr int kThreads = 128;
constexpr int kRows = kThreads / 32;

__global__ void kl_div_warp_rows(const float* __restrict__ predictions,
                                 const float* __restrict__ targets, volatile float* partial,
                                 unsigned* finished, float* __restrict__ loss, int rows,
                                 int cols) {
    __shared__ float scratch[kThreads];
    __shared__ float row_sums[kRows];

    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const int row = blockIdx.x * kRows + warp;

    float even = 0.0f;
    float odd = 0.0f;
    if (row < rows) {
        const float* p = predictions + static_cast<long long>(row) * cols;
        const float* t = targets + static_cast<long long>(row) * cols;
        for (int i = lane; i < cols; i += 64) {
            const int j = i + 32;
            even += t[i] > 0.0f ? t[i] * logf(t[i] / p[i]) : 0.0f;
            if (j < cols) {
                odd += t[j] > 0.0f ? t[j] * logf(t[j] / p[j]) : 0.0f;
            }
        }
    }
    const float sum = warp_sum(even + odd);
    if (lane == 0) {
        row_sums[warp] = sum;
    }
    __syncthreads();

    const float block = (row_sums[0] + row_sums[1]) + (row_sums[2] + row_sums[3]);
    float total = 0.0f;
    const bool last = last_block_total(block, partial, finished, scratch, total);
    if (last && threadIdx.x == 0) {
        loss[0] = total / rows;
    }
}
