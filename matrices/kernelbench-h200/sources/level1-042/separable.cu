// 4 x 4 max-pooling with stride 1 and padding 1: a block stages its 16 x 16 outputs' inputs with
// their halo in shared memory, takes the maximum along rows, then along columns.

#include "limits.cuh"

constexpr int kKernel = 4;
constexpr int kPadding = 1;
constexpr int kTile = 16;
constexpr int kHalo = kTile + kKernel - 1;
constexpr int kThreads = kTile * kTile;

__device__ __forceinline__ float max_or_nan(float a, float b) {
    return (a > b || a != a) ? a : b;
}

__global__ void maxpool2d_separable(const float* __restrict__ x, float* __restrict__ y, int height,
                                    int width, int out_height, int out_width) {
    __shared__ float staged[kHalo][kHalo];
    __shared__ float row_max[kHalo][kTile];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int tid = ty * kTile + tx;
    const int first_row = blockIdx.y * kTile - kPadding;
    const int first_col = blockIdx.x * kTile - kPadding;
    const long long plane = blockIdx.z;
    const float* image = x + plane * height * width;

    for (int i = tid; i < kHalo * kHalo; i += kThreads) {
        const int row = first_row + i / kHalo;
        const int col = first_col + i % kHalo;
        const bool inside = row >= 0 && row < height && col >= 0 && col < width;
        staged[i / kHalo][i % kHalo] = inside ? image[row * width + col] : -INFINITY;
    }
    __syncthreads();

    for (int i = tid; i < kHalo * kTile; i += kThreads) {
        const int row = i / kTile;
        const int col = i % kTile;
        float best = staged[row][col];
        for (int j = 1; j < kKernel; ++j) {
            best = max_or_nan(best, staged[row][col + j]);
        }
        row_max[row][col] = best;
    }
    __syncthreads();

    const int out_row = blockIdx.y * kTile + ty;
    const int out_col = blockIdx.x * kTile + tx;
    if (out_row < out_height && out_col < out_width) {
        float best = row_max[ty][tx];
        for (int i = 1; i < kKernel; ++i) {
            best = max_or_nan(best, row_max[ty + i][tx]);
        }
        y[(plane * out_height + out_row) * out_width + out_col] = best;
    }
}
