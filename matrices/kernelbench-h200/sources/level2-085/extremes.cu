// The same without the convolution in memory. What follows it up to the pooling is a straight line
// for each channel, so the largest result of a window comes of its largest output, or of its
// smallest where the line falls: the first kernel keeps these two of each window of 4 x 4, and the
// moments of everything it makes, outputs that no window has among them. A block a group of one
// image then merges the moments and finishes the group's windows.

#include "fused_activations.cuh"
#include "limits.cuh"
#include "pool_nan.cuh"
#include "welford.cuh"
#include "norm_block_moments.cuh"

constexpr int kKernel = 3;
constexpr int kTaps = kKernel * kKernel;
constexpr int kWidth = 4;  // channels of a group
constexpr int kPool = 4;
constexpr int kReach = kPool + kKernel - 1;
constexpr int kThreads = 32;
constexpr int kFinish = 128;

__global__ void __launch_bounds__(kThreads)
conv2d_extremes(const float* __restrict__ x, const float* __restrict__ weight,
                const float* __restrict__ bias, float* __restrict__ lows,
                float* __restrict__ highs, float* __restrict__ counts, float* __restrict__ means,
                float* __restrict__ squares, int in_channels, int height, int width,
                int out_channels, int out_height, int out_width, int pool_height,
                int pool_width) {
    const int across = (out_width + kPool - 1) / kPool;
    const int down = (out_height + kPool - 1) / kPool;
    const int window = blockIdx.x * kThreads + threadIdx.x;
    const int pool_row = window / across;
    const int pool_col = window % across;
    const int channel = blockIdx.y;
    const long long image = blockIdx.z;
    const long long plane_out = image * out_channels + channel;

    Moments moments = {0.0f, 0.0f, 0.0f};
    if (pool_row < down) {
        float acc[kPool][kPool] = {};
        for (int c = 0; c < in_channels; ++c) {
            const float* plane = x + (image * in_channels + c) * height * width;
            float patch[kReach][kReach];
            for (int i = 0; i < kReach; ++i) {
                const int row = pool_row * kPool + i;
                for (int j = 0; j < kReach; ++j) {
                    const int col = pool_col * kPool + j;
                    patch[i][j] = row < height && col < width ? plane[row * width + col] : 0.0f;
                }
            }
            const float* filter = weight + (channel * in_channels + c) * kTaps;
#pragma unroll
            for (int t = 0; t < kTaps; ++t) {
                const float factor = filter[t];
#pragma unroll
                for (int i = 0; i < kPool; ++i) {
#pragma unroll
                    for (int j = 0; j < kPool; ++j) {
                        acc[i][j] += patch[i + t / kKernel][j + t % kKernel] * factor;
                    }
                }
            }
        }

        float low = INFINITY;
        float high = -INFINITY;
        for (int i = 0; i < kPool; ++i) {
            for (int j = 0; j < kPool; ++j) {
                if (pool_row * kPool + i < out_height && pool_col * kPool + j < out_width) {
                    const float value = acc[i][j] + bias[channel];
                    low = nan_min(low, value);
                    high = nan_max(high, value);
                    welford_push(moments, value);
                }
            }
        }
        if (pool_row < pool_height && pool_col < pool_width) {
            const long long place = (plane_out * pool_height + pool_row) * pool_width + pool_col;
            lows[place] = low;
            highs[place] = high;
        }
    }

    moments = welford_warp(moments);
    if (threadIdx.x == 0) {
        const long long part = plane_out * gridDim.x + blockIdx.x;
        counts[part] = moments.count;
        means[part] = moments.mean;
        squares[part] = moments.m2;
    }
}

__global__ void __launch_bounds__(kFinish)
merge_max_clamp(const float* __restrict__ lows, const float* __restrict__ highs,
                const float* __restrict__ counts, const float* __restrict__ means,
                const float* __restrict__ squares, const float* __restrict__ norm_weight,
                const float* __restrict__ norm_bias, const float* __restrict__ scale,
                float* __restrict__ y, int groups, int parts, int windows, float eps,
                float lower, float upper) {
    __shared__ Moments warp_moments[kFinish / 32];

    const long long first_part = static_cast<long long>(blockIdx.x) * parts;
    Moments moments = {0.0f, 0.0f, 0.0f};
    for (int part = threadIdx.x; part < parts; part += kFinish) {
        const long long at = first_part + part;
        const Moments other = {counts[at], means[at], squares[at]};
        moments = welford_merge(moments, other);
    }
    moments = welford_block(moments, warp_moments);
    const float inverse = rsqrtf(moments.m2 / moments.count + eps);

    const long long first = static_cast<long long>(blockIdx.x) * kWidth * windows;
    for (int i = threadIdx.x; i < kWidth * windows; i += kFinish) {
        const int channel = blockIdx.x % groups * kWidth + i / windows;
        const bool rising = norm_weight[channel] * scale[channel] >= 0.0f;
        float value = rising ? highs[first + i] : lows[first + i];
        value = (value - moments.mean) * inverse;
        value = value * norm_weight[channel] + norm_bias[channel];
        value *= scale[channel];
        value = clamp_to(value, lower, upper);
        y[first + i] = value;
    }
}
