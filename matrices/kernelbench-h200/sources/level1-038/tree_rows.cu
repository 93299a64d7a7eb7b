// y = x / mean of |x| along a row, one block a row, a tree in shared memory.

#include "tree_reduce.cuh"

constexpr int kThreads = 256;

__global__ void l1norm_tree_rows(const float* __restrict__ x, float* __restrict__ y, int cols) {
    __shared__ float scratch[kThreads];

    const float* row_in = x + static_cast<long long>(blockIdx.x) * cols;
    float* row_out = y + static_cast<long long>(blockIdx.x) * cols;
    float sum = 0.0f;
    for (int col = threadIdx.x; col < cols; col += kThreads) {
        sum += fabsf(row_in[col]);
    }
    const float mean = tree_sum(sum, scratch) / cols;
    for (int col = threadIdx.x; col < cols; col += kThreads) {
        row_out[col] = row_in[col] / mean;
    }
}
