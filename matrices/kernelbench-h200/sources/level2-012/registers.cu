// y = leaky(multiplier (x W^T + b)): a block of 8 x 8 threads makes 32 x 32 outputs, a thread 4 x 4
// of them in registers, from slices of 16 terms in shared memory. The epilogue never leaves the
// registers.

#include "fused_activations.cuh"
#include "gemm_fragment.cuh"
#include "gemm_nt_stage.cuh"

constexpr int kTile = 32;
constexpr int kTerms = 16;
constexpr int kPatch = 4;
constexpr int kSide = kTile / kPatch;
constexpr int kThreads = kSide * kSide;

__global__ void __launch_bounds__(kThreads)
linear_scale_leaky(const float* __restrict__ x, const float* __restrict__ weight,
                   const float* __restrict__ bias, float* __restrict__ y, int batch,
                   int out_features, int in_features, float multiplier, float slope) {
    __shared__ float tile_x[kTerms][kTile];
    __shared__ float tile_w[kTerms][kTile];

    const int tid = threadIdx.y * kSide + threadIdx.x;
    const int first_row = blockIdx.y * kTile;
    const int first_col = blockIdx.x * kTile;
    float acc[kPatch][kPatch] = {};

    for (int k0 = 0; k0 < in_features; k0 += kTerms) {
        stage_terms<kTile, kTerms, kThreads>(&tile_x[0][0], kTile, x, first_row, batch, k0,
                                             in_features, tid);
        stage_terms<kTile, kTerms, kThreads>(&tile_w[0][0], kTile, weight, first_col, out_features,
                                             k0, in_features, tid);
        __syncthreads();

#pragma unroll
        for (int k = 0; k < kTerms; ++k) {
            float fragment_x[kPatch];
            float fragment_w[kPatch];
#pragma unroll
            for (int i = 0; i < kPatch; ++i) {
                fragment_x[i] = tile_x[k][threadIdx.y * kPatch + i];
                fragment_w[i] = tile_w[k][threadIdx.x * kPatch + i];
            }
            outer_product(acc, fragment_x, fragment_w);
        }
        __syncthreads();
    }

    for (int i = 0; i < kPatch; ++i) {
        const int row = first_row + threadIdx.y * kPatch + i;
        if (row >= batch) {
            break;
        }
        for (int j = 0; j < kPatch; ++j) {
            const int col = first_col + threadIdx.x * kPatch + j;
            if (col < out_features) {
                float value = acc[i][j] + bias[col];
                value *= multiplier;
                value = leaky_relu(value, slope);
                y[static_cast<long long>(row) * out_features + col] = value;
            }
        }
    }
}
