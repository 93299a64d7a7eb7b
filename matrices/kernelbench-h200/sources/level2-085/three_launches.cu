// 3 x 3 convolution, GroupNorm of four channels a group, a factor a channel, the largest of each
// window of 4 x 4, bounds. One kernel each for the convolution, for the moments of the groups and
// for all that follows: a thread of the last one standardises a window as it looks for its largest.

#include "fused_activations.cuh"
#include "limits.cuh"
#include "pool_nan.cuh"
#include "warp_reduce.cuh"

constexpr int kKernel = 3;
constexpr int kTaps = kKernel * kKernel;
constexpr int kCols = 16;
constexpr int kRows = 8;
constexpr int kHaloCols = kCols + kKernel - 1;
constexpr int kHaloRows = kRows + kKernel - 1;
constexpr int kHalo = kHaloRows * kHaloCols;
constexpr int kWidth = 4;  // channels of a group
constexpr int kPool = 4;

__global__ void __launch_bounds__(kCols * kRows)
conv2d_group(const float* __restrict__ x, const float* __restrict__ weight,
             const float* __restrict__ bias, float* __restrict__ hidden, int in_channels,
             int height, int width, int groups, int out_height, int out_width) {
    extern __shared__ float windows[];  // in_channels x kHaloRows x kHaloCols

    const int tid = threadIdx.y * kCols + threadIdx.x;
    const int group = blockIdx.z % groups;
    const long long image = blockIdx.z / groups;
    for (int i = tid; i < in_channels * kHalo; i += kCols * kRows) {
        const int row = blockIdx.y * kRows + i % kHalo / kHaloCols;
        const int col = blockIdx.x * kCols + i % kHaloCols;
        const long long plane = image * in_channels + i / kHalo;
        windows[i] =
            row < height && col < width ? x[(plane * height + row) * width + col] : 0.0f;
    }
    __syncthreads();

    const int row = blockIdx.y * kRows + threadIdx.y;
    const int col = blockIdx.x * kCols + threadIdx.x;
    if (row >= out_height || col >= out_width) {
        return;
    }
    const int first_channel = group * kWidth;
    const int terms = in_channels * kTaps;
    const float* filter = weight + first_channel * terms;
    float acc[kWidth] = {};
    for (int c = 0; c < in_channels; ++c) {
        const float* corner = windows + c * kHalo + threadIdx.y * kHaloCols + threadIdx.x;
        for (int r = 0; r < kKernel; ++r) {
            for (int s = 0; s < kKernel; ++s) {
                const float value = corner[r * kHaloCols + s];
                acc[0] += value * filter[0];
                acc[1] += value * filter[terms];
                acc[2] += value * filter[2 * terms];
                acc[3] += value * filter[3 * terms];
                ++filter;
            }
        }
    }
    const long long pixels = static_cast<long long>(out_height) * out_width;
    float* target = hidden + static_cast<long long>(blockIdx.z) * kWidth * pixels +
                    row * out_width + col;
    for (int o = 0; o < kWidth; ++o) {
        target[o * pixels] = acc[o] + bias[first_channel + o];
    }
}

// Four warps have a channel of the group each. Channels are of equal size, so that the variance of
// the group is the mean of theirs and of the squares by which their means miss the group's.
__global__ void __launch_bounds__(32 * kWidth)
group_moments(const float* __restrict__ hidden, float* __restrict__ means,
              float* __restrict__ inverses, int pixels, float eps) {
    __shared__ float channel_means[kWidth];
    __shared__ float channel_variances[kWidth];

    const int lane = threadIdx.x;
    const int own = threadIdx.y;
    const float* plane = hidden + (static_cast<long long>(blockIdx.x) * kWidth + own) * pixels;
    float sum = 0.0f;
    for (int i = lane; i < pixels; i += 32) {
        sum += plane[i];
    }
    const float own_mean = warp_sum(sum) / pixels;

    float squares = 0.0f;
    for (int i = lane; i < pixels; i += 32) {
        const float deviation = plane[i] - own_mean;
        squares += deviation * deviation;
    }
    const float own_variance = warp_sum(squares) / pixels;
    if (lane == 0) {
        channel_means[own] = own_mean;
        channel_variances[own] = own_variance;
    }
    __syncthreads();

    if (lane == 0 && own == 0) {
        float mean = 0.0f;
        for (int o = 0; o < kWidth; ++o) {
            mean += channel_means[o];
        }
        mean /= kWidth;
        float variance = 0.0f;
        for (int o = 0; o < kWidth; ++o) {
            const float apart = channel_means[o] - mean;
            variance += channel_variances[o] + apart * apart;
        }
        variance /= kWidth;
        means[blockIdx.x] = mean;
        inverses[blockIdx.x] = rsqrtf(variance + eps);
    }
}

__global__ void standardise_max_clamp(const float* __restrict__ hidden,
                                      const float* __restrict__ means,
                                      const float* __restrict__ inverses,
                                      const float* __restrict__ norm_weight,
                                      const float* __restrict__ norm_bias,
                                      const float* __restrict__ scale, float* __restrict__ y,
                                      int out_channels, int out_height, int out_width,
                                      int pool_height, int pool_width, float low, float high) {
    const int window = blockIdx.x * blockDim.x + threadIdx.x;
    if (window >= pool_height * pool_width) {
        return;
    }
    const int plane = blockIdx.y;
    const int channel = plane % out_channels;
    const int run = plane / kWidth;
    const float* corner = hidden + (static_cast<long long>(plane) * out_height +
                                    window / pool_width * kPool) * out_width +
                          window % pool_width * kPool;
    float largest = -INFINITY;
    for (int i = 0; i < kPool * kPool; ++i) {
        float value = corner[i / kPool * out_width + i % kPool];
        value = (value - means[run]) * inverses[run];
        value = value * norm_weight[channel] + norm_bias[channel];
        value *= scale[channel];
        largest = nan_max(largest, value);
    }
    y[static_cast<long long>(plane) * pool_height * pool_width + window] =
        clamp_to(largest, low, high);
}
