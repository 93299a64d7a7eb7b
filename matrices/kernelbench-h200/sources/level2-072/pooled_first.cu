// The same with the convolution written. A thread keeps the eight inputs of its voxel in shared
// memory and makes all channels of them. BatchNorm maps a channel's values straight and two
// averages over windows of 2 are one over windows of 4, so the last kernel averages first and
// normalises one number where there were 64.

#include "deconv_octet.cuh"
#include "welford.cuh"
#include "norm_block_moments.cuh"

constexpr int kTaps = 27;
constexpr int kVoxels = 64;
constexpr int kNormThreads = 256;
constexpr int kWindow = 4;

extern __shared__ float inputs_kept[];

// A thread reads only what it has written there itself: no barrier is needed.
__global__ void __launch_bounds__(kVoxels)
deconv_all_channels(const float* __restrict__ x, const float* __restrict__ weight,
                    const float* __restrict__ bias, float* __restrict__ hidden, int in_channels,
                    int depth, int height, int width, int out_channels) {
    const int volume = depth * height * width;
    const int voxel = blockIdx.x * kVoxels + threadIdx.x;
    if (voxel >= volume) {
        return;
    }
    const int d = voxel / (height * width);
    const int h = voxel / width % height;
    const int w = voxel % width;
    const float* image = x + static_cast<long long>(blockIdx.y) * in_channels * volume;
    float* kept = inputs_kept + threadIdx.x;
    for (int c = 0; c < in_channels; ++c) {
        float inputs[8];
        octet_load(inputs, image + c * volume, d, h, w, depth, height, width);
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            kept[(c * 8 + i) * kVoxels] = inputs[i];
        }
    }

    const int out_depth = 2 * depth - 1;
    const int out_height = 2 * height - 1;
    const int out_width = 2 * width - 1;
    for (int o = 0; o < out_channels; ++o) {
        float acc[8] = {};
        for (int c = 0; c < in_channels; ++c) {
            float inputs[8];
#pragma unroll
            for (int i = 0; i < 8; ++i) {
                inputs[i] = kept[(c * 8 + i) * kVoxels];
            }
            octet_add(acc, inputs, weight + (c * out_channels + o) * kTaps);
        }
        const long long plane = static_cast<long long>(blockIdx.y) * out_channels + o;
        float* out = hidden + plane * out_depth * out_height * out_width;
        for (int i = 0; i < 8; ++i) {
            const int od = 2 * d + (i >> 2);
            const int oh = 2 * h + (i >> 1 & 1);
            const int ow = 2 * w + (i & 1);
            if (od < out_depth && oh < out_height && ow < out_width) {
                out[(od * out_height + oh) * out_width + ow] = acc[i] + bias[o];
            }
        }
    }
}

// A block goes through a channel of all images, one after the other.
__global__ void __launch_bounds__(kNormThreads)
channel_moments(const float* __restrict__ hidden, float* __restrict__ means,
                float* __restrict__ inverses, int batch, int out_channels, int voxels, float eps) {
    __shared__ Moments warp_moments[kNormThreads / 32];

    Moments whole = {0.0f, 0.0f, 0.0f};
    for (int n = 0; n < batch; ++n) {
        const float* plane =
            hidden + (static_cast<long long>(n) * out_channels + blockIdx.x) * voxels;
        // Begun anew for each image: a mean of millions would hardly move by one more value.
        Moments own = {0.0f, 0.0f, 0.0f};
        for (int i = threadIdx.x; i < voxels; i += kNormThreads) {
            welford_push(own, plane[i]);
        }
        whole = welford_merge(whole, welford_block(own, warp_moments));
    }
    if (threadIdx.x == 0) {
        means[blockIdx.x] = whole.mean;
        inverses[blockIdx.x] = rsqrtf(whole.m2 / whole.count + eps);
    }
}

__global__ void average_normalise(const float* __restrict__ hidden,
                                  const float* __restrict__ means,
                                  const float* __restrict__ inverses,
                                  const float* __restrict__ norm_weight,
                                  const float* __restrict__ norm_bias, float* __restrict__ y,
                                  int out_channels, int out_depth, int out_height, int out_width,
                                  int last_depth, int last_height, int last_width) {
    const int windows = last_depth * last_height * last_width;
    const int window = blockIdx.x * blockDim.x + threadIdx.x;
    if (window >= windows) {
        return;
    }
    const int first_d = window / (last_height * last_width) * kWindow;
    const int first_h = window / last_width % last_height * kWindow;
    const int first_w = window % last_width * kWindow;
    const float* volume =
        hidden + static_cast<long long>(blockIdx.y) * out_depth * out_height * out_width;

    float sum = 0.0f;
    for (int d = first_d; d < first_d + kWindow; ++d) {
        for (int h = first_h; h < first_h + kWindow; ++h) {
            const float* row = volume + (d * out_height + h) * out_width + first_w;
#pragma unroll
            for (int w = 0; w < kWindow; ++w) {
                sum += row[w];
            }
        }
    }
    const int channel = blockIdx.y % out_channels;
    float value = sum / (kWindow * kWindow * kWindow);
    value = (value - means[channel]) * inverses[channel];
    value = value * norm_weight[channel] + norm_bias[channel];
    y[static_cast<long long>(blockIdx.y) * windows + window] = value;
}
