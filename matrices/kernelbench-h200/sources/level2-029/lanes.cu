// y = mish(mish(x W^T + b)): four warps make 16 rows of 32 columns. A lane owns a column; the 32
// terms of a warp's four rows lie in its lanes' registers and go round by shuffles, so that only W
// needs shared memory.

#include "fused_activations.cuh"

constexpr int kWarps = 4;
constexpr int kOwnRows = 4;
constexpr int kLanes = 32;
constexpr unsigned int kAllLanes = 0xffffffffu;

__global__ void __launch_bounds__(kWarps * kLanes)
matmul_mish_mish(const float* __restrict__ x, const float* __restrict__ weight,
                 const float* __restrict__ bias, float* __restrict__ y, int batch,
                 int out_features, int in_features) {
    __shared__ float tile_w[kLanes][kLanes + 1];

    const int lane = threadIdx.x;
    const int first_row = (blockIdx.y * kWarps + threadIdx.y) * kOwnRows;
    const int first_col = blockIdx.x * kLanes;

    float acc[kOwnRows] = {};
    for (int k0 = 0; k0 < in_features; k0 += kLanes) {
        const int k = k0 + lane;
        for (int n = threadIdx.y; n < kLanes; n += kWarps) {
            const int col = first_col + n;
            tile_w[n][lane] = col < out_features && k < in_features
                ? weight[static_cast<long long>(col) * in_features + k] : 0.0f;
        }
        float terms[kOwnRows];
#pragma unroll
        for (int i = 0; i < kOwnRows; ++i) {
            const int row = first_row + i;
            terms[i] = row < batch && k < in_features
                ? x[static_cast<long long>(row) * in_features + k] : 0.0f;
        }
        __syncthreads();

#pragma unroll 8
        for (int t = 0; t < kLanes; ++t) {
            const float factor = tile_w[lane][t];
#pragma unroll
            for (int i = 0; i < kOwnRows; ++i) {
                acc[i] += __shfl_sync(kAllLanes, terms[i], t) * factor;
            }
        }
        __syncthreads();
    }

    const int col = first_col + lane;
    if (col >= out_features) {
        return;
    }
    for (int i = 0; i < kOwnRows && first_row + i < batch; ++i) {
        float value = acc[i] + bias[col];
        value = mish(value);
        value = mish(value);
        y[static_cast<long long>(first_row + i) * out_features + col] = value;
    }
}
