// y = x / root of the sum of squares of a row, several blocks a row: partial sums of squares in a
// workspace of rows x parts, then every block adds its row's parts and scales its own columns.

#include "tree_reduce.cuh"

constexpr int kThreads = 128;

__global__ void l2norm_parts(const float* __restrict__ x, float* __restrict__ partial, int cols,
                             int length) {
    __shared__ float scratch[kThreads];

    const int part = blockIdx.x;
    const long long base = static_cast<long long>(blockIdx.y) * cols;
    const int end = min((part + 1) * length, cols);
    float sum = 0.0f;
    for (int col = part * length + threadIdx.x; col < end; col += kThreads) {
        sum = fmaf(x[base + col], x[base + col], sum);
    }
    sum = tree_sum(sum, scratch);
    if (threadIdx.x == 0) {
        partial[blockIdx.y * gridDim.x + part] = sum;
    }
}

__global__ void l2norm_scale(const float* __restrict__ x, const float* __restrict__ partial,
                             float* __restrict__ y, int cols, int length) {
    const int part = blockIdx.x;
    const long long base = static_cast<long long>(blockIdx.y) * cols;
    float total = 0.0f;
    for (int p = 0; p < gridDim.x; ++p) {
        total += partial[blockIdx.y * gridDim.x + p];
    }
    const float scale = rsqrtf(total);
    const int end = min((part + 1) * length, cols);
    for (int col = part * length + threadIdx.x; col < end; col += kThreads) {
        y[base + col] = x[base + col] * scale;
    }
}
