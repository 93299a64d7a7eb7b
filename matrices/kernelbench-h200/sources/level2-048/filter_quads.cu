// 3 x 3 x 3 convolution of few input channels with a factor a channel, tanh, another factor and a
// sigmoid. A thread makes one voxel of eight channels; their filters lie in shared memory term by
// term, so that two loads of four floats bring all the weights that meet one element of the input.

#include "fused_activations.cuh"

constexpr int kKernel = 3;
constexpr int kTaps = kKernel * kKernel * kKernel;
constexpr int kTileW = 16;
constexpr int kTileH = 8;
constexpr int kThreads = kTileW * kTileH;
constexpr int kChannels = 8;

struct Epilogue {
    float bias;
    float scale;
    float factor;

    __device__ __forceinline__ float operator()(float value) const {
        value += bias;
        value *= scale;
        value = tanhf(value);
        value *= factor;
        return logistic(value);
    }
};

__device__ __forceinline__ void accumulate(float4& sum, float value, const float4& taps) {
    sum.x += value * taps.x;
    sum.y += value * taps.y;
    sum.z += value * taps.z;
    sum.w += value * taps.w;
}

__global__ void __launch_bounds__(kThreads)
conv3d_tanh_sigmoid(const float* __restrict__ x, const float* __restrict__ weight,
                    const float* __restrict__ bias, const float* __restrict__ scale,
                    const float* __restrict__ factor, float* __restrict__ y, int in_channels,
                    int depth, int height, int width, int out_channels, int out_depth,
                    int out_height, int out_width) {
    extern __shared__ float4 filters[];  // terms x 2, eight channels a term

    const int groups = (out_channels + kChannels - 1) / kChannels;
    const int layer = blockIdx.z % out_depth;
    const int first_channel = blockIdx.z / out_depth % groups * kChannels;
    const long long image = blockIdx.z / out_depth / groups;

    const int terms = in_channels * kTaps;
    float* staged = reinterpret_cast<float*>(filters);
    for (int i = threadIdx.y * kTileW + threadIdx.x; i < terms * kChannels; i += kThreads) {
        const int channel = first_channel + i % kChannels;
        staged[i] = channel < out_channels ? weight[channel * terms + i / kChannels] : 0.0f;
    }
    __syncthreads();

    const int col = blockIdx.x * kTileW + threadIdx.x;
    const int row = blockIdx.y * kTileH + threadIdx.y;
    if (col >= out_width || row >= out_height) {
        return;
    }

    float4 lower = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    float4 upper = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    const float4* taps = filters;
    for (int c = 0; c < in_channels; ++c) {
        const long long first = (image * in_channels + c) * depth + layer;
        for (int i = 0; i < kKernel; ++i) {
            const float* plane = x + (first + i) * height * width;
            for (int j = 0; j < kKernel; ++j) {
                const float* line = plane + (row + j) * width + col;
#pragma unroll
                for (int k = 0; k < kKernel; ++k) {
                    const float value = __ldg(line + k);
                    accumulate(lower, value, taps[0]);
                    accumulate(upper, value, taps[1]);
                    taps += 2;
                }
            }
        }
    }

    const float sums[kChannels] = {lower.x, lower.y, lower.z, lower.w,
                                   upper.x, upper.y, upper.z, upper.w};
    for (int o = 0; o < kChannels && first_channel + o < out_channels; ++o) {
        const int channel = first_channel + o;
        const Epilogue finish = {bias[channel], scale[channel], factor[channel]};
        const long long plane = (image * out_channels + channel) * out_depth + layer;
        y[(plane * out_height + row) * out_width + col] = finish(sums[o]);
    }
}
