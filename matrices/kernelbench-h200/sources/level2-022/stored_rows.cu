// The clamped product goes to memory; then a block takes the log-sum-exp of a row with its maximum
// as the reference point, and multiplies by Mish.

#include "fused_activations.cuh"
#include "limits.cuh"
#include "tree_reduce.cuh"

constexpr int kTile = 16;
constexpr int kRowThreads = 128;

__global__ void matmul_scale_clamp(const float* __restrict__ x, const float* __restrict__ weight,
                                   const float* __restrict__ bias, float* __restrict__ clamped,
                                   int batch, int out_features, int in_features, float scale,
                                   float low, float high) {
    __shared__ float tile_x[kTile][kTile + 1];
    __shared__ float tile_w[kTile][kTile + 1];

    const int row = blockIdx.x * kTile + threadIdx.y;
    const int col = blockIdx.y * kTile + threadIdx.x;
    const int w_row = blockIdx.y * kTile + threadIdx.y;
    const float* x_line = x + static_cast<long long>(min(row, batch - 1)) * in_features;
    const float* w_line =
        weight + static_cast<long long>(min(w_row, out_features - 1)) * in_features;

    // Rows beyond the last repeat it and are not stored: only the terms need a zero.
    float acc = 0.0f;
    for (int k0 = 0; k0 < in_features; k0 += kTile) {
        const int k = k0 + threadIdx.x;
        tile_x[threadIdx.y][threadIdx.x] = k < in_features ? x_line[k] : 0.0f;
        tile_w[threadIdx.y][threadIdx.x] = k < in_features ? w_line[k] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int t = 0; t < kTile; ++t) {
            acc += tile_x[threadIdx.y][t] * tile_w[threadIdx.x][t];
        }
        __syncthreads();
    }
    if (row < batch && col < out_features) {
        float value = acc + bias[col];
        value *= scale;
        value += value;
        value = clamp_to(value, low, high);
        clamped[static_cast<long long>(row) * out_features + col] = value;
    }
}

__global__ void row_logsumexp_mish(const float* __restrict__ clamped, float* __restrict__ y,
                                   int out_features) {
    __shared__ float scratch[kRowThreads];

    const float* values = clamped + static_cast<long long>(blockIdx.x) * out_features;
    float top = -INFINITY;
    for (int n = threadIdx.x; n < out_features; n += kRowThreads) {
        top = fmaxf(top, values[n]);
    }
    top = tree_max(top, scratch);

    float sum = 0.0f;
    for (int n = threadIdx.x; n < out_features; n += kRowThreads) {
        sum += expf(values[n] - top);
    }
    sum = tree_sum(sum, scratch);
    if (threadIdx.x == 0) {
        float value = top + logf(sum);
        value *= mish(value);
        y[blockIdx.x] = value;
    }
}
