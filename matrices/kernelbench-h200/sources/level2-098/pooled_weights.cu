// The mean of 16 outputs of a linear layer is an output of the layer with the means of 16 rows of
// W and of 16 biases: pooled first, there is a sixteenth of the product left. A block then keeps
// eight rows to the end, goes over all windows, 32 at a time, and only their maxima stay.

#include "fused_activations.cuh"
#include "limits.cuh"
#include "pool_nan.cuh"

constexpr int kWindow = 16;
constexpr int kLanes = 32;
constexpr int kWarps = 4;
constexpr int kOwnRows = 2;
constexpr int kRows = kWarps * kOwnRows;

__global__ void pool_rows(const float* __restrict__ matrix, float* __restrict__ pooled,
                          int columns) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= columns) {
        return;
    }
    const float* window = matrix + static_cast<long long>(blockIdx.y) * kWindow * columns + column;
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < kWindow; ++i) {
        sum += window[i * columns];
    }
    pooled[static_cast<long long>(blockIdx.y) * columns + column] = sum / kWindow;
}

__global__ void __launch_bounds__(kWarps * kLanes)
matmul_gelu_scale_max(const float* __restrict__ x, const float* __restrict__ weight,
                      const float* __restrict__ bias, float* __restrict__ y, int batch, int windows,
                      int in_features, float scale) {
    __shared__ float tile_x[kRows][kLanes];
    __shared__ float tile_w[kLanes][kLanes + 1];

    const int lane = threadIdx.x;
    const int warp = threadIdx.y;
    const int first_row = blockIdx.x * kRows;

    float top[kOwnRows] = {-INFINITY, -INFINITY};
    for (int first = 0; first < windows; first += kLanes) {
        float acc[kOwnRows] = {};
        for (int k0 = 0; k0 < in_features; k0 += kLanes) {
            const int k = k0 + lane;
            for (int r = warp; r < kRows; r += kWarps) {
                const int row = first_row + r;
                tile_x[r][lane] = row < batch && k < in_features
                    ? x[static_cast<long long>(row) * in_features + k] : 0.0f;
            }
            for (int n = warp; n < kLanes; n += kWarps) {
                const int window = first + n;
                tile_w[n][lane] = window < windows && k < in_features
                    ? weight[static_cast<long long>(window) * in_features + k] : 0.0f;
            }
            __syncthreads();
#pragma unroll
            for (int t = 0; t < kLanes; ++t) {
                const float factor = tile_w[lane][t];
#pragma unroll
                for (int i = 0; i < kOwnRows; ++i) {
                    acc[i] += tile_x[warp * kOwnRows + i][t] * factor;
                }
            }
            __syncthreads();
        }
        if (first + lane < windows) {
            for (int i = 0; i < kOwnRows; ++i) {
                float value = acc[i] + bias[first + lane];
                value = gelu_erf(value);
                value *= scale;
                top[i] = nan_max(top[i], value);
            }
        }
    }

    for (int i = 0; i < kOwnRows; ++i) {
        for (int offset = kLanes / 2; offset > 0; offset /= 2) {
            top[i] = nan_max(top[i], __shfl_xor_sync(0xffffffffu, top[i], offset));
        }
        const int row = first_row + warp * kOwnRows + i;
        if (lane == 0 && row < batch) {
            y[row] = top[i];
        }
    }
}
