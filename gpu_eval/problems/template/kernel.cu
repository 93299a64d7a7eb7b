// The sum of squares of each row, one block a row: a strided loop, then a tree in shared memory.

#include "tree_reduce.cuh"

__global__ void row_squares(const float* __restrict__ x, float* __restrict__ y, int cols) {
    extern __shared__ float scratch[];

    const float* row = x + static_cast<long long>(blockIdx.x) * cols;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        sum += row[i] * row[i];
    }
    sum = tree_sum(sum, scratch);
    if (threadIdx.x == 0) {
        y[blockIdx.x] = sum;
    }
}
