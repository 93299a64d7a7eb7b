// The linear layer to memory in tiles of 16 x 64; then a warp takes a group of a row, one feature a
// lane, merges its moments like those of 32 samples of one, and does the rest.

#include "fused_activations.cuh"
#include "gemm_fragment.cuh"
#include "gemm_nt_stage.cuh"
#include "welford.cuh"

constexpr int kRows = 16;
constexpr int kCols = 64;
constexpr int kTerms = 16;
constexpr int kAcross = 16;
constexpr int kDown = 8;
constexpr int kOwnRows = kRows / kDown;
constexpr int kOwnCols = kCols / kAcross;
constexpr int kWidth = 32;

__global__ void __launch_bounds__(kAcross * kDown)
gemm_bias(const float* __restrict__ x, const float* __restrict__ weight,
          const float* __restrict__ bias, float* __restrict__ hidden, int batch, int out_features,
          int in_features) {
    __shared__ float tile_x[kTerms][kRows + 1];
    __shared__ float tile_w[kTerms][kCols + 1];

    const int tid = threadIdx.y * kAcross + threadIdx.x;
    const int first_row = blockIdx.y * kRows;
    const int first_col = blockIdx.x * kCols;

    float acc[kOwnRows][kOwnCols] = {};
    for (int k0 = 0; k0 < in_features; k0 += kTerms) {
        stage_terms<kRows, kTerms, kAcross * kDown>(&tile_x[0][0], kRows + 1, x, first_row, batch,
                                                    k0, in_features, tid);
        stage_terms<kCols, kTerms, kAcross * kDown>(&tile_w[0][0], kCols + 1, weight, first_col,
                                                    out_features, k0, in_features, tid);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < kTerms; ++k) {
            float fragment_x[kOwnRows];
            float fragment_w[kOwnCols];
#pragma unroll
            for (int i = 0; i < kOwnRows; ++i) {
                fragment_x[i] = tile_x[k][threadIdx.y + i * kDown];
            }
#pragma unroll
            for (int j = 0; j < kOwnCols; ++j) {
                fragment_w[j] = tile_w[k][threadIdx.x + j * kAcross];
            }
            outer_product(acc, fragment_x, fragment_w);
        }
        __syncthreads();
    }

    for (int i = 0; i < kOwnRows; ++i) {
        const int row = first_row + threadIdx.y + i * kDown;
        for (int j = 0; j < kOwnCols; ++j) {
            const int col = first_col + threadIdx.x + j * kAcross;
            if (row < batch && col < out_features) {
                hidden[row * out_features + col] = acc[i][j] + bias[col];
            }
        }
    }
}

__global__ void groupnorm_swish_multiply_swish(const float* __restrict__ hidden,
                                               const float* __restrict__ norm_weight,
                                               const float* __restrict__ norm_bias,
                                               const float* __restrict__ factors,
                                               float* __restrict__ y, int runs, int groups,
                                               float eps) {
    const int lane = threadIdx.x;
    const int step = gridDim.x * blockDim.y;
    for (int run = blockIdx.x * blockDim.y + threadIdx.y; run < runs; run += step) {
        const long long place = static_cast<long long>(run) * kWidth + lane;
        const int feature = run % groups * kWidth + lane;

        float value = hidden[place];
        const Moments own = {1.0f, value, 0.0f};
        const Moments group = welford_warp(own);
        const float mean = __shfl_sync(0xffffffffu, group.mean, 0);
        const float variance = __shfl_sync(0xffffffffu, group.m2, 0) / kWidth;

        value = (value - mean) / sqrtf(variance + eps);
        value = value * norm_weight[feature] + norm_bias[feature];
        value = swish(value);
        value *= factors[feature];
        value = swish(value);
        y[place] = value;
    }
}
