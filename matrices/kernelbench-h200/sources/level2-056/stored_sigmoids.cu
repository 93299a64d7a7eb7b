// Sums over the rows of sigmoid(x W^T + b): the linear layer goes to memory with the sigmoid
// already applied, and a block adds each row, four elements a load.

#include "fused_activations.cuh"
#include "gemm_load.cuh"
#include "warp_reduce.cuh"
#include "block_reduce.cuh"

constexpr int kRows = 8;
constexpr int kCols = 64;
constexpr int kTerms = 16;
constexpr int kQuads = kTerms / 4;
constexpr int kRowThreads = 128;

// A thread has one column of all eight rows; rows of x are the same for every thread.
__global__ void __launch_bounds__(kCols)
matmul_sigmoid(const float* __restrict__ x, const float* __restrict__ weight,
               const float* __restrict__ bias, float* __restrict__ sigmoids, int batch,
               int out_features, int in_features) {
    __shared__ float4 tile_x[kRows][kQuads];
    __shared__ float tile_w[kCols][kTerms + 1];

    const int tid = threadIdx.x;
    const int first_row = blockIdx.y * kRows;
    const int first_col = blockIdx.x * kCols;

    float acc[kRows] = {};
    for (int k0 = 0; k0 < in_features; k0 += kTerms) {
        if (tid < kRows * kQuads) {
            const int row = first_row + tid / kQuads;
            float4 quad = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
            if (row < batch) {
                quad = load_quad(x + static_cast<long long>(row) * in_features,
                                 k0 + tid % kQuads * 4, in_features);
            }
            tile_x[tid / kQuads][tid % kQuads] = quad;
        }
        for (int n = tid / kTerms; n < kCols; n += kCols / kTerms) {
            const int col = first_col + n;
            const int k = k0 + tid % kTerms;
            tile_w[n][tid % kTerms] = col < out_features && k < in_features
                ? weight[static_cast<long long>(col) * in_features + k] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int q = 0; q < kQuads; ++q) {
            const float* factors = &tile_w[tid][4 * q];
#pragma unroll
            for (int r = 0; r < kRows; ++r) {
                const float4 terms = tile_x[r][q];
                acc[r] += terms.x * factors[0];
                acc[r] += terms.y * factors[1];
                acc[r] += terms.z * factors[2];
                acc[r] += terms.w * factors[3];
            }
        }
        __syncthreads();
    }

    const int col = first_col + tid;
    if (col < out_features) {
        for (int r = 0; r < kRows && first_row + r < batch; ++r) {
            float value = acc[r] + bias[col];
            value = logistic(value);
            sigmoids[static_cast<long long>(first_row + r) * out_features + col] = value;
        }
    }
}

__global__ void __launch_bounds__(kRowThreads)
sum_rows(const float* __restrict__ sigmoids, float* __restrict__ y, int out_features) {
    __shared__ float warp_totals[kRowThreads / 32];

    const float* row = sigmoids + static_cast<long long>(blockIdx.x) * out_features;
    float sum = 0.0f;
    for (int n = 4 * threadIdx.x; n < out_features; n += 4 * kRowThreads) {
        const float4 quad = load_quad(row, n, out_features);
        sum += (quad.x + quad.y) + (quad.z + quad.w);
    }
    sum = block_sum(sum, warp_totals);
    if (threadIdx.x == 0) {
        y[blockIdx.x] = sum;
    }
}
