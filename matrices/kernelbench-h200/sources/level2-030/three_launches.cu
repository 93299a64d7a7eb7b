// Linear layer, then GroupNorm and hardtanh. The product goes to memory; a warp takes the moments
// of a group of one row in two passes over it; a last kernel standardises, scales and cuts off.

#include "fused_activations.cuh"
#include "warp_reduce.cuh"

constexpr int kTileM = 16;
constexpr int kTileN = 32;
constexpr int kTileK = 32;
constexpr int kOwnRows = 2;

// 32 x 8 threads make 16 rows of 32 columns: a warp has two rows, a lane one column.
__global__ void linear_tiled(const float* __restrict__ x, const float* __restrict__ weight,
                             const float* __restrict__ bias, float* __restrict__ hidden, int batch,
                             int out_features, int in_features) {
    __shared__ float rows[kTileM][kTileK];
    __shared__ float cols[kTileN][kTileK + 1];

    const int lane = threadIdx.x;
    const int warp = threadIdx.y;
    const int first_row = blockIdx.y * kTileM;
    const int first_col = blockIdx.x * kTileN;

    float acc[kOwnRows] = {};
    for (int k0 = 0; k0 < in_features; k0 += kTileK) {
        const int k = k0 + lane;
        for (int r = warp; r < kTileM; r += 8) {
            const bool inside = first_row + r < batch && k < in_features;
            rows[r][lane] =
                inside ? x[static_cast<long long>(first_row + r) * in_features + k] : 0.0f;
        }
        for (int n = warp; n < kTileN; n += 8) {
            const bool inside = first_col + n < out_features && k < in_features;
            cols[n][lane] =
                inside ? weight[static_cast<long long>(first_col + n) * in_features + k] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int t = 0; t < kTileK; ++t) {
            const float factor = cols[lane][t];
#pragma unroll
            for (int i = 0; i < kOwnRows; ++i) {
                acc[i] += rows[warp * kOwnRows + i][t] * factor;
            }
        }
        __syncthreads();
    }

    const int col = first_col + lane;
    if (col >= out_features) {
        return;
    }
    for (int i = 0; i < kOwnRows; ++i) {
        const int row = first_row + warp * kOwnRows + i;
        if (row < batch) {
            hidden[static_cast<long long>(row) * out_features + col] = acc[i] + bias[col];
        }
    }
}

__global__ void group_statistics(const float* __restrict__ hidden, float* __restrict__ means,
                                 float* __restrict__ inverses, int runs, int width, float eps) {
    const int run = blockIdx.x * blockDim.y + threadIdx.y;
    if (run >= runs) {
        return;
    }
    const float* values = hidden + static_cast<long long>(run) * width;

    float sum = 0.0f;
    for (int i = threadIdx.x; i < width; i += 32) {
        sum += values[i];
    }
    const float mean = warp_sum(sum) / width;

    float squares = 0.0f;
    for (int i = threadIdx.x; i < width; i += 32) {
        const float deviation = values[i] - mean;
        squares += deviation * deviation;
    }
    const float variance = warp_sum(squares) / width;
    if (threadIdx.x == 0) {
        means[run] = mean;
        inverses[run] = rsqrtf(variance + eps);
    }
}

__global__ void group_apply_hardtanh(const float* __restrict__ hidden,
                                     const float* __restrict__ means,
                                     const float* __restrict__ inverses,
                                     const float* __restrict__ norm_weight,
                                     const float* __restrict__ norm_bias, float* __restrict__ y,
                                     int out_features, int groups, int width, float low,
                                     float high) {
    const int feature = blockIdx.x * blockDim.x + threadIdx.x;
    if (feature >= out_features) {
        return;
    }
    const int run = blockIdx.y * groups + feature / width;
    const long long place = static_cast<long long>(blockIdx.y) * out_features + feature;
    float value = (hidden[place] - means[run]) * inverses[run];
    value = value * norm_weight[feature] + norm_bias[feature];
    value = clamp_to(value, low, high);
    y[place] = value;
}
