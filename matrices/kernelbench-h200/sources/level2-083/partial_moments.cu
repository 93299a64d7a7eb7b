// 3 x 3 x 3 convolution, GroupNorm of two channels a group, the smaller of the result and a limit,
// bounds, dropout. The first kernel strides over the voxels of a group, both channels at once, and
// leaves the moments of what each block has written; the second, a warp a group, merges them; the
// third standardises and does the rest.

#include "fused_activations.cuh"
#include "fused_dropout.cuh"
#include "pool_nan.cuh"
#include "welford.cuh"
#include "norm_block_moments.cuh"

constexpr int kKernel = 3;
constexpr int kTaps = kKernel * kKernel * kKernel;
constexpr int kWidth = 2;  // channels of a group
constexpr int kThreads = 96;

__global__ void __launch_bounds__(kThreads)
conv3d_partial_moments(const float* __restrict__ x, const float* __restrict__ weight,
                       const float* __restrict__ bias, float* __restrict__ hidden,
                       float* __restrict__ counts, float* __restrict__ means,
                       float* __restrict__ squares, int in_channels, int depth, int height,
                       int width, int groups, int out_depth, int out_height, int out_width) {
    __shared__ Moments warp_moments[kThreads / 32];

    const int run = blockIdx.y;
    const int group = run % groups;
    const long long image = run / groups;
    const int plane = out_height * out_width;
    const int voxels = out_depth * plane;
    const int terms = in_channels * kTaps;
    const float* lower = weight + group * kWidth * terms;
    const float* upper = lower + terms;
    float* target = hidden + static_cast<long long>(run) * kWidth * voxels;

    Moments moments = {0.0f, 0.0f, 0.0f};
    for (int voxel = blockIdx.x * kThreads + threadIdx.x; voxel < voxels;
         voxel += gridDim.x * kThreads) {
        const int row = voxel % plane / out_width;
        const int at = (voxel / plane * height + row) * width + voxel % out_width;
        float2 acc = make_float2(0.0f, 0.0f);
        for (int c = 0; c < in_channels; ++c) {
            const float* corner = x + (image * in_channels + c) * depth * height * width + at;
#pragma unroll
            for (int tap = 0; tap < kTaps; ++tap) {
                const int layer = tap / (kKernel * kKernel);
                const int offset = (layer * height + tap / kKernel % kKernel) * width;
                const float value = __ldg(corner + offset + tap % kKernel);
                acc.x += value * __ldg(lower + c * kTaps + tap);
                acc.y += value * __ldg(upper + c * kTaps + tap);
            }
        }
        acc.x += bias[group * kWidth];
        acc.y += bias[group * kWidth + 1];
        target[voxel] = acc.x;
        target[voxels + voxel] = acc.y;
        welford_push(moments, acc.x);
        welford_push(moments, acc.y);
    }

    moments = welford_block(moments, warp_moments);
    if (threadIdx.x == 0) {
        const int part = run * gridDim.x + blockIdx.x;
        counts[part] = moments.count;
        means[part] = moments.mean;
        squares[part] = moments.m2;
    }
}

__global__ void merge_moments(const float* __restrict__ counts, const float* __restrict__ means,
                              const float* __restrict__ squares, float* __restrict__ centres,
                              float* __restrict__ inverses, int runs, int parts, float eps) {
    const int run = blockIdx.x * blockDim.y + threadIdx.y;
    if (run >= runs) {
        return;
    }
    Moments moments = {0.0f, 0.0f, 0.0f};
    for (int part = threadIdx.x; part < parts; part += 32) {
        const int at = run * parts + part;
        const Moments other = {counts[at], means[at], squares[at]};
        moments = welford_merge(moments, other);
    }
    moments = welford_warp(moments);
    if (threadIdx.x == 0) {
        centres[run] = moments.mean;
        inverses[run] = rsqrtf(moments.m2 / moments.count + eps);
    }
}

__global__ void standardise_min_clamp_dropout(
    const float* __restrict__ hidden, const float* __restrict__ centres,
    const float* __restrict__ inverses, const float* __restrict__ norm_weight,
    const float* __restrict__ norm_bias, float* __restrict__ y, int out_channels, int voxels,
    float limit, float low, float high, float probability, int seed) {
    const int voxel = blockIdx.x * blockDim.x + threadIdx.x;
    if (voxel >= voxels) {
        return;
    }
    const int plane = blockIdx.y;
    const int channel = plane % out_channels;
    const int run = plane / kWidth;
    const int place = plane * voxels + voxel;
    float value = (hidden[place] - centres[run]) * inverses[run];
    value = value * norm_weight[channel] + norm_bias[channel];
    value = nan_min(limit, value);
    value = clamp_to(value, low, high);
    value = dropout_keeps(place, seed, probability) ? value / (1.0f - probability) : 0.0f;
    y[place] = value;
}
