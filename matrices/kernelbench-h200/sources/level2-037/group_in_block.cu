// Linear layer, swish, a bias, GroupNorm, in one launch: a block makes 16 rows of the 64 features
// of one group, and has in shared memory all that their statistics need. Two rows a warp.

#include "fused_activations.cuh"
#include "warp_reduce.cuh"

constexpr int kWidth = 64;
constexpr int kRows = 16;
constexpr int kTerms = 16;
constexpr int kWarps = 8;
constexpr int kOwnRows = kRows / kWarps;
constexpr int kThreads = 32 * kWarps;

__global__ void __launch_bounds__(kThreads)
matmul_swish_bias_groupnorm(const float* __restrict__ x, const float* __restrict__ weight,
                            const float* __restrict__ bias, const float* __restrict__ added,
                            const float* __restrict__ norm_weight,
                            const float* __restrict__ norm_bias, float* __restrict__ y, int batch,
                            int groups, int in_features, float eps) {
    __shared__ float tile_x[kRows][kTerms];
    __shared__ float tile_w[kWidth][kTerms + 1];

    const int lane = threadIdx.x;
    const int warp = threadIdx.y;
    const int tid = warp * 32 + lane;
    const int first_row = blockIdx.y * kRows;
    const int first_col = blockIdx.x * kWidth;

    float low[kOwnRows] = {};
    float high[kOwnRows] = {};
    for (int k0 = 0; k0 < in_features; k0 += kTerms) {
        const int line = tid / kTerms;
        const int k = k0 + tid % kTerms;
        tile_x[line][tid % kTerms] = first_row + line < batch && k < in_features
            ? x[(first_row + line) * in_features + k] : 0.0f;
        for (int n = line; n < kWidth; n += kThreads / kTerms) {
            tile_w[n][tid % kTerms] =
                k < in_features ? weight[(first_col + n) * in_features + k] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int t = 0; t < kTerms; ++t) {
            const float low_factor = tile_w[lane][t];
            const float high_factor = tile_w[lane + 32][t];
#pragma unroll
            for (int i = 0; i < kOwnRows; ++i) {
                const float value = tile_x[warp * kOwnRows + i][t];
                low[i] += value * low_factor;
                high[i] += value * high_factor;
            }
        }
        __syncthreads();
    }

    const int col = first_col + lane;
    const float low_bias = bias[col];
    const float high_bias = bias[col + 32];
    for (int i = 0; i < kOwnRows; ++i) {
        float a = low[i] + low_bias;
        float b = high[i] + high_bias;
        a = swish(a);
        b = swish(b);
        a += added[col];
        b += added[col + 32];

        const float mean = warp_sum(a + b) / kWidth;
        a -= mean;
        b -= mean;
        const float variance = warp_sum(a * a + b * b) / kWidth;
        const float inverse = rsqrtf(variance + eps);

        const int row = first_row + warp * kOwnRows + i;
        if (row < batch) {
            float* out = y + static_cast<long long>(row) * groups * kWidth;
            out[col] = a * inverse * norm_weight[col] + norm_bias[col];
            out[col + 32] = b * inverse * norm_weight[col + 32] + norm_bias[col + 32];
        }
    }
}
