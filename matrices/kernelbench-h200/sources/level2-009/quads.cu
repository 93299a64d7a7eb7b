// y = relu(factor (x W^T + b - offset)): 128 threads make 32 x 32 outputs, each a patch of 4 x 2.
// A thread brings one quad of x and one of W along the terms and stores both transposed.

#include "fused_activations.cuh"
#include "gemm_load.cuh"

constexpr int kTile = 32;
constexpr int kTerms = 16;
constexpr int kQuads = kTerms / 4;
constexpr int kRows = 4;
constexpr int kCols = 2;
constexpr int kThreads = kTile * kQuads;
// Rows of shared memory stay aligned for quads; four words more spread the transposing stores.
constexpr int kPitch = kTile + 4;

__device__ __forceinline__ void store_column(float (&tile)[kTerms][kPitch], int term, int line,
                                             float4 quad) {
    tile[term][line] = quad.x;
    tile[term + 1][line] = quad.y;
    tile[term + 2][line] = quad.z;
    tile[term + 3][line] = quad.w;
}

__global__ void __launch_bounds__(kThreads)
matmul_subtract_multiply_relu(const float* __restrict__ x, const float* __restrict__ weight,
                              const float* __restrict__ bias, float* __restrict__ y, int batch,
                              int out_features, int in_features, float offset, float factor) {
    __shared__ float tile_x[kTerms][kPitch];
    __shared__ float tile_w[kTerms][kPitch];

    const int line = threadIdx.x / kQuads;
    const int term = threadIdx.x % kQuads * 4;
    const int x_row = blockIdx.y * kTile + line;
    const int w_row = blockIdx.x * kTile + line;
    const int patch_row = threadIdx.x / (kTile / kCols) * kRows;
    const int patch_col = threadIdx.x % (kTile / kCols) * kCols;

    float acc[kRows][kCols] = {};
    for (int k0 = 0; k0 < in_features; k0 += kTerms) {
        float4 quad_x = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        float4 quad_w = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (x_row < batch) {
            quad_x = load_quad(x + static_cast<long long>(x_row) * in_features, k0 + term,
                               in_features);
        }
        if (w_row < out_features) {
            quad_w = load_quad(weight + static_cast<long long>(w_row) * in_features, k0 + term,
                               in_features);
        }
        store_column(tile_x, term, line, quad_x);
        store_column(tile_w, term, line, quad_w);
        __syncthreads();

#pragma unroll
        for (int k = 0; k < kTerms; ++k) {
            const float w0 = tile_w[k][patch_col];
            const float w1 = tile_w[k][patch_col + 1];
#pragma unroll
            for (int i = 0; i < kRows; ++i) {
                const float value = tile_x[k][patch_row + i];
                acc[i][0] += value * w0;
                acc[i][1] += value * w1;
            }
        }
        __syncthreads();
    }

    for (int j = 0; j < kCols; ++j) {
        const int col = blockIdx.x * kTile + patch_col + j;
        if (col >= out_features) {
            break;
        }
        const float added = bias[col];
        for (int i = 0; i < kRows; ++i) {
            const int row = blockIdx.y * kTile + patch_row + i;
            if (row < batch) {
                float value = acc[i][j] + added;
                value -= offset;
                value *= factor;
                value = relu(value);
                y[row * out_features + col] = value;
            }
        }
    }
}
