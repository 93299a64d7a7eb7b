// Mean hinge loss of a matrix against one target a column: a thread holds its column's target and
// walks down a part of the rows, 128 columns a block. Blocks leave their sums in a workspace; one
// block adds them and scales by the share of one element.

#include "warp_reduce.cuh"
#include "block_reduce.cuh"

constexpr int kThreads = 128;

__global__ void hinge_columns(const float* __restrict__ predictions,
                              const float* __restrict__ targets, float* __restrict__ partial,
                              int rows, int cols, int length) {
    __shared__ float warp_totals[kThreads / 32];

    const int col = blockIdx.x * kThreads + threadIdx.x;
    const int begin = blockIdx.y * length;
    const int end = min(begin + length, rows);

    float sum = 0.0f;
    if (col < cols) {
        const float target = targets[col];
        for (int row = begin; row < end; ++row) {
            const float prediction = predictions[static_cast<long long>(row) * cols + col];
            sum += fmaxf(1.0f - prediction * target, 0.0f);
        }
    }
    sum = block_sum(sum, warp_totals);
    if (threadIdx.x == 0) {
        partial[blockIdx.y * gridDim.x + blockIdx.x] = sum;
    }
}

__global__ void hinge_mean(const float* __restrict__ partial, float* __restrict__ loss, int count,
                           int rows, int cols) {
    __shared__ float warp_totals[kThreads / 32];

    float sum = 0.0f;
    for (int i = threadIdx.x; i < count; i += kThreads) {
        sum += partial[i];
    }
    sum = block_sum(sum, warp_totals);
    if (threadIdx.x == 0) {
        loss[0] = sum / (static_cast<float>(rows) * static_cast<float>(cols));
    }
}
