// Linear layer, GroupNorm over groups of 16 features, the smallest of each row, and a bias that
// makes of every row's number one for each feature. A block of the product makes 16 rows of four
// groups, puts them down in shared memory, and gives each of its 64 threads a group of a row to
// standardise: only the smallest of 64 features goes to memory. A second kernel finds the rows'
// minima, a third spreads them.

#include "gemm_fragment.cuh"
#include "gemm_load.cuh"
#include "limits.cuh"
#include "pool_nan.cuh"

constexpr int kWidth = 16;
constexpr int kGroups = 4;
constexpr int kRows = 16;
constexpr int kCols = kGroups * kWidth;
constexpr int kTerms = 8;
constexpr int kPatch = 4;
constexpr int kAcross = kCols / kPatch;
constexpr int kThreads = kRows * kGroups;
constexpr int kStrips = 4;

__global__ void __launch_bounds__(kThreads)
gemm_groupnorm_min(const float* __restrict__ x, const float* __restrict__ weight,
                   const float* __restrict__ bias, const float* __restrict__ norm_weight,
                   const float* __restrict__ norm_bias, float* __restrict__ partial, int batch,
                   int groups, int in_features, float eps) {
    __shared__ float tile_x[kTerms][kRows];
    __shared__ float tile_w[kTerms][kCols];
    __shared__ float hidden[kRows][kCols + 1];

    const int tid = threadIdx.x;
    const int across = tid % kAcross * kPatch;
    const int down = tid / kAcross * kPatch;
    const int first_row = blockIdx.y * kRows;
    const int first_col = blockIdx.x * kCols;
    const int out_features = groups * kWidth;

    float acc[kPatch][kPatch] = {};
    for (int k0 = 0; k0 < in_features; k0 += kTerms) {
        if (tid < kRows) {
            const int row = first_row + tid;
            for (int t = 0; t < kTerms; ++t) {
                tile_x[t][tid] = row < batch && k0 + t < in_features
                    ? x[static_cast<long long>(row) * in_features + k0 + t] : 0.0f;
            }
        }
        for (int t = 0; t < kTerms; t += 4) {
            float4 quad = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
            if (first_col + tid < out_features) {
                quad = load_quad(weight + static_cast<long long>(first_col + tid) * in_features,
                                 k0 + t, in_features);
            }
            tile_w[t][tid] = quad.x;
            tile_w[t + 1][tid] = quad.y;
            tile_w[t + 2][tid] = quad.z;
            tile_w[t + 3][tid] = quad.w;
        }
        __syncthreads();
#pragma unroll
        for (int t = 0; t < kTerms; ++t) {
            float rows[kPatch];
            float cols[kPatch];
#pragma unroll
            for (int i = 0; i < kPatch; ++i) {
                rows[i] = tile_x[t][down + i];
                cols[i] = tile_w[t][across + i];
            }
            outer_product(acc, rows, cols);
        }
        __syncthreads();
    }

    for (int j = 0; j < kPatch; ++j) {
        const int col = first_col + across + j;
        const float added = col < out_features ? bias[col] : 0.0f;
        for (int i = 0; i < kPatch; ++i) {
            hidden[down + i][across + j] = acc[i][j] + added;
        }
    }
    __syncthreads();

    const int own_row = tid / kGroups;
    const int own_group = tid % kGroups;
    const float* values = &hidden[own_row][own_group * kWidth];
    float smallest = INFINITY;
    if (blockIdx.x * kGroups + own_group < groups) {
        float sum = 0.0f;
        for (int c = 0; c < kWidth; ++c) {
            sum += values[c];
        }
        const float mean = sum / kWidth;
        float squares = 0.0f;
        for (int c = 0; c < kWidth; ++c) {
            const float deviation = values[c] - mean;
            squares += deviation * deviation;
        }
        const float inverse = rsqrtf(squares / kWidth + eps);
        const int first = first_col + own_group * kWidth;
        for (int c = 0; c < kWidth; ++c) {
            float value = (values[c] - mean) * inverse;
            value = value * norm_weight[first + c] + norm_bias[first + c];
            smallest = nan_min(smallest, value);
        }
    }
    for (int offset = kGroups / 2; offset > 0; offset /= 2) {
        smallest = nan_min(smallest, __shfl_down_sync(0xffffffffu, smallest, offset, kGroups));
    }
    if (own_group == 0 && first_row + own_row < batch) {
        partial[blockIdx.x * batch + first_row + own_row] = smallest;
    }
}

// Four warps share 32 rows, each taking every fourth part.
__global__ void row_minima(const float* __restrict__ partial, float* __restrict__ minima,
                           int batch, int parts) {
    __shared__ float found[kStrips][32];

    const int row = blockIdx.x * 32 + threadIdx.x;
    float smallest = INFINITY;
    if (row < batch) {
        for (int p = threadIdx.y; p < parts; p += kStrips) {
            smallest = nan_min(smallest, partial[p * batch + row]);
        }
    }
    found[threadIdx.y][threadIdx.x] = smallest;
    __syncthreads();

    if (threadIdx.y == 0 && row < batch) {
        for (int s = 1; s < kStrips; ++s) {
            smallest = nan_min(smallest, found[s][threadIdx.x]);
        }
        minima[row] = smallest;
    }
}

__global__ void spread_add(const float* __restrict__ minima, const float* __restrict__ spread_bias,
                           float* __restrict__ y, int batch) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    const int feature = blockIdx.y;
    if (row < batch) {
        y[static_cast<long long>(feature) * batch + row] = minima[row] + spread_bias[feature];
    }
}
