// The maxima of the rows of x W^T + b, then what the benchmark makes of them: their difference to
// their mean over one column, and GELU. Both factors are read along their terms as they lie in
// memory: a warp's lanes share out the terms of 4 x 4 dot products, 128 at a time, and add up what
// they have at the end, two lanes with one of the sums. No tile is needed for that.

#include "fused_activations.cuh"
#include "gemm_load.cuh"
#include "limits.cuh"
#include "pool_nan.cuh"

constexpr unsigned int kAllLanes = 0xffffffffu;
constexpr int kWarps = 4;
constexpr int kRows = 4;
constexpr int kOwnCols = 4;
constexpr int kOwn = kRows * kOwnCols;
constexpr int kCols = 64;
constexpr int kStep = 32 * 4;

__device__ __forceinline__ float add_dot(float total, float4 a, float4 b) {
    total += a.x * b.x;
    total += a.y * b.y;
    total += a.z * b.z;
    total += a.w * b.w;
    return total;
}

// Sums of sixteen values over the lanes of a warp: lanes 2 n and 2 n + 1 get the n-th. With each
// exchange a lane hands over half of the values that it has, and adds what it gets to the others.
__device__ __forceinline__ float share_sums(float (&values)[kOwn], int lane) {
    int offset = 16;
#pragma unroll
    for (int half = kOwn / 2; half > 0; half /= 2) {
        const bool upper = (lane & offset) != 0;
#pragma unroll
        for (int n = 0; n < half; ++n) {
            const float handed = upper ? values[n] : values[n + half];
            const float kept = upper ? values[n + half] : values[n];
            values[n] = kept + __shfl_xor_sync(kAllLanes, handed, offset);
        }
        offset /= 2;
    }
    return values[0] + __shfl_xor_sync(kAllLanes, values[0], 1);
}

__global__ void __launch_bounds__(32 * kWarps)
gemm_row_max(const float* __restrict__ x, const float* __restrict__ weight,
             const float* __restrict__ bias, float* __restrict__ partial, int batch,
             int out_features, int in_features) {
    __shared__ float tops[kWarps][kRows];

    const int lane = threadIdx.x;
    const int warp = threadIdx.y;
    const int first_row = blockIdx.y * kRows;
    const int first_col = blockIdx.x * kCols;

    // Rows beyond the last repeat it and are not stored; columns beyond the last repeat it, which
    // leaves a maximum what it is.
    const float* rows[kRows];
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
        rows[i] = x + static_cast<long long>(min(first_row + i, batch - 1)) * in_features;
    }
    float top = -INFINITY;
    for (int own = warp * kOwnCols; own < kCols; own += kWarps * kOwnCols) {
        int cols[kOwnCols];
#pragma unroll
        for (int j = 0; j < kOwnCols; ++j) {
            cols[j] = min(first_col + own + j, out_features - 1);
        }
        float acc[kOwn] = {};
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
                    const int n = i * kOwnCols + j;
                    acc[n] = add_dot(acc[n], quad, quads[j]);
                }
            }
        }
        const int col = min(first_col + own + lane / 2 % kOwnCols, out_features - 1);
        const float value = share_sums(acc, lane) + bias[col];
        top = nan_max(top, value);
    }

    // Eight lanes have the four columns of a row.
    top = nan_max(top, __shfl_xor_sync(kAllLanes, top, 2));
    top = nan_max(top, __shfl_xor_sync(kAllLanes, top, 4));
    if (lane % 8 == 0) {
        tops[warp][lane / 8] = top;
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
        value = nan_max(value, __shfl_xor_sync(kAllLanes, value, offset));
    }
    if (threadIdx.x == 0) {
        const float mean = value / columns;
        value -= mean;
        value = gelu_erf(value);
        y[row] = value;
    }
}
