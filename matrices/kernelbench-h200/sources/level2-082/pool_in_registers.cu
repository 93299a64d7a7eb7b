// 3 x 3 convolution, tanh, a factor and a bias a channel, then the largest of each window of 4 x 4.
// A thread makes the sixteen outputs of a window from the 6 x 6 inputs beneath them and keeps only
// the largest; 32 windows share the filters of four channels in dynamic shared memory.

#include "limits.cuh"
#include "pool_nan.cuh"

constexpr int kKernel = 3;
constexpr int kTaps = kKernel * kKernel;
constexpr int kPool = 4;
constexpr int kReach = kPool + kKernel - 1;
constexpr int kChannels = 4;

__global__ void __launch_bounds__(32 * kChannels)
conv2d_tanh_max(const float* __restrict__ x, const float* __restrict__ weight,
                const float* __restrict__ bias, const float* __restrict__ channel_bias,
                float* __restrict__ y, int in_channels, int height, int width, int out_channels,
                int pool_height, int pool_width, float scaling_factor) {
    extern __shared__ float filters[];  // kChannels x in_channels x kTaps

    const int terms = in_channels * kTaps;
    const int first_channel = blockIdx.y * kChannels;
    const int own = min(kChannels, out_channels - first_channel);
    for (int i = threadIdx.y * 32 + threadIdx.x; i < own * terms; i += 32 * kChannels) {
        filters[i] = weight[first_channel * terms + i];
    }
    __syncthreads();

    const int windows = pool_height * pool_width;
    const int window = blockIdx.x * 32 + threadIdx.x;
    if (threadIdx.y >= own || window >= windows) {
        return;
    }
    const int channel = first_channel + threadIdx.y;
    const float* filter = filters + threadIdx.y * terms;
    const int first_row = window / pool_width * kPool;
    const int first_col = window % pool_width * kPool;

    float acc[kPool][kPool] = {};
    for (int c = 0; c < in_channels; ++c) {
        const long long plane = static_cast<long long>(blockIdx.z) * in_channels + c;
        const float* corner = x + (plane * height + first_row) * width + first_col;
        float patch[kReach][kReach];
#pragma unroll
        for (int i = 0; i < kReach; ++i) {
#pragma unroll
            for (int j = 0; j < kReach; ++j) {
                patch[i][j] = corner[i * width + j];
            }
        }
#pragma unroll
        for (int t = 0; t < kTaps; ++t) {
            const float factor = filter[c * kTaps + t];
#pragma unroll
            for (int i = 0; i < kPool; ++i) {
#pragma unroll
                for (int j = 0; j < kPool; ++j) {
                    acc[i][j] += patch[i + t / kKernel][j + t % kKernel] * factor;
                }
            }
        }
    }

    float largest = -INFINITY;
    for (int i = 0; i < kPool; ++i) {
        for (int j = 0; j < kPool; ++j) {
            float value = acc[i][j] + bias[channel];
            value = tanhf(value);
            value *= scaling_factor;
            value += channel_bias[channel];
            largest = nan_max(largest, value);
        }
    }
    y[(static_cast<long long>(blockIdx.z) * out_channels + channel) * windows + window] = largest;
}
