// Kullback-Leibler divergence of rows of probabilities, the mean over rows: one block a row adds
// t (log t - log p); a second kernel adds the rows' sums as a tree and divides by their number.

#include "tree_reduce.cuh"

constexpr int kThreads = 128;

__device__ __forceinline__ float divergence(float prediction, float target) {
    if (target > 0.0f) {
        return target * (logf(target) - logf(prediction));
    }
    return 0.0f;
}

__global__ void kl_div_rows(const float* __restrict__ predictions,
                            const float* __restrict__ targets, float* __restrict__ row_sums,
                            int cols) {
    __shared__ float scratch[kThreads];

    const long long start = static_cast<long long>(blockIdx.x) * cols;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += kThreads) {
        sum += divergence(predictions[start + i], targets[start + i]);
    }
    sum = tree_sum(sum, scratch);
    if (threadIdx.x == 0) {
        row_sums[blockIdx.x] = sum;
    }
}

__global__ void kl_div_mean(const float* __restrict__ row_sums, float* __restrict__ loss,
                            int rows) {
    __shared__ float scratch[kThreads];

    float sum = 0.0f;
    for (int row = threadIdx.x; row < rows; row += kThreads) {
        sum += row_sums[row];
    }
    sum = tree_sum(sum, scratch);
    if (threadIdx.x == 0) {
        loss[0] = sum / rows;
    }
}
