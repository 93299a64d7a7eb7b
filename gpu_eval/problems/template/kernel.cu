// Each row over its root mean square, one block a row: a strided loop, then a tree in shared memory.

#include "tree_reduce.cuh"

__global__ void rms_norm(const float* __restrict__ x, float* __restrict__ y, int cols, float eps) {
    extern __shared__ float scratch[];

    const float* row_in = x + static_cast<long long>(blockIdx.x) * cols;
    float* row_out = y + static_cast<long long>(blockIdx.x) * cols;

    float sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        sum += row_in[i] * row_in[i];
    }
    sum = tree_sum(sum, scratch);

    const float scale = rsqrtf(sum / cols + eps);
    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        row_out[i] = row_in[i] * scale;
    }
}
