// 3 x 3 x 3 transposed convolution of stride 2 and padding 1, BatchNorm by the batch's own
// statistics, averaged over windows of 2 x 2 x 2 twice. There are few input channels and far more
// outputs than inputs: the convolution is made twice, first for its moments and then for what is
// averaged, and never written.

#include "deconv_octet.cuh"
#include "welford.cuh"
#include "norm_block_moments.cuh"

constexpr int kTaps = 27;
constexpr int kMomentThreads = 128;
constexpr int kThreads = 64;

extern __shared__ float taps[];

// All threads of a block take part; the caller puts a barrier after it.
__device__ __forceinline__ void stage_channel(const float* __restrict__ weight, int channel,
                                              int in_channels, int out_channels) {
    for (int i = threadIdx.x; i < in_channels * kTaps; i += blockDim.x) {
        taps[i] = weight[(i / kTaps * out_channels + channel) * kTaps + i % kTaps];
    }
}

__device__ __forceinline__ void make_octet(float (&acc)[8], const float* __restrict__ image,
                                           int in_channels, int d, int h, int w, int depth,
                                           int height, int width) {
    for (int c = 0; c < in_channels; ++c) {
        float inputs[8];
        octet_load(inputs, image + c * depth * height * width, d, h, w, depth, height, width);
        octet_add(acc, inputs, taps + c * kTaps);
    }
}

// A block has one channel of one image.
__global__ void __launch_bounds__(kMomentThreads)
deconv_moments(const float* __restrict__ x, const float* __restrict__ weight,
               const float* __restrict__ bias, float* __restrict__ means,
               float* __restrict__ squares, int in_channels, int depth, int height, int width,
               int out_channels) {
    __shared__ Moments warp_moments[kMomentThreads / 32];

    const int channel = blockIdx.x;
    stage_channel(weight, channel, in_channels, out_channels);
    __syncthreads();

    const int volume = depth * height * width;
    const float* image = x + static_cast<long long>(blockIdx.y) * in_channels * volume;
    const int out_depth = 2 * depth - 1;
    const int out_height = 2 * height - 1;
    const int out_width = 2 * width - 1;

    Moments own = {0.0f, 0.0f, 0.0f};
    for (int voxel = threadIdx.x; voxel < volume; voxel += kMomentThreads) {
        const int d = voxel / (height * width);
        const int h = voxel / width % height;
        const int w = voxel % width;
        float acc[8] = {};
        make_octet(acc, image, in_channels, d, h, w, depth, height, width);
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            const bool exists = 2 * d + (i >> 2) < out_depth &&
                                2 * h + (i >> 1 & 1) < out_height && 2 * w + (i & 1) < out_width;
            if (exists) {
                welford_push(own, acc[i] + bias[channel]);
            }
        }
    }
    const Moments whole = welford_block(own, warp_moments);
    if (threadIdx.x == 0) {
        means[channel * gridDim.y + blockIdx.y] = whole.mean;
        squares[channel * gridDim.y + blockIdx.y] = whole.m2;
    }
}

// The first warp of every block merges the moments of its channel's images; a thread makes the
// eight windows of the first pooling that one of the second has.
__global__ void __launch_bounds__(kThreads)
deconv_normalise_average(const float* __restrict__ x, const float* __restrict__ weight,
                         const float* __restrict__ bias, const float* __restrict__ means,
                         const float* __restrict__ squares, const float* __restrict__ norm_weight,
                         const float* __restrict__ norm_bias, float* __restrict__ y, int batch,
                         int in_channels, int depth, int height, int width, int out_channels,
                         int last_depth, int last_height, int last_width, int voxels, float eps) {
    __shared__ float shared_mean;
    __shared__ float shared_inverse;

    const int channel = blockIdx.y;
    stage_channel(weight, channel, in_channels, out_channels);
    if (threadIdx.x < 32) {
        Moments own = {0.0f, 0.0f, 0.0f};
        for (int n = threadIdx.x; n < batch; n += 32) {
            const Moments image = {static_cast<float>(voxels), means[channel * batch + n],
                                   squares[channel * batch + n]};
            own = welford_merge(own, image);
        }
        own = welford_warp(own);
        if (threadIdx.x == 0) {
            shared_mean = own.mean;
            shared_inverse = rsqrtf(own.m2 / own.count + eps);
        }
    }
    __syncthreads();

    const int windows = last_depth * last_height * last_width;
    const int window = blockIdx.x * kThreads + threadIdx.x;
    if (window >= windows) {
        return;
    }
    const int first_d = window / (last_height * last_width) * 2;
    const int first_h = window / last_width % last_height * 2;
    const int first_w = window % last_width * 2;
    const int volume = depth * height * width;
    const float* image = x + static_cast<long long>(blockIdx.z) * in_channels * volume;
    const float mean = shared_mean;
    const float inverse = shared_inverse;

    float outer = 0.0f;
    for (int corner = 0; corner < 8; ++corner) {
        float acc[8] = {};
        make_octet(acc, image, in_channels, first_d + corner / 4, first_h + corner / 2 % 2,
                   first_w + corner % 2, depth, height, width);
        float inner = 0.0f;
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            float value = acc[i] + bias[channel];
            value = (value - mean) * inverse;
            value = value * norm_weight[channel] + norm_bias[channel];
            inner += value;
        }
        outer += inner / 8.0f;
    }
    const long long plane = static_cast<long long>(blockIdx.z) * out_channels + channel;
    y[plane * windows + window] = outer / 8.0f;
}
