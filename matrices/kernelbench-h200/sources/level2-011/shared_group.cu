// 5 x 5 transposed convolution of stride 1 and padding 1, BatchNorm by the batch's own statistics,
// tanh, the largest of 2 x 2 windows, GroupNorm. After pooling a group is small enough for shared
// memory: one block normalises by the batch, pools and normalises by the group without going back
// to global memory.

#include "pool_nan.cuh"
#include "tree_reduce.cuh"

constexpr int kKernel = 5;
constexpr int kTaps = kKernel * kKernel;
constexpr int kPadding = 1;
constexpr int kBefore = kKernel - 1 - kPadding;
constexpr int kTileH = 8;
constexpr int kTileW = 16;
constexpr int kRows = kTileH + kKernel - 1;
constexpr int kCols = kTileW + kKernel - 1;
constexpr int kChannels = 4;
constexpr int kThreads = kTileH * kTileW;
constexpr int kNormThreads = 128;

extern __shared__ float pooled[];

__global__ void __launch_bounds__(kThreads)
deconv_tiles(const float* __restrict__ x, const float* __restrict__ weight,
             const float* __restrict__ bias, float* __restrict__ hidden, int in_channels,
             int height, int width, int out_channels, int out_height, int out_width) {
    __shared__ float patch[kRows][kCols];
    __shared__ float taps[kTaps][kChannels];

    const int tid = threadIdx.y * kTileW + threadIdx.x;
    const int channel_blocks = (out_channels + kChannels - 1) / kChannels;
    const int image = blockIdx.z / channel_blocks;
    const int first_channel = blockIdx.z % channel_blocks * kChannels;
    const int first_row = blockIdx.y * kTileH;
    const int first_col = blockIdx.x * kTileW;

    float acc[kChannels] = {};
    for (int c = 0; c < in_channels; ++c) {
        const float* plane =
            x + (static_cast<long long>(image) * in_channels + c) * height * width;
        for (int i = tid; i < kRows * kCols; i += kThreads) {
            const int row = first_row - kBefore + i / kCols;
            const int col = first_col - kBefore + i % kCols;
            const bool inside = row >= 0 && row < height && col >= 0 && col < width;
            patch[i / kCols][i % kCols] = inside ? plane[row * width + col] : 0.0f;
        }
        if (tid < kTaps * kChannels) {
            const int channel = first_channel + tid / kTaps;
            taps[tid % kTaps][tid / kTaps] =
                channel < out_channels
                    ? weight[(c * out_channels + channel) * kTaps + tid % kTaps]
                    : 0.0f;
        }
        __syncthreads();

        for (int i = 0; i < kKernel; ++i) {
#pragma unroll
            for (int j = 0; j < kKernel; ++j) {
                const float value =
                    patch[threadIdx.y + kKernel - 1 - i][threadIdx.x + kKernel - 1 - j];
#pragma unroll
                for (int o = 0; o < kChannels; ++o) {
                    acc[o] += value * taps[i * kKernel + j][o];
                }
            }
        }
        __syncthreads();
    }

    const int row = first_row + threadIdx.y;
    const int col = first_col + threadIdx.x;
    if (row >= out_height || col >= out_width) {
        return;
    }
    for (int o = 0; o < kChannels && first_channel + o < out_channels; ++o) {
        const int channel = first_channel + o;
        const long long plane = static_cast<long long>(image) * out_channels + channel;
        hidden[(plane * out_height + row) * out_width + col] = acc[o] + bias[channel];
    }
}

__global__ void __launch_bounds__(kNormThreads)
channel_statistics(const float* __restrict__ hidden, float* __restrict__ means,
                   float* __restrict__ inverses, int batch, int out_channels, int pixels,
                   float eps) {
    __shared__ float scratch[kNormThreads];

    const int channel = blockIdx.x;
    const int count = batch * pixels;
    float sum = 0.0f;
    for (int n = 0; n < batch; ++n) {
        const float* plane =
            hidden + (static_cast<long long>(n) * out_channels + channel) * pixels;
        for (int i = threadIdx.x; i < pixels; i += kNormThreads) {
            sum += plane[i];
        }
    }
    const float mean = tree_sum(sum, scratch) / count;

    float squares = 0.0f;
    for (int n = 0; n < batch; ++n) {
        const float* plane =
            hidden + (static_cast<long long>(n) * out_channels + channel) * pixels;
        for (int i = threadIdx.x; i < pixels; i += kNormThreads) {
            const float deviation = plane[i] - mean;
            squares += deviation * deviation;
        }
    }
    const float variance = tree_sum(squares, scratch) / count;
    if (threadIdx.x == 0) {
        means[channel] = mean;
        inverses[channel] = rsqrtf(variance + eps);
    }
}

__global__ void __launch_bounds__(kNormThreads)
normalise_tanh_pool_group(const float* __restrict__ hidden, const float* __restrict__ means,
                          const float* __restrict__ inverses,
                          const float* __restrict__ batch_weight,
                          const float* __restrict__ batch_bias,
                          const float* __restrict__ group_weight,
                          const float* __restrict__ group_bias, float* __restrict__ y, int groups,
                          int group_width, int out_height, int out_width, int pool_height,
                          int pool_width, float eps) {
    __shared__ float scratch[kNormThreads];

    const int windows = pool_height * pool_width;
    const int elements = group_width * windows;
    const int first_channel = blockIdx.x % groups * group_width;
    const int image = blockIdx.x / groups;

    float sum = 0.0f;
    for (int i = threadIdx.x; i < elements; i += kNormThreads) {
        const int channel = first_channel + i / windows;
        const int row = i % windows / pool_width * 2;
        const int col = i % pool_width * 2;
        const long long plane = static_cast<long long>(image) * groups * group_width + channel;
        const float* corner = hidden + (plane * out_height + row) * out_width + col;
        float largest = 0.0f;
        for (int q = 0; q < 4; ++q) {
            float value = corner[q / 2 * out_width + q % 2];
            value = (value - means[channel]) * inverses[channel];
            value = value * batch_weight[channel] + batch_bias[channel];
            value = tanhf(value);
            largest = q == 0 ? value : nan_max(largest, value);
        }
        pooled[i] = largest;
        sum += largest;
    }
    const float mean = tree_sum(sum, scratch) / elements;

    float squares = 0.0f;
    for (int i = threadIdx.x; i < elements; i += kNormThreads) {
        const float deviation = pooled[i] - mean;
        squares += deviation * deviation;
    }
    const float variance = tree_sum(squares, scratch) / elements;
    const float inverse = rsqrtf(variance + eps);

    for (int i = threadIdx.x; i < elements; i += kNormThreads) {
        const int channel = first_channel + i / windows;
        float value = (pooled[i] - mean) * inverse;
        value = value * group_weight[channel] + group_bias[channel];
        y[static_cast<long long>(blockIdx.x) * elements + i] = value;
    }
}
