// Mean smooth L1 loss with the knee at one, one block a row; the rows' sums go to a workspace and
// are added by one block.

#include "warp_reduce.cuh"
#include "block_reduce.cuh"

constexpr int kThreads = 128;

__device__ __forceinline__ float smooth_l1(float difference) {
    const float distance = fabsf(difference);
    if (distance < 1.0f) {
        return 0.5f * distance * distance;
    }
    return distance - 0.5f;
}

__global__ void huber_rows(const float* __restrict__ predictions,
                           const float* __restrict__ targets, float* __restrict__ row_sums,
                           int cols) {
    __shared__ float warp_totals[kThreads / 32];

    const long long row = blockIdx.x;
    const float* p = predictions + row * cols;
    const float* t = targets + row * cols;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += kThreads) {
        sum += smooth_l1(p[i] - t[i]);
    }
    sum = block_sum(sum, warp_totals);
    if (threadIdx.x == 0) {
        row_sums[row] = sum;
    }
}

__global__ void huber_mean(const float* __restrict__ row_sums, float* __restrict__ loss, int rows,
                           int cols) {
    __shared__ float warp_totals[kThreads / 32];

    float sum = 0.0f;
    for (int row = threadIdx.x; row < rows; row += kThreads) {
        sum += row_sums[row];
    }
    sum = block_sum(sum, warp_totals);
    if (threadIdx.x == 0) {
        loss[0] = sum / rows / cols;
    }
}
