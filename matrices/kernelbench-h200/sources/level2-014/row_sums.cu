// y = scale sum(x W^T / divisor) over the outputs of each row. The product is never stored: a block
// makes 16 rows of 64 columns, a thread four columns sixteen apart of one row, and leaves the sum
// of each row in memory; a warp of the second kernel adds the blocks' sums of a row.

#include "warp_reduce.cuh"

constexpr int kRows = 16;
constexpr int kSide = 16;
constexpr int kOwn = 4;
constexpr int kCols = kSide * kOwn;
constexpr int kTerms = 16;

__global__ void gemm_divide_row_sums(const float* __restrict__ x, const float* __restrict__ weight,
                                     float* __restrict__ partial, int batch, int out_features,
                                     int in_features, float divisor) {
    __shared__ float tile_x[kRows][kTerms + 1];
    __shared__ float tile_w[kCols][kTerms + 1];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int row = blockIdx.y * kRows + ty;
    const int first_col = blockIdx.x * kCols;

    float acc[kOwn] = {};
    for (int k0 = 0; k0 < in_features; k0 += kTerms) {
        const int k = k0 + tx;
        tile_x[ty][tx] = row < batch && k < in_features ? x[row * in_features + k] : 0.0f;
        for (int n = ty; n < kCols; n += kSide) {
            const bool inside = first_col + n < out_features && k < in_features;
            tile_w[n][tx] =
                inside ? weight[static_cast<long long>(first_col + n) * in_features + k] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int t = 0; t < kTerms; ++t) {
            const float value = tile_x[ty][t];
#pragma unroll
            for (int j = 0; j < kOwn; ++j) {
                acc[j] += value * tile_w[j * kSide + tx][t];
            }
        }
        __syncthreads();
    }

    // Columns beyond the last are products with zeros and add nothing.
    float sum = 0.0f;
    for (int j = 0; j < kOwn; ++j) {
        const float divided = acc[j] / divisor;
        sum += divided;
    }
    for (int offset = kSide / 2; offset > 0; offset /= 2) {
        sum += __shfl_down_sync(0xffffffffu, sum, offset, kSide);
    }
    if (tx == 0 && row < batch) {
        partial[row * gridDim.x + blockIdx.x] = sum;
    }
}

__global__ void add_and_scale(const float* __restrict__ partial, float* __restrict__ y, int batch,
                              int parts, float scale) {
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= batch) {
        return;
    }
    float total = 0.0f;
    for (int p = threadIdx.x; p < parts; p += 32) {
        total += partial[row * parts + p];
    }
    total = warp_sum(total);
    if (threadIdx.x == 0) {
        y[row] = total * scale;
    }
}
