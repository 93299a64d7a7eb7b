// z = log sum exp(clamp(2 scale (x W^T + b))) over each row, then z mish(z). What is clamped to 10
// can be raised without the row's maximum being known: the product's epilogue adds exponentials,
// and the product is never stored. 128 threads make 16 x 32 outputs, eight threads in a line one
// row.

#include "fused_activations.cuh"
#include "warp_reduce.cuh"

constexpr int kRows = 16;
constexpr int kCols = 32;
constexpr int kTerms = 32;
constexpr int kAcross = 8;
constexpr int kOwn = kCols / kAcross;
constexpr int kThreads = kRows * kAcross;

__global__ void __launch_bounds__(kThreads)
matmul_clamp_exponentials(const float* __restrict__ x, const float* __restrict__ weight,
                          const float* __restrict__ bias, float* __restrict__ partial, int batch,
                          int out_features, int in_features, float scale, float low, float high) {
    __shared__ float tile_x[kRows][kTerms + 1];
    __shared__ float tile_w[kTerms][kCols + 1];

    const int tid = threadIdx.x;
    const int lane = tid % 32;
    const int across = tid % kAcross;
    const int own_row = tid / kAcross;
    const int row = blockIdx.y * kRows + own_row;
    const int first_col = blockIdx.x * kCols;

    float acc[kOwn] = {};
    for (int k0 = 0; k0 < in_features; k0 += kTerms) {
        const int k = k0 + lane;
        for (int r = tid / 32; r < kRows; r += kThreads / 32) {
            const int source = blockIdx.y * kRows + r;
            tile_x[r][lane] = source < batch && k < in_features
                ? x[static_cast<long long>(source) * in_features + k] : 0.0f;
        }
        for (int n = tid / 32; n < kCols; n += kThreads / 32) {
            const int source = first_col + n;
            tile_w[lane][n] = source < out_features && k < in_features
                ? weight[static_cast<long long>(source) * in_features + k] : 0.0f;
        }
        __syncthreads();
        for (int t = 0; t < kTerms; ++t) {
            const float value = tile_x[own_row][t];
#pragma unroll
            for (int j = 0; j < kOwn; ++j) {
                acc[j] += value * tile_w[t][across + j * kAcross];
            }
        }
        __syncthreads();
    }

    float sum = 0.0f;
    for (int j = 0; j < kOwn; ++j) {
        const int col = first_col + across + j * kAcross;
        if (col < out_features) {
            float value = acc[j] + bias[col];
            value *= scale;
            value += value;
            value = clamp_to(value, low, high);
            sum += expf(value);
        }
    }
    for (int offset = 1; offset < kAcross; offset *= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, offset, kAcross);
    }
    if (across == 0 && row < batch) {
        partial[row * gridDim.x + blockIdx.x] = sum;
    }
}

__global__ void logarithm_mish(const float* __restrict__ partial, float* __restrict__ y, int batch,
                               int parts) {
    const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (row >= batch) {
        return;
    }
    float sum = 0.0f;
    for (int p = lane; p < parts; p += 32) {
        sum += partial[row * parts + p];
    }
    sum = warp_sum(sum);
    if (lane == 0) {
        float value = logf(sum);
        value *= mish(value);
        y[row] = value;
    }
}
