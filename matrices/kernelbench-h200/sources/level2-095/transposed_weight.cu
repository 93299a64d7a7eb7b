// A linear layer with W transposed first, so that threads with neighbouring columns read neighbours
// of W: no tile of it is needed. A block makes 16 rows of 64 columns, a thread one column of all
// rows; of x it has 16 terms in shared memory, read four at a time by all threads alike.

#include "fused_activations.cuh"
#include "gemm_load.cuh"

constexpr int kSquare = 32;
constexpr int kRows = 16;
constexpr int kCols = 64;
constexpr int kTerms = 16;
constexpr int kQuads = kTerms / 4;

__global__ void transpose_weight(const float* __restrict__ weight, float* __restrict__ transposed,
                                 int out_features, int in_features) {
    __shared__ float square[kSquare][kSquare + 1];

    const int first_term = blockIdx.x * kSquare;
    const int first_feature = blockIdx.y * kSquare;
    const int term = first_term + threadIdx.x;
    for (int i = threadIdx.y; i < kSquare; i += blockDim.y) {
        if (first_feature + i < out_features && term < in_features) {
            square[i][threadIdx.x] =
                weight[static_cast<long long>(first_feature + i) * in_features + term];
        }
    }
    __syncthreads();

    const int feature = first_feature + threadIdx.x;
    for (int i = threadIdx.y; i < kSquare; i += blockDim.y) {
        if (first_term + i < in_features && feature < out_features) {
            transposed[static_cast<long long>(first_term + i) * out_features + feature] =
                square[threadIdx.x][i];
        }
    }
}

__global__ void __launch_bounds__(kCols)
matmul_activations(const float* __restrict__ x, const float* __restrict__ transposed,
                   const float* __restrict__ bias, const float* __restrict__ add_value,
                   float* __restrict__ y, int batch, int out_features, int in_features, float low,
                   float high) {
    __shared__ __align__(16) float tile_x[kRows][kTerms];

    const int first_row = blockIdx.y * kRows;
    const int col = blockIdx.x * kCols + threadIdx.x;
    const bool live = col < out_features;
    // 64 threads are 16 rows of four quads.
    const int line = threadIdx.x / kQuads;
    const int part = threadIdx.x % kQuads * 4;

    float acc[kRows] = {};
    for (int k0 = 0; k0 < in_features; k0 += kTerms) {
        float4 quad = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (first_row + line < batch) {
            quad = load_quad(x + static_cast<long long>(first_row + line) * in_features,
                             k0 + part, in_features);
        }
        *reinterpret_cast<float4*>(&tile_x[line][part]) = quad;
        __syncthreads();

        for (int t = 0; t < kTerms; t += 4) {
            float factors[4];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const int k = k0 + t + i;
                factors[i] = live && k < in_features
                    ? transposed[static_cast<long long>(k) * out_features + col] : 0.0f;
            }
#pragma unroll
            for (int r = 0; r < kRows; ++r) {
                const float4 terms = *reinterpret_cast<const float4*>(&tile_x[r][t]);
                acc[r] += terms.x * factors[0];
                acc[r] += terms.y * factors[1];
                acc[r] += terms.z * factors[2];
                acc[r] += terms.w * factors[3];
            }
        }
        __syncthreads();
    }
    if (!live) {
        return;
    }

    const float own_bias = bias[col];
    const float own_value = add_value[col];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
        const int row = first_row + r;
        if (row >= batch) {
            break;
        }
        float value = acc[r] + own_bias;
        value += own_value;
        value = swish(value);
        value = tanhf(value);
        value = gelu_erf(value);
        value = clamp_to(value, low, high);
        y[static_cast<long long>(row) * out_features + col] = value;
    }
}
