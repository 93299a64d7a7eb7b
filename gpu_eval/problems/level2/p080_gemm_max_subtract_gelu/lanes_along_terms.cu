// The maxima of the rows of x W^T + b, then what the benchmark makes of them: their difference to
// their mean over one column, and GELU. Both factors are read along their terms as they lie in
// memory: a warp's lanes share out the terms of 4 x 4 dot products, 128 at a time, and add up what
// they have at the end. No tile and no barrier is needed for that.

#include "fused_activations.cuh"
#include "gemm_load.cuh"
#include "limits.cuh"
#include "pool_nan.cuh"
#include "warp_reduce.cuh"

constexpr int kWarps = 4;
constexpr int kRows = 4;
constexpr int kOwnCols = 4;
constexpr int kCols = 64;
constexpr int kStep = 32 * 4;

__device__ __forceinline__ float add_dot(float total, float4 a, float4 b) {
    total += a.x * b.x;
    total += a.y * b.y;
    total += a.z * b.z;
    total += a.w * b.w;
    return total;
}

__global__ void __launch_bounds__(32 * kWarps)
gemm_row_max(const float* __restrict__ x, const float* __restrict__ weight,
             const float* __restrict__ bias, float* __restrict__ partial, int batch,
             int out_features, int in_features) {
    __shared__ float tops[kWarps][kRows];

    const int lane = threadIdx.x;
    const int warp = threadIdx.y;
    const int first_row = blockIdx.y * kRows;

    // Rows beyond the last repeat it and are not stored; columns beyond the last repeat it, which
    // leaves a maximum what it is.
    const float* rows[kRows];
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
        rows[i] = x + static_cast<long long>(min(first_row + i, batch - 1)) * in_features;
    }
    float top[kRows];
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
        top[i] = -INFINITY;
    }

    for (int own = warp * kOwnCols; own < kCols; own += kWarps * kOwnCols) {
        int cols[kOwnCols];
#pragma unroll
        for (int j = 0; j < kOwnCols; ++j) {
            cols[j] = min(static_cast<int>(blockIdx.x) * kCols + own + j, out_features - 1);
        }
        float acc[kRows][kOwnCols] = {};
        for (int k = 4 * lane; k < in_features; k += kStep) {
            float4 quads[kOwnCols];
#pragma unroll
            for (int j = 0; j < kOwnCols; ++j) {
                quads[j] = load_quad(weight + static_cast<long long>(cols[j]) * in_features, k,
                                     in_features);
            }
#pragma unroll
            for (int i = 0; i < kRows; ++i) {
                const float4 quad = load_quad(rows[i], k, in_features);
#pragma unroll
                for (int j = 0; j < kOwnCols; ++j) {
                    acc[i][j] = add_dot(acc[i][j], quad, quads[j]);
                }
            }
        }
#pragma unroll
        for (int i = 0; i < kRows; ++i) {
#pragma unroll
            for (int j = 0; j < kOwnCols; ++j) {
                const float value = warp_sum(acc[i][j]) + bias[cols[j]];
                top[i] = nan_max(top[i], value);
            }
        }
    }

    if (lane == 0) {
        for (int i = 0; i < kRows; ++i) {
            tops[warp][i] = top[i];
        }
    }
    __syncthreads();
    if (warp == 0 && lane < kRows && first_row + lane < batch) {
        float largest = tops[0][lane];
        for (int w = 1; w < kWarps; ++w) {
            largest = nan_max(largest, tops[w][lane]);
        }
        partial[(first_row + lane) * gridDim.x + blockIdx.x] = largest;
    }
}

__global__ void max_subtract_gelu(const float* __restrict__ partial, float* __restrict__ y,
                                  int batch, int parts, int columns) {
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= batch) {
        return;
    }
    float value = -INFINITY;
    for (int p = threadIdx.x; p < parts; p += 32) {
        value = nan_max(value, partial[row * parts + p]);
    }
    for (int offset = 16; offset > 0; offset >>= 1) {
        value = nan_max(value, __shfl_xor_sync(0xffffffffu, value, offset));
    }
    if (threadIdx.x == 0) {
        const float mean = value / columns;
        value -= mean;
        value = gelu_erf(value);
        y[row] = value;
    }
}
