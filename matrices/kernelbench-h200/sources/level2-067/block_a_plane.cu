// 3 x 3 convolution, GELU, the mean of each plane. A block goes over the pixels of one channel of
// one image and adds up what GELU makes of them; nothing but the mean is ever written.

#include "fused_activations.cuh"
#include "tree_reduce.cuh"

constexpr int kKernel = 3;
constexpr int kTaps = kKernel * kKernel;
constexpr int kThreads = 128;

__global__ void __launch_bounds__(kThreads)
conv2d_gelu_mean(const float* __restrict__ x, const float* __restrict__ weight,
                 const float* __restrict__ bias, float* __restrict__ y, int in_channels,
                 int height, int width, int out_height, int out_width) {
    extern __shared__ float filter[];  // in_channels x kTaps
    __shared__ float scratch[kThreads];

    const int channel = blockIdx.x;
    const int image = blockIdx.y;
    const int terms = in_channels * kTaps;
    for (int i = threadIdx.x; i < terms; i += kThreads) {
        filter[i] = weight[channel * terms + i];
    }
    __syncthreads();

    const int pixels = out_height * out_width;
    const int plane = height * width;
    const float* planes = x + static_cast<long long>(image) * in_channels * plane;
    float sum = 0.0f;
    for (int pixel = threadIdx.x; pixel < pixels; pixel += kThreads) {
        const float* corner = planes + pixel / out_width * width + pixel % out_width;
        float value = bias[channel];
        for (int c = 0; c < in_channels; ++c) {
            const float* taps = filter + c * kTaps;
            for (int r = 0; r < kKernel; ++r) {
#pragma unroll
                for (int s = 0; s < kKernel; ++s) {
                    value += corner[c * plane + r * width + s] * taps[r * kKernel + s];
                }
            }
        }
        value = gelu_erf(value);
        sum += value;
    }

    const float total = tree_sum(sum, scratch);
    if (threadIdx.x == 0) {
        y[image * gridDim.x + channel] = total / pixels;
    }
}
