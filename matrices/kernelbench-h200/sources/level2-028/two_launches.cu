// Linear layer, then a standardisation of each row, plus and times a second input. A block of the
// product makes 16 rows of 32 columns, a thread a pair of neighbours of one row. The second kernel
// takes a row's moments by Welford's updates and makes all that is left of it.

#include "welford.cuh"
#include "norm_block_moments.cuh"

constexpr int kRows = 16;
constexpr int kPairs = 16;
constexpr int kCols = 2 * kPairs;
constexpr int kTerms = 16;
constexpr int kRowThreads = 256;

__global__ void __launch_bounds__(kRows * kPairs)
linear_pairs(const float* __restrict__ x, const float* __restrict__ weight,
             const float* __restrict__ bias, float* __restrict__ hidden, int batch,
             int out_features, int in_features) {
    __shared__ float tile_x[kRows][kTerms];
    __shared__ float tile_w[kTerms][kCols + 2];

    const int pair = threadIdx.x;
    const int row = blockIdx.y * kRows + threadIdx.y;
    const int first_col = blockIdx.x * kCols;

    float2 acc = make_float2(0.0f, 0.0f);
    for (int k0 = 0; k0 < in_features; k0 += kTerms) {
        const int k = k0 + threadIdx.x;
        const bool inside = k < in_features;
        tile_x[threadIdx.y][threadIdx.x] =
            inside && row < batch ? x[static_cast<long long>(row) * in_features + k] : 0.0f;
        const int upper = first_col + threadIdx.y;
        const int lower = upper + kPairs;
        tile_w[threadIdx.x][threadIdx.y] = inside && upper < out_features
            ? weight[static_cast<long long>(upper) * in_features + k] : 0.0f;
        tile_w[threadIdx.x][threadIdx.y + kPairs] = inside && lower < out_features
            ? weight[static_cast<long long>(lower) * in_features + k] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int t = 0; t < kTerms; ++t) {
            const float value = tile_x[threadIdx.y][t];
            acc.x += value * tile_w[t][2 * pair];
            acc.y += value * tile_w[t][2 * pair + 1];
        }
        __syncthreads();
    }

    const int col = first_col + 2 * pair;
    if (row >= batch || col >= out_features) {
        return;
    }
    float* out = hidden + static_cast<long long>(row) * out_features;
    out[col] = acc.x + bias[col];
    if (col + 1 < out_features) {
        out[col + 1] = acc.y + bias[col + 1];
    }
}

__global__ void __launch_bounds__(kRowThreads)
standardise_add_multiply(const float* __restrict__ hidden, const float* __restrict__ other,
                         float* __restrict__ y, int out_features, float eps) {
    __shared__ Moments warp_moments[kRowThreads / 32];

    const long long first = static_cast<long long>(blockIdx.x) * out_features;
    Moments own = {0.0f, 0.0f, 0.0f};
    for (int n = threadIdx.x; n < out_features; n += kRowThreads) {
        welford_push(own, hidden[first + n]);
    }
    const Moments row = welford_block(own, warp_moments);
    const float inverse = rsqrtf(row.m2 / row.count + eps);

    for (int n = threadIdx.x; n < out_features; n += kRowThreads) {
        const float residual = other[first + n];
        float value = (hidden[first + n] - row.mean) * inverse;
        value += residual;
        value *= residual;
        y[first + n] = value;
    }
}
