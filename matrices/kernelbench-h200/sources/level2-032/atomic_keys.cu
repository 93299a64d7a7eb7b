// The same by atomics: blocks of 32 pixels and four output channels each lower the pixels' keys,
// integers in the order of the floats they stand for; zero, which no float has, is kept for NaN.

#include "pool_ordered.cuh"

constexpr int kKernel = 3;
constexpr int kTaps = kKernel * kKernel;
constexpr int kPixels = 32;
constexpr int kChannels = 4;

__global__ void fill_keys(unsigned* __restrict__ keys, long long count) {
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) {
        keys[i] = 0xffffffffu;
    }
}

__global__ void conv2d_scale_lower(const float* __restrict__ x, const float* __restrict__ weight,
                                   const float* __restrict__ bias, unsigned* __restrict__ keys,
                                   int in_channels, int height, int width, int out_channels,
                                   int out_height, int out_width, float scale_factor) {
    __shared__ float taps[kChannels][kTaps];
    __shared__ unsigned lowest[kPixels];

    const int pixels = out_height * out_width;
    const int pixel = blockIdx.x * kPixels + threadIdx.x;
    const int channel = blockIdx.y * kChannels + threadIdx.y;
    const bool inside = pixel < pixels && channel < out_channels;
    const long long plane = static_cast<long long>(height) * width;
    const float* corner = x + blockIdx.z * in_channels * plane;
    if (inside) {
        corner += pixel / out_width * width + pixel % out_width;
    }
    if (threadIdx.y == 0) {
        lowest[threadIdx.x] = 0xffffffffu;
    }

    float acc = 0.0f;
    for (int c = 0; c < in_channels; ++c) {
        if (threadIdx.x < kTaps && channel < out_channels) {
            taps[threadIdx.y][threadIdx.x] =
                weight[(channel * in_channels + c) * kTaps + threadIdx.x];
        }
        __syncthreads();
        for (int t = 0; inside && t < kTaps; ++t) {
            acc += corner[t / kKernel * width + t % kKernel] * taps[threadIdx.y][t];
        }
        corner += plane;
        __syncthreads();
    }

    if (inside) {
        float value = acc + bias[channel];
        value *= scale_factor;
        atomicMin(&lowest[threadIdx.x], value == value ? ordered_key(value) : 0u);
    }
    __syncthreads();
    if (threadIdx.y == 0 && pixel < pixels) {
        atomicMin(&keys[static_cast<long long>(blockIdx.z) * pixels + pixel], lowest[threadIdx.x]);
    }
}

__global__ void keys_to_floats(const unsigned* __restrict__ keys, float* __restrict__ y,
                               long long count) {
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count) {
        y[i] = ordered_value(keys[i]);
    }
}
