// y = min(x W^T + b, c) - c with a learned number c. A thread makes 16 rows of one column: it reads
// its own row of W, a quad at a time, straight into registers, and only x goes through shared
// memory, where all threads of the block read the same rows.

#include "gemm_load.cuh"
#include "pool_nan.cuh"

constexpr int kRows = 16;
constexpr int kCols = 64;
constexpr int kTerms = 32;
constexpr int kPitch = kRows + 4;  // keeps quads of rows aligned

__global__ void __launch_bounds__(kCols)
matmul_min_subtract(const float* __restrict__ x, const float* __restrict__ weight,
                    const float* __restrict__ bias, const float* __restrict__ constant,
                    float* __restrict__ y, int batch, int out_features, int in_features) {
    __shared__ __align__(16) float tile_x[kTerms][kPitch];

    const int col = blockIdx.x * kCols + threadIdx.x;
    const int first_row = blockIdx.y * kRows;
    // Columns beyond the last repeat it and are not stored.
    const float* w_line =
        weight + static_cast<long long>(min(col, out_features - 1)) * in_features;

    float acc[kRows] = {};
    for (int k0 = 0; k0 < in_features; k0 += kTerms) {
        for (int i = threadIdx.x; i < kRows * kTerms; i += kCols) {
            const int row = first_row + i / kTerms;
            const int k = k0 + i % kTerms;
            const bool inside = row < batch && k < in_features;
            tile_x[i % kTerms][i / kTerms] =
                inside ? x[static_cast<long long>(row) * in_features + k] : 0.0f;
        }
        __syncthreads();

        for (int t = 0; t < kTerms; t += 4) {
            const float4 quad = load_quad(w_line, k0 + t, in_features);
            const float factors[4] = {quad.x, quad.y, quad.z, quad.w};
#pragma unroll
            for (int u = 0; u < 4; ++u) {
#pragma unroll
                for (int r = 0; r < kRows; r += 4) {
                    const float4 rows = *reinterpret_cast<const float4*>(&tile_x[t + u][r]);
                    acc[r] += rows.x * factors[u];
                    acc[r + 1] += rows.y * factors[u];
                    acc[r + 2] += rows.z * factors[u];
                    acc[r + 3] += rows.w * factors[u];
                }
            }
        }
        __syncthreads();
    }

    if (col >= out_features) {
        return;
    }
    const float limit = constant[0];
    for (int r = 0; r < kRows && first_row + r < batch; ++r) {
        float value = acc[r] + bias[col];
        value = nan_min(value, limit);
        value -= limit;
        y[static_cast<long long>(first_row + r) * out_features + col] = value;
    }
}
