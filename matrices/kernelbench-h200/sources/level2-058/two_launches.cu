// The same with the channels written out: a thread a voxel and channel gathers, then a thread a
// voxel reads its channels twice, for their largest and for the sum of their exponentials.

#include "deconv_source.cuh"
#include "fused_activations.cuh"
#include "limits.cuh"

constexpr int kKernel = 3;
constexpr int kTaps = kKernel * kKernel * kKernel;

__global__ void deconv3d_channel(const float* __restrict__ x, const float* __restrict__ weight,
                                 const float* __restrict__ bias, float* __restrict__ hidden,
                                 int in_channels, int depth, int height, int width,
                                 int out_channels, int out_depth, int out_height, int out_width) {
    const int voxels = out_depth * out_height * out_width;
    const int voxel = blockIdx.x * blockDim.x + threadIdx.x;
    const int channel = blockIdx.y * blockDim.y + threadIdx.y;
    if (voxel >= voxels || channel >= out_channels) {
        return;
    }
    const int od = voxel / (out_height * out_width);
    const int oh = voxel / out_width % out_height;
    const int ow = voxel % out_width;

    float value = bias[channel];
    for (int c = 0; c < in_channels; ++c) {
        const float* volume =
            x + (static_cast<long long>(blockIdx.z) * in_channels + c) * depth * height * width;
        const float* taps = weight + (c * out_channels + channel) * kTaps;
        for (int i = 0; i < kKernel; ++i) {
            const int d = deconv_source(od, i, depth, 2, 1, 1);
            for (int j = 0; d >= 0 && j < kKernel; ++j) {
                const int h = deconv_source(oh, j, height, 2, 1, 1);
                for (int k = 0; h >= 0 && k < kKernel; ++k) {
                    const int w = deconv_source(ow, k, width, 2, 1, 1);
                    if (w >= 0) {
                        value += volume[(d * height + h) * width + w] *
                                 taps[(i * kKernel + j) * kKernel + k];
                    }
                }
            }
        }
    }
    const long long plane = static_cast<long long>(blockIdx.z) * out_channels + channel;
    hidden[plane * voxels + voxel] = value;
}

__global__ void logsumexp_ramp_clamp(const float* __restrict__ hidden,
                                     const float* __restrict__ subtrahend, float* __restrict__ y,
                                     int out_channels, int voxels, float clamp_min,
                                     float clamp_max) {
    const int voxel = blockIdx.x * blockDim.x + threadIdx.x;
    if (voxel >= voxels) {
        return;
    }
    const float* own = hidden + static_cast<long long>(blockIdx.y) * out_channels * voxels + voxel;

    float top = -INFINITY;
    for (int o = 0; o < out_channels; ++o) {
        top = fmaxf(top, own[static_cast<long long>(o) * voxels]);
    }
    float total = 0.0f;
    for (int o = 0; o < out_channels; ++o) {
        total += expf(own[static_cast<long long>(o) * voxels] - top);
    }
    float value = logf(total) + top;
    value *= logistic(value + 3.0f);
    value /= 6.0f;
    value -= subtrahend[0];
    value = clamp_to(value, clamp_min, clamp_max);
    y[static_cast<long long>(blockIdx.y) * voxels + voxel] = value;
}
