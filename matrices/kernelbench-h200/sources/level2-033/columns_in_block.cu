// Linear layer, a scale for each feature, BatchNorm over the batch, in one launch: a block keeps 16
// columns to the end. It makes them 32 rows at a time and adds up what goes by; when all rows are
// there it knows the means, goes over its columns of y twice more, for the variances and to
// standardise. Threads read back only what they wrote themselves.

#include "gemm_load.cuh"

constexpr int kCols = 16;
constexpr int kDown = 8;
constexpr int kOwn = 4;
constexpr int kRows = kDown * kOwn;
constexpr int kTerms = 16;
constexpr int kThreads = kCols * kDown;

// Sum over the threads that share a column; every thread gets its column's.
__device__ __forceinline__ float column_sum(float value, float (&scratch)[kDown][kCols]) {
    scratch[threadIdx.y][threadIdx.x] = value;
    __syncthreads();
    float total = 0.0f;
#pragma unroll
    for (int d = 0; d < kDown; ++d) {
        total += scratch[d][threadIdx.x];
    }
    __syncthreads();
    return total;
}

__global__ void __launch_bounds__(kThreads)
gemm_scale_batchnorm(const float* __restrict__ x, const float* __restrict__ weight,
                     const float* __restrict__ bias, const float* __restrict__ scale,
                     const float* __restrict__ norm_weight, const float* __restrict__ norm_bias,
                     float* __restrict__ y, int batch, int out_features, int in_features,
                     float eps) {
    __shared__ float tile_x[kRows][kTerms + 1];
    __shared__ float tile_w[kCols][kTerms + 1];
    __shared__ float scratch[kDown][kCols];

    const int tid = threadIdx.y * kCols + threadIdx.x;
    const int line = tid / (kTerms / 4);
    const int term = tid % (kTerms / 4) * 4;
    const int first_col = blockIdx.x * kCols;
    const int col = first_col + threadIdx.x;
    const bool live = col < out_features;

    float sum = 0.0f;
    for (int first_row = 0; first_row < batch; first_row += kRows) {
        float acc[kOwn] = {};
        for (int k0 = 0; k0 < in_features; k0 += kTerms) {
            float4 quad = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
            if (first_row + line < batch) {
                quad = load_quad(x + (first_row + line) * in_features, k0 + term, in_features);
            }
            tile_x[line][term + 0] = quad.x;
            tile_x[line][term + 1] = quad.y;
            tile_x[line][term + 2] = quad.z;
            tile_x[line][term + 3] = quad.w;
            if (line < kCols) {
                quad = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
                if (first_col + line < out_features) {
                    quad = load_quad(weight + (first_col + line) * in_features, k0 + term,
                                     in_features);
                }
                tile_w[line][term + 0] = quad.x;
                tile_w[line][term + 1] = quad.y;
                tile_w[line][term + 2] = quad.z;
                tile_w[line][term + 3] = quad.w;
            }
            __syncthreads();
#pragma unroll
            for (int t = 0; t < kTerms; ++t) {
                const float factor = tile_w[threadIdx.x][t];
#pragma unroll
                for (int i = 0; i < kOwn; ++i) {
                    acc[i] += tile_x[threadIdx.y + i * kDown][t] * factor;
                }
            }
            __syncthreads();
        }
        for (int i = 0; i < kOwn; ++i) {
            const int row = first_row + threadIdx.y + i * kDown;
            if (live && row < batch) {
                float value = acc[i] + bias[col];
                value *= scale[col];
                y[row * out_features + col] = value;
                sum += value;
            }
        }
    }
    const float mean = column_sum(sum, scratch) / batch;

    float squares = 0.0f;
    for (int row = threadIdx.y; live && row < batch; row += kDown) {
        const float deviation = y[row * out_features + col] - mean;
        squares += deviation * deviation;
    }
    const float variance = column_sum(squares, scratch) / batch;
    const float inverse = rsqrtf(variance + eps);

    for (int row = threadIdx.y; live && row < batch; row += kDown) {
        float value = (y[row * out_features + col] - mean) * inverse;
        value = value * norm_weight[col] + norm_bias[col];
        y[row * out_features + col] = value;
    }
}
