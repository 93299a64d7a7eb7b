// 3 x 3 x 3 transposed convolution of stride 2 and padding 1, BatchNorm by the batch's own
// statistics, less every plane's mean. Blocks of the second kernel find moments of one channel of
// one image; these merge to those of the channel, and the mean of a plane of normalised values is
// the normalised mean.

#include "deconv_octet.cuh"
#include "welford.cuh"
#include "norm_block_moments.cuh"

constexpr int kTaps = 27;
constexpr int kThreads = 128;

__global__ void __launch_bounds__(64)
deconv_octets(const float* __restrict__ x, const float* __restrict__ weight,
              const float* __restrict__ bias, float* __restrict__ hidden, int in_channels,
              int depth, int height, int width, int out_channels) {
    const int voxels = depth * height * width;
    const int voxel = blockIdx.x * blockDim.x + threadIdx.x;
    if (voxel >= voxels) {
        return;
    }
    const int channel = blockIdx.y;
    const int d = voxel / (height * width);
    const int h = voxel / width % height;
    const int w = voxel % width;
    const float* image = x + static_cast<long long>(blockIdx.z) * in_channels * voxels;

    float acc[8] = {};
    for (int c = 0; c < in_channels; ++c) {
        float inputs[8];
        octet_load(inputs, image + c * voxels, d, h, w, depth, height, width);
        octet_add(acc, inputs, weight + (c * out_channels + channel) * kTaps);
    }

    const int out_depth = 2 * depth - 1;
    const int out_height = 2 * height - 1;
    const int out_width = 2 * width - 1;
    const long long plane = static_cast<long long>(blockIdx.z) * out_channels + channel;
    for (int i = 0; i < 8; ++i) {
        const int od = 2 * d + (i >> 2);
        const int oh = 2 * h + (i >> 1 & 1);
        const int ow = 2 * w + (i & 1);
        if (od < out_depth && oh < out_height && ow < out_width) {
            hidden[((plane * out_depth + od) * out_height + oh) * out_width + ow] =
                acc[i] + bias[channel];
        }
    }
}

__global__ void __launch_bounds__(kThreads)
plane_moments(const float* __restrict__ hidden, float* __restrict__ means,
              float* __restrict__ squares, int voxels) {
    __shared__ Moments warp_moments[kThreads / 32];

    const float* plane = hidden + static_cast<long long>(blockIdx.x) * voxels;
    Moments own = {0.0f, 0.0f, 0.0f};
    for (int i = threadIdx.x; i < voxels; i += kThreads) {
        welford_push(own, plane[i]);
    }
    const Moments whole = welford_block(own, warp_moments);
    if (threadIdx.x == 0) {
        means[blockIdx.x] = whole.mean;
        squares[blockIdx.x] = whole.m2;
    }
}

__global__ void channel_moments(const float* __restrict__ means, const float* __restrict__ squares,
                                float* __restrict__ channel_means, float* __restrict__ inverses,
                                int batch, int out_channels, int voxels, float eps) {
    const int channel = blockIdx.x * blockDim.x + threadIdx.x;
    if (channel >= out_channels) {
        return;
    }
    Moments whole = {0.0f, 0.0f, 0.0f};
    for (int n = 0; n < batch; ++n) {
        Moments plane;
        plane.count = voxels;
        plane.mean = means[n * out_channels + channel];
        plane.m2 = squares[n * out_channels + channel];
        whole = welford_merge(whole, plane);
    }
    channel_means[channel] = whole.mean;
    inverses[channel] = rsqrtf(whole.m2 / whole.count + eps);
}

__global__ void normalise_centre(const float* __restrict__ hidden, const float* __restrict__ means,
                                 const float* __restrict__ channel_means,
                                 const float* __restrict__ inverses,
                                 const float* __restrict__ norm_weight,
                                 const float* __restrict__ norm_bias, float* __restrict__ y,
                                 int out_channels, int voxels) {
    const int plane = blockIdx.y;
    const int channel = plane % out_channels;
    const float scale = inverses[channel] * norm_weight[channel];
    const float centre =
        (means[plane] - channel_means[channel]) * scale + norm_bias[channel];
    const long long first = static_cast<long long>(plane) * voxels;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < voxels; i += gridDim.x * blockDim.x) {
        float value = (hidden[first + i] - channel_means[channel]) * scale;
        value += norm_bias[channel];
        value -= centre;
        y[first + i] = value;
    }
}
