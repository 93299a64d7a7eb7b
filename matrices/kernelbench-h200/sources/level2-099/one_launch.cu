// Linear layer, GELU and softmax in one launch. A block keeps eight rows to the end: it goes over
// all columns, 64 at a time, writes what GELU makes of them to y and keeps a running maximum and
// sum of exponentials for each lane. A lane comes back for its own columns when the row is known.

#include "fused_activations.cuh"
#include "limits.cuh"
#include "softmax_running.cuh"

constexpr int kLanes = 32;
constexpr int kWarps = 4;
constexpr int kOwnRows = 2;
constexpr int kOwnCols = 2;
constexpr int kRows = kWarps * kOwnRows;
constexpr int kCols = kLanes * kOwnCols;

__global__ void __launch_bounds__(kWarps * kLanes)
matmul_gelu_softmax(const float* __restrict__ x, const float* __restrict__ weight,
                    const float* __restrict__ bias, float* __restrict__ y, int batch,
                    int out_features, int in_features) {
    __shared__ float tile_x[kRows][kLanes];
    __shared__ float tile_w[kCols][kLanes + 1];

    const int lane = threadIdx.x;
    const int warp = threadIdx.y;
    const int own_row = blockIdx.x * kRows + warp * kOwnRows;

    Running running[kOwnRows];
#pragma unroll
    for (int i = 0; i < kOwnRows; ++i) {
        running[i] = running_none();
    }
    for (int first_col = 0; first_col < out_features; first_col += kCols) {
        float acc[kOwnRows][kOwnCols] = {};
        for (int k0 = 0; k0 < in_features; k0 += kLanes) {
            const int k = k0 + lane;
            // The rows of a warp are its own affair; the barrier is for W.
#pragma unroll
            for (int i = 0; i < kOwnRows; ++i) {
                tile_x[warp * kOwnRows + i][lane] = own_row + i < batch && k < in_features
                    ? x[static_cast<long long>(own_row + i) * in_features + k] : 0.0f;
            }
            for (int n = warp; n < kCols; n += kWarps) {
                const int col = first_col + n;
                tile_w[n][lane] = col < out_features && k < in_features
                    ? weight[static_cast<long long>(col) * in_features + k] : 0.0f;
            }
            __syncthreads();
#pragma unroll
            for (int t = 0; t < kLanes; ++t) {
                const float left = tile_w[lane][t];
                const float right = tile_w[lane + kLanes][t];
#pragma unroll
                for (int i = 0; i < kOwnRows; ++i) {
                    const float value = tile_x[warp * kOwnRows + i][t];
                    acc[i][0] += value * left;
                    acc[i][1] += value * right;
                }
            }
            __syncthreads();
        }
        for (int j = 0; j < kOwnCols; ++j) {
            const int col = first_col + lane + j * kLanes;
            for (int i = 0; i < kOwnRows; ++i) {
                if (col < out_features && own_row + i < batch) {
                    float value = acc[i][j] + bias[col];
                    value = gelu_erf(value);
                    running_push(running[i], value);
                    y[static_cast<long long>(own_row + i) * out_features + col] = value;
                }
            }
        }
    }

    for (int i = 0; i < kOwnRows; ++i) {
        const Running row = running_warp(running[i]);
        if (own_row + i < batch) {
            float* values = y + static_cast<long long>(own_row + i) * out_features;
            for (int col = lane; col < out_features; col += kLanes) {
                values[col] = expf(values[col] - row.top) / row.sum;
            }
        }
    }
}
