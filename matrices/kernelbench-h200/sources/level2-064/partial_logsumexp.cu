// Log-sum-exp of the rows of x W^T + b, then LeakyReLU twice and GELU twice. A block makes 16 rows
// of 32 columns and leaves of each row the largest number and the sum of exponentials below it; a
// warp of the second kernel brings a row's pairs to one largest number and adds them. Slices of
// terms lie in two buffers, one being filled while the other is multiplied: one barrier a slice.

#include "fused_activations.cuh"
#include "gemm_nt_stage.cuh"
#include "limits.cuh"
#include "warp_reduce.cuh"

constexpr int kRows = 16;
constexpr int kCols = 32;
constexpr int kTerms = 16;
constexpr int kAcross = 8;
constexpr int kDown = 8;
constexpr int kOwnRows = kRows / kDown;
constexpr int kOwnCols = kCols / kAcross;
constexpr int kThreads = kAcross * kDown;
constexpr int kPitchX = kRows + 1;
constexpr int kPitchW = kCols + 1;

// What exponents are taken from: the largest, unless that is infinite and would leave NaN.
__device__ __forceinline__ float base_of(float top) {
    return fabsf(top) == INFINITY ? 0.0f : top;
}

__global__ void __launch_bounds__(kThreads)
gemm_partial_logsumexp(const float* __restrict__ x, const float* __restrict__ weight,
                       const float* __restrict__ bias, float2* __restrict__ partial, int batch,
                       int out_features, int in_features) {
    __shared__ float tile_x[2][kTerms * kPitchX];
    __shared__ float tile_w[2][kTerms * kPitchW];

    const int tid = threadIdx.x;
    const int across = tid % kAcross;
    const int down = tid / kAcross;
    const int first_row = blockIdx.y * kRows;
    const int first_col = blockIdx.x * kCols;

    stage_terms<kRows, kTerms, kThreads>(tile_x[0], kPitchX, x, first_row, batch, 0, in_features,
                                         tid);
    stage_terms<kCols, kTerms, kThreads>(tile_w[0], kPitchW, weight, first_col, out_features, 0,
                                         in_features, tid);
    __syncthreads();

    float acc[kOwnRows][kOwnCols] = {};
    int present = 0;
    for (int k0 = 0; k0 < in_features; k0 += kTerms) {
        const int next = k0 + kTerms;
        if (next < in_features) {
            stage_terms<kRows, kTerms, kThreads>(tile_x[1 - present], kPitchX, x, first_row, batch,
                                                 next, in_features, tid);
            stage_terms<kCols, kTerms, kThreads>(tile_w[1 - present], kPitchW, weight, first_col,
                                                 out_features, next, in_features, tid);
        }
        const float* slice_x = tile_x[present];
        const float* slice_w = tile_w[present];
#pragma unroll
        for (int k = 0; k < kTerms; ++k) {
#pragma unroll
            for (int i = 0; i < kOwnRows; ++i) {
                const float value = slice_x[k * kPitchX + down + i * kDown];
#pragma unroll
                for (int j = 0; j < kOwnCols; ++j) {
                    acc[i][j] += value * slice_w[k * kPitchW + across + j * kAcross];
                }
            }
        }
        present = 1 - present;
        __syncthreads();
    }

    for (int i = 0; i < kOwnRows; ++i) {
        float values[kOwnCols];
        float top = -INFINITY;
        for (int j = 0; j < kOwnCols; ++j) {
            const int col = first_col + across + j * kAcross;
            values[j] = col < out_features ? acc[i][j] + bias[col] : -INFINITY;
            top = fmaxf(top, values[j]);
        }
        for (int offset = kAcross / 2; offset > 0; offset /= 2) {
            top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, offset, kAcross));
        }
        const float base = base_of(top);
        float sum = 0.0f;
        for (int j = 0; j < kOwnCols; ++j) {
            sum += expf(values[j] - base);
        }
        for (int offset = kAcross / 2; offset > 0; offset /= 2) {
            sum += __shfl_xor_sync(0xffffffffu, sum, offset, kAcross);
        }
        const int row = first_row + down + i * kDown;
        if (across == 0 && row < batch) {
            partial[row * gridDim.x + blockIdx.x] = make_float2(base, sum);
        }
    }
}

__global__ void merge_leaky_gelu(const float2* __restrict__ partial, float* __restrict__ y,
                                 int batch, int parts, float slope) {
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= batch) {
        return;
    }
    const float2* pairs = partial + static_cast<long long>(row) * parts;
    float top = -INFINITY;
    for (int p = threadIdx.x; p < parts; p += 32) {
        top = fmaxf(top, pairs[p].x);
    }
    top = warp_max(top);

    float sum = 0.0f;
    for (int p = threadIdx.x; p < parts; p += 32) {
        sum += pairs[p].y * expf(pairs[p].x - top);
    }
    sum = warp_sum(sum);

    if (threadIdx.x == 0) {
        float value = logf(sum) + top;
        value = leaky_relu(value, slope);
        value = leaky_relu(value, slope);
        value = gelu_erf(value);
        value = gelu_erf(value);
        y[row] = value;
    }
}
