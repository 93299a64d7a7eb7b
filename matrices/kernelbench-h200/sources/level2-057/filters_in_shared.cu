// 3 x 3 convolution of a few channels, ReLU, then x clamp((x + 3) / 6): the filters of eight output
// channels stay in dynamic shared memory from beginning to end, output channels innermost; inputs
// come through the cache, and a thread holds one pixel of all eight channels.

#include "fused_activations.cuh"

constexpr int kKernel = 3;
constexpr int kTaps = kKernel * kKernel;
constexpr int kCols = 16;
constexpr int kRows = 8;
constexpr int kChannels = 8;

__device__ __forceinline__ float gated(float value) {
    return value * clamp_to((value + 3.0f) / 6.0f, 0.0f, 1.0f);
}

__global__ void conv2d_relu_gate(const float* __restrict__ x, const float* __restrict__ weight,
                                 const float* __restrict__ bias, float* __restrict__ y,
                                 int in_channels, int height, int width, int out_channels,
                                 int out_height, int out_width) {
    extern __shared__ float factors[];  // in_channels x kTaps x kChannels

    const int groups = (out_channels + kChannels - 1) / kChannels;
    const int image = blockIdx.z / groups;
    const int first_channel = blockIdx.z % groups * kChannels;
    const int terms = in_channels * kTaps;
    const int tid = threadIdx.y * kCols + threadIdx.x;
    for (int i = tid; i < terms * kChannels; i += kCols * kRows) {
        const int channel = first_channel + i % kChannels;
        factors[i] = channel < out_channels ? weight[channel * terms + i / kChannels] : 0.0f;
    }
    __syncthreads();

    const int row = blockIdx.y * kRows + threadIdx.y;
    const int col = blockIdx.x * kCols + threadIdx.x;
    if (row >= out_height || col >= out_width) {
        return;
    }

    const long long pixels = static_cast<long long>(height) * width;
    const float* corner = x + image * in_channels * pixels + row * width + col;
    const float* factor = factors;
    float acc[kChannels] = {};
    for (int c = 0; c < in_channels; ++c) {
        for (int r = 0; r < kKernel; ++r) {
#pragma unroll
            for (int s = 0; s < kKernel; ++s) {
                const float value = corner[r * width + s];
#pragma unroll
                for (int o = 0; o < kChannels; ++o) {
                    acc[o] += value * factor[o];
                }
                factor += kChannels;
            }
        }
        corner += pixels;
    }

    const long long out_pixels = static_cast<long long>(out_height) * out_width;
    const long long plane_out = static_cast<long long>(image) * out_channels + first_channel;
    float* target = y + plane_out * out_pixels + row * out_width + col;
    const int own = min(kChannels, out_channels - first_channel);
    for (int o = 0; o < own; ++o) {
        float value = acc[o] + bias[first_channel + o];
        value = relu(value);
        value = gated(value);
        target[o * out_pixels] = value;
    }
}
