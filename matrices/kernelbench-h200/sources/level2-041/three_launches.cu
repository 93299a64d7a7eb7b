// Linear layer, BatchNorm over the batch, GELU, ReLU. The product goes to memory; a block takes the
// moments of 32 columns, a warp's lanes side by side in a row; the rest is element by element.

#include "fused_activations.cuh"
#include "gemm_fragment.cuh"
#include "gemm_nt_stage.cuh"

constexpr int kRows = 64;
constexpr int kCols = 16;
constexpr int kTerms = 16;
constexpr int kOwnRows = 4;
constexpr int kOwnCols = 2;
constexpr int kAcross = kCols / kOwnCols;
constexpr int kThreads = kAcross * (kRows / kOwnRows);
constexpr int kWarps = 8;

__global__ void __launch_bounds__(kThreads)
gemm_bias(const float* __restrict__ x, const float* __restrict__ weight,
          const float* __restrict__ bias, float* __restrict__ hidden, int batch, int out_features,
          int in_features) {
    __shared__ float tile_x[kTerms][kRows];
    __shared__ float tile_w[kTerms][kCols];

    const int tid = threadIdx.x;
    const int first_row = blockIdx.x * kRows;
    const int first_col = blockIdx.y * kCols;
    const int patch_row = tid / kAcross * kOwnRows;
    const int patch_col = tid % kAcross * kOwnCols;

    float acc[kOwnRows][kOwnCols] = {};
    for (int k0 = 0; k0 < in_features; k0 += kTerms) {
        stage_terms<kRows, kTerms, kThreads>(&tile_x[0][0], kRows, x, first_row, batch, k0,
                                             in_features, tid);
        stage_terms<kCols, kTerms, kThreads>(&tile_w[0][0], kCols, weight, first_col, out_features,
                                             k0, in_features, tid);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < kTerms; ++k) {
            float rows[kOwnRows];
            float cols[kOwnCols];
            for (int i = 0; i < kOwnRows; ++i) {
                rows[i] = tile_x[k][patch_row + i];
            }
            for (int j = 0; j < kOwnCols; ++j) {
                cols[j] = tile_w[k][patch_col + j];
            }
            outer_product(acc, rows, cols);
        }
        __syncthreads();
    }

    for (int i = 0; i < kOwnRows && first_row + patch_row + i < batch; ++i) {
        const long long row = first_row + patch_row + i;
        for (int j = 0; j < kOwnCols && first_col + patch_col + j < out_features; ++j) {
            const int col = first_col + patch_col + j;
            hidden[row * out_features + col] = acc[i][j] + bias[col];
        }
    }
}

__global__ void column_moments(const float* __restrict__ hidden, float* __restrict__ means,
                               float* __restrict__ variances, int batch, int out_features) {
    __shared__ float parts[kWarps][32];

    const int lane = threadIdx.x;
    const int warp = threadIdx.y;
    const int col = blockIdx.x * 32 + lane;
    const bool live = col < out_features;

    float sum = 0.0f;
    for (int row = warp; live && row < batch; row += kWarps) {
        sum += hidden[static_cast<long long>(row) * out_features + col];
    }
    parts[warp][lane] = sum;
    __syncthreads();
    float mean = 0.0f;
    for (int w = 0; w < kWarps; ++w) {
        mean += parts[w][lane];
    }
    mean /= batch;
    __syncthreads();

    float squares = 0.0f;
    for (int row = warp; live && row < batch; row += kWarps) {
        const float d = hidden[static_cast<long long>(row) * out_features + col] - mean;
        squares += d * d;
    }
    parts[warp][lane] = squares;
    __syncthreads();
    if (warp == 0 && live) {
        float variance = 0.0f;
        for (int w = 0; w < kWarps; ++w) {
            variance += parts[w][lane];
        }
        means[col] = mean;
        variances[col] = variance / batch;
    }
}

__global__ void normalise_gelu_relu(const float* __restrict__ hidden,
                                    const float* __restrict__ means,
                                    const float* __restrict__ variances,
                                    const float* __restrict__ norm_weight,
                                    const float* __restrict__ norm_bias, float* __restrict__ y,
                                    int elements, int out_features, float eps) {
    const int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < elements; i += step) {
        const int col = i % out_features;
        float value = (hidden[i] - means[col]) * rsqrtf(variances[col] + eps);
        value = value * norm_weight[col] + norm_bias[col];
        value = gelu_erf(value);
        value = relu(value);
        y[i] = value;
    }
}
