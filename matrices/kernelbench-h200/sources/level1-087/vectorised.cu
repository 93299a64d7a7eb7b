// Pointwise convolution without a tile of the input: a thread reads four neighbouring pixels of one
// input channel after another as a float4, and adds them to 3 output channels. 16 x 8 threads make
// 64 pixels of 24 channels, whose weights lie transposed in dynamic shared memory.

#include "conv_vector.cuh"

constexpr int kThreadsX = 16;
constexpr int kThreadsY = 8;
constexpr int kOwn = 3;
constexpr int kChannels = kOwn * kThreadsY;

__device__ __forceinline__ void add_scaled(float4& sum, float4 value, float factor) {
    sum.x += value.x * factor;
    sum.y += value.y * factor;
    sum.z += value.z * factor;
    sum.w += value.w * factor;
}

__global__ void pointwise_vectorised(const float* __restrict__ x, const float* __restrict__ weight,
                                     float* __restrict__ y, int in_channels, int out_channels,
                                     long long pixels) {
    extern __shared__ float factors[];  // in_channels x kChannels

    const int first_channel = blockIdx.y * kChannels;
    const int tid = threadIdx.y * kThreadsX + threadIdx.x;
    for (int i = tid; i < in_channels * kChannels; i += kThreadsX * kThreadsY) {
        const int channel = first_channel + i % kChannels;
        factors[i] =
            channel < out_channels ? weight[channel * in_channels + i / kChannels] : 0.0f;
    }
    __syncthreads();

    const long long pixel = (static_cast<long long>(blockIdx.x) * kThreadsX + threadIdx.x) * 4;
    if (pixel >= pixels) {
        return;
    }
    const bool aligned = pixels % 4 == 0;  // then every channel's pixels are
    const long long left = pixels - pixel;
    const float* source = x + blockIdx.z * in_channels * pixels + pixel;
    float4 sums[kOwn];
    for (int r = 0; r < kOwn; ++r) {
        sums[r] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }
    for (int c = 0; c < in_channels; ++c) {
        const float4 value = load4(source, left, aligned);
        for (int r = 0; r < kOwn; ++r) {
            add_scaled(sums[r], value, factors[c * kChannels + r * kThreadsY + threadIdx.y]);
        }
        source += pixels;
    }

    for (int r = 0; r < kOwn; ++r) {
        const int channel = first_channel + r * kThreadsY + threadIdx.y;
        if (channel < out_channels) {
            const long long plane = static_cast<long long>(blockIdx.z) * out_channels + channel;
            store4(y + plane * pixels + pixel, sums[r], left, aligned);
        }
    }
}
