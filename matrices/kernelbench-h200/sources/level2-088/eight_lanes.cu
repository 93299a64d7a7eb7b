// Linear layer, GroupNorm, swish, a factor for each feature, swish, in one launch. A block makes 32
// rows of the 32 features of one group: eight lanes in a line have a row of it, a quad each, and
// take its moments by shuffles among themselves.

#include "fused_activations.cuh"
#include "gemm_load.cuh"

constexpr int kWidth = 32;
constexpr int kRows = 32;
constexpr int kTerms = 32;
constexpr int kAcross = 8;
constexpr int kDown = 16;
constexpr int kOwnRows = kRows / kDown;
constexpr int kOwnCols = kWidth / kAcross;
constexpr int kPitch = kWidth + 4;

// Sum over the lanes that share a row; each of them gets it.
__device__ __forceinline__ float line_sum(float value) {
#pragma unroll
    for (int offset = kAcross / 2; offset > 0; offset /= 2) {
        value += __shfl_xor_sync(0xffffffffu, value, offset, kAcross);
    }
    return value;
}

__global__ void __launch_bounds__(kAcross * kDown)
gemm_groupnorm_swish_multiply_swish(const float* __restrict__ x, const float* __restrict__ weight,
                                    const float* __restrict__ bias,
                                    const float* __restrict__ norm_weight,
                                    const float* __restrict__ norm_bias,
                                    const float* __restrict__ factors, float* __restrict__ y,
                                    int batch, int out_features, int in_features, float eps) {
    __shared__ float tile_x[kRows][kTerms + 1];
    __shared__ __align__(16) float tile_w[kTerms][kPitch];

    const int first_row = blockIdx.y * kRows;
    const int first_col = blockIdx.x * kWidth;
    const int part = threadIdx.x * 4;

    float acc[kOwnRows][kOwnCols] = {};
    for (int k0 = 0; k0 < in_features; k0 += kTerms) {
        for (int line = threadIdx.y; line < kRows; line += kDown) {
            float4 quad = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
            if (first_row + line < batch) {
                quad = load_quad(x + static_cast<long long>(first_row + line) * in_features,
                                 k0 + part, in_features);
            }
            tile_x[line][part + 0] = quad.x;
            tile_x[line][part + 1] = quad.y;
            tile_x[line][part + 2] = quad.z;
            tile_x[line][part + 3] = quad.w;
        }
        // Groups are whole, so that every feature of a block exists.
        for (int line = threadIdx.y; line < kWidth; line += kDown) {
            const float4 quad =
                load_quad(weight + static_cast<long long>(first_col + line) * in_features,
                          k0 + part, in_features);
            tile_w[part + 0][line] = quad.x;
            tile_w[part + 1][line] = quad.y;
            tile_w[part + 2][line] = quad.z;
            tile_w[part + 3][line] = quad.w;
        }
        __syncthreads();
#pragma unroll
        for (int t = 0; t < kTerms; ++t) {
            const float4 quad = *reinterpret_cast<const float4*>(&tile_w[t][part]);
#pragma unroll
            for (int i = 0; i < kOwnRows; ++i) {
                const float value = tile_x[threadIdx.y + i * kDown][t];
                acc[i][0] += value * quad.x;
                acc[i][1] += value * quad.y;
                acc[i][2] += value * quad.z;
                acc[i][3] += value * quad.w;
            }
        }
        __syncthreads();
    }

    const int first = first_col + part;
    for (int i = 0; i < kOwnRows; ++i) {
        float sum = 0.0f;
        for (int j = 0; j < kOwnCols; ++j) {
            acc[i][j] += bias[first + j];
            sum += acc[i][j];
        }
        const float mean = line_sum(sum) / kWidth;
        float squares = 0.0f;
        for (int j = 0; j < kOwnCols; ++j) {
            acc[i][j] -= mean;
            squares += acc[i][j] * acc[i][j];
        }
        const float inverse = rsqrtf(line_sum(squares) / kWidth + eps);

        const int row = first_row + threadIdx.y + i * kDown;
        if (row < batch) {
            for (int j = 0; j < kOwnCols; ++j) {
                float value = acc[i][j] * inverse;
                value = value * norm_weight[first + j] + norm_bias[first + j];
                value = swish(value);
                value *= factors[first + j];
                value = swish(value);
                y[static_cast<long long>(row) * out_features + first + j] = value;
            }
        }
    }
}
