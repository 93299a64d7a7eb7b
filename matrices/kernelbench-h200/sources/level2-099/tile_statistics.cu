// Linear layer and GELU, with the softmax begun in the epilogue: beside its outputs a tile leaves
// the largest of each of its rows and the sum of exponentials below that. The second kernel makes
// of these few numbers what it needs of a row, and goes over the row once.

#include "fused_activations.cuh"
#include "gemm_fragment.cuh"
#include "gemm_load.cuh"
#include "limits.cuh"
#include "warp_reduce.cuh"

constexpr unsigned int kAllLanes = 0xffffffffu;
constexpr int kRows = 16;
constexpr int kCols = 64;
constexpr int kTerms = 8;
constexpr int kAcross = 16;
constexpr int kDown = 8;
constexpr int kOwnRows = kRows / kDown;
constexpr int kOwnCols = kCols / kAcross;

__global__ void __launch_bounds__(kAcross * kDown)
matmul_gelu_statistics(const float* __restrict__ x, const float* __restrict__ weight,
                       const float* __restrict__ bias, float* __restrict__ y,
                       float* __restrict__ tops, float* __restrict__ sums, int batch,
                       int out_features, int in_features) {
    __shared__ float tile_x[kTerms][kRows + 1];
    __shared__ float tile_w[kTerms][kCols + 1];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int tid = ty * kAcross + tx;
    const int first_row = blockIdx.y * kRows;
    const int first_col = blockIdx.x * kCols;
    // Eight threads bring a line of x, a term each; two bring a line of W, a quad each.
    const int source_row = first_row + tid / kTerms;
    const int line = tid / 2;
    const int part = tid % 2 * 4;
    const int source_col = first_col + line;

    float acc[kOwnRows][kOwnCols] = {};
    for (int k0 = 0; k0 < in_features; k0 += kTerms) {
        const int k = k0 + tid % kTerms;
        tile_x[tid % kTerms][tid / kTerms] = source_row < batch && k < in_features
            ? x[static_cast<long long>(source_row) * in_features + k] : 0.0f;
        float4 quad = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (source_col < out_features) {
            quad = load_quad(weight + static_cast<long long>(source_col) * in_features, k0 + part,
                             in_features);
        }
        tile_w[part + 0][line] = quad.x;
        tile_w[part + 1][line] = quad.y;
        tile_w[part + 2][line] = quad.z;
        tile_w[part + 3][line] = quad.w;
        __syncthreads();
#pragma unroll
        for (int t = 0; t < kTerms; ++t) {
            float fragment_x[kOwnRows];
            float fragment_w[kOwnCols];
#pragma unroll
            for (int i = 0; i < kOwnRows; ++i) {
                fragment_x[i] = tile_x[t][ty + i * kDown];
            }
#pragma unroll
            for (int j = 0; j < kOwnCols; ++j) {
                fragment_w[j] = tile_w[t][tx + j * kAcross];
            }
            outer_product(acc, fragment_x, fragment_w);
        }
        __syncthreads();
    }

    for (int i = 0; i < kOwnRows; ++i) {
        const int row = first_row + ty + i * kDown;
        float top = -INFINITY;
        for (int j = 0; j < kOwnCols; ++j) {
            const int col = first_col + tx + j * kAcross;
            if (col < out_features) {
                float value = acc[i][j] + bias[col];
                value = gelu_erf(value);
                top = fmaxf(top, value);
                acc[i][j] = value;
                if (row < batch) {
                    y[static_cast<long long>(row) * out_features + col] = value;
                }
            }
        }
        for (int offset = kAcross / 2; offset > 0; offset /= 2) {
            top = fmaxf(top, __shfl_xor_sync(kAllLanes, top, offset, kAcross));
        }
        float sum = 0.0f;
        for (int j = 0; j < kOwnCols; ++j) {
            if (first_col + tx + j * kAcross < out_features) {
                sum += expf(acc[i][j] - top);
            }
        }
        for (int offset = kAcross / 2; offset > 0; offset /= 2) {
            sum += __shfl_xor_sync(kAllLanes, sum, offset, kAcross);
        }
        if (tx == 0 && row < batch) {
            tops[row * gridDim.x + blockIdx.x] = top;
            sums[row * gridDim.x + blockIdx.x] = sum;
        }
    }
}

__global__ void softmax_from_statistics(const float* __restrict__ tops,
                                        const float* __restrict__ sums, float* __restrict__ y,
                                        int out_features, int tiles) {
    const int lane = threadIdx.x % 32;
    const int first = blockIdx.y * tiles;

    float top = -INFINITY;
    for (int t = lane; t < tiles; t += 32) {
        top = fmaxf(top, tops[first + t]);
    }
    top = warp_max(top);
    float sum = 0.0f;
    for (int t = lane; t < tiles; t += 32) {
        sum += sums[first + t] * expf(tops[first + t] - top);
    }
    sum = warp_sum(sum);

    float* row = y + static_cast<long long>(blockIdx.y) * out_features;
    const int step = gridDim.x * blockDim.x;
    for (int col = blockIdx.x * blockDim.x + threadIdx.x; col < out_features; col += step) {
        row[col] = expf(row[col] - top) / sum;
    }
}
