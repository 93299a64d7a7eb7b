// Linear layer, a scale for each feature, BatchNorm over a long batch. The product's epilogue
// already takes the moments of its tile's columns, 64 rows of each; a warp merges a column's, and a
// last kernel standardises.

#include "welford.cuh"

constexpr int kRows = 64;
constexpr int kCols = 16;
constexpr int kTerms = 16;
constexpr int kDown = 16;
constexpr int kOwn = kRows / kDown;

__global__ void __launch_bounds__(kCols * kDown)
gemm_scale_moments(const float* __restrict__ x, const float* __restrict__ weight,
                   const float* __restrict__ bias, const float* __restrict__ scale,
                   float* __restrict__ hidden, float* __restrict__ means,
                   float* __restrict__ squares, int batch, int out_features, int in_features) {
    __shared__ float tile_x[kTerms][kRows + 1];
    __shared__ float tile_w[kTerms][kCols + 1];
    __shared__ float results[kRows][kCols];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int first_row = blockIdx.y * kRows;
    const int first_col = blockIdx.x * kCols;

    float acc[kOwn] = {};
    for (int k0 = 0; k0 < in_features; k0 += kTerms) {
        const int k = k0 + tx;
        for (int r = ty; r < kRows; r += kDown) {
            const int row = first_row + r;
            tile_x[tx][r] = row < batch && k < in_features
                ? x[static_cast<long long>(row) * in_features + k] : 0.0f;
        }
        const int source = first_col + ty;
        tile_w[tx][ty] = source < out_features && k < in_features
            ? weight[static_cast<long long>(source) * in_features + k] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int t = 0; t < kTerms; ++t) {
            const float factor = tile_w[t][tx];
#pragma unroll
            for (int i = 0; i < kOwn; ++i) {
                acc[i] += tile_x[t][ty * kOwn + i] * factor;
            }
        }
        __syncthreads();
    }

    const int col = first_col + tx;
    for (int i = 0; i < kOwn; ++i) {
        const int r = ty * kOwn + i;
        if (col < out_features && first_row + r < batch) {
            float value = acc[i] + bias[col];
            value *= scale[col];
            results[r][tx] = value;
            hidden[static_cast<long long>(first_row + r) * out_features + col] = value;
        }
    }
    __syncthreads();

    if (ty == 0 && col < out_features) {
        Moments own = {0.0f, 0.0f, 0.0f};
        for (int r = 0; r < kRows && first_row + r < batch; ++r) {
            welford_push(own, results[r][tx]);
        }
        means[col * gridDim.y + blockIdx.y] = own.mean;
        squares[col * gridDim.y + blockIdx.y] = own.m2;
    }
}

__global__ void merge_moments(const float* __restrict__ tile_means,
                              const float* __restrict__ tile_squares, float* __restrict__ means,
                              float* __restrict__ inverses, int out_features, int tiles, int batch,
                              float eps) {
    const int col = blockIdx.x * blockDim.y + threadIdx.y;
    if (col >= out_features) {
        return;
    }
    Moments own = {0.0f, 0.0f, 0.0f};
    for (int t = threadIdx.x; t < tiles; t += 32) {
        Moments tile;
        tile.count = min(kRows, batch - t * kRows);
        tile.mean = tile_means[col * tiles + t];
        tile.m2 = tile_squares[col * tiles + t];
        own = welford_merge(own, tile);
    }
    const Moments whole = welford_warp(own);
    if (threadIdx.x == 0) {
        means[col] = whole.mean;
        inverses[col] = 1.0f / sqrtf(whole.m2 / whole.count + eps);
    }
}

__global__ void standardise(const float* __restrict__ hidden, const float* __restrict__ means,
                            const float* __restrict__ inverses,
                            const float* __restrict__ norm_weight,
                            const float* __restrict__ norm_bias, float* __restrict__ y, int batch,
                            int out_features) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= out_features) {
        return;
    }
    const float mean = means[col];
    const float inverse = inverses[col];
    const float gain = norm_weight[col];
    const float shift = norm_bias[col];
    for (int row = blockIdx.y; row < batch; row += gridDim.y) {
        const long long place = static_cast<long long>(row) * out_features + col;
        float value = (hidden[place] - mean) * inverse;
        value = value * gain + shift;
        y[place] = value;
    }
}
