// 3 x 3 convolution, a factor for each channel, LeakyReLU, GELU. A lane has one pixel, a warp four
// output channels: inputs come straight from memory, side by side, and each filter that the block
// has staged for two input channels is the same word for a whole warp.

#include "fused_activations.cuh"

constexpr int kKernel = 3;
constexpr int kTaps = kKernel * kKernel;
constexpr int kWarps = 4;
constexpr int kOwn = 4;
constexpr int kChannels = kWarps * kOwn;
constexpr int kDepth = 2;
constexpr int kTerms = kDepth * kTaps;

__global__ void conv2d_scale_leaky_gelu(const float* __restrict__ x,
                                        const float* __restrict__ weight,
                                        const float* __restrict__ bias,
                                        const float* __restrict__ multiplier,
                                        float* __restrict__ y, int in_channels, int height,
                                        int width, int out_channels, int out_height, int out_width,
                                        float slope) {
    __shared__ float filters[kChannels][kTerms];

    const int lane = threadIdx.x;
    const int warp = threadIdx.y;
    const int pixels = out_height * out_width;
    const int pixel = blockIdx.x * warpSize + lane;
    const bool inside = pixel < pixels;
    const int first_channel = blockIdx.y * kChannels;
    const int terms = in_channels * kTaps;
    const long long plane = static_cast<long long>(height) * width;

    const float* corner = x + blockIdx.z * in_channels * plane;
    if (inside) {
        corner += pixel / out_width * width + pixel % out_width;
    }

    float acc[kOwn] = {};
    for (int k0 = 0; k0 < terms; k0 += kTerms) {
        for (int i = warp * warpSize + lane; i < kChannels * kTerms; i += kWarps * warpSize) {
            const int channel = first_channel + i / kTerms;
            const int k = k0 + i % kTerms;
            filters[i / kTerms][i % kTerms] =
                channel < out_channels && k < terms ? weight[channel * terms + k] : 0.0f;
        }
        __syncthreads();
        const int ahead = min(kTerms, terms - k0);
        for (int t = 0; inside && t < ahead; ++t) {
            const int tap = t % kTaps;
            const float value = corner[t / kTaps * plane + tap / kKernel * width + tap % kKernel];
#pragma unroll
            for (int o = 0; o < kOwn; ++o) {
                acc[o] += value * filters[warp * kOwn + o][t];
            }
        }
        corner += kDepth * plane;
        __syncthreads();
    }
    if (!inside) {
        return;
    }

    for (int o = 0; o < kOwn; ++o) {
        const int channel = first_channel + warp * kOwn + o;
        if (channel < out_channels) {
            float value = acc[o] + bias[channel];
            value *= multiplier[channel];
            value = leaky_relu(value, slope);
            value = gelu_erf(value);
            y[(static_cast<long long>(blockIdx.z) * out_channels + channel) * pixels + pixel] =
                value;
        }
    }
}
