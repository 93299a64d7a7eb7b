// Mean triplet margin loss in two kernels. Rows are cut into parts of equal length, one block a
// part, which leaves its two sums of squared differences in a workspace of rows x parts; then one
// thread a row adds the parts, takes the roots and the margin, and the block that finishes last
// adds the losses of all rows.

#include "warp_reduce.cuh"
#include "block_reduce.cuh"
#include "tree_reduce.cuh"
#include "loss_last_block.cuh"

constexpr int kThreads = 128;

__device__ __forceinline__ float squared(float difference) {
    return difference * difference;
}

__global__ void triplet_parts(const float* __restrict__ anchor, const float* __restrict__ positive,
                              const float* __restrict__ negative, float2* __restrict__ parts,
                              int cols, int length, float eps) {
    __shared__ float warp_totals[kThreads / 32];

    const long long start = static_cast<long long>(blockIdx.x) * cols;
    const int begin = blockIdx.y * length;
    const int end = min(begin + length, cols);
    float near = 0.0f;
    float far = 0.0f;
    for (int i = begin + threadIdx.x; i < end; i += kThreads) {
        const float a = anchor[start + i];
        near += squared((a - positive[start + i]) + eps);
        far += squared((a - negative[start + i]) + eps);
    }
    near = block_sum(near, warp_totals);
    far = block_sum(far, warp_totals);
    if (threadIdx.x == 0) {
        parts[static_cast<long long>(blockIdx.x) * gridDim.y + blockIdx.y] = make_float2(near, far);
    }
}

__global__ void triplet_losses(const float2* __restrict__ parts, volatile float* partial,
                               unsigned* finished, float* __restrict__ loss, int rows, int count,
                               float margin) {
    __shared__ float scratch[kThreads];

    const int row = blockIdx.x * kThreads + threadIdx.x;
    float own = 0.0f;
    if (row < rows) {
        float near = 0.0f;
        float far = 0.0f;
        for (int k = 0; k < count; ++k) {
            const float2 part = parts[static_cast<long long>(row) * count + k];
            near += part.x;
            far += part.y;
        }
        own = fmaxf(margin + sqrtf(near) - sqrtf(far), 0.0f);
    }
    const float sum = tree_sum(own, scratch);
    float total = 0.0f;
    const bool last = last_block_total(sum, partial, finished, scratch, total);
    if (last && threadIdx.x == 0) {
        loss[0] = total / rows;
    }
}
