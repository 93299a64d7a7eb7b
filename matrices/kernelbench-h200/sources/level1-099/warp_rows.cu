// Mean triplet margin loss: one warp a row sums both squared distances at once, four rows a block;
// a block adds its rows' losses, and one block the partial sums.

#include "warp_reduce.cuh"
#include "tree_reduce.cuh"

constexpr int kThreads = 128;
constexpr int kRows = kThreads / 32;

__global__ void triplet_warp_rows(const float* __restrict__ anchor,
                                  const float* __restrict__ positive,
                                  const float* __restrict__ negative, float* __restrict__ partial,
                                  int rows, int cols, float margin, float eps) {
    __shared__ float losses[kRows];

    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const int row = blockIdx.x * kRows + warp;

    float loss = 0.0f;
    if (row < rows) {
        const long long start = static_cast<long long>(row) * cols;
        float near = 0.0f;
        float far = 0.0f;
        for (int i = lane; i < cols; i += 32) {
            const float a = anchor[start + i];
            const float to_positive = a - positive[start + i] + eps;
            const float to_negative = a - negative[start + i] + eps;
            near = fmaf(to_positive, to_positive, near);
            far = fmaf(to_negative, to_negative, far);
        }
        near = sqrtf(warp_sum(near));
        far = sqrtf(warp_sum(far));
        loss = fmaxf(near - far + margin, 0.0f);
    }
    if (lane == 0) {
        losses[warp] = loss;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = losses[0];
        for (int i = 1; i < kRows; ++i) {
            sum += losses[i];
        }
        partial[blockIdx.x] = sum;
    }
}

__global__ void triplet_mean(const float* __restrict__ partial, float* __restrict__ loss,
                             int blocks, int rows) {
    __shared__ float scratch[kThreads];

    float sum = 0.0f;
    for (int b = threadIdx.x; b < blocks; b += kThreads) {
        sum += partial[b];
    }
    sum = tree_sum(sum, scratch);
    if (threadIdx.x == 0) {
        loss[0] = sum / rows;
    }
}
