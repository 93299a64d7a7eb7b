// 3 x 3 convolution, a bias and a factor a channel, the logistic function, GroupNorm of four
// channels a group. A block makes 64 pixels of one group and, while it has them, their moments; a
// second kernel merges the moments of a group's blocks, a third standardises.

#include "fused_activations.cuh"
#include "welford.cuh"
#include "norm_block_moments.cuh"

constexpr int kKernel = 3;
constexpr int kTaps = kKernel * kKernel;
constexpr int kWidth = 4;  // channels of a group
constexpr int kThreads = 64;

__global__ void __launch_bounds__(kThreads)
conv2d_sigmoid_moments(const float* __restrict__ x, const float* __restrict__ weight,
                       const float* __restrict__ bias, const float* __restrict__ channel_bias,
                       const float* __restrict__ scale, float* __restrict__ hidden,
                       float* __restrict__ counts, float* __restrict__ means,
                       float* __restrict__ squares, int in_channels, int height, int width,
                       int groups, int out_height, int out_width) {
    extern __shared__ float filters[];  // kWidth x in_channels x kTaps
    __shared__ Moments warp_moments[kThreads / 32];

    const int terms = in_channels * kTaps;
    const int first_channel = blockIdx.y * kWidth;
    for (int i = threadIdx.x; i < kWidth * terms; i += kThreads) {
        filters[i] = weight[first_channel * terms + i];
    }
    __syncthreads();

    const int pixels = out_height * out_width;
    const int pixel = blockIdx.x * kThreads + threadIdx.x;
    Moments moments = {0.0f, 0.0f, 0.0f};
    if (pixel < pixels) {
        const long long plane = static_cast<long long>(height) * width;
        const float* corner = x + blockIdx.z * in_channels * plane + pixel / out_width * width +
                              pixel % out_width;
        float acc[kWidth] = {};
        for (int c = 0; c < in_channels; ++c) {
            for (int t = 0; t < kTaps; ++t) {
                const float value = corner[t / kKernel * width + t % kKernel];
#pragma unroll
                for (int o = 0; o < kWidth; ++o) {
                    acc[o] += value * filters[o * terms + c * kTaps + t];
                }
            }
            corner += plane;
        }
        float* target =
            hidden + (static_cast<long long>(blockIdx.z) * groups + blockIdx.y) * kWidth * pixels;
        for (int o = 0; o < kWidth; ++o) {
            const int channel = first_channel + o;
            float value = acc[o] + bias[channel];
            value += channel_bias[channel];
            value *= scale[channel];
            value = logistic(value);
            target[static_cast<long long>(o) * pixels + pixel] = value;
            welford_push(moments, value);
        }
    }

    moments = welford_block(moments, warp_moments);
    if (threadIdx.x == 0) {
        const int part = (blockIdx.z * groups + blockIdx.y) * gridDim.x + blockIdx.x;
        counts[part] = moments.count;
        means[part] = moments.mean;
        squares[part] = moments.m2;
    }
}

// A warp a group.
__global__ void merge_moments(const float* __restrict__ counts, const float* __restrict__ means,
                              const float* __restrict__ squares, float* __restrict__ group_mean,
                              float* __restrict__ group_inverse, int parts, float eps) {
    const long long first = static_cast<long long>(blockIdx.x) * parts;
    Moments moments = {0.0f, 0.0f, 0.0f};
    for (int part = threadIdx.x; part < parts; part += warpSize) {
        const Moments other = {counts[first + part], means[first + part], squares[first + part]};
        moments = welford_merge(moments, other);
    }
    moments = welford_warp(moments);
    if (threadIdx.x == 0) {
        group_mean[blockIdx.x] = moments.mean;
        group_inverse[blockIdx.x] = rsqrtf(moments.m2 / moments.count + eps);
    }
}

__global__ void group_norm(const float* __restrict__ hidden, const float* __restrict__ group_mean,
                           const float* __restrict__ group_inverse,
                           const float* __restrict__ norm_weight,
                           const float* __restrict__ norm_bias, float* __restrict__ y, int groups,
                           int pixels) {
    const int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel >= pixels) {
        return;
    }
    const int channels = groups * kWidth;
    const int channel = blockIdx.y % channels;
    const int group = blockIdx.y / channels * groups + channel / kWidth;
    const long long place = static_cast<long long>(blockIdx.y) * pixels + pixel;
    float value = (hidden[place] - group_mean[group]) * group_inverse[group];
    value = value * norm_weight[channel] + norm_bias[channel];
    y[place] = value;
}
