// 3 x 3 x 3 transposed convolution of stride 2 and padding 1, swish, GroupNorm, hardswish. A thread
// of the first kernel makes one voxel of all channels of a group and takes the moments of what it
// writes along; blocks leave theirs, a warp a group merges them, and the third kernel applies them.

#include "deconv_source.cuh"
#include "fused_activations.cuh"
#include "welford.cuh"
#include "norm_block_moments.cuh"

constexpr int kKernel = 3;
constexpr int kTaps = kKernel * kKernel * kKernel;
constexpr int kStride = 2;
constexpr int kPadding = 1;
constexpr int kThreads = 128;

__global__ void __launch_bounds__(kThreads)
deconv_swish_moments(const float* __restrict__ x, const float* __restrict__ weight,
                     const float* __restrict__ bias, float* __restrict__ hidden,
                     float* __restrict__ counts, float* __restrict__ block_means,
                     float* __restrict__ block_squares, int in_channels, int depth, int height,
                     int width, int groups, int group_width, int out_depth, int out_height,
                     int out_width) {
    __shared__ Moments warp_moments[kThreads / 32];

    const int out_channels = groups * group_width;
    const int voxels = out_depth * out_height * out_width;
    const int voxel = blockIdx.x * kThreads + threadIdx.x;
    const int group = blockIdx.y;
    const int image = blockIdx.z;
    const int od = voxel / (out_height * out_width);
    const int oh = voxel / out_width % out_height;
    const int ow = voxel % out_width;
    const int volume = depth * height * width;
    const float* inputs = x + static_cast<long long>(image) * in_channels * volume;

    Moments own = {0.0f, 0.0f, 0.0f};
    for (int o = 0; voxel < voxels && o < group_width; ++o) {
        const int channel = group * group_width + o;
        float value = bias[channel];
        for (int i = (od + kPadding) % kStride; i < kKernel; i += kStride) {
            const int d = deconv_source(od, i, depth, kStride, kPadding, 1);
            for (int j = (oh + kPadding) % kStride; j < kKernel; j += kStride) {
                const int h = deconv_source(oh, j, height, kStride, kPadding, 1);
                for (int k = (ow + kPadding) % kStride; k < kKernel; k += kStride) {
                    const int w = deconv_source(ow, k, width, kStride, kPadding, 1);
                    if (d < 0 || h < 0 || w < 0) {
                        continue;
                    }
                    const int source = (d * height + h) * width + w;
                    const int tap = (i * kKernel + j) * kKernel + k;
                    for (int c = 0; c < in_channels; ++c) {
                        value += inputs[c * volume + source] *
                                 weight[(c * out_channels + channel) * kTaps + tap];
                    }
                }
            }
        }
        value = swish(value);
        const long long plane = static_cast<long long>(image) * out_channels + channel;
        hidden[plane * voxels + voxel] = value;
        welford_push(own, value);
    }
    const Moments whole = welford_block(own, warp_moments);
    if (threadIdx.x == 0) {
        const int place = (image * groups + group) * gridDim.x + blockIdx.x;
        counts[place] = whole.count;
        block_means[place] = whole.mean;
        block_squares[place] = whole.m2;
    }
}

__global__ void merge_moments(const float* __restrict__ counts,
                              const float* __restrict__ block_means,
                              const float* __restrict__ block_squares, float* __restrict__ means,
                              float* __restrict__ inverses, int blocks, float eps) {
    const int first = blockIdx.x * blocks;
    Moments own = {0.0f, 0.0f, 0.0f};
    for (int i = threadIdx.x; i < blocks; i += 32) {
        Moments block;
        block.count = counts[first + i];
        block.mean = block_means[first + i];
        block.m2 = block_squares[first + i];
        own = welford_merge(own, block);
    }
    own = welford_warp(own);
    if (threadIdx.x == 0) {
        means[blockIdx.x] = own.mean;
        inverses[blockIdx.x] = rsqrtf(own.m2 / own.count + eps);
    }
}

__global__ void group_apply_hardswish(const float* __restrict__ hidden,
                                      const float* __restrict__ means,
                                      const float* __restrict__ inverses,
                                      const float* __restrict__ norm_weight,
                                      const float* __restrict__ norm_bias, float* __restrict__ y,
                                      int groups, int group_width, int voxels) {
    const int voxel = blockIdx.x * blockDim.x + threadIdx.x;
    if (voxel >= voxels) {
        return;
    }
    const int channel = blockIdx.y;
    const int run = blockIdx.z * groups + channel / group_width;
    const long long plane = static_cast<long long>(blockIdx.z) * groups * group_width + channel;
    float value = hidden[plane * voxels + voxel];
    value = (value - means[run]) * inverses[run];
    value = value * norm_weight[channel] + norm_bias[channel];
    value = hardswish(value);
    y[plane * voxels + voxel] = value;
}
