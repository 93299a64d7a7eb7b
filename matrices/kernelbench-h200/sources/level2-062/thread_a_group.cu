// Linear layer; then GroupNorm, LeakyReLU and the sum with itself over y in place, a thread for
// each group of 16: it has the whole group in registers and needs no other thread.

#include "fused_activations.cuh"
#include "gemm_nt_stage.cuh"

constexpr int kRows = 32;
constexpr int kCols = 16;
constexpr int kTerms = 16;
constexpr int kAcross = 8;
constexpr int kDown = 8;
constexpr int kOwnRows = kRows / kDown;
constexpr int kThreads = kAcross * kDown;
constexpr int kWidth = 16;

// A thread has two neighbouring columns of four rows.
__global__ void __launch_bounds__(kThreads)
linear_pairs(const float* __restrict__ x, const float* __restrict__ weight,
             const float* __restrict__ bias, float* __restrict__ y, int batch, int out_features,
             int in_features) {
    __shared__ float tile_x[kTerms][kRows + 1];
    __shared__ float tile_w[kTerms][kCols + 1];

    const int tid = threadIdx.x;
    const int pair = tid % kAcross * 2;
    const int down = tid / kAcross;
    const int first_row = blockIdx.x * kRows;
    const int first_col = blockIdx.y * kCols;

    float left[kOwnRows] = {};
    float right[kOwnRows] = {};
    for (int k0 = 0; k0 < in_features; k0 += kTerms) {
        stage_terms<kRows, kTerms, kThreads>(&tile_x[0][0], kRows + 1, x, first_row, batch, k0,
                                             in_features, tid);
        stage_terms<kCols, kTerms, kThreads>(&tile_w[0][0], kCols + 1, weight, first_col,
                                             out_features, k0, in_features, tid);
        __syncthreads();
        for (int t = 0; t < kTerms; ++t) {
            const float a = tile_w[t][pair];
            const float b = tile_w[t][pair + 1];
#pragma unroll
            for (int i = 0; i < kOwnRows; ++i) {
                const float value = tile_x[t][down + i * kDown];
                left[i] += value * a;
                right[i] += value * b;
            }
        }
        __syncthreads();
    }

    const int col = first_col + pair;
    for (int i = 0; i < kOwnRows; ++i) {
        const int row = first_row + down + i * kDown;
        if (row < batch) {
            const long long place = static_cast<long long>(row) * out_features + col;
            y[place] = left[i] + bias[col];
            y[place + 1] = right[i] + bias[col + 1];
        }
    }
}

__global__ void groupnorm_leaky_sum(float* __restrict__ y, const float* __restrict__ norm_weight,
                                    const float* __restrict__ norm_bias, int runs, int groups,
                                    float eps, float slope) {
    const int run = blockIdx.x * blockDim.x + threadIdx.x;
    if (run >= runs) {
        return;
    }
    float4* quads = reinterpret_cast<float4*>(y) + static_cast<long long>(run) * (kWidth / 4);
    const int first = run % groups * kWidth;

    float values[kWidth];
    float sum = 0.0f;
#pragma unroll
    for (int q = 0; q < kWidth / 4; ++q) {
        const float4 quad = quads[q];
        values[4 * q] = quad.x;
        values[4 * q + 1] = quad.y;
        values[4 * q + 2] = quad.z;
        values[4 * q + 3] = quad.w;
        sum += quad.x + quad.y + quad.z + quad.w;
    }
    const float mean = sum / kWidth;

    float squares = 0.0f;
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
        values[i] -= mean;
        squares += values[i] * values[i];
    }
    const float inverse = rsqrtf(squares / kWidth + eps);

#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
        float value = values[i] * inverse;
        value = value * norm_weight[first + i] + norm_bias[first + i];
        value = leaky_relu(value, slope);
        values[i] = value + value;
    }
#pragma unroll
    for (int q = 0; q < kWidth / 4; ++q) {
        quads[q] = make_float4(values[4 * q], values[4 * q + 1], values[4 * q + 2],
                               values[4 * q + 3]);
    }
}
