// y = scale times the sum over each row of the larger of every two neighbours of x W^T + b, in one
// launch. A thread makes a quad of columns, two whole windows, of two rows; 128 threads make 32
// rows of 32 columns and leave their sums. Of the blocks that share rows, whichever comes last, by
// a counter that starts at zero, adds all their sums in the order of the columns.

#include "gemm_load.cuh"
#include "pool_nan.cuh"

constexpr int kTile = 32;
constexpr int kTerms = 16;
constexpr int kAcross = kTile / 4;
constexpr int kDown = 16;
constexpr int kOwnRows = kTile / kDown;
constexpr int kThreads = kAcross * kDown;
constexpr int kAdders = kThreads / kTile;
constexpr int kWindow = 2;

__global__ void __launch_bounds__(kThreads)
matmul_maxpool_sum_scale(const float* __restrict__ x, const float* __restrict__ weight,
                         const float* __restrict__ bias, volatile float* partial,
                         unsigned* finished, float* __restrict__ y, int batch, int out_features,
                         int in_features, float scale) {
    __shared__ float tile_x[kTerms][kTile + 1];
    __shared__ __align__(16) float tile_w[kTerms][kTile + 4];
    __shared__ bool is_last;

    const int tid = threadIdx.x;
    const int across = tid % kAcross;
    const int down = tid / kAcross;
    const int first_row = blockIdx.y * kTile;
    const int first_col = blockIdx.x * kTile;
    const int parts = gridDim.x;

    float4 acc[kOwnRows];
    for (int i = 0; i < kOwnRows; ++i) {
        acc[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }
    for (int k0 = 0; k0 < in_features; k0 += kTerms) {
        const int line = tid / (kTerms / 4);
        const int term = tid % (kTerms / 4) * 4;
        float4 quad_x = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        float4 quad_w = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (first_row + line < batch) {
            quad_x = load_quad(x + static_cast<long long>(first_row + line) * in_features,
                               k0 + term, in_features);
        }
        if (first_col + line < out_features) {
            quad_w = load_quad(weight + static_cast<long long>(first_col + line) * in_features,
                               k0 + term, in_features);
        }
        const float terms_x[4] = {quad_x.x, quad_x.y, quad_x.z, quad_x.w};
        const float terms_w[4] = {quad_w.x, quad_w.y, quad_w.z, quad_w.w};
#pragma unroll
        for (int t = 0; t < 4; ++t) {
            tile_x[term + t][line] = terms_x[t];
            tile_w[term + t][line] = terms_w[t];
        }
        __syncthreads();
#pragma unroll
        for (int t = 0; t < kTerms; ++t) {
            const float4 factors = *reinterpret_cast<const float4*>(&tile_w[t][4 * across]);
#pragma unroll
            for (int i = 0; i < kOwnRows; ++i) {
                const float value = tile_x[t][down * kOwnRows + i];
                acc[i].x += value * factors.x;
                acc[i].y += value * factors.y;
                acc[i].z += value * factors.z;
                acc[i].w += value * factors.w;
            }
        }
        __syncthreads();
    }

    // A last column without a neighbour is in no window.
    const int windows = out_features / kWindow;
    const int window = (first_col + 4 * across) / kWindow;
    const float4 added = load_quad(bias, first_col + 4 * across, out_features);
    for (int i = 0; i < kOwnRows; ++i) {
        float sum = 0.0f;
        if (window < windows) {
            const float larger = nan_max(acc[i].x + added.x, acc[i].y + added.y);
            sum += larger;
        }
        if (window + 1 < windows) {
            const float larger = nan_max(acc[i].z + added.z, acc[i].w + added.w);
            sum += larger;
        }
        for (int offset = kAcross / 2; offset > 0; offset /= 2) {
            sum += __shfl_down_sync(0xffffffffu, sum, offset, kAcross);
        }
        const int row = first_row + down * kOwnRows + i;
        if (across == 0 && row < batch) {
            partial[row * parts + blockIdx.x] = sum;
            __threadfence();
        }
    }
    __syncthreads();
    if (tid == 0) {
        is_last = atomicAdd(&finished[blockIdx.y], 1u) == parts - 1;
    }
    __syncthreads();
    if (!is_last) {
        return;
    }
    __threadfence();

    const int row = first_row + tid / kAdders;
    float total = 0.0f;
    if (row < batch) {
        for (int p = tid % kAdders; p < parts; p += kAdders) {
            total += partial[row * parts + p];
        }
    }
    for (int offset = kAdders / 2; offset > 0; offset /= 2) {
        total += __shfl_down_sync(0xffffffffu, total, offset, kAdders);
    }
    if (tid % kAdders == 0 && row < batch) {
        y[row] = total * scale;
    }
}
