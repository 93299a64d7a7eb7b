// y = scale swish(x W^T + b) for few rows and long sums. The four warps of a block make the same
// 16 x 32 outputs, each from its own eight of every 32 terms, and add what they have at the end, in
// the order of the warps: there is work for four warps where the outputs are enough for one.

#include "fused_activations.cuh"
#include "gemm_fragment.cuh"
#include "gemm_nt_stage.cuh"

constexpr int kRows = 16;
constexpr int kCols = 32;
constexpr int kWarps = 4;
constexpr int kSlice = 8;
constexpr int kTerms = kWarps * kSlice;
constexpr int kPatch = 4;
constexpr int kAcross = kCols / kPatch;
constexpr int kThreads = 32 * kWarps;
constexpr int kOutputs = kRows * kCols;

__global__ void __launch_bounds__(kThreads)
matmul_swish_scale(const float* __restrict__ x, const float* __restrict__ weight,
                   const float* __restrict__ bias, float* __restrict__ y, int batch,
                   int out_features, int in_features, float scale) {
    __shared__ float tile_x[kTerms][kRows + 1];
    __shared__ float tile_w[kTerms][kCols + 1];
    __shared__ float slices[kWarps][kOutputs];

    const int tid = threadIdx.x;
    const int warp = tid / 32;
    const int patch_row = tid % 32 / kAcross * kPatch;
    const int patch_col = tid % kAcross * kPatch;
    const int first_row = blockIdx.y * kRows;
    const int first_col = blockIdx.x * kCols;

    float acc[kPatch][kPatch] = {};
    for (int k0 = 0; k0 < in_features; k0 += kTerms) {
        stage_terms<kRows, kTerms, kThreads>(&tile_x[0][0], kRows + 1, x, first_row, batch, k0,
                                             in_features, tid);
        stage_terms<kCols, kTerms, kThreads>(&tile_w[0][0], kCols + 1, weight, first_col,
                                             out_features, k0, in_features, tid);
        __syncthreads();
#pragma unroll
        for (int t = warp * kSlice; t < (warp + 1) * kSlice; ++t) {
            float rows[kPatch];
            float cols[kPatch];
#pragma unroll
            for (int i = 0; i < kPatch; ++i) {
                rows[i] = tile_x[t][patch_row + i];
                cols[i] = tile_w[t][patch_col + i];
            }
            outer_product(acc, rows, cols);
        }
        __syncthreads();
    }

    for (int i = 0; i < kPatch; ++i) {
        for (int j = 0; j < kPatch; ++j) {
            slices[warp][(patch_row + i) * kCols + patch_col + j] = acc[i][j];
        }
    }
    __syncthreads();

    for (int output = tid; output < kOutputs; output += kThreads) {
        const int row = first_row + output / kCols;
        const int col = first_col + output % kCols;
        if (row < batch && col < out_features) {
            float value = slices[0][output];
            for (int w = 1; w < kWarps; ++w) {
                value += slices[w][output];
            }
            value += bias[col];
            value = swish(value);
            value *= scale;
            y[static_cast<long long>(row) * out_features + col] = value;
        }
    }
}
