// Row-wise softmax, one block a row: maximum, then exponentials and their sum, then the division;
// both block reductions are trees in shared memory.

#include "limits.cuh"
#include "tree_reduce.cuh"

__global__ void softmax_three_pass(const float* __restrict__ x, float* __restrict__ y, int cols) {
    extern __shared__ float scratch[];

    const float* row_in = x + static_cast<long long>(blockIdx.x) * cols;
    float* row_out = y + static_cast<long long>(blockIdx.x) * cols;

    float largest = -FLT_MAX;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        largest = fmaxf(largest, row_in[i]);
    }
    largest = tree_max(largest, scratch);

    float sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        const float e = expf(row_in[i] - largest);
        row_out[i] = e;
        sum += e;
    }
    sum = tree_sum(sum, scratch);

    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        row_out[i] = row_out[i] / sum;
    }
}
