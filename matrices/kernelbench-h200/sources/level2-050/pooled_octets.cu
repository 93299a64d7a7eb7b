// 3 x 3 x 3 transposed convolution of stride 2 and padding 1, scaled, averaged over windows of
// 2 x 2 x 2, a bias, scaled again. A window is just the eight outputs that begin at one input
// voxel, so a thread makes it from eight inputs and never writes what it averages. There are few
// weights: a block holds those of its two output channels whole, in dynamic shared memory.

#include "deconv_octet.cuh"

constexpr int kTaps = 27;
constexpr int kChannels = 2;

extern __shared__ float taps[];

__global__ void __launch_bounds__(64)
deconv_scale_average(const float* __restrict__ x, const float* __restrict__ weight,
                     const float* __restrict__ bias, const float* __restrict__ scale1,
                     const float* __restrict__ pooled_bias, const float* __restrict__ scale2,
                     float* __restrict__ y, int in_channels, int depth, int height, int width,
                     int out_channels, int pool_depth, int pool_height, int pool_width) {
    const int first_channel = blockIdx.y * kChannels;
    const int channels = min(kChannels, out_channels - first_channel);
    const int each = in_channels * kTaps;
    for (int i = threadIdx.x; i < channels * each; i += blockDim.x) {
        const int c = i % each / kTaps;
        const int o = first_channel + i / each;
        taps[i] = weight[(c * out_channels + o) * kTaps + i % kTaps];
    }
    __syncthreads();

    const int windows = pool_depth * pool_height * pool_width;
    const int volume = depth * height * width;
    const float* image = x + static_cast<long long>(blockIdx.z) * in_channels * volume;
    for (int window = blockIdx.x * blockDim.x + threadIdx.x; window < windows;
         window += gridDim.x * blockDim.x) {
        const int d = window / (pool_height * pool_width);
        const int h = window / pool_width % pool_height;
        const int w = window % pool_width;

        float acc[kChannels][8] = {};
        for (int c = 0; c < in_channels; ++c) {
            float inputs[8];
            octet_load(inputs, image + c * volume, d, h, w, depth, height, width);
            for (int o = 0; o < channels; ++o) {
                octet_add(acc[o], inputs, taps + o * each + c * kTaps);
            }
        }

        for (int o = 0; o < channels; ++o) {
            const int channel = first_channel + o;
            float sum = 0.0f;
#pragma unroll
            for (int i = 0; i < 8; ++i) {
                float value = acc[o][i] + bias[channel];
                value *= scale1[0];
                sum += value;
            }
            float value = sum / 8.0f;
            value += pooled_bias[channel];
            value *= scale2[0];
            const long long plane = static_cast<long long>(blockIdx.z) * out_channels + channel;
            y[plane * windows + window] = value;
        }
    }
}
