// 3 x 3 x 3 transposed convolution of stride 2 and padding 1, clamped from below, divided. A thread
// makes one output voxel of four channels: where a tap reaches it is found once, and every input
// value that is loaded serves all four.

#include "deconv_source.cuh"

constexpr int kKernel = 3;
constexpr int kTaps = kKernel * kKernel * kKernel;
constexpr int kStride = 2;
constexpr int kPadding = 1;
constexpr int kChannels = 4;

__global__ void __launch_bounds__(128)
deconv3d_clamp_divide(const float* __restrict__ x, const float* __restrict__ weight,
                      const float* __restrict__ bias, float* __restrict__ y, int in_channels,
                      int depth, int height, int width, int out_channels, int out_depth,
                      int out_height, int out_width, float min_value, float divisor) {
    const int voxels = out_depth * out_height * out_width;
    const int voxel = blockIdx.x * blockDim.x + threadIdx.x;
    if (voxel >= voxels) {
        return;
    }
    const int od = voxel / (out_height * out_width);
    const int oh = voxel / out_width % out_height;
    const int ow = voxel % out_width;
    const int first_channel = blockIdx.y * kChannels;
    const int channels = min(kChannels, out_channels - first_channel);
    const long long volume = static_cast<long long>(depth) * height * width;
    const float* image = x + blockIdx.z * in_channels * volume;

    float acc[kChannels];
    for (int o = 0; o < kChannels; ++o) {
        acc[o] = o < channels ? bias[first_channel + o] : 0.0f;
    }
    for (int i = 0; i < kKernel; ++i) {
        const int d = deconv_source(od, i, depth, kStride, kPadding, 1);
        if (d < 0) {
            continue;
        }
        for (int j = 0; j < kKernel; ++j) {
            const int h = deconv_source(oh, j, height, kStride, kPadding, 1);
            if (h < 0) {
                continue;
            }
            for (int k = 0; k < kKernel; ++k) {
                const int w = deconv_source(ow, k, width, kStride, kPadding, 1);
                if (w < 0) {
                    continue;
                }
                const float* source = image + (d * height + h) * width + w;
                const float* taps =
                    weight + first_channel * kTaps + (i * kKernel + j) * kKernel + k;
                for (int c = 0; c < in_channels; ++c) {
                    const float value = source[c * volume];
                    for (int o = 0; o < channels; ++o) {
                        acc[o] += value * taps[(c * out_channels + o) * kTaps];
                    }
                }
            }
        }
    }

    for (int o = 0; o < channels; ++o) {
        float value = acc[o];
        value = value < min_value ? min_value : value;
        value = value / divisor;
        const long long plane =
            static_cast<long long>(blockIdx.z) * out_channels + first_channel + o;
        y[plane * voxels + voxel] = value;
    }
}
