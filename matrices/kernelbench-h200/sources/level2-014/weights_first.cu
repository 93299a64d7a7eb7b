// y = scale sum(x W^T / divisor) with the sum over the outputs taken first: a row's sum is its
// product with the sum of W's rows, so that what was a product of matrices is one with a vector.

#include "tree_reduce.cuh"

constexpr int kStrips = 8;

// 32 columns a block; each of eight warps takes every eighth row of W.
__global__ void sum_weight_rows(const float* __restrict__ weight, float* __restrict__ summed,
                                int out_features, int in_features) {
    __shared__ float sums[kStrips][32];

    const int k = blockIdx.x * 32 + threadIdx.x;
    float sum = 0.0f;
    if (k < in_features) {
        for (int n = threadIdx.y; n < out_features; n += kStrips) {
            sum += weight[static_cast<long long>(n) * in_features + k];
        }
    }
    sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();

    if (threadIdx.y == 0 && k < in_features) {
        float total = sums[0][threadIdx.x];
        for (int s = 1; s < kStrips; ++s) {
            total += sums[s][threadIdx.x];
        }
        summed[k] = total;
    }
}

__global__ void matvec_divide_scale(const float* __restrict__ x, const float* __restrict__ summed,
                                    float* __restrict__ y, int in_features, float divisor,
                                    float scale) {
    __shared__ float scratch[128];

    const float* row = x + static_cast<long long>(blockIdx.x) * in_features;
    float acc = 0.0f;
    for (int k = threadIdx.x; k < in_features; k += blockDim.x) {
        acc += row[k] * summed[k];
    }
    float value = tree_sum(acc, scratch);
    value /= divisor;
    value *= scale;
    if (threadIdx.x == 0) {
        y[blockIdx.x] = value;
    }
}
