// 3 x 3 transposed convolution that doubles an image, the smallest channel of every pixel, the sum
// of the columns, GELU, a bias. A block of the first kernel has 16 input columns of one input row,
// held in shared memory for all input channels; eight lanes share the output channels of a column
// and compare what they found.

#include "deconv_quad.cuh"
#include "fused_activations.cuh"
#include "limits.cuh"
#include "pool_nan.cuh"

constexpr int kCols = 16;
constexpr int kWide = kCols + 1;
constexpr int kLanes = 8;
constexpr int kTaps = 9;
constexpr int kSumCols = 32;
constexpr int kSumRows = 4;

extern __shared__ float rows[];

__global__ void __launch_bounds__(kCols * kLanes)
deconv_channel_min(const float* __restrict__ x, const float* __restrict__ weight,
                   const float* __restrict__ bias, float* __restrict__ smallest, int in_channels,
                   int height, int width, int out_channels) {
    __shared__ float found[kLanes][4][kCols];

    const int tid = threadIdx.y * kCols + threadIdx.x;
    const int first_col = blockIdx.x * kCols;
    const int first_row = blockIdx.y;
    const float* image = x + static_cast<long long>(blockIdx.z) * in_channels * height * width;
    for (int i = tid; i < in_channels * 2 * kWide; i += kCols * kLanes) {
        const int c = i / (2 * kWide);
        const int row = first_row + i / kWide % 2;
        const int col = first_col + i % kWide;
        rows[i] = row < height && col < width ? image[(c * height + row) * width + col] : 0.0f;
    }
    __syncthreads();

    float least[4] = {INFINITY, INFINITY, INFINITY, INFINITY};
    for (int o = threadIdx.y; o < out_channels; o += kLanes) {
        float quad[4] = {bias[o], bias[o], bias[o], bias[o]};
        for (int c = 0; c < in_channels; ++c) {
            const float* own = rows + c * 2 * kWide + threadIdx.x;
            quad_add(quad, own[0], own[1], own[kWide], own[kWide + 1],
                     weight + (c * out_channels + o) * kTaps);
        }
        for (int i = 0; i < 4; ++i) {
            least[i] = nan_min(least[i], quad[i]);
        }
    }
    for (int i = 0; i < 4; ++i) {
        found[threadIdx.y][i][threadIdx.x] = least[i];
    }
    __syncthreads();

    // Four of the lanes end one output each of the column's quad.
    const int part = threadIdx.y;
    if (part < 4 && first_col + threadIdx.x < width) {
        float value = found[0][part][threadIdx.x];
        for (int lane = 1; lane < kLanes; ++lane) {
            value = nan_min(value, found[lane][part][threadIdx.x]);
        }
        const int row = 2 * first_row + part / 2;
        const int col = 2 * (first_col + threadIdx.x) + part % 2;
        smallest[(static_cast<long long>(blockIdx.z) * 2 * height + row) * 2 * width + col] = value;
    }
}

__global__ void column_sum_gelu_add(const float* __restrict__ smallest,
                                    const float* __restrict__ last_bias, float* __restrict__ y,
                                    int out_height, int out_width) {
    __shared__ float sums[kSumRows][kSumCols];

    const int col = blockIdx.x * kSumCols + threadIdx.x;
    const float* plane = smallest + static_cast<long long>(blockIdx.y) * out_height * out_width;
    float sum = 0.0f;
    if (col < out_width) {
        for (int row = threadIdx.y; row < out_height; row += kSumRows) {
            sum += plane[row * out_width + col];
        }
    }
    sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();

    if (threadIdx.y == 0 && col < out_width) {
        float value = sums[0][threadIdx.x];
        for (int i = 1; i < kSumRows; ++i) {
            value += sums[i][threadIdx.x];
        }
        value = gelu_erf(value);
        value += last_bias[0];
        y[blockIdx.y * out_width + col] = value;
    }
}
