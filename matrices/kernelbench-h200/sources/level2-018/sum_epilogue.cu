// The sum over the outputs of a linear layer, row by row, and the four reductions that the
// benchmark puts behind it: each meets one number and hands it on. 64 threads make 16 x 64 outputs
// in patches of 4 x 4 and add the rows in shared memory; the blocks' sums lie column of blocks by
// column of blocks, so that the threads of the second kernel, one a row, read neighbours.

#include "gemm_fragment.cuh"
#include "gemm_load.cuh"
#include "limits.cuh"
#include "logsumexp_single.cuh"
#include "pool_nan.cuh"

constexpr int kRows = 16;
constexpr int kCols = 64;
constexpr int kTerms = 16;
constexpr int kPatch = 4;
constexpr int kAcross = kCols / kPatch;
constexpr int kThreads = kAcross * (kRows / kPatch);

__global__ void __launch_bounds__(kThreads)
linear_row_sums(const float* __restrict__ x, const float* __restrict__ weight,
                const float* __restrict__ bias, float* __restrict__ sums, int batch,
                int out_features, int in_features) {
    __shared__ float tile_x[kTerms][kRows];
    __shared__ float tile_w[kTerms][kCols + 1];
    __shared__ float row_parts[kRows][kAcross + 1];

    const int tid = threadIdx.x;
    const int across = tid % kAcross;
    const int down = tid / kAcross;
    const int first_row = blockIdx.y * kRows;
    const int first_col = blockIdx.x * kCols;
    const int line_x = tid / 4;
    const int term_x = tid % 4 * 4;

    float acc[kPatch][kPatch] = {};
    for (int k0 = 0; k0 < in_features; k0 += kTerms) {
        float4 quad = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (first_row + line_x < batch) {
            quad = load_quad(x + static_cast<long long>(first_row + line_x) * in_features,
                             k0 + term_x, in_features);
        }
        tile_x[term_x][line_x] = quad.x;
        tile_x[term_x + 1][line_x] = quad.y;
        tile_x[term_x + 2][line_x] = quad.z;
        tile_x[term_x + 3][line_x] = quad.w;
        // Each thread takes one row of W: 16 terms are half a cache line.
        for (int term = 0; term < kTerms; term += 4) {
            quad = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
            if (first_col + tid < out_features) {
                quad = load_quad(weight + static_cast<long long>(first_col + tid) * in_features,
                                 k0 + term, in_features);
            }
            tile_w[term][tid] = quad.x;
            tile_w[term + 1][tid] = quad.y;
            tile_w[term + 2][tid] = quad.z;
            tile_w[term + 3][tid] = quad.w;
        }
        __syncthreads();

        for (int k = 0; k < kTerms; ++k) {
            float fragment_x[kPatch];
            float fragment_w[kPatch];
#pragma unroll
            for (int i = 0; i < kPatch; ++i) {
                fragment_x[i] = tile_x[k][down * kPatch + i];
                fragment_w[i] = tile_w[k][across * kPatch + i];
            }
            outer_product(acc, fragment_x, fragment_w);
        }
        __syncthreads();
    }

    for (int i = 0; i < kPatch; ++i) {
        float sum = 0.0f;
        for (int j = 0; j < kPatch; ++j) {
            const int col = first_col + across * kPatch + j;
            if (col < out_features) {
                const float value = acc[i][j] + bias[col];
                sum += value;
            }
        }
        row_parts[down * kPatch + i][across] = sum;
    }
    __syncthreads();

    if (tid < kRows && first_row + tid < batch) {
        float total = 0.0f;
        for (int a = 0; a < kAcross; ++a) {
            total += row_parts[tid][a];
        }
        sums[blockIdx.x * batch + first_row + tid] = total;
    }
}

__global__ void reductions_of_one(const float* __restrict__ sums, float* __restrict__ y, int batch,
                                  int parts, int width) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= batch) {
        return;
    }
    float value = 0.0f;
    for (int p = 0; p < parts; ++p) {
        value += sums[p * batch + row];
    }
    value = nan_max(-INFINITY, value);
    value /= width;
    value = logsumexp_of_one(value);
    value = logsumexp_of_one(value);
    y[row] = value;
}
