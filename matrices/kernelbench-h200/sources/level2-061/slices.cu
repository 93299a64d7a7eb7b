// 3 x 3 x 3 transposed convolution of stride 1 without a bias, ReLU, GroupNorm. A block of the
// first kernel makes 8 x 8 outputs of one slice for four channels, from the three input slices that
// reach it. A block of the second has a whole group: mean, then deviations from it, then the
// outputs.

#include "warp_reduce.cuh"
#include "block_reduce.cuh"
#include "fused_activations.cuh"

constexpr int kKernel = 3;
constexpr int kHalo = kKernel - 1;
constexpr int kTaps = kKernel * kKernel * kKernel;
constexpr int kSide = 8;
constexpr int kPatch = kSide + kHalo;
constexpr int kChannels = 4;
constexpr int kThreads = kSide * kSide;
constexpr int kNormThreads = 256;

__global__ void __launch_bounds__(kThreads)
deconv_slices_relu(const float* __restrict__ x, const float* __restrict__ weight,
                   float* __restrict__ hidden, int in_channels, int depth, int height, int width,
                   int out_channels, int out_depth, int out_height, int out_width) {
    __shared__ float patch[kKernel][kPatch][kPatch];
    __shared__ float taps[kTaps][kChannels];

    const int tid = threadIdx.y * kSide + threadIdx.x;
    const int tiles_w = (out_width + kSide - 1) / kSide;
    const int first_h = blockIdx.x / tiles_w * kSide;
    const int first_w = blockIdx.x % tiles_w * kSide;
    const int od = blockIdx.y;
    const int channel_blocks = (out_channels + kChannels - 1) / kChannels;
    const int image = blockIdx.z / channel_blocks;
    const int first_channel = blockIdx.z % channel_blocks * kChannels;

    float acc[kChannels] = {};
    for (int c = 0; c < in_channels; ++c) {
        const float* volume =
            x + (static_cast<long long>(image) * in_channels + c) * depth * height * width;
        for (int i = tid; i < kKernel * kPatch * kPatch; i += kThreads) {
            const int slice = i / (kPatch * kPatch);
            const int d = od - kHalo + slice;
            const int h = first_h - kHalo + i / kPatch % kPatch;
            const int w = first_w - kHalo + i % kPatch;
            const bool inside =
                d >= 0 && d < depth && h >= 0 && h < height && w >= 0 && w < width;
            patch[slice][i / kPatch % kPatch][i % kPatch] =
                inside ? volume[(d * height + h) * width + w] : 0.0f;
        }
        for (int i = tid; i < kTaps * kChannels; i += kThreads) {
            const int channel = first_channel + i / kTaps;
            taps[i % kTaps][i / kTaps] =
                channel < out_channels ? weight[(c * out_channels + channel) * kTaps + i % kTaps]
                                       : 0.0f;
        }
        __syncthreads();

#pragma unroll
        for (int tap = 0; tap < kTaps; ++tap) {
            const float value = patch[kHalo - tap / 9][threadIdx.y + kHalo - tap / 3 % 3]
                                     [threadIdx.x + kHalo - tap % 3];
#pragma unroll
            for (int o = 0; o < kChannels; ++o) {
                acc[o] += value * taps[tap][o];
            }
        }
        __syncthreads();
    }

    const int oh = first_h + threadIdx.y;
    const int ow = first_w + threadIdx.x;
    if (oh >= out_height || ow >= out_width) {
        return;
    }
    for (int o = 0; o < kChannels && first_channel + o < out_channels; ++o) {
        const long long plane = static_cast<long long>(image) * out_channels + first_channel + o;
        float value = acc[o];
        value = relu(value);
        hidden[((plane * out_depth + od) * out_height + oh) * out_width + ow] = value;
    }
}

__global__ void __launch_bounds__(kNormThreads)
group_norm_two_pass(const float* __restrict__ hidden, const float* __restrict__ norm_weight,
                    const float* __restrict__ norm_bias, float* __restrict__ y, int groups,
                    int group_width, int voxels, float eps) {
    __shared__ float warp_totals[kNormThreads / 32];

    const int elements = group_width * voxels;
    const long long first = static_cast<long long>(blockIdx.x) * elements;
    const int first_channel = blockIdx.x % groups * group_width;

    float sum = 0.0f;
    for (int i = threadIdx.x; i < elements; i += kNormThreads) {
        sum += hidden[first + i];
    }
    const float mean = block_sum(sum, warp_totals) / elements;

    float squares = 0.0f;
    for (int i = threadIdx.x; i < elements; i += kNormThreads) {
        const float deviation = hidden[first + i] - mean;
        squares += deviation * deviation;
    }
    const float variance = block_sum(squares, warp_totals) / elements;
    const float inverse = rsqrtf(variance + eps);

    for (int i = threadIdx.x; i < elements; i += kNormThreads) {
        const int channel = first_channel + i / voxels;
        float value = (hidden[first + i] - mean) * inverse;
        value = value * norm_weight[channel] + norm_bias[channel];
        y[first + i] = value;
    }
}
