// 3D max-pooling of 3 x 3 x 3 taps, 3 apart, stride 2, padding 1, in two steps: each thread takes
// the maximum over the 9 taps in depth and height of the input columns that its row of 8 outputs
// needs, then over 3 of these columns, which wait in shared memory. A block has 2 x 8 such rows.

#include "limits.cuh"
#include "pool_nan.cuh"

constexpr int kKernel = 3;
constexpr int kStride = 2;
constexpr int kPadding = 1;
constexpr int kDilation = 3;
constexpr int kCols = 8;
constexpr int kRows = 8;
constexpr int kSlices = 2;
constexpr int kSpan = (kCols - 1) * kStride + (kKernel - 1) * kDilation + 1;

__device__ __forceinline__ float column_max(const float* volume, int first_slice, int first_row,
                                            int col, int depth, int height, int width) {
    float best = -INFINITY;
    for (int i = 0; i < kKernel; ++i) {
        const int slice = first_slice + i * kDilation;
        for (int j = 0; j < kKernel; ++j) {
            const int row = first_row + j * kDilation;
            const bool inside = slice >= 0 && slice < depth && row >= 0 && row < height;
            if (inside) {
                best = nan_max(best, volume[(slice * height + row) * width + col]);
            }
        }
    }
    return best;
}

__global__ void maxpool3d_columns_first(const float* __restrict__ x, float* __restrict__ y,
                                        int depth, int height, int width, int out_depth,
                                        int out_height, int out_width, int slice_blocks) {
    __shared__ float columns[kSlices][kRows][kSpan];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int out_row = blockIdx.y * kRows + ty;
    const int tz = threadIdx.z;
    const int out_slice = blockIdx.z % slice_blocks * kSlices + tz;
    const long long plane = blockIdx.z / slice_blocks;
    const float* volume = x + plane * depth * height * width;
    const bool used = out_row < out_height && out_slice < out_depth;

    if (used) {
        const int first_slice = out_slice * kStride - kPadding;
        const int first_row = out_row * kStride - kPadding;
        const int first_col = blockIdx.x * kCols * kStride - kPadding;
        for (int i = tx; i < kSpan; i += kCols) {
            const int col = first_col + i;
            float best = -INFINITY;
            if (col >= 0 && col < width) {
                best = column_max(volume, first_slice, first_row, col, depth, height, width);
            }
            columns[tz][ty][i] = best;
        }
    }
    __syncthreads();

    const int out_col = blockIdx.x * kCols + tx;
    if (used && out_col < out_width) {
        const float* row_columns = columns[tz][ty] + tx * kStride;
        float best = row_columns[0];
        for (int k = 1; k < kKernel; ++k) {
            best = nan_max(best, row_columns[k * kDilation]);
        }
        const long long row = (plane * out_depth + out_slice) * out_height + out_row;
        y[row * out_width + out_col] = best;
    }
}
