// Sums over the rows of sigmoid(x W^T + b). A block makes 8 rows of 32 columns, then the same rows
// of the 32 columns that lie a grid further, and so on: a thread keeps the sums of its two rows in
// registers all the way. The second kernel adds what the blocks of a row have left.

#include "fused_activations.cuh"
#include "gemm_nt_stage.cuh"
#include "tree_reduce.cuh"

constexpr int kRows = 8;
constexpr int kCols = 32;
constexpr int kTerms = 32;
constexpr int kAcross = 16;
constexpr int kDown = 4;
constexpr int kThreads = kAcross * kDown;
constexpr int kPitchX = kRows + 2;  // even, so that pairs stay aligned
constexpr int kPitchW = kCols + 2;
constexpr int kAdders = 64;

__global__ void __launch_bounds__(kThreads)
matmul_sigmoid_strips(const float* __restrict__ x, const float* __restrict__ weight,
                      const float* __restrict__ bias, float* __restrict__ partial, int batch,
                      int out_features, int in_features) {
    __shared__ __align__(8) float tile_x[kTerms * kPitchX];
    __shared__ __align__(8) float tile_w[kTerms * kPitchW];

    const int tid = threadIdx.x;
    const int across = tid % kAcross * 2;
    const int down = tid / kAcross * 2;
    const int first_row = blockIdx.y * kRows;
    const int stride = gridDim.x * kCols;

    float upper_sum = 0.0f;
    float lower_sum = 0.0f;
    for (int first_col = blockIdx.x * kCols; first_col < out_features; first_col += stride) {
        float2 upper = make_float2(0.0f, 0.0f);
        float2 lower = make_float2(0.0f, 0.0f);
        for (int k0 = 0; k0 < in_features; k0 += kTerms) {
            stage_terms<kRows, kTerms, kThreads>(tile_x, kPitchX, x, first_row, batch, k0,
                                                 in_features, tid);
            stage_terms<kCols, kTerms, kThreads>(tile_w, kPitchW, weight, first_col, out_features,
                                                 k0, in_features, tid);
            __syncthreads();
#pragma unroll 8
            for (int k = 0; k < kTerms; ++k) {
                const float2 rows = *reinterpret_cast<const float2*>(tile_x + k * kPitchX + down);
                const float2 cols = *reinterpret_cast<const float2*>(tile_w + k * kPitchW + across);
                upper.x += rows.x * cols.x;
                upper.y += rows.x * cols.y;
                lower.x += rows.y * cols.x;
                lower.y += rows.y * cols.y;
            }
            __syncthreads();
        }
        const int col = first_col + across;
        if (col < out_features) {
            upper_sum += logistic(upper.x + bias[col]);
            lower_sum += logistic(lower.x + bias[col]);
        }
        if (col + 1 < out_features) {
            upper_sum += logistic(upper.y + bias[col + 1]);
            lower_sum += logistic(lower.y + bias[col + 1]);
        }
    }

    for (int offset = kAcross / 2; offset > 0; offset /= 2) {
        upper_sum += __shfl_xor_sync(0xffffffffu, upper_sum, offset, kAcross);
        lower_sum += __shfl_xor_sync(0xffffffffu, lower_sum, offset, kAcross);
    }
    if (tid % kAcross < 2) {
        const int row = first_row + down + tid % kAcross;
        if (row < batch) {
            partial[row * gridDim.x + blockIdx.x] = tid % kAcross == 0 ? upper_sum : lower_sum;
        }
    }
}

__global__ void add_strips(const float* __restrict__ partial, float* __restrict__ y, int strips) {
    __shared__ float scratch[kAdders];

    float sum = 0.0f;
    for (int s = threadIdx.x; s < strips; s += kAdders) {
        sum += partial[blockIdx.x * strips + s];
    }
    sum = tree_sum(sum, scratch);
    if (threadIdx.x == 0) {
        y[blockIdx.x] = sum;
    }
}
