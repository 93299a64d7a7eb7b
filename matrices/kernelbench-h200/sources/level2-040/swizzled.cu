// y = scale h + h of h = x W^T + b, in tiles of 32 x 32 with an order of blocks that goes down four
// rows of tiles before it steps to the next column: those four share their tile of W while it is in
// the L2 cache. A thread's 4 x 4 outputs are eight apart, so that a row of threads stores
// neighbours.

#include "gemm_fragment.cuh"
#include "gemm_nt_stage.cuh"

constexpr int kTile = 32;
constexpr int kTerms = 16;
constexpr int kSide = 8;
constexpr int kPatch = kTile / kSide;
constexpr int kThreads = kSide * kSide;
constexpr int kPitch = kTile + 1;
constexpr int kGroup = 4;

__global__ void __launch_bounds__(kThreads)
matmul_scale_residual(const float* __restrict__ x, const float* __restrict__ weight,
                      const float* __restrict__ bias, float* __restrict__ y, int batch,
                      int out_features, int in_features, float scale) {
    __shared__ float tile_x[kTerms * kPitch];
    __shared__ float tile_w[kTerms * kPitch];

    const int tiles_m = (batch + kTile - 1) / kTile;
    const int tiles_n = (out_features + kTile - 1) / kTile;
    const int first_m = blockIdx.x / (kGroup * tiles_n) * kGroup;
    const int place = blockIdx.x % (kGroup * tiles_n);
    const int depth = min(kGroup, tiles_m - first_m);
    const int first_row = (first_m + place % depth) * kTile;
    const int first_col = place / depth * kTile;

    const int tx = threadIdx.x % kSide;
    const int ty = threadIdx.x / kSide;
    float acc[kPatch][kPatch] = {};

    for (int k0 = 0; k0 < in_features; k0 += kTerms) {
        stage_terms<kTile, kTerms, kThreads>(tile_x, kPitch, x, first_row, batch, k0, in_features,
                                             threadIdx.x);
        stage_terms<kTile, kTerms, kThreads>(tile_w, kPitch, weight, first_col, out_features, k0,
                                             in_features, threadIdx.x);
        __syncthreads();
        for (int k = 0; k < kTerms; ++k) {
            float fragment_x[kPatch];
            float fragment_w[kPatch];
#pragma unroll
            for (int i = 0; i < kPatch; ++i) {
                fragment_x[i] = tile_x[k * kPitch + ty + i * kSide];
                fragment_w[i] = tile_w[k * kPitch + tx + i * kSide];
            }
            outer_product(acc, fragment_x, fragment_w);
        }
        __syncthreads();
    }

    for (int i = 0; i < kPatch; ++i) {
        const int row = first_row + ty + i * kSide;
        for (int j = 0; j < kPatch; ++j) {
            const int col = first_col + tx + j * kSide;
            if (row < batch && col < out_features) {
                const float original = acc[i][j] + bias[col];
                float value = original * scale;
                value += original;
                y[static_cast<long long>(row) * out_features + col] = value;
            }
        }
    }
}
