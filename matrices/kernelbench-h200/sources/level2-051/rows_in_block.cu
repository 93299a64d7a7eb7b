// gelu of the mean of x W^T + b - s over each row, added to the row of x. A block keeps eight rows
// to the end: it goes over all columns of the product, 64 at a time, and needs of each only its
// share of the rows' sums; then each of its eight warps writes its row of y.

#include "fused_activations.cuh"
#include "limits.cuh"
#include "logsumexp_single.cuh"
#include "warp_reduce.cuh"

constexpr int kRows = 8;
constexpr int kLanes = 32;
constexpr int kCols = 2 * kLanes;
constexpr int kTerms = 32;

__global__ void __launch_bounds__(kRows * kLanes)
gemm_subtract_mean_gelu_add(const float* __restrict__ x, const float* __restrict__ weight,
                            const float* __restrict__ bias, const float* __restrict__ subtracted,
                            float* __restrict__ y, int batch, int out_features, int in_features) {
    __shared__ float tile_x[kRows][kTerms];
    __shared__ float tile_w[kCols][kTerms + 1];

    const int lane = threadIdx.x;
    const int warp = threadIdx.y;
    const int row = blockIdx.x * kRows + warp;

    float sum = 0.0f;
    for (int first_col = 0; first_col < out_features; first_col += kCols) {
        float left = 0.0f;
        float right = 0.0f;
        for (int k0 = 0; k0 < in_features; k0 += kTerms) {
            const int k = k0 + lane;
            tile_x[warp][lane] = row < batch && k < in_features
                ? x[static_cast<long long>(row) * in_features + k] : 0.0f;
            for (int n = warp; n < kCols; n += kRows) {
                const int source = first_col + n;
                tile_w[n][lane] = source < out_features && k < in_features
                    ? weight[static_cast<long long>(source) * in_features + k] : 0.0f;
            }
            __syncthreads();
#pragma unroll
            for (int t = 0; t < kTerms; ++t) {
                const float value = tile_x[warp][t];
                left += value * tile_w[lane][t];
                right += value * tile_w[lane + kLanes][t];
            }
            __syncthreads();
        }
        const int col = first_col + lane;
        if (col < out_features) {
            const float value = left + bias[col];
            sum += value - subtracted[col];
        }
        if (col + kLanes < out_features) {
            const float value = right + bias[col + kLanes];
            sum += value - subtracted[col + kLanes];
        }
    }

    sum = warp_sum(sum);
    float pooled = sum / out_features;
    pooled = logsumexp_of_one(pooled);
    pooled = gelu_erf(pooled);
    if (row >= batch) {
        return;
    }
    const long long first = static_cast<long long>(row) * in_features;
    for (int k = lane; k < in_features; k += kLanes) {
        y[first + k] = pooled + x[first + k];
    }
}
