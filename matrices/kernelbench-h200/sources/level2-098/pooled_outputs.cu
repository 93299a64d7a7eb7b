// Linear layer, means of 16 neighbouring outputs, GELU, a factor, and the largest of each row.
// Nothing but maxima leaves the product's kernel: a block makes 16 rows of 64 columns, a thread a
// quad of a row, so that four neighbouring threads hold a window and sixteen hold a row's four.

#include "fused_activations.cuh"
#include "gemm_load.cuh"
#include "limits.cuh"
#include "pool_nan.cuh"

constexpr unsigned int kAllLanes = 0xffffffffu;
constexpr int kWindow = 16;
constexpr int kRows = 16;
constexpr int kAcross = 16;
constexpr int kCols = 4 * kAcross;
constexpr int kTerms = 16;
constexpr int kPitch = kCols + 4;
constexpr int kStrips = 4;

__global__ void __launch_bounds__(kRows * kAcross)
matmul_pool_gelu_scale_max(const float* __restrict__ x, const float* __restrict__ weight,
                           const float* __restrict__ bias, float* __restrict__ partial, int batch,
                           int out_features, int in_features, int windows, float scale) {
    __shared__ float tile_x[kRows][kTerms + 1];
    __shared__ __align__(16) float tile_w[kTerms][kPitch];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int row = blockIdx.y * kRows + ty;
    const int first_col = blockIdx.x * kCols;

    float4 acc = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    for (int k0 = 0; k0 < in_features; k0 += kTerms) {
        const int k = k0 + tx;
        tile_x[ty][tx] = row < batch && k < in_features
            ? x[static_cast<long long>(row) * in_features + k] : 0.0f;
        for (int n = ty; n < kCols; n += kRows) {
            const int col = first_col + n;
            tile_w[tx][n] = col < out_features && k < in_features
                ? weight[static_cast<long long>(col) * in_features + k] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int t = 0; t < kTerms; ++t) {
            const float value = tile_x[ty][t];
            const float4 factors = *reinterpret_cast<const float4*>(&tile_w[t][4 * tx]);
            acc.x += value * factors.x;
            acc.y += value * factors.y;
            acc.z += value * factors.z;
            acc.w += value * factors.w;
        }
        __syncthreads();
    }

    const int col = first_col + 4 * tx;
    const float4 added = load_quad(bias, col, out_features);
    float value = (acc.x + added.x) + (acc.y + added.y) + (acc.z + added.z) + (acc.w + added.w);
    value += __shfl_xor_sync(kAllLanes, value, 1, kAcross);
    value += __shfl_xor_sync(kAllLanes, value, 2, kAcross);
    value /= kWindow;
    value = gelu_erf(value);
    value *= scale;
    // What is left over at the end of a row is no window.
    if (col / kWindow >= windows) {
        value = -INFINITY;
    }
    value = nan_max(value, __shfl_xor_sync(kAllLanes, value, 4, kAcross));
    value = nan_max(value, __shfl_xor_sync(kAllLanes, value, 8, kAcross));
    if (tx == 0 && row < batch) {
        partial[blockIdx.x * batch + row] = value;
    }
}

// A lane has a row, four warps share out its parts.
__global__ void row_max(const float* __restrict__ partial, float* __restrict__ y, int batch,
                        int parts) {
    __shared__ float tops[kStrips][32];

    const int row = blockIdx.x * 32 + threadIdx.x;
    float top = -INFINITY;
    if (row < batch) {
        for (int p = threadIdx.y; p < parts; p += kStrips) {
            top = nan_max(top, partial[p * batch + row]);
        }
    }
    tops[threadIdx.y][threadIdx.x] = top;
    __syncthreads();
    if (threadIdx.y == 0 && row < batch) {
        for (int s = 1; s < kStrips; ++s) {
            top = nan_max(top, tops[s][threadIdx.x]);
        }
        y[row] = top;
    }
}
