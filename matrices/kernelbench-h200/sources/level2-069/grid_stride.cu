// 3 x 3 convolution, hard swish, ReLU: one output after another, as many threads as the plan gives;
// neighbouring threads share filters and most of their inputs through the cache.

#include "fused_activations.cuh"

constexpr int kKernel = 3;
constexpr int kTaps = kKernel * kKernel;

__device__ __forceinline__ float window_product(const float* __restrict__ corner,
                                                const float* __restrict__ filter, int width) {
    float sum = 0.0f;
#pragma unroll
    for (int t = 0; t < kTaps; ++t) {
        sum += corner[t / kKernel * width + t % kKernel] * filter[t];
    }
    return sum;
}

__global__ void __launch_bounds__(128)
conv2d_hardswish_relu(const float* __restrict__ x, const float* __restrict__ weight,
                      const float* __restrict__ bias, float* __restrict__ y, long long outputs,
                      int in_channels, int height, int width, int out_channels, int out_height,
                      int out_width) {
    const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
    const int pixels = height * width;

    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < outputs;
         i += stride) {
        const int col = static_cast<int>(i % out_width);
        const long long line = i / out_width;
        const int row = static_cast<int>(line % out_height);
        const long long plane = line / out_height;
        const int channel = static_cast<int>(plane % out_channels);
        const long long image = plane / out_channels;

        const float* corner = x + image * in_channels * pixels + row * width + col;
        const float* filter = weight + channel * in_channels * kTaps;
        float value = bias[channel];
        for (int c = 0; c < in_channels; ++c) {
            value += window_product(corner, filter, width);
            corner += pixels;
            filter += kTaps;
        }
        value = hardswish(value);
        value = relu(value);
        y[i] = value;
    }
}
